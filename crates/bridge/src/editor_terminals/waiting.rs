//! Waiting for what happens in an editor's terminal.
//!
//! The conditions are those of [`Wait`], judged after every piece of output. What only the kernel knows of our own
//! sessions is not known here: `settled` is a screen that stayed the same for [`SETTLED`], `prompt` is a shell without a
//! command, and a wait for `needs_input` or `interactive` alone is refused. Text that scrolls by within one piece of
//! output is not seen.

use std::sync::Arc;
use std::time::Duration;

use termbridge_session::vt::Seq;
use termbridge_session::{
    DEFAULT_TIMEOUT, Fired, Look, SessionError, SnapshotRequest, Wait, Waited,
};
use tokio::time::Instant;

use super::command::EditorCommand;
use super::terminal::{EditorTerminal, Integration, TerminalState};

/// How long the screen stays the same when a program has settled.
const SETTLED: Duration = Duration::from_millis(200);

/// What a wait compares with.
struct Began {
    at: Instant,
    since: Seq,
    bells: u64,
    /// The screen when it last changed.
    still: (Seq, Instant),
}

/// Begins a wait: what happens from now on counts.
pub(super) fn begin(
    terminal: &Arc<EditorTerminal>,
    wait: Wait,
) -> Result<impl Future<Output = Result<Waited, SessionError>> + Send + use<>, SessionError> {
    let others = Wait { needs_input: false, interactive: false, ..wait.clone() };
    if others.is_empty() && !wait.is_empty() {
        let why = "whether a program waits for input cannot be seen in the editor's terminals; wait for a text, or idle_ms";
        return Err(SessionError::NotSupported(why.into()));
    }
    let began = {
        let mut state = terminal.lock();
        state.follow_size();
        let (seq, now) = (state.screen.look(), Instant::now());
        let since = wait.after.unwrap_or(seq);
        Began { at: now, since, bells: state.bells_heard, still: (seq, now) }
    };
    let changed = terminal.changed.subscribe();
    Ok(run(Arc::clone(terminal), wait, began, changed))
}

async fn run(
    terminal: Arc<EditorTerminal>,
    wait: Wait,
    mut began: Began,
    mut changed: tokio::sync::watch::Receiver<()>,
) -> Result<Waited, SessionError> {
    // An hour is for ever, and a sum with it does not overflow.
    let limit = wait.timeout.unwrap_or(DEFAULT_TIMEOUT).min(Duration::from_hours(24 * 365));
    let deadline = began.at + limit;
    loop {
        changed.borrow_and_update();
        let next = {
            let mut state = terminal.lock();
            let now = Instant::now();
            let seq = state.screen.look();
            if began.still.0 != seq {
                began.still = (seq, now);
            }
            let fired = judge(&terminal, &state, &wait, &began, seq, now);
            if fired.is_some() || state.ended.is_some() || now >= deadline {
                return waited(&mut state, &wait, &began, fired);
            }
            let still = wait.idle.into_iter().chain(wait.settled.then_some(SETTLED));
            still.map(|time| began.still.1 + time).chain([deadline]).min().unwrap_or(deadline)
        };
        tokio::select! {
            // The sender is the terminal's, which is held here.
            _ = changed.changed() => {}
            () = tokio::time::sleep_until(next) => {}
        }
    }
}

fn judge(
    terminal: &EditorTerminal,
    state: &TerminalState,
    wait: &Wait,
    began: &Began,
    seq: Seq,
    now: Instant,
) -> Option<Fired> {
    if wait.text.is_some() || wait.regex.is_some() || wait.gone.is_some() {
        let newer = wait.after.map(|after| state.screen.rows_since(after).0);
        let is_new = |row: u16| newer.as_ref().is_none_or(|rows| rows.contains(&row));
        if let Some(fired) = wait.find(&state.screen.haystack(), is_new) {
            return Some(fired);
        }
    }
    let is_free = state.running().is_none() && state.ended.is_none();
    let is_still = |time: Duration| now >= began.still.1 + time;
    let title = state.screen.title();
    if wait.exit && state.ended.is_some() {
        Some(Fired::Exit)
    } else if wait.command.is_some_and(|id| is_over(state, id)) {
        Some(Fired::Command)
    } else if wait.free && is_free {
        Some(Fired::Free)
    } else if wait.printed_after.is_some_and(|printed| state.printed > printed) {
        Some(Fired::Printed)
    } else if wait.change && seq > began.since {
        Some(Fired::Change)
    } else if wait.bell && state.bells > began.bells {
        Some(Fired::Bell)
    } else if wait.title.as_ref().is_some_and(|text| title.contains(text.as_str())) {
        Some(Fired::Title(title.to_owned()))
    } else if wait.prompt
        && is_free
        && terminal.purpose == super::terminal::Purpose::Shell
        && state.integration != Integration::Missing
    {
        Some(Fired::Prompt)
    } else if wait.surveyed {
        Some(Fired::Surveyed)
    } else if wait.settled && is_still(SETTLED) {
        Some(Fired::Settled)
    } else if wait.idle.is_some_and(is_still) {
        Some(Fired::Idle)
    } else {
        None
    }
}

/// Whether a command runs no more, or is not known any more.
fn is_over(state: &TerminalState, command: u64) -> bool {
    !state.command(command).is_some_and(EditorCommand::is_running)
}

fn waited(
    state: &mut TerminalState,
    wait: &Wait,
    began: &Began,
    fired: Option<Fired>,
) -> Result<Waited, SessionError> {
    if fired == Some(Fired::Bell) {
        state.bells_heard = state.bells;
    }
    let seen_before = fired.is_none()
        && matches!(
            wait.find(&state.screen.haystack(), |_| true),
            Some(Fired::Text(_) | Fired::Regex(_))
        );
    let look = wait.look.map(|look| match look {
        Look::Screen => SnapshotRequest::default(),
        Look::Changes(since) => SnapshotRequest { since: Some(since), scrollback: None },
        Look::Scrollback(lines) => SnapshotRequest { since: None, scrollback: Some(lines) },
    });
    if look.is_some() {
        state.known_size()?;
    }
    let seq = state.screen.look();
    Ok(Waited {
        fired,
        state: state.state(),
        told: None,
        seq,
        elapsed: began.at.elapsed(),
        unanswered_query: None,
        seen_before,
        queued: 0,
        command: look
            .and_then(|_| state.running())
            .map(|command| Box::new(command.report(0, 0, seq))),
        snapshot: look.map(|request| Box::new(state.snapshot(request))),
    })
}
