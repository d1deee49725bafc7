//! What people ask about all of it: most run, slowest, most often failing, by project and agent.
//!
//! Two passes over `runs`, one for the commands and one for the rest: seconds per million entries,
//! so not for a request that someone waits for.

use std::collections::HashMap;

use rusqlite::{Connection, Row, named_params};

use crate::error::StoreError;

/// Which entries to count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatsQuery {
    /// Of this project.
    pub project: Option<String>,
    /// Of this agent.
    pub agent: Option<String>,
    /// Started at or after this time (milliseconds since 1970).
    pub since_ms: Option<i64>,
    /// Started at or before this time.
    pub until_ms: Option<i64>,
    /// Rows per list, at most 200.
    pub limit: usize,
}

impl Default for StatsQuery {
    fn default() -> Self {
        Self { project: None, agent: None, since_ms: None, until_ms: None, limit: 10 }
    }
}

/// One command line over all its runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandStats {
    /// The command line.
    pub command: String,
    /// How often it ran.
    pub runs: u64,
    /// How often it failed.
    pub failed: u64,
    /// The mean duration of those that ended.
    pub mean_ms: u64,
    /// The longest.
    pub max_ms: u64,
}

/// One project or agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelStats {
    /// Its name; nothing for runs without one.
    pub label: Option<String>,
    /// Commands run.
    pub runs: u64,
    /// Commands that failed.
    pub failed: u64,
    /// Time spent in them.
    pub total_ms: u64,
}

/// The answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stats {
    /// Commands run.
    pub runs: u64,
    /// Commands that failed.
    pub failed: u64,
    /// Most often run first.
    pub most_run: Vec<CommandStats>,
    /// The longest run first.
    pub slowest: Vec<CommandStats>,
    /// Most failures first; none without a failure.
    pub most_failing: Vec<CommandStats>,
    /// Most commands first.
    pub projects: Vec<LabelStats>,
    /// Most commands first.
    pub agents: Vec<LabelStats>,
}

const MAX_LIMIT: usize = 200;
const FAILED: &str = "sum(coalesce(exit_code, 0) <> 0 OR signal IS NOT NULL)";
const WHERE: &str =
    "(:project IS NULL OR project = :project) AND (:agent IS NULL OR agent = :agent)
    AND (:since IS NULL OR started_ms >= :since) AND (:until IS NULL OR started_ms <= :until)";

/// Counts.
pub(crate) fn stats(connection: &Connection, query: &StatsQuery) -> Result<Stats, StoreError> {
    if !(1..=MAX_LIMIT).contains(&query.limit) {
        let message = format!("limit is {}, it takes 1 to {MAX_LIMIT}", query.limit);
        return Err(StoreError::Invalid(message));
    }
    let mut stats = Stats::default();
    let list = |kind: u8, condition: &str, order: &str| {
        format!(
            "SELECT * FROM (SELECT {kind}, command, runs, failed, mean, longest FROM commands
             WHERE {condition} ORDER BY {order}, command LIMIT :limit)"
        )
    };
    let sql = format!(
        "WITH commands AS MATERIALIZED (
           SELECT command, count(*) AS runs, {FAILED} AS failed, avg(duration_ms) AS mean,
           max(duration_ms) AS longest FROM runs WHERE {WHERE} GROUP BY command)
         {} UNION ALL {} UNION ALL {}",
        list(0, "1", "runs DESC"),
        list(1, "longest IS NOT NULL", "longest DESC"),
        list(2, "failed > 0", "failed DESC"),
    );
    let mut statement = connection.prepare(&sql)?;
    let mut rows = statement.query(named_params! {
        ":project": query.project, ":agent": query.agent, ":since": query.since_ms,
        ":until": query.until_ms, ":limit": query.limit as i64,
    })?;
    while let Some(row) = rows.next()? {
        let list = match row.get::<_, i64>(0)? {
            0 => &mut stats.most_run,
            1 => &mut stats.slowest,
            _ => &mut stats.most_failing,
        };
        list.push(command(row)?);
    }
    labels(connection, query, &mut stats)?;
    Ok(stats)
}

/// Totals, projects and agents in one pass; there are few of either.
fn labels(
    connection: &Connection,
    query: &StatsQuery,
    stats: &mut Stats,
) -> Result<(), StoreError> {
    let sql = format!(
        "SELECT project, agent, coalesce(exit_code, 0) <> 0 OR signal IS NOT NULL,
         coalesce(duration_ms, 0) FROM runs WHERE {WHERE}"
    );
    let mut statement = connection.prepare(&sql)?;
    let mut rows = statement.query(named_params! {
        ":project": query.project, ":agent": query.agent, ":since": query.since_ms,
        ":until": query.until_ms,
    })?;
    let mut labels = [HashMap::new(), HashMap::new()];
    while let Some(row) = rows.next()? {
        let (failed, duration) = (u64::from(row.get::<_, bool>(2)?), count(row, 3)?);
        stats.runs += 1;
        stats.failed += failed;
        for (index, map) in labels.iter_mut().enumerate() {
            let label: Option<String> = row.get(index)?;
            let empty = |label: &Option<String>| LabelStats {
                label: label.clone(),
                runs: 0,
                failed: 0,
                total_ms: 0,
            };
            let entry = map.entry(label).or_insert_with_key(empty);
            entry.runs += 1;
            entry.failed += failed;
            entry.total_ms += duration;
        }
    }
    [stats.projects, stats.agents] = labels.map(|map| {
        let mut list: Vec<_> = map.into_values().collect();
        list.sort_by(|a, b| b.runs.cmp(&a.runs).then_with(|| a.label.cmp(&b.label)));
        list.truncate(query.limit);
        list
    });
    Ok(())
}

fn command(row: &Row<'_>) -> rusqlite::Result<CommandStats> {
    Ok(CommandStats {
        command: row.get(1)?,
        runs: count(row, 2)?,
        failed: count(row, 3)?,
        mean_ms: row.get::<_, Option<f64>>(4)?.unwrap_or(0.0).round() as u64,
        max_ms: row.get::<_, Option<i64>>(5)?.unwrap_or(0).max(0) as u64,
    })
}

fn count(row: &Row<'_>, index: usize) -> rusqlite::Result<u64> {
    row.get::<_, i64>(index).map(|count| count.max(0) as u64)
}
