//! Commands that only the history has: their session is gone, or keeps them no longer.

use std::time::Duration;

use termbridge_session::{CommandReport, CommandState, SessionId};
use termbridge_store::{Entry, State};

use crate::error::BridgeError;
use crate::hub::Bridge;
use crate::transcript::{OutputPage, Select, text_page};

/// A command's name in the history.
pub(crate) fn entry_id(session: &SessionId, command: u64) -> String {
    format!("{session}-{command}")
}

/// A command as the history kept it.
#[derive(Debug, Clone)]
pub struct Recorded {
    command: u64,
    entry: Entry,
}

impl Recorded {
    /// What it printed, as far as it was kept.
    pub fn page(&self, select: Select<'_>) -> Result<OutputPage, BridgeError> {
        let run = &self.entry.run;
        let state = match (run.state, run.exit_code) {
            (State::Done, Some(exit_code)) => CommandState::Done { exit_code },
            _ => CommandState::Lost,
        };
        let duration = Duration::from_millis(run.duration_ms.unwrap_or_default());
        let report = CommandReport::new(self.command, run.command.as_str());
        let report = CommandReport { state, duration, ..report };
        let page = text_page(&self.entry.output.display(), select)?;
        Ok(OutputPage { command: Some(report), ..page })
    }
}

impl Bridge {
    /// What the history has of a command that no session has; `None` when one does, or nobody.
    pub async fn recorded(
        &self,
        session: &SessionId,
        command: u64,
    ) -> Result<Option<Recorded>, BridgeError> {
        let kept = self.backend().command(session, command, 0, 0).await;
        let (false, Some(history)) = (matches!(kept, Ok(Some(_))), &self.shared.history) else {
            return Ok(None);
        };
        let entry = history.get(entry_id(session, command)).await?;
        Ok(entry.map(|entry| Recorded { command, entry }))
    }
}
