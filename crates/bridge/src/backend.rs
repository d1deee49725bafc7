//! What a terminal has to offer so that agents can run commands in it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use termbridge_session::{
    CommandReport, Fired, NewCommand, Owner, Scrollback, SessionError, SessionId, SessionInfo,
    SessionLimits, State, Waited,
};

use tokio::sync::watch;

use crate::caller::Environment;
use crate::screens::Screens;

/// Whose sessions are asked for.
pub type OwnerFilter<'a> = &'a (dyn Fn(&Owner) -> bool + Send + Sync);

/// Shells that run one command at a time and tell where each ends.
///
/// Commands of a session are numbered from 1. Their output is bytes that only grow, so a reader asks
/// for a range and gets what there is. Implementations answer every call in bounded time; only
/// [`wait_command`](Self::wait_command) and [`start_command`](Self::start_command) wait, and only as
/// long as they are told.
///
/// See `examples/custom_backend.rs` of the `termbridge-mcp` crate for one that is not a terminal at all.
#[async_trait]
pub trait TerminalBackend: Send + Sync + 'static {
    /// Starts a shell; it need not have shown its prompt yet.
    async fn create_session(&self, session: NewSession) -> Result<SessionInfo, SessionError>;

    /// All sessions in the order of their start, ended ones that can still be read included.
    async fn list_sessions(&self) -> Result<Vec<SessionInfo>, SessionError>;

    /// The same for the sessions of some owners only; a backend that can should not ask the others.
    async fn list_sessions_of(
        &self,
        is_wanted: OwnerFilter<'_>,
    ) -> Result<Vec<SessionInfo>, SessionError> {
        let mut all = self.list_sessions().await?;
        all.retain(|info| is_wanted(&info.owner));
        Ok(all)
    }

    /// One session.
    async fn session(&self, id: &SessionId) -> Result<SessionInfo, SessionError>;

    /// Gives an idle shell a command and returns the command's number. A shell that has only just
    /// been started gets `patience` to become ready; one that runs a command is
    /// [`SessionError::ShellBusy`].
    async fn start_command(
        &self,
        id: &SessionId,
        command: &str,
        patience: Duration,
    ) -> Result<u64, SessionError>;

    /// The same for a command with its key, by which it can be found again ([`keyed_command`](Self::keyed_command)), and
    /// its setup. A backend whose sessions do not outlive the server needs no keys. It gets setups only if it
    /// [takes](Self::takes_setups) them.
    async fn start_new_command(
        &self,
        id: &SessionId,
        command: NewCommand,
        patience: Duration,
    ) -> Result<u64, SessionError> {
        self.start_command(id, &command.text, patience).await
    }

    /// Whether a command can have a directory and variables of its own.
    fn takes_setups(&self) -> bool {
        false
    }

    /// The command that a request of this name started, at this server or an earlier one.
    async fn keyed_command(&self, _key: &str) -> Result<Option<(SessionId, u64)>, SessionError> {
        Ok(None)
    }

    /// Waits for the command, at most `timeout`, after which it goes on.
    async fn wait_command(
        &self,
        id: &SessionId,
        command: u64,
        awaited: Awaited,
        timeout: Duration,
    ) -> Result<Until, SessionError>;

    /// Waits until the command is over or waits for someone to type, at most `timeout`. A backend that knows the command
    /// at that moment returns its report as well, with at most `max_bytes` of its output.
    async fn wait_report(
        &self,
        id: &SessionId,
        command: u64,
        timeout: Duration,
        _max_bytes: u64,
    ) -> Result<CommandWait, SessionError> {
        let until = self.wait_command(id, command, Awaited::EndOrInput, timeout).await?;
        Ok(CommandWait { until, report: None })
    }

    /// Waits until something is printed after [`SessionInfo::printed`] was `printed`, or until
    /// `command`, where there is one, is over or waits for someone to type and no earlier call has told
    /// so; at most `timeout`. Without any time it tells how the command stands.
    ///
    /// A backend that does not count what is printed waits for the command alone.
    async fn wait_output(
        &self,
        id: &SessionId,
        command: Option<u64>,
        _printed: u64,
        timeout: Duration,
    ) -> Result<Until, SessionError> {
        match command {
            Some(command) => self.wait_command(id, command, Awaited::EndOrInput, timeout).await,
            None => Ok(Until::TimedOut),
        }
    }

    /// What is known of a command, with at most `most` bytes of its output from `from` on; `None`
    /// when there is no such command, or no longer.
    async fn command(
        &self,
        id: &SessionId,
        command: u64,
        from: u64,
        most: u64,
    ) -> Result<Option<CommandReport>, SessionError>;

    /// What background jobs printed after a command and before the next, in the same form; `None`
    /// when there is nothing of it.
    async fn background(
        &self,
        _id: &SessionId,
        _after: u64,
        _from: u64,
        _most: u64,
    ) -> Result<Option<CommandReport>, SessionError> {
        Ok(None)
    }

    /// The last `lines` lines that the terminal shows, history included.
    async fn terminal_text(&self, id: &SessionId, lines: usize)
    -> Result<Scrollback, SessionError>;

    /// Interrupts a command as Ctrl+C does; one that is over is left alone, and so is its successor.
    async fn interrupt(&self, id: &SessionId, command: u64) -> Result<(), SessionError>;

    /// Ends a session whose shell waits for a command and in which nothing else runs, and returns
    /// when it has ended; false if it goes on. A backend that ends none by itself keeps the default.
    async fn end_idle_session(&self, _id: &SessionId) -> Result<bool, SessionError> {
        Ok(false)
    }

    /// Whether the output of this shell, given by name or path, can be read in its sessions.
    fn can_read(&self, _shell: &str) -> bool {
        true
    }

    /// Brings a session to the eyes of people, where they can see it. Nothing to do by default.
    async fn show_session(&self, _id: &SessionId) -> Result<(), SessionError> {
        Ok(())
    }

    /// Changes with every change in what a list of the sessions would show; `None` where that is not known.
    fn changes(&self) -> Option<watch::Receiver<u64>> {
        None
    }

    /// What a session's place is called in lists, and by what a new one asks for it.
    #[expect(clippy::unnecessary_literal_bound, reason = "others may name a machine of theirs")]
    fn target(&self) -> &str {
        "local"
    }

    /// Whether a session is one of its own. Where several backends stand side by side, it is asked with every call, so
    /// it must not wait; a backend that stands alone can keep the default.
    fn has(&self, _id: &SessionId) -> bool {
        true
    }

    /// Whether the sessions are on this machine: their directories, programs and process ids are ours to look at.
    fn is_local(&self) -> bool {
        false
    }

    /// The screens of the sessions, if they have any: the tools that type keys and show screens are offered only with
    /// them.
    fn screens(&self) -> Option<&dyn Screens> {
        None
    }
}

/// A shell to start.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NewSession {
    /// The shell, by name or path.
    pub shell: String,
    /// The caller requested this shell: a backend that cannot choose the shell refuses.
    pub is_shell_requested: bool,
    /// Where.
    pub cwd: PathBuf,
    /// Variables beside those of `environment`.
    pub env: BTreeMap<String, String>,
    /// All other variables; the server's own by default.
    pub environment: Option<Arc<Environment>>,
    /// Name for people.
    pub name: Option<String>,
    /// Whose it is.
    pub owner: Owner,
    /// The project it belongs to.
    pub project: Option<String>,
    /// Commands go into the shell's own history, as if a person had typed them.
    pub keep_history: bool,
    /// Columns and rows; 120×40 by default.
    pub size: Option<(u16, u16)>,
    /// Where its caller works, where that is known: an editor that has it open is preferred.
    pub workspace: Option<PathBuf>,
    /// What it is held to beside the server's settings.
    pub limits: SessionLimits,
    /// Which backend makes it, by its [`target`](TerminalBackend::target); the first by default.
    pub target: Option<String>,
}

/// What a wait for a command is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Awaited {
    /// Its end.
    End,
    /// Its end, or that it waits for someone to type.
    EndOrInput,
}

/// Why a wait for a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// The command is over.
    Over,
    /// It waits for someone to type; not shown when `echo` is off, so a password.
    NeedsInput {
        /// Whether what is typed shows.
        echo: bool,
    },
    /// A program in raw mode waits for keys.
    Interactive {
        /// It may be at work where that cannot be seen.
        uncertain: bool,
    },
    /// Something was printed; it goes on.
    Printed,
    /// Time ran out; it goes on.
    TimedOut,
}

/// How a wait for a command ended.
#[derive(Debug, Clone)]
pub struct CommandWait {
    /// Why.
    pub until: Until,
    /// The command at that moment, if the backend knows it.
    pub report: Option<CommandReport>,
}

impl From<Waited> for Until {
    /// How a wait for a command ended.
    fn from(waited: Waited) -> Self {
        let of_command = |fired: Option<Fired>| match fired {
            Some(Fired::NeedsInput { echo }) => Some(Self::NeedsInput { echo }),
            Some(Fired::Interactive { uncertain }) => Some(Self::Interactive { uncertain }),
            _ => None,
        };
        match (waited.fired, waited.state) {
            (Some(Fired::Printed), _) => Self::Printed,
            (None | Some(Fired::Surveyed), State::Running) => {
                of_command(waited.told).unwrap_or(Self::TimedOut)
            }
            (fired, _) => of_command(fired).unwrap_or(Self::Over),
        }
    }
}
