//! A command's output: in memory while it is small, its beginning in a nameless file once it is not.
//!
//! ```text
//! 0 ─── file ─── filed ─── dropped ─── kept_from ─── memory ─── len
//! ```
//!
//! Bounds: [`IN_MEMORY`] bytes in memory (more for a moment while the disk is full), [`MAX_FILE`] in the
//! file. What exceeds them, what a full disk does not take and what the server's budgets for all
//! output do not allow is dropped from the middle: beginning and end stay readable. Positions never
//! change. A reader that comes to the dropped part finds a line there that tells how much it was.
//!
//! The file has no name and is gone with its last descriptor, whatever happens to the server.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;

/// Bytes kept in memory.
const IN_MEMORY: usize = 256 * 1024;
/// Bytes kept in memory while the file cannot be written: old output may be dropped meanwhile.
const WAITING: usize = 4 * IN_MEMORY;
/// Bytes kept in the file.
const MAX_FILE: u64 = 512 * 1024 * 1024;
/// Outputs shorter than this are not worth dropping, and the mark of a cut has room in them.
const SMALL: u64 = 1024;

/// Text that only grows, readable anywhere but where it was dropped.
#[derive(Debug, Default)]
pub(crate) struct OutputStore {
    /// The beginning.
    file: Option<File>,
    /// What the file was written in.
    pieces: Vec<Piece>,
    /// Where memory begins; what lies between the file's end and this is dropped.
    kept_from: u64,
    memory: Vec<u8>,
    /// Newlines in memory.
    newlines: u64,
    /// The file could not be written; it is tried again when memory has grown to this.
    retry_at: Option<usize>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Piece {
    end: u64,
    newlines: u64,
    ends_in_newline: bool,
}

/// What became of appended text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Appended {
    /// It is kept.
    Kept,
    /// The disk takes no more: other output should be dropped.
    DiskFull,
}

impl OutputStore {
    /// Adds text at the end.
    pub(crate) fn append(&mut self, text: &str) -> Appended {
        self.memory.extend_from_slice(text.as_bytes());
        self.newlines += count_newlines(text.as_bytes());
        if self.memory.len() <= self.retry_at.unwrap_or(IN_MEMORY) {
            return Appended::Kept;
        }
        let may_spill = self.dropped() == 0 && self.filed() < MAX_FILE;
        match may_spill.then(|| self.spill()) {
            Some(Ok(())) => Appended::Kept,
            Some(Err(error)) if self.memory.len() < WAITING => {
                tracing::warn!(%error, "a long output cannot be written");
                self.retry_at = Some((self.memory.len() + IN_MEMORY).min(WAITING));
                Appended::DiskFull
            }
            Some(Err(_)) => {
                self.drop_front();
                Appended::DiskFull
            }
            None => {
                self.drop_front();
                Appended::Kept
            }
        }
    }

    /// Bytes that were appended.
    pub(crate) fn len(&self) -> u64 {
        self.kept_from + self.memory.len() as u64
    }

    /// Bytes in memory.
    pub(crate) fn in_memory(&self) -> usize {
        self.memory.len()
    }

    /// Bytes in the file.
    pub(crate) fn filed(&self) -> u64 {
        self.pieces.last().map_or(0, |piece| piece.end)
    }

    /// Lines that can be read and are ended.
    pub(crate) fn newlines(&self) -> u64 {
        let filed: u64 = self.pieces.iter().map(|piece| piece.newlines).sum();
        filed + count_newlines(self.mark().as_bytes()) + self.newlines
    }

    /// The last line is not ended.
    pub(crate) fn ends_within_line(&self) -> bool {
        match self.memory.last() {
            Some(last) => *last != b'\n',
            None => {
                self.dropped() == 0
                    && self.pieces.last().is_some_and(|piece| !piece.ends_in_newline)
            }
        }
    }

    /// Bytes that were dropped; they lie behind [`OutputStore::filed`].
    pub(crate) fn dropped(&self) -> u64 {
        self.kept_from - self.filed()
    }

    /// Bytes of a range as far as they follow each other, and where they begin: behind the dropped
    /// part when the range begins in it.
    pub(crate) fn read(&self, range: Range<u64>) -> io::Result<(u64, Vec<u8>)> {
        let filed = self.filed();
        let asked = range.start.min(self.len());
        if asked < filed {
            let mut bytes = vec![0; (range.end.min(filed) - asked) as usize];
            if let Some(file) = &self.file {
                let mut file = file.try_clone()?;
                file.seek(SeekFrom::Start(asked))?;
                file.read_exact(&mut bytes)?;
            }
            if self.dropped() == 0 && range.end > filed {
                bytes.extend_from_slice(self.in_memory_range(filed, range.end));
            }
            return Ok((asked, bytes));
        }
        let mark = self.mark();
        let start = asked.max(self.kept_from - mark.len() as u64);
        let end = if range.end > start { range.end } else { range.end + (start - asked) };
        let from = mark.len().saturating_sub(self.kept_from.saturating_sub(start) as usize);
        let to = mark.len().saturating_sub(self.kept_from.saturating_sub(end) as usize);
        let mut bytes = mark.as_bytes()[from..to.max(from)].to_vec();
        bytes.extend_from_slice(self.in_memory_range(start.max(self.kept_from), end));
        Ok((start, bytes))
    }

    /// Drops everything that was kept so far, unless it is small.
    pub(crate) fn discard(&mut self) {
        if self.len() >= SMALL {
            self.kept_from = self.len();
            self.memory = Vec::new();
            self.newlines = 0;
            self.pieces = Vec::new();
            self.file = None;
            self.retry_at = None;
        }
    }

    /// Drops what the file has beyond `keep` bytes; no more is written to it.
    pub(crate) fn shrink_file(&mut self, keep: u64) {
        self.pieces.retain(|piece| piece.end <= keep);
        if self.dropped() > 0 {
            self.end_file();
        }
    }

    fn in_memory_range(&self, from: u64, to: u64) -> &[u8] {
        let at = |position: u64| {
            usize::try_from(position.saturating_sub(self.kept_from))
                .map_or(self.memory.len(), |at| at.min(self.memory.len()))
        };
        &self.memory[at(from)..at(to).max(at(from))]
    }

    /// The line that stands for what was dropped, in its last bytes.
    fn mark(&self) -> String {
        let dropped = self.dropped();
        if dropped == 0 {
            return String::new();
        }
        let newline = match self.pieces.last() {
            Some(piece) if !piece.ends_in_newline => "\n",
            _ => "",
        };
        format!("{newline}[… {dropped} bytes of output dropped …]\n")
    }

    /// Moves what is in memory to the end of the file.
    fn spill(&mut self) -> io::Result<()> {
        let filed = self.filed();
        let file = match &mut self.file {
            Some(file) => file,
            empty => empty.insert(tempfile::tempfile()?),
        };
        file.seek(SeekFrom::Start(filed))?;
        file.write_all(&self.memory)?;
        self.kept_from += self.memory.len() as u64;
        self.pieces.push(Piece {
            end: self.kept_from,
            newlines: self.newlines,
            ends_in_newline: self.memory.last() == Some(&b'\n'),
        });
        self.memory.clear();
        self.newlines = 0;
        self.retry_at = None;
        Ok(())
    }

    /// Drops the older half of what is in memory, up to the end of a line where one is near.
    fn drop_front(&mut self) {
        let half = self.memory.len() - IN_MEMORY / 2;
        let near = &self.memory[half..half + IN_MEMORY / 8];
        let cut = match memchr::memchr(b'\n', near) {
            Some(newline) => half + newline + 1,
            None => half + near.iter().take_while(|byte| **byte & 0xC0 == 0x80).count(),
        };
        self.newlines -= count_newlines(&self.memory[..cut]);
        self.memory.drain(..cut);
        self.kept_from += cut as u64;
        self.retry_at = None;
        self.memory.shrink_to(2 * IN_MEMORY);
        self.end_file();
    }

    /// What a failed write left behind the file's end is given back.
    fn end_file(&mut self) {
        match &self.file {
            Some(file) if !self.pieces.is_empty() => {
                if let Err(error) = file.set_len(self.filed()) {
                    tracing::warn!(%error, "a file of output cannot be shortened");
                }
            }
            _ => self.file = None,
        }
    }
}

fn count_newlines(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

#[cfg(test)]
mod tests {
    use super::{Appended, IN_MEMORY, OutputStore, WAITING};

    /// All that can be read, piece by piece as a reader does.
    fn all(store: &OutputStore) -> String {
        let (mut at, mut text) = (0, Vec::new());
        while at < store.len() {
            let (start, bytes) = store.read(at..at + 10_000).expect("readable");
            assert!(start >= at && !bytes.is_empty(), "a reader gets on");
            at = start + bytes.len() as u64;
            text.extend(bytes);
        }
        String::from_utf8(text).expect("whole characters")
    }

    fn line(number: usize) -> String {
        format!("line {number} é\n")
    }

    fn filled(bytes: u64) -> (OutputStore, String) {
        let (mut store, mut expected) = (OutputStore::default(), String::new());
        while store.len() < bytes {
            let line = line(expected.len());
            assert_eq!(store.append(&line), Appended::Kept);
            expected.push_str(&line);
        }
        (store, expected)
    }

    #[test]
    fn what_was_appended_can_be_read_anywhere() {
        let (mut store, mut expected) = (OutputStore::default(), String::new());
        while expected.len() < 3 * IN_MEMORY {
            let line = line(expected.len());
            store.append(&line);
            expected.push_str(&line);
            let from = expected.len() / 2;
            let (start, part) = store.read(from as u64..from as u64 + 5).expect("readable");
            assert_eq!(start, from as u64);
            assert_eq!(part, &expected.as_bytes()[from..(from + 5).min(expected.len())]);
        }
        assert!(store.filed() > 0 && store.in_memory() <= IN_MEMORY);
        assert_eq!(store.len(), expected.len() as u64);
        assert_eq!(store.read(0..u64::MAX).expect("readable").1, expected.as_bytes());
        assert_eq!(store.dropped(), 0);
        let lines = expected.lines().count() as u64;
        assert_eq!((store.newlines(), store.ends_within_line()), (lines, false));
        store.append("unfinished");
        assert_eq!((store.newlines(), store.ends_within_line()), (lines, true));
    }

    #[test]
    fn a_shortened_file_keeps_the_beginning_and_the_end() {
        let (mut store, mut expected) = filled(5 * IN_MEMORY as u64);
        let (len, filed) = (store.len(), store.filed());
        store.shrink_file(filed / 2);
        assert!(store.filed() > 0 && store.filed() <= filed / 2);
        assert_eq!(store.len(), len, "positions stay");
        for _ in 0..2 {
            let text = all(&store);
            let mark = format!("[… {} bytes of output dropped …]\n", store.dropped());
            let (head, tail) = text.split_once(&mark).expect("the cut is visible");
            assert!(expected.starts_with(head.trim_end_matches('\n')) && expected.ends_with(tail));
            assert_eq!(store.newlines(), text.lines().count() as u64);
            // More is kept, the file does not grow again.
            while (expected.len() as u64) < 2 * len {
                let line = line(expected.len());
                assert_eq!(store.append(&line), Appended::Kept);
                expected.push_str(&line);
            }
            assert!(store.filed() <= filed / 2 && store.in_memory() <= IN_MEMORY);
        }
    }

    #[test]
    fn a_discarded_output_says_so_and_a_small_one_stays() {
        let (mut store, expected) = filled(2 * IN_MEMORY as u64);
        store.discard();
        let text = all(&store);
        assert_eq!(text, format!("[… {} bytes of output dropped …]\n", expected.len()));
        assert_eq!((store.newlines(), store.in_memory(), store.filed()), (1, 0, 0));
        store.append("more\n");
        assert_eq!(all(&store), text + "more\n");
        let mut small = OutputStore::default();
        small.append("short\n");
        small.discard();
        assert_eq!(all(&small), "short\n");
    }

    #[test]
    fn a_file_that_cannot_be_written_costs_the_middle() {
        let (mut store, mut expected) = filled(IN_MEMORY as u64 + 1);
        assert!(store.filed() > 0);
        // Every write to it fails from now on.
        store.file = Some(std::fs::File::open("/dev/null").expect("opens"));
        let mut refused = 0;
        while expected.len() < 4 * WAITING {
            let line = line(expected.len());
            refused += usize::from(store.append(&line) == Appended::DiskFull);
            expected.push_str(&line);
            assert!(store.in_memory() <= WAITING);
        }
        assert!((2..10).contains(&refused), "{refused}: told, and not with every line");
        assert_eq!(store.len(), expected.len() as u64);
        let (start, tail) = store.read(store.kept_from..u64::MAX).expect("readable");
        assert!(expected.as_bytes().ends_with(&tail) && start + tail.len() as u64 == store.len());
        assert!(store.dropped() > 0);
    }
}
