//! An editor's terminal as a session with a screen.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::json;
use termbridge_session::vt::Size;
use termbridge_session::vt::input::{
    InputItem, InputModes, Key, KeyPress, MouseAction, MouseError, MouseEvent, encode_items,
    encode_mouse, encode_paste,
};
use termbridge_session::{
    EndReason, Input, MAX_PAUSE, Mouse, MouseTarget, Owner, Sent, SessionError, SessionId,
    SessionInfo, Signal, Snapshot, SnapshotRequest, Stopped, Wait, Waited,
};

use super::terminal::{EditorTerminal, TerminalState};
use super::waiting;
use super::{EditorTerminals, Failure};
use crate::screens::{ScreenSession, Waiting};

/// A terminal and the editors, one of which has it.
pub(super) struct EditorScreen {
    pub(super) terminal: Arc<EditorTerminal>,
    pub(super) editors: EditorTerminals,
}

/// Text to type, after a pause.
struct Piece {
    pause: Duration,
    text: String,
}

impl EditorScreen {
    async fn type_in(&self, input: &[Input]) -> Result<Sent, SessionError> {
        let terminal = &self.terminal;
        terminal.check_alive()?;
        if !terminal.window.is_ours() {
            let why =
                "this editor's extension cannot type keys; execute_command gives a command to it";
            return Err(SessionError::NotSupported(why.into()));
        }
        let (pieces, before) = {
            let mut state = terminal.lock();
            state.follow_size();
            let before = state.screen.look();
            let pieces = encode(&state, input)?;
            note_typing(&mut state, input);
            state.bells_heard = state.bells;
            (pieces, before)
        };
        let mut bytes = 0;
        for Piece { pause, text } in pieces {
            tokio::time::sleep(pause).await;
            bytes += text.len();
            let data = json!({ "terminalId": terminal.terminal_id, "text": text });
            self.editors.request(terminal, "send_text", data).await?;
        }
        Ok(Sent { bytes, queued: 0, before })
    }
}

#[async_trait]
impl ScreenSession for EditorScreen {
    fn id(&self) -> &SessionId {
        &self.terminal.id
    }

    fn owner(&self) -> &Owner {
        &self.terminal.owner
    }

    async fn snapshot(&self, request: SnapshotRequest) -> Result<Snapshot, SessionError> {
        self.terminal.snapshot(request)
    }

    async fn send(&self, input: Vec<Input>) -> Result<Sent, SessionError> {
        self.type_in(&input).await
    }

    async fn send_then_wait(
        &self,
        input: Vec<Input>,
        wait: Wait,
    ) -> Result<(Sent, Waiting), SessionError> {
        let waiting = waiting::begin(&self.terminal, wait)?;
        let sent = self.type_in(&input).await?;
        Ok((sent, Box::pin(waiting)))
    }

    async fn wait(&self, wait: Wait) -> Result<Waited, SessionError> {
        waiting::begin(&self.terminal, wait)?.await
    }

    async fn size(&self) -> Result<Size, SessionError> {
        self.terminal.lock().known_size()
    }

    async fn resize(&self, _size: Size) -> Result<Size, SessionError> {
        let why = "the editor decides on the size of its terminals";
        Err(SessionError::NotSupported(why.into()))
    }

    async fn restart(&self) -> Result<(), SessionError> {
        let why = "the editor's terminals cannot be restarted: stop it and make another";
        Err(SessionError::NotSupported(why.into()))
    }

    async fn stop(&self, _signal: Signal, _grace: Duration) -> Result<Stopped, SessionError> {
        let terminal = &self.terminal;
        if terminal.check_alive().is_ok() {
            let data = json!({ "terminalId": terminal.terminal_id });
            match self.editors.try_request(terminal, "close_terminal", data).await {
                // It is gone already.
                Ok(_) | Err(Failure::Refused { .. }) => {}
                Err(failure) => return Err(failure.into()),
            }
        }
        let (ended, already) = terminal.end(None, EndReason::Stopped);
        Ok(Stopped { ended, already, killed: 0, detached: Vec::new() })
    }

    async fn info(&self) -> Result<SessionInfo, SessionError> {
        Ok(self.terminal.info())
    }
}

/// Input as the text that a terminal gets, in the modes that its program has set.
fn encode(state: &TerminalState, input: &[Input]) -> Result<Vec<Piece>, SessionError> {
    let modes = state.screen.input_modes();
    let (mut pieces, mut pause, mut pauses) = (Vec::new(), Duration::ZERO, Duration::ZERO);
    for item in input {
        let bytes = match item {
            Input::Items(items) => encode_items(items, &modes),
            Input::Text(text) => encode_items(&[InputItem::Text(text.clone())], &modes),
            Input::Paste(text) => encode_paste(text, &modes),
            Input::Mouse(mouse) => encode_click(state, mouse, &modes)?,
            Input::Pause(time) => {
                pause += *time;
                pauses += *time;
                if pauses > MAX_PAUSE {
                    let most = MAX_PAUSE.as_secs();
                    let why = format!(
                        "pauses between keys add up to more than {most} s: send fewer keys at a time"
                    );
                    return Err(SessionError::Invalid(why));
                }
                continue;
            }
        };
        let text = String::from_utf8(bytes).map_err(|_| {
            SessionError::NotSupported("the program takes mouse events that are no text".into())
        })?;
        pieces.push(Piece { pause: std::mem::take(&mut pause), text });
    }
    Ok(pieces)
}

fn encode_click(
    state: &TerminalState,
    mouse: &Mouse,
    modes: &InputModes,
) -> Result<Vec<u8>, SessionError> {
    let (row, col) = match &mouse.target {
        MouseTarget::Cell { row, col } => (*row, *col),
        MouseTarget::Text(text) => {
            let haystack = state.screen.haystack();
            let at = haystack.text().find(text.as_str());
            let found = at.map(|at| haystack.locate(at..at + text.len()));
            let found = found.ok_or_else(|| SessionError::TextNotOnScreen(text.clone()))?;
            (found.row, found.col)
        }
    };
    let size = state.screen.size();
    if row >= size.rows || col >= size.cols {
        let why = format!(
            "row {row}, column {col} is outside the screen of {} rows and {} columns",
            size.rows, size.cols
        );
        return Err(SessionError::Invalid(why));
    }
    let (action, button, modifiers) = (mouse.action, mouse.button, mouse.modifiers);
    let parts = match action {
        MouseAction::Click => vec![MouseAction::Press, MouseAction::Release],
        action => vec![action],
    };
    let mut bytes = Vec::new();
    for part in parts {
        match encode_mouse(&MouseEvent { action: part, button, row, col, modifiers }, modes) {
            // X10 has no releases: the click was the press.
            Err(MouseError::OnlyPresses) if action == MouseAction::Click => {}
            encoded => bytes.extend(encoded?),
        }
    }
    Ok(bytes)
}

/// What is typed is not taken for what a program prints.
fn note_typing(state: &mut TerminalState, input: &[Input]) {
    let screen = &mut state.screen;
    screen.begin_typing();
    let items = input.iter().flat_map(|input| match input {
        Input::Items(items) => items.clone(),
        Input::Text(text) | Input::Paste(text) => vec![InputItem::Text(text.clone())],
        Input::Mouse(_) | Input::Pause(_) => Vec::new(),
    });
    for item in items {
        match item {
            InputItem::Text(text) => screen.note_typed(&text),
            InputItem::Press(KeyPress { key: Key::Enter, .. }) => screen.note_typed("\r"),
            InputItem::Press(KeyPress { key: Key::Char(character), modifiers })
                if modifiers.is_empty() =>
            {
                screen.note_typed(character.encode_utf8(&mut [0; 4]));
            }
            InputItem::Press(_) => screen.note_other_key(),
        }
    }
}
