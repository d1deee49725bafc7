//! `run_steps`: several tool calls in one request, each of which may use what an earlier one gave.

use std::time::Instant;

use rmcp::model::{CallToolResult, ContentBlock, JsonObject};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::error::ToolError;
use crate::tool::{Context, Hints, Reply, Tool, agent_of};

/// Bytes of all steps' texts together.
const MAX_TEXT: usize = 48 * 1024;
/// Bytes of one step's text that are shown however full the reply is: how it ended is at its end.
const LEAST_TEXT: usize = 800;
/// Bytes of one text in the structured answer of a step whose text was cut.
const LEAST_VALUE: usize = 200;
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
        let mut steps = Vec::new();
        let mut room = MAX_TEXT;
        for (index, step) in arguments.steps.into_iter().enumerate() {
            let began = Instant::now();
            context.note_done(|| how_far(index, count, &step.tool));
            let result = one(&step, &saved, context).await;
            if context.cancelled.is_cancelled() {
                return Err(ToolError::cancelled());
            }
            let value = result.structured_content.clone().unwrap_or_default();
            let timeout = step.arguments.get("timeout_ms");
            let in_background = timeout.is_some_and(|timeout| *timeout == 0 || *timeout == "0");
            let ok = !result.is_error.unwrap_or(false) && (in_background || succeeded(&value));
            if let Some(name) = step.save_as {
                saved.insert(name, value.clone());
            }
            let (mut text, mut result) = (text_of(&result), value);
            if text.len() > room.max(LEAST_TEXT) {
                text = cut(&text, room.max(LEAST_TEXT), &result);
                shorten(&mut result);
            }
            room = room.saturating_sub(text.len());
            let duration_ms = began.elapsed().as_millis() as u64;
            steps.push(Done { tool: step.tool, ok, duration_ms, result, text });
            if !ok && arguments.stop_on_error {
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
        match skipped {
            0 => {}
            1 => lines.push("[1 step did not run]".to_owned()),
            _ => lines.push(format!("[{skipped} steps did not run]")),
        }
        Ok(Reply { text: lines.join("\n"), answer: Answer { steps, success, skipped } })
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
            return Err(ToolError::invalid(
                format!("step {number}: unknown tool {:?}{more}", step.tool),
                "It takes a tool of this server.",
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

/// Nothing in an answer says that it failed: no exit code, no time-out, no entry of several.
fn succeeded(answer: &Value) -> bool {
    let flag = |name: &str| answer.get(name).and_then(Value::as_bool);
    let exited = answer.get("exit_code").and_then(Value::as_i64).is_none_or(|code| code == 0);
    let waited = answer.get("wait").is_none_or(succeeded);
    let ended = answer.get("state").and_then(Value::as_str) != Some("running")
        || answer.get("command_id").is_none();
    let each = answer.get("results").and_then(Value::as_array).into_iter().flatten();
    let mut each = each.map(|entry| {
        entry.get("ok") == Some(&Value::Bool(true)) && entry.get("result").is_none_or(succeeded)
    });
    exited && waited && ended && flag("timed_out") != Some(true) && each.all(|ok| ok)
}

async fn one(step: &Step, saved: &JsonObject, context: &Context) -> CallToolResult {
    let mut arguments = Value::Object(step.arguments.clone());
    if let Err(error) = fill(&mut arguments, saved) {
        return error.into_result();
    }
    let entry = context.tools.find(&step.tool);
    if let Err(refused) = {
        let agent = arguments.as_object().and_then(agent_of);
        context.bridge.admit(&context.caller.for_agent(agent))
    } {
        return ToolError::from(refused).into_result();
    }
    match (entry, arguments) {
        // Boxed, since a tool may call tools.
        (Some(entry), Value::Object(arguments)) => entry.call(arguments, context.nameless()).await,
        _ => ToolError::invalid(format!("unknown tool {:?}", step.tool), "").into_result(),
    }
}

/// The beginning and the end of a step's text, and how the rest can be had without running it again.
fn cut(text: &str, room: usize, result: &Value) -> String {
    let head = &text[..text.floor_char_boundary(room / 4)];
    let from = text.len() - room / 2;
    let from = text[..text.floor_char_boundary(from)].len();
    let from = text[from..]
        .find('\n')
        .filter(|at| from + at + 1 < text.len())
        .map_or(from, |at| from + at + 1);
    let rest = match (result.get("session_id"), result.get("command_id")) {
        (Some(session), Some(command)) => {
            let call = json!({"session_id": session, "command_id": command});
            format!("; get_terminal_output {call} has them")
        }
        _ => String::new(),
    };
    let bytes = from - head.len();
    format!("{head}\n[… {bytes} bytes cut: the reply is full{rest} …]\n{}", &text[from..])
}

/// Cuts the long texts in a value.
fn shorten(value: &mut Value) {
    match value {
        Value::String(text) if text.len() > LEAST_VALUE => {
            text.truncate(text.floor_char_boundary(LEAST_VALUE));
            text.push('…');
        }
        Value::Array(items) => items.iter_mut().for_each(shorten),
        Value::Object(fields) => fields.values_mut().for_each(shorten),
        _ => {}
    }
}

fn text_of(result: &CallToolResult) -> String {
    let texts = result.content.iter().filter_map(ContentBlock::as_text);
    texts.map(|text| text.text.as_str()).collect::<Vec<_>>().join("\n")
}

/// Whether a text in a value has this, and not as a literal.
fn mentions(value: &Value, what: &str) -> bool {
    match value {
        Value::String(text) => text.match_indices(what).any(|(at, _)| !text[..at].ends_with('$')),
        Value::Array(items) => items.iter().any(|item| mentions(item, what)),
        Value::Object(fields) => fields.values().any(|field| mentions(field, what)),
        _ => false,
    }
}

/// Names that `${name.field}` in the texts of a value refers to.
fn references(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => parts(text)
            .into_iter()
            .filter_map(|part| match part {
                Part::Reference(path) => Some(path.split('.').next().unwrap_or(path).to_owned()),
                Part::Text(_) => None,
            })
            .collect(),
        Value::Array(items) => items.iter().flat_map(references).collect(),
        Value::Object(fields) => fields.values().flat_map(references).collect(),
        _ => Vec::new(),
    }
}

/// Puts what was saved in place of `${name.field}`; a text that is nothing else becomes the value.
/// Newlines at the end are left out, as the shell's `$(…)` does it.
fn fill(value: &mut Value, saved: &JsonObject) -> Result<(), ToolError> {
    match value {
        Value::String(text) => {
            let parts = parts(text);
            let filled = match parts.as_slice() {
                [Part::Reference(path)] => match look_up(path, saved)? {
                    Value::String(text) => text.trim_end_matches('\n').into(),
                    other => other.clone(),
                },
                parts => {
                    let mut filled = String::new();
                    for part in parts {
                        match part {
                            Part::Text(text) => filled.push_str(text),
                            Part::Reference(path) => match look_up(path, saved)? {
                                Value::String(text) => {
                                    filled.push_str(text.trim_end_matches('\n'));
                                }
                                other => filled.push_str(&other.to_string()),
                            },
                        }
                    }
                    Value::String(filled)
                }
            };
            *value = filled;
            Ok(())
        }
        Value::Array(items) => items.iter_mut().try_for_each(|item| fill(item, saved)),
        Value::Object(fields) => fields.values_mut().try_for_each(|field| fill(field, saved)),
        _ => Ok(()),
    }
}

fn look_up<'a>(path: &str, saved: &'a JsonObject) -> Result<&'a Value, ToolError> {
    let (name, fields) = path.split_once('.').unwrap_or((path, ""));
    let field = |value: &'a Value, name: &str| match value {
        Value::Array(items) => items.get(name.parse::<usize>().ok()?),
        value => value.get(name),
    };
    let found = saved.get(name).and_then(|value| fields.split('.').try_fold(value, field));
    found.ok_or_else(|| {
        let fields = saved.get(name).and_then(Value::as_object).into_iter().flatten();
        let fields: Vec<&str> = fields.map(|(field, _)| field.as_str()).collect();
        ToolError::invalid(
            format!("${{{path}}} names nothing that an earlier step returned"),
            format!("{name} has: {}.", fields.join(", ")),
        )
    })
}

enum Part<'a> {
    Text(&'a str),
    Reference(&'a str),
}

/// Cuts a text at `${path}`; a path is letters, digits, `_`, `-` and dots, anything else is text, so
/// that a shell's own `${VAR:-x}` stays. `$${` is a literal `${`, whatever follows it.
fn parts(text: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let (mut rest, mut from) = (text, 0);
    while let Some(at) = rest[from..].find("${").map(|at| at + from) {
        if rest[..at].ends_with('$') {
            parts.push(Part::Text(&rest[..at]));
            rest = &rest[at + 1..];
            from = 1;
            continue;
        }
        let path = rest[at + 2..].find('}').map(|end| &rest[at + 2..at + 2 + end]);
        let plain = |path: &&str| {
            path.contains('.')
                && path.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c))
        };
        match path.filter(plain) {
            Some(path) => {
                if at > 0 {
                    parts.push(Part::Text(&rest[..at]));
                }
                parts.push(Part::Reference(path));
                rest = &rest[at + path.len() + 3..];
                from = 0;
            }
            None => from = at + 2,
        }
    }
    if !rest.is_empty() || parts.is_empty() {
        parts.push(Part::Text(rest));
    }
    parts
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{fill, references};

    #[test]
    fn references_are_filled_and_other_braces_stay() {
        let saved = json!({"made": {"session_id": "s1", "rows": [{"n": 7}], "ok": true}});
        let saved = saved.as_object().expect("an object");
        let mut value = json!({
            "id": "${made.session_id}", "n": "${made.rows.0.n}", "ok": "${made.ok}",
            "text": "a ${made.session_id}-${made.rows.0.n} b ${HOME} ${X:-y} ${} ${made.}",
            "nested": [{"deep": "${made.session_id}"}],
        });
        assert_eq!(references(&value).len(), 7);
        value["text"] = "a ${made.session_id}-${made.rows.0.n} b ${HOME} ${X:-y} $${a.b} $".into();
        fill(&mut value, saved).expect("all are known");
        assert_eq!(
            value,
            json!({
                "id": "s1", "n": 7, "ok": true, "text": "a s1-7 b ${HOME} ${X:-y} ${a.b} $",
                "nested": [{"deep": "s1"}],
            })
        );
        let saved = json!({"ran": {"output": "one\n\ntwo\n\n"}});
        let saved = saved.as_object().expect("an object");
        let mut value = json!(["${ran.output}", "<${ran.output}>"]);
        fill(&mut value, saved).expect("known");
        assert_eq!(value, json!(["one\n\ntwo", "<one\n\ntwo>"]));
        assert!(fill(&mut json!("${made.none}"), saved).is_err());
        let mut value = json!(["echo $${HOME}", "$${X:-y} $${ran.output} $${", "$$${a.b}", "$$"]);
        assert_eq!(references(&value), [""; 0]);
        fill(&mut value, saved).expect("nothing to fill in");
        assert_eq!(value, json!(["echo ${HOME}", "${X:-y} ${ran.output} ${", "$${a.b}", "$$"]));
        assert!(fill(&mut json!("x ${made.rows.9} y"), saved).is_err());
    }
}
