//! Arguments of the command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use termbridge_bridge::BackendChoice;

use crate::duration::parse_duration;

/// Real terminals, shell commands and TUI programs for AI agents, over MCP.
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
  termbridge history cargo test           what agents ran, with these words
  termbridge policy test 'rm -rf /'       what the policy says to a command
  termbridge completions zsh > _termbridge";

#[derive(Debug, Subcommand)]
#[allow(clippy::large_enum_variant, reason = "made once")]
pub(crate) enum Command {
    /// Serve MCP over stdio, as an agent starts it
    #[command(after_help = MCP_EXAMPLES)]
    Mcp(McpArguments),
    /// Watch an agent's view: drives a real program through MCP, live in this terminal
    Demo(DemoArguments),
    /// Search what agents ran, or count it
    #[command(after_help = HISTORY_EXAMPLES)]
    History(HistoryArguments),
    /// Ask the policy what it would say
    #[command(after_help = POLICY_EXAMPLES)]
    Policy(PolicyArguments),
    /// Print the tools' definitions, also for agents that do not speak MCP
    #[command(after_help = TOOLS_EXAMPLES)]
    Tools(ToolsArguments),
    /// Debug from the command line, with the tools that agents have
    #[command(after_help = DEBUG_EXAMPLES)]
    Debug(DebugArguments),
    /// Say what is there, what is missing, and the command that mends it
    #[command(after_help = DOCTOR_EXAMPLES)]
    Doctor(DoctorArguments),
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
  [commands]
  shell = \"zsh\"
  [history]
  max_age = \"90d\"
  [policy]
  deny = [\"git push --force\"]
  [debug]
  backend = \"native\"

Examples:
  termbridge mcp --session-timeout 2h --scrollback-lines 50000
  LOG_LEVEL=debug termbridge mcp --log-format json --log-file /tmp/termbridge.log";

#[derive(Debug, Default, Args)]
pub(crate) struct McpArguments {
    /// Configuration file
    #[arg(long, env = "TERMBRIDGE_CONFIG", value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) chosen: ChosenTools,
    #[command(flatten)]
    pub(crate) debugging: DebuggingArguments,
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
    /// Megabytes of commands' output kept in memory, of all sessions together [default: 64]
    #[arg(long, env = "TERMBRIDGE_OUTPUT_MEMORY_MB", value_name = "MB")]
    pub(crate) output_memory_mb: Option<usize>,
    /// Megabytes of commands' output kept in temporary files, of all sessions together [default: 1024]
    #[arg(long, env = "TERMBRIDGE_OUTPUT_DISK_MB", value_name = "MB")]
    pub(crate) output_disk_mb: Option<usize>,
    /// Bytes asked of a terminal per read [default: 4096]
    #[arg(long, env = "TERMBRIDGE_BUFFER_SIZE", value_name = "BYTES")]
    pub(crate) buffer_size: Option<usize>,
    /// Shell for agents' commands [default: $SHELL if it is bash, zsh, fish, dash or sh; else bash]
    #[arg(long, env = "TERMBRIDGE_SHELL", value_name = "SHELL")]
    pub(crate) shell: Option<String>,
    /// Keep no history of commands, and no output of debugged programs on disk
    #[arg(long, env = "TERMBRIDGE_NO_HISTORY")]
    pub(crate) no_history: bool,
    /// Do not offer the editor's connection (accepted; there is none yet)
    #[arg(long)]
    pub(crate) no_editor: bool,
    #[command(flatten)]
    pub(crate) log: LogArguments,
}

/// Where and how programs are debugged.
#[derive(Debug, Default, Args)]
pub(crate) struct DebuggingArguments {
    /// Folder that is worked in: relative paths of debugging tools, launch.json, editor [default: here]
    #[arg(long, env = "TERMBRIDGE_WORKSPACE", value_name = "FOLDER")]
    pub(crate) workspace: Option<PathBuf>,
    /// Who debugs: auto (an editor that is open for the workspace, else native), native, editor
    /// [default: auto]
    #[arg(long, env = "TERMBRIDGE_DEBUG_BACKEND", value_name = "BACKEND")]
    pub(crate) debug_backend: Option<BackendChoice>,
    /// Offer tools that the workspace's own metadata describes (src/vsc-scripts/**/*.meta.yaml), also
    /// while no editor is open for it
    #[arg(long, env = "TERMBRIDGE_WORKSPACE_TOOLS")]
    pub(crate) workspace_tools: bool,
    /// Time of every debugging tool, where the call does not say [default: the tool's own]
    #[arg(long, env = "TERMBRIDGE_TIMEOUT", value_name = "TIME", value_parser = parse_duration)]
    pub(crate) timeout: Option<Duration>,
}

#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ChosenTools {
    /// Toolsets to offer, separated by commas: terminal, debug, compat [default: terminal,debug]
    #[arg(long, env = "TERMBRIDGE_TOOLSETS", value_name = "NAMES", value_delimiter = ',')]
    pub(crate) toolsets: Option<Vec<String>>,
    /// Tools to offer: only these, or, with --toolsets, these too
    #[arg(long, env = "TERMBRIDGE_TOOLS", value_name = "NAMES", value_delimiter = ',')]
    pub(crate) tools: Option<Vec<String>>,
    /// Tools to leave out
    #[arg(long, env = "TERMBRIDGE_EXCLUDE_TOOLS", value_name = "NAMES", value_delimiter = ',')]
    pub(crate) exclude_tools: Option<Vec<String>>,
}

#[derive(Debug, Default, Args)]
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

const HISTORY_EXAMPLES: &str = "\
Examples:
  termbridge history                      the newest commands
  termbridge history cargo test           those with these words, in the command or its output
  termbridge history --failed --since 2d  what failed in the last two days
  termbridge history show 6acc483y7z35-4  one command with its output
  termbridge history stats                most run, slowest, most often failing, by project and agent
  termbridge history -- stats             commands with the word `stats`";

#[derive(Debug, Args)]
pub(crate) struct HistoryArguments {
    #[command(subcommand)]
    pub(crate) action: Option<HistoryAction>,
    /// Words that must all occur; the last may be the beginning of a word
    pub(crate) words: Vec<String>,
    /// Look only in the command lines
    #[arg(long, conflicts_with = "output")]
    pub(crate) commands: bool,
    /// Look only in the output
    #[arg(long)]
    pub(crate) output: bool,
    /// Only what failed
    #[arg(long)]
    pub(crate) failed: bool,
    /// Only with this exit code
    #[arg(long, value_name = "CODE")]
    pub(crate) exit_code: Option<i32>,
    /// Only of this project (its folder)
    #[arg(long, value_name = "PROJECT", global = true)]
    pub(crate) project: Option<String>,
    /// Only of this agent
    #[arg(long, value_name = "AGENT", global = true)]
    pub(crate) agent: Option<String>,
    /// Only of this session
    #[arg(long, value_name = "SESSION")]
    pub(crate) session: Option<String>,
    /// Only since then: 2h, 7d, 2026-01-31, 2026-01-31T09:30:00Z
    #[arg(long, value_name = "TIME", global = true)]
    pub(crate) since: Option<String>,
    /// Only until then
    #[arg(long, value_name = "TIME", global = true)]
    pub(crate) until: Option<String>,
    /// Entries shown
    #[arg(long, value_name = "N", default_value_t = 20, global = true)]
    pub(crate) limit: usize,
    /// Go on where an earlier list ended
    #[arg(long, value_name = "CURSOR")]
    pub(crate) cursor: Option<String>,
    /// Print JSON, one object a line
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Configuration file
    #[arg(long, env = "TERMBRIDGE_CONFIG", value_name = "FILE", global = true)]
    pub(crate) config: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum HistoryAction {
    /// Count: most run, slowest, most often failing, by project and agent
    Stats,
    /// Show one command with its output
    Show {
        /// Its id, as the list shows it
        id: String,
    },
}

const POLICY_EXAMPLES: &str = "\
Exit code: 0 when it may run, 1 when it is refused. The rules are in the [policy] table of the
configuration file; they are a guard-rail against accidents, not a sandbox. `allowed_directories`
says where commands may start, not which files they may open.

Examples:
  termbridge policy test 'rm -rf build'
  termbridge policy test --cwd / 'rm -rf .'
  termbridge policy test --json 'curl example.org | sh'
  termbridge policy rules";

#[derive(Debug, Args)]
pub(crate) struct PolicyArguments {
    #[command(subcommand)]
    pub(crate) action: PolicyAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PolicyAction {
    /// Explain the decision on a command
    Test {
        /// The command, as an agent would send it
        command: String,
        /// Where it would run [default: here]
        #[arg(long, value_name = "DIRECTORY")]
        cwd: Option<PathBuf>,
        /// The shell that would read it: bash, zsh, fish, sh [default: as configured]
        #[arg(long, value_name = "SHELL")]
        shell: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
        /// Configuration file
        #[arg(long, env = "TERMBRIDGE_CONFIG", value_name = "FILE")]
        config: Option<PathBuf>,
    },
    /// List the names of the built-in rules
    Rules,
}

const TOOLS_EXAMPLES: &str = "\
Examples:
  termbridge tools                        as an MCP client gets them
  termbridge tools --format openai        for function calling with OpenAI's API
  termbridge tools --format gemini        for function calling with Gemini's API
  termbridge tools --toolsets compat
  termbridge tools --tools debug_start,debug_continue";

#[derive(Debug, Args)]
pub(crate) struct ToolsArguments {
    /// For whom
    #[arg(long, value_name = "FORMAT", default_value = "mcp")]
    pub(crate) format: ToolsFormat,
    #[command(flatten)]
    pub(crate) chosen: ChosenTools,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ToolsFormat {
    /// MCP tool definitions
    Mcp,
    /// Function tools of the `OpenAI` API
    Openai,
    /// Gemini function declarations
    Gemini,
}

const DEBUG_EXAMPLES: &str = "\
Each tool is a command; `termbridge debug help` lists them. A program that is debugged natively ends
with this process, so several commands go together: one a line, from a terminal or a pipe. With an
editor open for the workspace its debugger is driven, and each command can stand alone.
Exit code: 0, 1 when a command failed, 2 when it made no sense.

Examples:
  termbridge debug test debug-single --path tests/test_cart.py --line 12
  termbridge debug diagnostic collect
  termbridge debug breakpoint set --help
  termbridge debug <<'EOF'
  breakpoint set --path app.py --line 5 --condition 'price > 3'
  start --program app.py --wait
  evaluate --expression 'price * count'
  continue
  EOF";

#[derive(Debug, Args)]
pub(crate) struct DebugArguments {
    #[command(flatten)]
    pub(crate) debugging: DebuggingArguments,
    /// Print JSON, one object a command
    #[arg(long)]
    pub(crate) json: bool,
    /// Configuration file
    #[arg(long, env = "TERMBRIDGE_CONFIG", value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// The command and its flags; without one, commands are read from stdin, one a line
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "COMMAND")]
    pub(crate) words: Vec<String>,
}

const DOCTOR_EXAMPLES: &str = "\
Exit code: 0 when programs can be run in terminals, 1 when not. A debugger or a language server that is
missing is named with the command that installs it, and only that language goes without.

Examples:
  termbridge doctor
  termbridge doctor --workspace ~/project --json";

#[derive(Debug, Args)]
pub(crate) struct DoctorArguments {
    #[command(flatten)]
    pub(crate) debugging: DebuggingArguments,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Configuration file
    #[arg(long, env = "TERMBRIDGE_CONFIG", value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct DemoArguments {
    /// Do not pause between the steps
    #[arg(long)]
    pub(crate) fast: bool,
}
