//! The binary `termbridge`: arguments, configuration, logging, exit codes.
//!
//! Each command is a file under `commands`. stdout belongs to the protocol in `mcp` and to the answer
//! elsewhere; people and logs get stderr.

mod args;
mod commands;
mod config;
mod duration;
mod logging;

#[cfg(panic = "abort")]
compile_error!("a panic must end one call, not the server: build with panic = \"unwind\"");

use std::process::ExitCode;

use clap::Parser;

use crate::args::{Arguments, Command};

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let result = match arguments.command {
        Command::Mcp(arguments) => commands::mcp::run(arguments),
        Command::Demo(arguments) => commands::demo::run(&arguments),
        Command::History(arguments) => commands::history::run(arguments),
        Command::Policy(arguments) => commands::policy::run(arguments),
        Command::Tools(arguments) => commands::tools::run(&arguments),
        Command::Debug(arguments) => commands::debug::run(arguments),
        Command::Doctor(arguments) => commands::doctor::run(arguments),
        Command::Completions { shell } => Ok(commands::completions::run(shell)),
    };
    match result {
        Ok(code) => code,
        Err(error) => {
            eprintln!("termbridge: {error:#}");
            ExitCode::FAILURE
        }
    }
}
