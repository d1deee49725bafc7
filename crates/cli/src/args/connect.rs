//! Arguments of `termbridge mcp`, which is a server or a client of the shared one.

use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, Error};

use super::McpArguments;

/// What a client of the shared server decides for itself.
const OWN: [&str; 7] =
    ["connect", "config", "workspace", "log_level", "log_format", "log_file", "toolsets"];

#[derive(Debug, Args)]
pub(crate) struct McpCommand {
    /// Use the shared server of this user, and start it if none runs; sessions outlive the agent
    #[arg(long)]
    pub(crate) connect: bool,
    #[command(flatten)]
    pub(crate) mcp: McpArguments,
}

#[derive(Debug, Args)]
pub(crate) struct StartServerArguments {
    /// Configuration file of the server
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

/// The error for flags beside `--connect` that only a server can follow. Variables of the environment are not
/// refused: a server that is started gets them.
pub(crate) fn refused_settings(matches: &ArgMatches, command: &mut Command) -> Option<Error> {
    let given = matches.subcommand_matches("mcp").filter(|mcp| mcp.get_flag("connect"))?;
    let mcp = command.find_subcommand("mcp")?;
    let refused: Vec<String> = mcp
        .get_arguments()
        .filter(|arg| !OWN.contains(&arg.get_id().as_str()))
        .filter(|arg| given.value_source(arg.get_id().as_str()) == Some(ValueSource::CommandLine))
        .filter_map(|arg| Some(format!("--{}", arg.get_long()?)))
        .collect();
    if refused.is_empty() {
        return None;
    }
    let why = format!(
        "{} cannot be used with --connect: settings apply to the shared server; put them in the \
         configuration file or pass them to `termbridge serve`",
        refused.join(", ")
    );
    Some(command.error(ErrorKind::ArgumentConflict, why))
}
