//! What the commands for people share: the way to the user's server, and its sessions.
//!
//! They are clients like agents, over the same socket and the same tools, but they act for the person whose
//! server it is: every session is theirs to see. What programs wrote is made printable before it reaches the
//! person's terminal.

use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, anyhow, bail};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use termbridge_mcp::client::Client;
use termbridge_mcp::socket::{Hello, ServerFolder, check_supported, connect_blocking};

use super::{printable, tell};
use crate::config::server_folder;

/// The exit code when there is no server.
const NO_SERVER: u8 = 3;
/// The version of MCP that is spoken.
const PROTOCOL: &str = "2025-11-25";

/// The folder of this user's server.
pub(super) fn folder() -> Result<ServerFolder> {
    check_supported()?;
    Ok(server_folder()?)
}

/// A connection to this user's server; `None` if there is none.
pub(super) fn connect(folder: &ServerFolder) -> Result<Option<Client>> {
    let Ok(stream) = connect_blocking(&folder.socket()) else { return Ok(None) };
    let hello = Hello {
        cwd: std::env::current_dir().unwrap_or_default(),
        client: "termbridge".to_owned(),
        pid: std::process::id(),
        admin: true,
        ..Hello::new()
    };
    let mut client = Client::connect(stream, &hello).context("the server does not answer")?;
    client.initialize(PROTOCOL).context("the server does not answer")?;
    Ok(Some(client))
}

/// Says that there is no server, and what is left of one.
pub(super) fn no_server(folder: &ServerFolder) -> ExitCode {
    tell("termbridge: no termbridge server runs; `termbridge serve` starts one");
    if has_keeper(folder) {
        tell(
            "termbridge: an earlier server's keeper is there: `termbridge serve` takes over what it holds, \
             `termbridge stop --all` ends it",
        );
    }
    ExitCode::from(NO_SERVER)
}

/// Whether a keeper holds programs for the next server.
pub(super) fn has_keeper(folder: &ServerFolder) -> bool {
    connect_blocking(&folder.keeper()).is_ok()
}

/// A session, as the server lists it.
#[derive(Debug, Clone, Deserialize, Serialize)]
pub(super) struct SessionRow {
    pub(super) session_id: String,
    pub(super) name: Option<String>,
    pub(super) command: String,
    pub(super) cwd: String,
    pub(super) rows: u16,
    pub(super) cols: u16,
    pub(super) state: String,
    pub(super) exit_code: Option<i32>,
    pub(super) signal: Option<String>,
    pub(super) created: u64,
    pub(super) last_active: u64,
    pub(super) pid: Option<i32>,
    pub(super) agent: Option<String>,
    pub(super) client: Option<String>,
    pub(super) project: Option<String>,
    #[serde(default)]
    pub(super) busy: bool,
    #[serde(default)]
    pub(super) idle: bool,
    pub(super) foreground: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) target: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) driver: Option<String>,
    #[serde(default)]
    pub(super) shared: bool,
    #[serde(default)]
    pub(super) away: bool,
}

impl SessionRow {
    pub(super) fn is_running(&self) -> bool {
        self.state == "running"
    }

    /// Its state in a word or two.
    pub(super) fn standing(&self) -> String {
        match (self.exit_code, &self.signal) {
            (Some(code), _) => format!("exited {code}"),
            (None, Some(signal)) => format!("ended by {}", printable(signal)),
            (None, None) if self.busy => format!("busy{}", self.note()),
            (None, None) if self.idle => format!("idle{}", self.note()),
            (None, None) => format!("{}{}", self.state, self.note()),
        }
    }

    /// Whose it is at the moment, where that is not an agent; of an editor's terminal that it cannot be used.
    fn note(&self) -> &'static str {
        match (&self.driver, self.shared) {
            _ if self.away => ", its window is away",
            (Some(_), _) => ", a person drives",
            (None, true) => ", shared",
            (None, false) => "",
        }
    }
}

/// Every session; those that have ended as long as they are kept.
pub(super) fn sessions(client: &mut Client) -> Result<Vec<SessionRow>> {
    let mut answer = call(client, "list_sessions", json!({"all": true}))?;
    serde_json::from_value(answer["sessions"].take()).context("the server's list is not understood")
}

/// The session that a text names: its id, its name, or the only id that begins so. A name that several have means
/// the one that runs.
pub(super) fn find(rows: &[SessionRow], text: &str) -> Result<SessionRow> {
    if text.is_empty() {
        bail!("the session's name is empty; `termbridge ls` lists them");
    }
    if let Some(row) = rows.iter().find(|row| row.session_id == text) {
        return Ok(row.clone());
    }
    let named: Vec<_> = rows.iter().filter(|row| row.name.as_deref() == Some(text)).collect();
    let running: Vec<_> = named.iter().copied().filter(|row| row.is_running()).collect();
    let begun: Vec<_> = rows.iter().filter(|row| row.session_id.starts_with(text)).collect();
    let candidates = [running, named, begun].into_iter().find(|rows| !rows.is_empty());
    match candidates.unwrap_or_default().as_slice() {
        [row] => Ok((*row).clone()),
        [] => bail!("no session {text:?}; `termbridge ls --all` lists them"),
        rows => {
            let ids: Vec<&str> = rows.iter().map(|row| row.session_id.as_str()).collect();
            bail!("{text:?} could be any of {}", ids.join(", "))
        }
    }
}

/// Calls a tool; its structured answer.
pub(super) fn call(client: &mut Client, tool: &str, arguments: Value) -> Result<Value> {
    let answer = client.call(tool, arguments).with_context(|| format!("{tool} failed"))?;
    if answer.is_error {
        return Err(anyhow!("{}", printable(&answer.text)));
    }
    if answer.structured.is_null() {
        bail!("the server's settings (structured = \"never\") keep it from answering this command");
    }
    Ok(answer.structured)
}

/// A time span as people say it.
pub(super) fn span(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..120 => format!("{seconds}s"),
        120..7200 => format!("{}m", seconds / 60),
        7200..172_800 => format!("{}h", seconds / 3600),
        _ => format!("{}d", seconds / 86_400),
    }
}

/// How long ago a moment was, in seconds since 1970.
pub(super) fn since(moment: u64) -> Duration {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    now.saturating_sub(Duration::from_secs(moment))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(id: &str, name: Option<&str>, state: &str) -> SessionRow {
        let value = json!({"session_id": id, "name": name, "command": "sh", "cwd": "/", "rows": 24,
            "cols": 80, "state": state, "created": 0, "last_active": 0});
        serde_json::from_value(value).expect("a row")
    }

    #[test]
    fn a_session_is_found_by_id_name_or_beginning() {
        let rows = [
            row("abc1", Some("dev"), "exited"),
            row("abc2", Some("dev"), "running"),
            row("b", None, "running"),
            row("bcd", Some("abc"), "running"),
        ];
        let found = |text: &str| find(&rows, text).map(|row| row.session_id);
        for (text, id) in
            [("abc1", "abc1"), ("dev", "abc2"), ("b", "b"), ("bc", "bcd"), ("abc", "bcd")]
        {
            assert_eq!(found(text).expect("found"), id, "{text}");
        }
        assert!(found("ab").expect_err("two").to_string().contains("abc1, abc2"));
        assert!(found("x").expect_err("none").to_string().contains("ls --all"));
        assert!(found("").expect_err("none is meant").to_string().contains("empty"));
    }

    #[test]
    fn spans_are_short() {
        for (seconds, text) in
            [(0, "0s"), (119, "119s"), (120, "2m"), (7200, "2h"), (200_000, "2d")]
        {
            assert_eq!(span(Duration::from_secs(seconds)), text);
        }
    }
}
