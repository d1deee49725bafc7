//! Terminal emulation without IO: bytes to screen, keys to bytes.
//!
//! [`Terminal`] is fed what a program wrote and holds the screen a person would see. Formats turn a
//! [`Screen`] into text for an agent; [`input`] turns key names, mouse events and pastes into the
//! bytes a program expects under the modes it has set.
//!
//! ```text
//! program's bytes ─► parser ─► terminal ─► grid ─► row ─┬─► Screen ─► format::*
//!                                  │                     └─► history (what scrolled off), a command's text
//!                                  └─► replies, events
//! key names ─► input ─► bytes for the program
//! ```
//!
//! What is deliberately absent: clocks, files, processes, threads. Malformed input is data, never an error and never a
//! panic.

mod cell;
mod changes;
mod clusters;
mod command_line;
mod content_hash;
mod event;
pub mod format;
mod grid;
mod highlights;
mod history;
mod image;
pub mod input;
mod packed;
mod parser;
mod row;
mod screen;
mod search;
mod size;
mod style;
mod tables;
mod terminal;
mod text;
mod utf8;
mod viewed;

pub use changes::{Seq, Since};
pub use event::{Event, Mark};
pub use highlights::Highlight;
pub use image::{Image, ImageData, ImageFormat, MAX_IMAGE_MEMORY, Placement};
pub use screen::{Cell, CellWidth, Cursor, CursorShape, PartOrigin, Row, Screen};
pub use search::{Found, Haystack};
pub use size::{MAX_COLS, MAX_ROWS, MIN_COLS, MIN_ROWS, Size};
pub use style::{Attributes, Color, Palette, Style};
pub use terminal::{CleanOutput, Dump, Options, PendingOutput, PersistedError, Terminal};
pub use viewed::QueryFilter;

#[cfg(test)]
mod format_tests;
#[cfg(test)]
mod highlights_tests;
