//! `breakpoint.*`

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::{Value, json};
use termbridge_dap::Breakpoint;

use super::{NativeDebugger, view};
use crate::debug::DebugFailure;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Set {
    path: PathBuf,
    line: u64,
    condition: Option<String>,
    hit_condition: Option<String>,
    log_message: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Place {
    path: PathBuf,
    line: u64,
}

#[derive(Debug, Deserialize)]
pub(super) struct File {
    path: PathBuf,
}

pub(super) async fn set(native: &NativeDebugger, asked: Set) -> Result<Value, DebugFailure> {
    let Set { path, line, condition, hit_condition, log_message } = asked;
    let breakpoint = Breakpoint { path, line, condition, hit_condition, log_message };
    let info = native.debugger().set_breakpoint(breakpoint).await?;
    Ok(json!({"breakpoint": view::breakpoint(&info)}))
}

pub(super) async fn remove(native: &NativeDebugger, asked: Place) -> Result<Value, DebugFailure> {
    let removed = native.debugger().remove_breakpoint(&asked.path, asked.line).await;
    Ok(json!({"removed": removed}))
}

pub(super) async fn clear_file(
    native: &NativeDebugger,
    asked: File,
) -> Result<Value, DebugFailure> {
    Ok(json!({"cleared": native.debugger().clear_file(&asked.path).await}))
}

pub(super) async fn clear_project(native: &NativeDebugger) -> Result<Value, DebugFailure> {
    Ok(json!({"cleared": native.debugger().clear_breakpoints().await}))
}

pub(super) fn list(native: &NativeDebugger) -> Value {
    let breakpoints: Vec<Value> =
        native.debugger().breakpoints().iter().map(view::breakpoint).collect();
    json!({"total": breakpoints.len(), "breakpoints": breakpoints})
}
