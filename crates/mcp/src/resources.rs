//! Resources: what a reply had no room for.
//!
//! `term://sessions`, `term://SESSION/screen`, `term://SESSION/output` (history and screen). Whole,
//! plain text; the ids are the sessions' own, so only who knows one can read it.

use rmcp::model::{Resource, ResourceContents, ResourceTemplate};
use termbridge_session::{SessionError, SessionId, Sessions, SnapshotRequest};

/// The address of the list of sessions.
const SESSIONS: &str = "term://sessions";

pub(crate) async fn list(sessions: &Sessions) -> Vec<Resource> {
    let mut resources = vec![Resource::new(SESSIONS, "sessions")];
    for info in sessions.list().await {
        for part in ["screen", "output"] {
            let uri = format!("term://{}/{part}", info.id);
            let name = format!("{part} of {}", info.name.as_deref().unwrap_or(&info.command));
            resources.push(Resource::new(uri, name));
        }
    }
    resources.into_iter().map(|resource| resource.with_mime_type("text/plain")).collect()
}

pub(crate) fn templates() -> Vec<ResourceTemplate> {
    ["screen", "output"]
        .into_iter()
        .map(|part| {
            ResourceTemplate::new(
                format!("term://{{session_id}}/{part}"),
                format!("session {part}"),
            )
            .with_mime_type("text/plain")
        })
        .collect()
}

/// The text behind an address, or `None` when it is none of ours.
pub(crate) async fn read(
    sessions: &Sessions,
    uri: &str,
) -> Result<Option<ResourceContents>, SessionError> {
    if uri == SESSIONS {
        let lines =
            sessions.list().await.into_iter().map(|info| format!("{} {}", info.id, info.command));
        let text = lines.collect::<Vec<_>>().join("\n");
        return Ok(Some(ResourceContents::text(text, uri)));
    }
    let Some((id, part)) = uri.strip_prefix("term://").and_then(|rest| rest.split_once('/')) else {
        return Ok(None);
    };
    let scrollback = match part {
        "screen" => None,
        "output" => Some(usize::MAX),
        _ => return Ok(None),
    };
    let session = sessions.get(&SessionId::from_text(id))?;
    let snapshot = session.snapshot(SnapshotRequest { since: None, scrollback }).await?;
    let text = match &snapshot.scrollback {
        Some(all) => all.text.clone(),
        None => snapshot.text(),
    };
    Ok(Some(ResourceContents::text(text, uri)))
}
