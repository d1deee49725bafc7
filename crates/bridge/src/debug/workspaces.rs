//! [`Debuggers`]: the debugging of a server, apart for each principal and workspace.
//!
//! Debug sessions, breakpoints, events, builds and language servers all belong to one [`Debugging`], and a caller only
//! ever gets that of its own principal and workspace: another principal's sessions are not there for it. One is made
//! when it is first asked for, from the workspace and the variables of who asked.
//!
//! Invariants:
//! - At most [`MAX_DEBUGGERS`]. To make room, one goes that no client holds and in which nothing runs, the one unused the
//!   longest first; where there is none, the newcomer is refused.
//! - One that a client holds stays: its sessions do not vanish under it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use termbridge_dap::Environment;

use super::{DebugFailure, DebugSettings, Debugging, NativeDebugger};
use crate::caller::Caller;
use crate::hub::Bridge;

/// Workspaces that are debugged in at once.
pub const MAX_DEBUGGERS: usize = 64;
/// Bytes of a folder's name.
const MAX_FOLDER_NAME: usize = 200;

/// The debugging of a server. Clones are the same.
#[derive(Clone)]
pub struct Debuggers {
    shared: Arc<Shared>,
}

struct Shared {
    bridge: Bridge,
    /// For callers that bring nothing of their own; for others, what they do not bring.
    settings: DebugSettings,
    reserved: Vec<String>,
    made: Mutex<Made>,
}

#[derive(Default)]
struct Made {
    all: Vec<Entry>,
    /// Counts uses.
    uses: u64,
}

struct Entry {
    principal: String,
    workspace: PathBuf,
    debugging: Debugging,
    environment: Option<Arc<crate::caller::Environment>>,
    last_use: u64,
}

impl Made {
    /// The debugging of a caller. It ends if it is idle and has other variables than the caller.
    fn find(&mut self, caller: &Caller, workspace: &Path) -> Option<Debugging> {
        self.uses += 1;
        let is_it =
            |entry: &Entry| entry.principal == caller.principal() && entry.workspace == workspace;
        let index = self.all.iter().position(is_it)?;
        let entry = &mut self.all[index];
        // Other variables may mean another toolchain.
        if entry.environment.as_ref() != caller.environment() && entry.is_idle() {
            end_soon(self.all.swap_remove(index));
            return None;
        }
        entry.last_use = self.uses;
        Some(entry.debugging.clone())
    }
}

impl Entry {
    /// Whether it can go without anyone missing it.
    fn is_idle(&self) -> bool {
        self.debugging.is_held_once() && !self.debugging.is_busy()
    }
}

impl Debuggers {
    pub(crate) fn new(bridge: Bridge, settings: DebugSettings, reserved: &[&str]) -> Self {
        let reserved = reserved.iter().map(|name| (*name).to_owned()).collect();
        Self { shared: Arc::new(Shared { bridge, settings, reserved, made: Mutex::default() }) }
    }

    /// The debugging of a caller, in its workspace.
    pub fn of(&self, caller: &Caller) -> Result<Debugging, DebugFailure> {
        let workspace = caller.workspace().unwrap_or(&self.shared.settings.workspace);
        if let Some(debugging) = self.lock().find(caller, workspace) {
            return Ok(debugging);
        }
        // Without the lock: this reads files of the workspace, which may be slow.
        let debugging = self.shared.make(caller, workspace);
        let mut made = self.lock();
        if let Some(debugging) = made.find(caller, workspace) {
            return Ok(debugging);
        }
        if made.all.len() >= MAX_DEBUGGERS {
            let idle = made.all.iter().enumerate().filter(|(_, entry)| entry.is_idle());
            let oldest = idle.min_by_key(|(_, entry)| entry.last_use).map(|(index, _)| index);
            let Some(oldest) = oldest else {
                let message = format!("{MAX_DEBUGGERS} workspaces are being debugged in");
                return Err(DebugFailure::new("E_BUSY", message)
                    .hint("end a debug session that you no longer need, then try again"));
            };
            end_soon(made.all.swap_remove(oldest));
        }
        let last_use = made.uses;
        made.all.push(Entry {
            principal: caller.principal().to_owned(),
            workspace: workspace.to_owned(),
            debugging: debugging.clone(),
            environment: caller.environment().cloned(),
            last_use,
        });
        Ok(debugging)
    }

    /// Ends everything that was started natively, everyone's.
    pub async fn shutdown(&self) {
        let all: Vec<Debugging> =
            self.lock().all.iter().map(|entry| entry.debugging.clone()).collect();
        futures_util::future::join_all(all.iter().map(Debugging::shutdown)).await;
    }

    fn lock(&self) -> MutexGuard<'_, Made> {
        self.shared.made.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends what a debugger without sessions has still running: language servers.
fn end_soon(entry: Entry) {
    if let Ok(runtime) = tokio::runtime::Handle::try_current() {
        runtime.spawn(async move { entry.debugging.shutdown().await });
    }
}

impl Shared {
    fn make(&self, caller: &Caller, workspace: &Path) -> Debugging {
        let mut settings = self.settings.clone();
        workspace.clone_into(&mut settings.workspace);
        if let Some(environment) = caller.environment() {
            let variables = environment.iter();
            settings.native.environment =
                variables.fold(Environment::default(), |all, (name, value)| all.with(name, value));
        }
        settings.native.state_folder =
            settings.native.state_folder.and_then(|folder| folder_of(caller.principal(), folder));
        let native = settings.native.clone();
        let reserved: Vec<&str> = self.reserved.iter().map(String::as_str).collect();
        // It belongs to the principal; what an agent of it starts is that agent's.
        let owner = caller.for_agent(None);
        let native =
            NativeDebugger::new(self.bridge.clone(), owner, settings.workspace.clone(), native);
        Debugging::new(settings, native, &reserved)
    }
}

/// Where a principal's events are kept, apart from others'; nowhere if its name is too long for a folder.
fn folder_of(principal: &str, folder: PathBuf) -> Option<PathBuf> {
    if principal.is_empty() {
        return Some(folder);
    }
    let letter = |byte: u8| match byte {
        b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' => (byte as char).to_string(),
        other => format!("%{other:02x}"),
    };
    let name: String = principal.bytes().map(letter).collect();
    (name.len() <= MAX_FOLDER_NAME).then(|| folder.join("principals").join(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn principals_keep_their_events_in_folders_of_their_own() {
        let of = |principal: &str| folder_of(principal, "/state".into());
        assert_eq!(of(""), Some("/state".into()));
        assert_eq!(of("ada"), Some("/state/principals/ada".into()));
        assert_eq!(of("../Ada"), Some("/state/principals/%2e%2e%2f%41da".into()));
        assert_eq!(of(&"x".repeat(1000)), None);
    }
}
