//! How a model reads and goes on with answers of `terminal-mcp`.

use anyhow::Result;
use serde_json::{Value, json};

use crate::model::{Model, Seen};

/// The session in an answer.
pub(super) const SESSION: &str = r#""session_id": "(\w+)""#;

/// How often a model reads again before it tries something else.
const READS: usize = 3;

/// Starts a program and reads until the model sees `wanted`, a regular expression; its session.
pub(super) fn start(model: &mut Model, command: &str, wanted: &str) -> Result<String> {
    let session = model.call("session_create", json!({"command": command}))?.value(SESSION)?;
    let seen = model.call("session_read", json!({"session_id": session}))?;
    until(model, seen, &session, wanted)?;
    Ok(session)
}

/// Sends input or a key, with `more` arguments, and goes on when the model reads `wanted`.
pub(super) fn interact(model: &mut Model, session: &str, more: &Value, wanted: &str) -> Result<()> {
    let mut arguments = more.clone();
    arguments["session_id"] = session.into();
    let seen = model.call("session_interact", arguments)?;
    until(model, seen, session, wanted)
}

/// It answers when the terminal was quiet for a while, which can be too early: then the model reads again.
fn until(model: &mut Model, mut seen: Seen, session: &str, wanted: &str) -> Result<()> {
    for _ in 0..READS {
        if seen.expect(wanted).is_ok() {
            return Ok(());
        }
        seen = model.call("session_read", json!({"session_id": session}))?;
    }
    seen.expect(wanted)
}
