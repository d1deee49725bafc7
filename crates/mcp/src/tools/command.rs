//! A command from its start to its answer: what `execute_command` and the compatible tools share.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use termbridge_bridge::{Execute, Started, Until};
use termbridge_session::{CommandState, State};

use crate::error::{Code, ToolError};
use crate::tool::Context;

/// What came of a command.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct Run {
    pub(crate) output: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) exit_code: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) signal: Option<String>,
    pub(crate) duration_ms: u64,
    /// After the command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cwd: Option<String>,
    pub(crate) session_id: String,
    pub(crate) command_id: u64,
    pub(crate) timed_out: bool,
    /// `done`, `running` or `needs_input`.
    pub(crate) state: &'static str,
    /// Off: a password is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) echo: Option<&'static str>,
    pub(crate) truncated: bool,
    /// Holds all of the output.
    pub(crate) resource: String,
    /// The screen of a full-screen program that runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) screen: Option<String>,
    /// The shell ended with the command.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) session_ended: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) note: Option<String>,
}

/// How long to wait for a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Patience {
    /// Not at all: it runs in the background.
    None,
    /// This long.
    UpTo(Duration),
}

/// Starts a command, waits for it and tells what came of it.
pub(crate) async fn run(
    context: &Context,
    request: Execute,
    patience: Patience,
    max_bytes: usize,
) -> Result<Run, ToolError> {
    let timeout = match patience {
        Patience::None => Duration::MAX,
        Patience::UpTo(timeout) => timeout,
    };
    let mut start = std::pin::pin!(context.bridge.start(request, timeout));
    let started = tokio::select! {
        started = &mut start => started?,
        // What is on its way is seen to its start, so that nothing runs unnoticed.
        () = context.given_up() => {
            let started = start.await?;
            if context.was_cancelled() {
                context.bridge.backend().interrupt(&started.session).await?;
            }
            return Err(ToolError::cancelled());
        }
    };
    let (until, cut_short) = match patience {
        Patience::None => (Until::TimedOut, true),
        Patience::UpTo(timeout) => match context.wait_command(&started, timeout).await {
            Err(_) if context.was_cancelled() => {
                context.bridge.backend().interrupt(&started.session).await?;
                return Err(ToolError::cancelled());
            }
            waited => waited?,
        },
    };
    let mut run = Run::of(context, &started, until, max_bytes).await?;
    run.timed_out = run.state == "running" && !cut_short;
    if run.state == "running" && cut_short && patience != Patience::None {
        run.note = Some(
            "returned after 50 s because the client would give up; the command goes on: read it \
             with get_terminal_output, or send a progress token to wait longer"
                .into(),
        );
    }
    Ok(run)
}

impl Run {
    async fn of(
        context: &Context,
        started: &Started,
        until: Until,
        max_bytes: usize,
    ) -> Result<Self, ToolError> {
        let Started { session, command, new_session } = started;
        let (report, output) = context.bridge.output(session, *command, max_bytes).await?;
        let resource = format!("term://{session}/command/{command}");
        let mut run = Self {
            exit_code: report.exit_code(),
            signal: report.signal(),
            duration_ms: report.duration.as_millis() as u64,
            cwd: report.cwd.as_ref().map(|cwd| cwd.display().to_string()),
            session_id: session.to_string(),
            command_id: *command,
            state: "done",
            truncated: output.cut > 0,
            output: output.text(&resource),
            resource,
            note: new_session.then(|| "new session".to_owned()),
            ..Self::default()
        };
        match (report.state, until) {
            (CommandState::Running, Until::NeedsInput { echo }) => {
                run.state = "needs_input";
                run.echo = Some(if echo { "on" } else { "off" });
            }
            (CommandState::Running, _) => run.state = "running",
            (CommandState::Done { .. }, _) => {}
            (CommandState::SessionEnded { .. }, _) => run.session_ended = true,
            (CommandState::Lost, _) => {
                run.note = Some("it is over, but how it ended is not known".into());
            }
            (CommandState::Incomplete, _) => {
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
                    "Close what is open and send it again.",
                    &["execute_command"],
                ));
            }
            (CommandState::NotTaken, _) => {
                return Err(ToolError::new(
                    Code::Busy,
                    "the shell waits at its prompt and did not take the command; nothing ran",
                    "Something changed its key bindings: restart_app makes it usable again.",
                    &["restart_app", "view_screen", "create_session"],
                ));
            }
            (CommandState::Replaced { program }, _) => {
                run.note = Some(format!(
                    "{program} took the shell's place: send_keys types to it, restart_app brings \
                     the shell back"
                ));
            }
        }
        if report.full_screen {
            run.full_screen(context).await;
        }
        if report.dropped_bytes > 0 {
            let dropped = report.dropped_bytes;
            run.note =
                Some(format!("{dropped} bytes of output were dropped to stay within limits"));
        }
        if run.session_ended
            && let Ok(info) = context.bridge.backend().session(session).await
            && let State::Exited(ended) = info.state
        {
            run.signal = ended.signal();
        }
        Ok(run)
    }

    /// A full-screen program's output is its screen.
    async fn full_screen(&mut self, context: &Context) {
        if self.state == "done" {
            self.note = Some("a full-screen program ran; its screen is not output".into());
            return;
        }
        self.note = Some("a full-screen program runs: see send_keys and view_screen".into());
        if let Ok(session) = context.session(&self.session_id)
            && let Ok(screen) = session.screen().await
        {
            self.screen = Some(screen.text());
        }
    }

    /// The output, then a line that says how it went.
    pub(crate) fn text(&self) -> String {
        let mut text = self.output.clone();
        text.push_str(self.screen.as_deref().unwrap_or_default());
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&format!("[{}]", self.status()));
        text
    }

    fn status(&self) -> String {
        let seconds = self.duration_ms as f64 / 1000.0;
        let mut words = Vec::new();
        words.push(match (self.state, self.exit_code, self.echo) {
            ("needs_input", _, Some("off")) => {
                "needs_input, echo off (a password?): answer with send_keys".into()
            }
            ("needs_input", ..) => "needs_input: answer with send_keys".into(),
            ("running", ..) if self.timed_out => {
                "timed out, still running: get_terminal_output reads on".into()
            }
            ("running", ..) => "running".into(),
            (_, Some(code), _) => match &self.signal {
                Some(signal) => format!("exit {code} ({signal})"),
                None => format!("exit {code}"),
            },
            _ => match &self.signal {
                Some(signal) => format!("ended by {signal}"),
                None => "done".to_owned(),
            },
        });
        if self.session_ended {
            words.push("the session ended with it".into());
        }
        words.push(match self.duration_ms {
            0..1000 => format!("{} ms", self.duration_ms),
            _ => format!("{seconds:.1} s"),
        });
        words.extend(self.cwd.clone());
        words.push(format!("{} #{}", self.session_id, self.command_id));
        words.extend(self.note.clone());
        words.join(" | ")
    }
}
