//! A terminal's whole state as bytes, and back.
//!
//! ```text
//! Terminal ─► Dump { stream ─► any xterm-compatible terminal
//!                    stream + state ─► Terminal::restore }
//! ```
//!
//! `stream` is text and control sequences (`dump/stream.rs`, `dump/paint.rs`); a viewer feeds it to a
//! terminal of the same size and then whatever the program prints from there on. `state` has what
//! sequences cannot say: cells that no program can print anew (`dump/cells.rs`), exact cursors, change
//! counters, what was typed, the clipboard. Restoring feeds the stream to a new terminal and lays the
//! state over it.
//!
//! The property: dump and restore at any point of any output, then the rest of the output, gives what the
//! whole output gives, in everything that can be observed here, except
//!
//! - [`Terminal::memory_estimate`] after the next count of what hangs on cells, and so how many lines
//!   [`Terminal::shrink_memory`] then keeps: the cells do not share the same allocations;
//! - combining marks of a cell beyond those that are shown, and the ids of links that had none;
//! - what the owner takes after each feed (replies, events, the tapped stream): a dump is made when
//!   they are taken, a restored terminal has none, and [`Terminal::tap`] has to be called again.
//!
//! Other terminals get the same picture and modes, but for what their sequences have no word for: a
//! cursor outside of the margins in origin mode, the character that REP repeats, and DECRC restoring
//! origin mode (here it does not). They need the same idea of a character's width.
//!
//! Invariants: the terminal is not changed; a dump is bounded by the cells that there are; damaged
//! bytes are refused or give some terminal, never a panic.

mod cells;
mod frozen;
mod paint;
mod pen;
mod stream;

use alacritty_terminal::grid::{Dimensions, Grid};
use alacritty_terminal::index::{Column, Line};
use alacritty_terminal::term::cell::{Cell, Hyperlink};
use alacritty_terminal::vte::ansi::Handler;

use self::cells::Links;
use self::paint::Patch;
use super::core::Core;
use super::memory::MAX_EXTRAS;
use super::{Options, Size, Terminal};
use crate::changes::Changes;
use crate::codec::{self, DumpError, Reader, Writer};
use crate::command_line::{CommandLine, EnteredLines};
use crate::search::Typings;

/// The last byte is the version: it changes with the state, and with what the stream says to us.
const MAGIC: [u8; 4] = *b"tbT\x03";
/// Of a dump in one piece.
const WHOLE: [u8; 4] = *b"tbD\x01";

/// Most lines above a restored terminal: there is room to count on from it.
const MAX_LINES: usize = usize::MAX / 2;

/// A terminal's whole state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dump {
    /// Columns and rows.
    pub size: Size,
    /// Control sequences and text that bring any xterm-compatible terminal of this size to the same
    /// screens, scrollback, modes and half-read input, beginning with a full reset.
    pub stream: Vec<u8>,
    /// What no sequence can say; only [`Terminal::restore`] reads it.
    pub state: Vec<u8>,
}

impl Dump {
    /// The dump in one piece, to be stored.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut writer = Writer::begin(WHOLE);
        writer.number(self.size.cols.into());
        writer.number(self.size.rows.into());
        writer.bytes(&self.stream);
        writer.bytes(&self.state);
        writer.seal()
    }

    /// Reads what [`Dump::to_bytes`] wrote.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, DumpError> {
        let mut reader = Reader::open(bytes, WHOLE)?;
        let number = |reader: &mut Reader<'_>| reader.size_up_to(u16::MAX.into());
        let size = Size { cols: number(&mut reader)? as u16, rows: number(&mut reader)? as u16 };
        let (stream, state) = (reader.bytes()?.to_vec(), reader.bytes()?.to_vec());
        reader.finish()?;
        Ok(Self { size, stream, state })
    }
}

impl Terminal {
    /// The whole state as of now. Replies, events and the tapped stream are not part of it: the owner
    /// takes them after each feed, before it makes a dump.
    pub fn dump(&self) -> Dump {
        let painted = stream::paint(&self.core, &self.stream.held());
        let mut writer = Writer::begin(MAGIC);
        writer.size(painted.stream.len());
        writer.fixed(codec::checksum(&painted.stream));
        let mut links = Links::default();
        let mut screens = Writer::default();
        write_screens(&mut screens, &self.core, &painted, &mut links);
        links.write(&mut writer);
        writer.append(&screens);
        self.write_rest(&mut writer);
        Dump { size: self.size(), stream: painted.stream, state: writer.seal() }
    }

    /// The terminal that a dump was made of. With fewer lines of scrollback than it had, the oldest are
    /// left out.
    pub fn restore(dump: &Dump, options: Options) -> Result<Self, DumpError> {
        let mut reader = Reader::open(&dump.state, MAGIC)?;
        let is_whole =
            reader.size()? == dump.stream.len() && reader.fixed()? == codec::checksum(&dump.stream);
        if !is_whole || dump.size != dump.size.clamped() {
            return Err(DumpError::Damaged);
        }
        let links = Links::read(&mut reader)?;
        let mut terminal = Self::new(dump.size, options);
        terminal.feed(&dump.stream);
        read_screens(&mut reader, &mut terminal.core, &links)?;
        terminal.read_rest(&mut reader)?;
        reader.finish()?;
        terminal.core.replies.clear();
        terminal.core.events.clear();
        Ok(terminal)
    }

    fn write_rest(&self, writer: &mut Writer) {
        let core = &self.core;
        writer.size(core.term.lines_above());
        writer.option(core.lowered, Writer::size);
        writer.flag(self.stream.is_dropping());
        writer.option(core.term.last_printed(), Writer::character);
        writer.text(&core.title);
        writer.list(core.titles.iter(), |writer, title| writer.text(title));
        writer.text(&core.clipboard);
        writer.option(core.unanswered.as_deref(), Writer::text);
        writer.flag(core.synchronized);
        writer.option(core.frozen.as_deref(), frozen::write);
        core.extras.bytes.iter().for_each(|bytes| writer.size(*bytes));
        writer.size(core.extras.since_walk);
        writer.size(core.marks_printed);
        writer.option(core.command_line, |writer, line| line.write(writer));
        core.entered_lines.write(writer);
        self.changes.write(writer);
        self.typings.write(writer);
    }

    fn read_rest(&mut self, reader: &mut Reader<'_>) -> Result<(), DumpError> {
        let size = self.size();
        let core = &mut self.core;
        core.term.set_lines_above(reader.size_up_to(MAX_LINES)?);
        if let Some(limit) = reader.option(Reader::size)? {
            core.lower_history(limit);
        }
        self.stream.set_dropping(reader.flag()?);
        core.set_last_printed(reader.option(Reader::character)?);
        core.title = reader.text()?;
        core.titles = reader.list(Reader::text)?;
        core.clipboard = reader.text()?;
        core.unanswered = reader.option(Reader::text)?;
        core.synchronized = reader.flag()?;
        core.frozen = reader.option(|reader| frozen::read(reader, size))?.map(Box::new);
        for bytes in &mut core.extras.bytes {
            *bytes = reader.size()?.min(MAX_EXTRAS);
        }
        core.extras.since_walk = reader.size()?;
        core.marks_printed = reader.size()?.min(u32::MAX as usize);
        let lines = core.term.lines_above() + usize::from(size.rows);
        core.command_line = reader.option(|reader| CommandLine::read(reader, lines))?;
        core.entered_lines = EnteredLines::read(reader, lines)?;
        self.changes = Changes::read(reader)?;
        self.typings = Typings::read(reader)?;
        Ok(())
    }
}

impl Core {
    fn set_last_printed(&mut self, last: Option<char>) {
        struct Nowhere;
        impl Handler for Nowhere {}
        self.term.set_last_printed(last);
        match last {
            Some(last) => {
                let mut bytes = [0; 4];
                let text = last.encode_utf8(&mut bytes);
                self.processor.get_or_insert_default().advance(&mut Nowhere, text.as_bytes());
            }
            None => self.processor = None,
        }
    }
}

/// Both screens' cursors, and their cells that the stream does not bring back.
fn write_screens(writer: &mut Writer, core: &Core, painted: &stream::Painted, links: &mut Links) {
    let (screens, primary) = (&core.term, core.term.primary());
    writer.flag(screens.is_alternate());
    for cursor in [&primary.cursor, &primary.saved_cursor, screens.alternate_saved()] {
        cells::write_cursor(writer, cursor, links);
    }
    write_patches(writer, &painted.primary, primary, links);
    if screens.is_alternate() {
        cells::write_cursor(writer, &screens.grid().cursor, links);
        write_patches(writer, &painted.alternate, screens.grid(), links);
    }
}

fn read_screens(
    reader: &mut Reader<'_>,
    core: &mut Core,
    links: &[Hyperlink],
) -> Result<(), DumpError> {
    let screens = &mut core.term;
    let size = Size { cols: screens.columns() as u16, rows: screens.screen_lines() as u16 };
    if reader.flag()? != screens.is_alternate() {
        return Err(DumpError::Damaged);
    }
    let primary = screens.primary_mut();
    primary.cursor = cells::read_cursor(reader, size, links)?;
    primary.saved_cursor = cells::read_cursor(reader, size, links)?;
    *screens.alternate_saved_mut() = cells::read_cursor(reader, size, links)?;
    read_patches(reader, screens.primary_mut(), links)?;
    if screens.is_alternate() {
        screens.grid_mut().cursor = cells::read_cursor(reader, size, links)?;
        read_patches(reader, screens.grid_mut(), links)?;
    }
    Ok(())
}

/// Lines are counted from the last row up, which stays where it is when older lines are left out.
fn write_patches(writer: &mut Writer, patches: &[Patch], grid: &Grid<Cell>, links: &mut Links) {
    let bottom = grid.bottommost_line().0;
    writer.list(patches.iter(), |writer, patch| {
        writer.size((bottom - patch.line).max(0) as usize);
        writer.size(patch.column);
        cells::write_cell(writer, &patch.cell, links);
    });
}

fn read_patches(
    reader: &mut Reader<'_>,
    grid: &mut Grid<Cell>,
    links: &[Hyperlink],
) -> Result<(), DumpError> {
    let lines = grid.total_lines();
    let patches = reader.list(|reader| {
        let line = reader.size()?;
        let column = reader.size_up_to(grid.columns() - 1)?;
        Ok((line, column, cells::read_cell(reader, links)?))
    })?;
    for (line, column, cell) in patches.into_iter().filter(|(line, ..)| *line < lines) {
        let line = Line(grid.bottommost_line().0 - line as i32);
        grid[line][Column(column)] = cell;
    }
    Ok(())
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
