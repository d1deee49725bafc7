//! How new values are written so that they look like the rest of a file.

use jsonc_parser::ast::Object;

use crate::text::{line_end, line_start};

/// A value to be written.
#[derive(Debug, Clone)]
pub(super) enum Node {
    Text(String),
    List(Vec<String>),
    Object(Vec<(String, Node)>),
}

/// The habits of a file.
#[derive(Debug)]
pub(super) struct Layout {
    line_end: &'static str,
    /// One step of indentation.
    step: String,
    /// Whether a space follows `:` and `,` within a line.
    spaced: bool,
    /// Whether the outermost object takes several lines.
    is_tall: bool,
}

/// How one value is written.
#[derive(Debug, Clone)]
pub(super) struct Lines {
    pub(super) line_end: &'static str,
    step: String,
    /// The indentation of the line on which the value begins.
    pub(super) indent: String,
    pub(super) spaced: bool,
    /// Whether objects take several lines.
    pub(super) is_tall: bool,
}

impl Layout {
    pub(super) fn of(body: &str, root: Option<&Object<'_>>) -> Self {
        let first = root.and_then(|root| Some((root, root.properties.first()?)));
        let (step, spaced, is_tall) = match first {
            None => ("  ", true, true),
            Some((root, first)) => {
                let step = indentation(body, first.range.start).filter(|step| !step.is_empty());
                let name = first.range.start..first.range.end;
                let colon = body[name].split_once("\":").map_or("", |(_, value)| value);
                let gap = &body[root.range.start..first.range.start];
                (step.unwrap_or("  "), colon.starts_with([' ', '\t']), gap.contains('\n'))
            }
        };
        Self { line_end: line_end(body), step: step.to_owned(), spaced, is_tall }
    }

    /// For a value that begins on a line with this indentation, as the outermost object is written.
    pub(super) fn lines(&self, indent: &str) -> Lines {
        Lines {
            line_end: self.line_end,
            step: self.step.clone(),
            indent: indent.to_owned(),
            spaced: self.spaced || self.is_tall,
            is_tall: self.is_tall,
        }
    }

    /// For a value in the place of another one.
    pub(super) fn around(&self, body: &str, at: usize) -> Lines {
        let start = line_start(body, at);
        let line = &body[start..at];
        let indent = &line[..line.len() - line.trim_start_matches([' ', '\t']).len()];
        self.lines(indent)
    }

    /// For a new member of an object.
    pub(super) fn member(&self, body: &str, object: &Object<'_>) -> Lines {
        let outer = self.around(body, object.range.start);
        let (gap_end, own) = match object.properties.first() {
            Some(first) => (first.range.start, indentation(body, first.range.start)),
            None => (object.range.end, None),
        };
        let has_lines = body[object.range.start..gap_end].contains('\n');
        let is_tall = has_lines || (object.properties.is_empty() && self.is_tall);
        let indent = match own {
            Some(own) if has_lines => own.to_owned(),
            _ => format!("{}{}", outer.indent, self.step),
        };
        Lines { indent, is_tall, spaced: self.spaced || is_tall, ..outer }
    }
}

impl Node {
    pub(super) fn render(&self, lines: &Lines) -> String {
        let gap = if lines.spaced { " " } else { "" };
        match self {
            Self::Text(text) => quoted(text),
            Self::List(words) => {
                let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
                format!("[{}]", words.join(&format!(",{gap}")))
            }
            Self::Object(members) => {
                let inner =
                    Lines { indent: format!("{}{}", lines.indent, lines.step), ..lines.clone() };
                let before = |lines: &Lines| match lines.is_tall {
                    true => format!("{}{}", lines.line_end, lines.indent),
                    false => String::new(),
                };
                let members: Vec<String> = members
                    .iter()
                    .map(|(name, node)| {
                        format!("{}{}:{gap}{}", before(&inner), quoted(name), node.render(&inner))
                    })
                    .collect();
                let comma = if lines.is_tall { "," } else { &format!(",{gap}") };
                format!("{{{}{}}}", members.join(comma), before(lines))
            }
        }
    }
}

/// The white space before a place, if there is nothing else on its line.
fn indentation(body: &str, at: usize) -> Option<&str> {
    let before = &body[line_start(body, at)..at];
    before.trim_matches([' ', '\t']).is_empty().then_some(before)
}

pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
