//! What a tool is: a name, words, two types and a function.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rmcp::RoleServer;
use rmcp::model::{
    CallToolResult, ContentBlock, JsonObject, ProgressNotificationParam, ProgressToken, RequestId,
    Tool as Definition, ToolAnnotations,
};
use rmcp::service::Peer;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use termbridge_bridge::{
    Bridge, Caller, OutputPage, OutputRequest, OutputWait, Scope, ScreenHandle, Started, Until,
};
use termbridge_session::{EndReason, Input, Sent, SessionError, SessionId, State, Wait, Waited};
use tokio_util::sync::CancellationToken;

use crate::again::NamedCall;
use crate::bound::bound;
use crate::debug::DebugTool;
use crate::error::ToolError;
use crate::offered::Offered;
use crate::told::Told;
use crate::transport::Load;
use crate::{lenient, schema, validate};

/// Bytes of what is wrong with arguments.
const LONGEST_COMPLAINT: usize = 300;
/// Longest silence: clients give up on a request after a minute.
const LONGEST_WAIT: Duration = Duration::from_secs(50);
/// How often a waiting client that asked for progress hears of it.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(1);

/// A tool. Each has a file of its own under `tools`.
pub(crate) trait Tool {
    const NAME: &'static str;
    const TITLE: &'static str;
    const DESCRIPTION: &'static str;
    const HINTS: Hints;
    type Arguments: DeserializeOwned + JsonSchema + Send;
    type Answer: Serialize + JsonSchema;

    fn call(
        arguments: Self::Arguments,
        context: &Context,
    ) -> impl Future<Output = Result<Reply<Self::Answer>, ToolError>> + Send;

    /// Whether an answer is to be shown as an error.
    fn is_failure(_answer: &Self::Answer) -> bool {
        false
    }
}

/// What a client may assume of a tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hints {
    pub(crate) read_only: bool,
    pub(crate) destructive: bool,
    pub(crate) idempotent: bool,
    pub(crate) open_world: bool,
}

impl Hints {
    /// Looks and changes nothing.
    pub(crate) const READS: Self =
        Self { read_only: true, destructive: false, idempotent: true, open_world: false };
    /// May do anything that a person at the terminal may.
    pub(crate) const ACTS: Self =
        Self { read_only: false, destructive: true, idempotent: false, open_world: true };
}

/// An answer: text that carries all of it, and the same structured.
pub(crate) struct Reply<A> {
    pub(crate) text: String,
    pub(crate) answer: A,
}

/// Cursors by session.
pub(crate) type ReadCursors = Arc<Mutex<HashMap<SessionId, String>>>;

/// What a call can use.
#[derive(Clone)]
pub(crate) struct Context {
    pub(crate) bridge: Bridge,
    /// Who calls, and for which agent.
    pub(crate) caller: Caller,
    /// All tools of the server, for those that call others.
    pub(crate) tools: Arc<Offered>,
    pub(crate) peer: Option<Peer<RoleServer>>,
    pub(crate) progress: Option<ProgressToken>,
    /// Where each session's reader stopped, for the compatible `read`.
    pub(crate) read_cursors: ReadCursors,
    /// What the client was told of each session.
    pub(crate) told: Told,
    /// The call's name, where its client would come again with it.
    pub(crate) named: Option<NamedCall>,
    /// The budget that the answer counts against. `None` for tasks and for parts of another call.
    pub(crate) room: Option<(Arc<Load>, RequestId)>,
    /// The call is a task that the client polls, so it may take its time.
    pub(crate) is_task: bool,
    /// When the client's request came; its patience counts from there.
    pub(crate) began: Instant,
    /// The client cancelled this call.
    pub(crate) cancelled: CancellationToken,
    /// The client is gone.
    pub(crate) closed: CancellationToken,
    /// A shared server ends, and what runs goes on.
    pub(crate) ending: Option<CancellationToken>,
}

impl Context {
    /// A session that the caller names, if it may use it.
    pub(crate) fn session(&self, id: &str) -> Result<ScreenHandle, ToolError> {
        Ok(self.bridge.screen(&self.caller, &SessionId::from_text(id))?)
    }

    /// The same for one that is typed to: it is the one used last.
    pub(crate) fn used_session(&self, id: &str) -> Result<ScreenHandle, ToolError> {
        let session = self.session(id)?;
        self.bridge.note_used(&self.caller, session.id());
        Ok(session)
    }

    /// Waits, with progress where the client asked for it, until the wait or the call ends.
    pub(crate) async fn wait(
        &self,
        session: &ScreenHandle,
        mut wait: Wait,
    ) -> Result<(Waited, bool), ToolError> {
        let limit = self.limit(&mut wait);
        let waited = self.attend(Watched::Screen(session), limit, session.wait(wait)).await?;
        Ok((unless_lost(session, waited?)?, limit.cut_short))
    }

    /// The result of waits in several sessions, with progress of one of them.
    pub(crate) async fn watching<T>(
        &self,
        session: &ScreenHandle,
        timeout: Duration,
        waits: impl Future<Output = T>,
    ) -> Result<T, ToolError> {
        self.attend(Watched::Screen(session), self.limit_of(timeout), waits).await
    }

    /// Sends and waits, as [`Context::wait`] does.
    pub(crate) async fn send_then_wait(
        &self,
        session: &ScreenHandle,
        input: Vec<Input>,
        mut wait: Wait,
    ) -> Result<(Sent, Waited, bool), ToolError> {
        let limit = self.limit(&mut wait);
        let (sent, waiting) = session.send_then_wait(input, wait).await?;
        self.note_done(|| format!("the input was sent to session {}", session.id()));
        let waited = self.attend(Watched::Screen(session), limit, waiting).await?;
        Ok((sent, unless_lost(session, waited?)?, limit.cut_short))
    }

    /// Waits for a command, as [`Context::wait`] does for a screen.
    pub(crate) async fn wait_command(
        &self,
        started: &Started,
        timeout: Duration,
    ) -> Result<(Until, bool), ToolError> {
        let limit = self.limit_of(timeout);
        let waiting = self.bridge.wait(started, limit.allowed);
        let watched = Watched::Command(&started.session, Some(started.command));
        let until = self.attend(watched, limit, waiting).await?;
        Ok((until?, limit.cut_short))
    }

    /// Reads output, at once or when the wait ends.
    pub(crate) async fn await_output(
        &self,
        request: OutputRequest,
        wait: OutputWait,
        timeout: Duration,
    ) -> Result<(OutputPage, Until), ToolError> {
        let limit = self.limit_of(timeout);
        let session = request.session.id.clone();
        let running = request.session.shell.and_then(|shell| shell.running);
        let watched = Watched::Command(&session, request.command.or(running));
        let waiting = self.bridge.await_output(request, wait, limit.allowed);
        Ok(self.attend(watched, limit, waiting).await??)
    }

    /// Waits until an answer of at most so many bytes may be built: the client has to read earlier ones first.
    pub(crate) async fn room_for_answer(&self, bytes: usize) -> Result<(), ToolError> {
        let Some((load, id)) = &self.room else { return Ok(()) };
        tokio::select! {
            biased;
            () = load.room_for_answer(id, bytes) => Ok(()),
            () = self.given_up() => Err(self.why_given_up()),
        }
    }

    pub(crate) fn limit_of(&self, asked: Duration) -> Limit {
        let patience = match self.progress.is_some() || self.is_task {
            true => None,
            false => Some(LONGEST_WAIT.saturating_sub(self.began.elapsed())),
        };
        Limit::of(asked, patience)
    }

    /// Notes what the call has done, for a client that comes again with it.
    pub(crate) fn note_done(&self, what: impl FnOnce() -> String) {
        if let Some(named) = &self.named {
            named.note(&what());
        }
    }

    /// The same call as a part of another, which has the name.
    pub(crate) fn nameless(&self) -> Self {
        Self { named: None, room: None, ..self.clone() }
    }

    /// The same call without progress reports.
    pub(crate) fn quiet(&self) -> Self {
        Self { peer: None, ..self.clone() }
    }

    /// The call was cancelled, not just left by a client that is gone.
    pub(crate) fn was_cancelled(&self) -> bool {
        self.cancelled.is_cancelled() && !self.closed.is_cancelled()
    }

    /// Why nobody waits for the answer any more.
    pub(crate) fn why_given_up(&self) -> ToolError {
        let is_ending = self.ending.as_ref().is_some_and(CancellationToken::is_cancelled);
        match (is_ending, self.closed.is_cancelled()) {
            (true, _) => ToolError::server_ends(),
            (false, true) => ToolError::disconnected(),
            (false, false) => ToolError::cancelled(),
        }
    }

    /// Completes when nobody waits for the answer any more.
    pub(crate) async fn given_up(&self) {
        tokio::select! {
            () = self.cancelled.cancelled() => {}
            () = self.closed.cancelled() => {}
        }
    }

    /// Limits a wait to what the client can bear.
    fn limit(&self, wait: &mut Wait) -> Limit {
        let asked = wait.timeout.unwrap_or(LONGEST_WAIT);
        let limit = self.limit_of(asked);
        wait.timeout = Some(limit.allowed);
        limit
    }

    async fn attend<T>(
        &self,
        watched: Watched<'_>,
        limit: Limit,
        waiting: impl Future<Output = T>,
    ) -> Result<T, ToolError> {
        let mut given_up = std::pin::pin!(self.given_up());
        let mut waiting = std::pin::pin!(waiting);
        let mut ticks = self.ticks();
        loop {
            tokio::select! {
                answer = &mut waiting => return Ok(answer),
                () = &mut given_up => return Err(self.why_given_up()),
                // What is told of it holds up neither the answer nor the end: a client that is gone takes nothing.
                seconds = ticks.next() => tokio::select! {
                    () = self.report(watched, seconds, limit.asked) => {}
                    answer = &mut waiting => return Ok(answer),
                    () = &mut given_up => return Err(self.why_given_up()),
                },
            }
        }
    }

    async fn report(&self, watched: Watched<'_>, seconds: f64, asked: Duration) {
        if let Some(words) = self.last_words(watched).await {
            self.tell(seconds, asked, None, &format!("{seconds:.0} s{words}")).await;
        }
    }

    /// When to report progress: never, where the client did not ask for it.
    pub(crate) fn ticks(&self) -> Ticks {
        let first = tokio::time::Instant::now() + PROGRESS_INTERVAL;
        let interval = self.peer.is_some() && self.progress.is_some();
        let interval = interval.then(|| tokio::time::interval_at(first, PROGRESS_INTERVAL));
        Ticks { interval, seconds: 0.0 }
    }

    /// Reports progress: in percent where that is known, else in seconds of those that were asked for.
    pub(crate) async fn tell(
        &self,
        seconds: f64,
        asked: Duration,
        percent: Option<f64>,
        words: &str,
    ) {
        let (Some(peer), Some(token)) = (&self.peer, &self.progress) else {
            return;
        };
        let done = percent.unwrap_or(seconds);
        let mut progress = ProgressNotificationParam::new(token.clone(), done);
        progress.total = Some(percent.map_or(asked.as_secs_f64(), |_| 100.0));
        progress.message = Some(words.to_owned());
        // A client that cannot take it will not get the answer either.
        let _ = peer.notify_progress(progress).await;
    }

    async fn last_words(&self, watched: Watched<'_>) -> Option<String> {
        match watched {
            Watched::Screen(session) => {
                Some(format!(": {}", last_line(&session.screen().await.ok()?.text())))
            }
            Watched::Command(_, None) => Some(String::new()),
            Watched::Command(session, Some(command)) => {
                let part = async |from, most| {
                    self.bridge.command(&self.caller, session, command, from, most).await.ok()?
                };
                let length = part(0, 0).await?.output_bytes;
                let from = length.saturating_sub(4 * LONGEST_WORDS as u64);
                let part = part(from, length - from).await?;
                Some(format!(", {length} bytes: {}", last_line(&part.output)))
            }
        }
    }
}

/// The times at which a waiting client hears of progress.
pub(crate) struct Ticks {
    interval: Option<tokio::time::Interval>,
    seconds: f64,
}

impl Ticks {
    /// The seconds that have passed, once a report is due.
    pub(crate) async fn next(&mut self) -> f64 {
        match &mut self.interval {
            Some(interval) => {
                interval.tick().await;
                self.seconds += PROGRESS_INTERVAL.as_secs_f64();
                self.seconds
            }
            None => std::future::pending().await,
        }
    }
}

/// Longest line in a progress report, in bytes.
const LONGEST_WORDS: usize = 200;

/// An error if the keeper process died: the condition cannot hold any more.
fn unless_lost(session: &ScreenHandle, waited: Waited) -> Result<Waited, ToolError> {
    match &waited.state {
        State::Exited(ended) if ended.reason == EndReason::KeeperDied => {
            let (id, how) = (session.id().clone(), ended.to_string());
            Err(SessionError::Dead { id, how }.into())
        }
        _ => Ok(waited),
    }
}

fn last_line(text: &str) -> &str {
    let line = text.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or_default();
    &line[..line.floor_char_boundary(LONGEST_WORDS)]
}

/// What a call waits for, to tell its client about.
#[derive(Clone, Copy)]
enum Watched<'a> {
    Screen(&'a ScreenHandle),
    Command(&'a SessionId, Option<u64>),
}

/// The agent that a call names.
pub(crate) fn agent_of(arguments: &JsonObject) -> Option<&str> {
    ["agent_id", "agentId"].iter().find_map(|name| arguments.get(*name)?.as_str())
}

/// How long a call may wait: a client that gets no progress would give up after a while.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limit {
    pub(crate) asked: Duration,
    pub(crate) allowed: Duration,
    cut_short: bool,
}

impl Limit {
    /// `patience` is what the client has left of it.
    fn of(asked: Duration, patience: Option<Duration>) -> Self {
        let allowed = patience.map_or(asked, |patience| asked.min(patience));
        Self { asked, allowed, cut_short: allowed < asked }
    }
}

pub(crate) type CallFuture = Pin<Box<dyn Future<Output = CallToolResult> + Send>>;

/// A tool, ready to be listed and called.
pub(crate) struct Entry {
    pub(crate) definition: Definition,
    /// The schema of its arguments; the definition shows less of it.
    arguments: Arc<JsonObject>,
    /// It types or looks at screens, so it is offered only where there are any.
    pub(crate) needs_screen: bool,
    work: Work,
}

/// What a tool does.
enum Work {
    /// One with a file of its own under `tools`.
    Own {
        call: fn(Arc<JsonObject>, JsonObject, Context) -> CallFuture,
        check: fn(&JsonObject, JsonObject) -> Result<(), ToolError>,
    },
    /// One of the catalogue.
    Debug(Arc<DebugTool>),
}

impl Entry {
    pub(crate) fn of<T: Tool + 'static>() -> Self {
        let hints = T::HINTS;
        let annotations = ToolAnnotations::with_title(T::TITLE)
            .read_only(hints.read_only)
            .destructive(hints.destructive)
            .idempotent(hints.idempotent)
            .open_world(hints.open_world);
        let arguments = schema::input::<T::Arguments>();
        let definition = Definition::new(T::NAME, T::DESCRIPTION, schema::shown(&arguments))
            .with_title(T::TITLE)
            .with_raw_output_schema(schema::output::<T::Answer>())
            .with_annotations(annotations);
        let check = |schema: &_, arguments| read::<T>(prepare::<T>(schema, arguments)?).map(drop);
        let work = Work::Own { call: call::<T>, check };
        Self { definition, arguments, needs_screen: false, work }
    }

    /// A tool of the catalogue.
    pub(crate) fn of_catalog(tool: DebugTool) -> Self {
        let (mut definition, work) = (tool.definition(), Work::Debug(Arc::new(tool)));
        let shown = Arc::new(schema::shown(&definition.input_schema));
        let arguments = std::mem::replace(&mut definition.input_schema, shown);
        Self { definition, arguments, needs_screen: false, work }
    }

    /// Whether the catalogue describes it.
    pub(crate) fn is_of_catalog(&self) -> bool {
        matches!(self.work, Work::Debug(_))
    }

    /// Whether it goes by this name.
    pub(crate) fn is_named(&self, name: &str) -> bool {
        self.definition.name == name
            || matches!(&self.work, Work::Debug(tool) if tool.is_also(name))
    }

    /// The same, for a tool that types or looks at screens.
    pub(crate) fn of_screen<T: Tool + 'static>() -> Self {
        Self { needs_screen: true, ..Self::of::<T>() }
    }

    /// Whether a call with these arguments would be run.
    pub(crate) fn check(&self, mut arguments: JsonObject) -> Result<(), ToolError> {
        let schema = &self.arguments;
        match &self.work {
            Work::Own { check, .. } => check(schema, arguments),
            Work::Debug(_) => {
                lenient::accept(schema, &mut arguments);
                validate::validate(schema, &arguments)
            }
        }
    }

    /// What a client must be allowed to call it.
    pub(crate) fn scope(&self) -> Scope {
        let annotations = self.definition.annotations.as_ref();
        match annotations.and_then(|annotations| annotations.read_only_hint) {
            Some(true) => Scope::Read,
            _ => Scope::Write,
        }
    }

    /// Every call of a tool comes by here, also those that another tool makes.
    pub(crate) fn call(&self, arguments: JsonObject, mut context: Context) -> CallFuture {
        context.caller = context.caller.for_agent(agent_of(&arguments));
        if let Err(refused) = context.bridge.require(&context.caller, self.scope()) {
            return Box::pin(std::future::ready(ToolError::from(refused).into_result()));
        }
        let schema = Arc::clone(&self.arguments);
        match &self.work {
            Work::Own { call, .. } => call(schema, arguments, context),
            Work::Debug(tool) => Arc::clone(tool).call(schema, arguments, context),
        }
    }
}

/// Turns arguments into the spelling of the schema, then validates them.
fn prepare<T: Tool>(
    schema: &JsonObject,
    mut arguments: JsonObject,
) -> Result<JsonObject, ToolError> {
    lenient::fill_in(T::NAME, &mut arguments);
    lenient::accept(schema, &mut arguments);
    validate::validate(schema, &arguments)?;
    validate::leave_out_empty(schema, &mut arguments);
    Ok(arguments)
}

fn read<T: Tool>(arguments: JsonObject) -> Result<T::Arguments, ToolError> {
    serde_json::from_value(Value::Object(arguments)).map_err(|error| {
        let error = bound(error.to_string(), LONGEST_COMPLAINT, "the arguments").text;
        ToolError::invalid(format!("the arguments cannot be read: {error}"), "")
    })
}

fn call<T: Tool>(schema: Arc<JsonObject>, arguments: JsonObject, context: Context) -> CallFuture {
    Box::pin(async move {
        let result = async {
            let mut arguments = prepare::<T>(&schema, arguments)?;
            lenient::find_named_sessions(&mut arguments, &context).await;
            T::call(read::<T>(arguments)?, &context).await
        };
        match result.await {
            Ok(reply) => {
                let content = vec![ContentBlock::text(reply.text)];
                let mut result = match T::is_failure(&reply.answer) {
                    true => CallToolResult::error(content),
                    false => CallToolResult::success(content),
                };
                result.structured_content = serde_json::to_value(reply.answer).ok();
                result
            }
            Err(error) => {
                error.for_tools(T::NAME, |name| context.tools.find(name).is_some()).into_result()
            }
        }
    })
}

#[cfg(test)]
mod tests;
