//! Text of a program without what only a terminal reads.

use serde_json::Value;
use termbridge_session::vt::{CleanOutput, MAX_COLS, Size};

/// What a program printed, as a terminal would show it: no escape sequences, only what stayed of a line
/// that was rewritten.
pub(in crate::debug) fn cleaned(text: String) -> String {
    if !text.contains(['\x1b', '\r', '\x07', '\x08']) {
        return text;
    }
    // As wide as a terminal can be: lines are not wrapped.
    let mut clean = CleanOutput::new(Size { cols: MAX_COLS, rows: 24 }, 0);
    clean.feed(text.replace('\n', "\r\n").as_bytes());
    clean.finish()
}

/// The same of a text that is kept.
pub(super) fn clean(text: &str) -> String {
    cleaned(text.to_owned())
}

/// The same of all texts in a value.
pub(super) fn clean_strings(value: &mut Value) {
    match value {
        Value::String(text) => *text = cleaned(std::mem::take(text)),
        Value::Array(items) => items.iter_mut().for_each(clean_strings),
        Value::Object(fields) => fields.values_mut().for_each(clean_strings),
        _ => {}
    }
}
