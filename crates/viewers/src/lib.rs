//! People who watch sessions and take over.
//!
//! ```text
//! agent ── tools ──► hub ──► session ── dump, then output ──► a window's terminal
//!                             ▲                                     │
//!                             └────────── keys, take over ──────────┘
//! ```
//!
//! * [`SessionWindows`] welcomes windows of an editor, keeps each told of the list of sessions (`board`), and does what
//!   their people ask for.
//! * A session that a window watches is one task (`watching`): a dump and the stream, or, while an agent drives a
//!   session larger than the panel, the part of the screen that fits.
//!
//! Invariants: a window sees and does nothing that its caller may not; a slow window slows nobody (the session gives it
//! a new dump); what is typed goes to the session in the order in which it came. What is absent: the wire, which is the
//! editor crate's.

mod board;
mod clipped;
mod pan;
mod person_limits;
mod row;
mod watching;
mod window;

pub use window::{Audience, SessionWindows};
