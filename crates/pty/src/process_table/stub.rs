//! No process table: systems without `/proc`.

use super::Process;
use crate::Waiting;

/// Whether sessions and descendants can be told here.
pub(crate) const KNOWS_SESSIONS: bool = false;

pub(crate) fn read(_pid: i32) -> Option<Process> {
    None
}

pub(crate) fn all() -> Vec<Process> {
    Vec::new()
}

pub(crate) fn tree(_roots: &[i32]) -> Vec<Process> {
    Vec::new()
}

/// Without a subreaper no process but the programs is ever the keeper's child.
pub(crate) fn children_of_self() -> Vec<i32> {
    Vec::new()
}

pub(crate) fn has_environment(_pid: i32, _entry: &[u8]) -> bool {
    false
}

pub(crate) fn started_with(_pid: i32, _text: &[u8]) -> Option<bool> {
    None
}

pub(crate) fn start_of(_pid: i32) -> Option<crate::ProcessStart> {
    None
}

pub(crate) fn working_directory(_pid: i32) -> Option<std::path::PathBuf> {
    None
}

pub(crate) fn waiting(_processes: &[&Process], _terminal: &str) -> Waiting {
    Waiting::Unknown
}

pub(crate) fn beyond(_group: &[&Process], _detached: &[Process]) -> Option<Waiting> {
    None
}

pub(crate) fn waiting_elsewhere(_pids: &[i32], _terminal: &str) -> Option<(i32, Waiting)> {
    None
}

pub(crate) fn waiting_for_terminal(_pid: i32, _terminal: &str) -> (Waiting, Option<u64>) {
    (Waiting::Unknown, None)
}

pub(crate) fn waiting_for_file(_pid: i32, _file: &std::path::Path) -> Waiting {
    Waiting::Unknown
}

pub(crate) fn switches(_pid: i32) -> Option<u64> {
    None
}
