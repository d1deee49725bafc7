//! What is known of a session, and how events change it. No IO: events in, state out.
//!
//! A session has one connection ("link") to its adapter; adapters that debug a tree of processes
//! ask for more, whose parent is the link that asked. Links are numbered anew for each run, so an
//! event of an earlier run finds no link and changes nothing.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use serde_json::Value;
use termbridge_pty::PrivateFolder;
use tokio::task::JoinHandle;

use super::control::Resume;
use super::data::{DATA_STOP, WatchedData};
use super::foresight::Foresight;
use super::other_stops::OtherStops;
use super::signals::signal_number;
use super::stopped::Stopped;
use crate::adapter::AdapterKind;
use crate::breakpoint::{BreakpointPlace, Placed};
use crate::client::Client;
use crate::error::DebugError;
use crate::process::ProcessTree;
use crate::protocol::{
    BreakpointEvent, Capabilities, ContinuedEvent, ExitedEvent, OutputEvent, ProcessEvent,
    StoppedEvent, ThreadEvent, read,
};
use crate::reference::References;
use crate::report::{DataChange, EndReason, EndReport};

/// Where a session is in its life.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Phase {
    Starting,
    Live,
    /// For a reason that the report may put more exactly.
    Ending(EndReason),
    Ended(EndReport),
}

pub(crate) struct State {
    pub(crate) phase: Phase,
    /// How many times the program was started.
    pub(crate) run: u64,
    /// When it was started last.
    pub(crate) run_started: std::time::SystemTime,
    pub(crate) program: String,
    pub(crate) pid: Option<i32>,
    pub(crate) adapter: AdapterKind,
    pub(crate) links: BTreeMap<u32, Link>,
    next_link: u32,
    /// Stops so far, in all links and runs.
    pub(crate) stops: u64,
    pub(crate) references: References,
    /// Our numbers of threads.
    threads: BTreeMap<i64, (u32, i64)>,
    pub(crate) exit_code: Option<i64>,
    pub(crate) signal: Option<String>,
    /// The adapter said that it cannot, without answering, and not yet why.
    refusing: bool,
    /// It also said why.
    pub(crate) refused: bool,
    /// The signal that stopped the program last, where that is the reason.
    pub(super) last_signal: Option<String>,
    /// The signal that a core file tells of.
    pub(crate) core_signal: Option<&'static str>,
    /// Someone has asked for a pause that has not come yet.
    pub(crate) pausing: bool,
    /// The adapter's numbers of the breakpoints that stand for exceptions, and how a stop by each is
    /// described.
    pub(crate) raising_ids: Vec<(i64, &'static str)>,
    /// Tasks that read what processes write.
    pub(crate) readers: Vec<JoinHandle<()>>,
    /// The adapter and what it started.
    pub(crate) processes: Vec<ProcessTree>,
    /// Terminals that adapters of this run asked for.
    pub(crate) terminals: usize,
    /// The folder of what the adapter built for the run or leaves behind; dropping it removes it.
    pub(crate) files: Option<PrivateFolder>,
    /// What was found of conditions that cannot be evaluated; how many of it were told.
    pub(crate) condition_failures: Vec<String>,
    pub(crate) told_failures: usize,
    /// The program has values of Rust.
    pub(crate) shows_rust: bool,
    /// Writes what the adapter needs to show them.
    pub(crate) describing: Option<JoinHandle<()>>,
    /// The source files that were compiled with optimisation, once that is known.
    pub(crate) optimised: Arc<OnceLock<BTreeSet<PathBuf>>>,
    /// Where further connections go.
    pub(crate) address: Option<(String, u16)>,
    /// Breakpoints of this run, and whether each was bound at any time.
    pub(crate) bound: BTreeMap<BreakpointPlace, bool>,
    /// The connection whose stop was reported last.
    pub(crate) reported_link: Option<u32>,
    /// The last event whose output was reported.
    pub(crate) reported: u64,
    /// Bytes of output that were reported or left out.
    pub(crate) reported_bytes: usize,
}

/// A connection of the session.
pub(crate) struct Link {
    pub(crate) client: Client,
    pub(crate) name: String,
    pub(crate) parent: Option<u32>,
    pub(crate) capabilities: Capabilities,
    /// The adapter is ready for breakpoints.
    pub(crate) initialized: bool,
    /// Breakpoints were sent, and later changes have to be sent too.
    pub(crate) configured: bool,
    /// The adapter closed the connection.
    pub(crate) closed: bool,
    pub(crate) placed: HashMap<BreakpointPlace, Placed>,
    pub(crate) data: BTreeMap<BreakpointPlace, WatchedData>,
    /// What data breakpoints saw at a stop, by its number.
    pub(crate) data_changes: Option<(u64, Vec<DataChange>)>,
    pub(crate) stopped: Option<Stopped>,
    /// The thread of a step that is not over, for an adapter that takes no other one until then.
    pub(super) open_step: Option<i64>,
    pub(super) others: OtherStops,
    /// Where the code of lines begins at which breakpoints have stopped the program.
    pub(crate) addresses: HashMap<BreakpointPlace, HashSet<String>>,
    /// Places of breakpoints, as the adapter calls them, that are not at the beginning of a function.
    pub(crate) settled: HashSet<String>,
    pub(crate) foresight: Foresight,
    /// How it was let go last.
    pub(crate) resumed: Option<Resume>,
}

/// What an event asks of whoever owns the session.
#[derive(Debug, PartialEq)]
pub(crate) enum Effect {
    None,
    /// The program is over.
    Terminated,
    /// A child wants to be attached to.
    Attach(Value),
    /// A source was loaded.
    Loaded(String),
}

impl State {
    /// How a stop is described that is by a breakpoint which stands for exceptions.
    pub(crate) fn raised_by(&self, body: &Value) -> Option<&'static str> {
        let mut hit = body["hitBreakpointIds"].as_array()?.iter().filter_map(Value::as_i64);
        hit.find_map(|id| Some(self.raising_ids.iter().find(|(own, _)| *own == id)?.1))
    }

    pub(crate) fn new(program: String, adapter: AdapterKind, references: References) -> Self {
        Self {
            phase: Phase::Starting,
            run: 1,
            run_started: std::time::SystemTime::now(),
            program,
            pid: None,
            adapter,
            links: BTreeMap::new(),
            next_link: 0,
            stops: 0,
            references,
            threads: BTreeMap::new(),
            exit_code: None,
            signal: None,
            refusing: false,
            refused: false,
            last_signal: None,
            core_signal: None,
            pausing: false,
            raising_ids: Vec::new(),
            bound: BTreeMap::new(),
            reported_link: None,
            readers: Vec::new(),
            processes: Vec::new(),
            terminals: 0,
            files: None,
            condition_failures: Vec::new(),
            told_failures: 0,
            shows_rust: false,
            describing: None,
            optimised: Arc::default(),
            address: None,
            reported: 0,
            reported_bytes: 0,
        }
    }

    /// Makes ready for another run; what belonged to the last is gone already.
    pub(crate) fn begin_run(&mut self) {
        self.phase = Phase::Starting;
        self.run += 1;
        self.run_started = std::time::SystemTime::now();
        self.bound.clear();
        (self.pid, self.exit_code, self.signal) = (None, None, None);
        (self.reported, self.terminals) = (0, 0);
        (self.refusing, self.refused) = (false, false);
    }

    /// Drops everything that belongs to the run; returns its processes.
    pub(crate) fn end_run(&mut self) -> Vec<ProcessTree> {
        for link in std::mem::take(&mut self.links).into_keys() {
            self.references.forget(link);
        }
        self.threads.clear();
        self.raising_ids.clear();
        (self.address, self.files) = (None, None);
        std::mem::take(&mut self.processes)
    }

    pub(crate) fn add_link(&mut self, client: Client, name: String, parent: Option<u32>) -> u32 {
        let number = self.next_link;
        self.next_link += 1;
        let link = Link {
            client,
            name,
            parent,
            capabilities: Capabilities::default(),
            initialized: false,
            configured: false,
            closed: false,
            placed: HashMap::new(),
            data: BTreeMap::new(),
            data_changes: None,
            stopped: None,
            open_step: None,
            others: OtherStops::default(),
            addresses: HashMap::new(),
            settled: HashSet::new(),
            foresight: Foresight::default(),
            resumed: None,
        };
        self.links.insert(number, link);
        number
    }

    /// Forgets a child whose connection is over; the root stays until the run ends.
    pub(crate) fn remove_child(&mut self, number: u32) {
        if self.links.get(&number).is_some_and(|link| link.parent.is_some()) {
            self.links.remove(&number);
            self.references.forget(number);
            self.threads.retain(|_, (link, _)| *link != number);
        }
    }

    pub(crate) fn is_root(&self, number: u32) -> bool {
        self.links.get(&number).is_some_and(|link| link.parent.is_none())
    }

    /// Our number of an adapter's thread: its own, unless another link has that.
    pub(crate) fn thread_number(&mut self, link: u32, id: i64) -> i64 {
        let known = self.threads.iter().find(|(_, thread)| **thread == (link, id));
        if let Some((number, _)) = known {
            return *number;
        }
        let mut number = id;
        while self.threads.contains_key(&number) {
            number += 1;
        }
        self.threads.insert(number, (link, id));
        number
    }

    /// The adapter's thread for our number.
    pub(crate) fn thread(&self, number: i64) -> Result<(u32, i64), DebugError> {
        self.threads.get(&number).copied().ok_or_else(|| {
            DebugError::InvalidParams(format!("no thread {number}; debug_threads lists them"))
        })
    }

    /// The breakpoints with these numbers of an adapter.
    pub(crate) fn places(&self, link: u32, ids: &[i64]) -> Vec<BreakpointPlace> {
        let placed = self.links.get(&link).map(|link| &link.placed);
        let hit = placed
            .into_iter()
            .flatten()
            .filter(|(_, placed)| placed.id.is_some_and(|id| ids.contains(&id)));
        let mut places: Vec<_> = hit.map(|(place, _)| place.clone()).collect();
        places.sort();
        places
    }

    /// Takes in an event.
    pub(crate) fn apply(&mut self, number: u32, event: &str, body: &Value) -> Effect {
        let Some(link) = self.links.get_mut(&number) else { return Effect::None };
        match event {
            "initialized" => link.initialized = true,
            "stopped" => {
                let mut event: StoppedEvent = read(body);
                if event.reason == "function breakpoint" {
                    "breakpoint".clone_into(&mut event.reason);
                }
                if self.adapter.quirks().is_data_stop(event.description.as_deref()) {
                    DATA_STOP.clone_into(&mut event.reason);
                }
                link.hit(&event.hit_breakpoint_ids);
                link.others.heard_of.extend(event.thread_id);
                let is_with_another = event.preserve_focus_hint && event.reason != "entry";
                if is_with_another && self.adapter.quirks().unreported_command().is_some() {
                    link.others.unsorted.push(event);
                    return Effect::None;
                }
                // Only a breakpoint in another thread leaves a step open.
                if event.reason != "breakpoint" || event.thread_id == link.open_step {
                    link.open_step = None;
                }
                self.pausing = false;
                self.stop(number, event);
            }
            "continued" => {
                let event: ContinuedEvent = read(body);
                let all = event.all_threads_continued.unwrap_or(true);
                match event.thread_id {
                    Some(thread) if !all => link.thread_continued(thread),
                    _ => {
                        link.stopped = None;
                        link.others = OtherStops::default();
                    }
                }
                self.references.forget(number);
            }
            "thread" => {
                let event: ThreadEvent = read(body);
                if event.reason == "exited" {
                    link.thread_ended(event.thread_id);
                    self.threads.retain(|_, thread| *thread != (number, event.thread_id));
                }
            }
            "process" => {
                let event: ProcessEvent = read(body);
                if let Some(pid) = event.system_process_id.filter(|pid| *pid > 0) {
                    self.pid = Some(pid);
                }
                tracing::debug!(name = event.name, "process");
            }
            "exited" => {
                self.exit_code = read::<ExitedEvent>(body).exit_code.or(self.exit_code);
                // lldb gives the number of the signal for an exit code.
                let last = self.last_signal.take();
                let fatal = last.filter(|name| signal_number(name) == self.exit_code);
                if self.adapter.quirks().exits_with_signal() && fatal.is_some() {
                    self.signal = fatal;
                }
            }
            "output" => {
                let event: OutputEvent = read(body);
                if event.category.as_deref() != Some("stdout")
                    && let Some(code) = self.adapter.quirks().exit_code_in(&event.output)
                {
                    self.exit_code = Some(code);
                }
                self.refused |= self.refusing;
                self.refusing |= self.adapter.quirks().refuses_in(&event.output);
            }
            "breakpoint" => {
                link.breakpoint(&read(body));
                let bound = link.placed.iter().filter(|(_, placed)| placed.verified);
                self.bound.extend(bound.map(|(place, _)| (place.clone(), true)));
            }
            "terminated" if link.parent.is_none() => return Effect::Terminated,
            "terminated" => self.remove_child(number),
            "debugpyAttach" => return Effect::Attach(body.clone()),
            "loadedSource" => {
                let path = body["source"]["path"].as_str();
                return path.map_or(Effect::None, |path| Effect::Loaded(path.to_owned()));
            }
            _ => {}
        }
        Effect::None
    }

    /// Refuses a session that is over.
    pub(crate) fn alive(&self) -> Result<(), DebugError> {
        match &self.phase {
            Phase::Ended(end) => {
                let program = self.program.clone();
                Err(DebugError::ProgramExited { program, how: end.how() })
            }
            Phase::Ending(EndReason::Stopped | EndReason::Detached) => {
                Err(DebugError::Aborted("it is ending".to_owned()))
            }
            Phase::Ending(reason) => {
                let how = match reason {
                    EndReason::AdapterLost(reason) => reason.clone(),
                    _ => "debug_status tells how in a moment".to_owned(),
                };
                Err(DebugError::ProgramExited { program: self.program.clone(), how })
            }
            Phase::Starting | Phase::Live => Ok(()),
        }
    }
}

impl Link {
    /// A breakpoint that was hit is placed, whatever was said of it before.
    fn hit(&mut self, ids: &[i64]) {
        let hit = |placed: &&mut Placed| placed.id.is_some_and(|id| ids.contains(&id));
        for placed in self.placed.values_mut().filter(hit).filter(|placed| !placed.verified) {
            (placed.verified, placed.message) = (true, None);
        }
    }

    fn breakpoint(&mut self, event: &BreakpointEvent) {
        let Some(id) = event.breakpoint.id else { return };
        let place = self.placed.values_mut().find(|placed| placed.id == Some(id));
        let Some(placed) = place else { return };
        if event.reason == "removed" {
            placed.verified = false;
            placed.message = Some("the adapter removed it".to_owned());
            return;
        }
        placed.verified = event.breakpoint.verified;
        placed.line = event.breakpoint.line.or(placed.line);
        let source = event.breakpoint.source.clone();
        placed.path = source.and_then(|source| source.path).or(placed.path.take());
        placed.message.clone_from(&event.breakpoint.message);
    }
}

#[cfg(test)]
#[path = "state_tests.rs"]
mod tests;
