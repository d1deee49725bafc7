//! Whether there is a session, and its end. The published extension counts failed calls and refuses all for a while
//! after some: a call that needs a session is not sent where there is none.
//!
//! js-debug runs a program in a child of the session that was started. When the program has ended, the editor continues to
//! list the parent, though its debugger has ended too: it runs nothing, and every request to it fails.

use serde_json::{Value, json};

use super::words::NO_DEBUGGER;
use super::{EditorBackend, QUESTION, halt, read};
use crate::debug::answer::{Answer, End, Halt, Runs, TrackedRun};
use crate::debug::{DebugCall, DebugFailure};

/// Parents of a session that are ended with it.
const MAX_PARENTS: usize = 3;

/// No session.
pub(super) fn none() -> DebugFailure {
    DebugFailure::new("E_NO_SESSION", "no session is active in the editor")
}

/// Whether a script fails without a session. Those that ask for the status first are none of these.
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
    /// The status, of a session that lives.
    pub(super) async fn live_status(&self, call: &DebugCall) -> Result<Value, DebugFailure> {
        let status = self.ask_status(call).await?;
        let is_active = status["isActive"] == true && !self.is_gone(call, &status).await;
        self.memory.note_session(is_active);
        Ok(if is_active { status } else { json!({"isActive": false}) })
    }

    /// Refuses where there is no session.
    pub(super) async fn require_session(&self, call: &DebugCall) -> Result<(), DebugFailure> {
        match self.live_status(call).await?["isActive"] == true {
            true => Ok(()),
            false => Err(none()),
        }
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

    /// `debug.stop`: the session, and the parents that it leaves behind.
    pub(super) async fn end(&self, call: &DebugCall) -> Result<Answer, DebugFailure> {
        // One whose debugger has ended is ended all the same.
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
            // Another program of the person's stays.
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

    /// `debug.tracker`: the latest session that the extension recorded. Its own script lists none, but begins to record once
    /// more.
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
