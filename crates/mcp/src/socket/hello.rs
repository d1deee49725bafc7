//! What our own shim says before the first message, and the server's answer.
//!
//! ```text
//! → {"termbridge":{"protocol":1,"cwd":"/work/app","env":{"PATH":"…"},"client":"claude-code","pid":123,"key":"…"}}
//! ← {"termbridge":{"protocol":1,"version":"0.1.0","pid":77,"clients":3,"window":1}}
//! ```
//!
//! Clients of one name in one folder are told apart by the number of their window, which they say to the next server.
//!
//! A first line that is anything else is the first message of a plain MCP client. Bounds: [`MAX_HELLO`] bytes; the first
//! line has to come within [`FIRST_LINE`] or there is no hello. The peer is a process of our own user: what it says is
//! believed, as the environment of a process that it could start is.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

/// The version of these two lines.
pub(super) const PROTOCOL: u32 = 1;
/// Longest hello; the environment is most of it, and the kernel allows that some 2 MiB.
pub(super) const MAX_HELLO: usize = 4 * 1024 * 1024;
/// How long a client may be silent before it counts as one without a hello.
pub(super) const FIRST_LINE: Duration = Duration::from_secs(10);
/// How every hello begins, spaces aside.
const OPENING: &[u8] = b"{\"termbridge\"";
/// Longest name of a client.
const MAX_NAME: usize = 100;

/// What the shim says about its client.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// The version of the greeting.
    pub protocol: u32,
    /// The client's working directory.
    #[serde(default)]
    pub cwd: PathBuf,
    /// The client's environment.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// What the client is called.
    #[serde(default)]
    pub client: String,
    /// The shim's process.
    #[serde(default)]
    pub pid: u32,
    /// Names the client among all, also to the next server; empty for one that does not come again.
    #[serde(default)]
    pub key: String,
    /// Which one of several of its name and folder it is, as an earlier server said; 0 for a new one.
    #[serde(default)]
    pub window: u32,
    /// The toolsets that it wants; empty for those of the server.
    #[serde(default)]
    pub toolsets: Vec<String>,
    /// It is an editor's extension: what follows is not MCP, but the editor's protocol.
    #[serde(default)]
    pub editor: bool,
    /// It acts for the person whose server this is, not for an agent: it sees every session.
    #[serde(default)]
    pub admin: bool,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Greeting<T> {
    pub(super) termbridge: T,
}

#[derive(Serialize)]
struct Answer {
    protocol: u32,
    version: &'static str,
    pid: u32,
    clients: u64,
    window: u32,
}

impl Hello {
    /// What tells a client from others of its user: its name, its folder, and its window where there are several.
    pub(crate) fn label(&self) -> String {
        let name: String = self.client.chars().filter(|c| !c.is_control()).take(MAX_NAME).collect();
        let window = if self.window > 1 { format!(" ({})", self.window) } else { String::new() };
        format!("{name} {}{window}", self.cwd.display()).trim().to_owned()
    }
}

/// The server's answer, a line, with how many clients it has besides and which window this one is.
pub(super) fn answer(clients: u64, window: u32) -> Vec<u8> {
    let (version, pid) = (env!("CARGO_PKG_VERSION"), std::process::id());
    let answer = Answer { protocol: PROTOCOL, version, pid, clients, window };
    // Numbers and plain text.
    let mut line = serde_json::to_vec(&Greeting { termbridge: answer }).unwrap_or_default();
    line.push(b'\n');
    line
}

/// How a connection began.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum First {
    /// With a hello.
    Hello(Box<Hello>),
    /// With something else, which was read and is the beginning of the first message.
    Message(Vec<u8>),
}

/// Reads the first line as far as it takes to tell whether it is a hello.
pub(super) async fn read_first<R: AsyncRead + Unpin>(
    reader: &mut BufReader<R>,
    patience: Duration,
) -> io::Result<First> {
    let mut line = Vec::new();
    match tokio::time::timeout(patience, read_line(reader, &mut line)).await {
        Ok(Ok(true)) => {}
        Ok(Ok(false)) => return Ok(First::Message(line)),
        Ok(Err(error)) => return Err(error),
        // What came of it is kept.
        Err(_) if could_be_hello(&line) && !line.is_empty() => {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "the hello does not end"));
        }
        Err(_) => return Ok(First::Message(line)),
    }
    let hello: Greeting<Hello> = serde_json::from_slice(&line).map_err(|error| {
        io::Error::new(io::ErrorKind::InvalidData, format!("bad hello: {error}"))
    })?;
    let hello = hello.termbridge;
    if hello.protocol != PROTOCOL {
        let why = format!("hello of protocol {}; this server speaks {PROTOCOL}", hello.protocol);
        return Err(io::Error::new(io::ErrorKind::InvalidData, why));
    }
    Ok(First::Hello(Box::new(hello)))
}

/// Whether it is a whole line that begins as a hello does; stops as soon as it cannot be one. Cancel safe.
async fn read_line<R: AsyncRead + Unpin>(
    reader: &mut BufReader<R>,
    line: &mut Vec<u8>,
) -> io::Result<bool> {
    loop {
        let available = reader.fill_buf().await?;
        if available.is_empty() {
            return Ok(false);
        }
        let newline = available.iter().position(|byte| *byte == b'\n');
        let taken = newline.map_or(available.len(), |at| at + 1);
        line.extend_from_slice(&available[..taken]);
        reader.consume(taken);
        if !could_be_hello(line) {
            return Ok(false);
        }
        if newline.is_some() {
            return Ok(true);
        }
        if line.len() > MAX_HELLO {
            let why = format!("a hello longer than {MAX_HELLO} bytes");
            return Err(io::Error::new(io::ErrorKind::InvalidData, why));
        }
    }
}

fn could_be_hello(line: &[u8]) -> bool {
    let seen = line.iter().filter(|byte| !byte.is_ascii_whitespace()).take(OPENING.len());
    let mut expected = OPENING.iter();
    // A blank line is no hello either.
    seen.clone().all(|byte| expected.next() == Some(byte))
        && !(seen.count() < OPENING.len() && line.contains(&b'\n'))
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn first_of(chunks: Vec<Vec<u8>>) -> (io::Result<First>, Vec<u8>) {
        let (ours, mut theirs) = tokio::io::duplex(64 * 1024);
        let writing = tokio::spawn(async move {
            for chunk in chunks {
                if tokio::io::AsyncWriteExt::write_all(&mut theirs, &chunk).await.is_err() {
                    return;
                }
                tokio::task::yield_now().await;
            }
        });
        let mut reader = BufReader::new(ours);
        let first = read_first(&mut reader, FIRST_LINE).await;
        let mut rest = Vec::new();
        if first.is_ok() {
            tokio::io::AsyncReadExt::read_to_end(&mut reader, &mut rest).await.expect("read");
        }
        writing.abort();
        (first, rest)
    }

    const HELLO: &str = "{ \"termbridge\" :{\"protocol\":1,\"cwd\":\"/a\",\"env\":{\"A\":\"b\"},\"client\":\"c\\nd\",\"pid\":7}}\n";
    const SOON: Duration = Duration::from_millis(50);
    const REQUEST: &str = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";

    #[tokio::test]
    async fn a_hello_is_found_and_nothing_is_lost_wherever_the_stream_is_cut() {
        for (stream, is_hello) in [
            (format!("{HELLO}{REQUEST}"), true),
            (REQUEST.repeat(2), false),
            (format!("\n{HELLO}"), false),
        ] {
            for cut in 0..stream.len() {
                let (a, b) = stream.as_bytes().split_at(cut);
                let (first, rest) = first_of(vec![a.to_vec(), b.to_vec()]).await;
                match first.expect("read") {
                    First::Hello(hello) => {
                        assert!(is_hello, "cut at {cut}");
                        assert_eq!((hello.label().as_str(), hello.pid), ("cd /a", 7));
                        assert_eq!(rest, REQUEST.as_bytes());
                    }
                    First::Message(begun) => {
                        assert!(!is_hello, "cut at {cut}");
                        assert_eq!([begun, rest].concat(), stream.as_bytes(), "cut at {cut}");
                    }
                }
            }
        }
    }

    #[tokio::test]
    async fn a_bad_hello_is_refused() {
        for line in [
            "{\"termbridge\":{\"protocol\":2}}\n",
            "{\"termbridge\":{}}\n",
            "{\"termbridge\":7}\n",
            "{\"termbridge\" nonsense\n",
        ] {
            assert!(first_of(vec![line.into()]).await.0.is_err(), "{line}");
        }
        let endless = vec![b"{\"termbridge\":{\"client\":\"".to_vec(), vec![b'x'; MAX_HELLO + 10]];
        let error = first_of(endless).await.0.expect_err("too long");
        assert!(error.to_string().contains("longer"), "{error}");
    }

    #[tokio::test]
    async fn silence_is_no_hello_and_half_a_hello_is_an_error() {
        let (ours, mut theirs) = tokio::io::duplex(64);
        let mut reader = BufReader::new(ours);
        assert_eq!(
            read_first(&mut reader, SOON).await.expect("silence"),
            First::Message(Vec::new())
        );
        tokio::io::AsyncWriteExt::write_all(&mut theirs, b"{\"termbridge\":{").await.expect("sent");
        let error = read_first(&mut reader, SOON).await.expect_err("half");
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }
}
