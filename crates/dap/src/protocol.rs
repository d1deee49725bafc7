//! The shapes of DAP that we use, read leniently.
//!
//! Names are the specification's. Unknown fields are ignored and missing ones have a default, since
//! adapters differ in what they leave out; a field of the wrong type costs that field alone
//! ([`read`]). What we send is built where it is sent. Nothing here is shown to a caller of the library.

mod half_characters;
mod lenient;

use serde::Deserialize;
use serde_json::{Map, Value};

pub(crate) use self::half_characters::mended;
pub(crate) use self::lenient::read;

/// Any message, before it is known what it is.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Message {
    pub(crate) seq: i64,
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) command: String,
    pub(crate) event: String,
    pub(crate) request_seq: i64,
    pub(crate) success: bool,
    pub(crate) message: Option<Value>,
    pub(crate) body: Value,
    pub(crate) arguments: Value,
}

impl Message {
    /// Why a request failed, in the words meant for people.
    pub(crate) fn failure(&self) -> String {
        let error = &self.body["error"];
        if let Some(format) = error["format"].as_str()
            && !format.is_empty()
        {
            return fill(format, error["variables"].as_object());
        }
        match self.message.as_ref().and_then(Value::as_str) {
            Some(message) if !message.is_empty() => message.to_owned(),
            _ => format!("{} failed", self.command),
        }
    }
}

/// Puts the variables of a DAP error into its text: `{name}`.
fn fill(format: &str, variables: Option<&Map<String, Value>>) -> String {
    let mut text = format.to_owned();
    for (name, value) in variables.into_iter().flatten() {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        text = text.replace(&format!("{{{name}}}"), &value);
    }
    text
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Capabilities {
    pub(crate) supports_configuration_done_request: bool,
    pub(crate) supports_conditional_breakpoints: bool,
    pub(crate) supports_hit_conditional_breakpoints: bool,
    pub(crate) supports_log_points: bool,
    pub(crate) supports_function_breakpoints: bool,
    pub(crate) supports_data_breakpoints: bool,
    pub(crate) supports_set_variable: bool,
    pub(crate) supports_set_expression: bool,
    pub(crate) supports_clipboard_context: bool,
    pub(crate) supports_exception_info_request: bool,
    pub(crate) supports_goto_targets_request: bool,
    pub(crate) supports_exception_filter_options: bool,
    pub(crate) supports_terminate_request: bool,
    pub(crate) support_terminate_debuggee: bool,
    pub(crate) exception_breakpoint_filters: Vec<ExceptionFilter>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ExceptionFilter {
    pub(crate) filter: String,
    pub(crate) label: String,
    #[serde(rename = "default")]
    pub(crate) is_default: bool,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Source {
    pub(crate) name: Option<String>,
    pub(crate) path: Option<String>,
    pub(crate) source_reference: Option<i64>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Breakpoint {
    pub(crate) id: Option<i64>,
    pub(crate) verified: bool,
    pub(crate) message: Option<String>,
    pub(crate) source: Option<Source>,
    pub(crate) line: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Breakpoints {
    /// In the order in which they were sent; `None` for one that cannot be read.
    pub(crate) breakpoints: Vec<Option<Breakpoint>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct DataBreakpointInfo {
    /// Absent where there is nothing to watch; `description` says why.
    pub(crate) data_id: Option<String>,
    pub(crate) description: String,
    /// Absent means all.
    pub(crate) access_types: Option<Vec<String>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct BreakpointEvent {
    pub(crate) reason: String,
    pub(crate) breakpoint: Breakpoint,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct StoppedEvent {
    pub(crate) reason: String,
    pub(crate) description: Option<String>,
    pub(crate) text: Option<String>,
    pub(crate) thread_id: Option<i64>,
    pub(crate) all_threads_stopped: bool,
    /// It is not the stop that the user should look at first.
    pub(crate) preserve_focus_hint: bool,
    pub(crate) hit_breakpoint_ids: Vec<i64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct ContinuedEvent {
    pub(crate) thread_id: Option<i64>,
    /// Absent means all, says the specification.
    pub(crate) all_threads_continued: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct ThreadEvent {
    pub(crate) reason: String,
    pub(crate) thread_id: i64,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct ExitedEvent {
    pub(crate) exit_code: Option<i64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct ProcessEvent {
    pub(crate) name: String,
    pub(crate) system_process_id: Option<i32>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct OutputEvent {
    pub(crate) category: Option<String>,
    pub(crate) output: String,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Thread {
    pub(crate) id: i64,
    pub(crate) name: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Threads {
    pub(crate) threads: Vec<Thread>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct StackFrame {
    pub(crate) id: i64,
    pub(crate) name: String,
    pub(crate) source: Option<Source>,
    pub(crate) line: u64,
    pub(crate) column: u64,
    pub(crate) presentation_hint: Option<String>,
    pub(crate) instruction_pointer_reference: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct StackTrace {
    pub(crate) stack_frames: Vec<StackFrame>,
    pub(crate) total_frames: Option<u64>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Scope {
    pub(crate) name: String,
    pub(crate) presentation_hint: Option<String>,
    pub(crate) variables_reference: i64,
    pub(crate) named_variables: Option<u64>,
    pub(crate) indexed_variables: Option<u64>,
    pub(crate) expensive: bool,
    pub(crate) line: Option<u64>,
    pub(crate) column: Option<u64>,
    pub(crate) end_line: Option<u64>,
    pub(crate) end_column: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Scopes {
    pub(crate) scopes: Vec<Scope>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct PresentationHint {
    pub(crate) attributes: Vec<String>,
    pub(crate) visibility: Option<String>,
    /// A getter, which is not called to show it.
    pub(crate) lazy: bool,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Variable {
    pub(crate) name: String,
    /// `evaluate` calls it `result`.
    #[serde(alias = "result")]
    pub(crate) value: String,
    #[serde(rename = "type")]
    pub(crate) kind: Option<String>,
    pub(crate) evaluate_name: Option<String>,
    pub(crate) variables_reference: i64,
    pub(crate) named_variables: Option<u64>,
    pub(crate) indexed_variables: Option<u64>,
    pub(crate) presentation_hint: Option<PresentationHint>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Variables {
    pub(crate) variables: Vec<Variable>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct ExceptionInfo {
    pub(crate) exception_id: String,
    pub(crate) description: Option<String>,
    pub(crate) details: Option<ExceptionDetails>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct ExceptionDetails {
    pub(crate) message: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct SourceContent {
    pub(crate) content: String,
}

/// The reverse request `runInTerminal`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct RunInTerminal {
    pub(crate) title: Option<String>,
    pub(crate) cwd: String,
    pub(crate) args: Vec<String>,
    pub(crate) env: Option<Map<String, Value>>,
}

/// The reverse request `startDebugging`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct StartDebugging {
    pub(crate) request: String,
    pub(crate) configuration: Map<String, Value>,
}
