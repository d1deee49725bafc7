//! [`Backends`]: the backends of a hub side by side, and which of them a session is at.
//!
//! A call that names a session goes to the backend that has it, and to no other. A new session goes to the backend that
//! is its target, or else to the first. Ids are unique: where two backends claim the same, the first has it, and a new
//! session with an id that is taken is refused.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use termbridge_session::{Owner, SessionError, SessionId, SessionInfo};

use crate::backend::{OwnerFilter, TerminalBackend};
use crate::caller::{Access, Caller};
use crate::error::BridgeError;

/// How long a backend may take to list its sessions before the others' are shown without them.
const LIST_LIMIT: Duration = Duration::from_secs(1);

/// A backend, by its place among those of the hub; the first by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct BackendIndex(usize);

/// At least one backend.
pub(crate) struct Backends {
    all: Vec<Arc<dyn TerminalBackend>>,
}

/// The sessions of all backends.
#[derive(Debug, Clone, Default)]
pub struct Listed {
    /// The sessions, backend by backend.
    pub sessions: Vec<SessionInfo>,
    /// What is wrong with backends whose sessions are missing.
    pub notes: Vec<String>,
}

impl Backends {
    pub(crate) fn one(backend: Arc<dyn TerminalBackend>) -> Self {
        Self { all: vec![backend] }
    }

    /// Several, the first of which is the one that new sessions are made at; `None` without any.
    pub(crate) fn several(all: Vec<Arc<dyn TerminalBackend>>) -> Option<Self> {
        (!all.is_empty()).then_some(Self { all })
    }

    /// Which backend a session is at. One that nobody has is looked for, in vain, at the first.
    pub(crate) fn index_of(&self, id: &SessionId) -> BackendIndex {
        match self.all.as_slice() {
            [_] => BackendIndex::default(),
            all => BackendIndex(all.iter().position(|backend| backend.has(id)).unwrap_or_default()),
        }
    }

    /// All of them.
    pub(crate) fn all(&self) -> impl Iterator<Item = &dyn TerminalBackend> {
        self.all.iter().map(|backend| &**backend)
    }

    pub(crate) fn get(&self, index: BackendIndex) -> &dyn TerminalBackend {
        &*self.all[index.0]
    }

    /// The backend that a session is at.
    pub(crate) fn of(&self, id: &SessionId) -> &dyn TerminalBackend {
        self.get(self.index_of(id))
    }

    /// The backend for a new session: the named one, or else the first.
    pub(crate) fn target(&self, target: Option<&str>) -> Result<BackendIndex, BridgeError> {
        let Some(target) = target else { return Ok(BackendIndex::default()) };
        let index = self.all.iter().position(|backend| backend.target() == target);
        index.map(BackendIndex).ok_or_else(|| {
            let known: Vec<&str> = self.all.iter().map(|backend| backend.target()).collect();
            BridgeError::Invalid(format!(
                "there is no target {target:?}; there are: {}",
                known.join(", ")
            ))
        })
    }

    /// The same for a requested shell. If the backend cannot read it, the server hosts it: a window shows that too.
    pub(crate) fn target_for_shell(
        &self,
        target: Option<&str>,
        shell: Option<&str>,
    ) -> Result<BackendIndex, BridgeError> {
        let at = self.target(target)?;
        let is_read = shell.is_none_or(|shell| self.get(at).can_read(shell));
        Ok(self.local_screens().filter(|_| !is_read).unwrap_or(at))
    }

    /// The first backend of this machine that has screens.
    pub(crate) fn local_screens(&self) -> Option<BackendIndex> {
        let found =
            self.all.iter().position(|backend| backend.is_local() && backend.screens().is_some());
        found.map(BackendIndex)
    }

    /// Whether any has screens.
    pub(crate) fn have_screens(&self) -> bool {
        self.all.iter().any(|backend| backend.screens().is_some())
    }

    /// Refuses a new session of a backend whose id another has.
    pub(crate) fn check_new(&self, at: BackendIndex, id: &SessionId) -> Result<(), SessionError> {
        let others = self.all.iter().enumerate().filter(|(index, _)| *index != at.0);
        match others.into_iter().find(|(_, backend)| backend.has(id)) {
            None => Ok(()),
            Some((_, other)) => Err(SessionError::System(format!(
                "the target {} gave a new session the id {id}, which is that of a session of {}",
                self.get(at).target(),
                other.target()
            ))),
        }
    }

    /// All sessions.
    pub(crate) async fn list(&self) -> Result<Listed, SessionError> {
        self.list_of(&|_| true).await
    }

    /// A caller's own sessions.
    pub(crate) async fn list_own(&self, caller: &Caller) -> Result<Listed, SessionError> {
        self.list_of(&|owner: &Owner| caller.access(owner) == Access::Own).await
    }

    /// The sessions of those owners. One backend alone may fail; of several, those that fail or take longer than
    /// [`LIST_LIMIT`] are noted.
    pub(crate) async fn list_of(&self, is_wanted: OwnerFilter<'_>) -> Result<Listed, SessionError> {
        if let [only] = self.all.as_slice() {
            let sessions = only.list_sessions_of(is_wanted).await?;
            return Ok(Listed { sessions, notes: Vec::new() });
        }
        let lists = self
            .all
            .iter()
            .map(|backend| tokio::time::timeout(LIST_LIMIT, backend.list_sessions_of(is_wanted)));
        let mut listed = Listed::default();
        for (index, list) in join_all(lists).await.into_iter().enumerate() {
            let target = self.all[index].target();
            let why = match list {
                Ok(Ok(sessions)) => {
                    // An id that another backend has leads there, so it is not shown here.
                    let is_before =
                        |id: &SessionId| self.all[..index].iter().any(|before| before.has(id));
                    listed
                        .sessions
                        .extend(sessions.into_iter().filter(|info| !is_before(&info.id)));
                    continue;
                }
                Ok(Err(error)) => error.to_string(),
                Err(_) => format!("no answer within {} s", LIST_LIMIT.as_secs()),
            };
            tracing::warn!(target, why, "sessions could not be listed");
            listed.notes.push(format!("the sessions of {target} are missing: {why}"));
        }
        Ok(listed)
    }
}
