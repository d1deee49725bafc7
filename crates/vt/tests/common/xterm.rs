//! xterm.js in a process of its own, and what it shows in the types of this crate.
//!
//! Needs Node and `tests/xterm/node_modules`: `scripts/setup-tests` installs them.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};
use termbridge_vt::{Attributes, Cell, CellWidth, Color, Row, Size, Style};

/// What xterm.js is fed.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    /// Size of the terminal.
    pub(crate) size: Size,
    /// Lines that it keeps.
    pub(crate) scrollback: usize,
    /// Bytes, and where they are cut: the terminal is looked at after each of them.
    pub(crate) feeds: Vec<Vec<u8>>,
    /// Only what is shown after the last feed is of interest.
    pub(crate) last: bool,
}

/// What a terminal shows, as far as both terminals can be asked for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shown {
    /// Lines above the screen, the oldest first.
    pub(crate) history: Vec<Row>,
    /// Rows of the screen.
    pub(crate) screen: Vec<Row>,
    /// Row and column.
    pub(crate) cursor: (u16, u16),
    /// DECTCEM.
    pub(crate) visible: bool,
    /// The alternate screen is shown.
    pub(crate) alternate: bool,
    /// Modes for input that are set, and how the mouse is tracked.
    pub(crate) modes: Vec<String>,
    /// Answers.
    pub(crate) replies: Vec<u8>,
    /// Modes that our terminal does not show: empty there.
    pub(crate) hidden: String,
}

impl Shown {
    fn parse(shown: &Value, size: Size) -> Self {
        let rows = shown["rows"].as_array().expect("rows");
        let mut history: Vec<Row> =
            rows.iter().map(|row| parse_row(row, usize::from(size.cols))).collect();
        let screen = history.split_off(history.len() - usize::from(size.rows));
        let position = |index: usize| shown["cursor"][index].as_u64().expect("a position") as u16;
        let is_set = |value: &Value| value.as_bool().expect("true or false");
        let mut modes: Vec<String> = shown["modes"]
            .as_object()
            .expect("modes")
            .iter()
            .filter(|(_, on)| is_set(on))
            .map(|(name, _)| name.clone())
            .collect();
        modes.sort();
        modes.push(format!("mouse: {}", shown["mouse"].as_str().expect("a name")));
        Self {
            history,
            screen,
            cursor: (position(0), position(1)),
            visible: is_set(&shown["visible"]),
            alternate: is_set(&shown["alternate"]),
            modes,
            replies: shown["replies"].as_str().expect("text").into(),
            hidden: shown["hidden"].to_string(),
        }
    }
}

fn parse_row(row: &Value, cols: usize) -> Row {
    let mut cells = Vec::with_capacity(cols);
    for cell in row["cells"].as_array().expect("cells") {
        let (cell, is_wide) = parse_cell(cell);
        let right = Cell { width: CellWidth::Continuation, ..blank(cell.style, cell.link.clone()) };
        cells.push(cell);
        if is_wide {
            cells.push(right);
        }
    }
    assert!(cells.len() <= cols, "a row has no more cells than the screen has columns");
    cells.resize(cols, blank(Style::default(), None));
    Row { cells, wrapped: row["wrapped"].as_bool().expect("true or false") }
}

fn blank(style: Style, link: Option<Box<str>>) -> Cell {
    Cell { character: ' ', style, link, ..Cell::default() }
}

fn parse_cell(cell: &Value) -> (Cell, bool) {
    const FLAGS: [Attributes; 7] = [
        Attributes::BOLD,
        Attributes::DIM,
        Attributes::ITALIC,
        Attributes::BLINK,
        Attributes::INVERSE,
        Attributes::HIDDEN,
        Attributes::STRIKE,
    ];
    const UNDERLINES: [Attributes; 6] = [
        Attributes::empty(),
        Attributes::UNDERLINE,
        Attributes::DOUBLE_UNDERLINE,
        Attributes::CURLY_UNDERLINE,
        Attributes::DOTTED_UNDERLINE,
        Attributes::DASHED_UNDERLINE,
    ];
    let mut text = cell[0].as_str().expect("characters").chars();
    let character = text.next().expect("a character");
    let is_wide = cell[1] == 2;
    let bits = cell[4].as_u64().unwrap_or(0);
    let mut attributes = UNDERLINES[cell[5].as_u64().unwrap_or(0) as usize];
    for (index, flag) in FLAGS.into_iter().enumerate() {
        attributes.set(flag, bits >> index & 1 == 1);
    }
    let style = Style {
        fg: color(&cell[2]).unwrap_or_default(),
        bg: color(&cell[3]).unwrap_or_default(),
        underline_color: color(&cell[6]),
        attributes,
    };
    let combining = Some(text.as_str()).filter(|text| !text.is_empty()).map(Into::into);
    let width = if is_wide { CellWidth::Double } else { CellWidth::Single };
    let link = cell[7].as_str().filter(|link| !link.is_empty()).map(Into::into);
    (Cell { character, combining, width, style, link }, is_wide)
}

fn color(value: &Value) -> Option<Color> {
    if let Some(index) = value.as_u64() {
        return Some(Color::Indexed(index as u8));
    }
    let rgb = u32::from_str_radix(value.as_str()?.strip_prefix('#')?, 16).expect("hex digits");
    let [_, r, g, b] = rgb.to_be_bytes();
    Some(Color::Rgb(r, g, b))
}

/// A process that shows what xterm.js shows.
pub(crate) struct Xterm {
    node: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Xterm {
    pub(crate) fn start() -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/xterm");
        assert!(
            folder.join("node_modules").is_dir(),
            "xterm.js is missing: run scripts/setup-tests"
        );
        let mut node = Command::new("node")
            .arg(folder.join("show.mjs"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("node can be run");
        let input = node.stdin.take();
        let output = BufReader::new(node.stdout.take().expect("a pipe"));
        Self { node, input, output }
    }

    /// What xterm.js shows after each feed of each request. An error is what it threw.
    pub(crate) fn show(&mut self, requests: &[Request]) -> Vec<Result<Vec<Shown>, String>> {
        let lines: Vec<String> =
            requests.iter().map(|request| request_json(request).to_string()).collect();
        let lines = lines.join("\n") + "\n";
        let input = self.input.as_mut().expect("a pipe");
        let output = &mut self.output;
        let answers: Vec<String> = std::thread::scope(|scope| {
            // Both pipes can be full at once.
            scope.spawn(|| input.write_all(lines.as_bytes()).expect("node reads all"));
            requests.iter().map(|_| read_line(output)).collect()
        });
        requests
            .iter()
            .zip(answers)
            .map(|(request, answer)| parse_answer(&answer, request.size))
            .collect()
    }
}

impl Drop for Xterm {
    fn drop(&mut self) {
        // It ends with its input.
        drop(self.input.take());
        let _ = self.node.wait();
    }
}

fn request_json(request: &Request) -> Value {
    let feeds: Vec<String> = request.feeds.iter().map(|bytes| hex(bytes)).collect();
    json!({
        "cols": request.size.cols,
        "rows": request.size.rows,
        "scrollback": request.scrollback,
        "feeds": feeds,
        "last": request.last,
    })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn read_line(output: &mut BufReader<ChildStdout>) -> String {
    let mut line = String::new();
    output.read_line(&mut line).expect("node writes UTF-8");
    assert!(!line.is_empty(), "node has ended");
    line
}

fn parse_answer(line: &str, size: Size) -> Result<Vec<Shown>, String> {
    let answer: Value = serde_json::from_str(line).expect("JSON");
    match answer["error"].as_str() {
        Some(error) => Err(error.to_owned()),
        None => {
            let shown = answer["shown"].as_array().expect("a list");
            Ok(shown.iter().map(|shown| Shown::parse(shown, size)).collect())
        }
    }
}
