//! The native backend: shells on real terminals of our own.

use std::time::Duration;

use async_trait::async_trait;
use termbridge_session::{
    CommandReport, Launch, NewCommand, Scrollback, SessionError, SessionId, SessionInfo, Sessions,
    SnapshotRequest, Wait,
};

use tokio::sync::watch;

use crate::backend::{Awaited, CommandWait, NewSession, OwnerFilter, TerminalBackend, Until};
use crate::screens::Screens;

/// How long a shell may take to its first prompt; who asks says how long they wait.
const START_LIMIT: Duration = Duration::from_mins(5);

/// How long a shell may take to end: its grace, and then it is killed.
const END_LIMIT: Duration = Duration::from_secs(5);

/// Shells on real terminals.
#[derive(Clone)]
pub struct NativeBackend {
    sessions: Sessions,
}

impl NativeBackend {
    /// Shells among these sessions.
    pub fn new(sessions: Sessions) -> Self {
        Self { sessions }
    }

    async fn wait(&self, id: &SessionId, wait: Wait) -> Result<Until, SessionError> {
        Ok(self.sessions.get(id)?.wait(wait).await?.into())
    }
}

/// How long the kernel may take to say how a command stands.
const LOOK_LIMIT: Duration = Duration::from_secs(1);

#[async_trait]
impl TerminalBackend for NativeBackend {
    async fn create_session(&self, new: NewSession) -> Result<SessionInfo, SessionError> {
        let mut launch = Launch::shell(new.shell).cwd(new.cwd).keep_history(new.keep_history);
        launch = launch.start_limit(START_LIMIT);
        if let Some((cols, rows)) = new.size {
            launch = launch.size(cols, rows);
        }
        if let Some(environment) = new.environment {
            launch = launch.base_environment(environment);
        }
        for (name, value) in new.env {
            launch = launch.env(name, value);
        }
        if let Some(name) = new.name {
            launch = launch.name(name);
        }
        launch = launch.owner(new.owner).limits(new.limits);
        if let Some(project) = new.project {
            launch = launch.project(project);
        }
        self.sessions.launch(launch).await?.info().await
    }

    async fn list_sessions(&self) -> Result<Vec<SessionInfo>, SessionError> {
        Ok(self.sessions.list().await)
    }

    async fn list_sessions_of(
        &self,
        is_wanted: OwnerFilter<'_>,
    ) -> Result<Vec<SessionInfo>, SessionError> {
        Ok(self.sessions.list_of(is_wanted).await)
    }

    async fn session(&self, id: &SessionId) -> Result<SessionInfo, SessionError> {
        self.sessions.get(id)?.info().await
    }

    async fn start_command(
        &self,
        id: &SessionId,
        command: &str,
        patience: Duration,
    ) -> Result<u64, SessionError> {
        self.sessions.get(id)?.submit_within(command, patience).await
    }

    async fn start_new_command(
        &self,
        id: &SessionId,
        command: NewCommand,
        patience: Duration,
    ) -> Result<u64, SessionError> {
        self.sessions.get(id)?.submit_new(command, patience).await
    }

    fn takes_setups(&self) -> bool {
        true
    }

    async fn keyed_command(&self, key: &str) -> Result<Option<(SessionId, u64)>, SessionError> {
        for session in self.sessions.all() {
            // One that ends while it is asked has none.
            if let Ok(Some(command)) = session.keyed(key).await {
                return Ok(Some((session.id().clone(), command)));
            }
        }
        Ok(None)
    }

    async fn wait_command(
        &self,
        id: &SessionId,
        command: u64,
        awaited: Awaited,
        timeout: Duration,
    ) -> Result<Until, SessionError> {
        self.wait(id, wait_for(command, awaited).timeout(timeout)).await
    }

    async fn wait_report(
        &self,
        id: &SessionId,
        command: u64,
        timeout: Duration,
        max_bytes: u64,
    ) -> Result<CommandWait, SessionError> {
        let wait = wait_for(command, Awaited::EndOrInput);
        let wait = Wait { report_bytes: Some(max_bytes), ..wait };
        let mut waited = self.sessions.get(id)?.wait(wait.timeout(timeout)).await?;
        let report = waited.command.take().map(|report| *report);
        Ok(CommandWait { until: waited.into(), report })
    }

    async fn wait_output(
        &self,
        id: &SessionId,
        command: Option<u64>,
        printed: u64,
        timeout: Duration,
    ) -> Result<Until, SessionError> {
        let waits_for_end = command.is_none() && printed == u64::MAX;
        let wait = Wait {
            command,
            // A line that was typed into a shell is over when the shell shows its prompt.
            prompt: waits_for_end && self.session(id).await?.shell.is_some(),
            needs_input: command.is_some(),
            interactive: command.is_some(),
            news_only: true,
            printed_after: Some(printed).filter(|_| !timeout.is_zero()),
            surveyed: timeout.is_zero(),
            ..Wait::default()
        };
        self.wait(id, wait.timeout(if timeout.is_zero() { LOOK_LIMIT } else { timeout })).await
    }

    async fn command(
        &self,
        id: &SessionId,
        command: u64,
        from: u64,
        most: u64,
    ) -> Result<Option<CommandReport>, SessionError> {
        self.sessions.get(id)?.command(command, from, most).await
    }

    async fn background(
        &self,
        id: &SessionId,
        after: u64,
        from: u64,
        most: u64,
    ) -> Result<Option<CommandReport>, SessionError> {
        self.sessions.get(id)?.background(after, from, most).await
    }

    async fn terminal_text(
        &self,
        id: &SessionId,
        lines: usize,
    ) -> Result<Scrollback, SessionError> {
        let request = SnapshotRequest { since: None, scrollback: Some(lines) };
        let snapshot = self.sessions.get(id)?.snapshot(request).await?;
        Ok(snapshot.scrollback.unwrap_or_default())
    }

    async fn interrupt(&self, id: &SessionId, command: u64) -> Result<(), SessionError> {
        self.sessions.get(id)?.interrupt(command).await.map(drop)
    }

    async fn end_idle_session(&self, id: &SessionId) -> Result<bool, SessionError> {
        let session = self.sessions.get(id)?;
        if !session.end_if_idle().await? {
            return Ok(false);
        }
        Ok(session.wait(Wait::exit().timeout(END_LIMIT)).await?.fired.is_some())
    }

    fn has(&self, id: &SessionId) -> bool {
        self.sessions.get(id).is_ok()
    }

    fn changes(&self) -> Option<watch::Receiver<u64>> {
        Some(self.sessions.changes())
    }

    fn is_local(&self) -> bool {
        true
    }

    fn screens(&self) -> Option<&dyn Screens> {
        Some(&self.sessions)
    }
}

fn wait_for(command: u64, awaited: Awaited) -> Wait {
    let input = awaited == Awaited::EndOrInput;
    Wait { command: Some(command), needs_input: input, interactive: input, ..Wait::default() }
}
