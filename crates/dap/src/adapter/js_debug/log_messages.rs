//! Log messages and what is in them.

use serde_json::json;

use super::tokens::Tokens;
use crate::adapter::log_message::{Piece, pieces};

/// The parts of a message.
pub(super) fn parts(message: &str) -> Vec<Piece<'_>> {
    pieces(message, |behind| {
        let mut depth = 1;
        let end = Tokens::new(behind, 0, behind.len()).find(|token| {
            depth += i32::from(token.is("{")) - i32::from(token.is("}"));
            depth == 0
        });
        end.map(|end| end.start)
    })
}

/// A condition that writes a message where another one is met, as js-debug writes messages, and never stops.
pub(super) fn conditional(condition: &str, message: &str) -> String {
    let parts = parts(message);
    let is_format =
        parts.iter().any(|part| matches!(part, Piece::Expression(text) if !text.trim().is_empty()));
    let (mut format, mut values) = (String::new(), String::new());
    for part in parts {
        match part {
            // Node formats a text with values only.
            Piece::Text(text) if is_format => format.push_str(&text.replace('%', "%%")),
            Piece::Text(text) => format.push_str(text),
            Piece::Expression(nothing) if nothing.trim().is_empty() => format.push_str("{}"),
            Piece::Expression(expression) => {
                format.push_str("%O");
                values.push_str(&format!(
                    ", (() => {{ try {{ return ({expression}\n); }} \
                     catch (error) {{ return error.stack || error.message || String(error); }} }})()"
                ));
            }
        }
    }
    format!("({condition}\n) && (console.log({}{values}), false)", json!(format))
}
