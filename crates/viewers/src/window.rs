//! [`SessionWindows`]: windows are welcomed, and what their people ask for is done.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use termbridge_bridge::{Bridge, BridgeError, Caller, Client, FolderLimiting, Scope};
use termbridge_editor::{Hello, PROTOCOL, Peer, Refused, Welcome, Window, Windows};
use termbridge_session::vt::Size;
use termbridge_session::{Owner, Session, SessionError, SessionId, Signal, SnapshotRequest};
use tokio::sync::{Notify, watch};
use tokio::task::AbortHandle;

use crate::board;
use crate::pan::Distance;
use crate::person_limits;
use crate::watching::Watching;

/// Sessions that one window watches at most.
const MAX_WATCHED: usize = 256;
/// How long a session that a person stops has to end by itself.
const STOP_GRACE: Duration = Duration::from_secs(2);
/// Sessions in which a window's person goes on driving at most.
const MAX_DRIVEN: usize = 256;
/// Lines of a transcript.
const MAX_LINES: usize = 100_000;

/// Bytes of a transcript, the last ones.
const MAX_TRANSCRIPT: usize = 4 * 1024 * 1024;
/// How many windows were opened.
static OPENED: AtomicU64 = AtomicU64::new(0);

/// Whoever is told what happens.
#[async_trait]
pub trait Audience: Send + Sync + 'static {
    /// Tells it; waits while it is slow. False when it is gone.
    async fn tell(&self, kind: &'static str, data: Value) -> bool;
}

#[async_trait]
impl Audience for Peer {
    async fn tell(&self, kind: &'static str, data: Value) -> bool {
        self.notify(kind, data).await.is_ok()
    }
}

/// Shows the sessions of a hub to windows of an editor.
#[derive(Clone)]
pub struct SessionWindows {
    bridge: Bridge,
    version: &'static str,
}

/// What the tasks of a window share.
pub(crate) struct Shared {
    pub(crate) bridge: Bridge,
    pub(crate) caller: Caller,
    pub(crate) window: String,
    pub(crate) audience: Arc<dyn Audience>,
    folders: Mutex<Vec<PathBuf>>,
    /// The window has other folders now.
    pub(crate) moved: Notify,
}

impl Shared {
    pub(crate) fn folders(&self) -> Vec<PathBuf> {
        self.folders.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// One window.
struct SessionWindow {
    shared: Arc<Shared>,
    /// What its person has set, in force as long as the window is open.
    limits: Mutex<Option<FolderLimiting>>,
    watched: Mutex<HashMap<SessionId, Watched>>,
    /// Sessions that its person has typed into, taken over, fitted to a panel, or opened a password box for.
    driven: Mutex<HashSet<SessionId>>,
    board: AbortHandle,
}

/// A session that it watches; ends with this.
struct Watched {
    panel: watch::Sender<Size>,
    scrolled: watch::Sender<Distance>,
    task: AbortHandle,
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Drop for SessionWindow {
    fn drop(&mut self) {
        self.board.abort();
        let driven =
            std::mem::take(&mut *self.driven.lock().unwrap_or_else(PoisonError::into_inner));
        let shared = Arc::clone(&self.shared);
        // Without a runtime everything ends anyway.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                for id in driven {
                    if let Ok(handle) = shared.bridge.screen(&shared.caller, &id)
                        && let Some(session) = handle.own()
                    {
                        let _ = session.leave(&shared.window).await;
                    }
                }
            });
        }
    }
}

impl SessionWindows {
    /// Windows onto the sessions of a hub.
    pub fn new(bridge: Bridge, version: &'static str) -> Self {
        Self { bridge, version }
    }

    async fn welcome(
        &self,
        hello: &Hello,
        audience: Arc<dyn Audience>,
    ) -> (Welcome, SessionWindow) {
        // A person of the server's own user: every session is theirs to see.
        let client = Client {
            label: format!("window {}", hello.window),
            is_admin: true,
            name: Some(hello.editor.clone()).filter(|name| !name.is_empty()),
            workspace: hello.folders.first().filter(|folder| folder.is_absolute()).cloned(),
            ..Client::default()
        };
        let shared = Arc::new(Shared {
            bridge: self.bridge.clone(),
            caller: Caller::new(Arc::new(client)),
            // Two connections of one name are two windows.
            window: format!("{} {}", hello.window, OPENED.fetch_add(1, Ordering::Relaxed)),
            audience,
            folders: Mutex::new(hello.folders.clone()),
            moved: Notify::new(),
        });
        // Before the first rows, which say who drives.
        let driven = drive_on(&shared, &hello.driving).await;
        let rows = board::rows(&shared).await.unwrap_or_default();
        let sessions =
            rows.values().map(|row| serde_json::to_value(row).unwrap_or_default()).collect();
        // What has changed since is told as soon as it begins.
        shared.moved.notify_one();
        let (limits, wrong_settings) =
            person_limits::set(&self.bridge, &hello.folders, &hello.settings);
        if !wrong_settings.is_empty() {
            let window = &hello.window;
            tracing::warn!(window, ?wrong_settings, "what its person has set cannot be used");
        }
        let board = tokio::spawn(board::keep_told(Arc::clone(&shared), rows)).abort_handle();
        let welcome = Welcome {
            protocol: PROTOCOL,
            version: self.version.to_owned(),
            pid: std::process::id(),
            sessions,
            wrong_settings,
        };
        let (limits, watched) = (Mutex::new(limits), Mutex::default());
        let driven = Mutex::new(driven);
        (welcome, SessionWindow { shared, limits, watched, driven, board })
    }
}

#[async_trait]
impl Windows for SessionWindows {
    async fn open(&self, hello: Hello, peer: Peer) -> Result<(Welcome, Box<dyn Window>), Refused> {
        if hello.protocol != PROTOCOL {
            let why = format!("protocol {} is not spoken here; {PROTOCOL} is", hello.protocol);
            return Err(refused("NOT_SUPPORTED", why));
        }
        let (welcome, window) = self.welcome(&hello, Arc::new(peer)).await;
        Ok((welcome, Box::new(window)))
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OfSession {
    session_id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Panel {
    session_id: String,
    cols: u16,
    rows: u16,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Scrolled {
    session_id: String,
    #[serde(flatten)]
    by: Distance,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Typed {
    session_id: String,
    data: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Secret {
    session_id: String,
    text: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PasswordBox {
    session_id: String,
    is_open: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Resumed {
    session_id: Option<String>,
}

#[derive(Deserialize)]
struct Moved {
    #[serde(default)]
    folders: Vec<PathBuf>,
    #[serde(default)]
    settings: Value,
}

#[async_trait]
impl Window for SessionWindow {
    async fn request(&self, kind: &str, data: Value) -> Result<Value, Refused> {
        match kind {
            "watch" => self.watch(read(data)?).await,
            "unwatch" => {
                let OfSession { session_id } = read(data)?;
                self.lock().remove(&SessionId::from_text(&session_id));
                // The panel is closed: it no longer sets the size.
                if let Ok(session) = self.session(&session_id) {
                    let _ = session.restore_size(&self.shared.window).await;
                }
                Ok(Value::Null)
            }
            "resize" => self.resize(read(data)?).await,
            "scroll" => {
                let Scrolled { session_id, by } = read(data)?;
                if let Some(watched) = self.lock().get(&SessionId::from_text(&session_id)) {
                    watched.scrolled.send_modify(|scrolled| *scrolled += by);
                }
                Ok(Value::Null)
            }
            "input" => {
                let Typed { session_id, data } = read(data)?;
                let session = self.session(&session_id)?;
                self.drives(&session);
                done(session.type_in(&self.shared.window, data.into_bytes()).await)?;
                self.fit(&session).await;
                Ok(Value::Null)
            }
            "take_over" => {
                let panel: Panel = read(data)?;
                let session = self.session(&panel.session_id)?;
                self.drives(&session);
                done(session.take_over(&self.shared.window).await)?;
                self.resize(panel).await
            }
            "hand_back" => {
                let session = self.session(&read::<OfSession>(data)?.session_id)?;
                done(session.hand_back(&self.shared.window).await)
            }
            "secret" => {
                let Secret { session_id, text } = read(data)?;
                let session = self.session(&session_id)?;
                done(session.type_secret(&self.shared.window, text).await)
            }
            "fit_to_panel" => {
                let panel: Panel = read(data)?;
                let session = self.session(&panel.session_id)?;
                self.drives(&session);
                done(session.fit_to_panel(&self.shared.window, size_of(&panel)).await)
            }
            "restore_size" => {
                let session = self.session(&read::<OfSession>(data)?.session_id)?;
                done(session.restore_size(&self.shared.window).await)
            }
            "password_box" => {
                let PasswordBox { session_id, is_open } = read(data)?;
                let session = self.session(&session_id)?;
                self.drives(&session);
                done(session.sees_password_box(&self.shared.window, is_open).await)
            }
            "pause" => {
                let owner = self.owner(&read::<OfSession>(data)?.session_id).await?;
                self.shared.bridge.pause(owner);
                Ok(Value::Null)
            }
            "resume" => {
                let owner = match read::<Resumed>(data)?.session_id {
                    Some(session_id) => Some(self.owner(&session_id).await?),
                    None => None,
                };
                self.shared.bridge.resume(owner);
                Ok(Value::Null)
            }
            "stop" => {
                let session = self.session(&read::<OfSession>(data)?.session_id)?;
                done(session.stop(Signal::TERM, STOP_GRACE).await.map(drop))
            }
            "transcript" => self.transcript(read(data)?).await,
            "update" => {
                let Moved { folders, settings } = read(data)?;
                // Those before hold until these do.
                let (limits, wrong) = person_limits::set(&self.shared.bridge, &folders, &settings);
                *self.limits.lock().unwrap_or_else(PoisonError::into_inner) = limits;
                *self.shared.folders.lock().unwrap_or_else(PoisonError::into_inner) = folders;
                self.shared.moved.notify_one();
                Ok(json!({"wrongSettings": wrong}))
            }
            kind => Err(refused("INVALID_INPUT", format!("unknown request {kind:?}"))),
        }
    }
}

impl SessionWindow {
    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<SessionId, Watched>> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A session that its person may use.
    fn session(&self, id: &str) -> Result<Session, Refused> {
        let Shared { bridge, caller, .. } = &*self.shared;
        bridge.require(caller, Scope::Write).map_err(of_hub)?;
        let handle = bridge.screen(caller, &SessionId::from_text(id)).map_err(of_hub)?;
        handle
            .own()
            .cloned()
            .ok_or_else(|| refused("NOT_SUPPORTED", "this session cannot be watched".into()))
    }

    /// The owner of a session.
    async fn owner(&self, id: &str) -> Result<Owner, Refused> {
        Ok(self.session(id)?.info().await.map_err(of_session)?.owner)
    }

    /// Notes that its person holds something of a session, which the window gives up at its end.
    fn drives(&self, session: &Session) {
        let mut driven = self.driven.lock().unwrap_or_else(PoisonError::into_inner);
        if !driven.contains(session.id()) {
            // Those that are gone need nobody to leave them.
            let Shared { bridge, caller, .. } = &*self.shared;
            driven.retain(|id| bridge.screen(caller, id).is_ok());
            driven.insert(session.id().clone());
        }
    }

    async fn watch(&self, panel: Panel) -> Result<Value, Refused> {
        let session = self.session(&panel.session_id)?;
        let info = session.info().await.map_err(of_session)?;
        let (size, panel) = watch::channel(size_of(&panel));
        let (scrolled, scrolling) = watch::channel(Distance::default());
        let mut watched = self.lock();
        watched.retain(|_, watched| !watched.task.is_finished());
        if watched.len() >= MAX_WATCHED && !watched.contains_key(session.id()) {
            let why =
                format!("{MAX_WATCHED} sessions are watched by this window, which is the limit");
            return Err(refused("RESOURCE_LIMIT", why));
        }
        let audience = Arc::clone(&self.shared.audience);
        let watching = Watching::new(session.clone(), info.size, audience, panel, scrolling);
        let task = tokio::spawn(watching.run()).abort_handle();
        watched.insert(session.id().clone(), Watched { panel: size, scrolled, task });
        let driver = if info.driver.is_some() { "person" } else { "agent" };
        Ok(json!({"cols": info.size.cols, "rows": info.size.rows, "driver": driver}))
    }

    /// The panel has this size; the session follows where its person drives.
    async fn resize(&self, panel: Panel) -> Result<Value, Refused> {
        let session = self.session(&panel.session_id)?;
        if let Some(watched) = self.lock().get(session.id()) {
            let size = size_of(&panel);
            watched.panel.send_if_modified(|known| std::mem::replace(known, size) != size);
        }
        done(session.fit(&self.shared.window, size_of(&panel)).await)
    }

    /// Whoever has just taken over by typing does it in the panel's size.
    async fn fit(&self, session: &Session) {
        let panel = self.lock().get(session.id()).map(|watched| *watched.panel.borrow());
        if let Some(panel) = panel {
            let _ = session.fit(&self.shared.window, panel).await;
        }
    }

    async fn transcript(&self, of: OfSession) -> Result<Value, Refused> {
        let session = self.session(&of.session_id)?;
        let request = SnapshotRequest { scrollback: Some(MAX_LINES), ..Default::default() };
        let snapshot = session.snapshot(request).await.map_err(of_session)?;
        let text = snapshot.scrollback.map(|lines| lines.text).unwrap_or_default();
        let from = text.ceil_char_boundary(text.len().saturating_sub(MAX_TRANSCRIPT));
        Ok(json!({"text": text[from..]}))
    }
}

/// Has the person of a window drive on where it drove before its connection was lost, unless somebody else does now.
async fn drive_on(shared: &Shared, sessions: &[String]) -> HashSet<SessionId> {
    let mut driven = HashSet::new();
    for id in sessions.iter().take(MAX_DRIVEN) {
        let id = SessionId::from_text(id);
        if let Ok(handle) = shared.bridge.screen(&shared.caller, &id)
            && let Some(session) = handle.own()
            && session.return_to(&shared.window).await.is_ok()
        {
            driven.insert(id);
        }
    }
    driven
}

fn done(outcome: Result<(), SessionError>) -> Result<Value, Refused> {
    outcome.map(|()| Value::Null).map_err(of_session)
}

fn size_of(panel: &Panel) -> Size {
    Size { cols: panel.cols.max(1), rows: panel.rows.max(1) }
}

fn read<T: DeserializeOwned>(data: Value) -> Result<T, Refused> {
    serde_json::from_value(data).map_err(|error| refused("INVALID_INPUT", error.to_string()))
}

fn refused(code: &'static str, message: String) -> Refused {
    Refused { code, message }
}

fn of_session(error: SessionError) -> Refused {
    let code = match &error {
        SessionError::NotFound(_) | SessionError::Gone => "SESSION_NOT_FOUND",
        SessionError::Dead { .. } | SessionError::Withdrawn { .. } => "SESSION_DEAD",
        SessionError::Invalid(_) | SessionError::InputTooLong { .. } => "INVALID_INPUT",
        SessionError::Changing(_) | SessionError::InputFull { .. } | SessionError::TakenOver(_) => {
            "BUSY"
        }
        _ => "INTERNAL_ERROR",
    };
    refused(code, error.to_string())
}

fn of_hub(error: BridgeError) -> Refused {
    match error {
        BridgeError::Session(error) => of_session(error),
        BridgeError::Invalid(why) => refused("INVALID_INPUT", why),
        error => refused("FORBIDDEN", error.to_string()),
    }
}
