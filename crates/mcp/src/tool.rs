//! What a tool is: a name, words, two types and a function.

mod waiting;

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use rmcp::RoleServer;
use rmcp::model::{
    CallToolResult, ContentBlock, JsonObject, ProgressToken, RequestId, Tool as Definition,
    ToolAnnotations,
};
use rmcp::service::Peer;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use termbridge_bridge::{Bridge, Caller, Scope, ScreenHandle};
use termbridge_session::SessionId;
use tokio_util::sync::CancellationToken;

use crate::again::NamedCall;
use crate::bound::bound;
use crate::debug::DebugTool;
use crate::error::ToolError;
use crate::offered::Offered;
use crate::told::Told;
use crate::transport::Load;
use crate::{lenient, schema, validate};

pub(crate) use waiting::Limit;

/// Bytes of what is wrong with arguments.
const LONGEST_COMPLAINT: usize = 300;

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

    /// Waits until an answer of at most so many bytes may be built: the client has to read earlier ones first.
    pub(crate) async fn room_for_answer(&self, bytes: usize) -> Result<(), ToolError> {
        let Some((load, id)) = &self.room else { return Ok(()) };
        tokio::select! {
            biased;
            () = load.room_for_answer(id, bytes) => Ok(()),
            () = self.given_up() => Err(self.why_given_up()),
        }
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
}

/// The agent that a call names.
pub(crate) fn agent_of(arguments: &JsonObject) -> Option<&str> {
    ["agent_id", "agentId"].iter().find_map(|name| arguments.get(*name)?.as_str())
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
