//! [`Bridge`]: a backend, and what is the same for all backends.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use termbridge_policy::{Dialect, Policy};
use termbridge_session::{Launch, Owner, Session, SessionError, SessionId, SessionInfo, State};
use termbridge_store::{Page, Query};
use tokio_util::task::TaskTracker;

use crate::agents::{Agents, Room};
use crate::backend::{NewSession, TerminalBackend};
use crate::caller::{Access, Caller};
use crate::debug::{DebugSettings, Debugging, NativeDebugger};
use crate::error::BridgeError;
use crate::guard::Guard;
use crate::history::{HistoryLog, HistoryPlace};
use crate::settings::BridgeSettings;

/// Variables that a call may set.
const MAX_VARIABLES: usize = 1000;
/// Bytes of their names and values.
const MAX_VARIABLE_BYTES: usize = 128 * 1024;
/// How long the ends of the last commands may take to be recorded.
const LAST_ENDS: Duration = Duration::from_secs(1);
/// Sessions that an error names.
const MAX_NAMED: usize = 10;

/// The hub between agents and terminals. Clones are the same hub.
#[derive(Clone)]
pub struct Bridge {
    pub(crate) shared: Arc<Shared>,
}

pub(crate) struct Shared {
    pub(crate) backend: Arc<dyn TerminalBackend>,
    pub(crate) settings: BridgeSettings,
    pub(crate) guard: Guard,
    pub(crate) agents: Agents,
    pub(crate) history: Option<HistoryLog>,
    /// Each sees to it that one command's end is recorded.
    pub(crate) followers: TaskTracker,
}

impl Bridge {
    /// A hub over a backend, without history when `history` is `None`.
    pub fn new(
        backend: Arc<dyn TerminalBackend>,
        settings: BridgeSettings,
        policy: Policy,
        history: Option<HistoryPlace>,
    ) -> Self {
        let guard = Guard::new(policy, settings.home.clone());
        let history = history.map(HistoryLog::new);
        let (agents, followers) = (Agents::default(), TaskTracker::new());
        let shared = Shared { backend, settings, guard, agents, history, followers };
        Self { shared: Arc::new(shared) }
    }

    /// What runs the commands.
    pub fn backend(&self) -> &dyn TerminalBackend {
        &*self.shared.backend
    }

    /// Debugging in a workspace, under the same policy; its programs' terminals are sessions of this
    /// hub. `reserved` are the names of tools that a workspace's own cannot take.
    pub fn debugging(&self, settings: DebugSettings, reserved: &[&str]) -> Debugging {
        let native = settings.native.clone();
        let native = NativeDebugger::new(self.clone(), settings.workspace.clone(), native);
        Debugging::new(settings, native, reserved)
    }

    /// Counts a call of an agent, or refuses it.
    pub fn admit(&self, caller: &Caller) -> Result<(), BridgeError> {
        self.shared.guard.call(caller.agent())
    }

    /// Whether a program may be launched.
    pub fn check_launch(&self, caller: &Caller, launch: &Launch) -> Result<(), BridgeError> {
        let agent = caller.agent();
        let (guard, cwd) = (&self.shared.guard, launch.directory());
        check_variables(launch.variables())?;
        guard.program(&launch.words(), &cwd, agent)?;
        let dialect = Dialect::of(&launch.words()[0]);
        launch
            .variables()
            .try_for_each(|(name, value)| guard.variable((&name, &value), dialect, &cwd, agent))
    }

    /// Makes a session and makes it the agent's current one. What is left empty is the default. A name
    /// is given once among the agent's living sessions.
    pub async fn create_session(
        &self,
        caller: &Caller,
        new: NewSession,
    ) -> Result<SessionInfo, BridgeError> {
        let _name = match &new.name {
            Some(name) => Some(self.shared.agents.claim(self.backend(), caller, name).await?),
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
        let (shared, agent) = (&*self.shared, caller.agent());
        new.owner = caller.owner();
        if new.shell.is_empty() {
            new.shell.clone_from(&shared.settings.shell);
        }
        new.cwd = self.directory(&new.cwd, None)?;
        shared.guard.directory(&new.cwd, agent)?;
        self.check_session(&new.shell, &new.env, &new.cwd, agent)?;
        new.keep_history = shared.settings.keep_shell_history;
        let asked = new.env.clone();
        new.env = shared.settings.env.clone();
        new.env.extend(asked.clone());
        let mut room = Room::new(&shared.agents, self.backend(), Duration::MAX);
        loop {
            let made = shared
                .agents
                .create(self.backend(), caller, new.clone(), asked.clone(), false)
                .await;
            match made {
                Err(SessionError::TooManySessions { .. }) if room.make().await => {}
                made => return Ok(made?.0),
            }
        }
    }

    /// Launches a program among the sessions that screens are shown of; idle shells make room.
    pub async fn launch(&self, caller: &Caller, launch: Launch) -> Result<Session, BridgeError> {
        let launch = launch.owner(caller.owner());
        let sessions = self.backend().screens().ok_or(BridgeError::NoScreens)?;
        let mut room = Room::new(&self.shared.agents, self.backend(), Duration::MAX);
        loop {
            match sessions.launch(launch.clone()).await {
                Err(SessionError::TooManySessions { .. }) if room.make().await => {}
                launched => return Ok(launched?),
            }
        }
    }

    /// What a session is made with may run things too: the shell has to be one, and its variables
    /// pass the policy.
    pub(crate) fn check_session(
        &self,
        shell: &str,
        env: &BTreeMap<String, String>,
        cwd: &Path,
        agent: Option<&str>,
    ) -> Result<(), BridgeError> {
        let (settings, guard) = (&self.shared.settings, &self.shared.guard);
        check_variables(env.iter())?;
        // With an allow list it has to be one of the system's: any file can be called `bash`.
        if !settings.is_shell(shell) || (guard.has_allow_list() && !settings.is_system_shell(shell))
        {
            return Err(BridgeError::NotAShell(shell.to_owned()));
        }
        let dialect = Dialect::of(shell);
        env.iter().try_for_each(|(name, value)| guard.variable((name, value), dialect, cwd, agent))
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
        self.backend().show_session(id).await?;
        Ok(info)
    }

    /// The shells that an agent may use, by id and name.
    async fn living_shells(&self, caller: &Caller) -> Result<String, BridgeError> {
        let all = self.backend().list_sessions().await?.into_iter();
        let mine = all.filter(|info| {
            let lives = info.state == State::Running && !info.stopping && info.shell.is_some();
            lives && caller.access(&info.owner) == Access::Own
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
        let info = self.backend().session(id).await?;
        check_access(caller, id, &info.owner)?;
        Ok(info)
    }

    /// The terminal of a session that a caller names, if it may use it.
    pub fn screen(&self, caller: &Caller, id: &SessionId) -> Result<Session, BridgeError> {
        let sessions = self.backend().screens().ok_or(BridgeError::NoScreens)?;
        let session = sessions.get(id)?;
        check_access(caller, id, session.owner())?;
        Ok(session)
    }

    /// The sessions that a caller may use.
    pub async fn sessions(&self, caller: &Caller) -> Result<Vec<SessionInfo>, BridgeError> {
        let mut all = self.backend().list_sessions().await?;
        all.retain(|info| caller.access(&info.owner) == Access::Own);
        Ok(all)
    }

    /// The session that was named, or else the agent's current one.
    pub async fn named_or_current(
        &self,
        caller: &Caller,
        id: Option<&SessionId>,
    ) -> Result<SessionInfo, BridgeError> {
        match id {
            Some(id) => self.session(caller, id).await,
            None => {
                let id = self.shared.agents.current(caller);
                let id = id.ok_or(BridgeError::NoCurrentSession)?;
                Ok(self.backend().session(&id).await?)
            }
        }
    }

    /// The current session of an agent.
    pub fn current(&self, caller: &Caller) -> Option<SessionId> {
        self.shared.agents.current(caller)
    }

    /// Searches the history.
    pub async fn search_history(&self, query: Query) -> Result<Page, BridgeError> {
        match &self.shared.history {
            Some(history) => history.search(query).await,
            None => Err(BridgeError::NoHistory),
        }
    }

    /// Writes what the history still has to write, after the backend has ended its sessions.
    pub async fn close(&self) {
        if let Some(history) = &self.shared.history {
            // How the commands ended that were cut off.
            self.shared.followers.close();
            let _ = tokio::time::timeout(LAST_ENDS, self.shared.followers.wait()).await;
            history.close().await;
        }
    }

    /// A path in which `~` at the beginning is the home directory.
    pub fn expand_home(&self, path: &Path) -> PathBuf {
        match path.strip_prefix("~") {
            Ok(rest) => self.shared.settings.home.join(rest),
            Err(_) => path.to_owned(),
        }
    }

    /// A directory as an agent writes it: `~`, relative to `base` or to where sessions start.
    pub(crate) fn directory(
        &self,
        path: &Path,
        base: Option<&Path>,
    ) -> Result<PathBuf, BridgeError> {
        let settings = &self.shared.settings;
        if path.as_os_str().is_empty() {
            return Ok(settings.cwd.clone());
        }
        let path = base.unwrap_or(&settings.cwd).join(self.expand_home(path));
        // Only what the backend's machine is ours to look at can be checked here.
        if self.backend().screens().is_some() && !path.is_dir() {
            let why = if path.exists() { "it is not a directory" } else { "it does not exist" };
            return Err(BridgeError::BadDirectory {
                cwd: path.display().to_string(),
                why: why.into(),
            });
        }
        Ok(path)
    }
}

/// Refuses a session of others; one of another principal is not there.
fn check_access(caller: &Caller, id: &SessionId, owner: &Owner) -> Result<(), BridgeError> {
    match caller.access(owner) {
        Access::Own => Ok(()),
        Access::Others => Err(BridgeError::Forbidden(id.clone())),
        Access::None => Err(SessionError::NotFound(id.clone()).into()),
    }
}

/// Each variable is judged, and all of them go to the program in one piece.
fn check_variables<T: AsRef<str>>(
    variables: impl Iterator<Item = (T, T)>,
) -> Result<(), BridgeError> {
    let (mut count, mut bytes) = (0, 0);
    for (name, value) in variables {
        count += 1;
        bytes += name.as_ref().len() + value.as_ref().len();
    }
    if count <= MAX_VARIABLES && bytes <= MAX_VARIABLE_BYTES {
        return Ok(());
    }
    Err(BridgeError::Invalid(format!(
        "`env` has {count} variables with {bytes} bytes; at most {MAX_VARIABLES} with \
         {MAX_VARIABLE_BYTES} bytes can be set: put more into a file that the program reads"
    )))
}
