//! A command's whole output: in memory while it is small, in a nameless file once it is not.
//!
//! Bounds: [`IN_MEMORY`] bytes in memory, [`MAX_OUTPUT`] in all; what comes beyond is counted, not
//! kept. The file has no name and is gone with its last descriptor, whatever happens to the server.
//! It holds the beginning and memory the rest, so that a flood is written in large pieces.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;

/// Bytes kept in memory.
const IN_MEMORY: usize = 256 * 1024;
/// Bytes kept at all.
const MAX_OUTPUT: u64 = 512 * 1024 * 1024;

/// Text that only grows, readable anywhere.
#[derive(Debug, Default)]
pub(crate) struct OutputStore {
    memory: Vec<u8>,
    file: Option<File>,
    len: u64,
    newlines: u64,
    ends_in_newline: bool,
    dropped: u64,
}

impl OutputStore {
    /// Adds text at the end.
    pub(crate) fn append(&mut self, text: &str) {
        let room = MAX_OUTPUT.saturating_sub(self.len);
        let kept = text.floor_char_boundary(usize::try_from(room).unwrap_or(usize::MAX));
        self.dropped += (text.len() - kept) as u64;
        let text = &text[..kept];
        self.memory.extend_from_slice(text.as_bytes());
        self.newlines += memchr::memchr_iter(b'\n', text.as_bytes()).count() as u64;
        if let Some(last) = text.as_bytes().last() {
            self.ends_in_newline = *last == b'\n';
        }
        self.len += text.len() as u64;
        if self.memory.len() > IN_MEMORY {
            self.spill();
        }
    }

    /// Bytes kept.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Lines kept, an unfinished last one included.
    pub(crate) fn lines(&self) -> u64 {
        self.newlines + u64::from(self.len > 0 && !self.ends_in_newline)
    }

    /// Bytes that were too many to keep.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped
    }

    /// The bytes of a range, as far as they exist.
    pub(crate) fn read(&self, range: Range<u64>) -> io::Result<Vec<u8>> {
        let end = range.end.min(self.len);
        let start = range.start.min(end);
        let filed = self.len - self.memory.len() as u64;
        let mut bytes = vec![0; (end.min(filed) - start.min(filed)) as usize];
        if let Some(file) = self.file.as_ref().filter(|_| !bytes.is_empty()) {
            let mut file = file.try_clone()?;
            file.seek(SeekFrom::Start(start))?;
            file.read_exact(&mut bytes)?;
        }
        let in_memory = |at: u64| at.saturating_sub(filed) as usize;
        bytes.extend_from_slice(&self.memory[in_memory(start)..in_memory(end)]);
        Ok(bytes)
    }

    /// Moves what is in memory to the end of the file; what cannot be written stays.
    fn spill(&mut self) {
        if self.file.is_none() {
            match tempfile::tempfile() {
                Ok(file) => self.file = Some(file),
                Err(error) => {
                    tracing::warn!(%error, "no file for a long output; it stays in memory");
                    return;
                }
            }
        }
        let Some(file) = &mut self.file else { return };
        let filed = self.len - self.memory.len() as u64;
        let written = file.seek(SeekFrom::Start(filed)).and_then(|_| file.write_all(&self.memory));
        match written {
            Ok(()) => self.memory.clear(),
            Err(error) => {
                tracing::warn!(%error, "a long output cannot be written; it stays in memory");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{IN_MEMORY, OutputStore};

    #[test]
    fn what_was_appended_can_be_read_anywhere() {
        let mut store = OutputStore::default();
        let mut expected = String::new();
        while expected.len() < 3 * IN_MEMORY {
            let line = format!("line {}\n", expected.len());
            store.append(&line);
            expected.push_str(&line);
            let from = expected.len() / 2;
            let part = store.read(from as u64..from as u64 + 5).expect("readable");
            assert_eq!(part, &expected.as_bytes()[from..(from + 5).min(expected.len())]);
        }
        assert!(store.file.is_some() && store.memory.len() <= IN_MEMORY);
        assert_eq!(store.len(), expected.len() as u64);
        assert_eq!(store.read(0..u64::MAX).expect("readable"), expected.as_bytes());
        assert_eq!(store.dropped(), 0);
        let lines = expected.lines().count() as u64;
        assert_eq!(store.lines(), lines);
        store.append("unfinished");
        assert_eq!(store.lines(), lines + 1);
    }
}
