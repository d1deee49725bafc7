//! Messages as lines, over any reader and writer: the unix socket's.

use std::io;

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};

use super::{MAX_MESSAGE, MessageReader, MessageWriter, Received};

/// What is read at once.
const CHUNK: usize = 64 * 1024;

/// Both halves of a connection whose messages are lines of JSON.
pub fn lines<R, W>(reader: R, writer: W) -> (LineReader<R>, LineWriter<W>)
where
    R: AsyncRead + Unpin + Send,
    W: AsyncWrite + Unpin + Send,
{
    let reader = BufReader::with_capacity(CHUNK, reader);
    (LineReader { reader, line: Vec::new() }, LineWriter(writer))
}

/// Reads messages, a line each.
#[derive(Debug)]
pub struct LineReader<R> {
    reader: BufReader<R>,
    /// The line so far.
    line: Vec<u8>,
}

impl<R: AsyncRead + Unpin + Send> MessageReader for LineReader<R> {
    async fn next(&mut self) -> io::Result<Received> {
        loop {
            let available = self.reader.fill_buf().await?;
            if available.is_empty() {
                return Ok(Received::Closed);
            }
            let newline = available.iter().position(|byte| *byte == b'\n');
            let taken = newline.map_or(available.len(), |at| at + 1);
            self.line.extend_from_slice(&available[..newline.unwrap_or(taken)]);
            self.reader.consume(taken);
            if self.line.len() > MAX_MESSAGE {
                return Ok(Received::TooLong);
            }
            if newline.is_some() {
                let line = String::from_utf8(std::mem::take(&mut self.line));
                return Ok(line.map_or(Received::Skipped("not UTF-8"), Received::Message));
            }
        }
    }
}

/// Writes messages, a line each.
#[derive(Debug)]
pub struct LineWriter<W>(W);

impl<W: AsyncWrite + Unpin + Send> MessageWriter for LineWriter<W> {
    async fn send(&mut self, mut message: String) -> io::Result<()> {
        message.push('\n');
        self.0.write_all(message.as_bytes()).await?;
        self.0.flush().await
    }

    async fn close(&mut self) -> io::Result<()> {
        self.0.shutdown().await
    }
}
