//! Wait conditions as arguments, and what came of them.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use regex::{Regex, RegexBuilder};
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use termbridge_bridge::ScreenHandle;
use termbridge_session::vt::{Found, Seq};
use termbridge_session::{Fired, SessionId, State, Wait, Waited};

use crate::error::ToolError;
use crate::tool::Context;
use crate::view::{View, state_text};
use crate::{lenient, schema, validate};

/// Compiled size of a pattern; a larger one is not worth its memory.
const MAX_PATTERN: usize = 1024 * 1024;

/// Checks conditions that stand in another tool's `wait`, whose own schema does not list them.
static SCHEMA: LazyLock<Arc<JsonObject>> = LazyLock::new(schema::input::<Condition>);

// Conditions, any of which ends a wait. A doc comment here would be in the schema of `wait_for`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Condition {
    text: Option<String>,
    regex: Option<String>,
    /// Text no longer visible
    gone: Option<String>,
    /// Screen unchanged this long
    #[schemars(range(min = 1, max = 600_000))]
    idle_ms: Option<u64>,
    /// Anything on the screen
    #[serde(default)]
    change: bool,
    #[serde(default)]
    exit: bool,
    /// Shell at its prompt
    #[serde(default)]
    prompt: bool,
    /// Program reads a line
    #[serde(default)]
    needs_input: bool,
    /// Program in raw mode waits for keys
    #[serde(default)]
    interactive: bool,
    #[serde(default)]
    bell: bool,
    /// Text in the window title
    title: Option<String>,
    /// Only what changed after this `seq` counts
    after: Option<u64>,
    #[serde(default = "default_timeout")]
    #[schemars(range(max = 3_600_000))]
    timeout_ms: u64,
}

fn default_timeout() -> u64 {
    10_000
}

/// The pattern that an argument holds; `^` and `$` match at lines.
pub(crate) fn pattern(argument: &str, text: &str) -> Result<Regex, ToolError> {
    let built = RegexBuilder::new(text).multi_line(true).size_limit(MAX_PATTERN).build();
    built.map_err(|error| {
        let error = error.to_string();
        let last = error.lines().last().unwrap_or_default();
        ToolError::invalid(
            format!("`{argument}` cannot be read: {}", last.trim_start_matches("error: ")),
            "Rust regex syntax; escape a literal such as \\( or \\[.",
        )
    })
}

impl Condition {
    /// The wait that the argument `wait` asks for; `None` for an empty object.
    pub(crate) fn read(mut fields: JsonObject) -> Result<Option<Wait>, ToolError> {
        lenient::accept(&SCHEMA, &mut fields);
        validate::validate_part(&SCHEMA, &fields, "wait")?;
        validate::leave_out_empty(&SCHEMA, &mut fields);
        if fields.is_empty() {
            return Ok(None);
        }
        let condition: Self = serde_json::from_value(fields.into())
            .map_err(|error| ToolError::invalid(format!("argument `wait`: {error}"), ""))?;
        condition.into_wait().map(Some)
    }

    pub(crate) fn into_wait(self) -> Result<Wait, ToolError> {
        let regex = self.regex.as_deref().map(|text| pattern("regex", text));
        let wait = Wait {
            text: self.text,
            regex: regex.transpose()?,
            gone: self.gone,
            idle: self.idle_ms.map(Duration::from_millis),
            change: self.change,
            exit: self.exit,
            prompt: self.prompt,
            needs_input: self.needs_input,
            interactive: self.interactive,
            bell: self.bell,
            title: self.title,
            after: self.after.map(Seq),
            timeout: Some(Duration::from_millis(self.timeout_ms)),
            ..Wait::default()
        };
        if wait.is_empty() {
            return Err(ToolError::invalid(
                "no condition to wait for",
                "Give at least one of: text, regex, gone, idle_ms, change, exit, prompt, \
                 needs_input, interactive, bell, title.",
            ));
        }
        Ok(wait)
    }
}

/// Refuses to wait for the prompt of a program that has none.
pub(super) async fn check_prompt(session: &ScreenHandle, wait: &Wait) -> Result<(), ToolError> {
    if !wait.prompt {
        return Ok(());
    }
    let info = session.info().await?;
    match info.state == State::Running && !info.is_shell {
        true => Err(no_prompt(&info.command)),
        false => Ok(()),
    }
}

pub(super) fn no_prompt(program: &str) -> ToolError {
    ToolError::invalid(
        format!("`prompt` can never come true: {program} is not a shell"),
        "For other programs use interactive, needs_input, text or idle_ms.",
    )
}

/// What came of a wait.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Outcome {
    /// What came true; none after a time-out or exit.
    #[serde(skip_serializing_if = "Option::is_none")]
    fired: Option<&'static str>,
    #[serde(rename = "match", skip_serializing_if = "Option::is_none")]
    found: Option<Match>,
    timed_out: bool,
    /// `running`, `needs_input`, `interactive`, or how it ended.
    state: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    seq: u64,
    elapsed_ms: u64,
    /// When input is needed; off: a password.
    #[serde(skip_serializing_if = "Option::is_none")]
    echo: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) note: Option<String>,
}

/// Where it was found.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Match {
    row: u16,
    col: u16,
    text: String,
}

impl Outcome {
    pub(crate) fn of(waited: &Waited, cut_short: bool) -> Self {
        let running = matches!(waited.state, termbridge_session::State::Running);
        let timed_out = waited.fired.is_none() && running;
        let note = if timed_out && cut_short {
            Some("call wait_for to wait longer".into())
        } else if timed_out && waited.seen_before {
            Some("the text is visible, but not in a row that changed: pass after 0".into())
        } else if timed_out {
            waited
                .unanswered_query
                .as_ref()
                .map(|query| format!("the program may wait for an answer to {query}"))
        } else {
            None
        };
        let found =
            |found: &Found| Match { row: found.row, col: found.col, text: found.text.clone() };
        let (found, echo) = match &waited.fired {
            Some(Fired::Text(place) | Fired::Regex(place)) => (Some(found(place)), None),
            Some(Fired::NeedsInput { echo }) => (None, Some(*echo)),
            _ => (None, None),
        };
        let uncertain = matches!(waited.fired, Some(Fired::Interactive { uncertain: true }));
        let note = note.or_else(|| uncertain.then(|| "quiet, but it may be at work".to_owned()));
        Self {
            state: match &waited.fired {
                Some(fired @ (Fired::NeedsInput { .. } | Fired::Interactive { .. })) => {
                    fired.name().into()
                }
                _ => state_text(&waited.state),
            },
            exit_code: waited.state.exit_code(),
            fired: waited.fired.as_ref().map(Fired::name),
            found,
            timed_out: timed_out && !cut_short,
            seq: waited.seq.0,
            elapsed_ms: waited.elapsed.as_millis() as u64,
            echo,
            note,
        }
    }

    /// The same, with a note if a person has to type the hidden line.
    pub(crate) async fn with_person(mut self, context: &Context, session: &SessionId) -> Self {
        if self.echo == Some(false)
            && let Some(note) = context.person_types(session, None).await
        {
            self.note = Some(note);
        }
        self
    }

    /// What came of it, on a line with the state of the program, or above the screen.
    pub(crate) fn text(&self, mut words: Vec<String>, view: Option<&View>) -> String {
        match view {
            Some(view) => view.text_with(words),
            None => {
                if !matches!(self.state.as_str(), "running" | "needs_input" | "interactive") {
                    words.push(self.state.clone());
                }
                words.join(" | ")
            }
        }
    }

    /// `text "DONE" at 3,0 after 1.2 s`.
    pub(crate) fn words(&self) -> Vec<String> {
        let mut text = match (self.fired, &self.found) {
            (Some(name), Some(found)) => {
                format!("{name} {:?} at {},{}", found.text, found.row, found.col)
            }
            (Some("needs_input"), _) if self.echo == Some(false) => "needs_input (echo off)".into(),
            (Some(name), None) => name.to_owned(),
            (None, _) if self.timed_out => "timed out".into(),
            (None, _) => "not met".into(),
        };
        if self.elapsed_ms >= 1000 {
            text.push_str(&format!(" after {:.1} s", self.elapsed_ms as f64 / 1000.0));
        }
        let mut words = vec![text];
        words.extend(self.note.clone());
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_that_returns_early_says_how_to_go_on() {
        let waited = Waited {
            fired: None,
            state: State::Running,
            told: None,
            seq: Seq(1),
            elapsed: Duration::from_secs(50),
            unanswered_query: None,
            seen_before: false,
            hidden_line: false,
            queued: 0,
            snapshot: None,
            command: None,
        };
        let words = Outcome::of(&waited, true).words();
        assert_eq!(words, ["not met after 50.0 s", "call wait_for to wait longer"]);
    }
}
