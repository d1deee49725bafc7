//! The editor of ours: what it says first, and what answers it.
//!
//! A window is one connection of our own extension. It shows the server's sessions to a person, and lends the server its
//! terminals. This module has the words of both sides; whoever knows sessions implements [`Windows`].

use std::path::PathBuf;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::peer::Peer;

pub use crate::peer::QUEUE as NOTICES_BEFORE_WELCOME;

/// The version of what windows say.
pub const PROTOCOL: u32 = 1;

/// The first message of our own extension.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Hello {
    /// The version it speaks.
    pub protocol: u32,
    /// Proves who it is, where the connection does not.
    #[serde(default, skip_serializing)]
    pub token: Option<String>,
    /// Names the window, from one connection to the next. After it was loaded anew it is another.
    pub window: String,
    /// What the editor is called.
    #[serde(default)]
    pub editor: String,
    /// Its version.
    #[serde(default)]
    pub version: String,
    /// The folders of its workspace.
    #[serde(default)]
    pub folders: Vec<PathBuf>,
    /// The person trusts what is in them.
    #[serde(default)]
    pub trusted: bool,
    /// The window does not answer its extensions: it was closed, or is cut off, and may come back.
    #[serde(default)]
    pub away: bool,
    /// What the person has set, by the names of the settings.
    #[serde(default)]
    pub settings: Value,
    /// The terminals that it has for agents, by its ids: others that it had are gone.
    #[serde(default)]
    pub terminals: Option<Vec<String>>,
    /// The sessions that its person drove when the connection was lost.
    #[serde(default)]
    pub driving: Vec<String>,
}

/// What a window is welcomed with.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Welcome {
    /// The version that is spoken.
    pub protocol: u32,
    /// The server's.
    pub version: String,
    /// The server's process.
    pub pid: u32,
    /// Its sessions, as the window is told of them later.
    pub sessions: Vec<Value>,
    /// What its person has set and cannot be used.
    #[serde(rename = "wrongSettings", skip_serializing_if = "Vec::is_empty")]
    pub wrong_settings: Vec<WrongSetting>,
}

/// A setting that cannot be used, or not in full.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WrongSetting {
    /// Its name, without that of the extension.
    pub name: String,
    /// What is wrong, for people.
    pub reason: String,
}

/// A request that was not done.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Refused {
    /// For programs.
    pub code: &'static str,
    /// For people.
    pub message: String,
}

/// What windows are for.
#[async_trait]
pub trait Windows: Send + Sync + 'static {
    /// A window has said hello and was let in. It is told things through `peer`, and answered by what is returned.
    /// Notices that are made before this returns are sent after the welcome; there is room for [`NOTICES_BEFORE_WELCOME`].
    async fn open(&self, hello: Hello, peer: Peer) -> Result<(Welcome, Box<dyn Window>), Refused>;
}

/// What answers one window. Dropped when its connection ends.
#[async_trait]
pub trait Window: Send + Sync + 'static {
    /// Answers a request. One at a time and in the order in which they came: keys must not overtake each other. It must
    /// not wait for a reply of the same window: while it waits and 64 further requests have come, no replies are read.
    /// `update` has changed what [`Peer::hello`] returns before it comes here.
    async fn request(&self, kind: &str, data: Value) -> Result<Value, Refused>;
}

/// For a server that shows its sessions to no window: they are welcomed, and lend their terminals.
#[derive(Debug, Clone, Default)]
pub struct NoSessionsShown {
    /// The server's version, for the welcome.
    pub version: String,
}

#[async_trait]
impl Windows for NoSessionsShown {
    async fn open(
        &self,
        _hello: Hello,
        _peer: Peer,
    ) -> Result<(Welcome, Box<dyn Window>), Refused> {
        let welcome = Welcome {
            protocol: PROTOCOL,
            version: self.version.clone(),
            pid: std::process::id(),
            sessions: Vec::new(),
            wrong_settings: Vec::new(),
        };
        Ok((welcome, Box::new(self.clone())))
    }
}

#[async_trait]
impl Window for NoSessionsShown {
    async fn request(&self, kind: &str, _data: Value) -> Result<Value, Refused> {
        match kind {
            "update" => Ok(Value::Null),
            kind => Err(Refused {
                code: "NOT_SUPPORTED",
                message: format!("this server shows no sessions: {kind:?} is not for it"),
            }),
        }
    }
}
