//! The editors that are connected: which one gets a new terminal, and requests to the one that has it.

use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use termbridge_editor::{Peer, PeerError, PeerId, Reply};
use termbridge_session::SessionError;
use tokio::sync::watch;
use tokio::time::Instant;

use super::terminal::EditorTerminal;

/// How long a request waits for an editor to connect. Extensions try again every 5 s.
pub(super) const CONNECT_LIMIT: Duration = Duration::from_secs(6);
/// How long one about a terminal does: a window that is loaded anew restores its terminals last.
const RELOAD_LIMIT: Duration = Duration::from_secs(20);
/// How often a window is looked for meanwhile.
const LOOK: Duration = Duration::from_secs(1);
/// How often a request that was never written is sent to the next connection of the same window.
const ATTEMPTS: u32 = 3;
/// Editors that an error names.
const MAX_NAMED: usize = 8;

/// What a window is known by, from one connection to the next.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum WindowKey {
    /// A window of our own extension.
    Window(String),
    /// A connection of an extension that says nothing of itself.
    Plain(PeerId),
}

impl WindowKey {
    pub(super) fn of(peer: &Peer) -> Self {
        peer.hello().map_or(Self::Plain(peer.id()), |hello| Self::Window(hello.window.clone()))
    }
}

/// Why a request was not done.
pub(super) enum Failure {
    /// The editor has said no.
    Refused { message: String, code: Option<String> },
    /// Nobody was there, or nobody replied.
    Unavailable(SessionError),
}

impl From<Failure> for SessionError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Refused { message, .. } => {
                Self::Unavailable(format!("the editor refused: {message}"))
            }
            Failure::Unavailable(error) => error,
        }
    }
}

/// The editors that are connected.
pub(super) struct ConnectedWindows(watch::Sender<Vec<Peer>>);

impl ConnectedWindows {
    pub(super) fn new() -> Self {
        Self(watch::channel(Vec::new()).0)
    }

    pub(super) fn add(&self, peer: &Peer) {
        self.0.send_modify(|peers| peers.push(peer.clone()));
    }

    pub(super) fn remove(&self, peer: &Peer) {
        self.0.send_modify(|peers| peers.retain(|known| known.id() != peer.id()));
    }

    pub(super) fn is_connected(&self, key: &WindowKey) -> bool {
        self.0.borrow().iter().any(|peer| peer.is_open() && WindowKey::of(peer) == *key)
    }

    /// Whether a window of our own extension is connected.
    pub(super) fn has_ours(&self) -> bool {
        self.0.borrow().iter().any(|peer| peer.is_window() && is_usable(peer))
    }

    /// Whether one of these windows is, and answers.
    pub(super) fn is_usable(&self, keys: &[WindowKey]) -> bool {
        find(&self.0.borrow(), keys).is_some()
    }

    /// Has those look again that wait for a window: another has a terminal.
    pub(super) fn wake(&self) {
        self.0.send_modify(|_| {});
    }

    /// The editor for a new terminal: the one that has the workspace open, or else the newest plain one, or else the only
    /// one.
    pub(super) async fn choose(&self, workspace: &Path, cwd: &Path) -> Result<Peer, SessionError> {
        let is_there = |peers: &[Peer]| peers.iter().any(is_usable).then_some(());
        let some = self.wait_for(Instant::now() + CONNECT_LIMIT, is_there).await;
        if some.is_none() {
            let limit = CONNECT_LIMIT.as_secs();
            let why = format!(
                "no editor has connected within {limit} s: is one open that has the extension, and is its folder trusted?"
            );
            return Err(SessionError::Unavailable(why));
        }
        let peers: Vec<Peer> =
            self.0.borrow().iter().filter(|peer| is_usable(peer)).cloned().collect();
        let has = |folder: &Path| {
            // The folder that is nearest.
            let depth = |peer: &&Peer| nearest(peer, folder);
            peers.iter().filter(|peer| nearest(peer, folder).is_some()).max_by_key(depth)
        };
        let plain = || peers.iter().rev().find(|peer| !peer.is_window());
        match (has(workspace).or_else(|| has(cwd)).or_else(plain), peers.as_slice()) {
            (Some(peer), _) | (None, [peer]) => Ok(peer.clone()),
            (None, peers) => {
                let names: Vec<String> = peers.iter().take(MAX_NAMED).map(name).collect();
                Err(SessionError::Unavailable(format!(
                    "{} editors are connected, and none of them has {} open: {}; give a `cwd` in one of their folders",
                    peers.len(),
                    workspace.display(),
                    names.join("; ")
                )))
            }
        }
    }

    /// Sends a request to a window. One that was never written is sent to its next connection.
    pub(super) async fn request(
        &self,
        key: &WindowKey,
        kind: &str,
        data: Value,
    ) -> Result<Reply, Failure> {
        let look = |peers: &[Peer]| find(peers, std::slice::from_ref(key));
        self.request_to(look, CONNECT_LIMIT, kind, data).await
    }

    /// The same to the last window that has a terminal, which may be loaded anew meanwhile.
    pub(super) async fn request_for(
        &self,
        terminal: &EditorTerminal,
        kind: &str,
        data: Value,
        patience: Option<Duration>,
    ) -> Result<Reply, Failure> {
        let limit = if terminal.is_in_ours() { RELOAD_LIMIT } else { CONNECT_LIMIT };
        let limit = patience.map_or(limit, |patience| patience.min(limit));
        self.request_to(|peers| find(peers, &terminal.windows()), limit, kind, data).await
    }

    async fn request_to(
        &self,
        look: impl Fn(&[Peer]) -> Option<Peer>,
        limit: Duration,
        kind: &str,
        data: Value,
    ) -> Result<Reply, Failure> {
        let deadline = Instant::now() + limit;
        let mut attempts = 1..ATTEMPTS;
        loop {
            let Some(peer) = self.wait_for(deadline, &look).await else {
                let why = "the editor's window that has this terminal does not answer: it was closed, is cut off, or is reloading";
                return Err(Failure::Unavailable(SessionError::Unavailable(why.into())));
            };
            match peer.request(kind, data.clone()).await {
                Ok(reply) => return Ok(reply),
                Err(PeerError::NotSent) if attempts.next().is_some() => {}
                // It was not done. What the window says of itself is under way too.
                Err(PeerError::Refused { code: Some(code), .. })
                    if code == "away" && attempts.next().is_some() =>
                {
                    tokio::time::sleep(LOOK).await;
                }
                Err(PeerError::Refused { message, code }) => {
                    return Err(Failure::Refused { message, code });
                }
                Err(error) => {
                    let again = match error.was_written() && kind == "execute" {
                        true => "; the command may have run, and is not sent again",
                        false => "",
                    };
                    let why = SessionError::Unavailable(format!("{error}{again}"));
                    return Err(Failure::Unavailable(why));
                }
            }
        }
    }

    /// What is looked for among the editors, at most until then.
    async fn wait_for<T>(
        &self,
        deadline: Instant,
        look: impl Fn(&[Peer]) -> Option<T>,
    ) -> Option<T> {
        let mut changes = self.0.subscribe();
        loop {
            if let Some(found) = look(&changes.borrow_and_update()) {
                return Some(found);
            }
            let now = Instant::now();
            if now >= deadline {
                return None;
            }
            // The sender is ours. That a window answers again is no change of this.
            let _ = tokio::time::timeout_at(deadline.min(now + LOOK), changes.changed()).await;
        }
    }
}

/// Whether it is connected and its window answers.
fn is_usable(peer: &Peer) -> bool {
    peer.is_open() && !peer.hello().is_some_and(|hello| hello.away)
}

/// The newest connection of the last of these windows that has one.
fn find(peers: &[Peer], keys: &[WindowKey]) -> Option<Peer> {
    let of = |key: &WindowKey| {
        let fits = |peer: &&Peer| is_usable(peer) && WindowKey::of(peer) == *key;
        peers.iter().rev().find(fits).cloned()
    };
    keys.iter().rev().find_map(of)
}

/// How deep the deepest of a window's folders is that has this one in it.
fn nearest(peer: &Peer, folder: &Path) -> Option<usize> {
    let hello = peer.hello()?;
    let around = hello.folders.iter().filter(|around| folder.starts_with(around));
    around.map(|around| around.components().count()).max()
}

/// A window for people.
fn name(peer: &Peer) -> String {
    let Some(hello) = peer.hello() else { return "an editor that says nothing of itself".into() };
    let folders: Vec<String> =
        hello.folders.iter().map(|folder| folder.display().to_string()).collect();
    match folders.is_empty() {
        true => format!("{} without a folder", hello.editor),
        false => format!("{} with {}", hello.editor, folders.join(", ")),
    }
}
