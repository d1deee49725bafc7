//! Waiting for what a program does.
//!
//! A [`Wait`] is a list of conditions of which one has to come true, and a deadline. It is judged by
//! the session's task after every piece of output, so nothing is polled and nothing scrolls by
//! unseen. Only the conditions that the kernel alone knows (`prompt`, `needs_input`, `interactive`) are
//! asked for at intervals, while someone waits for them.

use std::time::Duration;

use regex::Regex;
use termbridge_vt::{Found, Haystack, Seq, Since};

use crate::command::CommandReport;
use crate::info::State;
use crate::snapshot::Snapshot;

/// What to wait for; the first condition that holds ends the wait.
#[derive(Debug, Clone, Default)]
pub struct Wait {
    /// This text is visible in a line.
    pub text: Option<String>,
    /// This pattern matches the visible text.
    pub regex: Option<Regex>,
    /// This text is not visible.
    pub gone: Option<String>,
    /// The screen has not changed for this long.
    pub idle: Option<Duration>,
    /// The screen changed, since `after` or else since the wait began.
    pub change: bool,
    /// The program ended, or the `command`.
    pub exit: bool,
    /// A shell waits at its prompt.
    pub prompt: bool,
    /// The foreground program reads a line from the terminal.
    pub needs_input: bool,
    /// The foreground program has the terminal in raw mode and waits for keys.
    pub interactive: bool,
    /// This command of a shell session is over.
    pub command: Option<u64>,
    /// The shell is free for a command.
    pub free: bool,
    /// The program has taken its input and waits for more, as the kernel shows it: at once if the
    /// screen changed and the last key was not Escape, else only after `UNCHANGED_GRACE`.
    pub settled: bool,
    /// Not `needs_input` or `interactive` that a wait for the same command has ended with already, with
    /// nothing printed or typed since.
    pub news_only: bool,
    /// The kernel was asked, whatever it said.
    pub surveyed: bool,
    /// Something was printed since [`SessionInfo::printed`](crate::SessionInfo::printed) was this.
    pub printed_after: Option<u64>,
    /// The bell rang.
    pub bell: bool,
    /// The title contains this.
    pub title: Option<String>,
    /// Only what changed after this counts for `text`, `regex` and `change`.
    pub after: Option<Seq>,
    /// Judged only once the program has taken all input sent before.
    pub after_input: bool,
    /// When to give up.
    pub timeout: Option<Duration>,
    /// What to copy at the moment when the wait ends.
    pub look: Option<Look>,
    /// Report the awaited `command` at that moment, with at most this many bytes of its output. Wins over the running
    /// command's report of a `look`.
    pub report_bytes: Option<u64>,
}

/// What a wait brings back of the screen on which it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// The screen.
    Screen,
    /// The screen, and which rows changed since then.
    Changes(Since),
    /// The screen, and this many lines of history and screen as plain text.
    Scrollback(usize),
}

/// How long a program that waits for input may leave the screen as it was: some paint a little later,
/// and Escape is only told from the beginning of a sequence by the time after it.
pub(crate) const UNCHANGED_GRACE: Duration = Duration::from_millis(150);

/// Longest wait without a limit of its own.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);

impl Wait {
    /// Waits until `text` is visible.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: Some(text.into()), ..Self::default() }
    }

    /// Waits until the pattern matches what is visible.
    pub fn regex(pattern: Regex) -> Self {
        Self { regex: Some(pattern), ..Self::default() }
    }

    /// Waits until `text` is not visible.
    pub fn gone(text: impl Into<String>) -> Self {
        Self { gone: Some(text.into()), ..Self::default() }
    }

    /// Waits until the screen is the same for `time`.
    pub fn idle(time: Duration) -> Self {
        Self { idle: Some(time), ..Self::default() }
    }

    /// Waits until the screen changes.
    pub fn change() -> Self {
        Self { change: true, ..Self::default() }
    }

    /// Waits until the program ends.
    pub fn exit() -> Self {
        Self { exit: true, ..Self::default() }
    }

    /// Counts only what changed after `seq`.
    pub fn after(mut self, seq: Seq) -> Self {
        self.after = Some(seq);
        self
    }

    /// Gives up after `timeout`.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// True when no condition is set.
    pub fn is_empty(&self) -> bool {
        let Self {
            text,
            regex,
            gone,
            idle,
            change,
            exit,
            prompt,
            needs_input,
            interactive,
            command,
            free,
            settled,
            surveyed,
            printed_after,
            bell,
            title,
            ..
        } = self;
        text.is_none()
            && regex.is_none()
            && gone.is_none()
            && idle.is_none()
            && title.is_none()
            && command.is_none()
            && printed_after.is_none()
            && !(*change || *exit || *prompt || *needs_input || *interactive)
            && !(*free || *settled || *surveyed || *bell)
    }

    pub(crate) fn reads_text(&self) -> bool {
        self.text.is_some() || self.regex.is_some() || self.gone.is_some()
    }

    pub(crate) fn watches_screen(&self) -> bool {
        self.reads_text() || self.change || self.settled || self.idle.is_some()
    }

    pub(crate) fn asks_kernel(&self) -> bool {
        self.prompt || self.needs_input || self.interactive || self.settled || self.surveyed
    }

    /// Whether it waits for a word of the shell, which may be lost.
    pub(crate) fn watches_shell(&self) -> bool {
        self.command.is_some() || self.free
    }

    /// Judges the conditions on text. `newer` has the rows that are newer than `after`, if only those count.
    pub fn find(&self, haystack: &Haystack, newer: Option<&[u16]>) -> Option<Fired> {
        let hit = |range: std::ops::Range<usize>| {
            let found = haystack.locate(range);
            // A typed line changes the row of its prompt.
            let is_new =
                |rows: &[u16]| rows.contains(&found.row) && !haystack.is_typed_prompt(&found);
            newer.is_none_or(is_new).then_some(found)
        };
        if let Some(text) = &self.text {
            let mut matches = haystack.text().match_indices(text.as_str());
            if let Some(found) = matches.find_map(|(at, part)| hit(at..at + part.len())) {
                return Some(Fired::Text(found));
            }
        }
        if let Some(regex) = &self.regex {
            let mut matches = regex.find_iter(haystack.text()).filter(|found| !found.is_empty());
            if let Some(found) = matches.find_map(|found| hit(found.range())) {
                return Some(Fired::Regex(found));
            }
        }
        if self.gone.as_ref().is_some_and(|text| !haystack.text().contains(text.as_str())) {
            return Some(Fired::Gone);
        }
        None
    }
}

/// The condition that ended a wait.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fired {
    /// The text stands there.
    Text(Found),
    /// The pattern matched there.
    Regex(Found),
    /// The text is not visible.
    Gone,
    /// The screen was quiet long enough.
    Idle,
    /// The screen changed.
    Change,
    /// The program ended, or the command that was waited for.
    Exit,
    /// A shell waits at its prompt.
    Prompt,
    /// The command is over.
    Command,
    /// The shell is free for a command.
    Free,
    /// Something was printed.
    Printed,
    /// The program reads a line; a password when the terminal does not echo.
    NeedsInput {
        /// Whether what is typed shows.
        echo: bool,
    },
    /// The program waits for input.
    Settled,
    /// The kernel was asked.
    Surveyed,
    /// The program waits for keys.
    Interactive {
        /// It may be at work: it is at another machine, say, or another user's.
        uncertain: bool,
    },
    /// The bell rang.
    Bell,
    /// The title is this now.
    Title(String),
}

impl Fired {
    /// The condition's name, as in the wait.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Text(_) => "text",
            Self::Regex(_) => "regex",
            Self::Gone => "gone",
            Self::Idle => "idle_ms",
            Self::Change => "change",
            Self::Exit => "exit",
            Self::Prompt => "prompt",
            Self::Command => "command",
            Self::Free => "free",
            Self::Printed => "printed",
            Self::NeedsInput { .. } => "needs_input",
            Self::Settled => "settled",
            Self::Surveyed => "surveyed",
            Self::Interactive { .. } => "interactive",
            Self::Bell => "bell",
            Self::Title(_) => "title",
        }
    }
}

/// How a wait ended.
#[derive(Debug, Clone)]
pub struct Waited {
    /// What came true; `None` when time ran out or the program ended first.
    pub fired: Option<Fired>,
    /// Whether the program runs.
    pub state: State,
    /// The running command waits for someone, as an earlier wait has told: `NeedsInput` or `Interactive`.
    pub told: Option<Fired>,
    /// The screen's change counter at the end.
    pub seq: Seq,
    /// How long it took.
    pub elapsed: Duration,
    /// A query of the program that got no answer: it may be what it waits for.
    pub unanswered_query: Option<String>,
    /// The text is visible, but stood there before `after`.
    pub seen_before: bool,
    /// The program reads a line that the terminal hides, as far as the kernel was asked.
    pub hidden_line: bool,
    /// Bytes of input that the program has not taken.
    pub queued: usize,
    /// The screen at the end, where the wait has a look.
    pub snapshot: Option<Box<Snapshot>>,
    /// With `report_bytes` the awaited command. With a look the shell's command that ran then, without its output.
    pub command: Option<Box<CommandReport>>,
}
