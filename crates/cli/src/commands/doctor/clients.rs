//! The MCP clients: what their configuration starts is really started, shakes hands and lists its tools.
//!
//! Only entries in the user's own files are started: those of a project are whoever wrote it's, and reading one must not
//! run it. An entry that would use the shared server is started without, because it would start that.

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};
use termbridge_bridge::dap::{CommandLine, Environment as Programs};
use termbridge_clients::{
    Client, InstalledEntry, Place, Scope, StartKind, installed, installed_for_folders, places,
};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::task::JoinSet;

use super::LIMIT;
use super::check::{Check, Group, edit};
use super::running_server;
use crate::commands::clients::environment;
use crate::commands::own_path::lasting_program;
use crate::config::home;

/// Longest answer that is read.
const MAX_ANSWER: u64 = 4 << 20;
/// Most characters of the last words of one that failed.
const MAX_WORDS: u64 = 400;
/// How long a server may take to end when its input has.
const END_LIMIT: Duration = Duration::from_secs(1);
const PROTOCOL: &str = "2025-11-25";

pub(super) async fn check() -> Vec<Check> {
    let environment = match environment() {
        Ok(environment) => environment,
        Err(error) => {
            return vec![Check::failed(
                Group::Clients,
                "clients",
                error.to_string(),
                "export HOME=\"$(getent passwd \"$(id -u)\" | cut -d: -f6)\"",
            )];
        }
    };
    let of_client = |client| places(client, &environment, &Scope::User).unwrap_or_default();
    let found = Client::ALL.into_iter().flat_map(of_client).filter(|place| place.is_found);
    let mut tries = JoinSet::new();
    for (index, place) in found.enumerate() {
        tries.spawn(async move { (index, of_place(&place).await) });
    }
    let mut checks = tries.join_all().await;
    checks.sort_by_key(|(index, _)| *index);
    let mut checks: Vec<Check> = checks.into_iter().flat_map(|(_, checks)| checks).collect();
    if checks.is_empty() {
        let fix = "termbridge install --help";
        checks.push(Check::missing(Group::Clients, "clients", "none was found", fix));
    }
    if let Ok(here) = std::env::current_dir()
        && home().is_none_or(|home| home != here)
    {
        checks.extend(of_project(&here, &environment));
    }
    checks
}

async fn of_place(place: &Place) -> Vec<Check> {
    let install = format!("termbridge install {}", place.client.id());
    let label = place.label();
    let data = json!({"client": place.client.id(), "profile": place.profile, "path": place.path.display().to_string()});
    let entries = match installed(place) {
        Ok(entries) => entries,
        Err(error) => {
            let detail = match std::error::Error::source(&error) {
                Some(cause) if !error.to_string().contains(&cause.to_string()) => {
                    format!("{error}: {cause}")
                }
                _ => error.to_string(),
            };
            let fix = edit(&place.path);
            return vec![Check::failed(Group::Clients, label, detail, fix).data(data)];
        }
    };
    let (here, elsewhere) = for_folders(place);
    if entries.is_empty() && here.is_empty() {
        let detail = match elsewhere {
            0 => format!("found, but termbridge is not in {}", place.path.display()),
            1 => "has termbridge in one other folder only".to_owned(),
            count => format!("has termbridge in {count} other folders only"),
        };
        return vec![Check::missing(Group::Clients, label, detail, install).data(data)];
    }
    let mut checks = Vec::new();
    for entry in here {
        let label = format!("{label} (for this folder only)");
        // Install writes for all folders; this one would still be the one that counts here.
        let remove = format!("claude mcp remove --scope local {}", entry.name);
        let check = of_entry(&entry, &label, &install).await;
        let fix = check.fix.is_some().then_some(remove);
        checks.push(Check { fix, ..check.data(data.clone()) });
    }
    for entry in entries {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        let (label, install) = match entry.name.as_str() {
            "termbridge" => (label.clone(), install.clone()),
            name if name.chars().all(is_plain) => {
                (format!("{label} (entry {name})"), format!("{install} --name {name}"))
            }
            name => (format!("{label} (entry {name})"), install.clone()),
        };
        checks.push(of_entry(&entry, &label, &install).await.data(data.clone()));
    }
    checks
}

/// The entries that a user has for the working directory, and how many there are for others. The folder of a git
/// repository counts for all that is in it.
fn for_folders(place: &Place) -> (Vec<InstalledEntry>, usize) {
    let here = std::env::current_dir().unwrap_or_default();
    let repository = here.ancestors().find(|folder| folder.join(".git").exists());
    let here = repository.unwrap_or(&here);
    let found = installed_for_folders(place).into_iter();
    let (here, elsewhere): (Vec<_>, Vec<_>) = found.partition(|(folder, _)| folder == here);
    (here.into_iter().map(|(_, entry)| entry).collect(), elsewhere.len())
}

fn is_this_program(command: &str) -> bool {
    let own = std::env::current_exe().and_then(std::fs::canonicalize);
    own.is_ok_and(|own| std::fs::canonicalize(command).is_ok_and(|found| found == own))
}

async fn of_entry(entry: &InstalledEntry, label: &str, install: &str) -> Check {
    let command = entry.command.clone().unwrap_or_default();
    if let Some(url) = &entry.url {
        return running_server::check(entry, url, label).await;
    }
    match entry.start {
        // Under another name it is this program all the same.
        StartKind::Foreign if !is_this_program(&command) => {
            let detail = match Path::new(&command).file_stem().is_some_and(|it| it == "termbridge")
            {
                true => "its entry starts termbridge without `mcp`",
                false => "its entry starts another program",
            };
            return Check::warning(Group::Clients, label, detail, format!("{install} --force"));
        }
        StartKind::Runner if Programs::of_process().find_program(&command).is_none() => {
            let detail = format!("{command}, which would run it, is not on your PATH");
            return Check::failed(Group::Clients, label, detail, install);
        }
        StartKind::Runner => {
            let before = entry.args.iter().take_while(|word| *word != "mcp");
            let line = before.fold(command.clone(), |line, word| format!("{line} {word}"));
            let detail = format!(
                "{command} runs it; not started here, because that may download it: `{line} --version` tries it"
            );
            return Check::info(Group::Clients, label, detail);
        }
        StartKind::Program | StartKind::Foreign => {}
    }
    let began = Instant::now();
    let tried = tokio::time::timeout(LIMIT, start(entry)).await;
    // Install keeps what a person chose, which may be what does not work.
    let reinstall = match entry.args.len() > 1 || !entry.env.is_empty() {
        _ if entry.start == StartKind::Foreign => format!("{install} --force"),
        true => format!("{} --yes && {install} --yes", install.replacen("install", "uninstall", 1)),
        false => format!("{install} --yes"),
    };
    let check = match tried {
        Err(_) => {
            let detail = format!("{command} does not answer within {} s", LIMIT.as_secs());
            Check::failed(Group::Clients, label, detail, reinstall)
        }
        Ok(Err(error)) => {
            let detail = without_values(entry, &format!("{error:#}"));
            Check::failed(Group::Clients, label, detail, reinstall)
        }
        Ok(Ok((version, _))) if version != env!("CARGO_PKG_VERSION") => {
            let own = env!("CARGO_PKG_VERSION");
            let detail = format!("{command} is version {version}, this is {own}");
            Check::failed(Group::Clients, label, detail, reinstall)
        }
        Ok(Ok(_)) if !entry.is_enabled => {
            let detail = "works, but is turned off in the client's configuration";
            Check::warning(Group::Clients, label, detail, "turn it on in the client")
        }
        Ok(Ok((_, tools))) => {
            let detail = format!("{command} starts and lists {tools} tools");
            Check::ok(Group::Clients, label, detail)
        }
    };
    check.took(began.elapsed())
}

/// A text without what an entry gives the program in variables and options: that may be secret, and programs that fail
/// tell what they were given.
fn without_values(entry: &InstalledEntry, text: &str) -> String {
    /// Shorter ones are part of other words.
    const MIN_LENGTH: usize = 4;
    let options = entry.args.iter().filter_map(|word| word.split_once('=')).map(|(_, value)| value);
    let mut values: Vec<&str> = entry.env.iter().map(|(_, value)| value.as_str()).collect();
    values.extend(options);
    values.retain(|value| value.len() >= MIN_LENGTH);
    values.sort_by_key(|value| std::cmp::Reverse(value.len()));
    values.iter().fold(text.to_owned(), |text, value| text.replace(value, "***"))
}

/// Starts what an entry says; its version and the number of its tools.
async fn start(entry: &InstalledEntry) -> Result<(String, usize)> {
    let command = entry.command.as_deref().context("it starts no program")?;
    let program = match command.contains(std::path::is_separator) {
        true => Some(command.into()),
        false => lasting_program(command),
    };
    let program = program.with_context(|| format!("{command} is not on your PATH"))?;
    ensure!(program.exists(), "{} does not exist", program.display());
    let args = entry.args.iter().filter(|word| *word != "--connect");
    let mut line = CommandLine::new(&program).args(args);
    line.cwd = home().filter(|home| home.is_dir());
    // A test leaves no trace: no history, no port, no log file.
    let quiet = [
        ("TERMBRIDGE_NO_HISTORY", "1"),
        ("TERMBRIDGE_EDITOR_PORT", "0"),
        ("TERMBRIDGE_EDITOR", "0"),
        ("LOG_LEVEL", "error"),
    ];
    let own = entry.env.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    line.env = own.chain(quiet).map(|(name, value)| (name.into(), Some(value.into()))).collect();
    line.env.push(("TERMBRIDGE_LOG_FILE".into(), None));
    let mut process = line
        .spawn(Stdio::piped())
        .with_context(|| format!("{} cannot be started", program.display()))?;
    let (Some(mut stdin), Some(stdout), Some(stderr)) = process.pipes() else {
        bail!("it has no pipes")
    };
    let mut lines = BufReader::new(stdout.take(MAX_ANSWER));
    let talk = async {
        let client = json!({"name": "termbridge-doctor", "version": env!("CARGO_PKG_VERSION")});
        let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize",
            "params": {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": client}});
        stdin.write_all(format!("{hello}\n").as_bytes()).await?;
        let answer = answer(&mut lines, 1).await?;
        let version = answer["serverInfo"]["version"].as_str().unwrap_or("unknown").to_owned();
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        let list = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}});
        stdin.write_all(format!("{ready}\n{list}\n").as_bytes()).await?;
        let tools = self::answer(&mut lines, 2).await?["tools"].as_array().map_or(0, Vec::len);
        ensure!(tools > 0, "it lists no tools");
        anyhow::Ok((version, tools))
    };
    let result = talk.await;
    // It ends with its input; what does not is killed when this is dropped.
    drop(stdin);
    let _ = tokio::time::timeout(END_LIMIT, process.wait()).await;
    match result {
        Ok(found) => Ok(found),
        Err(error) => {
            let mut words = Vec::new();
            let _ = tokio::time::timeout(END_LIMIT, stderr.take(MAX_WORDS).read_to_end(&mut words))
                .await;
            let words = String::from_utf8_lossy(&words).trim().to_owned();
            let error = if words.is_empty() { error } else { error.context(words) };
            Err(error.context(format!("{} does not work", program.display())))
        }
    }
}

/// The result of the request of that number; other messages are passed over.
async fn answer(lines: &mut BufReader<impl AsyncRead + Unpin>, id: u64) -> Result<Value> {
    loop {
        let mut line = Vec::new();
        if lines.read_until(b'\n', &mut line).await? == 0 {
            bail!("it ended without an answer");
        }
        let mut message: Value = serde_json::from_slice(&line).context("it does not speak MCP")?;
        if message["id"] == id {
            ensure!(
                message["error"].is_null(),
                "it answers with an error: {}",
                message["error"]["message"]
            );
            return Ok(message["result"].take());
        }
    }
}

/// Entries in the working directory's own configuration: named, never started.
fn of_project(here: &Path, environment: &termbridge_clients::Environment) -> Vec<Check> {
    let scope = Scope::Project(here.to_owned());
    let of_client = |client| places(client, environment, &scope).unwrap_or_default();
    let mut seen = Vec::new();
    let mut checks = Vec::new();
    for place in Client::ALL.into_iter().flat_map(of_client).filter(|place| place.path.exists()) {
        if seen.contains(&place.path) {
            continue;
        }
        let entries = installed(&place).unwrap_or_default();
        if let Some(entry) = entries.first() {
            let path = place.path.strip_prefix(here).unwrap_or(&place.path).display();
            // Its arguments may contain anything, and are of no use here.
            let label = format!("{} in this project", place.client);
            let check = match entry.command.as_deref() {
                Some(name)
                    if !name.contains(std::path::is_separator)
                        && lasting_program(name).is_none() =>
                {
                    let detail = format!("{path} starts `{name}`, which is not on your PATH");
                    let fix = "export PATH=\"$PATH:FOLDER\", with the one that has it";
                    Check::warning(Group::Clients, label, detail, fix)
                }
                Some(command) => {
                    let detail = format!(
                        "{path} starts `{command}`; not tried, because it is the project's"
                    );
                    Check::info(Group::Clients, label, detail)
                }
                None => {
                    let detail = format!("{path} uses a server that runs; not tried");
                    Check::info(Group::Clients, label, detail)
                }
            };
            checks.push(check);
        }
        seen.push(place.path);
    }
    checks
}
