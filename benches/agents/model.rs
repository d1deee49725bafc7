//! The model's end of a connection: what it calls, what it writes and what its client lets it read.

use anyhow::{Context, Result, ensure};
use regex::Regex;
use serde_json::{Value, json};
use termbridge_mcp::client::Client;

/// What a client gives its model of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shown {
    /// Structured content as JSON where there is some and it is no error, else the text: Claude Code, VS Code.
    Structured,
    /// All text blocks: Cursor, claude.ai, `ChatGPT`.
    Text,
    /// The first text block.
    First,
}

/// All of them, in the order of [`Tally::read`].
pub(crate) const SHOWN: [Shown; 3] = [Shown::Structured, Shown::Text, Shown::First];

impl Shown {
    /// How such a client calls itself.
    fn client(self) -> &'static str {
        match self {
            Self::Structured => "claude-code",
            Self::Text | Self::First => "agents-bench",
        }
    }

    /// What the model reads of a result.
    fn of(self, result: &Value) -> String {
        let is_error = result["isError"].as_bool().unwrap_or(false);
        let structured = &result["structuredContent"];
        if self == Self::Structured && !is_error && !structured.is_null() {
            return structured.to_string();
        }
        let blocks = result["content"].as_array().into_iter().flatten();
        let mut texts = blocks.filter_map(|block| block["text"].as_str());
        match self {
            Self::First => texts.next().unwrap_or_default().to_owned(),
            _ => texts.collect::<Vec<_>>().join("\n"),
        }
    }
}

/// What a script cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) calls: usize,
    /// Bytes of tool names and arguments.
    pub(crate) written: usize,
    /// Bytes read, for each of [`SHOWN`].
    pub(crate) read: [usize; 3],
    /// Pictures, which no byte count has.
    pub(crate) images: usize,
}

/// What a server costs before the first call.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Listing {
    pub(crate) tools: usize,
    /// Bytes of names, descriptions and input schemas.
    pub(crate) bytes: usize,
    /// Bytes of the server's instructions.
    pub(crate) instructions: usize,
}

/// A model at work with one server.
#[derive(Debug)]
pub(crate) struct Model {
    client: Client,
    shown: Shown,
    trace: bool,
    /// Where the task is, as the user has named it.
    pub(crate) folder: String,
    pub(crate) listing: Listing,
    pub(crate) tally: Tally,
    /// All that it has read.
    pub(crate) read: String,
}

/// What came back from a call, as the model reads it.
#[derive(Debug)]
pub(crate) struct Seen {
    call: String,
    text: String,
}

impl Model {
    pub(crate) fn new(
        mut client: Client,
        shown: Shown,
        folder: String,
        trace: bool,
    ) -> Result<Self> {
        let hello = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": shown.client(), "version": "1"},
        });
        let server = client.request("initialize", hello)?;
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        let list = client.request("tools/list", json!({}))?;
        let tools = list["tools"].as_array().context("no list of tools")?;
        let bytes = |tool: &Value| {
            let (name, description) = (&tool["name"], &tool["description"]);
            json!({"name": name, "description": description, "inputSchema": tool["inputSchema"]})
                .to_string()
                .len()
        };
        let listing = Listing {
            tools: tools.len(),
            bytes: tools.iter().map(bytes).sum(),
            instructions: server["instructions"].as_str().unwrap_or_default().len(),
        };
        let (tally, read) = (Tally::default(), String::new());
        Ok(Self { client, shown, trace, folder, listing, tally, read })
    }

    /// Calls a tool and counts.
    #[allow(clippy::print_stderr, reason = "the trace is asked for")]
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Result<Seen> {
        let call = format!("{tool} {arguments}");
        self.tally.calls += 1;
        self.tally.written += call.len() - 1;
        let parameters = json!({"name": tool, "arguments": arguments});
        let result = self.client.request("tools/call", parameters).with_context(|| call.clone())?;
        for (read, shown) in self.tally.read.iter_mut().zip(SHOWN) {
            *read += shown.of(&result).len();
        }
        let blocks = result["content"].as_array().into_iter().flatten();
        self.tally.images += blocks.filter(|block| block["type"] == "image").count();
        let text = self.shown.of(&result);
        if self.trace {
            eprintln!("> {call}\n{text}\n");
        }
        self.read.push_str(&text);
        self.read.push('\n');
        Ok(Seen { call, text })
    }
}

impl Seen {
    /// The model goes on only if it reads this, a regular expression.
    pub(crate) fn expect(&self, pattern: &str) -> Result<()> {
        let is_there = Regex::new(pattern)?.is_match(&self.text);
        ensure!(is_there, "{}: no {pattern:?} in what came: {}", self.call, self.text);
        Ok(())
    }

    /// The first group of a regular expression: an id, say.
    pub(crate) fn value(&self, pattern: &str) -> Result<String> {
        self.expect(pattern)?;
        let found = Regex::new(pattern)?.captures(&self.text);
        Ok(found.and_then(|found| Some(found.get(1)?.as_str().to_owned())).unwrap_or_default())
    }
}
