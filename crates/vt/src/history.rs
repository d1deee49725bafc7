//! What scrolled off the primary screen: lines as text with runs of styles, in chunks of 64 KiB.
//!
//! A line is stored whole, however many rows it took, so that it can be searched and laid out at any width. The last line
//! is open while its rest is still on the screen. Rows are laid out again when they are read ([`History::row`]).
//!
//! ```text
//! chunk.text     one line after the other, each with its newline
//! chunk.lines    for each line: its width, and the bytes of its details
//! chunk.details  for each line that has any: its flags, links and runs
//! ```
//!
//! A change of the width counts rows by the lines' widths alone: only the screen is laid out.
//!
//! Invariants: a line costs nine bytes beside its text if it has no style; at most `limit` rows can be read; a line is cut in
//! two (with a flag, no newline is lost or added) when it grows beyond a chunk.

mod line;
mod runs;

use std::cell::Cell as Memo;
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub(crate) use self::line::{Line, LineCell};
use self::line::{LineHead, OpenLine, StoredLine};
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
    /// The line that continues on the screen if `is_open`; otherwise empty, and its memory is reused.
    line: OpenLine,
    is_open: bool,
    /// Rows that are kept at most.
    limit: usize,
    /// Rows that have scrolled off, with those that are no longer kept.
    total: u64,
    /// Rows of all chunks.
    #[serde(skip)]
    rows: RowCount,
}

/// Lines that were stored one after the other.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Chunk {
    #[serde(with = "serde_bytes")]
    text: Vec<u8>,
    lines: Vec<LineHead>,
    #[serde(with = "serde_bytes")]
    details: Vec<u8>,
    /// Links that runs refer to.
    links: Vec<Arc<Link>>,
    #[serde(skip)]
    rows: RowCount,
}

/// A number of rows and the width at which they were counted, if they were.
#[derive(Debug, Default)]
struct RowCount(Memo<Option<(usize, usize)>>);

impl RowCount {
    /// The number at a width.
    #[inline]
    fn get(&self, cols: usize, count: impl FnOnce() -> usize) -> usize {
        match self.0.get() {
            Some((at, rows)) if at == cols => rows,
            _ => {
                let rows = count();
                self.0.set(Some((cols, rows)));
                rows
            }
        }
    }

    /// There are more rows, or fewer; they were counted at this width.
    #[inline]
    fn change(&self, cols: usize, change: impl FnOnce(usize) -> usize) {
        let known = self.0.get().filter(|(at, _)| *at == cols);
        self.0.set(known.map(|(_, rows)| (cols, change(rows))));
    }
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
        let is_plain = !self.is_open && !row.wrapped && self.push_plain(row, cols);
        if !is_plain {
            self.line.push(row, tables, cols);
            self.is_open = row.wrapped && self.line.text.len() < MAX_LINE;
            if !self.is_open {
                self.store(row.wrapped, cols);
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
        let cells = &cells[..row.written()];
        let chunk = chunk_for(&mut self.chunks, cells.len(), cols);
        chunk.text.extend(cells.iter().map(|cell| {
            let code = cell.0 as u8;
            if code == 0 { b' ' } else { code }
        }));
        chunk.text.push(b'\n');
        chunk.lines.push(LineHead::plain(cells.len()));
        self.added(1, cols);
        true
    }

    /// The open line does not continue on the screen any more.
    pub(crate) fn end_line(&mut self, cols: usize) {
        if std::mem::take(&mut self.is_open) {
            self.store(false, cols);
        }
    }

    /// Stores the line that has ended.
    fn store(&mut self, continues: bool, cols: usize) {
        let line = &mut self.line;
        let chunk = chunk_for(&mut self.chunks, line.text.len(), cols);
        chunk.text.extend_from_slice(&line.text);
        chunk.text.push(b'\n');
        let head = line.write_to(&mut chunk.details, &mut chunk.links, continues);
        chunk.lines.push(head);
        let rows = line.rows(cols);
        self.forget_line();
        self.added(rows, cols);
    }

    /// Empties the line. Its memory is kept for the next one unless it is large.
    fn forget_line(&mut self) {
        self.is_open = false;
        if self.line.text.capacity() > MAX_SCRATCH {
            self.line = OpenLine::default();
        } else {
            self.line.clear();
        }
    }

    /// The line that continues on the screen.
    fn open(&self) -> Option<&OpenLine> {
        self.is_open.then_some(&self.line)
    }

    /// The last chunk has a line more, of so many rows.
    fn added(&mut self, rows: usize, cols: usize) {
        self.rows.change(cols, |known| known + rows);
        if let Some(last) = self.chunks.back() {
            last.rows.change(cols, |known| known + rows);
        }
    }

    /// Drops chunks that no row of can be read any more.
    fn forget_oldest(&mut self, cols: usize) {
        let open = self.open().map_or(0, |open| open.least_rows(cols));
        while self.chunks.len() > 1 {
            let first = self.chunks[0].rows(cols);
            if self.chunk_rows(cols) + open - first < self.limit {
                return;
            }
            self.chunks.pop_front();
            self.rows.change(cols, |known| known - first);
        }
    }

    fn chunk_rows(&self, cols: usize) -> usize {
        self.rows.get(cols, || self.chunks.iter().map(|chunk| chunk.rows(cols)).sum())
    }

    fn stored_rows(&self, cols: usize) -> usize {
        self.chunk_rows(cols) + self.open().map_or(0, |open| open.rows(cols))
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
        let first_chunk = self.chunks.get(chunk);
        for rows in first_chunk.into_iter().flat_map(Chunk::lines).map(|line| line.rows(cols)) {
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
        let open = self.open().into_iter().map(OpenLine::line);
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
        self.is_open
    }

    /// Takes the line back that continues on the screen.
    pub(crate) fn take_open(&mut self, cols: usize) -> Option<Line> {
        let open = self.open()?;
        let (line, rows) = (open.line(), open.rows(cols));
        self.total = self.total.saturating_sub(rows as u64);
        self.forget_line();
        Some(line)
    }

    /// Takes the open line back, if it takes at most so many rows.
    pub(crate) fn take_open_up_to(&mut self, cols: usize, most: usize) -> Option<Line> {
        self.open().filter(|open| open.rows(cols) <= most)?;
        self.take_open(cols)
    }

    /// Takes the last line back, if it takes at most so many rows.
    pub(crate) fn take_last(&mut self, cols: usize, most: usize) -> Option<Line> {
        if self.is_open || self.rows(cols) == 0 {
            return None;
        }
        let chunk = self.chunks.back_mut()?;
        let (line, rows) = chunk.take_last(cols, most)?;
        if chunk.lines.is_empty() {
            self.chunks.pop_back();
        }
        self.rows.change(cols, |known| known - rows);
        self.total = self.total.saturating_sub(rows as u64);
        Some(line)
    }

    /// Forgets all lines; they still count.
    pub(crate) fn clear(&mut self) {
        self.chunks.clear();
        self.rows = RowCount::default();
        self.forget_line();
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
            + self.line.text.capacity()
            + self.line.runs.len()
    }

    /// Drops the oldest chunks until no more than `bytes` are taken; how many rows are left.
    pub(crate) fn shrink(&mut self, bytes: usize, cols: usize) -> usize {
        while self.memory() > bytes && !self.chunks.is_empty() {
            self.chunks.pop_front();
        }
        self.rows = RowCount::default();
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
        self.line.is_sound() && self.chunks.iter().all(Chunk::is_sound)
    }
}

/// The chunk that a line of so many bytes goes to.
#[inline]
fn chunk_for(chunks: &mut VecDeque<Chunk>, len: usize, cols: usize) -> &mut Chunk {
    let is_full = chunks.back().is_none_or(|last| {
        let used = last.text.len() + last.details.len() + size_of_val(&*last.lines);
        used > 0 && used + len >= CHUNK
    });
    if is_full {
        if let Some(last) = chunks.back_mut() {
            last.shrink();
        }
        let rows = RowCount(Memo::new(Some((cols, 0))));
        chunks.push_back(Chunk { rows, ..Chunk::default() });
    }
    let last = chunks.len() - 1;
    &mut chunks[last]
}

impl Chunk {
    fn rows(&self, cols: usize) -> usize {
        self.rows.get(cols, || {
            let known = self.lines.iter().map(|head| head.rows(cols)).sum::<Option<usize>>();
            known.unwrap_or_else(|| self.lines().map(|line| line.rows(cols)).sum())
        })
    }

    fn lines(&self) -> impl Iterator<Item = StoredLine<'_>> {
        let (mut text, mut details) = (self.text.as_slice(), self.details.as_slice());
        self.lines.iter().map_while(move |head| {
            let len = memchr::memchr(b'\n', text)?;
            let own = details.split_off(..head.details())?;
            let line = StoredLine::new(*head, &text[..len], own, &self.links);
            text = &text[len + 1..];
            Some(line)
        })
    }

    fn take_last(&mut self, cols: usize, most: usize) -> Option<(Line, usize)> {
        let head = *self.lines.last()?;
        let (_, before) = self.text.split_last()?;
        let text = memchr::memrchr(b'\n', before).map_or(0, |at| at + 1);
        let details = self.details.len().checked_sub(head.details())?;
        let last = StoredLine::new(head, &before[text..], &self.details[details..], &self.links);
        let rows = last.rows(cols);
        // A line that began in an earlier chunk stays whole where it is.
        if rows > most || last.continues() {
            return None;
        }
        let line = last.line();
        self.text.truncate(text);
        self.details.truncate(details);
        self.lines.pop();
        self.rows.change(cols, |known| known - rows);
        Some((line, rows))
    }

    fn shrink(&mut self) {
        self.text.shrink_to_fit();
        self.lines.shrink_to_fit();
        self.details.shrink_to_fit();
        self.links.shrink_to_fit();
    }

    fn memory(&self) -> usize {
        let links: usize = self.links.iter().map(|link| link.uri.len() + 64).sum();
        let lines = self.lines.capacity() * size_of::<LineHead>();
        size_of::<Self>() + self.text.capacity() + lines + self.details.capacity() + links
    }

    fn is_sound(&self) -> bool {
        let details: usize = self.lines.iter().map(|head| head.details()).sum();
        details == self.details.len()
            && memchr::memchr_iter(b'\n', &self.text).count() == self.lines.len()
            && self.text.last().is_none_or(|last| *last == b'\n')
            && self.lines().all(|line| line.is_sound())
    }
}

#[cfg(test)]
mod tests;
