//! Terminal emulation without IO: bytes to screen, keys to bytes.
//!
//! [`Terminal`] is fed what a program wrote and holds the screen a person would see. Formats turn a
//! [`Screen`] into text for an agent; [`input`] turns key names, mouse events and pastes into the
//! bytes a program expects under the modes it has set.
//!
//! ```text
//! program's bytes ─► scanner ─┬─► emulator (alacritty_terminal) ─► Screen ─► format::*
//!                             └─► queries and marks that the emulator leaves out
//! key names ─► input ─► bytes for the program
//! ```
//!
//! What is deliberately absent: clocks, files, processes, threads. No type of the emulator crate
//! appears in the public interface. Malformed input is data, never an error and never a panic.

mod changes;
mod clean;
mod codec;
mod command_line;
mod convert;
mod emulator;
mod event;
pub mod format;
mod highlights;
pub mod input;
mod listener;
mod modes;
mod portion;
mod queries;
mod scanner;
mod screen;
mod search;
mod sgr;
mod style;
mod viewed;

pub use changes::{Seq, Since};
pub use clean::CleanOutput;
pub use codec::DumpError;
pub use emulator::{Dump, MAX_COLS, MAX_ROWS, MIN_COLS, MIN_ROWS, Options, Size, Terminal};
pub use event::{Event, Mark, Tapped};
pub use highlights::Highlight;
pub use screen::{Cell, CellWidth, Cursor, CursorShape, PartOrigin, Row, Screen};
pub use search::{Found, Haystack};
pub use style::{Attributes, Color, Palette, Style};
pub use viewed::QueryFilter;

#[cfg(test)]
mod emulator_tests;
#[cfg(test)]
mod format_tests;
#[cfg(test)]
mod highlights_tests;
#[cfg(test)]
mod properties;
