//! What libvterm's events do to a screen.

use termbridge_vt::{CellWidth, Row};

use crate::perl::numbers;

/// A place of the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Slot {
    /// It shows this, so many columns wide: a blank is empty.
    Known(String, usize),
    /// The right half of a wide character.
    RightHalf,
    /// The events do not tell what it shows.
    Unknown,
}

/// Rows and columns, the ends excluded.
struct Area {
    rows: std::ops::Range<usize>,
    cols: std::ops::Range<usize>,
}

/// Code points that libvterm keeps of a cell.
const MOST_CODES: usize = 6;

/// The text of a cell, as much of it as libvterm would keep.
pub(crate) fn cell_text(cell: &termbridge_vt::Cell) -> String {
    let mut text = String::new();
    cell.push_text(&mut text);
    text.chars().take(MOST_CODES).collect()
}

/// A screen that events change.
#[derive(Debug, Clone)]
pub(crate) struct Model {
    rows: Vec<Vec<Slot>>,
}

impl Model {
    pub(crate) fn of(rows: &[Row]) -> Self {
        let slot = |cell: &termbridge_vt::Cell| {
            let text = cell_text(cell);
            match cell.width {
                CellWidth::Continuation => Slot::RightHalf,
                CellWidth::Double => Slot::Known(text, 2),
                CellWidth::Single if cell.is_blank() => Slot::Known(String::new(), 1),
                CellWidth::Single => Slot::Known(text, 1),
            }
        };
        Self { rows: rows.iter().map(|row| row.cells.iter().map(slot).collect()).collect() }
    }

    /// Nothing is known.
    pub(crate) fn unknown(rows: &[Row]) -> Self {
        Self { rows: rows.iter().map(|row| vec![Slot::Unknown; row.cells.len()]).collect() }
    }

    /// Applies an event; false when it is not about the screen.
    pub(crate) fn apply(&mut self, event: &str) -> bool {
        let (name, rest) = event.split_once(' ').unwrap_or((event, ""));
        match name {
            "putglyph" => self.put_glyph(rest),
            "erase" => self.fill(&area(rest.split(' ').next().unwrap_or_default()), &blank()),
            "damage" => self.damage(rest),
            "scrollrect" => {
                let (rect, by) = rest.split_once(" => ").expect("a distance");
                let by: Vec<isize> =
                    by.split(',').map(|by| by.parse().expect("a number")).collect();
                self.scroll(&area(rect), by[0], by[1]);
            }
            "moverect" => {
                let (source, target) = rest.split_once(" -> ").expect("a target");
                self.move_area(&area(source), &area(target));
            }
            _ => return false,
        }
        true
    }

    fn put_glyph(&mut self, text: &str) {
        let mut fields = text.split(' ');
        let codes = numbers(fields.next().expect("characters"));
        let width: usize = fields.next().expect("a width").parse().expect("a number");
        let at = numbers(fields.next().expect("a place"));
        let text: String = codes.into_iter().filter_map(char::from_u32).collect();
        let row = &mut self.rows[at[0] as usize];
        let col = at[1] as usize;
        // Half of a wide character that is overwritten shows something that no event tells.
        if col > 0 && matches!(row[col - 1], Slot::Known(_, 2)) {
            row[col - 1] = Slot::Unknown;
        }
        if row.get(col + width) == Some(&Slot::RightHalf) {
            row[col + width] = Slot::Unknown;
        }
        let text = if text == " " { String::new() } else { text };
        row[col] = Slot::Known(text, width);
        if width == 2 {
            row[col + 1] = Slot::RightHalf;
        }
    }

    /// Something changed in an area. Behind `=` is what some rows show from there.
    fn damage(&mut self, text: &str) {
        let (rect, contents) = text.split_once(" = ").unwrap_or((text, ""));
        let area = area(rect);
        self.fill(&area, &Slot::Unknown);
        for row in contents.split_terminator('>') {
            let (index, codes) = row.trim().split_once('<').expect("a row's content");
            let row = &mut self.rows[index.parse::<usize>().expect("a row")];
            for (offset, code) in codes.split(' ').enumerate() {
                let code = u32::from_str_radix(code, 16).expect("a code");
                let text = char::from_u32(code).filter(|c| !matches!(c, '\0' | ' '));
                row[area.cols.start + offset] =
                    Slot::Known(text.map(String::from).unwrap_or_default(), 1);
            }
        }
    }

    fn fill(&mut self, area: &Area, slot: &Slot) {
        for row in &mut self.rows[area.rows.clone()] {
            row[area.cols.clone()].fill(slot.clone());
        }
    }

    fn scroll(&mut self, area: &Area, down: isize, right: isize) {
        let before = self.rows.clone();
        for row in area.rows.clone() {
            for col in area.cols.clone() {
                let from = (row.checked_add_signed(down), col.checked_add_signed(right));
                let inside = match from {
                    (Some(row), Some(col)) => Some((row, col))
                        .filter(|_| area.rows.contains(&row) && area.cols.contains(&col)),
                    _ => None,
                };
                self.rows[row][col] =
                    inside.map_or_else(blank, |(row, col)| before[row][col].clone());
            }
        }
    }

    fn move_area(&mut self, source: &Area, target: &Area) {
        let before = self.rows.clone();
        for (from, to) in source.rows.clone().zip(target.rows.clone()) {
            self.rows[to][target.cols.clone()].clone_from_slice(&before[from][source.cols.clone()]);
        }
    }

    /// The first place where the screen shows something else. `erasing`: events tell what was erased too.
    pub(crate) fn difference(&self, rows: &[Row], erasing: bool) -> Option<String> {
        let shown = Self::of(rows);
        for (row, (wanted, shown)) in self.rows.iter().zip(&shown.rows).enumerate() {
            for (col, (wanted, shown)) in wanted.iter().zip(shown).enumerate() {
                let is_erased = !erasing && *shown == blank();
                if *wanted != Slot::Unknown && wanted != shown && !is_erased {
                    return Some(format!(
                        "row {row}, column {col}: wanted {wanted:?}, shown {shown:?}"
                    ));
                }
            }
        }
        None
    }
}

fn blank() -> Slot {
    Slot::Known(String::new(), 1)
}

/// An area such as `0..25,0..80`.
fn area(text: &str) -> Area {
    let range = |text: &str| {
        let (start, end) = text.split_once("..").expect("a range");
        start.parse().expect("a number")..end.parse().expect("a number")
    };
    let (rows, cols) = text.trim().split_once(',').expect("rows and columns");
    Area { rows: range(rows), cols: range(cols) }
}
