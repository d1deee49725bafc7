//! Arguments of `termbridge install` and `uninstall`.

use clap::{Args, ValueEnum};
use termbridge_clients::Client;

pub(crate) const INSTALL_EXAMPLES: &str = "\
Clients: claude-code, claude-desktop, cursor, vscode, vscode-insiders, vscodium, codex, gemini, windsurf, zed, \
opencode. Without a name, every client that is found gets an entry. A client that you name need not be found.

Each change is shown before it is made. Comments and layout of a file are kept, and a copy of the original goes to \
$XDG_STATE_HOME/termbridge/backups (~/.local/state). An existing entry keeps its arguments unless you pass --connect or \
--toolsets.

Exit code: 0 if every client has its entry now, else 1.

Examples:
  termbridge install                      every client that is found
  termbridge install claude-code codex    these two
  termbridge install --dry-run            only show the changes
  termbridge install --yes --connect      do not ask; use the shared server
  termbridge install --skill              also tell models when to use it
  termbridge install --scope project vscode";

pub(crate) const UNINSTALL_EXAMPLES: &str = "\
Removes exactly what `termbridge install` added. A file that it changed gets its former bytes back, and a file that it \
created is deleted. Without a name, every client that is found is cleaned up.

Exit code: 0 if no client has an entry now, else 1.

Examples:
  termbridge uninstall
  termbridge uninstall cursor --dry-run
  termbridge uninstall --scope project --yes";

/// The name of the entry unless another is given.
const DEFAULT_NAME: &str = "termbridge";

#[derive(Debug, Args)]
pub(crate) struct InstallArguments {
    #[command(flatten)]
    pub(crate) edit: EditArguments,
    /// Let the clients use the shared server (`termbridge mcp --connect`)
    #[arg(long, conflicts_with = "toolsets")]
    pub(crate) connect: bool,
    /// Also write a skill file, which tells the model when to use the tools
    #[arg(long)]
    pub(crate) skill: bool,
    /// Toolsets to offer, separated by commas: terminal, debug-core, debug, compat, all
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) toolsets: Option<Vec<String>>,
    /// Command that the clients start [default: the path of this program; npx or uvx if they run it; `termbridge`
    /// with --scope project]
    #[arg(long, value_name = "COMMAND")]
    pub(crate) command: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct UninstallArguments {
    #[command(flatten)]
    pub(crate) edit: EditArguments,
}

/// Which files are edited, and how.
#[derive(Debug, Args)]
pub(crate) struct EditArguments {
    /// Clients by name [default: every client that is found]
    #[arg(value_name = "CLIENT")]
    pub(crate) clients: Vec<Client>,
    /// Configuration to change: user (all your projects) or project (the working directory)
    #[arg(long, value_name = "SCOPE", default_value = "user")]
    pub(crate) scope: ScopeName,
    /// Name of the entry
    #[arg(long, value_name = "NAME", default_value = DEFAULT_NAME)]
    pub(crate) name: String,
    /// Change the entry even if it starts another program
    #[arg(long)]
    pub(crate) force: bool,
    /// Do not ask
    #[arg(long, short, conflicts_with = "dry_run")]
    pub(crate) yes: bool,
    /// Only show what would change
    #[arg(long, short = 'n')]
    pub(crate) dry_run: bool,
    /// Print JSON, and never ask
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScopeName {
    /// All your projects
    User,
    /// The working directory
    Project,
}
