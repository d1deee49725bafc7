//! Arguments of the command line.

mod connect;
mod history;
mod install;
mod people;
mod serve;

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::BoolishValueParser;
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use termbridge_bridge::BackendChoice;
use termbridge_mcp::Structured;

pub(crate) use connect::{McpCommand, StartServerArguments, refused_settings};
pub(crate) use history::{HistoryAction, HistoryArguments, HistorySource, HistorySpan};
pub(crate) use install::{EditArguments, InstallArguments, ScopeName, UninstallArguments};
pub(crate) use people::{
    LogsArguments, LsArguments, SendArguments, StatusArguments, StopArguments,
};
pub(crate) use serve::{ServeArguments, TokenAction, TokenArguments};

use crate::duration::parse_duration;

/// Real terminals, shell commands and TUI programs for AI agents, over MCP.
#[derive(Debug, Parser)]
#[command(name = "termbridge", version, after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// With --version: also the commit, the target, the build profile and features
    #[arg(long, requires = "version")]
    pub(crate) verbose: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXAMPLES: &str = "\
Examples:
  termbridge demo                         watch it drive a real program in this terminal
  termbridge install                      connect the agents of this machine
  termbridge mcp --max-sessions 20        serve MCP over stdio, with at most 20 programs
  termbridge serve                        one server for all agents, over HTTP and a socket
  termbridge ls                           what runs on it; status, logs, send, stop go with it
  termbridge history cargo test           past commands that contain these words
  termbridge policy test 'rm -rf /'       whether the policy allows a command
  termbridge completions zsh > _termbridge";

#[derive(Debug, Subcommand)]
#[allow(clippy::large_enum_variant, reason = "made once")]
pub(crate) enum Command {
    /// Serve MCP over stdio; agents start this command
    #[command(after_help = MCP_EXAMPLES)]
    Mcp(McpCommand),
    /// Add termbridge to the configuration of Claude Code, Cursor, VS Code, Codex and others
    #[command(after_help = install::INSTALL_EXAMPLES)]
    Install(InstallArguments),
    /// Take termbridge out of the configuration of clients again
    #[command(after_help = install::UNINSTALL_EXAMPLES)]
    Uninstall(UninstallArguments),
    /// Serve many agents, editors and people at once: over HTTP, WebSocket and a unix socket
    #[command(after_help = serve::SERVE_EXAMPLES)]
    Serve(ServeArguments),
    /// Create, list and revoke the tokens of the shared server
    #[command(after_help = serve::TOKEN_EXAMPLES)]
    Token(TokenArguments),
    /// Show the shared server: where it listens, who uses it, what runs
    #[command(after_help = people::STATUS_EXAMPLES)]
    Status(StatusArguments),
    /// List the sessions of the shared server
    #[command(after_help = people::LS_EXAMPLES)]
    Ls(LsArguments),
    /// Print what a session has printed, and follow it
    #[command(after_help = people::LOGS_EXAMPLES)]
    Logs(LogsArguments),
    /// Send keys to a session
    #[command(after_help = people::SEND_EXAMPLES)]
    Send(SendArguments),
    /// End sessions, or everything: sessions, server and keeper
    #[command(after_help = people::STOP_EXAMPLES, override_usage = people::STOP_USAGE)]
    Stop(StopArguments),
    /// Start the shared server in the background; `mcp --connect` runs this
    #[command(hide = true)]
    StartServer(StartServerArguments),
    /// Watch an agent drive a real program through MCP, live in this terminal
    Demo(DemoArguments),
    /// Search the commands that agents ran, or show statistics
    #[command(after_help = history::HISTORY_EXAMPLES)]
    History(HistoryArguments),
    /// Check a command against the policy, or list its rules
    #[command(after_help = POLICY_EXAMPLES)]
    Policy(PolicyArguments),
    /// Print the tool definitions, in formats for MCP and for function calling
    #[command(after_help = TOOLS_EXAMPLES)]
    Tools(ToolsArguments),
    /// Use the agents' debugging tools from the command line
    #[command(after_help = DEBUG_EXAMPLES)]
    Debug(DebugArguments),
    /// Check everything: what works, what does not and the command that helps
    #[command(after_help = DOCTOR_EXAMPLES)]
    Doctor(DoctorArguments),
    /// Print shell completions
    Completions {
        /// Shell to print them for
        shell: Shell,
    },
    /// Write the man pages of all commands to a folder
    #[command(after_help = MAN_EXAMPLES)]
    Man(ManArguments),
}

const MCP_EXAMPLES: &str = "\
Settings come from the configuration file, the environment and flags; each overrides the one before.
An empty environment variable counts as unset; switches take 1/0, true/false, yes/no or on/off.
The file is $XDG_CONFIG_HOME/termbridge/config.toml (~/.config/termbridge/config.toml):

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
  LOG_LEVEL=debug termbridge mcp --log-format json --log-file /tmp/termbridge.log
  termbridge mcp --connect                use the shared server; start it if none runs";

#[derive(Debug, Default, Args)]
pub(crate) struct McpArguments {
    /// Configuration file
    #[arg(long, env = "TERMBRIDGE_CONFIG", value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) chosen: ChosenTools,
    /// Structured content and output schemas: always, never, or auto (not for clients that then show their
    /// model no text: Claude Code, VS Code) [default: auto]
    #[arg(long, env = "TERMBRIDGE_STRUCTURED", value_name = "WHEN")]
    pub(crate) structured: Option<Structured>,
    #[command(flatten)]
    pub(crate) debugging: DebuggingArguments,
    /// Port of the shared server; not used over stdio [default: 8080]
    #[arg(long, env = "MCP_PORT", value_name = "PORT")]
    pub(crate) port: Option<u16>,
    /// Most programs that run at once [default: 100]
    #[arg(long, env = "TERMBRIDGE_MAX_SESSIONS", value_name = "N")]
    pub(crate) max_sessions: Option<usize>,
    /// End a session that is unused and only waits for input after this time; 0 = never [default: 30m]
    #[arg(long, env = "TERMBRIDGE_SESSION_TIMEOUT", value_name = "TIME", value_parser = parse_duration)]
    pub(crate) session_timeout: Option<Duration>,
    /// How long a finished session's last screen stays readable [default: 5m]
    #[arg(long, env = "TERMBRIDGE_KEEP_FINISHED", value_name = "TIME", value_parser = parse_duration)]
    pub(crate) keep_finished: Option<Duration>,
    /// Lines of scrollback per session [default: 10000]
    #[arg(long, env = "TERMBRIDGE_SCROLLBACK_LINES", value_name = "N")]
    pub(crate) scrollback_lines: Option<usize>,
    /// Memory for scrollback, all sessions together, in megabytes [default: 256]
    #[arg(long, env = "TERMBRIDGE_SCROLLBACK_MEMORY_MB", value_name = "MB")]
    pub(crate) scrollback_memory_mb: Option<usize>,
    /// Memory for the output of commands, all sessions together, in megabytes [default: 64]
    #[arg(long, env = "TERMBRIDGE_OUTPUT_MEMORY_MB", value_name = "MB")]
    pub(crate) output_memory_mb: Option<usize>,
    /// Temporary files for the output of commands, all sessions together, in megabytes [default: 1024]
    #[arg(long, env = "TERMBRIDGE_OUTPUT_DISK_MB", value_name = "MB")]
    pub(crate) output_disk_mb: Option<usize>,
    /// Size of a read from a terminal, in bytes [default: 4096]
    #[arg(long, env = "TERMBRIDGE_BUFFER_SIZE", value_name = "BYTES")]
    pub(crate) buffer_size: Option<usize>,
    /// Shell for agents' commands [default: $SHELL if it is a supported shell, else bash]
    #[arg(long, env = "TERMBRIDGE_SHELL", value_name = "SHELL")]
    pub(crate) shell: Option<String>,
    /// Keep no history of commands, and no output of debugged programs on disk
    #[arg(long, env = "TERMBRIDGE_NO_HISTORY", value_name = "BOOL", num_args = 0..=1, require_equals = true,
        default_missing_value = "true", value_parser = BoolishValueParser::new())]
    pub(crate) no_history: Option<bool>,
    #[command(flatten)]
    pub(crate) editor: EditorArguments,
    /// No editor: none connects, and none debugs (--debug-backend native)
    #[arg(long, conflicts_with_all = ["debug_backend", "editor"])]
    pub(crate) no_editor: bool,
    #[command(flatten)]
    pub(crate) log: LogArguments,
}

/// How editors connect.
#[derive(Debug, Default, Args)]
pub(crate) struct EditorArguments {
    /// Listen for editors at once; otherwise `mcp` does when an agent first uses one, and `serve` always
    #[arg(long, env = "TERMBRIDGE_EDITOR", value_name = "BOOL", num_args = 0..=1, require_equals = true,
        default_missing_value = "true", value_parser = BoolishValueParser::new())]
    pub(crate) editor: Option<bool>,
    /// Port on which editors connect [default: 3000]
    #[arg(long, env = "TERMBRIDGE_EDITOR_PORT", value_name = "PORT")]
    pub(crate) editor_port: Option<u16>,
    /// Let in only editors that bring a token; otherwise all that run as this user
    #[arg(long, env = "TERMBRIDGE_REQUIRE_EDITOR_TOKEN", value_name = "BOOL", num_args = 0..=1,
        require_equals = true, default_missing_value = "true", value_parser = BoolishValueParser::new())]
    pub(crate) require_editor_token: Option<bool>,
}

/// Where and how programs are debugged.
#[derive(Debug, Default, Args)]
pub(crate) struct DebuggingArguments {
    /// Project folder: base of relative paths in debugging tools, home of launch.json
    /// [default: the working directory]
    #[arg(long, env = "TERMBRIDGE_WORKSPACE", value_name = "FOLDER")]
    pub(crate) workspace: Option<PathBuf>,
    /// Which debugger to use: native, editor, or auto (the editor that has the workspace open, else
    /// native) [default: auto]
    #[arg(long, env = "TERMBRIDGE_DEBUG_BACKEND", value_name = "BACKEND")]
    pub(crate) debug_backend: Option<BackendChoice>,
    /// Offer the tools that the workspace defines (src/vsc-scripts/**/*.meta.yaml) even when no editor
    /// has it open
    #[arg(long, env = "TERMBRIDGE_WORKSPACE_TOOLS", value_name = "BOOL", num_args = 0..=1, require_equals = true,
        default_missing_value = "true", value_parser = BoolishValueParser::new())]
    pub(crate) workspace_tools: Option<bool>,
    /// Add what the editor's scripts said, word for word, to structured answers
    #[arg(long, env = "TERMBRIDGE_DEBUG_RAW", value_name = "BOOL", num_args = 0..=1, require_equals = true,
        default_missing_value = "true", value_parser = BoolishValueParser::new())]
    pub(crate) debug_raw: Option<bool>,
    /// Time limit of a debugging tool when the call gives none [default: the tool's own]
    #[arg(long, env = "TERMBRIDGE_TIMEOUT", value_name = "TIME", value_parser = parse_duration)]
    pub(crate) timeout: Option<Duration>,
}

#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ChosenTools {
    /// Toolsets to offer, separated by commas: terminal, debug-core, debug, compat, all [default:
    /// terminal,debug-core]
    #[arg(long, env = "TERMBRIDGE_TOOLSETS", value_name = "NAMES", value_delimiter = ',')]
    pub(crate) toolsets: Option<Vec<String>>,
    /// Tools to offer: only these, or these as well with --toolsets
    #[arg(long, env = "TERMBRIDGE_TOOLS", value_name = "NAMES", value_delimiter = ',')]
    pub(crate) tools: Option<Vec<String>>,
    /// Tools to leave out
    #[arg(long, env = "TERMBRIDGE_EXCLUDE_TOOLS", value_name = "NAMES", value_delimiter = ',')]
    pub(crate) exclude_tools: Option<Vec<String>>,
}

#[derive(Debug, Default, Args)]
pub(crate) struct LogArguments {
    /// Log level: off, error, warn, info, debug, trace, or a filter such as `rmcp=debug` [default: info]
    #[arg(long, env = "LOG_LEVEL", value_name = "LEVEL")]
    pub(crate) log_level: Option<String>,
    /// Log format [default: text]
    #[arg(long, env = "TERMBRIDGE_LOG_FORMAT", value_name = "FORMAT")]
    pub(crate) log_format: Option<LogFormat>,
    /// Log to this file instead of stderr
    #[arg(long, env = "TERMBRIDGE_LOG_FILE", value_name = "FILE")]
    pub(crate) log_file: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LogFormat {
    /// Readable lines
    Text,
    /// One JSON object per line
    Json,
}

const POLICY_EXAMPLES: &str = "\
Exit code of `test`: 0 if the command may run, 1 if it is refused. Your rules are in the [policy] table
of the configuration file; they guard against accidents and are not a sandbox. `allowed_directories`
restricts where commands start, not which files they open.

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
    /// Show whether a command may run, and why
    Test {
        /// Command line, as an agent would send it
        command: String,
        /// Directory it would run in [default: the working directory]
        #[arg(long, value_name = "DIRECTORY")]
        cwd: Option<PathBuf>,
        /// Shell that would run it: bash, zsh, fish, sh [default: the configured one]
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
  termbridge tools                        as an MCP client receives them
  termbridge tools --format openai        for function calling with OpenAI's API
  termbridge tools --format gemini        for function calling with Gemini's API
  termbridge tools --toolsets compat
  termbridge tools --tools debug_start,debug_continue";

#[derive(Debug, Args)]
pub(crate) struct ToolsArguments {
    /// Format of the definitions
    #[arg(long, value_name = "FORMAT", default_value = "mcp")]
    pub(crate) format: ToolsFormat,
    #[command(flatten)]
    pub(crate) chosen: ChosenTools,
    /// Configuration file
    #[arg(long, env = "TERMBRIDGE_CONFIG", value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
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
Each tool is a command; `termbridge debug help` lists them. A natively debugged program ends with this
process, so pass several commands together: one per line, from a terminal or a pipe. If an editor has
the workspace open, its debugger is used, and commands can be run one at a time.
Exit code: 0, or 1 if a command failed, 2 if it was invalid.

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
    /// Print JSON, one object per command
    #[arg(long)]
    pub(crate) json: bool,
    /// Configuration file
    #[arg(long, env = "TERMBRIDGE_CONFIG", value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Command and its flags; without one, commands are read from stdin, one per line
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "COMMAND")]
    pub(crate) words: Vec<String>,
}

const DOCTOR_EXAMPLES: &str = "\
Starts each shell with your start-up files, what your MCP clients have configured, each debug adapter and each
language server, looks at the shared server, its ports, the kernel and its limits, and changes nothing.
✓ works, ✗ does not, ! deserves a look, - is not installed; → is the command that helps.
Exit code: 0 if everything that is installed works, 1 if something does not.

Examples:
  termbridge doctor
  termbridge doctor --workspace ~/project    also start what the project brings along (.venv, node_modules)
  termbridge doctor --bundle              also write a report to attach to a bug, secrets masked
  termbridge doctor --bundle report.txt";

/// What the environment alone says of a server, for who checks how one would start.
#[derive(Debug, clap::Parser)]
#[command(no_binary_name = true)]
pub(crate) struct ServerEnvironment {
    #[command(flatten)]
    pub(crate) mcp: McpArguments,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArguments {
    #[command(flatten)]
    pub(crate) debugging: DebuggingArguments,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Also write a report to a new file, with secrets, your name and your home folder masked [default:
    /// termbridge-report-TIME.txt]
    #[arg(long, value_name = "FILE", num_args = 0..=1)]
    #[allow(clippy::option_option, reason = "clap's form of a flag whose value may be left out")]
    pub(crate) bundle: Option<Option<PathBuf>>,
    /// Configuration file
    #[arg(long, env = "TERMBRIDGE_CONFIG", value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

const MAN_EXAMPLES: &str = "\
Examples:
  termbridge man ~/.local/share/man/man1";

#[derive(Debug, Args)]
pub(crate) struct ManArguments {
    /// Folder for the pages; it is created if missing
    #[arg(value_name = "FOLDER")]
    pub(crate) folder: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct DemoArguments {
    /// Do not pause between steps
    #[arg(long)]
    pub(crate) fast: bool,
}
