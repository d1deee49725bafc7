//! A client's side of the hello: it says who it is and hears who answers.

use std::io;
use std::time::Duration;

use serde::Deserialize;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};

use super::hello::{Greeting, Hello, MAX_HELLO, PROTOCOL};
use super::local::{LocalReader, LocalStream, LocalWriter};

/// How long a server may take to answer a hello.
const WELCOME_LIMIT: Duration = Duration::from_secs(10);
/// Longest answer to a hello.
const MAX_WELCOME: u64 = 64 * 1024;

/// The server that answered.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Welcome {
    /// Its version.
    pub version: String,
    /// Its process.
    pub pid: u32,
    /// The clients that it has besides.
    #[serde(default)]
    pub clients: u64,
    /// Which one of several of its name and folder the client is.
    #[serde(default)]
    pub window: u32,
}

/// An answer to a hello.
#[derive(Deserialize)]
#[serde(untagged)]
enum Answered {
    Refused { error: String },
    Welcome(Welcome),
}

impl Hello {
    /// The hello of a client that is there for the first time, or of one that never comes again.
    pub fn new() -> Self {
        Self { protocol: PROTOCOL, ..Self::default() }
    }

    /// The line that begins a connection. An environment that no server would read is left out.
    pub(crate) fn line(&self) -> Vec<u8> {
        let encode = |hello: &Self| {
            // Texts and numbers; a path that is no text is the exception.
            let mut line = serde_json::to_vec(&Greeting { termbridge: hello }).unwrap_or_default();
            line.push(b'\n');
            line
        };
        let line = encode(self);
        if line.len() <= MAX_HELLO {
            return line;
        }
        tracing::warn!("the environment is too large to be passed on");
        encode(&Self { env: std::collections::BTreeMap::new(), ..self.clone() })
    }
}

impl Welcome {
    /// Reads the server's line. An error of kind `InvalidData` is a server that will never answer otherwise.
    pub(crate) fn read(line: &[u8]) -> io::Result<Self> {
        let strange = |why: String| io::Error::new(io::ErrorKind::InvalidData, why);
        match serde_json::from_slice::<Greeting<Answered>>(line) {
            Ok(Greeting { termbridge: Answered::Welcome(welcome) }) => Ok(welcome),
            Ok(Greeting { termbridge: Answered::Refused { error } }) => {
                Err(strange(format!("the server refused: {error}")))
            }
            Err(error) => Err(strange(format!("the server's greeting is not understood: {error}"))),
        }
    }
}

/// Says hello on a new connection. An error of kind `InvalidData` is a server that will never answer otherwise.
pub async fn greet(
    stream: LocalStream,
    hello: &Hello,
) -> io::Result<(BufReader<LocalReader>, LocalWriter, Welcome)> {
    let (reader, mut writer) = stream.into_split();
    let mut reader = BufReader::new(reader);
    let mut line = Vec::new();
    let exchange = async {
        writer.write_all(&hello.line()).await?;
        (&mut reader).take(MAX_WELCOME).read_until(b'\n', &mut line).await
    };
    match tokio::time::timeout(WELCOME_LIMIT, exchange).await {
        Ok(read) => read?,
        Err(_) => return Err(io::Error::new(io::ErrorKind::TimedOut, "the server is silent")),
    };
    if !line.ends_with(b"\n") {
        return Err(io::Error::new(
            io::ErrorKind::UnexpectedEof,
            "the server closed the connection",
        ));
    }
    let welcome = Welcome::read(&line)?;
    Ok((reader, writer, welcome))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_welcome_is_told_from_a_refusal_and_from_nonsense() {
        let line = br#"{"termbridge":{"protocol":1,"version":"0.9.0","pid":77}}"#;
        let welcome = Welcome::read(line).expect("a welcome");
        assert_eq!((welcome.version.as_str(), welcome.pid), ("0.9.0", 77));
        for (line, expected) in [
            (r#"{"termbridge":{"error":"hello of protocol 2"}}"#, "refused: hello of protocol 2"),
            (r#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"?"}}"#, "not understood"),
            ("", "not understood"),
        ] {
            let error = Welcome::read(line.as_bytes()).expect_err("no welcome");
            assert_eq!(error.kind(), io::ErrorKind::InvalidData);
            assert!(error.to_string().contains(expected), "{error}");
        }
    }

    #[test]
    fn an_environment_that_is_too_large_is_left_out() {
        let mut hello = Hello { client: "c".into(), ..Hello::new() };
        hello.env.insert("BIG".into(), "x".repeat(MAX_HELLO));
        let line = hello.line();
        assert!(line.len() < 1000 && line.ends_with(b"}}\n"), "{} bytes", line.len());
    }
}
