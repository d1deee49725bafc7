//! What can be asked of the history, and the answer.

use crate::entry::Run;
use crate::error::StoreError;

/// Where to look.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Scope {
    /// In command lines.
    Commands,
    /// In output.
    Output,
    /// In both; a term may be in either.
    #[default]
    All,
}

/// What surrounds a match in a snippet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Markers {
    /// Before it.
    pub open: String,
    /// After it.
    pub close: String,
}

impl Default for Markers {
    fn default() -> Self {
        Self { open: "**".to_owned(), close: "**".to_owned() }
    }
}

/// Which entries count; all that is given must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Of this session.
    pub session: Option<String>,
    /// Of this project.
    pub project: Option<String>,
    /// Of this agent.
    pub agent: Option<String>,
    /// On behalf of this principal; empty for the user that the history belongs to. `None` for everyone.
    pub principal: Option<String>,
    /// Ended with this code.
    pub exit_code: Option<i32>,
    /// Ended with a non-zero code or by a signal.
    pub failed: bool,
    /// Started at or after this time (milliseconds since 1970).
    pub since_ms: Option<i64>,
    /// Started at or before this time.
    pub until_ms: Option<i64>,
}

impl Filter {
    /// What the index cannot tell exactly is checked on the entry itself.
    pub(crate) fn admits(&self, run: &Run) -> bool {
        let same = |wanted: &Option<String>, is: Option<&str>| {
            wanted.as_deref().is_none_or(|wanted| Some(wanted) == is)
        };
        same(&self.session, Some(&run.session))
            && same(&self.project, run.project.as_deref())
            && same(&self.agent, run.agent.as_deref())
            && same(&self.principal, Some(run.principal.as_deref().unwrap_or_default()))
            && self.exit_code.is_none_or(|code| run.exit_code == Some(code))
            && (!self.failed || run.failed())
            && self.since_ms.is_none_or(|since| run.started_ms >= since)
            && self.until_ms.is_none_or(|until| run.started_ms <= until)
    }
}

/// A search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// Words that must all occur, `OR` between alternatives, phrases in quotes, groups in
    /// parentheses; the last word may be the beginning of one. Empty lists the newest.
    pub text: String,
    /// Where to look.
    pub scope: Scope,
    /// Which entries count.
    pub filter: Filter,
    /// Hits per page, 1 to [`Query::MAX_LIMIT`].
    pub limit: usize,
    /// [`Page::cursor`] of the page before.
    pub cursor: Option<String>,
    /// What surrounds a match.
    pub markers: Markers,
}

impl Query {
    /// Hits per page unless said otherwise.
    pub const DEFAULT_LIMIT: usize = 20;
    /// Hits per page, at most.
    pub const MAX_LIMIT: usize = 200;
    /// Bytes of text, at most.
    pub const MAX_TEXT: usize = 4096;

    /// These words, anywhere.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            scope: Scope::default(),
            filter: Filter::default(),
            limit: Self::DEFAULT_LIMIT,
            cursor: None,
            markers: Markers::default(),
        }
    }

    pub(crate) fn check(&self) -> Result<(), StoreError> {
        if !(1..=Self::MAX_LIMIT).contains(&self.limit) {
            let message = format!("limit is {}, it takes 1 to {}", self.limit, Self::MAX_LIMIT);
            return Err(StoreError::Invalid(message));
        }
        if self.text.len() > Self::MAX_TEXT {
            let (length, max) = (self.text.len(), Self::MAX_TEXT);
            return Err(StoreError::Invalid(format!("query has {length} bytes, it takes {max}")));
        }
        Ok(())
    }
}

/// Where a snippet is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    /// The command line.
    Command,
    /// The output.
    Output,
}

/// The place of a match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snippet {
    /// Where it is from.
    pub field: Field,
    /// One line, matches between the markers, `…` where the text goes on.
    pub text: String,
}

/// An entry that matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// The command and how it went.
    pub run: Run,
    /// Bytes kept of its output; [`crate::History::get`] has them.
    pub output_bytes: u64,
    /// Where the words are; nothing when none were asked for.
    pub snippet: Option<Snippet>,
}

/// A part of the answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Page {
    /// Best first; of equally good ones, and without words, newest first.
    pub hits: Vec<Hit>,
    /// Asks for the next page; nothing on the last.
    pub cursor: Option<String>,
    /// More matched than are ranked at once: these are the best of the newest ones, the next
    /// pages go on with older ones.
    pub approximate: bool,
}
