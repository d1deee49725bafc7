//! Setting the next statement: a stopped thread runs on from another line, and what lies between is not run.

use std::path::Path;
use std::time::Duration;

use serde_json::json;

use super::DebugSession;
use super::control::Ticket;
use crate::client::RequestError;
use crate::error::DebugError;
use crate::report::Halt;

impl DebugSession {
    /// Moves the innermost frame of the latest stop to a line, by default of its own file, and stops there.
    pub async fn set_next_line(
        &self,
        path: Option<&Path>,
        line: u64,
        timeout: Duration,
    ) -> Result<Halt, DebugError> {
        let inner = &self.inner;
        let frame = inner.focus().await?;
        let (link, thread, stops) = {
            let state = inner.lock();
            let stop = state.latest_stop(None);
            let (link, stop) = stop.ok_or_else(|| super::inspect::not_stopped(&state.running()))?;
            (link, stop.event.thread_id.unwrap_or_default(), state.stops)
        };
        if !inner.capability(link, |capabilities| capabilities.supports_goto_targets_request) {
            return Err(DebugError::UnsupportedCapability {
                adapter: inner.adapter.name().to_owned(),
                what: "setting the next line".to_owned(),
                instead: "only Python's debugger can; run a statement again with debug_evaluate, or the program \
                          with debug_restart",
            });
        }
        let own = frame.path.map(Into::into).unwrap_or_default();
        let path = path.map_or(own, Path::to_owned);
        let arguments = json!({"source": {"path": path}, "line": line});
        let answer = inner.ask(link, "gotoTargets", arguments).await?;
        let target = answer["targets"][0]["id"].as_i64().ok_or_else(|| {
            DebugError::InvalidParams(format!("{}:{line} cannot be the next line", path.display()))
        })?;
        let client = inner.lock().links.get(&link).map(|link| link.client.clone());
        let client = client.ok_or_else(|| super::inspect::not_stopped("the program"))?;
        let limit = inner.context.settings.request_timeout;
        let moved = client.request("goto", json!({"threadId": thread, "targetId": target}), limit);
        moved.await.map_err(|error| match error {
            RequestError::Failed { message } => DebugError::InvalidParams(format!(
                "{}:{line} cannot be the next line: {message}",
                path.display()
            )),
            other => inner.request_failed(other),
        })?;
        self.wait_after(Ticket { stops, continued: None }, timeout).await
    }
}
