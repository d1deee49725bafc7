//! What people ask about all of it: most run, slowest, most often failing, by project and agent.
//!
//! One pass over `runs` for the commands and one each for projects and agents: about a second per
//! million entries.

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
    stats.projects = labels(connection, query, "project")?;
    stats.agents = labels(connection, query, "agent")?;
    let sql = format!("SELECT count(*), coalesce({FAILED}, 0) FROM runs WHERE {WHERE}");
    (stats.runs, stats.failed) = connection.query_row(
        &sql,
        named_params! {
            ":project": query.project, ":agent": query.agent, ":since": query.since_ms,
            ":until": query.until_ms,
        },
        |row| Ok((count(row, 0)?, count(row, 1)?)),
    )?;
    Ok(stats)
}

fn labels(
    connection: &Connection,
    query: &StatsQuery,
    column: &str,
) -> Result<Vec<LabelStats>, StoreError> {
    let sql = format!(
        "SELECT {column}, count(*), {FAILED}, coalesce(sum(duration_ms), 0) FROM runs WHERE {WHERE}
         GROUP BY {column} ORDER BY count(*) DESC, {column} LIMIT :limit"
    );
    let label = |row: &Row<'_>| {
        Ok(LabelStats {
            label: row.get(0)?,
            runs: count(row, 1)?,
            failed: count(row, 2)?,
            total_ms: count(row, 3)?,
        })
    };
    let rows = connection
        .prepare(&sql)?
        .query_map(
            named_params! {
                ":project": query.project, ":agent": query.agent, ":since": query.since_ms,
                ":until": query.until_ms, ":limit": query.limit as i64,
            },
            label,
        )?
        .collect::<Result<_, _>>()?;
    Ok(rows)
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
