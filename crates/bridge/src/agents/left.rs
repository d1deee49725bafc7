//! Sessions that have ended, and where they were: a session that replaces one starts there.

use std::path::PathBuf;

use termbridge_session::{SessionId, SessionInfo};

use super::Agents;
use crate::caller::Caller;

/// Ended sessions whose directories are remembered.
const MAX_LEFT: usize = 1000;

/// A session that has ended, where it was if that is known, and its shell if it had one.
#[derive(Debug, Clone)]
pub(crate) struct Left {
    pub(crate) session: SessionId,
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) shell: Option<String>,
}

impl Agents {
    /// Where the caller's current session, or the one of this name, has ended.
    pub(crate) fn left(&self, caller: &Caller, name: Option<&str>) -> Option<Left> {
        self.lock().left.get(&(caller.key(), name.map(str::to_owned))).cloned()
    }

    /// A new session need not start there.
    pub(crate) fn forget_left(&self, caller: &Caller, name: Option<&str>) {
        self.lock().left.remove(&(caller.key(), name.map(str::to_owned)));
    }

    /// The session has ended; one that replaces it starts where it was, with the same shell.
    pub(super) fn forget_ended(&self, info: &SessionInfo) {
        let mut table = self.lock();
        let current = table.current.iter().filter(|(_, current)| **current == info.id);
        let mut keys: Vec<_> = current.map(|(key, _)| (key.clone(), None)).collect();
        let held = table.held.iter().find(|held| held.id == info.id);
        let shell = held.map(|held| held.shell.clone());
        let cwd = Some(info.own_directory().to_owned());
        let left = Left { session: info.id.clone(), cwd, shell };
        let named = held.and_then(|held| Some((held.key.clone(), Some(held.name.clone()?))));
        keys.extend(named);
        for key in keys {
            if table.left.len() < MAX_LEFT {
                table.left.insert(key, left.clone());
            }
        }
        drop(table);
        self.forget(&info.id);
    }
}
