//! Which threads are stopped, and by what.

use std::collections::BTreeSet;

use super::other_stops::OtherStops;
use super::signals::signal_in;
use super::state::{Link, State};
use crate::protocol::StoppedEvent;

/// A link's program is stopped, or some threads of it.
#[derive(Debug, Clone)]
pub(crate) struct Stopped {
    /// The latest stop.
    pub(crate) stop: Stop,
    /// The threads that are stopped, where not all are.
    some: Option<BTreeSet<i64>>,
}

#[derive(Debug, Clone)]
pub(crate) struct Stop {
    /// Its number in the session.
    pub(crate) number: u64,
    pub(crate) event: StoppedEvent,
}

impl Stopped {
    fn includes(&self, thread: i64) -> bool {
        self.some.as_ref().is_none_or(|some| some.contains(&thread))
    }
}

impl State {
    /// The latest stop that is still on, after a number.
    pub(crate) fn latest_stop(&self, after: Option<u64>) -> Option<(u32, Stop)> {
        let stops = self.links.iter().filter_map(|(number, link)| {
            let stopped = link.stopped.as_ref()?;
            Some((*number, stopped.stop.clone()))
        });
        let new = stops.filter(|(_, stop)| after.is_none_or(|after| stop.number > after));
        // Of several that are stopped, the one that was reported last is the one that is meant.
        let is_reported = |link: u32| after.is_none() && self.reported_link == Some(link);
        new.max_by_key(|(link, stop)| (is_reported(*link), stop.number))
    }

    pub(crate) fn is_thread_stopped(&self, link: u32, thread: i64) -> bool {
        let stopped = self.links.get(&link).and_then(|link| link.stopped.as_ref());
        stopped.is_some_and(|stopped| stopped.includes(thread))
    }

    pub(super) fn stop(&mut self, number: u32, event: StoppedEvent) {
        let Some(link) = self.links.get_mut(&number) else { return };
        self.stops += 1;
        self.last_signal = event.description.as_deref().and_then(signal_in);
        link.stop(Stop { number: self.stops, event });
        // Whatever was looked at before is of an earlier stop.
        self.references.forget(number);
    }

    /// Notes that a thread continues, and with it all threads where they stop together. Returns what was stopped, for the
    /// case that it does not.
    pub(crate) fn resume(&mut self, number: u32, thread: i64) -> (Option<Stopped>, OtherStops) {
        self.references.forget(number);
        let Some(link) = self.links.get_mut(&number) else { return Default::default() };
        let before = (link.stopped.clone(), std::mem::take(&mut link.others));
        link.foresight.forget_answers();
        link.thread_continued(thread);
        before
    }
}

impl Link {
    fn stop(&mut self, stop: Stop) {
        let some = match (stop.event.all_threads_stopped, stop.event.thread_id) {
            (false, Some(thread)) => {
                let before = self.stopped.take();
                match before.map(|stopped| stopped.some) {
                    // All are stopped already.
                    Some(None) => None,
                    Some(Some(mut threads)) => {
                        threads.insert(thread);
                        Some(threads)
                    }
                    None => Some(BTreeSet::from([thread])),
                }
            }
            _ => None,
        };
        self.stopped = Some(Stopped { stop, some });
    }

    pub(super) fn thread_continued(&mut self, thread: i64) {
        match self.stopped.as_mut().and_then(|stopped| stopped.some.as_mut()) {
            Some(some) => {
                some.remove(&thread);
                if some.is_empty() {
                    self.stopped = None;
                }
            }
            None => self.stopped = None,
        }
    }

    /// A thread that ended is not stopped any more; where all stop together, the others still are.
    pub(super) fn thread_ended(&mut self, thread: i64) {
        if self.stopped.as_ref().is_some_and(|stopped| stopped.some.is_some()) {
            self.thread_continued(thread);
        }
    }
}
