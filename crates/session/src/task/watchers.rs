//! Those who watch the session.

use std::sync::Arc;

use tokio::sync::mpsc;

use super::SessionTask;
use crate::subscription::{QUEUE, Update};

/// Watchers of one session at most; the one that came first makes room.
const MAX_WATCHERS: usize = 64;

/// Where updates go. A watcher that does not take them is let go, and comes again for a dump.
#[derive(Default)]
pub(super) struct Watchers(Vec<mpsc::Sender<Update>>);

impl Watchers {
    fn tell(&mut self, update: impl Fn() -> Update) {
        self.0.retain(|watcher| watcher.try_send(update()).is_ok());
    }
}

impl SessionTask {
    /// Begins to tell a new watcher.
    pub(super) fn watch(&mut self) -> mpsc::Receiver<Update> {
        let (sender, receiver) = mpsc::channel(QUEUE);
        let _ = sender.try_send(Update::Dump(Arc::new(self.terminal.dump())));
        if let Some(ended) = &self.ended {
            let _ = sender.try_send(Update::Ended(ended.clone()));
        }
        if self.watchers.0.len() == MAX_WATCHERS {
            self.watchers.0.remove(0);
        }
        self.watchers.0.push(sender);
        receiver
    }

    pub(super) fn is_watched(&self) -> bool {
        self.watchers.0.iter().any(|watcher| !watcher.is_closed())
    }

    pub(super) fn tell_output(&mut self, bytes: &[u8]) {
        if self.watchers.0.is_empty() {
            return;
        }
        let bytes: Arc<[u8]> = bytes.into();
        self.watchers.tell(|| Update::Output(Arc::clone(&bytes)));
    }

    /// The screen is not what the output made of it.
    pub(super) fn tell_dump(&mut self) {
        if self.watchers.0.is_empty() {
            return;
        }
        let dump = Arc::new(self.terminal.dump());
        self.watchers.tell(|| Update::Dump(Arc::clone(&dump)));
    }

    pub(super) fn tell_end(&mut self) {
        if let Some(ended) = &self.ended {
            self.watchers.tell(|| Update::Ended(ended.clone()));
        }
    }
}
