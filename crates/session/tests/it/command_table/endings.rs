//! Commands that end the shell, and commands that are no whole command.

use termbridge_session::{CommandState, EndReason, Signal, State};

use super::setups::{PROGRAMS, installed};
use super::{ALL, Bash, Dash, Fish, Kind, Zsh, home, launch, launch_program, over, ready, run};
use crate::support::{LIMIT, limited, see, sessions, state};

/// Runs each command in a shell of its own; the last one ends it.
async fn ends(kind: Kind, commands: &[&str]) -> (CommandState, String) {
    let (sessions, home) = (sessions(), home());
    let session = ready(&sessions, launch(kind, home.path())).await;
    let (last, before) = commands.split_last().expect("a command");
    for command in before {
        let report = run(&session, command).await;
        assert_eq!(report.state, CommandState::Done { exit_code: 0 }, "{kind:?}: {command}");
    }
    let report = run(&session, last).await;
    if let CommandState::SessionEnded { exit_code } = report.state {
        let State::Exited(ended) = state(&session).await else { panic!("{kind:?}: {last}: runs") };
        assert_eq!(ended.exit_code(), exit_code, "{kind:?}: {last}");
        assert_eq!(ended.reason, EndReason::Itself, "{kind:?}: {last}");
    }
    sessions.shutdown().await;
    (report.state, report.output)
}

const fn ended(code: i32) -> CommandState {
    CommandState::SessionEnded { exit_code: Some(code) }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn exit_ends_the_session_with_its_code() {
    for kind in ALL {
        let (state, output) = ends(kind, &["exit 5"]).await;
        assert_eq!(state, ended(5), "{kind:?}");
        assert_eq!(output, "", "{kind:?}");
        let (state, output) = ends(kind, &["echo last\nexit 0\necho never"]).await;
        assert_eq!(state, ended(0), "{kind:?}");
        assert_eq!(output, "last\n", "{kind:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shell_that_is_killed_has_no_exit_code() {
    for kind in ALL {
        let kill = if kind == Fish { "kill -KILL $fish_pid" } else { "kill -KILL $$" };
        let (state, _) = ends(kind, &[kill]).await;
        assert_eq!(state, CommandState::SessionEnded { exit_code: None }, "{kind:?}");
    }
}

/// zsh exits with 1 when its terminal hangs up: that is not the command's code.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_whose_session_is_closed_has_no_exit_code() {
    for kind in ALL {
        let (sessions, home) = (sessions(), home());
        let session = ready(&sessions, launch(kind, home.path())).await;
        // A child that has not reached its `exec` would lose the signal to the shell's handler.
        let text = "sh -c 'echo ready; exec sleep 1000'";
        let command = session.submit(text).await.expect("it begins");
        see(&session, "ready").await;
        let stopped = limited("stop", session.stop(Signal::HUP, LIMIT)).await.expect("stops");
        let state = over(&session, command).await.state;
        assert_eq!(state, CommandState::SessionEnded { exit_code: None }, "{kind:?}");
        assert_eq!(stopped.ended.command_signal().as_deref(), Some("SIGHUP"), "{kind:?}");
        sessions.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_trap_prints_at_the_end_is_told() {
    for kind in [Bash, Zsh, Dash] {
        let (state, output) = ends(kind, &["trap 'echo bye' EXIT", "exit 3"]).await;
        assert_eq!(state, ended(3), "{kind:?}");
        assert!(output.ends_with("bye\n"), "{kind:?}: {output:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failure_ends_a_shell_that_was_told_so() {
    for kind in [Bash, Zsh, Dash] {
        let commands =
            ["set -e", "true", "if false; then :; fi", "false || true", "sh -c 'exit 9'"];
        let (state, output) = ends(kind, &commands).await;
        assert_eq!(state, ended(9), "{kind:?}");
        assert_eq!(output, "", "{kind:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_status_that_does_not_count_as_failure_leaves_it_alone() {
    for kind in [Bash, Zsh] {
        let (sessions, home) = (sessions(), home());
        let session = ready(&sessions, launch(kind, home.path())).await;
        run(&session, "set -e").await;
        let negated = run(&session, "! true").await;
        assert_eq!(negated.state, CommandState::Done { exit_code: 1 }, "{kind:?}");
        let next = run(&session, "echo alive").await;
        assert_eq!(
            (next.state, next.output.as_str()),
            (CommandState::Done { exit_code: 0 }, "alive\n")
        );
        sessions.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn exec_hands_the_session_over() {
    for kind in ALL {
        let (state, output) = ends(kind, &["exec sh -c 'echo other; exit 4'"]).await;
        assert_eq!((state, output.as_str()), (ended(4), "other\n"), "{kind:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_unfinished_command_is_told_and_the_shell_goes_on() {
    let posix = [
        "echo 'open",
        "echo \"open",
        "echo a &&",
        "echo a |",
        "if true; then",
        "for i in 1 2",
        "echo $(echo",
        "cat <<EOF\nin the document\n",
        "f() {\necho in",
        "echo back\\",
        "case x in",
    ];
    let fish = [
        "echo 'open",
        "echo \"open",
        "if true",
        "for i in 1 2",
        "echo (echo",
        "function f",
        "echo a |",
    ];
    for kind in [Bash, Zsh, Fish] {
        let (sessions, home) = (sessions(), home());
        let session = ready(&sessions, launch(kind, home.path())).await;
        let texts: &[&str] = if kind == Fish { &fish } else { &posix };
        for text in texts {
            let report = run(&session, text).await;
            assert_eq!(
                report.state,
                CommandState::Incomplete,
                "{kind:?}: {text:?}: {:?}",
                report.output
            );
            let next = run(&session, "echo next").await;
            let done = CommandState::Done { exit_code: 0 };
            assert_eq!((next.state, next.output.as_str()), (done, "next\n"), "{kind:?}: {text:?}");
        }
        // What came before the unfinished part ran, in a shell that goes line by line.
        let report = run(&session, "echo ran\necho 'open").await;
        assert_eq!(report.state, CommandState::Incomplete, "{kind:?}");
        assert_eq!(report.output, if kind == Bash { "ran\n" } else { "" }, "{kind:?}");
        assert_eq!(run(&session, "echo next").await.output, "next\n", "{kind:?}");
        sessions.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_unfinished_command_is_a_syntax_error_to_a_shell_without_a_line_editor() {
    let (sessions, home) = (sessions(), home());
    let session = ready(&sessions, launch(Dash, home.path())).await;
    for text in ["echo 'open", "echo \"open", "echo a &&", "if true; then", "for i in 1 2"] {
        let report = run(&session, text).await;
        assert_eq!(report.state, CommandState::Done { exit_code: 2 }, "{text:?}");
        assert!(report.output.contains("Syntax error"), "{text:?}: {:?}", report.output);
        assert_eq!(run(&session, "echo next").await.output, "next\n", "{text:?}");
    }
    sessions.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_with_a_nul_is_refused() {
    for kind in [Bash, Zsh] {
        let (sessions, home) = (sessions(), home());
        let session = ready(&sessions, launch(kind, home.path())).await;
        let error = session.submit("echo a\0b").await.expect_err("refused");
        assert!(error.to_string().contains("NUL"), "{error}");
        let error = session.submit(&"x".repeat(600_000)).await.expect_err("refused");
        assert!(error.to_string().contains("600000 bytes"), "{error}");
        assert_eq!(run(&session, "echo next").await.output, "next\n", "{kind:?}");
        sessions.shutdown().await;
    }
}

/// A program that was killed leaves the terminal in any state: the next command's output is whole all the same.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_killed_program_left_spoils_no_output() {
    for program in installed(&PROGRAMS) {
        let (sessions, home) = (sessions(), home());
        let session = ready(&sessions, launch_program(program, home.path())).await;
        for left in [
            r"\033[?1049h\033[2J\033[5;9r",
            r"\033(0\033[?1049h\033(B",
            r"\033[3;6r\033[?6h",
            r"\033[?69h\033[3;9s",
            r"\033[4h\033[?7l",
            r"\033)0\016",
            r"\033[12;60Hx\033[H",
            r"%0600d\033[5A",
            r"\033]0;no end",
            r"\033P no end",
        ] {
            run(&session, &format!("printf '{left}' 0")).await;
            let report = run(&session, "echo qx 漢字 marker; seq 1 100").await;
            let numbers: String = (1..=100).fold(String::new(), |text, n| text + &format!("{n}\n"));
            let expected = format!("qx 漢字 marker\n{numbers}");
            assert_eq!(report.output, expected, "{program}: {left}");
        }
        sessions.shutdown().await;
    }
}
