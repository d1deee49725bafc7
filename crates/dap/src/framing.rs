//! The frame of a DAP message: header lines, an empty line, then as many bytes as they say.
//!
//! ```text
//! Content-Length: 119\r\n
//! \r\n
//! { … 119 bytes of JSON … }
//! ```
//!
//! Sans-IO: bytes in, messages out. The adapter is not trusted: a header longer than [`MAX_HEADER`],
//! a message longer than [`MAX_MESSAGE`], a missing or unreadable length is an error, after which
//! the stream has no meaning any more. Other headers are skipped. Where the stream is cut into reads
//! does not matter.

use std::fmt::Write as _;

/// Bytes of header lines that one message may have.
pub const MAX_HEADER: usize = 4 * 1024;
/// Bytes that one message may have.
pub const MAX_MESSAGE: usize = 32 * 1024 * 1024;

const END_OF_HEADER: &[u8] = b"\r\n\r\n";

/// Why a stream is not DAP.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FramingError {
    /// No end of the header within the limit.
    #[error("no message header within {MAX_HEADER} bytes; it begins with {0:?}")]
    HeaderTooLong(String),
    /// A header line that is not `Name: value`, or no length at all.
    #[error("not a message header: {0:?}")]
    BadHeader(String),
    /// A message beyond the limit.
    #[error("a message of {0} bytes, where {MAX_MESSAGE} are allowed")]
    TooLarge(u64),
}

/// Cuts a stream of bytes into messages.
#[derive(Debug, Default)]
pub struct Decoder {
    buffer: Vec<u8>,
    /// Where the bytes that were not handed out begin.
    start: usize,
    /// Where the search for the end of the header goes on.
    searched: usize,
    /// Length of the body, once its header is complete.
    body: Option<usize>,
}

impl Decoder {
    /// Takes what was read.
    pub fn feed(&mut self, bytes: &[u8]) {
        if self.start > 0 {
            self.buffer.drain(..self.start);
            self.searched -= self.start;
            self.start = 0;
        }
        self.buffer.extend_from_slice(bytes);
    }

    /// The next whole message, or `None` until more is fed.
    pub fn next_message(&mut self) -> Result<Option<&[u8]>, FramingError> {
        let length = match self.body {
            Some(length) => length,
            None => match self.header()? {
                Some(length) => length,
                None => return Ok(None),
            },
        };
        let end = self.start + length;
        if self.buffer.len() < end {
            self.body = Some(length);
            return Ok(None);
        }
        let start = std::mem::replace(&mut self.start, end);
        self.searched = end;
        self.body = None;
        Ok(Some(&self.buffer[start..end]))
    }

    /// Whether a message was begun and not finished.
    pub fn is_mid_message(&self) -> bool {
        self.body.is_some() || self.start < self.buffer.len()
    }

    /// Reads the header when it is complete, and steps over it.
    fn header(&mut self) -> Result<Option<usize>, FramingError> {
        let from = self.searched.max(self.start);
        let found = self.buffer[from..]
            .windows(END_OF_HEADER.len())
            .position(|window| window == END_OF_HEADER);
        let header_length = found.map_or(self.buffer.len(), |at| from + at) - self.start;
        if header_length > MAX_HEADER {
            return Err(FramingError::HeaderTooLong(self.beginning(80)));
        }
        let Some(at) = found else {
            // The end may be cut in two by the read.
            self.searched =
                self.buffer.len().saturating_sub(END_OF_HEADER.len() - 1).max(self.start);
            return Ok(None);
        };
        let header = &self.buffer[self.start..from + at];
        let length = content_length(header)?;
        self.start = from + at + END_OF_HEADER.len();
        self.searched = self.start;
        Ok(Some(length))
    }

    fn beginning(&self, most: usize) -> String {
        let bytes = &self.buffer[self.start..];
        String::from_utf8_lossy(&bytes[..bytes.len().min(most)]).into_owned()
    }
}

/// A message with its frame.
pub fn encode(message: &str) -> Vec<u8> {
    let mut frame = String::with_capacity(message.len() + 32);
    // Writing to a String cannot fail.
    let _ = write!(frame, "Content-Length: {}\r\n\r\n", message.len());
    frame.push_str(message);
    frame.into_bytes()
}

fn content_length(header: &[u8]) -> Result<usize, FramingError> {
    let text = String::from_utf8_lossy(header);
    let bad = || FramingError::BadHeader(text.chars().take(200).collect());
    let mut length = None;
    for line in text.split("\r\n") {
        let (name, value) = line.split_once(':').ok_or_else(bad)?;
        if name.trim().eq_ignore_ascii_case("content-length") {
            length = Some(value.trim().parse::<u64>().map_err(|_| bad())?);
        }
    }
    let length = length.ok_or_else(bad)?;
    match usize::try_from(length) {
        Ok(length) if length <= MAX_MESSAGE => Ok(length),
        _ => Err(FramingError::TooLarge(length)),
    }
}

#[cfg(test)]
#[path = "framing_tests.rs"]
mod tests;
