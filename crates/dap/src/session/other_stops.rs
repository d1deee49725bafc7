//! Threads that stop at the same moment.
//!
//! All but one stop wait until `debug_continue` reports them. An adapter that reports only one stop is asked where the other
//! threads are.

use std::collections::VecDeque;
use std::time::Duration;

use futures_util::future::join_all;
use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};

use super::Inner;
use super::state::{Link, State};
use super::stopped::Stop;
use crate::breakpoint::{Breakpoint, BreakpointPlace};
use crate::client::Client;
use crate::protocol::{StackFrame, StackTrace, StoppedEvent, Threads, Variable, read};

/// Longest time for all questions about one stop.
const LIMIT: Duration = Duration::from_secs(2);
/// Threads that are looked at.
const MAX_THREADS: usize = 50;

/// The stops of other threads that came with the latest one.
#[derive(Debug, Default)]
pub(crate) struct OtherStops {
    /// Those that are not reported yet, in the order in which they are reported.
    pub(super) waiting: VecDeque<StoppedEvent>,
    /// Events that are not yet checked for new stops.
    pub(super) unsorted: Vec<StoppedEvent>,
    /// Threads whose events came since the process stopped.
    pub(super) heard_of: Vec<i64>,
    /// The number of the stop whose events are checked.
    sorted: Option<u64>,
}

impl State {
    /// Makes the next of the stops that wait the latest one. The stop of a breakpoint that was removed since then is dropped.
    pub(super) fn next_waiting(&mut self, number: u32) -> bool {
        loop {
            let next = self.links.get_mut(&number).and_then(|link| link.others.waiting.pop_front());
            let Some(event) = next else { return false };
            let ids = &event.hit_breakpoint_ids;
            let is_at_breakpoint = event.reason == "breakpoint" && !ids.is_empty();
            if is_at_breakpoint && self.places(number, ids).is_empty() {
                continue;
            }
            // A signal that stopped another thread may still end the program.
            let signal = self.last_signal.take();
            self.stop(number, event);
            self.last_signal = self.last_signal.take().or(signal);
            return true;
        }
    }

    /// The reason of a thread's own stop.
    pub(super) fn stop_reason(&self, link: u32, thread: i64) -> Option<String> {
        let link = self.links.get(&link)?;
        let latest = link.stopped.as_ref().map(|stopped| &stopped.stop.event);
        let mut own = latest.into_iter().chain(&link.others.waiting);
        Some(own.find(|event| event.thread_id == Some(thread))?.reason.clone())
    }
}

impl Link {
    /// Keeps the events of the threads whose stop is new; all, if that is not known. The first of them is the latest stop,
    /// unless the latest is new itself or the end of a step.
    pub(super) fn sort_out(&mut self, number: u64, new: Option<&[i64]>) {
        let Some(stopped) = self.stopped.as_mut().filter(|stopped| stopped.stop.number == number)
        else {
            return;
        };
        self.others.sorted = Some(number);
        let is_new = |event: &StoppedEvent| {
            new.is_none_or(|new| event.thread_id.is_some_and(|thread| new.contains(&thread)))
        };
        let mut others = std::mem::take(&mut self.others.unsorted).into_iter().filter(is_new);
        let latest = &mut stopped.stop.event;
        if latest.reason != "step"
            && !is_new(latest)
            && let Some(event) = others.next()
        {
            *latest = event;
        }
        self.others.waiting.extend(others);
    }
}

impl Inner {
    /// The stop to report: that of a thread with a stop of its own.
    pub(super) async fn sorted_stop(&self, link: u32, stop: Stop) -> Stop {
        self.sort_out_others(link).await;
        let state = self.lock();
        let latest = state.links.get(&link).and_then(|link| Some(&link.stopped.as_ref()?.stop));
        latest.filter(|latest| latest.number == stop.number).cloned().unwrap_or(stop)
    }

    /// Finds out which events of several threads are new stops.
    pub(super) async fn sort_out_others(&self, link: u32) {
        let quirks = self.adapter.quirks();
        let asked = {
            let state = self.lock();
            state.links.get(&link).and_then(|link| {
                let stop = &link.stopped.as_ref()?.stop;
                let command = quirks.unreported_command()?;
                let command = format!("{command} {}", stop.event.thread_id?);
                // A step that ended is one thread's, unless events of others came.
                let is_of_one = stop.event.reason == "step" && link.others.unsorted.is_empty();
                let is_sorted = link.others.sorted == Some(stop.number) || is_of_one;
                (!is_sorted).then(|| (link.client.clone(), stop.number, command))
            })
        };
        let Some((client, number, command)) = asked else { return };
        let arguments = json!({"expression": command, "context": "repl"});
        let answer = client.request("evaluate", arguments, LIMIT).await.unwrap_or_default();
        let new = answer["result"].as_str().and_then(|answer| quirks.unreported_in(answer));
        self.events_of(link, number, new.as_deref().unwrap_or_default()).await;
        if let Some(link) = self.lock().links.get_mut(&link) {
            link.sort_out(number, new.as_deref());
        }
    }

    /// Waits for the events of threads that stopped. The adapter sends them one by one, and answers questions meanwhile.
    async fn events_of(&self, link: u32, number: u64, threads: &[i64]) {
        let deadline = Instant::now() + LIMIT;
        let mut changed = self.subscribe();
        let are_missing = || {
            self.lock().links.get(&link).is_some_and(|link| {
                let stopped = link.stopped.as_ref();
                stopped.is_some_and(|stopped| stopped.stop.number == number)
                    && threads.iter().any(|thread| !link.others.heard_of.contains(thread))
            })
        };
        while are_missing() {
            if !matches!(timeout_at(deadline, changed.changed()).await, Ok(Ok(()))) {
                return;
            }
        }
    }

    /// Keeps the stops of other threads, before the stop at a breakpoint is reported.
    pub(super) async fn keep_other_stops(&self, link: u32, stopped: &Value) {
        if let Some(marker) = self.adapter.quirks().running_thread_marker()
            && stopped["reason"] == "breakpoint"
        {
            // A stop without the others is better than none.
            let find = self.find_other_stops(link, stopped, marker);
            let _ = tokio::time::timeout(LIMIT, find).await;
        }
    }

    async fn find_other_stops(&self, link: u32, stopped: &Value, marker: &str) {
        let client = self.lock().links.get(&link).map(|link| link.client.clone());
        let Some(client) = client else { return };
        let threads = client.request("threads", Value::Null, LIMIT).await;
        let mut threads = read::<Threads>(&threads.unwrap_or_default()).threads;
        threads.retain(|thread| thread.name.contains(marker));
        // The thread that stopped comes first.
        threads.sort_by_key(|thread| stopped["threadId"] != thread.id);
        threads.truncate(MAX_THREADS);
        let frames = threads.iter().map(|thread| top_frame(&client, thread.id));
        for (thread, frame) in threads.iter().zip(join_all(frames).await) {
            let Some(frame) = frame else { continue };
            let Some(place) = place_of(&frame) else { continue };
            if stopped["threadId"] == thread.id {
                self.note_address(link, place, frame);
                continue;
            }
            let Some((id, breakpoint)) = self.breakpoint_at(link, &place, &frame) else { continue };
            if !self.is_true(&client, breakpoint, frame.id).await {
                continue;
            }
            self.note_address(link, place, frame);
            if let Some(link) = self.lock().links.get_mut(&link) {
                link.others.waiting.push_back(StoppedEvent {
                    reason: "breakpoint".to_owned(),
                    thread_id: Some(thread.id),
                    all_threads_stopped: true,
                    hit_breakpoint_ids: vec![id],
                    ..StoppedEvent::default()
                });
            }
        }
    }

    fn note_address(&self, link: u32, place: BreakpointPlace, frame: StackFrame) {
        if let (Some(link), Some(address)) =
            (self.lock().links.get_mut(&link), frame.instruction_pointer_reference)
        {
            link.addresses.entry(place).or_default().insert(address);
        }
    }

    /// The breakpoint that stopped a thread in a frame. A thread at another address of the line has already passed it.
    fn breakpoint_at(
        &self,
        link: u32,
        place: &BreakpointPlace,
        frame: &StackFrame,
    ) -> Option<(i64, Breakpoint)> {
        let state = self.lock();
        let link = state.links.get(&link)?;
        let address = frame.instruction_pointer_reference.as_ref()?;
        if link.addresses.get(place).is_some_and(|known| !known.contains(address)) {
            return None;
        }
        let mut placed = link.placed.iter();
        let (own, placed) = placed.find(|(own, placed)| match own {
            BreakpointPlace::Line { path, line } => {
                *place == BreakpointPlace::line(path, placed.line.unwrap_or(*line))
            }
            _ => false,
        })?;
        let breakpoint = self.context.breakpoints().get(own)?.clone();
        // The adapter counts hits and writes log messages itself.
        let stops = breakpoint.hit_condition.is_none() && breakpoint.log_message.is_none();
        stops.then_some((placed.id?, breakpoint))
    }

    /// Whether a breakpoint stops in a frame: its condition is true or cannot be evaluated.
    async fn is_true(&self, client: &Client, breakpoint: Breakpoint, frame: i64) -> bool {
        let mut sent = [(breakpoint.place.clone(), breakpoint)];
        self.mark_unset_at(&mut sent).await;
        let Some(condition) = &sent[0].1.condition else { return true };
        let arguments = json!({"expression": condition, "frameId": frame, "context": "watch"});
        let answer = client.request("evaluate", arguments, LIMIT).await;
        answer.map_or(true, |answer| read::<Variable>(&answer).value == "true")
    }
}

fn place_of(frame: &StackFrame) -> Option<BreakpointPlace> {
    Some(BreakpointPlace::key_of(frame.source.as_ref()?.path.as_ref()?, frame.line))
}

async fn top_frame(client: &Client, thread: i64) -> Option<StackFrame> {
    let arguments = json!({"threadId": thread, "levels": 1});
    let stack = client.request("stackTrace", arguments, LIMIT).await.ok()?;
    read::<StackTrace>(&stack).stack_frames.into_iter().next()
}
