//! Typing where a hidden line, such as a password, is for a person alone.
//!
//! With [`Settings::refuse_hidden_lines`] input is typed a line at a time. Each line waits until the
//! program has read the one before and waits for input, so that nothing is typed ahead into a prompt
//! that comes later; what the terminal would not echo is refused, and all that follows it. A program
//! that reads keys, not lines, and never rests gets them after [`HOLD_LIMIT`]; one that reads lines
//! and does not come to it within that time does not get them. Ctrl+C, Ctrl+D, Ctrl+Z, Ctrl+\ and
//! Ctrl+U pass in any case: they end, stop or erase a line and type none.
//!
//! A prompt that hides input by itself in raw mode (a pinentry's window) looks like any other program.
//!
//! [`Settings::refuse_hidden_lines`]: crate::Settings::refuse_hidden_lines

use std::collections::VecDeque;
use std::time::Duration;

use termbridge_vt::input::{InputItem, Key, KeyPress, Modifiers};
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::SessionTask;
use crate::error::SessionError;
use crate::input::{Input, Sent};
use crate::wait::{Wait, Waited};

/// How long a line waits for the program to be ready for it.
const HOLD_LIMIT: Duration = Duration::from_secs(2);
/// Bytes of the keys that pass in any case: Ctrl+C, Ctrl+D, Ctrl+U, Ctrl+Z, Ctrl+\.
const CONTROLS: [u8; 5] = [0x03, 0x04, 0x15, 0x1a, 0x1c];

pub(super) type SendReply = oneshot::Sender<Result<Sent, SessionError>>;

/// A request whose lines wait for their turn.
pub(super) struct PendingLines {
    lines: VecDeque<Vec<Input>>,
    /// What has been typed of it.
    sent: Option<Sent>,
    then: Option<(Wait, oneshot::Sender<Waited>)>,
    reply: SendReply,
    deadline: Instant,
}

impl SessionTask {
    /// Types line by line as far as none is hidden.
    pub(super) fn send_lines(
        &mut self,
        input: Vec<Input>,
        then: Option<(Wait, oneshot::Sender<Waited>)>,
        reply: SendReply,
    ) {
        if input.iter().all(is_control) {
            // What was to be typed into the program that is interrupted is not for its successor.
            self.refuse_lines(SessionError::Invalid("a later call interrupted the program".into()));
            return self.send_at_once(&input, then, reply);
        }
        if let Some(pending) = &self.lines {
            let queued = pending.lines.len();
            let _ = reply.send(Err(SessionError::LinesWaiting { queued }));
            return;
        }
        let lines = split_lines(input, self.terminal.input_modes().bracketed_paste);
        let deadline = Instant::now() + HOLD_LIMIT;
        self.lines = Some(PendingLines { lines, sent: None, then, reply, deadline });
        self.survey.forget();
        self.survey_soon();
        self.type_lines(Instant::now());
    }

    /// Types the next line if the program is ready for it.
    pub(super) fn type_lines(&mut self, now: Instant) {
        let Some(deadline) = self.lines.as_ref().map(|pending| pending.deadline) else { return };
        if let Err(error) = self.running() {
            return self.refuse_lines(error);
        }
        if self.hides_input() {
            return self.refuse_lines(SessionError::HiddenLine);
        }
        let late = now >= deadline;
        let reads_keys = self.program.line_mode().is_ok_and(|mode| !mode.canonical);
        let ready = self.survey.shows_waiting() || (late && reads_keys);
        // What is typed for a command that the shell has not begun would be typed ahead.
        if !ready || self.shell_is_reading_command() {
            if late {
                self.refuse_lines(SessionError::HiddenLine);
            }
            return;
        }
        let Some(line) = self.lines.as_mut().and_then(|pending| pending.lines.pop_front()) else {
            return;
        };
        match self.send(&line) {
            Err(error) => self.refuse_lines(error),
            Ok(sent) => {
                self.survey.forget();
                self.survey_soon();
                self.line_typed(sent, now);
            }
        }
    }

    fn line_typed(&mut self, sent: Sent, now: Instant) {
        let Some(mut pending) = self.lines.take() else { return };
        let before = pending.sent.map_or(sent.before, |first| first.before);
        let bytes = sent.bytes + pending.sent.map_or(0, |first| first.bytes);
        let sent = Sent { bytes, before, ..sent };
        if pending.lines.is_empty() {
            return self.answer_sent(sent, pending.then, pending.reply);
        }
        pending.sent = Some(sent);
        pending.deadline = now + HOLD_LIMIT;
        self.lines = Some(pending);
    }

    /// When a line that waits is given up, or typed.
    pub(super) fn lines_deadline(&self) -> Option<Instant> {
        self.lines.as_ref().map(|pending| pending.deadline)
    }

    /// The terminal edits lines and does not show them.
    pub(super) fn hides_input(&self) -> bool {
        self.program.line_mode().is_ok_and(|mode| mode.canonical && !mode.echo)
    }

    /// Whether these bytes may be written at this moment.
    pub(super) fn may_write(&self, bytes: impl IntoIterator<Item = u8>) -> bool {
        let is_control = |byte| CONTROLS.contains(&byte);
        !self.settings.refuse_hidden_lines
            || bytes.into_iter().all(is_control)
            || !self.hides_input()
    }

    pub(super) fn refuse_lines(&mut self, error: SessionError) {
        if let Some(pending) = self.lines.take() {
            tracing::debug!(session = %self.id, %error, "input refused");
            let _ = pending.reply.send(Err(error));
        }
    }
}

/// A key that types nothing.
fn is_control(input: &Input) -> bool {
    let is_control = |item: &InputItem| match item {
        InputItem::Press(KeyPress { key: Key::Char(character), modifiers }) => {
            *modifiers == Modifiers::CTRL
                && matches!(character.to_ascii_lowercase(), 'c' | 'd' | 'u' | 'z' | '\\')
        }
        InputItem::Press(_) => false,
        InputItem::Text(_) => false,
    };
    matches!(input, Input::Items(items) if !items.is_empty() && items.iter().all(is_control))
}

/// The input cut behind each end of a line.
fn split_lines(input: Vec<Input>, bracketed_paste: bool) -> VecDeque<Vec<Input>> {
    let mut lines = VecDeque::from([Vec::new()]);
    let mut add = |input: Input, ends: bool| {
        if let Some(line) = lines.back_mut() {
            line.push(input);
        }
        if ends {
            lines.push_back(Vec::new());
        }
    };
    for input in input {
        match input {
            Input::Items(items) => {
                for item in items {
                    match item {
                        InputItem::Text(text) => pieces(&text).for_each(|(text, ends)| {
                            add(Input::Items(vec![InputItem::Text(text)]), ends);
                        }),
                        press @ InputItem::Press(_) => {
                            let ends = ends_line(&press);
                            add(Input::Items(vec![press]), ends);
                        }
                    }
                }
            }
            Input::Text(text) => {
                pieces(&text).for_each(|(text, ends)| add(Input::Text(text), ends));
            }
            // Between brackets a line's end submits nothing.
            Input::Paste(text) if bracketed_paste => add(Input::Paste(text), false),
            Input::Paste(text) => {
                pieces(&text).for_each(|(text, ends)| add(Input::Paste(text), ends));
            }
            other @ (Input::Mouse(_) | Input::Pause(_)) => add(other, false),
        }
    }
    lines.retain(|line| !line.is_empty());
    lines
}

fn pieces(text: &str) -> impl Iterator<Item = (String, bool)> {
    text.split_inclusive(['\n', '\r']).map(|line| (line.to_owned(), line.ends_with(['\n', '\r'])))
}

fn ends_line(item: &InputItem) -> bool {
    match item {
        InputItem::Press(KeyPress { key: Key::Enter, .. }) => true,
        InputItem::Press(KeyPress { key: Key::Char(character), modifiers }) => {
            modifiers.contains(Modifiers::CTRL)
                && matches!(character.to_ascii_lowercase(), 'm' | 'j')
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use termbridge_vt::input::parse_keys;

    use super::{Input, is_control, split_lines};

    fn keys(text: &str) -> Vec<Input> {
        vec![Input::Items(parse_keys(text).expect("keys"))]
    }

    #[test]
    fn input_is_cut_behind_each_line() {
        let count = |input: Vec<Input>| split_lines(input, false).len();
        assert_eq!(count(keys("sudo ls<Enter>password<Enter>")), 2);
        assert_eq!(count(keys("half a line")), 1);
        assert_eq!(count(keys("one<Ctrl+M>two<Ctrl+J>three")), 3);
        assert_eq!(count(vec![Input::Text("one\ntwo\nthree".into())]), 3);
        assert_eq!(count(vec![Input::Paste("one\ntwo\n".into())]), 2);
        let paste = vec![Input::Paste("one\ntwo\n".into())];
        assert_eq!(split_lines(paste, true).len(), 1);
    }

    #[test]
    fn keys_that_type_nothing_are_known() {
        for name in ["Ctrl+C", "Ctrl+D", "^C", "C-z", "Ctrl+U"] {
            assert!(is_control(&keys(name)[0]), "{name}");
        }
        for name in ["Enter", "x", "Ctrl+J", "Ctrl+V", "Escape"] {
            assert!(!is_control(&keys(name)[0]), "{name}");
        }
    }
}
