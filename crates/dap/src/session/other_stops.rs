//! Threads that are at a breakpoint when another stops the program, for an adapter that reports only one of them.

use std::time::Duration;

use futures_util::future::join_all;
use serde_json::{Value, json};

use super::Inner;
use crate::breakpoint::{Breakpoint, BreakpointPlace};
use crate::client::Client;
use crate::protocol::{StackFrame, StackTrace, StoppedEvent, Threads, Variable, read};

/// Longest wait for an answer.
const LIMIT: Duration = Duration::from_secs(2);
/// Threads that are looked at.
const MAX_THREADS: usize = 50;

impl Inner {
    /// Keeps the stops of other threads, before a stop is reported.
    pub(super) async fn keep_other_stops(&self, link: u32, stopped: &Value) {
        let Some(mark) = self.adapter.quirks().mark_of_running_threads() else { return };
        let Some(client) = self.lock().links.get(&link).map(|link| link.client.clone()) else {
            return;
        };
        let threads = client.request("threads", Value::Null, LIMIT).await;
        let mut threads = read::<Threads>(&threads.unwrap_or_default()).threads;
        threads.retain(|thread| thread.name.contains(mark));
        threads.truncate(MAX_THREADS);
        // The thread that stopped comes first.
        threads.sort_by_key(|thread| stopped["threadId"] != thread.id);
        let frames = threads.iter().map(|thread| top_frame(&client, thread.id));
        for (thread, frame) in threads.iter().zip(join_all(frames).await) {
            let Some(frame) = frame else { continue };
            if stopped["threadId"] == thread.id {
                if stopped["reason"] == "breakpoint" {
                    self.note_address(link, frame);
                }
            } else if let Some((id, breakpoint)) = self.breakpoint_at(link, &frame)
                && is_true(&client, &breakpoint, frame.id).await
                && let Some(link) = self.lock().links.get_mut(&link)
            {
                link.waiting.push_back(StoppedEvent {
                    reason: "breakpoint".to_owned(),
                    thread_id: Some(thread.id),
                    all_threads_stopped: true,
                    hit_breakpoint_ids: vec![id],
                    ..StoppedEvent::default()
                });
            }
        }
    }

    fn note_address(&self, link: u32, frame: StackFrame) {
        if let (Some(link), Some(place), Some(address)) = (
            self.lock().links.get_mut(&link),
            place_of(&frame),
            frame.instruction_pointer_reference,
        ) {
            link.addresses.entry(place).or_default().insert(address);
        }
    }

    /// The breakpoint that stops a thread in a frame: one that is behind it in the same line has been stopped before.
    fn breakpoint_at(&self, link: u32, frame: &StackFrame) -> Option<(i64, Breakpoint)> {
        let place = place_of(frame)?;
        let state = self.lock();
        let link = state.links.get(&link)?;
        let address = frame.instruction_pointer_reference.as_ref()?;
        if link.addresses.get(&place).is_some_and(|known| !known.contains(address)) {
            return None;
        }
        let mut placed = link.placed.iter();
        let (own, placed) = placed.find(|(own, placed)| match own {
            BreakpointPlace::Line { path, line } => {
                place == BreakpointPlace::line(path, placed.line.unwrap_or(*line))
            }
            _ => false,
        })?;
        let breakpoint = self.context.breakpoints().get(own)?.clone();
        // What is counted, or only written, is the adapter's to do.
        let stops = breakpoint.hit_condition.is_none() && breakpoint.log_message.is_none();
        stops.then_some((placed.id?, breakpoint))
    }
}

fn place_of(frame: &StackFrame) -> Option<BreakpointPlace> {
    Some(BreakpointPlace::line(frame.source.as_ref()?.path.as_ref()?, frame.line).key())
}

async fn top_frame(client: &Client, thread: i64) -> Option<StackFrame> {
    let arguments = json!({"threadId": thread, "levels": 1});
    let stack = client.request("stackTrace", arguments, LIMIT).await.ok()?;
    read::<StackTrace>(&stack).stack_frames.into_iter().next()
}

/// Whether the condition of a breakpoint is true in a frame.
async fn is_true(client: &Client, breakpoint: &Breakpoint, frame: i64) -> bool {
    let Some(condition) = &breakpoint.condition else { return true };
    let arguments = json!({"expression": condition, "frameId": frame, "context": "watch"});
    let answer = client.request("evaluate", arguments, LIMIT).await;
    answer.is_ok_and(|answer| read::<Variable>(&answer).value == "true")
}
