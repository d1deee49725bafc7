//! A small MCP client, over a child process's stdio or a shared server's socket: for the commands for people,
//! the demo, the tests and the benchmark.
//!
//! It blocks, has one reader thread, and bounds every wait. It is not a general client: it sends what
//! it is told and hands back what comes.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::Shutdown;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::socket::{BlockingStream, Hello, Welcome};

/// Messages read ahead of whoever waits for them.
const READ_AHEAD: usize = 1024;
/// Longest answer to a hello.
const MAX_WELCOME: u64 = 64 * 1024;
/// Longest wait for an answer.
const ANSWER_LIMIT: Duration = Duration::from_mins(1);
/// Longest wait for the answer to a hello, which takes a server no work.
const WELCOME_LIMIT: Duration = Duration::from_secs(5);

/// As `since` of `get_terminal_output`, or before such a cursor: the lines of a shell's terminal, with prompts and what
/// people type, instead of its commands. For people; agents are not told of it.
pub const TERMINAL_LINES: &str = "terminal:";

/// A running server and the connection to it. Dropping it closes the connection, and ends a server that it started.
#[derive(Debug)]
pub struct Client {
    server: Server,
    /// Who answered; no version where no hello was said.
    welcome: Welcome,
    messages: Receiver<Value>,
    /// Messages that came while another was waited for.
    aside: VecDeque<Value>,
    next_id: u64,
}

/// The other side.
#[derive(Debug)]
enum Server {
    Child { child: Child, stdin: Option<ChildStdin> },
    Socket(BlockingStream),
}

/// Why there was no answer.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// A JSON-RPC error.
    #[error("error {code}: {message}")]
    Rpc {
        /// Its code.
        code: i64,
        /// Its message.
        message: String,
    },
    /// The server closed the connection.
    #[error("the server closed the connection")]
    Closed,
    /// No answer in time.
    #[error("no answer within {} s", ANSWER_LIMIT.as_secs())]
    TimedOut,
    /// The pipe broke.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// A tool's answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// It is an error.
    pub is_error: bool,
    /// The text blocks, joined by newlines.
    pub text: String,
    /// The structured content.
    pub structured: Value,
}

impl Client {
    /// Starts a server.
    pub fn start(command: &mut Command) -> io::Result<Self> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
        let welcome = Welcome { version: String::new(), pid: child.id(), clients: 0, window: 0 };
        Ok(Self::of(Server::Child { child, stdin }, welcome, BufReader::new(stdout)))
    }

    /// Says hello to a shared server on its socket.
    pub fn connect(stream: BlockingStream, hello: &Hello) -> io::Result<Self> {
        let mut reader = BufReader::new(stream.try_clone()?);
        stream.set_read_timeout(Some(WELCOME_LIMIT))?;
        (&stream).write_all(&hello.line())?;
        let mut line = Vec::new();
        (&mut reader).take(MAX_WELCOME).read_until(b'\n', &mut line)?;
        if line.is_empty() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let welcome = Welcome::read(&line)?;
        stream.set_read_timeout(None)?;
        Ok(Self::of(Server::Socket(stream), welcome, reader))
    }

    fn of(server: Server, welcome: Welcome, reader: impl BufRead + Send + 'static) -> Self {
        let (sender, messages) = sync_channel(READ_AHEAD);
        std::thread::spawn(move || {
            for line in reader.lines().map_while(Result::ok) {
                let message = serde_json::from_str(&line).unwrap_or(Value::String(line));
                if sender.send(message).is_err() {
                    break;
                }
            }
        });
        Self { server, welcome, messages, aside: VecDeque::new(), next_id: 1 }
    }

    /// The server's process id.
    pub fn pid(&self) -> u32 {
        self.welcome.pid
    }

    /// Who answered a hello.
    pub fn welcome(&self) -> &Welcome {
        &self.welcome
    }

    /// Shakes hands.
    pub fn initialize(&mut self, version: &str) -> Result<Value, ClientError> {
        let answer = self.request(
            "initialize",
            json!({
                "protocolVersion": version,
                "capabilities": {},
                "clientInfo": {"name": "termbridge-client", "version": env!("CARGO_PKG_VERSION")},
            }),
        )?;
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        Ok(answer)
    }

    /// Calls a tool and waits for its answer.
    pub fn call(&mut self, tool: &str, arguments: Value) -> Result<Answer, ClientError> {
        let result = self.request("tools/call", json!({"name": tool, "arguments": arguments}))?;
        let texts = result["content"].as_array().into_iter().flatten();
        let texts: Vec<&str> = texts.filter_map(|block| block["text"].as_str()).collect();
        Ok(Answer {
            is_error: result["isError"].as_bool().unwrap_or(false),
            text: texts.join("\n"),
            structured: result["structuredContent"].clone(),
        })
    }

    /// Sends a request and waits for its result.
    pub fn request(&mut self, method: &str, params: Value) -> Result<Value, ClientError> {
        let id = self.begin(method, params)?;
        self.finish(id)
    }

    /// Sends a request and returns its id.
    pub fn begin(&mut self, method: &str, params: Value) -> Result<u64, ClientError> {
        let id = self.next_id;
        self.next_id += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        Ok(id)
    }

    /// Waits for the result of a request.
    pub fn finish(&mut self, id: u64) -> Result<Value, ClientError> {
        let mut answer = self.receive(|message| message["id"] == id)?;
        match answer.get("error") {
            Some(error) => Err(ClientError::Rpc {
                code: error["code"].as_i64().unwrap_or_default(),
                message: error["message"].as_str().unwrap_or_default().to_owned(),
            }),
            None => Ok(answer["result"].take()),
        }
    }

    /// Waits for the first message that is `wanted`; others are kept for later.
    pub fn receive(&mut self, wanted: impl Fn(&Value) -> bool) -> Result<Value, ClientError> {
        if let Some(at) = self.aside.iter().position(&wanted) {
            return self.aside.remove(at).ok_or(ClientError::Closed);
        }
        let deadline = Instant::now() + ANSWER_LIMIT;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let message = match self.messages.recv_timeout(left) {
                Ok(message) => message,
                Err(RecvTimeoutError::Timeout) => return Err(ClientError::TimedOut),
                Err(RecvTimeoutError::Disconnected) => return Err(ClientError::Closed),
            };
            if wanted(&message) {
                return Ok(message);
            }
            self.aside.push_back(message);
        }
    }

    /// Sends any message.
    pub fn send(&mut self, message: &Value) -> Result<(), ClientError> {
        self.send_line(&message.to_string())
    }

    /// Sends a line as it is.
    pub fn send_line(&mut self, line: &str) -> Result<(), ClientError> {
        let line = format!("{line}\n");
        match &mut self.server {
            Server::Child { stdin, .. } => {
                let stdin = stdin.as_mut().ok_or(ClientError::Closed)?;
                stdin.write_all(line.as_bytes())?;
                Ok(stdin.flush()?)
            }
            Server::Socket(stream) => Ok(stream.write_all(line.as_bytes())?),
        }
    }

    /// Closes the connection and waits for the server to end; one that was not started by this client does not.
    pub fn close(mut self) -> io::Result<ExitStatus> {
        match &mut self.server {
            Server::Child { child, stdin } => {
                *stdin = None;
                child.wait()
            }
            Server::Socket(_) => Err(io::ErrorKind::Unsupported.into()),
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let (child, stdin) = match &mut self.server {
            Server::Child { child, stdin } => (child, stdin),
            Server::Socket(stream) => {
                // The reader thread has a descriptor of its own.
                let _ = stream.shutdown(Shutdown::Both);
                return;
            }
        };
        *stdin = None;
        // The server ends by itself when its input closes; a hung one must not hang us.
        for _ in 0..500 {
            if matches!(child.try_wait(), Ok(Some(_)) | Err(_)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        let _ = child.kill();
        let _ = child.wait();
    }
}
