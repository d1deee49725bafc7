//! [`Pan`]: which part of a full-screen program's screen a smaller panel shows.
//!
//! The part begins at the top left and follows a cursor that is shown, until a person scrolls to where the cursor is not. It then
//! stays there until the person scrolls back to the cursor, or it begins anew: with another size, or on the normal screen, where
//! the panel's own scrollback is what people scroll in.

use std::ops::{AddAssign, Sub};

use serde::Deserialize;
use termbridge_session::vt::{PartOrigin, Screen, Size};

/// How far a part is moved, to the bottom and to the right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
pub(crate) struct Distance {
    #[serde(default)]
    pub(crate) rows: i32,
    #[serde(default)]
    pub(crate) cols: i32,
}

impl AddAssign for Distance {
    fn add_assign(&mut self, more: Self) {
        self.rows = self.rows.wrapping_add(more.rows);
        self.cols = self.cols.wrapping_add(more.cols);
    }
}

impl Sub for Distance {
    type Output = Self;

    fn sub(self, before: Self) -> Self {
        Self {
            rows: self.rows.wrapping_sub(before.rows),
            cols: self.cols.wrapping_sub(before.cols),
        }
    }
}

/// The part, and whether it follows the cursor.
#[derive(Debug, Default)]
pub(crate) struct Pan {
    shown: PartOrigin,
    /// The first column that the person has chosen; other ones are shown only for the cursor's sake.
    left: usize,
    is_held: bool,
    /// What is still to be done.
    ahead: Distance,
}

impl Pan {
    /// Moves it with the next part.
    pub(crate) fn scroll(&mut self, by: Distance) {
        self.ahead += by;
    }

    /// What the panel shows of a screen.
    pub(crate) fn part(&mut self, screen: &Screen, panel: Size) -> Screen {
        let ahead = std::mem::take(&mut self.ahead);
        // Where a hidden cursor stands says nothing.
        if !self.is_held && screen.cursor.visible {
            let before = PartOrigin { left: self.left, ..self.shown };
            self.shown = screen.origin_with_cursor(before, panel);
        }
        let wanted = PartOrigin {
            top: self.shown.top.saturating_add_signed(ahead.rows as isize),
            left: self.shown.left.saturating_add_signed(ahead.cols as isize),
        };
        let before = std::mem::replace(&mut self.shown, screen.origin_within(wanted, panel));
        let part = screen.part(self.shown, panel);
        if ahead != Distance::default() && self.shown != before {
            self.is_held = !part.cursor.visible;
            if self.shown.left != before.left {
                self.left = self.shown.left;
            }
        }
        part
    }
}

#[cfg(test)]
mod tests {
    use termbridge_session::vt::{Options, Terminal, format};

    use super::*;

    const PANEL: Size = Size { cols: 10, rows: 4 };

    /// A terminal of 20 × 12 whose rows say which they are, and the part of it that is shown.
    struct Bed {
        terminal: Terminal,
        pan: Pan,
    }

    impl Bed {
        fn new() -> Self {
            let mut terminal = Terminal::new(Size { cols: 20, rows: 12 }, Options::default());
            for row in 1..=12 {
                terminal
                    .feed(format!("\x1b[{row}Hrow {row:02} 78\u{4f60}\u{597d}456789").as_bytes());
            }
            Self { terminal, pan: Pan::default() }
        }

        fn prints(&mut self, text: &str) -> &mut Self {
            self.terminal.feed(text.as_bytes());
            self
        }

        fn scrolls(&mut self, rows: i32, cols: i32) -> &mut Self {
            self.pan.scroll(Distance { rows, cols });
            self
        }

        /// The first row that is shown, the last one, and whether the cursor is.
        fn shows(&mut self) -> (String, String, bool) {
            let part = self.pan.part(&self.terminal.screen(), PANEL);
            let text = |row| format::plain(&part.rows[row..=row]);
            (text(0), text(3), part.cursor.visible)
        }
    }

    fn rows(first: u8, last: u8, has_cursor: bool) -> (String, String, bool) {
        let row = |number| format!("row {number:02} 78");
        (row(first), row(last), has_cursor)
    }

    #[test]
    fn it_follows_the_cursor_until_it_is_scrolled_away_and_again_once_it_is_back() {
        let mut bed = Bed::new();
        assert_eq!(bed.prints("\x1b[12;1H").shows(), rows(9, 12, true));
        assert_eq!(bed.scrolls(-3, 0).shows(), rows(6, 9, false));
        // Whatever is painted, and wherever the cursor is then.
        assert_eq!(bed.prints("\x1b[1;1Hrow\x1b[12;3H").shows(), rows(6, 9, false));
        assert_eq!(bed.prints("\x1b[7;1H").shows(), rows(6, 9, true));
        assert_eq!(bed.prints("\x1b[1;1H").shows(), rows(6, 9, false));
        assert_eq!(bed.scrolls(-2, 0).scrolls(-2, 0).shows(), rows(2, 5, false));
        assert_eq!(bed.scrolls(-1, 0).shows(), rows(1, 4, true));
        assert_eq!(bed.prints("\x1b[9;1H").shows(), rows(6, 9, true), "it follows again");
        // Below the cursor too, and no further than the screen.
        assert_eq!(bed.prints("\x1b[1;1H").scrolls(i32::MAX, 0).shows(), rows(9, 12, false));
        assert_eq!(bed.scrolls(1, 0).shows(), rows(9, 12, false));
        assert_eq!(bed.scrolls(i32::MIN, 0).shows(), rows(1, 4, true));
    }

    #[test]
    fn it_goes_sideways_and_cuts_no_character_in_half() {
        let mut bed = Bed::new();
        bed.prints("\x1b[1;1H").shows();
        let first = |(first, _, has_cursor): (String, String, bool)| (first, has_cursor);
        let shows = |text: &str, has_cursor| (text.to_owned(), has_cursor);
        assert_eq!(first(bed.scrolls(0, 1).shows()), shows("ow 01 78\u{4f60}", false));
        assert_eq!(first(bed.scrolls(0, 99).shows()), shows(" \u{597d}456789", false));
        assert_eq!(first(bed.scrolls(0, -99).shows()), shows("row 01 78", true));
        // What the person has chosen is kept to wherever it has the cursor.
        bed.prints("\x1b[1;5H").scrolls(0, 2);
        assert_eq!(first(bed.shows()), shows("w 01 78\u{4f60}", true));
        let at_the_end = shows("\u{4f60}\u{597d}456789", true);
        assert_eq!(first(bed.prints("\x1b[1;19H").shows()), at_the_end);
        assert_eq!(first(bed.prints("\x1b[1;6H").shows()), shows("w 01 78\u{4f60}", true));
        assert_eq!(first(bed.prints("\x1b[1;1H").shows()), shows("row 01 78", true));
    }

    #[test]
    fn a_program_that_hides_its_cursor_is_left_where_it_was_scrolled_to() {
        let mut bed = Bed::new();
        assert_eq!(bed.prints("\x1b[?25l\x1b[12;1H").shows(), rows(1, 4, false), "its top");
        assert_eq!(bed.scrolls(7, 0).shows(), rows(8, 11, false));
        assert_eq!(bed.prints("\x1b[1;1H").shows(), rows(8, 11, false));
    }
}
