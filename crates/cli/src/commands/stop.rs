//! `termbridge stop`: ends sessions, or everything.
//!
//! Everything, in this order (a stopped keeper is resumed first): the sessions, while the server can still report how they ended; the server; the
//! keeper, with whatever it still holds.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use termbridge_mcp::client::Client;
use termbridge_mcp::socket::{ServerFolder, records};
use termbridge_session::{Keeper, Signal};

use super::people::{SessionRow, call, connect, find, folder, has_keeper, no_server, sessions};
use super::{print, print_json, printable, tell};
use crate::args::StopArguments;

/// How long programs have between the first signal and the last.
const GRACE: Duration = Duration::from_secs(2);
/// How long a server may take to end by itself.
const SERVER_PATIENCE: Duration = Duration::from_secs(5);
/// How long it may take to end.
const SERVER_LIMIT: Duration = Duration::from_secs(15);
const INTERVAL: Duration = Duration::from_millis(10);

pub(crate) fn run(arguments: &StopArguments) -> Result<ExitCode> {
    let folder = folder()?;
    if arguments.all {
        return stop_all(&folder, arguments.json);
    }
    let client = connect(&folder)?;
    let Some(mut client) = client else { return Ok(no_server(&folder)) };
    let rows = sessions(&mut client)?;
    let mut code = ExitCode::SUCCESS;
    let mut stopped = Vec::new();
    for name in &arguments.sessions {
        let outcome = find(&rows, name).and_then(|row| {
            let request =
                json!({"session_id": row.session_id, "grace_ms": GRACE.as_millis() as u64});
            Ok((row.session_id, call(&mut client, "stop_app", request)?))
        });
        match outcome {
            Ok((id, answer)) => stopped.push((id, answer)),
            Err(error) => {
                tell(&format!("termbridge: {error:#}"));
                code = ExitCode::FAILURE;
            }
        }
    }
    report(&stopped, arguments.json)?;
    Ok(code)
}

fn stop_all(folder: &ServerFolder, json: bool) -> Result<ExitCode> {
    // A stopped one would let every session wait, and not end.
    Keeper::resume(&folder.keeper());
    // One that does not answer ends all the same.
    let client = connect(folder).unwrap_or_else(|error| {
        tell(&format!("termbridge: {error:#}"));
        None
    });
    let server = match &client {
        Some(client) => Some(client.pid()),
        None => records(folder)?.first().map(|record| record.pid),
    };
    if server.is_none() && !has_keeper(folder) {
        return Ok(no_server(folder));
    }
    let stopped = match client {
        // The server may not offer what it takes; then the keeper ends what is left.
        Some(mut client) => stop_sessions(&mut client).unwrap_or_default(),
        None => Vec::new(),
    };
    if let Some(pid) = server {
        end_server(folder, pid)?;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let has_ended = runtime.block_on(Keeper::end_all(folder.keeper(), GRACE));
    let had_keeper = has_ended.context("the keeper does not end")?;
    folder.forget_sessions()?;
    if json {
        let sessions: Vec<Value> = stopped.iter().map(as_json).collect();
        return print_json(&json!({"sessions": sessions, "server": server, "keeper": had_keeper}));
    }
    report(&stopped, false)?;
    let mut ended = Vec::new();
    ended.extend(server.map(|pid| format!("server (pid {pid}) ended\n")));
    ended.extend(had_keeper.then(|| "keeper ended\n".to_owned()));
    print(&ended.concat())
}

/// Ends every session, all at once; each id with the answer.
fn stop_sessions(client: &mut Client) -> Result<Vec<(String, Value)>> {
    let running = sessions(client)?.into_iter().filter(SessionRow::is_running);
    let mut asked = Vec::new();
    for row in running {
        let arguments = json!({"session_id": row.session_id, "grace_ms": GRACE.as_millis() as u64});
        let params = json!({"name": "stop_app", "arguments": arguments});
        asked.push((row.session_id, client.begin("tools/call", params)?));
    }
    let mut stopped = Vec::new();
    for (id, request) in asked {
        // One that ended meanwhile, or cannot be ended from here, is no reason to leave the others.
        if let Ok(mut answer) = client.finish(request)
            && answer["isError"] != true
        {
            stopped.push((id, answer["structuredContent"].take()));
        }
    }
    Ok(stopped)
}

/// Ends the server's process and waits until it is gone.
fn end_server(folder: &ServerFolder, pid: u32) -> Result<()> {
    let end =
        |signal| termbridge_session::end_process(pid, signal).context("the server cannot be ended");
    end(Signal::TERM)?;
    let mut patience = Some(Instant::now() + SERVER_PATIENCE);
    let deadline = Instant::now() + SERVER_LIMIT;
    let lives = || -> Result<bool> {
        let is_listed = records(folder)?.iter().any(|record| record.pid == pid);
        Ok(is_listed || termbridge_session::is_running(pid.cast_signed()))
    };
    while lives()? {
        if patience.take_if(|patience| Instant::now() >= *patience).is_some() {
            end(Signal::KILL)?;
        }
        if Instant::now() >= deadline {
            bail!("the server (pid {pid}) does not end");
        }
        std::thread::sleep(INTERVAL);
    }
    Ok(())
}

fn report(stopped: &[(String, Value)], json: bool) -> Result<ExitCode> {
    if json {
        return print_json(&stopped.iter().map(as_json).collect::<Value>());
    }
    print(&stopped.iter().map(as_line).collect::<String>())
}

fn as_json((id, answer): &(String, Value)) -> Value {
    let mut shown = answer.clone();
    if shown.is_object() {
        shown["session_id"] = id.as_str().into();
    }
    shown
}

fn as_line((id, answer): &(String, Value)) -> String {
    let end = match (answer["exit_code"].as_i64(), answer["signal"].as_str()) {
        (Some(code), _) => format!("exited {code}"),
        (None, Some(signal)) => format!("ended by {}", printable(signal)),
        (None, None) => "ended".to_owned(),
    };
    let before = if answer["already_ended"] == true { " before" } else { "" };
    let left: Vec<String> = answer["detached"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|process| {
            format!(
                "; {} ({}) keeps running",
                printable(process["name"].as_str().unwrap_or("?")),
                process["pid"]
            )
        })
        .collect();
    format!("{id}  {end}{before}{}\n", left.concat())
}
