//! Arguments of `termbridge history`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

pub(crate) const HISTORY_EXAMPLES: &str = "\
Examples:
  termbridge history                      the newest commands
  termbridge history cargo test           commands or output with these words
  termbridge history --failed --since 2d  failed commands of the last two days
  termbridge history show 6acc483y7z35-4  one command with its output
  termbridge history stats                most frequent, slowest, failing most
  termbridge history -- stats             commands with the word `stats`";

#[derive(Debug, Args)]
pub(crate) struct HistoryArguments {
    #[command(subcommand)]
    pub(crate) action: Option<HistoryAction>,
    /// Words that must all occur; the last one may be incomplete
    pub(crate) words: Vec<String>,
    /// Search only the command lines
    #[arg(long, conflicts_with = "output")]
    pub(crate) commands: bool,
    /// Search only the output
    #[arg(long)]
    pub(crate) output: bool,
    /// Only commands that failed
    #[arg(long)]
    pub(crate) failed: bool,
    /// Only commands with this exit code
    #[arg(long, value_name = "CODE")]
    pub(crate) exit_code: Option<i32>,
    /// Only commands of this session
    #[arg(long, value_name = "SESSION")]
    pub(crate) session: Option<String>,
    #[command(flatten)]
    pub(crate) span: HistorySpan,
    /// Continue an earlier list at its cursor
    #[arg(long, value_name = "CURSOR")]
    pub(crate) cursor: Option<String>,
    #[command(flatten)]
    pub(crate) source: HistorySource,
}

impl HistoryArguments {
    /// Whether anything was given that only the list uses, or that belongs behind a subcommand.
    pub(crate) fn is_list(&self) -> bool {
        let HistorySpan { project, agent, since, until, limit } = &self.span;
        let texts = [project, agent, since, until, &self.session, &self.cursor];
        let switches = [self.commands, self.output, self.failed, self.source.json];
        !self.words.is_empty()
            || texts.iter().any(|text| text.is_some())
            || switches.contains(&true)
            || self.exit_code.is_some()
            || *limit != DEFAULT_LIMIT
    }
}

/// Entries of the history that are shown unless the user says otherwise.
const DEFAULT_LIMIT: usize = 20;

/// Which part of the history counts.
#[derive(Debug, Args)]
pub(crate) struct HistorySpan {
    /// Only commands of the project in this folder
    #[arg(long, value_name = "PROJECT")]
    pub(crate) project: Option<String>,
    /// Only commands of this agent
    #[arg(long, value_name = "AGENT")]
    pub(crate) agent: Option<String>,
    /// Only commands since this time: 2h, 7d, 2026-01-31 or 2026-01-31T09:30:00Z
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,
    /// Only commands until this time
    #[arg(long, value_name = "TIME")]
    pub(crate) until: Option<String>,
    /// Maximum number of entries
    #[arg(long, value_name = "N", default_value_t = DEFAULT_LIMIT)]
    pub(crate) limit: usize,
}

/// Where the history is, and how to print it.
#[derive(Debug, Args)]
pub(crate) struct HistorySource {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Configuration file
    #[arg(long, env = "TERMBRIDGE_CONFIG", value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum HistoryAction {
    /// Show which commands run most often, take longest and fail most often
    Stats {
        #[command(flatten)]
        span: HistorySpan,
        #[command(flatten)]
        source: HistorySource,
    },
    /// Show one command with its output
    Show {
        /// Id of the command, from the list
        id: String,
        #[command(flatten)]
        source: HistorySource,
    },
}
