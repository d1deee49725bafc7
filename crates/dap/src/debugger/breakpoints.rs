//! Breakpoints: kept for all sessions, sent to those that are open.

use std::path::{Path, PathBuf};

use termbridge_foreign_files::{folder_of, off_worker};

use super::Debugger;
use crate::adapter::AdapterKind;
use crate::breakpoint::{
    Breakpoint, BreakpointGroup, BreakpointInfo, BreakpointPlace, BreakpointState, check, file_key,
};
use crate::error::DebugError;
use crate::session::DebugSession;

impl Debugger {
    /// Sets a breakpoint, replacing the one at that place; waits for what open sessions make of it.
    pub async fn set_breakpoint(
        &self,
        mut breakpoint: Breakpoint,
    ) -> Result<BreakpointInfo, DebugError> {
        if let BreakpointPlace::Data { .. } = breakpoint.place {
            return self.session(None)?.set_data_breakpoint(breakpoint).await;
        }
        self.check_supported(&breakpoint.place)?;
        check_hit_condition(&breakpoint)?;
        let folder = match &breakpoint.place {
            BreakpointPlace::Line { path, .. } => folder_of(path),
            _ => PathBuf::new(),
        };
        let checked = off_worker(folder, move || check(&mut breakpoint).map(|()| breakpoint)).await;
        let breakpoint = checked.map_err(|error| DebugError::Internal(error.to_string()))??;
        let key = self.context.breakpoints().set(breakpoint)?;
        self.place(&key.group()).await;
        let limit = self.context.settings.breakpoint_timeout;
        for session in self.open() {
            session.inner.wait_placed(&key, limit).await;
        }
        let kept = self.context.breakpoints().get(&key).cloned();
        let breakpoint = kept.ok_or_else(|| {
            DebugError::Aborted("the breakpoint was removed meanwhile".to_owned())
        })?;
        Ok(self.describe(&key, breakpoint))
    }

    /// Refuses what no open session can do.
    fn check_supported(&self, place: &BreakpointPlace) -> Result<(), DebugError> {
        let sessions = self.open();
        let mut refused = sessions.iter().map(|session| session.inner.refuses(place));
        match refused.next() {
            Some(Some(error)) if refused.all(|other| other.is_some()) => Err(error),
            _ => Ok(()),
        }
    }

    /// Removes a breakpoint; false when there is none.
    pub async fn remove_breakpoint(&self, place: &BreakpointPlace) -> bool {
        if let BreakpointPlace::Data { .. } = place {
            return self.remove_data(Some(place)).await > 0;
        }
        let key = place.key();
        let removed = self.context.breakpoints().remove(&key);
        if removed {
            self.place(&key.group()).await;
        }
        removed
    }

    /// Removes the breakpoints of a file; returns how many.
    pub async fn clear_file(&self, path: &Path) -> usize {
        self.clear_group(&BreakpointGroup::File(file_key(path))).await
    }

    /// Removes every breakpoint; returns how many.
    pub async fn clear_breakpoints(&self) -> usize {
        let groups = self.context.breakpoints().groups();
        let mut cleared = 0;
        for group in groups {
            cleared += self.clear_group(&group).await;
        }
        cleared + self.remove_data(None).await
    }

    /// Removes data breakpoints, those on an expression or all; returns how many.
    async fn remove_data(&self, place: Option<&BreakpointPlace>) -> usize {
        let mut removed = 0;
        for session in self.open() {
            removed += session.inner.remove_data(place).await;
        }
        removed
    }

    async fn clear_group(&self, group: &BreakpointGroup) -> usize {
        let cleared = self.context.breakpoints().clear(group);
        if cleared > 0 {
            self.place(group).await;
        }
        cleared
    }

    /// Every breakpoint and its true state: by file and line, then by function, then data.
    pub fn breakpoints(&self) -> Vec<BreakpointInfo> {
        let all = self.context.breakpoints().all().into_iter();
        let kept = all.map(|(key, breakpoint)| self.describe(&key, breakpoint));
        let data = self.open().into_iter().flat_map(|session| session.inner.data_breakpoints());
        kept.chain(data).collect()
    }

    /// Sends a group of breakpoints to every open session. A session that cannot take them says so
    /// in their state.
    async fn place(&self, group: &BreakpointGroup) {
        let _order = self.context.placing.lock().await;
        for session in self.open() {
            if let Err(error) = session.inner.place_everywhere(group).await {
                tracing::warn!(session = %session.id(), %error, "breakpoints were not sent");
            }
        }
    }

    fn open(&self) -> Vec<DebugSession> {
        self.sessions().into_iter().filter(|session| !session.is_ended()).collect()
    }

    fn describe(&self, key: &BreakpointPlace, breakpoint: Breakpoint) -> BreakpointInfo {
        let sessions = self.open();
        let placed = sessions.iter().filter_map(|session| session.inner.placed(key));
        let Some(placed) = placed.max_by_key(|placed| placed.verified) else {
            let message = if sessions.is_empty() {
                "no debug session is open; it is set when one starts"
            } else if !sessions.iter().any(|session| session.inner.adapter.may_have(key)) {
                "no program of its language is being debugged; it is set when one starts"
            } else {
                "no open debug session has taken it"
            };
            let message = self.failure_of(&breakpoint).unwrap_or_else(|| message.to_owned());
            let (state, message) = (BreakpointState::Pending, Some(message));
            return BreakpointInfo { breakpoint, state, message, location: None };
        };
        let is_asked = |line: u64| match &breakpoint.place {
            BreakpointPlace::Line { line: asked, .. } => line == *asked,
            BreakpointPlace::Function { .. } | BreakpointPlace::Data { .. } => true,
        };
        let state = match (placed.verified, placed.line) {
            (true, Some(line)) if !is_asked(line) => BreakpointState::Moved { line },
            (true, _) => BreakpointState::Verified,
            (false, _) => BreakpointState::Pending,
        };
        let location = match breakpoint.place {
            BreakpointPlace::Function { .. } => placed.path.zip(placed.line),
            BreakpointPlace::Line { .. } | BreakpointPlace::Data { .. } => None,
        };
        let message = self.failure_of(&breakpoint).or(placed.message);
        BreakpointInfo { breakpoint, state, message, location }
    }

    fn failure_of(&self, breakpoint: &Breakpoint) -> Option<String> {
        let condition = breakpoint.condition.as_ref()?;
        let store = self.context.breakpoints();
        Some(format!("its condition cannot be evaluated: {}", store.failure(condition)?))
    }
}

/// Refuses a hit condition that no adapter understands which may take the breakpoint.
fn check_hit_condition(breakpoint: &Breakpoint) -> Result<(), DebugError> {
    let Some(hits) = &breakpoint.hit_condition else { return Ok(()) };
    let adapters = AdapterKind::ALL.into_iter().filter(|kind| kind.may_have(&breakpoint.place));
    let mut answers = adapters.map(|kind| kind.quirks().hit_condition(hits));
    match answers.next() {
        Some(Err(why)) if answers.all(|answer| answer.is_err()) => {
            Err(DebugError::InvalidParams(why))
        }
        _ => Ok(()),
    }
}

impl DebugSession {
    /// Watches what an expression stands for in the frame of the latest stop, until the session ends.
    pub async fn set_data_breakpoint(
        &self,
        breakpoint: Breakpoint,
    ) -> Result<BreakpointInfo, DebugError> {
        self.inner.set_data(breakpoint).await
    }

    /// The exception filters that the adapter offers: name, label, whether it is on by default.
    pub fn exception_filters(&self) -> Vec<(String, String, bool)> {
        self.inner.offered_filters()
    }
}
