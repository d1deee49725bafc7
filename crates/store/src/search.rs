//! From a query to a page of hits.
//!
//! 1. The text becomes [`Terms`], the filter becomes tags: one expression for the index.
//! 2. [`candidates`] takes the newest [`CANDIDATES`] entries that match, table by table from the
//!    newest, and stops there: the cost of a common word is bounded by that, not by its matches.
//! 3. Each is scored by its own text ([`score`]), so its rank does not change when others come, and
//!    a cursor that says "after this score and entry" stays right.
//! 4. The page's hits get their run and a snippet. When a block of candidates is used up, the next
//!    page goes on with the next older block.
//!
//! Without text there is no ranking: the newest entries, by row.

mod candidates;
mod cursor;
mod expression;
mod score;
mod snippet;
mod terms;

use rusqlite::{Connection, OptionalExtension};

use crate::error::StoreError;
use crate::query::{Filter, Hit, Page, Query, Scope};
use crate::row::{self, RUN, RUN_COLUMNS};
use crate::schema::SLOTS;

use candidates::Candidate;
use cursor::{After, Cursor};
use terms::Terms;

/// Entries ranked at once.
const CANDIDATES: usize = 1000;

/// Rows in the order of time.
#[derive(Debug, Clone, Copy)]
struct Range {
    from: i64,
    to: i64,
}

/// Answers a query.
pub(crate) fn page(connection: &Connection, query: &Query) -> Result<Page, StoreError> {
    query.check()?;
    let cursor = query.cursor.as_deref().map(|text| Cursor::parse(text, query)).transpose()?;
    let mut range = range(&query.filter);
    if let Some(cursor) = &cursor {
        range.to = range.to.min(cursor.to);
    }
    if query.text.trim().is_empty() {
        return list(connection, query, range);
    }
    let terms = Terms::parse(&query.text);
    if terms.len() > Terms::MAX {
        let message = format!("query has {} words, it takes {}", terms.len(), Terms::MAX);
        return Err(StoreError::Invalid(message));
    }
    if terms.is_empty() {
        // Nothing in it is ever indexed, so nothing can match.
        return Ok(Page::default());
    }
    rank(connection, query, &terms, range, cursor.and_then(|cursor| cursor.after))
}

/// The newest entries.
fn list(connection: &Connection, query: &Query, range: Range) -> Result<Page, StoreError> {
    let mut rows = candidates::newest(connection, &query.filter, range, query.limit + 1)?;
    let more = rows.len() > query.limit;
    rows.truncate(query.limit);
    let next = rows.last().filter(|_| more).map(|seq| Cursor { to: seq - 1, after: None });
    let mut page = Page { cursor: next.map(|cursor| cursor.to_text(query)), ..Page::default() };
    let mut hydrate = Hydrate::new(connection)?;
    for seq in rows {
        page.hits.extend(hydrate.hit(seq, query, None)?);
    }
    Ok(page)
}

/// The best of a block of the newest matches.
fn rank(
    connection: &Connection,
    query: &Query,
    terms: &Terms,
    range: Range,
    after: Option<After>,
) -> Result<Page, StoreError> {
    let mut block = candidates::matching(connection, query, terms, range, CANDIDATES + 1)?;
    let approximate = block.len() > CANDIDATES;
    block.truncate(CANDIDATES);
    let Some((newest, oldest)) = block.first().zip(block.last()).map(|(a, b)| (a.seq, b.seq))
    else {
        return Ok(Page::default());
    };
    block.sort_by(Candidate::best_first);
    if let Some(after) = after {
        block.retain(|candidate| after.precedes(candidate));
    }
    let more = block.len() > query.limit;
    block.truncate(query.limit);
    let next = if more {
        block.last().map(|last| Cursor { to: newest, after: Some(After::new(last)) })
    } else {
        approximate.then(|| Cursor { to: oldest - 1, after: None })
    };
    let mut page =
        Page { cursor: next.map(|cursor| cursor.to_text(query)), approximate, ..Page::default() };
    let mut hydrate = Hydrate::new(connection)?;
    for candidate in block {
        page.hits.extend(hydrate.hit(candidate.seq, query, Some(terms))?);
    }
    Ok(page)
}

fn range(filter: &Filter) -> Range {
    let first_of = |ms: i64| ms.saturating_mul(SLOTS);
    Range {
        from: filter.since_ms.map_or(i64::MIN, first_of),
        to: filter.until_ms.map_or(i64::MAX, |until| first_of(until).saturating_add(SLOTS - 1)),
    }
}

/// Reads what is shown of a hit.
struct Hydrate<'c> {
    run: rusqlite::Statement<'c>,
    head: rusqlite::Statement<'c>,
    rest: rusqlite::Statement<'c>,
}

impl<'c> Hydrate<'c> {
    fn new(connection: &'c Connection) -> rusqlite::Result<Self> {
        Ok(Self {
            run: connection.prepare(&format!("SELECT {RUN}, bytes FROM runs WHERE seq = ?1"))?,
            head: connection.prepare("SELECT head FROM outputs WHERE seq = ?1")?,
            rest: connection.prepare("SELECT head || rest FROM outputs WHERE seq = ?1")?,
        })
    }

    fn hit(
        &mut self,
        seq: i64,
        query: &Query,
        terms: Option<&Terms>,
    ) -> Result<Option<Hit>, StoreError> {
        let read = |row: &rusqlite::Row<'_>| Ok((row::run(row)?, row.get::<_, i64>(RUN_COLUMNS)?));
        let Some((run, bytes)) = self.run.query_row([seq], read).optional()? else {
            return Ok(None);
        };
        if !query.filter.admits(&run) {
            return Ok(None);
        }
        let snippet = match terms {
            None => None,
            Some(terms) => {
                let command = (query.scope != Scope::Output).then_some(run.command.as_str());
                let mut snippet = snippet::Maker::new(terms, &query.markers);
                snippet.command(command);
                if query.scope != Scope::Commands && !snippet.is_complete() {
                    let head: Option<String> =
                        self.head.query_row([seq], |row| row.get(0)).optional()?;
                    snippet.output(head.as_deref().unwrap_or_default());
                    if !snippet.is_complete() {
                        // NULL when the head is all of it.
                        let all: Option<Option<String>> =
                            self.rest.query_row([seq], |row| row.get(0)).optional()?;
                        snippet.output(all.flatten().as_deref().unwrap_or_default());
                    }
                }
                Some(snippet.finish(&run.command))
            }
        };
        let output_bytes = (bytes as u64).saturating_sub(run.command.len() as u64);
        Ok(Some(Hit { run, output_bytes, snippet }))
    }
}
