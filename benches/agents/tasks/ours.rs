//! How a model reads and goes on with our answers.

use anyhow::Result;
use serde_json::json;

use crate::model::{Model, Seen};

/// The session in an answer, for calls that need it.
pub(super) const SESSION: &str = r#"(?:session_id |session |\| |"session_id":")([a-z0-9]{12})\b"#;

/// Types, and goes on when the model reads `wanted`, a regular expression.
///
/// The call waits a moment by itself; where the program was slower, the model asks again.
pub(super) fn type_keys(model: &mut Model, session: &str, keys: &str, wanted: &str) -> Result<()> {
    let seen = model.call("send_keys", json!({"session_id": session, "keys": keys}))?;
    until(model, seen, session, wanted)
}

/// Goes on when the model reads `wanted` in this answer or, once the screen is quiet, in the next.
pub(super) fn until(model: &mut Model, seen: Seen, session: &str, wanted: &str) -> Result<()> {
    if seen.expect(wanted).is_ok() {
        return Ok(());
    }
    let wait = json!({"session_id": session, "idle_ms": 500, "view": "plain"});
    model.call("wait_for", wait)?.expect(wanted)
}
