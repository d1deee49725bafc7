//! One call from its request to its answer.
//!
//! ```text
//! a place ─► folder, command ─► claimed? ─► events… ─► done ─► answer ─► folder removed
//!    │                             │                    │
//!  E_CAPACITY               E_PICKUP_TIMEOUT   E_TIMEOUT, E_CANCELLED, E_BRIDGE_UNAVAILABLE
//! ```
//!
//! Each step looks at the folder as a whole, so it does not matter in which order its files become
//! visible, nor how many notices were lost.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, sleep, timeout_at};
use tokio_util::sync::CancellationToken;

use super::answer::{self, Answer};
use super::events::Reader;
use super::host::Shared;
use super::job::{Command, Job, Woken, withdraw};
use super::{BridgeError, Envelope, Event, Settings, blocking};

/// The first pause after the extension said that it is full; each further one is twice as long.
const FULL_PAUSE: Duration = Duration::from_millis(50);
/// Longest timeout: what is longer is no different from none.
const LONGEST: Duration = Duration::from_hours(24);

/// A script to run.
#[derive(Debug, Clone)]
pub struct Request {
    /// Its alias, such as `breakpoint.set`.
    pub script: String,
    /// Its arguments, an object.
    pub params: Value,
    /// The time it has.
    pub timeout: Duration,
    /// Ends the call with `E_CANCELLED`.
    pub cancel: CancellationToken,
}

impl Request {
    /// A request that nobody cancels.
    pub fn new(script: impl Into<String>, params: Value, timeout: Duration) -> Self {
        Self { script: script.into(), params, timeout, cancel: CancellationToken::new() }
    }
}

pub(super) async fn run(
    shared: &Arc<Shared>,
    request: Request,
    progress: impl FnMut(Event) + Send,
) -> Result<Envelope, BridgeError> {
    let Request { script, params, timeout, cancel } = request;
    let params = match params {
        Value::Null => Value::Object(serde_json::Map::new()),
        Value::Object(_) => params,
        _ => return Err(BridgeError::InvalidParams),
    };
    let timeout = timeout.min(LONGEST);
    let command = Command { script, params, timeout_ms: timeout.as_millis() as u64 };
    let call = Call { shared, command, timeout, deadline: Instant::now() + timeout };
    tokio::select! {
        biased;
        () = cancel.cancelled() => Err(BridgeError::Cancelled),
        // On the heap: whoever waits for several calls at once would carry them all.
        answer = Box::pin(call.run(progress)) => answer,
    }
}

struct Call<'a> {
    shared: &'a Arc<Shared>,
    command: Command,
    timeout: Duration,
    deadline: Instant,
}

impl Call<'_> {
    /// Runs it, again while the extension is full: a refused call has not begun.
    async fn run(&self, mut progress: impl FnMut(Event) + Send) -> Result<Envelope, BridgeError> {
        let patience = self.deadline.min(Instant::now() + self.shared.settings.capacity_wait);
        let mut pause = FULL_PAUSE;
        loop {
            let place = self.place(patience).await?;
            let answer = self.attempt(place, &mut progress).await;
            let Err(BridgeError::Script(refusal)) = &answer else {
                return answer;
            };
            if refusal.code != "E_CAPACITY" {
                return answer;
            }
            if Instant::now() + pause > patience {
                return Err(BridgeError::Capacity(self.shared.settings.capacity));
            }
            sleep(pause).await;
            pause *= 2;
        }
    }

    /// A place among the calls at once, waited for within bounds.
    async fn place(&self, patience: Instant) -> Result<OwnedSemaphorePermit, BridgeError> {
        let full = || BridgeError::Capacity(self.shared.settings.capacity);
        let places = Arc::clone(&self.shared.places);
        if let Ok(place) = Arc::clone(&places).try_acquire_owned() {
            return Ok(place);
        }
        let _queued = Queued::enter(self.shared).ok_or_else(full)?;
        match timeout_at(patience, places.acquire_owned()).await {
            Ok(Ok(place)) => Ok(place),
            _ => Err(full()),
        }
    }

    async fn attempt(
        &self,
        place: OwnedSemaphorePermit,
        progress: &mut (impl FnMut(Event) + Send),
    ) -> Result<Envelope, BridgeError> {
        let settings = &self.shared.settings;
        let (shared, command) = (Arc::clone(self.shared), self.command.clone());
        let (job, served_by) = blocking(shared.bridge.clone(), move || {
            let served_by = shared.serving()?;
            Ok::<_, BridgeError>((Job::create(shared, place, &command)?, served_by))
        })
        .await??;
        let mut folder = Folder::new(&job, settings);
        let mut health = Health { served_by, stale_since: None };
        let pickup = self.deadline.min(Instant::now() + settings.pickup);
        let (first, last) = if job.is_watched() {
            (settings.poll_first, settings.poll_last)
        } else {
            (settings.poll_blind, settings.poll_blind)
        };
        let (mut poll, mut claimed) = (first, false);
        loop {
            let mut until = self.deadline.min(Instant::now() + poll);
            if !claimed {
                until = until.min(pickup);
            }
            let woken = job.changed(until).await;
            let seen;
            (folder, seen) = folder.look().await?;
            claimed = seen.claimed;
            seen.events.into_iter().for_each(&mut *progress);
            if let Some(answer) = seen.answer {
                return self.conclude(job, folder, progress, answer).await;
            }
            if seen.gone {
                job.end().await;
                return Err(BridgeError::NoResponse("its folder was removed".into()));
            }
            let now = Instant::now();
            if !claimed && now >= pickup && folder.withdraw().await? {
                job.end().await;
                return Err(BridgeError::PickupTimeout(settings.pickup.min(self.timeout)));
            }
            if now >= self.deadline {
                let (script, after) = (self.command.script.clone(), self.timeout);
                let late = BridgeError::Timeout { script, after };
                return give_up(job, folder, progress, late).await;
            }
            if woken == Woken::Change {
                poll = first;
                continue;
            }
            poll = last.min(poll * 2);
            if let Some(error) = health.check(self.shared, claimed).await? {
                return give_up(job, folder, progress, error).await;
            }
        }
    }

    /// `done` is there: the answer is, or comes in a moment.
    async fn conclude(
        &self,
        job: Job,
        mut folder: Folder,
        progress: &mut (impl FnMut(Event) + Send),
        mut answer: Answer,
    ) -> Result<Envelope, BridgeError> {
        let settings = &self.shared.settings;
        let until = Instant::now() + settings.settle;
        loop {
            let why = match answer {
                Answer::Ready(answer) => {
                    job.end().await;
                    return answer;
                }
                Answer::NotYet(why) => why,
            };
            if Instant::now() >= until {
                job.end().await;
                return Err(BridgeError::NoResponse(why));
            }
            sleep(settings.poll_blind).await;
            let events;
            (folder, answer, events) = folder.answer().await?;
            events.into_iter().for_each(&mut *progress);
        }
    }
}

/// No `done` came. An answer that is there all the same counts; else the job is dropped, which tells
/// the extension to stop.
async fn give_up(
    job: Job,
    folder: Folder,
    progress: &mut (impl FnMut(Event) + Send),
    error: BridgeError,
) -> Result<Envelope, BridgeError> {
    let (_, answer, events) = folder.answer().await?;
    events.into_iter().for_each(progress);
    match answer {
        Answer::Ready(answer) => {
            job.end().await;
            answer
        }
        Answer::NotYet(_) => Err(error),
    }
}

/// Whether the extension that took the job still is there.
struct Health {
    served_by: String,
    stale_since: Option<Instant>,
}

impl Health {
    /// The error to end with, when it has been gone for long enough or another took its place.
    async fn check(
        &mut self,
        shared: &Arc<Shared>,
        claimed: bool,
    ) -> Result<Option<BridgeError>, BridgeError> {
        let serving = Arc::clone(shared);
        let error = match blocking(shared.bridge.clone(), move || serving.serving()).await? {
            Ok(now) if claimed && !now.is_empty() && now != self.served_by => {
                let reason = "it was restarted during the call".to_owned();
                return Ok(Some(BridgeError::Unavailable {
                    bridge: shared.bridge.clone(),
                    reason,
                }));
            }
            Ok(_) => {
                self.stale_since = None;
                return Ok(None);
            }
            // It will not come back under this name.
            Err(error @ BridgeError::Closed(_)) => return Ok(Some(error)),
            Err(error) => error,
        };
        let since = *self.stale_since.get_or_insert_with(Instant::now);
        Ok((since.elapsed() >= shared.settings.confirm_stale).then_some(error))
    }
}

/// A job's folder and how far it was read.
struct Folder {
    path: PathBuf,
    events: Reader,
    max_answer: u64,
}

struct Seen {
    events: Vec<Event>,
    claimed: bool,
    /// Someone has removed the folder.
    gone: bool,
    /// Where the job is done.
    answer: Option<Answer>,
}

impl Folder {
    fn new(job: &Job, settings: &Settings) -> Self {
        let events = Reader::new(settings.max_events);
        Self { path: job.folder().to_owned(), events, max_answer: settings.max_answer }
    }

    async fn look(mut self) -> Result<(Self, Seen), BridgeError> {
        blocking(self.path.clone(), move || {
            // The end first: what was written before it is then seen as well.
            if self.path.join("done").exists() {
                let (answer, events) = self.read_answer();
                return (self, Seen { events, claimed: true, gone: false, answer: Some(answer) });
            }
            let claimed = self.path.join("claimed.json").exists();
            let events = self.events.look(&self.path.join("events.ndjson"));
            let gone = !claimed && !self.path.exists();
            (self, Seen { events, claimed, gone, answer: None })
        })
        .await
    }

    async fn answer(mut self) -> Result<(Self, Answer, Vec<Event>), BridgeError> {
        blocking(self.path.clone(), move || {
            let (answer, events) = self.read_answer();
            (self, answer, events)
        })
        .await
    }

    /// The answer and, once it is here, the last events.
    fn read_answer(&mut self) -> (Answer, Vec<Event>) {
        let answer = answer::read(&self.path, self.max_answer);
        let path = self.path.join("events.ndjson");
        let events = match &answer {
            Answer::Ready(_) => self.events.finish(&path),
            Answer::NotYet(_) => self.events.look(&path),
        };
        (answer, events)
    }

    async fn withdraw(&self) -> Result<bool, BridgeError> {
        let path = self.path.clone();
        blocking(self.path.clone(), move || withdraw(&path)).await
    }
}

/// A call in the queue for a place.
struct Queued<'a>(&'a Shared);

impl<'a> Queued<'a> {
    /// None when the queue is full.
    fn enter(shared: &'a Shared) -> Option<Self> {
        let queued = Self(shared);
        let before = shared.waiting.fetch_add(1, Ordering::Relaxed);
        (before < shared.settings.queue).then_some(queued)
    }
}

impl Drop for Queued<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}
