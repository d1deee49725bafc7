//! Python: threads that come to breakpoints at the same moment.

use std::collections::BTreeMap;
use std::path::PathBuf;

use termbridge_dap::{AdapterPaths, Configuration, DebugSession, Debugger, Halt, Resume, Settings};

use crate::subject::{Language, Subject, adapters, local, stopped};
use crate::support::LIMIT;

/// Threads that wait in a library for each other, and for different times.
const WAYS: [(&str, &str); 2] =
    [("barrier", "barrier.wait()"), ("sleep", "time.sleep(0.03 * number + 0.1 * turn)")];

fn program(wait: &str) -> String {
    format!(
        "import threading, time\n\
         barrier = threading.Barrier(4)\n\
         def work(number):\n\
         \x20   for turn in range(3):\n\
         \x20       {wait}\n\
         \x20       seen = number * 10 + turn  # mark: seen\n\
         \x20       twice = seen * 2  # mark: log\n\
         \x20       seen += 0  # mark: condition\n\
         threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]\n\
         for thread in threads: thread.start()\n\
         for thread in threads: thread.join()\n"
    )
}

fn subject(wait: &str) -> Subject {
    Subject::written(Language::Python, "written", &program(wait))
}

/// All Pythons that `scripts/setup-tests` found.
fn pythons() -> Vec<PathBuf> {
    let python = adapters().python.expect("a Python");
    let venv = python.parent().and_then(|bin| bin.parent()).expect("a venv");
    let target = venv.parent().expect("a folder");
    let all = std::fs::read_dir(target).expect("a folder").map(|entry| entry.expect("a file"));
    let venvs = all.filter(|entry| entry.file_name().to_string_lossy().starts_with("test-venv"));
    venvs.map(|venv| venv.path().join("bin/python")).filter(|python| python.exists()).collect()
}

/// Each of them with a debugger for it.
pub(crate) fn debuggers() -> impl Iterator<Item = (PathBuf, Debugger)> {
    pythons().into_iter().map(|python| {
        let adapters = AdapterPaths { python: Some(python.clone()), ..adapters() };
        (python, Debugger::new(Settings { adapters, ..Settings::default() }))
    })
}

/// What each thread has in each turn, and how often.
async fn seen(session: &DebugSession) -> (BTreeMap<(String, String), u32>, String) {
    let (mut seen, mut output) = (BTreeMap::new(), String::new());
    let mut halt = session.wait(LIMIT).await.expect("a halt");
    loop {
        match halt {
            Halt::Stopped(report) => {
                let value = |name| local(&report, name).value.clone();
                *seen.entry((value("number"), value("turn"))).or_insert(0) += 1;
                output += &report.output.text;
            }
            Halt::Ended(end) => return (seen, output + &end.output.text),
        }
        halt = session.resume_and_wait(Resume::Continue, None, LIMIT).await.expect("a halt");
    }
}

/// Each thread once in these turns.
fn each(turns: &[u32]) -> BTreeMap<(String, String), u32> {
    let all = turns.iter().flat_map(|turn| (0..4).map(move |number| (number, turn)));
    all.map(|(number, turn)| ((number.to_string(), turn.to_string()), 1)).collect()
}

#[tokio::test]
async fn no_stop_is_lost_where_threads_stop_at_once() {
    for (python, debugger) in debuggers() {
        for (name, wait) in WAYS {
            let subject = subject(wait);
            debugger.set_breakpoint(subject.breakpoint("seen")).await.expect("is set");
            let folder = subject.folder.path();
            let program = Configuration::launch("python", &subject.source, folder);
            let session = debugger.start(program).await.expect("starts");
            assert_eq!(seen(&session).await.0, each(&[0, 1, 2]), "{name} {}", python.display());
        }
    }
}

#[tokio::test]
async fn conditions_and_log_messages_count_each_thread() {
    let subject = subject(WAYS[0].1);
    let log = subject.breakpoint("log").log_message("has {seen}");
    let hits = subject.breakpoint("seen").hit_condition("12");
    let condition = subject.breakpoint("condition").condition("turn == 1");
    for breakpoint in [log, hits, condition] {
        subject.debugger.set_breakpoint(breakpoint).await.expect("is set");
    }
    let session = subject.start("").await;
    let (mut seen, output) = seen(&session).await;
    // The twelfth hit is in the last turn.
    let twelfth: Vec<_> = seen.extract_if(.., |(_, turn), _| turn == "2").collect();
    assert!(matches!(twelfth[..], [(_, 1)]), "{twelfth:?}");
    assert_eq!(seen, each(&[1]));
    for number in 0..4 {
        for turn in 0..3 {
            let line = format!("has {}\n", number * 10 + turn);
            assert_eq!(output.matches(&line).count(), 1, "{line}{output}");
        }
    }
}

/// A step is of its thread, or another thread has stopped.
#[tokio::test]
async fn steps_and_pauses_among_threads_end() {
    let subject = subject(WAYS[1].1);
    subject.break_at("seen").await;
    let session = subject.start("").await;
    let mut report = stopped(session.wait(LIMIT).await.expect("a stop"));
    let (mut stops, mut steps) = (1, 0);
    let end = loop {
        let halt = match stops % 3 {
            0 => session.resume_and_wait(Resume::StepOver, None, LIMIT).await,
            1 => session.resume_and_wait(Resume::Continue, None, LIMIT).await,
            _ => {
                session.resume(Resume::Continue, None).await.expect("continues");
                session.pause(LIMIT).await
            }
        };
        let next = match halt.expect("a halt") {
            Halt::Stopped(next) => *next,
            Halt::Ended(end) => break end,
        };
        if next.reason == "step" {
            assert_eq!(next.thread.id, report.thread.id);
            steps += 1;
        }
        stops += 1;
        report = next;
    };
    assert!(stops > 12 && steps > 0, "{stops}, {steps}");
    assert_eq!(end.exit_code, Some(0));
}
