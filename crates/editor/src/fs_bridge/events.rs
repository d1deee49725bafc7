//! `events.ndjson`: what the script says while it runs, a JSON object per line.
//!
//! The file grows while it is read, so the last line may be torn; it is kept until the rest is there.
//! Lines that are no events are skipped: progress is news, not truth.

use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

/// Longest line that is an event; longer ones are skipped.
const LONGEST_LINE: usize = 256 << 10;
/// Bytes per look, so that a flood does not hold up the answer.
const PER_LOOK: u64 = 1 << 20;

/// What an event is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum EventKind {
    /// How far the script is.
    Progress,
    /// What it does.
    Log,
    /// What is odd.
    Warn,
    /// What failed.
    Error,
}

/// One event of a running script.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Event {
    /// What it is.
    #[serde(rename = "type")]
    pub kind: EventKind,
    /// Milliseconds since 1970.
    #[serde(default)]
    pub ts: u64,
    /// Its number in this call.
    #[serde(default)]
    pub seq: u64,
    /// The level of a log event.
    #[serde(default)]
    pub level: Option<String>,
    /// Progress in percent.
    #[serde(default)]
    pub pct: Option<f64>,
    /// The words of progress.
    #[serde(default)]
    pub msg: Option<String>,
    /// The words of other events.
    #[serde(default)]
    pub text: Option<String>,
    /// More, in the script's own shape.
    #[serde(default)]
    pub data: Value,
}

impl Event {
    /// Its words, whichever field they are in.
    pub fn message(&self) -> Option<&str> {
        self.msg.as_deref().or(self.text.as_deref())
    }
}

/// Reads on where it stopped.
#[derive(Debug)]
pub(super) struct Reader {
    offset: u64,
    limit: u64,
    torn: Vec<u8>,
    /// The rest of a line that is too long is being skipped.
    skipping: bool,
}

impl Reader {
    /// Reads at most `limit` bytes of the file in all.
    pub(super) fn new(limit: u64) -> Self {
        Self { offset: 0, limit, torn: Vec::new(), skipping: false }
    }

    /// The events since the last look. A file that is not there, or cannot be read, has none.
    pub(super) fn look(&mut self, path: &Path) -> Vec<Event> {
        let most = PER_LOOK.min(self.limit.saturating_sub(self.offset));
        let Ok(mut file) = termbridge_foreign_files::open(path) else {
            return Vec::new();
        };
        let mut bytes = Vec::new();
        let read = file
            .seek(SeekFrom::Start(self.offset))
            .and_then(|_| file.take(most).read_to_end(&mut bytes));
        if read.is_err() {
            return Vec::new();
        }
        self.offset += bytes.len() as u64;
        self.feed(&bytes)
    }

    /// All that is left, the last line too if it is whole but for its end.
    pub(super) fn finish(&mut self, path: &Path) -> Vec<Event> {
        let mut events = Vec::new();
        loop {
            let before = self.offset;
            events.append(&mut self.look(path));
            if self.offset == before {
                break;
            }
        }
        let torn = std::mem::take(&mut self.torn);
        events.extend(serde_json::from_slice(&torn).ok());
        events
    }

    fn feed(&mut self, bytes: &[u8]) -> Vec<Event> {
        let mut events = Vec::new();
        for piece in bytes.split_inclusive(|&byte| byte == b'\n') {
            let ends = piece.ends_with(b"\n");
            if !self.skipping {
                self.torn.extend_from_slice(piece);
                self.skipping = self.torn.len() > LONGEST_LINE;
            }
            if ends {
                if !self.skipping {
                    events.extend(serde_json::from_slice(&self.torn).ok());
                }
                self.skipping = false;
            }
            if ends || self.skipping {
                self.torn.clear();
            }
        }
        events
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(seq: u64) -> String {
        format!("{{\"ts\":1,\"seq\":{seq},\"type\":\"progress\",\"pct\":5,\"msg\":\"ä {seq}\"}}\n")
    }

    fn numbers(events: &[Event]) -> Vec<u64> {
        events.iter().map(|event| event.seq).collect()
    }

    #[test]
    fn a_line_may_be_torn_anywhere() {
        let text = line(0) + &line(1) + &line(2);
        for cut in 0..text.len() {
            let mut reader = Reader::new(1 << 20);
            let mut events = reader.feed(&text.as_bytes()[..cut]);
            events.extend(reader.feed(&text.as_bytes()[cut..]));
            assert_eq!(numbers(&events), [0, 1, 2], "cut at {cut}");
        }
    }

    #[test]
    fn lines_that_are_no_events_are_skipped() {
        let mut reader = Reader::new(1 << 20);
        let text = format!("\n[]\n{{\"type\":\"nonsense\"}}\nnull\n{{\"seq\":\n{}", line(7));
        assert_eq!(numbers(&reader.feed(text.as_bytes())), [7]);
    }

    #[test]
    fn a_line_without_end_takes_bounded_room() {
        let mut reader = Reader::new(u64::MAX);
        for _ in 0..20 {
            assert!(reader.feed(&vec![b'x'; 64 << 10]).is_empty());
            assert!(reader.torn.len() <= LONGEST_LINE + (64 << 10));
        }
        assert!(reader.feed(b"\n").is_empty());
        assert_eq!(numbers(&reader.feed(line(3).as_bytes())), [3]);
    }

    #[test]
    fn the_last_line_needs_no_end_and_the_file_no_existence() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events.ndjson");
        let mut reader = Reader::new(1 << 20);
        assert!(reader.look(&path).is_empty());
        std::fs::write(&path, line(0) + line(1).trim_end()).unwrap();
        assert_eq!(numbers(&reader.look(&path)), [0]);
        assert_eq!(numbers(&reader.finish(&path)), [1]);
    }

    #[test]
    fn no_more_is_read_than_the_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events.ndjson");
        std::fs::write(&path, line(0).repeat(100)).unwrap();
        let mut reader = Reader::new(line(0).len() as u64 * 3);
        assert_eq!(reader.finish(&path).len(), 3);
    }
}
