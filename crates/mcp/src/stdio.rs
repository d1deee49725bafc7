//! The process's own stdin and stdout, without Tokio's blocking pool.
//!
//! A pool starts threads when it needs them, and where a program has used up the user's processes the
//! system refuses one: then nothing would be read or answered, in any session. Pipes are opened anew
//! and non-blocking (Linux), so that whoever shares them does not notice; everything else, a file, a
//! terminal, a socket, another user's pipe, gets two threads that are started here, once.
//!
//! Bounds: each thread is ahead of the other side by one chunk of [`CHUNK`] bytes at most.

use std::io::{self, Read, Write};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::mpsc;

/// What is read or written at once.
const CHUNK: usize = 64 * 1024;

/// Whence requests come.
pub type StdioReader = Box<dyn AsyncRead + Send + Unpin>;
/// Where answers go.
pub type StdioWriter = Box<dyn AsyncWrite + Send + Unpin>;

/// The process's stdin and stdout; only one may use them. Needs a Tokio runtime with I/O. Fails where
/// the system refuses a thread.
pub fn stdio() -> io::Result<(StdioReader, StdioWriter)> {
    #[cfg(target_os = "linux")]
    if let Ok((reader, writer)) = pipes() {
        return Ok((Box::new(reader), Box::new(writer)));
    }
    Ok((Box::new(ThreadReader::start(io::stdin())?), Box::new(ThreadWriter::start(io::stdout())?)))
}

#[cfg(target_os = "linux")]
fn pipes() -> io::Result<(tokio::net::unix::pipe::Receiver, tokio::net::unix::pipe::Sender)> {
    let options = tokio::net::unix::pipe::OpenOptions::new();
    Ok((options.open_receiver("/proc/self/fd/0")?, options.open_sender("/proc/self/fd/1")?))
}

/// What a thread has read.
struct ThreadReader {
    chunks: mpsc::Receiver<io::Result<Vec<u8>>>,
    chunk: Vec<u8>,
    taken: usize,
}

impl ThreadReader {
    fn start(mut source: impl Read + Send + 'static) -> io::Result<Self> {
        let (sender, chunks) = mpsc::channel(1);
        let read = move || {
            let mut buffer = vec![0; CHUNK];
            loop {
                let chunk = match source.read(&mut buffer) {
                    Ok(0) => return,
                    Ok(count) => Ok(buffer[..count].to_vec()),
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    Err(error) => Err(error),
                };
                let failed = chunk.is_err();
                if sender.blocking_send(chunk).is_err() || failed {
                    return;
                }
            }
        };
        std::thread::Builder::new().name("stdin".into()).spawn(read)?;
        Ok(Self { chunks, chunk: Vec::new(), taken: 0 })
    }
}

impl AsyncRead for ThreadReader {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.taken == self.chunk.len() {
            let Some(chunk) = ready!(self.chunks.poll_recv(context)) else {
                return Poll::Ready(Ok(()));
            };
            (self.chunk, self.taken) = (chunk?, 0);
        }
        let rest = &self.chunk[self.taken..];
        let count = rest.len().min(buffer.remaining());
        buffer.put_slice(&rest[..count]);
        self.taken += count;
        Poll::Ready(Ok(()))
    }
}

/// What a thread is to write.
struct ThreadWriter {
    chunks: mpsc::UnboundedSender<Vec<u8>>,
    written: mpsc::UnboundedReceiver<io::Result<()>>,
    /// A chunk is with the thread; another is handed over only when that is written.
    is_writing: bool,
}

impl ThreadWriter {
    fn start(mut sink: impl Write + Send + 'static) -> io::Result<Self> {
        let (chunks, mut to_write) = mpsc::unbounded_channel::<Vec<u8>>();
        let (outcomes, written) = mpsc::unbounded_channel();
        let write = move || {
            while let Some(chunk) = to_write.blocking_recv() {
                let outcome = sink.write_all(&chunk).and_then(|()| sink.flush());
                if outcomes.send(outcome).is_err() {
                    return;
                }
            }
        };
        std::thread::Builder::new().name("stdout".into()).spawn(write)?;
        Ok(Self { chunks, written, is_writing: false })
    }
}

impl AsyncWrite for ThreadWriter {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        ready!(self.as_mut().poll_flush(context))?;
        let chunk = &bytes[..bytes.len().min(CHUNK)];
        self.chunks.send(chunk.to_vec()).map_err(|_| io::ErrorKind::BrokenPipe)?;
        self.is_writing = true;
        Poll::Ready(Ok(chunk.len()))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if !self.is_writing {
            return Poll::Ready(Ok(()));
        }
        let outcome = ready!(self.written.poll_recv(context));
        self.is_writing = false;
        Poll::Ready(outcome.unwrap_or_else(|| Err(io::ErrorKind::BrokenPipe.into())))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_flush(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    #[tokio::test]
    async fn what_the_threads_carry_arrives_whole() {
        let (theirs, ours) = io::pipe().expect("a pipe");
        let mut writer = ThreadWriter::start(ours).expect("a thread");
        let mut reader = ThreadReader::start(theirs).expect("a thread");
        let sent: Vec<u8> = (0..5 * CHUNK).map(|at| (at % 251) as u8).collect();
        let expected = sent.clone();
        let writing = tokio::spawn(async move {
            writer.write_all(&sent).await.expect("written");
            writer.flush().await.expect("written");
        });
        let mut received = Vec::new();
        reader.read_to_end(&mut received).await.expect("read to its end");
        writing.await.expect("written");
        assert!(received == expected, "{} bytes", received.len());
    }

    #[tokio::test]
    async fn a_reader_that_left_is_an_error_of_the_writer() {
        let (theirs, ours) = io::pipe().expect("a pipe");
        drop(theirs);
        let mut writer = ThreadWriter::start(ours).expect("a thread");
        writer.write_all(b"x").await.expect("handed over");
        assert!(writer.flush().await.is_err());
    }
}
