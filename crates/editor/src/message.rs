//! Messages as the wire has them: `{"type", "id", "data"}`.
//!
//! Who is trusted: nobody. What a peer sends is data: a message is parsed leniently, a reply has to fit its request
//! ([`Reply::read`]), and what does not is logged by its type and dropped. Contents are never logged.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::peer::PeerError;

/// A message that was received.
#[derive(Debug, Deserialize)]
pub(crate) struct Incoming {
    #[serde(rename = "type")]
    pub(crate) kind: String,
    #[serde(default)]
    pub(crate) id: Option<String>,
    #[serde(default)]
    pub(crate) data: Value,
}

/// As much of a message as is read where its data cannot be.
#[derive(Debug, Deserialize)]
pub(crate) struct Outline {
    #[serde(rename = "type")]
    pub(crate) kind: String,
    #[serde(default)]
    pub(crate) id: Option<String>,
}

/// A message to send; its fields are in the published order.
#[derive(Debug, Serialize)]
pub(crate) struct Outgoing<'a> {
    #[serde(rename = "type")]
    pub(crate) kind: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<&'a str>,
    #[serde(skip_serializing_if = "Value::is_null")]
    pub(crate) data: Value,
}

impl Outgoing<'_> {
    pub(crate) fn text(&self) -> String {
        // Strings and JSON values always serialise.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// The types of replies.
pub(crate) const REPLIES: [&str; 4] = ["pong", "terminal_created", "success", "error"];

/// A reply that fits its request.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// To `ping`.
    Pong,
    /// To `create_terminal`.
    TerminalCreated {
        /// What the terminal is called from now on in requests.
        terminal_id: String,
        /// What it is called for people.
        terminal_name: String,
        /// Its shell's process; a window of ours reports it.
        pid: Option<u32>,
    },
    /// To everything else: what was returned.
    Success(Value),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Created {
    terminal_id: String,
    terminal_name: String,
    #[serde(default)]
    pid: Option<u32>,
}

#[derive(Deserialize)]
struct Failed {
    error: String,
    #[serde(default)]
    code: Option<String>,
}

impl Reply {
    /// Reads a reply to a request of type `request`; the outer error names what is wrong with the reply itself. A plain
    /// peer's `success` has to have its `output`. What a window of ours returns depends on the request: `execute`
    /// returns either of the two that it may.
    pub(crate) fn read(
        request: &str,
        is_window: bool,
        kind: &str,
        data: Value,
    ) -> Result<Result<Self, PeerError>, String> {
        let bad = |error: serde_json::Error| error.to_string();
        match (kind, request) {
            ("error", _) => {
                let Failed { error, code } = serde_json::from_value(data).map_err(bad)?;
                Ok(Err(PeerError::Refused { message: error, code }))
            }
            ("pong", "ping") => Ok(Ok(Self::Pong)),
            ("terminal_created", "create_terminal") => {
                let created: Created = serde_json::from_value(data).map_err(bad)?;
                let Created { terminal_id, terminal_name, pid } = created;
                Ok(Ok(Self::TerminalCreated { terminal_id, terminal_name, pid }))
            }
            ("success", request) if !matches!(request, "ping" | "create_terminal") => {
                let needed: &[&str] = match (is_window, request) {
                    (false, _) => &["output"],
                    (true, "execute") => &["executionId", "output"],
                    (true, _) => &[],
                };
                if needed.is_empty() || needed.iter().any(|field| data[*field].is_string()) {
                    Ok(Ok(Self::Success(data)))
                } else {
                    Err(format!("missing field `{}`", needed.join("` or `")))
                }
            }
            (kind, request) => Err(format!("{kind:?} is not a reply to {request:?}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn messages_are_written_in_the_published_order() {
        let data = json!({"terminalId": "req-1", "command": "npm run build"});
        let message = Outgoing { kind: "execute", id: Some("req-2"), data };
        assert_eq!(
            message.text(),
            r#"{"type":"execute","id":"req-2","data":{"command":"npm run build","terminalId":"req-1"}}"#
        );
        let ping = Outgoing { kind: "ping", id: Some("req-3"), data: Value::Null };
        assert_eq!(ping.text(), r#"{"type":"ping","id":"req-3"}"#);
    }

    #[test]
    fn a_reply_fits_its_request_or_is_none() {
        let read = |request, kind, data| Reply::read(request, false, kind, data);
        assert_eq!(read("ping", "pong", Value::Null), Ok(Ok(Reply::Pong)));
        let created = json!({"terminalId": "1", "terminalName": "Build"});
        assert!(matches!(
            read("create_terminal", "terminal_created", created.clone()),
            Ok(Ok(Reply::TerminalCreated { pid: None, .. }))
        ));
        let success = json!({"output": "done"});
        let done = Reply::Success(success.clone());
        assert_eq!(read("execute", "success", success.clone()), Ok(Ok(done)));
        let error = json!({"error": "Terminal 7 not found"});
        let failed = PeerError::Refused { message: "Terminal 7 not found".into(), code: None };
        assert_eq!(read("close_terminal", "error", error), Ok(Err(failed)));
        for (request, kind, data) in [
            ("execute", "pong", Value::Null),
            ("execute", "terminal_created", created),
            ("ping", "success", success.clone()),
            ("create_terminal", "success", success),
            ("create_terminal", "terminal_created", json!({"terminalName": "Build"})),
            ("create_terminal", "terminal_created", json!([])),
            ("execute", "success", Value::Null),
            ("execute", "success", json!({"output": 7})),
            ("execute", "error", json!({"message": "no"})),
            ("execute", "exploded", json!({})),
        ] {
            assert!(read(request, kind, data.clone()).is_err(), "{request} {kind} {data}");
        }
        assert!(Reply::read("execute", true, "success", json!({"executionId": "e"})).is_ok());
        assert!(Reply::read("execute", true, "success", json!({"output": 7})).is_err());
        assert!(Reply::read("send_text", true, "success", Value::Null).is_ok());
    }
}
