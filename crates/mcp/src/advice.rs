//! What an answer says of the next call, and what it leaves out because the client was told.

use serde_json::json;
use termbridge_bridge::{Bounded, ScreenHandle};
use termbridge_session::{CommandReport, SessionId, SessionInfo};

use crate::bound::DEFAULT_MAX_BYTES;
use crate::error::hint;
use crate::tool::Context;
use crate::view::View;

/// What `max_bytes` may be at most.
const MOST_BYTES: u64 = 1_048_576;

impl Context {
    /// Words with the names of tools, without those that name one which is not offered.
    pub(crate) fn naming_offered(&self, words: &str) -> String {
        hint::for_tools(words, &hint::NAMES, |name| self.tools.find(name).map(|_| name))
    }

    /// The call that waits for the end of a running command and reads what it printed after the report.
    pub(crate) async fn read_on(
        &self,
        session: &SessionId,
        report: &CommandReport,
    ) -> Option<String> {
        self.tools.find("get_terminal_output")?;
        let since = self.bridge.end_cursor(session, report).await.ok()?;
        let call = json!({"session_id": session.as_str(), "since": since, "until": "end",
            "wait_ms": 30_000});
        Some(format!("get_terminal_output {call}"))
    }

    /// Whether a command runs in a session and shows the alternate screen: its output does not change.
    pub(crate) async fn is_full_screen(&self, session: &SessionInfo) -> bool {
        let is_running = session.shell.is_some_and(|shell| shell.running.is_some());
        let Ok(screen) = self.session(session.id.as_str()) else { return false };
        is_running && screen.screen().await.is_ok_and(|screen| screen.screen.alternate)
    }

    /// The note on a program that is still at work, with the call that waits until it reads on or ends.
    pub(crate) fn still_at_work(&self, session: &SessionId) -> String {
        if self.tools.find("wait_for").is_none() {
            return "still at work".to_owned();
        }
        let call = json!({"session_id": session.as_str(), "needs_input": true, "interactive": true,
            "view": "diff"});
        format!("still at work; read on: wait_for {call}")
    }

    /// The note on a hidden line that a person has to type, with the call that waits for them; `None` if the agent may
    /// type it.
    pub(crate) async fn person_types(
        &self,
        session: &SessionId,
        report: Option<&CommandReport>,
    ) -> Option<String> {
        let note = match self.bridge.asks_person(&self.caller, session).await {
            true => "the user is being asked for it in the editor; do not type",
            false if self.bridge.secrets_by_person() => "a person must type it: tell the user",
            false => return None,
        };
        let read_on = match report {
            Some(report) => self.read_on(session, report).await,
            None => None,
        };
        let wait_for = || {
            self.tools.find("wait_for")?;
            let call =
                json!({"session_id": session.as_str(), "change": true, "timeout_ms": 30_000});
            Some(format!("wait_for {call}"))
        };
        let call = read_on.or_else(wait_for);
        Some(call.map_or_else(|| note.to_owned(), |call| format!("{note}; wait: {call}")))
    }

    /// How what was left out of a command's output can be had; `first` is the first line of it.
    pub(crate) fn rest_of(
        &self,
        session: &SessionId,
        command: u64,
        output: &Bounded,
        first: u64,
    ) -> String {
        let resource = format!("term://{session}/command/{command}");
        if self.tools.find("get_terminal_output").is_none() {
            return resource;
        }
        let mut call =
            json!({"session_id": session.as_str(), "command_id": command, "offset": first});
        if output.cut_lines == 0 {
            // Within one line, which is shown up to this.
            let line = output.cut + (output.head.len() + output.tail.len()) as u64;
            call["max_bytes"] = line.clamp(DEFAULT_MAX_BYTES as u64, MOST_BYTES).into();
        }
        format!("get_terminal_output {call}, or with grep; all: {resource}")
    }

    /// The next diff of the session begins with what this shows.
    pub(crate) fn note_view(&self, session: &ScreenHandle, view: Option<&View>) {
        if let Some(view) = view.filter(|view| view.is_whole()) {
            self.told.note_screen(session.id(), view.seq(), view.is_alternate());
        }
    }
}
