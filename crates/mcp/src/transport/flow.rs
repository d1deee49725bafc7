//! Back-pressure: how much of a client's work is under way, and when no more is read.
//!
//! A client that sends and does not read would otherwise fill the memory with requests and answers.
//! At most [`MAX_UNDER_WAY`] requests are handed on at once; what is read beyond waits here, up to
//! [`MAX_WAITING_BYTES`], so that cancellations and pings behind it still get through. Then, and while
//! answers of [`MAX_UNSENT_BYTES`] wait for the client to read them, nothing more is read. A large answer is
//! built only when unsent large answers leave room within [`MAX_LARGE_BYTES`]. Small answers do not wait.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, JsonRpcMessage, RequestId,
    ServerJsonRpcMessage,
};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

/// Requests that are handled at once.
pub(crate) const MAX_UNDER_WAY: usize = 256;
/// Bytes of requests that wait to be handled.
const MAX_WAITING_BYTES: usize = 1024 * 1024;
/// Bytes of answers that wait to be read by the client.
const MAX_UNSENT_BYTES: usize = 16 * 1024 * 1024;
/// Bytes of large answers that are being built or wait to be read by the client. An answer takes about five times its
/// bytes: as output, as text, structured, and all of it as JSON.
const MAX_LARGE_BYTES: usize = 4 * 1024 * 1024;
/// Bytes of an answer that is not large.
const MAX_SMALL_BYTES: usize = 64 * 1024;
/// What a message takes at least, however short it is.
const MESSAGE_COST: usize = 1024;

/// What has been read, and how much of it may be handed on.
#[derive(Default)]
pub(crate) struct Admission {
    waiting: VecDeque<(ClientJsonRpcMessage, usize)>,
    waiting_bytes: usize,
    load: Arc<Load>,
}

impl Admission {
    pub(crate) fn new(load: Arc<Load>) -> Self {
        Self { load, ..Self::default() }
    }

    pub(crate) fn load(&self) -> &Arc<Load> {
        &self.load
    }

    /// The next message that may be handed on.
    pub(crate) fn next(&mut self) -> Option<ClientJsonRpcMessage> {
        let (JsonRpcMessage::Request(request), _) = self.waiting.front()? else {
            return None;
        };
        if !self.load.admit(&request.id) {
            return None;
        }
        self.pop()
    }

    /// The next message, whatever is under way: at the end of the input no more can come.
    pub(crate) fn pop(&mut self) -> Option<ClientJsonRpcMessage> {
        let (message, bytes) = self.waiting.pop_front()?;
        self.waiting_bytes -= bytes;
        Some(message)
    }

    /// Whether more may be read.
    pub(crate) fn takes_more(&self) -> bool {
        self.waiting_bytes < MAX_WAITING_BYTES && !self.load.is_unread()
    }

    /// Takes what was read; gives back what need not wait.
    pub(crate) fn take(
        &mut self,
        message: ClientJsonRpcMessage,
        bytes: usize,
    ) -> Option<ClientJsonRpcMessage> {
        match &message {
            JsonRpcMessage::Request(request)
                if !matches!(request.request, ClientRequest::PingRequest(_)) =>
            {
                let cost = bytes + MESSAGE_COST;
                self.waiting_bytes += cost;
                self.waiting.push_back((message, cost));
                self.next()
            }
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) =
                    &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.cancel(id);
                }
                Some(message)
            }
            _ => Some(message),
        }
    }

    /// A cancelled request gets no answer, whether it was handed on or not.
    fn cancel(&mut self, id: &RequestId) {
        self.load.finished(id);
        let is_it = |message: &ClientJsonRpcMessage| matches!(message, JsonRpcMessage::Request(request) if request.id == *id);
        let waiting_bytes = &mut self.waiting_bytes;
        self.waiting.retain(|(message, bytes)| {
            let stays = !is_it(message);
            *waiting_bytes -= if stays { 0 } else { *bytes };
            stays
        });
    }
}

/// What is under way and what is not yet sent.
pub(crate) struct Load {
    counts: Mutex<Counts>,
    eased: Notify,
    large_bytes: Arc<Semaphore>,
}

impl Default for Load {
    fn default() -> Self {
        let large_bytes = Arc::new(Semaphore::new(MAX_LARGE_BYTES));
        Self { counts: Mutex::default(), eased: Notify::default(), large_bytes }
    }
}

#[derive(Default)]
struct Counts {
    /// Each with the room for its large answer.
    under_way: HashMap<RequestId, Option<OwnedSemaphorePermit>>,
    unsent_bytes: usize,
}

impl Load {
    /// Waits until there is less of it. Cancel safe.
    pub(crate) async fn eased(&self) {
        self.eased.notified().await;
    }

    /// Counts a message until the returned guard is dropped; with it, a request is over.
    pub(crate) fn sending(
        self: &Arc<Self>,
        message: &ServerJsonRpcMessage,
        bytes: usize,
    ) -> Unsent {
        let answered = match message {
            JsonRpcMessage::Response(response) => Some(response.id.clone()),
            JsonRpcMessage::Error(error) => error.id.clone(),
            _ => None,
        };
        let bytes = bytes + MESSAGE_COST;
        self.counts().unsent_bytes += bytes;
        Unsent { load: Arc::clone(self), answered, bytes }
    }

    /// Waits until an answer of at most `bytes` bytes may be built. The bytes count until the answer is sent.
    pub(crate) async fn room_for_answer(&self, id: &RequestId, bytes: usize) {
        if bytes <= MAX_SMALL_BYTES {
            return;
        }
        let bytes = bytes.min(MAX_LARGE_BYTES) as u32;
        // The semaphore is never closed.
        let permit = Arc::clone(&self.large_bytes).acquire_many_owned(bytes).await.ok();
        // A request that was cancelled is not there any more: its permit is dropped here.
        if let Some(room) = self.counts().under_way.get_mut(id) {
            *room = permit;
        }
    }

    /// Counts a request, if there is room. One whose id is in use waits until that is answered: rmcp
    /// answers an id once.
    fn admit(&self, id: &RequestId) -> bool {
        let mut counts = self.counts();
        let is_admitted = counts.unsent_bytes < MAX_UNSENT_BYTES
            && counts.under_way.len() < MAX_UNDER_WAY
            && !counts.under_way.contains_key(id);
        if is_admitted {
            counts.under_way.insert(id.clone(), None);
        }
        is_admitted
    }

    fn is_unread(&self) -> bool {
        self.counts().unsent_bytes >= MAX_UNSENT_BYTES
    }

    fn finished(&self, id: &RequestId) {
        self.counts().under_way.remove(id);
        self.eased.notify_one();
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A message on its way to the client.
pub(crate) struct Unsent {
    load: Arc<Load>,
    answered: Option<RequestId>,
    bytes: usize,
}

impl Drop for Unsent {
    fn drop(&mut self) {
        let mut counts = self.load.counts();
        counts.unsent_bytes -= self.bytes;
        if let Some(id) = &self.answered {
            counts.under_way.remove(id);
        }
        drop(counts);
        self.load.eased.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use serde_json::{Value, json};

    use super::*;

    fn request(id: usize, method: &str) -> ClientJsonRpcMessage {
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method});
        serde_json::from_value(message).expect("a request")
    }

    fn cancelled(id: usize) -> ClientJsonRpcMessage {
        let (method, params) = ("notifications/cancelled", json!({"requestId": id}));
        let message = json!({"jsonrpc": "2.0", "method": method, "params": params});
        serde_json::from_value(message).expect("a notification")
    }

    fn answer(id: usize) -> ServerJsonRpcMessage {
        let message = json!({"jsonrpc": "2.0", "id": id, "result": {}});
        serde_json::from_value(message).expect("an answer")
    }

    fn id_of(message: Option<ClientJsonRpcMessage>) -> Option<Value> {
        Some(serde_json::to_value(message?).expect("JSON")["id"].clone())
    }

    fn full() -> Admission {
        let mut admission = Admission::default();
        for id in 0..MAX_UNDER_WAY {
            assert!(admission.take(request(id, "tools/list"), 100).is_some(), "{id}");
        }
        admission
    }

    #[test]
    fn requests_beyond_the_bound_wait_and_pings_pass_them() {
        let mut admission = full();
        assert!(admission.take(request(1000, "tools/list"), 100).is_none());
        assert!(admission.take(request(1001, "ping"), 100).is_some());
        assert!(admission.next().is_none());
        let load = Arc::clone(admission.load());
        let unsent = load.sending(&answer(3), 100);
        assert!(admission.next().is_none(), "not before the answer is written");
        drop(unsent);
        assert_eq!(id_of(admission.next()), Some(json!(1000)));
        assert!(admission.next().is_none());
    }

    #[tokio::test]
    async fn large_answers_wait_for_those_that_are_not_sent() {
        let admission = full();
        let load = Arc::clone(admission.load());
        let large =
            |id: i64| load.room_for_answer(&RequestId::Number(id), 1024 * 1024).now_or_never();
        for id in 0..4 {
            assert!(large(id).is_some(), "{id}");
        }
        assert!(large(4).is_none() && large(5).is_none());
        let small = load.room_for_answer(&RequestId::Number(6), 16 * 1024);
        assert!(small.now_or_never().is_some());
        let unsent = load.sending(&answer(0), 2 * 1024 * 1024);
        assert!(large(4).is_none(), "not before the answer is written");
        drop(unsent);
        assert!(large(4).is_some() && large(5).is_none());
        load.finished(&RequestId::Number(1));
        // What nobody waits for keeps no room.
        assert!(large(1).is_some() && large(5).is_some() && large(7).is_none());
    }

    #[test]
    fn a_cancelled_request_leaves_its_place() {
        let mut admission = full();
        for id in [1000, 1001] {
            assert!(admission.take(request(id, "tools/list"), 100).is_none());
        }
        assert!(admission.take(cancelled(1000), 100).is_some());
        assert!(admission.next().is_none());
        assert!(admission.take(cancelled(7), 100).is_some());
        assert_eq!(id_of(admission.next()), Some(json!(1001)), "not the cancelled one");
        assert_eq!(admission.waiting_bytes, 0);
    }

    #[test]
    fn nothing_is_read_while_too_much_waits() {
        let mut admission = full();
        assert!(admission.takes_more());
        let mut id = MAX_UNDER_WAY;
        while admission.takes_more() {
            assert!(admission.take(request(id, "tools/list"), 100).is_none());
            id += 1;
        }
        assert!(id < 2000, "{id} requests");
        let load = Arc::clone(admission.load());
        drop(load.sending(&answer(0), 0));
        assert!(admission.next().is_some() && admission.takes_more());
        let unsent = load.sending(&answer(1), MAX_UNSENT_BYTES);
        assert!(!admission.takes_more());
        drop(load.sending(&answer(2), 0));
        assert!(admission.next().is_none(), "there is an answer to be read first");
        drop(unsent);
        assert!(admission.next().is_some());
        // At the end of the input all are handed on.
        while admission.waiting.len() > 1 {
            assert!(admission.pop().is_some());
        }
        assert!(admission.pop().is_some() && admission.pop().is_none());
    }
}
