//! A command's output half read, as bytes, and back.
//!
//! Everything is in it: the page, the text that was not taken yet, the half-read sequence. The parser has
//! no state of its own between two sequences.

use alacritty_terminal::vte::ansi::{CharsetIndex, StandardCharset};

use super::CleanOutput;
use super::page::{Cursor, Page};
use super::row::{Grid, Row};
use crate::codec::{DumpError, Reader, Writer};
use crate::emulator::Size;

/// The last byte is the version.
const MAGIC: [u8; 4] = *b"tbC\x01";

impl CleanOutput {
    /// The whole state as of now: what is fed to the restored one later gives the same text.
    pub fn dump(&self) -> Vec<u8> {
        let mut writer = Writer::begin(MAGIC);
        writer.bytes(&self.stream.held());
        writer.flag(self.stream.is_dropping());
        self.writer.page.write(&mut writer);
        writer.seal()
    }

    /// The output that [`CleanOutput::dump`] was called on.
    pub fn restore(dump: &[u8]) -> Result<Self, DumpError> {
        let mut reader = Reader::open(dump, MAGIC)?;
        let held = reader.bytes()?;
        let dropping = reader.flag()?;
        // What is held prints nothing: it waits for more.
        let mut output = Self::default();
        output.stream.feed(held, &mut output.writer);
        output.stream.set_dropping(dropping);
        output.writer.page = Page::read(&mut reader)?;
        reader.finish()?;
        Ok(output)
    }
}

impl Page {
    fn write(&self, writer: &mut Writer) {
        writer.size(self.grid.cols);
        writer.size(self.rows);
        writer.list(self.grid.tabs.iter(), |writer, stop| writer.flag(*stop));
        self.screen.iter().for_each(|row| row.write(writer));
        self.cursor.write(writer);
        self.saved.write(writer);
        writer.flag(self.active_charset == CharsetIndex::G1);
        writer.size(self.region.start);
        writer.size(self.region.end);
        let flags =
            [self.auto_wrap, self.insert, self.origin, self.alternate, self.was_full_screen];
        flags.into_iter().for_each(|flag| writer.flag(flag));
        writer.option(self.last, Writer::character);
        writer.text(&self.done);
        writer.flag(self.joins);
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, DumpError> {
        let limit = usize::from(u16::MAX);
        let (cols, rows) = (reader.size_up_to(limit)?, reader.size_up_to(limit)?);
        let size = Size { cols: cols as u16, rows: rows as u16 };
        if size != size.clamped() {
            return Err(DumpError::Damaged);
        }
        let mut page = Self::new(size, 0);
        page.grid = Grid { cols, tabs: reader.list(Reader::flag)? };
        if page.grid.tabs.len() != cols {
            return Err(DumpError::Damaged);
        }
        for row in &mut page.screen {
            *row = Row::read(reader, &page.grid)?;
        }
        page.cursor = Cursor::read(reader, cols, rows)?;
        page.saved = Cursor::read(reader, cols, rows)?;
        page.active_charset = if reader.flag()? { CharsetIndex::G1 } else { CharsetIndex::G0 };
        let (start, end) = (reader.size()?, reader.size_up_to(rows)?);
        if start > end || end == 0 {
            return Err(DumpError::Damaged);
        }
        page.region = start..end;
        page.auto_wrap = reader.flag()?;
        page.insert = reader.flag()?;
        page.origin = reader.flag()?;
        page.alternate = reader.flag()?;
        page.was_full_screen = reader.flag()?;
        page.last = reader.option(Reader::character)?;
        page.done = reader.text()?;
        page.joins = reader.flag()?;
        Ok(page)
    }
}

impl Cursor {
    fn write(&self, writer: &mut Writer) {
        writer.size(self.row);
        writer.size(self.col);
        writer.flag(self.wrap_pending);
        for charset in self.charsets {
            writer.flag(charset != StandardCharset::Ascii);
        }
    }

    fn read(reader: &mut Reader<'_>, cols: usize, rows: usize) -> Result<Self, DumpError> {
        let mut cursor = Self {
            row: reader.size_up_to(rows - 1)?,
            col: reader.size_up_to(cols - 1)?,
            wrap_pending: reader.flag()?,
            ..Self::default()
        };
        for charset in &mut cursor.charsets {
            if reader.flag()? {
                *charset = StandardCharset::SpecialCharacterAndLineDrawing;
            }
        }
        Ok(cursor)
    }
}
