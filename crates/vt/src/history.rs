//! What scrolled off the primary screen: lines as text with runs of styles, in chunks of 64 KiB.
//!
//! A line is stored whole, however many rows it took, so that it can be searched and laid out at any width. The last line
//! is open while its rest is still on the screen. Rows are laid out again when they are read ([`History::row`]).
//!
//! ```text
//! chunk.text   one line after the other, each with its newline
//! chunk.lines  for each line: length of its runs and flags; its width in cells where that is not the text's length; its runs
//! ```
//!
//! Invariants: a line costs two bytes beside its text if it has no style; at most `limit` rows can be read; a line is cut in
//! two (with a flag, no newline is lost or added) when it grows beyond a chunk.

mod line;
mod runs;

use std::cell::Cell as Memo;
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub(crate) use self::line::{Line, LineCell};
use self::line::{OpenLine, StoredLine};
use crate::row::Row;
use crate::tables::{Link, Tables};

/// Bytes of a chunk.
const CHUNK: usize = 64 * 1024;
/// Bytes of text after which a line that has no end is stored in pieces.
const MAX_LINE: usize = CHUNK;
/// Bytes of a line's memory that is used again.
const MAX_SCRATCH: usize = 4096;

/// The lines above the primary screen.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct History {
    chunks: VecDeque<Chunk>,
    /// The line that continues on the screen.
    open: Option<OpenLine>,
    /// The memory of a line that was stored, for the next.
    #[serde(skip)]
    scratch: OpenLine,
    /// Rows that are kept at most.
    limit: usize,
    /// Rows that have scrolled off, with those that are no longer kept.
    total: u64,
}

/// Lines that were stored one after the other at one width of the screen.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Chunk {
    #[serde(with = "serde_bytes")]
    text: Vec<u8>,
    #[serde(with = "serde_bytes")]
    lines: Vec<u8>,
    /// Links that runs refer to.
    links: Vec<Arc<Link>>,
    /// The width at which lines were added.
    cols: usize,
    count: usize,
    /// A width, and the number of rows at that.
    #[serde(skip)]
    rows: Memo<Option<(usize, usize)>>,
}

impl History {
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, ..Self::default() }
    }

    /// Rows that have scrolled off the screen since the beginning.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// Counts rows as scrolled off that are kept nowhere.
    pub(crate) fn count(&mut self, rows: u64) {
        self.total += rows;
    }

    /// Adds a row that leaves the screen.
    pub(crate) fn push(&mut self, row: &Row, tables: &Tables, cols: usize) {
        self.total += 1;
        if self.limit == 0 {
            return;
        }
        let is_plain = self.open.is_none() && !row.wrapped && self.push_plain(row, cols);
        if !is_plain {
            let mut open = self.open.take().unwrap_or_else(|| std::mem::take(&mut self.scratch));
            open.push(row, tables, cols);
            if row.wrapped && open.text.len() < MAX_LINE {
                self.open = Some(open);
            } else {
                self.store(open, row.wrapped, cols);
            }
        }
        self.forget_oldest(cols);
    }

    /// Adds an ASCII row in the default style that is a line of its own; false if it is none.
    #[inline]
    fn push_plain(&mut self, row: &Row, cols: usize) -> bool {
        let cells = row.cells();
        // All bits of all cells: no style, no cluster, no width, and below U+0080.
        if row.is_complex() || cells.iter().fold(0, |all, cell| all | cell.0) >= 0x80 {
            return false;
        }
        let len = row.written();
        let chunk = self.chunk_for(len, cols);
        let start = chunk.text.len();
        chunk.text.resize(start + len + 1, b'\n');
        for (byte, cell) in chunk.text[start..start + len].iter_mut().zip(cells) {
            let code = cell.0 as u8;
            *byte = if code == 0 { b' ' } else { code };
        }
        chunk.lines.push(0);
        chunk.add_rows(1, cols);
        true
    }

    /// The open line does not continue on the screen any more.
    pub(crate) fn end_line(&mut self, cols: usize) {
        if let Some(open) = self.open.take() {
            self.store(open, false, cols);
        }
    }

    fn store(&mut self, mut open: OpenLine, continues: bool, cols: usize) {
        let chunk = self.chunk_for(open.text.len(), cols);
        let rows = chunk.push(&mut open, continues, cols);
        chunk.add_rows(rows, cols);
        if open.text.capacity() <= MAX_SCRATCH {
            open.clear();
            self.scratch = open;
        }
    }

    /// The chunk that a line of so many bytes goes to.
    #[inline]
    fn chunk_for(&mut self, len: usize, cols: usize) -> &mut Chunk {
        let is_full = self.chunks.back().is_none_or(|last| {
            let used = last.text.len() + last.lines.len();
            (used > 0 && used + len >= CHUNK) || last.cols != cols
        });
        if is_full {
            if let Some(last) = self.chunks.back_mut() {
                last.shrink();
            }
            self.chunks.push_back(Chunk { cols, ..Chunk::default() });
        }
        let last = self.chunks.len() - 1;
        &mut self.chunks[last]
    }

    /// Drops chunks that no row of can be read any more.
    fn forget_oldest(&mut self, cols: usize) {
        while self.chunks.len() > 1 {
            let first = self.chunks[0].rows(cols);
            // Counting all chunks is only done when the number may be over the limit.
            if self.stored_rows(cols) - first < self.limit {
                return;
            }
            self.chunks.pop_front();
        }
    }

    fn stored_rows(&self, cols: usize) -> usize {
        let open = self.open.as_ref().map_or(0, |open| open.rows(cols));
        self.chunks.iter().map(|chunk| chunk.rows(cols)).sum::<usize>() + open
    }

    /// Rows that can be read at a width.
    pub(crate) fn rows(&self, cols: usize) -> usize {
        self.stored_rows(cols).min(self.limit)
    }

    /// Rows from one on, 0 being the oldest that can be read: the line that each belongs to, and which of its rows it is.
    pub(crate) fn rows_from(
        &self,
        first: usize,
        cols: usize,
    ) -> impl Iterator<Item = (Rc<Line>, usize)> + '_ {
        let mut skip = first + self.stored_rows(cols).saturating_sub(self.limit);
        let (mut chunk, mut line) = (0, 0);
        while let Some(rows) =
            self.chunks.get(chunk).map(|chunk| chunk.rows(cols)).filter(|rows| *rows <= skip)
        {
            skip -= rows;
            chunk += 1;
        }
        for rows in
            self.chunks.get(chunk).into_iter().flat_map(Chunk::lines).map(|line| line.rows(cols))
        {
            if rows > skip {
                break;
            }
            skip -= rows;
            line += 1;
        }
        let stored = self
            .chunks
            .iter()
            .skip(chunk)
            .flat_map(Chunk::lines)
            .skip(line)
            .map(|line| line.line());
        let open = self.open.iter().map(OpenLine::line);
        stored.chain(open).flat_map(move |line| {
            let rows = line.rows(cols).len();
            let from = skip.min(rows);
            skip -= from;
            let line = Rc::new(line);
            (from..rows).map(move |row| (Rc::clone(&line), row))
        })
    }

    /// The last line of the screen's history continues on the screen.
    pub(crate) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Takes the line back that continues on the screen.
    pub(crate) fn take_open(&mut self, cols: usize) -> Option<Line> {
        let open = self.open.take()?;
        self.total = self.total.saturating_sub(open.rows(cols) as u64);
        Some(open.line())
    }

    /// Takes the open line back, if it takes at most so many rows.
    pub(crate) fn take_open_up_to(&mut self, cols: usize, most: usize) -> Option<Line> {
        self.open.as_ref().filter(|open| open.rows(cols) <= most)?;
        self.take_open(cols)
    }

    /// Takes the last line back, if it takes at most so many rows.
    pub(crate) fn take_last(&mut self, cols: usize, most: usize) -> Option<Line> {
        if self.open.is_some() || self.rows(cols) == 0 {
            return None;
        }
        let chunk = self.chunks.back_mut().filter(|chunk| chunk.count > 0)?;
        let (line, rows) = chunk.take_last(cols, most)?;
        if chunk.count == 0 {
            self.chunks.pop_back();
        }
        self.total = self.total.saturating_sub(rows as u64);
        Some(line)
    }

    /// Forgets all lines; they still count.
    pub(crate) fn clear(&mut self) {
        self.chunks.clear();
        self.open = None;
    }

    pub(crate) fn limit(&self) -> usize {
        self.limit
    }

    /// Keeps at most so many rows from now on.
    pub(crate) fn set_limit(&mut self, limit: usize, cols: usize) {
        self.limit = limit;
        if limit == 0 {
            self.clear();
        }
        self.forget_oldest(cols);
    }

    /// Bytes that the lines take.
    pub(crate) fn memory(&self) -> usize {
        self.chunks.iter().map(Chunk::memory).sum::<usize>()
            + self.open.as_ref().map_or(0, |open| open.text.capacity() + open.runs.len())
    }

    /// Drops the oldest chunks until no more than `bytes` are taken; how many rows are left.
    pub(crate) fn shrink(&mut self, bytes: usize, cols: usize) -> usize {
        while self.memory() > bytes && !self.chunks.is_empty() {
            self.chunks.pop_front();
        }
        self.free_spare();
        self.rows(cols)
    }

    /// Frees what is reserved for lines to come.
    pub(crate) fn free_spare(&mut self) {
        if let Some(last) = self.chunks.back_mut() {
            last.shrink();
        }
    }

    /// What was read from a record can be used.
    pub(crate) fn is_sound(&self) -> bool {
        let open = self.open.as_ref().is_none_or(OpenLine::is_sound);
        open && self.chunks.iter().all(Chunk::is_sound)
    }
}

impl Chunk {
    fn push(&mut self, open: &mut OpenLine, continues: bool, cols: usize) -> usize {
        let rows = open.rows(cols);
        self.text.extend_from_slice(&open.text);
        self.text.push(b'\n');
        open.write_to(&mut self.lines, &mut self.links, continues);
        rows
    }

    fn add_rows(&mut self, rows: usize, cols: usize) {
        let known = if self.count == 0 { Some((cols, 0)) } else { self.rows.get() };
        let known = known.filter(|(at, _)| *at == cols);
        self.rows.set(known.map(|(_, known)| (cols, known + rows)));
        self.count += 1;
    }

    fn rows(&self, cols: usize) -> usize {
        match self.rows.get() {
            Some((at, rows)) if at == cols => rows,
            _ => {
                let rows = self.lines().map(|line| line.rows(cols)).sum();
                self.rows.set(Some((cols, rows)));
                rows
            }
        }
    }

    fn lines(&self) -> impl Iterator<Item = StoredLine<'_>> {
        StoredLine::all(&self.text, &self.lines, &self.links)
    }

    fn take_last(&mut self, cols: usize, most: usize) -> Option<(Line, usize)> {
        let last = self.lines().last()?;
        let rows = last.rows(cols);
        // A line that began in an earlier chunk stays whole where it is.
        if rows > most || last.continues() {
            return None;
        }
        let (line, text, lines) = (last.line(), last.text_start(), last.record_start());
        self.text.truncate(text);
        self.lines.truncate(lines);
        self.count -= 1;
        self.rows.set(None);
        Some((line, rows))
    }

    fn shrink(&mut self) {
        self.text.shrink_to_fit();
        self.lines.shrink_to_fit();
        self.links.shrink_to_fit();
    }

    fn memory(&self) -> usize {
        let links: usize = self.links.iter().map(|link| link.uri.len() + 64).sum();
        size_of::<Self>() + self.text.capacity() + self.lines.capacity() + links
    }

    fn is_sound(&self) -> bool {
        let lines: Vec<_> = self.lines().collect();
        lines.len() == self.count && lines.iter().all(StoredLine::is_sound)
    }
}

#[cfg(test)]
mod tests;
