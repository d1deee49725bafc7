//! The door for editors: their WebSocket, and the target `vscode` that it leads to.
//!
//! `serve` listens at once, `mcp` when the target is used for the first time or with `--editor`: the port is every web
//! developer's too. One that is taken is a warning, and tried again at the next use; no other port is, since no editor
//! would look there.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use termbridge_bridge::editor::{
    self, Admission, EditorListener, EditorService, ServerSettings, TlsAccept,
};
use termbridge_bridge::{Bridge, EditorTerminals, NativeBackend, TerminalBackend};
use termbridge_mcp::Scope;
use termbridge_mcp::socket::EditorDoor;
use termbridge_viewers::SessionWindows;
use termbridge_web::Token;
use tokio_util::sync::CancellationToken;

use super::{tell, token};
use crate::config::EditorConfig;

/// When a server begins to listen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Listening {
    AtOnce,
    /// When the target is used.
    WhenUsed,
}

/// The terminals of editors, where they can connect.
pub(super) struct Editors {
    terminals: EditorTerminals,
    config: EditorConfig,
}

impl Editors {
    /// `None` where they cannot.
    pub(super) fn new(config: &EditorConfig) -> Option<Self> {
        let config = config.clone();
        config.is_enabled.then(|| Self { terminals: EditorTerminals::new(), config })
    }

    /// Goes on with the terminals that an earlier server used, and keeps them for the next.
    pub(super) fn adopt(&self, file: PathBuf) {
        self.terminals.adopt(file);
    }

    /// The backends of a server: its own terminals, and those of editors.
    pub(super) fn beside(
        this: Option<&Self>,
        native: NativeBackend,
    ) -> Vec<Arc<dyn TerminalBackend>> {
        let native: Arc<dyn TerminalBackend> = Arc::new(native);
        let others = this.map(|editors| Arc::new(editors.terminals.clone()) as Arc<_>);
        std::iter::once(native).chain(others).collect()
    }

    /// Lets editors connect, until `stop`. Their windows see the sessions of the hub.
    pub(super) fn open(
        self,
        bridge: Bridge,
        listening: Listening,
        tls: Option<Arc<dyn TlsAccept>>,
        stop: &CancellationToken,
    ) -> EditorService {
        // Without a home there are none, and none is valid.
        let tokens = token::store().ok();
        let service = EditorService {
            windows: Arc::new(SessionWindows::new(bridge, env!("CARGO_PKG_VERSION"))),
            terminals: Arc::new(self.terminals.clone()),
            is_valid_token: Arc::new(move |text| {
                let token = tokens.as_ref().and_then(|tokens| tokens.verify(text).ok().flatten());
                token.is_some_and(|token| is_for_people(&token))
            }),
        };
        let settings = ServerSettings { require_token: self.config.require_token, tls };
        let door = Door {
            port: self.config.port,
            settings,
            service: service.clone(),
            stop: stop.clone(),
            is_open: Arc::default(),
        };
        if listening == Listening::AtOnce || self.config.listens_at_once {
            door.open();
        }
        // The door and the terminals hold each other as long as the process lives.
        let _ = self.terminals.on_use(Box::new(move || door.open()));
        service
    }
}

/// A window shows and drives every session: a token that may less does not open one.
fn is_for_people(token: &Token) -> bool {
    token.scope == Scope::Admin || token.all_sessions && token.scope == Scope::Write
}

/// Windows of our own extension come by the server's socket.
pub(super) fn socket_door(service: EditorService, stop: &CancellationToken) -> EditorDoor {
    let stop = stop.clone();
    Arc::new(move |(reader, writer)| {
        let (service, stop) = (service.clone(), stop.clone());
        Box::pin(async move {
            editor::serve(editor::lines(reader, writer), Admission::Windows, &service, &stop).await;
        })
    })
}

/// Where editors connect.
struct Door {
    port: u16,
    settings: ServerSettings,
    service: EditorService,
    stop: CancellationToken,
    is_open: Arc<AtomicBool>,
}

impl Door {
    /// Listens, unless it does.
    fn open(&self) {
        if self.is_open.swap(true, Ordering::AcqRel) {
            return;
        }
        let (port, is_open) = (self.port, Arc::clone(&self.is_open));
        let (settings, service) = (self.settings.clone(), self.service.clone());
        let stop = self.stop.clone();
        tokio::spawn(async move {
            match EditorListener::bind(port).await {
                Ok(listener) => {
                    let port = listener.port();
                    tracing::info!(port, "listening for editors");
                    listener.run(settings, service, stop).await;
                }
                Err(error) => {
                    tell(&format!(
                        "termbridge: editors cannot connect: {error}. --editor-port chooses another port, --no-editor none."
                    ));
                    is_open.store(false, Ordering::Release);
                }
            }
        });
    }
}
