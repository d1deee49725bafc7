//! What the languages share in parsing.
//!
//! A file that does not parse as a whole is no error: what can be recognised is.

use tree_sitter::{Language, Node, Parser, Tree};

use crate::error::CodeError;

/// How deep a tree is walked. Sources nest far less; generated ones must not end the program.
pub(crate) const MAX_DEPTH: usize = 200;

pub(crate) fn parse(language: &Language, text: &str) -> Result<Tree, CodeError> {
    let mut parser = Parser::new();
    let internal = |what: String| CodeError::Internal(format!("the parser: {what}"));
    parser.set_language(language).map_err(|error| internal(error.to_string()))?;
    parser.parse(text, None).ok_or_else(|| internal("no tree".to_owned()))
}

pub(crate) fn children(node: Node<'_>) -> Vec<Node<'_>> {
    node.named_children(&mut node.walk()).collect()
}

pub(crate) fn text<'s>(node: Node<'_>, source: &'s str) -> &'s str {
    source.get(node.byte_range()).unwrap_or_default()
}

/// The text of a node's field.
pub(crate) fn field<'s>(node: Node<'_>, name: &str, source: &'s str) -> Option<&'s str> {
    node.child_by_field_name(name).map(|child| text(child, source))
}

/// Its first line, from 1.
pub(crate) fn first_line(node: Node<'_>) -> u64 {
    node.start_position().row as u64 + 1
}

/// Its last line, from 1.
pub(crate) fn last_line(node: Node<'_>) -> u64 {
    let end = node.end_position();
    // A node that ends before the first column of a line ends with the line before.
    end.row as u64 + u64::from(end.column > 0)
}
