//! The queue and retention.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rusqlite::Connection;
use termbridge_store::{Entry, History, Limits, Query, Recorded, State};

use crate::support::{Folder, entry, fill, found, limits};

/// What the writer takes from the queue, at most, before it needs the file that another holds.
const FIRST_BATCH: usize = 1024;
const QUEUE: usize = 4;
/// Commands that run: more than a blocked writer can take the ends of.
const LONG: usize = FIRST_BATCH + QUEUE + 20;

/// A writer that waits for the file as long as the test holds it.
fn blocked() -> Limits {
    Limits { busy_timeout: Duration::from_mins(1), ..limits() }
}

#[test]
fn a_full_queue_drops_and_counts() {
    let folder = Folder::new();
    let history = folder.open_with(Limits { queue_entries: QUEUE, ..blocked() }).history;
    let long = |number: usize| Entry::new(format!("long{number}"), "s1", "sleep 9");
    for start in (0..LONG).step_by(QUEUE) {
        fill(&history, (start..LONG.min(start + QUEUE)).map(long));
    }
    let holder = Connection::open(folder.path()).unwrap();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    let is_dropped = |entry: Entry| history.record(entry) == Recorded::Dropped;
    let fresh = (0..5000).map(|number| entry(&format!("c{number}"), "x", "", number));
    let dropped = fresh.filter(|entry| is_dropped(entry.clone())).count();
    assert!(dropped >= 5000 - FIRST_BATCH - QUEUE, "{dropped}");
    let lost: Vec<usize> =
        (0..LONG).filter(|number| is_dropped(long(*number).exit_code(0))).collect();
    assert!(lost.len() >= 20, "{}", lost.len());
    let dropped = (dropped + lost.len()) as u64;
    assert_eq!(history.health().dropped, dropped);
    let sleeping = history.search(&Query::new("sleep")).unwrap();
    assert!(!sleeping.hits.is_empty(), "reading goes on");
    holder.execute_batch("COMMIT").unwrap();
    history.flush().unwrap();
    let health = history.health();
    assert_eq!((health.failed, health.last_error), (0, None));
    assert_eq!(health.written, (5000 + 2 * LONG) as u64 - dropped);
    for number in lost {
        let long = history.get(&format!("long{number}")).unwrap().unwrap();
        assert_eq!(long.run.state, State::Lost, "its end was dropped, so it does not run for ever");
    }
}

#[test]
fn bytes_in_the_queue_are_bounded() {
    let folder = Folder::new();
    let history = folder.open_with(Limits { queue_bytes: 10_000, ..blocked() }).history;
    let holder = Connection::open(folder.path()).unwrap();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    let big = "word ".repeat(800);
    let fresh = (0..3000).map(|number| entry(&format!("c{number}"), "x", &big, number));
    let dropped = fresh.filter(|entry| history.record(entry.clone()) == Recorded::Dropped).count();
    assert!(dropped >= 3000 - FIRST_BATCH - 2, "two of these fill the queue: {dropped}");
    holder.execute_batch("COMMIT").unwrap();
    history.flush().unwrap();
    assert_eq!(history.record(entry("after", "x", &big, 9)), Recorded::Queued, "room again");
}

#[test]
fn a_writer_that_never_gets_through_counts_what_failed() {
    let folder = Folder::new();
    let quick = Limits { busy_timeout: Duration::from_millis(20), ..limits() };
    let history = folder.open_with(quick).history;
    let holder = Connection::open(folder.path()).unwrap();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    history.record(entry("c1", "x", "", 0));
    history.flush().unwrap();
    let health = history.health();
    assert_eq!((health.failed, health.written), (1, 0));
    assert!(health.last_error.unwrap().contains("locked"));
}

fn count(history: &History) -> usize {
    history.stats(&termbridge_store::StatsQuery::default()).unwrap().runs as usize
}

#[test]
fn the_oldest_entries_beyond_the_count_go() {
    let folder = Folder::new();
    let history = folder.open_with(Limits { max_entries: 100, ..limits() }).history;
    fill(&history, (0..3000).map(|n| entry(&format!("c{n}"), "echo", "common words", n)));
    assert_eq!(count(&history), 100);
    assert_eq!(found(&history, "common").len(), 20);
    assert!(history.get("c2899").unwrap().is_none() && history.get("c2900").unwrap().is_some());
    let raw = Connection::open(folder.path()).unwrap();
    let sql = "SELECT (SELECT count(*) FROM outputs), (SELECT count(*) FROM search_1('common')),
               (SELECT entries FROM shards)";
    let rest = raw.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
    assert_eq!(rest, (100, 100, 100), "nothing is left behind");
}

#[test]
fn old_entries_go() {
    let folder = Folder::new();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as i64;
    let history = folder.open_with(Limits { max_age: Duration::from_hours(1), ..limits() }).history;
    let at = |minutes: i64| entry(&format!("{minutes}"), "echo", "", now - minutes * 60_000);
    fill(&history, [at(59), at(61), at(600), at(1)]);
    assert_eq!(found(&history, ""), ["1", "59"]);
}

#[test]
fn bytes_are_bounded_and_the_file_shrinks() {
    let folder = Folder::new();
    let words = "a few words of output ".repeat(100);
    let entries = |from: i64| {
        let words = words.clone();
        (from..from + 2000).map(move |n| entry(&format!("c{n}"), "echo", &words, n))
    };
    let history = folder.open();
    fill(&history, entries(0));
    drop(history);
    let before = std::fs::metadata(folder.path()).unwrap().len();
    let history = folder.open_with(Limits { max_bytes: 220_000, ..limits() }).history;
    history.flush().unwrap();
    let left = count(&history);
    assert!((90..=100).contains(&left), "{left}");
    drop(history);
    let after = std::fs::metadata(folder.path()).unwrap().len();
    assert!(after < before / 2, "{before} -> {after}");
    let history = folder.open_with(Limits { max_bytes: 220_000, ..limits() }).history;
    fill(&history, entries(5000));
    assert!((90..=100).contains(&count(&history)));
    assert_eq!(found(&history, "few")[0], "c6999");
}

/// More than one full-text table: searched as one, dropped one by one.
#[test]
fn a_history_of_several_tables_is_one() {
    let folder = Folder::new();
    let history = folder.open_with(Limits { index_entries: 5_000, ..limits() }).history;
    let make = |n: i64| {
        let word = if n % 2_000 == 7 { "needle" } else { "hay" };
        entry(&format!("c{n}"), word, "", 1_000_000 + n * 3)
    };
    for thousand in 0..12 {
        fill(&history, (thousand * 1000..(thousand + 1) * 1000).map(make));
    }
    let tables = || {
        let raw = Connection::open(folder.path()).unwrap();
        raw.query_row("SELECT count(*) FROM shards", [], |row| row.get::<_, i64>(0)).unwrap()
    };
    assert_eq!(tables(), 3);
    let wanted = ["c10007", "c8007", "c6007", "c4007", "c2007", "c7"];
    assert_eq!(found(&history, "needle"), wanted);
    let since_ms = Some(1_000_000 + 2_008 * 3);
    let until_ms = Some(1_000_000 + 8_007 * 3);
    let filter = termbridge_store::Filter { since_ms, until_ms, ..Default::default() };
    assert_eq!(crate::support::filtered(&history, "needle", filter), wanted[1..4]);
    drop(history);
    let history = folder.open_with(Limits { max_entries: 3_000, ..limits() }).history;
    history.flush().unwrap();
    assert_eq!((tables(), count(&history)), (2, 3_000));
    assert_eq!(found(&history, "needle"), ["c10007"]);
    fill(&history, [entry("late", "needle", "", 5)]);
    assert_eq!(found(&history, "needle"), ["c10007"], "the oldest goes at once");
}
