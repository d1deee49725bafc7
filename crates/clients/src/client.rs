//! The clients that are known.

use std::fmt;
use std::str::FromStr;

use crate::json::{JsonFormat, Shape};

/// A program that starts MCP servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "their names say it")]
pub enum Client {
    ClaudeCode,
    ClaudeDesktop,
    Cursor,
    VsCode,
    VsCodeInsiders,
    VsCodium,
    Codex,
    GeminiCli,
    Windsurf,
    Zed,
    OpenCode,
}

/// A name that is no client's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no client {0:?}; there are: {names}", names = Client::ALL.map(Client::id).join(", "))]
pub struct UnknownClient(pub String);

/// How a client writes its configuration.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Format {
    /// JSON, with comments and trailing commas where they are
    Json(JsonFormat),
    /// TOML with a table `mcp_servers`
    Toml,
}

impl Client {
    /// All of them, in the order in which they are listed.
    pub const ALL: [Self; 11] = [
        Self::ClaudeCode,
        Self::ClaudeDesktop,
        Self::Cursor,
        Self::VsCode,
        Self::VsCodeInsiders,
        Self::VsCodium,
        Self::Codex,
        Self::GeminiCli,
        Self::Windsurf,
        Self::Zed,
        Self::OpenCode,
    ];

    /// The name on the command line.
    pub const fn id(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::ClaudeDesktop => "claude-desktop",
            Self::Cursor => "cursor",
            Self::VsCode => "vscode",
            Self::VsCodeInsiders => "vscode-insiders",
            Self::VsCodium => "vscodium",
            Self::Codex => "codex",
            Self::GeminiCli => "gemini",
            Self::Windsurf => "windsurf",
            Self::Zed => "zed",
            Self::OpenCode => "opencode",
        }
    }

    /// Its command, where it is a program of the command line.
    pub(crate) const fn command(self) -> Option<&'static str> {
        match self {
            Self::ClaudeCode => Some("claude"),
            Self::Codex => Some("codex"),
            Self::GeminiCli => Some("gemini"),
            Self::OpenCode => Some("opencode"),
            _ => None,
        }
    }

    /// The name for people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::ClaudeDesktop => "Claude Desktop",
            Self::Cursor => "Cursor",
            Self::VsCode => "VS Code",
            Self::VsCodeInsiders => "VS Code Insiders",
            Self::VsCodium => "VSCodium",
            Self::Codex => "Codex",
            Self::GeminiCli => "Gemini CLI",
            Self::Windsurf => "Windsurf",
            Self::Zed => "Zed",
            Self::OpenCode => "OpenCode",
        }
    }

    /// What makes it notice a change; `None` if it notices by itself.
    pub const fn next_step(self) -> Option<&'static str> {
        match self {
            Self::ClaudeCode | Self::Codex | Self::OpenCode => Some("start a new session"),
            // Elsewhere it leaves out the user's own servers too.
            Self::GeminiCli => {
                Some("start a new session (it uses servers only in folders that it trusts)")
            }
            // Closing the window is not enough.
            Self::ClaudeDesktop => Some("quit and restart it"),
            Self::Cursor | Self::Windsurf => Some("restart it"),
            Self::VsCode | Self::VsCodeInsiders | Self::VsCodium | Self::Zed => None,
        }
    }

    pub(crate) const fn format(self) -> Format {
        let (container, shape) = match self {
            Self::Codex => return Format::Toml,
            Self::ClaudeCode => ("mcpServers", Shape::Stdio),
            Self::ClaudeDesktop | Self::Cursor | Self::GeminiCli | Self::Windsurf => {
                ("mcpServers", Shape::Plain)
            }
            Self::VsCode | Self::VsCodeInsiders | Self::VsCodium => ("servers", Shape::Stdio),
            Self::Zed => ("context_servers", Shape::Plain),
            Self::OpenCode => ("mcp", Shape::OpenCode),
        };
        Format::Json(JsonFormat { container, shape })
    }
}

impl fmt::Display for Client {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for Client {
    type Err = UnknownClient;

    fn from_str(text: &str) -> Result<Self, UnknownClient> {
        let lower = text.to_ascii_lowercase();
        let id = match lower.as_str() {
            "claude" => "claude-code",
            "code" | "vs-code" => "vscode",
            "code-insiders" => "vscode-insiders",
            "codium" => "vscodium",
            "gemini-cli" => "gemini",
            other => other,
        };
        let found = Self::ALL.into_iter().find(|client| client.id() == id);
        found.ok_or_else(|| UnknownClient(text.to_owned()))
    }
}
