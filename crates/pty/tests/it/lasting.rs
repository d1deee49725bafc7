//! A keeper outlives its server and hands its programs to the next.

use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::time::Duration;

use rustix::process::Signal as Raw;
use termbridge_pty::{
    AttachError, ControlError, ExitStatus, JournalSize, Keeper, KeeperLoss, Lasting, RuntimeFolder,
    Signal, SignalScope, SpawnError, SpawnSpec,
};

use crate::servers::{Place, Server, adopt_only, keeper_gone, own_role, say};
use crate::support::{gone, is_alive, limited, read_pids, read_to, read_to_end, sh, sh_spec};

#[tokio::test]
async fn a_program_is_left_to_the_next_server() {
    let place = Place::new();
    let first = place.server().await;
    let pid = first.pid().expect("a keeper");
    let program = sh(&first, "read x; echo got $x; read y; exit 7").await;
    let (shell, tty) = (program.pid(), program.tty_name().to_owned());
    first.leave().await;
    // As when a server stops: dropping is no release any more.
    let error = program.signal(Signal::TERM, SignalScope::Leader).await.expect_err("left");
    assert!(matches!(error, ControlError::KeeperGone), "{error}");
    assert!(program.try_read(&mut [0; 8]).is_err());
    drop(program);
    let error = first.spawn(SpawnSpec::new("true")).await.expect_err("left");
    assert!(matches!(error, SpawnError::KeeperGone), "{error}");
    assert_eq!(first.lost().await, KeeperLoss::Gone);
    drop(first);

    let second = place.server().await;
    assert_eq!(second.pid(), Some(pid), "the same keeper");
    let held = second.held().await.expect("held");
    assert_eq!(held.len(), 1, "{held:?}");
    assert_eq!((held[0].pid, &held[0].tty, held[0].status), (shell, &tty, None));
    assert_eq!((held[0].label.as_str(), held[0].has_journal), ("test", false));
    let program = second.adopt(held[0].id).await.expect("adopted");
    assert_eq!((program.pid(), program.tty_name(), program.id()), (shell, &*tty, held[0].id));
    let error = second.adopt(held[0].id).await.expect_err("once");
    assert!(matches!(error, ControlError::Refused(_)), "{error}");
    program.write(b"one\n").await.expect("write");
    read_to(&program, "got one").await;
    assert_eq!(program.survey().await.expect("survey").processes.len(), 1);
    program.write(b"two\n").await.expect("write");
    assert_eq!(limited("the exit", program.exited()).await, ExitStatus::Code(7));
    drop(program);
    limited("shutdown", second.shutdown(Duration::ZERO)).await;
    keeper_gone(pid).await;
    assert!(!place.socket().exists());
}

#[tokio::test]
async fn an_exit_and_the_last_words_wait_for_the_next_server() {
    let place = Place::new();
    let first = place.server().await;
    let program = sh(&first, "read x; echo last words; exit 7").await;
    let killed = sh(&first, "kill -9 $$").await;
    let (pid, other) = (program.pid(), killed.pid());
    program.write(b"\n").await.expect("write");
    first.leave().await;
    drop((first, program, killed));
    gone(pid).await;
    gone(other).await;

    let second = place.server().await;
    let held = second.held().await.expect("held");
    assert_eq!(held.len(), 2);
    let program = second.adopt(held[0].id).await.expect("adopted");
    assert_eq!(limited("the exit", program.exited()).await, ExitStatus::Code(7));
    assert!(read_to_end(&program).await.contains("last words"));
    let killed = second.adopt(held[1].id).await.expect("adopted");
    let signal = ExitStatus::Signal { number: 9, core_dumped: false };
    assert_eq!(limited("the exit", killed.exited()).await, signal);
    drop((program, killed));
    assert_eq!(second.held().await.expect("held"), [], "released");
    drop(second);
    place.end().await;
}

#[tokio::test]
async fn a_keeper_that_nobody_can_find_any_more_ends_with_all_it_holds() {
    let place = Place::new();
    let server = place.server().await;
    let keeper = server.pid().expect("a keeper");
    let program = sh(&server, "echo ready; read x").await;
    read_to(&program, "ready").await;
    let pid = program.pid();
    std::fs::remove_file(place.socket()).expect("removed");
    // As long as there is a server, it goes on.
    program.write(b"").await.expect("it is there");
    server.leave().await;
    drop((server, program));
    gone(pid).await;
    keeper_gone(keeper).await;
}

#[tokio::test]
async fn what_is_in_a_command_pipe_survives() {
    let place = Place::new();
    let folders = Arc::new(RuntimeFolder::lasting(&place.folder().join("run")).expect("made"));
    let first = place.server().await;
    let mut folder = folders.private_folder().expect("a folder");
    let pipe = folder.pipe("commands").expect("a pipe");
    let path = folder.path().join("commands");
    let script = "read x; read a < $P; read b < $P; echo $a-$b";
    let mut spec = sh_spec(script);
    spec.env.push(("P".into(), path.clone().into()));
    spec.private_folder = Some(folder.path().to_owned());
    spec.command_pipe = Some(path.clone());
    let program = first.spawn(spec).await.expect("spawned");
    folder.hand_over();
    // A shell reads a byte at a time, so the second line stays for the second read.
    pipe.write(b"one\ntwo\n").expect("written");
    first.leave().await;
    drop((first, program, pipe, folder));

    let second = place.server().await;
    let held = second.held().await.expect("held");
    folders.sweep(&held);
    assert_eq!(held[0].private_folder.as_deref(), path.parent());
    let mut program = second.adopt(held[0].id).await.expect("adopted");
    let folder = folders.adopt(held[0].private_folder.clone().expect("a folder"));
    let pipe = program.take_command_pipe().expect("the pipe");
    assert_eq!(pipe.unread().expect("unread"), 8);
    assert!(pipe.capacity() >= 8);
    program.write(b"\n").await.expect("write");
    read_to(&program, "one-two").await;
    drop((pipe, folder));
    assert!(path.exists(), "the keeper's");
    drop(program);
    second.shutdown(Duration::ZERO).await;
    assert!(!path.exists(), "removed with the program");
    // What a killed keeper would have left.
    let stale = folders.private_folder().expect("a folder");
    folders.sweep(&[]);
    assert!(!stale.path().exists());
}

#[tokio::test]
async fn nobody_reads_while_there_is_no_server() {
    let place = Place::new();
    let first = place.server().await;
    // Far more than the kernel holds: the program waits.
    let program = sh(&first, "echo A=$$; read x; seq 1 100000; exit 3").await;
    let [pid] = read_pids(&program, ["A"]).await;
    program.write(b"\n").await.expect("write");
    first.leave().await;
    drop((first, program));
    for _ in 0..3 {
        let between = place.server().await;
        assert_eq!(between.held().await.expect("held")[0].status, None);
        between.leave().await;
    }
    assert!(is_alive(pid));
    let last = place.server().await;
    let program = adopt_only(&last).await;
    let output = read_to_end(&program).await;
    let numbers: Vec<u32> = output.lines().filter_map(|line| line.parse().ok()).collect();
    assert!(numbers.iter().copied().eq(1..=100_000), "every number once and in order");
    assert_eq!(program.exited().await, ExitStatus::Code(3));
    drop((last, program));
    place.end().await;
}

#[tokio::test]
async fn a_second_server_is_refused_and_may_take_over() {
    let place = Place::new();
    let first = place.server().await;
    let program = sh(&first, "read x; exit 5").await;
    let error = Keeper::lasting(place.lasting()).await.expect_err("busy");
    let AttachError::Busy { holder } = error else { panic!("{error}") };
    assert_eq!(holder, std::process::id());

    let lost = tokio::spawn({
        let first = first.clone();
        async move { first.lost().await }
    });
    let second = place.taking_over().await.expect("taken over");
    // By then the first is no server any more.
    let by = std::process::id();
    assert_eq!(limited("the loss", lost).await.expect("task"), KeeperLoss::TakenOver { by });
    let error = program.signal(Signal::TERM, SignalScope::Leader).await.expect_err("lost");
    assert!(matches!(error, ControlError::KeeperGone), "{error}");
    assert!(program.try_write(b"\n").is_err());
    assert!(first.held().await.is_err());
    let error = first.spawn(SpawnSpec::new("true")).await.expect_err("lost");
    assert!(matches!(error, SpawnError::Attach(AttachError::TakenOver { .. })), "{error}");
    assert_eq!(program.exit_status(), None);
    drop((first, program));

    let program = adopt_only(&second).await;
    program.write(b"\n").await.expect("write");
    assert_eq!(limited("the exit", program.exited()).await, ExitStatus::Code(5));
    drop((second, program));
    place.end().await;
}

#[tokio::test]
async fn a_server_that_does_not_let_go_is_cut_off() {
    let place = Place::new();
    let mut old = Server::start(&place, "lasting::holder", "holder");
    assert_eq!(old.hears().as_deref(), Some("holding"));
    let stopped = rustix::process::Pid::from_raw(old.pid() as i32).expect("pid");
    rustix::process::kill_process(stopped, Raw::STOP).expect("stop");
    let error = Keeper::lasting(place.lasting()).await.expect_err("busy");
    assert!(matches!(error, AttachError::Busy { holder } if holder == old.pid()), "{error}");
    let new = place.taking_over().await.expect("taken over");
    let program = adopt_only(&new).await;
    rustix::process::kill_process(stopped, Raw::CONT).expect("continue");
    assert_eq!(old.hears().as_deref(), Some("lost"));
    program.write(b"\n").await.expect("write");
    assert_eq!(limited("the exit", program.exited()).await, ExitStatus::Code(5));
    drop((new, program));
    place.end().await;
}

/// Not a test: holds the keeper until it is taken, and says so.
#[test]
#[ignore = "run by other tests"]
fn holder() {
    let Some(socket) = own_role("holder") else { return };
    let runtime = tokio::runtime::Runtime::new().expect("runtime");
    runtime.block_on(async {
        let keeper = Keeper::lasting(Lasting::new(socket)).await.expect("the keeper");
        let _program = sh(&keeper, "read x; exit 5").await;
        say("holding");
        keeper.lost().await;
        say("lost");
    });
}

/// Not a test: says whether it got the keeper.
#[test]
#[ignore = "run by other tests"]
fn rival() {
    let Some(socket) = own_role("rival") else { return };
    let runtime = tokio::runtime::Runtime::new().expect("runtime");
    runtime.block_on(async {
        match Keeper::lasting(Lasting::new(socket)).await {
            Ok(keeper) => {
                say(&format!("won {}", keeper.pid().expect("a keeper")));
                std::future::pending::<()>().await;
            }
            Err(AttachError::Busy { holder }) => say(&format!("busy {holder}")),
            Err(error) => say(&format!("failed {error}")),
        }
    });
}

#[tokio::test]
async fn of_ten_servers_at_once_one_gets_one_keeper() {
    let place = Place::new();
    let mut keepers = Vec::new();
    // First there is none, then a dead one's socket.
    for _ in 0..2 {
        let mut rivals: Vec<Server> =
            (0..10).map(|_| Server::start(&place, "lasting::rival", "rival")).collect();
        let said: Vec<String> =
            rivals.iter_mut().map(|rival| rival.hears().expect("an answer")).collect();
        let winner = said.iter().position(|line| line.starts_with("won ")).expect("a winner");
        let busy = format!("busy {}", rivals[winner].pid());
        for (index, line) in said.iter().enumerate() {
            assert!(index == winner || *line == busy, "{said:?}");
        }
        let pid: i32 = said[winner]["won ".len()..].parse().expect("a pid");
        keepers.push(pid);
        drop(rivals);
        let mode = std::fs::metadata(place.socket()).expect("socket").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let keeper = rustix::process::Pid::from_raw(pid).expect("pid");
        rustix::process::kill_process(keeper, Raw::KILL).expect("kill");
        gone(pid).await;
        assert!(place.socket().exists(), "stale");
    }
    assert_ne!(keepers[0], keepers[1]);
    std::fs::remove_file(place.socket()).expect("a dead keeper's");
}

#[tokio::test]
async fn a_keeper_survives_what_ends_its_server() {
    let place = Place::new();
    let server = place.server().await;
    let pid = server.pid().expect("a keeper");
    let keeper = rustix::process::Pid::from_raw(pid as i32).expect("pid");
    assert_eq!(rustix::process::getsid(Some(keeper)), Ok(keeper), "a session of its own");
    for signal in [Raw::HUP, Raw::INT, Raw::TERM, Raw::PIPE] {
        rustix::process::kill_process(keeper, signal).expect("kill");
    }
    let program = sh(&server, "exit 4").await;
    assert_eq!(limited("the exit", program.exited()).await, ExitStatus::Code(4));
    // Nobody's child, no terminal, nothing of the server's open.
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("status");
    assert!(!status.contains(&format!("PPid:\t{}\n", std::process::id())), "{status}");
    assert_eq!(std::fs::read_link(format!("/proc/{pid}/cwd")).expect("cwd").as_os_str(), "/");
    for descriptor in 0..3 {
        let open = std::fs::read_link(format!("/proc/{pid}/fd/{descriptor}")).expect("open");
        assert_eq!(open.as_os_str(), "/dev/null");
    }
    let environment = std::fs::read_to_string(format!("/proc/{pid}/environ")).expect("read");
    assert!(environment.split_terminator('\0').all(|entry| entry.starts_with("LD_LIBRARY_PATH=")));
    drop((server, program));
    place.end().await;
}

#[tokio::test]
async fn an_empty_keeper_ends_after_a_while() {
    let place = Place::new();
    let lasting = Lasting { linger: Duration::from_millis(50), ..place.lasting() };
    let server = Keeper::lasting(lasting.clone()).await.expect("the keeper");
    let pid = server.pid().expect("a keeper");
    let program = sh(&server, "setsid sleep 600 & echo A=$!; read x").await;
    let [detached] = read_pids(&program, ["A"]).await;
    server.leave().await;
    drop((server, program));
    // It holds a program, so it stays; the next finds it.
    let server = Keeper::lasting(lasting.clone()).await.expect("the keeper");
    assert_eq!(server.pid(), Some(pid));
    drop(adopt_only(&server).await);
    drop(server);
    keeper_gone(pid).await;
    gone(detached).await;
    assert!(!place.socket().exists());
    let server = Keeper::lasting(lasting).await.expect("another keeper");
    assert_ne!(server.pid(), Some(pid));
    drop(server);
    place.end().await;
}

#[tokio::test]
async fn everything_can_be_ended_when_the_server_is_gone() {
    let place = Place::new();
    assert!(!Keeper::end_all(place.socket(), Duration::ZERO).await.expect("nobody there"));
    let server = place.server().await;
    let program =
        sh(&server, "trap '' TERM HUP; setsid sleep 600 & echo A=$!; echo B=$$; cat").await;
    let pids = read_pids(&program, ["A", "B"]).await;
    let error = Keeper::end_all(place.socket(), Duration::ZERO).await.expect_err("a server");
    assert!(matches!(error, AttachError::Busy { .. }), "{error}");
    let pid = server.pid().expect("a keeper");
    server.leave().await;
    drop((server, program));
    let ended = Keeper::end_all(place.socket(), Duration::from_millis(50));
    assert!(limited("the end", ended).await.expect("ended"));
    for pid in pids {
        gone(pid).await;
    }
    keeper_gone(pid).await;
    assert!(!place.socket().exists());
}

#[tokio::test]
async fn the_death_of_a_lasting_keeper_is_that_of_its_programs() {
    let place = Place::new();
    let server = place.server().await;
    let program = sh(&server, "trap '' HUP; echo A=$$; read x").await;
    let [shell] = read_pids(&program, ["A"]).await;
    let pid = rustix::process::Pid::from_raw(server.pid().expect("keeper") as i32).expect("pid");
    rustix::process::kill_process(pid, Raw::KILL).expect("kill");
    assert_eq!(limited("the loss", program.exited()).await, ExitStatus::Lost);
    gone(shell).await;
    let report = program.stop(Signal::TERM, Duration::ZERO).await.expect("nothing is left to stop");
    assert_eq!(report.status, Some(ExitStatus::Lost));
    let lost = tokio::spawn({
        let server = server.clone();
        async move { server.lost().await }
    });
    let again = limited("another keeper", sh(&server, "exit 6")).await;
    assert_eq!(again.exited().await, ExitStatus::Code(6));
    // Not by the death of the first keeper, but by the end of the link to the second.
    assert!(!lost.is_finished());
    server.leave().await;
    assert_eq!(limited("the loss", lost).await.expect("task"), KeeperLoss::Gone);
    drop((server, again));
    place.end().await;
}

#[tokio::test]
async fn an_adoption_that_is_dropped_keeps_the_program() {
    let place = Place::new();
    let first = place.server().await;
    let program = sh(&first, "read x; exit 3").await;
    first.leave().await;
    drop((first, program));
    let second = place.server().await;
    let id = second.held().await.expect("held")[0].id;
    for _ in 0..20 {
        tokio::select! {
            biased;
            // Seldom, when the keeper is faster than one turn of the runtime.
            adopted = second.adopt(id) => { drop(adopted.map(std::mem::forget)); break }
            () = tokio::task::yield_now() => {}
        }
        // What was asked before is answered before.
        assert_eq!(second.held().await.expect("held").len(), 1);
    }
    second.leave().await;
    drop(second);
    let third = place.server().await;
    let program = adopt_only(&third).await;
    program.write(b"\n").await.expect("write");
    assert_eq!(limited("the exit", program.exited()).await, ExitStatus::Code(3));
    drop((third, program));
    place.end().await;
}

#[tokio::test]
async fn what_is_released_last_is_released() {
    let place = Place::new();
    for round in 0..30 {
        let server = place.server().await;
        assert_eq!(server.held().await.expect("held"), [], "round {round}");
        // Its exit is reported about when the server leaves: nobody hears that any more.
        let program = sh(&server, "exit 0").await;
        if round % 2 == 0 {
            drop(program);
            server.leave().await;
        } else {
            drop((server, program));
            tokio::task::yield_now().await;
        }
        // A session takes its time to end.
        let server = loop {
            match Keeper::lasting(place.lasting()).await {
                Err(AttachError::Busy { .. }) => tokio::task::yield_now().await,
                attached => break attached.expect("the keeper"),
            }
        };
        limited("the release", async {
            while !server.held().await.expect("held").is_empty() {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        })
        .await;
        server.leave().await;
    }
    place.end().await;
}

#[tokio::test]
async fn a_hundred_programs_are_adopted() {
    let place = Place::new();
    let first = place.server().await;
    let mut programs = Vec::new();
    for index in 0..100 {
        let mut spec = sh_spec("read x; exit $x");
        spec.label = format!("s{index}");
        spec.journal = Some(JournalSize::default());
        programs.push(first.spawn(spec).await.expect("spawned"));
    }
    first.leave().await;
    drop((first, programs));
    let start = std::time::Instant::now();
    let second = place.server().await;
    let mut programs = Vec::new();
    for held in second.held().await.expect("held") {
        programs.push((held.label.clone(), second.adopt(held.id).await.expect("adopted")));
    }
    println!("adopting {} took {:?}", programs.len(), start.elapsed());
    assert_eq!(programs.len(), 100);
    for (index, (label, program)) in programs.iter().enumerate() {
        assert_eq!(*label, format!("s{index}"));
        program.write(format!("{index}\n").as_bytes()).await.expect("write");
        let status = limited("the exit", program.exited()).await;
        assert_eq!(status, ExitStatus::Code(index as i32));
    }
    drop((second, programs));
    place.end().await;
}

#[tokio::test]
async fn nothing_is_left_of_released_programs() {
    let place = Place::new();
    let folders = Arc::new(RuntimeFolder::lasting(&place.folder().join("run")).expect("made"));
    let mut server = place.server().await;
    let pid = server.pid().expect("a keeper");
    let descriptors = || std::fs::read_dir(format!("/proc/{pid}/fd")).expect("fd").count();
    let children =
        || std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).expect("children");
    let before = descriptors();
    for round in 0..20 {
        let mut folder = folders.private_folder().expect("a folder");
        let pipe = folder.pipe("commands").expect("a pipe");
        let mut spec = sh_spec(if round % 2 == 0 { "read x" } else { "exit 1" });
        spec.private_folder = Some(folder.path().to_owned());
        spec.command_pipe = Some(folder.path().join("commands"));
        spec.journal = Some(JournalSize::default());
        let program = server.spawn(spec).await.expect("spawned");
        folder.hand_over();
        server.leave().await;
        drop((program, folder, pipe));
        server = place.server().await;
        let mut program = adopt_only(&server).await;
        assert!(program.take_journal().is_some());
        assert!(program.take_command_pipe().is_some());
    }
    // A release is not answered, and a session takes its time to end.
    limited("all to go", async {
        while !server.held().await.expect("held").is_empty()
            || !children().is_empty()
            || descriptors() != before
        {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
    let left = std::fs::read_dir(place.folder().join("run")).expect("read").count();
    assert_eq!(left, 0, "folders");
    drop(server);
    place.end().await;
}
