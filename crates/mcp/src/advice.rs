//! What an answer says of the next call, and what it leaves out because the client was told.

use serde_json::json;
use termbridge_session::{CommandReport, Session, SessionId};

use crate::error::hint;
use crate::tool::Context;
use crate::view::View;

impl Context {
    /// Words with the names of tools, without those that name one which is not offered.
    pub(crate) fn naming_offered(&self, words: &str) -> String {
        hint::for_tools(words, &hint::NAMES, |name| self.tools.find(name).map(|_| name))
    }

    /// The call that reads on behind what a running command has printed.
    pub(crate) async fn read_on(
        &self,
        session: &SessionId,
        report: &CommandReport,
        is_current: bool,
    ) -> Option<String> {
        self.tools.find("get_terminal_output")?;
        let cursor = self.bridge.end_cursor(session, report).await.ok()?;
        let mut call = json!({"since": cursor, "wait_ms": 30_000});
        if !is_current {
            call["session_id"] = session.as_str().into();
        }
        Some(format!("get_terminal_output {call}"))
    }

    /// How what was left out of a command's output can be had.
    pub(crate) fn rest_of(
        &self,
        session: &SessionId,
        command: u64,
        offset: Option<usize>,
    ) -> String {
        let resource = format!("term://{session}/command/{command}");
        if self.tools.find("get_terminal_output").is_none() {
            return resource;
        }
        let mut call = json!({"session_id": session.as_str(), "command_id": command});
        if let Some(offset) = offset {
            call["offset"] = offset.into();
        }
        format!("get_terminal_output {call}, or with grep; all: {resource}")
    }

    /// The next diff of the session begins with what this shows.
    pub(crate) fn note_view(&self, session: &Session, view: Option<&View>) {
        if let Some(view) = view {
            self.told.note_seq(session.id(), Some(view.seq()));
        }
    }
}
