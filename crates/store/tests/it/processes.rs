//! Several servers on one file, and servers that die.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use rusqlite::Connection;
use termbridge_store::{Entry, History, Query, State, StatsQuery, Storage};

use crate::support::{Folder, entry, fill, found, limits};

const PATH: &str = "STORE_TEST_PATH";
const NAME: &str = "STORE_TEST_NAME";
const COUNT: &str = "STORE_TEST_COUNT";

/// Not a test of its own: the process that others start and kill.
#[test]
fn child() {
    let Ok(path) = std::env::var(PATH) else { return };
    let name = std::env::var(NAME).unwrap();
    let count: u64 = std::env::var(COUNT).unwrap().parse().unwrap();
    let opened = History::open(&PathBuf::from(path), limits()).unwrap();
    assert_eq!(opened.warnings, []);
    let history = opened.history;
    fill(&history, [Entry::new(format!("{name} running"), name.clone(), "sleep 1000")]);
    for number in 0..count {
        let id = format!("{name} {number}");
        fill(&history, [Entry::new(id, name.clone(), "echo child").output("words").exit_code(0)]);
        println!("committed {number}");
    }
    assert_eq!(history.health().failed, 0);
}

fn start(folder: &Folder, name: &str, count: u64) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "processes::child", "--nocapture"])
        .env(PATH, folder.path())
        .env(NAME, name)
        .env(COUNT, count.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// The number of the last commit that the child told of, once it told of `until`.
fn committed(child: &mut Child, until: u64) -> u64 {
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    for line in lines {
        let line = line.unwrap();
        let number = line.split_once("committed ").and_then(|(_, number)| number.parse().ok());
        if let Some(number) = number.filter(|number| *number >= until) {
            return number;
        }
    }
    panic!("the child ended early");
}

#[test]
fn a_killed_server_loses_nothing_that_was_committed() {
    let folder = Folder::new();
    for round in 0..5 {
        let name = format!("round {round}");
        let mut child = start(&folder, &name, u64::MAX);
        let last = committed(&mut child, 20 + round * 7);
        child.kill().unwrap();
        child.wait().unwrap();
        let history = folder.open();
        for number in 0..=last {
            let entry = history.get(&format!("{name} {number}")).unwrap();
            assert_eq!(entry.map(|entry| entry.run.state), Some(State::Done), "{name} {number}");
        }
        let running = history.get(&format!("{name} running")).unwrap().unwrap();
        assert_eq!(running.run.state, State::Lost, "it is not known how it went on");
        fill(&history, [entry(&format!("after {round}"), "usable", "", round as i64)]);
        assert_eq!(found(&history, "usable").len() as u64, round + 1);
        drop(history);
        let check: String = Connection::open(folder.path())
            .unwrap()
            .query_row("PRAGMA integrity_check", [], |row| row.get(0))
            .unwrap();
        assert_eq!(check, "ok");
    }
}

#[test]
fn servers_write_and_read_at_once() {
    let folder = Folder::new();
    let history = folder.open();
    let mut children: Vec<_> = (0..3).map(|n| start(&folder, &format!("child {n}"), 100)).collect();
    for number in 0..100 {
        fill(&history, [entry(&format!("own {number}"), "echo own", "words", number)]);
        history.search(&Query::new("words")).unwrap();
    }
    for child in &mut children {
        assert!(child.wait().unwrap().success());
    }
    let stats = history.stats(&StatsQuery::default()).unwrap();
    assert_eq!(stats.runs, 100 + 3 * 101);
    assert_eq!(history.health().failed, 0);
    assert_eq!(found(&history, "echo child").len(), 20);
    let left = history.get("child 1 running").unwrap().unwrap();
    assert_eq!(left.run.state, State::Lost, "it ended in good order, and its command with it");
}

#[test]
fn a_living_servers_commands_stay_running() {
    let folder = Folder::new();
    let one = folder.open();
    fill(&one, [Entry::new("c1", "s1", "sleep 9")]);
    let two = folder.open();
    assert_eq!(two.get("c1").unwrap().unwrap().run.state, State::Running);
    fill(&two, [entry("c2", "ls", "", 1)]);
    assert_eq!(one.get("c2").unwrap().unwrap().run.state, State::Done, "seen by the other");
    drop(one);
    assert_eq!(two.get("c1").unwrap().unwrap().run.state, State::Lost);
    fill(&two, [Entry::new("c1", "s1", "sleep 9").exit_code(0)]);
    assert_eq!(two.get("c1").unwrap().unwrap().run.state, State::Done, "someone knew after all");
}

#[test]
fn many_open_a_damaged_file_at_once() {
    let folder = Folder::new();
    std::fs::create_dir_all(folder.path().parent().unwrap()).unwrap();
    std::fs::write(folder.path(), b"garbage ".repeat(1000)).unwrap();
    std::thread::scope(|scope| {
        for number in 0..8 {
            let folder = &folder;
            scope.spawn(move || {
                let patient = termbridge_store::Limits::default();
                let opened = folder.open_with(patient);
                assert!(opened.warnings.len() <= 1, "{:?}", opened.warnings);
                assert_eq!(opened.history.health().storage, Storage::File(folder.path()));
                fill(&opened.history, [entry(&format!("c{number}"), "x", "", number)]);
            });
        }
    });
    assert_eq!(folder.names(".corrupt-").len(), 1, "set aside once");
    assert_eq!(found(&folder.open(), "").len(), 8, "and nobody's entry with it");
}

#[test]
fn many_threads_read_at_once() {
    let folder = Folder::new();
    let history = folder.open_with(termbridge_store::Limits::default()).history;
    fill(&history, (0..200).map(|n| entry(&format!("c{n}"), "echo", "words", n)));
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                for _ in 0..20 {
                    assert_eq!(found(&history, "words").len(), 20);
                }
            });
        }
    });
}
