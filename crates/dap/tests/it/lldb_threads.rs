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
        ready++;
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

#[tokio::test]
async fn no_stop_is_lost_where_threads_stop_at_once() {
    let subject = Subject::written(Language::Cpp, "written", THREADS);
    subject.break_at("round").await;
    let session = subject.start("").await;
    let mut halt = session.wait(LIMIT).await.expect("a halt");
    let mut seen = BTreeMap::new();
    while let Halt::Stopped(report) = halt {
        assert_eq!(report.reason, "breakpoint");
        let place = ["number", "round"].map(|name| local(&report, name).value.clone());
        *seen.entry(place).or_insert(0) += 1;
        let threads = session.threads().await.expect("threads");
        let reason = |id| threads.iter().find(|thread| thread.id == id)?.reason.as_deref();
        assert_eq!(reason(report.thread.id), Some("breakpoint"));
        halt = session.resume_and_wait(Resume::Continue, None, LIMIT).await.expect("a halt");
    }
    let expected = (0..4).flat_map(|number| (0..3).map(move |round| (number, round)));
    let expected = expected.map(|(number, round)| ([number.to_string(), round.to_string()], 1));
    assert_eq!(seen, expected.collect());
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
