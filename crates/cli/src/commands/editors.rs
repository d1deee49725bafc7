//! The door for editors: their WebSocket, and the target `vscode` that it leads to.
//!
//! `serve` listens at once, `mcp` when the target is used for the first time or with `--editor`: the port is every web
//! developer's too. One that is taken is a warning, and tried again at the next use; no other port is, since no editor
//! would look there.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use termbridge_bridge::editor::{
    EditorListener, EditorService, NoSessionsShown, ServerSettings, TlsAccept,
};
use termbridge_bridge::{EditorTerminals, NativeBackend, TerminalBackend};
use termbridge_web::TokenStore;
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

/// The backends of a server: its own terminals, and those of editors where they can connect. Listens until `stop`.
pub(super) fn backends(
    native: NativeBackend,
    config: &EditorConfig,
    listening: Listening,
    tls: Option<Arc<dyn TlsAccept>>,
    stop: &CancellationToken,
) -> Vec<Arc<dyn TerminalBackend>> {
    let native: Arc<dyn TerminalBackend> = Arc::new(native);
    if !config.is_enabled {
        return vec![native];
    }
    let terminals = EditorTerminals::new();
    // Without a home there are none, and none is valid.
    let tokens = token::store().ok();
    let service = EditorService {
        windows: Arc::new(NoSessionsShown { version: env!("CARGO_PKG_VERSION").to_owned() }),
        terminals: Arc::new(terminals.clone()),
        is_valid_token: Arc::new(move |text| {
            let verify =
                |tokens: &TokenStore| tokens.verify(text).is_ok_and(|token| token.is_some());
            tokens.as_ref().is_some_and(verify)
        }),
    };
    let settings = ServerSettings { require_token: config.require_token, tls };
    let door =
        Door { port: config.port, settings, service, stop: stop.clone(), is_open: Arc::default() };
    if listening == Listening::AtOnce || config.listens_at_once {
        door.open();
    }
    // The door and the terminals hold each other as long as the process lives.
    vec![native, Arc::new(terminals.on_use(Box::new(move || door.open())))]
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
