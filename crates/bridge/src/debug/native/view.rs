//! Stops, ends, frames and values of our own debugger as answers.

use termbridge_dap::{
    BreakpointInfo, BreakpointPlace, BreakpointState, EndReason, EndReport, FrameInfo, Halt,
    OutputSince, StopReport, VariableInfo, VariableNode,
};

use crate::debug::answer::{self, marked};

/// A program that stopped or ended.
pub(super) fn halt(halt: &Halt) -> answer::Halt {
    match halt {
        Halt::Stopped(report) => answer::Halt::Stop(Box::new(stop(report))),
        Halt::Ended(report) => answer::Halt::End(Box::new(end(report))),
    }
}

fn stop(report: &StopReport) -> answer::Stop {
    let location = report.location.as_ref().map(|place| answer::Location {
        path: place.path.clone(),
        line: place.line,
        column: Some(place.column),
        function: place.function.clone(),
    });
    let exception = report.exception.as_ref().map(|exception| answer::Exception {
        kind: exception.id.clone(),
        message: exception.message.clone(),
        // The frames tell it.
        stack: None,
    });
    let data_changes = report.data_changes.iter().map(|change| answer::DataChange {
        written: change.written,
        variable: change.expression.clone(),
        old: change.old.clone(),
        new: change.new.clone(),
        returned: change.returned.clone(),
    });
    answer::Stop {
        state: answer::Stop::STATE,
        session_id: report.session.to_string(),
        test: None,
        condition_failures: report.condition_failures.clone(),
        reason: report.reason.clone(),
        description: report.description.clone(),
        location,
        raised_in: report.raised_in.as_ref().map(frame),
        exception,
        source: marked(&report.source),
        locals: report.locals.iter().map(variable).collect(),
        locals_left_out: count(report.locals_left_out),
        locals_unread: report.locals_unread,
        frames: report.frames.iter().map(frame).collect(),
        total_frames: report.total_frames,
        data_changes: data_changes.collect(),
        hit_breakpoints: report.hit.iter().map(place).collect(),
        thread_id: Some(report.thread.id),
        thread: Some(report.thread.name.clone()),
        waiting_threads: count(report.waiting),
        output: output(&report.output),
        output_left_out: count(report.output.left_out),
    }
}

/// How a program ended.
pub(super) fn end(report: &EndReport) -> answer::End {
    answer::End {
        state: answer::End::STATE,
        stopped: None,
        session_id: Some(report.session.to_string()),
        test: None,
        condition_failures: report.condition_failures.clone(),
        unbound_breakpoints: report.unbound.iter().map(place).collect(),
        program: Some(report.program.clone()),
        exit: Some(exit(report)),
        output: output(&report.output),
        output_left_out: count(report.output.left_out),
    }
}

/// How a program ended, without what it printed.
pub(super) fn exit(report: &EndReport) -> answer::Exit {
    let signal = match &report.reason {
        EndReason::Signalled(signal) => Some(signal.clone()),
        _ => None,
    };
    let goes_on = report.reason == EndReason::Detached;
    answer::Exit { code: report.exit_code, signal, how: report.how(), goes_on }
}

pub(super) fn frame(frame: &FrameInfo) -> answer::Frame {
    answer::Frame {
        id: frame.id,
        name: frame.name.clone(),
        path: frame.path.clone(),
        line: (frame.line > 0).then_some(frame.line),
        column: (frame.column > 0).then_some(frame.column),
        subtle: frame.subtle,
    }
}

pub(super) fn variable(variable: &VariableInfo) -> answer::Variable {
    answer::Variable {
        name: variable.name.clone(),
        value: variable.value.clone(),
        cut: count(variable.cut),
        kind: variable.kind.clone(),
        variables_reference: (variable.reference > 0).then_some(variable.reference),
        named_variables: variable.named,
        indexed_variables: variable.indexed,
        ..answer::Variable::default()
    }
}

pub(super) fn node(node: &VariableNode) -> answer::Variable {
    answer::Variable {
        children: node.children.iter().map(self::node).collect(),
        children_left_out: count(node.left_out),
        ..variable(&node.variable)
    }
}

pub(super) fn breakpoint(info: &BreakpointInfo) -> answer::Breakpoint {
    let asked = &info.breakpoint;
    let state = match info.state {
        BreakpointState::Verified => "verified",
        BreakpointState::Moved { .. } => "moved",
        BreakpointState::Pending => "pending",
    };
    let mut place = place(&asked.place);
    let mut requested_line = None;
    if let BreakpointState::Moved { line } = info.state {
        requested_line = place.line.replace(line);
    }
    if let Some((path, line)) = &info.location {
        (place.path, place.line) = (Some(path.clone()), Some(*line));
    }
    answer::Breakpoint {
        place,
        requested_line,
        state,
        verified: info.state != BreakpointState::Pending,
        message: info.message.clone(),
        condition: asked.condition.clone(),
        hit_condition: asked.hit_condition.clone(),
        log_message: asked.log_message.clone(),
    }
}

/// Where a breakpoint is.
fn place(place: &BreakpointPlace) -> answer::Place {
    match place {
        BreakpointPlace::Line { path, line } => {
            answer::Place::line(path.to_string_lossy().into_owned(), *line)
        }
        BreakpointPlace::Function { name } => {
            answer::Place { function: Some(name.clone()), ..answer::Place::default() }
        }
        BreakpointPlace::Data { expression, access } => answer::Place {
            variable: Some(expression.clone()),
            access: Some(access.name()),
            ..answer::Place::default()
        },
    }
}

fn output(output: &OutputSince) -> Option<String> {
    (!output.text.is_empty()).then(|| output.text.clone())
}

/// A number that matters only when it is not zero.
pub(super) fn count(count: usize) -> Option<usize> {
    (count > 0).then_some(count)
}
