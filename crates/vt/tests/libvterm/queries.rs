//! What libvterm's tests ask about pen, cursor, lines and screen.

use termbridge_vt::{Attributes, Cell, CellWidth, Color, Row, Style};

use crate::harness::{Harness, Outcome, equal};
use crate::model::cell_text;
use crate::perl::{evaluate, numbers};

/// Checks `?query = wanted`.
pub(crate) fn check(harness: &Harness, query: &str, wanted: &str) -> Outcome {
    let (name, argument) = query.split_once(' ').unwrap_or((query, ""));
    let argument = argument.trim();
    let rows = harness.terminal.screen().rows;
    match name {
        "cursor" => {
            let (row, col) = harness.terminal.cursor_position();
            equal("the cursor", wanted, &format!("{row},{col}"))
        }
        "pen" => check_pen(harness, argument, wanted),
        "lineinfo" => {
            let row: usize = argument.parse().expect("a row");
            let above = match row.checked_sub(1) {
                Some(above) => rows.get(above).cloned(),
                None => harness
                    .terminal
                    .history_len()
                    .checked_sub(1)
                    .and_then(|last| harness.terminal.history_row(last)),
            };
            let shown = if above.is_some_and(|row| row.wrapped) { "cont" } else { "" };
            equal("the line", wanted, shown)
        }
        "screen_row" => {
            let row: usize = argument.parse().expect("a row");
            let shown = rows.get(row).map(Row::text).unwrap_or_default();
            equal("the row", &trimmed(&characters(wanted)), &shown)
        }
        "screen_chars" => {
            let shown = area_text(&rows, argument);
            equal("the characters", &trimmed(&characters(wanted)), &shown)
        }
        "screen_text" => {
            let bytes: Vec<u8> = numbers(wanted).into_iter().map(|byte| byte as u8).collect();
            equal(
                "the text",
                &trimmed(&String::from_utf8_lossy(&bytes)),
                &area_text(&rows, argument),
            )
        }
        "screen_cell" => {
            let at = numbers(argument);
            let cell = &rows[at[0] as usize].cells[at[1] as usize];
            let mut wanted = wanted.to_owned();
            // The foreground of a blank is not seen.
            if let (true, Some(start), Some(end)) =
                (wanted.starts_with("{}"), wanted.find("fg="), wanted.find(" bg="))
            {
                wanted.replace_range(
                    start..end,
                    &format!("fg={}", screen_color(cell.style.fg, (240, 240, 240))),
                );
            }
            equal("the cell", &wanted, &describe(cell))
        }
        "screen_eol" => {
            let at = numbers(argument);
            let rest = rows[at[0] as usize].text_between(at[1] as usize, usize::MAX);
            equal("the end of the line", wanted, if rest.is_empty() { "1" } else { "0" })
        }
        "screen_attrs_extent" => {
            let at = numbers(argument);
            let row = &rows[at[0] as usize];
            let run = row
                .runs()
                .find(|(start, cells)| (*start..start + cells.len()).contains(&(at[1] as usize)));
            let (start, cells) = run.expect("a run for each column");
            let shown = format!("{},{start}-{},{}", at[0], at[0] + 1, start + cells.len() - 1);
            equal("cells of one style", wanted, &shown)
        }
        other => panic!("there is no query {other}"),
    }
}

fn check_pen(harness: &Harness, attribute: &str, wanted: &str) -> Outcome {
    let style = harness.printed_cell().style;
    let has = |attributes| if style.attributes.intersects(attributes) { "on" } else { "off" };
    let shown = match attribute {
        "bold" => has(Attributes::BOLD).to_owned(),
        "italic" => has(Attributes::ITALIC).to_owned(),
        "blink" => has(Attributes::BLINK).to_owned(),
        "reverse" => has(Attributes::INVERSE).to_owned(),
        "underline" => underline(style).to_string(),
        "foreground" => pen_color(style.fg, "rgb(240,240,240,is_default_fg)"),
        "background" => pen_color(style.bg, "rgb(0,0,0,is_default_bg)"),
        _ => return Outcome::Unseen("fonts, small and raised characters"),
    };
    equal(&format!("the pen's {attribute}"), wanted, &shown)
}

fn underline(style: Style) -> u8 {
    let styles = [
        Attributes::UNDERLINE,
        Attributes::DOUBLE_UNDERLINE,
        Attributes::CURLY_UNDERLINE,
        Attributes::DOTTED_UNDERLINE,
        Attributes::DASHED_UNDERLINE,
    ];
    styles
        .iter()
        .zip(1..)
        .find(|(flag, _)| style.attributes.contains(**flag))
        .map_or(0, |(_, number)| number)
}

fn pen_color(color: Color, default: &str) -> String {
    match color {
        Color::Default => default.to_owned(),
        Color::Indexed(index) => format!("idx({index})"),
        Color::Rgb(r, g, b) => format!("rgb({r},{g},{b})"),
    }
}

/// A string, or code points.
fn characters(wanted: &str) -> String {
    if wanted.starts_with('"') {
        String::from_utf8_lossy(&evaluate(wanted)).into_owned()
    } else {
        numbers(wanted).into_iter().filter_map(char::from_u32).collect()
    }
}

/// Spaces at the end of a line are the same as nothing for us.
fn trimmed(text: &str) -> String {
    let lines: Vec<&str> = text.split('\n').map(|line| line.trim_end_matches(' ')).collect();
    lines.join("\n")
}

/// The text of a row, or of the rows and columns `top,left,bottom,right`.
fn area_text(rows: &[Row], argument: &str) -> String {
    let limits: Vec<usize> = numbers(argument).into_iter().map(|limit| limit as usize).collect();
    match limits[..] {
        [row] => rows[row].text(),
        [top, left, bottom, right] => {
            let lines: Vec<String> =
                rows[top..bottom].iter().map(|row| row.text_between(left, right)).collect();
            lines.join("\n")
        }
        _ => panic!("not understood: {argument}"),
    }
}

/// A cell as libvterm's harness writes it.
fn describe(cell: &Cell) -> String {
    let text = cell_text(cell);
    let codes: Vec<String> = match cell.is_blank() {
        true => Vec::new(),
        false => text.chars().map(|c| format!("0x{:x}", u32::from(c))).collect(),
    };
    let width = if cell.width == CellWidth::Double { 2 } else { 1 };
    let mut attributes = String::new();
    let has = |flag| cell.style.attributes.contains(flag);
    if has(Attributes::BOLD) {
        attributes.push('B');
    }
    if underline(cell.style) > 0 {
        attributes.push_str(&format!("U{}", underline(cell.style)));
    }
    for (flag, letter) in
        [(Attributes::ITALIC, 'I'), (Attributes::BLINK, 'K'), (Attributes::INVERSE, 'R')]
    {
        if has(flag) {
            attributes.push(letter);
        }
    }
    format!(
        "{{{}}} width={width} attrs={{{attributes}}} fg={} bg={}",
        codes.join(","),
        screen_color(cell.style.fg, (240, 240, 240)),
        screen_color(cell.style.bg, (0, 0, 0))
    )
}

/// Colours have the values of libvterm's palette.
fn screen_color(color: Color, default: (u8, u8, u8)) -> String {
    let (r, g, b) = match color {
        Color::Default => default,
        Color::Rgb(r, g, b) => (r, g, b),
        Color::Indexed(index) => {
            let level = |bit: u8| if index >> bit & 1 == 1 { 224 } else { 0 };
            assert!(index < 8, "libvterm's tests show no other colours");
            (level(0), level(1), level(2))
        }
    };
    format!("rgb({r},{g},{b})")
}
