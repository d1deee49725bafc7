//! Which function a control character or sequence is.

use super::core::{Core, MAX_WORK};
use super::cursor::Direction;
use super::modes::Modes;
use super::tabs::TabStops;
use crate::event::Event;
use crate::grid::Rectangle;
use crate::parser::{BEL, Csi, Handler};
use crate::screen::CursorShape;

/// No intermediate bytes.
const PLAIN: [u8; 2] = [0, 0];

const fn one(intermediate: u8) -> [u8; 2] {
    [intermediate, 0]
}

const SPACE: [u8; 2] = one(b' ');
const BANG: [u8; 2] = one(b'!');
const QUOTE: [u8; 2] = one(b'"');
const HASH: [u8; 2] = one(b'#');
const DOLLAR: [u8; 2] = one(b'$');
const APOSTROPHE: [u8; 2] = one(b'\'');
const STAR: [u8; 2] = one(b'*');

impl Handler for Core {
    #[inline]
    fn ascii(&mut self, run: &[u8]) {
        self.tap_bytes(run);
        self.print_ascii(run);
    }

    fn text(&mut self, text: &[u8]) -> usize {
        let taken = self.print_text(text);
        self.tap_bytes(&text[..taken]);
        taken
    }

    #[inline]
    fn control(&mut self, byte: u8) {
        self.tap_bytes(&[byte]);
        match byte {
            b'\n' | 0x0b | 0x0c => {
                self.line_feed();
                self.grid_mut().cursor.wraps = false;
                if self.modes.contains(Modes::NEWLINE) {
                    self.carriage_return();
                }
            }
            b'\r' => self.carriage_return(),
            b'\t' => self.tab_forward(1),
            0x08 => self.move_back(1),
            BEL => self.event(Event::Bell),
            0x0e => self.charsets.active = 1,
            0x0f => self.charsets.active = 0,
            _ => {}
        }
        self.work += 1;
    }

    fn escape(&mut self, intermediates: &[u8], last: u8) {
        self.tap_bytes(&[0x1b]);
        self.tap_bytes(intermediates);
        self.tap_bytes(&[last]);
        self.work += 1;
        match (intermediates, last) {
            (b"", b'7') => self.save_cursor(),
            (b"", b'8') => self.restore_cursor(),
            (b"", b'6') => self.back_index(),
            (b"", b'9') => self.forward_index(),
            (b"", b'=') => self.modes.insert(Modes::APP_KEYPAD),
            (b"", b'>') => self.modes.remove(Modes::APP_KEYPAD),
            (b"", b'D') => self.index(),
            (b"", b'E') => {
                self.index();
                self.carriage_return();
            }
            (b"", b'H') => {
                let col = self.grid().cursor.col;
                self.tabs.set(col, true);
            }
            (b"", b'M') => self.reverse_index(),
            (b"", b'N') => self.charsets.single = Some(2),
            (b"", b'O') => self.charsets.single = Some(3),
            (b"", b'V' | b'W') => {
                self.iso_protection = true;
                self.protect(last == b'V');
            }
            (b"", b'Z') => self.reply_attributes(),
            (b"", b'c') => self.full_reset(),
            (b"", b'n') => self.charsets.active = 2,
            (b"", b'o') => self.charsets.active = 3,
            (b"#", b'8') => self.alignment_test(),
            ([slot @ b'('..=b'+'] | [slot @ b'('..=b'+', _], name) => {
                self.charsets.designate(usize::from(slot - b'('), name);
            }
            ([slot @ b'-'..=b'/'], name) => {
                self.charsets.designate(usize::from(slot - b'-' + 1), name);
            }
            _ => {}
        }
    }

    #[inline]
    fn csi(&mut self, csi: &Csi<'_>) {
        self.tap_bytes(csi.raw);
        self.work += 1;
        if csi.last == b'm' && csi.name() == (0, PLAIN, b'm') {
            return self.select_graphics(csi.params);
        }
        match csi.prefix {
            0 => self.control_sequence(csi),
            b'?' => self.private_sequence(csi),
            _ => self.other_sequence(csi),
        }
    }

    fn string(&mut self, introducer: u8, payload: &[u8], terminator: &'static str) {
        self.work += payload.len();
        match introducer {
            b']' => self.operating_system_command(payload, terminator),
            b'P' => self.device_control(payload),
            b'_' => self.application_command(payload),
            _ => {}
        }
    }

    #[inline]
    fn has_worked_enough(&self) -> bool {
        self.work >= MAX_WORK
    }
}

impl Core {
    fn control_sequence(&mut self, csi: &Csi<'_>) {
        let params = csi.params;
        let (first, count) = (params.get(0), params.count(0));
        match (csi.name().1, csi.last) {
            (PLAIN, b'@') => self.insert_chars(count),
            (PLAIN, b'A') => self.move_by(Direction::Up, count),
            (PLAIN, b'B') => self.move_by(Direction::Down, count),
            (PLAIN, b'C') => self.move_by(Direction::Right, count),
            (PLAIN, b'D') => self.move_back(count),
            (PLAIN, b'E') => {
                self.move_by(Direction::Down, count);
                self.carriage_return();
            }
            (PLAIN, b'F') => {
                self.move_by(Direction::Up, count);
                self.carriage_return();
            }
            (PLAIN, b'G' | b'`') => self.go_to_col(count - 1),
            (PLAIN, b'H' | b'f') => self.go_to(count - 1, params.count(1) - 1),
            (PLAIN, b'I') => self.skip_tabs(count),
            (PLAIN, b'J') => self.erase_display(first, false),
            (PLAIN, b'K') => self.erase_line(first, false),
            (PLAIN, b'L') => self.insert_lines(count),
            (PLAIN, b'M') => self.delete_lines(count),
            (PLAIN, b'P') => self.delete_chars(count),
            (PLAIN, b'S') => self.scroll_lines_up(count),
            (PLAIN, b'T') if params.len() <= 1 => self.scroll_lines_down(count),
            (PLAIN, b'^') => self.scroll_lines_down(count),
            (PLAIN, b'X') => self.erase_chars(count),
            (PLAIN, b'Z') => self.tab_back(count),
            (PLAIN, b'b') => self.repeat(count),
            (PLAIN, b'c') if first == 0 => self.reply_attributes(),
            (PLAIN, b'a') => self.go_to_col(self.column() + count),
            (PLAIN, b'd') => self.go_to_row(count - 1),
            (PLAIN, b'e') => self.go_to_row(self.line() + count),
            (PLAIN, b'g') => self.clear_tabs(first),
            (PLAIN, b'h' | b'l') => {
                params.all().iter().for_each(|mode| self.set_ansi_mode(*mode, csi.last == b'h'));
            }
            (PLAIN, b'n') => self.report_status(first, false, csi),
            (PLAIN, b'r') => self.set_line_margins(first, params.get(1)),
            (PLAIN, b's') if self.modes.contains(Modes::COLUMN_MARGINS) => {
                self.set_column_margins(first, params.get(1));
            }
            (PLAIN, b's') => self.save_cursor(),
            (PLAIN, b't') => self.window_operation(csi),
            (PLAIN, b'u') => self.restore_cursor(),
            (PLAIN, b'x') => self.report_parameters(first),
            (SPACE, b'@') => self.scroll_columns_by(count, true),
            (SPACE, b'A') => self.scroll_columns_by(count, false),
            (SPACE, b'q') => self.set_cursor_style(first),
            (BANG, b'p') => self.soft_reset(),
            (QUOTE, b'p') => self.set_level(first),
            (QUOTE, b'q') => {
                self.iso_protection = false;
                self.protect(first == 1);
            }
            (HASH, b'y') => self.checksum = first,
            (DOLLAR, b'p') if self.has_level(3) => {
                let state = self.ansi_mode_state(first);
                self.reply(&format!("\x1b[{first};{state}$y"));
            }
            (DOLLAR, b'p') => self.unanswered(csi.raw),
            (DOLLAR, b'r' | b't') => self.change_attributes(csi),
            (DOLLAR, b'v') => self.copy_rectangle(csi),
            (DOLLAR, b'w') => self.report_presentation(first),
            (DOLLAR, b'x') => self.fill_rectangle(csi),
            (DOLLAR, b'z') => {
                if let Some(rectangle) = self.rectangle(csi, 0) {
                    let blank = self.blank();
                    self.grid_mut().erase_rectangle(&rectangle, blank);
                }
            }
            (DOLLAR, b'{') => {
                if let Some(rectangle) = self.rectangle(csi, 0) {
                    let blank = self.blank();
                    match self.iso_protection {
                        true => self.grid_mut().erase_rectangle(&rectangle, blank),
                        false => self.grid_mut().erase_unprotected(&rectangle, blank),
                    }
                }
            }
            (APOSTROPHE, b'}' | b'~') if self.grid().is_cursor_inside() => {
                let col = self.grid().cursor.col;
                match csi.last {
                    b'}' => self.insert_columns(col, count),
                    _ => self.delete_columns(col, count),
                }
            }
            (STAR, b'x') if first <= 2 => self.attribute_extent = first,
            (STAR, b'y') => self.report_checksum(csi),
            _ => {}
        }
    }

    fn private_sequence(&mut self, csi: &Csi<'_>) {
        let params = csi.params;
        let first = params.get(0);
        match (csi.name().1, csi.last) {
            (PLAIN, b'J') => self.erase_display(first, true),
            (PLAIN, b'K') => self.erase_line(first, true),
            (PLAIN, b'S') => self.reply(&format!("\x1b[?{first};1;0S")),
            (PLAIN, b'W') if first == 5 => self.tabs = TabStops::new(self.cols()),
            (PLAIN, b'h' | b'l') => {
                params.all().iter().for_each(|mode| self.set_private_mode(*mode, csi.last == b'h'));
            }
            (PLAIN, b'm') if first == 4 => {
                let level = self.modify_other_keys;
                self.reply(&format!("\x1b[>4;{level}m"));
            }
            (PLAIN, b'n') => self.report_status(first, true, csi),
            (PLAIN, b'r') => params.all().iter().for_each(|mode| self.restore_private_mode(*mode)),
            (PLAIN, b's') => params.all().iter().for_each(|mode| self.save_private_mode(*mode)),
            (PLAIN, b'u') => {
                let flags = self.own().keyboard_flags;
                self.reply(&format!("\x1b[?{flags}u"));
            }
            (DOLLAR, b'p') if self.has_level(3) => {
                let state = self.private_mode_state(first);
                self.reply(&format!("\x1b[?{first};{state}$y"));
            }
            (DOLLAR, b'p') => self.unanswered(csi.raw),
            _ => {}
        }
    }

    /// Sequences with the prefix `<`, `=` or `>`.
    fn other_sequence(&mut self, csi: &Csi<'_>) {
        let params = csi.params;
        let first = params.get(0);
        match (csi.prefix, csi.name().1, csi.last) {
            // What alacritty answers, which programs know.
            (b'>', PLAIN, b'c') if first == 0 => self.reply("\x1b[>0;2600;1c"),
            (b'=', PLAIN, b'c') if first == 0 => self.reply("\x1bP!|00000000\x1b\\"),
            (b'>', PLAIN, b'q') if first == 0 => {
                self.reply(concat!("\x1bP>|termbridge ", env!("CARGO_PKG_VERSION"), "\x1b\\"));
            }
            (b'>', PLAIN, b'm') if first == 4 => {
                self.modify_other_keys = params.get(1).min(2) as u8;
            }
            (b'>', PLAIN, b'm') if params.len() == 0 => self.modify_other_keys = 0,
            (b'>', PLAIN, b'n') if first == 4 => self.modify_other_keys = 0,
            (b'>', PLAIN, b'u') => self.push_keyboard_flags(first),
            (b'<', PLAIN, b'u') => self.pop_keyboard_flags(params.count(0)),
            (b'=', PLAIN, b'u') => self.set_keyboard_flags(first, params.get(1)),
            (b'>', PLAIN, b'q') => self.unanswered(csi.raw),
            _ => {}
        }
    }

    /// DECBI: one column to the left; at the left margin the columns move right.
    fn back_index(&mut self) {
        let grid = self.grid_mut();
        if grid.cursor.col == grid.columns.start {
            if grid.is_cursor_inside() {
                let first = grid.columns.start;
                self.insert_columns(first, 1);
            }
        } else {
            self.move_by(Direction::Left, 1);
        }
    }

    /// DECFI: one column to the right; at the right margin the columns move left.
    fn forward_index(&mut self) {
        let grid = self.grid_mut();
        if grid.cursor.col + 1 == grid.columns.end {
            if grid.is_cursor_inside() {
                let first = grid.columns.start;
                self.delete_columns(first, 1);
            }
        } else {
            self.move_by(Direction::Right, 1);
        }
    }

    /// SL and SR: the columns between the margins move.
    fn scroll_columns_by(&mut self, count: usize, left: bool) {
        if !self.grid().lines.contains(&self.grid().cursor.row) {
            return;
        }
        let first = self.grid().columns.start;
        match left {
            true => self.delete_columns(first, count),
            false => self.insert_columns(first, count),
        }
    }

    fn clear_tabs(&mut self, what: u16) {
        match what {
            0 => {
                let col = self.grid().cursor.col;
                self.tabs.set(col, false);
            }
            3 => self.tabs.clear(),
            _ => {}
        }
    }

    /// DECSTBM.
    fn set_line_margins(&mut self, top: u16, bottom: u16) {
        let height = self.grid().height();
        let top = usize::from(top.max(1)) - 1;
        let bottom = if bottom == 0 { height } else { usize::from(bottom).min(height) };
        if top + 1 < bottom {
            self.grid_mut().lines = top..bottom;
            self.home();
        }
    }

    /// DECSLRM.
    fn set_column_margins(&mut self, left: u16, right: u16) {
        let cols = self.cols();
        let left = usize::from(left.max(1)) - 1;
        let right = if right == 0 { cols } else { usize::from(right).min(cols) };
        if left + 1 < right {
            self.grid_mut().columns = left..right;
            self.home();
        }
    }

    /// DECSCUSR.
    fn set_cursor_style(&mut self, style: u16) {
        self.cursor_style.shape = match style {
            0..=2 => CursorShape::Block,
            3 | 4 => CursorShape::Underline,
            5 | 6 => CursorShape::Bar,
            _ => return,
        };
        self.cursor_style.blinking = style % 2 == 1;
    }

    /// DECSCA, or SPA and EPA.
    fn protect(&mut self, protected: bool) {
        self.pen.protected = protected;
        self.pen.style_changed();
    }

    /// The rectangle that four parameters name, counted from the margins in origin mode; `None` if it is empty.
    pub(super) fn rectangle(&self, csi: &Csi<'_>, from: usize) -> Option<Rectangle> {
        let grid = self.grid();
        let origin = self.modes.contains(Modes::ORIGIN);
        let (lines, columns) = match origin {
            true => (grid.lines.clone(), grid.columns.clone()),
            false => (0..grid.height(), 0..grid.cols()),
        };
        let params = csi.params;
        let bound = |index: usize, size: usize| match params.get(index) {
            0 => size,
            given => usize::from(given).min(size),
        };
        let top = lines.start + params.count(from) - 1;
        let left = columns.start + params.count(from + 1) - 1;
        let bottom = lines.start + bound(from + 2, lines.len());
        let right = columns.start + bound(from + 3, columns.len());
        (top < bottom && left < right).then_some(Rectangle { rows: top..bottom, cols: left..right })
    }
}
