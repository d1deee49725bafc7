//! What goes in comes out.

use termbridge_store::{Cut, Entry, Limits, Output, State, StatsQuery, Storage};

use crate::support::{Folder, entry, fill, found, limits};

#[test]
fn an_entry_comes_back_whole() {
    let folder = Folder::new();
    let mut wanted =
        entry("c1", "cargo test -p store", "ünïcode 日本語\nline two\n", 1_700_000_000_123);
    wanted.run.exit_code = Some(101);
    wanted.run.signal = Some("TERM".to_owned());
    wanted.run.project = Some("/home/me/project".to_owned());
    wanted.run.agent = Some("claude".to_owned());
    wanted.run.principal = Some("ada".to_owned());
    wanted.run.shell = Some("bash".to_owned());
    let history = folder.open();
    fill(&history, [wanted.clone()]);
    assert_eq!(history.get("c1").unwrap(), Some(wanted.clone()));
    assert_eq!(history.get("c2").unwrap(), None);
    assert_eq!(history.health().storage, Storage::File(folder.path()));
    drop(history);
    let history = folder.open();
    assert_eq!(history.get("c1").unwrap(), Some(wanted), "after a restart");
    assert_eq!(history.health().failed, 0);
}

#[test]
fn dropping_the_history_writes_what_is_queued() {
    let folder = Folder::new();
    let history = folder.open();
    for number in 0..100 {
        history.record(entry(&format!("c{number}"), "true", "", number));
    }
    found(&history, "true");
    drop(history);
    assert_eq!(folder.names("history.db-"), Vec::<String>::new(), "the WAL is cleaned up");
    assert!(folder.open().get("c99").unwrap().is_some());
}

#[test]
fn a_start_is_replaced_by_its_end() {
    let folder = Folder::new();
    let history = folder.open();
    let start = Entry::new("c1", "s1", "sleep 100");
    fill(&history, [start.clone()]);
    assert_eq!(history.get("c1").unwrap().unwrap().run.state, State::Running);
    assert_eq!(found(&history, "sleep"), ["c1"], "what runs can be found");
    assert_eq!(found(&history, "awake"), [""; 0]);
    fill(&history, [start.clone().output("awake").exit_code(3)]);
    let end = history.get("c1").unwrap().unwrap();
    assert_eq!((end.run.state, end.run.exit_code), (State::Done, Some(3)));
    assert_eq!(found(&history, "awake"), ["c1"]);
    assert_eq!(found(&history, "sleep"), ["c1"], "once");
    fill(&history, [start.exit_code(0)]);
    assert_eq!(found(&history, "awake"), [""; 0], "the index follows");
}

#[test]
fn a_long_output_keeps_head_and_tail() {
    let folder = Folder::new();
    let history = folder.open_with(Limits { max_output_bytes: 1000, ..limits() }).history;
    let output = format!("first {}\nmiddle\n{} last", "é".repeat(2000), "é".repeat(2000));
    let length = output.len();
    fill(&history, [entry("c1", "noisy", &output, 1), entry("c2", &"word ".repeat(1000), "", 2)]);
    let Output { text, cut } = history.get("c1").unwrap().unwrap().output;
    assert!(text.starts_with("first é") && text.ends_with("é last"), "{text}");
    assert!((995..=1000).contains(&text.len()), "{}", text.len());
    let Some(Cut { at, bytes, lines }) = cut else { panic!("no cut") };
    assert_eq!((bytes as usize, lines), (length - text.len(), Some(2)));
    assert!(text.is_char_boundary(at) && (495..=500).contains(&at), "{at}");
    assert_eq!(found(&history, "last"), ["c1"]);
    assert_eq!(found(&history, "middle"), [""; 0]);
    let shown = Output { text, cut }.display();
    assert!(shown.contains(&format!("[… {bytes} bytes cut …]")), "{shown}");
    let command = history.get("c2").unwrap().unwrap().run.command;
    assert!(command.len() < 1100 && command.contains("bytes cut"), "{command}");
}

#[test]
fn many_in_one_millisecond_keep_their_order() {
    let folder = Folder::new();
    let history = folder.open();
    fill(&history, (0..1000).map(|number| entry(&format!("c{number}"), "same", "", 5)));
    assert_eq!(found(&history, "")[..3], ["c999", "c998", "c997"]);
}

#[test]
fn stats_count_commands_projects_and_agents() {
    let folder = Folder::new();
    let history = folder.open();
    let mut entries = Vec::new();
    for number in 0..10 {
        let command = ["make", "make", "make", "ls", "slow"][number % 5];
        let mut entry = entry(&format!("c{number}"), command, "", number as i64 * 1000);
        entry.run.exit_code = Some(i32::from(number < 2));
        entry.run.duration_ms = Some(if command == "slow" { 9000 } else { 10 });
        entry.run.project = Some(["a", "b"][number % 2].to_owned());
        entry.run.agent = (number > 3).then(|| "claude".to_owned());
        entries.push(entry);
    }
    fill(&history, entries);
    let stats = history.stats(&StatsQuery::default()).unwrap();
    assert_eq!((stats.runs, stats.failed), (10, 2));
    assert_eq!((stats.most_run[0].command.as_str(), stats.most_run[0].runs), ("make", 6));
    assert_eq!((stats.slowest[0].command.as_str(), stats.slowest[0].max_ms), ("slow", 9000));
    assert_eq!(stats.most_failing.len(), 1);
    assert_eq!((stats.most_failing[0].command.as_str(), stats.most_failing[0].failed), ("make", 2));
    assert_eq!(stats.projects.len(), 2);
    assert_eq!((stats.agents[0].label.as_deref(), stats.agents[0].runs), (Some("claude"), 6));
    assert_eq!((stats.agents[1].label.as_deref(), stats.agents[1].runs), (None, 4));
    let query = StatsQuery {
        project: Some("a".to_owned()),
        since_ms: Some(2000),
        until_ms: Some(6000),
        limit: 1,
        ..StatsQuery::default()
    };
    let stats = history.stats(&query).unwrap();
    assert_eq!((stats.runs, stats.most_run.len()), (3, 1));
    let empty = StatsQuery { agent: Some("nobody".to_owned()), ..StatsQuery::default() };
    assert_eq!(history.stats(&empty).unwrap().runs, 0);
    assert!(history.stats(&StatsQuery { limit: 0, ..StatsQuery::default() }).is_err());
}
