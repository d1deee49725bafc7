//! What a terminal shows, as plain data: an owned copy that outlives the next byte.

use serde::{Deserialize, Serialize};

use crate::size::Size;
use crate::style::Style;

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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
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

/// Where a part of a screen begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PartOrigin {
    /// Its first row, from 0.
    pub top: usize,
    /// Its first column, from 0.
    pub left: usize,
}

impl Screen {
    /// Where a part of this size begins that has the cursor, and moves from where it was as little as possible.
    pub fn origin_with_cursor(&self, before: PartOrigin, size: Size) -> PartOrigin {
        let start = |before: usize, cursor: u16, length: u16| {
            let cursor = usize::from(cursor);
            before.clamp((cursor + 1).saturating_sub(usize::from(length.max(1))), cursor)
        };
        let top = start(before.top, self.cursor.row, size.rows);
        let left = start(before.left, self.cursor.col, size.cols);
        self.origin_within(PartOrigin { top, left }, size)
    }

    /// The nearest origin of a part of this size that does not go beyond the screen.
    pub fn origin_within(&self, wanted: PartOrigin, size: Size) -> PartOrigin {
        let last = |all: usize, length: u16| all.saturating_sub(usize::from(length.max(1)));
        let cols = usize::from(self.cols());
        PartOrigin {
            top: wanted.top.min(last(self.rows.len(), size.rows)),
            left: wanted.left.min(last(cols, size.cols)),
        }
    }

    /// The part of this size, on a screen without a title. A cursor that is outside of it is hidden.
    pub fn part(&self, origin: PartOrigin, size: Size) -> Self {
        let (cols, rows) = (usize::from(size.cols.max(1)), usize::from(size.rows.max(1)));
        let cut = |row: &Row| {
            let mut cells: Vec<Cell> =
                row.cells.iter().skip(origin.left).take(cols).cloned().collect();
            // Half of a wide character is a blank.
            let blank = |cell: &mut Cell| *cell = Cell { character: ' ', ..Cell::default() };
            cells.first_mut().filter(|cell| cell.width == CellWidth::Continuation).map(blank);
            cells.last_mut().filter(|cell| cell.width == CellWidth::Double).map(blank);
            Row { cells, wrapped: false }
        };
        let inside = |at: u16, start: usize, length: usize| {
            usize::from(at).checked_sub(start).filter(|at| *at < length)
        };
        let row = inside(self.cursor.row, origin.top, rows);
        let col = inside(self.cursor.col, origin.left, cols);
        let cursor = Cursor {
            row: row.unwrap_or_default() as u16,
            col: col.unwrap_or_default() as u16,
            visible: self.cursor.visible && row.is_some() && col.is_some(),
            ..self.cursor
        };
        let rows = self.rows.iter().skip(origin.top).take(rows).map(cut).collect();
        Self { rows, cursor, ..Self::default() }
    }

    /// Number of columns.
    pub fn cols(&self) -> u16 {
        self.rows.first().map_or(0, |row| row.cells.len() as u16)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, Terminal};

    fn size(cols: u16, rows: u16) -> Size {
        Size { cols, rows }
    }

    fn at(top: usize, left: usize) -> PartOrigin {
        PartOrigin { top, left }
    }

    #[test]
    fn a_part_has_no_half_character_and_hides_a_cursor_that_is_outside() {
        let mut terminal = Terminal::new(size(20, 5), Options::default());
        terminal.feed("one\r\n12345\u{4f60}67890\r\nthree\r\nfour".as_bytes());
        let screen = terminal.screen();
        let text = |part: &Screen| crate::format::plain(&part.rows);
        let part = screen.part(at(1, 0), size(10, 3));
        assert_eq!(text(&part), "12345\u{4f60}678\nthree\nfour");
        assert_eq!((part.cursor.row, part.cursor.col, part.cursor.visible), (2, 4, true));
        assert_eq!(text(&screen.part(at(1, 0), size(6, 2))), "12345\nthree", "not half of it");
        assert_eq!(text(&screen.part(at(1, 6), size(6, 1))), " 67890", "nor the other half");
        assert_eq!(text(&screen.part(at(1, 5), size(1, 1))), "", "nor all of it in one column");
        for outside in [at(0, 0), at(1, 5), at(4, 0)] {
            assert!(!screen.part(outside, size(10, 3)).cursor.visible, "{outside:?}");
        }
        assert_eq!(screen.part(at(0, 0), size(100, 100)).rows, screen.rows);
        assert_eq!(screen.part(at(0, 0), size(0, 0)), screen.part(at(0, 0), size(1, 1)));
    }

    #[test]
    fn a_part_stays_where_it_is_while_it_has_the_cursor() {
        let cells = vec![Cell::default(); 120];
        let screen = |row, col| Screen {
            rows: vec![Row { cells: cells.clone(), wrapped: false }; 40],
            cursor: Cursor { row, col, ..Cursor::default() },
            ..Screen::default()
        };
        let top = |row, before| screen(row, 0).origin_with_cursor(at(before, 0), size(80, 14)).top;
        assert_eq!((top(0, 0), top(13, 0), top(14, 0), top(39, 0)), (0, 0, 1, 26));
        assert_eq!((top(20, 10), top(9, 10), top(24, 10)), (10, 9, 11));
        assert_eq!(top(39, 39), 26, "no more than the screen has");
        let left =
            |col, before| screen(0, col).origin_with_cursor(at(0, before), size(80, 14)).left;
        assert_eq!((left(79, 0), left(80, 0), left(119, 0)), (0, 1, 40));
        assert_eq!((left(90, 20), left(10, 20), left(119, 119)), (20, 10, 40));
        assert_eq!(screen(5, 0).origin_with_cursor(at(3, 9), size(200, 100)), at(0, 0));
        assert_eq!(screen(5, 0).origin_with_cursor(at(3, 0), size(0, 0)), at(5, 0));
        assert_eq!(screen(5, 0).origin_within(at(99, 99), size(80, 14)), at(26, 40));
    }
}
