//! A command's whole output: in memory while it is small, in a nameless file once it is not.
//!
//! Bounds: [`IN_MEMORY`] bytes in memory, [`MAX_OUTPUT`] in all; what comes beyond is counted, not
//! kept. The file has no name and is gone with its last descriptor, whatever happens to the server.

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
        if self.file.is_none() && self.memory.len() + text.len() > IN_MEMORY {
            self.spill();
        }
        let written = match &mut self.file {
            Some(file) => file.write_all(text.as_bytes()),
            None => {
                self.memory.extend_from_slice(text.as_bytes());
                Ok(())
            }
        };
        match written {
            Ok(()) => {
                self.len += text.len() as u64;
                self.newlines += memchr::memchr_iter(b'\n', text.as_bytes()).count() as u64;
                if let Some(last) = text.as_bytes().last() {
                    self.ends_in_newline = *last == b'\n';
                }
            }
            Err(error) => {
                tracing::warn!(%error, "output cannot be kept");
                self.dropped += text.len() as u64;
            }
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
        match &self.file {
            None => Ok(self.memory[start as usize..end as usize].to_vec()),
            Some(file) => {
                let mut file = file.try_clone()?;
                let mut bytes = vec![0; (end - start) as usize];
                let back = file.stream_position()?;
                file.seek(SeekFrom::Start(start))?;
                let read = file.read_exact(&mut bytes);
                file.seek(SeekFrom::Start(back))?;
                read.map(|()| bytes)
            }
        }
    }

    fn spill(&mut self) {
        let file = tempfile::tempfile().and_then(|mut file| {
            file.write_all(&self.memory)?;
            Ok(file)
        });
        match file {
            Ok(file) => {
                self.file = Some(file);
                self.memory = Vec::new();
            }
            Err(error) => tracing::warn!(%error, "no file for a long output; it stays in memory"),
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
        assert!(store.file.is_some() && store.memory.is_empty());
        assert_eq!(store.len(), expected.len() as u64);
        assert_eq!(store.read(0..u64::MAX).expect("readable"), expected.as_bytes());
        assert_eq!(store.dropped(), 0);
        let lines = expected.lines().count() as u64;
        assert_eq!(store.lines(), lines);
        store.append("unfinished");
        assert_eq!(store.lines(), lines + 1);
    }
}
