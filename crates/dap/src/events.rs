//! The event store: what happened in each session, kept within bounds, asked in many ways.
//!
//! It knows sessions by their names and events by their DAP shape, and nothing of connections, so
//! that whoever has events can keep them here: the native debugger and an editor's alike. A live
//! session is in memory, its oldest records dropped and counted beyond the bounds; a finished one
//! goes to a file of lines of JSON in the state folder, the oldest files dropped beyond theirs.
//! Without a folder the finished ones stay in memory, within the same bounds.

mod compare;
mod exceptions;
mod filter;
mod logs;
mod record;
mod spill;
mod stats;
mod store;
mod summary;
mod timeline;

pub use self::compare::{CompareBy, Comparison, ComparisonRow};
pub use self::exceptions::{ExceptionEntry, ExceptionQuery};
pub use self::filter::EventFilter;
pub use self::logs::{LogLine, LogQuery, Logs, SearchHit, SearchQuery, SearchResult};
pub(crate) use self::record::cut_text;
pub use self::record::{EventLimits, Record, SessionLabel};
pub use self::stats::{GroupBy, Stats, StatsRow};
pub use self::store::{EventStore, TrackedSession, Tracker};
pub use self::summary::Summary;
pub use self::timeline::{Granularity, TimelineEntry, TimelineQuery};

#[cfg(test)]
#[path = "events/tests.rs"]
mod tests;
