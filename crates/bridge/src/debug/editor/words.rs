//! What the extension says when a script fails. It loses the codes of most errors and keeps the words, so
//! the words are turned back into codes here.

use serde_json::Value;
use termbridge_editor::{BridgeError, ScriptError};

use crate::debug::DebugFailure;

/// The extension's code for everything that it did not expect, a user's mistakes included.
const UNKNOWN: [&str; 5] =
    ["E_INTERNAL", "E_UNKNOWN", "E_OPERATION_FAILED", "E_SCRIPT_FAILED", "E_NOT_FOUND"];

/// The editor's message about a session that it lists although its debugger has ended.
pub(super) const NO_DEBUGGER: &str = "no debugger available";

/// Codes that the catalogue has another word for.
const CODES: [(&str, &str); 18] = [
    ("E_NO_THREAD", "E_NOT_PAUSED"),
    ("E_NO_THREADS", "E_NOT_PAUSED"),
    ("E_NO_STACK", "E_NOT_PAUSED"),
    ("E_NO_FRAMES", "E_NOT_PAUSED"),
    ("E_SESSION_TERMINATED", "E_PROGRAM_EXITED"),
    ("E_DEBUG_SESSION_TERMINATED", "E_PROGRAM_EXITED"),
    ("E_MISSING_REQUIRED_PARAM", "E_INVALID_PARAMS"),
    ("E_VALIDATION_FAILED", "E_INVALID_PARAMS"),
    ("E_INVALID_INPUT", "E_INVALID_PARAMS"),
    ("E_OPERATION_CANCELLED", "E_CANCELLED"),
    ("E_LSP_TIMEOUT", "E_TIMEOUT"),
    ("E_BRIDGE_TIMEOUT", "E_TIMEOUT"),
    ("E_FILE_READ_ONLY", "E_READ_ONLY"),
    ("E_MODIFICATION_FAILED", "E_EVALUATE_FAILED"),
    ("E_UNSUPPORTED_OPERATION", "E_UNSUPPORTED_CAPABILITY"),
    ("E_UNSUPPORTED_LANGUAGE", "E_UNSUPPORTED_CAPABILITY"),
    ("E_NOT_IMPLEMENTED", "E_UNSUPPORTED_CAPABILITY"),
    ("E_MEMORY_BUDGET_EXCEEDED", "E_LARGE_DATA"),
];

/// Words of messages, and what they mean. The first that fits counts.
const WORDS: [(&str, &str); 23] = [
    ("no active debug session", "E_NO_SESSION"),
    (NO_DEBUGGER, "E_NO_SESSION"),
    ("no debug sessions captured", "E_NO_SESSION"),
    ("debugger must be stopped", "E_NOT_PAUSED"),
    ("no threads available", "E_NOT_PAUSED"),
    ("no threadid available", "E_NOT_PAUSED"),
    ("is not paused", "E_NOT_PAUSED"),
    ("no debug session started", "E_DISCOVERY_FAILED"),
    ("failed to evaluate", "E_EVALUATE_FAILED"),
    ("ambiguous symbol", "E_AMBIGUOUS_SYMBOL"),
    ("is missing in 'launch.json'", "E_LAUNCH_FAILED"),
    ("failed to start debug configuration", "E_LAUNCH_FAILED"),
    ("debug session failed to start", "E_LAUNCH_FAILED"),
    ("workspace folder not found", "E_INVALID_PATH"),
    ("invalid parameters", "E_INVALID_PARAMS"),
    ("file not found", "E_FILE_NOT_FOUND"),
    ("nonexistent file", "E_FILE_NOT_FOUND"),
    ("unable to read file", "E_FILE_NOT_FOUND"),
    ("line number", "E_INVALID_LINE"),
    ("no test found", "E_NO_TEST_AT_CURSOR"),
    ("timed out", "E_TIMEOUT"),
    ("timeout waiting", "E_TIMEOUT"),
    ("not supported", "E_UNSUPPORTED_CAPABILITY"),
];

/// A failure of a call, with a code of the catalogue.
pub(super) fn failure(script: &str, error: BridgeError) -> DebugFailure {
    match error {
        BridgeError::Script(error) => of_script(script, error),
        error => error.into(),
    }
}

fn of_script(script: &str, error: ScriptError) -> DebugFailure {
    let (said, message) = split_code(&error.message);
    let named = error.details.get("code").and_then(Value::as_str);
    let code = [said, named, Some(error.code.as_str())]
        .into_iter()
        .flatten()
        .find(|code| !UNKNOWN.contains(code))
        .map_or_else(|| of_words(script, message), translated);
    let message = match code {
        "E_INVALID_PARAMS" => refused_arguments(script, message, &error.details),
        _ => message.trim().to_owned(),
    };
    let failure = DebugFailure::new(code, message);
    match code {
        "E_SCRIPT_NOT_FOUND" => failure.hint(
            "the editor's extension does not have it; a server with --debug-backend native does",
        ),
        "E_LAUNCH_FAILED" => failure.hint("name a configuration of .vscode/launch.json"),
        "E_DISCOVERY_FAILED" => failure.hint(
            "the editor must have found the test first: editor_show_testing_ui shows what it found",
        ),
        _ => failure,
    }
}

/// A code that stands before a message, and the message.
fn split_code(message: &str) -> (Option<&str>, &str) {
    let bare = message.trim_start_matches('[');
    match bare.split_once([':', ']']) {
        Some((code, rest)) if is_code(code) => (Some(code), rest.trim_start()),
        _ => (None, message),
    }
}

fn is_code(text: &str) -> bool {
    text.strip_prefix("E_").is_some_and(|name| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_')
    })
}

fn translated(code: &str) -> &str {
    CODES.iter().find(|(theirs, _)| *theirs == code).map_or(code, |(_, ours)| ours)
}

fn of_words(script: &str, message: &str) -> &'static str {
    let lower = message.to_lowercase();
    if lower.starts_with("script ") && lower.ends_with("not found") {
        return "E_SCRIPT_NOT_FOUND";
    }
    if lower.starts_with("symbol ") && lower.contains("not found") {
        return "E_SYMBOL_NOT_FOUND";
    }
    if lower.starts_with("session ") && lower.contains("not found") {
        return "E_NO_SESSION";
    }
    match WORDS.iter().find(|(words, _)| lower.contains(words)) {
        Some((_, code)) => code,
        // Whatever an expression or a value was refused for.
        None if matches!(script, "debug.evaluate" | "debug.set-variable") => "E_EVALUATE_FAILED",
        None => "E_INTERNAL",
    }
}

/// Which arguments were refused, where that is known.
fn refused_arguments(script: &str, message: &str, details: &Value) -> String {
    let errors = details.get("errors").and_then(Value::as_array);
    let named: Vec<String> = errors
        .into_iter()
        .flatten()
        .map(|error| {
            let text = |name: &str| error[name].as_str().unwrap_or_default();
            format!("{}: {}", text("path"), text("message"))
        })
        .collect();
    match named.as_slice() {
        [] if message.to_lowercase().starts_with("invalid parameters") => {
            format!("the editor's {script} does not take these arguments")
        }
        [] => message.trim().to_owned(),
        named => format!("the editor's {script} refuses its arguments: {}", named.join("; ")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn code_of(script: &str, code: &str, message: &str) -> (String, String) {
        let details = Value::Null;
        let error = ScriptError { code: code.into(), message: message.into(), details };
        let failure = failure(script, BridgeError::Script(error));
        (failure.code, failure.message)
    }

    #[test]
    fn words_become_codes() {
        for (message, code) in [
            ("No active debug session", "E_NO_SESSION"),
            ("No active debug session available", "E_NO_SESSION"),
            ("No debugger available, can not send 'threads'", "E_NO_SESSION"),
            ("Debugger must be stopped to get call stack", "E_NOT_PAUSED"),
            ("No threads available in the debug session", "E_NOT_PAUSED"),
            ("File not found: /ws/src/none.js", "E_FILE_NOT_FOUND"),
            ("Configuration 'nosuch' is missing in 'launch.json'.", "E_LAUNCH_FAILED"),
            ("Symbol \"nosuch\" not found in /ws/src/cart.js", "E_SYMBOL_NOT_FOUND"),
            ("Ambiguous symbol reference: Found 2 symbols named \"x\".", "E_AMBIGUOUS_SYMBOL"),
            ("Script 'debug.pause' not found", "E_SCRIPT_NOT_FOUND"),
            ("Session \"abc\" not found - may have been cleared", "E_NO_SESSION"),
            ("Failed to evaluate expression: x is not defined", "E_EVALUATE_FAILED"),
            ("Command timed out after 10000ms", "E_TIMEOUT"),
            ("cannot open. Detail: Unable to read file 'a'", "E_FILE_NOT_FOUND"),
            ("Invalid parameters provided", "E_INVALID_PARAMS"),
            ("No debug session started after 20000ms", "E_DISCOVERY_FAILED"),
            ("Cannot read properties of undefined", "E_INTERNAL"),
        ] {
            assert_eq!(code_of("debug.stack", "E_INTERNAL", message).0, code, "{message}");
        }
    }

    #[test]
    fn a_code_is_told_once() {
        let (code, message) =
            code_of("debug.step-over", "E_INTERNAL", "E_NO_THREAD: No threadId available.");
        assert_eq!((code.as_str(), message.as_str()), ("E_NOT_PAUSED", "No threadId available."));
        let (code, message) = code_of("debug.stack", "E_NO_SESSION", "[E_NO_SESSION] none");
        assert_eq!((code.as_str(), message.as_str()), ("E_NO_SESSION", "none"));
    }

    #[test]
    fn refused_arguments_are_named() {
        let details = json!({"errors": [{"path": "groupBy", "message": "Invalid option"}]});
        let (code, message) = ("E_INVALID_PARAMS".into(), "Invalid parameters provided".into());
        let error = ScriptError { code, message, details };
        let failure = failure("dap.stats", BridgeError::Script(error));
        assert_eq!(
            failure.message,
            "the editor's dap.stats refuses its arguments: groupBy: Invalid option"
        );
    }
}
