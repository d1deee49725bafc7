//! [`Terminal`]: fed with a program's output, it holds what a person would see.
//!
//! ```text
//! bytes ─► parser ─► Core ─┬─► the shown Grid ─► rows that scroll off ─┬─► History
//!                          ├─► replies, events                         └─► Capture (a command's output)
//!                          └─► modes, title, clipboard
//! ```
//!
//! Answers and events are collected and taken by the owner after each feed. While a synchronized update (mode 2026) is
//! open, readers see the screen from before it. Ending one that takes too long is the owner's work
//! ([`Terminal::end_synchronized`]): there is no clock here.
//!
//! Invariants: what is kept between feeds is bounded whatever the program prints, and so is the work of one
//! [`Terminal::feed_some`].

mod capture;
mod charsets;
mod colors;
mod command_lines;
mod command_output;
mod core;
mod cursor;
mod dump;
mod edit;
mod handler;
mod images;
mod keyboard;
mod memory;
mod mode_functions;
mod modes;
mod output;
mod pen;
mod persisted;
mod print;
mod rectangles;
mod reports;
mod resize;
mod sgr;
mod strings;
mod tabs;
mod view;

pub use self::command_output::PendingOutput;
pub use self::dump::Dump;
pub use self::output::CleanOutput;
pub use self::persisted::PersistedError;

use self::core::Core;
use crate::changes::{Changes, Frame, Seq, Since};
use crate::content_hash::ContentHash;
use crate::event::Event;
use crate::input::InputModes;
use crate::parser::Parser;
use crate::screen::{Row, Screen};
use crate::search::Typings;
use crate::size::Size;
use crate::style::Palette;

/// What a terminal is made with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Rows kept after they scrolled off the top.
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
#[derive(Debug)]
pub struct Terminal {
    parser: Parser,
    core: Core,
    changes: Changes,
    typings: Typings,
}

impl Terminal {
    /// An empty terminal; a size out of range is taken as the nearest possible one.
    pub fn new(size: Size, options: Options) -> Self {
        Self {
            parser: Parser::default(),
            core: Core::new(size.clamped(), options.scrollback_lines, options.palette),
            changes: Changes::default(),
            typings: Typings::default(),
        }
    }

    /// Counts changes on from where another terminal stopped.
    pub fn count_from(&mut self, seq: Seq) {
        self.changes.start_at(seq);
    }

    /// Takes a program's output; any bytes, cut anywhere.
    pub fn feed(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while !rest.is_empty() {
            rest = &rest[self.feed_some(rest)..];
        }
    }

    /// Takes as much of a program's output as is little work, whatever it is, and returns how many bytes that was: at
    /// least one, if there are any. It ends behind a shell's mark, which [`Terminal::take_mark`] returns.
    pub fn feed_some(&mut self, bytes: &[u8]) -> usize {
        self.core.work = 0;
        let taken = self.parser.feed(bytes, &mut self.core);
        self.core.sweep_tables();
        self.core.forget_images();
        taken
    }

    /// Takes the bytes that the terminal owes the program.
    pub fn take_replies(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.core.replies)
    }

    /// Takes what happened since the last call.
    pub fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.core.events)
    }

    /// The last query that got no answer, in readable form: what a frozen program may wait for.
    pub fn unanswered_query(&self) -> Option<&str> {
        self.core.unanswered.as_deref()
    }

    /// Size in force.
    pub fn size(&self) -> Size {
        self.core.size
    }

    /// Changes the size; lines of the primary screen are laid out again.
    pub fn resize(&mut self, size: Size) {
        self.core.resize(size.clamped());
        self.typings.positions_lost();
    }

    /// Row and column of the cursor.
    pub fn cursor_position(&self) -> (u16, u16) {
        let cursor = self.core.grid().cursor;
        (cursor.row as u16, cursor.col as u16)
    }

    /// Modes that decide which bytes a key or a click becomes.
    pub fn input_modes(&self) -> InputModes {
        self.core.input_modes()
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
        self.core.frozen.is_some()
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
        let frame = Frame {
            hash: self.frame_hash(),
            is_alternate: self.core.is_alternate,
            lines_above: self.core.history.total(),
        };
        let core = &mut self.core;
        let tables = &core.tables;
        let grid = if core.is_alternate { &mut core.alternate } else { &mut core.primary };
        self.changes.look(frame, grid.rows_mut().map(|row| row.hash(tables)))
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
        self.core.screen()
    }

    /// Number of rows that scrolled off the top and are kept. The alternate screen has none.
    pub fn history_len(&self) -> usize {
        if self.core.is_alternate { 0 } else { self.core.history.rows(self.core.cols()) }
    }

    /// The history has as many rows as are kept.
    pub fn history_is_full(&self) -> bool {
        self.history_len() >= self.core.history.limit()
    }

    /// The rows of the history from one on, 0 being the oldest.
    pub fn history_rows(&self, first: usize) -> impl Iterator<Item = Row> + '_ {
        let first = if self.core.is_alternate { usize::MAX / 2 } else { first };
        self.core.history_rows(first)
    }

    /// A row of the history, 0 being the oldest.
    pub fn history_row(&self, index: usize) -> Option<Row> {
        self.history_rows(index).next()
    }

    fn frame_hash(&self) -> u64 {
        let mut hash = ContentHash::new();
        let cursor = self.core.cursor();
        hash.add(u64::from(cursor.row) << 32 | u64::from(cursor.col));
        hash.add(u64::from(cursor.visible) << 1 | u64::from(self.core.is_alternate));
        hash.add(u64::from(self.core.size.cols));
        self.core.title.bytes().for_each(|byte| hash.add(u64::from(byte)));
        hash.finish()
    }
}

#[cfg(test)]
mod conformance_tests;
#[cfg(test)]
mod dump_tests;
#[cfg(test)]
mod image_tests;
#[cfg(test)]
mod output_properties;
#[cfg(test)]
mod output_tests;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
