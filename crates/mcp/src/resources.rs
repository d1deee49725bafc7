//! Resources: what a reply had no room for.
//!
//! `term://sessions`, `term://SESSION/screen`, `term://SESSION/output` (history and screen),
//! `term://SESSION/command/ID` (a command's whole output), `docs://PAGE` (guides and tool pages of the
//! debugger), plain text for whoever may use the session; `file:///PATH` (see `files`).

pub(crate) mod files;

use rmcp::model::{Resource, ResourceContents, ResourceTemplate};
use termbridge_bridge::{Bridge, BridgeError, Caller, Debugging};
use termbridge_session::SessionId;

use crate::offered::Offered;

/// The address of the list of sessions.
const SESSIONS: &str = "term://sessions";
/// What the addresses of guides and tool pages begin with.
const DOCS: &str = "docs://";
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

/// A page of all that can be read, and the cursor of the next; `None` for a cursor that is none of ours.
pub(crate) async fn page(
    bridge: &Bridge,
    caller: &Caller,
    tools: &Offered,
    cursor: Option<&str>,
) -> Option<(Vec<Resource>, Option<String>)> {
    match cursor {
        Some(cursor) => files::list(bridge, caller, cursor).await,
        None => {
            let next = bridge.has_files(caller).then(|| files::FIRST.to_owned());
            Some((list(bridge, caller, tools.debugging()).await, next))
        }
    }
}

async fn list(bridge: &Bridge, caller: &Caller, debugging: Option<&Debugging>) -> Vec<Resource> {
    let mut resources = vec![Resource::new(SESSIONS, "sessions")];
    for info in bridge.sessions(caller).await.unwrap_or_default().sessions {
        let name = info.name.as_deref().unwrap_or(&info.command);
        let parts: &[&str] =
            if bridge.shows_screen(&info.id) { &["screen", "output"] } else { &["output"] };
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
    let plain = resources.into_iter().map(|resource| resource.with_mime_type("text/plain"));
    let guides = debugging.into_iter().flat_map(|debugging| {
        // The tools' pages are found by docs_list, or by the template; here they would be noise.
        debugging.docs().list(Some("guide"), &[]).map(|page| {
            Resource::new(format!("{DOCS}{}", page.id), page.title.clone())
                .with_mime_type("text/markdown")
        })
    });
    plain.chain(guides).collect()
}

pub(crate) fn templates(
    bridge: &Bridge,
    caller: &Caller,
    debugging: Option<&Debugging>,
) -> Vec<ResourceTemplate> {
    let docs = debugging.map(|_| {
        ResourceTemplate::new(format!("{DOCS}{{page}}"), "guide or tool page")
            .with_mime_type("text/markdown")
    });
    let terminals = [
        ("screen", "session screen"),
        ("output", "session output"),
        ("command/{command_id}", "command output"),
    ]
    .into_iter()
    .map(|(part, name)| {
        ResourceTemplate::new(format!("term://{{session_id}}/{part}"), name)
            .with_mime_type("text/plain")
    });
    terminals.chain(docs).chain(files::template(bridge, caller)).collect()
}

/// The text behind an address, or `None` when it is none of ours.
pub(crate) async fn read(
    bridge: &Bridge,
    caller: &Caller,
    tools: &Offered,
    uri: &str,
) -> Result<Option<ResourceContents>, BridgeError> {
    if let Some(id) = uri.strip_prefix(DOCS) {
        let page = tools.debugging().and_then(|debugging| debugging.docs().get(id));
        return Ok(page.map(|page| {
            let note = tools.note_on_missing(&page.text).unwrap_or_default();
            ResourceContents::text(format!("{note}{}", page.text), uri)
        }));
    }
    let text = match Address::parse(uri) {
        None => return files::read(bridge, caller, uri).await,
        Some(Address::Sessions) => {
            let list = bridge.sessions(caller).await?.sessions;
            let lines = list.iter().map(|info| format!("{} {}", info.id, info.command));
            lines.collect::<Vec<_>>().join("\n")
        }
        Some(Address::Screen(id)) => bridge.screen(caller, &id)?.screen().await?.text(),
        Some(Address::Output(id)) => bridge.terminal_text(caller, &id, usize::MAX).await?.text,
        Some(Address::Command(id, command)) => {
            bridge.session(caller, &id).await?;
            let (_, output) = bridge.output(&id, command, MAX_OUTPUT).await?;
            output.text("get_terminal_output with command_id and offset")
        }
    };
    Ok(Some(ResourceContents::text(text, uri)))
}
