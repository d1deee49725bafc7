//! Texts and edits of them.

use std::ops::Range;

use crate::Problem;

/// The mark that some editors begin a file with.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// A part of a text and what takes its place.
#[derive(Debug)]
pub(crate) struct Edit {
    pub(crate) range: Range<usize>,
    pub(crate) text: String,
}

impl Edit {
    pub(crate) fn insert(at: usize, text: impl Into<String>) -> Self {
        Self { range: at..at, text: text.into() }
    }

    pub(crate) fn delete(range: Range<usize>) -> Self {
        Self { range, text: String::new() }
    }

    pub(crate) fn replace(range: Range<usize>, text: impl Into<String>) -> Self {
        Self { range, text: text.into() }
    }
}

/// The text with the edits made, which do not overlap; those at one place in the order given.
pub(crate) fn edited(text: &str, mut edits: Vec<Edit>) -> String {
    edits.sort_by_key(|edit| edit.range.start);
    let mut result = String::with_capacity(text.len() + 256);
    let mut done = 0;
    for edit in edits {
        result.push_str(text.get(done..edit.range.start).unwrap_or_default());
        result.push_str(&edit.text);
        done = edit.range.end.max(done);
    }
    result.push_str(text.get(done..).unwrap_or_default());
    result
}

/// The byte order mark, if there is one, and the rest.
pub(crate) fn split_mark(text: &str) -> (&str, &str) {
    match text.strip_prefix(BYTE_ORDER_MARK) {
        Some(rest) => text.split_at(text.len() - rest.len()),
        None => ("", text),
    }
}

/// How lines end: as the first one does.
pub(crate) fn line_end(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

/// What JSON and TOML take for white space.
const BLANKS: [char; 4] = [' ', '\t', '\r', '\n'];

/// A text without the white space at its end.
pub(crate) fn trimmed(text: &str) -> &str {
    text.trim_end_matches(BLANKS)
}

/// Whether there is nothing but white space.
pub(crate) fn is_blank(text: &str) -> bool {
    trimmed(text).is_empty()
}

/// Without one line end at the end.
pub(crate) fn without_line_end(text: &str) -> &str {
    match text.strip_suffix('\n') {
        Some(rest) => rest.strip_suffix('\r').unwrap_or(rest),
        None => text,
    }
}

/// Where the line begins that contains a place.
pub(crate) fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |newline| newline + 1)
}

/// A problem at a place of a text, in lines and columns from 1; a column is a character.
pub(crate) fn problem(text: &str, at: usize, reason: impl Into<String>) -> Problem {
    let before = text.get(..at).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before[line_start(before, before.len())..].chars().count() + 1;
    Problem { line, column, reason: reason.into() }
}
