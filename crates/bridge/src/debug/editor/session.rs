//! Whether there is a session, and its end. After some failed calls the published extension refuses all calls for a
//! while, so a call that needs a session is sent only if there is one.
//!
//! js-debug runs a program in a child of the session that was started. After the program's end the editor still lists the
//! parent, although its debugger has ended too: every request to it fails.

use serde_json::{Value, json};

use super::words::NO_DEBUGGER;
use super::{EditorBackend, QUESTION, halt, read};
use crate::debug::answer::{Answer, End, Halt, Runs, TrackedRun};
use crate::debug::{DebugCall, DebugFailure};

/// Most parents that are ended with a session.
const MAX_PARENTS: usize = 3;

/// The failure of a call without a session.
pub(super) fn none() -> DebugFailure {
    DebugFailure::new("E_NO_SESSION", "no session is active in the editor")
}

/// Whether a script needs a session and does not request the status itself.
pub(super) fn is_needed_by(script: &str) -> bool {
    matches!(
        script,
        "debug.continue"
            | "debug.step-over"
            | "debug.step-into"
            | "debug.step-out"
            | "debug.restart"
            | "debug.scopes"
            | "debug.evaluate"
            | "debug.list-variables"
            | "debug.get-variable"
            | "debug.set-variable"
            | "debug.save-variable"
    )
}

impl EditorBackend {
    /// The status. A session whose debugger has ended is not active.
    pub(super) async fn live_status(&self, call: &DebugCall) -> Result<Value, DebugFailure> {
        let status = self.ask_status(call).await?;
        let is_active = status["isActive"] == true && !self.is_gone(call, &status).await;
        self.memory.note_session(is_active);
        Ok(if is_active { status } else { json!({"isActive": false}) })
    }

    /// Whether the debugger of the session that a status names has ended.
    async fn is_gone(&self, call: &DebugCall, status: &Value) -> bool {
        let id = read::text(&status["sessionId"]);
        let has_threads = !read::list(&status["threads"]).is_empty();
        if halt::is_paused(status) || has_threads {
            return false;
        }
        if self.memory.is_gone(&id) {
            return true;
        }
        let threads = self.run(call, "debug.threads", json!({}), QUESTION).await;
        let is_gone =
            threads.is_err_and(|failure| failure.message.to_lowercase().contains(NO_DEBUGGER));
        if is_gone {
            self.memory.note_gone(&id);
        }
        is_gone
    }

    /// `debug.stop`: ends the session and its parents.
    pub(super) async fn end(&self, call: &DebugCall) -> Result<Answer, DebugFailure> {
        // Also a session whose debugger has ended.
        let is_known = self.memory.has_session();
        if !is_known && self.ask_status(call).await?["isActive"] != true {
            return Err(none());
        }
        let said = self.run_own(call).await?;
        let mut stopped: Vec<String> =
            read::list(&said["stoppedSessions"]).iter().filter_map(read::words).collect();
        for _ in 0..MAX_PARENTS {
            let status = self.ask_status(call).await.unwrap_or_default();
            let id = read::text(&status["sessionId"]);
            if status["isActive"] != true {
                break;
            }
            if stopped.contains(&id) {
                // It was ended, and is still listed.
                self.memory.note_gone(&id);
                break;
            }
            // A person's own program stays.
            if !self.memory.was_started(&id) && !self.is_gone(call, &status).await {
                break;
            }
            let params = json!({ "sessionId": id });
            if self.run(call, "debug.stop", params, QUESTION).await.is_err() {
                break;
            }
            stopped.push(id);
        }
        let end = End {
            state: End::STATE,
            stopped: Some(!stopped.is_empty()),
            session_id: stopped.into_iter().next(),
            ..End::default()
        };
        Ok(Answer::Halt(Halt::End(Box::new(end))))
    }

    /// `debug.tracker`: the latest session that the extension recorded. Its own script lists none, and starts another
    /// recording.
    pub(super) async fn tracked(&self, call: &DebugCall) -> Result<Answer, DebugFailure> {
        let said = match self.run(call, "dap.summary", json!({}), QUESTION).await {
            Err(failure) if failure.code == "E_NO_SESSION" => Value::Null,
            said => said?,
        };
        let (session, counts) = (&said["session"], &said["counts"]);
        let run = read::words(&session["id"]).map(|session_id| TrackedRun {
            session_id,
            name: read::text(&session["name"]),
            adapter: read::text(&session["type"]),
            live: session["status"] != "terminated",
            events: ["totalOutputs", "stoppedEvents", "exceptions"]
                .iter()
                .filter_map(|kind| read::number(&counts[*kind]))
                .sum::<u64>() as usize,
            dropped: None,
            started_at: None,
            ended_at: None,
        });
        let sessions: Vec<TrackedRun> = run.into_iter().collect();
        Ok(Answer::Runs(Runs { total: sessions.len(), sessions, folder: None }))
    }
}
