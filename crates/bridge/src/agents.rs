//! Which session is whose, and which one an agent means when it names none.
//!
//! It is the agent's current session. If that is busy or a person drives it, another one takes over and becomes the
//! current one: an idle one of the same agent in the same directory with the same variables and shell, or else a new one
//! that starts there. Another agent's session or one with a name never does.
//!
//! A session is reserved until the call that picked it is answered, so two calls at once get two sessions. The second
//! call does not change which one is current.
//!
//! A name means one session (`named`): while that is busy, nothing else is taken or made for it.
//!
//! A spare session was made here for some command; nobody named it, made it current or addressed it
//! by its id. Spare ones are recycled (`recycle`), sessions with a name or of `create_session` never.

mod kept;
mod left;
mod named;
mod recycle;
mod reservation;

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use termbridge_session::{SessionError, SessionId, SessionInfo, State};

use crate::backend::NewSession;
use crate::backends::{BackendIndex, Backends};
use crate::caller::{Caller, Key};
use crate::directories;
use crate::error::BridgeError;
use crate::folder_limits::RoomLimits;
use crate::settings::BridgeSettings;

pub(crate) use left::Left;
use named::Named;
pub(crate) use named::{NameClaim, check_name};
pub(crate) use recycle::Room;
use reservation::Making;
pub(crate) use reservation::Reservation;

/// What a command needs of its session; what is left open is as in the current one.
#[derive(Debug, Default)]
pub(crate) struct Needs {
    pub(crate) caller: Caller,
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) env: Option<BTreeMap<String, String>>,
    pub(crate) shell: Option<String>,
    /// Only a session of this name will do.
    pub(crate) name: Option<String>,
    pub(crate) pick: Pick,
    /// Only a session of this backend will do.
    pub(crate) at: Option<BackendIndex>,
    /// Where a new session starts if there is no current one.
    pub(crate) start: PathBuf,
    /// Where a new session starts because the right directory is gone.
    pub(crate) instead: Option<PathBuf>,
    /// What the making of a session for it is held to.
    pub(crate) limits: RoomLimits,
}

/// Which session a command without a `session` gets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Pick {
    /// The current one, or the one that takes over. Directory and variables apply to the command alone.
    #[default]
    Own,
    /// Any idle one of the agent in that directory that was started with those variables and that shell. What is left
    /// open is the default, not as in the current one.
    Alike,
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
    /// The session that each agent used last.
    last: HashMap<Key, SessionId>,
    /// Counts reservations.
    uses: u64,
    /// Names of sessions that are being made, and not in the table yet.
    claimed: Vec<(Key, String)>,
    /// Where sessions ended that nothing has replaced yet: an agent's current one, and those with a name.
    left: HashMap<(Key, Option<String>), Left>,
}

impl Table {
    fn make_current(&mut self, key: Key, id: SessionId) {
        self.left.remove(&(key.clone(), None));
        self.current.insert(key, id);
    }

    /// Whether it is an agent's current session.
    fn is_current(&self, id: &SessionId) -> bool {
        self.current.values().any(|current| current == id)
    }
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
    /// A call that is not answered yet uses it.
    reserved: bool,
    /// The number of its last reservation.
    used: u64,
    /// Nobody asked for this session: it was made for a command that named none.
    automatic: bool,
    /// The agent has addressed it by its id since.
    addressed: bool,
    /// Its shell did not take a command: only who names it gets it.
    broken: bool,
}

/// A session for a command.
pub(crate) struct Chosen {
    pub(crate) info: SessionInfo,
    pub(crate) reservation: Reservation,
    pub(crate) is_new: bool,
    /// The busy current session.
    pub(crate) instead_of: Option<SessionId>,
    /// The session that has ended.
    pub(crate) replaces: Option<SessionId>,
}

impl Chosen {
    fn existing(info: SessionInfo, reservation: Reservation) -> Self {
        Self { info, reservation, is_new: false, instead_of: None, replaces: None }
    }
}

impl Agents {
    /// The session an agent means when it names none.
    pub(crate) fn current(&self, caller: &Caller) -> Option<SessionId> {
        self.lock().current.get(&caller.key()).cloned()
    }

    /// The session that an agent used last.
    pub(crate) fn last_used(&self, caller: &Caller) -> Option<SessionId> {
        let table = self.lock();
        let key = caller.key();
        table.last.get(&key).or_else(|| table.current.get(&key)).cloned()
    }

    /// An agent has begun a command in a session, launched a program there or typed to it.
    pub(crate) fn note_used(&self, caller: &Caller, id: &SessionId) {
        self.lock().last.insert(caller.key(), id.clone());
    }

    pub(crate) fn set_current(&self, caller: &Caller, id: SessionId) {
        let mut table = self.lock();
        table.last.insert(caller.key(), id.clone());
        if let Some(held) = table.held.iter_mut().find(|held| held.id == id) {
            held.addressed = true;
            held.broken = false;
        }
        table.make_current(caller.key(), id);
        self.keep(&table);
    }

    /// Makes a session the current one in place of a busy one.
    fn take_over(&self, caller: &Caller, id: &SessionId) {
        let mut table = self.lock();
        table.make_current(caller.key(), id.clone());
        self.keep(&table);
    }

    /// The one that was current has ended: what is used instead takes its place.
    fn set_current_if_none(&self, caller: &Caller, id: &SessionId) {
        let mut table = self.lock();
        if !table.current.contains_key(&caller.key()) {
            table.make_current(caller.key(), id.clone());
            self.keep(&table);
        }
    }

    /// The session's shell did not take a command: it is only recycled or named from now on. As the current one it
    /// counts as busy.
    pub(crate) fn note_broken(&self, id: &SessionId) {
        let mut table = self.lock();
        if let Some(held) = table.held.iter_mut().find(|held| held.id == *id) {
            held.broken = true;
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
        table.last.retain(|_, last| last != id);
        self.keep(&table);
    }

    /// Makes a session. One that is not `automatic` is the agent's current one from now on.
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
        if let Some(name) = &name {
            table.left.remove(&(key.clone(), Some(name.clone())));
        }
        if !automatic {
            table.make_current(key.clone(), id.clone());
            table.last.insert(key.clone(), id.clone());
        }
        table.uses += 1;
        let used = table.uses;
        table.held.push(Held {
            id: id.clone(),
            key,
            at,
            shell,
            env,
            automatic: automatic && name.is_none(),
            name,
            reserved: true,
            used,
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
    ) -> Result<Chosen, BridgeError> {
        if let Some(name) = &needs.name {
            let claim = match self.named(backends, needs, name).await? {
                Named::Found(info, reservation) => {
                    let info = *info;
                    return Ok(Chosen::existing(info, reservation));
                }
                Named::Free(claim) => claim,
            };
            let made = self.make(backends, settings, needs, Some(name.clone()), current).await;
            drop(claim);
            return made;
        }
        let pattern = self.pattern(settings, needs, current.as_ref());
        // The current session, if it is of the right kind.
        let mut wanted = None;
        let mut in_call = false;
        let mut found = None;
        let left = current.is_none().then(|| self.left(&needs.caller, None)).flatten();
        for held in self.candidates(&needs.caller, current.as_ref()) {
            let is_current = current.as_ref().is_some_and(|info| info.id == held.id);
            let is_alike =
                held.at == pattern.at && held.shell == pattern.shell && held.env == pattern.env;
            if !is_alike || (held.name.is_some() && !is_current) {
                continue;
            }
            if is_current {
                wanted = current.as_ref();
            }
            if held.broken {
                continue;
            }
            let Some(reservation) = self.reserve(&held.id) else {
                in_call |= is_current;
                continue;
            };
            let info = match wanted.filter(|_| is_current) {
                Some(info) => info.clone(),
                None => match self.living(backends, &held.id).await? {
                    Some(info) => info,
                    None => continue,
                },
            };
            // A session of another kind than the current one is used wherever the agent left it.
            let is_other_kind = wanted.is_none() && (needs.shell.is_some() || needs.at.is_some());
            let is_anywhere = needs.cwd.is_none() && (is_current || is_other_kind);
            if info.takes_commands()
                && (is_anywhere || directories::is_same(&info.cwd, &pattern.cwd).await)
            {
                let chosen = Chosen::existing(info, reservation);
                if is_current {
                    return Ok(chosen);
                }
                found = Some(chosen);
                break;
            }
        }
        let busy = wanted.filter(|_| needs.cwd.is_none() && needs.env.is_none());
        let busy = busy.map(|info| info.id.clone());
        let chosen = match found {
            Some(found) => found,
            None => self.make(backends, settings, needs, None, current).await?,
        };
        match &busy {
            Some(_) if !in_call => self.take_over(&needs.caller, &chosen.info.id),
            Some(_) => {}
            None => self.set_current_if_none(&needs.caller, &chosen.info.id),
        }
        let replaces = left.map(|left| left.session).or(chosen.replaces.clone());
        Ok(Chosen { instead_of: busy, replaces, ..chosen })
    }

    /// Makes a session for a command.
    async fn make(
        &self,
        backends: &Backends,
        settings: &BridgeSettings,
        needs: &Needs,
        name: Option<String>,
        current: Option<SessionInfo>,
    ) -> Result<Chosen, BridgeError> {
        let Pattern { at, shell, env: asked, cwd } =
            self.pattern(settings, needs, current.as_ref());
        let cwd = needs.instead.clone().unwrap_or(cwd);
        let left = name.as_ref().and_then(|name| self.left(&needs.caller, Some(name)));
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
        let replaces = left.map(|left| left.session);
        Ok(Chosen { info, reservation, is_new: true, instead_of: None, replaces })
    }

    /// A session if it lives and is to go on; forgotten if not.
    async fn living(
        &self,
        backends: &Backends,
        id: &SessionId,
    ) -> Result<Option<SessionInfo>, BridgeError> {
        match backends.of(id).session(id).await {
            Ok(info) if info.state == State::Running && !info.stopping => Ok(Some(info)),
            Ok(ended) => {
                self.forget_ended(&ended);
                Ok(None)
            }
            Err(SessionError::NotFound(_)) => {
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
        let name = needs.name.as_deref();
        let left = self.left(&needs.caller, name).filter(|_| name.is_some() || current.is_none());
        let (left, left_shell) = left.map(|left| (left.cwd, left.shell)).unwrap_or_default();
        let table = self.lock();
        let held = current.and_then(|info| table.held.iter().find(|held| held.id == info.id));
        let like = |asked: Option<&String>, is: Option<&String>, default: &String| {
            asked.or(is).unwrap_or(default).clone()
        };
        let model = held.filter(|_| needs.pick == Pick::Own);
        let is = left_shell.as_ref().or(model.map(|held| &held.shell));
        let shell = like(needs.shell.as_ref(), is, &settings.shell);
        let env = needs.env.clone().or_else(|| model.map(|held| held.env.clone()));
        let cwd = needs.cwd.as_deref().or(left.as_deref());
        let cwd = cwd.or(current.map(SessionInfo::own_directory));
        Pattern {
            at: needs.at.or(held.map(|held| held.at)).unwrap_or_default(),
            shell,
            env: env.unwrap_or_default(),
            cwd: cwd.unwrap_or(&needs.start).to_owned(),
        }
    }

    /// The agent's sessions, the current one first, then those used last.
    fn candidates(&self, caller: &Caller, current: Option<&SessionInfo>) -> Vec<Held> {
        let key = caller.key();
        let table = self.lock();
        let is_current = |held: &Held| current.is_some_and(|current| current.id == held.id);
        // Another agent's can be chosen, too.
        let mine = table.held.iter().filter(|held| held.key == key || is_current(held));
        let mut mine: Vec<Held> = mine.cloned().collect();
        mine.sort_by_key(|held| (!is_current(held), Reverse(held.used)));
        mine
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
