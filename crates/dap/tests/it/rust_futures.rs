//! Rust: what is left of the variables of an async function when it is continued.

use termbridge_dap::Resume;

use crate::flows;
use crate::subject::{Language, Subject, stopped};
use crate::support::LIMIT;

const PROGRAM: &str = r#"
use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
struct Later(u64, bool);
impl Future for Later {
    type Output = Option<u64>;
    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<u64>> {
        self.1 = !self.1;
        if self.1 { Poll::Pending } else { Poll::Ready(Some(self.0)) }
    }
}
async fn work(id: u64, word: &str) -> u64 {
    let gone = id * 1000;
    let kept = id + 1 + std::hint::black_box(gone) % 2;
    println!("{word}"); // mark: begin
    let found = Later(id, false)
        .await;
    let after = kept;
    println!("{found:?} {after}"); // mark: resumed
    let mut sum = 0;
    for (number, letter) in "ab".chars().enumerate() {
        let text = String::from(letter);
        sum += std::hint::black_box(number) as u64;
        if let Some(one) = Later(7, false).await {
            sum += one + after; // mark: loop
        }
        drop(text);
    }
    sum
}
fn main() {
    let mut future = pin!(work(21, "w"));
    let mut context = Context::from_waker(Waker::noop());
    let sum = loop {
        let depth = [1u64; 64].map(|one| one * 3);
        if let Poll::Ready(sum) = future.as_mut().poll(&mut context) {
            break sum + depth[0];
        }
    };
    println!("{sum}");
}
"#;

const LOST: &str = "<perhaps lost at an .await>";

#[tokio::test]
async fn what_an_await_may_have_lost_is_marked() {
    let subject = Subject::written(Language::Rust, "written", PROGRAM);
    for mark in ["begin", "resumed", "loop"] {
        subject.break_at(mark).await;
    }
    let session = subject.start("").await;
    for (mark, known, lost) in [
        (
            "begin",
            &[("id", "21"), ("kept", "22"), ("gone", "21000"), ("word", "\"w\"")][..],
            &[][..],
        ),
        ("resumed", &[("kept", "22"), ("found", "Some(21)"), ("after", "22")], &["gone"]),
        (
            "loop",
            &[("sum", "0"), ("one", "7"), ("after", "22"), ("text", "\"a\"")],
            &["number", "letter"],
        ),
    ] {
        let mut report = stopped(session.wait(LIMIT).await.expect("a stop"));
        // A statement has several places.
        while report.location.as_ref().expect("a location").line != subject.line(mark) {
            report = subject.resume(&session, Resume::Continue).await;
        }
        let locals = flows::all_locals(&session, &report).await;
        let shown = |name: &str| {
            let found = locals.iter().find(|local| local.name == name);
            found.unwrap_or_else(|| panic!("{mark}: no {name}: {locals:#?}")).value.clone()
        };
        for (name, value) in known {
            assert_eq!(shown(name), *value, "{mark}: {name}");
        }
        for name in lost {
            assert!(shown(name).ends_with(LOST), "{mark}: {name} = {}", shown(name));
        }
        session.resume(Resume::Continue, None).await.expect("continues");
    }
    session.stop().await.expect("ends");
}
