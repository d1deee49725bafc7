//! The editor's backend: scripts that run in an editor extension, through the filesystem bridge.

use async_trait::async_trait;
use serde_json::Value;
use termbridge_editor::{Event, Host, Request};

use super::{DebugBackend, DebugCall, DebugFailure, Progress};

/// An editor that serves the workspace.
#[derive(Debug, Clone)]
pub struct EditorBackend {
    host: Host,
}

impl EditorBackend {
    /// Scripts run by this editor.
    pub fn new(host: Host) -> Self {
        Self { host }
    }
}

#[async_trait]
impl DebugBackend for EditorBackend {
    fn name(&self) -> &'static str {
        "editor"
    }

    async fn call(&self, call: DebugCall) -> Result<Value, DebugFailure> {
        let DebugCall { script, arguments, timeout, cancel, progress } = call;
        // Only what the caller gave: a default of ours might be an argument that the extension's
        // version of the script does not take.
        let params = Value::Object(arguments);
        let request = Request { script, params, timeout, cancel };
        let envelope = self.host.run(request, |event| tell(&progress, &event)).await?;
        Ok(envelope.data)
    }
}

fn tell(progress: &Progress, event: &Event) {
    if let Some(words) = event.msg.as_ref().or(event.text.as_ref()) {
        progress(words, event.pct);
    }
}
