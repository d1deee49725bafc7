//! What a terminal shows, as plain data: an owned copy that outlives the next byte.

use std::ops::Range;

use crate::style::{Attributes, Color, Style};

/// How many columns a cell takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum CellWidth {
    /// One column.
    #[default]
    Single,
    /// The left half of a character two columns wide.
    Double,
    /// The right half; its text belongs to the cell on its left.
    Continuation,
}

/// One place of the grid.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Cell {
    /// The base character; a blank is a space.
    pub character: char,
    /// Combining marks and joiners that follow it.
    pub combining: Option<Box<str>>,
    /// Columns taken.
    pub width: CellWidth,
    /// Colours and attributes.
    pub style: Style,
    /// Target of an OSC 8 hyperlink.
    pub link: Option<Box<str>>,
}

impl Cell {
    /// Appends what the cell shows; nothing for a continuation.
    pub fn push_text(&self, text: &mut String) {
        if self.width == CellWidth::Continuation {
            return;
        }
        text.push(self.character);
        if let Some(combining) = &self.combining {
            text.push_str(combining);
        }
    }

    /// True for a space that carries no mark.
    pub fn is_blank(&self) -> bool {
        self.character == ' ' && self.combining.is_none()
    }
}

/// One line of the screen or of the history.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Row {
    /// One cell per column.
    pub cells: Vec<Cell>,
    /// The line goes on in the next row because it did not fit, not because of a newline.
    pub wrapped: bool,
}

impl Row {
    /// The text without trailing blanks.
    pub fn text(&self) -> String {
        self.text_between(0, self.cells.len())
    }

    /// The text of columns `start..end` without trailing blanks.
    pub fn text_between(&self, start: usize, end: usize) -> String {
        let end = end.min(self.cells.len());
        let mut text = String::with_capacity(end.saturating_sub(start));
        for cell in self.cells.get(start..end).unwrap_or_default() {
            cell.push_text(&mut text);
        }
        text.truncate(text.trim_end_matches(' ').len());
        text
    }

    /// Runs of cells that share style and link: `(first column, cells)`.
    pub fn runs(&self) -> impl Iterator<Item = (usize, &[Cell])> {
        let mut column = 0;
        self.cells.chunk_by(same_run).map(move |run| {
            let start = column;
            column += run.len();
            (start, run)
        })
    }

    /// Number of columns up to the last cell that is visible: text, a background or a decoration.
    pub fn visible_len(&self) -> usize {
        let shows =
            |cell: &Cell| !cell.is_blank() || cell.style != Style::default() || cell.link.is_some();
        self.cells.iter().rposition(shows).map_or(0, |last| last + 1)
    }
}

fn same_run(a: &Cell, b: &Cell) -> bool {
    a.style == b.style && a.link == b.link
}

/// Shape of the cursor as DECSCUSR sets it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CursorShape {
    /// A filled cell.
    #[default]
    Block,
    /// A line below the character.
    Underline,
    /// A bar before the character.
    Bar,
}

impl CursorShape {
    /// The name agents read.
    pub fn name(self) -> &'static str {
        match self {
            Self::Block => "block",
            Self::Underline => "underline",
            Self::Bar => "bar",
        }
    }
}

/// Where the cursor is and how it looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cursor {
    /// Row from 0.
    pub row: u16,
    /// Column from 0.
    pub col: u16,
    /// DECTCEM.
    pub visible: bool,
    /// DECSCUSR.
    pub shape: CursorShape,
    /// DECSCUSR.
    pub blinking: bool,
}

/// The visible screen at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Screen {
    /// Rows from the top; all of the same length.
    pub rows: Vec<Row>,
    /// The cursor.
    pub cursor: Cursor,
    /// The alternate screen is shown.
    pub alternate: bool,
    /// The window's title, empty when none was set.
    pub title: String,
}

/// A stretch of cells that stands out from its surroundings, as a selected entry does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Highlight {
    /// Row from 0.
    pub row: u16,
    /// First column from 0.
    pub col: u16,
    /// What stands there, trimmed.
    pub text: String,
}

/// Most highlights that are reported; a screen with more is decorated, not selected.
const MAX_HIGHLIGHTS: usize = 8;

impl Screen {
    /// Number of columns.
    pub fn cols(&self) -> u16 {
        self.rows.first().map_or(0, |row| row.cells.len() as u16)
    }

    /// Stretches whose background differs from the one most of the screen has.
    ///
    /// A text view loses colour, and with it which entry of a menu is selected. A background that
    /// covers more than a quarter of the screen is decoration (a panel, a status area) and left out,
    /// except for text in a row of its own amid another: an entry in a window over that decoration.
    pub fn highlights(&self) -> Vec<Highlight> {
        let mut cells_by_background: Vec<(Background, usize)> = Vec::new();
        let mut total = 0;
        for cell in self.rows.iter().flat_map(|row| &row.cells) {
            let background = Background::of(cell);
            total += 1;
            match cells_by_background.iter_mut().find(|(known, _)| *known == background) {
                Some((_, count)) => *count += 1,
                None => cells_by_background.push((background, 1)),
            }
        }
        let Some((common, _)) = cells_by_background.iter().max_by_key(|(_, count)| *count) else {
            return Vec::new();
        };
        let common = *common;
        let stands_out = |background: Background| {
            background != common
                && cells_by_background
                    .iter()
                    .any(|(known, count)| *known == background && *count * 4 <= total)
        };
        let mut found = Vec::new();
        for (row_index, row) in self.rows.iter().enumerate() {
            let mut col = 0;
            for run in row.cells.chunk_by(|a, b| Background::of(a) == Background::of(b)) {
                let start = col;
                col += run.len();
                let background = Background::of(&run[0]);
                if !stands_out(background) && !self.is_island(background, row_index, start..col) {
                    continue;
                }
                let text = row.text_between(start, col);
                let trimmed = text.trim();
                if !trimmed.is_empty() {
                    found.push(Highlight {
                        row: row_index as u16,
                        col: start as u16,
                        text: trimmed.to_owned(),
                    });
                }
            }
        }
        found.truncate(MAX_HIGHLIGHTS);
        found
    }

    /// The columns of the row have other backgrounds on all sides.
    fn is_island(&self, background: Background, row: usize, cols: Range<usize>) -> bool {
        let differs = |row: Option<usize>| {
            let cells = row.and_then(|row| self.rows.get(row)?.cells.get(cols.clone()));
            cells.is_none_or(|cells| cells.iter().all(|cell| Background::of(cell) != background))
        };
        let amid = cols.start > 0 && cols.end < usize::from(self.cols());
        amid && differs(row.checked_sub(1)) && differs(row.checked_add(1))
    }
}

/// The background a person sees: inversion swaps it with the foreground.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Background {
    color: Color,
    inverse: bool,
}

impl Background {
    fn of(cell: &Cell) -> Self {
        let inverse = cell.style.attributes.contains(Attributes::INVERSE);
        let color = if inverse { cell.style.fg } else { cell.style.bg };
        Self { color, inverse: inverse && color == Color::Default }
    }
}
