//! Collects what the emulator says while it is fed.

use std::sync::{Arc, Mutex, PoisonError};

use alacritty_terminal::event::{Event, EventListener};

/// Events kept between two looks; a program that rings the bell in a loop gains nothing by more.
const MAX_EVENTS: usize = 1024;

/// The emulator's listener: it is called with `&self`, so the list is behind a lock that only the
/// feeding thread ever takes.
#[derive(Clone, Default)]
pub(crate) struct Listener(Arc<Mutex<Vec<Event>>>);

impl Listener {
    /// Takes everything collected so far.
    pub(crate) fn take(&self) -> Vec<Event> {
        let mut events = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if events.is_empty() { Vec::new() } else { std::mem::take(&mut events) }
    }
}

impl EventListener for Listener {
    fn send_event(&self, event: Event) {
        if matches!(event, Event::MouseCursorDirty | Event::Wakeup | Event::CursorBlinkingChange) {
            return;
        }
        let mut events = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if events.len() < MAX_EVENTS {
            events.push(event);
        }
    }
}
