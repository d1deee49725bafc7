//! The answer of a finished call: `error.json`, else `response.json`, with `data.json` if it says so.
//!
//! The extension writes them before `done`, but a file system between two machines may show them
//! later or in part, so what cannot be read yet is told apart from what is wrong.

use std::io::{ErrorKind, Read};
use std::path::{Component, Path};
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use super::{BridgeError, ScriptError};

/// The result of a script.
#[derive(Debug, Clone, PartialEq)]
pub struct Envelope {
    /// `success`, or another kind of good answer.
    pub kind: String,
    /// The result, in the script's own shape.
    pub data: Value,
    /// About the call.
    pub meta: Meta,
    /// What the editor shows, where the extension tells.
    pub editor_context: Option<Value>,
}

/// What the extension says about a call.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Meta {
    /// The job's id.
    pub request_id: String,
    /// `normal` or `danger`.
    pub mode: String,
    /// When it was answered.
    pub timestamp: String,
    /// Milliseconds it took.
    pub duration: f64,
}

/// How reading an answer went.
#[derive(Debug)]
pub(super) enum Answer {
    /// It is here.
    Ready(Result<Envelope, BridgeError>),
    /// It is not here, or not whole: worth another look.
    NotYet(String),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Wire {
    #[serde(default)]
    ok: bool,
    #[serde(rename = "type", default)]
    kind: String,
    #[serde(default)]
    data: Value,
    data_ref: Option<String>,
    #[serde(default)]
    meta: Value,
    editor_context: Option<Value>,
    error: Option<WireError>,
}

#[derive(Deserialize)]
struct WireError {
    #[serde(default)]
    code: String,
    #[serde(default)]
    message: String,
    #[serde(default)]
    details: Value,
}

enum Content {
    Absent,
    Torn(String),
    Whole(Value),
}

/// Reads the answer in a job's folder.
pub(super) fn read(folder: &Path, limit: u64) -> Answer {
    let mut name = "error.json";
    let mut content = parse(&folder.join(name), limit);
    if let Ok(Content::Absent) = content {
        name = "response.json";
        content = parse(&folder.join(name), limit);
    }
    let value = match content {
        Err(error) => return Answer::Ready(Err(error)),
        Ok(Content::Absent) => return Answer::NotYet("it wrote no response".into()),
        Ok(Content::Torn(why)) => return Answer::NotYet(format!("{name} is damaged: {why}")),
        Ok(Content::Whole(value)) => value,
    };
    let wire: Wire = match serde_json::from_value(value) {
        Ok(wire) => wire,
        Err(why) => return Answer::NotYet(format!("{name} is not an answer: {why}")),
    };
    if name == "error.json" || !wire.ok {
        return Answer::Ready(Err(failure(wire.error)));
    }
    let data = match wire.data_ref.as_deref().map(|name| referred(folder, name, limit)) {
        None => wire.data,
        Some(Err(error)) => return Answer::Ready(Err(error)),
        Some(Ok(Content::Whole(data))) => data,
        Some(Ok(Content::Absent)) => return Answer::NotYet("its data file is missing".into()),
        Some(Ok(Content::Torn(why))) => {
            return Answer::NotYet(format!("its data file is damaged: {why}"));
        }
    };
    Answer::Ready(Ok(Envelope {
        kind: wire.kind,
        data,
        meta: serde_json::from_value(wire.meta).unwrap_or_default(),
        editor_context: wire.editor_context,
    }))
}

/// The data file must be a plain name: the answer cannot make us read elsewhere.
fn referred(folder: &Path, name: &str, limit: u64) -> Result<Content, BridgeError> {
    let mut parts = Path::new(name).components();
    match (parts.next(), parts.next()) {
        (Some(Component::Normal(name)), None) => parse(&folder.join(name), limit),
        _ => Err(BridgeError::NoResponse(format!("its data is outside of the job: {name:?}"))),
    }
}

fn parse(path: &Path, limit: u64) -> Result<Content, BridgeError> {
    let mut file = match termbridge_foreign_files::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Content::Absent),
        Err(error) if error.kind() == ErrorKind::InvalidInput => {
            return Err(BridgeError::NoResponse(format!("{} is not a file", path.display())));
        }
        // A file that is being renamed cannot be opened on some systems.
        Err(error) => return Ok(Content::Torn(error.to_string())),
    };
    let bytes = file.metadata()?.len();
    if bytes > limit {
        return Err(BridgeError::TooLarge { bytes, limit });
    }
    let mut text = Vec::with_capacity(bytes as usize);
    file.by_ref().take(limit).read_to_end(&mut text)?;
    match serde_json::from_slice(&text) {
        Ok(value) => Ok(Content::Whole(value)),
        Err(why) => Ok(Content::Torn(why.to_string())),
    }
}

fn failure(error: Option<WireError>) -> BridgeError {
    let error = error.unwrap_or(WireError {
        code: String::new(),
        message: String::new(),
        details: Value::Null,
    });
    let WireError { mut code, message, details } = error;
    // The published extension reports what its scripts throw as internal errors; the code of the
    // script is then the first word of the message.
    if (code.is_empty() || code == "E_INTERNAL")
        && let Some(own) = leading_code(&message)
    {
        own.clone_into(&mut code);
    }
    if code.is_empty() {
        code = "E_INTERNAL".into();
    }
    let message = if message.is_empty() { "the script failed".into() } else { message };
    match code.as_str() {
        "E_CIRCUIT_OPEN" => {
            let after = details["retryAfter"].as_f64().filter(|after| after.is_finite());
            let retry_after = after.map(|after| Duration::from_secs_f64(after.clamp(0.0, 3600.0)));
            BridgeError::CircuitOpen { message, retry_after }
        }
        "E_CANCELLED" => BridgeError::Cancelled,
        _ => ScriptError { code, message, details }.into(),
    }
}

fn leading_code(message: &str) -> Option<&str> {
    let code = message.split([':', ' ']).next()?;
    let name = code.strip_prefix("E_")?;
    let is_name = |name: &str| name.bytes().all(|b| b.is_ascii_uppercase() || b == b'_');
    (!name.is_empty() && is_name(name)).then_some(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(files: &[(&str, &str)]) -> Answer {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        read(folder.path(), 1000)
    }

    fn code(files: &[(&str, &str)]) -> String {
        match answer(files) {
            Answer::Ready(Err(error)) => error.code().to_owned(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_error_wins() {
        let good = r#"{"ok":true,"type":"success","data":1}"#;
        let bad = r#"{"ok":false,"type":"error","error":{"code":"E_NO_SESSION","message":"none"}}"#;
        assert_eq!(code(&[("response.json", good), ("error.json", bad)]), "E_NO_SESSION");
        assert_eq!(code(&[("response.json", bad)]), "E_NO_SESSION");
        let torn = [("response.json", good), ("error.json", "{\"ok\":fal")];
        assert!(matches!(answer(&torn), Answer::NotYet(_)));
    }

    #[test]
    fn codes_pass_unchanged_and_lost_ones_are_found() {
        let error = |code: &str, message: &str| {
            format!(r#"{{"ok":false,"error":{{"code":"{code}","message":"{message}"}}}}"#)
        };
        for (given, message, found) in [
            ("E_MY_OWN", "E_OTHER: x", "E_MY_OWN"),
            ("E_INTERNAL", "E_NO_SESSION: No active debug session", "E_NO_SESSION"),
            ("E_INTERNAL", "E_NO_SESSION", "E_NO_SESSION"),
            ("E_INTERNAL", "Cannot read E_NO_SESSION", "E_INTERNAL"),
            ("E_INTERNAL", "E_: odd", "E_INTERNAL"),
            ("", "", "E_INTERNAL"),
        ] {
            assert_eq!(code(&[("error.json", &error(given, message))]), found, "{message}");
        }
        assert_eq!(code(&[("error.json", "{}")]), "E_INTERNAL");
    }

    #[test]
    fn data_may_lie_beside_but_not_elsewhere() {
        let with = |name: &str| format!(r#"{{"ok":true,"type":"success","dataRef":"{name}"}}"#);
        let files = [("response.json", &*with("data.json")), ("data.json", "[1,2]")];
        let Answer::Ready(Ok(envelope)) = answer(&files) else { panic!() };
        assert_eq!(envelope.data, serde_json::json!([1, 2]));
        assert!(matches!(answer(&files[..1]), Answer::NotYet(_)));
        for name in ["../x", "/etc/passwd", "..", "", "a/b", "."] {
            assert_eq!(code(&[("response.json", &with(name))]), "E_NO_RESPONSE", "{name}");
        }
    }

    #[test]
    fn too_large_is_told() {
        let large = format!("\"{}\"", "x".repeat(2000));
        assert_eq!(code(&[("response.json", &large)]), "E_LARGE_DATA");
    }

    #[test]
    fn when_to_try_again_is_kept_within_reason() {
        let with = |after: &str| {
            format!(r#"{{"error":{{"code":"E_CIRCUIT_OPEN","details":{{"retryAfter":{after}}}}}}}"#)
        };
        for (given, seconds) in
            [("12", Some(12)), ("-3", Some(0)), ("1e300", Some(3600)), ("\"x\"", None)]
        {
            let Answer::Ready(Err(BridgeError::CircuitOpen { retry_after, .. })) =
                answer(&[("error.json", &with(given))])
            else {
                panic!("{given}")
            };
            assert_eq!(retry_after, seconds.map(Duration::from_secs));
        }
    }
}
