//! Going on with a session that an earlier server left with its keeper.
//!
//! The terminal is restored from its dump and fed up to the record's position: what the shell's marks
//! meant up to there was decided by the server before. What was read after that is followed as if it had
//! just been read, and then the terminal is read on.

use std::sync::atomic::Ordering;

use termbridge_pty::{Checkpoint, Journal, Register, Signal};
use termbridge_vt::{Options, Seq, Terminal};
use tokio::sync::OwnedSemaphorePermit;
use tokio::task::yield_now;
use tokio::time::Instant;

use super::keeping::Keeping;
use super::lifecycle::RESTART_GRACE;
use super::shell::{ShellState, Spawned};
use super::{SessionTask, Ties, new_terminal};
use crate::id::SessionId;
use crate::info::Ended;
use crate::launch::Launch;
use crate::saved::{
    self, SavedOrigin, SavedRun, SavedSession, SavedState, Unreadable, load_size, load_time,
};
use crate::settings::Settings;
use crate::turns::Turns;

/// Bytes that are fed between two times that what was noticed is taken.
const CHUNK: usize = 64 * 1024;

/// What an earlier server left of a session, read as far as it takes to list it.
pub(crate) struct Heritage {
    pub(crate) id: SessionId,
    pub(crate) launch: Launch,
    /// Order of launch.
    pub(crate) number: u64,
    created: u64,
    state: SavedState,
    record: SavedSession,
    /// Position of the record.
    position: u64,
}

impl Heritage {
    /// Reads a session's record.
    pub(crate) fn read(id: SessionId, journal: &Journal) -> Result<Self, Unreadable> {
        let missing = || Unreadable::Damaged("it was never written".to_owned());
        let (position, record) = journal.load(Checkpoint::Small).ok_or_else(missing)?;
        let record = SavedSession::read(&record)?;
        let origin: SavedOrigin = saved::decode(&record.origin)?;
        let state: SavedState = saved::decode(&record.state)?;
        let (launch, created, number) = (origin.launch.into(), origin.created, origin.number);
        Ok(Self { id, launch, number, created, state, record, position })
    }

    /// Its program has ended, as far as the earlier server knew.
    pub(crate) fn is_over(&self) -> bool {
        self.state.ended.is_some()
    }

    /// The kind of shell that it is, if commands are told apart in it.
    pub(crate) fn shell(&self) -> Option<termbridge_shell::Shell> {
        self.state.shell.as_ref()?.kind.map(Into::into)
    }

    /// Where in the stream the terminal began to capture the output of the command that runs, and where that was suspended.
    fn captured(&self) -> Option<(u64, Option<u64>)> {
        let open = self.state.shell.as_ref()?.open.as_ref().filter(|open| open.output_began)?;
        let mut runs = self.record.runs.iter().rev().filter_map(|run| saved::decode(run).ok());
        let run: SavedRun = runs.find(|run: &SavedRun| run.id == open.id)?;
        let suspended = run.suspended.map(|suspended| suspended.from);
        run.rest.is_none().then_some((run.captured_from, suspended))
    }

    /// The folder of its shell.
    pub(crate) fn folder(&self) -> Option<std::path::PathBuf> {
        let shell = self.state.shell.as_ref()?;
        Some(saved::load_path(shell.folder.clone()))
    }
}

/// The terminal up to the record's position, and the position of the dump that it comes from. Takes long where the
/// ring holds much.
pub(crate) fn restore_terminal(
    heritage: &Heritage,
    journal: &Journal,
    settings: &Settings,
) -> (u64, Terminal) {
    let options = Options { scrollback_lines: settings.scrollback_lines, ..Options::default() };
    let dump = journal.load(Checkpoint::Big).filter(|(at, _)| *at <= heritage.position);
    let restored = dump.and_then(|(at, bytes)| match Terminal::from_bytes(&bytes, options) {
        Ok(terminal) => Some((at, terminal)),
        Err(error) => {
            tracing::warn!(session = %heritage.id, %error, "the screens cannot be restored");
            None
        }
    });
    let (dumped, mut terminal) =
        restored.unwrap_or_else(|| (0, new_terminal(heritage.launch.size, settings)));
    if heritage.shell().is_some() {
        terminal.tap();
    }
    let lost = journal.oldest().saturating_sub(dumped);
    if lost > 0 {
        tracing::warn!(session = %heritage.id, lost, "bytes of output are gone");
        terminal.feed(format!("\x18\r\n[{lost} bytes of output lost]\r\n").as_bytes());
    }
    let mut at = dumped + lost;
    let mut feed_up_to = |terminal: &mut Terminal, position: u64| {
        let known = journal.bytes(at..position.max(at)).unwrap_or_default();
        at = position.max(at);
        for chunk in known.chunks(CHUNK) {
            terminal.feed(chunk);
            // All of this was taken when it was first read.
            drop((terminal.take_tapped(), terminal.take_events(), terminal.take_replies()));
        }
        terminal.take_mark();
    };
    let captured = heritage.captured();
    if let Some((from, suspended)) = captured {
        if from > dumped {
            feed_up_to(&mut terminal, from);
            terminal.begin_output();
        }
        if let Some(suspended) = suspended.filter(|at| *at > dumped) {
            feed_up_to(&mut terminal, suspended);
            drop((terminal.take_done_output(), terminal.suspend_output()));
        }
    }
    feed_up_to(&mut terminal, heritage.position);
    match captured {
        None => drop(terminal.end_output()),
        Some((_, Some(_))) => {}
        Some((_, None)) => {
            terminal.resume_output();
            drop(terminal.take_done_output());
        }
    }
    let size = load_size(heritage.state.size);
    if terminal.size() != size {
        terminal.resize(size);
    }
    terminal.count_from(Seq(journal.get(Register::Seq).max(terminal.seq().0)));
    (dumped, terminal)
}

/// What a session goes on with.
pub(crate) struct Adopted {
    pub(crate) heritage: Heritage,
    pub(crate) spawned: Spawned,
    pub(crate) terminal: Terminal,
    /// Position of the terminal's dump.
    pub(crate) dumped: u64,
    /// Unless it is over.
    pub(crate) place: Option<OwnedSemaphorePermit>,
}

impl SessionTask {
    /// A session as the earlier server left it.
    pub(crate) fn adopt(adopted: Adopted, ties: Ties) -> Result<Self, Unreadable> {
        let Adopted { heritage, mut spawned, terminal, dumped, place } = adopted;
        let Heritage { id, launch, number, created, state, record, position } = heritage;
        let journal = spawned.journal.take();
        let link = spawned.shell.take();
        let mut task = Self::new(id, launch, spawned, place, number, ties);
        task.terminal = terminal;
        task.created = load_time(created);
        if let (Some(link), Some(saved)) = (link, state.shell) {
            let switches = task.program.switches();
            let shell = ShellState::load(link, saved, record.text, &record.runs, switches)?;
            task.shell = Some(shell);
        }
        task.bells = state.bells;
        task.bells_heard = state.bells_heard;
        task.at_prompt = state.at_prompt;
        task.typed.store(state.typed, Ordering::Relaxed);
        if let Some(before) = state.size_before {
            task.was_driven(load_size(before));
        }
        if let Some(journal) = journal {
            task.printed = journal.get(Register::Printed);
            task.input =
                super::input::InputQueue::load(state.input, journal.get(Register::Written));
            task.unfed = journal.bytes(position..journal.head()).unwrap_or_default();
            task.keeping = Some(Keeping::new(journal, dumped));
        }
        task.behind = true;
        let ended: Option<Ended> = state.ended.map(Into::into);
        if let Some(ended) = ended {
            task.exited = Some((ended.status, Instant::now()));
            task.ended = Some(ended);
        } else if let Some(reason) = state.stopping {
            task.begin_stop(Signal::TERM, RESTART_GRACE, Vec::new(), reason.into());
        }
        task.synchronized_since = task.terminal.is_synchronized().then(Instant::now);
        task.survey_soon();
        Ok(task)
    }

    /// Follows what the earlier server had read and not recorded, before anybody is answered: a screen that is shown
    /// must have it.
    pub(super) async fn catch_up(&mut self, turns: &Turns) {
        while !self.unfed.is_empty() {
            let turn = turns.clone().next().await;
            self.has_turn = true;
            self.feed_unfed();
            self.has_turn = false;
            self.settle();
            self.keep();
            drop(turn);
            yield_now().await;
        }
    }
}
