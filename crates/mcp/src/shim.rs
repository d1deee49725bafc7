//! The shim: a client's stdio on one side, a shared server on the other.
//!
//! ```text
//! client ◄─ stdio ─► shim ◄─ socket ─► server, which may be restarted, upgraded or killed
//! ```
//!
//! Lines are passed on as they are (`relay`). The shim connects once the client has said something, because
//! a hello names the client. When the server goes, the shim connects again, every `RETRY` and `ATTEMPTS`
//! times, and brings the new one up to date, as soon as the client waits for something; how a connection is made, and a server started where there is
//! none, is the caller's ([`Connect`]). When no server is to be had, every open request gets an error that
//! says whether it may have run.
//!
//! A client that closes its side still gets the replies that are due: the server is told that nothing more
//! comes, and gets `LEAVING` to close its own.
//!
//! Bounds: a line of the client's is at most `MAX_MESSAGE` bytes, and a longer one is refused; one of the server's is at
//! most `MAX_REPLY` bytes, more than any that ours makes. `QUEUE` lines wait for a side that does not read; then the other is not
//! read either.

mod relay;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::Instant;

pub(crate) use self::relay::AGAIN;
use self::relay::{Passed, Relay, too_long};
use crate::transport::lines::LineReader;
use crate::transport::{Incoming, MAX_MESSAGE, MessageEnd};

/// Time between two attempts to connect.
const RETRY: Duration = Duration::from_secs(1);
/// Attempts before the shim gives up.
const ATTEMPTS: u32 = 30;
/// Attempts before it gives up on a first server, which it could start but which did not stay.
const FIRST_STARTS: u32 = 3;
/// Lines on their way to one side.
const QUEUE: usize = 64;
/// Longest line of the server's: all that a command may have printed, as JSON.
const MAX_REPLY: usize = 2 * 1024 * 1024 * 1024;
/// How long a server may take to close a connection whose client has left.
const LEAVING: Duration = Duration::from_secs(5);
/// How long what the other side wrote before the end may take to be read.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// The two directions of a connection to a server.
pub struct Connection {
    /// What the server says.
    pub reader: Pin<Box<dyn AsyncRead + Send>>,
    /// What it is told. Shut down when the client has left.
    pub writer: Pin<Box<dyn AsyncWrite + Send>>,
}

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// There may be one later.
    #[error(transparent)]
    Later(#[from] io::Error),
    /// A server was started and ended at once; why.
    #[error("{0}")]
    Start(String),
    /// There never will be one; why.
    #[error("{0}")]
    Never(String),
}

/// Makes connections.
#[async_trait::async_trait]
pub trait Connect: Send {
    /// Connects once for a client of this name (empty if it has none); starts a server where there is none.
    async fn connect(&mut self, client: &str) -> Result<Connection, ConnectError>;

    /// Connects to a server that runs; starts none.
    async fn find(&mut self, client: &str) -> Result<Connection, ConnectError>;
}

/// Why the shim ended.
#[derive(Debug, PartialEq, Eq)]
pub enum ShimEnd {
    /// The client closed its side.
    ClientLeft,
    /// No server could be reached; the last attempt's error.
    NoServer(String),
}

/// Passes messages between a client and whatever server there is, until the client leaves.
pub async fn relay<R, W, C>(client_in: R, client_out: W, mut connect: C) -> ShimEnd
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
    C: Connect,
{
    let (to_client, writing) = write_lines(client_out);
    let mut shim = Shim {
        relay: Relay::default(),
        from_client: Lines::up_to(MAX_MESSAGE, client_in),
        to_client,
        has_client: true,
        was_connected: false,
    };
    let end = shim.run(&mut connect).await;
    // What is queued for the client still goes out, if it reads.
    drop(shim);
    let _ = tokio::time::timeout(LEAVING, writing).await;
    end
}

struct Shim<R> {
    relay: Relay,
    from_client: Lines<R>,
    to_client: mpsc::Sender<Vec<u8>>,
    /// The client has not closed its side.
    has_client: bool,
    was_connected: bool,
}

impl<R: AsyncRead + Send + Unpin + 'static> Shim<R> {
    async fn run<C: Connect>(&mut self, connect: &mut C) -> ShimEnd {
        let first = self.from_client.next().await;
        self.while_away(first).await;
        let mut found = None;
        loop {
            if !self.has_client && self.relay.open() == 0 {
                return ShimEnd::ClientLeft;
            }
            let connection = match found.take() {
                Some(connection) => connection,
                None => match self.connect_patiently(connect).await {
                    Ok(connection) => connection,
                    Err(end) => return end,
                },
            };
            if self.was_connected {
                for line in self.relay.missed() {
                    let _ = self.to_client.send(line).await;
                }
            }
            self.was_connected = true;
            self.pass(connection).await;
            self.relay.disconnected();
            if !self.has_client {
                return ShimEnd::ClientLeft;
            }
            tracing::info!(open = self.relay.open(), "the server is gone; connecting again");
            found = self.while_idle(connect).await;
        }
    }

    /// Returns when the client waits for something: where nobody does, a server that was stopped on purpose stays so.
    /// One that others start is found all the same by a client that has subscribed.
    async fn while_idle<C: Connect>(&mut self, connect: &mut C) -> Option<Connection> {
        while self.has_client && self.relay.open() == 0 {
            let client = self.relay.client().to_owned();
            tokio::select! {
                read = self.from_client.next() => self.while_away(read).await,
                () = tokio::time::sleep(RETRY), if self.relay.has_subscriptions() => {
                    if let Ok(connection) = connect.find(&client).await {
                        return Some(connection);
                    }
                }
            }
        }
        None
    }

    /// Takes what the client says while there is no server.
    async fn while_away(&mut self, read: Option<Read>) {
        let answer = match read {
            Some(Read::Line(line)) => match self.relay.client_line(line) {
                Some(Passed::ToClient(line)) => line,
                _ => return,
            },
            Some(Read::TooLong) => too_long(MAX_MESSAGE),
            None => {
                self.has_client = false;
                return;
            }
        };
        // A client that is gone is noticed where it is read.
        let _ = self.to_client.send(answer).await;
    }

    /// Connects, while the client's messages are taken; gives up after a while, or when the client has left
    /// and waits for nothing.
    async fn connect_patiently<C: Connect>(
        &mut self,
        connect: &mut C,
    ) -> Result<Connection, ShimEnd> {
        let mut last = String::new();
        let mut starts = 0;
        for attempt in 0..ATTEMPTS {
            let client = self.relay.client().to_owned();
            let connecting = async {
                if attempt > 0 {
                    tokio::time::sleep(RETRY).await;
                }
                connect.connect(&client).await
            };
            let mut connecting = std::pin::pin!(connecting);
            let connected = loop {
                tokio::select! {
                    connected = &mut connecting => break connected,
                    read = self.from_client.next(), if self.has_client => {
                        self.while_away(read).await;
                        if !self.has_client && self.relay.open() == 0 {
                            return Err(ShimEnd::ClientLeft);
                        }
                    }
                }
            };
            let error = match connected {
                Ok(connection) => return Ok(connection),
                Err(error) => error,
            };
            tracing::debug!(%error, attempt, "no connection to the server");
            last = error.to_string();
            starts += u32::from(matches!(error, ConnectError::Start(_)));
            if matches!(error, ConnectError::Never(_))
                || starts >= FIRST_STARTS && !self.was_connected
            {
                break;
            }
        }
        let why = format!(
            "the termbridge server cannot be reached ({last}); `termbridge status` tells more"
        );
        self.refuse_all(&why).await;
        // And what is still in the pipe.
        while let Ok(Some(read)) = tokio::time::timeout(LAST_WORDS, self.from_client.next()).await {
            self.while_away(Some(read)).await;
            self.refuse_all(&why).await;
        }
        Err(ShimEnd::NoServer(last))
    }

    async fn refuse_all(&mut self, why: &str) {
        for line in self.relay.give_up(why) {
            let _ = self.to_client.send(line).await;
        }
    }

    /// Passes messages until the server is gone, or the client is and has got what was due.
    async fn pass(&mut self, connection: Connection) {
        let mut from_server = Lines::up_to(MAX_REPLY, connection.reader);
        let (to_server, _writing) = write_lines(connection.writer);
        // `None` once nothing can or will be sent any more.
        let mut to_server = Some(to_server);
        let mut outgoing: VecDeque<Vec<u8>> = self.relay.connected().into();
        let mut deadline: Option<Instant> = None;
        let mut is_gone = false;
        loop {
            if is_gone && to_server.is_some() {
                // What it wrote before is still to be read.
                to_server = None;
                deadline = Some(Instant::now() + LAST_WORDS);
            }
            if !self.has_client && outgoing.is_empty() && to_server.is_some() {
                to_server = None;
                deadline = Some(Instant::now() + LEAVING);
            }
            let is_idle = outgoing.is_empty() && to_server.is_some();
            tokio::select! {
                read = from_server.next() => match read {
                    Some(Read::Line(line)) => {
                        if let Some(Passed::ToClient(line)) = self.relay.server_line(line) {
                            let _ = self.to_client.send(line).await;
                        }
                    }
                    Some(Read::TooLong) => tracing::warn!("a message of the server's was too long"),
                    None => return,
                },
                // Nothing is read from the client that cannot be sent on, and the server is read meanwhile.
                room = reserve(to_server.as_ref()), if !outgoing.is_empty() && to_server.is_some() => {
                    match room {
                        Some(room) => room.send(outgoing.pop_front().unwrap_or_default()),
                        None => is_gone = true,
                    }
                }
                read = self.from_client.next(), if is_idle && self.has_client => match read {
                    Some(Read::Line(line)) => match self.relay.client_line(line) {
                        Some(Passed::ToServer(line)) => outgoing.push_back(line),
                        Some(Passed::ToClient(line)) => _ = self.to_client.send(line).await,
                        None => {}
                    },
                    Some(Read::TooLong) => _ = self.to_client.send(too_long(MAX_MESSAGE)).await,
                    None => self.has_client = false,
                },
                () = until(deadline), if deadline.is_some() => return,
            }
        }
    }
}

/// Room for a line; `None` when nobody takes lines any more.
async fn reserve(to: Option<&mpsc::Sender<Vec<u8>>>) -> Option<mpsc::Permit<'_, Vec<u8>>> {
    to?.reserve().await.ok()
}

async fn until(deadline: Option<Instant>) {
    if let Some(deadline) = deadline {
        tokio::time::sleep_until(deadline).await;
    }
}

/// What was read.
enum Read {
    Line(Vec<u8>),
    /// It is gone.
    TooLong,
}

/// The lines of one side.
struct Lines<R> {
    reader: LineReader<R>,
    line: Vec<u8>,
}

impl<R: AsyncRead + Send + Unpin + 'static> Lines<R> {
    fn up_to(most: usize, reader: R) -> Self {
        Self { reader: LineReader::up_to(most, reader), line: Vec::new() }
    }

    /// The next line that is not empty; `None` at the end. Cancel safe.
    async fn next(&mut self) -> Option<Read> {
        loop {
            let end = self.reader.next(&mut self.line).await;
            let mut line = std::mem::take(&mut self.line);
            line.truncate(line.trim_ascii_end().len());
            match end {
                Ok(MessageEnd::Whole) if line.is_empty() => {}
                Ok(MessageEnd::Whole) => return Some(Read::Line(line)),
                Ok(MessageEnd::TooLong) => return Some(Read::TooLong),
                // The last line of a stream may lack its end; one that a dead server left is cut.
                Ok(MessageEnd::Closed) | Err(_) => {
                    let is_message = serde_json::from_slice::<serde::de::IgnoredAny>(&line).is_ok();
                    return is_message.then_some(Read::Line(line));
                }
            }
        }
    }
}

/// Writes lines until nobody sends any more, then closes the writer.
fn write_lines(
    mut writer: impl AsyncWrite + Send + Unpin + 'static,
) -> (mpsc::Sender<Vec<u8>>, JoinHandle<()>) {
    let (sender, mut receiver) = mpsc::channel::<Vec<u8>>(QUEUE);
    let writing = tokio::spawn(async move {
        while let Some(mut line) = receiver.recv().await {
            line.push(b'\n');
            if writer.write_all(&line).await.is_err() || writer.flush().await.is_err() {
                return;
            }
        }
        let _ = writer.shutdown().await;
    });
    (sender, writing)
}
