//! A client that blocks, on each of the ways to a server: nothing in it takes time but the server's.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::{self, Message, WebSocket, client::IntoClientRequest};

/// The version with sessions, and the one whose requests stand alone.
const WITH_SESSIONS: &str = "2025-11-25";
const STATELESS: &str = "2026-07-28";

/// A connected client.
pub(crate) struct Peer {
    wire: Wire,
    next_id: u64,
}

enum Wire {
    Http(Http),
    WebSocket(Box<WebSocket<TcpStream>>),
    Lines {
        reader: Box<dyn BufRead + Send>,
        writer: Option<Box<dyn Write + Send>>,
        child: Option<Child>,
    },
}

struct Http {
    stream: BufReader<TcpStream>,
    address: SocketAddr,
    token: String,
    /// None where requests stand alone.
    session: Option<String>,
}

impl Peer {
    /// HTTP with requests that stand alone.
    pub(crate) fn stateless(address: SocketAddr, token: &str) -> Result<Self> {
        Ok(Self::new(Wire::Http(Http::connect(address, token)?)))
    }

    /// HTTP with a session.
    pub(crate) fn with_session(address: SocketAddr, token: &str) -> Result<Self> {
        let mut http = Http::connect(address, token)?;
        http.session = Some(String::new());
        let mut peer = Self::new(Wire::Http(http));
        peer.initialize()?;
        Ok(peer)
    }

    /// WebSocket.
    pub(crate) fn web_socket(address: SocketAddr, token: &str) -> Result<Self> {
        let mut request = format!("ws://{address}/ws").into_client_request()?;
        let headers = request.headers_mut();
        headers.insert("Authorization", format!("Bearer {token}").parse()?);
        headers.insert("Sec-WebSocket-Protocol", "mcp".parse()?);
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        let (socket, _) = tungstenite::client::client(request, stream)
            .map_err(|error| anyhow::anyhow!("{error}"))?;
        let mut peer = Self::new(Wire::WebSocket(socket.into()));
        peer.initialize()?;
        Ok(peer)
    }

    /// A unix socket with lines.
    pub(crate) fn socket(path: &Path) -> Result<Self> {
        let stream = UnixStream::connect(path)?;
        let reader = Box::new(BufReader::new(stream.try_clone()?));
        let mut peer =
            Self::new(Wire::Lines { reader, writer: Some(Box::new(stream)), child: None });
        peer.initialize()?;
        Ok(peer)
    }

    /// A process's standard input and output with lines; it ends with this.
    pub(crate) fn process(command: &mut Command) -> Result<Self> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let reader = Box::new(BufReader::new(child.stdout.take().context("no output")?));
        let writer = child.stdin.take().context("no input")?;
        let mut peer =
            Self::new(Wire::Lines { reader, writer: Some(Box::new(writer)), child: Some(child) });
        peer.initialize()?;
        Ok(peer)
    }

    fn new(wire: Wire) -> Self {
        Self { wire, next_id: 1 }
    }

    /// The process that was started for it.
    pub(crate) fn pid(&self) -> Option<u32> {
        match &self.wire {
            Wire::Lines { child: Some(child), .. } => Some(child.id()),
            _ => None,
        }
    }

    /// Calls a tool; its result.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Result<Value> {
        let mut params = json!({"name": tool, "arguments": arguments});
        if matches!(&self.wire, Wire::Http(http) if http.session.is_none()) {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": STATELESS,
                "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": {},
            });
        }
        let result = self.request("tools/call", tool, params)?;
        ensure!(result["isError"] != true, "{tool}: {result}");
        Ok(result)
    }

    fn initialize(&mut self) -> Result<()> {
        let params = json!({
            "protocolVersion": WITH_SESSIONS, "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"},
        });
        self.request("initialize", "", params)?;
        let initialized =
            json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string();
        match &mut self.wire {
            Wire::Http(http) => http.post("notifications/initialized", "", &initialized).map(drop),
            wire => wire.send(initialized),
        }
    }

    fn request(&mut self, method: &str, name: &str, params: Value) -> Result<Value> {
        let id = self.next_id;
        self.next_id += 1;
        let message =
            json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string();
        let mut answer = match &mut self.wire {
            Wire::Http(http) => json_of(&http.post(method, name, &message)?, id)?,
            wire => {
                wire.send(message)?;
                wire.receive(id)?
            }
        };
        match answer.get_mut("result") {
            Some(result) => Ok(result.take()),
            None => bail!("{method}: {answer}"),
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        if let Wire::Lines { writer, child: Some(child), .. } = &mut self.wire {
            // Its input ends, and it with it.
            *writer = None;
            let _ = child.wait();
        }
    }
}

impl Wire {
    fn send(&mut self, message: String) -> Result<()> {
        match self {
            Self::WebSocket(socket) => Ok(socket.send(Message::text(message))?),
            Self::Lines { writer: Some(writer), .. } => {
                Ok(writer.write_all(format!("{message}\n").as_bytes())?)
            }
            _ => bail!("no way to send"),
        }
    }

    fn receive(&mut self, id: u64) -> Result<Value> {
        loop {
            let value: Value = match self {
                Self::WebSocket(socket) => match socket.read()? {
                    Message::Text(text) => serde_json::from_str(&text)?,
                    _ => continue,
                },
                Self::Lines { reader, .. } => {
                    let mut line = String::new();
                    ensure!(reader.read_line(&mut line)? > 0, "the server closed the connection");
                    serde_json::from_str(&line)?
                }
                Self::Http(_) => bail!("answers come with their requests"),
            };
            if value["id"] == id {
                return Ok(value);
            }
        }
    }
}

impl Http {
    fn connect(address: SocketAddr, token: &str) -> io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        Ok(Self { stream: BufReader::new(stream), address, token: token.to_owned(), session: None })
    }

    /// Posts a message; the body of the answer.
    fn post(&mut self, method: &str, name: &str, message: &str) -> Result<Vec<u8>> {
        let mut request = format!(
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\
             Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\nContent-Length: {}\r\n",
            self.address,
            self.token,
            message.len()
        );
        match self.session.as_deref() {
            None => request.push_str(&format!(
                "MCP-Protocol-Version: {STATELESS}\r\nMcp-Method: {method}\r\nMcp-Name: {name}\r\n"
            )),
            Some("") => {}
            Some(session) => request.push_str(&format!(
                "MCP-Protocol-Version: {WITH_SESSIONS}\r\nMcp-Session-Id: {session}\r\n"
            )),
        }
        request.push_str("\r\n");
        request.push_str(message);
        self.stream.get_mut().write_all(request.as_bytes())?;
        let mut status = String::new();
        self.stream.read_line(&mut status)?;
        let (mut length, mut is_chunked) = (0, false);
        loop {
            let mut header = String::new();
            self.stream.read_line(&mut header)?;
            let Some((name, value)) = header.trim_end().split_once(": ") else { break };
            match name.to_ascii_lowercase().as_str() {
                "content-length" => length = value.parse()?,
                "transfer-encoding" => is_chunked = value == "chunked",
                "mcp-session-id" if self.session.is_some() => self.session = Some(value.to_owned()),
                _ => {}
            }
        }
        let mut body = Vec::new();
        while is_chunked {
            let mut size = String::new();
            self.stream.read_line(&mut size)?;
            let size = usize::from_str_radix(size.trim_end(), 16)?;
            self.take(size + 2, &mut body)?;
            body.truncate(body.len() - 2);
            is_chunked = size > 0;
        }
        self.take(length, &mut body)?;
        let text = String::from_utf8_lossy(&body);
        ensure!(status.contains(" 200 ") || status.contains(" 202 "), "{status}{text}");
        Ok(body)
    }

    fn take(&mut self, count: usize, body: &mut Vec<u8>) -> io::Result<()> {
        let begun = body.len();
        body.resize(begun + count, 0);
        self.stream.read_exact(&mut body[begun..])
    }
}

/// The answer in a body: all of it, or an event's data.
fn json_of(body: &[u8], id: u64) -> Result<Value> {
    let text = std::str::from_utf8(body)?;
    if text.starts_with('{') {
        return Ok(serde_json::from_str(text)?);
    }
    let events = text.lines().filter_map(|line| line.strip_prefix("data:"));
    let mut answers = events.filter_map(|data| serde_json::from_str::<Value>(data.trim()).ok());
    answers.find(|answer| answer["id"] == id).with_context(|| format!("no answer in {text:?}"))
}
