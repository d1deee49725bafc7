//! What is asked about symbols, and what is answered. Lines and columns count from 1, columns in
//! characters; paths are relative to the workspace where they are inside it.

use std::path::PathBuf;

use serde::Serialize;

use super::protocol::KINDS;
use crate::CodeError;

/// Which symbol is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SymbolRef {
    /// By a file and a name: `Class.method`, `name` or `module::name`.
    Named {
        /// The file.
        path: PathBuf,
        /// The name.
        symbol: String,
    },
    /// By an id as [`super::LanguageServers::search`] gives it: `kind:path:Qualified.name`.
    Node(String),
}

impl SymbolRef {
    /// From the arguments of a tool: a path and a symbol, or a node id.
    pub fn from_arguments(
        path: Option<PathBuf>,
        symbol: Option<String>,
        node_id: Option<String>,
    ) -> Result<Self, CodeError> {
        match (path, symbol, node_id) {
            (None, None, Some(node_id)) => Ok(Self::Node(node_id)),
            (Some(path), Some(symbol), None) => Ok(Self::Named { path, symbol }),
            _ => {
                Err(CodeError::InvalidParams("give path and symbol, or nodeId instead".to_owned()))
            }
        }
    }

    /// The file, the name, and the kind if it is said.
    pub(crate) fn parts(&self) -> Result<(PathBuf, String, Option<String>), CodeError> {
        let (path, name, kind) = match self {
            Self::Named { path, symbol } => (path.clone(), symbol.trim().to_owned(), None),
            Self::Node(id) => {
                let plain = id.replace("::", ".");
                let parts = plain.split_once(':').and_then(|(kind, rest)| {
                    let (path, name) = rest.rsplit_once(':')?;
                    Some((PathBuf::from(path), name.trim().to_owned(), Some(kind.to_owned())))
                });
                parts.ok_or_else(|| {
                    let message = format!(
                        "{id:?} is not a nodeId, which has the form kind:path:Qualified.name"
                    );
                    CodeError::InvalidParams(message)
                })?
            }
        };
        if name.is_empty() || path.as_os_str().is_empty() {
            return Err(CodeError::InvalidParams(
                "neither path nor symbol may be empty".to_owned(),
            ));
        }
        Ok((path, name, kind))
    }
}

/// What to find of a symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Navigation {
    /// Where it is used, its declaration included.
    References,
    /// What implements or overrides it.
    Implementations,
}

/// Which way calls are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Who calls it.
    Incoming,
    /// What it calls.
    Outgoing,
}

/// Where symbols are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchMode {
    /// In all of the workspace.
    Workspace,
    /// In one file.
    Document,
}

/// What to look for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchQuery {
    /// Part of a name, capitals or not; empty for all.
    pub query: String,
    /// Where.
    pub mode: SearchMode,
    /// The file, for [`SearchMode::Document`].
    pub path: Option<PathBuf>,
    /// Only these kinds, by the protocol's names (`Class`, `Function`), capitals or not; empty for
    /// all.
    pub kinds: Vec<String>,
    /// How many at most.
    pub limit: usize,
}

impl SearchQuery {
    /// The kinds by the protocol's names, all where none was named.
    pub(crate) fn kinds(&self) -> Result<Vec<&'static str>, CodeError> {
        let wanted = self.kinds.iter().map(|kind| kind.trim()).filter(|kind| !kind.is_empty());
        let known = wanted.map(|wanted| {
            let found = KINDS.into_iter().find(|kind| kind.eq_ignore_ascii_case(wanted));
            let unknown = || format!("no kind {wanted:?}; kinds are {}", KINDS.join(", "));
            found.ok_or_else(|| CodeError::InvalidParams(unknown()))
        });
        known.collect()
    }
}

/// Places in files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Locations {
    /// The places by file and line, those of the workspace first.
    pub locations: Vec<SourceLocation>,
    /// How many there are, those left out included.
    pub total: usize,
    /// Uses of the name that the language server did not resolve, to be checked by hand.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub maybe_missed: Vec<MaybeMissed>,
    /// Why some may be missing, where that is so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub incomplete: Option<String>,
}

/// Uses of a name in a file that may be the symbol's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MaybeMissed {
    /// The file.
    pub path: String,
    /// The lines.
    pub lines: Vec<u64>,
}

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SourceLocation {
    /// The file.
    pub path: String,
    /// The line.
    pub line: u64,
    /// The column.
    pub column: u64,
    /// The text of the line, without its indentation.
    pub text: String,
}

/// Callers or callees.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Calls {
    /// The functions by file and line, those of the workspace first.
    pub calls: Vec<CallSite>,
    /// How many there are, those left out included.
    pub total: usize,
    /// Why some may be missing, where that is so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub incomplete: Option<String>,
}

/// A function that calls or is called.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CallSite {
    /// Its name, qualified in the workspace.
    pub name: String,
    /// Its file.
    pub path: String,
    /// The line of its name; that of the call where a file itself calls.
    pub line: u64,
}

/// What a rename changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Renamed {
    /// The files, where they are now.
    pub changed: Vec<ChangedPath>,
    /// How many files.
    pub total: usize,
    /// Uses of the old name that the language server did not resolve, to be checked by hand.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub maybe_missed: Vec<MaybeMissed>,
    /// Why there may be more of them, where that is so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub incomplete: Option<String>,
}

/// A file that was changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ChangedPath {
    /// The file.
    pub path: String,
    /// How many edits; none for a file that only moved.
    pub edits: usize,
}

/// A function that was replaced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReplacedMethod {
    /// The file.
    pub path: String,
    /// What was replaced, in the file as it was.
    pub range: TextRange,
    /// The change as a unified diff, cut where it is long.
    pub diff: String,
}

/// A part of a file; the end is the first column after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TextRange {
    /// The first line.
    pub start_line: u64,
    /// The column there.
    pub start_column: u64,
    /// The last line.
    pub end_line: u64,
    /// The column there.
    pub end_column: u64,
}

/// Symbols that were found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Symbols {
    /// The symbols: names that are the query first, then those that begin with it.
    pub symbols: Vec<SymbolInfo>,
    /// How many were found, those left out included.
    pub total: usize,
    /// What was not searched, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unsearched: Vec<String>,
}

/// A symbol that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SymbolInfo {
    /// Its name.
    pub name: String,
    /// Its kind, by the protocol's name: `Class`, `Method`.
    pub kind: String,
    /// Its file.
    pub path: String,
    /// The line of its name.
    pub line: u64,
    /// An id that the other tools take.
    pub node_id: String,
}
