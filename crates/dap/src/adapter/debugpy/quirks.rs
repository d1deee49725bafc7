//! Where debugpy is not like others.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::super::quirks::{ConditionFailure, Quirks, behind, last_line};
use super::super::registry::{Missing, Search};
use super::super::{Adapter, exceptions};
use crate::breakpoint::Breakpoint;
use crate::configuration::{Configuration, set_default};
use crate::protocol::Variable;

/// What runs inside the program before it starts.
const CHANGES: &str = concat!(
    include_str!("pydevd_changes.py"),
    include_str!("pydevd_threads.py"),
    include_str!("pydevd_resuming.py")
);

/// debugpy's table.
pub(crate) struct Debugpy;

impl Quirks for Debugpy {
    fn name(&self) -> &'static str {
        "debugpy"
    }

    fn languages(&self) -> &'static str {
        "Python"
    }

    fn install(&self) -> &'static str {
        "python3 -m pip install debugpy"
    }

    fn types(&self) -> &'static [&'static str] {
        &["python", "debugpy", "py"]
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["py", "pyw"]
    }

    fn find(&self, search: &Search<'_>) -> Result<Adapter, Missing> {
        super::find(search)
    }

    fn arguments(&self, configuration: &Configuration, adapter: &Adapter) -> Map<String, Value> {
        super::arguments(configuration, adapter)
    }

    // It passes over libraries, breakpoints included, unless it is told not to.
    fn reach(&self, arguments: &mut Map<String, Value>, files: &[PathBuf]) {
        if files.iter().any(|file| super::is_of_library(file)) {
            set_default(arguments, "justMyCode", json!(false));
        }
    }

    // `debugpy --listen`.
    fn speaks_when_listening(&self) -> bool {
        true
    }

    // It raises KeyboardInterrupt in the thread that evaluates.
    fn evaluation_limit(&self, limit: Duration) -> Option<(&'static str, String)> {
        Some(("PYDEVD_INTERRUPT_THREAD_TIMEOUT", limit.as_secs_f64().to_string()))
    }

    fn evaluate_error(&self, message: String) -> String {
        match message.contains("KeyboardInterrupt") {
            true => "it did not end in time and was interrupted (KeyboardInterrupt)".to_owned(),
            false => message,
        }
    }

    // It passes over a condition that it cannot evaluate, in silence.
    fn before_the_program(&self) -> Vec<(&'static str, Value)> {
        let nothing: [&str; 0] = [];
        let arguments = json!({
            "skipSuspendOnBreakpointException": nothing,
            "skipPrintBreakpointException": nothing,
        });
        // The text of a JSON string is one of Python, too.
        let install = format!("exec({}, {{'__name__': 'termbridge_changes'}})", json!(CHANGES));
        let evaluate = json!({"expression": install, "context": "repl"});
        vec![("evaluate", evaluate), ("setDebuggerProperty", arguments)]
    }

    fn refuses_in(&self, output: &str) -> bool {
        output.starts_with("Attach to PID failed")
    }

    // What the debugger that it uses wrote tells more.
    fn attach_failure(&self, answer: &str, output: &str) -> String {
        let words = super::words_of_gdb(output);
        if words.is_empty() { answer.to_owned() } else { words }
    }

    // 256 - N for signal N.
    fn perhaps_signal(&self, code: i64) -> Option<i64> {
        (128..256).contains(&code).then_some(256 - code)
    }

    // Its launcher reads the pipe that they inherit.
    fn children_share_output(&self) -> bool {
        true
    }

    fn without_reports(&self, output: String) -> String {
        super::without_own_frames(output)
    }

    fn condition_failure(&self, output: &str) -> Option<ConditionFailure> {
        let marker = "Error while evaluating expression in conditional breakpoint:";
        let said = behind(marker, output)?;
        let (condition, said) = said.split_once('\n').unwrap_or((said, ""));
        let condition = Some(condition.trim().to_owned());
        Some(ConditionFailure { condition, reason: last_line(said) })
    }

    fn breakpoint_words(&self, message: String) -> String {
        match message.starts_with("Breakpoint in file excluded by filters") {
            true => "it is in a library, and the program was started without stopping in libraries: \
                     debug_restart starts it so that this breakpoint counts, unless launch.json has \
                     justMyCode true"
                .to_owned(),
            false => message,
        }
    }

    // It compares the bare name.
    fn function_name<'a>(&self, name: &'a str) -> &'a str {
        name.rsplit('.').next().unwrap_or(name)
    }

    fn hit_condition_conflict(&self, breakpoint: &Breakpoint) -> Option<&'static str> {
        let conflict =
            "ignores the condition of a breakpoint that has both a condition and a hit condition";
        breakpoint.condition.is_some().then_some(conflict)
    }

    fn knows_exception_types(&self, _is_rust: bool) -> bool {
        true
    }

    fn exception_request(&self, filters: &[&str], types: &[&str]) -> Value {
        exceptions::for_debugpy(filters, types)
    }

    // pytest's, for what an assertion compares.
    fn is_made_by_tools(&self, name: &str) -> bool {
        name.starts_with("@py_")
    }

    fn cuts_values_at(&self) -> Option<usize> {
        Some(1 << 16)
    }

    // The first hundred elements, and then these.
    fn has_rest(&self) -> bool {
        true
    }

    fn is_rest(&self, child: &Variable) -> bool {
        matches!(child.kind.as_deref(), Some("MoreItems" | "MoreItemsRange"))
    }
}
