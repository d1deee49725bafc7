//! The debugging tools: one entry for each tool of the catalogue, none written by hand.
//!
//! An answer is `{ok, type, data | error, meta}`, whichever backend gave it; its text is what a model
//! needs of it.

mod text;

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Tool as Definition};
use serde_json::{Value, json};
use termbridge_bridge::catalog::{Catalog, Tool};
use termbridge_bridge::{DebugAnswer, DebugCall, DebugFailure, Debugging, Progress, store};
use tokio_util::sync::CancellationToken;

use crate::bound::{DEFAULT_MAX_BYTES, bound};
use crate::error::{self, hint};
use crate::tool::{CallFuture, Context, Limit};
use crate::toolset::ALL_TOOLS;
use crate::{lenient, validate};

/// Bytes of an answer's data. What backends give is bounded by what it is; this is for the rest.
const MAX_DATA: usize = 512 * 1024;
/// Bytes of a failure's message.
const MAX_MESSAGE: usize = 16 * 1024;
/// The argument that gives a call more time.
const TIME_LIMIT: &str = "timeoutMs";
/// How long a cancelled call may take to clean up after itself.
const CLEAN_UP: Duration = Duration::from_secs(5);

/// What was said on the way: words, and how much is done, in percent.
type Said = (String, Option<f64>);

/// Numbers of requests.
static REQUESTS: AtomicU64 = AtomicU64::new(1);
/// The tools that a hint may name where there is no debugger.
static OWN: OnceLock<Catalog> = OnceLock::new();

/// A tool of the catalogue, ready to be called.
pub(crate) struct DebugTool {
    tool: Tool,
}

impl DebugTool {
    pub(crate) fn new(tool: Tool) -> Self {
        Self { tool }
    }

    /// What clients are told of it.
    pub(crate) fn definition(&self) -> Definition {
        serde_json::from_value(self.tool.definition())
            // The catalogue's tests read every definition this way.
            .expect("the catalogue writes definitions as MCP has them")
    }

    /// Whether it goes by this name too.
    pub(crate) fn is_also(&self, name: &str) -> bool {
        self.tool.other_names().iter().any(|known| known == name)
    }

    pub(crate) fn call(
        self: Arc<Self>,
        schema: Arc<JsonObject>,
        mut arguments: JsonObject,
        context: Context,
    ) -> CallFuture {
        Box::pin(async move {
            let began = Instant::now();
            lenient::accept(&schema, &mut arguments);
            let debugging = context.tools.own_debugging().await;
            let answer = match (validate::validate(&schema, &arguments), &debugging) {
                (Ok(()), Ok(debugging)) => {
                    arguments.retain(|_, value| !value.is_null());
                    self.run(debugging, arguments, &context).await
                }
                (Ok(()), Err(full)) => DebugAnswer::refused(full.clone()),
                (Err(error), _) => {
                    let failure = DebugFailure::new("E_INVALID_PARAMS", error.message);
                    DebugAnswer::refused(failure.hint(error.hint))
                }
            };
            let offered = |name: &str| context.tools.find(name).is_some();
            self.result(debugging.ok(), answer, began.elapsed(), &offered)
        })
    }

    /// Runs it, with progress where the client asked for that, until it or the call ends.
    async fn run(
        &self,
        debugging: &Debugging,
        arguments: JsonObject,
        context: &Context,
    ) -> DebugAnswer {
        let limit = context.limit_of(debugging.timeout(&self.tool, &arguments));
        let said: Arc<Mutex<Option<Said>>> = Arc::default();
        let listener = Arc::clone(&said);
        let progress: Progress = Arc::new(move |words, percent| {
            let mut said = listener.lock().unwrap_or_else(PoisonError::into_inner);
            *said = Some((words.to_owned(), percent));
        });
        let cancel = CancellationToken::new();
        let call = DebugCall {
            script: self.tool.alias().to_owned(),
            caller: context.caller.clone(),
            arguments,
            timeout: limit.allowed,
            cancel: cancel.clone(),
            progress,
        };
        let mut running = std::pin::pin!(debugging.call(&self.tool, call));
        let mut given_up = std::pin::pin!(context.given_up());
        let mut ticks = context.ticks();
        loop {
            tokio::select! {
                answer = &mut running => return said_of_limit(answer, &limit),
                () = &mut given_up => break,
                seconds = ticks.next() => {
                    let said = said.lock().unwrap_or_else(PoisonError::into_inner).clone();
                    let (words, percent) =
                        said.unwrap_or_else(|| (format!("{} runs", self.tool.name()), None));
                    tokio::select! {
                        () = context.tell(seconds, limit.asked, percent, &words) => {}
                        answer = &mut running => return said_of_limit(answer, &limit),
                        () = &mut given_up => break,
                    }
                }
            }
        }
        cancel.cancel();
        // Nobody reads this answer, but what the call has begun is ended before it is forgotten.
        tokio::time::timeout(CLEAN_UP, running).await.unwrap_or_else(|_| {
            DebugAnswer::refused(DebugFailure::new("E_CANCELLED", "the request was cancelled"))
        })
    }

    /// `offered` tells whether the client has a tool.
    fn result(
        &self,
        debugging: Option<&Debugging>,
        answer: DebugAnswer,
        took: Duration,
        offered: &dyn Fn(&str) -> bool,
    ) -> CallToolResult {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let meta = json!({
            "requestId": format!("r{}", REQUESTS.fetch_add(1, Ordering::Relaxed)),
            "timestamp": store::time::format(now.as_millis() as i64),
            "duration": took.as_millis() as u64,
            "backend": answer.backend,
        });
        let offered = &|name: &str| offered(name) && !answer.missing.iter().any(|one| one == name);
        let told = answer.result.and_then(|answer| Ok((within_bounds(answer.to_json())?, answer)));
        match told {
            Ok((data, told)) => {
                let workspace = debugging.map_or(Path::new("/"), Debugging::workspace);
                let text = text::of(&told, workspace, offered);
                let note = answer.note.map(|note| format!("{note}\n"));
                let text = format!("{}{text}", note.unwrap_or_default());
                let text = bound(text, DEFAULT_MAX_BYTES, "ask for less at a time").text;
                let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
                let mut content =
                    json!({"ok": true, "type": "success", "data": data, "meta": meta});
                if let Some(raw) = answer.raw {
                    content["raw"] = raw;
                }
                result.structured_content = Some(content);
                result
            }
            Err(failure) => {
                let own = OWN.get_or_init(Catalog::own);
                let catalog = debugging.map_or(own, Debugging::catalog);
                self.failed(catalog, failure, meta, &answer.missing, offered)
            }
        }
    }

    /// The hint without tools that the backend or the client does not have. If nothing is left, the hint names the option
    /// that offers them.
    fn for_tools(
        catalog: &Catalog,
        hint: &str,
        missing: &[String],
        offered: &dyn Fn(&str) -> bool,
    ) -> String {
        let debugging = catalog.enabled().map(Tool::name);
        let names: Vec<&str> = hint::NAMES.into_iter().chain(debugging).collect();
        let has = |name: &str| !missing.iter().any(|one| one == name);
        let hint = hint::for_tools(hint, &names, |name| has(name).then_some(name));
        let usable = hint::for_tools(&hint, &names, |name| offered(name).then_some(name));
        match usable.is_empty() && !hint.is_empty() {
            true => format!("{hint} (start the server with {ALL_TOOLS})"),
            false => usable,
        }
    }

    fn takes(&self, argument: &str) -> bool {
        let definition = self.definition();
        let properties = definition.input_schema.get("properties");
        properties.is_some_and(|properties| properties.get(argument).is_some())
    }

    /// A failure with what the catalogue knows of its code.
    fn failed(
        &self,
        catalog: &Catalog,
        failure: DebugFailure,
        meta: Value,
        missing: &[String],
        offered: &dyn Fn(&str) -> bool,
    ) -> CallToolResult {
        let known = Catalog::error(&failure.code);
        let own = &self.tool.metadata().mcp.error_contract;
        let own = own.iter().find(|entry| entry.code == failure.code);
        let is_from_catalogue = own.is_none() && failure.hint.is_none();
        let hint = failure
            .hint
            .or_else(|| own.map(|entry| entry.user_fix_hint.clone()))
            .or_else(|| known.map(|error| error.hint.clone()))
            .filter(|hint| !hint.contains(TIME_LIMIT) || self.takes(TIME_LIMIT))
            .unwrap_or_else(|| "Call again.".to_owned());
        let hint = Self::for_tools(catalog, &hint, missing, offered);
        let retryable = own
            .map(|entry| entry.is_retryable)
            .or(known.map(|error| error.retryable))
            .unwrap_or_default();
        let next_tools: Vec<&str> = known
            .iter()
            .flat_map(|error| &error.next)
            // The debugger's next steps are none for a tool that only reads code.
            .filter(|alias| drives_debugger(self.tool.alias()) || !drives_debugger(alias))
            .filter_map(|alias| catalog.by_alias(alias))
            .map(Tool::name)
            .filter(|name| offered(name))
            // What the catalogue recommends belongs to its own hint.
            .filter(|name| is_from_catalogue || hint.contains(name))
            .collect();
        // An editor's words have no bound of their own.
        let message = text::cleaned(failure.message).trim_end().to_owned();
        let message = bound(message, MAX_MESSAGE, "the program's output").text;
        let mut text = error::text(&failure.code, &message, &hint, &next_tools);
        if let Some(details) = &failure.details
            && let Some(output) = text::output_of(details, offered)
        {
            text.push('\n');
            text.push_str(&output);
        }
        let mut error = json!({
            "code": failure.code,
            "message": message,
            "hint": hint,
            "retryable": retryable,
            "next_tools": next_tools,
        });
        if let Some(details) = failure.details
            && details.to_string().len() <= MAX_DATA
        {
            error["details"] = details;
        }
        let mut result = CallToolResult::error(vec![ContentBlock::text(text)]);
        let answer = json!({"ok": false, "type": "error", "error": error, "meta": meta});
        result.structured_content = Some(answer);
        result
    }
}

/// Says of a time-out that came before the time that was asked for why that is so.
fn said_of_limit(mut answer: DebugAnswer, limit: &Limit) -> DebugAnswer {
    if let Err(failure) = &mut answer.result
        && failure.code == "E_TIMEOUT"
        && limit.allowed < limit.asked
    {
        let seconds = limit.allowed.as_secs();
        failure.message.push_str(&format!(
            " (without a progress token a call waits {seconds} s at most, since clients give up after a minute)"
        ));
    }
    answer
}

/// Whether a script acts on programs that are debugged.
fn drives_debugger(alias: &str) -> bool {
    let category = alias.split('.').next().unwrap_or(alias);
    ["debug", "dap", "test", "breakpoint"].contains(&category)
}

fn within_bounds(data: Value) -> Result<Value, DebugFailure> {
    let size = data.to_string().len();
    if size <= MAX_DATA {
        return Ok(data);
    }
    let message = format!("the answer has {size} bytes; at most {MAX_DATA} are returned");
    Err(DebugFailure::new("E_LARGE_DATA", message))
}
