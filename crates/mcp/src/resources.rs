//! Resources: what a reply had no room for.
//!
//! `term://sessions`, `term://SESSION/screen`, `term://SESSION/output` (history and screen),
//! `term://SESSION/command/ID` (a command's whole output). Plain text; the ids are the sessions' own,
//! so only who knows one can read it.

use rmcp::model::{Resource, ResourceContents, ResourceTemplate};
use termbridge_bridge::{Bridge, BridgeError};
use termbridge_session::{SessionError, SessionId};

/// The address of the list of sessions.
const SESSIONS: &str = "term://sessions";
/// Bytes of a command's output in one resource; more is cut in the middle, and said.
const MAX_OUTPUT: usize = 64 * 1024 * 1024;

/// What an address names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Address {
    Sessions,
    Screen(SessionId),
    Output(SessionId),
    Command(SessionId, u64),
}

impl Address {
    pub(crate) fn parse(uri: &str) -> Option<Self> {
        if uri == SESSIONS {
            return Some(Self::Sessions);
        }
        let (id, part) = uri.strip_prefix("term://")?.split_once('/')?;
        let id = SessionId::from_text(id);
        match part.split_once('/') {
            None if part == "screen" => Some(Self::Screen(id)),
            None if part == "output" => Some(Self::Output(id)),
            Some(("command", number)) => Some(Self::Command(id, number.parse().ok()?)),
            _ => None,
        }
    }
}

pub(crate) async fn list(bridge: &Bridge) -> Vec<Resource> {
    let mut resources = vec![Resource::new(SESSIONS, "sessions")];
    for info in bridge.backend().list_sessions().await.unwrap_or_default() {
        let name = info.name.as_deref().unwrap_or(&info.command);
        let parts: &[&str] =
            if bridge.backend().screens().is_some() { &["screen", "output"] } else { &["output"] };
        for part in parts {
            let uri = format!("term://{}/{part}", info.id);
            resources.push(Resource::new(uri, format!("{part} of {name}")));
        }
        for command in info.shell.and_then(|shell| shell.kept).into_iter().flat_map(|(a, b)| a..=b)
        {
            let uri = format!("term://{}/command/{command}", info.id);
            resources.push(Resource::new(uri, format!("command {command} of {name}")));
        }
    }
    resources.into_iter().map(|resource| resource.with_mime_type("text/plain")).collect()
}

pub(crate) fn templates() -> Vec<ResourceTemplate> {
    [
        ("screen", "session screen"),
        ("output", "session output"),
        ("command/{command_id}", "command output"),
    ]
    .into_iter()
    .map(|(part, name)| {
        ResourceTemplate::new(format!("term://{{session_id}}/{part}"), name)
            .with_mime_type("text/plain")
    })
    .collect()
}

/// The text behind an address, or `None` when it is none of ours.
pub(crate) async fn read(
    bridge: &Bridge,
    uri: &str,
) -> Result<Option<ResourceContents>, BridgeError> {
    let backend = bridge.backend();
    let text = match Address::parse(uri) {
        None => return Ok(None),
        Some(Address::Sessions) => {
            let list = backend.list_sessions().await?;
            let lines = list.iter().map(|info| format!("{} {}", info.id, info.command));
            lines.collect::<Vec<_>>().join("\n")
        }
        Some(Address::Screen(id)) => match backend.screens() {
            Some(sessions) => sessions.get(&id)?.screen().await?.text(),
            None => return Err(SessionError::NotFound(id).into()),
        },
        Some(Address::Output(id)) => backend.terminal_text(&id, usize::MAX).await?.text,
        Some(Address::Command(id, command)) => {
            let (_, output) = bridge.output(&id, command, MAX_OUTPUT).await?;
            output.text("get_terminal_output with command_id and offset")
        }
    };
    Ok(Some(ResourceContents::text(text, uri)))
}
