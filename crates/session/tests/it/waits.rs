//! Waits: each condition, and what ends one early.

use std::time::Duration;

use regex::Regex;
use termbridge_session::vt::Seq;
use termbridge_session::vt::input::parse_keys;
use termbridge_session::{ExitStatus, Fired, Input, Launch, Look, State, Wait};
use tokio::task::JoinSet;

use crate::command_table::{home, launch_program, ready};
use crate::support::{
    A_WHILE, LIMIT, end, exit_code, fires, limited, python, script, see, sessions, sh, start,
    state, stays_away, text, wait,
};

fn prompt() -> Wait {
    Wait { prompt: true, ..Wait::default() }
}

fn needs_input() -> Wait {
    Wait { needs_input: true, ..Wait::default() }
}

fn bell() -> Wait {
    Wait { bell: true, ..Wait::default() }
}

fn title(title: &str) -> Wait {
    Wait { title: Some(title.into()), ..Wait::default() }
}

#[tokio::test]
async fn text_and_regex_tell_where() {
    let sessions = sessions();
    let session = sh(&sessions, r"printf 'one\n  two 42\n'; exec cat").await;
    let Fired::Text(found) = see(&session, "two").await else { panic!("another condition") };
    assert_eq!((found.row, found.col, &*found.text), (1, 2, "two"));
    let pattern = Regex::new(r"t\w+ \d+").expect("pattern");
    let Fired::Regex(found) = fires(&session, Wait::regex(pattern)).await else {
        panic!("another condition")
    };
    assert_eq!((found.row, found.col, &*found.text), (1, 2, "two 42"));
    stays_away(&session, Wait::text("three")).await;
}

#[tokio::test]
async fn gone_is_when_the_text_is_no_longer_there() {
    let sessions = sessions();
    let session =
        sh(&sessions, r"stty -echo; printf LOADING; read x; printf '\r\033[K'; exec cat").await;
    see(&session, "LOADING").await;
    stays_away(&session, Wait::gone("LOADING")).await;
    session.send_keys("<Enter>").await.expect("sent");
    assert_eq!(fires(&session, Wait::gone("LOADING")).await, Fired::Gone);
}

#[tokio::test]
async fn idle_is_when_the_screen_stays_the_same() {
    let sessions = sessions();
    let session = sh(
        &sessions,
        "read x; i=0; while [ $i -lt 30000 ]; do i=$((i+1)); echo $i; done; exec cat",
    )
    .await;
    session.send_keys("<Enter>").await.expect("sent");
    see(&session, "10\n").await;
    assert_eq!(fires(&session, Wait::idle(A_WHILE)).await, Fired::Idle);
    let screen = session.screen().await.expect("screen");
    assert!(screen.contains("30000"), "{}", screen.text());
    assert!(screen.quiet >= A_WHILE, "{:?}", screen.quiet);
}

#[tokio::test]
async fn change_counts_from_the_wait_or_from_after() {
    let sessions = sessions();
    let session = sh(&sessions, "printf READY; exec cat").await;
    see(&session, "READY").await;
    let before = stays_away(&session, Wait::change()).await.seq;
    let (fired, sent) = tokio::join!(fires(&session, Wait::change()), session.send_keys("x"));
    sent.expect("sent");
    assert_eq!(fired, Fired::Change);
    // What changed earlier counts when it is after `after`.
    let late = wait(&session, Wait::change().after(before)).await;
    assert_eq!(late.fired, Some(Fired::Change));
    assert!(late.seq > before);
    stays_away(&session, Wait::change().after(late.seq)).await;
}

#[tokio::test]
async fn after_leaves_out_what_stood_there() {
    let sessions = sessions();
    let session =
        sh(&sessions, r"stty -echo; printf 'READY\n'; read x; printf 'again READY'; exec cat")
            .await;
    see(&session, "READY").await;
    let seq = session.screen().await.expect("screen").seq;
    let waited = stays_away(&session, Wait::text("READY").after(seq)).await;
    assert!(waited.seen_before, "it is visible all the same");
    assert!(!stays_away(&session, Wait::text("no")).await.seen_before);
    session.send_keys("<Enter>").await.expect("sent");
    let Fired::Text(found) = fires(&session, Wait::text("READY").after(seq)).await else {
        panic!("another condition")
    };
    assert_eq!((found.row, found.col), (1, 6));
}

#[tokio::test]
async fn exit_and_the_end_of_any_wait() {
    let sessions = sessions();
    let session = sh(&sessions, "read x; exit 3").await;
    let hour = Duration::from_hours(1);
    let endless = [
        Wait::text("never"),
        Wait::regex(Regex::new("nev.r").expect("pattern")),
        Wait::idle(hour),
        bell(),
        title("never"),
        Wait::exit(),
    ];
    let mut waits = JoinSet::new();
    for condition in endless {
        let (session, condition) = (session.clone(), condition.timeout(hour));
        waits.spawn(async move { session.wait(condition).await.expect("waits") });
    }
    session.send_keys("<Enter>").await.expect("sent");
    let mut fired = Vec::new();
    while let Some(waited) = limited("the waits", waits.join_next()).await {
        let waited = waited.expect("a wait");
        match waited.state {
            State::Exited(ended) => assert_eq!(ended.status, ExitStatus::Code(3)),
            State::Running => panic!("ended before the program"),
        }
        fired.extend(waited.fired);
    }
    assert_eq!(fired, [Fired::Exit]);
    // Nothing is waited for in a session that has ended.
    let waited = limited("a late wait", session.wait(Wait::text("x").timeout(hour))).await;
    assert_eq!(waited.expect("waits").fired, None);
}

#[tokio::test]
async fn prompt_is_a_shell_that_waits() {
    let folder = tempfile::tempdir().expect("folder");
    let sessions = sessions();
    for (program, args) in [("bash", &["--norc", "--noprofile", "-i"][..]), ("dash", &["-i"])] {
        let launch = Launch::new(program).args(args).cwd(folder.path());
        let session = start(&sessions, launch.env("PS1", "$ ")).await;
        assert_eq!(fires(&session, prompt()).await, Fired::Prompt, "{program}");
        let fifo = format!("fifo-{program}");
        let line = format!("mkfifo {fifo}; cat {fifo}<Enter>");
        session.send_keys(&line).await.expect("sent");
        stays_away(&session, prompt()).await;
        let path = folder.path().join(fifo);
        let write = tokio::task::spawn_blocking(move || std::fs::write(path, "through\n"));
        assert_eq!(fires(&session, prompt()).await, Fired::Prompt, "{program}");
        assert!(text(&session).await.contains("through"), "{program}");
        write.await.expect("task").expect("written");
        // A shell that reads for a command is not at its prompt.
        session.send_keys("read line<Enter>").await.expect("sent");
        fires(&session, Wait { needs_input: true, ..Wait::default() }).await;
        stays_away(&session, prompt()).await;
    }
    for (program, args) in [("cat", &[][..]), ("sh", &["-c", "read line; read line"])] {
        let session = start(&sessions, Launch::new(program).args(args)).await;
        fires(&session, Wait { needs_input: true, ..Wait::default() }).await;
        stays_away(&session, prompt()).await;
    }
}

#[tokio::test]
async fn needs_input_is_a_program_that_reads_a_line() {
    let folder = tempfile::tempdir().expect("folder");
    let sessions = sessions();
    let launch = script(
        "mkfifo fifo; echo MADE; cat fifo; read x; stty -echo; read y; stty echo; cat fifo; \
         echo \"$x $y\"; exec cat",
    )
    .cwd(folder.path());
    let session = start(&sessions, launch).await;
    see(&session, "MADE").await;
    let fifo = folder.path().join("fifo");
    // It waits, but for something else.
    stays_away(&session, needs_input()).await;
    let open = move || std::fs::write(&fifo, "").expect("written");
    limited("fifo", tokio::task::spawn_blocking(open.clone())).await.expect("opened");
    let shown = Fired::NeedsInput { echo: true };
    assert_eq!(fires(&session, needs_input()).await, shown);
    session.send_keys("name<Enter>").await.expect("sent");
    let hidden = Fired::NeedsInput { echo: false };
    assert_eq!(fires(&session, needs_input()).await, hidden);
    session.send_keys("secret<Enter>").await.expect("sent");
    stays_away(&session, needs_input()).await;
    assert!(!text(&session).await.contains("secret"));
    limited("fifo", tokio::task::spawn_blocking(open)).await.expect("opened");
    see(&session, "name secret").await;
}

#[tokio::test]
async fn a_program_that_reads_keys_needs_no_line() {
    let sessions = sessions();
    let session = start(
        &sessions,
        python("import os, tty; tty.setraw(0); print('RAW', end='', flush=True); os.read(0, 1)"),
    )
    .await;
    see(&session, "RAW").await;
    stays_away(&session, needs_input()).await;
    session.send_keys("x").await.expect("sent");
    assert_eq!(exit_code(&session).await, 0);
}

#[tokio::test]
async fn a_bell_is_heard_once() {
    let sessions = sessions();
    let session =
        sh(&sessions, r"stty -echo; echo READY; while read x; do printf '\arung%s' $x; done").await;
    see(&session, "READY").await;
    stays_away(&session, bell()).await;
    session.send_keys("1<Enter>").await.expect("sent");
    // It rang before the wait, as an answer to the last input.
    see(&session, "rung1").await;
    assert_eq!(fires(&session, bell()).await, Fired::Bell);
    stays_away(&session, bell()).await;
    let (fired, sent) = tokio::join!(fires(&session, bell()), session.send_keys("2<Enter>"));
    sent.expect("sent");
    assert_eq!(fired, Fired::Bell);
}

#[tokio::test]
async fn a_title_is_waited_for() {
    let sessions = sessions();
    let session =
        sh(&sessions, r"stty -echo; echo READY; read x; printf '\033]2;build: done\007'; exec cat")
            .await;
    see(&session, "READY").await;
    stays_away(&session, title("done")).await;
    session.send_keys("<Enter>").await.expect("sent");
    let whole = Fired::Title("build: done".into());
    assert_eq!(fires(&session, title("done")).await, whole);
}

#[tokio::test]
async fn text_that_scrolls_by_in_a_flood_is_found() {
    let sessions = sessions();
    for (cols, rows) in [(80, 24), (20, 3), (80, 2), (80, 1)] {
        let launch = script("stty -echo; read x; seq 1 50000; exec cat").size(cols, rows);
        let session = start(&sessions, launch).await;
        let (found, sent) = tokio::join!(see(&session, "27183"), session.send_keys("<Enter>"));
        sent.expect("sent");
        assert!(matches!(found, Fired::Text(found) if found.text == "27183"));
    }
}

#[tokio::test]
async fn text_that_scrolls_by_in_answer_to_a_key_is_found() {
    let sessions = sessions();
    let shell = Launch::new("bash").args(["--norc", "--noprofile", "-i"]).env("PS1", "$ ");
    let session = start(&sessions, shell).await;
    fires(&session, prompt()).await;
    for _ in 0..5 {
        let keys = vec![Input::Items(parse_keys("seq 1 20000<Enter>").expect("keys"))];
        let answer = Wait::text("1234").timeout(LIMIT);
        let (_sent, answer) = session.send_then_wait(keys, answer).await.expect("sent");
        let waited = answer.await.expect("waits");
        assert!(matches!(waited.fired, Some(Fired::Text(_))), "{waited:?}");
        see(&session, "20000").await;
        fires(&session, prompt()).await;
    }
}

#[tokio::test]
async fn a_time_out_names_the_query_that_got_no_answer() {
    let sessions = sessions();
    let session = sh(
        &sessions,
        r"stty -echo; printf '\033[6n'; echo READY; read x; printf '\033[?4242nASKED'; exec cat",
    )
    .await;
    see(&session, "READY").await;
    let waited = stays_away(&session, Wait::text("never")).await;
    assert_eq!(waited.unanswered_query, None, "that one was answered");
    session.send_keys("<Enter>").await.expect("sent");
    see(&session, "ASKED").await;
    let waited = stays_away(&session, Wait::text("never")).await;
    assert_eq!(waited.unanswered_query.as_deref(), Some("CSI ?4242n"));
}

#[tokio::test]
async fn a_dropped_wait_leaves_the_session_as_it_was() {
    let sessions = sessions();
    let session = sh(&sessions, "read x; echo got $x; exec cat").await;
    for _ in 0..100 {
        let endless = session.wait(Wait::text("never").timeout(LIMIT * 100));
        assert!(tokio::time::timeout(Duration::from_millis(1), endless).await.is_err());
    }
    assert_eq!(state(&session).await, State::Running);
    session.send_keys("hello<Enter>").await.expect("sent");
    see(&session, "got hello").await;
    session.send_keys("<Ctrl+D>").await.expect("sent");
    assert_eq!(exit_code(&session).await, 0);
}

#[tokio::test]
async fn many_waits_at_once_each_get_their_own() {
    let sessions = sessions();
    let session = sh(&sessions, "stty -echo; echo READY; read x; seq -f 'n%03.0f.' 0 199").await;
    see(&session, "READY").await;
    let mut waits = JoinSet::new();
    for index in 0..200 {
        let (session, wanted) = (session.clone(), format!("n{index:03}."));
        waits.spawn(async move {
            let condition = Wait::text(&wanted).timeout(LIMIT);
            (wanted, session.wait(condition).await.expect("waits"))
        });
    }
    // Requests are taken in turn, so those waits stand before this answer comes.
    see(&session, "READY").await;
    session.send_keys("<Enter>").await.expect("sent");
    while let Some(waited) = limited("the waits", waits.join_next()).await {
        let (wanted, waited) = waited.expect("a wait");
        match waited.fired {
            Some(Fired::Text(found)) => assert_eq!(found.text, wanted),
            other => panic!("{wanted}: {other:?}"),
        }
    }
    end(&session).await;
}

#[tokio::test]
async fn the_prompt_at_which_a_line_was_typed_is_not_new() {
    let sessions = sessions();
    // A program that asks, works, and asks again.
    let asks = "mkfifo go; printf '>>> '; read a; cat go; echo got $a; printf '>>> '; exec cat";
    let folder = tempfile::tempdir().expect("folder");
    let session = start(&sessions, script(asks).cwd(folder.path())).await;
    see(&session, ">>> ").await;
    let sent = session.send_keys("one<Enter>").await.expect("sent");
    let next = |text: &str| Wait { after: Some(sent.before), ..Wait::text(text) };
    stays_away(&session, next(">>>")).await;
    let fifo = folder.path().join("go");
    let write = tokio::task::spawn_blocking(move || std::fs::write(fifo, ""));
    fires(&session, next("got one")).await;
    write.await.expect("task").expect("written");
    let Fired::Text(found) = fires(&session, next(">>> ")).await else {
        panic!("another condition")
    };
    assert_eq!(found.row, 2);
    // It is still on the screen.
    let Fired::Text(found) = see(&session, ">>> ").await else { panic!("another condition") };
    assert_eq!(found.row, 0);
}

#[tokio::test]
async fn an_echo_satisfies_no_wait() {
    let sessions = sessions();
    let pattern = Regex::new("M.RK").expect("pattern");
    let folder = tempfile::tempdir().expect("folder");
    for launch in [
        // The terminal's own echo, and that of a line editor.
        script("mkfifo f; printf '> '; read x; cat f; echo \"$x\"; exec cat"),
        Launch::new("bash").args(["--norc", "--noprofile", "-i"]),
    ] {
        let session = start(&sessions, launch.cwd(folder.path()).env("PS1", "> ")).await;
        see(&session, "> ").await;
        // In the script the line is data, in the shell a command; both print it when the pipe is
        // opened.
        let line = "cat f; echo MARK";
        session.send_keys(&format!("{line}<Enter>")).await.expect("sent");
        fires(&session, Wait::idle(A_WHILE)).await;
        assert!(text(&session).await.contains("MARK"), "it is visible");
        stays_away(&session, Wait::text("MARK")).await;
        stays_away(&session, Wait::regex(pattern.clone())).await;
        let fifo = folder.path().join("f");
        let write = tokio::task::spawn_blocking(move || std::fs::write(fifo, ""));
        let Fired::Text(found) = see(&session, "MARK").await else { panic!("another condition") };
        assert_eq!(found.row, 1, "the output, not the echo");
        write.await.expect("task").expect("written");
    }
}

#[tokio::test]
async fn a_program_has_settled_once_it_waits_for_input_again() {
    let settled = |since: Seq| {
        let look = Some(Look::Changes(since.into()));
        Wait { settled: true, look, ..Wait::default() }
    };
    let sessions = sessions();
    // A raw terminal with its answer well after the key was read, and one in line mode.
    let raw = r"
import os, time, tty
tty.setraw(0)
print('READY', end='', flush=True)
while True:
    os.read(0, 1)
    total = sum(range(2_000_000))
    print('\r\nanswer', total, end='', flush=True)
";
    let lines = "echo READY; while read x; do sleep 0.05; echo \"answer $x\"; done";
    for launch in [python(raw), script(lines)] {
        let session = start(&sessions, launch).await;
        see(&session, "READY").await;
        for _ in 0..3 {
            let keys = vec![Input::Items(parse_keys("y Enter").expect("keys"))];
            let before = session.screen().await.expect("a screen").seq;
            let wait = settled(before).timeout(LIMIT);
            let (_, waiting) = session.send_then_wait(keys, wait).await.expect("sent");
            let waited = waiting.await.expect("waited");
            assert_eq!(waited.fired, Some(Fired::Settled));
            let shown = waited.snapshot.expect("a look");
            let changed = shown.changed.as_ref().expect("changes");
            let rows = changed.iter().map(|row| shown.screen.rows[usize::from(*row)].text());
            assert!(rows.clone().any(|row| row.starts_with("answer")), "{:?}", shown.text());
        }
    }
    // What follows Escape is waited for also where the keys before it made the screen change.
    let escape = r"
import os, select, tty
tty.setraw(0)
print('READY', end='', flush=True)
while True:
    key = os.read(0, 1)
    if key == b'\x1b' and not select.select([0], [], [], 0.03)[0]:
        key = b'escape'
    print('\r\ngot', key.decode(), end='', flush=True)
";
    let session = start(&sessions, python(escape)).await;
    see(&session, "READY").await;
    let keys = vec![Input::Items(parse_keys("i<Escape>").expect("keys"))];
    let (_, waiting) =
        session.send_then_wait(keys, settled(Seq(0)).timeout(LIMIT)).await.expect("sent");
    let shown = waiting.await.expect("waited").snapshot.expect("a look");
    assert!(shown.text().contains("got escape"), "{:?}", shown.text());
    // Nothing to show is no reason to wait for ever, a program that does not read is.
    let session = sh(&sessions, "stty -echo; exec cat").await;
    assert_eq!(fires(&session, settled(Seq(0))).await, Fired::Settled);
    let session = sh(&sessions, "echo READY; exec sleep 600").await;
    see(&session, "READY").await;
    stays_away(&session, settled(Seq(0))).await;
}

#[tokio::test]
async fn text_that_only_scrolled_is_not_new() {
    let sessions = sessions();
    // The second time the first answer is still there, further up.
    let lines = "for i in 1 2 3 4 5 6 7 8 9; do echo line $i; done; \
                 while read x; do echo more; echo more; cat go; echo BUILD OK; done";
    let folder = tempfile::tempdir().expect("folder");
    let fifo = folder.path().join("go");
    let made = std::process::Command::new("mkfifo").arg(&fifo).status().expect("runs");
    assert!(made.success());
    let session = start(&sessions, script(lines).cwd(folder.path()).size(40, 10)).await;
    see(&session, "line 9").await;
    for _ in 0..2 {
        let before = session
            .snapshot(termbridge_session::SnapshotRequest::default())
            .await
            .expect("a look")
            .seq;
        session.send_keys("x<Enter>").await.expect("sent");
        // It prints and scrolls, and waits for the pipe.
        fires(&session, Wait::idle(A_WHILE)).await;
        stays_away(&session, Wait::text("BUILD OK").after(before)).await;
        std::fs::write(&fifo, "").expect("written");
        let fired = fires(&session, Wait::text("BUILD OK").after(before)).await;
        assert!(matches!(fired, Fired::Text(_)), "{fired:?}");
    }
}

/// Not at the prompt between them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_prompt_comes_behind_all_lines_that_were_typed() {
    for program in ["bash", "zsh", "fish", "dash"] {
        let (sessions, home) = (sessions(), home());
        let session = ready(&sessions, launch_program(program, home.path())).await;
        for number in 1..=10 {
            let keys = "echo a >> typed<Enter>echo b >> typed<Enter>";
            session.send_keys(keys).await.expect("sent");
            fires(&session, prompt()).await;
            let typed = std::fs::read_to_string(home.path().join("typed")).expect("there");
            assert_eq!(typed.lines().count(), 2 * number, "{program}: {typed}");
        }
        sessions.shutdown().await;
    }
}
