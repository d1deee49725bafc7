//! JSON with comments and trailing commas.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use jsonc_parser::{ParseOptions, parse_to_serde_value};
use serde_json::Value;

use crate::error::DebugError;

/// Bytes of a file.
const MAX_FILE: u64 = 1024 * 1024;

/// Reads a file; `None` when there is none.
pub(super) fn read(path: &Path) -> Result<Option<Value>, DebugError> {
    let wrong = |what: String| DebugError::InvalidParams(format!("{}: {what}", path.display()));
    // Another kind of file may never have been written to, and never end.
    if path.metadata().is_ok_and(|meta| !meta.is_file()) {
        return Err(wrong("not a file".to_owned()));
    }
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(wrong(error.to_string())),
    };
    let mut text = String::new();
    let read = file.take(MAX_FILE + 1).read_to_string(&mut text);
    read.map_err(|error| wrong(error.to_string()))?;
    if text.len() as u64 > MAX_FILE {
        return Err(wrong(format!("larger than {MAX_FILE} bytes")));
    }
    parse(&text).map(Some).map_err(wrong)
}

/// Comments and trailing commas, and no more than that.
pub(super) fn parse(text: &str) -> Result<Value, String> {
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    parse_to_serde_value(text, &options).map_err(|error| error.to_string())
}
