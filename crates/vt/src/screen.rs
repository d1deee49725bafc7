//! What a terminal shows, as plain data: an owned copy that outlives the next byte.

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

impl Screen {
    /// The first row of a part of so many rows that has the cursor, and moves from where it was as little as possible.
    pub fn top_of_part(&self, rows: u16, before: usize) -> usize {
        let row = usize::from(self.cursor.row);
        let lowest = self.rows.len().saturating_sub(usize::from(rows.max(1)));
        before.clamp((row + 1).saturating_sub(usize::from(rows.max(1))), row).min(lowest)
    }

    /// The part of it from row `top` on that fits into so many columns and rows and has the cursor, on a screen without a title.
    pub fn part(&self, top: usize, cols: u16, rows: u16) -> Self {
        let (cols, rows) = (usize::from(cols.max(1)), usize::from(rows.max(1)));
        let (row, col) = (usize::from(self.cursor.row), usize::from(self.cursor.col));
        let top = top.clamp((row + 1).saturating_sub(rows), row);
        let left = (col + 1).saturating_sub(cols);
        let cut = |row: &Row| {
            let mut cells: Vec<Cell> = row.cells.iter().skip(left).take(cols).cloned().collect();
            // Half of a wide character is a blank.
            let blank = |cell: &mut Cell| *cell = Cell { character: ' ', ..Cell::default() };
            cells.first_mut().filter(|cell| cell.width == CellWidth::Continuation).map(blank);
            cells.last_mut().filter(|cell| cell.width == CellWidth::Double).map(blank);
            Row { cells, wrapped: false }
        };
        let cursor = Cursor { row: (row - top) as u16, col: (col - left) as u16, ..self.cursor };
        let rows = self.rows.iter().skip(top).take(rows).map(cut).collect();
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
    use crate::{Options, Size, Terminal};

    #[test]
    fn a_part_has_the_cursor_and_no_half_character() {
        let mut terminal = Terminal::new(Size { cols: 20, rows: 5 }, Options::default());
        terminal.feed("one\r\n12345\u{4f60}67890\r\nthree\r\nfour".as_bytes());
        let screen = terminal.screen();
        let text = |part: &Screen| crate::format::plain(&part.rows);
        let part = screen.part(0, 10, 3);
        assert_eq!(text(&part), "12345\u{4f60}678\nthree\nfour");
        assert_eq!((part.cursor.row, part.cursor.col), (2, 4));
        assert_eq!(text(&screen.part(0, 6, 3)), "12345\nthree\nfour", "not half of it");
        terminal.feed(b"\x1b[2;12H");
        let part = terminal.screen().part(0, 6, 2);
        assert_eq!((text(&part).as_str(), part.cursor.col), ("\n 67890", 5));
        assert_eq!(screen.part(0, 100, 100).rows, screen.rows);
        assert_eq!(text(&screen.part(2, 10, 3)), "three\nfour", "from where it is wanted");
        assert_eq!(text(&screen.part(9, 10, 3)), "four", "with the cursor");
        assert_eq!(screen.part(0, 0, 0), screen.part(0, 1, 1));
    }
    #[test]
    fn a_part_stays_where_it_is_while_it_has_the_cursor() {
        let screen = |row| Screen {
            rows: vec![Row::default(); 40],
            cursor: Cursor { row, ..Cursor::default() },
            ..Screen::default()
        };
        let top = |row, before| screen(row).top_of_part(14, before);
        assert_eq!((top(0, 0), top(13, 0), top(14, 0), top(39, 0)), (0, 0, 1, 26));
        assert_eq!((top(20, 10), top(9, 10), top(24, 10)), (10, 9, 11));
        assert_eq!(top(39, 39), 26, "no more than the screen has");
        assert_eq!(screen(5).top_of_part(100, 3), 0);
        assert_eq!(screen(5).top_of_part(0, 3), 5);
    }
}
