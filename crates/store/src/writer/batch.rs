//! One transaction of entries.

use std::collections::HashMap;
use std::time::{SystemTime, UNIX_EPOCH};

use rusqlite::{
    Connection, OptionalExtension, Statement, Transaction, TransactionBehavior, params,
};

use crate::entry::{Entry, State};
use crate::limits::Limits;
use crate::row::state_number;
use crate::schema::{self, HEAD_BYTES, SLOTS};
use crate::tags;

/// Entries to be committed together, one per id.
#[derive(Debug, Default)]
pub(super) struct Batch {
    entries: Vec<Entry>,
    by_id: HashMap<String, usize>,
    bytes: usize,
}

impl Batch {
    /// Adds an entry, or replaces the one with its id.
    pub(super) fn add(&mut self, entry: Entry) {
        self.bytes += entry.bytes();
        match self.by_id.get(&entry.run.id) {
            Some(&index) => self.entries[index] = entry,
            None => {
                self.by_id.insert(entry.run.id.clone(), self.entries.len());
                self.entries.push(entry);
            }
        }
    }

    pub(super) fn entries(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Writes everything or nothing; where the last entry went.
    pub(super) fn commit(
        &self,
        connection: &mut Connection,
        limits: &Limits,
        server: &str,
        last_seq: i64,
        unfinished: &[String],
    ) -> rusqlite::Result<i64> {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut shards = Shards::load(&transaction, limits)?;
        let mut last_seq = last_seq;
        let mut statements = Statements::prepare(&transaction, server)?;
        for entry in &self.entries {
            let known = statements.known.query_row([&entry.run.id], |row| row.get(0)).optional()?;
            let seq = match known {
                Some(seq) => seq,
                None => statements.free_seq(entry.run.started_ms, last_seq)?,
            };
            last_seq = seq;
            let shard = shards.of(&transaction, seq, known.is_none())?;
            statements.write(entry, seq)?;
            statements.index(&transaction, entry, seq, shard)?;
        }
        drop(statements);
        let lost = "UPDATE runs SET state = ?1 WHERE id = ?2 AND state = 0";
        for id in unfinished {
            transaction.execute(lost, params![state_number(State::Lost), id])?;
        }
        shards.store(&transaction)?;
        transaction.commit()?;
        Ok(last_seq)
    }
}

const UPSERT: &str = "
INSERT INTO runs VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17,?18,?19)
ON CONFLICT(seq) DO UPDATE SET session=?3, command=?4, state=?5, exit_code=?6, signal=?7, cwd=?8,
  project=?9, agent=?10, shell=?11, started_ms=?12, duration_ms=?13, server=?14, bytes=?15,
  cut_at=?16, cut_bytes=?17, cut_lines=?18, principal=?19";

/// Prepared once per transaction.
struct Statements<'t> {
    server: &'t str,
    known: Statement<'t>,
    taken: Statement<'t>,
    upsert: Statement<'t>,
    clear: Statement<'t>,
    output: Statement<'t>,
    index: Option<(i64, Statement<'t>)>,
}

impl<'t> Statements<'t> {
    fn prepare(transaction: &'t Transaction<'_>, server: &'t str) -> rusqlite::Result<Self> {
        Ok(Self {
            server,
            known: transaction.prepare("SELECT seq FROM runs WHERE id = ?1")?,
            taken: transaction.prepare("SELECT seq FROM runs WHERE seq >= ?1 ORDER BY seq")?,
            upsert: transaction.prepare(UPSERT)?,
            clear: transaction.prepare("DELETE FROM outputs WHERE seq = ?1")?,
            output: transaction.prepare("INSERT OR REPLACE INTO outputs VALUES(?1, ?2, ?3)")?,
            index: None,
        })
    }

    /// The place in time: the first free slot at or after the start.
    fn free_seq(&mut self, started_ms: i64, last: i64) -> rusqlite::Result<i64> {
        // A clock that was ahead once must not put all that follows before its entries.
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let mut seq = started_ms.clamp(0, now.as_millis() as i64) * SLOTS;
        if (seq..seq + SLOTS).contains(&last) {
            seq = last + 1;
        }
        let mut rows = self.taken.query([seq])?;
        while let Some(row) = rows.next()? {
            if row.get::<_, i64>(0)? != seq {
                break;
            }
            seq += 1;
        }
        Ok(seq)
    }

    fn write(&mut self, entry: &Entry, seq: i64) -> rusqlite::Result<()> {
        let Entry { run, output } = entry;
        self.upsert.execute(params![
            seq,
            run.id,
            run.session,
            run.command,
            state_number(run.state),
            run.exit_code,
            run.signal,
            run.cwd,
            run.project,
            run.agent,
            run.shell,
            run.started_ms,
            run.duration_ms.map(|duration| duration as i64),
            (run.state == State::Running).then_some(self.server),
            entry.bytes() as i64,
            output.cut.map(|cut| cut.at as i64),
            output.cut.map(|cut| cut.bytes as i64),
            output.cut.and_then(|cut| cut.lines).map(|lines| lines as i64),
            run.principal.as_deref().filter(|principal| !principal.is_empty()),
        ])?;
        if output.text.is_empty() {
            self.clear.execute([seq])?;
            return Ok(());
        }
        let (head, rest) = output.text.split_at(output.text.floor_char_boundary(HEAD_BYTES));
        let rest = (!rest.is_empty()).then_some(rest);
        self.output.execute(params![seq, head, rest])?;
        Ok(())
    }

    fn index(
        &mut self,
        transaction: &'t Transaction<'_>,
        entry: &Entry,
        seq: i64,
        shard: i64,
    ) -> rusqlite::Result<()> {
        let values = params![seq, entry.run.command, entry.output.text, tags::of_run(&entry.run)];
        if let Some((number, statement)) = &mut self.index
            && *number == shard
        {
            return statement.execute(values).map(drop);
        }
        let mut statement = transaction.prepare(&format!(
            "INSERT OR REPLACE INTO {}(rowid, command, output, tags) VALUES(?1, ?2, ?3, ?4)",
            schema::shard_table(shard)
        ))?;
        statement.execute(values)?;
        self.index = Some((shard, statement));
        Ok(())
    }
}

/// The full-text tables, newest last.
struct Shards {
    list: Vec<Shard>,
    /// Entries of one table.
    size: i64,
}

struct Shard {
    start: i64,
    number: i64,
    added: i64,
    entries: i64,
}

impl Shards {
    fn load(transaction: &Transaction<'_>, limits: &Limits) -> rusqlite::Result<Self> {
        let shard = |row: &rusqlite::Row<'_>| {
            Ok(Shard { start: row.get(0)?, number: row.get(1)?, entries: row.get(2)?, added: 0 })
        };
        let list = transaction
            .prepare("SELECT start, number, entries FROM shards ORDER BY start")?
            .query_map([], shard)?
            .collect::<Result<_, _>>()?;
        Ok(Self { list, size: i64::try_from(limits.index_entries).unwrap_or(i64::MAX).max(1) })
    }

    /// The table for an entry; a new one when it is the newest and the last table is full.
    fn of(&mut self, transaction: &Transaction<'_>, seq: i64, new: bool) -> rusqlite::Result<i64> {
        let start = match self.list.last() {
            None => Some(i64::MIN),
            Some(last) if new && last.entries >= self.size => {
                let newest = transaction.query_row("SELECT max(seq) FROM runs", [], |row| {
                    row.get::<_, Option<i64>>(0)
                })?;
                newest.is_none_or(|newest| seq > newest).then_some(seq)
            }
            Some(_) => None,
        };
        if let Some(start) = start {
            let number = schema::add_shard(transaction, start)?;
            self.list.push(Shard { start, number, added: 0, entries: 0 });
        }
        let index = self.list.partition_point(|shard| shard.start <= seq).saturating_sub(1);
        let shard = &mut self.list[index];
        if new {
            shard.added += 1;
            shard.entries += 1;
        }
        Ok(shard.number)
    }

    fn store(&self, transaction: &Transaction<'_>) -> rusqlite::Result<()> {
        for shard in self.list.iter().filter(|shard| shard.added > 0) {
            let sql = "UPDATE shards SET entries = entries + ?1 WHERE start = ?2";
            transaction.execute(sql, params![shard.added, shard.start])?;
        }
        Ok(())
    }
}
