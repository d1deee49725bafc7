//! Bytes out, bytes in, sizes and modes.

use std::io::ErrorKind;

use rustix::process::{Resource, Rlimit};
use termbridge_pty::{ExitStatus, Keeper, LineMode, PtySize};

use crate::support::{limited, read_to, read_to_end, run, sh, spec};

#[tokio::test]
async fn output_then_exit_code() {
    let keeper = Keeper::new();
    assert_eq!(keeper.pid(), None);
    let program = run(&keeper, "echo", &["hello", "wörld"]).await;
    assert!(keeper.pid().is_some());
    assert_eq!(read_to_end(&program).await, "hello wörld\r\n");
    assert_eq!(program.exited().await, ExitStatus::Code(0));
    assert_eq!(program.exit_status(), Some(ExitStatus::Code(0)));
}

#[tokio::test]
async fn everything_written_is_there_once_the_exit_is_known() {
    let keeper = Keeper::new();
    for round in 0..50 {
        // The job keeps the terminal open, so the end is not a hangup.
        let program = sh(&keeper, &format!("trap '' HUP; sleep 60 & seq {round} {round}")).await;
        program.exited().await;
        let mut buffer = [0; 64];
        let count = program.try_read(&mut buffer).expect("output");
        assert_eq!(&buffer[..count], format!("{round}\r\n").as_bytes());
        let after = program.try_read(&mut buffer);
        assert_eq!(after.expect_err("open and drained").kind(), ErrorKind::WouldBlock);
    }
}

#[tokio::test]
async fn fifty_megabytes_are_complete() {
    let keeper = Keeper::new();
    let program =
        sh(&keeper, "stty raw; head -c 52428800 /dev/zero | tr '\\0' x; printf END").await;
    let mut total = 0;
    let mut tail = Vec::new();
    let mut buffer = vec![0; 65536];
    limited("50 MB", async {
        loop {
            let count = program.read(&mut buffer).await.expect("read");
            if count == 0 {
                break;
            }
            total += count;
            tail.extend_from_slice(&buffer[..count]);
            tail.drain(..tail.len().saturating_sub(4));
        }
    })
    .await;
    assert_eq!(total, 50 * 1024 * 1024 + 3);
    assert_eq!(tail, b"xEND");
}

#[tokio::test]
async fn a_program_that_does_not_read_blocks_nobody() {
    let keeper = Keeper::new();
    let program = sh(&keeper, "stty raw -echo; echo ready; exec sleep 600").await;
    read_to(&program, "ready").await;
    let mut written = 0;
    let refused = loop {
        match program.try_write(&[b'x'; 4096]) {
            Ok(count) => written += count,
            Err(error) => break error,
        }
        assert!(written < 10 << 20, "the kernel takes everything");
    };
    assert_eq!(refused.kind(), ErrorKind::WouldBlock);
    // Others are served.
    let other = run(&keeper, "echo", &["other"]).await;
    assert_eq!(read_to_end(&other).await, "other\r\n");
}

#[tokio::test]
async fn a_large_input_goes_through_a_slow_reader() {
    const SIZE: usize = 4 << 20;
    let keeper = Keeper::new();
    let script = format!("stty raw -echo; echo ready; head -c {SIZE} | cksum; echo done");
    let program = sh(&keeper, &script).await;
    read_to(&program, "ready").await;
    limited("writing", async {
        let bytes = vec![b'y'; 64 << 10];
        let mut left = SIZE;
        while left > 0 {
            left -= program.write(&bytes[..left.min(bytes.len())]).await.expect("write");
        }
    })
    .await;
    let output = read_to(&program, "done").await;
    assert!(output.contains(&SIZE.to_string()), "{output}");
}

/// Only nextest gives a test a process of its own, whose descriptors it may use up.
#[tokio::test]
async fn a_large_input_needs_no_free_descriptor() {
    const SIZE: usize = 1 << 20;
    let keeper = Keeper::new();
    let script = format!("stty raw -echo; echo ready; head -c {SIZE} | cksum; echo done");
    let program = sh(&keeper, &script).await;
    read_to(&program, "ready").await;
    let limit = rustix::process::getrlimit(Resource::Nofile);
    if std::env::var_os("NEXTEST").is_some() {
        let none = Rlimit { current: Some(3), ..limit };
        rustix::process::setrlimit(Resource::Nofile, none).expect("a limit");
    }
    limited("writing", async {
        let mut left = SIZE;
        while left > 0 {
            let bytes = vec![b'y'; left.min(64 << 10)];
            left -= program.write(&bytes).await.expect("write");
        }
    })
    .await;
    let output = read_to(&program, "done").await;
    assert!(output.contains(&SIZE.to_string()), "{output}");
    rustix::process::setrlimit(Resource::Nofile, limit).expect("the limit");
}

#[tokio::test]
async fn writing_to_a_hung_up_terminal_does_not_hang() {
    let keeper = Keeper::new();
    let program = run(&keeper, "true", &[]).await;
    read_to_end(&program).await;
    while program.try_write(&[b'x'; 4096]).is_ok() {}
    // The line discipline still echoes; after that it is hung up again.
    read_to_end(&program).await;
}

#[tokio::test]
async fn resize_reaches_the_program() {
    let keeper = Keeper::new();
    let mut spec = spec(
        "/bin/bash",
        &["-c", "trap 'stty size' WINCH; stty size; echo ready; while read -r _; do :; done; :"],
    );
    spec.size = PtySize { cols: 101, rows: 37 };
    let program = keeper.spawn(spec).await.expect("spawn");
    assert!(read_to(&program, "ready").await.contains("37 101"));
    assert_eq!(program.size().expect("size"), PtySize { cols: 101, rows: 37 });
    program.resize(PtySize { cols: 132, rows: 43 }).expect("resize");
    program.try_write(b"\n").expect("write");
    read_to(&program, "43 132").await;
    assert_eq!(program.size().expect("size"), PtySize { cols: 132, rows: 43 });
}

#[tokio::test]
async fn line_mode_is_what_the_program_set() {
    let keeper = Keeper::new();
    let program =
        sh(&keeper, "echo a; read x; stty -echo; echo b; read x; stty raw; echo c; read x").await;
    let cooked = LineMode {
        canonical: true,
        echo: true,
        signals: true,
        utf8: true,
        return_is_newline: true,
        newline_is_return: false,
        processes_output: true,
        resumes_output: Some(0x11),
    };
    read_to(&program, "a").await;
    assert_eq!(program.line_mode().expect("mode"), cooked);
    program.try_write(b"\n").expect("write");
    read_to(&program, "b").await;
    assert_eq!(program.line_mode().expect("mode"), LineMode { echo: false, ..cooked });
    program.try_write(b"\n").expect("write");
    read_to(&program, "c").await;
    let mode = program.line_mode().expect("mode");
    assert!(!mode.canonical && !mode.signals);
}

#[tokio::test]
async fn a_cancelled_read_loses_nothing() {
    let keeper = Keeper::new();
    let program = sh(&keeper, "read x; seq 1 2000").await;
    let mut buffer = [0; 7];
    tokio::select! {
        biased;
        _ = program.read(&mut buffer) => panic!("nothing was written"),
        () = tokio::task::yield_now() => {}
    }
    program.try_write(b"\n").expect("write");
    let mut output = Vec::new();
    limited("reading", async {
        loop {
            tokio::select! {
                count = program.read(&mut buffer) => match count.expect("read") {
                    0 => break,
                    count => output.extend_from_slice(&buffer[..count]),
                },
                () = tokio::task::yield_now() => {}
            }
        }
    })
    .await;
    let lines: Vec<String> = (1..=2000).map(|n| n.to_string()).collect();
    let text = String::from_utf8_lossy(&output);
    let seen: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
    assert_eq!(seen, lines);
}

#[tokio::test]
async fn input_counts_from_the_moment_it_is_written() {
    let keeper = Keeper::new();
    for _ in 0..30 {
        let program = sh(&keeper, "stty raw -echo; echo READY; exec sleep 600").await;
        read_to(&program, "READY").await;
        assert_eq!(program.unread_input().expect("unread"), 0);
        assert_eq!(program.write(b"x").await.expect("write"), 1);
        assert_eq!(program.unread_input().expect("unread"), 1);
    }
}

#[tokio::test]
async fn a_terminal_opened_again_after_its_hangup_stays_hung_up() {
    let keeper = Keeper::new();
    let program = run(&keeper, "true", &[]).await;
    limited("exit", program.exited()).await;
    limited("hangup", program.readable()).await.expect("readable");
    // This opens it.
    let _ = program.unread_input();
    let mut buffer = [0; 16];
    assert_eq!(program.try_read(&mut buffer).expect("try_read"), 0);
    assert_eq!(limited("read", program.read(&mut buffer)).await.expect("read"), 0);
}
