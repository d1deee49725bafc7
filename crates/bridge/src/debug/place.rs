//! Where a caller means: a line, the text that stands there, a function or a variable. Backends are given
//! lines, functions and variables; an editor knows lines only.

use std::io::ErrorKind;
use std::path::Path;

use serde_json::{Map, Value, json};
use termbridge_dap::DebugError;

use super::DebugFailure;

/// Most bytes of a source file.
const MAX_SOURCE: u64 = 64 * 1024 * 1024;

/// Puts the line of a breakpoint in the place of its text, and refuses what can never hold.
pub(super) fn find_line(arguments: &mut Map<String, Value>) -> Result<(), DebugFailure> {
    if let Some(hits) = arguments.get("hitCondition").and_then(Value::as_str)
        && !is_hit_condition(hits)
    {
        let message = format!("hitCondition {hits:?} is not a number of hits");
        let failure = DebugFailure::new("E_INVALID_PARAMS", message);
        return Err(failure.hint("give a number, or one behind >, >=, ==, <, <= or %"));
    }
    if ["function", "variable"].iter().any(|name| arguments.contains_key(*name)) {
        return Ok(());
    }
    if !arguments.contains_key("path") {
        let failure = DebugFailure::new("E_INVALID_PARAMS", "argument `path` is missing");
        return Err(failure.hint("give `path` and `line` or `text`, or `function`, or `variable`"));
    }
    let text = arguments.remove("text");
    let near = arguments.get("line").and_then(Value::as_u64);
    let path = arguments.get("path").and_then(Value::as_str).unwrap_or_default();
    match (text.as_ref().and_then(Value::as_str), near) {
        (Some(text), near) => {
            let line = line_of(Path::new(path), text, near)?;
            arguments.insert("line".to_owned(), json!(line));
            Ok(())
        }
        (None, Some(_)) => Ok(()),
        (None, None) => {
            let failure = DebugFailure::new("E_INVALID_PARAMS", "argument `line` is missing");
            Err(failure.hint("give the line, or the `text` on it"))
        }
    }
}

/// A number, perhaps behind an operator.
fn is_hit_condition(text: &str) -> bool {
    let text = text.trim();
    let number = text.trim_start_matches(['>', '<', '=', '%']);
    let operator = &text[..text.len() - number.len()];
    ["", ">", ">=", "=", "==", "===", "<", "<=", "%"].contains(&operator)
        && number.trim().parse::<u32>().is_ok_and(|number| number > 0)
}

/// The line that has a text; of several, the one that is nearest to a line.
fn line_of(path: &Path, text: &str, near: Option<u64>) -> Result<u64, DebugFailure> {
    let wanted = text.trim();
    let source =
        termbridge_foreign_files::read(path, MAX_SOURCE).map_err(|error| match error.kind() {
            ErrorKind::NotFound => DebugError::FileNotFound(path.to_owned()),
            _ => DebugError::InvalidPath { path: path.to_owned(), reason: error.to_string() },
        })?;
    let source = String::from_utf8_lossy(&source);
    let lines = source.lines().zip(1..).filter(|(line, _)| line.contains(wanted));
    let lines: Vec<u64> = lines.map(|(_, number)| number).collect();
    match (lines.as_slice(), near) {
        ([line], _) => Ok(*line),
        ([_, ..], Some(near)) => {
            Ok(lines.into_iter().min_by_key(|line| line.abs_diff(near)).unwrap_or(near))
        }
        ([], _) => {
            let message = format!("no line of {} has {wanted:?}", path.display());
            Err(DebugFailure::new("E_INVALID_PARAMS", message))
        }
        (several, None) => {
            let lines = several.iter().take(20).map(u64::to_string).collect::<Vec<_>>().join(", ");
            let message = format!("{wanted:?} is in several lines: {lines}");
            let failure = DebugFailure::new("E_INVALID_PARAMS", message);
            Err(failure.hint("give `line` too: the nearest one is used"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hits_are_numbers() {
        for good in ["5", " >= 5", "%2", "== 3", "<4", "=1"] {
            assert!(is_hit_condition(good), "{good}");
        }
        for bad in ["", "abc", "5 times", "><5", "-1", "0", "i > 5"] {
            assert!(!is_hit_condition(bad), "{bad}");
        }
    }
}
