//! The list of sessions, kept up to date at a window.
//!
//! One task per window. It sleeps until something has changed, lets what else changes within [`PAUSE`] change too, and
//! tells what differs from what it has told.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::select_all;
use serde_json::{Value, json};
use tokio::sync::broadcast::error::RecvError;

use crate::row::Row;
use crate::window::Shared;

/// Changes so close to each other are told at once.
const PAUSE: Duration = Duration::from_millis(30);

/// When sessions are listed again that could not be.
const AGAIN: Duration = Duration::from_millis(500);

/// What a window was told, by session.
pub(crate) type Told = BTreeMap<String, Row>;

/// All rows of a window; `None` while not all sessions can be listed.
pub(crate) async fn rows(shared: &Shared) -> Option<Told> {
    let listed = shared.bridge.sessions(&shared.caller).await.ok()?;
    if !listed.notes.is_empty() {
        return None;
    }
    let folders = shared.folders();
    let mut rows = Told::new();
    for info in listed.sessions {
        // What cannot be watched here is shown where it is.
        let is_own =
            shared.bridge.screen(&shared.caller, &info.id).is_ok_and(|it| it.own().is_some());
        if is_own {
            let row = Row::of(&shared.bridge, &shared.caller, info, &shared.window, &folders).await;
            rows.insert(row.session_id.clone(), row);
        }
    }
    Some(rows)
}

/// Keeps a window told until it is gone.
pub(crate) async fn keep_told(shared: Arc<Shared>, mut told: Told) {
    let mut changes = shared.bridge.changes();
    let mut shown = shared.bridge.shown();
    loop {
        let changed = async {
            match changes.is_empty() {
                true => std::future::pending().await,
                false => {
                    let each = changes.iter_mut().map(|changes| Box::pin(changes.changed()));
                    select_all(each).await.0.is_ok()
                }
            }
        };
        tokio::select! {
            is_there = changed => {
                if !is_there {
                    return;
                }
            }
            () = shared.moved.notified() => {}
            focus = shown.recv() => match focus {
                Ok(id) => {
                    let id = id.to_string();
                    if told.contains_key(&id) && !shared.audience.tell("focus", json!({"sessionId": id})).await {
                        return;
                    }
                    continue;
                }
                Err(RecvError::Lagged(_)) => continue,
                Err(RecvError::Closed) => return,
            },
        }
        tokio::time::sleep(PAUSE).await;
        for changes in &mut changes {
            changes.borrow_and_update();
        }
        // What is not known is not gone.
        let now = loop {
            match rows(&shared).await {
                Some(now) => break now,
                None => tokio::time::sleep(AGAIN).await,
            }
        };
        for (kind, data) in difference(&told, &now) {
            if !shared.audience.tell(kind, data).await {
                return;
            }
        }
        told = now;
    }
}

fn difference(told: &Told, now: &Told) -> Vec<(&'static str, Value)> {
    let gone = told.keys().filter(|id| !now.contains_key(*id));
    let gone = gone.map(|id| ("session_gone", json!({"sessionId": id})));
    let changed = now.iter().filter(|(id, row)| told.get(*id) != Some(row));
    let changed = changed.flat_map(|(id, row)| {
        let answered = told.get(id).and_then(|before| before.answered(row));
        let rows = answered.iter().chain(std::iter::once(row));
        let as_json = |row| ("session", serde_json::to_value(row).unwrap_or_default());
        rows.map(as_json).collect::<Vec<_>>()
    });
    gone.chain(changed).collect()
}
