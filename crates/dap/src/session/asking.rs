//! Questions to a stopped program.

use std::time::Duration;

use serde_json::Value;

use super::Inner;
use super::inspect::not_stopped;
use crate::client::{Client, RequestError};
use crate::error::DebugError;

/// How long the end of a session is waited for whose connection closed during a request.
const LAST_WORDS: Duration = Duration::from_secs(2);

impl Inner {
    /// A request to a stopped program; an answer that comes when it went on is no answer.
    pub(super) async fn ask(
        &self,
        link: u32,
        command: &str,
        arguments: Value,
    ) -> Result<Value, DebugError> {
        let limit = self.context.settings.request_timeout;
        self.ask_within(link, command, arguments, limit).await
    }

    /// The same, with a limit of its own.
    pub(super) async fn ask_within(
        &self,
        link: u32,
        command: &str,
        arguments: Value,
        limit: Duration,
    ) -> Result<Value, DebugError> {
        let (client, stop) = self.stopped_client(link)?;
        let answer = match self.foreseen(link, command, &arguments).await {
            Some(answer) => answer,
            None => client.request(command, arguments, limit).await,
        };
        if matches!(answer, Err(RequestError::Closed(_))) {
            // How it ended is known in a moment, unless it is a child of a program that goes on.
            let _ = tokio::time::timeout(LAST_WORDS, self.ended()).await;
        }
        let still = self.is_stopped_by(link, stop);
        match answer {
            Ok(body) if still => Ok(body),
            Ok(_) => Err(not_stopped(&self.lock().running())),
            Err(RequestError::Failed { message }) if still => {
                Err(DebugError::EvaluateFailed(message))
            }
            Err(error) => Err(self.request_failed(error)),
        }
    }

    /// Whether a connection still stands at a stop.
    pub(super) fn is_stopped_by(&self, link: u32, stop: u64) -> bool {
        self.stopped_client(link).is_ok_and(|(_, now)| now == stop)
    }

    /// A stopped connection and the number of its stop.
    fn stopped_client(&self, link: u32) -> Result<(Client, u64), DebugError> {
        let state = self.lock();
        state.alive()?;
        let found = state.links.get(&link);
        let stopped =
            found.and_then(|link| Some((link.client.clone(), link.stopped.as_ref()?.stop.number)));
        stopped.ok_or_else(|| not_stopped(&state.running()))
    }
}
