//! A history in a folder of its own.

use std::path::PathBuf;
use std::time::Duration;

use tempfile::TempDir;
use termbridge_store::{Entry, Filter, History, Limits, Opened, Page, Query, Recorded};

pub(crate) struct Folder {
    folder: TempDir,
}

impl Folder {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("state").join("history.db")
    }

    pub(crate) fn open_with(&self, limits: Limits) -> Opened {
        History::open(&self.path(), limits).unwrap()
    }

    /// Opens it and wants no warning.
    pub(crate) fn open(&self) -> History {
        let opened = self.open_with(limits());
        assert_eq!(opened.warnings, []);
        opened.history
    }

    /// Names in the history's folder that contain `part`.
    pub(crate) fn names(&self, part: &str) -> Vec<String> {
        let names = std::fs::read_dir(self.path().parent().unwrap()).unwrap();
        let mut names: Vec<_> =
            names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.retain(|name| name.contains(part));
        names.sort();
        names
    }
}

/// Short waits.
pub(crate) fn limits() -> Limits {
    Limits { busy_timeout: Duration::from_millis(300), ..Limits::default() }
}

/// A finished command; its start orders it.
pub(crate) fn entry(id: &str, command: &str, output: &str, started_ms: i64) -> Entry {
    let mut entry = Entry::new(id, "s1", command).output(output).exit_code(0);
    entry.run.started_ms = started_ms;
    entry.run.duration_ms = Some(10);
    entry.run.cwd.push_str("/work");
    entry
}

pub(crate) fn fill(history: &History, entries: impl IntoIterator<Item = Entry>) {
    for entry in entries {
        assert_eq!(history.record(entry), Recorded::Queued);
    }
    history.flush().unwrap();
}

pub(crate) fn ids(page: &Page) -> Vec<&str> {
    page.hits.iter().map(|hit| hit.run.id.as_str()).collect()
}

pub(crate) fn found(history: &History, text: &str) -> Vec<String> {
    filtered(history, text, Filter::default())
}

pub(crate) fn filtered(history: &History, text: &str, filter: Filter) -> Vec<String> {
    let page = history.search(&Query { filter, ..Query::new(text) }).unwrap();
    ids(&page).into_iter().map(str::to_owned).collect()
}
