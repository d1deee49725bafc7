//! The newest entries that match, from the full-text tables.

use std::cmp::Ordering;

use rusqlite::{Connection, OptionalExtension, Statement, params};

use super::Range;
use super::score::score;
use super::terms::Terms;
use crate::query::{Filter, Query, Scope};
use crate::row::{self, RUN};
use crate::{schema, tags};

/// A word or tag with up to this many entries in a table is rare: they are read and compared with
/// the query, which is cheaper than to intersect them with the many of a common word.
const RARE: usize = 100;

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
        let own = tags::excluded_by(filter).map(|_| "AND principal IS NULL").unwrap_or_default();
        let sql = format!(
            "SELECT seq FROM runs WHERE seq BETWEEN ?1 AND ?2 {own} ORDER BY seq DESC LIMIT ?3"
        );
        return connection
            .prepare(&sql)?
            .query_map(params![range.from, range.to, limit as i64], |row| row.get(0))?
            .collect();
    }
    let expression = without_excluded(tag_expression(&tags), filter);
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
    let columns = columns(query.scope);
    let mut all = format!("({columns} : ({}))", terms.expression());
    let mut probes = Vec::new();
    if !tags.is_empty() {
        all = format!("{all} AND {}", tag_expression(&tags));
        probes.extend(tags.chunks(1).map(tag_expression));
    }
    if !tags.is_empty() || !terms.is_single_word() {
        probes.extend(terms.probes().iter().map(|probe| format!("({columns} : ({probe}))")));
    }
    let all = without_excluded(all, &query.filter);
    let mut texts = Texts::new(connection, query)?;
    let mut found = Vec::new();
    for table in tables(connection, range)? {
        let left = limit - found.len();
        match rare(connection, &table, &probes, range)? {
            Some(rows) => {
                for seq in rows {
                    if found.len() < limit && texts.matches(seq, terms)? {
                        found.push(texts.candidate(seq, terms)?);
                    }
                }
            }
            None => {
                for seq in lookup(connection, &table, &all, range, left)? {
                    found.push(texts.candidate(seq, terms)?);
                }
            }
        }
        if found.len() >= limit {
            break;
        }
    }
    Ok(found)
}

/// The entries of the first probe that has few.
fn rare(
    connection: &Connection,
    table: &str,
    probes: &[String],
    range: Range,
) -> rusqlite::Result<Option<Vec<i64>>> {
    for probe in probes {
        let rows = lookup(connection, table, probe, range, RARE + 1)?;
        if rows.len() <= RARE {
            return Ok(Some(rows));
        }
    }
    Ok(None)
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

fn columns(scope: Scope) -> &'static str {
    match scope {
        Scope::Commands => "{command}",
        Scope::Output => "{output}",
        Scope::All => "{command output}",
    }
}

fn tag_expression(tags: &[String]) -> String {
    format!("(tags : ({}))", tags.join(" AND "))
}

/// The same without the entries that have a word which the filter excludes.
fn without_excluded(expression: String, filter: &Filter) -> String {
    match tags::excluded_by(filter) {
        Some(word) => format!("({expression}) NOT (tags : {word})"),
        None => expression,
    }
}

/// Reads the texts of candidates.
struct Texts<'c> {
    query: &'c Query,
    run: Statement<'c>,
    command: Statement<'c>,
    both: Statement<'c>,
    rest: Statement<'c>,
}

impl<'c> Texts<'c> {
    fn new(connection: &'c Connection, query: &'c Query) -> rusqlite::Result<Self> {
        let both = "SELECT command, head FROM runs LEFT JOIN outputs USING(seq) WHERE seq = ?1";
        Ok(Self {
            query,
            run: connection.prepare(&format!("SELECT {RUN} FROM runs WHERE seq = ?1"))?,
            command: connection.prepare("SELECT command, NULL FROM runs WHERE seq = ?1")?,
            both: connection.prepare(both)?,
            rest: connection.prepare("SELECT head || rest FROM outputs WHERE seq = ?1")?,
        })
    }

    fn candidate(&mut self, seq: i64, terms: &Terms) -> rusqlite::Result<Candidate> {
        let scope = self.query.scope;
        let score = self.read(seq, |command, head| score(terms, scope, command, head))?;
        Ok(Candidate { seq, score: score.unwrap_or(0.0) })
    }

    /// The entry is one that was asked for: what the index would have said.
    fn matches(&mut self, seq: i64, terms: &Terms) -> rusqlite::Result<bool> {
        if self.query.filter != Filter::default() {
            let run = self.run.query_row([seq], row::run).optional()?;
            if !run.is_some_and(|run| self.query.filter.admits(&run)) {
                return Ok(false);
            }
        }
        let scope = self.query.scope;
        let mut seen = vec![false; terms.len()];
        self.read(seq, |command, head| {
            if scope != Scope::Output {
                terms.note(command, &mut seen);
            }
            if scope != Scope::Commands {
                terms.note(head, &mut seen);
            }
        })?;
        if terms.holds(&seen) || scope == Scope::Commands {
            return Ok(terms.holds(&seen));
        }
        let mut rows = self.rest.query([seq])?;
        if let Some(row) = rows.next()? {
            // NULL when the head is all of it.
            terms.note(row.get_ref(0)?.as_str_or_null()?.unwrap_or_default(), &mut seen);
        }
        Ok(terms.holds(&seen))
    }

    fn read<T>(
        &mut self,
        seq: i64,
        use_texts: impl FnOnce(&str, &str) -> T,
    ) -> rusqlite::Result<Option<T>> {
        let commands = self.query.scope == Scope::Commands;
        let statement = if commands { &mut self.command } else { &mut self.both };
        let mut rows = statement.query([seq])?;
        let Some(row) = rows.next()? else { return Ok(None) };
        let command = row.get_ref(0)?.as_str()?;
        let head = row.get_ref(1)?.as_str_or_null()?;
        Ok(Some(use_texts(command, head.unwrap_or_default())))
    }
}
