//! The program `termbridge`: arguments, configuration, logging, exit codes.
//!
//! The binary calls [`run`], and `cargo xtask generate` writes [`configuration_page`]. Each command is a file under
//! `commands`. stdout belongs to the protocol in `mcp` and to the answer elsewhere; people and logs get stderr.

mod args;
mod commands;
mod config;
mod duration;
mod environment;
mod logging;
mod version;

#[cfg(panic = "abort")]
compile_error!("a panic must end one call, not the server: build with panic = \"unwind\"");

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{ArgMatches, Args, CommandFactory, FromArgMatches};

use crate::args::{Arguments, Command, McpCommand};
pub use crate::config::configuration_page;

/// Runs the program with the arguments of the process.
pub fn run() -> ExitCode {
    let arguments = arguments();
    let result = match arguments.command {
        Command::Mcp(arguments) if arguments.connect => commands::connect::run(arguments.mcp),
        Command::Mcp(arguments) => commands::mcp::run(arguments.mcp),
        Command::Install(arguments) => commands::install::run(&arguments),
        Command::Uninstall(arguments) => commands::uninstall::run(&arguments),
        Command::Serve(arguments) => commands::serve::run(arguments),
        Command::Token(arguments) => commands::token::run(arguments),
        Command::Status(arguments) => commands::status::run(&arguments),
        Command::Ls(arguments) => commands::ls::run(&arguments),
        Command::Logs(arguments) => commands::logs::run(&arguments),
        Command::Send(arguments) => commands::send::run(&arguments),
        Command::Stop(arguments) => commands::stop::run(&arguments),
        Command::StartServer(arguments) => commands::start_server::run(arguments),
        Command::Demo(arguments) => commands::demo::run(&arguments),
        Command::History(arguments) => commands::history::run(arguments),
        Command::Policy(arguments) => commands::policy::run(arguments),
        Command::Tools(arguments) => commands::tools::run(arguments),
        Command::Debug(arguments) => commands::debug::run(arguments),
        Command::Doctor(arguments) => commands::doctor::run(arguments),
        Command::Completions { shell } => commands::completions::run(shell),
        Command::Man(arguments) => commands::man::run(&arguments),
    };
    match result {
        Ok(code) => code,
        Err(error) => {
            commands::tell(&format!("termbridge: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

/// What the command line and the environment say; a mistake or a call for help ends the process.
fn arguments() -> Arguments {
    let mut words: Vec<_> = std::env::args_os().collect();
    if words.get(1).is_some_and(|word| word == "help") {
        // The parser would take it for a command.
        words.retain(|word| word != "--help" && word != "-h");
    }
    if let Some(arguments) = mcp_arguments(&words) {
        return arguments;
    }
    let mut command = environment::without_empty_variables(Arguments::command());
    let parsed =
        matches(&mut command, &words).and_then(|matches| Arguments::from_arg_matches(&matches));
    parsed.unwrap_or_else(|error| {
        // --version ends the parsing, so what stands behind it is read here.
        if error.kind() == ErrorKind::DisplayVersion && words.iter().any(|word| word == "--verbose")
        {
            std::process::exit(i32::from(commands::print(&version::verbose()).is_err()));
        }
        environment::name_variable(error, &command, &words).exit()
    })
}

/// The arguments of `termbridge mcp`, which every agent starts. Making the other commands takes longer than the rest of
/// the start. Mistakes and calls for help are left to the whole command.
fn mcp_arguments(words: &[OsString]) -> Option<Arguments> {
    if words.get(1)? != "mcp" {
        return None;
    }
    let mcp = McpCommand::augment_args(clap::Command::new("mcp").disable_help_flag(true));
    let command = clap::Command::new("termbridge").subcommand(mcp);
    let mut command = environment::without_empty_variables(command);
    let matches = matches(&mut command, words).ok()?;
    let mcp = McpCommand::from_arg_matches(matches.subcommand_matches("mcp")?).ok()?;
    Some(Arguments { verbose: false, command: Command::Mcp(mcp) })
}

fn matches(command: &mut clap::Command, words: &[OsString]) -> clap::error::Result<ArgMatches> {
    let matches = command.try_get_matches_from_mut(words)?;
    match args::refused_settings(&matches, command) {
        Some(refused) => Err(refused),
        None => Ok(matches),
    }
}
