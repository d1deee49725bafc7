//! A bounded look at the files of a folder.
//!
//! In the order of their names, so that two looks see the same files where nothing changed. Folders
//! that hold what others wrote or what was built are left out, as are hidden ones; links are not
//! followed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use termbridge_pty::FileStamp;

use super::language::Language;

/// Entries of folders that one look sees.
const MAX_ENTRIES: usize = 20_000;
/// How deep one look goes.
const MAX_DEPTH: usize = 16;
/// Folders that are left out.
const SKIPPED: [&str; 6] = ["node_modules", "target", "__pycache__", "venv", "vendor", "testdata"];

/// The files of a language, and the files that say what its projects are.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scan {
    pub(crate) files: BTreeMap<PathBuf, FileStamp>,
    /// Whether there were more entries than are looked at.
    pub(crate) cut: bool,
}

impl Scan {
    /// Looks at a folder for one language.
    pub(crate) fn of(folder: &Path, language: Language) -> Self {
        let mut files = BTreeMap::new();
        let cut = walk(folder, |path, entry| {
            let marker = || language.markers().iter().any(|name| path.ends_with(name));
            if Language::of_path(&path).is_some_and(|(found, _)| found == language) || marker() {
                files.extend(entry.metadata().ok().map(|meta| (path, FileStamp::of(&meta))));
            }
        });
        Self { files, cut }
    }

    /// The files with source text.
    pub(crate) fn sources(&self) -> impl Iterator<Item = &Path> {
        self.files.keys().map(PathBuf::as_path).filter(|path| Language::of_path(path).is_some())
    }
}

/// The languages of a folder with the projects they are in, at most `most`.
pub(crate) fn projects(workspace: &Path, most: usize) -> Vec<(Language, PathBuf)> {
    let mut found: Vec<(Language, PathBuf)> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    walk(workspace, |path, _| {
        let (Some((language, _)), Some(folder)) = (Language::of_path(&path), path.parent()) else {
            return;
        };
        if found.len() >= most || !seen.insert((language, folder.to_owned())) {
            return;
        }
        let project = (language, language.root(folder, workspace));
        if !found.contains(&project) {
            found.push(project);
        }
    });
    found
}

/// Calls for each file; whether it stopped before the end.
pub(crate) fn walk(folder: &Path, mut each: impl FnMut(PathBuf, &std::fs::DirEntry)) -> bool {
    let mut open = std::collections::VecDeque::from([(folder.to_owned(), 0)]);
    let mut left = MAX_ENTRIES;
    let mut cut = false;
    while let Some((folder, depth)) = open.pop_front() {
        let Ok(entries) = folder.read_dir() else { continue };
        let mut entries: Vec<_> = entries.take(left + 1).flatten().collect();
        if entries.len() > left {
            return true;
        }
        left -= entries.len();
        entries.sort_by_key(std::fs::DirEntry::file_name);
        for entry in entries {
            let Ok(kind) = entry.file_type() else { continue };
            let path = entry.path();
            if kind.is_file() {
                each(path, &entry);
            } else if kind.is_dir() && !is_skipped(&path) {
                match depth < MAX_DEPTH {
                    true => open.push_back((path, depth + 1)),
                    false => cut = true,
                }
            }
        }
    }
    cut
}

fn is_skipped(folder: &Path) -> bool {
    let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or(".");
    name.starts_with('.') || SKIPPED.contains(&name) || folder.join("pyvenv.cfg").exists()
}
