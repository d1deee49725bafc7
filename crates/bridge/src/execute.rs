//! Running a command: policy, session, start; a task sees to the history.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use termbridge_foreign_files::TIME_LIMIT;
use termbridge_policy::{Dialect, MAX_COMMAND};
use termbridge_session::{
    CommandSetup, CommandState, NewCommand, SessionError, SessionId, SessionInfo, SpawnError,
    release_soon,
};
use termbridge_store::Entry;

use crate::agents::{Chosen, Left, Needs, Pick, Reservation, Room, check_name};
use crate::backend::{Awaited, CommandWait};
use crate::backends::BackendIndex;
use crate::caller::Caller;
use crate::directories;
use crate::error::BridgeError;
use crate::folder_limits::RoomLimits;
use crate::follower::{FollowLater, Followed};
use crate::guard::dialect_of;
use crate::hub::Bridge;
use crate::recorded::entry_id;

/// How long a `cd` may take.
const CHANGE_DIRECTORY: Duration = Duration::from_secs(10);
/// Bytes of a command that the policy judges in well under a millisecond.
const JUDGED_AT_ONCE: usize = 4096;
/// Bytes of a command whose judging takes so much memory that it is given back to the system.
const RELEASED_AFTER: usize = 64 * 1024;
/// Output up to this size comes with a wait's report; longer output is read once there is room for the answer.
const SMALL_OUTPUT: u64 = 4096;
/// How often a session is chosen anew because someone else was faster.
const ATTEMPTS: u32 = 5;

/// A command to run.
#[derive(Debug, Clone, Default)]
pub struct Execute {
    /// The text, as for a shell.
    pub command: String,
    /// The session; one is picked or made when it is `None`.
    pub session: Option<SessionId>,
    /// The directory. The shell returns afterwards, unless the caller addressed it by id or name.
    pub cwd: Option<PathBuf>,
    /// Variables of this command.
    pub env: Option<BTreeMap<String, String>>,
    /// Which session is picked.
    pub pick: Pick,
    /// Only a session with this name, or a new one.
    pub name: Option<String>,
    /// The shell of a new session.
    pub shell: Option<String>,
    /// Who asks.
    pub caller: Caller,
    /// Where a session is picked or made, by the backend's target; as the current one by default.
    pub target: Option<String>,
    /// The request's name, by which the command is found again at the next server.
    pub key: Option<String>,
}

/// A command that has begun.
#[derive(Debug)]
pub struct Started {
    /// Its session.
    pub session: SessionId,
    /// Its number there.
    pub command: u64,
    /// Who asked gave the session's id, or it is their current one.
    pub is_known: bool,
    /// It is the current session of who asked.
    pub is_current: bool,
    /// Where it begins.
    pub cwd: PathBuf,
    /// The caller's current session, which was busy.
    pub instead_of: Option<SessionId>,
    /// The caller's session that has ended.
    pub replaces: Option<SessionId>,
    /// The session is new, and the directory that it should have started in is gone.
    pub moved: Option<Moved>,
    /// Keeps the session reserved.
    pub(crate) call: Option<Reservation>,
    /// Sees to the history once this is dropped.
    pub(crate) follow: Option<FollowLater>,
}

/// A new session that could not start where it should.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moved {
    /// The directory that is gone.
    pub from: PathBuf,
    /// Where the session started instead.
    pub to: PathBuf,
}

impl Started {
    /// Ends the reservation: the caller has its answer.
    pub fn answered(&mut self) {
        self.call = None;
        self.follow = None;
    }
}

/// Where a command runs, and what it was judged by.
struct Judged {
    /// The requested directory.
    asked: Option<PathBuf>,
    /// The shell stays there.
    stays: bool,
    cwd: PathBuf,
    dialect: Dialect,
}

impl Bridge {
    /// Starts a command and returns when it has begun; `patience` is for a shell that starts.
    pub async fn start(
        &self,
        mut request: Execute,
        patience: Duration,
    ) -> Result<Started, BridgeError> {
        // Before anything is made of it: no shell takes it, and judging it would cost much.
        let bytes = request.command.len();
        if bytes > MAX_COMMAND {
            return Err(SessionError::CommandTooLong { bytes, most: MAX_COMMAND }.into());
        }
        request.name.iter().try_for_each(|name| check_name(name))?;
        request.shell.take_if(|shell| shell.is_empty());
        let shared = &*self.shared;
        let longest = patience;
        let patience = patience.min(shared.settings.shell_start);
        let caller = &request.caller;
        let target = request.target.as_deref().filter(|_| request.session.is_none());
        let shell = request.shell.as_deref();
        let wanted = target.map(|target| self.backends().target_for_shell(Some(target), shell));
        let wanted = wanted.transpose()?;
        let known = match &request.session {
            Some(id) => Some(self.session(caller, id).await?),
            None => match self.live_named(caller, request.name.as_deref()).await? {
                Some(named) => Some(named),
                None => self.current_at(caller, wanted).await?,
            },
        };
        let left = match known {
            None => self.usable_left(caller).await,
            Some(_) => None,
        };
        let left = left.as_ref().and_then(|left| left.cwd.as_deref());
        let base = known.as_ref().map(SessionInfo::own_directory).or(left);
        let at = known.as_ref().map(|info| self.backends().index_of(&info.id)).or(wanted);
        let at = at.unwrap_or_default();
        let mut asked = match &request.cwd {
            Some(cwd) => Some(self.directory(caller, cwd, base, at).await?),
            None => None,
        };
        let start = shared.settings.start_folder(caller);
        let of_session = known.as_ref().and_then(|info| info.shell).map(|shell| shell.shell);
        let of_request = request.shell.as_deref().filter(|_| request.session.is_none());
        let dialect = match (of_request, of_session) {
            (Some(shell), _) => Dialect::of(shell),
            (None, Some(shell)) => dialect_of(shell),
            (None, None) => Dialect::of(&shared.settings.shell),
        };
        let command = &request.command;
        let judge = |cwd: PathBuf| async move {
            self.judge(caller, command, dialect, &cwd).await.map(|()| cwd)
        };
        let mut stays = request.session.is_some() || request.name.is_some();
        let cwd = asked.as_deref().or(base).unwrap_or(start).to_owned();
        let cwd = match (judge(cwd).await, &known) {
            (Err(BridgeError::PathNotAllowed { path, reason }), Some(info)) if asked.is_none() => {
                // The shell is outside. It is brought back first, because its own `cd` may be any function.
                let refused =
                    BridgeError::SessionOutside { session: info.id.clone(), path, reason };
                let Some(inside) = directories::of_cd(command) else { return Err(refused) };
                let inside = self.directory(caller, inside, None, at).await?;
                stays = true;
                asked.insert(judge(inside).await.map_err(|_| refused)?).clone()
            }
            (judged, _) => judged?,
        };
        let none = BTreeMap::new();
        let env = request.env.as_ref().unwrap_or(&none);
        self.check_session(caller, request.shell.as_deref(), dialect, env, &cwd).await?;
        let place = Judged { asked, stays, cwd, dialect };
        match (request.session.is_some(), known) {
            (true, Some(info)) => {
                shared.agents.address(&info.id);
                let call = shared.agents.reserve(&info.id);
                self.start_in(&request, &place, info, call, patience).await
            }
            (_, current) => {
                let room = Room::new(&shared.agents, self.backends(), at, longest);
                self.start_anywhere(&request, &place, (wanted, current), room, patience).await
            }
        }
    }

    async fn live_named(
        &self,
        caller: &Caller,
        name: Option<&str>,
    ) -> Result<Option<SessionInfo>, BridgeError> {
        let Some(name) = name else { return Ok(None) };
        self.shared.agents.live_named(self.backends(), caller, name).await
    }

    /// The caller's current session, if it lives and is where one is wanted.
    async fn current_at(
        &self,
        caller: &Caller,
        wanted: Option<BackendIndex>,
    ) -> Result<Option<SessionInfo>, BridgeError> {
        let current = self.shared.agents.live_current(self.backends(), caller).await?;
        let fits = |info: &SessionInfo| {
            wanted.is_none_or(|wanted| self.backends().index_of(&info.id) == wanted)
        };
        Ok(current.filter(fits))
    }

    /// Where the caller's ended session was, if it may start another one there; forgotten if not.
    async fn usable_left(&self, caller: &Caller) -> Option<Left> {
        let left = self.shared.agents.left(caller, None)?;
        if let Some(cwd) = &left.cwd
            && self.check_directory(cwd, caller).await.is_err()
        {
            self.shared.agents.forget_left(caller, None);
            return None;
        }
        Some(left)
    }

    /// Whether a shell may run a command there. Long ones take turns.
    async fn judge(
        &self,
        caller: &Caller,
        command: &str,
        dialect: Dialect,
        cwd: &Path,
    ) -> Result<(), BridgeError> {
        let guard = &self.shared.guard;
        let turn = match command.len() > JUDGED_AT_ONCE {
            // A hung file system may hold all turns.
            true => tokio::time::timeout(TIME_LIMIT, guard.turn())
                .await
                .map_err(|_| SessionError::System("too many long commands are judged".into()))?,
            // What it expands to may be long.
            false if command.contains(['$', '`', '{']) => None,
            false => match guard.command_at_once(command, dialect, cwd, caller) {
                Some(judged) => return judged,
                None => None,
            },
        };
        let (shared, command) = (Arc::clone(&self.shared), command.to_owned());
        let (judged_by, folder, cwd) = (caller.clone(), cwd, cwd.to_owned());
        // Its turn ends with it, also when nobody waits for the result any more.
        let judge = move || {
            let judged = shared.guard.command(&command, dialect, &cwd, &judged_by);
            drop(turn);
            if command.len() > RELEASED_AFTER {
                release_soon();
            }
            judged
        };
        self.judged(caller, folder, judge).await
    }

    /// Waits for a command, as the backend does, and returns its report if the backend knows it then.
    pub async fn wait(
        &self,
        started: &Started,
        timeout: Duration,
    ) -> Result<CommandWait, BridgeError> {
        let Started { session, command, .. } = started;
        let backend = self.backend_of(session);
        Ok(backend.wait_report(session, *command, timeout, SMALL_OUTPUT).await?)
    }

    async fn start_anywhere(
        &self,
        request: &Execute,
        place: &Judged,
        (wanted, mut current): (Option<BackendIndex>, Option<SessionInfo>),
        mut room: Room<'_>,
        patience: Duration,
    ) -> Result<Started, BridgeError> {
        let shared = &*self.shared;
        let at = current.as_ref().map(|info| self.backends().index_of(&info.id)).or(wanted);
        let is_setup =
            request.pick == Pick::Own && self.backends().get(at.unwrap_or_default()).takes_setups();
        let start = shared.settings.start_folder(&request.caller);
        // A shell may not start outside of the allowed directories.
        let start = match &place.asked {
            Some(asked) if self.check_directory(start, &request.caller).await.is_err() => asked,
            _ => start,
        };
        let mut needs = Needs {
            caller: request.caller.clone(),
            cwd: place.asked.clone().filter(|_| !is_setup || request.name.is_some()),
            env: request.env.clone().filter(|_| !is_setup),
            shell: request.shell.clone(),
            name: request.name.clone(),
            pick: request.pick,
            at: wanted,
            start: start.to_owned(),
            instead: None,
            limits: RoomLimits::of(&shared.guard, &request.caller, &place.cwd),
        };
        let mut attempts = 1..ATTEMPTS;
        let mut moved: Option<Moved> = None;
        loop {
            let chosen = shared
                .agents
                .choose(self.backends(), &shared.settings, &needs, current.take())
                .await;
            let started = match chosen {
                Err(error) => Err(error),
                Ok(Chosen { info, reservation, is_new, instead_of, replaces }) => {
                    let call = Some(reservation);
                    let started = self.start_in(request, place, info, call, patience).await;
                    if is_new && started.is_ok() {
                        self.trim_sessions(request.caller.clone());
                    }
                    let moved = moved.clone().filter(|_| is_new);
                    started.map(|started| Started { instead_of, replaces, moved, ..started })
                }
            };
            let again = match &started {
                // The directory of the session that it replaces, or stands in for, is gone.
                Err(BridgeError::Session(SessionError::Spawn(SpawnError::BadCwd {
                    path, ..
                }))) if needs.cwd.is_none() && moved.is_none() => {
                    let gone = directories::without_mark(path);
                    let (shared, caller) = (Arc::clone(&self.shared), request.caller.clone());
                    let is_allowed =
                        move |path: &Path| shared.guard.directory(path, &caller).is_ok();
                    let to = directories::nearest(&gone, is_allowed).await;
                    let to = to.unwrap_or_else(|| start.to_owned());
                    needs.instead = Some(to.clone());
                    moved = Some(Moved { from: gone, to });
                    true
                }
                Err(BridgeError::Session(SessionError::TooManySessions { .. })) => {
                    room.make().await
                }
                // A person was faster.
                Err(BridgeError::Session(
                    SessionError::ShellBusy(_) | SessionError::TakenOver(_),
                )) => attempts.next().is_some(),
                _ => false,
            };
            if !again {
                return started;
            }
            current = self.current_at(&request.caller, wanted).await?;
        }
    }

    /// Ends, in its own time, what the agent has more idle sessions of than it may.
    fn trim_sessions(&self, caller: Caller) {
        let bridge = self.clone();
        tokio::spawn(async move { bridge.shared.agents.trim(bridge.backends(), &caller).await });
    }

    async fn start_in(
        &self,
        request: &Execute,
        place: &Judged,
        info: SessionInfo,
        call: Option<Reservation>,
        patience: Duration,
    ) -> Result<Started, BridgeError> {
        let dialect = info.shell.map_or(place.dialect, |shell| dialect_of(shell.shell));
        let cwd = place.asked.as_ref().unwrap_or(&info.cwd);
        if dialect != place.dialect || *cwd != place.cwd {
            // Another shell, or another directory, than the command was judged for.
            self.judge(&request.caller, &request.command, dialect, cwd).await?;
        }
        let backend = self.backend_of(&info.id);
        let elsewhere = match &place.asked {
            Some(asked) if !directories::is_same(&info.cwd, asked).await => Some(asked),
            _ => None,
        };
        let mut setup = CommandSetup { stays: place.stays, ..CommandSetup::default() };
        let env = request.env.as_ref().filter(|env| !env.is_empty());
        if backend.takes_setups() {
            setup.cwd = elsewhere.map(|cwd| cwd.to_string_lossy().into_owned());
            setup.env = env.cloned().unwrap_or_default();
            let mut names = setup.env.keys();
            if let Some(name) = names.find(|name| !CommandSetup::is_variable_name(name)) {
                return Err(BridgeError::Invalid(format!(
                    "no shell can set a variable named {name:?}: use `env 'NAME=value' command`"
                )));
            }
        } else if request.session.is_some() && env.is_some() {
            let target = backend.target();
            return Err(BridgeError::Invalid(format!(
                "a session of the target {target} takes no `env`: set the variables in the command"
            )));
        } else if let Some(cwd) = elsewhere.filter(|_| place.stays) {
            self.change_directory(&info.id, cwd, patience).await?;
        }
        let command = NewCommand { text: request.command.clone(), key: request.key.clone(), setup };
        let command = backend.start_new_command(&info.id, command, patience).await?;
        self.shared.agents.note_used(&request.caller, &info.id);
        let is_current = self.shared.agents.current(&request.caller).as_ref() == Some(&info.id);
        let mut started = Started {
            session: info.id.clone(),
            command,
            is_known: request.session.is_some() || is_current,
            is_current,
            cwd: cwd.clone(),
            instead_of: None,
            replaces: None,
            moved: None,
            call,
            follow: None,
        };
        started.follow = self.follow(&started, request, &info);
        Ok(started)
    }

    async fn change_directory(
        &self,
        id: &SessionId,
        cwd: &Path,
        patience: Duration,
    ) -> Result<(), BridgeError> {
        let backend = self.backend_of(id);
        // The same words in every shell; only a quote is written in two ways.
        let text = cwd.to_string_lossy();
        let quoted = text.split('\'').collect::<Vec<_>>().join(r#"'"'"'"#);
        let command = backend.start_command(id, &format!("cd -- '{quoted}'"), patience).await?;
        backend.wait_command(id, command, Awaited::EndOrInput, CHANGE_DIRECTORY).await?;
        let report = backend.command(id, command, 0, 1024).await?;
        match report {
            Some(report) if report.state == (CommandState::Done { exit_code: 0 }) => Ok(()),
            Some(report) if report.state == CommandState::Sent => {
                let why = "this terminal does not report whether it changed its directory: leave `cwd` out and begin the command with `cd`";
                Err(SessionError::NotSupported(why.into()).into())
            }
            report => Err(BridgeError::BadDirectory {
                cwd: cwd.display().to_string(),
                why: report.map(|report| report.output.trim().to_owned()).unwrap_or_default(),
            }),
        }
    }

    /// Notes the command in the history, now and when it has ended, whether the caller waits for it or not.
    fn follow(
        &self,
        started: &Started,
        request: &Execute,
        info: &SessionInfo,
    ) -> Option<FollowLater> {
        let history = self.shared.history.clone()?;
        let id = entry_id(&started.session, started.command);
        let mut entry = Entry::new(id, started.session.as_str(), request.command.as_str());
        entry.run.cwd = started.cwd.display().to_string();
        entry.run.project.clone_from(&info.project);
        entry.run.principal = Some(request.caller.principal().to_owned());
        entry.run.agent = request.caller.agent().map(str::to_owned);
        entry.run.shell = Some(info.command.clone());
        history.record(entry.clone());
        let is_unknown = entry.run.project.is_none();
        let project_of = is_unknown.then(|| (request.caller.clone(), started.cwd.clone()));
        let (bridge, session) = (self.clone(), started.session.clone());
        let command = started.command;
        let unrecorded = self.shared.unrecorded.add(session.clone(), command);
        let followed =
            Followed { bridge, history, entry, session, command, project_of, unrecorded };
        Some(FollowLater::new(followed))
    }
}
