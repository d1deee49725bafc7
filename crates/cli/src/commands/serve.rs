//! `termbridge serve`: one server for many clients, over HTTP, WebSocket and a unix socket.
//!
//! Its sessions are left to the next one. Ending: no further client is let in, waits end and are answered, debug
//! sessions end, and the process goes without taking anything apart: what the next server finds is what it would find
//! after a kill. Clients of ours that come again get their answers from that one.

use std::fs::File;
use std::io::{ErrorKind, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};
use serde_json::json;
use termbridge_bridge::{Bridge, NativeBackend};
use termbridge_mcp::http::HttpEndpoint;
use termbridge_mcp::socket::{
    ServerFolder, ServerRecord, SocketError, SocketListener, SocketServer, check_supported, records,
};
use termbridge_mcp::{Calls, McpServer};
use termbridge_session::files::make_private_file;
use termbridge_session::{Claim, Keeper, KeeperLoss, Lasting, Sessions, Signal, State};
use termbridge_web::{NewToken, TokenStore, WebError, WebListener, WebServer, editor_tls};
use tokio_util::sync::CancellationToken;

use super::editors::{Editors, Listening, socket_door};
use super::{EndingSignals, tell, token};
use crate::args::ServeArguments;
use crate::config::{Config, ServeConfig, connection_room, server_folder};
use crate::logging;

/// How long requests under way may take to be answered when the server ends.
const GRACE: Duration = Duration::from_millis(500);
/// How long the server that is replaced may take to end, before it is killed, and then again.
const REPLACE_LIMIT: Duration = Duration::from_secs(10);
const REPLACE_INTERVAL: Duration = Duration::from_millis(20);
/// How long a server that a client started stays without any client and any program that runs.
const UNUSED_LIMIT: Duration = Duration::from_mins(10);
const UNUSED_INTERVAL: Duration = Duration::from_secs(5);
/// Bytes of the file with the first token.
const MAX_TOKEN: u64 = 4096;
/// The name of the token that the first start makes.
const FIRST_TOKEN: &str = "first";
/// What stands for a token whose text is not known here.
const PLACEHOLDER: &str = "YOUR_TOKEN";

pub(crate) fn run(mut arguments: ServeArguments) -> Result<ExitCode> {
    let mut config = Config::load(std::mem::take(&mut arguments.mcp))?;
    let serving = ServeConfig::new(arguments, &mut config)?;
    logging::start(&config.log)?;
    let runtime = super::runtime()?;
    let code = runtime.block_on(serve(&config, serving));
    // The sessions' files are the next server's: nothing is dropped.
    std::mem::forget(runtime);
    code
}

async fn serve(config: &Config, serving: ServeConfig) -> Result<ExitCode> {
    let mut signals = EndingSignals::catch()?;
    let folder = server_folder()?;
    if serving.replaces {
        // By its record, which is found by whoever could connect.
        check_supported().context("--replace")?;
    }
    let started_by_client = serving.started_by_client;
    // What is wrong with the address is found before anything is ended for it.
    let claim = if started_by_client { None } else { claim_start(&folder).await? };
    let early = if started_by_client { None } else { listen_early(&folder, &serving).await? };
    // The one lock: whoever has it is the user's server.
    let mut socket = match SocketListener::bind(&folder) {
        Err(SocketError::Taken { .. }) if replaces(&folder, &serving)? => {
            take_over(&folder).await?
        }
        bound => bound?,
    };
    let listener = match early {
        None if !started_by_client => Some(WebListener::bind(serving.address, &serving.web).await?),
        early => early,
    };
    let keeper = Lasting { claim: Claim::TakeOver, ..Lasting::new(folder.keeper()) };
    let keeper = Keeper::lasting(keeper).await.context("no keeper for the sessions")?;
    let sessions = Sessions::lasting(config.settings.clone(), keeper.clone(), folder.sessions());
    let (settings, history) = (config.bridge.clone(), config.history.clone());
    let stop = CancellationToken::new();
    let listening = if started_by_client { Listening::WhenUsed } else { Listening::AtOnce };
    let tls = serving.web.tls.as_ref().map(editor_tls).transpose()?;
    let native = NativeBackend::new(sessions.clone());
    let editors = Editors::new(&config.editor);
    if let Some(editors) = &editors {
        editors.adopt(folder.editor_terminals());
    }
    let backends = Editors::beside(editors.as_ref(), native);
    // There is one at least.
    let bridge = Bridge::with_backends(backends, settings, config.policy()?, history)
        .context("there are no terminals")?;
    let calls = Calls::open(&folder.calls());
    let server = McpServer::new(bridge.clone(), config.offer()?)?.with_calls(Arc::new(calls));
    adopt(&sessions, &bridge, &folder).await?;
    // Not before what an earlier server left can be shown.
    let editors = editors.map(|editors| editors.open(bridge.clone(), listening, tls, &stop));
    let tokens = Arc::new(token::store()?);
    let web = listener.map(|listener| {
        let endpoint = Arc::new(HttpEndpoint::new(server.clone(), &serving.http));
        WebServer::new(listener, serving.web, endpoint, Arc::clone(&tokens), stop.clone())
    });
    let url = web.as_ref().map(WebServer::url);
    socket.announce(&ServerRecord {
        pid: std::process::id(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        started: SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs(),
        socket: socket.path(),
        http: url.clone(),
        workspace: config.workspace().to_owned(),
    })?;
    drop(claim);
    if let Some(url) = &url {
        let text = first_token(&tokens, &folder.token())?;
        greet(url, &socket.path(), &folder.token(), text.as_deref());
    }
    let sweep = tokio::task::spawn_blocking(termbridge_session::sweep_stale_folders);
    // Kept until the process ends: the next server begins when everything is left in order.
    std::mem::forget(socket.lock());
    let mut socket = SocketServer::new(socket).with_room_for(connection_room());
    if let Some(service) = editors {
        socket = socket.with_editors(socket_door(service, &stop));
    }
    let serving = tokio::spawn({
        let (server, stop) = (server.clone(), stop.clone());
        let web = async {
            if let Some(web) = web {
                web.run(GRACE).await;
            }
        };
        async move { tokio::join!(web, socket.run(server, stop, GRACE)) }
    });
    let code = tokio::select! {
        code = signals.next() => code,
        () = unused(&server, &sessions), if started_by_client => ExitCode::SUCCESS,
        loss = keeper.lost() => {
            tell(&format!("termbridge: {}", words_of(loss)));
            ExitCode::FAILURE
        }
    };
    tracing::info!("ending");
    server.end_waits();
    stop.cancel();
    let _ = serving.await;
    drop(sweep);
    server.end_debugging().await;
    let left =
        sessions.list().await.into_iter().filter(|info| info.state == State::Running).count();
    sessions.leave().await;
    bridge.close().await;
    if left > 0 {
        tell(&format!(
            "termbridge: {left} sessions keep running. `termbridge serve` adopts them; `termbridge stop --all` ends them."
        ));
    }
    Ok(code)
}

/// The right to start a server: until this one is announced, no client starts another. `None` if others do not let go
/// of it.
async fn claim_start(folder: &ServerFolder) -> Result<Option<File>> {
    let until = Instant::now() + REPLACE_LIMIT;
    loop {
        let claim = folder.claim_start().context("cannot claim the right to start a server")?;
        if claim.is_some() || Instant::now() >= until {
            return Ok(claim);
        }
        tokio::time::sleep(REPLACE_INTERVAL).await;
    }
}

/// Listens for HTTP; `None` while a server of ours may be what holds the port.
async fn listen_early(folder: &ServerFolder, serving: &ServeConfig) -> Result<Option<WebListener>> {
    let running = records(folder)?;
    match WebListener::bind(serving.address, &serving.web).await {
        Err(WebError::Taken { holder, .. })
            if holder
                .as_ref()
                .is_none_or(|(pid, _)| running.iter().any(|record| record.pid == *pid)) =>
        {
            Ok(None)
        }
        bound => Ok(Some(bound?)),
    }
}

/// Whether the server that runs is to go: it was asked for, or a client has started that one, which listens on the
/// socket alone.
fn replaces(folder: &ServerFolder, serving: &ServeConfig) -> Result<bool> {
    let was_started_by_client =
        || records(folder).map(|all| all.iter().any(|it| it.http.is_none()));
    Ok(serving.replaces || !serving.started_by_client && was_started_by_client()?)
}

/// Takes over what an earlier server left.
async fn adopt(sessions: &Sessions, bridge: &Bridge, folder: &ServerFolder) -> Result<()> {
    let adoption = sessions.adopt().await.context("cannot adopt what an earlier server left")?;
    for (session, why) in &adoption.lost {
        tell(&format!("termbridge: session {session} could not be adopted and was ended: {why}"));
    }
    let all = sessions.list().await;
    let running = all.iter().filter(|info| info.state == State::Running).count();
    if running > 0 {
        tell(&format!("termbridge: {running} sessions of an earlier server continue"));
    }
    bridge.adopted(folder.agents()).await;
    Ok(())
}

/// The socket, once the server that has it has ended.
async fn take_over(folder: &ServerFolder) -> Result<SocketListener> {
    let mut told = None;
    let mut until = Instant::now() + REPLACE_LIMIT;
    loop {
        match SocketListener::bind(folder) {
            Ok(socket) => return Ok(socket),
            Err(SocketError::Taken { pid: Some(pid) }) if told != Some(pid) => {
                termbridge_session::end_process(pid, Signal::TERM)?;
                told = Some(pid);
                until = Instant::now() + REPLACE_LIMIT;
            }
            Err(SocketError::Taken { pid }) => {
                if Instant::now() >= until + REPLACE_LIMIT {
                    bail!("the running server does not end: `termbridge status` shows it");
                }
                // It leaves the same to us whichever way it ends.
                let late = pid.filter(|_| Instant::now() >= until);
                late.map(|pid| termbridge_session::end_process(pid, Signal::KILL)).transpose()?;
            }
            Err(error) => return Err(error.into()),
        }
        tokio::time::sleep(REPLACE_INTERVAL).await;
    }
}

/// Completes when nobody has used the server for long.
async fn unused(server: &McpServer, sessions: &Sessions) {
    let mut since = Instant::now();
    while since.elapsed() < UNUSED_LIMIT {
        tokio::time::sleep(UNUSED_INTERVAL).await;
        let runs = async || sessions.list().await.iter().any(|info| info.state == State::Running);
        if server.metrics().clients() > 0 || runs().await {
            since = Instant::now();
        }
    }
    tracing::info!("unused");
}

fn words_of(loss: KeeperLoss) -> String {
    match loss {
        KeeperLoss::TakenOver { by } => format!("another server (pid {by}) has taken over"),
        KeeperLoss::Gone => "the keeper of the sessions has closed the connection".to_owned(),
    }
}

/// The token that the first start made, if its text is still to be had. The first start is one without any valid
/// token; a later one makes none: what a client was configured with stays valid, and a file that is gone with the
/// runtime folder is no reason for another.
fn first_token(tokens: &TokenStore, path: &Path) -> Result<Option<String>> {
    match termbridge_foreign_files::read_to_string(path, MAX_TOKEN) {
        Ok(text) if tokens.verify(text.trim())?.is_some() => {
            return Ok(Some(text.trim().to_owned()));
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        // A token of before, or nothing that was written here.
        Ok(_) => std::fs::remove_file(path).with_context(|| path.display().to_string())?,
        Err(error) if error.kind() == ErrorKind::InvalidData => {
            std::fs::remove_file(path).with_context(|| path.display().to_string())?;
        }
        Err(error) => return Err(error).with_context(|| path.display().to_string()),
    }
    let now = SystemTime::now();
    if tokens.all()?.iter().any(|token| token.is_valid_at(now)) {
        return Ok(None);
    }
    let (_, text) = tokens.create(NewToken { name: FIRST_TOKEN.into(), ..NewToken::default() })?;
    let write = || -> std::io::Result<()> {
        let mut file = make_private_file(path)?;
        writeln!(file, "{text}")
    };
    write().with_context(|| path.display().to_string())?;
    Ok(Some(text))
}

/// Says where it listens, and how clients are told. The token itself goes to a terminal alone: a log is no place for it.
fn greet(url: &str, socket: &Path, token_file: &Path, text: Option<&str>) {
    let shown = text.filter(|_| std::io::stderr().is_terminal());
    let token = shown.unwrap_or(PLACEHOLDER);
    let header = json!({"Authorization": format!("Bearer {token}")});
    let code = json!({"servers": {"termbridge": {"type": "http", "url": url, "headers": header}}});
    let plain =
        json!({"mcpServers": {"termbridge": {"type": "http", "url": url, "headers": header}}});
    let whence = match text {
        Some(_) => format!("The token is in {}.", token_file.display()),
        None => format!("For {PLACEHOLDER}, run `termbridge token create`."),
    };
    let socket = match check_supported() {
        Ok(()) => format!(", and {}", socket.display()),
        Err(_) => String::new(),
    };
    tell(&format!(
        "termbridge: listening on {url}, /ws beside it{socket}\n\n\
         Claude Code:\n  claude mcp add --scope user --transport http termbridge {url} --header \"Authorization: Bearer {token}\"\n\
         VS Code (.vscode/mcp.json):\n  {code}\n\
         Others:\n  {plain}\n\n{whence} Ctrl+C ends the server; what runs goes on."
    ));
}
