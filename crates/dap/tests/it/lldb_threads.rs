//! Threads that stop at the same moment: each stop is reported.

use std::collections::BTreeMap;

use termbridge_dap::{Halt, Resume};

use crate::subject::{Language, Subject, local, stopped};
use crate::support::LIMIT;

const THREADS: &str = r"
#include <atomic>
#include <thread>
#include <vector>
std::atomic<int> ready{0};
int work(int number) {
    int seen = number * 10;
    for (int round = 0; round < 3; round++) {
        // All threads come to the next line at once.
        int all = (round + 1) * 4;
        ready++; // mark: log
        while (ready < all) {}
        seen += round; // mark: round
    }
    return seen;
}
int main() {
    std::vector<std::thread> threads;
    for (int number = 0; number < 4; number++) threads.emplace_back(work, number);
    for (auto &thread : threads) thread.join();
}
";

/// How often each thread stops in each round, with a step after every third stop or without steps; and how many steps ended.
async fn stops(subject: &Subject, with_steps: bool) -> (BTreeMap<[String; 2], u32>, u32) {
    let session = subject.start("").await;
    let mut halt = session.wait(LIMIT).await.expect("a halt");
    let (mut seen, mut count, mut steps) = (BTreeMap::new(), 0, 0);
    while let Halt::Stopped(report) = halt {
        let mut how = Resume::Continue;
        steps += u32::from(report.reason == "step");
        if report.reason == "breakpoint" {
            let place = ["number", "round"].map(|name| local(&report, name).value.clone());
            *seen.entry(place).or_insert(0) += 1;
            count += 1;
            let threads = session.threads().await.expect("threads");
            let reason = |id| threads.iter().find(|thread| thread.id == id)?.reason.as_deref();
            assert_eq!(reason(report.thread.id), Some("breakpoint"));
            if with_steps && count % 3 == 0 {
                how = Resume::StepOver;
            }
        }
        halt = session.resume_and_wait(how, None, LIMIT).await.expect("a halt");
    }
    (seen, steps)
}

/// These threads once in each of the rounds.
fn each(numbers: std::ops::Range<u32>) -> BTreeMap<[String; 2], u32> {
    let all = numbers.flat_map(|number| (0..3).map(move |round| [number, round]));
    all.map(|place| (place.map(|number| number.to_string()), 1)).collect()
}

#[tokio::test]
async fn no_stop_is_lost_where_threads_stop_at_once() {
    let subject = Subject::written(Language::Cpp, "written", THREADS);
    subject.break_at("round").await;
    assert_eq!(stops(&subject, false).await.0, each(0..4));
}

#[tokio::test]
async fn only_threads_that_meet_the_condition_stop() {
    let subject = Subject::written(Language::Cpp, "written", THREADS);
    let own = subject.breakpoint("round").condition("number == 3");
    subject.debugger.set_breakpoint(own).await.expect("is set");
    let log = subject.breakpoint("log").log_message("at {number}");
    subject.debugger.set_breakpoint(log).await.expect("is set");
    assert_eq!(stops(&subject, false).await.0, each(3..4));
    let counted = subject.breakpoint("round").hit_condition("11");
    subject.debugger.set_breakpoint(counted).await.expect("is set");
    let (seen, _) = stops(&subject, false).await;
    assert_eq!(seen.values().sum::<u32>(), 2, "the eleventh and the twelfth: {seen:?}");
}

#[tokio::test]
async fn no_stop_is_reported_twice_among_steps() {
    let subject = Subject::written(Language::Cpp, "written", THREADS);
    subject.break_at("round").await;
    let (seen, steps) = stops(&subject, true).await;
    assert!(seen.values().all(|times| *times == 1), "{seen:?}");
    assert!(seen.len() > 3 && steps > 0, "{steps}, {seen:?}");
}

#[tokio::test]
async fn a_step_is_of_its_thread() {
    let subject = Subject::written(Language::Cpp, "written", THREADS);
    subject.break_at("round").await;
    let session = subject.start("").await;
    let mut report = stopped(session.wait(LIMIT).await.expect("a stop"));
    let mut steps = 0;
    for _ in 0..3 {
        let number = local(&report, "number").value.clone();
        let thread = report.thread.id;
        let before = subject.line("round");
        let next =
            stopped(session.resume_and_wait(Resume::StepOver, None, LIMIT).await.expect("a stop"));
        // Another thread may come to the breakpoint meanwhile.
        if next.reason == "step" {
            assert_eq!((next.thread.id, &local(&next, "number").value), (thread, &number));
            assert_ne!(next.location.as_ref().expect("a location").line, before);
            steps += 1;
        }
        report =
            stopped(session.resume_and_wait(Resume::Continue, None, LIMIT).await.expect("a stop"));
    }
    assert!(steps > 0, "none ended");
    session.stop().await.expect("ends");
}
