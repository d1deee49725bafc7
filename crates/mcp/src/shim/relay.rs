//! What passes between a client and a server that may go and come back: the shim's memory.
//!
//! No IO: lines in, lines out. Messages are passed on as they came, ids with their type. Kept are the
//! requests that have no reply yet, the handshake, and what the client subscribed to; a new connection
//! gets the handshake and the subscriptions again, whose replies the client does not see, and then the
//! open requests. One that the old server may have begun is marked `again`, so that the new one can tell
//! whether it ran ([`AGAIN`]).
//!
//! Invariants: a request gets one reply, the first that comes; a reply that nobody waits for is dropped,
//! and so is the client's reply to a question of a server that is gone, and a notification for which there
//! is no server. Ids are compared by their value, not by how it is written: `"\u00e4"` is `"ä"`, and `1` is
//! not `"1"`. Bounds: [`MAX_OPEN`] requests and as many questions, [`MAX_OPEN_BYTES`] bytes of requests,
//! [`MAX_SUBSCRIPTIONS`] subscriptions.

use std::borrow::Cow;
use std::collections::{BTreeSet, VecDeque};

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// The mark of a request that an earlier server may have begun, in its `_meta`.
pub(crate) const AGAIN: &str = "termbridge/again";
/// Requests without a reply at most; further ones are refused.
const MAX_OPEN: usize = 1024;
/// And their bytes.
const MAX_OPEN_BYTES: usize = 64 * 1024 * 1024;
/// Resources that a new connection is subscribed to.
const MAX_SUBSCRIPTIONS: usize = 1024;
/// Ids of the shim's own requests; no client makes such.
const OWN_ID: &str = "termbridge-shim-";

/// A JSON-RPC error for what the shim cannot pass on.
const UNAVAILABLE: i64 = -32_000;
/// JSON-RPC's own for what is no JSON.
const PARSE_ERROR: i64 = -32_700;
/// And for what is JSON but cannot be taken.
const INVALID_REQUEST: i64 = -32_600;
/// Where a request says who sent it, without a handshake.
const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";

/// What the parts of a message are needed for.
#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

/// Where a line goes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Passed {
    ToServer(Vec<u8>),
    ToClient(Vec<u8>),
}

/// A request without a reply.
struct Open {
    /// As [`canonical`] writes it.
    id: String,
    line: Vec<u8>,
    /// A server has got it.
    was_sent: bool,
    /// What it subscribes to, or no longer.
    subscription: Option<Subscription>,
    /// The client's word that it does not want it any more, which the server has not got.
    cancel: Option<Vec<u8>>,
}

struct Subscription {
    uri: String,
    is_wanted: bool,
}

/// The shim's memory.
#[derive(Default)]
pub(crate) struct Relay {
    is_connected: bool,
    initialize: Option<Vec<u8>>,
    initialized: Option<Vec<u8>>,
    open: VecDeque<Open>,
    open_bytes: usize,
    subscriptions: BTreeSet<String>,
    /// Questions of this server that the client has not answered.
    asked: BTreeSet<String>,
    own_requests: u64,
    /// What the client calls itself, once it has said so.
    client: Option<String>,
}

impl Relay {
    /// Requests that have no reply.
    pub(crate) fn open(&self) -> usize {
        self.open.len()
    }

    /// What the client calls itself; empty while that is not known.
    pub(crate) fn client(&self) -> &str {
        self.client.as_deref().unwrap_or_default()
    }

    /// Takes a line of the client's.
    pub(crate) fn client_line(&mut self, line: Vec<u8>) -> Option<Passed> {
        let Ok(envelope) = serde_json::from_slice::<Envelope<'_>>(&line) else {
            if self.is_connected {
                // Not for us to judge.
                return Some(Passed::ToServer(line));
            }
            let why = "not a JSON-RPC message";
            return Some(Passed::ToClient(error_reply(&Value::Null, PARSE_ERROR, why)));
        };
        let id = envelope.id.and_then(canonical);
        let method = envelope.method.as_deref();
        match (id, method) {
            (Some(id), Some(method)) => {
                if self.open.len() >= MAX_OPEN || self.open_bytes + line.len() > MAX_OPEN_BYTES {
                    let why =
                        "too many requests wait for the termbridge server; send it again later";
                    return Some(Passed::ToClient(refusal(&id, why)));
                }
                if self.client.is_none() {
                    self.client = name_of(envelope.params);
                }
                if method == "initialize" {
                    self.initialize = Some(line.clone());
                }
                let subscription = match method {
                    "resources/subscribe" | "resources/unsubscribe" => uri_of(envelope.params),
                    _ => None,
                };
                let is_wanted = method == "resources/subscribe";
                let subscription = subscription.map(|uri| Subscription { uri, is_wanted });
                self.open_bytes += line.len();
                let was_sent = self.is_connected;
                let cancel = None;
                self.open.push_back(Open {
                    id,
                    line: line.clone(),
                    was_sent,
                    subscription,
                    cancel,
                });
                was_sent.then_some(Passed::ToServer(line))
            }
            (None, Some(method)) => {
                match method {
                    "notifications/initialized" => self.initialized = Some(line.clone()),
                    "notifications/cancelled" => self.cancelled(envelope.params, &line),
                    _ => {}
                }
                self.is_connected.then_some(Passed::ToServer(line))
            }
            // An answer: to this server's question, or to one that is gone.
            (Some(id), None) => self.asked.remove(&id).then_some(Passed::ToServer(line)),
            (None, None) => self.is_connected.then_some(Passed::ToServer(line)),
        }
    }

    /// Takes a line of the server's.
    pub(crate) fn server_line(&mut self, line: Vec<u8>) -> Option<Passed> {
        let Ok(envelope) = serde_json::from_slice::<Envelope<'_>>(&line) else {
            return Some(Passed::ToClient(line));
        };
        match (envelope.id.and_then(canonical), envelope.method) {
            (Some(id), Some(_)) => {
                self.asked.insert(id);
                if self.asked.len() > MAX_OPEN {
                    self.asked.pop_first();
                }
                Some(Passed::ToClient(line))
            }
            (Some(id), None) => {
                let has_failed = envelope.error.is_some();
                match self.close(&id)?.subscription {
                    Some(Subscription { uri, is_wanted: true })
                        if !has_failed && self.subscriptions.len() < MAX_SUBSCRIPTIONS =>
                    {
                        self.subscriptions.insert(uri);
                    }
                    Some(Subscription { uri, is_wanted: false }) if !has_failed => {
                        self.subscriptions.remove(&uri);
                    }
                    _ => {}
                }
                Some(Passed::ToClient(line))
            }
            (None, _) => Some(Passed::ToClient(line)),
        }
    }

    /// There is a server: what it has to get first.
    pub(crate) fn connected(&mut self) -> Vec<Vec<u8>> {
        self.is_connected = true;
        let mut lines = Vec::new();
        // The client's own handshake is among the open requests until it is answered.
        let is_new = self
            .initialize
            .as_ref()
            .is_some_and(|first| self.open.iter().any(|open| open.line == *first));
        if let Some(initialize) = self.initialize.clone().filter(|_| !is_new) {
            lines.extend(self.with_own_id(&initialize));
            lines.extend(self.initialized.clone());
        }
        for uri in self.subscriptions.clone() {
            let request = json!({"jsonrpc": "2.0", "id": 0, "method": "resources/subscribe", "params": {"uri": uri}});
            lines.extend(self.with_own_id(request.to_string().as_bytes()));
        }
        for open in &mut self.open {
            let was_sent = std::mem::replace(&mut open.was_sent, true);
            let marked = was_sent.then(|| marked(&open.line)).flatten();
            lines.push(marked.unwrap_or_else(|| open.line.clone()));
            lines.extend(open.cancel.clone());
            if is_new && self.initialize.as_ref() == Some(&open.line) {
                // Of a client that does not wait for the reply.
                lines.extend(self.initialized.clone());
            }
        }
        let cancelled = self.open.iter().filter(|open| open.cancel.is_some());
        for id in cancelled.map(|open| open.id.clone()).collect::<Vec<_>>() {
            // It gets no reply.
            self.close(&id);
        }
        lines
    }

    pub(crate) fn has_subscriptions(&self) -> bool {
        !self.subscriptions.is_empty()
    }

    /// What a client has to be told that was without a server for a while: anything it subscribed to may have changed.
    pub(crate) fn missed(&self) -> Vec<Vec<u8>> {
        let line = |uri: &String| {
            let method = "notifications/resources/updated";
            json!({"jsonrpc": "2.0", "method": method, "params": {"uri": uri}}).to_string()
        };
        self.subscriptions.iter().map(|uri| line(uri).into_bytes()).collect()
    }

    /// The server is gone, for now.
    pub(crate) fn disconnected(&mut self) {
        self.is_connected = false;
        self.asked.clear();
    }

    /// There is no server and there will be none: the replies of those who wait.
    pub(crate) fn give_up(&mut self, why: &str) -> Vec<Vec<u8>> {
        let open = std::mem::take(&mut self.open);
        self.open_bytes = 0;
        let refusals = open.iter().filter(|open| open.cancel.is_none()).map(|open| {
            let ran = if open.was_sent { "; it may have run" } else { "; it did not run" };
            refusal(&open.id, &format!("{why}{ran}"))
        });
        refusals.collect()
    }

    /// Forgets an open request; `None` if there is none.
    fn close(&mut self, id: &str) -> Option<Open> {
        let at = self.open.iter().position(|open| open.id == id)?;
        let closed = self.open.remove(at)?;
        self.open_bytes -= closed.line.len();
        Some(closed)
    }

    fn cancelled(&mut self, params: Option<&RawValue>, line: &[u8]) {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Cancelled<'a> {
            #[serde(borrow)]
            request_id: &'a RawValue,
        }
        let cancelled =
            params.and_then(|params| serde_json::from_str::<Cancelled<'_>>(params.get()).ok());
        let Some(id) = cancelled.and_then(|cancelled| canonical(cancelled.request_id)) else {
            return;
        };
        let open = self.open.iter_mut().find(|open| open.id == id);
        match open.filter(|open| open.was_sent && !self.is_connected) {
            // What it began goes on: the next server has to end it.
            Some(open) => open.cancel = Some(line.to_vec()),
            // A server that has it answers nothing; one that has not got it never will.
            None => _ = self.close(&id),
        }
    }

    /// The same request under an id of the shim's own, whose reply nobody waits for.
    fn with_own_id(&mut self, request: &[u8]) -> Option<Vec<u8>> {
        self.own_requests += 1;
        let mut request: Value = serde_json::from_slice(request).ok()?;
        request["id"] = Value::String(format!("{OWN_ID}{}", self.own_requests));
        serde_json::to_vec(&request).ok()
    }
}

/// An id as its value is written; `None` for no id.
fn canonical(id: &RawValue) -> Option<String> {
    match serde_json::from_str(id.get()) {
        Ok(Value::Null) | Err(_) => None,
        Ok(value) => Some(value.to_string()),
    }
}

/// What a client calls itself: in the handshake, or in what comes with a request.
fn name_of(params: Option<&RawValue>) -> Option<String> {
    let params: Value = serde_json::from_str(params?.get()).ok()?;
    let whole = params.get("clientInfo").or_else(|| params.get("_meta")?.get(CLIENT_INFO));
    Some(whole?.get("name")?.as_str()?.to_owned())
}

fn uri_of(params: Option<&RawValue>) -> Option<String> {
    let params: Value = serde_json::from_str(params?.get()).ok()?;
    Some(params.get("uri")?.as_str()?.to_owned())
}

/// A call with the mark that it was sent before.
fn marked(line: &[u8]) -> Option<Vec<u8>> {
    let mut request: Value = serde_json::from_slice(line).ok()?;
    if request["method"] != "tools/call" {
        return None;
    }
    let meta =
        request.get_mut("params")?.as_object_mut()?.entry("_meta").or_insert_with(|| json!({}));
    meta.as_object_mut()?.insert(AGAIN.to_owned(), Value::Bool(true));
    serde_json::to_vec(&request).ok()
}

fn refusal(id: &str, why: &str) -> Vec<u8> {
    error_reply(&serde_json::from_str(id).unwrap_or_default(), UNAVAILABLE, why)
}

/// The reply to a line that was too long to be read.
pub(crate) fn too_long(most: usize) -> Vec<u8> {
    let why = format!("message longer than {most} bytes");
    error_reply(&Value::Null, INVALID_REQUEST, &why)
}

fn error_reply(id: &Value, code: i64, message: &str) -> Vec<u8> {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
        .to_string()
        .into_bytes()
}

#[cfg(test)]
mod tests;
