//! [`Bridge`]: the backends, and what is the same for all of them.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use termbridge_foreign_files::off_worker;
use termbridge_policy::{Dialect, Policy};
use termbridge_session::{
    CommandReport, Launch, Owner, Scrollback, SessionError, SessionId, SessionInfo, State,
};
use termbridge_store::{Page, Query};
use tokio::sync::{broadcast, watch};

use crate::agents::{Agents, NameClaim, Room, check_name};
use crate::backend::{NewSession, TerminalBackend};
use crate::backends::{BackendIndex, Backends, Listed};
use crate::caller::{Access, Caller};
use crate::checks::check_variables;
use crate::debug::{DebugSettings, Debuggers};
use crate::directories;
use crate::error::BridgeError;
use crate::folder_limits::RoomLimits;
use crate::follower::UnrecordedEnds;
use crate::guard::Guard;
use crate::history::{HistoryLog, HistoryPlace};
use crate::pausing::PausedClients;
use crate::screens::{ScreenHandle, ScreenSession};
use crate::settings::BridgeSettings;

/// How long the ends of the last commands may take to be recorded.
const LAST_ENDS: Duration = Duration::from_secs(1);
/// Sessions that were shown and not yet seen.
const SHOWN: usize = 64;
/// Sessions that an error names.
const MAX_NAMED: usize = 10;

/// The hub between agents and terminals. Clones are the same hub.
#[derive(Clone)]
pub struct Bridge {
    pub(crate) shared: Arc<Shared>,
}

pub(crate) struct Shared {
    pub(crate) backends: Backends,
    pub(crate) settings: BridgeSettings,
    pub(crate) guard: Guard,
    pub(crate) agents: Agents,
    pub(crate) history: Option<HistoryLog>,
    pub(crate) unrecorded: UnrecordedEnds,
    /// Sessions that agents make their current ones.
    pub(crate) shown: broadcast::Sender<SessionId>,
    pub(crate) paused: PausedClients,
}

impl Bridge {
    /// A hub over a backend, without history when `history` is `None`.
    pub fn new(
        backend: Arc<dyn TerminalBackend>,
        settings: BridgeSettings,
        policy: Policy,
        history: Option<HistoryPlace>,
    ) -> Self {
        Self::over(Backends::one(backend), settings, policy, history)
    }

    /// A hub over several backends side by side: sessions are made at the first, unless they name another, and found at
    /// the one that has them. `None` without a backend.
    pub fn with_backends(
        backends: Vec<Arc<dyn TerminalBackend>>,
        settings: BridgeSettings,
        policy: Policy,
        history: Option<HistoryPlace>,
    ) -> Option<Self> {
        Some(Self::over(Backends::several(backends)?, settings, policy, history))
    }

    fn over(
        backends: Backends,
        settings: BridgeSettings,
        policy: Policy,
        history: Option<HistoryPlace>,
    ) -> Self {
        let guard = Guard::new(policy, settings.home.clone());
        let history = history.map(HistoryLog::new);
        let (agents, unrecorded) = (Agents::default(), UnrecordedEnds::default());
        let shown = broadcast::Sender::new(SHOWN);
        let paused = PausedClients::default();
        let shared =
            Shared { backends, settings, guard, agents, history, unrecorded, shown, paused };
        Self { shared: Arc::new(shared) }
    }

    pub(crate) fn backends(&self) -> &Backends {
        &self.shared.backends
    }

    /// What a session is at.
    pub(crate) fn backend_of(&self, id: &SessionId) -> &dyn TerminalBackend {
        self.shared.backends.of(id)
    }

    /// Whether any session can have a screen.
    pub fn has_screens(&self) -> bool {
        self.backends().have_screens()
    }

    /// Whether a session can be seen and typed to.
    pub fn shows_screen(&self, id: &SessionId) -> bool {
        self.backend_of(id).screens().is_some()
    }

    /// Changes when a list of sessions does, for each backend that reports it, and when an agent is paused.
    pub fn changes(&self) -> Vec<watch::Receiver<u64>> {
        let backends = self.backends().all().filter_map(TerminalBackend::changes);
        backends.chain([self.shared.paused.changes()]).collect()
    }

    /// The sessions that agents make their current ones, as they do.
    pub fn shown(&self) -> broadcast::Receiver<SessionId> {
        self.shared.shown.subscribe()
    }

    /// What the place of a session is called.
    pub fn target_of(&self, id: &SessionId) -> &str {
        self.backend_of(id).target()
    }

    /// Debugging under the same policy, each caller's in its own workspace; programs' terminals are sessions of this
    /// hub. `reserved` are the names of tools that a workspace's own cannot take.
    pub fn debuggers(&self, settings: DebugSettings, reserved: &[&str]) -> Debuggers {
        Debuggers::new(self.clone(), settings, reserved)
    }

    /// Counts a call of an agent, or refuses it.
    pub fn admit(&self, caller: &Caller) -> Result<(), BridgeError> {
        self.shared.guard.call(caller)
    }

    /// A launch that may run, in the directory that was checked. Links such as `/proc/self/cwd` lead elsewhere in
    /// another process.
    pub async fn allowed_launch(
        &self,
        caller: &Caller,
        launch: Launch,
    ) -> Result<Launch, BridgeError> {
        let mut launch = of_caller(&self.shared.settings, caller, launch);
        let cwd = launch.directory();
        if self.shared.guard.limits_directories(&cwd, caller) {
            launch = launch.cwd(directories::resolved(cwd).await?);
        }
        let (bridge, caller) = (self.clone(), caller.clone());
        let folder = launch.directory();
        let check = move || bridge.check_launch(&caller, &launch).map(|()| launch);
        off_worker(folder, check).await?
    }

    /// Whether a program may be launched. Looks at files: async code calls [`Self::allowed_launch`].
    pub fn check_launch(&self, caller: &Caller, launch: &Launch) -> Result<(), BridgeError> {
        let (guard, cwd) = (
            &self.shared.guard,
            of_caller(&self.shared.settings, caller, launch.clone()).directory(),
        );
        check_variables(launch.variables())?;
        guard.program(&launch.words(), &cwd, caller)?;
        let dialect = Dialect::of(&launch.words()[0]);
        launch
            .variables()
            .try_for_each(|(name, value)| guard.variable((&name, &value), dialect, &cwd, caller))
    }

    /// Makes a session and makes it the agent's current one. What is left empty is the default. A name
    /// is given once among the agent's living sessions.
    pub async fn create_session(
        &self,
        caller: &Caller,
        new: NewSession,
    ) -> Result<SessionInfo, BridgeError> {
        let _name = match &new.name {
            Some(name) => Some(self.claim_name(caller, name).await?),
            None => None,
        };
        self.create_labelled(caller, new).await
    }

    /// The same where the name is a mere label: several sessions may have it.
    pub async fn create_labelled(
        &self,
        caller: &Caller,
        mut new: NewSession,
    ) -> Result<SessionInfo, BridgeError> {
        new.name.iter().try_for_each(|name| check_name(name))?;
        let shared = &*self.shared;
        new.owner = caller.owner();
        new.environment = caller.environment().cloned();
        new.is_shell_requested = !new.shell.is_empty();
        if new.shell.is_empty() {
            new.shell.clone_from(&shared.settings.shell);
        }
        let shell = Some(new.shell.as_str()).filter(|_| new.is_shell_requested);
        let at = self.backends().target_for_shell(new.target.as_deref(), shell)?;
        new.cwd = self.directory(caller, &new.cwd, None, at).await?;
        self.check_directory(&new.cwd, caller).await?;
        let limits = RoomLimits::of(&shared.guard, caller, &new.cwd);
        limits.check(self.backends(), caller).await?;
        new.limits = limits.sessions;
        let dialect = Dialect::of(&new.shell);
        self.check_session(caller, Some(&new.shell), dialect, &new.env, &new.cwd).await?;
        new.keep_history = shared.settings.keep_shell_history;
        new.workspace = Some(shared.settings.start_folder(caller).to_owned());
        let asked = new.env.clone();
        new.env = shared.settings.env.clone();
        new.env.extend(asked.clone());
        let mut room = Room::new(&shared.agents, self.backends(), at, Duration::MAX);
        loop {
            let made = shared
                .agents
                .create(self.backends(), at, caller, new.clone(), asked.clone(), false)
                .await;
            match made {
                Err(SessionError::TooManySessions { .. }) if room.make().await => {}
                made => return Ok(made?.0),
            }
        }
    }

    /// Keeps a name for a session that is being made, if no living one of the agent has it.
    async fn claim_name(&self, caller: &Caller, name: &str) -> Result<NameClaim, BridgeError> {
        check_name(name)?;
        self.shared.agents.claim(self.backends(), caller, name).await
    }

    /// Launches a program among the sessions that screens are shown of; idle shells make room.
    pub async fn launch(
        &self,
        caller: &Caller,
        launch: Launch,
    ) -> Result<ScreenHandle, BridgeError> {
        self.launch_target(caller, launch, None).await
    }

    /// The same at a target.
    pub async fn launch_target(
        &self,
        caller: &Caller,
        launch: Launch,
        target: Option<&str>,
    ) -> Result<ScreenHandle, BridgeError> {
        let at = self.backends().target(target)?;
        let _name = match launch.named() {
            Some(name) => Some(self.claim_name(caller, name).await?),
            None => None,
        };
        let session = self.launch_at(at, caller, launch).await?;
        Ok(ScreenHandle::new(session))
    }

    pub(crate) async fn launch_at(
        &self,
        at: BackendIndex,
        caller: &Caller,
        launch: Launch,
    ) -> Result<Arc<dyn ScreenSession>, BridgeError> {
        let launch = of_caller(&self.shared.settings, caller, launch).owner(caller.owner());
        let limits = RoomLimits::of(&self.shared.guard, caller, &launch.directory());
        limits.check(self.backends(), caller).await?;
        let launch = launch.limits(limits.sessions);
        let screens = self.backends().get(at).screens().ok_or(BridgeError::NoScreens)?;
        let mut room = Room::new(&self.shared.agents, self.backends(), at, Duration::MAX);
        loop {
            match screens.launch(launch.clone()).await {
                Err(SessionError::TooManySessions { .. }) if room.make().await => {}
                launched => {
                    let session = launched?;
                    self.backends().check_new(at, session.id())?;
                    return Ok(session);
                }
            }
        }
    }

    /// Makes a session the agent's current one.
    pub async fn switch_session(
        &self,
        caller: &Caller,
        id: &SessionId,
    ) -> Result<SessionInfo, BridgeError> {
        let info = self.session(caller, id).await?;
        if info.state != State::Running || info.stopping {
            let living = self.living_shells(caller).await?;
            return Err(BridgeError::NotAlive { session: id.clone(), living });
        }
        if info.shell.is_none() {
            return Err(SessionError::TakesNoCommands(id.clone()).into());
        }
        self.shared.agents.set_current(caller, id.clone());
        self.backend_of(id).show_session(id).await?;
        // Nobody may be there to see it.
        let _ = self.shared.shown.send(id.clone());
        Ok(info)
    }

    /// The shells that an agent may use, by id and name.
    async fn living_shells(&self, caller: &Caller) -> Result<String, BridgeError> {
        let mine =
            self.sessions(caller).await?.sessions.into_iter().filter(|info| {
                info.state == State::Running && !info.stopping && info.shell.is_some()
            });
        let row = |info: SessionInfo| match info.name {
            Some(name) => format!("{} ({name})", info.id),
            None => info.id.to_string(),
        };
        let rows: Vec<String> = mine.take(MAX_NAMED).map(row).collect();
        Ok(if rows.is_empty() { "none".to_owned() } else { rows.join(", ") })
    }

    /// A session that a caller names, if it may use it.
    pub async fn session(
        &self,
        caller: &Caller,
        id: &SessionId,
    ) -> Result<SessionInfo, BridgeError> {
        let info = self.backend_of(id).session(id).await?;
        check_access(caller, id, &info.owner)?;
        Ok(info)
    }

    /// The terminal of a session that a caller names, if it may use it.
    pub fn screen(&self, caller: &Caller, id: &SessionId) -> Result<ScreenHandle, BridgeError> {
        let screens = self.backend_of(id).screens().ok_or(BridgeError::NoScreens)?;
        let session = screens.get(id)?;
        check_access(caller, id, session.owner())?;
        Ok(ScreenHandle::new(session))
    }

    /// The sessions that a caller may use.
    pub async fn sessions(&self, caller: &Caller) -> Result<Listed, BridgeError> {
        Ok(self.backends().list_own(caller).await?)
    }

    /// What is known of a command of a session that a caller names, with at most `most` bytes of its output from
    /// `from` on; `None` when there is no such command, or no longer.
    pub async fn command(
        &self,
        caller: &Caller,
        id: &SessionId,
        command: u64,
        from: u64,
        most: u64,
    ) -> Result<Option<CommandReport>, BridgeError> {
        self.check_caller(caller, id).await?;
        Ok(self.backend_of(id).command(id, command, from, most).await?)
    }

    /// Interrupts a command of a session that a caller names.
    pub async fn interrupt(
        &self,
        caller: &Caller,
        id: &SessionId,
        command: u64,
    ) -> Result<(), BridgeError> {
        self.check_caller(caller, id).await?;
        Ok(self.backend_of(id).interrupt(id, command).await?)
    }

    /// The last `lines` lines of the terminal of a session that a caller names, history included.
    pub async fn terminal_text(
        &self,
        caller: &Caller,
        id: &SessionId,
        lines: usize,
    ) -> Result<Scrollback, BridgeError> {
        self.check_caller(caller, id).await?;
        Ok(self.backend_of(id).terminal_text(id, lines).await?)
    }

    /// Refuses a session that is not the caller's. Where there is a screen, nobody has to be asked for that.
    async fn check_caller(&self, caller: &Caller, id: &SessionId) -> Result<(), BridgeError> {
        match self.backend_of(id).screens() {
            Some(screens) => check_access(caller, id, screens.get(id)?.owner()),
            None => self.session(caller, id).await.map(drop),
        }
    }

    /// The session with this id, or else the one that the agent used last.
    pub async fn named_or_last(
        &self,
        caller: &Caller,
        id: Option<&SessionId>,
    ) -> Result<SessionInfo, BridgeError> {
        match id {
            Some(id) => self.session(caller, id).await,
            None => {
                let id = self.shared.agents.last_used(caller);
                let id = id.ok_or(BridgeError::NoCurrentSession)?;
                Ok(self.backend_of(&id).session(&id).await?)
            }
        }
    }

    /// Notes that an agent has launched a program in a session, or typed to it.
    pub fn note_used(&self, caller: &Caller, id: &SessionId) {
        self.shared.agents.note_used(caller, id);
    }

    /// The current session of an agent.
    pub fn current(&self, caller: &Caller) -> Option<SessionId> {
        self.shared.agents.current(caller)
    }

    /// Searches what ran on behalf of the caller's principal.
    pub async fn search_history(
        &self,
        caller: &Caller,
        mut query: Query,
    ) -> Result<Page, BridgeError> {
        if !caller.client().is_admin {
            query.filter.principal = Some(caller.principal().to_owned());
        }
        self.ends_are_recorded().await;
        match &self.shared.history {
            Some(history) => history.search(query).await,
            None => Err(BridgeError::NoHistory),
        }
    }

    /// Writes what the history still has to write, after the backend has ended its sessions.
    pub async fn close(&self) {
        if let Some(history) = &self.shared.history {
            // How the commands ended that were cut off.
            self.all_ends_are_recorded(LAST_ENDS).await;
            history.close().await;
        }
    }

    /// A path in which `~` at the beginning is the home directory.
    pub fn expand_home(&self, caller: &Caller, path: &Path) -> PathBuf {
        match path.strip_prefix("~") {
            Ok(rest) => caller.home().unwrap_or(&self.shared.settings.home).join(rest),
            Err(_) => path.to_owned(),
        }
    }
}

/// Refuses a session of others; one of another principal is not there.
fn check_access(caller: &Caller, id: &SessionId, owner: &Owner) -> Result<(), BridgeError> {
    match caller.access(owner) {
        Access::Own => Ok(()),
        Access::Others => {
            let (session, has_agent_id) = (id.clone(), caller.agent().is_some());
            Err(BridgeError::Forbidden { session, has_agent_id })
        }
        Access::None => Err(SessionError::NotFound(id.clone()).into()),
    }
}

/// A launch from the caller's directory, or else from the server's, and with the caller's variables where it brings them.
fn of_caller(settings: &BridgeSettings, caller: &Caller, launch: Launch) -> Launch {
    let launch = launch.relative_to(settings.start_folder(caller));
    match caller.environment() {
        Some(environment) => launch.base_environment(Arc::clone(environment)),
        None => launch,
    }
}
