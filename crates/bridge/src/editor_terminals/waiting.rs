//! Waiting for what happens in an editor's terminal.
//!
//! The conditions are those of [`Wait`], judged after every piece of output. Some that only the kernel knows of our own
//! sessions are simpler here: `settled` is a screen that stayed the same for [`SETTLED`], `prompt` is a shell without a
//! command. What waits for someone to type is looked up now and then while somebody wants to know ([`look`](super::look)); where
//! the kernel does not tell, a wait for that alone is refused. Text that scrolls by within one piece of output is not seen.

use std::sync::Arc;
use std::time::Duration;

use termbridge_session::vt::Seq;
use termbridge_session::{
    DEFAULT_TIMEOUT, Fired, Look, SessionError, SnapshotRequest, Wait, Waited, look_at_terminal_of,
};
use tokio::time::Instant;

use super::EditorTerminals;
use super::command::EditorCommand;
use super::look::Seen;
use super::state::{Integration, TerminalState};
use super::terminal::EditorTerminal;

/// How long the screen stays the same when a program has settled.
const SETTLED: Duration = Duration::from_millis(200);
/// How often the kernel is asked what a command does that has just printed something.
const LOOK_OFTEN: Duration = Duration::from_millis(150);
/// The same for one that has been quiet for long, and how often it is seen to whose window is away.
const LOOK_SELDOM: Duration = Duration::from_secs(1);

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
    editors: &EditorTerminals,
    terminal: &Arc<EditorTerminal>,
    wait: Wait,
) -> Result<impl Future<Output = Result<Waited, SessionError>> + Send + use<>, SessionError> {
    let others = Wait { needs_input: false, interactive: false, ..wait.clone() };
    let cannot_look = || terminal.lock().pid.and_then(look_at_terminal_of).is_none();
    if others.is_empty() && !wait.is_empty() && cannot_look() {
        let why = "whether a program waits for input cannot be seen in the editor's terminals; wait for a text, or idle_ms";
        return Err(SessionError::NotSupported(why.into()));
    }
    let began = {
        let mut state = terminal.lock();
        if wait.look.is_some() {
            // Before anything is typed.
            state.check_visible()?;
        }
        state.follow_size();
        let (seq, now) = (state.screen.look(), Instant::now());
        let since = wait.after.unwrap_or(seq);
        Began { at: now, since, bells: state.bells_heard, still: (seq, now) }
    };
    let changed = terminal.changed.subscribe();
    Ok(run(editors.clone(), Arc::clone(terminal), wait, began, changed))
}

async fn run(
    editors: EditorTerminals,
    terminal: Arc<EditorTerminal>,
    wait: Wait,
    mut began: Began,
    mut changed: tokio::sync::watch::Receiver<()>,
) -> Result<Waited, SessionError> {
    // An hour is for ever, and a sum with it does not overflow.
    let limit = wait.timeout.unwrap_or(DEFAULT_TIMEOUT).min(Duration::from_hours(24 * 365));
    let deadline = began.at + limit;
    let asks_kernel =
        wait.command.is_some() || wait.needs_input || wait.interactive || wait.prompt || wait.free;
    let mut next_look = began.at;
    loop {
        changed.borrow_and_update();
        // Its window may have been closed.
        editors.sweep();
        let mut seen = Seen::Nothing;
        let next = {
            let mut state = terminal.lock();
            let now = Instant::now();
            if asks_kernel && now >= next_look.min(deadline) {
                seen = state.look();
                let quiet = now.duration_since(state.last_change());
                next_look = now + (quiet / 4).clamp(LOOK_OFTEN, LOOK_SELDOM);
            }
            let seq = state.screen.look();
            if began.still.0 != seq {
                began.still = (seq, now);
            }
            let fired = judge(&terminal, &state, &wait, &began, seq, now)
                .or_else(|| waits_for_someone(&state, &wait, &seen));
            if fired.is_some() || state.ended.is_some() || now >= deadline {
                return waited(&mut state, &wait, &began, fired);
            }
            let still = wait.idle.into_iter().chain(wait.settled.then_some(SETTLED));
            let looks = asks_kernel.then_some(next_look).filter(|_| state.running().is_some());
            let away = editors.is_away(&terminal).then_some(now + LOOK_SELDOM);
            still.map(|time| began.still.1 + time).chain(looks).chain(away).chain([deadline]).min()
        };
        if seen == Seen::Prompt {
            editors.give_up(&terminal).await;
            continue;
        }
        tokio::select! {
            // The sender is the terminal's, which is held here.
            _ = changed.changed() => {}
            () = tokio::time::sleep_until(next.unwrap_or(deadline)) => {}
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
        if let Some(fired) = wait.find(&state.screen.haystack(), newer.as_deref()) {
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

/// Whether the running command waits as the kernel saw it, and that is awaited.
fn waits_for_someone(state: &TerminalState, wait: &Wait, seen: &Seen) -> Option<Fired> {
    let Seen::Waits(fired) = seen else { return None };
    let is_wanted = match fired {
        Fired::NeedsInput { .. } => wait.needs_input,
        _ => wait.interactive,
    };
    let is_news = !wait.news_only || state.told() != Some(fired);
    (is_wanted && is_news).then(|| fired.clone())
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
    if let Some(fired @ (Fired::NeedsInput { .. } | Fired::Interactive { .. })) = &fired {
        state.note_told(fired);
    }
    let seen_before = fired.is_none()
        && matches!(
            wait.find(&state.screen.haystack(), None),
            Some(Fired::Text(_) | Fired::Regex(_))
        );
    let look = wait.look.map(|look| match look {
        Look::Screen => SnapshotRequest::default(),
        Look::Changes(since) => SnapshotRequest { since: Some(since), scrollback: None },
        Look::Scrollback(lines) => SnapshotRequest { since: None, scrollback: Some(lines) },
    });
    if look.is_some() {
        state.check_visible()?;
    }
    let seq = state.screen.look();
    Ok(Waited {
        fired,
        state: state.state(),
        told: state.told().cloned(),
        seq,
        elapsed: began.at.elapsed(),
        unanswered_query: None,
        seen_before,
        hidden_line: false,
        queued: 0,
        command: look
            .and_then(|_| state.running())
            .map(|command| Box::new(command.report(0, 0, seq))),
        snapshot: look.map(|request| Box::new(state.snapshot(request))),
    })
}
