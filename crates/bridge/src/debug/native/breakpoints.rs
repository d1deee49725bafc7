//! `breakpoint.*`

use std::path::PathBuf;

use serde::Deserialize;
use termbridge_dap::{Breakpoint, BreakpointPlace, DataAccess};

use super::{NativeDebugger, view};
use crate::debug::{Answer, DebugFailure};

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Set {
    #[serde(flatten)]
    place: Place,
    condition: Option<String>,
    hit_condition: Option<String>,
    log_message: Option<String>,
    session_id: Option<String>,
}

/// A line of a file, a function or a variable.
#[derive(Debug, Deserialize)]
pub(super) struct Place {
    path: Option<PathBuf>,
    line: Option<u64>,
    function: Option<String>,
    variable: Option<String>,
    access: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct File {
    path: PathBuf,
}

impl Place {
    fn read(self) -> Result<BreakpointPlace, DebugFailure> {
        let access = match self.access.as_deref() {
            None | Some("write") => DataAccess::Write,
            Some("read") => DataAccess::Read,
            Some(_) => DataAccess::ReadWrite,
        };
        match (self.path, self.line, self.function, self.variable) {
            (Some(path), Some(line), None, None) => Ok(BreakpointPlace::line(path, line)),
            (None, None, Some(function), None) => Ok(BreakpointPlace::function(&function)),
            (None, None, None, Some(variable)) => Ok(BreakpointPlace::data(&variable, access)),
            _ => Err(DebugFailure::new("E_INVALID_PARAMS", "where it is is not clear")
                .hint("give `path` and `line`, or `function`, or `variable`")),
        }
    }
}

pub(super) async fn set(native: &NativeDebugger, asked: Set) -> Result<Answer, DebugFailure> {
    let Set { place, condition, hit_condition, log_message, session_id } = asked;
    let breakpoint = Breakpoint { place: place.read()?, condition, hit_condition, log_message };
    let info = match breakpoint.place {
        BreakpointPlace::Data { .. } => {
            native.session(session_id.as_deref(), None)?.set_data_breakpoint(breakpoint).await?
        }
        _ => native.debugger().set_breakpoint(breakpoint).await?,
    };
    Ok(Answer::Breakpoint { breakpoint: Box::new(view::breakpoint(&info)) })
}

pub(super) async fn remove(native: &NativeDebugger, asked: Place) -> Result<Answer, DebugFailure> {
    let removed = native.debugger().remove_breakpoint(&asked.read()?).await;
    Ok(Answer::Removed { removed })
}

pub(super) async fn clear_file(
    native: &NativeDebugger,
    asked: File,
) -> Result<Answer, DebugFailure> {
    Ok(Answer::Cleared { cleared: native.debugger().clear_file(&asked.path).await })
}

pub(super) async fn clear_project(native: &NativeDebugger) -> Result<Answer, DebugFailure> {
    Ok(Answer::Cleared { cleared: native.debugger().clear_breakpoints().await })
}

pub(super) fn list(native: &NativeDebugger) -> Answer {
    let breakpoints = native.debugger().breakpoints();
    let breakpoints: Vec<_> = breakpoints.iter().map(view::breakpoint).collect();
    Answer::Breakpoints { total: breakpoints.len(), breakpoints }
}
