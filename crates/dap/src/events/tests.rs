use serde_json::{Value, json};

use super::*;

fn label(id: &str) -> SessionLabel {
    SessionLabel { id: id.to_owned(), name: "app".to_owned(), adapter: "debugpy".to_owned() }
}

fn store() -> EventStore {
    EventStore::new(EventLimits::default(), None)
}

fn output(store: &EventStore, session: &str, category: &str, text: &str) {
    store.record(session, "output", json!({"category": category, "output": text}));
}

fn texts(lines: &[LogLine]) -> Vec<&str> {
    lines.iter().map(|line| line.text.as_str()).collect()
}

#[test]
fn pieces_of_output_become_lines() {
    let store = store();
    store.begin(label("a"));
    output(&store, "a", "stdout", "one");
    output(&store, "a", "stderr", "oops\n");
    output(&store, "a", "stdout", " and more\ntwo\r\n");
    output(&store, "a", "telemetry", "secret\n");
    output(&store, "a", "stdout", "no end");
    let all = store.logs(&LogQuery::default()).unwrap();
    assert_eq!(texts(&all.lines), ["oops", "one and more", "two", "no end"]);
    let query = LogQuery { count: 1, category: Some("stdout".to_owned()), ..LogQuery::default() };
    let last = store.logs(&query).unwrap();
    assert_eq!((texts(&last.lines), last.total), (vec!["no end"], 3));
    let query = LogQuery { since: Some(all.lines[0].time), reverse: true, ..LogQuery::default() };
    let reversed = ["no end", "two", "one and more", "oops"];
    assert_eq!(texts(&store.logs(&query).unwrap().lines), reversed);
    let query = LogQuery { since: Some(u64::MAX), ..LogQuery::default() };
    assert_eq!(store.logs(&query).unwrap().lines, []);
    let query = LogQuery { search: Some("OOPS".to_owned()), ..LogQuery::default() };
    assert_eq!(texts(&store.logs(&query).unwrap().lines), ["oops"]);
}

#[test]
fn a_search_shows_what_is_around() {
    let store = store();
    store.begin(label("a"));
    output(&store, "a", "stdout", "1\n2\nError: x\n4\n5\nerror: y\n");
    let query = SearchQuery {
        pattern: "^error".to_owned(),
        context_lines: 1,
        limit: 1,
        ..SearchQuery::default()
    };
    let found = store.search(&query).unwrap();
    assert_eq!((found.hits.len(), found.total), (1, 2));
    let hit = &found.hits[0];
    assert_eq!((texts(&hit.before), hit.line.text.as_str()), (vec!["2"], "Error: x"));
    assert_eq!(texts(&hit.after), ["4"]);
    let exact = SearchQuery { case_sensitive: true, limit: 0, ..query.clone() };
    assert_eq!(store.search(&exact).unwrap().total, 1);
    let bad = SearchQuery { pattern: "(".to_owned(), ..query };
    assert_eq!(store.search(&bad).unwrap_err().code(), "E_INVALID_PARAMS");
}

fn crash(store: &EventStore, session: &str, message: &str) {
    output(store, session, "stdout", "before\n");
    let stopped = json!({"reason": "exception", "threadId": 7, "text": "ValueError"});
    store.record(session, "stopped", stopped);
    let details = json!({"stackTrace": "at line 3"});
    let info = json!({"exceptionId": "ValueError", "description": message, "details": details});
    store.record(session, "exceptionInfo", info);
    let place = json!({"source": {"path": "/app.py"}, "line": 3, "function": "main"});
    store.record(session, "stopLocation", place);
}

#[test]
fn exceptions_carry_what_was_learnt_of_them() {
    let store = store();
    store.begin(label("a"));
    crash(&store, "a", "planted");
    store.record("a", "stopped", json!({"reason": "step"}));
    let other = json!({"source": {"path": "/other.py"}, "line": 9});
    store.record("a", "stopLocation", other);
    let query = ExceptionQuery { context_lines: 5, ..ExceptionQuery::default() };
    let found = store.exceptions(&query).unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].id.as_deref(), Some("ValueError"));
    assert_eq!(found[0].message.as_deref(), Some("planted"));
    assert_eq!(found[0].stack.as_deref(), Some("at line 3"));
    assert_eq!(found[0].location, Some(("/app.py".to_owned(), 3)));
    assert_eq!((found[0].thread, texts(&found[0].context)), (Some(7), vec!["before"]));
}

#[test]
fn filters_are_all_to_be_passed() {
    let store = store();
    store.begin(label("a"));
    crash(&store, "a", "planted");
    output(&store, "a", "stderr", "after\n");
    let run = |filter: EventFilter| -> Vec<u64> {
        store.filter(None, &filter).unwrap().0.iter().map(|record| record.seq).collect()
    };
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    assert_eq!(run(EventFilter::default()), [1, 2, 3, 4, 5]);
    assert_eq!(run(EventFilter { events: names(&["output"]), ..EventFilter::default() }), [1, 5]);
    let filter = EventFilter { categories: names(&["stderr"]), ..EventFilter::default() };
    assert_eq!(run(filter), [5]);
    assert_eq!(run(EventFilter { thread: Some(7), ..EventFilter::default() }), [2]);
    assert_eq!(run(EventFilter { thread: Some(8), ..EventFilter::default() }), [0; 0]);
    let filter = EventFilter { text: Some("PLANT".to_owned()), ..EventFilter::default() };
    assert_eq!(run(filter), [3]);
    let filter = EventFilter { after: Some(1), before: Some(4), ..EventFilter::default() };
    assert_eq!(run(filter), [2, 3]);
    assert_eq!(run(EventFilter { limit: 2, ..EventFilter::default() }), [4, 5]);
    let reason = EventFilter { reasons: names(&["exception"]), ..EventFilter::default() };
    assert_eq!(run(reason), [2]);
}

#[test]
fn stats_count_by_what_is_asked() {
    let store = store();
    store.begin(label("a"));
    crash(&store, "a", "planted");
    output(&store, "a", "stdout", "after\n");
    let stats = store.stats(None, GroupBy::Category).unwrap();
    assert_eq!((stats.rows[0].key.as_str(), stats.rows[0].count), ("stdout", 2));
    assert_eq!(stats.rows[0].bytes, 13);
    assert_eq!(stats.rows[0].bar.chars().count(), 20);
    assert_eq!(stats.rows[1].bar.chars().count(), 10);
    assert_eq!(stats.total, 5);
    let threads = store.stats(None, GroupBy::Thread).unwrap();
    assert_eq!((threads.rows.len(), threads.rows[0].key.as_str()), (1, "7"));
    assert_eq!(store.stats(None, GroupBy::Second).unwrap().rows[0].key, "0 s");
}

#[test]
fn a_summary_says_how_it_went() {
    let store = store();
    store.begin(label("a"));
    crash(&store, "a", "planted");
    store.record("a", "ended", json!({"how": "exit code 1"}));
    let summary = store.summary(Some("a")).unwrap();
    assert_eq!(summary.ended.as_deref(), Some("exit code 1"));
    assert_eq!(summary.stops.get("exception"), Some(&1));
    assert_eq!(summary.places, [("/app.py".to_owned(), 3, 1)]);
    assert_eq!(summary.exceptions.get("ValueError"), Some(&1));
    assert_eq!(texts(&summary.last_lines), ["before"]);
}

#[test]
fn a_timeline_joins_what_belongs_together() {
    let store = store();
    store.begin(label("a"));
    for _ in 0..3 {
        output(&store, "a", "stdout", "x\n");
    }
    store.record("a", "loadedSource", Value::Null);
    store.record("a", "stopped", json!({"reason": "step"}));
    let run = |query: TimelineQuery| store.timeline(&query).unwrap();
    let (all, total) = run(TimelineQuery::default());
    assert_eq!((all.len(), total), (4, 4), "sources that are loaded are left out");
    let (joined, _) = run(TimelineQuery { granularity: Granularity::Runs, ..Default::default() });
    assert_eq!((joined.len(), joined[0].count, joined[1].text.as_str()), (2, 3, "step"));
    let query = TimelineQuery { events: vec!["loadedSource".to_owned()], ..Default::default() };
    assert_eq!(run(query).1, 1);
    let (last, total) = run(TimelineQuery { limit: 1, from_end: true, ..Default::default() });
    assert_eq!((last[0].event.as_str(), total), ("stopped", 4));
}

#[test]
fn two_runs_side_by_side() {
    let store = store();
    for (id, text, message) in [("a", "1\nsame\n3\n", "x"), ("b", "2\nsame\n3\nmore\n", "y")] {
        store.begin(label(id));
        crash(&store, id, message);
        output(&store, id, "stdout", text);
    }
    let outputs = store.compare("a", "b", CompareBy::Outputs).unwrap();
    let rows: Vec<_> =
        outputs.rows.iter().map(|row| (row.a.as_deref(), row.b.as_deref())).collect();
    assert_eq!(rows, [(Some("1"), Some("2")), (None, Some("more"))]);
    assert_eq!(outputs.differences, 2);
    let counts = store.compare("a", "b", CompareBy::Counts).unwrap();
    assert_eq!((counts.differences, counts.rows.is_empty()), (0, false));
    assert_eq!(store.compare("a", "b", CompareBy::Exceptions).unwrap().differences, 0);
    assert!(store.compare("a", "b", CompareBy::Timeline).unwrap().rows.is_empty());
    let unknown = store.compare("a", "c", CompareBy::Counts).unwrap_err();
    assert_eq!(unknown.code(), "E_NO_SESSION");
    assert_eq!(unknown.to_string(), "no debug session or run c; there are: a, b");
}

#[test]
fn memory_is_bounded_and_what_is_dropped_is_counted() {
    let limits = EventLimits { records: 10, record_bytes: 8, ..EventLimits::default() };
    let store = EventStore::new(limits, None);
    store.begin(label("a"));
    for number in 0..25 {
        output(&store, "a", "stdout", &format!("line {number:02} is long\n"));
    }
    let logs = store.logs(&LogQuery::default()).unwrap();
    assert_eq!((store.records(None).unwrap().len(), logs.dropped), (10, 15));
    assert!(logs.lines[0].text.starts_with("line 15 … (8 bytes more)"), "{}", logs.lines[0].text);
    assert_eq!(store.record("unknown", "output", Value::Null), 0);
    let limits = EventLimits { bytes: 3000, ..EventLimits::default() };
    let store = EventStore::new(limits, None);
    store.begin(label("a"));
    for _ in 0..10 {
        output(&store, "a", "stdout", &"x".repeat(1000));
    }
    assert_eq!(store.tracker().sessions[0].dropped, 8);
    for _ in 0..10 {
        store.record("a", "module", json!({"name": "x".repeat(2500)}));
    }
    assert_eq!(store.records(None).unwrap().len(), 1, "other events are counted by their size too");
}

#[test]
fn finished_sessions_are_on_disk_and_survive_the_store() {
    let folder = tempfile::tempdir().unwrap();
    let limits = EventLimits { finished: 2, ..EventLimits::default() };
    let open = || EventStore::new(limits.clone(), Some(folder.path().to_owned()));
    let store = open();
    for id in ["a", "b", "c"] {
        store.begin(label(id));
        output(&store, id, "stdout", &format!("of {id}\n"));
        store.finish(id);
        // The order of files is that of their times.
        let file = std::fs::File::open(folder.path().join(format!("{id}.ndjson"))).unwrap();
        let age = std::time::Duration::from_secs(u64::from(b'z' - id.as_bytes()[0]));
        file.set_modified(std::time::SystemTime::now() - age).unwrap();
    }
    assert_eq!(store.logs(&LogQuery::default()).unwrap().lines[0].text, "of c", "the latest");
    let store = open();
    let latest = store.logs(&LogQuery::default());
    assert_eq!(
        latest.unwrap_err().code(),
        "E_NO_SESSION",
        "those of another run are asked for by name"
    );
    let ids: Vec<_> = store.tracker().sessions.iter().map(|one| one.label.id.clone()).collect();
    assert_eq!(ids, ["c", "b"], "the oldest made room");
    assert!(store.records(Some("../c")).is_err());
    store.rename("c", "c-1");
    assert_eq!(store.summary(Some("c-1")).unwrap().label.id, "c-1");
    assert!(store.records(Some("c")).is_err());
    // A torn line costs that line.
    let path = folder.path().join("b.ndjson");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, format!("{text}{{\"seq\": 2, \"ti")).unwrap();
    assert_eq!(store.records(Some("b")).unwrap().len(), 1);
}

#[test]
fn files_go_when_they_are_too_old() {
    let folder = tempfile::tempdir().unwrap();
    let open = || EventStore::new(EventLimits::default(), Some(folder.path().to_owned()));
    let store = open();
    for id in ["old", "new"] {
        store.begin(label(id));
        store.finish(id);
    }
    let made_old = |name: &str| {
        let file = std::fs::File::create(folder.path().join(name)).unwrap();
        let age = EventLimits::default().finished_age + std::time::Duration::from_mins(1);
        file.set_modified(std::time::SystemTime::now() - age).unwrap();
    };
    made_old("old.ndjson");
    made_old("given-up.part");
    std::fs::write(folder.path().join("being-written.part"), "").unwrap();
    open();
    let names = folder.path().read_dir().unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["being-written.part", "new.ndjson"]);
}

#[test]
fn finished_sessions_in_memory_are_bounded_by_their_size() {
    let limits = EventLimits { finished_bytes: 3000, ..EventLimits::default() };
    let store = EventStore::new(limits, None);
    for id in ["a", "b", "c"] {
        store.begin(label(id));
        output(&store, id, "stdout", &"x".repeat(1200));
        store.finish(id);
    }
    let ids: Vec<_> = store.tracker().sessions.into_iter().map(|one| one.label.id).collect();
    assert_eq!(ids, ["c", "b"]);
}

#[test]
fn without_a_folder_finished_sessions_stay_in_memory() {
    let limits = EventLimits { finished: 1, ..EventLimits::default() };
    let store = EventStore::new(limits, None);
    for id in ["a", "b"] {
        store.begin(label(id));
        output(&store, id, "stdout", "x\n");
        store.finish(id);
    }
    assert!(store.records(Some("a")).is_err());
    assert_eq!(store.records(Some("b")).unwrap().len(), 1);
    assert!(!store.tracker().sessions[0].live);
}
