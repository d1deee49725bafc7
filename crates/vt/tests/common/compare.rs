//! What our terminal shows beside what xterm.js shows.

use std::cell::Cell;
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};

use termbridge_vt::{Attributes, CellWidth, Color, Options, Row, Style, Terminal};

use crate::stream::Stream;
use crate::xterm::{Request, Shown};

/// Differing cells that are described at most.
const MOST_CELLS: usize = 6;

/// What is compared beside screen, cursor, modes and answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Compared {
    /// Which rows continue in the next one.
    pub(crate) wraps: bool,
    /// Lines above the screen.
    pub(crate) history: bool,
}

/// A stream as xterm.js is fed it. Invalid UTF-8 is decoded here, as the Unicode standard recommends: xterm.js drops it.
/// A character that is not complete at the end is left out: neither shows it.
pub(crate) fn request(stream: &Stream) -> Request {
    let mut bytes = stream.bytes();
    let last = bytes.utf8_chunks().last().map(|chunk| chunk.invalid().to_vec()).unwrap_or_default();
    if std::str::from_utf8(&last).is_err_and(|error| error.error_len().is_none()) {
        bytes.truncate(bytes.len() - last.len());
    }
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Request {
        size: stream.size,
        scrollback: stream.scrollback,
        feeds: vec![text.into_bytes()],
        last: true,
    }
}

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Keeps panics of our terminal from being printed: they are findings, which are printed with their stream.
pub(crate) fn hide_panics() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if !QUIET.get() {
            usual(info);
        }
    }));
}

/// What our terminal shows at the end of a stream, cut as the stream says. An error is the message of a panic.
pub(crate) fn ours(stream: &Stream) -> Result<Shown, String> {
    let run = || {
        let options = Options { scrollback_lines: stream.scrollback, ..Options::default() };
        let mut terminal = Terminal::new(stream.size, options);
        stream.feeds().iter().for_each(|bytes| terminal.feed(bytes));
        terminal.end_synchronized();
        shown(&mut terminal)
    };
    QUIET.set(true);
    let shown = catch_unwind(AssertUnwindSafe(run));
    QUIET.set(false);
    shown.map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let message = text.or_else(|| panic.downcast_ref::<&str>().copied());
        format!("panic: {}", message.unwrap_or("(no message)"))
    })
}

/// What our terminal shows.
fn shown(terminal: &mut Terminal) -> Shown {
    let screen = terminal.screen();
    let input = terminal.input_modes();
    let modes = [
        (input.app_cursor, "application cursor keys"),
        (input.app_keypad, "application keypad"),
        (input.bracketed_paste, "bracketed paste"),
        (input.focus_events, "focus events"),
    ];
    let mut modes: Vec<String> =
        modes.iter().filter(|(on, _)| *on).map(|(_, name)| (*name).to_owned()).collect();
    modes.push(format!("mouse: {}", mouse(&format!("{:?}", input.mouse))));
    let history = 0..terminal.history_len();
    Shown {
        history: history.filter_map(|index| terminal.history_row(index)).collect(),
        cursor: (screen.cursor.row, screen.cursor.col),
        visible: screen.cursor.visible,
        alternate: screen.alternate,
        screen: screen.rows,
        modes,
        replies: terminal.take_replies(),
        hidden: String::new(),
    }
}

/// The name that xterm.js has for a way of tracking the mouse.
fn mouse(ours: &str) -> &'static str {
    match ours {
        "Off" => "none",
        "X10" => "x10",
        "Normal" => "vt200",
        "ButtonMotion" => "drag",
        _ => "any",
    }
}

/// Leaves out what is stored and not seen: without an underline there is no colour of it, a blank shows its background
/// only, and the right half of a wide character looks like the left one.
fn leave_out_unseen(shown: &mut Shown) {
    for row in shown.history.iter_mut().chain(&mut shown.screen) {
        row.cells.iter_mut().for_each(leave_out_unseen_style);
        style_right_halves(row);
    }
}

fn leave_out_unseen_style(cell: &mut termbridge_vt::Cell) {
    let seen_on_blanks = Attributes::ANY_UNDERLINE | Attributes::INVERSE | Attributes::STRIKE;
    let is_blank = cell.is_blank() && cell.width == CellWidth::Single;
    let style = &mut cell.style;
    if is_blank && !style.attributes.intersects(seen_on_blanks) {
        *style = Style { bg: style.bg, ..Style::default() };
    }
    if !style.attributes.intersects(Attributes::ANY_UNDERLINE) {
        style.underline_color = None;
    }
}

fn style_right_halves(row: &mut Row) {
    for index in 1..row.cells.len() {
        if row.cells[index].width == CellWidth::Continuation {
            let (left, right) = row.cells.split_at_mut(index);
            right[0].style = left[index - 1].style;
            right[0].link.clone_from(&left[index - 1].link);
        }
    }
}

/// Everything that differs, a line each, and the screens side by side; nothing when all is the same.
pub(crate) fn difference(
    ours: &Result<Shown, String>,
    theirs: &Shown,
    compared: Compared,
) -> Option<String> {
    let ours = match ours {
        Ok(ours) => ours,
        Err(message) => return Some(format!("  our terminal: {message}\n")),
    };
    let [ours, theirs] = [ours, theirs].map(|shown| {
        let mut seen = shown.clone();
        leave_out_unseen(&mut seen);
        seen
    });
    let lines = lines(&ours, &theirs, compared);
    if lines.is_empty() {
        return None;
    }
    let mut text = side_by_side(&ours, &theirs, compared);
    lines.iter().for_each(|line| {
        let _ = writeln!(text, "  {line}");
    });
    Some(text)
}

fn lines(ours: &Shown, theirs: &Shown, compared: Compared) -> Vec<String> {
    let mut lines = Vec::new();
    let mut pair = |what: &str, ours: &dyn std::fmt::Debug, theirs: &dyn std::fmt::Debug| {
        let (ours, theirs) = (format!("{ours:?}"), format!("{theirs:?}"));
        if ours != theirs {
            lines.push(format!("{what}: ours {ours}, xterm.js {theirs}"));
        }
    };
    pair("cursor (row, column)", &ours.cursor, &theirs.cursor);
    pair("cursor visible", &ours.visible, &theirs.visible);
    pair("alternate screen", &ours.alternate, &theirs.alternate);
    pair("modes", &ours.modes, &theirs.modes);
    let escaped = |bytes: &[u8]| crate::stream::escape(bytes);
    pair("answers", &escaped(&ours.replies), &escaped(&theirs.replies));
    if compared.history {
        pair("lines of the history", &ours.history.len(), &theirs.history.len());
    }
    let mut cells = Vec::new();
    for (name, ours, theirs) in rows(ours, theirs, compared) {
        for (column, (our, their)) in ours.cells.iter().zip(&theirs.cells).enumerate() {
            if our != their {
                cells.push(format!(
                    "{name}, column {column}: ours {}, xterm.js {}",
                    describe(our),
                    describe(their)
                ));
            }
        }
        if compared.wraps && ours.wrapped != theirs.wrapped {
            let who = if ours.wrapped { "only in ours" } else { "only in xterm.js" };
            lines.push(format!("{name} continues in the next {who}"));
        }
    }
    let more = cells.len().saturating_sub(MOST_CELLS);
    cells.truncate(MOST_CELLS);
    lines.append(&mut cells);
    if more > 0 {
        lines.push(format!("and {more} more cells"));
    }
    lines
}

/// Rows that both have, with names; those of the history count back from the screen.
fn rows<'a>(
    ours: &'a Shown,
    theirs: &'a Shown,
    compared: Compared,
) -> Vec<(String, &'a Row, &'a Row)> {
    let mut rows = Vec::new();
    if compared.history {
        let both = ours.history.len().min(theirs.history.len());
        let pairs = ours.history.iter().rev().zip(theirs.history.iter().rev()).enumerate();
        rows.extend(
            pairs.map(|(index, (ours, theirs))| (format!("row -{}", index + 1), ours, theirs)),
        );
        debug_assert_eq!(rows.len(), both);
        rows.reverse();
    }
    let pairs = ours.screen.iter().zip(&theirs.screen).enumerate();
    rows.extend(pairs.map(|(index, (ours, theirs))| (format!("row {index}"), ours, theirs)));
    rows
}

fn side_by_side(ours: &Shown, theirs: &Shown, compared: Compared) -> String {
    let cols = ours.screen.first().map_or(0, |row| row.cells.len());
    let mut text = format!("  {:>7}   {:<width$}     xterm.js\n", "", "ours", width = cols + 2);
    for (name, ours, theirs) in rows(ours, theirs, compared) {
        let differs: Vec<bool> =
            ours.cells.iter().zip(&theirs.cells).map(|(ours, theirs)| ours != theirs).collect();
        let wraps = |row: &Row| if row.wrapped { '↩' } else { ' ' };
        let _ = writeln!(
            text,
            "  {name:>7}  │{}│{}   │{}│{}",
            picture(ours),
            wraps(ours),
            picture(theirs),
            wraps(theirs)
        );
        if differs.contains(&true) {
            let marks: String =
                differs.iter().map(|differs| if *differs { '^' } else { ' ' }).collect();
            let _ = writeln!(text, "  {:>7}   {marks}      {}", "", marks.trim_end());
        }
    }
    text
}

fn picture(row: &Row) -> String {
    let mut text = String::new();
    row.cells.iter().for_each(|cell| cell.push_text(&mut text));
    text
}

fn describe(cell: &termbridge_vt::Cell) -> String {
    let mut text = String::new();
    cell.push_text(&mut text);
    let mut description = match cell.width {
        CellWidth::Single => format!("'{}'", crate::stream::escape(text.as_bytes())),
        CellWidth::Double => format!("wide '{}'", crate::stream::escape(text.as_bytes())),
        CellWidth::Continuation => "the right half".to_owned(),
    };
    describe_style(cell.style, &mut description);
    if let Some(link) = &cell.link {
        let _ = write!(description, " link={link}");
    }
    description
}

fn describe_style(style: Style, text: &mut String) {
    let color = |color: Color| match color {
        Color::Default => "default".to_owned(),
        Color::Indexed(index) => index.to_string(),
        Color::Rgb(r, g, b) => format!("#{r:02x}{g:02x}{b:02x}"),
    };
    if style.fg != Color::Default {
        let _ = write!(text, " fg={}", color(style.fg));
    }
    if style.bg != Color::Default {
        let _ = write!(text, " bg={}", color(style.bg));
    }
    if let Some(underline) = style.underline_color {
        let _ = write!(text, " underline-color={}", color(underline));
    }
    if style.attributes != Attributes::empty() {
        style.attributes.named().for_each(|(name, _)| {
            let _ = write!(text, " {name}");
        });
    }
}
