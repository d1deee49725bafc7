//! How a command stands: what every tool that reports one says of it.

use schemars::JsonSchema;
use serde::Serialize;
use termbridge_bridge::Until;
use termbridge_session::{CommandReport, CommandState, EndReason, SessionId, State};

use crate::bound::in_one_line;
use crate::tool::Context;

/// Whether a command is over, and how it ended.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct Standing {
    /// `done`, `running`, `sent`, `needs_input` (it reads a line) or `interactive` (it waits for keys).
    pub(crate) state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) exit_code: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) signal: Option<String>,
    pub(crate) duration_ms: u64,
    /// After the command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cwd: Option<String>,
    pub(crate) command_id: u64,
    /// Off: a password is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) echo: Option<&'static str>,
    /// It may be at work.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) uncertain: bool,
    /// The shell ended with the command.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) session_ended: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) note: Option<String>,
    /// The keeper process died, and ended the command.
    #[serde(skip)]
    pub(crate) is_lost: bool,
    /// The client can type, and may.
    #[serde(skip)]
    pub(crate) can_type: bool,
}

impl Standing {
    /// `until` is what the last wait for the command found.
    pub(crate) async fn of(
        context: &Context,
        session: &SessionId,
        report: &CommandReport,
        until: Until,
    ) -> Self {
        let mut standing = Self {
            state: "done",
            exit_code: report.exit_code(),
            signal: report.signal(),
            duration_ms: report.duration.as_millis() as u64,
            cwd: report.cwd.as_ref().map(|cwd| cwd.display().to_string()),
            command_id: report.id,
            can_type: context.tools.find("send_keys").is_some(),
            ..Self::default()
        };
        match (&report.state, until) {
            (CommandState::Running, Until::NeedsInput { echo }) => {
                standing.state = "needs_input";
                standing.echo = Some(if echo { "on" } else { "off" });
                if !echo && let Some(note) = context.person_types(session, Some(report)).await {
                    standing.can_type = false;
                    standing.also(note);
                }
            }
            (CommandState::Running, Until::Interactive { uncertain }) => {
                standing.state = "interactive";
                standing.uncertain = uncertain;
            }
            (CommandState::Running, _) => standing.state = "running",
            (CommandState::Done { .. }, _) => {}
            (CommandState::SessionEnded { .. }, _) => {
                standing.session_ended = true;
                if let Ok(info) = context.bridge.session(&context.caller, session).await
                    && let State::Exited(ended) = info.state
                {
                    standing.signal = ended.command_signal();
                    standing.is_lost = ended.reason == EndReason::KeeperDied;
                } else {
                    standing.note.clone_from(&report.notice);
                }
            }
            (CommandState::Sent, _) => standing.state = "sent",
            (CommandState::Lost, _) => {
                standing.note = Some("it is over, but how it ended is not known".into());
            }
            (CommandState::Incomplete, _) => {
                standing.note = Some("not a whole command: the unfinished part did not run".into());
            }
            (CommandState::NotTaken, _) => {
                standing.note = Some("the shell did not take it: nothing ran".into());
            }
            (CommandState::Replaced { program }, _) => {
                let advice = "send_keys types to it; restart_app brings the shell back";
                let advice = context.naming_offered(advice);
                let program = in_one_line(program);
                let note = format!("{program} took the shell's place. {advice}");
                standing.note = Some(note.trim_end().trim_end_matches('.').to_owned());
            }
        }
        if report.dropped_bytes > 0 {
            let dropped = report.dropped_bytes;
            standing.also(format!("{dropped} bytes of output were dropped to stay within limits"));
        }
        standing
    }

    /// Adds to the note.
    pub(crate) fn also(&mut self, note: String) {
        self.note = Some(match self.note.take() {
            Some(before) => format!("{before} | {note}"),
            None => note,
        });
    }

    fn with_advice(&self, words: &str, advice: &str) -> String {
        match self.can_type {
            true => format!("{words}: {advice}"),
            false => words.to_owned(),
        }
    }

    /// The directory, in one line and without what a terminal would take for a sequence.
    pub(crate) fn shown_cwd(&self) -> Option<String> {
        self.cwd.as_deref().map(in_one_line)
    }

    /// State and time, where that is worth a word: `exit 3 | 1.2 s`.
    pub(crate) fn words(&self) -> Vec<String> {
        let mut words = Vec::new();
        words.push(match (self.state, self.exit_code, self.echo) {
            ("needs_input", _, Some("off")) => {
                self.with_advice("needs_input, echo off (a password?)", "answer with send_keys")
            }
            ("needs_input", ..) => self.with_advice("needs_input", "answer with send_keys"),
            ("interactive", ..) if self.uncertain => {
                self.with_advice("interactive? It is quiet, but may be at work", "see send_keys")
            }
            ("interactive", ..) => self.with_advice("interactive, waits for keys", "see send_keys"),
            ("running" | "sent", ..) => self.state.into(),
            (_, Some(code), _) => match &self.signal {
                // What the shell says of a signal, and what a program may say by itself.
                Some(signal) => format!("exit {code} (128+{signal})"),
                None => format!("exit {code}"),
            },
            _ => match &self.signal {
                Some(signal) => format!("ended by {signal}"),
                None if self.is_lost => "lost: the keeper process died".to_owned(),
                None => "done".to_owned(),
            },
        });
        if self.session_ended {
            words.push("the session ended with it".into());
        }
        if self.duration_ms >= 1000 {
            words.push(format!("{:.1} s", self.duration_ms as f64 / 1000.0));
        }
        words
    }
}
