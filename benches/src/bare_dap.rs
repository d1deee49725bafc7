//! A debug adapter with nothing of ours between: a scripted exchange over its pipes or its socket.
//!
//! It knows just enough to start a program, stop at a breakpoint, step and ask what a client needs to
//! show a stop.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use termbridge_dap::framing::{Decoder, encode};

/// How an adapter is started and what it is asked to launch.
#[derive(Debug, Clone)]
pub struct Script {
    /// The adapter's command line.
    pub command: Vec<String>,
    /// It is a server that says where it listens.
    pub listens: bool,
    /// The arguments of `launch`.
    pub launch: Value,
    /// The source and the line of the breakpoint.
    pub breakpoint: (String, u64),
}

/// A connection to an adapter.
struct Link {
    reader: Box<dyn Read>,
    writer: Box<dyn Write>,
    decoder: Decoder,
    seq: u64,
    /// Messages that came while another was waited for.
    aside: VecDeque<Value>,
}

/// A program at a breakpoint, under a bare adapter. Dropping it ends both.
pub struct BareDap {
    child: Child,
    /// The connection of the program; a child's behind it its parent's.
    links: Vec<Link>,
    thread: Value,
}

impl Drop for BareDap {
    fn drop(&mut self) {
        for link in &mut self.links {
            let _ = link.send("disconnect", json!({"terminateDebuggee": true}));
        }
        let _ = self.links.first_mut().map(|link| link.event("terminated"));
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl BareDap {
    /// Starts the adapter and the program, and waits for the breakpoint.
    pub fn start(script: &Script) -> Result<Self> {
        let [program, arguments @ ..] = script.command.as_slice() else { bail!("no command") };
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().with_context(|| format!("{program} does not start"))?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let (stdin, stdout) = (stdin.context("no pipe")?, stdout.context("no pipe")?);
        let mut address = None;
        let link = if script.listens {
            let mut output = BufReader::new(stdout);
            let mut line = String::new();
            output.read_line(&mut line)?;
            let place = line.trim().rsplit(' ').next().unwrap_or_default().to_owned();
            std::thread::spawn(move || std::io::copy(&mut output, &mut std::io::sink()));
            // It ends with its input.
            std::mem::forget(stdin);
            address = Some(place.clone());
            Link::connect(&place)?
        } else {
            Link::new(Box::new(stdout), Box::new(stdin))
        };
        let mut dap = Self { child, links: vec![link], thread: Value::Null };
        dap.launch(&script.launch, script)?;
        // js-debug debugs the program over a second connection, which it asks for.
        if let (Some(address), "pwa-node") =
            (address, script.launch["type"].as_str().unwrap_or_default())
        {
            let asked = dap.top().receive(|message| message["command"] == "startDebugging")?;
            dap.links.push(Link::connect(&address)?);
            dap.launch(&asked["arguments"]["configuration"], script)?;
        }
        let stopped = dap.top().event("stopped")?;
        dap.thread = stopped["body"]["threadId"].clone();
        dap.look()?;
        Ok(dap)
    }

    fn top(&mut self) -> &mut Link {
        self.links.last_mut().expect("there is one from the start")
    }

    fn launch(&mut self, arguments: &Value, script: &Script) -> Result<()> {
        let (path, line) = script.breakpoint.clone();
        let link = self.top();
        link.request(
            "initialize",
            json!({"adapterID": "bench", "linesStartAt1": true, "columnsStartAt1": true,
                   "pathFormat": "path", "supportsStartDebuggingRequest": true}),
        )?;
        let launched = link.send("launch", arguments.clone())?;
        link.event("initialized")?;
        let source = json!({"path": path});
        link.request(
            "setBreakpoints",
            json!({"source": source, "breakpoints": [{"line": line}], "lines": [line]}),
        )?;
        link.request("setExceptionBreakpoints", json!({"filters": []}))?;
        link.request("configurationDone", json!({}))?;
        link.answer(launched)?;
        Ok(())
    }

    /// Steps over a line and waits for the stop; nothing else.
    pub fn step(&mut self) -> Result<()> {
        let thread = self.thread.clone();
        self.top().request("next", json!({"threadId": thread}))?;
        self.top().event("stopped")?;
        Ok(())
    }

    /// What a client needs to show a stop: threads, stack, scopes, locals.
    pub fn look(&mut self) -> Result<()> {
        let thread = self.thread.clone();
        let link = self.top();
        link.request("threads", json!({}))?;
        let stack = link.request("stackTrace", json!({"threadId": thread, "levels": 20}))?;
        let frame = stack["body"]["stackFrames"][0]["id"].clone();
        let scopes = link.request("scopes", json!({"frameId": frame}))?;
        let reference = scopes["body"]["scopes"][0]["variablesReference"].clone();
        link.request("variables", json!({"variablesReference": reference}))?;
        Ok(())
    }
}

impl Link {
    fn new(reader: Box<dyn Read>, writer: Box<dyn Write>) -> Self {
        Self { reader, writer, decoder: Decoder::default(), seq: 0, aside: VecDeque::new() }
    }

    fn connect(address: &str) -> Result<Self> {
        let stream =
            TcpStream::connect(address).with_context(|| format!("no server at {address}"))?;
        stream.set_nodelay(true)?;
        Ok(Self::new(Box::new(stream.try_clone()?), Box::new(stream)))
    }

    fn send(&mut self, command: &str, arguments: Value) -> Result<u64> {
        self.seq += 1;
        let request =
            json!({"seq": self.seq, "type": "request", "command": command, "arguments": arguments});
        self.writer.write_all(&encode(&request.to_string()))?;
        self.writer.flush()?;
        Ok(self.seq)
    }

    fn request(&mut self, command: &str, arguments: Value) -> Result<Value> {
        let seq = self.send(command, arguments)?;
        self.answer(seq)
    }

    fn answer(&mut self, seq: u64) -> Result<Value> {
        let answer =
            self.receive(|message| message["type"] == "response" && message["request_seq"] == seq)?;
        anyhow::ensure!(answer["success"] == true, "the adapter refused: {answer}");
        Ok(answer)
    }

    fn event(&mut self, name: &str) -> Result<Value> {
        self.receive(|message| message["type"] == "event" && message["event"] == name)
    }

    /// The first message that is wanted; others are kept, requests are granted.
    fn receive(&mut self, wanted: impl Fn(&Value) -> bool) -> Result<Value> {
        if let Some(at) = self.aside.iter().position(&wanted) {
            return self.aside.remove(at).context("it is there");
        }
        let mut buffer = [0; 16 * 1024];
        loop {
            while let Some(message) = self.decoder.next_message()? {
                let message: Value = serde_json::from_slice(message)?;
                if message["type"] == "request" {
                    self.seq += 1;
                    let granted = json!({
                        "seq": self.seq, "type": "response", "request_seq": message["seq"],
                        "command": message["command"], "success": true, "body": {},
                    });
                    self.writer.write_all(&encode(&granted.to_string()))?;
                }
                if wanted(&message) {
                    return Ok(message);
                }
                self.aside.push_back(message);
            }
            let count = self.reader.read(&mut buffer)?;
            anyhow::ensure!(count > 0, "the adapter has closed the connection");
            self.decoder.feed(&buffer[..count]);
        }
    }
}
