//! Cursors: every match once, whatever comes in between.

use std::collections::HashSet;

use termbridge_store::{Filter, History, Query, StoreError};

use crate::support::{Folder, entry, fill, ids};

const BASE: i64 = 1_700_000_000_000;

fn walk(history: &History, mut query: Query, mut between: impl FnMut(usize)) -> Vec<String> {
    let mut all = Vec::new();
    for page in 0.. {
        let answer = history.search(&query).unwrap();
        all.extend(ids(&answer).into_iter().map(str::to_owned));
        query.cursor = answer.cursor;
        if query.cursor.is_none() {
            break;
        }
        assert_eq!(answer.hits.len(), query.limit.min(answer.hits.len()));
        between(page);
    }
    all
}

fn many(count: i64) -> Vec<termbridge_store::Entry> {
    let make = |number: i64| {
        let output = "common ".repeat((number % 7 + 1) as usize);
        let mut entry = entry(&format!("c{number}"), "run it", &output, BASE + number * 10);
        entry.run.exit_code = Some((number % 2) as i32);
        entry
    };
    (0..count).map(make).collect()
}

#[test]
fn every_match_comes_once_while_others_come_in() {
    let folder = Folder::new();
    let history = folder.open();
    fill(&history, many(2500));
    for (text, failed, wanted) in
        [("", false, 2500), ("", true, 1250), ("common", false, 2500), ("comm", true, 1250)]
    {
        let filter = Filter { failed, ..Filter::default() };
        let query = Query { filter, limit: 173, ..Query::new(text) };
        let before: HashSet<_> = walk(&history, query.clone(), |_| {}).into_iter().collect();
        assert_eq!(before.len(), wanted, "{text:?} {failed}");
        let all = walk(&history, query, |page| {
            // Newer than everything, and it would rank first.
            let id = format!("new {text} {failed} {page}");
            let newer = entry(&id, "common common", "common", BASE + 1_000_000 + page as i64);
            fill(&history, [newer.exit_code(1)]);
        });
        let set: HashSet<_> = all.iter().cloned().collect();
        assert_eq!(set.len(), all.len(), "no entry twice: {text:?}");
        assert!(set == before, "the same entries: {text:?}");
        remove_new(&folder);
    }
}

/// Takes the entries of one case out, so that the next counts the same.
fn remove_new(folder: &Folder) {
    let raw = rusqlite::Connection::open(folder.path()).unwrap();
    raw.execute(
        "DELETE FROM search_1 WHERE rowid IN (SELECT seq FROM runs WHERE id LIKE 'new%')",
        [],
    )
    .unwrap();
    raw.execute("DELETE FROM runs WHERE id LIKE 'new%'", []).unwrap();
}

#[test]
fn a_block_of_matches_says_that_there_are_more() {
    let folder = Folder::new();
    let history = folder.open();
    fill(&history, many(1000));
    let page = history.search(&Query::new("common")).unwrap();
    assert!(!page.approximate && page.cursor.is_some());
    fill(&history, [entry("one more", "x", "common", BASE - 1)]);
    assert!(history.search(&Query::new("common")).unwrap().approximate);
    let all = walk(&history, Query { limit: 200, ..Query::new("common") }, |_| {});
    assert_eq!(all.len(), 1001);
    assert_eq!(all[1000], "one more", "older than the block that is ranked");
}

#[test]
fn a_cursor_belongs_to_its_query() {
    let folder = Folder::new();
    let history = folder.open();
    fill(&history, many(50));
    let cursor = history.search(&Query::new("common")).unwrap().cursor;
    assert!(cursor.is_some());
    let refused = |query: Query| {
        let error = history.search(&query).unwrap_err();
        assert!(matches!(error, StoreError::BadCursor), "{error}");
    };
    refused(Query { cursor: cursor.clone(), ..Query::new("other") });
    let filter = Filter { failed: true, ..Filter::default() };
    refused(Query { cursor: cursor.clone(), filter, ..Query::new("common") });
    for text in ["", "x", "1.2", "1.2.3", "-", "ffffffffffffffffffff.1", "é.é"] {
        refused(Query { cursor: Some(text.to_owned()), ..Query::new("common") });
    }
    let wider = Query { cursor, limit: 200, ..Query::new("common") };
    assert_eq!(history.search(&wider).unwrap().hits.len(), 30, "the limit may change");
}
