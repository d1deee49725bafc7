//! Sessions that outlive their server: what the next one finds.
//!
//! A server that leaves writes nothing on its way out: what the next one finds is what a killed one
//! would have left too. Real kills are in the tests of the binary.

use std::path::Path;

use futures_util::future::join_all;
use tempfile::TempDir;
use termbridge_pty::{Keeper, Lasting};
use termbridge_session::vt::Size;
use termbridge_session::{
    CommandReport, CommandSetup, CommandState, Launch, NewCommand, Session, Sessions, Settings,
    SnapshotRequest, State, Wait,
};

use crate::support::{LIMIT, bash, limited, see, until};

/// A server at this folder, with what earlier ones left.
async fn server(folder: &Path) -> Sessions {
    let keeper = limited("a keeper", Keeper::lasting(Lasting::new(folder.join("keeper.sock"))));
    let keeper = keeper.await.expect("is there");
    let sessions = Sessions::lasting(Settings::default(), keeper, folder.join("sessions"));
    let adoption = limited("adoption", sessions.adopt()).await.expect("adopts");
    assert_eq!(adoption.lost, [], "none is lost");
    sessions
}

/// The server at this folder leaves and another comes; the sessions at it.
async fn next(old: Sessions, folder: &Path) -> Sessions {
    old.leave().await;
    drop(old);
    server(folder).await
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("made")
}

async fn whole(session: &Session, command: u64) -> CommandReport {
    session.command(command, 0, u64::MAX).await.expect("answers").expect("is kept")
}

async fn until_over(session: &Session, command: u64) -> CommandReport {
    let over = Wait { command: Some(command), ..Wait::default() };
    session.wait(over.timeout(LIMIT)).await.expect("waits");
    whole(session, command).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commands_and_their_output_go_on() {
    let folder = folder();
    let mut sessions = server(folder.path()).await;
    let shell = sessions.launch(bash().name("builds")).await.expect("launches");
    let id = shell.id().clone();
    let first = shell.execute("echo one; (exit 3)", LIMIT, 100).await.expect("runs");
    assert_eq!(
        (first.state, first.output.as_str()),
        (CommandState::Done { exit_code: 3 }, "one\n")
    );
    let long = "for i in $(seq 1 3000); do echo \"line $i\"; done; sleep 0.2; echo end; (exit 7)";
    let running = shell.submit(long).await.expect("begins");
    for _ in 0..3 {
        sessions = next(sessions, folder.path()).await;
    }
    let shell = sessions.get(&id).expect("is there");
    let info = shell.info().await.expect("answers");
    assert_eq!((info.name.as_deref(), &info.state), (Some("builds"), &State::Running));
    let report = until_over(&shell, running).await;
    assert_eq!(report.state, CommandState::Done { exit_code: 7 });
    let lines: Vec<String> = (1..=3000).map(|i| format!("line {i}\n")).collect();
    assert_eq!(report.output, lines.concat() + "end\n");
    let before = whole(&shell, first.id).await;
    assert_eq!((before.output.as_str(), before.exit_code()), ("one\n", Some(3)));
    let after = shell.execute("echo two", LIMIT, 100).await.expect("runs");
    assert_eq!((after.id, after.output.as_str()), (running + 1, "two\n"));
    sessions.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_screen_at_the_next_server_has_all_that_was_read() {
    let folder = folder();
    let sessions = server(folder.path()).await;
    let mut ids = Vec::new();
    for _ in 0..20 {
        let launch = Launch::new("sh").arg("-c").arg("seq 200; echo ready; exec cat");
        let session = sessions.launch(launch).await.expect("launches");
        see(&session, "ready").await;
        ids.push(session.id().clone());
    }
    let sessions = next(sessions, folder.path()).await;
    // All at once, so that they are asked for before they are restored.
    let screens = ids.iter().map(|id| {
        let session = sessions.get(id).expect("is there");
        async move { session.screen().await.expect("answers") }
    });
    for screen in join_all(screens).await {
        assert!(screen.contains("ready"), "{:?}", screen.text());
    }
    sessions.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_loses_no_byte_and_its_screen_is_that_of_an_undisturbed_twin() {
    let folder = folder();
    let mut sessions = server(folder.path()).await;
    let flood = "seq 1 4000000; echo done";
    let twin = sessions.launch(bash()).await.expect("launches");
    let shell = sessions.launch(bash()).await.expect("launches");
    let (id, twin_id) = (shell.id().clone(), twin.id().clone());
    for session in [&twin, &shell] {
        session.execute("PS1='$ '; clear", LIMIT, 0).await.expect("runs");
    }
    twin.execute(flood, LIMIT, 0).await.expect("runs");
    let running = shell.submit(flood).await.expect("begins");
    for megabytes in [1, 8, 12, 20] {
        let shell = sessions.get(&id).expect("is there");
        until("it prints", async || {
            let report = shell.command(running, 0, 0).await.expect("answers").expect("is kept");
            report.output_bytes > megabytes << 20
        })
        .await;
        sessions = next(sessions, folder.path()).await;
    }
    let (shell, twin) = (sessions.get(&id).expect("there"), sessions.get(&twin_id).expect("there"));
    let report = until_over(&shell, running).await;
    assert_eq!(report.exit_code(), Some(0));
    let expected: u64 = (1..=4_000_000u64).map(|i| i.to_string().len() as u64 + 1).sum();
    assert_eq!(report.output_bytes, expected + 5);
    assert_eq!(report.dropped_bytes, 0);
    let mut at = 0;
    let mut number = 0;
    while at < report.output_bytes {
        let part = shell.command(running, at, 1 << 20).await.expect("answers").expect("is kept");
        assert_eq!(part.output_start, at);
        at += part.output.len() as u64;
        let whole = part.output.rfind('\n').map_or(0, |end| end + 1);
        at -= (part.output.len() - whole) as u64;
        for line in part.output[..whole].lines() {
            number += 1;
            if number <= 4_000_000 {
                assert_eq!(line, number.to_string());
            } else {
                assert_eq!(line, "done");
            }
        }
    }
    assert_eq!(number, 4_000_001);
    let all = SnapshotRequest { since: None, scrollback: Some(usize::MAX) };
    let of = async |session: &Session| {
        see(session, "done").await;
        session.snapshot(all).await.expect("answers")
    };
    let (ours, twins) = (of(&shell).await, of(&twin).await);
    assert_eq!(ours.screen, twins.screen);
    assert_eq!(ours.scrollback, twins.scrollback);
    sessions.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn screens_exit_codes_and_what_is_typed_go_on() {
    let folder = folder();
    let mut sessions = server(folder.path()).await;
    let full_screen = "printf '\\033[?1049h\\033[2;3Hhello \\033[31mred\\033[m'; stty -echo; read a; \
                       printf '\\033[?1049lback %s' \"$a\"; exit 5";
    let app = Launch::new("/bin/sh").args(["-c", full_screen]).size(60, 10);
    let app = sessions.launch(app).await.expect("launches");
    see(&app, "hello red").await;
    let gone = sessions.launch(Launch::new("/bin/sh").args(["-c", "read a; exit 9"])).await;
    let gone = gone.expect("launches");
    let over =
        sessions.launch(Launch::new("/bin/sh").args(["-c", "echo last words; exit 4"])).await;
    let over = over.expect("launches");
    over.wait(Wait::exit().timeout(LIMIT)).await.expect("waits");
    let before = app.snapshot(SnapshotRequest::default()).await.expect("answers");
    let ids = [&app, &gone, &over].map(|session| session.id().clone());
    gone.send_keys("<Enter>").await.expect("sent");
    sessions = next(sessions, folder.path()).await;
    let [app, gone, over] = ids.map(|id| sessions.get(&id).expect("is there"));
    let after = app.snapshot(SnapshotRequest::default()).await.expect("answers");
    assert_eq!(after.screen, before.screen);
    assert!(after.screen.alternate && after.seq >= before.seq);
    app.send_keys("again<Enter>").await.expect("sent");
    for (session, code) in [(&app, 5), (&gone, 9), (&over, 4)] {
        session.wait(Wait::exit().timeout(LIMIT)).await.expect("waits");
        let State::Exited(ended) = session.info().await.expect("answers").state else {
            panic!("it has ended");
        };
        assert_eq!(ended.exit_code(), Some(code));
    }
    assert!(app.screen().await.expect("answers").contains("back again"));
    assert!(over.screen().await.expect("answers").contains("last words"));
    sessions.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_who_drove_gives_way_and_the_agents_have_their_size_again() {
    let folder = folder();
    let mut sessions = server(folder.path()).await;
    let cat = sessions.launch(Launch::new("cat").size(60, 10)).await.expect("launches");
    cat.take_over("ann").await.expect("taken over");
    let panel = Size { cols: 90, rows: 20 };
    cat.fit("ann", panel).await.expect("fits");
    let fits = async {
        while cat.size().await.expect("known") != panel {
            tokio::task::yield_now().await;
        }
    };
    limited("it has the panel's size", fits).await;
    cat.type_in("ann", b"typed\r".to_vec()).await.expect("typed");
    see(&cat, "typed\ntyped").await;
    let id = cat.id().clone();
    sessions = next(sessions, folder.path()).await;
    let cat = sessions.get(&id).expect("is there");
    assert_eq!(cat.size().await.expect("known"), Size { cols: 90, rows: 20 });
    assert_eq!(cat.typed_by_people(), 6, "an agent can still be told");
    // The person may come again; after a while it is the agents'.
    assert!(cat.send_keys("x").await.is_err());
    cat.hand_back("ann").await.expect("handed back");
    cat.resize(Size { cols: 61, rows: 10 }).await.expect("the agent's");
    sessions = next(sessions, folder.path()).await;
    let cat = sessions.get(&id).expect("is there");
    cat.send_keys("mine<Enter>").await.expect("nobody drives");
    assert_eq!(cat.size().await.expect("known"), Size { cols: 61, rows: 10 });
    sessions.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_is_found_by_the_request_that_it_came_with() {
    let folder = folder();
    let mut sessions = server(folder.path()).await;
    let shell = sessions.launch(bash()).await.expect("launches");
    let id = shell.id().clone();
    let key = Some("client 7".to_owned());
    let command = NewCommand { text: "read a; echo got $a".into(), key, ..NewCommand::default() };
    let running = shell.submit_new(command, LIMIT).await.expect("begins");
    sessions = next(sessions, folder.path()).await;
    let shell = sessions.get(&id).expect("is there");
    assert_eq!(shell.keyed("client 7").await.expect("answers"), Some(running));
    assert_eq!(shell.keyed("client 8").await.expect("answers"), None);
    shell.send_keys("it<Enter>").await.expect("sent");
    assert_eq!(until_over(&shell, running).await.output, "it\ngot it\n");
    sessions.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shell_returns_from_the_directory_of_a_command_at_the_next_server() {
    let folder = folder();
    let mut sessions = server(folder.path()).await;
    let shell = sessions.launch(bash()).await.expect("launches");
    let id = shell.id().clone();
    shell.execute("true", LIMIT, 0).await.expect("runs");
    let home = shell.info().await.expect("is there").cwd;
    let setup = CommandSetup { cwd: Some("/usr".into()), ..CommandSetup::default() };
    let command = NewCommand { text: "read a; pwd".into(), setup, ..NewCommand::default() };
    let running = shell.submit_new(command, LIMIT).await.expect("begins");
    let mut wait = Wait { command: Some(running), needs_input: true, ..Wait::default() };
    wait = wait.timeout(LIMIT);
    shell.wait(wait).await.expect("waits");
    sessions = next(sessions, folder.path()).await;
    let shell = sessions.get(&id).expect("is there");
    let info = shell.info().await.expect("is there");
    assert_eq!((info.cwd.as_path(), info.own_directory()), (Path::new("/usr"), home.as_path()));
    shell.send_keys("it<Enter>").await.expect("sent");
    assert_eq!(until_over(&shell, running).await.output, "it\n/usr\n");
    assert_eq!(shell.info().await.expect("is there").cwd, home);
    sessions.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_left_behind() {
    let folder = folder();
    let mut sessions = server(folder.path()).await;
    let shell = sessions.launch(bash()).await.expect("launches");
    let id = shell.id().clone();
    shell.execute("seq 1 100000", LIMIT, 0).await.expect("runs");
    sessions = next(sessions, folder.path()).await;
    let shell = sessions.get(&id).expect("is there");
    shell.execute("seq 1 100000", LIMIT, 0).await.expect("runs");
    sessions.shutdown().await;
    let folders = std::fs::read_dir(folder.path().join("sessions")).expect("there");
    assert_eq!(folders.count(), 0);
}
