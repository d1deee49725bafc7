//! Rows as text and control sequences, and what these leave out.
//!
//! A [`Painter`] writes the rows of a screen one below the other, the history first, so that in any
//! terminal of that width they come to stand where they were: a soft wrap is made by printing on, a
//! hard one by CR LF. The background is the default wherever a new row may scroll in, because
//! terminals fill that with the background in force.
//!
//! What no program could print anew (half of a wide character, a tab that is kept in its cell, the
//! mark of a wrap that went nowhere) is printed as what it shows, and the cell itself becomes a
//! [`Patch`] for the private part. So the text alone shows the same everywhere, and text and patches
//! are exact here.

use alacritty_terminal::grid::{Dimensions, Grid};
use alacritty_terminal::index::Line;
use alacritty_terminal::term::cell::{Cell, Flags, Hyperlink};
use alacritty_terminal::vte::ansi::Color;
use unicode_width::UnicodeWidthChar;

use super::cells::{self, DEFAULT_BG, DEFAULT_FG};
use super::pen::{Pen, STYLE};
use crate::convert::has_extra;
use crate::emulator::memory::{EXTRA, MAX_EXTRAS};

/// Erased cells at the end of a row for which a sequence is shorter than blanks.
const MIN_ERASED: usize = 6;

/// A cell that printing does not bring back.
#[derive(Debug)]
pub(super) struct Patch {
    /// Line of the grid, negative in the history.
    pub(super) line: i32,
    pub(super) column: usize,
    pub(super) cell: Cell,
}

/// How a row is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// All of it, and printing goes on in the next row.
    Wraps,
    /// All but the last column, which a wide character leaves free.
    Leaves,
    /// Up to the last cell that holds something.
    Ends,
}

pub(super) struct Painter {
    pub(super) out: Vec<u8>,
    pub(super) patches: Vec<Patch>,
    pen: Pen,
    link: Option<Hyperlink>,
    /// What links and marks may still cost before a terminal that replays this has no more room.
    room: usize,
}

impl Painter {
    pub(super) fn new(out: Vec<u8>) -> Self {
        Self { out, patches: Vec::new(), pen: Pen::DEFAULT, link: None, room: MAX_EXTRAS }
    }

    /// Prints the history and the screen of a grid from the first row of a blank screen on.
    pub(super) fn grid(&mut self, grid: &Grid<Cell>) {
        self.out.reserve(grid.total_lines() * grid.columns().min(100));
        let (first, last) = (grid.topmost_line().0, grid.bottommost_line().0);
        let mut continues = false;
        for line in first..=last {
            let cells = &grid[Line(line)][..];
            let next = (line < last).then(|| &grid[Line(line + 1)][..]);
            let end = row_end(cells, next);
            self.row(line, cells, next, continues, end);
            continues = end != End::Ends;
            if !continues && line < last {
                if self.pen.bg != DEFAULT_BG {
                    self.set_pen(Pen::DEFAULT);
                }
                self.out.extend_from_slice(b"\r\n");
            }
        }
        self.reset();
    }

    /// The default style, without a link.
    pub(super) fn reset(&mut self) {
        if self.pen != Pen::DEFAULT {
            self.set_pen(Pen::DEFAULT);
        }
        self.set_link(None);
    }

    /// The style and the link of a cursor.
    pub(super) fn template(&mut self, template: &Cell) {
        self.set_pen(Pen::of(template));
        self.set_link(template.hyperlink().as_ref());
    }

    /// Prints the last character of a row again, at whose beginning the cursor is to be put by
    /// `go_to`, so that the next character wraps.
    pub(super) fn fill(
        &mut self,
        grid: &Grid<Cell>,
        line: i32,
        mut go_to: impl FnMut(&mut Vec<u8>, usize),
    ) {
        let cells = &grid[Line(line)][..];
        let last = cells.len() - 1;
        let start = if is_wide(&cells[last - 1..]) { last - 1 } else { last };
        go_to(&mut self.out, start);
        self.cell(line, cells, start);
        // It lost the mark of its wrap, and the row above that of a column left free.
        for (column, cell) in cells.iter().enumerate().skip(start) {
            self.patches.push(Patch { line, column, cell: cell.clone() });
        }
        if line > grid.topmost_line().0 {
            let cell = grid[Line(line - 1)][..][last].clone();
            self.patches.push(Patch { line: line - 1, column: last, cell });
        }
    }

    fn row(&mut self, line: i32, cells: &[Cell], next: Option<&[Cell]>, continues: bool, end: End) {
        let last = cells.len() - 1;
        let mut stop = match end {
            End::Wraps => cells.len(),
            End::Leaves => last,
            End::Ends => cells.iter().rposition(|cell| !is_blank(cell)).map_or(0, |last| last + 1),
        };
        // A row is only gone on to by printing there.
        let least = usize::from(continues);
        stop = stop.max(least);
        let mut erased = None;
        if end == End::Ends && stop == cells.len() && cells[last].bg != DEFAULT_BG {
            let bg = cells[last].bg;
            let start = cells.iter().rposition(|cell| !is_erased(cell, bg)).map_or(0, |at| at + 1);
            let start = start.max(least);
            if cells.len() - start >= MIN_ERASED {
                (stop, erased) = (start, Some(bg));
            }
        }
        let mut column = 0;
        while column < stop {
            let cell = &cells[column];
            let width = if is_simple(cell) {
                let alike = |other: &&Cell| {
                    is_simple(other)
                        && (other.fg, other.bg, other.flags) == (cell.fg, cell.bg, cell.flags)
                };
                // The first of a row that is gone on to may have something to follow it.
                let most = if continues && column == 0 { 1 } else { stop };
                let run = cells[column..stop].iter().take(most).take_while(alike).count();
                self.set_style(cell);
                self.out.extend(cells[column..column + run].iter().map(|cell| cell.c as u8));
                run
            } else {
                self.cell(line, cells, column)
            };
            column += width;
            // The row may have come in with the background of its first character.
            if continues && column == width && column < cells.len() && cell.bg != DEFAULT_BG {
                self.set_pen(Pen::DEFAULT);
                self.out.extend_from_slice(b"\x1b[K");
            }
        }
        if let Some(bg) = erased {
            let pen = Pen { bg, ..Pen::DEFAULT };
            if pen != self.pen {
                self.set_pen(pen);
            }
            self.out.extend_from_slice(b"\x1b[K");
        }
        self.check_end(line, cells, next, end);
    }

    /// Prints the character at a column and returns how many columns it takes.
    fn cell(&mut self, line: i32, cells: &[Cell], column: usize) -> usize {
        let (cell, link) = (&cells[column], cells[column].hyperlink());
        let mut exact = self.set_style(cell);
        let pen = self.pen;
        let wide = is_wide(&cells[column..]);
        let shown =
            if wide || (is_single(cell) && cell.c.width() == Some(1)) { cell.c } else { ' ' };
        exact &= shown == cell.c;
        push_character(&mut self.out, shown);
        for mark in cells::marks(cell) {
            let fits = mark.width() == Some(0) && self.room >= EXTRA;
            if fits {
                self.room -= EXTRA;
                push_character(&mut self.out, *mark);
            }
            exact &= fits;
        }
        // The mark of a wrap in the last column is for `check_end`.
        let own = STYLE | Flags::WIDE_CHAR;
        let own = if column + 1 == cells.len() { own | Flags::WRAPLINE } else { own };
        exact &= own.contains(cell.flags) && cell.flags.contains(Flags::WIDE_CHAR) == wide;
        if !exact {
            self.patches.push(Patch { line, column, cell: cell.clone() });
        }
        if !wide {
            return 1;
        }
        let spacer = &cells[column + 1];
        let alike = Pen::of(spacer) == pen
            && cells::same_link(spacer.hyperlink().as_ref(), link.as_ref())
            && spacer.c == ' '
            && cells::marks(spacer).is_empty()
            && spacer.flags.difference(STYLE | Flags::WRAPLINE) == Flags::WIDE_CHAR_SPACER
            && (column + 2 == cells.len() || !spacer.flags.contains(Flags::WRAPLINE));
        if !alike || !exact {
            let cell = spacer.clone();
            self.patches.push(Patch { line, column: column + 1, cell });
        }
        2
    }

    /// Compares the last column with what it holds once the next row is begun.
    fn check_end(&mut self, line: i32, cells: &[Cell], next: Option<&[Cell]>, end: End) {
        let column = cells.len() - 1;
        let cell = &cells[column];
        let exact = match (end, next.and_then(|next| next.first())) {
            (End::Leaves, Some(wide)) => {
                cell.c == ' '
                    && Pen::of(cell) == Pen::of(wide)
                    && cell.flags.difference(STYLE)
                        == Flags::LEADING_WIDE_CHAR_SPACER | Flags::WRAPLINE
                    && cell.hyperlink().is_none()
                    && wide.hyperlink().is_none()
                    && cells::marks(cell).is_empty()
            }
            (End::Wraps, _) => true,
            _ => !cell.flags.contains(Flags::WRAPLINE),
        };
        if !exact {
            self.patches.push(Patch { line, column, cell: cell.clone() });
        }
    }

    /// The style and the link of a cell; false when the link cannot be written.
    fn set_style(&mut self, cell: &Cell) -> bool {
        let pen = Pen::of(cell);
        if pen != self.pen {
            self.set_pen(pen);
        }
        if cell.extra.is_none() && self.link.is_none() {
            return true;
        }
        self.set_link(cell.hyperlink().as_ref())
    }

    /// Opens or closes a link; false when it cannot be written.
    fn set_link(&mut self, link: Option<&Hyperlink>) -> bool {
        if cells::same_link(self.link.as_ref(), link) {
            return true;
        }
        let id_len = |link| cells::link_id(link).map_or(0, str::len);
        let cost = link.map_or(0, |link| EXTRA + id_len(link) + link.uri().len() + 8);
        let is_clean = |text: &str| !text.chars().any(char::is_control);
        let link = link
            .filter(|link| self.room >= cost && is_clean(link.uri()) && is_clean(link.id()))
            .cloned();
        self.room -= if link.is_some() { cost } else { 0 };
        let written = link.is_some();
        if self.link.is_some() || written {
            self.out.extend_from_slice(b"\x1b]8;");
            if let Some(link) = &link {
                if let Some(id) = cells::link_id(link) {
                    self.out.extend_from_slice(b"id=");
                    self.out.extend_from_slice(id.as_bytes());
                }
                self.out.push(b';');
                self.out.extend_from_slice(link.uri().as_bytes());
            } else {
                self.out.push(b';');
            }
            self.out.extend_from_slice(b"\x1b\\");
        }
        self.link = link;
        written || cost == 0
    }

    fn set_pen(&mut self, pen: Pen) {
        self.pen = pen;
        pen.write(&mut self.out);
    }
}

/// How printing gets from a row to the next.
fn row_end(cells: &[Cell], next: Option<&[Cell]>) -> End {
    let flags = cells.last().map_or(Flags::empty(), |cell| cell.flags);
    match next {
        Some(next) if flags.contains(Flags::WRAPLINE) => {
            if flags.contains(Flags::LEADING_WIDE_CHAR_SPACER) && is_wide(next) {
                End::Leaves
            } else {
                End::Wraps
            }
        }
        _ => End::Ends,
    }
}

/// An ASCII character that a style says all about.
#[inline]
fn is_simple(cell: &Cell) -> bool {
    matches!(cell.c, ' '..='~') && STYLE.contains(cell.flags) && !has_extra(cell)
}

/// As a row begins.
#[inline]
fn is_blank(cell: &Cell) -> bool {
    cell.c == ' '
        && cell.flags.is_empty()
        && matches!(cell.fg, DEFAULT_FG)
        && matches!(cell.bg, DEFAULT_BG)
        && !has_extra(cell)
}

/// As erasing with a background leaves it.
fn is_erased(cell: &Cell, bg: Color) -> bool {
    cell.bg == bg
        && cell.c == ' '
        && cell.flags.is_empty()
        && matches!(cell.fg, DEFAULT_FG)
        && !has_extra(cell)
}

fn is_single(cell: &Cell) -> bool {
    !cell
        .flags
        .intersects(Flags::WIDE_CHAR | Flags::WIDE_CHAR_SPACER | Flags::LEADING_WIDE_CHAR_SPACER)
}

/// Both halves of a wide character stand at the beginning.
fn is_wide(cells: &[Cell]) -> bool {
    match cells {
        [wide, spacer, ..] => {
            wide.flags.contains(Flags::WIDE_CHAR)
                && !wide.flags.intersects(Flags::WIDE_CHAR_SPACER | Flags::LEADING_WIDE_CHAR_SPACER)
                && spacer.flags.contains(Flags::WIDE_CHAR_SPACER)
                && !spacer.flags.contains(Flags::WIDE_CHAR)
                && wide.c.width() == Some(2)
        }
        _ => false,
    }
}

fn push_character(out: &mut Vec<u8>, character: char) {
    out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
}
