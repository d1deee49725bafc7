//! The newest entries that match, from the full-text tables.

use std::cmp::Ordering;

use rusqlite::{Connection, Statement, params};

use super::Range;
use super::score::score;
use super::terms::{Part, Terms};
use crate::query::{Filter, Query, Scope};
use crate::{schema, tags};

/// Up to this many matches of the exact terms in a table, the prefix is looked for in their text.
const READABLE: usize = 200;

/// An entry that matches.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidate {
    pub(super) seq: i64,
    pub(super) score: f64,
}

impl Candidate {
    /// By score, then newer first.
    pub(super) fn best_first(&self, other: &Self) -> Ordering {
        other.score.total_cmp(&self.score).then(other.seq.cmp(&self.seq))
    }
}

/// The newest entries that the filter admits, newest first.
pub(super) fn newest(
    connection: &Connection,
    filter: &Filter,
    range: Range,
    limit: usize,
) -> rusqlite::Result<Vec<i64>> {
    let tags = tags::of_filter(filter);
    if tags.is_empty() {
        let sql = "SELECT seq FROM runs WHERE seq BETWEEN ?1 AND ?2 ORDER BY seq DESC LIMIT ?3";
        return connection
            .prepare(sql)?
            .query_map(params![range.from, range.to, limit as i64], |row| row.get(0))?
            .collect();
    }
    let expression = tag_expression(&tags);
    let mut rows = Vec::new();
    for table in tables(connection, range)? {
        rows.extend(lookup(connection, &table, &expression, range, limit - rows.len())?);
        if rows.len() >= limit {
            break;
        }
    }
    Ok(rows)
}

/// The newest entries that match, newest first, with their scores.
pub(super) fn matching(
    connection: &Connection,
    query: &Query,
    terms: &Terms,
    range: Range,
    limit: usize,
) -> rusqlite::Result<Vec<Candidate>> {
    let tags = tags::of_filter(&query.filter);
    let all = expression(query.scope, terms, Part::All, &tags);
    let exact = expression(query.scope, terms, Part::Exact, &tags);
    let mut texts = Texts::new(connection, query.scope)?;
    let mut found = Vec::new();
    for table in tables(connection, range)? {
        let left = limit - found.len();
        let few = match &exact {
            Some(exact) => {
                let rows = lookup(connection, &table, exact, range, READABLE + 1)?;
                (rows.len() <= READABLE).then_some(rows)
            }
            None => None,
        };
        match (few, &all) {
            (Some(rows), _) => {
                for seq in rows {
                    if found.len() < limit && texts.holds_last(seq, terms)? {
                        found.push(texts.candidate(seq, terms)?);
                    }
                }
            }
            (None, Some(all)) => {
                for seq in lookup(connection, &table, all, range, left)? {
                    found.push(texts.candidate(seq, terms)?);
                }
            }
            (None, None) => {}
        }
        if found.len() >= limit {
            break;
        }
    }
    Ok(found)
}

fn lookup(
    connection: &Connection,
    table: &str,
    expression: &str,
    range: Range,
    limit: usize,
) -> rusqlite::Result<Vec<i64>> {
    let sql = format!(
        "SELECT rowid FROM {table}(?1) WHERE rowid BETWEEN ?2 AND ?3 ORDER BY rowid DESC LIMIT ?4"
    );
    connection
        .prepare(&sql)?
        .query_map(params![expression, range.from, range.to, limit as i64], |row| row.get(0))?
        .collect()
}

/// The full-text tables that reach into the range, newest first.
fn tables(connection: &Connection, range: Range) -> rusqlite::Result<Vec<String>> {
    let sql = "SELECT number FROM shards WHERE start <= ?2 AND start >=
               coalesce((SELECT max(start) FROM shards WHERE start <= ?1), ?1) ORDER BY start DESC";
    connection
        .prepare(sql)?
        .query_map([range.from, range.to], |row| row.get(0).map(schema::shard_table))?
        .collect()
}

fn expression(scope: Scope, terms: &Terms, part: Part, tags: &[String]) -> Option<String> {
    let columns = match scope {
        Scope::Commands => "command",
        Scope::Output => "output",
        Scope::All => "command output",
    };
    let text = terms.expression(part).map(|text| format!("({{{columns}}} : ({text}))"));
    let tags = (!tags.is_empty()).then(|| tag_expression(tags));
    match (text, tags) {
        (Some(text), Some(tags)) => Some(format!("{text} AND {tags}")),
        (text, tags) => text.or(tags),
    }
}

fn tag_expression(tags: &[String]) -> String {
    format!("(tags : ({}))", tags.join(" AND "))
}

/// Reads the texts of candidates.
struct Texts<'c> {
    scope: Scope,
    command: Statement<'c>,
    both: Statement<'c>,
    rest: Statement<'c>,
}

impl<'c> Texts<'c> {
    fn new(connection: &'c Connection, scope: Scope) -> rusqlite::Result<Self> {
        let both = "SELECT command, head FROM runs LEFT JOIN outputs USING(seq) WHERE seq = ?1";
        Ok(Self {
            scope,
            command: connection.prepare("SELECT command, NULL FROM runs WHERE seq = ?1")?,
            both: connection.prepare(both)?,
            rest: connection.prepare("SELECT head || rest FROM outputs WHERE seq = ?1")?,
        })
    }

    fn candidate(&mut self, seq: i64, terms: &Terms) -> rusqlite::Result<Candidate> {
        let scope = self.scope;
        let score = self.read(seq, |command, head| score(terms, scope, command, head))?;
        Ok(Candidate { seq, score: score.unwrap_or(0.0) })
    }

    /// The last term is in the entry, which the index already found to hold the others.
    fn holds_last(&mut self, seq: i64, terms: &Terms) -> rusqlite::Result<bool> {
        let scope = self.scope;
        let near = self.read(seq, |command, head| {
            (scope != Scope::Output && terms.last_occurs(command))
                || (scope != Scope::Commands && terms.last_occurs(head))
        })?;
        if near == Some(true) || scope == Scope::Commands {
            return Ok(near == Some(true));
        }
        let mut rows = self.rest.query([seq])?;
        let Some(row) = rows.next()? else { return Ok(false) };
        // NULL when the head is all of it.
        let all = row.get_ref(0)?.as_str_or_null()?;
        Ok(all.is_some_and(|all| terms.last_occurs(all)))
    }

    fn read<T>(
        &mut self,
        seq: i64,
        use_texts: impl FnOnce(&str, &str) -> T,
    ) -> rusqlite::Result<Option<T>> {
        let statement =
            if self.scope == Scope::Commands { &mut self.command } else { &mut self.both };
        let mut rows = statement.query([seq])?;
        let Some(row) = rows.next()? else { return Ok(None) };
        let command = row.get_ref(0)?.as_str()?;
        let head = row.get_ref(1)?.as_str_or_null()?;
        Ok(Some(use_texts(command, head.unwrap_or_default())))
    }
}
