//! The terminals in a file, from which the next server goes on.
//!
//! The editor still has its terminals when a server was killed, and its windows resume them. Whose they are is in the file,
//! which is this user's alone: a window hands back what it had, and never says whose it is.
//!
//! ```text
//! start: file ──► sessions whose window is away ── terminal_resumed ──► used as before
//!                        └── none comes within GONE_LIMIT ──► ended
//! ```
//!
//! Of the commands only the last is kept, and not what it printed: the extension has that, and reports it again
//! (`terminal_resumed`). Until then the command counts as running. Terminals of plain extensions are not kept: nothing
//! tells one such extension from another.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use termbridge_session::files::replace_private_file;
use termbridge_session::{CommandState, Owner, SessionId};
use tokio::time::Instant;

use super::state::LastCommand;
use super::terminal::{EditorTerminal, NewTerminal, Purpose};
use super::windows::WindowKey;
use super::{EditorTerminals, MAX_TERMINALS};

/// Bytes of the file that are read at most.
const MAX_FILE: u64 = 16 * 1024 * 1024;

/// The file, and what was written last.
#[derive(Default)]
pub(super) struct KeptFile(Mutex<Option<(PathBuf, Vec<u8>)>>);

/// All terminals as they are written. What is missing has its default, so that another version's can be read.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Kept {
    terminals: Vec<KeptTerminal>,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct KeptTerminal {
    session: String,
    principal: String,
    client: String,
    agent: Option<String>,
    workspace: Option<PathBuf>,
    windows: Vec<String>,
    terminal: String,
    is_program: bool,
    name: Option<String>,
    project: Option<String>,
    command: String,
    cwd: PathBuf,
    pid: Option<u32>,
    /// Milliseconds since 1970.
    created: u64,
    last: Option<KeptCommand>,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct KeptCommand {
    id: u64,
    text: String,
    key: Option<String>,
    execution: Option<String>,
    /// The command before it, by which one is recognised that the editor was never given.
    previous: Option<String>,
    /// It has ended.
    is_over: bool,
    /// It was sent to a shell that cannot be read: nothing more will be known of it.
    is_sent: bool,
}

impl EditorTerminals {
    /// Keeps the terminals in a file, and goes on with those that an earlier server left there.
    pub fn adopt(&self, file: PathBuf) {
        let kept: Kept = match read(&file) {
            Ok(kept) => kept,
            Err(error) => {
                tracing::warn!(%error, "the editors' terminals of an earlier server are not known");
                Kept::default()
            }
        };
        let mut open = self.lock();
        for kept in kept.terminals.into_iter().take(MAX_TERMINALS) {
            let terminal = restored(kept);
            let now = Instant::now();
            open.gone.extend(terminal.windows().into_iter().map(|window| (window, now)));
            open.terminals.push(Arc::new(terminal));
        }
        drop(open);
        *self.shared.kept.lock() = Some((file, Vec::new()));
        self.keep();
    }

    /// Writes the terminals down, where they are kept and something has changed.
    pub(super) fn keep(&self) {
        let mut file = self.shared.kept.lock();
        let Some((path, written)) = &mut *file else { return };
        let terminals = self.lock().terminals.clone();
        let terminals = terminals.iter().filter_map(|terminal| kept(terminal)).collect();
        let Ok(bytes) = serde_json::to_vec(&Kept { terminals }) else { return };
        if bytes == *written {
            return;
        }
        match replace_private_file(path, &bytes) {
            Ok(()) => *written = bytes,
            Err(error) => {
                tracing::warn!(%error, "the editors' terminals are not kept for the next server");
            }
        }
    }
}

impl KeptFile {
    fn lock(&self) -> std::sync::MutexGuard<'_, Option<(PathBuf, Vec<u8>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn kept(terminal: &EditorTerminal) -> Option<KeptTerminal> {
    let named = |window| if let WindowKey::Window(name) = window { Some(name) } else { None };
    let windows = terminal.windows().into_iter().map(named).collect::<Option<_>>()?;
    let state = terminal.lock();
    if state.ended.is_some() {
        return None;
    }
    let mut commands = state.commands.iter().rev();
    let last = commands.next().map(|last| KeptCommand {
        id: last.id,
        text: last.text.clone(),
        key: state.key_of(last.id).map(str::to_owned),
        execution: last.execution.clone(),
        previous: commands.next().and_then(|previous| previous.execution.clone()),
        is_over: !last.is_running(),
        is_sent: last.state == CommandState::Sent,
    });
    let Owner { principal, client, agent, workspace } = terminal.owner.clone();
    let created = terminal.created.duration_since(UNIX_EPOCH).unwrap_or_default();
    Some(KeptTerminal {
        session: terminal.id.to_string(),
        principal,
        client,
        agent,
        workspace,
        windows,
        terminal: terminal.terminal_id.clone(),
        is_program: terminal.purpose == Purpose::Program,
        name: terminal.name.clone(),
        project: terminal.project.clone(),
        command: terminal.command.clone(),
        cwd: state.cwd.clone(),
        pid: state.pid,
        created: u64::try_from(created.as_millis()).unwrap_or_default(),
        last,
    })
}

fn restored(kept: KeptTerminal) -> EditorTerminal {
    let KeptTerminal { principal, client, agent, workspace, .. } = kept;
    let new = NewTerminal {
        owner: Owner { principal, client, agent, workspace },
        windows: kept.windows.into_iter().map(WindowKey::Window).collect(),
        terminal_id: kept.terminal,
        purpose: if kept.is_program { Purpose::Program } else { Purpose::Shell },
        name: kept.name,
        project: kept.project,
        command: kept.command,
        cwd: kept.cwd,
        pid: kept.pid,
    };
    let mut terminal = EditorTerminal::new(SessionId::from_text(&kept.session), new);
    let created = UNIX_EPOCH.checked_add(Duration::from_millis(kept.created));
    terminal.created = created.unwrap_or_else(SystemTime::now);
    if let Some(last) = kept.last {
        let KeptCommand { id, text, key, execution, previous, is_over, is_sent } = last;
        let shell = terminal.shell();
        let last = LastCommand { id, text: &text, key, execution, previous, is_over, is_sent };
        terminal.lock().go_on_with(last, shell);
    }
    terminal
}

/// What was written; nothing where there is no file.
fn read(file: &Path) -> io::Result<Kept> {
    match termbridge_foreign_files::read(file, MAX_FILE) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Kept::default()),
        read => Ok(serde_json::from_slice(&read?)?),
    }
}
