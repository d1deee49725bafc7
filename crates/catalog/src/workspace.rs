//! Metadata that a workspace brings: scripts of its own extension become tools.
//!
//! Read from `.vsc-bridge/manifest.json` and from `*.meta.yaml` files in the folders where extensions
//! keep their scripts. All of it is someone else's: bounded, checked, skipped where it is wrong, and
//! links are not followed.

use std::cell::LazyCell;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::document::Document;
use crate::metadata::Metadata;
use crate::read::{Problem, Strictness, read as read_metadata, read_part};

/// Where scripts are, below the workspace.
const FOLDERS: [&str; 4] = [
    ".vsc-bridge/scripts",
    "extension/src/vsc-scripts",
    "packages/extension/src/vsc-scripts",
    "src/vsc-scripts",
];
const MANIFEST: &str = ".vsc-bridge/manifest.json";
const SUFFIX: &str = ".meta.yaml";

/// Most tools of a workspace.
const MOST_TOOLS: usize = 200;
/// Most entries looked at in its folders, and how deep they go.
const MOST_ENTRIES: usize = 5_000;
const DEEPEST: usize = 6;
/// Most bytes of a file.
const MAX_FILE: u64 = 256 << 10;
const MAX_MANIFEST: u64 = 8 << 20;

/// Metadata that was left out, and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}:{line}: {message}", path.display())]
pub struct Warning {
    /// The file.
    pub path: PathBuf,
    /// The line, from 1.
    pub line: usize,
    /// What is wrong.
    pub message: String,
}

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) tools: Vec<FoundTool>,
    pub(crate) warnings: Vec<Warning>,
}

#[derive(Debug)]
pub(crate) struct FoundTool {
    pub(crate) metadata: Metadata,
    pub(crate) path: PathBuf,
}

/// Reads all there is; the same alias twice counts once, the scripts' own files before the manifest.
///
/// What is `known` by its alias is left out.
pub(crate) fn read(workspace: &Path, known: impl Fn(&str) -> bool) -> Found {
    let mut found = Found::default();
    let mut files = Vec::new();
    let mut budget = MOST_ENTRIES;
    for folder in FOLDERS {
        collect(&workspace.join(folder), DEEPEST, &mut budget, &mut files);
    }
    for path in files {
        let metadata =
            text(&path, MAX_FILE).and_then(|text| read_metadata(&text, Strictness::Workspace));
        match metadata {
            Ok(metadata) if known(&metadata.alias) => {}
            Ok(metadata) => found.add(metadata, &path),
            Err(problem) => found.warn(&path, problem),
        }
    }
    found.read_manifest(&workspace.join(MANIFEST), &known);
    found
}

impl Found {
    fn add(&mut self, metadata: Metadata, path: &Path) {
        if self.tools.iter().any(|tool| tool.metadata.alias == metadata.alias) {
            return;
        }
        if self.tools.len() >= MOST_TOOLS {
            let message = format!("{} is left out: more than {MOST_TOOLS} tools", metadata.alias);
            let line = line_of(path, &metadata.alias);
            self.warn(path, Problem::new(line, message));
            return;
        }
        self.tools.push(FoundTool { metadata, path: path.to_owned() });
    }

    fn warn(&mut self, path: &Path, problem: Problem) {
        if self.warnings.len() < MOST_TOOLS {
            let Problem { line, message } = problem;
            self.warnings.push(Warning { path: path.to_owned(), line, message });
        }
    }

    /// `{version: 2, scripts: {ALIAS: {metadata: …}}}`, as the published extension builds it.
    fn read_manifest(&mut self, path: &Path, known: &dyn Fn(&str) -> bool) {
        if !is_file(path) {
            return;
        }
        let text = match text(path, MAX_MANIFEST) {
            Ok(text) => text,
            Err(problem) => return self.warn(path, problem),
        };
        let mut manifest: Value = match serde_json::from_str(&text) {
            Ok(manifest) => manifest,
            Err(error) => return self.warn(path, Problem::new(error.line(), error.to_string())),
        };
        let Some(Value::Object(scripts)) = manifest.get_mut("scripts").map(Value::take) else {
            return self.warn(path, Problem::new(1, "there is no `scripts`"));
        };
        // JSON is YAML, and that reader knows the lines; it is slower and seldom needed.
        let lines = LazyCell::new(|| {
            Document::parse(&text).map(|document| document.lines).unwrap_or_default()
        });
        for (alias, mut script) in scripts {
            if known(&alias) {
                continue;
            }
            let metadata = script.get_mut("metadata").map(Value::take).unwrap_or_default();
            let line = |part: &str| lines.of(&format!("scripts.{alias}.metadata.{part}"));
            match read_part(metadata, Strictness::Workspace, line) {
                Ok(metadata) => self.add(metadata, path),
                Err(problem) => self.warn(path, problem),
            }
        }
    }
}

/// The metadata files of a folder and its folders, in order of their names.
fn collect(folder: &Path, depth: usize, budget: &mut usize, files: &mut Vec<PathBuf>) {
    let is_folder = fs::symlink_metadata(folder).is_ok_and(|meta| meta.is_dir());
    let entries = fs::read_dir(folder).ok().filter(|_| is_folder && depth > 0);
    let mut paths = Vec::new();
    for entry in entries.into_iter().flatten().flatten() {
        if *budget == 0 {
            break;
        }
        *budget -= 1;
        paths.push(entry.path());
    }
    paths.sort();
    for path in paths {
        if path.to_string_lossy().ends_with(SUFFIX) && is_file(&path) {
            files.push(path);
        } else if path.file_name().is_some_and(|name| name != "node_modules") {
            collect(&path, depth - 1, budget, files);
        }
    }
}

/// The first line of a file that names a script.
pub(crate) fn line_of(path: &Path, alias: &str) -> usize {
    let text = text(path, MAX_MANIFEST).unwrap_or_default();
    text.lines().position(|line| line.contains(alias)).map_or(1, |index| index + 1)
}

fn is_file(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|meta| meta.is_file())
}

fn text(path: &Path, limit: u64) -> Result<String, Problem> {
    termbridge_foreign_files::read_to_string(path, limit)
        .map_err(|error| Problem::new(1, error.to_string()))
}
