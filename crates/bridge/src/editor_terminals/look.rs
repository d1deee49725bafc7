//! What the kernel knows of an editor's terminal: who waits there, and for what.
//!
//! The editor tells where a command begins and ends because the shell marks it. A shell that lost its marks
//! (`unset PROMPT_COMMAND`, `exec bash`) says nothing any more; but it waits at its prompt, where it also waited before it
//! was given the command. And of a program that waits for someone to type the editor says nothing at all.

use std::time::Duration;

use termbridge_session::{Fired, Shell, TerminalLook, Waiting, WaitingPlace, look_at_terminal_of};
use tokio::time::Instant;

/// How long a question has stood there before it counts: what was printed before it takes this long to come here at most.
const ASKED: Duration = Duration::from_millis(300);
/// How long a program that waits for keys has done nothing.
const QUIET: Duration = Duration::from_millis(500);
/// The same for one that cannot be looked into.
const UNCERTAIN_QUIET: Duration = Duration::from_secs(3);
/// How long a shell waits at its prompt before its command counts as over without a word about it. On a busy machine the editor
/// takes seconds to type a command or to report its end: only of a shell that has lost its marks before no word is expected.
const NO_WORD: Duration = Duration::from_secs(10);
const NO_WORD_AGAIN: Duration = Duration::from_secs(2);
/// Clock ticks that an idle program may use meanwhile, for timers of its own.
const IDLE_TICKS: u64 = 1;

/// What is seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Seen {
    /// The running command waits for someone: [`Fired::NeedsInput`] or [`Fired::Interactive`].
    Waits(Fired),
    /// The shell is at its prompt, though a command runs.
    Prompt,
    /// Neither, as far as the kernel tells.
    Nothing,
}

/// What is kept from one look to the next.
#[derive(Debug, Default)]
pub(super) struct Looks {
    /// Where the shell waits when it is at its prompt.
    prompt: Option<WaitingPlace>,
    /// Since when the foreground has done nothing, and what it had done by then.
    calm: Option<(u64, Instant)>,
    /// The shell did not tell how its last command ended.
    has_lost_marks: bool,
}

impl Looks {
    /// The shell is at its prompt now.
    pub(super) fn learn_prompt(&mut self, pid: Option<u32>) {
        let look = pid.and_then(look_at_terminal_of).filter(is_line_editor);
        if let Some(place) = look.and_then(|look| look.place) {
            self.prompt = Some(place);
        }
        self.calm = None;
    }

    /// A command of the shell has ended, with or without a word about it.
    pub(super) fn note_end(&mut self, is_told: bool) {
        self.has_lost_marks = !is_told;
    }

    /// What is seen now of a shell that runs a command; `since` is when it last printed or was typed to.
    pub(super) fn see(&mut self, pid: u32, since: Instant) -> Seen {
        let Some(look) = look_at_terminal_of(pid) else { return Seen::Nothing };
        self.judge(&look, since, Instant::now())
    }

    fn judge(&mut self, look: &TerminalLook, since: Instant, now: Instant) -> Seen {
        let is_same = |(ticks, _): &(u64, Instant)| {
            look.ticks.checked_sub(*ticks).is_some_and(|more| more <= IDLE_TICKS)
        };
        let (ticks, calm) = self.calm.filter(is_same).unwrap_or((look.ticks, now));
        self.calm = Some((ticks, calm));
        let (quiet, calm) = (now.duration_since(since), now.duration_since(calm.max(since)));
        if is_line_editor(look) && self.is_prompt(look) {
            let limit = if self.has_lost_marks { NO_WORD_AGAIN } else { NO_WORD };
            return if quiet >= limit { Seen::Prompt } else { Seen::Nothing };
        }
        let is_unknown = look.waiting == Waiting::Unknown;
        if look.line_mode.canonical {
            let echo = look.line_mode.echo;
            // A process of another user (sudo) cannot be looked into; a hidden line tells.
            let reads = look.waiting.is_reading() || (is_unknown && !echo);
            let waits = reads && quiet >= ASKED;
            return if waits { Seen::Waits(Fired::NeedsInput { echo }) } else { Seen::Nothing };
        }
        let limit = if is_unknown { UNCERTAIN_QUIET } else { QUIET };
        if (look.waiting.is_for_input() || is_unknown) && calm >= limit {
            return Seen::Waits(Fired::Interactive { uncertain: is_unknown });
        }
        Seen::Nothing
    }

    /// Whether a shell that edits a line edits its next command, and none that `read -e` asks for.
    fn is_prompt(&self, look: &TerminalLook) -> bool {
        match (&self.prompt, &look.place) {
            (Some(prompt), Some(place)) if place.is_same_program(prompt) => place == prompt,
            // Another shell has taken its place.
            (_, Some(_)) => Shell::known(&look.name).is_some(),
            (_, None) => false,
        }
    }
}

/// Whether a shell edits a line.
pub(super) fn is_at_prompt(pid: u32) -> bool {
    look_at_terminal_of(pid).is_some_and(|look| is_line_editor(&look))
}

/// Whether the shell itself has the keys, and takes them one by one.
fn is_line_editor(look: &TerminalLook) -> bool {
    look.is_in_front_alone && !look.line_mode.canonical && look.waiting.is_for_input()
}
