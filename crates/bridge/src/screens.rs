//! Sessions with a screen: what a backend has to offer so that agents can see it and type to it.
//!
//! [`Screens`] finds and launches them, a [`ScreenSession`] is one of them. The words are those of `termbridge-session`:
//! a snapshot, an input, a wait. Our own [`Sessions`] are one implementation; an editor's terminals, or those of
//! another machine, are others. Callers get neither: the hub gives them a [`ScreenHandle`] after it has decided that
//! the session is theirs to use.
//!
//! Invariants:
//! - Finding a session never waits: a backend knows by itself which sessions it has and whose they are.
//! - Dropping a wait ends the wait and nothing else.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use termbridge_session::vt::Size;
use termbridge_session::{
    Input, Launch, Owner, Sent, Session, SessionError, SessionId, SessionInfo, Sessions, Signal,
    Snapshot, SnapshotRequest, Stopped, Wait, Waited,
};

/// A wait that has begun.
pub type Waiting = Pin<Box<dyn Future<Output = Result<Waited, SessionError>> + Send>>;

/// The sessions of a backend that have screens.
#[async_trait]
pub trait Screens: Send + Sync + 'static {
    /// Starts a program on a terminal of its own.
    async fn launch(&self, launch: Launch) -> Result<Arc<dyn ScreenSession>, SessionError>;

    /// The session with this id. It is asked for with every call, so it must not wait.
    fn get(&self, id: &SessionId) -> Result<Arc<dyn ScreenSession>, SessionError>;
}

/// A session that can be seen and typed to.
#[async_trait]
pub trait ScreenSession: Send + Sync + 'static {
    /// Its id.
    fn id(&self) -> &SessionId;

    /// Whose it is.
    fn owner(&self) -> &Owner;

    /// A copy of the screen and what else is asked for.
    async fn snapshot(&self, request: SnapshotRequest) -> Result<Snapshot, SessionError>;

    /// Sends input, all of it or nothing.
    async fn send(&self, input: Vec<Input>) -> Result<Sent, SessionError>;

    /// Sends input and begins to wait in the same moment, so that nothing the input leads to is missed. Returns once
    /// the input is queued.
    async fn send_then_wait(
        &self,
        input: Vec<Input>,
        wait: Wait,
    ) -> Result<(Sent, Waiting), SessionError>;

    /// Waits, at most as long as the wait says.
    async fn wait(&self, wait: Wait) -> Result<Waited, SessionError>;

    /// The terminal's size.
    async fn size(&self) -> Result<Size, SessionError>;

    /// Changes the terminal's size and returns the one in force.
    async fn resize(&self, size: Size) -> Result<Size, SessionError>;

    /// Starts the same program again on a clean screen, ending it first if it runs.
    async fn restart(&self) -> Result<(), SessionError>;

    /// Ends the program: `signal`, `grace`, then KILL.
    async fn stop(&self, signal: Signal, grace: Duration) -> Result<Stopped, SessionError>;

    /// Our own session, where it is one: people can watch those and take over.
    fn own(&self) -> Option<&Session> {
        None
    }

    /// What is known of it.
    async fn info(&self) -> Result<SessionInfo, SessionError>;
}

/// A session with a screen that its caller may use. Made by the hub alone, once the caller's right to it is
/// established; clones are the same session.
#[derive(Clone)]
pub struct ScreenHandle {
    session: Arc<dyn ScreenSession>,
}

impl ScreenHandle {
    pub(crate) fn new(session: Arc<dyn ScreenSession>) -> Self {
        Self { session }
    }

    /// The session's id.
    pub fn id(&self) -> &SessionId {
        self.session.id()
    }

    /// A copy of the screen.
    pub async fn screen(&self) -> Result<Snapshot, SessionError> {
        self.snapshot(SnapshotRequest::default()).await
    }

    /// A copy of the screen and what else is asked for.
    pub async fn snapshot(&self, request: SnapshotRequest) -> Result<Snapshot, SessionError> {
        self.session.snapshot(request).await
    }

    /// Sends input, all of it or nothing.
    pub async fn send(&self, input: Vec<Input>) -> Result<Sent, SessionError> {
        self.session.send(input).await
    }

    /// Sends input and begins to wait in the same moment.
    pub async fn send_then_wait(
        &self,
        input: Vec<Input>,
        wait: Wait,
    ) -> Result<(Sent, Waiting), SessionError> {
        self.session.send_then_wait(input, wait).await
    }

    /// Waits; dropping the future ends the wait and nothing else.
    pub async fn wait(&self, wait: Wait) -> Result<Waited, SessionError> {
        self.session.wait(wait).await
    }

    /// The terminal's size.
    pub async fn size(&self) -> Result<Size, SessionError> {
        self.session.size().await
    }

    /// Changes the terminal's size.
    pub async fn resize(&self, size: Size) -> Result<Size, SessionError> {
        self.session.resize(size).await
    }

    /// Starts the same program again.
    pub async fn restart(&self) -> Result<(), SessionError> {
        self.session.restart().await
    }

    /// Ends the program.
    pub async fn stop(&self, signal: Signal, grace: Duration) -> Result<Stopped, SessionError> {
        self.session.stop(signal, grace).await
    }

    /// Our own session, where it is one: people can watch those and take over.
    pub fn own(&self) -> Option<&Session> {
        self.session.own()
    }

    /// What is known of the session.
    pub async fn info(&self) -> Result<SessionInfo, SessionError> {
        self.session.info().await
    }
}

#[async_trait]
impl Screens for Sessions {
    async fn launch(&self, launch: Launch) -> Result<Arc<dyn ScreenSession>, SessionError> {
        Ok(Arc::new(Sessions::launch(self, launch).await?))
    }

    fn get(&self, id: &SessionId) -> Result<Arc<dyn ScreenSession>, SessionError> {
        Ok(Arc::new(Sessions::get(self, id)?))
    }
}

#[async_trait]
impl ScreenSession for Session {
    fn id(&self) -> &SessionId {
        Session::id(self)
    }

    fn owner(&self) -> &Owner {
        Session::owner(self)
    }

    fn own(&self) -> Option<&Session> {
        Some(self)
    }

    async fn snapshot(&self, request: SnapshotRequest) -> Result<Snapshot, SessionError> {
        Session::snapshot(self, request).await
    }

    async fn send(&self, input: Vec<Input>) -> Result<Sent, SessionError> {
        Session::send(self, input).await
    }

    async fn send_then_wait(
        &self,
        input: Vec<Input>,
        wait: Wait,
    ) -> Result<(Sent, Waiting), SessionError> {
        let (sent, waiting) = Session::send_then_wait(self, input, wait).await?;
        Ok((sent, Box::pin(waiting)))
    }

    async fn wait(&self, wait: Wait) -> Result<Waited, SessionError> {
        Session::wait(self, wait).await
    }

    async fn size(&self) -> Result<Size, SessionError> {
        Session::size(self).await
    }

    async fn resize(&self, size: Size) -> Result<Size, SessionError> {
        Session::resize(self, size).await
    }

    async fn restart(&self) -> Result<(), SessionError> {
        Session::restart(self).await
    }

    async fn stop(&self, signal: Signal, grace: Duration) -> Result<Stopped, SessionError> {
        Session::stop(self, signal, grace).await
    }

    async fn info(&self) -> Result<SessionInfo, SessionError> {
        Session::info(self).await
    }
}
