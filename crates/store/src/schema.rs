//! The tables, and how an older file becomes a current one.
//!
//! - `runs`: one small row per command. `seq` is its start in milliseconds times [`SLOTS`] plus a
//!   slot, so that the order of rows is the order in time, a range of time is a range of rows, and
//!   no other index is needed for either.
//! - `outputs`: the text, apart from `runs` so that those stay dense. The head lies before the rest
//!   in the record: ranking reads the head and leaves the other pages alone.
//! - `shards` and `search_N`: the full-text index, cut by time into contentless FTS5 tables of
//!   [`crate::Limits::index_entries`]. A common word is looked up in the newest only, a prefix is expanded within
//!   one, and retention drops a whole table. `detail=full`, since `src/main.rs` is a phrase.
//! - `principal` is NULL for the user that the file belongs to: so are all entries from before there were others.
//! - `totals`: entries and bytes, kept by triggers, so that retention never counts.

use rusqlite::{Connection, params};

/// What this program writes; a file with more is from a newer one.
pub(crate) const VERSION: i64 = 3;
/// Commands that may start in one millisecond before one seems to start in the next.
pub(crate) const SLOTS: i64 = 16;
/// Bytes of output that stand apart for ranking.
pub(crate) const HEAD_BYTES: usize = 2048;

/// Each step leads from its index to the next version.
const STEPS: [&str; VERSION as usize] = [
    "
CREATE TABLE runs(
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  session TEXT NOT NULL,
  command TEXT NOT NULL,
  state INTEGER NOT NULL,
  exit_code INTEGER,
  signal TEXT,
  cwd TEXT NOT NULL,
  project TEXT,
  agent TEXT,
  shell TEXT,
  started_ms INTEGER NOT NULL,
  duration_ms INTEGER,
  server TEXT,
  bytes INTEGER NOT NULL,
  cut_at INTEGER,
  cut_bytes INTEGER
);
CREATE INDEX runs_running ON runs(server) WHERE state = 0;
CREATE TABLE outputs(seq INTEGER PRIMARY KEY, head TEXT NOT NULL, rest TEXT);
CREATE TABLE shards(start INTEGER PRIMARY KEY, number INTEGER NOT NULL, entries INTEGER NOT NULL);
CREATE TABLE totals(entries INTEGER NOT NULL, bytes INTEGER NOT NULL);
INSERT INTO totals VALUES(0, 0);
CREATE TRIGGER runs_added AFTER INSERT ON runs BEGIN
  UPDATE totals SET entries = entries + 1, bytes = bytes + NEW.bytes;
END;
CREATE TRIGGER runs_changed AFTER UPDATE OF bytes ON runs BEGIN
  UPDATE totals SET bytes = bytes + NEW.bytes - OLD.bytes;
END;
CREATE TRIGGER runs_removed AFTER DELETE ON runs BEGIN
  UPDATE totals SET entries = entries - 1, bytes = bytes - OLD.bytes;
  DELETE FROM outputs WHERE seq = OLD.seq;
END;
",
    "ALTER TABLE runs ADD COLUMN cut_lines INTEGER;",
    "ALTER TABLE runs ADD COLUMN principal TEXT;",
];

/// Why a file is not used as it is.
#[derive(Debug)]
pub(crate) enum Unfit {
    /// It is a newer program's or someone else's.
    Foreign(String),
    /// The database says so.
    Sqlite(rusqlite::Error),
}

impl From<rusqlite::Error> for Unfit {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

/// Brings the file up to date and touches each kind of page once, so that damage shows now.
pub(crate) fn prepare(connection: &mut Connection) -> Result<(), Unfit> {
    let transaction =
        connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    let version: i64 = transaction.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    if version > VERSION {
        let reason = format!("it has schema {version}, this program knows {VERSION}");
        return Err(Unfit::Foreign(reason));
    }
    let tables: i64 =
        transaction.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if version <= 0 && tables > 0 {
        return Err(Unfit::Foreign("it is another program's database".to_owned()));
    }
    for step in &STEPS[version.max(0) as usize..] {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "user_version", VERSION)?;
    probe(&transaction)?;
    transaction.commit()?;
    Ok(())
}

/// The name of a full-text table.
pub(crate) fn shard_table(number: i64) -> String {
    format!("search_{number}")
}

/// A new full-text table for entries from `start` on.
pub(crate) fn add_shard(connection: &Connection, start: i64) -> rusqlite::Result<i64> {
    let number =
        connection
            .query_row("SELECT coalesce(max(number), 0) + 1 FROM shards", [], |row| row.get(0))?;
    connection.execute_batch(&format!(
        "CREATE VIRTUAL TABLE {} USING fts5(command, output, tags, content='',
         contentless_delete=1, tokenize='unicode61 remove_diacritics 0')",
        shard_table(number)
    ))?;
    connection.execute("INSERT INTO shards VALUES(?1, ?2, 0)", params![start, number])?;
    Ok(number)
}

fn probe(connection: &Connection) -> rusqlite::Result<()> {
    let newest = "SELECT (SELECT max(seq) FROM runs), (SELECT max(seq) FROM outputs),
                  (SELECT max(id) FROM runs), (SELECT entries FROM totals)";
    connection.query_row(newest, [], |_| Ok(()))?;
    let shard = "SELECT number FROM shards ORDER BY start DESC LIMIT 1";
    let number = connection.query_row(shard, [], |row| row.get::<_, i64>(0));
    let number = match number {
        Err(rusqlite::Error::QueryReturnedNoRows) => return Ok(()),
        number => number?,
    };
    let table = shard_table(number);
    let sql = format!("SELECT count(*) FROM (SELECT 1 FROM {table}('termbridge') LIMIT 1)");
    connection.query_row(&sql, [], |_| Ok(()))
}
