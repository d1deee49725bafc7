//! `envFile`: variables for the program, one `NAME=value` a line.

use std::path::Path;

use serde_json::{Map, Value};

use crate::error::DebugError;

/// Bytes of a file.
const MAX_FILE: u64 = 1024 * 1024;

/// Puts the variables of a configuration's file beneath those of the configuration.
pub(super) fn merge(fields: &mut Map<String, Value>, folder: &Path) -> Result<(), DebugError> {
    let Some(Value::String(path)) = fields.remove("envFile") else { return Ok(()) };
    let path = folder.join(path);
    let text = match termbridge_foreign_files::read_to_string(&path, MAX_FILE) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(DebugError::FileNotFound(path));
        }
        Err(error) => {
            return Err(DebugError::InvalidPath { path, reason: error.to_string() });
        }
    };
    let own = fields.remove("env");
    let mut variables: Map<String, Value> =
        parse(&text).map(|(name, value)| (name, Value::String(value))).collect();
    if let Some(Value::Object(own)) = own {
        variables.extend(own);
    }
    fields.insert("env".to_owned(), Value::Object(variables));
    Ok(())
}

fn parse(text: &str) -> impl Iterator<Item = (String, String)> {
    text.lines().filter_map(|line| {
        let line = line.trim();
        let line = line.strip_prefix("export ").unwrap_or(line);
        let (name, value) = line.split_once('=').filter(|_| !line.starts_with('#'))?;
        Some((name.trim().to_owned(), unquoted(value.trim())))
    })
}

/// A value without its quotes; only in double quotes is a backslash more than itself.
fn unquoted(value: &str) -> String {
    let inside = |quote: char| value.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
    match (inside('"'), inside('\'')) {
        (Some(text), _) => text.replace("\\n", "\n").replace("\\\"", "\"").replace("\\\\", "\\"),
        (_, Some(text)) => text.to_owned(),
        _ => value.to_owned(),
    }
}
