//! A function replaced as a whole, in a text.
//!
//! What stands above the signature stays unless the new text brings its own: a doc comment takes
//! the place of the doc comment, decorators or attributes that of decorators or attributes. So a
//! bare function keeps its `@staticmethod` or `#[test]`. An empty text deletes all of it, with the
//! blank lines that it leaves. Plain comments above a Python function are not its own and stay.
//!
//! The first line keeps its indentation, and the others follow: a text that begins at the margin,
//! one that is indented as a whole, and one whose first line alone lost its indentation all fit.
//! The lines of a string that spans several are indented too.

use std::ops::Range;

use super::language::Language;
use super::outline::{Outline, Symbol};
use super::protocol::kind_name;
use super::text::{Encoding, Text};
use crate::CodeError;

/// Lines around a change that a diff shows.
const CONTEXT: usize = 3;
/// Bytes of a diff.
const MAX_DIFF: usize = 16 * 1024;

/// New text for a part of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Replacement {
    pub(crate) span: Range<usize>,
    pub(crate) text: String,
}

impl Replacement {
    /// A function of a file with another text.
    pub(crate) fn of(
        outline: &Outline,
        symbol: &Symbol,
        language: Language,
        encoding: Encoding,
        new: &str,
    ) -> Result<Self, CodeError> {
        let text = &*outline.text;
        let bad =
            || CodeError::Internal("the language server named lines that are not there".into());
        let span = text.span(symbol.range, encoding).ok_or_else(bad)?;
        let name = text.offset(symbol.selection.start, encoding).ok_or_else(bad)?;
        let span = function_span(text, span, symbol, language)?;
        let first = text.line_of(span.start);
        let ending = if text.as_str().contains("\r\n") { "\r\n" } else { "\n" };
        let new = new.replace("\r\n", "\n");
        let new = new.trim_matches('\n').trim_end();
        if !text.as_str()[text.line_start(first)..span.start].trim().is_empty() {
            // Something else begins its line: it is cut out of it.
            let indent = indentation(text.line(first).unwrap_or_default());
            let lines = reindent(new, indent, language);
            return Ok(Self { span, text: lines.join(ending) });
        }
        let head = OldHead::of(text, first, text.line_of(name), language);
        if new.trim().is_empty() {
            return Ok(Self { span: deleted(text, head.docs, span), text: String::new() });
        }
        let indent = indentation(text.line(head.signature).unwrap_or_default());
        let lines = reindent(new, indent, language);
        let (docs, attributes) = split_head(&lines, language);
        let start = match (docs > 0, attributes > docs) {
            (true, _) => head.docs,
            (false, true) => head.attributes,
            (false, false) => head.signature,
        };
        let mut all: Vec<&str> = lines[..docs].iter().map(String::as_str).collect();
        if docs > 0 && attributes == docs {
            let kept = head.attributes..head.signature;
            all.extend(kept.filter_map(|line| text.line(line)));
        }
        all.extend(lines[docs..].iter().map(String::as_str));
        let indented = indentation(text.line(start).unwrap_or_default()).len();
        let start = text.line_start(start) + indented;
        // The file has the indentation of the first line already.
        let joined = all.join(ending);
        let joined = joined.strip_prefix(indent).unwrap_or(&joined).to_owned();
        Ok(Self { span: start..span.end.max(start), text: joined })
    }

    /// The text of the file with it.
    pub(crate) fn apply(&self, text: &str) -> String {
        [&text[..self.span.start], &self.text, &text[self.span.end..]].concat()
    }
}

/// The lines above a signature: the doc comment, then attributes or decorators.
struct OldHead {
    docs: usize,
    attributes: usize,
    signature: usize,
}

impl OldHead {
    /// `first` is the line where the server says that the function begins.
    fn of(text: &Text, first: usize, signature: usize, language: Language) -> Self {
        let line = |number: usize| text.line(number).unwrap_or_default().trim_start();
        let attributes = (first..signature).find(|&number| is_attribute(line(number), language));
        let attributes = attributes.unwrap_or(signature);
        let mut docs = first;
        match language {
            Language::Python => {}
            Language::TypeScript => {
                // A comment of its own lines, from its end up to its beginning.
                if docs > 0 && line(docs - 1).trim_end().ends_with("*/") {
                    let begin = (0..docs).rev().find(|&number| line(number).contains("/*"));
                    docs = begin.filter(|&number| line(number).starts_with("/**")).unwrap_or(docs);
                }
            }
            Language::Rust | Language::Go => {
                let own = if language == Language::Go { "//" } else { "///" };
                while docs > 0 && line(docs - 1).starts_with(own) {
                    docs -= 1;
                }
            }
        }
        Self { docs, attributes, signature }
    }
}

/// All of a function, `const` and `;` included where it is the value of a variable.
fn function_span(
    text: &Text,
    span: Range<usize>,
    symbol: &Symbol,
    language: Language,
) -> Result<Range<usize>, CodeError> {
    if symbol.is_function() {
        return Ok(span);
    }
    let value = &text.as_str()[span.clone()];
    let holds_function = value.contains("=>") || value.contains("function");
    if language != Language::TypeScript || !symbol.is_variable() || !holds_function {
        let (name, kind) = (&symbol.qualified, kind_name(symbol.kind).to_lowercase());
        return Err(CodeError::InvalidParams(format!("{name} is a {kind}, not a function")));
    }
    let line_start = text.line_start(text.line_of(span.start));
    let before = &text.as_str()[line_start..span.start];
    let declares = before.split_whitespace().all(|word| {
        matches!(
            word,
            "export" | "default" | "declare" | "const" | "let" | "var" | "static" | "readonly"
        )
    });
    let start = if declares { line_start + indentation(before).len() } else { span.start };
    let end = span.end + usize::from(text.as_str()[span.end..].starts_with(';'));
    Ok(start..end)
}

/// What goes when a function does: its lines, and blank ones that would be left doubled.
fn deleted(text: &Text, first: usize, span: Range<usize>) -> Range<usize> {
    let last = text.line_of(span.end);
    let blank = |line: usize| text.line(line).is_some_and(|line| line.trim().is_empty());
    let rest = &text.as_str()[span.end..text.line_start(last + 1)];
    if !rest.trim().is_empty() {
        return text.line_start(first) + indentation(text.line(first).unwrap_or_default()).len()
            ..span.end;
    }
    let (mut from, mut to) = (first, last + 1);
    if from == 0 || blank(from - 1) {
        while blank(to) {
            to += 1;
        }
    }
    if to >= text.line_count() {
        while from > 0 && blank(from - 1) {
            from -= 1;
        }
    }
    text.line_start(from)..text.line_start(to)
}

fn indentation(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// Lines indented like the place they go to.
fn reindent(new: &str, indent: &str, language: Language) -> Vec<String> {
    let lines: Vec<&str> = new.split('\n').collect();
    let own = indentation(lines.first().copied().unwrap_or_default()).len();
    let others = lines.iter().skip(1).filter(|line| !line.trim().is_empty());
    let least = others.map(|line| indentation(line).len()).min();
    // Copied from the file from the first word on: the others are where they should be.
    let placed = own == 0
        && !indent.is_empty()
        && least.is_some_and(|least| match language {
            Language::Python => least > indent.len(),
            _ => least >= indent.len(),
        });
    let place = |(number, line): (usize, &&str)| {
        if line.trim().is_empty() {
            return String::new();
        }
        if placed && number > 0 {
            return (*line).to_owned();
        }
        let surplus = indentation(line).len().min(own);
        format!("{indent}{}", &line[surplus..])
    };
    lines.iter().enumerate().map(place).collect()
}

/// How many lines at the beginning are comments, and how many with the attributes after them.
fn split_head(lines: &[String], language: Language) -> (usize, usize) {
    let line = |number: usize| lines.get(number).map_or("", |line| line.trim());
    let mut at = 0;
    while is_comment(line(at), language) {
        let is_block = line(at).starts_with("/*");
        while is_block && at + 1 < lines.len() && !line(at).ends_with("*/") {
            at += 1;
        }
        at += 1;
    }
    let docs = at;
    while is_attribute(line(at), language) || (at > docs && is_comment(line(at), language)) {
        let mut open = balance(line(at));
        while open > 0 && at + 1 < lines.len() {
            at += 1;
            open += balance(line(at));
        }
        at += 1;
    }
    (docs, at)
}

fn is_comment(line: &str, language: Language) -> bool {
    match language {
        Language::Python => line.starts_with('#'),
        _ => line.starts_with("//") || line.starts_with("/*"),
    }
}

fn is_attribute(line: &str, language: Language) -> bool {
    match language {
        Language::Rust => line.starts_with("#["),
        Language::Python | Language::TypeScript => line.starts_with('@'),
        Language::Go => false,
    }
}

fn balance(line: &str) -> i32 {
    let count = |brackets: [char; 2]| line.matches(brackets).count() as i32;
    count(['(', '[']) - count([')', ']'])
}

/// What differs between two texts, as one hunk.
pub(crate) fn diff(path: &str, old: &str, new: &str) -> String {
    if old == new {
        return String::new();
    }
    let (a, b): (Vec<_>, Vec<_>) =
        (old.split_inclusive('\n').collect(), new.split_inclusive('\n').collect());
    let same = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    let after = a[same..].iter().rev().zip(b[same..].iter().rev()).take_while(|(a, b)| a == b);
    let after = after.count();
    let from = same.saturating_sub(CONTEXT);
    let shown_after = after.min(CONTEXT);
    let (a_end, b_end) = (a.len() - after, b.len() - after);
    let head = |start: usize, count: usize| match count {
        // An empty side is named by the line before it.
        0 => format!("{start},0"),
        _ => format!("{},{count}", start + 1),
    };
    let a_head = head(from, a_end + shown_after - from);
    let b_head = head(from, b_end + shown_after - from);
    let mut diff = format!("--- a/{path}\n+++ b/{path}\n@@ -{a_head} +{b_head} @@\n");
    let lines = a[from..same].iter().map(|line| (' ', line));
    let lines = lines.chain(a[same..a_end].iter().map(|line| ('-', line)));
    let lines = lines.chain(b[same..b_end].iter().map(|line| ('+', line)));
    let lines = lines.chain(a[a_end..a_end + shown_after].iter().map(|line| (' ', line)));
    let mut left_out = 0;
    for (mark, line) in lines {
        if left_out > 0 || diff.len() + line.len() > MAX_DIFF {
            left_out += 1;
            continue;
        }
        diff.push(mark);
        diff.push_str(line);
        if !line.ends_with('\n') {
            diff.push_str("\n\\ No newline at end of file\n");
        }
    }
    if left_out > 0 {
        diff.push_str(&format!("… {left_out} more lines\n"));
    }
    diff
}

#[cfg(test)]
#[path = "method_tests.rs"]
mod tests;
