//! Stops and ends. The extension says little of a stop; its `debug.status` knows the stack, and the rest is
//! asked for, so that a stop reads as well as one of our own.

use serde_json::{Map, Value, json};
use termbridge_dap::lines_of_file;
use termbridge_foreign_files::{folder_of, off_worker};

use super::{EditorBackend, QUESTION, read, variables, words};
use crate::debug::answer::{
    Answer, End, Exit, Halt, Location, Place, SessionView, Stop, Variable, marked,
};
use crate::debug::{DebugCall, DebugFailure};

/// Frames in a stop.
const FRAMES: usize = 10;
/// Lines of source before and after a stop.
const SOURCE_LINES: u64 = 3;
/// Variables in a stop.
const LOCALS: usize = 30;
/// Bytes of a variable's value in a stop.
const LONGEST_VALUE: usize = 1_000;
/// Pieces of output in a stop.
const OUTPUT: usize = 100;

/// Why a program may have stopped, where the editor does not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Why {
    Step,
    Unknown,
}

/// Whether a status is of a program that is stopped: only then it has a stack. Some debuggers tell their
/// threads at any time, from which the extension concludes that they are paused.
pub(super) fn is_paused(status: &Value) -> bool {
    status["isPaused"] == true && !read::list(&status["stackFrames"]).is_empty()
}

/// Whether a script gave up waiting.
pub(super) fn is_timeout(said: &Value) -> bool {
    said["event"] == "timeout"
        || (said["event"] == "error"
            && said["message"].as_str().is_some_and(|words| words.starts_with("Timeout")))
        || said["code"] == "E_NOT_STOPPED"
}

/// A program that was let go.
pub(super) fn running(said: &Value) -> Answer {
    Answer::Running { state: "running", session_id: read::text(&said["sessionId"]) }
}

/// What a status says of its session.
pub(super) fn session(status: &Value) -> SessionView {
    let paused = is_paused(status);
    let frames: Vec<_> = read::list(&status["stackFrames"]).iter().map(read::frame).collect();
    SessionView {
        session_id: read::text(&status["sessionId"]),
        state: if paused { "stopped" } else { "running" },
        configuration: read::words(&status["sessionName"]),
        adapter: read::words(&status["sessionType"]),
        reason: paused.then(|| reason(status, Why::Unknown).to_owned()),
        thread_id: status["currentThread"]["id"].as_i64().filter(|_| paused),
        location: frames.first().cloned(),
        frames: paused.then(|| frames.into_iter().take(5).collect()),
        ..SessionView::default()
    }
}

fn reason(status: &Value, why: Why) -> &'static str {
    match (status["hitBreakpoint"].is_object(), why) {
        (true, _) => "breakpoint",
        (false, Why::Step) => "step",
        (false, Why::Unknown) => "the editor does not say why",
    }
}

impl EditorBackend {
    /// What a script that waited says of it.
    pub(super) async fn halt(
        &self,
        call: &DebugCall,
        said: &Value,
        why: Why,
    ) -> Result<Halt, DebugFailure> {
        if is_timeout(said) {
            let waited = call.timeout.as_millis();
            let message = format!("the program did not stop within {waited} ms; it keeps running");
            let details = json!({"state": "running", "sessionId": said["sessionId"]});
            let failure = DebugFailure::new("E_TIMEOUT", message)
                .hint("wait on with debug_wait_for_hit, or look with debug_status");
            return Err(DebugFailure { details: Some(details), ..failure });
        }
        match said["event"].as_str() {
            Some("terminated" | "exited") => Ok(self.ended(call, said).await),
            Some("error") => {
                let error = termbridge_editor::ScriptError {
                    code: said["code"].as_str().unwrap_or("E_INTERNAL").to_owned(),
                    message: read::text(&said["message"]),
                    details: Value::Null,
                };
                Err(words::failure(&call.script, termbridge_editor::BridgeError::Script(error)))
            }
            _ => {
                let status = self.ask_status(call).await.unwrap_or_default();
                // A debugger may run the program in a child of the session that was started.
                let is_same = match said["sessionId"].as_str() {
                    Some(id) => status["sessionId"] == *id || self.memory.was_started(id),
                    None => true,
                };
                match is_paused(&status) && is_same {
                    true => Ok(self.stop(call, &status, why).await),
                    false => Ok(self.stop(call, &as_status(said), why).await),
                }
            }
        }
    }

    /// A stop, with what is usually asked next.
    pub(super) async fn stop(&self, call: &DebugCall, status: &Value, why: Why) -> Halt {
        let session_id = read::text(&status["sessionId"]);
        let all = read::list(&status["stackFrames"]);
        let frames: Vec<_> = all.iter().take(FRAMES).map(read::frame).collect();
        let place = frames.first().and_then(|top| {
            let (path, line) = (top.path.clone()?, top.line?);
            Some(Location { path, line, column: top.column, function: top.name.clone() })
        });
        let at = place.clone();
        let source = async move {
            let at = at?;
            let folder = folder_of(at.path.as_ref());
            let read = move || marked(&lines_of_file(at.path.as_ref(), at.line, SOURCE_LINES));
            off_worker(folder, read).await.unwrap_or_default()
        };
        let hit = &status["hitBreakpoint"];
        let line = read::number(&hit["line"]).unwrap_or(0);
        let hit = read::words(&hit["source"]).map(|file| Place::line(read::path_of(&file), line));
        let (source, (locals, left_out), output) =
            tokio::join!(source, self.locals(call, status), self.new_output(call, &session_id));
        let stop = Stop {
            state: Stop::STATE,
            reason: reason(status, why).to_owned(),
            location: place,
            source,
            locals,
            locals_left_out: (left_out > 0).then_some(left_out),
            total_frames: read::number(&status["totalFrames"]).or(Some(all.len() as u64)),
            frames,
            hit_breakpoints: hit.into_iter().collect(),
            thread_id: status["currentThread"]["id"].as_i64(),
            thread: read::words(&status["currentThread"]["name"]),
            output,
            session_id,
            ..Stop::default()
        };
        Halt::Stop(Box::new(stop))
    }

    /// The variables of the innermost scope, and how many were left out.
    async fn locals(&self, call: &DebugCall, status: &Value) -> (Vec<Variable>, usize) {
        let scopes: Vec<_> = read::list(&status["scopes"]).iter().map(read::scope).collect();
        let is_local = |name: &str| name.to_lowercase().starts_with("local");
        let cheap = || scopes.iter().filter(|scope| !scope.expensive);
        let Some(scope) = cheap().find(|scope| is_local(&scope.name)).or_else(|| cheap().next())
        else {
            return (Vec::new(), 0);
        };
        let params = json!({"variablesReference": scope.variables_reference, "count": LOCALS + 1});
        let said = self.run(call, "debug.get-variable", params, QUESTION).await.unwrap_or_default();
        let mut locals = read::page(&said).variables;
        let left_out = locals.len().saturating_sub(LOCALS);
        locals.truncate(LOCALS);
        for local in &mut locals {
            variables::cut_value(local, LONGEST_VALUE);
        }
        (locals, left_out)
    }

    async fn ended(&self, call: &DebugCall, said: &Value) -> Halt {
        let session_id = read::text(&said["sessionId"]);
        let code = said["exitCode"].as_i64();
        let end = End {
            state: End::STATE,
            program: Some(
                read::words(&said["sessionName"]).unwrap_or_else(|| "the program".to_owned()),
            ),
            exit: Some(Exit { code, signal: None, how: read::how_ended(code), goes_on: false }),
            output: self.new_output(call, &session_id).await,
            session_id: Some(session_id),
            ..End::default()
        };
        Halt::End(Box::new(end))
    }

    /// What a session printed since that was told last.
    async fn new_output(&self, call: &DebugCall, session: &str) -> Option<String> {
        if session.is_empty() {
            return None;
        }
        let since = self.memory.unreported_since(session);
        let params = json!({"sessionId": session, "since": since, "count": OUTPUT});
        let said = self.run(call, "dap.logs", params, QUESTION).await.ok()?;
        let logs = read::logs(&Map::new(), &said);
        let last = logs.entries.iter().map(|entry| entry.time).max()?;
        self.memory.note_reported(session, last);
        let fresh = logs.entries.iter().filter(|entry| entry.time >= since);
        let mut output = String::new();
        if logs.total > OUTPUT {
            output.push_str(&format!("… {} pieces before: dap_logs\n", logs.total - OUTPUT));
        }
        fresh.for_each(|entry| output.push_str(&format!("{}\n", entry.text)));
        Some(output)
    }
}

/// The little that a script says of a stop, as a status would.
fn as_status(said: &Value) -> Value {
    json!({
        "isActive": true,
        "isPaused": true,
        "sessionId": said["sessionId"],
        "currentThread": {"id": said["threadId"]},
        "stackFrames": [{
            "id": 0,
            "name": said["functionName"],
            "source": {"path": said["file"]},
            "line": said["line"],
            "column": said["column"],
        }],
    })
}
