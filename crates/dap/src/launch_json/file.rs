//! JSON with comments and trailing commas.

use std::path::Path;

use jsonc_parser::{ParseOptions, parse_to_serde_value};
use serde_json::Value;

use crate::error::DebugError;

/// Bytes of a file.
const MAX_FILE: u64 = 1024 * 1024;

/// Reads a file; `None` when there is none.
pub(super) fn read(path: &Path) -> Result<Option<Value>, DebugError> {
    let wrong = |what: String| DebugError::InvalidParams(format!("{}: {what}", path.display()));
    let text = match termbridge_foreign_files::read_to_string(path, MAX_FILE) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(wrong(error.to_string())),
    };
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
