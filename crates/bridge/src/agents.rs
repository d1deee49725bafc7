//! Which session is whose, and which one an agent means when it names none.
//!
//! The agent's current session; if that is busy, driven by a person or does not fit, another idle one of the same agent
//! with the same directory, variables and shell; else an idle spare one, which changes its directory;
//! else a new one. Never another agent's. A session that was picked is reserved until its command
//! has begun, so that two calls at once get two.
//!
//! A name means one session (`named`): while that is busy, nothing else is taken or made for it.
//!
//! A spare session was made here for some command; nobody named it, made it current or addressed it
//! by its id. Spare ones are moved and recycled (`recycle`); the current one is not moved for a
//! command that names a directory, and one with a name or of `create_session` is never recycled.

mod kept;
mod named;
mod recycle;

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use termbridge_session::{SessionError, SessionId, SessionInfo, State};

use crate::backend::NewSession;
use crate::backends::{BackendIndex, Backends};
use crate::caller::{Caller, Key};
use crate::error::BridgeError;
use crate::folder_limits::RoomLimits;
use crate::settings::BridgeSettings;

use named::Named;
pub(crate) use recycle::Room;

/// What a command needs of its session; what is left open is as in the current one.
#[derive(Debug, Default)]
pub(crate) struct Needs {
    pub(crate) caller: Caller,
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) env: Option<BTreeMap<String, String>>,
    pub(crate) shell: Option<String>,
    /// Only a session of this name will do.
    pub(crate) name: Option<String>,
    /// What a new one is called.
    pub(crate) label: Option<String>,
    /// Only a session of this backend will do.
    pub(crate) at: Option<BackendIndex>,
    /// A spare session may change its directory for it, where that is on this machine.
    pub(crate) may_move: bool,
    /// What the making of a session for it is held to.
    pub(crate) limits: RoomLimits,
}

#[derive(Clone, Default)]
pub(crate) struct Agents {
    table: Arc<Mutex<Table>>,
    /// Held by the request whose turn it is to make room.
    turn: Arc<tokio::sync::Mutex<()>>,
    /// Sessions that are being made, and not in the table yet.
    making: Arc<AtomicUsize>,
    /// Where the table is kept for the next server.
    file: Arc<OnceLock<PathBuf>>,
}

#[derive(Default)]
struct Table {
    held: Vec<Held>,
    current: HashMap<Key, SessionId>,
    /// Names of sessions that are being made, and not in the table yet.
    claimed: Vec<(Key, String)>,
}

/// A session that was made here, and what it was made with.
#[derive(Clone)]
struct Held {
    id: SessionId,
    key: Key,
    at: BackendIndex,
    shell: String,
    env: BTreeMap<String, String>,
    name: Option<String>,
    reserved: bool,
    /// Nobody asked for this session: it was made for a command that named none.
    automatic: bool,
    /// The agent has addressed it by its id since.
    addressed: bool,
    /// Its shell did not take a command: only who names it gets it.
    broken: bool,
}

/// What has to happen before a chosen session gets its command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Choice {
    /// Nothing.
    Fits,
    /// It changes to this directory.
    Moves(PathBuf),
    /// It was made.
    Made,
}

/// Keeps a session for one command; dropped when that has begun.
pub(crate) struct Reservation {
    agents: Agents,
    id: SessionId,
}

/// Counts a session while it is being made.
struct Making(Arc<AtomicUsize>);

impl Making {
    fn begin(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(count))
    }
}

impl Drop for Making {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let mut table = self.agents.lock();
        if let Some(held) = table.held.iter_mut().find(|held| held.id == self.id) {
            held.reserved = false;
        }
    }
}

impl Agents {
    /// The session an agent means when it names none.
    pub(crate) fn current(&self, caller: &Caller) -> Option<SessionId> {
        self.lock().current.get(&caller.key()).cloned()
    }

    pub(crate) fn set_current(&self, caller: &Caller, id: SessionId) {
        let mut table = self.lock();
        if let Some(held) = table.held.iter_mut().find(|held| held.id == id) {
            held.addressed = true;
            held.broken = false;
        }
        table.current.insert(caller.key(), id);
        self.keep(&table);
    }

    /// The one that was current has ended: what is used instead takes its place.
    fn set_current_if_none(&self, caller: &Caller, id: &SessionId) {
        let mut table = self.lock();
        if let Entry::Vacant(current) = table.current.entry(caller.key()) {
            current.insert(id.clone());
            self.keep(&table);
        }
    }

    /// The session's shell did not take a command. It is no agent's current one any more, and only
    /// recycled or named.
    pub(crate) fn note_broken(&self, id: &SessionId) {
        let mut table = self.lock();
        if let Some(held) = table.held.iter_mut().find(|held| held.id == *id) {
            held.broken = true;
            table.current.retain(|_, current| current != id);
            self.keep(&table);
        }
    }

    /// The agent means this very session: it is no spare one.
    pub(crate) fn address(&self, id: &SessionId) {
        let mut table = self.lock();
        let held = table.held.iter_mut().find(|held| held.id == *id);
        if let Some(held) = held.filter(|held| !held.addressed) {
            held.addressed = true;
            self.keep(&table);
        }
    }

    /// The session is gone.
    pub(super) fn forget(&self, id: &SessionId) {
        let mut table = self.lock();
        table.held.retain(|held| held.id != *id);
        table.current.retain(|_, current| current != id);
        self.keep(&table);
    }

    /// Makes a session. One that is not `automatic` is the agent's current one from now on; any is if
    /// there is none.
    pub(crate) async fn create(
        &self,
        backends: &Backends,
        at: BackendIndex,
        caller: &Caller,
        new: NewSession,
        env: BTreeMap<String, String>,
        automatic: bool,
    ) -> Result<(SessionInfo, Reservation), SessionError> {
        let (key, shell, name) = (caller.key(), new.shell.clone(), new.name.clone());
        let making = Making::begin(&self.making);
        let info = backends.get(at).create_session(new).await?;
        backends.check_new(at, &info.id)?;
        let id = info.id.clone();
        let mut table = self.lock();
        if !automatic || !table.current.contains_key(&key) {
            table.current.insert(key.clone(), id.clone());
        }
        table.held.push(Held {
            id: id.clone(),
            key,
            at,
            shell,
            env,
            automatic: automatic && name.is_none(),
            name,
            reserved: true,
            addressed: false,
            broken: false,
        });
        self.keep(&table);
        drop((table, making));
        Ok((info, Reservation { agents: self.clone(), id }))
    }

    /// Finds or makes a session for a command. `current` is the agent's current session as it was a
    /// moment ago, so that it need not be asked twice.
    pub(crate) async fn choose(
        &self,
        backends: &Backends,
        settings: &BridgeSettings,
        needs: &Needs,
        current: Option<SessionInfo>,
    ) -> Result<(SessionInfo, Reservation, Choice), BridgeError> {
        if let Some(name) = &needs.name {
            let claim = match self.named(backends, needs, name).await? {
                Named::Found(info, reservation, choice) => return Ok((*info, reservation, choice)),
                Named::Free(claim) => claim,
            };
            let made = self.make(backends, settings, needs, Some(name.clone()), current).await;
            drop(claim);
            return made;
        }
        let pattern = self.pattern(settings, needs, current.as_ref());
        let mut spare = None;
        for held in self.candidates(&needs.caller, current.as_ref()) {
            let is_current = current.as_ref().is_some_and(|current| current.id == held.id);
            let fits = held.at == pattern.at
                && held.shell == pattern.shell
                && held.env == pattern.env
                && !held.broken;
            let Some(reservation) = fits.then(|| self.reserve(&held.id)).flatten() else {
                continue;
            };
            let known = current.as_ref().filter(|_| is_current).cloned();
            let info = match known {
                Some(info) => info,
                None => match self.living(backends, &held.id).await? {
                    Some(info) => info,
                    None => continue,
                },
            };
            if !info.takes_commands() {
                continue;
            }
            let anywhere = needs.cwd.is_none() && is_current;
            if anywhere || same_directory(&info.cwd, &pattern.cwd) {
                self.set_current_if_none(&needs.caller, &info.id);
                return Ok((info, reservation, Choice::Fits));
            }
            let is_spare = held.automatic && !held.addressed && !is_current;
            // Only where `cd` means what it does in a shell, to a directory of this machine.
            let may_move = needs.may_move && is_spare && backends.get(held.at).is_local();
            if may_move && spare.is_none() {
                spare = Some((info, reservation));
            }
        }
        if let Some((info, reservation)) = spare {
            self.set_current_if_none(&needs.caller, &info.id);
            return Ok((info, reservation, Choice::Moves(pattern.cwd)));
        }
        // Nobody addresses a session by its label, so a second one goes without.
        let label = needs.label.clone().filter(|label| !self.has_name(&needs.caller.key(), label));
        self.make(backends, settings, needs, label, current).await
    }

    /// Makes a session for a command.
    async fn make(
        &self,
        backends: &Backends,
        settings: &BridgeSettings,
        needs: &Needs,
        name: Option<String>,
        current: Option<SessionInfo>,
    ) -> Result<(SessionInfo, Reservation, Choice), BridgeError> {
        let Pattern { at, shell, env: asked, cwd } =
            self.pattern(settings, needs, current.as_ref());
        let mut env = settings.env.clone();
        env.extend(asked.clone());
        let new = NewSession {
            shell,
            is_shell_requested: needs.shell.is_some(),
            cwd,
            env,
            environment: needs.caller.environment().cloned(),
            name,
            owner: needs.caller.owner(),
            project: current.and_then(|current| current.project),
            keep_history: settings.keep_shell_history,
            size: None,
            workspace: Some(settings.start_folder(&needs.caller).to_owned()),
            limits: needs.limits.sessions,
            target: None,
        };
        needs.limits.check(backends, &needs.caller).await?;
        let (info, reservation) =
            self.create(backends, at, &needs.caller, new, asked, true).await?;
        Ok((info, reservation, Choice::Made))
    }

    /// A session if it lives and is to go on; forgotten if not.
    async fn living(
        &self,
        backends: &Backends,
        id: &SessionId,
    ) -> Result<Option<SessionInfo>, BridgeError> {
        match backends.of(id).session(id).await {
            Ok(info) if info.state == State::Running && !info.stopping => Ok(Some(info)),
            Ok(_) | Err(SessionError::NotFound(_)) => {
                self.forget(id);
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// The agent's current session if it lives; forgotten if not.
    pub(crate) async fn live_current(
        &self,
        backends: &Backends,
        caller: &Caller,
    ) -> Result<Option<SessionInfo>, BridgeError> {
        match self.current(caller) {
            Some(id) => self.living(backends, &id).await,
            None => Ok(None),
        }
    }

    /// What the session has to be like: what is asked for, else as the current one is.
    fn pattern(
        &self,
        settings: &BridgeSettings,
        needs: &Needs,
        current: Option<&SessionInfo>,
    ) -> Pattern {
        let table = self.lock();
        let held = current.and_then(|info| table.held.iter().find(|held| held.id == info.id));
        let like = |asked: Option<&String>, is: Option<&String>, default: &String| {
            asked.or(is).unwrap_or(default).clone()
        };
        let shell = like(needs.shell.as_ref(), held.map(|held| &held.shell), &settings.shell);
        let env = needs.env.clone().or_else(|| held.map(|held| held.env.clone()));
        let cwd = needs.cwd.clone().or_else(|| current.map(|info| info.cwd.clone()));
        Pattern {
            at: needs.at.or(held.map(|held| held.at)).unwrap_or_default(),
            shell,
            env: env.unwrap_or_default(),
            cwd: cwd.unwrap_or_else(|| settings.start_folder(&needs.caller).to_owned()),
        }
    }

    /// The agent's sessions, the current one first.
    fn candidates(&self, caller: &Caller, current: Option<&SessionInfo>) -> Vec<Held> {
        let key = caller.key();
        let table = self.lock();
        let is_current = |held: &Held| current.is_some_and(|current| current.id == held.id);
        // Another agent's can be chosen, too.
        let mine = table.held.iter().filter(|held| held.key == key || is_current(held));
        let mut mine: Vec<Held> = mine.cloned().collect();
        mine.sort_by_key(|held| !is_current(held));
        mine
    }

    pub(super) fn reserve(&self, id: &SessionId) -> Option<Reservation> {
        let mut table = self.lock();
        let held = table.held.iter_mut().find(|held| held.id == *id && !held.reserved)?;
        held.reserved = true;
        Some(Reservation { agents: self.clone(), id: id.clone() })
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Pattern {
    at: BackendIndex,
    shell: String,
    env: BTreeMap<String, String>,
    cwd: PathBuf,
}

/// The same directory, links resolved where they can be.
pub(crate) fn same_directory(one: &Path, other: &Path) -> bool {
    one == other
        || match (one.canonicalize(), other.canonicalize()) {
            (Ok(one), Ok(other)) => one == other,
            _ => false,
        }
}
