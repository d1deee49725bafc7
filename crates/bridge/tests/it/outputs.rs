//! Reading output that grows, and output of which a part was dropped.

use regex::Regex;
use termbridge_bridge::session::Settings;
use termbridge_bridge::{Caller, OutputRequest, ReadFrom};

use crate::sessions::{Hub, LIMIT, command};

const MEGABYTE: usize = 1024 * 1024;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_go_on_behind_what_was_dropped() {
    let hub = Hub::with(Settings { output_disk: MEGABYTE, ..Settings::default() });
    let line = "x".repeat(57);
    let print = format!("for ((i = 1; i <= 50000; i++)); do printf '%05d {line}\\n' $i; done");
    let (id, _) = hub.run(command(&print)).await;
    let session = hub.bridge.session(&Caller::default(), &id).await.expect("is there");
    let read = async |from: ReadFrom, lines: u64| {
        let session = session.clone();
        let request =
            OutputRequest { session, command: Some(1), from, lines, grep: None, most: MEGABYTE };
        hub.bridge.read_output(&request).await.expect("readable")
    };
    let mut page = read(ReadFrom::Line(0), 3000).await;
    let mut text = page.text.clone();
    while page.remaining > 0 {
        page = read(ReadFrom::Cursor(page.cursor), 3000).await;
        assert!(!page.text.is_empty(), "a reader gets on");
        text.push_str(&page.text);
    }
    let lines: Vec<&str> = text.lines().collect();
    let marks = lines.iter().filter(|line| line.contains("bytes of output dropped")).count();
    assert_eq!((marks, lines.len() as u64), (1, page.total_lines));
    assert!(lines[0].starts_with("00001 ") && lines[lines.len() - 1].starts_with("50000 "));
    for count in [1, 10, 100, 5000, lines.len() as u64 - 1, lines.len() as u64] {
        let page = read(ReadFrom::Last(count), 3).await;
        let first = lines.len() - count as usize;
        let expected = &lines[first..lines.len().min(first + 3)];
        let shown: Vec<&str> = page.text.lines().collect();
        assert_eq!(page.total_lines, lines.len() as u64);
        assert_eq!(shown, expected, "from the {count}th last on");
    }
    let (_, bounded) = hub.bridge.output(&id, 1, 4096).await.expect("readable");
    assert!(bounded.head.starts_with("00001 ") && bounded.tail.ends_with("x\n"));
    hub.sessions.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_that_prints_without_end_is_read_to_where_it_was() {
    let hub = Hub::with(Settings::default());
    let started = hub.bridge.start(command("yes"), LIMIT).await.expect("starts");
    let session =
        async || hub.bridge.session(&Caller::default(), &started.session).await.expect("is there");
    while session().await.printed < 4 * MEGABYTE as u64 {
        tokio::task::yield_now().await;
    }
    let request = OutputRequest {
        session: session().await,
        command: Some(started.command),
        from: ReadFrom::Line(0),
        lines: 10,
        grep: Some(Regex::new("no such line").expect("a pattern")),
        most: MEGABYTE,
    };
    let page = tokio::time::timeout(LIMIT, hub.bridge.read_output(&request)).await;
    let page = page.expect("does not run after the program").expect("readable");
    assert!(page.running && page.text.is_empty(), "{page:?}");
    hub.sessions.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_last_lines_are_there_however_long_the_line_before_or_the_last_is() {
    const LONG: &str = "head -c 3000000 /dev/zero | tr '\\0' x";
    const ENDLESS: &str = "head -c 12000000 /dev/zero | tr '\\0' y";
    let hub = Hub::with(Settings::default());
    let (id, _) = hub.run(command(&format!("printf 'a\\nb\\n'; {LONG}; printf 'END\\nc'"))).await;
    hub.run(command(&format!("printf 'd\\n'; {ENDLESS}; printf END"))).await;
    let read = async |command: Option<u64>, from: ReadFrom, lines: u64| {
        let session = hub.bridge.session(&Caller::default(), &id).await.expect("is there");
        let request = OutputRequest { session, command, from, lines, grep: None, most: 64 * 1024 };
        hub.bridge.read_output(&request).await.expect("readable")
    };
    let shown = |text: &str| {
        let end = |line: &str| line.chars().rev().take(5).collect::<Vec<_>>().into_iter().rev();
        let each = |line: &str| match line.len() > 1000 {
            true => format!("{}…{}", &line[..10], end(line).collect::<String>()),
            false => line.to_owned(),
        };
        text.split('\n').map(each).collect::<Vec<_>>().join("|")
    };
    let page = read(Some(1), ReadFrom::Tail, 100).await;
    assert_eq!((shown(&page.text).as_str(), page.first_line), ("a|b|[the begin…xxEND|c", 0));
    let page = read(Some(1), ReadFrom::Tail, 2).await;
    assert_eq!((shown(&page.text).as_str(), page.first_line), ("[the begin…xxEND|c", 2));
    let page = read(Some(1), ReadFrom::Tail, 1).await;
    assert_eq!((page.text.as_str(), page.first_line), ("c", 3));
    // Further back than it is looked.
    let page = read(None, ReadFrom::Tail, 100).await;
    let last = page.total_lines - 1;
    assert_eq!((shown(&page.text).as_str(), page.first_line), ("[the begin…yyEND", last));
    assert_eq!((page.remaining, page.total_lines), (0, 1 + 4 + 1 + 2));
    let again = read(None, ReadFrom::Cursor(page.cursor), 100).await;
    assert_eq!((again.text.as_str(), again.first_line), ("", page.total_lines));
    // From there on what lies before is still to be had.
    let page = read(None, ReadFrom::Line(5), 2).await;
    assert!(page.text.starts_with("$ printf") && page.text.contains("\nd\n"), "{}", page.text);
    hub.sessions.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lines_that_wrap_at_the_top_of_the_screen_count_once() {
    let hub = Hub::with(Settings::default());
    // Longer than the terminal is wide; an odd number of rows stays of them.
    let print = "for i in {1..30}; do printf '%0150d\\n' $i; done; read -r line";
    let started = hub.bridge.start(command(print), LIMIT).await.expect("starts");
    let read = async |from: ReadFrom, lines: u64| {
        let session =
            hub.bridge.session(&Caller::default(), &started.session).await.expect("is there");
        let request = OutputRequest {
            session,
            command: Some(started.command),
            from,
            lines,
            grep: None,
            most: MEGABYTE,
        };
        hub.bridge.read_output(&request).await.expect("readable")
    };
    while !read(ReadFrom::Tail, 1).await.text.ends_with("030\n") {
        tokio::task::yield_now().await;
    }
    let page = read(ReadFrom::Tail, 1).await;
    assert_eq!((page.first_line, page.total_lines, page.remaining), (29, 30, 0), "{}", page.text);
    let page = read(ReadFrom::Line(0), 100).await;
    assert_eq!((page.text.lines().count(), page.remaining), (30, 0));
    let again = read(ReadFrom::Cursor(page.cursor), 100).await;
    assert_eq!((again.text.as_str(), again.first_line), ("", 30));
    hub.sessions.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn long_lines_are_matched_and_counted_whole_and_shown_where_they_match() {
    let hub = Hub::with(Settings::default());
    // The middle lies across a piece that is read at a time.
    let long = "printf HEAD; head -c 262137 /dev/zero | tr '\\0' a; printf MIDDLE; \
                head -c 300000 /dev/zero | tr '\\0' b; echo END";
    let (id, _) = hub.run(command(&format!("echo first; {long}; echo last"))).await;
    let read = async |from: ReadFrom, lines: u64, grep: Option<&str>| {
        let session = hub.bridge.session(&Caller::default(), &id).await.expect("is there");
        let grep = grep.map(|pattern| Regex::new(pattern).expect("a pattern"));
        let request =
            OutputRequest { session, command: Some(1), from, lines, grep, most: 64 * 1024 };
        hub.bridge.read_output(&request).await.expect("readable")
    };
    for from in [ReadFrom::Tail, ReadFrom::Line(0)] {
        for none in ["^DLE", "a$", "^b", "DLEc"] {
            let page = read(from.clone(), 10, Some(none)).await;
            assert_eq!(page.text, "", "{none}");
        }
        let page = read(from.clone(), 10, Some("MIDDLE")).await;
        assert!(page.text.starts_with("2:[258047 bytes of this line cut …] aaa"), "{}", page.text);
        assert!(page.text.contains("aaMIDDLEbb"), "{}", page.text);
        assert!(page.text.ends_with("bbb [… 287720 bytes of this line cut]\n"), "{}", page.text);
        let page = read(from.clone(), 10, Some("HEAD.*END$")).await;
        assert!(page.text.starts_with("2:HEADaaa"), "{}", page.text);
        let page = read(from, 10, Some("END$")).await;
        assert!(page.text.ends_with("bbbEND\n") && page.text.lines().count() == 1);
    }
    let page = read(ReadFrom::Line(1), 1, None).await;
    assert!(page.text.starts_with("HEADaaa") && page.text.ends_with(" cut]\n"));
    assert_eq!((page.first_line, page.remaining, page.total_lines), (1, 1, 3));
    let page = read(ReadFrom::Cursor(page.cursor), 10, None).await;
    assert_eq!((page.text.as_str(), page.first_line, page.remaining), ("last\n", 2, 0));
    hub.sessions.shutdown().await;
}
