//! An editor's terminal as a session with a screen.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::json;
use termbridge_session::vt::{Size, Terminal};
use termbridge_session::{
    Encoded, EndReason, Input, Owner, Sent, SessionError, SessionId, SessionInfo, Signal, Snapshot,
    SnapshotRequest, Stopped, Wait, Waited, encode_input, note_typing,
};
use tokio::time::Instant;

use super::EditorTerminals;
use super::terminal::EditorTerminal;
use super::waiting;
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
        if !terminal.is_in_ours() {
            let why =
                "this editor's extension cannot type keys; execute_command gives a command to it";
            return Err(SessionError::NotSupported(why.into()));
        }
        let (pieces, before) = {
            let mut state = terminal.lock();
            let is_persons = terminal.owner.is_everyone() && state.running().is_none();
            if is_persons && state.is_used_by_person() {
                return Err(SessionError::TakenOver(terminal.id.clone()));
            }
            state.follow_size();
            let before = state.screen.look();
            let pieces = texts(&state.screen, input)?;
            note_typing(&mut state.screen, input);
            state.bells_heard = state.bells;
            state.last_input = Instant::now();
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
        let waiting = waiting::begin(&self.editors, &self.terminal, wait)?;
        let sent = self.type_in(&input).await?;
        Ok((sent, Box::pin(waiting)))
    }

    async fn wait(&self, wait: Wait) -> Result<Waited, SessionError> {
        waiting::begin(&self.editors, &self.terminal, wait)?.await
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
        if terminal.owner.is_everyone() && terminal.check_alive().is_ok() {
            let why = "a person opened this terminal and shares it: only they can close it";
            return Err(SessionError::NotSupported(why.into()));
        }
        let is_left_open = terminal.lock().is_left_open;
        if is_left_open || terminal.check_alive().is_ok() {
            self.editors.close(terminal).await?;
        }
        let (ended, already) = terminal.end(None, EndReason::Stopped);
        self.editors.keep();
        Ok(Stopped { ended, already, killed: 0, detached: Vec::new() })
    }

    async fn info(&self) -> Result<SessionInfo, SessionError> {
        Ok(self.editors.info_of(&self.terminal))
    }
}

/// Input as the texts that the editor is to type: what has no pause in between is one.
fn texts(terminal: &Terminal, input: &[Input]) -> Result<Vec<Piece>, SessionError> {
    let mut pieces: Vec<Piece> = Vec::new();
    for Encoded { pause, bytes } in encode_input(terminal, input)? {
        let text = String::from_utf8(bytes).map_err(|_| {
            SessionError::NotSupported("the program takes mouse events in a binary form".into())
        })?;
        match pieces.last_mut().filter(|_| pause.is_zero()) {
            Some(last) => last.text.push_str(&text),
            None => pieces.push(Piece { pause, text }),
        }
    }
    Ok(pieces)
}
