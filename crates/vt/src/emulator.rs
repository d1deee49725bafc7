//! [`Terminal`]: the emulator crate behind our own types.
//!
//! Bytes go through the scanner; runs go to the emulator as they are, the sequences that are ours
//! are handled where they stand in the stream. Answers to queries and events are collected and
//! taken by the owner after each feed.
//!
//! Synchronized output (mode 2026) is ours too: the emulator is fed all the same, so that cursor and
//! marks are right at any point, and readers see the frozen screen until the program ends the update.
//! Ending an update that takes too long is the owner's work ([`Terminal::end_synchronized`]): there
//! is no clock here.
//!
//! Invariants: never fewer than [`MIN_COLS`] columns (the emulator grows without end at one); what
//! is kept between feeds is bounded whatever the program prints.

mod core;
mod dump;
mod memory;
mod screens;

pub(crate) use self::core::SOFT_RESET;
pub use self::dump::Dump;

use alacritty_terminal::grid::Dimensions;
use alacritty_terminal::index::{Column, Line};
use alacritty_terminal::term::TermMode;
use alacritty_terminal::vte::ansi::CursorShape as EmulatorShape;

use self::core::Core;
use crate::changes::{Changes, Frame, RowHash, Seq, Since};
use crate::command_line::screen_size;
use crate::convert;
use crate::event::{Event, Tapped};
use crate::input::InputModes;
use crate::modes;
use crate::portion::portion_len;
use crate::scanner::Stream;
use crate::screen::{Cursor, CursorShape, Row, Screen};
use crate::search::{Haystack, Typings};
use crate::style::Palette;

/// Narrowest terminal.
pub const MIN_COLS: u16 = 2;
/// Widest terminal.
pub const MAX_COLS: u16 = 1000;
/// Lowest terminal.
pub const MIN_ROWS: u16 = 1;
/// Tallest terminal.
pub const MAX_ROWS: u16 = 1000;

/// Columns and rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Columns.
    pub cols: u16,
    /// Rows.
    pub rows: u16,
}

impl Size {
    /// The nearest size that a terminal can have.
    pub fn clamped(self) -> Self {
        Self {
            cols: self.cols.clamp(MIN_COLS, MAX_COLS),
            rows: self.rows.clamp(MIN_ROWS, MAX_ROWS),
        }
    }
}

impl Dimensions for Size {
    fn total_lines(&self) -> usize {
        self.screen_lines()
    }

    fn screen_lines(&self) -> usize {
        usize::from(self.rows)
    }

    fn columns(&self) -> usize {
        usize::from(self.cols)
    }
}

/// What a terminal is made with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Lines kept after they scrolled off the top.
    pub scrollback_lines: usize,
    /// Colours that are reported when a program asks.
    pub palette: Palette,
}

impl Default for Options {
    fn default() -> Self {
        Self { scrollback_lines: 10_000, palette: Palette::default() }
    }
}

/// A terminal: fed with a program's output, it holds what a person would see.
pub struct Terminal {
    stream: Stream,
    core: Core,
    changes: Changes,
    typings: Typings,
}

impl Terminal {
    /// An empty terminal; a size out of range is taken as the nearest possible one.
    pub fn new(size: Size, options: Options) -> Self {
        Self {
            stream: Stream::default(),
            core: Core::new(size.clamped(), options),
            changes: Changes::default(),
            typings: Typings::default(),
        }
    }

    /// Counts changes on from where another terminal stopped.
    pub fn count_from(&mut self, seq: Seq) {
        self.changes.start_at(seq);
    }

    /// How many of these bytes to feed before the clock is looked at: few, where they touch many
    /// cells. At least one, if there are any.
    pub fn portion(&self, bytes: &[u8]) -> usize {
        let insert = self.core.term.mode().contains(TermMode::INSERT);
        portion_len(bytes, self.size(), insert)
    }

    /// Takes a program's output; any bytes, cut anywhere.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.stream.feed(bytes, &mut self.core);
        self.core.limit_combining_marks();
        self.core.note_history();
    }

    /// Takes the bytes that the terminal owes the program.
    pub fn take_replies(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.core.replies)
    }

    /// Takes what happened since the last call.
    pub fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.core.events)
    }

    /// Keeps the stream for [`Terminal::take_tapped`] from now on. Whoever asks for this has to take
    /// it after every feed: it is not bounded here.
    pub fn tap(&mut self) {
        self.core.tap.get_or_insert_default();
    }

    /// Takes the stream since the last call, with the marks at their places.
    pub fn take_tapped(&mut self) -> Vec<Tapped> {
        self.core.tap.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// The last query that got no answer, in readable form: what a frozen program may wait for.
    pub fn unanswered_query(&self) -> Option<&str> {
        self.core.unanswered.as_deref()
    }

    /// Size in force.
    pub fn size(&self) -> Size {
        let term = &self.core.term;
        Size { cols: term.columns() as u16, rows: term.screen_lines() as u16 }
    }

    /// Changes the size; lines of the primary screen are wrapped anew.
    pub fn resize(&mut self, size: Size) {
        self.core.resize(size.clamped());
        self.typings.positions_lost();
    }

    /// Row and column of the cursor.
    pub fn cursor_position(&self) -> (u16, u16) {
        let cursor = self.core.cursor();
        (cursor.row, cursor.col)
    }

    /// Modes that decide which bytes a key or a click becomes.
    pub fn input_modes(&self) -> InputModes {
        modes::input_modes(*self.core.term.mode(), self.core.extra)
    }

    /// What the program last put into the clipboard (OSC 52).
    pub fn clipboard(&self) -> &str {
        &self.core.clipboard
    }

    /// The window's title, empty when none was set.
    pub fn title(&self) -> &str {
        &self.core.title
    }

    /// A synchronized update is open and readers see the screen from before it.
    pub fn is_synchronized(&self) -> bool {
        self.core.synchronized
    }

    /// Ends a synchronized update that the program left open.
    pub fn end_synchronized(&mut self) {
        self.core.end_synchronized();
    }

    /// Compares the screen with the last look and returns its change counter.
    pub fn look(&mut self) -> Seq {
        if self.core.frozen.is_some() {
            return self.changes.seq();
        }
        let rows = i32::from(self.size().rows);
        let grid = self.core.term.grid();
        let hashes = (0..rows as u16).map(|row| convert::row_hash(&grid[Line(i32::from(row))][..]));
        let frame = Frame {
            hash: self.frame_hash(),
            is_alternate: self.is_alternate(),
            lines_above: self.core.term.lines_above() as u64,
        };
        self.changes.look(frame, hashes)
    }

    /// The change counter of the last [`Terminal::look`].
    pub fn seq(&self) -> Seq {
        self.changes.seq()
    }

    /// Rows whose content is new since `since`, not only moved up, and by how many rows the screen
    /// scrolled; as of the last [`Terminal::look`].
    pub fn rows_since(&self, since: impl Into<Since>) -> (Vec<u16>, u64) {
        self.changes.rows_since(since.into())
    }

    /// The primary screen came back from under the alternate one since then.
    pub fn came_back_since(&self, since: impl Into<Since>) -> bool {
        self.changes.came_back_since(since.into())
    }

    /// A copy of what is visible.
    pub fn screen(&self) -> Screen {
        match &self.core.frozen {
            Some(frozen) => (**frozen).clone(),
            None => self.core.live_screen(),
        }
    }

    /// Number of lines that scrolled off the top and are kept. The alternate screen has none.
    pub fn history_len(&self) -> usize {
        self.core.term.history_size()
    }

    /// The history has as many lines as are kept.
    pub fn history_is_full(&self) -> bool {
        self.history_len() >= self.core.history_limit()
    }

    /// A line of the history, 0 being the oldest.
    pub fn history_row(&self, index: usize) -> Option<Row> {
        let history = self.history_len();
        let line = Line(i32::try_from(index).ok()? - i32::try_from(history).ok()?);
        (index < history).then(|| convert::row(&self.core.term.grid()[line][..]))
    }

    /// Drops the oldest lines until screens and history take about `bytes`, and keeps no more lines
    /// than that from now on.
    pub fn shrink_memory(&mut self, bytes: usize) {
        self.core.shrink(bytes);
    }

    /// Whether memory is held for lines to come.
    pub fn has_spare_rows(&self) -> bool {
        self.core.has_spare_rows()
    }

    /// Frees the memory for lines to come, if the terminal is not expected to print soon.
    pub fn free_spare_rows(&mut self) {
        self.core.free_spare_rows();
    }

    /// The program has ended: frees the memory that only further output needs.
    pub fn finish(&mut self) {
        self.core.finish();
    }

    /// Memory is there again: a history that was shrunk may grow, if what that costs at least fits
    /// into `room` bytes.
    pub fn grow_memory(&mut self, room: usize) {
        self.core.grow(room);
    }

    /// Bytes that screens and history take, at most.
    pub fn memory_estimate(&self) -> usize {
        self.core.memory()
    }

    /// The visible text to search in. Where something was typed and entered on the primary screen,
    /// its echo is left out: a wait must not be satisfied by the command that asked for it.
    pub fn haystack(&self) -> Haystack {
        let screen = self.screen();
        let above = self.core.term.lines_above();
        let mut echo = self.typings.echo(&screen, above);
        if !screen.alternate {
            let (rows, columns) = screen_size(&screen);
            if let Some(line) = self.core.command_line.filter(|line| !line.is_entered()) {
                echo.cells.extend(line.cells(rows, columns, above));
                // The shell's editor shows the line before the shell takes it.
                let edited = line.edited_cells(&screen, above);
                echo.cells.extend(self.typings.entered_cells(&screen, &edited));
            }
            echo.cells.extend(self.core.entered_lines.cells(&screen, above));
        }
        Haystack::new(&screen, echo)
    }

    /// Notes that input starts now, at the cursor, unless a line is still being typed.
    pub fn begin_typing(&mut self) {
        self.typings.begin(&self.screen(), self.core.term.lines_above());
    }

    /// Notes that a command was given to a shell that marks its lines: what it shows behind its prompt
    /// until the output begins is an echo. False when it is not known where that is.
    pub fn note_command_given(&mut self) -> bool {
        match &mut self.core.command_line {
            Some(line) => {
                line.given = true;
                true
            }
            None => false,
        }
    }

    /// Notes that the command which was given is over, begun or not: the next prompt's line is its own.
    pub fn note_command_over(&mut self) {
        if let Some(line) = &mut self.core.command_line {
            line.given = false;
        }
    }

    /// Notes text that is about to be typed; `\r` and `\n` are Enter.
    pub fn note_typed(&mut self, text: &str) {
        if let Some(typing) = self.typings.latest() {
            typing.push(text);
        }
    }

    /// Notes a key that edits the line in ways unknown here.
    pub fn note_other_key(&mut self) {
        if let Some(typing) = self.typings.latest() {
            typing.edited();
        }
    }

    fn is_alternate(&self) -> bool {
        self.core.term.mode().contains(TermMode::ALT_SCREEN)
    }

    fn frame_hash(&self) -> u64 {
        let mut hash = RowHash::new();
        let cursor = self.core.cursor();
        let alternate = self.is_alternate();
        hash.add(u64::from(cursor.row) << 32 | u64::from(cursor.col));
        hash.add(u64::from(cursor.visible) << 1 | u64::from(alternate));
        hash.add(self.core.term.columns() as u64);
        self.core.title.bytes().for_each(|byte| hash.add(u64::from(byte)));
        hash.finish()
    }
}

impl Core {
    fn live_screen(&self) -> Screen {
        let grid = self.term.grid();
        let lines = 0..self.term.screen_lines() as i32;
        Screen {
            rows: lines.map(|line| convert::row(&grid[Line(line)][..])).collect(),
            cursor: self.cursor(),
            alternate: self.term.mode().contains(TermMode::ALT_SCREEN),
            title: self.title.clone(),
        }
    }

    fn cursor(&self) -> Cursor {
        let point = self.term.grid().cursor.point;
        let style = self.term.cursor_style();
        Cursor {
            row: point.line.0.max(0) as u16,
            col: point.column.min(Column(self.term.columns() - 1)).0 as u16,
            visible: self.term.mode().contains(TermMode::SHOW_CURSOR),
            shape: match style.shape {
                EmulatorShape::Underline => CursorShape::Underline,
                EmulatorShape::Beam => CursorShape::Bar,
                _ => CursorShape::Block,
            },
            blinking: style.blinking,
        }
    }
}
