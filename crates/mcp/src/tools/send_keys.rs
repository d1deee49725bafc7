//! `send_keys`: type, paste, click; then wait and look, in one call.

use std::time::Duration;

use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use termbridge_session::vt::input::{
    InputItem, KeyPress, Modifiers, MouseAction, MouseButton, parse_keys,
};
use termbridge_session::{Input, Mouse, MouseTarget, Session, SessionId, Wait, Waited};

use super::condition::{Condition, Outcome, check_prompt};
use super::ended::{Ended, Running};
use super::launch_app::is_painting;
use crate::error::ToolError;
use crate::schema::AnyObject;
use crate::tool::{Context, Hints, Reply, Tool};
use crate::view::{View, ViewAfter};

pub(crate) struct SendKeys;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    session_id: String,
    /// Keys (Enter, C-x C-s, Down Down Enter) or text with <keys>: iHello<Escape>:wq<Enter>, <Down*3>
    keys: Option<String>,
    /// Literal text
    text: Option<String>,
    /// Pasted text (bracketed if the program asked for it)
    paste: Option<String>,
    /// How often
    #[serde(default = "once")]
    #[schemars(range(min = 1, max = 1000))]
    repeat: usize,
    /// Between keys
    #[serde(default)]
    #[schemars(range(max = 1000))]
    delay_ms: u64,
    mouse: Option<MouseArguments>,
    /// As in `wait_for`; text must be in a row that changed after the keys. Default: until it reads again; {}: none
    #[schemars(with = "Option<AnyObject>")]
    wait: Option<JsonObject>,
    /// Default diff; with wait {}: none
    view: Option<ViewAfter>,
}

/// How long the program may take, by default, to wait for input again.
pub(super) const SETTLE_LIMIT: Duration = Duration::from_millis(300);

fn once() -> usize {
    1
}

/// Position by row and col, or by the text there
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MouseArguments {
    #[serde(default)]
    action: Action,
    row: Option<u16>,
    col: Option<u16>,
    button: Option<Button>,
    text: Option<String>,
    /// End of a drag
    to_row: Option<u16>,
    to_col: Option<u16>,
    /// Such as Ctrl+Shift
    modifiers: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Action {
    #[default]
    Click,
    DoubleClick,
    Press,
    Release,
    Drag,
    Move,
    ScrollUp,
    ScrollDown,
    ScrollLeft,
    ScrollRight,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Button {
    Left,
    Middle,
    Right,
    Back,
    Forward,
    None,
}

impl MouseArguments {
    fn into_mouse(self) -> Result<Mouse, ToolError> {
        let action = match (self.action, self.to_row, self.to_col) {
            (Action::Drag, Some(row), Some(col)) => MouseAction::Drag { to: (row, col) },
            (Action::Drag, ..) => {
                return Err(ToolError::invalid(
                    "a drag needs an end",
                    "Give `mouse.to_row` and `mouse.to_col`.",
                ));
            }
            (Action::Click, ..) => MouseAction::Click,
            (Action::DoubleClick, ..) => MouseAction::DoubleClick,
            (Action::Press, ..) => MouseAction::Press,
            (Action::Release, ..) => MouseAction::Release,
            (Action::Move, ..) => MouseAction::Move,
            (Action::ScrollUp, ..) => MouseAction::ScrollUp,
            (Action::ScrollDown, ..) => MouseAction::ScrollDown,
            (Action::ScrollLeft, ..) => MouseAction::ScrollLeft,
            (Action::ScrollRight, ..) => MouseAction::ScrollRight,
        };
        let target = match (self.row, self.col, self.text) {
            (Some(row), Some(col), None) => MouseTarget::Cell { row, col },
            (None, None, Some(text)) if !text.is_empty() => MouseTarget::Text(text),
            _ => {
                return Err(ToolError::invalid(
                    "the mouse needs one position",
                    "Give `mouse.row` and `mouse.col`, or `mouse.text` that is on the screen.",
                ));
            }
        };
        let button = match self.button {
            // A move with a button is a drag.
            None if action == MouseAction::Move => MouseButton::None,
            None | Some(Button::Left) => MouseButton::Left,
            Some(Button::Middle) => MouseButton::Middle,
            Some(Button::Right) => MouseButton::Right,
            Some(Button::Back) => MouseButton::Back,
            Some(Button::Forward) => MouseButton::Forward,
            Some(Button::None) => MouseButton::None,
        };
        let modifiers = match self.modifiers.as_deref() {
            None | Some("") => Modifiers::empty(),
            Some(names) => modifiers(names)?,
        };
        Ok(Mouse { action, button, modifiers, target })
    }
}

/// The input with a pause between its keys.
fn spaced(input: Vec<Input>, delay: Duration) -> Vec<Input> {
    if delay.is_zero() {
        return input;
    }
    let each = input.into_iter().flat_map(|input| match input {
        Input::Items(items) => items.into_iter().flat_map(single_keys).collect(),
        other => vec![other],
    });
    each.flat_map(|input| [Input::Pause(delay), input]).skip(1).collect()
}

/// A key each; text is one of its characters each.
fn single_keys(item: InputItem) -> Vec<Input> {
    match item {
        InputItem::Text(text) => {
            let key = |c: char| Input::Items(vec![InputItem::Text(c.to_string())]);
            text.chars().map(key).collect()
        }
        key @ InputItem::Press(_) => vec![Input::Items(vec![key])],
    }
}

/// `Ctrl+Shift`, read by the parser of chords.
fn modifiers(names: &str) -> Result<Modifiers, ToolError> {
    format!("{}+x", names.trim_end_matches('+'))
        .parse::<KeyPress>()
        .map(|press| press.modifiers)
        .map_err(|_| {
            ToolError::invalid(
                format!("`mouse.modifiers` is {names:?}"),
                "It takes Ctrl, Alt, Shift, Super, joined by +.",
            )
        })
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Answer {
    success: bool,
    /// Bytes that the program has not read yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    queued: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    wait: Option<Outcome>,
    /// That the program is still at work, or reads a hidden line.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    /// Of the shell's command that ended by this.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<AnyObject>")]
    command: Option<Ended>,
    /// As `view_screen` answers
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<AnyObject>")]
    view: Option<View>,
}

impl Tool for SendKeys {
    const NAME: &'static str = "send_keys";
    const TITLE: &'static str = "Send keys, text or mouse";
    const DESCRIPTION: &'static str = "Type into a session and see what changed, in one call. \
        One of keys, text, paste, mouse.";
    const HINTS: Hints = Hints::ACTS;
    type Arguments = Arguments;
    type Answer = Answer;

    async fn call(arguments: Arguments, context: &Context) -> Result<Reply<Answer>, ToolError> {
        let session = context.used_session(&arguments.session_id)?;
        let asked = arguments.wait.map(Condition::read).transpose()?;
        if let Some(Some(wait)) = &asked {
            check_prompt(&session, wait).await?;
        }
        let given = (arguments.keys, arguments.text, arguments.paste, arguments.mouse);
        let input = match given {
            (Some(keys), None, None, None) => {
                Input::Items(parse_keys(&keys).map_err(termbridge_session::SessionError::from)?)
            }
            (None, Some(text), None, None) => {
                Input::Items(vec![InputItem::Text(text.replace("\r\n", "\n"))])
            }
            (None, None, Some(text), None) => Input::Paste(text),
            (None, None, None, Some(mouse)) => Input::Mouse(mouse.into_mouse()?),
            _ => {
                return Err(ToolError::invalid(
                    "exactly one of `keys`, `text`, `paste` and `mouse` is needed",
                    "To type text and then a key, use keys: \"text<Enter>\".",
                ));
            }
        };
        let delay = Duration::from_millis(arguments.delay_ms);
        let input = spaced(vec![input; arguments.repeat], delay);
        let running = Running::of(context, &session).await?;
        let view = match (arguments.view, &asked) {
            (Some(view), _) => view,
            (None, Some(None)) => ViewAfter::None,
            (None, _) => ViewAfter::Diff,
        };
        let is_diff = view == ViewAfter::Diff;
        let pauses = delay.saturating_mul(input.len() as u32 / 2);
        let settled = || Wait { settled: true, ..Wait::default() }.timeout(SETTLE_LIMIT + pauses);
        let (wait, reported) = match asked {
            Some(wait) => (wait, true),
            None => (Some(settled()), false),
        };
        let seen = context.told.seen(session.id());
        let (sent, wait, view, waited) = match wait {
            Some(wait) => {
                // In a shell, the end of the program is that of its command, or of the line that is typed.
                let command = running.as_ref().filter(|_| wait.exit).and_then(Running::open);
                let is_line = wait.exit
                    && command.is_none()
                    && session.own().is_some_and(Session::runs_commands);
                let prompt = wait.prompt || is_line;
                let wait = Wait { look: view.look(seen), command, prompt, ..wait };
                let (mut sent, waited, cut_short) =
                    context.send_then_wait(&session, input, wait).await?;
                sent.queued = waited.queued;
                let outcome = match reported {
                    true => {
                        let outcome = Outcome::of(&waited, cut_short);
                        Some(outcome.with_person(context, session.id()).await)
                    }
                    false => None,
                };
                let view = View::after(&waited, &session, view)?;
                (sent, outcome, view, Some(waited))
            }
            None => {
                let sent = session.send(input).await?;
                context.note_done(|| format!("the input was sent to session {}", session.id()));
                let view = View::take_after(&session, view, seen).await?;
                (sent, None, view, None)
            }
        };
        let command = match running {
            Some(running) => running.ended(context, waited.as_ref(), view.as_ref()).await?,
            None => None,
        };
        // Its output says what a diff would, without prompts.
        let is_told = command.as_ref().is_some_and(|command| !command.was_over);
        let view = view.filter(|_| !(is_diff && is_told));
        context.note_view(&session, view.as_ref());
        let mut facts = wait.as_ref().map(Outcome::words).unwrap_or_default();
        let note = match waited.as_ref().filter(|_| wait.is_none() && !is_told) {
            Some(waited) => standing_of(context, session.id(), waited).await,
            None => None,
        };
        facts.extend(note.clone());
        let mut text = match (&command, &view, &wait) {
            (Some(command), Some(view), _) if command.was_over => {
                command.text_before(&view.text_with(facts))
            }
            (Some(command), None, _) => command.text(facts),
            (Some(command), Some(view), _) => {
                command.text_before(&view.text_with([facts, command.words()].concat()))
            }
            (None, view, Some(outcome)) => outcome.text(facts, view.as_ref()),
            (None, Some(view), None) => view.text_with(facts),
            (None, None, None) => {
                facts.insert(0, format!("sent {} bytes", sent.bytes));
                facts.join(" | ")
            }
        };
        if let Some(note) = queue_note(sent.queued, sent.bytes) {
            text = format!("{text}\n{note}");
        }
        let queued = Some(sent.queued).filter(|queued| *queued > 0);
        Ok(Reply { text, answer: Answer { success: true, queued, wait, note, command, view } })
    }
}

/// That the program reads a hidden line, or that it is still at work, with the call that reads its further output.
async fn standing_of(context: &Context, session: &SessionId, waited: &Waited) -> Option<String> {
    if waited.hidden_line {
        let hidden = "needs_input, echo off";
        return Some(match context.person_types(session, None).await {
            Some(note) => format!("{hidden}: {note}"),
            None => hidden.to_owned(),
        });
    }
    if !is_painting(waited) {
        return None;
    }
    let read_on = match &waited.command {
        Some(report) => context.read_on(session, report).await,
        None => None,
    };
    Some(match read_on {
        Some(call) => format!("still at work; read on: {call}"),
        None => context.still_at_work(session),
    })
}

/// What waits for the program: of this call's bytes, or of earlier calls' too.
fn queue_note(queued: usize, sent: usize) -> Option<String> {
    match queued {
        0 => None,
        _ if queued <= sent => Some(format!("{queued} of {sent} bytes are still queued")),
        _ => Some(format!(
            "{queued} bytes are still queued: these {sent} and {} of earlier calls",
            queued - sent
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::queue_note;

    #[test]
    fn what_is_queued_is_not_more_than_was_sent() {
        assert_eq!(queue_note(0, 10), None);
        assert_eq!(queue_note(7, 10).as_deref(), Some("7 of 10 bytes are still queued"));
        assert_eq!(
            queue_note(59_520, 40_000).as_deref(),
            Some("59520 bytes are still queued: these 40000 and 19520 of earlier calls")
        );
    }
}
