//! [`Sessions`]: every session of a server.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use termbridge_pty::{Keeper, PrivateFolder, ProgramHost, RuntimeFolder, SpawnError, SpawnSpec};
use termbridge_shell::{Setup, Shell};
use termbridge_vt::Size;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

use crate::error::SessionError;
use crate::id::SessionId;
use crate::info::SessionInfo;
use crate::launch::Launch;
use crate::memory::Budgets;
use crate::session::Session;
use crate::settings::Settings;
use crate::task::shell::{ShellLink, Spawned};
use crate::task::{COMMAND_QUEUE, SessionTask};
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
    sessions: Mutex<HashMap<SessionId, Entry>>,
    /// Holds what shells are started with; made with the first of them.
    runtime: Mutex<Option<Arc<RuntimeFolder>>>,
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
        let shared = Shared {
            budgets: Budgets::new(&settings),
            host,
            places: Arc::new(Semaphore::new(settings.max_sessions)),
            turns: Turns::default(),
            sessions: Mutex::new(HashMap::new()),
            runtime: Mutex::new(None),
            settings,
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
        let owner = Arc::new(launch.owner.clone());
        let session = Session::new(id.clone(), owner, commands.clone());
        self.shared.add(session.clone());
        let shared = Arc::downgrade(&self.shared);
        let commands = commands.downgrade();
        let shares = self.shared.budgets.join(&commands);
        let task = SessionTask::new(id, launch, spawned, place, shared, shares, commands);
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
        let mut list = Vec::new();
        for session in self.all() {
            // A session that ends while it is asked is not listed.
            list.extend(session.info().await.ok());
        }
        list
    }

    /// Ends every program; returns when all are gone, and the temporary files with them.
    pub async fn shutdown(&self) {
        self.shared.host.shutdown(SHUTDOWN_GRACE).await;
        let runtime = self.shared.runtime.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(runtime) = runtime {
            runtime.remove();
        }
    }
}

impl Shared {
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
        let shell = launch
            .shell
            .map(|shell| self.prepare(shell, launch, &mut spec))
            .transpose()
            .map_err(|error| match SpawnError::descriptor_limit(error) {
                Ok(limit) => limit.into(),
                Err(error) => SessionError::System(format!("cannot prepare the shell: {error}")),
            })?;
        Ok(Spawned { program: self.host.spawn(spec).await?, shell })
    }

    fn add(&self, session: Session) {
        let mut sessions = self.lock();
        let number = sessions.values().map(|entry| entry.number + 1).max().unwrap_or(0);
        let entry = Entry { session, number, finished: None };
        sessions.insert(entry.session.id().clone(), entry);
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
    }

    pub(crate) fn remove(&self, id: &SessionId) {
        self.lock().remove(id);
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
        Ok(ShellLink { shell, pipe, folder })
    }

    /// A folder for one shell. The server's own is made anew when somebody has removed it.
    fn private_folder(&self) -> io::Result<PrivateFolder> {
        let mut runtime = self.runtime.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(runtime) = &*runtime {
            match runtime.private_folder() {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                made => return made,
            }
        }
        runtime.insert(Arc::new(RuntimeFolder::create()?)).private_folder()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SessionId, Entry>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A task's way back to its server, which may be gone.
pub(crate) type Server = Weak<Shared>;
