//! Uses of a name that a language server may have missed.
//!
//! A server answers about its project: files that pyright's or a tsconfig's `include` leaves out, modules
//! that nothing declares and code that a `cfg` or a build tag switches off are not part of it. So the whole
//! workspace is searched for the name, as an identifier and not in comments or strings:
//!
//! 1. Files that have it are opened before the request. That makes pyright and tsserver search them too.
//! 2. Where the answer leaves a use out, the server is asked what is meant there. If that is another symbol,
//!    nothing was missed. What it cannot resolve is reported as a use that may have been missed.
//!
//! Each step has its bounds; reaching one is part of the answer.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tree_sitter::Node;

use super::language::Language;
use super::protocol::{Location, WorkspaceEdit};
use super::server::{Deadline, Server};
use super::{MaybeMissed, Subject, edit, scan, uri};
use crate::CodeError;
use crate::parse::parse;

/// How long the files are searched.
const SEARCH_TIME: Duration = Duration::from_secs(3);
/// Bytes of files that are searched.
const MAX_BYTES: u64 = 128 * 1024 * 1024;
/// Files with the name that are kept.
const MAX_FILES: usize = 200;
/// Files that are opened before the request.
const MAX_OPENED: usize = 32;
/// Uses that the server is asked about, and how long that may take.
const MAX_ASKED: usize = 200;
const ASK_TIME: Duration = Duration::from_secs(5);
/// Files that an answer names, and lines of each.
const MAX_NAMED: usize = 20;
const MAX_LINES: usize = 10;

/// The files of a workspace that have a name.
#[derive(Debug)]
pub(super) struct NamedFiles {
    files: Vec<PathBuf>,
    cut: bool,
}

/// Lines of files that an answer holds, from 0.
pub(super) type FoundLines = HashSet<(PathBuf, u32)>;

/// What an answer may lack.
#[derive(Debug, Default)]
pub(super) struct Missed {
    pub(super) uses: Vec<MaybeMissed>,
    /// Why there may be more.
    pub(super) incomplete: Option<String>,
}

impl NamedFiles {
    /// Searches a folder. Blocks.
    pub(super) fn search(folder: &Path, language: Language, name: &str) -> Self {
        let end = Instant::now() + SEARCH_TIME;
        let (mut files, mut bytes, mut is_full) = (Vec::new(), 0, false);
        let cut = scan::walk(folder, |path, entry| {
            if Language::of_path(&path).is_none_or(|(found, _)| found != language) {
                return;
            }
            bytes += entry.metadata().map_or(0, |meta| meta.len().min(edit::MAX_FILE));
            if files.len() >= MAX_FILES || bytes > MAX_BYTES || Instant::now() > end {
                is_full = true;
            } else if let Ok(text) = edit::read(&path)
                && !uses(&text, name, language, &path).is_empty()
            {
                files.push(path);
            }
        });
        Self { files, cut: cut || is_full }
    }

    /// Opens them, so that a server searches them which knows only of its project and of what is open.
    pub(super) async fn open(&self, server: &mut Server) {
        for path in self.files.iter().take(MAX_OPENED) {
            // One that is gone meanwhile has no use.
            let _ = server.open(path).await;
        }
    }

    /// The uses that an answer does not hold and that are no other symbol's.
    pub(super) async fn missed(
        &self,
        subject: &mut Subject,
        found: &FoundLines,
        shown: impl Fn(&Path) -> String,
    ) -> Result<Missed, CodeError> {
        let (path, symbol) = (subject.path.clone(), subject.symbol.clone());
        let left = subject.deadline.at.saturating_duration_since(tokio::time::Instant::now());
        let deadline = Deadline::after(left.min(ASK_TIME));
        let server = subject.turn.server()?;
        let (mut missed, mut asked, mut unchecked) = (Missed::default(), 0, 0);
        for file in &self.files {
            let Ok(text) = server.open(file).await else { continue };
            let mut lines = Vec::new();
            for offset in uses(text.as_str(), &symbol.name, server.language, file) {
                let position = text.position(offset, server.encoding);
                let line = u64::from(position.line) + 1;
                if found.contains(&(file.clone(), position.line)) || lines.last() == Some(&line) {
                    continue;
                }
                asked += 1;
                if asked > MAX_ASKED || tokio::time::Instant::now() > deadline.at {
                    unchecked += 1;
                    continue;
                }
                let params = json!({
                    "textDocument": {"uri": uri::of_path(file)}, "position": position,
                });
                let meant = definitions(server, params, deadline).await;
                let is_ours = |place: &Location| {
                    place.range.start.line == symbol.selection.start.line
                        && uri::to_path(&place.uri).as_ref() == Some(&path)
                };
                if meant.is_empty() || meant.iter().any(is_ours) {
                    lines.push(line);
                }
            }
            if !lines.is_empty() {
                missed.uses.push(MaybeMissed { path: shown(file), lines });
            }
        }
        missed.incomplete = self.incomplete(&mut missed.uses, unchecked);
        Ok(missed)
    }

    /// Cuts to what an answer holds, and says what it does not.
    fn incomplete(&self, uses: &mut Vec<MaybeMissed>, unchecked: usize) -> Option<String> {
        let mut reasons = Vec::new();
        if self.cut {
            reasons.push("the workspace was too large to be searched for the name".to_owned());
        }
        if unchecked > 0 {
            reasons.push(format!("{unchecked} more uses of the name were not checked"));
        }
        let (all, files) = (uses.iter().map(|file| file.lines.len()).sum::<usize>(), uses.len());
        uses.truncate(MAX_NAMED);
        uses.iter_mut().for_each(|file| file.lines.truncate(MAX_LINES));
        let kept = uses.iter().map(|file| file.lines.len()).sum::<usize>();
        if kept < all {
            reasons.push(format!(
                "{all} uses in {files} files may have been missed, {kept} are named"
            ));
        }
        (!reasons.is_empty()).then(|| reasons.join("; "))
    }
}

/// The lines that locations begin on.
pub(super) fn lines_of(locations: &[Location]) -> FoundLines {
    let line = |place: &Location| Some((uri::to_path(&place.uri)?, place.range.start.line));
    locations.iter().filter_map(line).collect()
}

/// The lines that an edit changes.
pub(super) fn edited_lines(edit: &WorkspaceEdit) -> FoundLines {
    let mut lines = FoundLines::new();
    for (uri, ranges) in edit.ranges() {
        let Some(path) = uri::to_path(&uri) else { continue };
        let all = ranges.into_iter().flat_map(|range| range.start.line..=range.end.line);
        lines.extend(all.map(|line| (path.clone(), line)));
    }
    lines
}

/// What the server says a place means, empty when it does not know.
async fn definitions(server: &Server, params: Value, deadline: Deadline) -> Vec<Location> {
    if !server.offers("definitionProvider") {
        return Vec::new();
    }
    server.locations("textDocument/definition", params, deadline).await.unwrap_or_default()
}

/// Where an identifier stands in a source, in bytes.
fn uses(source: &str, name: &str, language: Language, path: &Path) -> Vec<usize> {
    let grammar = language.grammar(path);
    let Some(tree) = source.contains(name).then(|| parse(&grammar, source).ok()).flatten() else {
        return Vec::new();
    };
    let mut found = Vec::new();
    let mut cursor = tree.walk();
    let is_use = |node: Node<'_>| {
        node.child_count() == 0
            && node.kind().ends_with("identifier")
            && source.get(node.byte_range()) == Some(name)
    };
    loop {
        if is_use(cursor.node()) {
            found.push(cursor.node().start_byte());
        }
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return found;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::text::Text;
    use super::*;

    #[test]
    fn uses_are_identifiers() {
        let rust = "fn add() { x.add(1); added(); assert_eq!(add(), \"add\"); } // add\n";
        let lines = |source: &str, path: &str| {
            let path = Path::new(path);
            let (language, _) = Language::of_path(path).expect("a language");
            let text = Text::new(source.to_owned());
            let found = uses(source, "add", language, path);
            found.into_iter().map(|offset| text.column(offset)).collect::<Vec<_>>()
        };
        assert_eq!(lines(rust, "a.rs"), [4, 14, 42]);
        assert_eq!(lines("x = f\"{add(1)} add\"; y.add # add", "a.py"), [8, 24]);
        assert_eq!(lines("const x = { add, y: z.add }; <add />", "a.tsx"), [13, 23, 31]);
        assert_eq!(lines("package add; func (a T) add() { a.add() }", "a.go"), [9, 25, 35]);
        assert_eq!(lines("", "a.go"), [] as [u64; 0]);
    }
}
