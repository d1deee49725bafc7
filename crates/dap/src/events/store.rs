//! [`EventStore`]: the records of every session.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use super::record::{EventLimits, Record, SessionLabel};
use super::spill::Spill;
use crate::error::DebugError;

/// The events of all sessions. Clones are the same store.
#[derive(Debug, Clone)]
pub struct EventStore {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    limits: EventLimits,
    spill: Option<Spill>,
    sessions: Mutex<Sessions>,
}

#[derive(Debug, Default)]
struct Sessions {
    live: BTreeMap<String, Log>,
    /// Those that ended and have no file, the oldest first.
    finished: VecDeque<Log>,
    /// The one that began last.
    latest: Option<String>,
}

/// The records of one session.
#[derive(Debug, Clone)]
pub(super) struct Log {
    pub(super) label: SessionLabel,
    pub(super) records: VecDeque<Record>,
    pub(super) bytes: usize,
    pub(super) next: u64,
}

impl Log {
    pub(super) fn new(label: SessionLabel) -> Self {
        Self { label, records: VecDeque::new(), bytes: 0, next: 1 }
    }

    pub(super) fn push(&mut self, record: Record, limits: &EventLimits) {
        self.next = record.seq + 1;
        self.bytes += record.size;
        self.records.push_back(record);
        while self.records.len() > limits.records || self.bytes > limits.bytes {
            let Some(oldest) = self.records.pop_front() else { break };
            self.bytes -= oldest.size;
        }
    }

    /// Records that were dropped.
    pub(super) fn dropped(&self) -> u64 {
        let first = self.records.front().map_or(self.next, |record| record.seq);
        first - 1
    }
}

/// What the store holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tracker {
    /// Sessions, live ones first.
    pub sessions: Vec<TrackedSession>,
    /// Where finished sessions are kept.
    pub folder: Option<PathBuf>,
}

/// What the store holds of one session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrackedSession {
    /// The session.
    pub label: SessionLabel,
    /// Whether it still goes on.
    pub live: bool,
    /// Records that are held.
    pub records: usize,
    /// Records that were dropped, the oldest first.
    pub dropped: u64,
    /// Time of the first and the last record, in milliseconds since 1970.
    pub span: Option<(u64, u64)>,
}

impl EventStore {
    /// An empty store; with a folder, finished sessions of earlier runs are there too.
    pub fn new(limits: EventLimits, folder: Option<PathBuf>) -> Self {
        let spill = folder.map(|folder| Spill::new(folder, limits.clone()));
        let sessions = Mutex::new(Sessions::default());
        Self { shared: Arc::new(Shared { limits, spill, sessions }) }
    }

    /// Begins a session, or goes on with it under another label.
    pub fn begin(&self, label: SessionLabel) {
        let mut sessions = self.lock();
        sessions.latest = Some(label.id.clone());
        match sessions.live.get_mut(&label.id) {
            Some(log) => log.label = label,
            None => {
                sessions.live.insert(label.id.clone(), Log::new(label));
            }
        }
    }

    /// Keeps an event; returns its number, or 0 when the session is not known.
    pub fn record(&self, session: &str, event: &str, body: Value) -> u64 {
        let mut sessions = self.lock();
        let Some(log) = sessions.live.get_mut(session) else { return 0 };
        let record = Record::new(log.next, event, body, self.shared.limits.record_bytes);
        let seq = record.seq;
        log.push(record, &self.shared.limits);
        seq
    }

    /// Ends a session: its records go to its file. Blocks while it writes.
    pub fn finish(&self, session: &str) {
        let Some(log) = self.lock().live.remove(session) else { return };
        let written = match &self.shared.spill {
            Some(spill) => spill.write(&log),
            None => Err(std::io::ErrorKind::Unsupported.into()),
        };
        if written.is_ok() {
            return;
        }
        if let (Some(_), Err(error)) = (&self.shared.spill, &written) {
            tracing::warn!(session, %error, "the events stay in memory");
        }
        let limits = &self.shared.limits;
        let mut sessions = self.lock();
        sessions.finished.push_back(log);
        let mut held: u64 = sessions.finished.iter().map(|log| log.bytes as u64).sum();
        // The last one stays, as it does among the files.
        while sessions.finished.len() > limits.finished
            || (sessions.finished.len() > 1 && held > limits.finished_bytes)
        {
            let Some(oldest) = sessions.finished.pop_front() else { break };
            held -= oldest.bytes as u64;
        }
    }

    /// Gives a session another name, wherever its records are. Blocks while it does.
    pub fn rename(&self, session: &str, name: &str) {
        if let Some(spill) = &self.shared.spill {
            spill.rename(session, name);
        }
        let mut sessions = self.lock();
        if let Some(mut log) = sessions.live.remove(session) {
            name.clone_into(&mut log.label.id);
            sessions.live.insert(name.to_owned(), log);
        }
        let renamed = sessions.finished.iter_mut().filter(|log| log.label.id == session);
        renamed.for_each(|log| name.clone_into(&mut log.label.id));
    }

    /// What is held.
    pub fn tracker(&self) -> Tracker {
        let mut tracked: Vec<_> = {
            let sessions = self.lock();
            let live = sessions.live.values().map(|log| tracked(log, true));
            live.chain(sessions.finished.iter().rev().map(|log| tracked(log, false))).collect()
        };
        let spill = self.shared.spill.as_ref();
        let ids = spill.map_or_else(Vec::new, Spill::sessions);
        let files = ids.iter().filter_map(|id| spill?.read(id));
        tracked.extend(files.map(|log| self::tracked(&log, false)));
        Tracker { sessions: tracked, folder: spill.map(|spill| spill.folder().to_owned()) }
    }

    /// The number of a session's last record.
    pub fn last_seq(&self, session: &str) -> u64 {
        self.lock().live.get(session).map_or(0, |log| log.next - 1)
    }

    /// A live session's records after a number.
    pub fn since(&self, session: &str, after: u64) -> Vec<Record> {
        let sessions = self.lock();
        let records = sessions.live.get(session).map(|log| log.records.iter());
        records.into_iter().flatten().filter(|record| record.seq > after).cloned().collect()
    }

    /// All records of a session that are held; without a name of the one that began last.
    pub fn records(&self, session: Option<&str>) -> Result<Vec<Record>, DebugError> {
        Ok(self.log(session)?.records.into())
    }

    /// A session's records, wherever they are; without a name the one that began last here.
    pub(super) fn log(&self, session: Option<&str>) -> Result<Log, DebugError> {
        let name = {
            let sessions = self.lock();
            let name = session.map(str::to_owned).or_else(|| sessions.latest.clone());
            if let Some(log) = name.as_ref().and_then(|name| sessions.live.get(name)) {
                return Ok(log.clone());
            }
            let mut finished = sessions.finished.iter().rev();
            if let Some(log) = finished.find(|log| Some(&log.label.id) == name.as_ref()) {
                return Ok(log.clone());
            }
            name
        };
        let spill = self.shared.spill.as_ref();
        let found = name.as_ref().and_then(|name| spill?.read(name));
        found.ok_or_else(|| match name {
            Some(name) => DebugError::NoRun { name, known: self.names() },
            None => DebugError::NoSession(None),
        })
    }

    /// The names of all runs, the live ones first.
    fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = {
            let sessions = self.lock();
            let finished = sessions.finished.iter().rev().map(|log| log.label.id.clone());
            sessions.live.keys().cloned().chain(finished).collect()
        };
        names.extend(self.shared.spill.as_ref().map_or_else(Vec::new, Spill::sessions));
        names
    }

    fn lock(&self) -> MutexGuard<'_, Sessions> {
        self.shared.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn tracked(log: &Log, live: bool) -> TrackedSession {
    let first = log.records.front().map(|record| record.time);
    let last = log.records.back().map(|record| record.time);
    TrackedSession {
        label: log.label.clone(),
        live,
        records: log.records.len(),
        dropped: log.dropped(),
        span: first.zip(last),
    }
}
