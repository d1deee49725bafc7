//! The table of agents in a file, from which the next server goes on: which session is whose current one, and what a
//! shell was made with.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use termbridge_session::files::replace_private_file;
use termbridge_session::{SessionId, SessionInfo, State};

use super::{Agents, Held, Left, Table};
use crate::backends::Backends;
use crate::caller::Key;

/// Bytes of the file.
const MAX_FILE: u64 = 16 * 1024 * 1024;

/// The table as it is written. What is missing has its default, so that another version's can be read.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Kept {
    shells: Vec<KeptShell>,
    current: Vec<KeptCurrent>,
}

#[derive(Default, Clone, Serialize, Deserialize)]
#[serde(default)]
struct KeptShell {
    session: String,
    of: Option<Key>,
    shell: String,
    env: BTreeMap<String, String>,
    automatic: bool,
    addressed: bool,
    broken: bool,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct KeptCurrent {
    of: Key,
    session: String,
}

impl Agents {
    /// Keeps the table in a file of this user's alone, and goes on from what an earlier server left there with those of
    /// its sessions that are still there. A shell that the file does not tell of is no spare one, and nobody's current.
    pub(crate) fn adopt(&self, backends: &Backends, sessions: &[SessionInfo], file: PathBuf) {
        let kept = termbridge_foreign_files::read(&file, MAX_FILE)
            .ok()
            .and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let Kept { shells, current } = kept.unwrap_or_default();
        let mut table = self.lock();
        for info in sessions.iter().filter(|info| info.state == State::Running) {
            let id = info.id.to_string();
            for current in current.iter().filter(|current| current.session == id) {
                table.current.insert(current.of.clone(), info.id.clone());
            }
            if info.shell.is_none() {
                continue;
            }
            let kept = shells.iter().find(|shell| shell.session == id).cloned();
            let made = kept.unwrap_or_else(|| KeptShell {
                shell: info.command.clone(),
                addressed: true,
                ..KeptShell::default()
            });
            table.held.push(Held {
                id: info.id.clone(),
                key: made.of.unwrap_or_else(|| Key::of(&info.owner)),
                at: backends.index_of(&info.id),
                shell: made.shell,
                env: made.env,
                name: info.name.clone(),
                reserved: false,
                used: 0,
                automatic: made.automatic,
                addressed: made.addressed,
                broken: made.broken,
            });
        }
        // Those that have ended meanwhile: their agents learn it with the next command.
        for KeptCurrent { of, session } in current {
            if !table.current.contains_key(&of) {
                let shell = shells.iter().find(|shell| shell.session == session);
                let shell = shell.map(|shell| shell.shell.clone());
                let session = SessionId::from_text(&session);
                table.left.insert((of, None), Left { session, cwd: None, shell });
            }
        }
        let _ = self.file.set(file);
        self.keep(&table);
    }

    /// Writes the table down, where it is kept.
    pub(super) fn keep(&self, table: &Table) {
        let Some(file) = self.file.get() else { return };
        let shells = table.held.iter().map(|held| KeptShell {
            session: held.id.to_string(),
            of: Some(held.key.clone()),
            shell: held.shell.clone(),
            env: held.env.clone(),
            automatic: held.automatic,
            addressed: held.addressed,
            broken: held.broken,
        });
        let current = table
            .current
            .iter()
            .map(|(of, session)| KeptCurrent { of: of.clone(), session: session.to_string() });
        let kept = Kept { shells: shells.collect(), current: current.collect() };
        if let Err(error) = write(file, &kept) {
            tracing::warn!(%error, "which session is whose current one is not written down");
        }
    }
}

/// Writes a new file, which takes the old one's place whole.
fn write(file: &Path, kept: &Kept) -> io::Result<()> {
    replace_private_file(file, &serde_json::to_vec(kept)?)
}
