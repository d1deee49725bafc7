//! Breakpoints: kept for all sessions, sent to those that are open.

use std::path::Path;

use super::Debugger;
use crate::breakpoint::{Breakpoint, BreakpointInfo, BreakpointState, file_key};
use crate::error::DebugError;
use crate::session::DebugSession;

impl Debugger {
    /// Sets a breakpoint, replacing the one on that line; waits for what open sessions make of it.
    pub async fn set_breakpoint(
        &self,
        breakpoint: Breakpoint,
    ) -> Result<BreakpointInfo, DebugError> {
        let line = breakpoint.line;
        let key = self.context.breakpoints().set(breakpoint)?;
        self.place(&key).await;
        let limit = self.context.settings.breakpoint_timeout;
        for session in self.open() {
            session.inner.wait_placed(&key, line, limit).await;
        }
        let kept = self.context.breakpoints().of_file(&key);
        let kept = kept.into_iter().find(|kept| kept.line == line);
        let breakpoint = kept.ok_or_else(|| {
            DebugError::Aborted("the breakpoint was removed meanwhile".to_owned())
        })?;
        Ok(self.describe(&key, breakpoint))
    }

    /// Removes a breakpoint; false when there is none.
    pub async fn remove_breakpoint(&self, path: &Path, line: u64) -> bool {
        let key = file_key(path);
        let removed = self.context.breakpoints().remove(&key, line);
        if removed {
            self.place(&key).await;
        }
        removed
    }

    /// Removes the breakpoints of a file; returns how many.
    pub async fn clear_file(&self, path: &Path) -> usize {
        let key = file_key(path);
        let cleared = self.context.breakpoints().clear(&key);
        if cleared > 0 {
            self.place(&key).await;
        }
        cleared
    }

    /// Removes every breakpoint; returns how many.
    pub async fn clear_breakpoints(&self) -> usize {
        let files = self.context.breakpoints().files();
        let mut cleared = 0;
        for file in files {
            cleared += self.clear_file(&file).await;
        }
        cleared
    }

    /// Every breakpoint and its true state, by file and line.
    pub fn breakpoints(&self) -> Vec<BreakpointInfo> {
        let files: Vec<_> = {
            let store = self.context.breakpoints();
            store.files().into_iter().map(|key| (store.of_file(&key), key)).collect()
        };
        let described = files.into_iter().flat_map(|(kept, key)| {
            kept.into_iter().map(move |breakpoint| (key.clone(), breakpoint))
        });
        described.map(|(key, breakpoint)| self.describe(&key, breakpoint)).collect()
    }

    /// Sends a file's breakpoints to every open session. A session that cannot take them says so
    /// in their state.
    async fn place(&self, key: &Path) {
        let _order = self.context.placing.lock().await;
        for session in self.open() {
            if let Err(error) = session.inner.place_everywhere(key).await {
                tracing::warn!(session = %session.id(), %error, "breakpoints were not sent");
            }
        }
        self.context.breakpoints().tidy();
    }

    fn open(&self) -> Vec<DebugSession> {
        self.sessions().into_iter().filter(|session| !session.is_ended()).collect()
    }

    fn describe(&self, key: &Path, breakpoint: Breakpoint) -> BreakpointInfo {
        let sessions = self.open();
        let placed =
            sessions.iter().filter_map(|session| session.inner.placed(key, breakpoint.line));
        let Some(placed) = placed.max_by_key(|placed| placed.verified) else {
            let message = if sessions.is_empty() {
                "no debug session is open; it is set when one starts"
            } else {
                "no open debug session has taken it"
            };
            let message = self.failure_of(&breakpoint).unwrap_or_else(|| message.to_owned());
            let (state, message) = (BreakpointState::Pending, Some(message));
            return BreakpointInfo { breakpoint, state, message };
        };
        let state = match (placed.verified, placed.line) {
            (true, Some(line)) if line != breakpoint.line => BreakpointState::Moved { line },
            (true, _) => BreakpointState::Verified,
            (false, _) => BreakpointState::Pending,
        };
        BreakpointInfo {
            message: self.failure_of(&breakpoint).or(placed.message),
            breakpoint,
            state,
        }
    }

    fn failure_of(&self, breakpoint: &Breakpoint) -> Option<String> {
        let condition = breakpoint.condition.as_ref()?;
        let store = self.context.breakpoints();
        Some(format!("its condition cannot be evaluated: {}", store.failure(condition)?))
    }
}

impl DebugSession {
    /// The exception filters that the adapter offers: name, label, whether it is on by default.
    pub fn exception_filters(&self) -> Vec<(String, String, bool)> {
        self.inner.offered_filters()
    }
}
