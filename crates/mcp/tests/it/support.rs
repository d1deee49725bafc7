//! What the servers of these tests are made of.

use std::path::Path;
use std::sync::Arc;

use termbridge_bridge::policy::{Policy, PolicyConfig};
use termbridge_bridge::session::{Sessions, Settings};
use termbridge_bridge::store::Limits;
use termbridge_bridge::{Bridge, BridgeSettings, HistoryPlace, NativeBackend};

/// A bridge with a history, whose bash sessions have this home and start there.
pub(crate) fn bridge_at(home: &Path) -> (Bridge, Sessions) {
    let sessions = Sessions::new(Settings::default());
    let backend = Arc::new(NativeBackend::new(sessions.clone()));
    let policy = Policy::new(&PolicyConfig::default(), home).expect("a policy");
    let mut settings = BridgeSettings::new("bash", home.to_owned(), home.to_owned());
    // No start-up files of the user who runs the tests.
    settings.env.insert("HOME".into(), home.display().to_string());
    let history = HistoryPlace { path: home.join("history.db"), limits: Limits::default() };
    (Bridge::new(backend, settings, policy, Some(history)), sessions)
}
