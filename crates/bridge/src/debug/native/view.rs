//! Stops, ends, frames and values as the catalogue shapes them.

use serde_json::{Map, Value, json};
use termbridge_dap::{
    BreakpointInfo, BreakpointState, EndReason, EndReport, FrameInfo, Halt, OutputSince,
    SourceLine, StopReport, VariableInfo, VariableNode,
};

/// A program that stopped or ended.
pub(super) fn halt(halt: &Halt) -> Value {
    match halt {
        Halt::Stopped(report) => stop(report),
        Halt::Ended(report) => end(report),
    }
}

fn stop(report: &StopReport) -> Value {
    let location = report.location.as_ref().map(|place| {
        json!({"path": place.path, "line": place.line, "column": place.column, "function": place.function})
    });
    let exception = report.exception.as_ref().map(|exception| {
        present([
            ("type", json!(exception.id)),
            ("message", json!(exception.message)),
            ("stack", json!(exception.stack)),
        ])
    });
    let hit: Vec<Value> =
        report.hit.iter().map(|(path, line)| json!({"path": path, "line": line})).collect();
    present([
        ("state", json!("stopped")),
        ("sessionId", json!(report.session.as_str())),
        ("conditionFailures", list(&report.condition_failures)),
        ("reason", json!(report.reason)),
        ("description", json!(report.description)),
        ("location", json!(location)),
        ("exception", json!(exception)),
        ("source", json!(source(&report.source))),
        ("locals", report.locals.iter().map(variable).collect()),
        ("localsLeftOut", count(report.locals_left_out)),
        ("frames", report.frames.iter().map(frame).collect()),
        ("totalFrames", json!(report.total_frames)),
        ("hitBreakpoints", if hit.is_empty() { Value::Null } else { json!(hit) }),
        ("threadId", json!(report.thread.id)),
        ("thread", json!(report.thread.name)),
        ("output", output(&report.output)),
        ("outputLeftOut", count(report.output.left_out)),
    ])
}

/// How a program ended.
pub(super) fn end(report: &EndReport) -> Value {
    let signal = match &report.reason {
        EndReason::Signalled(signal) => json!(signal),
        _ => Value::Null,
    };
    let exit = present([
        ("code", json!(report.exit_code)),
        ("signal", signal),
        ("how", json!(report.how())),
    ]);
    let unbound: Vec<Value> =
        report.unbound.iter().map(|(path, line)| json!({"path": path, "line": line})).collect();
    present([
        ("unboundBreakpoints", if unbound.is_empty() { Value::Null } else { json!(unbound) }),
        ("state", json!("exited")),
        ("sessionId", json!(report.session.as_str())),
        ("conditionFailures", list(&report.condition_failures)),
        ("program", json!(report.program)),
        ("exit", exit),
        ("output", output(&report.output)),
        ("outputLeftOut", count(report.output.left_out)),
    ])
}

/// Lines with their numbers, the current one marked.
fn source(lines: &[SourceLine]) -> Option<String> {
    let width = lines.last()?.number.to_string().len();
    let shown = lines.iter().map(|line| {
        let mark = if line.current { '>' } else { ' ' };
        format!("{mark} {:>width$}  {}", line.number, line.text).trim_end().to_owned()
    });
    Some(shown.collect::<Vec<_>>().join("\n"))
}

pub(super) fn frame(frame: &FrameInfo) -> Value {
    present([
        ("id", json!(frame.id)),
        ("name", json!(frame.name)),
        ("path", json!(frame.path)),
        ("line", json!((frame.line > 0).then_some(frame.line))),
        ("column", json!((frame.column > 0).then_some(frame.column))),
        ("subtle", if frame.subtle { json!(true) } else { Value::Null }),
    ])
}

pub(super) fn variable(variable: &VariableInfo) -> Value {
    let name = (!variable.name.is_empty()).then_some(&variable.name);
    present([
        ("name", json!(name)),
        ("value", json!(variable.value)),
        ("cut", count(variable.cut)),
        ("type", json!(variable.kind)),
        ("variablesReference", json!((variable.reference > 0).then_some(variable.reference))),
        ("namedVariables", json!(variable.named)),
        ("indexedVariables", json!(variable.indexed)),
    ])
}

pub(super) fn node(node: &VariableNode) -> Value {
    let mut shown = variable(&node.variable);
    if !node.children.is_empty() {
        shown["children"] = node.children.iter().map(self::node).collect();
    }
    if node.left_out > 0 {
        shown["childrenLeftOut"] = json!(node.left_out);
    }
    shown
}

pub(super) fn breakpoint(info: &BreakpointInfo) -> Value {
    let asked = &info.breakpoint;
    let (state, line) = match info.state {
        BreakpointState::Verified => ("verified", asked.line),
        BreakpointState::Moved { line } => ("moved", line),
        BreakpointState::Pending => ("pending", asked.line),
    };
    present([
        ("path", json!(asked.path)),
        ("line", json!(line)),
        ("requestedLine", json!((line != asked.line).then_some(asked.line))),
        ("state", json!(state)),
        ("verified", json!(info.state != BreakpointState::Pending)),
        ("message", json!(info.message)),
        ("condition", json!(asked.condition)),
        ("hitCondition", json!(asked.hit_condition)),
        ("logMessage", json!(asked.log_message)),
    ])
}

fn list(texts: &[String]) -> Value {
    if texts.is_empty() { Value::Null } else { json!(texts) }
}

fn output(output: &OutputSince) -> Value {
    if output.text.is_empty() { Value::Null } else { json!(output.text) }
}

/// A number that matters only when it is not zero.
pub(super) fn count(count: usize) -> Value {
    if count == 0 { Value::Null } else { json!(count) }
}

/// An object of the fields that there are.
pub(super) fn present<const N: usize>(fields: [(&str, Value); N]) -> Value {
    let fields = fields.into_iter().filter(|(_, value)| !value.is_null());
    Value::Object(fields.map(|(name, value)| (name.to_owned(), value)).collect::<Map<_, _>>())
}
