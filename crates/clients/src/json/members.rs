//! Members of an object, put in and taken out again as text.
//!
//! `remove` undoes `insert` to the byte. The new member comes last. Before it stands white space of ours alone, up
//! to whatever else is there; behind it stays what was there, except in an object that contained nothing at all.

use std::ops::Range;

use jsonc_parser::ast::Object;

use super::layout::{Layout, Node, quoted};
use crate::text::{Edit, is_blank, trimmed, without_line_end};

/// Adds a member behind the others.
pub(super) fn insert(
    body: &str,
    object: &Object<'_>,
    layout: &Layout,
    name: &str,
    node: &Node,
) -> Vec<Edit> {
    let lines = layout.member(body, object);
    let space = if lines.spaced { " " } else { "" };
    let member = format!("{}:{space}{}", quoted(name), node.render(&lines));
    let new_line = format!("{}{}", lines.line_end, lines.indent);
    let (inner, close) = inside(object);
    let last = object.properties.last().map(|last| last.range.end);
    let rest = last.unwrap_or(inner)..close;
    let at = rest.start + trimmed(&body[rest.clone()]).len();
    let gap = Gap::read(body, rest.start..at);
    let is_first = last.is_none();
    let separator = match lines.is_tall || gap.ends_in_line_comment {
        true => new_line.as_str(),
        false if is_first => "",
        false => space,
    };
    if is_first && at == inner {
        let outer = layout.around(body, object.range.start);
        let end = match lines.is_tall {
            true => format!("{}{}", lines.line_end, outer.indent),
            false => String::new(),
        };
        return vec![Edit::insert(close, format!("{separator}{member}{end}"))];
    }
    match (last, gap.comma) {
        (Some(_), Some(_)) => vec![Edit::insert(at, format!("{separator}{member},"))],
        (Some(last), None) => {
            vec![Edit::insert(last, ","), Edit::insert(at, format!("{separator}{member}"))]
        }
        (None, _) => vec![Edit::insert(at, format!("{separator}{member}"))],
    }
}

/// Takes a member out.
pub(super) fn remove(body: &str, object: &Object<'_>, index: usize) -> Vec<Edit> {
    let (inner, close) = inside(object);
    let member = object.properties[index].range;
    let previous = index.checked_sub(1).map_or(inner, |index| object.properties[index].range.end);
    let next = object.properties.get(index + 1).map_or(close, |next| next.range.start);
    let (before, after) = (previous..member.start, member.end..next);
    let gap = &body[before.clone()];
    if is_alone(body, object) {
        // What is left of the line end and the indentation was there before.
        let kept = match gap.rfind('\n') {
            Some(newline) => without_line_end(&gap[..=newline]).len(),
            None => gap.len(),
        };
        return vec![Edit::delete(inner + kept..close)];
    }
    let own = before.start + trimmed(gap).len();
    let preceding = Gap::read(body, before.start..own);
    let comma = Gap::read(body, after).comma;
    let rest = body[comma.map_or(member.end, |comma| comma + 1)..].trim_start_matches([' ', '\t']);
    let is_end_of_line = rest.starts_with(['\r', '\n']) || rest.starts_with("//");
    let start = match preceding.ends_in_line_comment && !is_end_of_line {
        // What follows on this line must not become part of the comment.
        true => member.start,
        false => own,
    };
    let mut edits = vec![Edit::delete(start..member.end)];
    let comma = comma.or(if index > 0 { preceding.comma } else { None });
    edits.extend(comma.map(|comma| Edit::delete(comma..comma + 1)));
    edits
}

/// Whether an object has one member, and beside it no comment.
pub(super) fn is_alone(body: &str, object: &Object<'_>) -> bool {
    let (inner, close) = inside(object);
    let [member] = object.properties.as_slice() else { return false };
    let after = &body[member.range.end..close];
    let comma = after.find(',').filter(|&at| is_blank(&after[..at]));
    is_blank(&body[inner..member.range.start]) && is_blank(&after[comma.map_or(0, |at| at + 1)..])
}

/// The place behind the opening brace and that of the closing one.
fn inside(object: &Object<'_>) -> (usize, usize) {
    (object.range.start + 1, object.range.end - 1)
}

/// What stands between two members.
#[derive(Debug, Default)]
struct Gap {
    comma: Option<usize>,
    ends_in_line_comment: bool,
}

impl Gap {
    /// Reads white space, comments and at most one comma.
    fn read(body: &str, range: Range<usize>) -> Self {
        let mut gap = Self::default();
        let mut at = range.start;
        while at < range.end {
            let rest = &body[at..range.end];
            if rest.starts_with("//") {
                let end = rest.find(['\r', '\n']);
                gap.ends_in_line_comment = end.is_none();
                at += end.unwrap_or(rest.len());
            } else if let Some(comment) = rest.strip_prefix("/*") {
                at += comment.find("*/").map_or(rest.len(), |end| end + 4);
            } else {
                if rest.starts_with(',') {
                    gap.comma = Some(at);
                }
                at += rest.chars().next().map_or(1, char::len_utf8);
            }
        }
        gap
    }
}
