//! Judging the waits.

use std::sync::Arc;
use std::time::Duration;

use termbridge_pty::{Survey, Waiting};
use termbridge_vt::Seq;
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::interactive::Calm;
use super::{Command, SessionTask};
use crate::snapshot::SnapshotRequest;
use crate::wait::{DEFAULT_TIMEOUT, Fired, Look, UNCHANGED_GRACE, Wait, Waited};

/// How often the kernel is asked while someone waits for a prompt or for a program to read.
const SURVEY_INTERVAL: Duration = Duration::from_millis(25);
/// The same once this much time has passed since the wait began and since the last input: what has
/// taken long may take a little longer to be noticed.
const SLOWER_SURVEYS: [(Duration, Duration); 2] = [
    (Duration::from_secs(2), Duration::from_millis(100)),
    (Duration::from_secs(20), Duration::from_millis(250)),
];

/// The least time between two questions for a wait that ends when the program waits for input.
const SETTLE_INTERVAL: Duration = Duration::from_millis(1);

/// How long a program that polls has to print nothing before the kernel's answer about it counts.
const POLLING_QUIET: Duration = Duration::from_millis(2);

/// How long a program that may draw by itself has to print nothing before it counts as settled.
pub(super) const DRAWING_QUIET: Duration = Duration::from_millis(50);

/// How long a command has before the kernel is asked about it.
const SURVEY_DELAY: Duration = Duration::from_millis(100);

/// A wait that has not ended.
pub(super) struct PendingWait {
    pub(super) wait: Wait,
    reply: oneshot::Sender<Waited>,
    began: Instant,
    deadline: Instant,
    /// What `change` is counted from.
    since: Seq,
    bells: u64,
    /// The screen when it last changed, for `idle`.
    idle_seq: Seq,
    idle_since: Instant,
    /// How many surveys there had been when it began.
    surveys: u64,
}

/// That a command waits for someone, as whoever asked was told.
#[derive(Debug)]
struct Told {
    command: u64,
    fired: Fired,
    printed: u64,
    at: Instant,
}

impl PendingWait {
    /// The wait is not judged before the program has taken its input.
    pub(super) fn is_held(&self) -> bool {
        self.wait.after_input
    }
}

/// Asking the kernel what the foreground program does.
#[derive(Default)]
pub(super) struct SurveyState {
    under_way: bool,
    /// When the last one began.
    started: Option<Instant>,
    /// The same, if the program had read all its input by then: one that has not does not wait
    /// for more, whatever the kernel says.
    settled: Option<Instant>,
    /// The idle time-out wants to know too.
    pub(super) for_idle: bool,
    /// Someone wants to end the shell if it is idle; asked then.
    pub(super) end_idle: Option<(oneshot::Sender<bool>, Instant)>,
    next: Option<Instant>,
    latest: Option<Survey>,
    /// When `latest` began.
    latest_began: Option<Instant>,
    pub(super) calm: Option<Calm>,
    /// A thread or process of the foreground ran at the last survey.
    pub(super) is_at_work: bool,
    /// How many have come back.
    count: u64,
    told: Option<Told>,
}

impl SurveyState {
    /// What is known is from before the last input.
    pub(super) fn forget(&mut self) {
        self.latest = None;
    }

    /// The foreground program has read all its input and waits for more.
    pub(super) fn shows_waiting(&self) -> bool {
        self.latest.as_ref().is_some_and(|survey| survey.waiting.is_for_input())
    }

    pub(super) fn is_under_way(&self) -> bool {
        self.under_way
    }
}

impl SessionTask {
    /// The screen's number for a wait. Comparing the screen takes long, and whoever waits for a command
    /// does not look at it.
    fn seq_for(&mut self, wait: &Wait) -> Seq {
        let looks = wait.command.is_none() || wait.watches_screen() || wait.look.is_some();
        if looks { self.terminal.look() } else { self.terminal.seq() }
    }

    pub(super) fn begin_wait(&mut self, wait: Wait, reply: oneshot::Sender<Waited>) {
        let now = Instant::now();
        let seq = self.seq_for(&wait);
        if wait.asks_kernel() || wait.watches_shell() {
            self.survey.latest = None;
            let delay = match (wait.command, wait.surveyed, wait.settled) {
                (_, true, _) => Duration::ZERO,
                // Most commands are over before the kernel could be asked.
                (Some(_), ..) => SURVEY_DELAY,
                // Its input is still on its way; what it prints is asked about at once.
                (None, _, true) => SETTLE_INTERVAL,
                (None, _, false) => Duration::ZERO,
            };
            let due = self.survey.next.filter(|next| *next > now && self.shell_is_in_doubt());
            self.survey.next = Some(due.unwrap_or(now + delay).min(now + delay));
        }
        self.waits.push(PendingWait {
            reply,
            began: now,
            deadline: now + wait.timeout.unwrap_or(DEFAULT_TIMEOUT),
            since: wait.after.unwrap_or(seq),
            // A bell that rang since the last input counts: it may have come before this request.
            bells: self.bells_heard,
            idle_seq: seq,
            idle_since: now,
            surveys: self.survey.count,
            wait,
        });
    }

    pub(super) fn waits_deadline(&self) -> Option<Instant> {
        let each = self.waits.iter().map(|pending| match pending.wait.idle {
            Some(idle) if !pending.is_held() => pending.deadline.min(pending.idle_since + idle),
            _ => pending.deadline,
        });
        let survey = self.survey.next.filter(|_| !self.survey.under_way && self.asks_kernel());
        each.chain(survey).min()
    }

    fn asks_kernel(&self) -> bool {
        let asks = |wait: &Wait| wait.asks_kernel() || wait.watches_shell();
        self.shell_is_in_doubt()
            || self.holds_input()
            || self.lines_deadline().is_some()
            || self.asks_for_secret()
            || self.waits.iter().any(|pending| asks(&pending.wait))
    }

    /// Asks the kernel at the next turn.
    pub(super) fn survey_soon(&mut self) {
        self.survey.next = Some(Instant::now());
    }

    /// Asks the kernel if nothing has come of a command by then. Most are over before; one that waits
    /// for the shell's prompt is asked about sooner.
    pub(super) fn survey_later(&mut self, triggered: bool) {
        let delay = if triggered { SURVEY_DELAY } else { SURVEY_INTERVAL };
        self.survey.next = Some(Instant::now() + delay);
    }

    /// Answers every wait that has come to its end.
    pub(super) fn judge_waits(&mut self, now: Instant) {
        if self.waits.is_empty() {
            return;
        }
        self.unseen_rows = 0;
        // Comparing the screen costs more than a read of output: only for those who watch it.
        let watched = self.waits.iter().any(|pending| pending.wait.watches_screen());
        let seq = if watched { self.terminal.look() } else { self.terminal.seq() };
        let haystack = self
            .waits
            .iter()
            .any(|pending| pending.wait.reads_text())
            .then(|| self.terminal.haystack());
        let mut waits = std::mem::take(&mut self.waits);
        waits.retain(|pending| !pending.reply.is_closed());
        let taken = self.input.is_taken();
        let mut unfinished = Vec::with_capacity(waits.len());
        // The first caller is answered last: the scheduler continues with the task that was woken last.
        for mut pending in waits.into_iter().rev() {
            if pending.is_held() && !taken && self.ended.is_none() && now < pending.deadline {
                unfinished.push(pending);
                continue;
            }
            pending.wait.after_input = false;
            if pending.idle_seq != seq {
                pending.idle_seq = seq;
                pending.idle_since = now;
            }
            let text = haystack.as_ref().and_then(|haystack| {
                let newer = pending.wait.after.map(|after| self.terminal.rows_since(after).0);
                pending.wait.find(haystack, newer.as_deref())
            });
            let fired = text.or_else(|| self.other_condition(&pending, seq, now));
            if fired == Some(Fired::Bell) {
                self.bells_heard = self.bells;
            }
            self.note_told(&pending.wait, fired.as_ref(), now);
            let over = fired.is_some() || self.ended.is_some() || now >= pending.deadline;
            if !over {
                unfinished.push(pending);
                continue;
            }
            let seen_before = fired.is_none()
                && haystack.as_ref().is_some_and(|haystack| {
                    matches!(
                        pending.wait.find(haystack, None),
                        Some(Fired::Text(_) | Fired::Regex(_))
                    )
                });
            let look = pending.wait.look.map(|look| match look {
                Look::Screen => SnapshotRequest::default(),
                Look::Changes(since) => {
                    SnapshotRequest { since: Some(since), ..SnapshotRequest::default() }
                }
                Look::Scrollback(lines) => {
                    SnapshotRequest { scrollback: Some(lines), ..SnapshotRequest::default() }
                }
            });
            let command = match (pending.wait.report_bytes, pending.wait.command) {
                (Some(most), Some(id)) => self.command_report(id, 0, most),
                _ => look.and_then(|_| self.running_command()),
            };
            let _ = pending.reply.send(Waited {
                queued: self.queued_input(),
                command: command.map(Box::new),
                snapshot: look.map(|request| Box::new(self.snapshot(request))),
                unanswered_query: self
                    .terminal
                    .unanswered_query()
                    .filter(|_| fired.is_none() && self.ended.is_none())
                    .map(str::to_owned),
                told: self.told().cloned(),
                hidden_line: self.reads_hidden_line(),
                fired,
                state: self.state(),
                seq: self.seq_for(&pending.wait),
                elapsed: now - pending.began,
                seen_before,
            });
        }
        unfinished.reverse();
        self.waits = unfinished;
    }

    fn other_condition(&self, pending: &PendingWait, seq: Seq, now: Instant) -> Option<Fired> {
        let wait = &pending.wait;
        if wait.exit && self.ended.is_some() {
            return Some(Fired::Exit);
        }
        if wait.command.is_some_and(|id| self.is_command_over(id)) {
            return Some(if wait.exit { Fired::Exit } else { Fired::Command });
        }
        if wait.free && self.shell_is_free() {
            return Some(Fired::Free);
        }
        if wait.printed_after.is_some_and(|printed| self.printed > printed) {
            return Some(Fired::Printed);
        }
        if wait.change && seq > pending.since {
            return Some(Fired::Change);
        }
        if wait.bell && self.bells > pending.bells {
            return Some(Fired::Bell);
        }
        let title = self.terminal.title();
        if wait.title.as_ref().is_some_and(|text| title.contains(text.as_str())) {
            return Some(Fired::Title(title.to_owned()));
        }
        if wait.asks_kernel()
            && let Some(fired) = self.kernel_condition(wait)
            && !(wait.news_only && self.told() == Some(&fired))
        {
            return Some(fired);
        }
        if wait.surveyed && self.survey.count > pending.surveys {
            return Some(Fired::Surveyed);
        }
        if wait.settled && self.waits_for_input() && self.has_painted(pending, seq, now) {
            return Some(Fired::Settled);
        }
        let quiet = wait.idle.is_some_and(|idle| now >= pending.idle_since + idle);
        quiet.then_some(Fired::Idle)
    }

    /// What was told of the running command, as long as nothing was printed or typed since.
    fn told(&self) -> Option<&Fired> {
        let told = self.survey.told.as_ref()?;
        let holds = self.printed == told.printed && self.last_input <= told.at;
        (holds && !self.is_command_over(told.command)).then_some(&told.fired)
    }

    fn note_told(&mut self, wait: &Wait, fired: Option<&Fired>, now: Instant) {
        if let (Some(command), Some(fired)) = (wait.command, fired)
            && matches!(fired, Fired::NeedsInput { .. } | Fired::Interactive { .. })
        {
            let (fired, printed) = (fired.clone(), self.printed);
            self.survey.told = Some(Told { command, fired, printed, at: now });
            self.release_input();
        }
    }

    /// The last survey shows a program that reads a hidden line.
    fn reads_hidden_line(&self) -> bool {
        let wait = Wait { needs_input: true, ..Wait::default() };
        self.kernel_condition(&wait) == Some(Fired::NeedsInput { echo: false })
    }

    fn kernel_condition(&self, wait: &Wait) -> Option<Fired> {
        let prompt = wait.prompt && !self.runs_command();
        // The kernel is asked about the shell itself: typed lines may be unread at its prompt.
        if prompt && self.at_prompt && !self.shell_is_in_front() {
            return Some(Fired::Prompt);
        }
        // One from before the last input says nothing.
        let began = self.survey.latest_began?;
        let survey = self.survey.latest.as_ref().filter(|_| self.last_input < began)?;
        let line_mode = self.program.line_mode().ok()?;
        let waits = survey.waiting.is_for_input();
        let in_front = survey.foreground == Some(self.program.pid());
        if prompt && waits && in_front && self.shell_shows_prompt(line_mode, survey.waiting) {
            return Some(Fired::Prompt);
        }
        let reads = survey.waiting.is_reading()
            // A process of another user (sudo) cannot be looked into; a hidden line tells.
            || (survey.waiting == Waiting::Unknown && !line_mode.echo);
        if line_mode.canonical {
            return (wait.needs_input && reads && !self.shell_is_reading_command())
                .then_some(Fired::NeedsInput { echo: line_mode.echo });
        }
        let uncertain = wait.interactive.then(|| self.waits_for_keys(survey)).flatten()?;
        Some(Fired::Interactive { uncertain })
    }

    /// How long after a survey the next one is due: soon while someone waits for the program to
    /// settle, and later the longer anything takes.
    fn survey_interval(&self, now: Instant) -> Duration {
        let settling = self.waits.iter().filter(|pending| pending.wait.settled);
        if let Some(least) = settling.map(|pending| (now - pending.began) / 2).min() {
            return least.clamp(SETTLE_INTERVAL, SURVEY_INTERVAL);
        }
        if self.shell_is_in_doubt() || self.holds_input() {
            return SURVEY_INTERVAL;
        }
        let began = self.waits.iter().map(|pending| pending.began).max();
        let since = now - began.unwrap_or(now).max(self.last_input).min(now);
        let slower = SLOWER_SURVEYS.iter().rev().find(|(after, _)| since >= *after);
        slower.map_or(SURVEY_INTERVAL, |(_, interval)| *interval)
    }

    /// The program waits for input and has printed nothing since the kernel was asked.
    fn waits_for_input(&self) -> bool {
        let waits = self.survey.latest.as_ref().is_some_and(|survey| survey.waiting.is_for_input());
        let quiet = self.survey.latest_began.is_some_and(|began| self.last_output < began);
        waits && quiet && !self.terminal.is_synchronized()
    }

    /// Whether a program that waits for input has painted what it will, or paints nothing.
    fn has_painted(&self, pending: &PendingWait, seq: Seq, now: Instant) -> bool {
        // Another thread or process of the foreground may be about to paint.
        if self.survey.is_at_work {
            return false;
        }
        let is_alternate = self.terminal.input_modes().alternate_screen;
        // A switch to the alternate screen alone shows nothing.
        if is_alternate && self.terminal.screen().rows.iter().all(|row| row.visible_len() == 0) {
            return false;
        }
        if seq <= pending.since || self.input.ends_in_escape {
            // After the grace it was asked once more: the program might just have been at work.
            let graced = pending.began.max(self.last_input) + UNCHANGED_GRACE;
            return self.survey.latest_began.is_some_and(|began| began >= graced);
        }
        let polls = |survey: &Survey| survey.waiting == Waiting::Polling;
        let polls = self.survey.latest.as_ref().is_some_and(polls);
        // A program that polls may look for input before it has done all that its input leads to.
        let answered = self.last_output.max(self.last_input) + POLLING_QUIET;
        if polls && self.survey.latest_began.is_none_or(|began| began < answered) {
            return false;
        }
        // Line editors read in raw mode. One that gave that up and polls may be about to end (node).
        let gave_up = || polls && self.program.line_mode().is_ok_and(|mode| mode.canonical);
        !(is_alternate || gave_up()) || now >= self.last_output.max(self.last_input) + DRAWING_QUIET
    }

    /// Starts a survey when one is due; it reports back as a command.
    pub(super) fn ask_kernel(&mut self, now: Instant) {
        let due = self.survey.next.is_some_and(|next| now >= next) || self.has_answered(now);
        if due && self.asks_kernel() && self.ended.is_none() {
            self.start_survey();
        }
    }

    /// The program has printed something since its input, and the caller waits for it to settle.
    fn has_answered(&self, now: Instant) -> bool {
        let is_new = self.survey.started.is_none_or(|started| {
            let is_first = started < self.last_input;
            self.last_output > started && (is_first || now >= started + SETTLE_INTERVAL)
        });
        is_new
            && self.last_output > self.last_input
            && self.waits.iter().any(|pending| pending.wait.settled)
    }

    pub(super) fn start_survey(&mut self) {
        if !std::mem::replace(&mut self.survey.under_way, true) {
            let program = Arc::clone(&self.program);
            let all_read =
                self.input.len() == 0 && program.unread_input().is_ok_and(|left| left == 0);
            let now = Instant::now();
            self.survey.started = Some(now);
            self.survey.settled = all_read.then_some(now);
            let work = async move { Command::Surveyed(program.survey().await.ok()) };
            self.beside(Command::Surveyed(None), work);
        }
    }

    #[cfg(test)]
    pub(super) fn lose_survey(&mut self) {
        self.survey.under_way = true;
        self.beside(Command::Surveyed(None), async { panic!("a fault on request") });
    }

    pub(super) fn surveyed(&mut self, survey: Option<Survey>) {
        let now = Instant::now();
        let survey = survey.map(|survey| self.looking_beyond(survey));
        self.survey.under_way = false;
        self.survey.count += 1;
        self.survey.next = Some(now + self.survey_interval(now));
        self.note_calm(survey.as_ref(), now);
        self.idle_survey(survey.as_ref());
        self.end_idle_survey(survey.as_ref());
        // What the program printed before it began to wait is part of the answer.
        self.read_output();
        let settled = self.survey.settled.take();
        if survey.as_ref().is_some_and(|survey| self.may_take_input(survey, settled)) {
            self.release_input();
        }
        let is_current = settled.is_some_and(|began| self.last_input < began);
        let survey = survey.filter(|_| is_current);
        self.note_secret(survey.as_ref());
        self.settle_doubt(survey.as_ref());
        // What was typed for the shell's sake makes it old.
        let is_current = settled.is_some_and(|began| self.last_input < began);
        self.survey.latest = survey.filter(|_| is_current);
        self.survey.latest_began = settled;
    }
}
