//! The editor's backend: scripts that run in an editor extension, through the filesystem bridge.
//!
//! The extension takes only what it knows and answers in shapes of its own: [`params`] says what it can be
//! given, [`read`] and [`halt`] turn what it says into the catalogue's [`Answer`]s, [`words`] its errors into
//! the catalogue's codes.

mod halt;
mod memory;
mod params;
mod read;
mod session;
mod variables;
mod words;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Map, Value, json};
use termbridge_editor::{BridgeError, Event, Host, Request};
use termbridge_foreign_files::{folder_of, off_worker};

use self::halt::Why;
pub(super) use self::memory::Memory;
use self::params::Scripts;
pub(super) use self::params::Unfit;
use super::answer::{Answer, SessionView, Stack, Started, Status, Thread, Threads};
use super::{DebugBackend, DebugCall, DebugFailure, Progress};

/// How much longer than a script's own wait its explanation may take. A call without progress waits 50 s,
/// and clients give up after a minute.
const GRACE: Duration = Duration::from_secs(5);
/// The time of a question that a call needs beside its own.
const QUESTION: Duration = Duration::from_secs(5);
/// How long an editor may take to say that it restarts before it is gone.
const RELOAD: Duration = Duration::from_secs(3);

/// An editor that serves the workspace.
#[derive(Debug, Clone)]
pub struct EditorBackend {
    host: Host,
    memory: Arc<Memory>,
    scripts: Arc<Scripts>,
    /// What scripts said, where someone wants to know.
    heard: Option<Arc<Mutex<Vec<Value>>>>,
}

impl EditorBackend {
    /// Scripts run by this editor; `listens` keeps what they say.
    pub(super) async fn new(host: Host, memory: &Arc<Memory>, listens: bool) -> Self {
        let id = host.info().bridge_id.clone();
        let scripts = match memory.scripts_of(&id) {
            Some(scripts) => scripts,
            None => {
                let bridge = host.bridge().to_owned();
                let read = off_worker(bridge.clone(), move || Scripts::of(&bridge)).await;
                let scripts = Arc::new(read.unwrap_or_else(|_| Scripts::of(Path::new(""))));
                memory.keep_scripts(id, &scripts);
                scripts
            }
        };
        let heard = listens.then(Arc::default);
        Self { host, memory: Arc::clone(memory), scripts, heard }
    }

    /// What scripts said, in their order, where someone wants to know.
    pub(super) fn heard(&self) -> Option<Value> {
        let heard = self.heard.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner);
        Some(Value::Array(heard.clone()))
    }

    /// Whether it can serve a call.
    pub(super) fn check(&self, script: &str, arguments: &Map<String, Value>) -> Result<(), Unfit> {
        self.scripts.check(script, arguments)
    }

    /// Whether it has a script.
    pub(super) fn has(&self, script: &str) -> bool {
        self.scripts.has(script)
    }

    /// Whether a script takes an argument.
    pub(super) fn takes(&self, script: &str, argument: &str) -> bool {
        self.scripts.takes(script, argument)
    }

    /// The breakpoints of the editor, as arguments of `breakpoint.set`.
    pub(super) async fn breakpoints(&self, call: &DebugCall) -> Vec<Map<String, Value>> {
        let listed =
            self.run(call, "breakpoint.list", json!({}), QUESTION).await.unwrap_or_default();
        let all =
            read::list(&listed["breakpoints"]).iter().filter(|entry| entry["enabled"] != false);
        all.filter_map(|entry| {
            let mut arguments = self.scripts.taken("breakpoint.set", entry.as_object()?);
            arguments.insert("path".to_owned(), json!(read::path_of(entry["path"].as_str()?)));
            Some(arguments)
        })
        .collect()
    }

    /// Runs a script and gives what it says.
    async fn run(
        &self,
        call: &DebugCall,
        script: &str,
        params: Value,
        timeout: Duration,
    ) -> Result<Value, DebugFailure> {
        let cancel = call.cancel.clone();
        let request = Request { script: script.to_owned(), params, timeout, cancel };
        let answer = self.host.run(request, |event| tell(&call.progress, &event)).await;
        if let (Some(heard), Ok(envelope)) = (&self.heard, &answer) {
            let mut heard = heard.lock().unwrap_or_else(PoisonError::into_inner);
            heard.push(json!({"script": script, "data": envelope.data}));
        }
        answer.map(|envelope| envelope.data).map_err(|error| words::failure(script, error))
    }

    /// Runs the call's own script, with what it takes of the arguments.
    async fn run_own(&self, call: &DebugCall) -> Result<Value, DebugFailure> {
        let mut params = self.scripts.taken(&call.script, &call.arguments);
        let mut timeout = call.timeout;
        if self.scripts.takes(&call.script, "timeoutMs") {
            params.insert("timeoutMs".to_owned(), json!(call.timeout.as_millis() as u64));
            timeout += GRACE;
        }
        let said = self.run(call, &call.script, Value::Object(params), timeout).await;
        // The grace is ours.
        said.map_err(|failure| match failure.code.as_str() {
            "E_TIMEOUT" if timeout > call.timeout => {
                DebugFailure::timeout(&call.script, call.timeout)
            }
            _ => failure,
        })
    }

    /// Scripts that take no session act on the one that is active in the editor: another is refused.
    async fn check_session(&self, call: &DebugCall) -> Result<(), DebugFailure> {
        let Some(asked) = call.arguments.get("sessionId").and_then(Value::as_str) else {
            return Ok(());
        };
        if self.scripts.takes(&call.script, "sessionId") {
            return Ok(());
        }
        let status = self.live_status(call).await?;
        match status["sessionId"].as_str() {
            Some(active) if active == asked => Ok(()),
            Some(active) => {
                let message =
                    format!("the editor's {} acts on its active session, {active}", call.script);
                Err(DebugFailure::new("E_UNSUPPORTED_CAPABILITY", message).hint(format!(
                    "choose session {asked} in the editor, or leave `sessionId` out"
                )))
            }
            None => Err(session::none()),
        }
    }

    async fn ask_status(&self, call: &DebugCall) -> Result<Value, DebugFailure> {
        self.run(call, "debug.status", json!({}), QUESTION).await
    }

    async fn resume(&self, call: &DebugCall) -> Result<Answer, DebugFailure> {
        let why = if call.script == "debug.continue" { Why::Unknown } else { Why::Step };
        if call.arguments.get("wait").is_some_and(|wait| wait == false) {
            // It waits in any case; as short as it can.
            let mut params = self.scripts.taken(&call.script, &call.arguments);
            params.insert("timeoutMs".to_owned(), json!(1));
            let said =
                self.run(call, &call.script, Value::Object(params), call.timeout + GRACE).await?;
            return match said["event"].as_str() {
                Some("error") if halt::is_timeout(&said) => Ok(halt::running(&said)),
                _ => Ok(Answer::Halt(self.halt(call, &said, why).await?)),
            };
        }
        let said = self.run_own(call).await?;
        Ok(Answer::Halt(self.halt(call, &said, why).await?))
    }

    async fn start(&self, call: &DebugCall) -> Result<Answer, DebugFailure> {
        let said = self.run_own(call).await?;
        self.memory.note_started(read::text(&said["sessionId"]));
        let mut session = SessionView {
            session_id: read::text(&said["sessionId"]),
            state: "running",
            configuration: read::words(&said["sessionName"]),
            adapter: read::words(&said["adapterType"]),
            ..SessionView::default()
        };
        let stop = match said["event"].is_string() {
            true => Some(self.halt(call, &said, Why::Unknown).await?),
            false => None,
        };
        if let Some(stop) = &stop {
            session.state = stop.state();
        }
        Ok(Answer::Started(Box::new(Started { session, stop, ..Started::default() })))
    }

    /// A stop that is there already, else the next one.
    async fn wait_for_hit(&self, call: &DebugCall) -> Result<Answer, DebugFailure> {
        let status = self.live_status(call).await?;
        if status["isActive"] == false {
            return Err(session::none());
        }
        if halt::is_paused(&status) {
            return Ok(Answer::Halt(self.stop(call, &status, Why::Unknown).await));
        }
        let said = self.run_own(call).await?;
        Ok(Answer::Halt(self.halt(call, &said, Why::Unknown).await?))
    }

    async fn restart(&self, call: &DebugCall) -> Result<Answer, DebugFailure> {
        let params = Value::Object(self.scripts.taken("debug.restart", &call.arguments));
        let said = self.run(call, "debug.restart", params, call.timeout + GRACE).await?;
        let session_id = read::text(&said["sessionId"]);
        let mut session = SessionView { session_id, state: "running", ..SessionView::default() };
        let mut stop = None;
        if call.arguments.get("wait").is_some_and(|wait| wait == true) {
            let call = DebugCall { script: "debug.wait-for-hit".to_owned(), ..call.clone() };
            if let Answer::Halt(halt) = self.wait_for_hit(&call).await? {
                session.state = halt.state();
                stop = Some(halt);
            }
        }
        Ok(Answer::Started(Box::new(Started { session, stop, ..Started::default() })))
    }

    async fn status(&self, call: &DebugCall) -> Result<Answer, DebugFailure> {
        let said = self.live_status(call).await?;
        let active = said["isActive"] == true;
        let paused = halt::is_paused(&said);
        let session = active.then(|| halt::session(&said));
        Ok(Answer::Status(Status { active, paused, sessions: session.into_iter().collect() }))
    }

    /// What the editor knows of a program that is stopped.
    async fn paused(&self, call: &DebugCall) -> Result<Value, DebugFailure> {
        let said = self.live_status(call).await?;
        let asked = call.arguments.get("sessionId").and_then(Value::as_str);
        let active = said["sessionId"].as_str();
        if said["isActive"] != true || (asked.is_some() && asked != active) {
            let message = match (asked, active) {
                (Some(asked), Some(active)) => {
                    format!("session {asked} is not the editor's active one, which is {active}")
                }
                _ => "no session is active in the editor".to_owned(),
            };
            return Err(DebugFailure::new("E_NO_SESSION", message));
        }
        if !halt::is_paused(&said) {
            return Err(DebugFailure::new("E_NOT_PAUSED", "the program runs"));
        }
        Ok(said)
    }

    async fn stack(&self, call: &DebugCall) -> Result<Answer, DebugFailure> {
        let said = self.paused(call).await?;
        let thread_id = said["currentThread"]["id"].as_i64();
        let asked = call.arguments.get("threadId").and_then(Value::as_i64);
        if asked.is_some() && asked != thread_id {
            let message = "the editor tells only the stack of the thread that stopped";
            return Err(
                DebugFailure::new("E_UNSUPPORTED_CAPABILITY", message).hint("leave `threadId` out")
            );
        }
        let all: Vec<_> = read::list(&said["stackFrames"]).iter().map(read::frame).collect();
        let total = read::number(&said["totalFrames"]).unwrap_or(0).max(all.len() as u64);
        let (start, count) = page(call, 20);
        let frames: Vec<_> = all.into_iter().skip(start).take(count).collect();
        let next = (start + frames.len()) as u64;
        let next = (next < total && !frames.is_empty()).then_some(next);
        Ok(Answer::Stack(Stack { thread_id, frames, total: Some(total), next }))
    }

    async fn threads(&self, call: &DebugCall) -> Result<Answer, DebugFailure> {
        let said = self.paused(call).await?;
        let stopped = said["currentThread"]["id"].as_i64();
        let asked = call.arguments.get("threadId").and_then(Value::as_i64);
        let threads = read::list(&said["threads"]).iter().map(|thread| {
            let id = thread["id"].as_i64().unwrap_or(0);
            let state = (Some(id) == stopped).then_some("stopped");
            Thread { id, name: read::text(&thread["name"]), state, reason: None }
        });
        let all: Vec<_> = threads.filter(|thread| asked.is_none_or(|id| thread.id == id)).collect();
        let (total, (start, count)) = (all.len(), page(call, 50));
        let threads: Vec<_> = all.into_iter().skip(start).take(count).collect();
        let next = start + threads.len();
        Ok(Answer::Threads(Threads { threads, total, next: (next < total).then_some(next) }))
    }

    /// The window goes before it can answer.
    async fn reload(&self, call: &DebugCall) -> Result<Answer, DebugFailure> {
        let (script, cancel) = (call.script.clone(), call.cancel.clone());
        let request = Request { script, params: json!({}), timeout: RELOAD, cancel };
        match self.host.run(request, |_| {}).await {
            Ok(_)
            | Err(
                BridgeError::Timeout { .. }
                | BridgeError::NoResponse(_)
                | BridgeError::Unavailable { .. }
                | BridgeError::Closed(_),
            ) => Ok(Answer::Other(json!({"reloading": true}))),
            Err(error) => Err(words::failure(&call.script, error)),
        }
    }
}

/// The extension sets a breakpoint anywhere, in files and lines that are not there too.
async fn check_place(call: &DebugCall) -> Result<(), DebugFailure> {
    let path = call.arguments.get("path").and_then(Value::as_str).unwrap_or_default();
    let path = PathBuf::from(path);
    let line = call.arguments.get("line").and_then(Value::as_u64).unwrap_or(1);
    let folder = folder_of(&path);
    Ok(off_worker(folder, move || termbridge_dap::check_line(&path, line)).await??)
}

fn page(call: &DebugCall, most: u64) -> (usize, usize) {
    let number = |name| call.arguments.get(name).and_then(Value::as_u64);
    (number("start").unwrap_or(0) as usize, number("count").unwrap_or(most) as usize)
}

#[async_trait]
impl DebugBackend for EditorBackend {
    fn name(&self) -> &'static str {
        "editor"
    }

    async fn call(&self, call: DebugCall) -> Result<Answer, DebugFailure> {
        if session::is_needed_by(&call.script)
            && !self.memory.has_session()
            && self.live_status(&call).await?["isActive"] != true
        {
            return Err(session::none());
        }
        self.check_session(&call).await?;
        let answer = self.serve(&call).await;
        self.memory.note_answer(&answer);
        answer
    }
}

impl EditorBackend {
    async fn serve(&self, call: &DebugCall) -> Result<Answer, DebugFailure> {
        match call.script.as_str() {
            "debug.start" => self.start(call).await,
            "debug.restart" => self.restart(call).await,
            "debug.stop" => self.end(call).await,
            "debug.status" => self.status(call).await,
            "debug.continue" | "debug.step-over" | "debug.step-into" | "debug.step-out" => {
                self.resume(call).await
            }
            "debug.wait-for-hit" => self.wait_for_hit(call).await,
            "test.debug-single" => {
                let said = self.run_own(call).await?;
                self.memory.note_started(read::text(&said["sessionId"]));
                Ok(Answer::Halt(self.halt(call, &said, Why::Unknown).await?))
            }
            "debug.stack" => self.stack(call).await,
            "debug.threads" => self.threads(call).await,
            "debug.list-variables" => self.variables(call).await,
            "debug.get-variable" => self.page(call).await,
            "debug.tracker" => self.tracked(call).await,
            "util.restart-vscode" => self.reload(call).await,
            script => {
                if script == "breakpoint.set" {
                    check_place(call).await?;
                }
                let data = self.run_own(call).await?;
                Ok(read::answer(script, &call.arguments, &data))
            }
        }
    }
}

fn tell(progress: &Progress, event: &Event) {
    if let Some(words) = event.msg.as_ref().or(event.text.as_ref()) {
        progress(words, event.pct);
    }
}
