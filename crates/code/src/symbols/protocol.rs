//! The parts of the Language Server Protocol that are used, read leniently.
//!
//! Lines and characters count from 0 here; a character is a unit of the encoding that was agreed on.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A place between two characters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
pub(crate) struct Position {
    pub(crate) line: u32,
    pub(crate) character: u32,
}

/// From a place up to another.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct Range {
    pub(crate) start: Position,
    pub(crate) end: Position,
}

impl Range {
    /// Whether a place is within, the end included.
    pub(crate) fn contains(&self, position: Position) -> bool {
        self.start <= position && position <= self.end
    }
}

/// A range of a file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Location {
    pub(crate) uri: String,
    #[serde(default)]
    pub(crate) range: Range,
}

/// A location, or a link to one, as `textDocument/implementation` may answer.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum AnyLocation {
    Plain(Location),
    #[serde(rename_all = "camelCase")]
    Link {
        target_uri: String,
        target_selection_range: Range,
    },
}

impl From<AnyLocation> for Location {
    fn from(any: AnyLocation) -> Self {
        match any {
            AnyLocation::Plain(location) => location,
            AnyLocation::Link { target_uri, target_selection_range } => {
                Self { uri: target_uri, range: target_selection_range }
            }
        }
    }
}

/// One entry of `textDocument/documentSymbol`: of a tree, or of a flat list.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DocumentSymbol {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) kind: u32,
    pub(crate) range: Option<Range>,
    pub(crate) selection_range: Option<Range>,
    #[serde(default)]
    pub(crate) children: Option<Vec<DocumentSymbol>>,
    /// In a flat list only.
    pub(crate) location: Option<Location>,
    pub(crate) container_name: Option<String>,
}

/// One answer of `workspace/symbol`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WorkspaceSymbol {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) kind: u32,
    pub(crate) location: Location,
}

/// A function of a call hierarchy.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CallHierarchyItem {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) kind: u32,
    pub(crate) uri: String,
    pub(crate) selection_range: Range,
}

/// A caller or a callee; servers name it by the direction.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Call {
    #[serde(alias = "to")]
    pub(crate) from: CallHierarchyItem,
    #[serde(default)]
    pub(crate) from_ranges: Vec<Range>,
}

/// New text for a range.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TextEdit {
    pub(crate) range: Range,
    pub(crate) new_text: String,
}

/// Edits of many files, in either of the forms there are.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WorkspaceEdit {
    pub(crate) changes: Option<std::collections::BTreeMap<String, Vec<TextEdit>>>,
    pub(crate) document_changes: Option<Vec<Value>>,
}

impl WorkspaceEdit {
    /// What is edited, by address.
    pub(crate) fn ranges(&self) -> Vec<(String, Vec<Range>)> {
        let range = |edit: &Value| serde_json::from_value(edit["range"].clone()).ok();
        if let Some(changes) = &self.document_changes {
            let edits = changes.iter().filter_map(|change| {
                let uri = change["textDocument"]["uri"].as_str()?.to_owned();
                Some((uri, change["edits"].as_array()?.iter().filter_map(range).collect()))
            });
            return edits.collect();
        }
        let changes = self.changes.iter().flatten();
        let ranges = |edits: &Vec<TextEdit>| edits.iter().map(|edit| edit.range).collect();
        changes.map(|(uri, edits)| (uri.clone(), ranges(edits))).collect()
    }
}

/// Kinds of symbols, from 1 on, by the protocol's names.
pub(crate) const KINDS: [&str; 26] = [
    "File",
    "Module",
    "Namespace",
    "Package",
    "Class",
    "Method",
    "Property",
    "Field",
    "Constructor",
    "Enum",
    "Interface",
    "Function",
    "Variable",
    "Constant",
    "String",
    "Number",
    "Boolean",
    "Array",
    "Object",
    "Key",
    "Null",
    "EnumMember",
    "Struct",
    "Event",
    "Operator",
    "TypeParameter",
];

/// The name of a kind.
pub(crate) fn kind_name(kind: u32) -> &'static str {
    let index = (kind as usize).wrapping_sub(1);
    KINDS.get(index).copied().unwrap_or("Symbol")
}
