//! `run_steps`: several tool calls in one request, each of which may use what an earlier one gave.

mod references;
mod waiting;

use std::time::Instant;

use rmcp::model::{CallToolResult, ContentBlock, JsonObject};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use self::references::{fill, mentions, references};
use self::waiting::WaitingCommand;
use super::execute_command::ExecuteCommand;
use crate::bound::bound;
use crate::error::ToolError;
use crate::tool::{Context, Hints, Reply, Tool, agent_of};

/// Bytes of answers that steps keep for later ones.
const MAX_SAVED: usize = 4_000_000;
/// Bytes of all steps' texts together.
const MAX_TEXT: usize = 48 * 1024;
/// Bytes of a text that are shown however full the reply is: how a step ended is at the end of its text.
const LEAST_TEXT: usize = 800;
/// Most steps of one request.
const MAX_STEPS: usize = 100;

pub(crate) struct RunSteps;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    steps: Vec<Step>,
    #[serde(default = "yes")]
    stop_on_error: bool,
}

fn yes() -> bool {
    true
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Step {
    tool: String,
    /// May hold ${name.field} of an earlier step, such as `session_id` or `output` ($${ is literal)
    #[serde(default)]
    #[schemars(with = "crate::schema::AnyObject")]
    arguments: JsonObject,
    save_as: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Answer {
    steps: Vec<Done>,
    /// All ran without error.
    success: bool,
    /// Steps that did not run.
    skipped: usize,
    /// Why they did not run, where no step's result says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Done {
    tool: String,
    ok: bool,
    duration_ms: u64,
    /// The step's structured answer, or its error.
    #[schemars(with = "crate::schema::AnyObject")]
    result: Value,
    #[serde(skip)]
    text: String,
}

impl Tool for RunSteps {
    const NAME: &'static str = "run_steps";
    const TITLE: &'static str = "Run several tools";
    const DESCRIPTION: &'static str = "Call tools one after the other in one request. Stops at \
        the first error; a non-zero exit_code or a time-out is one too.";
    const HINTS: Hints = Hints::ACTS;
    type Arguments = Arguments;
    type Answer = Answer;

    async fn call(arguments: Arguments, context: &Context) -> Result<Reply<Answer>, ToolError> {
        let count = arguments.steps.len();
        if !(1..=MAX_STEPS).contains(&count) {
            return Err(ToolError::invalid(
                format!("`steps` has {count} steps"),
                format!("It takes 1 to {MAX_STEPS}."),
            ));
        }
        check(&arguments.steps, context)?;
        let mut saved = JsonObject::new();
        let mut saved_bytes = 0;
        let mut steps: Vec<Done> = Vec::new();
        let mut waiting: Vec<WaitingCommand> = Vec::new();
        let mut note = None;
        let mut room = MAX_TEXT;
        for (index, step) in arguments.steps.into_iter().enumerate() {
            let began = Instant::now();
            context.note_done(|| how_far(index, count, &step.tool));
            let mut input = Value::Object(step.arguments.clone());
            let filled = fill(&mut input, &saved);
            if let Some(command) = waiting::in_the_way(&mut waiting, index, &input, context).await {
                steps[command.step].ok = false;
                if arguments.stop_on_error {
                    note = Some(command.note(context).await);
                    break;
                }
            }
            let result = match filled {
                Ok(()) => one(&step.tool, input, context).await,
                Err(error) => error.into_result(),
            };
            if context.cancelled.is_cancelled() {
                return Err(ToolError::cancelled());
            }
            let value = result.structured_content.clone().unwrap_or_default();
            let timeout = step.arguments.get("timeout_ms");
            let in_background = timeout.is_some_and(|timeout| *timeout == 0 || *timeout == "0");
            let ok = !result.is_error.unwrap_or(false) && (in_background || succeeded(&value));
            if step.tool == ExecuteCommand::NAME && !in_background {
                waiting.extend(WaitingCommand::of(index, &value));
            }
            if let Some(name) = step.save_as {
                saved_bytes += value.to_string().len();
                saved.insert(name, value.clone());
            }
            let (mut text, mut result) = (text_of(&result), value);
            let (why, mut value_room) = (why_cut(&result), room);
            if cut(&mut text, &mut room, &why) {
                shorten(&mut result, &mut value_room, &why);
            }
            let duration_ms = began.elapsed().as_millis() as u64;
            steps.push(Done { tool: step.tool, ok, duration_ms, result, text });
            if !ok && arguments.stop_on_error {
                break;
            }
            if saved_bytes > MAX_SAVED {
                let most = MAX_SAVED / 1_000_000;
                note = Some(format!("`save_as` keeps at most {most} MB of answers"));
                break;
            }
        }
        let skipped = count - steps.len();
        let success = steps.iter().all(|step| step.ok);
        let mut lines: Vec<String> = steps
            .iter()
            .enumerate()
            .map(|(index, step)| {
                let failed = if step.ok { "" } else { " failed" };
                format!(
                    "== {} {}{failed}, {} ms\n{}",
                    index + 1,
                    step.tool,
                    step.duration_ms,
                    step.text
                )
            })
            .collect();
        let why = note.as_ref().map(|note| format!(": {note}")).unwrap_or_default();
        match skipped {
            0 => {}
            1 => lines.push(format!("[1 step did not run{why}]")),
            _ => lines.push(format!("[{skipped} steps did not run{why}]")),
        }
        Ok(Reply { text: lines.join("\n"), answer: Answer { steps, success, skipped, note } })
    }

    fn is_failure(answer: &Answer) -> bool {
        !answer.success
    }
}

/// For a client that asks again after its server has died.
fn how_far(index: usize, count: usize, tool: &str) -> String {
    let number = index + 1;
    let before = match index {
        0 => String::new(),
        1 => "step 1 ran, ".to_owned(),
        _ => format!("steps 1 to {index} ran, "),
    };
    let after = if number < count { ", and those after it did not" } else { "" };
    format!("{before}step {number} ({tool}) was begun and may have run{after}")
}

/// What can be seen to be wrong before anything runs: tools and names.
fn check(steps: &[Step], context: &Context) -> Result<(), ToolError> {
    for (index, step) in steps.iter().enumerate() {
        let number = index + 1;
        if step.tool == RunSteps::NAME {
            return Err(ToolError::invalid(
                format!("step {number} is run_steps itself"),
                "Write its steps here.",
            ));
        }
        if context.tools.find(&step.tool).is_none() {
            let more = context.tools.how_to_offer(&step.tool).unwrap_or_default();
            let names = context.tools.entries().iter().map(|entry| &*entry.definition.name);
            let names: Vec<&str> = names.filter(|name| *name != RunSteps::NAME).collect();
            return Err(ToolError::invalid(
                format!("step {number}: unknown tool {:?}{more}", step.tool),
                format!("It takes one of: {}.", names.join(", ")),
            ));
        }
        let before: Vec<&str> =
            steps[..index].iter().filter_map(|step| step.save_as.as_deref()).collect();
        let arguments = Value::Object(step.arguments.clone());
        if let Some(name) = before.iter().find(|name| mentions(&arguments, &format!("${{{name}}}")))
        {
            return Err(ToolError::invalid(
                format!("step {number} uses ${{{name}}} without a field"),
                format!("Such as ${{{name}.session_id}}; $${{{name}}} is literal."),
            ));
        }
        for name in references(&arguments) {
            if !before.contains(&name.as_str()) {
                return Err(ToolError::invalid(
                    format!("step {number} uses ${{{name}…}}, which no step before it saves"),
                    "Give an earlier step `save_as`.",
                ));
            }
        }
    }
    Ok(())
}

/// Fields of an answer that hold what came of a wait, a command or a program, with an `exit_code` of its own.
const PARTS: [&str; 3] = ["wait", "command", "view"];

/// Nothing in an answer says that it failed: no exit code, no time-out, no part of it.
fn succeeded(answer: &Value) -> bool {
    let flag = |name: &str| answer.get(name).and_then(Value::as_bool);
    let exited = answer.get("exit_code").and_then(Value::as_i64).is_none_or(|code| code == 0);
    let mut parts = PARTS.iter().filter_map(|part| answer.get(part));
    let ended = answer.get("state").and_then(Value::as_str) != Some("running")
        || answer.get("command_id").is_none();
    let each = answer.get("results").and_then(Value::as_array).into_iter().flatten();
    let mut each = each.map(|entry| {
        entry.get("ok") == Some(&Value::Bool(true)) && entry.get("result").is_none_or(succeeded)
    });
    exited && ended && flag("timed_out") != Some(true) && parts.all(succeeded) && each.all(|ok| ok)
}

async fn one(tool: &str, arguments: Value, context: &Context) -> CallToolResult {
    let entry = context.tools.find(tool);
    if let Err(refused) = {
        let agent = arguments.as_object().and_then(agent_of);
        context.bridge.admit(&context.caller.for_agent(agent))
    } {
        return ToolError::from(refused).into_result();
    }
    match (entry, arguments) {
        // Boxed, since a tool may call tools.
        (Some(entry), Value::Object(arguments)) => entry.call(arguments, context.nameless()).await,
        _ => ToolError::invalid(format!("unknown tool {tool:?}"), "").into_result(),
    }
}

/// Why a step's output was cut, and how the rest can be had without running it again.
fn why_cut(result: &Value) -> String {
    let rest = match (result.get("session_id"), result.get("command_id")) {
        (Some(session), Some(command)) => {
            let call = json!({"session_id": session, "command_id": command});
            format!("; get_terminal_output {call} has them")
        }
        _ => String::new(),
    };
    format!("the reply is full{rest}")
}

/// Shortens a text that is longer than `room` to its head and tail, and subtracts it from `room`. Returns whether it was
/// shortened.
fn cut(text: &mut String, room: &mut usize, why: &str) -> bool {
    let most = LEAST_TEXT.max(*room);
    let is_long = text.len() > most;
    if is_long {
        *text = bound(std::mem::take(text), most * 3 / 4, why).text;
    }
    *room = room.saturating_sub(text.len());
    is_long
}

/// Shortens long texts in a value, and sets `truncated` in the objects that hold them. Returns whether there was one.
fn shorten(value: &mut Value, room: &mut usize, why: &str) -> bool {
    match value {
        Value::String(text) => cut(text, room, why),
        Value::Array(items) => {
            items.iter_mut().fold(false, |is_cut, item| shorten(item, room, why) | is_cut)
        }
        Value::Object(fields) => {
            let values = fields.values_mut();
            let is_cut = values.fold(false, |is_cut, value| shorten(value, room, why) | is_cut);
            if is_cut {
                fields.insert("truncated".into(), true.into());
            }
            is_cut
        }
        _ => false,
    }
}

fn text_of(result: &CallToolResult) -> String {
    let texts = result.content.iter().filter_map(ContentBlock::as_text);
    texts.map(|text| text.text.as_str()).collect::<Vec<_>>().join("\n")
}
