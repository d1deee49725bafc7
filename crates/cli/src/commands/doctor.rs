//! `termbridge doctor`: what works, what does not and why, what is missing, and the command that helps.
//!
//! A group of checks is a module; a check is a function that gives a [`Check`]. All of them run at once, each within a
//! limit. What they start ends with them, whatever ends them: nothing is changed, and nothing stays.

mod bundle;
mod check;
mod clients;
mod debuggers;
mod kernel;
mod limits;
mod ports;
mod program;
mod running_server;
mod server;
mod shells;
mod show;

use std::iter;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use clap::{CommandFactory, FromArgMatches};
use termbridge_session::{Sessions, Settings};

use self::check::{Check, Group, Status};
use self::show::Colour;
use super::own_path;
use super::{Debugging, EndingSignals, json_line, print, tell, wants_colour};
use crate::args::{DebuggingArguments, DoctorArguments, McpArguments, ServerEnvironment};
use crate::config::{Config, EMPTY_CONFIG, config_path};
use crate::environment;

/// How long any check may take; debuggers have a limit of their own.
const LIMIT: Duration = Duration::from_secs(6);
/// How long processes may take to end.
const END_LIMIT: Duration = Duration::from_secs(3);

pub(crate) fn run(arguments: DoctorArguments) -> Result<ExitCode> {
    let DoctorArguments { debugging, json, config, bundle } = arguments;
    let file = bundle.map(|file| file.unwrap_or_else(bundle::default_file));
    if let Some(file) = &file {
        bundle::check_free(file)?;
    }
    let mut checks = Vec::new();
    let config_file = config.clone().or_else(config_path);
    let trusted = debugging.workspace.clone();
    let config = configuration(debugging, config, &mut checks)?;
    let runtime = super::runtime()?;
    let examined = runtime.block_on(examine(&config, trusted.as_deref()));
    // What checks that were cut short had started ends with their tasks.
    runtime.shutdown_timeout(END_LIMIT);
    match examined? {
        Ok(found) => checks.extend(found),
        Err(interrupted) => return Ok(interrupted),
    }
    checks.sort_by_key(|check| check.group);
    // Where its name is not enough, the command that helps has its path.
    let typed = own_path::typed().unwrap_or_else(|_| "termbridge".to_owned());
    for fix in checks.iter_mut().filter_map(|check| check.fix.as_mut()) {
        if let Some(rest) = fix.strip_prefix("termbridge ") {
            let rest = rest.replace("&& termbridge ", &format!("&& {typed} "));
            *fix = format!("{typed} {rest}");
        }
    }
    match json {
        true => print(&format!("{}\n", json_line(&show::as_json(&checks))?))?,
        false => {
            let colour = if wants_colour(&std::io::stdout()) { Colour::Yes } else { Colour::No };
            print(&show::as_text(&checks, colour))?
        }
    };
    if let Some(file) = &file {
        tell(&bundle::write(file, &checks, config_file.as_deref())?);
    }
    let has_failed = checks.iter().any(|check| check.status == Status::Failed);
    Ok(if has_failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// What a server of a client would get: the file and the environment. What is wrong there is a check that failed, and the
/// rest is checked without.
fn configuration(
    debugging: DebuggingArguments,
    file: Option<PathBuf>,
    checks: &mut Vec<Check>,
) -> Result<Config> {
    let mut failed = |name: &str, detail: String, fix: String| {
        checks.push(Check::failed(Group::Program, name, detail, fix));
    };
    let command = environment::without_empty_variables(ServerEnvironment::command());
    let parsed = command.try_get_matches_from(iter::empty::<&str>());
    let parsed = parsed.and_then(|found| ServerEnvironment::from_arg_matches(&found));
    let mcp = match parsed {
        Ok(parsed) => parsed.mcp,
        Err(error) => {
            let text = error.to_string();
            let text = text.lines().next().unwrap_or_default().trim_start_matches("error: ");
            let fix = "env | grep -E 'TERMBRIDGE_|MCP_PORT|LOG_LEVEL'";
            failed("environment", text.to_owned(), fix.to_owned());
            McpArguments::default()
        }
    };
    let path = file.clone().or_else(config_path);
    let error = match Config::load(McpArguments { config: file, debugging, ..mcp }) {
        Ok(config) => return Ok(config),
        Err(error) => error,
    };
    let fix = match path.filter(|path| path.exists()) {
        Some(path) => check::edit(&path),
        None => "termbridge mcp --help".to_owned(),
    };
    failed("configuration", format!("{error:#}"), fix);
    let nothing = Some(PathBuf::from(EMPTY_CONFIG));
    Config::load(McpArguments { config: nothing, ..McpArguments::default() })
}

/// Every check; or the exit code if a signal came first.
async fn examine(config: &Config, trusted: Option<&Path>) -> Result<Result<Vec<Check>, ExitCode>> {
    let mut signals = EndingSignals::catch()?;
    // Not bounded by the user's settings: one session per shell is wanted at once.
    let sessions = Sessions::new(Settings::default());
    let debugging = Debugging::new(config);
    let checks = async {
        // Before servers are started, which remove what others left.
        let mut checks = server::check();
        let debuggers = async {
            match &debugging {
                Ok(debugging) => debuggers::check(debugging, trusted).await,
                Err(error) => {
                    let fix = "termbridge doctor --workspace FOLDER";
                    vec![Check::failed(Group::Debugging, "workspace", format!("{error:#}"), fix)]
                }
            }
        };
        let (shells, clients, debuggers, program) = tokio::join!(
            shells::check(&sessions, config),
            clients::check(),
            debuggers,
            program::check()
        );
        checks.extend(program.into_iter().chain(shells).chain(clients).chain(debuggers));
        checks.extend(ports::check(config));
        checks.extend(kernel::check().into_iter().chain(limits::check(config)));
        checks
    };
    let outcome = tokio::select! {
        checks = checks => Ok(checks),
        code = signals.next() => Err(code),
    };
    let end = async {
        if let Ok(debugging) = &debugging {
            debugging.end().await;
        }
        sessions.shutdown().await;
    };
    let _ = tokio::time::timeout(END_LIMIT, end).await;
    Ok(outcome)
}
