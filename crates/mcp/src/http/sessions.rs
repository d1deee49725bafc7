//! The sessions of HTTP clients: rmcp's, each with an owner, and counted.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use futures_util::Stream;
use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError,
};
use rmcp::transport::streamable_http_server::session::{
    ServerSseMessage, SessionId, SessionManager,
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::HttpSettings;

/// Messages of a session that wait for its task, and events that are kept for a client that comes back.
const CHANNEL: usize = 64;

/// A principal gets at most one part in so many of all sessions.
const SHARE: usize = 4;
/// And never fewer than this.
const MIN_SHARE: usize = 16;

/// All sessions.
pub(super) struct Sessions {
    local: LocalSessionManager,
    owners: Mutex<HashMap<SessionId, Owned>>,
    room: Arc<Semaphore>,
    most: usize,
}

/// Whose a session is.
struct Owned {
    principal: String,
    used: Instant,
    _place: Place,
}

/// A place for one more session, taken before it is made.
pub(super) type Place = OwnedSemaphorePermit;

impl Sessions {
    pub(super) fn new(settings: &HttpSettings) -> Self {
        let mut local = LocalSessionManager::default();
        local.session_config.keep_alive = Some(settings.session_idle);
        local.session_config.channel_capacity = CHANNEL;
        let room = Arc::new(Semaphore::new(settings.max_sessions));
        Self { local, owners: Mutex::default(), room, most: settings.max_sessions }
    }

    /// A place for a session of a principal, which has no more than its share: for one more, the one goes that it has
    /// not used for longest.
    pub(super) async fn place(&self, principal: &str) -> Option<Place> {
        let unused = {
            let owners = self.owners.lock().unwrap_or_else(PoisonError::into_inner);
            let own = || owners.iter().filter(|(_, owned)| owned.principal == principal);
            let unused = own().min_by_key(|(_, owned)| owned.used).map(|(id, _)| Arc::clone(id));
            unused.filter(|_| own().count() >= self.most.div_ceil(SHARE).max(MIN_SHARE))
        };
        if let Some(unused) = unused {
            self.end(&unused).await;
        }
        Arc::clone(&self.room).try_acquire_owned().ok()
    }

    async fn end(&self, id: &SessionId) {
        let _ = self.local.close_session(id).await;
        self.owners.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
    }

    pub(super) fn count(&self) -> usize {
        self.most - self.room.available_permits()
    }

    /// Whether there is such a session, and it is this principal's.
    pub(super) fn is_of(&self, principal: &str, id: &str) -> bool {
        let mut owners = self.owners.lock().unwrap_or_else(PoisonError::into_inner);
        let owned = owners.get_mut(id).filter(|owned| owned.principal == principal);
        owned.map(|owned| owned.used = Instant::now()).is_some()
    }

    /// Ends every session of a principal.
    pub(super) async fn end_all_of(&self, principal: &str) {
        let owners = || self.owners.lock().unwrap_or_else(PoisonError::into_inner);
        let all: Vec<SessionId> = {
            let owners = owners();
            let own = owners.iter().filter(|(_, owned)| owned.principal == principal);
            own.map(|(id, _)| Arc::clone(id)).collect()
        };
        for id in all {
            self.end(&id).await;
        }
    }
}

/// The sessions as one request of a principal sees them.
pub(super) struct OwnSessions {
    all: Arc<Sessions>,
    principal: String,
    /// For the session that this request opens.
    place: Mutex<Option<Place>>,
    ending: Mutex<Option<Ending>>,
}

type Ending = Box<dyn FnOnce() + Send>;

impl OwnSessions {
    pub(super) fn new(
        all: Arc<Sessions>,
        principal: String,
        place: Option<Place>,
        ending: Option<Ending>,
    ) -> Self {
        let (place, ending) = (Mutex::new(place), Mutex::new(ending));
        Self { all, principal, place, ending }
    }

    fn owns(&self, id: &SessionId) -> bool {
        self.all.is_of(&self.principal, id)
    }

    /// Another's session is one that does not exist.
    fn check(&self, id: &SessionId) -> Result<(), LocalSessionManagerError> {
        match self.owns(id) {
            true => Ok(()),
            false => Err(LocalSessionManagerError::SessionNotFound(Arc::clone(id))),
        }
    }
}

impl SessionManager for OwnSessions {
    type Error = LocalSessionManagerError;
    type Transport = Watched<<LocalSessionManager as SessionManager>::Transport>;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Self::Error> {
        let place = self.place.lock().unwrap_or_else(PoisonError::into_inner).take();
        let ending = self.ending.lock().unwrap_or_else(PoisonError::into_inner).take();
        let (id, transport) = self.all.local.create_session().await?;
        if let Some(place) = place {
            let (principal, used) = (self.principal.clone(), Instant::now());
            let owned = Owned { principal, used, _place: place };
            let mut owners = self.all.owners.lock().unwrap_or_else(PoisonError::into_inner);
            owners.insert(Arc::clone(&id), owned);
        }
        Ok((id, Watched { transport, ending }))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Self::Error> {
        self.all.local.initialize_session(id, message).await
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        Ok(self.owns(id) && self.all.local.has_session(id).await?)
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        if !self.owns(id) {
            return Ok(());
        }
        let closed = self.all.local.close_session(id).await;
        self.all.owners.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
        closed
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.check(id)?;
        self.all.local.create_stream(id, message).await
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), Self::Error> {
        self.check(id)?;
        self.all.local.accept_message(id, message).await
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.check(id)?;
        self.all.local.create_standalone_stream(id).await
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.check(id)?;
        self.all.local.resume(id, last_event_id).await
    }
}

/// A session's transport that tells when its client is gone: waits end with it.
pub(super) struct Watched<T> {
    transport: T,
    ending: Option<Ending>,
}

impl<T> Watched<T> {
    fn end(&mut self) {
        if let Some(ending) = self.ending.take() {
            ending();
        }
    }
}

impl<T> Drop for Watched<T> {
    fn drop(&mut self) {
        self.end();
    }
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for Watched<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.transport.send(message)
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        let message = self.transport.receive().await;
        if message.is_none() {
            self.end();
        }
        message
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.end();
        self.transport.close().await
    }
}
