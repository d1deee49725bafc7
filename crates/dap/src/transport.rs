//! The way to an adapter: its pipes, a port it announces, or a port that is open already.
//!
//! What the adapter writes beside the protocol is handed on line by line or in pieces: it is the
//! program's output with some adapters and the reason of a failure with others.

use std::io;
use std::pin::Pin;
use std::process::Stdio;
use std::task::{self, Poll};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader, ReadBuf};
use tokio::net::TcpStream;
use tokio::net::tcp::OwnedReadHalf;
use tokio::sync::mpsc;

use crate::adapter::Transport;
use crate::client::{Client, Incoming};
use crate::error::DebugError;
use crate::process::ProcessTree;

/// Pieces of output waiting to be taken.
const OUTPUT_QUEUE: usize = 64;
/// Bytes of one piece.
const OUTPUT_PIECE: usize = 16 * 1024;
/// Bytes of output before a server has to have announced its port.
const MAX_ANNOUNCEMENT: u64 = 64 * 1024;

/// How long the last words of an adapter that failed are waited for.
pub(crate) const LAST_WORDS: Duration = Duration::from_millis(300);

/// Where a piece of output was written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream {
    Stdout,
    Stderr,
}

/// A connection to an adapter.
pub(crate) struct Connection {
    pub(crate) client: Client,
    pub(crate) incoming: mpsc::Receiver<Incoming>,
    /// The adapter, when we started it.
    pub(crate) process: Option<ProcessTree>,
    /// What it writes beside the protocol.
    pub(crate) output: mpsc::Receiver<(Stream, String)>,
    /// Where further connections go, when it is a server.
    pub(crate) address: Option<(String, u16)>,
}

/// Starts an adapter or connects to it.
pub(crate) async fn connect(
    transport: &Transport,
    timeout: Duration,
) -> Result<Connection, DebugError> {
    let (sender, output) = mpsc::channel(OUTPUT_QUEUE);
    match transport {
        Transport::Stdio(command) => {
            let mut process = command.spawn(Stdio::piped()).map_err(|error| {
                DebugError::LaunchFailed(format!("{} cannot be started: {error}", command.shown()))
            })?;
            let (Some(stdin), Some(stdout), Some(stderr)) = process.pipes() else {
                return Err(DebugError::Internal("the adapter has no pipes".to_owned()));
            };
            tokio::spawn(forward(stderr, Stream::Stderr, sender));
            let (client, incoming) = Client::start(stdout, stdin);
            Ok(Connection { client, incoming, process: Some(process), output, address: None })
        }
        Transport::Server(command) => {
            let mut process = command.spawn(Stdio::piped()).map_err(|error| {
                DebugError::LaunchFailed(format!("{} cannot be started: {error}", command.shown()))
            })?;
            let (stdin, Some(stdout), Some(stderr)) = process.pipes() else {
                return Err(DebugError::Internal("the adapter has no pipes".to_owned()));
            };
            tokio::spawn(forward(stderr, Stream::Stderr, sender.clone()));
            let mut stdout = BufReader::new(stdout);
            let announced = tokio::time::timeout(timeout, announced_port(&mut stdout)).await;
            let announced =
                announced.unwrap_or_else(|_| Err("it did not say so in time".to_owned()));
            let port = match announced {
                Ok(port) => port,
                Err(said) => {
                    drop(sender);
                    return Err(not_listening(&said, output).await);
                }
            };
            tokio::spawn(async move {
                forward(stdout, Stream::Stdout, sender).await;
                // Its input stays open as long as its output: it ends when we do.
                drop(stdin);
            });
            let address = ("127.0.0.1".to_owned(), port);
            let (client, incoming) = dial(&address.0, port, timeout).await?;
            let (process, address) = (Some(process), Some(address));
            Ok(Connection { client, incoming, process, output, address })
        }
        Transport::Connect { host, port } => {
            let (client, incoming) = dial(host, *port, timeout).await?;
            let address = Some((host.clone(), *port));
            Ok(Connection { client, incoming, process: None, output, address })
        }
    }
}

/// A connection over TCP.
pub(crate) async fn dial(
    host: &str,
    port: u16,
    timeout: Duration,
) -> Result<(Client, mpsc::Receiver<Incoming>), DebugError> {
    let failed = |reason: String| {
        DebugError::LaunchFailed(format!("no connection to {host}:{port}: {reason}"))
    };
    let stream = match tokio::time::timeout(timeout, TcpStream::connect((host, port))).await {
        Ok(Ok(stream)) => stream,
        Ok(Err(error)) => return Err(failed(error.to_string())),
        Err(_) => return Err(failed(format!("none within {} ms", timeout.as_millis()))),
    };
    // Small messages go back and forth: waiting to fill packets costs 40 ms each.
    let _ = stream.set_nodelay(true);
    let (reader, writer) = stream.into_split();
    Ok(Client::start(Prompt(reader), writer))
}

/// The reading end of a connection that acknowledges at once what it got. An adapter that writes a
/// message in two pieces holds the second back until the first is acknowledged, and the kernel takes
/// 40 ms over that.
struct Prompt(OwnedReadHalf);

impl AsyncRead for Prompt {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut task::Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        // It holds only until the kernel thinks better of it, so it is asked each time.
        #[cfg(target_os = "linux")]
        let _ = rustix::net::sockopt::set_tcp_quickack(self.0.as_ref(), true);
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

async fn not_listening(said: &str, mut output: mpsc::Receiver<(Stream, String)>) -> DebugError {
    let mut text = said.to_owned();
    let read = async {
        while let Some((_, piece)) = output.recv().await {
            text.push_str(&piece);
        }
    };
    // It wrote why on another pipe, which what it started may hold open.
    let _ = tokio::time::timeout(LAST_WORDS, read).await;
    DebugError::LaunchFailed(format!("the adapter does not listen: {}", text.trim()))
}

/// Reads lines until one names the port: `… listening at: 127.0.0.1:38693`.
async fn announced_port<R: AsyncRead + Unpin>(stdout: &mut BufReader<R>) -> Result<u16, String> {
    let mut said = String::new();
    let mut limited = stdout.take(MAX_ANNOUNCEMENT);
    loop {
        let mut line = String::new();
        match limited.read_line(&mut line).await {
            Ok(0) => return Err(said),
            Err(error) => return Err(format!("{said}{error}")),
            Ok(_) => {}
        }
        if line.contains("listening at")
            && let Some(port) = line.trim().rsplit(':').next().and_then(|port| port.parse().ok())
        {
            return Ok(port);
        }
        said.push_str(&line);
    }
}

/// Hands output on as text until it ends.
pub(crate) async fn forward<R: AsyncRead + Unpin>(
    mut reader: R,
    stream: Stream,
    sender: mpsc::Sender<(Stream, String)>,
) {
    let mut held = Vec::new();
    let mut buffer = vec![0; OUTPUT_PIECE];
    while let Ok(count) = reader.read(&mut buffer).await {
        if count == 0 {
            break;
        }
        held.extend_from_slice(&buffer[..count]);
        let text = take_text(&mut held);
        // Read on when nobody listens: a full pipe would stop the program.
        let _ = sender.send((stream, text)).await;
    }
    if !held.is_empty() {
        let _ = sender.send((stream, String::from_utf8_lossy(&held).into_owned())).await;
    }
}

/// Takes the text out of bytes and leaves a character that is cut at the end.
fn take_text(held: &mut Vec<u8>) -> String {
    let keep = match std::str::from_utf8(held) {
        Err(error) if error.error_len().is_none() => held.len() - error.valid_up_to(),
        _ => 0,
    };
    let rest = held.split_off(held.len() - keep);
    let text = String::from_utf8_lossy(held).into_owned();
    *held = rest;
    text
}
