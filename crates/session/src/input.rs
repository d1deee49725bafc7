//! What can be sent to a program.

use std::time::Duration;

use termbridge_vt::Seq;
use termbridge_vt::input::{InputItem, Modifiers, MouseAction, MouseButton};

/// One thing to send; encoded by the session's task in the modes in force at that moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// Key presses and typed text.
    Items(Vec<InputItem>),
    /// Text as it is, never read as key names.
    Text(String),
    /// Text from a clipboard, bracketed where the program asked for it.
    Paste(String),
    /// The mouse.
    Mouse(Mouse),
    /// Time between what was sent before and what follows, at least.
    Pause(Duration),
}

/// Longest time that the pauses of one request may take together.
pub const MAX_PAUSE: Duration = Duration::from_secs(10);

/// A mouse event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mouse {
    /// What the mouse does.
    pub action: MouseAction,
    /// With which button.
    pub button: MouseButton,
    /// Keys held down meanwhile.
    pub modifiers: Modifiers,
    /// Where.
    pub target: MouseTarget,
}

/// Where a mouse event happens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MouseTarget {
    /// A cell.
    Cell {
        /// Row from 0.
        row: u16,
        /// Column from 0.
        col: u16,
    },
    /// The middle of the first place where this text is visible.
    Text(String),
}

/// What became of input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sent {
    /// Bytes that the input became.
    pub bytes: usize,
    /// Bytes that the program has not taken yet.
    pub queued: usize,
    /// The screen's change counter before the input.
    pub before: Seq,
}
