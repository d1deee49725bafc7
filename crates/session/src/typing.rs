//! Input as the bytes that a terminal gets for it, and as what is on its screen once it is echoed.

use std::slice;
use std::time::Duration;

use termbridge_vt::input::{
    InputItem, Key, KeyPress, Modifiers, MouseAction, MouseError, MouseEvent, encode_items,
    encode_mouse, encode_paste,
};
use termbridge_vt::{CellWidth, Row, Terminal};

use crate::error::SessionError;
use crate::input::{Input, MAX_PAUSE, Mouse, MouseTarget};

/// Ctrl+C.
pub(crate) const INTERRUPT: &[u8] = b"\x03";

/// Bytes that are typed together: a key, a click, a text however long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Encoded {
    /// Time between what is typed before and this.
    pub pause: Duration,
    /// The bytes.
    pub bytes: Vec<u8>,
}

/// What a terminal gets for the input, in the modes that its program has set.
pub fn encode_input(terminal: &Terminal, input: &[Input]) -> Result<Vec<Encoded>, SessionError> {
    let modes = terminal.input_modes();
    let mut pieces = Vec::new();
    let mut pause = Duration::ZERO;
    let mut pauses = Duration::ZERO;
    let mut push = |bytes: Vec<u8>, pause: &mut Duration| {
        pieces.push(Encoded { pause: std::mem::take(pause), bytes });
    };
    for item in input {
        match item {
            Input::Items(items) => items.iter().for_each(|item| {
                let bytes = encode_items(slice::from_ref(item), &modes);
                apart(&bytes).for_each(|piece| push(piece.to_vec(), &mut pause));
            }),
            Input::Text(text) => {
                let bytes = encode_items(&[InputItem::Text(text.clone())], &modes);
                apart(&bytes).for_each(|piece| push(piece.to_vec(), &mut pause));
            }
            Input::Paste(text) => push(encode_paste(text, &modes), &mut pause),
            Input::Pause(time) => {
                pause += *time;
                pauses += *time;
                if pauses > MAX_PAUSE {
                    return Err(SessionError::Invalid(format!(
                        "pauses between keys add up to more than {} s: send fewer keys at a \
                             time",
                        MAX_PAUSE.as_secs()
                    )));
                }
            }
            Input::Mouse(mouse) => {
                let event = mouse_event(terminal, mouse)?;
                let parts = match event.action {
                    MouseAction::Click => vec![MouseAction::Press, MouseAction::Release],
                    action => vec![action],
                };
                for action in parts {
                    match encode_mouse(&MouseEvent { action, ..event }, &modes) {
                        // X10 has no releases: the click was the press.
                        Err(MouseError::OnlyPresses) if event.action == MouseAction::Click => {}
                        bytes => push(bytes?, &mut pause),
                    }
                }
            }
        }
    }
    Ok(pieces)
}

/// Text with each Ctrl+C apart: what is behind one has to wait for what it ends.
fn apart(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.chunk_by(|a, b| ![*a, *b].contains(&INTERRUPT[0]))
}

fn mouse_event(terminal: &Terminal, mouse: &Mouse) -> Result<MouseEvent, SessionError> {
    let size = terminal.size();
    let (row, col) = match &mouse.target {
        MouseTarget::Cell { row, col } => (*row, *col),
        MouseTarget::Text(text) => {
            let screen = terminal.screen();
            let place = screen
                .rows
                .iter()
                .enumerate()
                .find_map(|(index, row)| Some((index as u16, middle_of(row, text)?)));
            place.ok_or_else(|| SessionError::TextNotOnScreen(text.clone()))?
        }
    };
    let mut cells = vec![(row, col)];
    if let MouseAction::Drag { to } = mouse.action {
        cells.push(to);
    }
    if let Some((row, col)) =
        cells.into_iter().find(|(row, col)| *row >= size.rows || *col >= size.cols)
    {
        return Err(SessionError::Invalid(format!(
            "row {row}, column {col} is outside the screen of {} rows and {} columns (counted \
                 from 0)",
            size.rows, size.cols
        )));
    }
    Ok(MouseEvent {
        action: mouse.action,
        button: mouse.button,
        row,
        col,
        modifiers: mouse.modifiers,
    })
}

/// Tells the terminal what is typed, so that its echo can be told from output.
pub fn note_typing(terminal: &mut Terminal, input: &[Input]) {
    terminal.begin_typing();
    let items = input.iter().flat_map(|input| match input {
        Input::Items(items) => items.clone(),
        Input::Text(text) | Input::Paste(text) => vec![InputItem::Text(text.clone())],
        Input::Mouse(_) | Input::Pause(_) => Vec::new(),
    });
    for item in items {
        match item {
            InputItem::Text(text) => terminal.note_typed(&text),
            InputItem::Press(KeyPress { key: Key::Char(character), modifiers })
                if (modifiers - Modifiers::SHIFT).is_empty() =>
            {
                terminal.note_typed(character.encode_utf8(&mut [0; 4]));
            }
            InputItem::Press(KeyPress { key: Key::Enter, .. }) => {
                terminal.note_typed("\r");
            }
            InputItem::Press(_) => terminal.note_other_key(),
        }
    }
}

/// The column in the middle of the first place where the row has this text.
fn middle_of(row: &Row, text: &str) -> Option<u16> {
    // A character may take two columns, and a column hold several characters.
    let mut line = String::new();
    let mut starts = Vec::new();
    for (col, cell) in row.cells.iter().enumerate() {
        if cell.width != CellWidth::Continuation {
            starts.push((line.len(), col as u16));
            cell.push_text(&mut line);
        }
    }
    let at = line.find(text)?;
    let cell = |offset: usize| starts.partition_point(|(start, _)| *start <= offset) - 1;
    let (first, last) = (cell(at), cell(at + text.len().saturating_sub(1)));
    starts.get((first + last).div_ceil(2)).map(|(_, col)| *col)
}
