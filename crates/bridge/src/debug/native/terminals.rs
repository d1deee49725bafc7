//! The debuggee's terminal: one of our own sessions, which people see and agents type to.

use std::sync::{Mutex, PoisonError};

use termbridge_dap::{BoxFuture, DebugSession, TerminalLauncher, TerminalProcess, TerminalRequest};
use termbridge_session::{Launch, SessionId};

use super::NativeDebugger;
use crate::backends::BackendIndex;
use crate::caller::Caller;
use crate::hub::Bridge;

/// Terminals that are remembered; those of sessions long over are forgotten first.
const REMEMBERED: usize = 64;

pub(super) struct Terminals {
    bridge: Bridge,
    at: BackendIndex,
    /// Who started something last: its terminals are theirs.
    starter: Mutex<Caller>,
    /// Debug sessions and their terminals, in the order they came.
    opened: Mutex<Vec<(String, SessionId)>>,
}

impl Terminals {
    pub(super) fn new(bridge: Bridge, owner: Caller, at: BackendIndex) -> Self {
        Self { bridge, at, starter: Mutex::new(owner), opened: Mutex::default() }
    }

    fn of(&self, debug_session: &str) -> Option<SessionId> {
        let opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        opened
            .iter()
            .rev()
            .find(|(id, _)| id == debug_session)
            .map(|(_, terminal)| terminal.clone())
    }

    async fn open(&self, request: TerminalRequest) -> Result<TerminalProcess, String> {
        let command = request.command;
        let removed: Vec<_> =
            command.env.iter().filter(|(_, value)| value.is_none()).map(|(name, _)| name).collect();
        let mut launch = if removed.is_empty() {
            Launch::new(&command.program)
        } else {
            // A session's variables can only be set, so another program takes them away.
            let mut launch = Launch::new("env");
            for name in removed {
                launch = launch.arg("-u").arg(name);
            }
            launch.arg(&command.program)
        };
        launch = launch.args(&command.args).name(request.title);
        if let Some(cwd) = command.cwd {
            launch = launch.cwd(cwd);
        }
        for (name, value) in command.env {
            if let Some(value) = value {
                launch = launch.env(name, value);
            }
        }
        let starter = self.starter.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let launched = self.bridge.launch_at(self.at, &starter, launch).await;
        let session = launched.map_err(|error| error.to_string())?;
        let info = session.info().await.map_err(|error| error.to_string())?;
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if opened.len() >= REMEMBERED {
            opened.remove(0);
        }
        opened.push((request.session, info.id));
        let pid = info.pid.and_then(|pid| u32::try_from(pid).ok());
        pid.map(|pid| TerminalProcess { pid }).ok_or_else(|| "it ended at once".to_owned())
    }
}

impl TerminalLauncher for Terminals {
    fn launch(&self, request: TerminalRequest) -> BoxFuture<'_, Result<TerminalProcess, String>> {
        Box::pin(self.open(request))
    }
}

impl NativeDebugger {
    /// Terminals that are opened from now on belong to who calls now.
    pub(super) fn note_starter(&self) {
        if let Some(terminals) = &self.shared.terminals {
            let mut starter = terminals.starter.lock().unwrap_or_else(PoisonError::into_inner);
            *starter = self.caller.clone();
        }
    }

    /// The terminal that a debug session's program runs in, if it has one.
    pub(super) fn terminal_of(&self, session: &DebugSession) -> Option<String> {
        let terminals = self.shared.terminals.as_ref()?;
        terminals.of(session.id().as_str()).map(|id| id.to_string())
    }
}
