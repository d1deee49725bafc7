//! A terminal's state as control sequences, for any terminal that understands those of xterm.
//!
//! The order matters. Rows come first, while all modes are those of a reset terminal. What moves the cursor (tab stops,
//! margins, origin mode) comes before the cursor, what changes the meaning of text (character sets, insert mode, no
//! autowrap) after the last character, and the bytes of a sequence that is only half there come last of all.
//!
//! Other terminals get the same picture and modes, but for what their sequences have no word for: the character that REP
//! repeats, and a cursor outside of the margins in origin mode. They need the same idea of a character's width.

use std::fmt::Write as _;

use super::Terminal;
use super::charsets::{Charset, Charsets};
use super::colors::{FOREGROUND, SPECIAL};
use super::core::{Core, CursorStyle, PerScreen, Saved};
use super::modes::{ENCODINGS, MICE, Modes, PRIVATE};
use crate::format::sgr_parameters;
use crate::grid::{Grid, Position};
use crate::image::kitty;
use crate::row::Row as LiveRow;
use crate::screen::{Cell, CellWidth, CursorShape, Row};
use crate::size::Size;
use crate::style::Style;

/// Cells of one background at the end of a row for which a sequence is shorter than blanks.
const MIN_ERASED: usize = 6;

/// What a viewer's terminal is fed to show what ours shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dump {
    /// Columns and rows.
    pub size: Size,
    /// Control sequences and text that bring any xterm-compatible terminal of this size to the same screens, scrollback,
    /// modes and half-read input, beginning with a full reset.
    pub stream: Vec<u8>,
}

impl Terminal {
    /// The state as of now.
    pub fn dump(&self) -> Dump {
        let mut painter = Painter::default();
        painter.core(&self.core);
        let mut stream = painter.text.into_bytes();
        stream.extend_from_slice(self.parser.pending());
        Dump { size: self.size(), stream }
    }
}

/// What is painted, and how the next cell would look.
#[derive(Default)]
struct Painter {
    text: String,
    style: Style,
    link: Option<Box<str>>,
    /// The cursor was saved to place an image.
    has_saved: bool,
}

impl Painter {
    fn core(&mut self, core: &Core) {
        self.text.push_str("\x1bc\x1b]104\x1b\\\x1b]110\x1b\\\x1b]111\x1b\\\x1b]112\x1b\\");
        self.colors(core);
        core.images.named().for_each(|image| kitty::write_image(&mut self.text, image, None));
        if let Some(level) = core.level {
            let _ = write!(self.text, "\x1b[6{level};1\"p");
        }
        if let Some(frozen) = &core.frozen {
            self.cursor_style(frozen.cursor_style, frozen.cursor_visible);
            let _ = write!(self.text, "\x1b]2;{}\x1b\\", frozen.title);
            // What comes after it is part of the update.
            self.text.push_str(if frozen.is_alternate { "\x1b[?1049h" } else { "" });
            // Its images are left out.
            self.rows(core.view_of(&frozen.grid), |_, _| ());
            self.place(core, &frozen.grid, frozen.grid.cursor, 0, 0);
            self.plain();
            self.text.push_str("\x1b[?2026h\x1b[?1049l\x1b[H\x1b[J\x1b[3J");
        }
        self.titles(core);
        if !core.is_alternate {
            self.hidden_alternate(core);
        }
        let above = core.history.rows(core.cols()) as i64;
        self.rows(core.history_rows(0).chain(core.view_of(&core.primary)), |painter, row| {
            painter.images(core, false, row as i64 - above);
        });
        self.keyboard(&core.per_screen[0]);
        if core.is_alternate {
            // Entering the alternate screen saves the primary one's cursor.
            self.saved_cursor(core, &core.primary, &core.per_screen[0]);
            self.text.push_str("\x1b[?47h\x1b[H\x1b[J");
            self.rows(core.view_of(&core.alternate), |painter, row| {
                painter.images(core, true, row as i64);
            });
            self.keyboard(&core.per_screen[1]);
            self.saved_cursor(core, &core.alternate, &core.per_screen[1]);
        } else {
            self.saved_cursor(core, &core.primary, &core.per_screen[0]);
        }
        self.finish(core);
    }

    /// Prints rows one below the other. A soft wrap is made by printing on, a hard one by CR LF. The background is the
    /// default wherever a new row may scroll in, because terminals fill that with the background in force. `begun` is called
    /// with the number of each row once the cursor is there.
    fn rows(&mut self, rows: impl Iterator<Item = Row>, begun: impl Fn(&mut Self, usize)) {
        let mut continues = false;
        let mut rows = rows.enumerate().peekable();
        while let Some((number, row)) = rows.next() {
            let next = rows.peek().and_then(|(_, next)| next.cells.first()).filter(|_| row.wrapped);
            let wraps = next.is_some();
            let wide = next.filter(|next| next.width == CellWidth::Double);
            // The last column was left free for a wide character, in its background.
            let is_free = wide.zip(row.cells.last()).is_some_and(|(wide, last)| {
                let free = Style { bg: wide.style.bg, ..Style::default() };
                last.is_blank() && last.width == CellWidth::Single && last.style == free
            });
            self.row(&row, wraps, is_free, continues, |painter| begun(painter, number));
            continues = wraps;
            if !wraps && rows.peek().is_some() {
                self.plain();
                self.text.push_str("\r\n");
            }
        }
        self.plain();
    }

    fn row(
        &mut self,
        row: &Row,
        wraps: bool,
        is_free: bool,
        continues: bool,
        begun: impl Fn(&mut Self),
    ) {
        let mut end = if wraps { row.cells.len() } else { row.visible_len() };
        end -= usize::from(is_free);
        // A row is only continued by printing there.
        end = end.max(usize::from(continues));
        let mut erased = None;
        if !wraps && end == row.cells.len() {
            let bg = row.cells[end - 1].style.bg;
            let is_erased = |cell: &Cell| {
                cell.is_blank()
                    && cell.link.is_none()
                    && cell.style == Style { bg, ..Style::default() }
            };
            let start = row.cells.iter().rposition(|cell| !is_erased(cell)).map_or(0, |at| at + 1);
            let start = start.max(usize::from(continues));
            if end - start >= MIN_ERASED {
                (end, erased) = (start, Some(bg));
            }
        }
        // The first character of a row that continues another one brings the cursor there.
        let (first, rest) = row.cells[..end].split_at(usize::from(continues));
        first.iter().for_each(|cell| self.cell(cell));
        begun(self);
        rest.iter().for_each(|cell| self.cell(cell));
        if continues && end < row.cells.len() && row.cells[0].style.bg != Style::default().bg {
            // The row may have scrolled in with the background of its first cell.
            self.plain();
            self.text.push_str("\x1b[K");
        }
        if let Some(bg) = erased {
            self.set_link(None);
            self.set_style(Style { bg, ..Style::default() });
            self.text.push_str("\x1b[K");
        }
    }

    /// The images that begin in the cursor's row; the cursor stays where it is.
    fn images(&mut self, core: &Core, alternate: bool, row: i64) {
        for (placed, image) in core.images.placed_in(alternate, row) {
            let placement = &placed.placement;
            let _ = write!(self.text, "\x1b7\x1b[{}G", placement.col + 1);
            match image.id {
                0 => kitty::write_image(&mut self.text, image, Some(placement)),
                id => kitty::write_placement(&mut self.text, id, placed.id, placement),
            }
            self.text.push_str("\x1b8");
            self.has_saved = true;
        }
    }

    fn cell(&mut self, cell: &Cell) {
        if cell.width == CellWidth::Continuation {
            return;
        }
        self.set_link(cell.link.as_deref());
        self.set_style(cell.style);
        cell.push_text(&mut self.text);
    }

    fn set_style(&mut self, style: Style) {
        if style != self.style {
            self.style = style;
            let _ = write!(self.text, "\x1b[{}m", sgr_parameters(&style));
        }
    }

    fn set_link(&mut self, link: Option<&str>) {
        if link != self.link.as_deref() {
            self.link = link.map(Into::into);
            let _ = write!(self.text, "\x1b]8;;{}\x1b\\", link.unwrap_or_default());
        }
    }

    /// The default style, without a link.
    fn plain(&mut self) {
        self.set_link(None);
        self.set_style(Style::default());
    }

    fn colors(&mut self, core: &Core) {
        for (index, (r, g, b)) in &core.colors {
            let code = match *index {
                ..FOREGROUND => format!("4;{index}"),
                FOREGROUND..SPECIAL => format!("{}", index - FOREGROUND + 10),
                SPECIAL.. => format!("5;{}", index - SPECIAL),
            };
            let _ = write!(self.text, "\x1b]{code};rgb:{r:02x}/{g:02x}/{b:02x}\x1b\\");
        }
    }

    fn titles(&mut self, core: &Core) {
        for title in &core.titles {
            let _ = write!(self.text, "\x1b]2;{title}\x1b\\\x1b[22;2t");
        }
        if !core.titles.is_empty() || !core.title.is_empty() {
            let _ = write!(self.text, "\x1b]2;{}\x1b\\", core.title);
        }
    }

    /// What the alternate screen keeps while it is not shown: its saved cursor and keyboard flags.
    fn hidden_alternate(&mut self, core: &Core) {
        let screen = &core.per_screen[1];
        if *screen == PerScreen::default() {
            return;
        }
        self.text.push_str("\x1b[?47h");
        self.saved_cursor(core, &core.alternate, screen);
        self.keyboard(screen);
        self.text.push_str("\x1b[?47l\x1b[H");
    }

    fn keyboard(&mut self, screen: &PerScreen) {
        let mut flags = screen.keyboard.iter().copied().chain([screen.keyboard_flags]);
        if let Some(first) = flags.next().filter(|first| *first != 0) {
            let _ = write!(self.text, "\x1b[={first};1u");
        }
        for flags in flags {
            let _ = write!(self.text, "\x1b[>{flags}u");
        }
    }

    fn saved_cursor(&mut self, core: &Core, grid: &Grid, screen: &PerScreen) {
        let saved = &screen.saved;
        let has_saved = std::mem::take(&mut self.has_saved);
        if *saved == Saved::default() {
            self.text.push_str(if has_saved { "\x1b[H\x1b7" } else { "" });
            return;
        }
        if saved.origin {
            self.text.push_str("\x1b[?6h");
        }
        self.place(core, grid, saved.position, 0, 0);
        self.pen(&saved.pen);
        self.charsets(&saved.charsets);
        self.text.push_str("\x1b7\x0f\x1b(B\x1b)B\x1b*B\x1b+B\x1b[0\"q");
        let Position { row, wraps, .. } = saved.position;
        if wraps && grid.row(row).wrapped && row + 1 < grid.height() {
            // Printing its last character made the row end there: it continues again.
            let next = core.view_row(grid.row(row + 1));
            next.cells.iter().take(1).for_each(|cell| self.cell(cell));
        }
        self.text.push_str("\x1b[?6l");
        self.plain();
    }

    fn pen(&mut self, pen: &super::pen::Pen) {
        self.set_link(pen.style.link.as_deref().map(|link| link.uri.as_str()));
        self.set_style(pen.style.style);
        if pen.protected {
            self.text.push_str("\x1b[1\"q");
        }
    }

    /// Everything of the screen that is shown but its rows.
    fn finish(&mut self, core: &Core) {
        let grid = core.grid();
        if !core.tabs.are_default() {
            self.text.push_str("\x1b[3g");
            for col in core.tabs.iter() {
                let _ = write!(self.text, "\x1b[{}G\x1bH", col + 1);
            }
        }
        if grid.lines != (0..grid.height()) {
            let _ = write!(self.text, "\x1b[{};{}r", grid.lines.start + 1, grid.lines.end);
        }
        for (mode, flag) in PRIVATE {
            let on = core.modes.contains(flag);
            let is_later = Modes::AUTOWRAP | Modes::APP_KEYPAD | Modes::SHOW_CURSOR;
            if !is_later.contains(flag) && on != Modes::default().contains(flag) {
                let _ = write!(self.text, "\x1b[?{mode}{}", if on { 'h' } else { 'l' });
                if flag == Modes::COLUMN_MARGINS && !grid.has_full_width() {
                    let _ =
                        write!(self.text, "\x1b[{};{}s", grid.columns.start + 1, grid.columns.end);
                }
            }
        }
        let origin = core.modes.contains(Modes::ORIGIN);
        let (top, left) = if origin { (grid.lines.start, grid.columns.start) } else { (0, 0) };
        self.place(core, grid, grid.cursor, top, left);
        self.pen(&core.pen);
        if core.iso_protection {
            self.text.push_str(if core.pen.protected { "\x1bV" } else { "\x1bV\x1bW" });
        }
        self.charsets(&core.charsets);
        let flags = [
            (Modes::INSERT, "\x1b[4h"),
            (Modes::NEWLINE, "\x1b[20h"),
            (Modes::APP_KEYPAD, "\x1b="),
        ];
        for (flag, sequence) in flags {
            self.text.push_str(if core.modes.contains(flag) { sequence } else { "" });
        }
        self.text.push_str(if core.modes.contains(Modes::AUTOWRAP) { "" } else { "\x1b[?7l" });
        let mouse = MICE.iter().filter(|(_, mouse)| *mouse == core.mouse).map(|(mode, _)| mode);
        let encoding = ENCODINGS
            .iter()
            .filter(|(_, encoding)| *encoding == core.mouse_encoding)
            .map(|(mode, _)| mode);
        for mode in mouse.chain(encoding) {
            let _ = write!(self.text, "\x1b[?{mode}h");
        }
        if core.modify_other_keys > 0 {
            let _ = write!(self.text, "\x1b[>4;{}m", core.modify_other_keys);
        }
        self.cursor_style(core.cursor_style, core.modes.contains(Modes::SHOW_CURSOR));
        if let Some(loading) = &core.images.loading {
            kitty::write_loading(&mut self.text, loading);
        }
    }

    fn cursor_style(&mut self, style: CursorStyle, visible: bool) {
        let shape = match style.shape {
            CursorShape::Block => 1,
            CursorShape::Underline => 3,
            CursorShape::Bar => 5,
        };
        let show = if visible { 'h' } else { 'l' };
        let _ = write!(self.text, "\x1b[{} q\x1b[?25{show}", shape + u8::from(!style.blinking));
    }

    /// Puts the cursor where it is; rows and columns are counted from the margins in origin mode. Before a wrap the last
    /// character is printed again.
    fn place(&mut self, core: &Core, grid: &Grid, position: Position, top: usize, left: usize) {
        let Position { row, col, wraps } = position;
        let from = |at: usize, first: usize| at.saturating_sub(first) + 1;
        let line: &LiveRow = grid.row(row);
        let start =
            if line.cell(col).width() == crate::cell::Width::Spacer { col - 1 } else { col };
        let start = if wraps { start } else { col };
        let _ = write!(self.text, "\x1b[{};{}H", from(row, top), from(start, left));
        if wraps {
            let view = core.view_row(line);
            view.cells[start..=col].iter().for_each(|cell| self.cell(cell));
        }
    }

    /// Designates the character sets that are not ASCII.
    fn charsets(&mut self, charsets: &Charsets) {
        for (set, slot) in charsets.sets.iter().zip(['(', ')', '*', '+']) {
            let name = match set {
                Charset::Ascii => continue,
                Charset::Graphics => '0',
                Charset::British => 'A',
            };
            let _ = write!(self.text, "\x1b{slot}{name}");
        }
        self.text.push_str(["", "\x0e", "\x1bn", "\x1bo"][charsets.active]);
    }
}
