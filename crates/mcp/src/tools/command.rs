//! A command from its start to its answer: what `execute_command` and the compatible tools share.

use std::path::{Path, PathBuf};
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;
use termbridge_bridge::{CommandWait, Execute, Moved, Started, Until};
use termbridge_session::{CommandState, SessionId, State};

use super::ended::note_told;
use super::errors::{cut_errors, errors_first};
use super::standing::Standing;
use crate::again::NamedCall;
use crate::error::{Code, ToolError};
use crate::tool::Context;
use crate::view::{View, ViewRequest, told_once, with_blank_lines_counted, without_padding};

/// What came of a command.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct Run {
    pub(crate) output: String,
    #[serde(flatten)]
    pub(crate) standing: Standing,
    pub(crate) session_id: String,
    pub(crate) timed_out: bool,
    pub(crate) truncated: bool,
    /// Error lines among those cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) errors: Option<String>,
    /// Holds all of the output.
    pub(crate) resource: String,
    /// Of a program with a screen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) screen: Option<String>,
    /// What stands out on it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) highlighted: Vec<String>,
    #[serde(skip)]
    is_full_screen: bool,
    /// What the text says besides: what the caller cannot know.
    #[serde(skip)]
    screen_has_output: bool,
    #[serde(skip)]
    is_current: bool,
    #[serde(skip)]
    read_on: Option<String>,
    #[serde(skip)]
    shows_session: bool,
    #[serde(skip)]
    shows_cwd: bool,
}

/// How long to wait for a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Patience {
    /// Not at all: it runs in the background.
    None,
    /// This long.
    UpTo(Duration),
}

/// How long to wait for a command where nobody says, in milliseconds.
pub(super) fn default_timeout() -> u64 {
    30_000
}

/// How long a caller waits: as long as it asks for, else as is usual in the directory.
pub(super) fn timeout(context: &Context, asked: Option<u64>, cwd: Option<&Path>) -> Duration {
    let usual = Duration::from_millis(default_timeout());
    match asked {
        Some(asked) => Duration::from_millis(asked),
        None => context.bridge.default_timeout(&context.caller, cwd, usual),
    }
}

/// What a new shell gets to show its first prompt, however short the time-out is.
const SHELL_START: Duration = Duration::from_secs(5);

/// Starts a command, waits for it and tells what came of it.
pub(crate) async fn run(
    context: &Context,
    request: Execute,
    patience: Patience,
    max_bytes: usize,
) -> Result<Run, ToolError> {
    let timeout = match patience {
        Patience::None => Duration::MAX,
        // A shorter time-out counts from when the command begins.
        Patience::UpTo(timeout) => timeout.max(SHELL_START),
    };
    let session = request.session.as_ref().map(SessionId::as_str);
    let key = context.named.as_ref().map(|named| named.command_key(session));
    let is_again = context.named.as_ref().is_some_and(NamedCall::is_again);
    let request = Execute { caller: context.caller.clone(), key, ..request };
    let is_addressed = request.session.is_some() || request.name.is_some();
    let stays_in = request.cwd.clone().filter(|_| is_addressed);
    let start = async {
        match &request.key {
            Some(key) if is_again => {
                let found = context.bridge.started_earlier(&context.caller, key).await?;
                found.ok_or_else(NamedCall::not_found)
            }
            _ => Ok(context.bridge.start(request, timeout).await?),
        }
    };
    let mut start = std::pin::pin!(start);
    let mut started = tokio::select! {
        started = &mut start => started?,
        // What is on its way is seen to its start, so that nothing runs unnoticed.
        () = context.given_up() => {
            let started = start.await?;
            if context.was_cancelled() {
                interrupt(context, &started).await?;
            }
            return Err(context.why_given_up());
        }
    };
    if context.is_task {
        started.answered();
    }
    let (waited, cut_short) = match patience {
        Patience::None => (CommandWait { until: Until::TimedOut, report: None }, true),
        Patience::UpTo(timeout) => match context.wait_command(&started, timeout).await {
            Err(_) if context.was_cancelled() => {
                interrupt(context, &started).await?;
                return Err(ToolError::cancelled());
            }
            waited => waited?,
        },
    };
    let mut run = Run::of(context, &started, waited, max_bytes, stays_in).await?;
    let running = run.standing.state == "running";
    run.timed_out = running && !cut_short;
    if running && cut_short && patience != Patience::None {
        run.standing.also("returned after 50 s because the client would give up".into());
    }
    Ok(run)
}

async fn interrupt(context: &Context, started: &Started) -> Result<(), ToolError> {
    let Started { session, command, .. } = started;
    Ok(context.bridge.interrupt(&context.caller, session, *command).await?)
}

impl Run {
    async fn of(
        context: &Context,
        started: &Started,
        waited: CommandWait,
        max_bytes: usize,
        stays_in: Option<PathBuf>,
    ) -> Result<Self, ToolError> {
        let Started { session, command, is_known, is_current, cwd, instead_of, replaces, .. } =
            started;
        context.room_for_answer(max_bytes).await?;
        let CommandWait { until, report } = waited;
        let output = context.bridge.output_of(report, session, *command, max_bytes);
        let (report, output) = output.await?;
        let most = context.bridge.max_output_lines(&context.caller, cwd);
        let output = output.within_lines(most.unwrap_or(u64::MAX));
        let resource = format!("term://{session}/command/{command}");
        let standing = Standing::of(context, session, &report, until).await;
        let truncated = output.cut > 0;
        let first = output.head.matches('\n').count() as u64;
        let rest = context.rest_of(session, *command, &output, first);
        let errors = cut_errors(context, session, &report, &output, first).await;
        let is_new_cwd =
            standing.cwd.as_ref().is_some_and(|cwd| context.told.is_new_cwd(session, cwd));
        let is_asked = report.cwd.as_ref() == stays_in.as_ref().map(|_| cwd);
        let is_known = *is_known && instead_of.is_none();
        let mut run = Self {
            is_current: *is_current && instead_of.is_none(),
            shows_session: !is_known
                || truncated
                || standing.state != "done"
                || standing.note.is_some(),
            shows_cwd: !is_known || (is_new_cwd && !is_asked),
            standing,
            session_id: session.to_string(),
            truncated,
            errors,
            output: output.text(&rest),
            resource,
            ..Self::default()
        };
        context.told.note_screen(session, report.seq, false);
        if report.is_running() {
            note_told(context, session, &report).await?;
            run.read_on = context.read_on(session, &report).await;
        }
        match report.state {
            CommandState::Incomplete => {
                let ran = match run.output.trim_end() {
                    "" => String::new(),
                    output => format!("; lines before it ran, and printed:\n{output}"),
                };
                return Err(ToolError::new(
                    Code::InvalidInput,
                    format!(
                        "the text is not a whole command (an open quote or bracket, say): the \
                         unfinished part did not run{ran}"
                    ),
                    if ran.is_empty() {
                        "Close what is open and send it again."
                    } else {
                        "Close what is open and send the unfinished part again."
                    },
                    &["execute_command"],
                ));
            }
            CommandState::SessionEnded { .. } if run.standing.is_lost => {
                let printed = match run.output.trim_end() {
                    "" => String::new(),
                    output => format!("; it had printed:\n{output}"),
                };
                return Err(ToolError::new(
                    Code::SessionDead,
                    format!(
                        "the keeper process died, and ended the command with its session{printed}"
                    ),
                    "Check what it has done, then run it again: without a session_id a new shell is used.",
                    &["execute_command"],
                ));
            }
            CommandState::NotTaken => {
                let session = context.bridge.session(&context.caller, session).await;
                if session.is_ok_and(|session| matches!(session.state, State::Exited(_))) {
                    return Err(ToolError::new(
                        Code::SessionDead,
                        "the shell ended before it took the command; nothing ran",
                        "Its input may have been redirected. restart_app starts it again; without a \
                         session_id another shell is used.",
                        &["restart_app", "create_session"],
                    ));
                }
                return Err(ToolError::new(
                    Code::Busy,
                    "the shell reads its terminal and did not take the command; nothing ran",
                    "Something changed its key bindings, its line editor or its descriptors: \
                     restart_app makes it usable again.",
                    &["restart_app", "view_screen", "create_session"],
                ));
            }
            _ => {}
        }
        run.is_full_screen = report.full_screen;
        if report.full_screen || run.standing.state == "interactive" {
            run.show_screen(context, max_bytes).await;
        }
        if let Some(notice) = report.notice {
            run.standing.also(notice);
        }
        if let Some(busy) = instead_of {
            run.standing.also(format!("{busy} is busy, its exports do not apply here"));
        }
        if let Some(ended) = replaces {
            run.standing.also(format!("{ended} has ended, its exports do not apply here"));
        }
        if let Some(Moved { from, to }) = &started.moved {
            let (from, to) = (from.display(), to.display());
            run.standing.also(format!("{from} is gone, the new session started in {to}"));
        }
        Ok(run)
    }

    /// What a program that runs shows: a full-screen program's output is its screen.
    async fn show_screen(&mut self, context: &Context, max_bytes: usize) {
        if self.standing.state == "done" {
            self.standing.note = Some("a full-screen program ran; its screen is not output".into());
            return;
        }
        if self.is_full_screen && self.standing.state == "running" {
            let note = context.naming_offered("a full-screen program runs; send_keys types to it");
            self.standing.note = Some(note);
        }
        let request = ViewRequest { max_bytes: Some(max_bytes), ..ViewRequest::default() };
        if let Ok(session) = context.session(&self.session_id)
            && let Ok(view) = View::take(&session, request).await
        {
            if view.is_alternate() && context.tools.find("view_screen").is_some() {
                let call = json!({"session_id": self.session_id});
                self.read_on = Some(format!("view_screen {call}"));
            }
            // A dialog drawn on the main screen is what was printed.
            self.screen_has_output = view.has_on_main_screen(self.output.lines().count());
            (self.screen, self.highlighted) = view.into_shown();
        }
    }

    /// The output, then a line that says how it went.
    pub(crate) fn text(&self) -> String {
        let mut text = errors_first(self.errors.as_deref());
        if !(self.is_full_screen && self.screen_has_output) {
            let output = with_blank_lines_counted(&self.output);
            text.push_str(&match self.standing.state {
                // Such as top, which draws on the main screen.
                "interactive" => without_padding(&output),
                _ => output,
            });
        }
        // Elsewhere the screen shows the output once more.
        if let Some(screen) = self.screen.as_deref().filter(|_| self.is_full_screen) {
            if !text.is_empty() && !text.ends_with('\n') {
                text.push('\n');
            }
            text.push_str(&told_once(screen));
        }
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&format!("[{}]", self.status()));
        text
    }

    fn status(&self) -> String {
        let mut words = self.standing.words();
        if self.timed_out {
            "timed out, still running".clone_into(&mut words[0]);
        }
        let read_on = self.read_on.as_ref().filter(|_| self.standing.state == "running");
        if let Some(call) = read_on {
            words[0].push_str(&format!("; read on: {call}"));
        }
        words.extend(self.highlighted.iter().filter(|_| self.is_full_screen).cloned());
        words.extend(self.standing.shown_cwd().filter(|_| self.shows_cwd));
        let other = if self.is_current { "" } else { "other session " };
        // The call above has it.
        if self.shows_session && !(read_on.is_some() && self.is_current) {
            words.push(format!("{other}{} #{}", self.session_id, self.standing.command_id));
        }
        words.extend(self.standing.note.clone());
        words.join(" | ")
    }
}
