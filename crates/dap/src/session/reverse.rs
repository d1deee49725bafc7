//! Requests of an adapter ("reverse requests"), answered one at a time in the order they came.
//!
//! ```text
//! pump ── queue of [`MAX_WAITING`] ──► answer_requests ──► adapter
//! ```
//!
//! While the queue is full the pump waits, and so nothing more is read from the adapter. A run gets [`MAX_TERMINALS`]
//! terminals; an adapter that keeps asking after [`MAX_REFUSED`] refusals, or does not read its answers within
//! [`ANSWER_LIMIT`], loses its connection.

use std::sync::{Arc, Weak};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::Inner;
use crate::client::Client;

/// Requests of one connection that wait to be answered.
pub(super) const MAX_WAITING: usize = 16;
/// Terminals that the adapters of a run may ask for.
const MAX_TERMINALS: usize = 16;
/// Requests of one connection that are refused before it is given up.
const MAX_REFUSED: usize = 256;
/// How long an adapter may take to read an answer.
const ANSWER_LIMIT: Duration = Duration::from_secs(5);

/// A request of an adapter.
pub(super) struct ReverseRequest {
    pub(super) seq: i64,
    pub(super) command: String,
    pub(super) arguments: Value,
}

/// Answers the requests of one connection until there are no more, or too many.
pub(super) async fn answer_requests(
    session: Weak<Inner>,
    link: u32,
    mut requests: mpsc::Receiver<ReverseRequest>,
) {
    let mut refused = 0;
    while let Some(request) = requests.recv().await {
        let Some(inner) = session.upgrade() else { return };
        let Some(client) = inner.lock().links.get(&link).map(|link| link.client.clone()) else {
            return;
        };
        let result = inner.reverse_request(link, &request).await;
        refused += usize::from(result.is_err());
        if refused > MAX_REFUSED {
            let last = result.err().unwrap_or_default();
            let reason = format!(
                "it kept sending requests after {MAX_REFUSED} were refused, at last: {last}"
            );
            return inner.give_up(link, &client, reason);
        }
        let answer = client.respond(request.seq, &request.command, result);
        if timeout(ANSWER_LIMIT, answer).await.is_err() {
            let reason = format!("it did not read the answer to {}", request.command);
            return inner.give_up(link, &client, reason);
        }
    }
}

impl Inner {
    async fn reverse_request(
        self: &Arc<Self>,
        link: u32,
        request: &ReverseRequest,
    ) -> Result<Value, String> {
        let ReverseRequest { command, arguments, .. } = request;
        self.record(&format!("request:{command}"), arguments.clone());
        match command.as_str() {
            "runInTerminal" => {
                self.count_terminal()?;
                self.run_in_terminal(arguments).await
            }
            "startDebugging" => self.start_debugging(link, arguments),
            other => Err(format!("{other} is not supported")),
        }
    }

    /// Takes one of the run's terminals.
    fn count_terminal(&self) -> Result<(), String> {
        let mut state = self.lock();
        if state.terminals >= MAX_TERMINALS {
            return Err(format!("a debug session has at most {MAX_TERMINALS} terminals"));
        }
        state.terminals += 1;
        Ok(())
    }

    /// Treats a connection as lost: a start that waits for it fails, and a run ends.
    fn give_up(self: &Arc<Self>, link: u32, client: &Client, reason: String) {
        tracing::warn!(session = %self.id, reason, "the connection to an adapter is given up");
        client.close(&reason);
        self.closed(link, reason);
    }
}
