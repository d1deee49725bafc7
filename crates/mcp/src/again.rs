//! Calls that come again after their server has died: each runs at most once.
//!
//! A client of ours that connects anew sends the calls again that have no answer yet, marked. What became of each is
//! in [`Calls`]: one that has ended gets its answer, one that was never begun runs, one that only looks or that does the
//! same when it is done twice runs again, and a command is found by the call's name and waited for. The others, and
//! commands that are not found, get an error that says whether they ran, as far as that is known.

use std::sync::Arc;

use rmcp::model::{CallToolResult, ContentBlock, RequestId};
use serde_json::Value;

use crate::calls::{Calls, Earlier};
use crate::error::ToolError;
use crate::tool::Entry;

/// The tools whose command is found again.
const OF_COMMANDS: [&str; 3] = ["execute_command", "exec", "run"];

/// The code of a call that needs a debug session where none is.
const NO_DEBUG_SESSION: &str = "E_NO_SESSION";
/// What is said then to a client that had an earlier server.
const ENDED_WITH_SERVER: &str =
    "What an earlier server was debugging has ended with it; debug_start starts again.";

/// The hint for a call that may have run.
const LOOK_FIRST: &str = "Look before you repeat it: list_sessions, view_screen.";

/// The calls of one client, which has a name among all.
#[derive(Debug, Clone)]
pub(crate) struct ClientCalls {
    pub(crate) calls: Arc<Calls>,
    pub(crate) client: String,
    /// It comes from an earlier server.
    pub(crate) is_back: bool,
}

/// A call that may come again.
#[derive(Debug, Clone)]
pub(crate) struct NamedCall {
    calls: Arc<Calls>,
    key: String,
    is_again: bool,
}

impl ClientCalls {
    /// Says to a client that comes from an earlier server why there is no debug session.
    pub(crate) fn explain(&self, answer: &mut CallToolResult) {
        if !self.is_back || answer.is_error != Some(true) {
            return;
        }
        let Some(ContentBlock::Text(text)) = answer.content.first_mut() else { return };
        if !text.text.contains(NO_DEBUG_SESSION) {
            return;
        }
        text.text = format!("{}\n{ENDED_WITH_SERVER}", text.text);
        let content = answer.structured_content.as_mut();
        if let Some(Value::String(message)) =
            content.and_then(|content| content.pointer_mut("/error/message"))
        {
            *message = format!("{message}; {ENDED_WITH_SERVER}");
        }
    }

    /// The call with this id.
    pub(crate) fn named(&self, id: &RequestId, is_again: bool) -> NamedCall {
        // With its type: 1 and "1" are two.
        let id = serde_json::to_string(id).unwrap_or_default();
        let key = format!("{} {id}", self.client);
        NamedCall { calls: Arc::clone(&self.calls), key, is_again }
    }
}

impl NamedCall {
    /// The answer to a call that must not run; one that may is noted as begun.
    pub(crate) fn begin(&mut self, entry: &Entry) -> Option<CallToolResult> {
        let earlier = match self.is_again {
            true => self.calls.earlier(&self.key),
            false => Earlier::Unknown,
        };
        let refused = match earlier {
            Earlier::Ended(Some(answer)) => return Some(answer),
            Earlier::Ended(None) => Some("it ran, and its answer was too long to keep".to_owned()),
            Earlier::Begun(Some(Value::String(how_far))) => Some(how_far),
            Earlier::Begun(_) if !may_repeat(entry) => Some("it may have run".to_owned()),
            Earlier::Begun(_) => None,
            Earlier::Unknown => {
                self.is_again = false;
                None
            }
        };
        if let Some(how_far) = refused {
            let is_debugging = ["debug_", "breakpoint_", "test_"]
                .iter()
                .any(|kind| entry.definition.name.starts_with(kind));
            let hint = match is_debugging {
                true => ENDED_WITH_SERVER,
                false => LOOK_FIRST,
            };
            return Some(ToolError::server_restarted(&how_far, hint).into_result());
        }
        self.calls.begin(&self.key);
        None
    }

    /// Notes what of the call has been done, in words for whoever made it.
    pub(crate) fn note(&self, how_far: &str) {
        self.calls.note(&self.key, Value::String(how_far.to_owned()));
    }

    pub(crate) fn end(&self, answer: &CallToolResult) {
        self.calls.end(&self.key, answer);
    }

    /// By what its command in this session, or in the one that is chosen for it, is found.
    pub(crate) fn command_key(&self, session: Option<&str>) -> String {
        format!("{} {}", self.key, session.unwrap_or_default())
    }

    /// An earlier server has begun it.
    pub(crate) fn is_again(&self) -> bool {
        self.is_again
    }

    /// The error of a command that an earlier server has begun and that is not found: its session may be gone.
    pub(crate) fn not_found() -> ToolError {
        let how_far = "the command may have run, and is not found";
        ToolError::server_restarted(how_far, LOOK_FIRST)
    }
}

/// A call that does the same when it is done twice, or whose command is found again.
fn may_repeat(entry: &Entry) -> bool {
    let hints = entry.definition.annotations.as_ref();
    let is_idempotent = hints.is_some_and(|hints| hints.idempotent_hint == Some(true));
    is_idempotent || OF_COMMANDS.contains(&entry.definition.name.as_ref())
}
