//! Alacritty's own reference recordings: what programs printed, and the grid that has to result.
//!
//! They are in the published crate of its terminal. `scripts/setup-tests` has cargo fetch it for `tests/vt-oracles`; nothing of it is
//! compiled. Text, widths, wrapped rows, colours, attributes, underlines and links of screen and scrollback are compared.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use termbridge_vt::{Attributes, Cell, CellWidth, Color, Options, Row, Size, Style, Terminal};

/// Recordings in the crate.
const RECORDINGS: usize = 45;
/// zsh fills a line, and erases where it continues before it draws its prompt there.
const ENDED: &str = "a line ends where its continuation is erased, as in xterm.js";
/// Recordings that look different, with the reasons.
const DIFFERENT: &[(&str, &str)] = &[
    ("grid_reset", ENDED),
    ("history", ENDED),
    ("origin_goto", ENDED),
    ("wrapline_alt_toggle", ENDED),
    ("deccolm_reset", "DECCOLM is ignored, with the clearing that goes with it, as in xterm"),
    ("decaln_reset", "DECALN moves the cursor home, as in xterm"),
    ("selective_erasure", "DECSEL is known"),
    ("underline", "SGR 21 is a double underline, as in xterm"),
];
/// Differing cells that are printed of each recording.
const MOST_CELLS: usize = 5;

/// The folder of the recordings.
fn folder() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/vt-oracles/Cargo.toml");
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked", "--offline", "--manifest-path"])
        .arg(manifest)
        .output()
        .expect("cargo can be run");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "the recordings are missing: run scripts/setup-tests ({error})"
    );
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    let package = packages.iter().find(|package| package["name"] == "alacritty_terminal");
    let manifest = package.and_then(|package| package["manifest_path"].as_str()).expect("a path");
    Path::new(manifest).with_file_name("tests").join("ref")
}

fn json(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).expect("a file of the recording");
    serde_json::from_str(&text).expect("JSON")
}

fn number(value: &Value) -> usize {
    value.as_u64().expect("a number") as usize
}

/// All rows that our terminal has after a recording, the oldest first.
fn ours(folder: &Path) -> Vec<Row> {
    let size = json(&folder.join("size.json"));
    let size =
        Size { cols: number(&size["columns"]) as u16, rows: number(&size["screen_lines"]) as u16 };
    let scrollback_lines = number(&json(&folder.join("config.json"))["history_size"]);
    let mut terminal = Terminal::new(size, Options { scrollback_lines, ..Options::default() });
    terminal.feed(&std::fs::read(folder.join("alacritty.recording")).expect("the recording"));
    let history = (0..terminal.history_len()).filter_map(|index| terminal.history_row(index));
    history.chain(terminal.screen().rows).collect()
}

/// All rows of the grid, the oldest first. The ring begins at its start, with the last row of the screen.
fn theirs(folder: &Path) -> Vec<Row> {
    let grid = json(&folder.join("grid.json"));
    let ring = &grid["raw"];
    assert_eq!(ring["zero"], 0, "the ring begins elsewhere");
    let rows = ring["inner"].as_array().expect("rows");
    rows[..number(&ring["len"])].iter().rev().map(row).collect()
}

fn flags(cell: &Value) -> Vec<&str> {
    cell["flags"].as_str().expect("flags").split(" | ").filter(|flag| !flag.is_empty()).collect()
}

fn row(row: &Value) -> Row {
    let cells = row["inner"].as_array().expect("cells");
    let wrapped = cells.last().is_some_and(|cell| flags(cell).contains(&"WRAPLINE"));
    Row { cells: cells.iter().map(cell).collect(), wrapped }
}

fn cell(cell: &Value) -> Cell {
    let mut converted = Cell { character: ' ', ..Cell::default() };
    converted.style.fg = color(&cell["fg"]);
    converted.style.bg = color(&cell["bg"]);
    for flag in flags(cell) {
        match flag {
            "WIDE_CHAR" => converted.width = CellWidth::Double,
            "WIDE_CHAR_SPACER" => converted.width = CellWidth::Continuation,
            "WRAPLINE" | "LEADING_WIDE_CHAR_SPACER" => {}
            flag => converted.style.attributes |= attribute(flag),
        }
    }
    let character = cell["c"].as_str().and_then(|text| text.chars().next()).expect("a character");
    // A tab is kept in the first cell that it skipped.
    if character != '\t' && converted.width != CellWidth::Continuation {
        converted.character = character;
    }
    if let Some(extra) = cell["extra"].as_object() {
        let marks = extra["zerowidth"].as_array().expect("a list");
        let marks: String = marks.iter().filter_map(Value::as_str).collect();
        converted.combining = Some(marks).filter(|marks| !marks.is_empty()).map(Into::into);
        let underline = &extra["underline_color"];
        converted.style.underline_color = (!underline.is_null()).then(|| color(underline));
        converted.link = extra["hyperlink"]["inner"]["uri"].as_str().map(Into::into);
    }
    converted
}

fn attribute(flag: &str) -> Attributes {
    match flag {
        "BOLD" => Attributes::BOLD,
        "DIM" => Attributes::DIM,
        "ITALIC" => Attributes::ITALIC,
        "UNDERLINE" => Attributes::UNDERLINE,
        "DOUBLE_UNDERLINE" => Attributes::DOUBLE_UNDERLINE,
        "UNDERCURL" => Attributes::CURLY_UNDERLINE,
        "DOTTED_UNDERLINE" => Attributes::DOTTED_UNDERLINE,
        "DASHED_UNDERLINE" => Attributes::DASHED_UNDERLINE,
        "INVERSE" => Attributes::INVERSE,
        "HIDDEN" => Attributes::HIDDEN,
        "STRIKEOUT" => Attributes::STRIKE,
        other => panic!("there is no flag {other}"),
    }
}

fn color(color: &Value) -> Color {
    const NAMED: [&str; 16] = [
        "Black",
        "Red",
        "Green",
        "Yellow",
        "Blue",
        "Magenta",
        "Cyan",
        "White",
        "BrightBlack",
        "BrightRed",
        "BrightGreen",
        "BrightYellow",
        "BrightBlue",
        "BrightMagenta",
        "BrightCyan",
        "BrightWhite",
    ];
    if let Some(index) = color["Indexed"].as_u64() {
        return Color::Indexed(index as u8);
    }
    if let Some(rgb) = color["Spec"].as_object() {
        let [r, g, b] = ["r", "g", "b"].map(|name| number(&rgb[name]) as u8);
        return Color::Rgb(r, g, b);
    }
    match color["Named"].as_str().expect("a name") {
        "Foreground" | "Background" => Color::Default,
        name => {
            let index = NAMED.iter().position(|named| *named == name);
            Color::Indexed(index.unwrap_or_else(|| panic!("there is no colour {name}")) as u8)
        }
    }
}

/// Leaves out what two terminals may store differently where it is not seen.
fn seen(mut row: Row) -> Row {
    let shows = Attributes::ANY_UNDERLINE | Attributes::INVERSE | Attributes::STRIKE;
    for index in 0..row.cells.len() {
        if index > 0 && row.cells[index].width == CellWidth::Continuation {
            let left = row.cells[index - 1].clone();
            row.cells[index] =
                Cell { character: ' ', combining: None, width: CellWidth::Continuation, ..left };
        }
        let cell = &mut row.cells[index];
        let is_blank = cell.is_blank() && cell.width == CellWidth::Single;
        if is_blank && !cell.style.attributes.intersects(shows) {
            cell.style = Style { bg: cell.style.bg, ..Style::default() };
        }
    }
    row
}

/// What differs, or nothing. Rows count back from the last one of the screen, which is 0.
fn difference(ours: Vec<Row>, theirs: Vec<Row>) -> String {
    let mut text = String::new();
    let (our_rows, their_rows) = (ours.len(), theirs.len());
    // The history of the grid is filled up with blank rows.
    let is_blank = |row: &Row| row.visible_len() == 0;
    if our_rows > their_rows || !theirs[..their_rows - our_rows].iter().all(is_blank) {
        let _ = writeln!(text, "    rows: ours {our_rows}, alacritty {their_rows}");
    }
    let mut cells = 0;
    for (index, (ours, theirs)) in ours.into_iter().rev().zip(theirs.into_iter().rev()).enumerate()
    {
        let (ours, theirs) = (seen(ours), seen(theirs));
        if ours.wrapped != theirs.wrapped {
            let _ = writeln!(
                text,
                "    row {index} wraps: ours {}, alacritty {}",
                ours.wrapped, theirs.wrapped
            );
        }
        for (col, (ours, theirs)) in ours.cells.iter().zip(&theirs.cells).enumerate() {
            if ours != theirs {
                cells += 1;
                if cells <= MOST_CELLS {
                    let _ = writeln!(
                        text,
                        "    row {index}, column {col}:\n      {ours:?}\n      {theirs:?}"
                    );
                }
            }
        }
    }
    if cells > MOST_CELLS {
        let _ = writeln!(text, "    {cells} cells in all");
    }
    text
}

#[test]
fn alacrittys_recordings_look_the_same() {
    let folder = folder();
    let entries = std::fs::read_dir(&folder).expect("the recordings are in the crate").flatten();
    let mut recordings: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    recordings.sort();
    assert_eq!(recordings.len(), RECORDINGS);
    let mut wrong = String::new();
    let mut same = 0;
    for path in recordings {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let text = difference(ours(&path), theirs(&path));
        match (text.is_empty(), DIFFERENT.iter().find(|(different, _)| *different == name)) {
            (true, None) => same += 1,
            (true, Some(_)) => {
                _ = writeln!(wrong, "{name}: it is the same; take it out of the list");
            }
            (false, None) => _ = writeln!(wrong, "{name}:\n{text}"),
            (false, Some((_, reason))) => eprintln!("{name} differs: {reason}"),
        }
    }
    eprintln!("{same} of {RECORDINGS} recordings look the same");
    assert!(wrong.is_empty(), "{same} of {RECORDINGS} recordings look the same\n{wrong}");
}
