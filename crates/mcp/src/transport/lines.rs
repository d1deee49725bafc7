//! Messages as lines of text, over any reader and writer.

use std::io;

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};

use super::{Incoming, MAX_MESSAGE, MessageEnd, Outgoing};

/// What is read at once.
const CHUNK: usize = 64 * 1024;

/// The lines of a reader.
pub(crate) struct LineReader<R> {
    reader: BufReader<R>,
    /// Longest line.
    most: usize,
    /// The current line is too long and is skipped to its end.
    skipping: bool,
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    pub(crate) fn new(reader: R) -> Self {
        Self::up_to(MAX_MESSAGE, reader)
    }

    /// With another limit than for a client's messages.
    pub(crate) fn up_to(most: usize, reader: R) -> Self {
        Self { reader: BufReader::with_capacity(CHUNK, reader), most, skipping: false }
    }
}

impl<R: AsyncRead + Unpin + Send + 'static> Incoming for LineReader<R> {
    async fn next(&mut self, line: &mut Vec<u8>) -> io::Result<MessageEnd> {
        loop {
            let available = self.reader.fill_buf().await?;
            if available.is_empty() {
                return Ok(MessageEnd::Closed);
            }
            let newline = available.iter().position(|byte| *byte == b'\n');
            let taken = newline.map_or(available.len(), |at| at + 1);
            if !self.skipping {
                line.extend_from_slice(&available[..taken]);
            }
            self.reader.consume(taken);
            if line.len() > self.most {
                *line = Vec::new();
                self.skipping = true;
            }
            if newline.is_some() {
                let too_long = std::mem::take(&mut self.skipping);
                return Ok(if too_long { MessageEnd::TooLong } else { MessageEnd::Whole });
            }
        }
    }
}

/// Writes lines.
pub(crate) struct LineWriter<W>(pub(crate) W);

impl<W: AsyncWrite + Unpin + Send + 'static> Outgoing for LineWriter<W> {
    async fn send(&mut self, mut message: Vec<u8>) -> io::Result<()> {
        message.push(b'\n');
        self.0.write_all(&message).await?;
        self.0.flush().await
    }

    async fn close(&mut self) -> io::Result<()> {
        self.0.shutdown().await
    }
}
