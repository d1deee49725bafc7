//! Arguments of the commands with which people look at the shared server.

use clap::Args;

pub(crate) const STATUS_EXAMPLES: &str = "\
Exit code: 0 if a server runs, 3 if none does.

Examples:
  termbridge status
  termbridge status --json";

#[derive(Debug, Args)]
pub(crate) struct StatusArguments {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) const LS_EXAMPLES: &str = "\
Exit code: 0, or 3 if no server runs.

Examples:
  termbridge ls
  termbridge ls --all                     include ended sessions
  termbridge ls --json";

#[derive(Debug, Args)]
pub(crate) struct LsArguments {
    /// Also list sessions that have ended
    #[arg(long, short)]
    pub(crate) all: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) const LOGS_EXAMPLES: &str = "\
Without -f, this prints the scrollback and the screen. With -f, it follows the session's output as plain text until the \
session ends.

Exit code: 0, 1 if there is no such session, 3 if no server runs.

Examples:
  termbridge logs dev-server
  termbridge logs 6acc -n 50
  termbridge logs -f dev-server";

#[derive(Debug, Args)]
pub(crate) struct LogsArguments {
    /// Session: id, beginning of the id, or name
    pub(crate) session: String,
    /// Follow the output until the session ends
    #[arg(long, short)]
    pub(crate) follow: bool,
    /// Only the last lines [default: all; 100 with -f]
    #[arg(long, short = 'n', value_name = "LINES", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) lines: Option<u32>,
    /// Print JSON; with -f, one object per piece of output
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) const SEND_EXAMPLES: &str = "\
Keys are text with key names in angle brackets, or key names alone. Several arguments are joined by spaces. A word in \
brackets that names no key is typed as it is. With --text, everything is typed as it is.

Exit code: 0, 1 if there is no such session or it has ended, 3 if no server runs.

Examples:
  termbridge send shell 'ls -la<Enter>'
  termbridge send 6acc C-c
  termbridge send notes --text 'press <Enter> to continue'
  termbridge send vim --show '<Escape>:wq<Enter>'";

#[derive(Debug, Args)]
pub(crate) struct SendArguments {
    /// Session: id, beginning of the id, or name
    pub(crate) session: String,
    /// Keys: 'ls -la<Enter>', C-c, Down Down Enter
    #[arg(required = true)]
    pub(crate) keys: Vec<String>,
    /// Type the text as it is: no key names, and no Enter at the end
    #[arg(long)]
    pub(crate) text: bool,
    /// Print the screen afterwards
    #[arg(long)]
    pub(crate) show: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) const STOP_EXAMPLES: &str = "\
The programs of a session get SIGTERM, and SIGKILL two seconds later. With --all, every session is stopped, then the \
server, then the keeper.

Exit code: 0, 1 if there is no such session, 3 if nothing runs.

Examples:
  termbridge stop dev-server
  termbridge stop 6acc 7f01
  termbridge stop --all";

pub(crate) const STOP_USAGE: &str = "\
termbridge stop [OPTIONS] <SESSION>...
       termbridge stop [OPTIONS] --all";

#[derive(Debug, Args)]
pub(crate) struct StopArguments {
    /// Sessions: ids, beginnings of ids, or names
    #[arg(required_unless_present = "all", conflicts_with = "all", value_name = "SESSION")]
    pub(crate) sessions: Vec<String>,
    /// Stop every session, the server and its keeper
    #[arg(long)]
    pub(crate) all: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
