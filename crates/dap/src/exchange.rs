//! What every client of a framed protocol needs: requests that wait for their answers by number, and
//! a task that writes frames.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::{mpsc, oneshot};

/// Requests without an answer yet, until the connection closes.
#[derive(Debug)]
pub struct Requests<E> {
    next: AtomicI64,
    most: usize,
    waiting: Mutex<Waiting<E>>,
}

#[derive(Debug)]
enum Waiting<E> {
    Open(HashMap<i64, oneshot::Sender<Result<Value, E>>>),
    Closed(String),
}

/// Why no request can be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refused {
    /// The connection is closed, for this reason.
    Closed(String),
    /// Too many are without an answer.
    TooMany(String),
}

impl<E> Requests<E> {
    /// No request yet, and at most so many at once.
    pub fn new(most: usize) -> Self {
        let waiting = Mutex::new(Waiting::Open(HashMap::new()));
        Self { next: AtomicI64::new(1), most, waiting }
    }

    /// A number that no other message of this side has.
    pub fn number(&self) -> i64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// A new request: its number, and where its answer will come.
    pub fn add(&self) -> Result<(i64, oneshot::Receiver<Result<Value, E>>), Refused> {
        let (reply, answer) = oneshot::channel();
        match &mut *self.lock() {
            Waiting::Closed(reason) => Err(Refused::Closed(reason.clone())),
            Waiting::Open(open) if open.len() >= self.most => {
                Err(Refused::TooMany(format!("{} requests are without an answer", self.most)))
            }
            Waiting::Open(open) => {
                let number = self.number();
                open.insert(number, reply);
                Ok((number, answer))
            }
        }
    }

    /// Takes a request off the list, to answer or to forget it; `None` when it is not on it any more.
    pub fn take(&self, number: i64) -> Option<oneshot::Sender<Result<Value, E>>> {
        match &mut *self.lock() {
            Waiting::Open(open) => open.remove(&number),
            Waiting::Closed(_) => None,
        }
    }

    /// Fails every request, and those to come; false when that was done before.
    pub fn close(&self, reason: &str, error: impl Fn(String) -> E) -> bool {
        let open = match &mut *self.lock() {
            Waiting::Closed(_) => return false,
            waiting @ Waiting::Open(_) => {
                std::mem::replace(waiting, Waiting::Closed(reason.to_owned()))
            }
        };
        if let Waiting::Open(open) = open {
            for reply in open.into_values() {
                // Whoever asked may have given up.
                let _ = reply.send(Err(error(reason.to_owned())));
            }
        }
        true
    }

    fn lock(&self) -> MutexGuard<'_, Waiting<E>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Writes frames until there are no more to come; what is at the other end of a pipe ends with it.
pub async fn write_frames<W: AsyncWrite + Unpin>(
    mut writer: W,
    mut frames: mpsc::Receiver<Vec<u8>>,
) {
    while let Some(frame) = frames.recv().await {
        if writer.write_all(&frame).await.is_err() || writer.flush().await.is_err() {
            return;
        }
    }
    let _ = writer.shutdown().await;
}
