//! What is too old or too much goes, the oldest first, a step at a time.
//!
//! Rows are in the order of time, so a step looks at the first [`STEP`] rows and stops at the first
//! that may stay. A full-text table whose last entry went is dropped whole; in the others a deleted
//! entry leaves a tombstone until its segment is merged.

use std::time::{SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, Transaction, TransactionBehavior, params};

use crate::limits::Limits;
use crate::schema::{self, SLOTS};

/// Entries deleted in one transaction.
const STEP: i64 = 512;
/// Pages given back to the system in one step.
const VACUUM_PAGES: i64 = 512;
/// Pages of the index rewritten in one step, without what was deleted.
const MERGE_PAGES: i64 = 128;

/// Deletes a few entries if any must go, else gives free pages back; whether there is more to do.
pub(super) fn step(connection: &mut Connection, limits: &Limits) -> rusqlite::Result<bool> {
    let Some(last) = last_to_go(connection, limits)? else { return vacuum(connection) };
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let deleted = delete(&transaction, last)?;
    transaction.commit()?;
    Ok(deleted > 0)
}

/// A share of free pages is kept: the next entries fill them.
fn vacuum(connection: &Connection) -> rusqlite::Result<bool> {
    let number = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0));
    let free = number("PRAGMA freelist_count")?;
    if free < VACUUM_PAGES || free < number("PRAGMA page_count")? / 8 {
        return Ok(false);
    }
    let mut vacuum = connection.prepare(&format!("PRAGMA incremental_vacuum({VACUUM_PAGES})"))?;
    let mut pages = vacuum.query([])?;
    while pages.next()?.is_some() {}
    // Where nothing can be given back (a file from elsewhere), there is no use in trying again.
    Ok(number("PRAGMA freelist_count")? < free)
}

/// The newest of the oldest rows that must go.
fn last_to_go(connection: &Connection, limits: &Limits) -> rusqlite::Result<Option<i64>> {
    let totals = |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?));
    let (mut entries, mut bytes) =
        connection.query_row("SELECT entries, bytes FROM totals", [], totals)?;
    let max_entries = i64::try_from(limits.max_entries).unwrap_or(i64::MAX);
    let max_bytes = i64::try_from(limits.max_bytes).unwrap_or(i64::MAX);
    let oldest = oldest_allowed(limits);
    let mut statement = connection.prepare("SELECT seq, bytes FROM runs ORDER BY seq LIMIT ?1")?;
    let mut rows = statement.query([STEP])?;
    let mut last = None;
    while let Some(row) = rows.next()? {
        let seq: i64 = row.get(0)?;
        if seq >= oldest && entries <= max_entries && bytes <= max_bytes {
            break;
        }
        last = Some(seq);
        entries -= 1;
        bytes -= row.get::<_, i64>(1)?;
    }
    Ok(last)
}

fn oldest_allowed(limits: &Limits) -> i64 {
    if limits.max_age.is_zero() {
        return i64::MIN;
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    now.saturating_sub(limits.max_age).as_millis() as i64 * SLOTS
}

fn delete(transaction: &Transaction<'_>, last: i64) -> rusqlite::Result<usize> {
    let shards: Vec<(i64, i64)> = transaction
        .prepare("SELECT start, number FROM shards ORDER BY start")?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<Result<_, _>>()?;
    let mut deleted = 0;
    for (index, &(start, number)) in shards.iter().enumerate() {
        if start > last {
            break;
        }
        let next = shards.get(index + 1).map(|(start, _)| *start);
        let end = next.map_or(last, |next| last.min(next - 1));
        match next {
            Some(next) if last >= next - 1 || is_last_before(transaction, last, next)? => {
                drop_shard(transaction, number, next)?;
            }
            _ => thin_shard(transaction, number, end)?,
        }
        // What came before is gone by now, so there is no lower bound.
        deleted += transaction.execute("DELETE FROM runs WHERE seq <= ?1", [end])?;
    }
    Ok(deleted)
}

/// Entries older than the dropped table's may still come: they go to the `next` one.
fn drop_shard(transaction: &Transaction<'_>, number: i64, next: i64) -> rusqlite::Result<()> {
    transaction.execute_batch(&format!("DROP TABLE {}", schema::shard_table(number)))?;
    transaction.execute("DELETE FROM shards WHERE number = ?1", [number])?;
    transaction
        .execute("UPDATE shards SET start = ?1 WHERE start = ?2", params![i64::MIN, next])
        .map(drop)
}

fn thin_shard(transaction: &Transaction<'_>, number: i64, end: i64) -> rusqlite::Result<()> {
    let table = schema::shard_table(number);
    let sql = format!("DELETE FROM {table} WHERE rowid IN (SELECT seq FROM runs WHERE seq <= ?1)");
    let gone = transaction.execute(&sql, [end])?;
    let sql = format!("INSERT INTO {table}({table}, rank) VALUES('merge', ?1)");
    transaction.execute(&sql, [MERGE_PAGES])?;
    let sql = "UPDATE shards SET entries = max(0, entries - ?1) WHERE number = ?2";
    transaction.execute(sql, params![gone as i64, number]).map(drop)
}

/// No row stays between `last` and the table after it.
fn is_last_before(transaction: &Transaction<'_>, last: i64, next: i64) -> rusqlite::Result<bool> {
    let sql = "SELECT NOT EXISTS(SELECT 1 FROM runs WHERE seq > ?1 AND seq < ?2)";
    transaction.query_row(sql, params![last, next], |row| row.get(0))
}
