//! Rows to entries and back.

use rusqlite::{Connection, OptionalExtension, Row};

use crate::entry::{Entry, Run, State};
use crate::output::{Cut, Output};

/// The columns that [`run`] reads, in its order.
pub(crate) const RUN: &str = "id, session, command, state, exit_code, signal, cwd, project, agent, \
                              shell, started_ms, duration_ms, principal";
/// Columns of [`RUN`].
pub(crate) const RUN_COLUMNS: usize = 13;

/// A run from a row that begins with [`RUN`].
pub(crate) fn run(row: &Row<'_>) -> rusqlite::Result<Run> {
    Ok(Run {
        id: row.get(0)?,
        session: row.get(1)?,
        command: row.get(2)?,
        state: state(row.get(3)?),
        exit_code: row.get(4)?,
        signal: row.get(5)?,
        cwd: row.get(6)?,
        project: row.get(7)?,
        agent: row.get(8)?,
        shell: row.get(9)?,
        started_ms: row.get(10)?,
        duration_ms: row.get::<_, Option<i64>>(11)?.map(|duration| duration.max(0) as u64),
        principal: row.get(12)?,
    })
}

/// The number under which a state is stored; 0 is in the index `runs_running`.
pub(crate) fn state_number(state: State) -> i64 {
    match state {
        State::Running => 0,
        State::Done => 1,
        State::Lost => 2,
        State::Incomplete => 3,
    }
}

/// One entry by its id.
pub(crate) fn entry(connection: &Connection, id: &str) -> rusqlite::Result<Option<Entry>> {
    let sql = format!(
        "SELECT {RUN}, cut_at, cut_bytes, cut_lines, head, rest
         FROM runs LEFT JOIN outputs USING(seq) WHERE id = ?1"
    );
    let read = |row: &Row<'_>| {
        let at: Option<i64> = row.get(RUN_COLUMNS)?;
        let bytes: Option<i64> = row.get(RUN_COLUMNS + 1)?;
        let lines: Option<i64> = row.get(RUN_COLUMNS + 2)?;
        let head: Option<String> = row.get(RUN_COLUMNS + 3)?;
        let rest: Option<String> = row.get(RUN_COLUMNS + 4)?;
        let lines = lines.map(|lines| lines as u64);
        let cut = at.zip(bytes);
        let cut = cut.map(|(at, bytes)| Cut { at: at as usize, bytes: bytes as u64, lines });
        let text = head.unwrap_or_default() + rest.as_deref().unwrap_or_default();
        Ok(Entry { run: run(row)?, output: Output { text, cut } })
    };
    connection.query_row(&sql, [id], read).optional()
}

fn state(number: i64) -> State {
    match number {
        0 => State::Running,
        1 => State::Done,
        3 => State::Incomplete,
        _ => State::Lost,
    }
}
