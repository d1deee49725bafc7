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
//! The file has no name and is gone with its last descriptor, whatever happens to the server. Where
//! sessions outlive their server it has one, in the folder of the session's shell, by which the next
//! server finds it ([`OutputStore::save`], [`OutputStore::load`]).

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_bytes::ByteBuf;
use termbridge_pty::make_private_file;

use crate::id::SessionId;
use crate::saved::SavedStore;

/// Bytes kept in memory.
const IN_MEMORY: usize = 256 * 1024;
/// Bytes kept in memory while the file cannot be written: old output may be dropped meanwhile.
const WAITING: usize = 4 * IN_MEMORY;
/// Bytes kept in the file.
const MAX_FILE: u64 = 512 * 1024 * 1024;
/// Outputs shorter than this are not worth dropping, and the mark of a cut has room in them.
const SMALL: u64 = 1024;

/// Bytes that are saved with the session's record; more are written to the file first, so that a
/// record stays small.
const INLINE: usize = 4 * 1024;

/// Text that only grows, readable anywhere but where it was dropped.
#[derive(Debug, Default)]
pub(crate) struct OutputStore {
    /// Where files have names.
    folder: Option<Arc<Path>>,
    /// The beginning.
    file: Option<OutputFile>,
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

/// The file; its name goes with it.
#[derive(Debug)]
struct OutputFile {
    file: File,
    path: Option<PathBuf>,
}

impl OutputFile {
    fn create(folder: Option<&Path>) -> io::Result<Self> {
        let Some(folder) = folder else {
            return Ok(Self { file: tempfile::tempfile()?, path: None });
        };
        let name = SessionId::random().map_err(|error| io::Error::other(error.to_string()))?;
        let path = folder.join(format!("output-{name}"));
        make_private_file(&path)?;
        Self::open(path)
    }

    /// Opens one in a folder that is ours alone.
    fn open(path: PathBuf) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).write(true).open(&path)?;
        Ok(Self { file, path: Some(path) })
    }

    fn name(&self) -> Option<String> {
        Some(self.path.as_ref()?.file_name()?.to_str()?.to_owned())
    }
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            let _ = fs::remove_file(path);
        }
    }
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
    /// An empty one whose file gets a name in this folder.
    pub(crate) fn in_folder(folder: Option<Arc<Path>>) -> Self {
        Self { folder, ..Self::default() }
    }

    /// What is needed to read it in another process.
    pub(crate) fn save(&mut self) -> SavedStore {
        let may_spill = self.dropped() == 0 && self.filed() < MAX_FILE;
        if self.memory.len() > INLINE
            && may_spill
            && let Err(error) = self.spill()
        {
            tracing::debug!(%error, "output is saved with its session's record");
        }
        let pieces = self.pieces.iter();
        SavedStore {
            file: self.file.as_ref().and_then(OutputFile::name),
            pieces: pieces
                .map(|piece| (piece.end, piece.newlines, piece.ends_in_newline))
                .collect(),
            kept_from: self.kept_from,
            memory: ByteBuf::from(self.memory.as_slice()),
        }
    }

    /// The same as it was saved. A file that is gone counts as dropped.
    pub(crate) fn load(saved: SavedStore, folder: Option<Arc<Path>>) -> Self {
        let memory = saved.memory.into_vec();
        let mut store = Self {
            kept_from: saved.kept_from,
            newlines: count_newlines(&memory),
            memory,
            ..Self::in_folder(folder)
        };
        // A name, not a path to somewhere else.
        let name = saved.file.filter(|name| name.starts_with("output-") && !name.contains('/'));
        let path = name.zip(store.folder.as_ref()).map(|(name, folder)| folder.join(name));
        match path.map(OutputFile::open) {
            Some(Ok(file)) => {
                let len = file.file.metadata().map_or(0, |found| found.len());
                let pieces = saved.pieces.into_iter();
                let pieces = pieces.map(|(end, newlines, ends_in_newline)| Piece {
                    end,
                    newlines,
                    ends_in_newline,
                });
                store.pieces = pieces.take_while(|piece| piece.end <= len).collect();
                store.file = Some(file);
            }
            Some(Err(error)) => tracing::warn!(%error, "a file of output is gone"),
            None => {}
        }
        store
    }

    /// Moves its file to another folder.
    pub(crate) fn move_to(&mut self, folder: &Arc<Path>) {
        self.folder = Some(Arc::clone(folder));
        let Some(file) = &mut self.file else { return };
        let Some(path) = &mut file.path else { return };
        let moved = path.file_name().map(|name| folder.join(name));
        if let Some(moved) = moved.filter(|moved| fs::rename(&*path, moved).is_ok()) {
            *path = moved;
        }
    }

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
                let mut file = file.file.try_clone()?;
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
            empty => empty.insert(OutputFile::create(self.folder.as_deref())?),
        };
        file.file.seek(SeekFrom::Start(filed))?;
        file.file.write_all(&self.memory)?;
        self.kept_from += self.memory.len() as u64;
        let piece = Piece {
            end: self.kept_from,
            newlines: self.newlines,
            ends_in_newline: self.memory.last() == Some(&b'\n'),
        };
        // Small ones, as they are made by saving, become one.
        let begin = self.pieces.iter().rev().nth(1).map_or(0, |before| before.end);
        match self.pieces.last_mut() {
            Some(last) if piece.end - begin <= IN_MEMORY as u64 => {
                *last = Piece { newlines: last.newlines + piece.newlines, ..piece };
            }
            _ => self.pieces.push(piece),
        }
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
                if let Err(error) = file.file.set_len(self.filed()) {
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
mod tests;
