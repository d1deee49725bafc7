//! The state of a terminal, and the order in which control functions change it.
//!
//! `Core` is the parser's handler. Each group of functions has a file of its own: printing (`print`), the cursor
//! (`cursor`), erasing and scrolling (`edit`), modes, styles (`sgr`), strings (`osc`, `dcs`), answers (`reports`).

use std::collections::BTreeMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::capture::Capture;
use super::charsets::Charsets;
use super::modes::Modes;
use super::pen::Pen;
use super::tabs::TabStops;
use crate::cell::Cell;
use crate::command_line::{CommandLine, EnteredLines};
use crate::event::{Event, Mark};
use crate::grid::{Grid, Position};
use crate::history::History;
use crate::image::Images;
use crate::input::{MouseEncoding, MouseTracking};
use crate::row::Owner;
use crate::screen::CursorShape;
use crate::size::Size;
use crate::style::Palette;
use crate::tables::Tables;

/// Bytes of answers kept for a program that asks without reading: all 256 colours fit.
const MAX_REPLIES: usize = 8 * 1024;
/// Events kept for an owner that does not take them.
const MAX_EVENTS: usize = 1024;
/// Cells that may be touched before the clock is looked at.
pub(super) const MAX_WORK: usize = 1 << 18;

/// What DECSC keeps.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Saved {
    pub(super) position: Position,
    pub(super) pen: Pen,
    pub(super) charsets: Charsets,
    pub(super) origin: bool,
}

/// What the two screens have each.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PerScreen {
    pub(super) saved: Saved,
    /// Kitty keyboard flags: those in force last.
    pub(super) keyboard: Vec<u8>,
    pub(super) keyboard_flags: u8,
}

/// How the cursor looks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CursorStyle {
    pub(super) shape: CursorShape,
    pub(super) blinking: bool,
}

/// The state of a terminal.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Core {
    pub(super) size: Size,
    pub(super) tables: Tables,
    pub(super) primary: Grid,
    pub(super) alternate: Grid,
    pub(super) is_alternate: bool,
    pub(super) history: History,
    pub(super) images: Images,
    pub(super) pen: Pen,
    pub(super) charsets: Charsets,
    pub(super) modes: Modes,
    pub(super) mouse: MouseTracking,
    pub(super) mouse_encoding: MouseEncoding,
    /// Modes that were saved (XTSAVE).
    pub(super) saved_modes: BTreeMap<u16, bool>,
    pub(super) per_screen: [PerScreen; 2],
    pub(super) tabs: TabStops,
    pub(super) cursor_style: CursorStyle,
    pub(super) modify_other_keys: u8,
    /// What REP repeats.
    pub(super) last_printed: Option<char>,
    pub(super) title: String,
    /// Titles that were pushed.
    pub(super) titles: Vec<String>,
    pub(super) clipboard: String,
    /// Colours that the program has set: the palette, then foreground, background, cursor.
    pub(super) colors: BTreeMap<u16, (u8, u8, u8)>,
    /// DECSACE, as it was requested.
    #[serde(default)]
    pub(super) attribute_extent: u16,
    /// XTCHECKSUM.
    pub(super) checksum: u16,
    /// SPA and EPA protect from ED, EL and ECH too, DECSCA only from selective erasure: which was used last.
    #[serde(default)]
    pub(super) iso_protection: bool,
    /// The level that a program has set (DECSCL), 1 to 5; all functions are there if none has.
    #[serde(default)]
    pub(super) level: Option<u8>,
    pub(super) capture: Option<Capture>,
    /// The screen that readers see while a synchronized update is open.
    pub(super) frozen: Option<Box<Frozen>>,
    pub(super) unanswered: Option<String>,
    /// Where the shell's command line is.
    pub(super) command_line: Option<CommandLine>,
    pub(super) entered_lines: EnteredLines,
    /// The limit of the history when memory is short.
    pub(super) lowered: Option<usize>,
    pub(super) scrollback_lines: usize,
    #[serde(skip)]
    pub(super) palette: Palette,
    #[serde(skip)]
    pub(super) replies: Vec<u8>,
    #[serde(skip)]
    pub(super) events: Vec<Event>,
    /// The shell mark that the last feed ended with.
    #[serde(skip)]
    pub(super) mark: Option<Mark>,
    /// What is printed while no output is captured is kept in `tapped`.
    #[serde(skip)]
    pub(super) taps: bool,
    #[serde(skip)]
    pub(super) tapped: Vec<u8>,
    /// Bytes of text and control sequences since they were last counted.
    #[serde(skip)]
    pub(super) printed: u64,
    /// Cells that were touched since the clock was looked at.
    #[serde(skip)]
    pub(super) work: usize,
}

/// A screen at one moment.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Frozen {
    pub(super) grid: Grid,
    pub(super) cursor_style: CursorStyle,
    pub(super) cursor_visible: bool,
    pub(super) is_alternate: bool,
    pub(super) title: String,
}

impl Core {
    pub(super) fn new(size: Size, scrollback_lines: usize, palette: Palette) -> Self {
        Self {
            size,
            tables: Tables::default(),
            primary: Grid::new(size),
            alternate: Grid::new(size),
            is_alternate: false,
            history: History::new(scrollback_lines),
            images: Images::default(),
            pen: Pen::default(),
            charsets: Charsets::default(),
            modes: Modes::default(),
            mouse: MouseTracking::default(),
            mouse_encoding: MouseEncoding::default(),
            saved_modes: BTreeMap::new(),
            per_screen: [PerScreen::default(), PerScreen::default()],
            tabs: TabStops::new(size.cols.into()),
            cursor_style: CursorStyle::default(),
            modify_other_keys: 0,
            last_printed: None,
            title: String::new(),
            titles: Vec::new(),
            clipboard: String::new(),
            colors: BTreeMap::new(),
            attribute_extent: 0,
            checksum: 0,
            iso_protection: false,
            level: None,
            capture: None,
            frozen: None,
            unanswered: None,
            command_line: None,
            entered_lines: EnteredLines::default(),
            lowered: None,
            scrollback_lines,
            palette,
            replies: Vec::new(),
            events: Vec::new(),
            mark: None,
            taps: false,
            tapped: Vec::new(),
            printed: 0,
            work: 0,
        }
    }

    /// The screen that is shown.
    #[inline]
    pub(super) fn grid(&self) -> &Grid {
        if self.is_alternate { &self.alternate } else { &self.primary }
    }

    /// The screen that is shown.
    #[inline]
    pub(super) fn grid_mut(&mut self) -> &mut Grid {
        if self.is_alternate { &mut self.alternate } else { &mut self.primary }
    }

    /// A cell without text, as it is printed now.
    #[inline]
    pub(super) fn template(&mut self) -> Cell {
        self.pen.template(&mut self.tables)
    }

    /// What erasing leaves: the background.
    #[inline]
    pub(super) fn blank(&mut self) -> Cell {
        self.pen.blank(&mut self.tables)
    }

    /// What the shown screen has beside its cells.
    pub(super) fn own(&mut self) -> &mut PerScreen {
        &mut self.per_screen[usize::from(self.is_alternate)]
    }

    pub(super) fn cols(&self) -> usize {
        self.size.cols.into()
    }

    pub(super) fn reply(&mut self, text: &str) {
        if self.replies.len() + text.len() <= MAX_REPLIES {
            self.replies.extend_from_slice(text.as_bytes());
        }
    }

    /// Adds to the stream that is followed.
    #[inline]
    pub(super) fn tap_bytes(&mut self, bytes: &[u8]) {
        self.printed += bytes.len() as u64;
        if self.taps && self.capture.as_ref().is_none_or(|capture| capture.is_suspended) {
            self.tapped.extend_from_slice(bytes);
        }
    }

    pub(super) fn event(&mut self, event: Event) {
        if let Event::Mark(mark) = &event {
            // The owner looks at it before anything else is fed.
            self.mark = Some(mark.clone());
            self.work = MAX_WORK;
        }
        if self.events.len() < MAX_EVENTS {
            self.events.push(event);
        }
    }

    /// Moves the lines up; those that leave the primary screen at its top go to the history.
    pub(super) fn scroll_up(&mut self, lines: Range<usize>, count: usize) {
        let count = count.min(lines.len());
        let leaves = !self.is_alternate && self.primary.leaves_at_top(&lines);
        if leaves {
            (0..count).for_each(|row| self.leave(row));
        }
        self.move_images(&lines, leaves, -(count as i64));
        self.work +=
            if lines.len() == usize::from(self.size.rows) { count * 8 } else { lines.len() * 4 };
        let blank = self.blank();
        let has_full_width = self.grid().has_full_width();
        self.work += if has_full_width { 0 } else { lines.len() * self.cols() };
        self.grid_mut().scroll_up(lines, count, blank);
    }

    /// Moves the lines down. What the history's last line continued in is not at the top any more.
    pub(super) fn scroll_down(&mut self, lines: Range<usize>, count: usize) {
        self.top_is_replaced(lines.start);
        let blank = self.blank();
        self.work += self.cols() + 4 * lines.len();
        self.move_images(&lines, false, count.min(lines.len()) as i64);
        self.grid_mut().scroll_down(lines, count, blank);
    }

    /// Another line takes the place of a row: if that is the first, the history's last line ends.
    pub(super) fn top_is_replaced(&mut self, row: usize) {
        if row == 0 && !self.is_alternate && self.primary.has_full_width() {
            self.history.end_line(usize::from(self.size.cols));
            if let Some(capture) = &mut self.capture {
                capture.end_line();
            }
        }
    }

    /// A row of the primary screen is about to leave it.
    pub(super) fn leave(&mut self, row: usize) {
        let row = self.primary.row(row);
        self.history.push(row, &self.tables, usize::from(self.size.cols));
        if let Some(capture) = &mut self.capture {
            capture.take(row, &self.tables, &self.tabs);
        }
        self.work += row.len() / 4;
    }

    /// Forgets styles and clusters that nothing refers to, once there are many.
    pub(super) fn sweep_tables(&mut self) {
        if !self.tables.are_full() {
            return;
        }
        let frozen = self.frozen.as_deref_mut().map(|frozen| &mut frozen.grid);
        let mut grids: Vec<&mut Grid> =
            [&mut self.primary, &mut self.alternate].into_iter().chain(frozen).collect();
        let mut used = self.tables.nothing_used();
        grids.iter().for_each(|grid| grid.note_used(&mut used));
        let moved = self.tables.sweep(&used);
        grids.iter_mut().for_each(|grid| grid.apply(&moved));
        self.work += 2 * self.cols() * usize::from(self.size.rows);
        self.pen.style_changed();
    }

    /// The rows of both screens are what was there before: what comes from now on is a command's output.
    pub(super) fn begin_capture(&mut self, row: usize) {
        for (index, line) in self.primary.rows_mut().enumerate() {
            line.make_earlier(if index < row { Owner::Earlier } else { Owner::Nobody });
        }
        self.primary.row_mut(row).reach();
        self.capture = Some(Capture::begin(self.primary.cursor.col));
    }
}
