//! Arguments of the command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use crate::duration::parse_duration;

/// Real terminals and the TUI programs in them, for AI agents, over MCP.
#[derive(Debug, Parser)]
#[command(name = "termbridge", version, after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXAMPLES: &str = "\
Examples:
  termbridge demo                         see it drive a real program, in your terminal
  claude mcp add termbridge -- termbridge mcp   give it to Claude Code
  termbridge mcp --max-sessions 20        serve MCP over stdio, with a limit
  termbridge completions zsh > _termbridge";

#[derive(Debug, Subcommand)]
#[allow(clippy::large_enum_variant, reason = "made once")]
pub(crate) enum Command {
    /// Serve MCP over stdio, as an agent starts it
    #[command(after_help = MCP_EXAMPLES)]
    Mcp(McpArguments),
    /// Watch an agent's view: drives a real program through MCP, live in this terminal
    Demo(DemoArguments),
    /// Print shell completions
    Completions {
        /// The shell
        shell: Shell,
    },
}

const MCP_EXAMPLES: &str = "\
Settings come from the configuration file, then the environment, then flags, each stronger than the
one before. The file is $XDG_CONFIG_HOME/termbridge/config.toml (~/.config/termbridge/config.toml):

  max_sessions = 20
  session_timeout = \"1h\"
  log_level = \"debug\"

Examples:
  termbridge mcp --session-timeout 2h --scrollback-lines 50000
  LOG_LEVEL=debug termbridge mcp --log-format json --log-file /tmp/termbridge.log";

#[derive(Debug, Args)]
pub(crate) struct McpArguments {
    /// Configuration file
    #[arg(long, env = "TERMBRIDGE_CONFIG", value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Toolsets to offer, separated by commas [default: terminal]
    #[arg(long, env = "TERMBRIDGE_TOOLSETS", value_name = "NAMES", value_delimiter = ',')]
    pub(crate) toolsets: Option<Vec<String>>,
    /// Port of the shared server; not used over stdio [default: 8080]
    #[arg(long, env = "MCP_PORT", value_name = "PORT")]
    pub(crate) port: Option<u16>,
    /// Programs that may run at once [default: 100]
    #[arg(long, env = "TERMBRIDGE_MAX_SESSIONS", value_name = "N")]
    pub(crate) max_sessions: Option<usize>,
    /// End a session that nobody used and that only waits for input; 0 = never [default: 30m]
    #[arg(long, env = "TERMBRIDGE_SESSION_TIMEOUT", value_name = "TIME", value_parser = parse_duration)]
    pub(crate) session_timeout: Option<Duration>,
    /// Keep a finished session's last screen this long [default: 5m]
    #[arg(long, env = "TERMBRIDGE_KEEP_FINISHED", value_name = "TIME", value_parser = parse_duration)]
    pub(crate) keep_finished: Option<Duration>,
    /// Lines of scrollback per session [default: 10000]
    #[arg(long, env = "TERMBRIDGE_SCROLLBACK_LINES", value_name = "N")]
    pub(crate) scrollback_lines: Option<usize>,
    /// Megabytes of scrollback of all sessions together [default: 256]
    #[arg(long, env = "TERMBRIDGE_SCROLLBACK_MEMORY_MB", value_name = "MB")]
    pub(crate) scrollback_memory_mb: Option<usize>,
    /// Bytes asked of a terminal per read [default: 4096]
    #[arg(long, env = "TERMBRIDGE_BUFFER_SIZE", value_name = "BYTES")]
    pub(crate) buffer_size: Option<usize>,
    /// Shell for agents' commands [default: $SHELL if it is bash, zsh, fish, dash or sh; else bash]
    #[arg(long, env = "TERMBRIDGE_SHELL", value_name = "SHELL")]
    pub(crate) shell: Option<String>,
    /// Keep no history of commands
    #[arg(long, env = "TERMBRIDGE_NO_HISTORY")]
    pub(crate) no_history: bool,
    /// Do not offer the editor's connection (accepted; there is none yet)
    #[arg(long)]
    pub(crate) no_editor: bool,
    #[command(flatten)]
    pub(crate) log: LogArguments,
}

#[derive(Debug, Args)]
pub(crate) struct LogArguments {
    /// What to log: error, warn, info, debug, trace, or a filter such as `rmcp=debug` [default: info]
    #[arg(long, env = "LOG_LEVEL", value_name = "LEVEL")]
    pub(crate) log_level: Option<String>,
    /// How to log [default: text]
    #[arg(long, env = "TERMBRIDGE_LOG_FORMAT", value_name = "FORMAT")]
    pub(crate) log_format: Option<LogFormat>,
    /// Log to this file instead of stderr
    #[arg(long, env = "TERMBRIDGE_LOG_FILE", value_name = "FILE")]
    pub(crate) log_file: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LogFormat {
    /// Lines for people
    Text,
    /// One JSON object a line
    Json,
}

#[derive(Debug, Args)]
pub(crate) struct DemoArguments {
    /// Do not pause between the steps
    #[arg(long)]
    pub(crate) fast: bool,
}
