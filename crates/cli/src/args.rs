//! Arguments of the command line.

mod connect;
#[cfg(test)]
mod help_tests;
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

/// Real terminals, TUI programs and a debugger for AI agents, over MCP
#[derive(Debug, Parser)]
#[command(name = "termbridge", version, after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// With --version: also print the commit, target, build profile and features
    #[arg(long, requires = "version")]
    pub(crate) verbose: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXAMPLES: &str = "\
Examples:
  termbridge demo                         watch it drive a real program
  termbridge install                      connect the agents of this machine
  termbridge doctor                       check the setup
  termbridge serve                        one server for all agents
  termbridge ls                           list its sessions
  termbridge history cargo test           find past commands with these words
  termbridge policy test 'rm -rf /'       explain whether a command may run";

#[derive(Debug, Subcommand)]
#[allow(clippy::large_enum_variant, reason = "made once")]
pub(crate) enum Command {
    /// Serve MCP over stdio; agents start this command
    #[command(after_help = MCP_EXAMPLES)]
    Mcp(McpCommand),
    /// Connect Claude Code, Cursor, VS Code, Codex and other MCP clients
    #[command(after_help = install::INSTALL_EXAMPLES)]
    Install(InstallArguments),
    /// Remove termbridge from the configuration of MCP clients
    #[command(after_help = install::UNINSTALL_EXAMPLES)]
    Uninstall(UninstallArguments),
    /// Run one server for all agents, editors and people
    #[command(after_help = serve::SERVE_EXAMPLES)]
    Serve(ServeArguments),
    /// Create, list and revoke the tokens of the shared server
    #[command(after_help = serve::TOKEN_EXAMPLES)]
    Token(TokenArguments),
    /// Show the shared server: addresses, clients, sessions, memory
    #[command(after_help = people::STATUS_EXAMPLES)]
    Status(StatusArguments),
    /// List the sessions of the shared server
    #[command(after_help = people::LS_EXAMPLES)]
    Ls(LsArguments),
    /// Print the output of a session, or follow it
    #[command(after_help = people::LOGS_EXAMPLES)]
    Logs(LogsArguments),
    /// Send keys to a session
    #[command(after_help = people::SEND_EXAMPLES)]
    Send(SendArguments),
    /// Stop sessions, or everything: sessions, server and keeper
    #[command(after_help = people::STOP_EXAMPLES, override_usage = people::STOP_USAGE)]
    Stop(StopArguments),
    /// Start the shared server in the background; `mcp --connect` runs this
    #[command(hide = true)]
    StartServer(StartServerArguments),
    /// Watch an agent drive a real program, live in this terminal
    Demo(DemoArguments),
    /// Search the commands that agents ran, or show statistics
    #[command(after_help = history::HISTORY_EXAMPLES)]
    History(HistoryArguments),
    /// Check a command against the policy, or explain its rules
    #[command(after_help = POLICY_EXAMPLES)]
    Policy(PolicyArguments),
    /// Print the tool definitions, for MCP or function calling
    #[command(after_help = TOOLS_EXAMPLES)]
    Tools(ToolsArguments),
    /// Use the debugging tools from the command line
    #[command(after_help = DEBUG_EXAMPLES)]
    Debug(DebugArguments),
    /// Check the setup, and print a fix for anything that fails
    #[command(after_help = DOCTOR_EXAMPLES)]
    Doctor(DoctorArguments),
    /// Print shell completions
    #[command(after_help = COMPLETIONS_EXAMPLES)]
    Completions {
        /// Shell that will read them
        shell: Shell,
    },
    /// Write the man pages of all commands to a folder
    #[command(after_help = MAN_EXAMPLES)]
    Man(ManArguments),
}

const MCP_EXAMPLES: &str = "\
Settings come from the configuration file, the environment and flags. Flags override the environment, and the \
environment overrides the file. An empty variable counts as unset. Switches take 1/0, true/false, yes/no or on/off.

The file is $XDG_CONFIG_HOME/termbridge/config.toml (~/.config/termbridge/config.toml):
  max_sessions = 20
  session_timeout = \"1h\"
  [commands]
  shell = \"zsh\"
  [policy]
  deny = [\"git push --force\"]

Examples:
  termbridge mcp --session-timeout 2h --scrollback-lines 50000
  LOG_LEVEL=debug termbridge mcp --log-file /tmp/termbridge.log
  termbridge mcp --connect                use the shared server";

#[derive(Debug, Default, Args)]
pub(crate) struct McpArguments {
    /// Configuration file
    #[arg(long, env = "TERMBRIDGE_CONFIG", value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) chosen: ChosenTools,
    /// Send structured content and output schemas: always, never, or auto (not to clients that would then hide the
    /// text from their model, such as Claude Code and VS Code) [default: auto]
    #[arg(long, env = "TERMBRIDGE_STRUCTURED", value_name = "WHEN")]
    pub(crate) structured: Option<Structured>,
    #[command(flatten)]
    pub(crate) debugging: DebuggingArguments,
    /// HTTP port of the shared server; `mcp` ignores it [default: 8080]
    #[arg(long, env = "MCP_PORT", value_name = "PORT")]
    pub(crate) port: Option<u16>,
    /// Maximum number of running sessions [default: 100]
    #[arg(long, env = "TERMBRIDGE_MAX_SESSIONS", value_name = "N")]
    pub(crate) max_sessions: Option<usize>,
    /// End a session that nobody uses and that waits for input, after this time; 0 = never [default: 30m]
    #[arg(long, env = "TERMBRIDGE_SESSION_TIMEOUT", value_name = "TIME", value_parser = parse_duration)]
    pub(crate) session_timeout: Option<Duration>,
    /// Keep the last screen of an ended session this long [default: 5m]
    #[arg(long, env = "TERMBRIDGE_KEEP_FINISHED", value_name = "TIME", value_parser = parse_duration)]
    pub(crate) keep_finished: Option<Duration>,
    /// Lines of scrollback per session [default: 10000]
    #[arg(long, env = "TERMBRIDGE_SCROLLBACK_LINES", value_name = "N")]
    pub(crate) scrollback_lines: Option<usize>,
    /// Memory for the scrollback of all sessions, in megabytes [default: 256]
    #[arg(long, env = "TERMBRIDGE_SCROLLBACK_MEMORY_MB", value_name = "MB")]
    pub(crate) scrollback_memory_mb: Option<usize>,
    /// Memory for the output of commands in all sessions, in megabytes [default: 64]
    #[arg(long, env = "TERMBRIDGE_OUTPUT_MEMORY_MB", value_name = "MB")]
    pub(crate) output_memory_mb: Option<usize>,
    /// Temporary files for the output of commands in all sessions, in megabytes [default: 1024]
    #[arg(long, env = "TERMBRIDGE_OUTPUT_DISK_MB", value_name = "MB")]
    pub(crate) output_disk_mb: Option<usize>,
    /// Bytes per read from a terminal [default: 4096]
    #[arg(long, env = "TERMBRIDGE_BUFFER_SIZE", value_name = "BYTES")]
    pub(crate) buffer_size: Option<usize>,
    /// Shell for agents' commands: bash, zsh, fish, dash, sh, ash, ksh or mksh [default: $SHELL if it is one of them,
    /// else bash]
    #[arg(long, env = "TERMBRIDGE_SHELL", value_name = "SHELL")]
    pub(crate) shell: Option<String>,
    /// Record no history of commands, and keep no output of debugged programs on disk
    #[arg(long, env = "TERMBRIDGE_NO_HISTORY", value_name = "BOOL", num_args = 0..=1, require_equals = true,
        default_missing_value = "true", value_parser = BoolishValueParser::new())]
    pub(crate) no_history: Option<bool>,
    #[command(flatten)]
    pub(crate) editor: EditorArguments,
    /// Let no editor connect, and debug without one (--debug-backend native)
    #[arg(long, conflicts_with_all = ["debug_backend", "editor"])]
    pub(crate) no_editor: bool,
    #[command(flatten)]
    pub(crate) log: LogArguments,
}

/// How editors connect.
#[derive(Debug, Default, Args)]
pub(crate) struct EditorArguments {
    /// Listen for editors from the start; `serve` always does, `mcp` otherwise when an agent first uses an editor
    #[arg(long, env = "TERMBRIDGE_EDITOR", value_name = "BOOL", num_args = 0..=1, require_equals = true,
        default_missing_value = "true", value_parser = BoolishValueParser::new())]
    pub(crate) editor: Option<bool>,
    /// WebSocket port for editors [default: 3000]
    #[arg(long, env = "TERMBRIDGE_EDITOR_PORT", value_name = "PORT")]
    pub(crate) editor_port: Option<u16>,
    /// Accept only editors that send a token; without this, programs of your own user need none
    #[arg(long, env = "TERMBRIDGE_REQUIRE_EDITOR_TOKEN", value_name = "BOOL", num_args = 0..=1,
        require_equals = true, default_missing_value = "true", value_parser = BoolishValueParser::new())]
    pub(crate) require_editor_token: Option<bool>,
}

/// Where and how programs are debugged.
#[derive(Debug, Default, Args)]
pub(crate) struct DebuggingArguments {
    /// Project folder: sessions start here, relative paths begin here, launch.json is here [default: the working
    /// directory]
    #[arg(long, env = "TERMBRIDGE_WORKSPACE", value_name = "FOLDER")]
    pub(crate) workspace: Option<PathBuf>,
    /// Debugger: native, editor, or auto (the editor that has the workspace open, else native) [default: auto]
    #[arg(long, env = "TERMBRIDGE_DEBUG_BACKEND", value_name = "BACKEND")]
    pub(crate) debug_backend: Option<BackendChoice>,
    /// Offer the tools that the workspace defines (`src/vsc-scripts/**/*.meta.yaml`) even if no editor has it open
    #[arg(long, env = "TERMBRIDGE_WORKSPACE_TOOLS", value_name = "BOOL", num_args = 0..=1, require_equals = true,
        default_missing_value = "true", value_parser = BoolishValueParser::new())]
    pub(crate) workspace_tools: Option<bool>,
    /// Add the raw answers of the editor's scripts to structured answers
    #[arg(long, env = "TERMBRIDGE_DEBUG_RAW", value_name = "BOOL", num_args = 0..=1, require_equals = true,
        default_missing_value = "true", value_parser = BoolishValueParser::new())]
    pub(crate) debug_raw: Option<bool>,
    /// Time limit of debugging tools whose call sets none [default: each tool's own]
    #[arg(long, env = "TERMBRIDGE_TIMEOUT", value_name = "TIME", value_parser = parse_duration)]
    pub(crate) timeout: Option<Duration>,
}

#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ChosenTools {
    /// Toolsets to offer, separated by commas: terminal, debug-core, debug, compat, all [default: terminal,debug-core]
    #[arg(long, env = "TERMBRIDGE_TOOLSETS", value_name = "NAMES", value_delimiter = ',')]
    pub(crate) toolsets: Option<Vec<String>>,
    /// Tools to offer: only these, or with --toolsets these in addition
    #[arg(long, env = "TERMBRIDGE_TOOLS", value_name = "NAMES", value_delimiter = ',')]
    pub(crate) tools: Option<Vec<String>>,
    /// Tools not to offer
    #[arg(long, env = "TERMBRIDGE_EXCLUDE_TOOLS", value_name = "NAMES", value_delimiter = ',')]
    pub(crate) exclude_tools: Option<Vec<String>>,
}

#[derive(Debug, Default, Args)]
pub(crate) struct LogArguments {
    /// Log level: off, error, warn, info, debug, trace, or a filter such as `rmcp=debug` [default: info]
    #[arg(long, env = "LOG_LEVEL", value_name = "LEVEL")]
    pub(crate) log_level: Option<String>,
    /// Log format: text or json [default: text]
    #[arg(long, env = "TERMBRIDGE_LOG_FORMAT", value_name = "FORMAT")]
    pub(crate) log_format: Option<LogFormat>,
    /// Log file [default: stderr]
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
Your own rules are in the [policy] table of the configuration file. The policy guards against accidents. It is not a \
sandbox: `allowed_directories` restricts where commands start, not which files they open.

Exit code of `test`: 0 if the command may run, 1 if it is refused.

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
        /// Command line to check
        command: String,
        /// Directory in which it would run [default: the working directory]
        #[arg(long, value_name = "DIRECTORY")]
        cwd: Option<PathBuf>,
        /// Shell that would run it: bash, zsh, fish, dash, sh, ash, ksh or mksh [default: the configured shell]
        #[arg(long, value_name = "SHELL")]
        shell: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
        /// Configuration file
        #[arg(long, env = "TERMBRIDGE_CONFIG", value_name = "FILE")]
        config: Option<PathBuf>,
    },
    /// List the built-in rules, with what each refuses
    Rules,
}

const TOOLS_EXAMPLES: &str = "\
Examples:
  termbridge tools                        as an MCP client receives them
  termbridge tools --format openai        for OpenAI's function calling
  termbridge tools --format gemini        for Gemini's function calling
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
Each debugging tool is a command; `termbridge debug help` lists them. The debugged program ends with this process, so \
pass several commands together, one per line, from a terminal or a pipe. If an editor has the workspace open, its \
debugger is used, and you can run commands one at a time.

Exit code: 0 on success, 1 if a command failed, 2 if a command was invalid.

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
    /// Command with its flags; without one, commands are read from stdin, one per line
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "COMMAND")]
    pub(crate) words: Vec<String>,
}

const DOCTOR_EXAMPLES: &str = "\
Starts each shell with your start-up files, each MCP client's entry, each debug adapter and each language server. Looks \
at the shared server, its ports, the kernel and its limits. Changes nothing.

✓ works, ✗ fails, ! needs attention, - is not installed, → is the command that fixes it.

Exit code: 0 if everything that is installed works, else 1.

Examples:
  termbridge doctor
  termbridge doctor --workspace ~/project also check its .venv and node_modules
  termbridge doctor --bundle              also write a report for a bug
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

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  termbridge completions zsh > ~/.zfunc/_termbridge
  termbridge completions fish > ~/.config/fish/completions/termbridge.fish";

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
