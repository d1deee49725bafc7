//! [`Sessions`]: every session of a server.

mod adoption;

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use termbridge_pty::{
    JournalSize, Keeper, PrivateFolder, ProgramHost, RuntimeFolder, SpawnError, SpawnSpec,
};
use termbridge_shell::{Setup, Shell};
use termbridge_vt::Size;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};

pub use self::adoption::Adoption;
use crate::error::SessionError;
use crate::id::SessionId;
use crate::info::SessionInfo;
use crate::launch::Launch;
use crate::memory::Budgets;
use crate::owner::Owner;
use crate::session::Session;
use crate::settings::Settings;
use crate::task::shell::{ShellLink, Spawned};
use crate::task::{COMMAND_QUEUE, Command, SessionTask, Ties};
use crate::turns::Turns;

/// The pipe's name in a shell's folder.
pub(crate) const PIPE_NAME: &str = "commands";
/// Grace for programs when the server ends.
const SHUTDOWN_GRACE: Duration = Duration::from_millis(500);

/// The sessions of a server. Clones are the same server.
#[derive(Clone)]
pub struct Sessions {
    shared: Arc<Shared>,
}

/// What the sessions' tasks need of the server.
pub(crate) struct Shared {
    pub(crate) settings: Settings,
    pub(crate) budgets: Budgets,
    host: Arc<dyn ProgramHost>,
    places: Arc<Semaphore>,
    /// Turns at long work.
    pub(crate) turns: Turns,
    /// Counts what changes in the list of sessions.
    pub(crate) changes: watch::Sender<u64>,
    sessions: Mutex<HashMap<SessionId, Entry>>,
    /// Holds what shells are started with; made with the first of them.
    runtime: Mutex<Option<Arc<RuntimeFolder>>>,
    /// Where that is, if sessions outlive the server.
    lasting: Option<PathBuf>,
    /// Every program is being ended.
    pub(crate) is_shutting_down: AtomicBool,
}

struct Entry {
    session: Session,
    /// Order of launch, for lists.
    number: u64,
    /// Order of the end, once it has ended.
    finished: Option<u64>,
}

impl Sessions {
    /// A server of sessions whose programs are held by a keeper process, started with the first.
    pub fn new(settings: Settings) -> Self {
        Self::with_host(settings, Arc::new(Keeper::new()))
    }

    /// A server of sessions whose programs come from `host`.
    pub fn with_host(settings: Settings, host: Arc<dyn ProgramHost>) -> Self {
        Self::of(settings, host, None)
    }

    /// A server of sessions that outlive it: they are left to the next server of the same keeper, which
    /// takes them over by [`Sessions::adopt`]. `folder`, which is made if it is missing, holds what
    /// shells are started with and their output; its parent is a folder of this user's alone.
    pub fn lasting(settings: Settings, keeper: Keeper, folder: PathBuf) -> Self {
        Self::of(settings, Arc::new(keeper), Some(folder))
    }

    fn of(settings: Settings, host: Arc<dyn ProgramHost>, lasting: Option<PathBuf>) -> Self {
        let shared = Shared {
            budgets: Budgets::new(&settings),
            host,
            places: Arc::new(Semaphore::new(settings.max_sessions)),
            turns: Turns::default(),
            changes: watch::Sender::new(0),
            sessions: Mutex::new(HashMap::new()),
            runtime: Mutex::new(None),
            lasting,
            settings,
            is_shutting_down: AtomicBool::new(false),
        };
        Self { shared: Arc::new(shared) }
    }

    #[cfg(test)]
    pub(crate) fn turns(&self) -> Turns {
        self.shared.turns.clone()
    }

    /// Starts a program on a terminal of its own.
    pub async fn launch(&self, launch: Launch) -> Result<Session, SessionError> {
        let place = self.shared.place()?;
        let id = SessionId::random().map_err(|error| SessionError::System(error.to_string()))?;
        let spawned = self.shared.spawn(&launch, &id, launch.size).await?;
        let (commands, receiver) = mpsc::channel(COMMAND_QUEUE);
        let session = Session::new(id.clone(), &launch, commands.clone());
        let number = self.shared.add(session.clone(), None);
        let ties = self.shared.ties(&session, &commands);
        let task = SessionTask::new(id, launch, spawned, Some(place), number, ties);
        tokio::spawn(task.run(receiver));
        Ok(session)
    }

    /// The session with this id.
    pub fn get(&self, id: &SessionId) -> Result<Session, SessionError> {
        let sessions = self.shared.lock();
        let entry = sessions.get(id).ok_or_else(|| SessionError::NotFound(id.clone()))?;
        Ok(entry.session.clone())
    }

    /// All sessions in the order of their launch, finished ones that can still be read included.
    pub fn all(&self) -> Vec<Session> {
        let sessions = self.shared.lock();
        let mut entries: Vec<_> = sessions.values().collect();
        entries.sort_by_key(|entry| entry.number);
        entries.into_iter().map(|entry| entry.session.clone()).collect()
    }

    /// What is known of every session.
    pub async fn list(&self) -> Vec<SessionInfo> {
        self.list_of(|_| true).await
    }

    /// What is known of the sessions of those owners; the others are not asked.
    pub async fn list_of(&self, is_wanted: impl Fn(&Owner) -> bool) -> Vec<SessionInfo> {
        let mut wanted = self.all();
        wanted.retain(|session| is_wanted(session.owner()));
        let mut list = Vec::new();
        for session in wanted {
            // A session that ends while it is asked is not listed.
            list.extend(session.info().await.ok());
        }
        list
    }

    /// Changes with every change in what a list of the sessions would show, as long as somebody holds it.
    pub fn changes(&self) -> watch::Receiver<u64> {
        let changes = self.shared.changes.subscribe();
        // Sessions that were not watched look at themselves.
        self.shared.wake_all();
        changes
    }

    /// Leaves every session to the next server. Nothing may be done with them after that: the process
    /// should end.
    pub async fn leave(&self) {
        self.shared.host.leave().await;
    }

    /// Ends every program; returns when all are gone, and the temporary files with them.
    pub async fn shutdown(&self) {
        self.shared.is_shutting_down.store(true, Ordering::Relaxed);
        self.shared.host.shutdown(SHUTDOWN_GRACE).await;
        let runtime = self.shared.runtime.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(runtime) = runtime {
            runtime.remove();
        }
    }
}

impl Shared {
    fn ties(self: &Arc<Self>, session: &Session, commands: &mpsc::Sender<Command>) -> Ties {
        let (server, commands) = (Arc::downgrade(self), commands.downgrade());
        let typed = session.typed_counter();
        Ties { server, shares: self.budgets.join(&commands), commands, typed }
    }

    pub(crate) fn place(&self) -> Result<OwnedSemaphorePermit, SessionError> {
        let limit = self.settings.max_sessions;
        let places = Arc::clone(&self.places);
        places.try_acquire_owned().map_err(|_| SessionError::TooManySessions { limit })
    }

    pub(crate) async fn spawn(
        &self,
        launch: &Launch,
        id: &SessionId,
        size: Size,
    ) -> Result<Spawned, SessionError> {
        let mut spec = launch.spec(id, size);
        let mut shell = launch
            .shell
            .map(|shell| self.prepare(shell, launch, &mut spec))
            .transpose()
            .map_err(unprepared)?;
        spec.journal = self.lasting.is_some().then(JournalSize::default);
        let mut program = self.host.spawn(spec).await?;
        let journal = program.take_journal();
        if let Some(link) = shell.as_mut().filter(|_| journal.is_some()) {
            link.folder.hand_over();
        }
        Ok(Spawned { program, shell, journal })
    }

    pub(crate) fn changed(&self) {
        self.changes.send_modify(|count| *count += 1);
    }

    /// Lets every session look at itself.
    fn wake_all(&self) {
        for entry in self.lock().values() {
            entry.session.wake();
        }
    }

    /// Lists a session, by the order of its launch: the last, unless an earlier server said which.
    fn add(&self, session: Session, number: Option<u64>) -> u64 {
        let mut sessions = self.lock();
        let next = || sessions.values().map(|entry| entry.number + 1).max().unwrap_or(0);
        let number = number.unwrap_or_else(next);
        let entry = Entry { session, number, finished: None };
        sessions.insert(entry.session.id().clone(), entry);
        drop(sessions);
        self.changed();
        number
    }

    /// Notes that a session's program ended or runs again. As many finished sessions are kept as may
    /// run: the one that ended first makes room.
    pub(crate) fn set_finished(&self, id: &SessionId, finished: bool) {
        let mut sessions = self.lock();
        let last = sessions.values().filter_map(|entry| entry.finished).max();
        if let Some(entry) = sessions.get_mut(id) {
            entry.finished = finished.then(|| last.map_or(0, |last| last + 1));
        }
        let ended = sessions.values().filter(|entry| entry.finished.is_some());
        if ended.clone().count() > self.settings.max_sessions
            && let Some(first) = ended.min_by_key(|entry| entry.finished)
        {
            // The last handle of the registry goes, and with it the task.
            let first = first.session.id().clone();
            sessions.remove(&first);
        }
        drop(sessions);
        self.changed();
    }

    pub(crate) fn remove(&self, id: &SessionId) {
        self.lock().remove(id);
        self.changed();
    }

    /// Places what a shell needs to mark its commands, and adds it to what it is started with.
    fn prepare(
        &self,
        shell: Shell,
        launch: &Launch,
        spec: &mut SpawnSpec,
    ) -> io::Result<ShellLink> {
        let folder = self.private_folder()?;
        let pipe_path = folder.path().join(PIPE_NAME);
        let variable = |name: &str| {
            let found = spec.env.iter().find(|(known, _)| known == name);
            found.map(|(_, value)| value.to_string_lossy().into_owned())
        };
        let integration = shell.integration(&Setup {
            folder: folder.path(),
            pipe: &pipe_path,
            zdotdir: variable("ZDOTDIR").as_deref(),
            env: variable("ENV").as_deref(),
            keep_history: launch.keep_history,
            start_up_files: launch.start_up_files,
        });
        for (name, content) in integration.files {
            folder.write(name, content.as_bytes())?;
        }
        spec.args.splice(0..0, integration.args.into_iter().map(Into::into));
        for (name, value) in integration.env {
            spec.env.retain(|(known, _)| known != name.as_str());
            spec.env.push((name.into(), value.into()));
        }
        spec.private_folder = Some(folder.path().to_owned());
        let pipe = folder.pipe(PIPE_NAME)?;
        spec.command_pipe = self.lasting.is_some().then_some(pipe_path);
        Ok(ShellLink { shell, pipe, folder })
    }

    /// A folder for one shell. The server's own is made anew when somebody has removed it.
    fn private_folder(&self) -> io::Result<PrivateFolder> {
        match self.runtime()?.private_folder() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            made => return made,
        }
        *self.runtime.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.runtime()?.private_folder()
    }

    fn runtime(&self) -> io::Result<Arc<RuntimeFolder>> {
        let mut runtime = self.runtime.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(runtime) = &*runtime {
            return Ok(Arc::clone(runtime));
        }
        let made = match &self.lasting {
            Some(path) => RuntimeFolder::lasting(path)?,
            None => RuntimeFolder::create()?,
        };
        Ok(Arc::clone(runtime.insert(Arc::new(made))))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SessionId, Entry>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why what a shell is started with could not be placed.
fn unprepared(error: io::Error) -> SessionError {
    // Where there are no terminals there is no folder for them.
    let error = match error.downcast::<SpawnError>() {
        Ok(unsupported) => return unsupported.into(),
        Err(error) => error,
    };
    match SpawnError::descriptor_limit(error) {
        Ok(limit) => limit.into(),
        Err(error) => SessionError::System(format!("cannot prepare the shell: {error}")),
    }
}

/// A task's way back to its server, which may be gone.
pub(crate) type Server = Weak<Shared>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_where_there_are_no_terminals_is_not_supported() {
        let refused = io::Error::new(io::ErrorKind::Unsupported, SpawnError::Unsupported);
        assert!(matches!(unprepared(refused), SessionError::Spawn(SpawnError::Unsupported)));
        // The same kind of the system's own means something else.
        let failed = io::Error::from(io::ErrorKind::Unsupported);
        assert!(matches!(unprepared(failed), SessionError::System(_)));
    }
}
