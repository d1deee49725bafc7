//! What background jobs and typed lines print between commands.
//!
//! While no command is open, what comes is the shell's own (hooks, the prompt, its line editor, the echo
//! of what is typed), a typed line's or a job's. The terminal does not say whose, so it is judged by when it comes:
//!
//! ```text
//! D ── Gap ── A ── Prompt ── B ── Fresh ── (the shell waits) ── Idle ── the next command
//!                                                                 └── typed ── C ── Typed ── D
//! ```
//!
//! - Gap: hooks and jobs. Kept, unless it is what was printed there the time before: a hook's.
//! - Prompt: one write of the shell; nothing of it is kept.
//! - Fresh: until the kernel shows the shell waiting, zsh and fish still draw.
//! - Idle: a job's. Where the shell ran meanwhile (a job's end, reported at once), whole lines are kept
//!   and the unfinished one is its prompt.
//! - Typed: from the mark of its output to that of its end, which POSIX shells do not print.
//! - After something was typed, and after a resize until the shell waits again: nothing is kept.
//!
//! The text belongs to the command before it and goes with it. What a job prints while a command is open
//! is that command's output. While the shell takes a command, bash draws its prompt again and shows the command:
//! what comes besides is a job's. In other shells it is lost, from the prompt on.

mod saved;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use termbridge_pty::Waiting;
use termbridge_shell::Shell;
use termbridge_vt::{CleanOutput, Size};
use tokio::time::Instant;

use super::report::report_text;
use super::run::MAX_HELD;
use crate::command::CommandReport;
use crate::output_store::{Appended, OutputStore};
use crate::task::SessionTask;

/// How long after its prompt it is looked whether the shell waits; then after twice the time, up to
/// [`SLOWEST_LOOK`].
const FIRST_LOOK: Duration = Duration::from_millis(2);
const SLOWEST_LOOK: Duration = Duration::from_millis(10);
/// The same after a resize: the shell may not have heard of it yet.
const LATER_LOOK: Duration = Duration::from_millis(50);
/// What zsh prints when it has drawn its prompt: bracketed paste on.
const DRAWN: &[u8] = b"\x1b[?2004h";

/// The text that jobs printed after a command.
pub(super) struct Background {
    size: Size,
    clean: CleanOutput,
    pub(super) output: OutputStore,
}

impl Background {
    fn new(size: Size, folder: Option<Arc<Path>>) -> Self {
        let output = OutputStore::in_folder(folder);
        Self { size, clean: CleanOutput::new(size, 0), output }
    }

    fn feed(&mut self, bytes: &[u8]) -> Appended {
        self.clean.feed(bytes);
        self.output.append(&self.clean.take_done())
    }

    /// Its last line is the shell's prompt.
    fn drop_unfinished(&mut self) {
        let pending = self.clean.pending();
        let whole = pending.rfind('\n').map_or(0, |at| at + 1);
        self.output.append(&pending[..whole]);
        self.clean = CleanOutput::new(self.size, 0);
    }

    fn finish(&mut self) {
        let rest = std::mem::take(&mut self.clean).finish();
        self.output.append(&rest);
    }

    pub(super) fn len(&self) -> u64 {
        self.output.len() + self.clean.pending().len() as u64
    }

    fn report(&self, id: u64, from: u64, most: u64) -> CommandReport {
        let report = CommandReport::new(id, "");
        report_text(report, &self.output, &self.clean.pending(), from, most)
    }
}

/// What is printed while no command is open, and not judged yet.
#[derive(Default)]
pub(super) struct Between {
    stage: Stage,
    held: Vec<u8>,
    /// What hooks printed before the last prompt.
    gap: String,
}

#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// A command runs, or something was typed.
    #[default]
    Away,
    /// A line runs that was typed.
    Typed,
    Gap,
    Prompt,
    /// When it is looked whether the shell waits, how long that was put off, and whether it draws its
    /// prompt once more.
    Fresh {
        look: Instant,
        pause: Duration,
        again: bool,
    },
    /// How often the shell had got a processor when it began to wait.
    Idle {
        switches: Option<u64>,
    },
}

impl Stage {
    fn fresh(pause: Duration, again: bool) -> Self {
        Self::Fresh { look: Instant::now() + pause, pause, again }
    }
}

impl Between {
    /// A command is over.
    pub(super) fn begin(&mut self, printed_since: Vec<u8>) {
        self.stage = Stage::Gap;
        self.held = printed_since;
    }

    /// A command is over that was typed.
    pub(super) fn typed_command_ended(&mut self) {
        if matches!(self.stage, Stage::Away | Stage::Typed) {
            self.begin(Vec::new());
        }
    }

    /// A line that was typed begins to print.
    pub(super) fn typed_command_began(&mut self) {
        self.leave();
        self.stage = Stage::Typed;
    }

    /// Something was typed, or a command runs.
    pub(super) fn leave(&mut self) {
        self.stage = Stage::Away;
        self.held = Vec::new();
    }

    /// The prompt begins; what came before it, if it is not what hooks always print.
    pub(super) fn prompt_begins(&mut self) -> Option<Vec<u8>> {
        let is_gap = self.stage == Stage::Gap;
        self.stage = Stage::Prompt;
        let held = std::mem::take(&mut self.held);
        if is_gap { self.new_text(held) } else { None }
    }

    /// What came before a prompt, if it is not what hooks always print.
    pub(super) fn new_text(&mut self, printed: Vec<u8>) -> Option<Vec<u8>> {
        let text = visible(&printed)?;
        let is_new = text != self.gap;
        self.gap = text;
        is_new.then_some(printed)
    }

    pub(super) fn prompt_ends(&mut self) {
        self.stage = Stage::fresh(FIRST_LOOK, false);
        self.held = Vec::new();
    }

    /// The shell draws its prompt once more.
    pub(super) fn redraw(&mut self) {
        if matches!(self.stage, Stage::Fresh { .. } | Stage::Idle { .. }) {
            self.stage = Stage::fresh(LATER_LOOK, true);
            self.held = Vec::new();
        }
    }

    /// What came since the last command's end, before the prompt.
    fn take_gap(&mut self) -> Vec<u8> {
        if self.stage == Stage::Gap { std::mem::take(&mut self.held) } else { Vec::new() }
    }

    /// What a job printed since the prompt.
    fn take_fresh(&mut self, shell: Shell) -> Option<Vec<u8>> {
        let Stage::Fresh { again: false, .. } = self.stage else { return None };
        let mut held = std::mem::take(&mut self.held);
        let drawn = match shell {
            Shell::Bash | Shell::Posix => 0,
            Shell::Zsh => {
                let found = held.windows(DRAWN.len()).rposition(|window| window == DRAWN)?;
                found + DRAWN.len()
            }
            Shell::Fish => return None,
        };
        visible(&held[drawn..]).map(|_| held.split_off(drawn))
    }
}

/// The text that stays of these bytes, if there is any to see.
pub(super) fn visible(bytes: &[u8]) -> Option<String> {
    let mut clean = CleanOutput::default();
    clean.feed(bytes);
    let text = clean.take_done() + &clean.finish();
    (!text.trim().is_empty()).then_some(text)
}

impl SessionTask {
    /// What comes next may be an echo.
    pub(in crate::task) fn typed_at_prompt(&mut self) {
        let Some(shell) = &mut self.shell else { return };
        shell.between.leave();
        shell.typed_since = true;
    }

    /// A new size makes the shell draw its prompt once more.
    pub(in crate::task) fn prompt_is_redrawn(&mut self) {
        if let Some(shell) = &mut self.shell {
            shell.between.redraw();
        }
    }

    /// What jobs printed after a command, with at most `most` bytes of it from `from` on.
    pub(in crate::task) fn background_report(
        &self,
        id: u64,
        from: u64,
        most: u64,
    ) -> Option<CommandReport> {
        let run = self.shell.as_ref()?.commands.iter().find(|run| run.id == id)?;
        Some(run.background.as_ref()?.report(id, from, most))
    }

    /// Takes what was printed while no command is open.
    pub(super) fn printed_between(&mut self, bytes: &[u8]) {
        let Some(shell) = &mut self.shell else { return };
        match shell.between.stage {
            Stage::Away | Stage::Prompt => {}
            Stage::Typed => self.keep_background(bytes),
            Stage::Gap | Stage::Fresh { .. } => {
                let held = &mut shell.between.held;
                // Hooks and line editors print less than this.
                let room = MAX_HELD.saturating_sub(held.len());
                held.extend_from_slice(&bytes[..bytes.len().min(room)]);
            }
            Stage::Idle { switches } => {
                let now = self.program.switches();
                shell.between.stage = Stage::Idle { switches: now };
                self.keep_background(bytes);
                let last = self.shell.as_mut().and_then(|shell| shell.commands.back_mut());
                if now != switches
                    && let Some(text) = last.and_then(|run| run.background.as_mut())
                {
                    text.drop_unfinished();
                }
            }
        }
    }

    /// These bytes are a job's.
    pub(super) fn keep_background(&mut self, bytes: &[u8]) {
        let size = self.terminal.size();
        let Some(shell) = &mut self.shell else { return };
        let folder = shell.output_folder.clone();
        let Some(run) = shell.commands.iter_mut().rfind(|run| !run.is_open()) else { return };
        let text = run.background.get_or_insert_with(|| Background::new(size, folder));
        let appended = text.feed(bytes);
        run.disk_is_full |= appended == Appended::DiskFull;
        self.printed += bytes.len() as u64;
        self.output_grew();
    }

    /// A command is submitted: what jobs printed before it is complete, except for what is returned, which comes before
    /// the next prompt.
    pub(super) fn end_background(&mut self) -> Vec<u8> {
        let Some(shell) = &mut self.shell else { return Vec::new() };
        let fresh = shell.between.take_fresh(shell.link.shell);
        let gap = shell.between.take_gap();
        shell.between.leave();
        if let Some(fresh) = fresh {
            self.keep_background(&fresh);
        }
        let last = self.shell.as_mut().and_then(|shell| shell.commands.back_mut());
        if let Some(text) = last.and_then(|run| run.background.as_mut()) {
            text.finish();
        }
        gap
    }

    /// When it is looked whether the shell waits at its prompt.
    pub(in crate::task) fn prompt_deadline(&self) -> Option<Instant> {
        match self.shell.as_ref()?.between.stage {
            Stage::Fresh { look, .. } if self.exited.is_none() => Some(look),
            _ => None,
        }
    }

    pub(in crate::task) fn settle_prompt(&mut self, now: Instant) {
        if self.prompt_deadline().is_some_and(|look| now >= look) {
            self.look_at_prompt();
        }
    }

    /// Notes that the shell waits at its prompt, if it does: from then on it prints nothing of its own.
    pub(in crate::task) fn look_at_prompt(&mut self) {
        if self.prompt_deadline().is_none() {
            return;
        }
        // In this order: what it printed before it began to wait is among what is read.
        let (waiting, place) = self.program.waiting_place();
        let waits = waiting.is_for_input() || waiting == Waiting::Unknown;
        let switches = self.program.switches();
        let drained = self.read_output();
        let Some(shell) = &mut self.shell else { return };
        let Stage::Fresh { pause, again, .. } = shell.between.stage else { return };
        if !waits || !drained {
            shell.between.stage = Stage::fresh((pause * 2).min(SLOWEST_LOOK), again);
            return;
        }
        if waiting.is_for_input() {
            shell.note_prompt_place(place);
        }
        let fresh = shell.between.take_fresh(shell.link.shell);
        shell.between.stage = Stage::Idle { switches };
        shell.between.held = Vec::new();
        if let Some(fresh) = fresh {
            self.keep_background(&fresh);
        }
    }
}
