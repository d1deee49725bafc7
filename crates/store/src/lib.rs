//! The history of commands: written off the hot path, searched in full text, kept within limits.
//!
//! ```text
//! record(Entry) ── bounded queue ──► writer thread ── batches ──► history.db (WAL)
//! search · get · stats ◄── pool of read-only connections ─────────┘
//! ```
//!
//! An entry is recorded when its command starts ([`State::Running`]) and again when it ends; the
//! second replaces the first by its id, so a start that was dropped costs nothing. What was
//! running when its server died is marked [`State::Lost`] by the next one.
//!
//! ```no_run
//! use termbridge_store::{Entry, History, Limits, Query};
//!
//! # fn example() -> Result<(), termbridge_store::StoreError> {
//! let opened = History::open("/home/me/.local/state/termbridge/history.db".as_ref(), Limits::default())?;
//! opened.history.record(Entry::new("c1", "s1", "cargo test").output("42 passed").exit_code(0));
//! opened.history.flush()?;
//! let page = opened.history.search(&Query::new("cargo te"))?;
//! assert_eq!(page.hits[0].run.id, "c1");
//! # Ok(())
//! # }
//! ```
//!
//! Invariants:
//! - Nothing outside this crate sees a type of its database, and nothing here blocks a recorder: a full
//!   queue drops and counts ([`Health::dropped`]).
//! - Opening does not fail because of the file: a damaged one is set aside, one that cannot be used
//!   is replaced by memory, and [`Opened::warnings`] says so.
//! - The text of a query is data. No query is a syntax error.
//! - Any number of processes share one file.
//!
//! What is deliberately absent: the environment, printing, async, stripping of escape sequences and
//! masking of secrets (the caller's, before an entry gets here).

mod entry;
mod error;
mod history;
mod limits;
mod open;
mod output;
mod query;
mod readers;
mod row;
mod schema;
mod search;
mod stats;
mod tags;
pub mod time;
mod writer;

pub use entry::{Entry, Run, State};
pub use error::{StoreError, Warning};
pub use history::{Health, History, Opened, Recorded, Storage};
pub use limits::Limits;
pub use output::{Cut, Output};
pub use query::{Field, Filter, Hit, Markers, Page, Query, Scope, Snippet};
pub use stats::{CommandStats, LabelStats, Stats, StatsQuery};
