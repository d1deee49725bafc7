//! [`Clipped`]: a session in a panel that is smaller than its screen.
//!
//! On the normal screen the panel shows the part that has the cursor. What is above that part is written before it, so that the
//! panel's terminal keeps it to scroll back to:
//!
//! ```text
//!     lines that scrolled off the screen  ┐ scrolled off the panel; written once, and anew
//!     rows of the screen above the part   ┘ when one of the rows has changed
//!     the part                              what the panel shows; painted with every frame
//!     rows below the part                   not shown
//! ```
//!
//! On the alternate screen nothing is above the part: programs repaint all of it, and it would be written anew all the time. The
//! panel's terminal reports the mouse instead, and its wheel moves the part ([`Pan`]).

use termbridge_session::Page;
use termbridge_session::vt::{PartOrigin, Row, Size, format};

use crate::pan::Pan;

/// Lines above the part that are written anew.
pub(crate) const MAX_ABOVE: usize = 1_000;
/// Lines that are looked at for what has scrolled off since the last frame.
pub(crate) const RECENT_ABOVE: usize = 64;
/// Bytes of a frame; what is furthest above is left out.
const MAX_FRAME: usize = 512 * 1024;
/// What a terminal has scrolled off is forgotten.
const FORGET_ABOVE: &str = "\x1b[3J";
/// The panel's terminal reports the mouse from now on, in the form of SGR, or no more.
const REPORT_MOUSE: &str = "\x1b[?1000h\x1b[?1006h";
const NO_MOUSE: &str = "\x1b[?1006l\x1b[?1000l";

/// What was shown last.
#[derive(Debug)]
pub(crate) struct Clipped {
    /// The rows of the screen above the part, as they were written.
    over_part: Vec<Row>,
    lines_above: usize,
    is_alternate: bool,
}

/// What is to be written, and the lines that it has above the part.
pub(crate) struct Frame {
    pub(crate) text: String,
    pub(crate) lines: usize,
    /// The part is moved by scrolling, not by the panel's own scrollback.
    pub(crate) can_scroll: bool,
}

impl Clipped {
    /// A panel that forgets what it had.
    pub(crate) fn begin(page: &Page, panel: Size, pan: &mut Pan) -> (Self, Frame) {
        if page.screen.alternate {
            let (shown, mut frame) = Self::of_alternate(page, panel, pan);
            frame.text.insert_str(0, &format!("{FORGET_ABOVE}{REPORT_MOUSE}"));
            return (shown, frame);
        }
        *pan = Pan::default();
        let origin = page.screen.origin_with_cursor(PartOrigin::default(), panel);
        let part = page.screen.part(origin, panel);
        let above = || page.above.iter().chain(&page.screen.rows[..origin.top]);
        let all = page.above.len() + origin.top;
        let mut lines = all.min(MAX_ABOVE);
        let mut text = format::repaint(above().skip(all - lines), &part);
        while text.len() > MAX_FRAME && lines > 0 {
            lines /= 2;
            text = format::repaint(above().skip(all - lines), &part);
        }
        let text = format!("{FORGET_ABOVE}{NO_MOUSE}{text}");
        (Self::of(page, origin.top), Frame { text, lines, can_scroll: false })
    }

    /// The next frame. `None` where something has changed that the panel has scrolled off, or more has scrolled off than is known.
    pub(crate) fn go_on(&self, page: &Page, panel: Size, pan: &mut Pan) -> Option<(Self, Frame)> {
        if page.screen.alternate != self.is_alternate {
            return None;
        }
        if page.screen.alternate {
            return Some(Self::of_alternate(page, panel, pan));
        }
        *pan = Pan::default();
        let before = self.over_part.len();
        let grown = page.lines_above.checked_sub(self.lines_above)?;
        // A full history does not grow with every line: then it is found by what the lines are.
        let most = if page.is_full { page.above.len() } else { grown.min(page.above.len()) };
        let scrolled = (grown..=most).find(|scrolled| self.is_in(page, *scrolled))?;
        let top = before.saturating_sub(scrolled);
        let origin = page.screen.origin_with_cursor(PartOrigin { top, left: 0 }, panel);
        // The part moved up: the panel has more above it than it should.
        let lines = (scrolled + origin.top).checked_sub(before)?;
        let above = page.above[page.above.len() - scrolled..].iter();
        let rows = above.chain(&page.screen.rows[..origin.top]);
        let text = format::repaint(rows.skip(before), &page.screen.part(origin, panel));
        Some((Self::of(page, origin.top), Frame { text, lines, can_scroll: false }))
    }

    fn of_alternate(page: &Page, panel: Size, pan: &mut Pan) -> (Self, Frame) {
        let text = format::repaint([], &pan.part(&page.screen, panel));
        (Self::of(page, 0), Frame { text, lines: 0, can_scroll: true })
    }

    fn of(page: &Page, top: usize) -> Self {
        Self {
            over_part: page.screen.rows[..top].to_vec(),
            lines_above: page.lines_above,
            is_alternate: page.screen.alternate,
        }
    }

    /// Whether what was written is still there, that many rows further up.
    fn is_in(&self, page: &Page, scrolled: usize) -> bool {
        let rows = page.above[page.above.len() - scrolled..].iter().chain(&page.screen.rows);
        rows.clone().count() >= self.over_part.len()
            && rows.zip(&self.over_part).all(|(now, then)| now == then)
    }
}

#[cfg(test)]
mod tests {
    use termbridge_session::vt::input::{MouseEncoding, MouseTracking};
    use termbridge_session::vt::{Options, Terminal};

    use super::*;
    use crate::pan::Distance;

    const PANEL: Size = Size { cols: 20, rows: 4 };

    /// A session's terminal, and that of a panel which shows it.
    struct Bed {
        session: Terminal,
        panel: Terminal,
        shown: Option<Clipped>,
        pan: Pan,
    }

    impl Bed {
        fn new(scrollback_lines: usize) -> Self {
            let options = Options { scrollback_lines, ..Options::default() };
            let session = Terminal::new(Size { cols: 20, rows: 10 }, options);
            let panel = Terminal::new(PANEL, Options::default());
            Self { session, panel, shown: None, pan: Pan::default() }
        }

        /// What the panel holds after the session printed this, and whether that was written anew.
        fn prints(&mut self, text: &str) -> (String, bool) {
            self.session.feed(text.as_bytes());
            let recent = Page::of(&self.session, RECENT_ABOVE);
            let pan = &mut self.pan;
            let next = self.shown.as_ref().and_then(|shown| shown.go_on(&recent, PANEL, pan));
            let is_anew = next.is_none();
            let all = Page::of(&self.session, MAX_ABOVE);
            let (shown, frame) = next.unwrap_or_else(|| Clipped::begin(&all, PANEL, pan));
            self.shown = Some(shown);
            self.panel.feed(frame.text.as_bytes());
            (self.held(), is_anew)
        }

        fn held(&self) -> String {
            let panel = Page::of(&self.panel, usize::MAX);
            format::plain(&[panel.above, panel.screen.rows].concat())
        }

        fn reports_mouse(&self) -> bool {
            let modes = self.panel.input_modes();
            (modes.mouse, modes.mouse_encoding) == (MouseTracking::Normal, MouseEncoding::Sgr)
        }

        /// What it is to hold.
        fn above_and_part(&self) -> String {
            let page = Page::of(&self.session, usize::MAX);
            let end = usize::from(page.screen.cursor.row) + 1;
            format::plain(&[&page.above[..], &page.screen.rows[..end.max(4)]].concat())
        }
    }

    fn lines(from: usize, to: usize) -> String {
        (from..to).map(|n| format!("line {n}\r\n")).collect::<Vec<_>>().concat()
    }

    #[test]
    fn a_panel_holds_everything_above_the_cursor_and_writes_it_once() {
        for scrollback in [1_000, 30] {
            let mut bed = Bed::new(scrollback);
            let (held, is_anew) = bed.prints("line 0\r\n");
            assert!(is_anew && held == "line 0", "{held:?}");
            let mut printed = 1;
            for count in [1, 1, 2, 3, 5, 8, 13, 21] {
                let (held, is_anew) = bed.prints(&lines(printed, printed + count));
                printed += count;
                assert!(!is_anew, "{scrollback}: {printed}");
                let wanted: String = lines(0, printed).replace('\r', "");
                assert_eq!(held, wanted.trim_end(), "{scrollback}");
            }
            // More at once than is looked at.
            let (held, is_anew) = bed.prints(&lines(printed, printed + 200));
            assert!(is_anew && held == bed.above_and_part(), "{held}");
        }
    }

    #[test]
    fn what_has_changed_above_the_part_is_written_anew_and_nothing_twice() {
        let mut bed = Bed::new(100);
        bed.prints(&lines(0, 15));
        // Within the part: nothing else is written.
        let (held, is_anew) = bed.prints("\x1b[9;1Hhere");
        assert!(!is_anew && held.contains("line 13") && held.contains("here"), "{held}");
        // Above it: the part moves there.
        let (held, is_anew) = bed.prints("\x1b[2;1Hthere\x1b[10;1H");
        assert!(is_anew && held == bed.above_and_part(), "{held}");
        assert_eq!(held.matches("there").count(), 1);
        // Everything is cleared.
        let (held, is_anew) = bed.prints("\x1b[H\x1b[2J\x1b[3Jnew");
        assert!(is_anew && held == "new", "{held:?}");
    }

    #[test]
    fn a_full_screen_program_has_nothing_above_its_part_which_scrolling_moves() {
        let rows = |from: usize, to: usize, mark: char| {
            (from..=to).map(|row| format!("{mark}{row}")).collect::<Vec<_>>().join("\n")
        };
        let all_rows = |mark: char| {
            (1..=10).map(|row| format!("\x1b[{row}H{mark}{row}")).collect::<Vec<_>>().concat()
        };
        let mut bed = Bed::new(100);
        bed.prints(&lines(0, 15));
        assert!(!bed.reports_mouse());
        let (held, is_anew) = bed.prints(&format!("\x1b[?1049h{}", all_rows('a')));
        assert!(is_anew && bed.reports_mouse());
        assert_eq!(held, rows(7, 10, 'a'));
        // All rows are painted: nothing is written anew, and the part stays.
        bed.pan.scroll(Distance { rows: -3, cols: 0 });
        assert_eq!(bed.prints(""), (rows(4, 7, 'a'), false));
        assert_eq!(bed.prints(&all_rows('b')), (rows(4, 7, 'b'), false));
        bed.pan.scroll(Distance { rows: -9, cols: 0 });
        assert_eq!(bed.prints("").0, rows(1, 4, 'b'));
        // Back, and in again: it follows the cursor.
        let (held, is_anew) = bed.prints("\x1b[?1049l");
        assert!(is_anew && !bed.reports_mouse() && held == bed.above_and_part(), "{held}");
        bed.pan.scroll(Distance { rows: -9, cols: 0 });
        assert_eq!(bed.prints(""), (bed.above_and_part(), false), "scrolled in the panel itself");
        assert_eq!(bed.prints(&format!("\x1b[?1049h{}", all_rows('c'))).0, rows(7, 10, 'c'));
    }

    #[test]
    fn whatever_is_printed_the_panel_shows_the_part_that_has_the_cursor() {
        let pieces = [
            "one\r\n",
            "two\r\nthree\r\n",
            "a line that is longer than the screen is wide\r\n",
            "\x1b[H",
            "\x1b[5;3Hx",
            "\x1b[10;1Hlast",
            "\x1b[2J",
            "\x1b[3J",
            "\x1b[J",
            "\x1b[?1049h",
            "\x1b[?1049l",
            "\x1b[3;7r",
            "\x1b[r",
            "\x1bM",
            "\x1b[4S",
            "\x1b[2T",
            "\x1b[3L",
            "\x1b[41m wide \u{4f60}\u{597d} \x1b[m",
            "\x1b]8;;http://a\x1b\\link\x1b]8;;\x1b\\",
            "\n\n\n\n\n\n\n\n\n\n\n\n",
            "\x1b[?25l",
            "\x1bc",
            "\t\u{8}\u{8}z",
        ];
        let mut random = 7_u64;
        for scrollback in [0, 12, 1_000] {
            let mut bed = Bed::new(scrollback);
            for step in 0..3_000 {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let piece = pieces[(random >> 33) as usize % pieces.len()];
                bed.prints(piece);
                let screen = bed.session.screen();
                let shown = bed.panel.screen();
                // Where a hidden cursor stands says nothing.
                if screen.alternate && !screen.cursor.visible {
                    continue;
                }
                let top = usize::from(screen.cursor.row - shown.cursor.row);
                let part = screen.part(PartOrigin { top, left: 0 }, PANEL);
                assert_eq!(
                    format::markers(&shown.rows),
                    format::markers(&part.rows),
                    "{step}: {piece:?}"
                );
                assert_eq!(
                    (shown.cursor, shown.alternate),
                    (part.cursor, false),
                    "{step}: {piece:?}"
                );
                let page = Page::of(&bed.panel, usize::MAX);
                assert_eq!(bed.reports_mouse(), screen.alternate, "{step}: {piece:?}");
                if screen.alternate {
                    assert!(page.above.is_empty(), "{step}: {piece:?}");
                    continue;
                }
                let over = &page.above[page.above.len() - top..];
                assert_eq!(
                    format::plain(over),
                    format::plain(&screen.rows[..top]),
                    "{step}: {piece:?}"
                );
            }
        }
    }

    #[test]
    fn long_lines_wrap_where_they_are_scrolled_back_to_and_a_frame_has_its_bound() {
        let mut session = Terminal::new(Size { cols: 50, rows: 10 }, Options::default());
        let long = format!("{}end\r\n", "0123456789".repeat(4));
        session.feed(format!("{long}{}", lines(0, 12)).as_bytes());
        let (_, frame) = Clipped::begin(&Page::of(&session, MAX_ABOVE), PANEL, &mut Pan::default());
        let mut panel = Terminal::new(PANEL, Options::default());
        panel.feed(frame.text.as_bytes());
        let held = format::plain(&Page::of(&panel, 100).above);
        assert!(
            held.starts_with("01234567890123456789\n01234567890123456789\nend\nline 0"),
            "{held}"
        );

        let mut session = Terminal::new(Size { cols: 200, rows: 10 }, Options::default());
        for n in 0..2_000_usize {
            let cells = (0..200).map(|at| format!("\x1b[38;2;{};9;9mx", (n + at) % 256));
            session.feed((cells.collect::<Vec<_>>().concat() + "\r\n").as_bytes());
        }
        let (_, frame) = Clipped::begin(&Page::of(&session, MAX_ABOVE), PANEL, &mut Pan::default());
        assert!(
            frame.text.len() <= MAX_FRAME + FORGET_ABOVE.len() + NO_MOUSE.len() && frame.lines > 50,
            "{}",
            frame.lines
        );
    }
}
