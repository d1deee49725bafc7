//! Arguments of `termbridge install` and `uninstall`.

use clap::{Args, ValueEnum};
use termbridge_clients::Client;

pub(crate) const INSTALL_EXAMPLES: &str = "\
Clients: claude-code, claude-desktop, cursor, vscode, vscode-insiders, vscodium, codex, gemini,
windsurf, zed, opencode. Without any, all that are found are meant; one that is named need not
be found. Each change is shown before it is made. Comments and layout of a file are kept, and a
copy of the file as it was goes to $XDG_STATE_HOME/termbridge/backups (~/.local/state). Arguments
of an entry that is there already stay unless --connect or --toolsets chooses others.
Exit code: 0 if every client that was meant has termbridge now, else 1.

Examples:
  termbridge install                      every client that is found
  termbridge install claude-code codex    these two
  termbridge install --dry-run            only show what would change
  termbridge install --yes --connect      without asking; all share one server
  termbridge install --scope project vscode   .vscode/mcp.json of this folder";

pub(crate) const UNINSTALL_EXAMPLES: &str = "\
Removes what `termbridge install` added and nothing else: afterwards a file has the bytes that it
had before, and one that install created is gone. Without CLIENT, all that are found are meant.
Exit code: 0 if no client that was meant has termbridge any more, else 1.

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
    /// Let the client use the server that all agents of this user share (`termbridge mcp --connect`)
    #[arg(long, conflicts_with = "toolsets")]
    pub(crate) connect: bool,
    /// Toolsets to offer, separated by commas: terminal, debug-core, debug, compat, all. With --connect they are the
    /// shared server's
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) toolsets: Option<Vec<String>>,
    /// Command that the client starts [default: this program by its path, or npx or uvx if those run it; in
    /// projects `termbridge`]
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
    /// Clients by name [default: all that are found]
    #[arg(value_name = "CLIENT")]
    pub(crate) clients: Vec<Client>,
    /// Where: user (all your projects) or project (the working directory, shared with others)
    #[arg(long, value_name = "SCOPE", default_value = "user")]
    pub(crate) scope: ScopeName,
    /// Name of the entry
    #[arg(long, value_name = "NAME", default_value = DEFAULT_NAME)]
    pub(crate) name: String,
    /// Also if the entry of that name starts another program
    #[arg(long)]
    pub(crate) force: bool,
    /// Do not ask
    #[arg(long, short, conflicts_with = "dry_run")]
    pub(crate) yes: bool,
    /// Only show what would change
    #[arg(long, short = 'n')]
    pub(crate) dry_run: bool,
    /// Print JSON; never asks
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
