//! Commands that wait: for input, for time, for an interrupt.

use std::time::Duration;

use termbridge_session::{CommandState, Fired, Session, Wait};

use super::{ALL, Bash, Dash, Fish, Zsh, home, launch, over, ready, run};
use crate::support::{LIMIT, limited, see, sessions, text};

async fn is_asked(session: &Session, command: &str, echo: bool) -> u64 {
    let id = session.submit(command).await.expect("the shell is free");
    let wait = Wait { command: Some(id), needs_input: true, ..Wait::default() }.timeout(LIMIT);
    let waited = session.wait(wait).await.expect("there");
    let screen = text(session).await;
    assert_eq!(waited.fired, Some(Fired::NeedsInput { echo }), "{command}:\n{screen}");
    id
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_that_reads_asks_for_input() {
    for kind in ALL {
        let (sessions, home) = (sessions(), home());
        let session = ready(&sessions, launch(kind, home.path())).await;

        let id = is_asked(&session, "cat", true).await;
        session.send_keys("typed<Enter><Ctrl+D>").await.expect("sent");
        let report = over(&session, id).await;
        assert_eq!(report.state, CommandState::Done { exit_code: 0 }, "{kind:?}");
        // Once as the terminal echoes it, once as cat prints it.
        assert_eq!(report.output, "typed\ntyped\n", "{kind:?}");

        let id = is_asked(&session, "sh -c 'read answer; echo \"got $answer\"'", true).await;
        assert!(session.submit("echo too early").await.is_err(), "{kind:?}");
        session.send_keys("yes<Enter>").await.expect("sent");
        assert_eq!(over(&session, id).await.output, "yes\ngot yes\n", "{kind:?}");

        let password = "sh -c 'stty -echo; read secret; stty echo; echo \"${#secret}\"'";
        let id = is_asked(&session, password, false).await;
        session.send_keys("hunter2<Enter>").await.expect("sent");
        assert_eq!(over(&session, id).await.output, "7\n", "{kind:?}");

        if kind != Fish {
            let id = is_asked(&session, "read answer; echo \"got $answer\"", true).await;
            session.send_keys("here<Enter>").await.expect("sent");
            assert_eq!(over(&session, id).await.output, "here\ngot here\n", "{kind:?}");
        }
        assert_eq!(run(&session, "echo next").await.output, "next\n", "{kind:?}");
        sessions.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_builtin_that_reads_does_not_eat_the_rest_of_the_command() {
    for kind in [Bash, Zsh, Dash] {
        let (sessions, home) = (sessions(), home());
        let session = ready(&sessions, launch(kind, home.path())).await;
        let id = is_asked(&session, "read answer\necho \"got $answer\"\necho end", true).await;
        session.send_keys("here<Enter>").await.expect("sent");
        assert_eq!(over(&session, id).await.output, "here\ngot here\nend\n", "{kind:?}");
        sessions.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_command_goes_on_and_can_be_interrupted() {
    for kind in ALL {
        let (sessions, home) = (sessions(), home());
        let session = ready(&sessions, launch(kind, home.path())).await;
        let short = Duration::from_millis(1);

        let waits = "sh -c 'echo begun; until [ -e go ]; do sleep 0.01; done; echo done; exit 3'";
        let report = session.execute(waits, short, 100).await.expect("it runs");
        assert_eq!(report.state, CommandState::Running, "{kind:?}");
        std::fs::write(home.path().join("go"), "").expect("written");
        let report = over(&session, report.id).await;
        assert_eq!(report.state, CommandState::Done { exit_code: 3 }, "{kind:?}");
        assert_eq!(report.output, "begun\ndone\n", "{kind:?}");

        let id = session.submit("sh -c 'echo $((40+2))leep; exec sleep 600'").await.expect("free");
        see(&session, "42leep").await;
        session.send_keys("Ctrl+C").await.expect("sent");
        let report = limited("the interrupt", over(&session, id)).await;
        assert_eq!(report.state, CommandState::Done { exit_code: 130 }, "{kind:?}");
        assert!(report.output.starts_with("42leep\n^C"), "{kind:?}: {:?}", report.output);

        // An interrupt takes the rest of the lines with it in zsh; others go on with the next line, as
        // they do with lines that are typed.
        let id = session
            .submit("sh -c 'echo $((40+3))again; exec sleep 600'\necho never")
            .await
            .expect("free");
        see(&session, "43again").await;
        session.send_keys("Ctrl+C").await.expect("sent");
        let report = limited("the interrupt", over(&session, id)).await;
        if kind == Zsh {
            assert_eq!(report.state, CommandState::Done { exit_code: 130 }, "{kind:?}");
            assert!(!report.output.contains("never"), "{kind:?}: {:?}", report.output);
        }
        assert_eq!(run(&session, "echo next").await.output, "next\n", "{kind:?}");
        sessions.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stopped_command_is_over_and_its_job_stays() {
    for kind in [Bash, Zsh, Fish] {
        let (sessions, home) = (sessions(), home());
        let session = ready(&sessions, launch(kind, home.path())).await;
        let id = session.submit("sh -c 'echo $((40+4))up; exec sleep 600'").await.expect("free");
        see(&session, "44up").await;
        session.send_keys("Ctrl+Z").await.expect("sent");
        let report = limited("the stop", over(&session, id)).await;
        let CommandState::Done { exit_code } = report.state else { panic!("{kind:?}: {report:?}") };
        // 128 + SIGTSTP; fish counts it as no status of its own.
        assert!(exit_code == 148 || kind == Fish, "{kind:?}: {exit_code}");
        assert!(run(&session, "jobs").await.output.contains("sleep"), "{kind:?}");
        let next = run(&session, "kill -KILL %1; echo next").await;
        assert!(next.output.contains("next\n"), "{kind:?}: {:?}", next.output);
        sessions.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_half_typed_line_does_not_get_into_a_command() {
    for kind in ALL {
        let (sessions, home) = (sessions(), home());
        let session = ready(&sessions, launch(kind, home.path())).await;
        session.send_keys("echo half").await.expect("sent");
        see(&session, "echo half").await;
        let report = run(&session, "echo whole").await;
        assert_eq!(report.state, CommandState::Done { exit_code: 0 }, "{kind:?}");
        assert_eq!(report.output, "whole\n", "{kind:?}");
        assert_eq!(run(&session, "echo next").await.output, "next\n", "{kind:?}");
        sessions.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_line_that_a_person_runs_is_no_command() {
    for kind in [Bash, Zsh, Fish, Dash] {
        let (sessions, home) = (sessions(), home());
        let session = ready(&sessions, launch(kind, home.path())).await;
        session.send_keys("echo by$((40+2))hand<Enter>").await.expect("sent");
        if kind != Fish {
            see(&session, "by42hand").await;
        }
        let report = run(&session, "echo whole").await;
        assert_eq!(report.output, "whole\n", "{kind:?}");
        assert_eq!(report.id, 1, "{kind:?}");
        sessions.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_typed_ahead_is_not_lost() {
    for kind in [Bash, Zsh, Dash] {
        let (sessions, home) = (sessions(), home());
        let session = ready(&sessions, launch(kind, home.path())).await;
        let id =
            session.submit("sh -c 'echo $((40+4))up; until [ -e go ]; do sleep 0.01; done'").await;
        let id = id.expect("free");
        see(&session, "44up").await;
        session.send_keys("echo ahead$((1+1))<Enter>").await.expect("sent");
        std::fs::write(home.path().join("go"), "").expect("written");
        over(&session, id).await;
        see(&session, "ahead2").await;
        assert_eq!(run(&session, "echo next").await.output, "next\n", "{kind:?}");
        sessions.shutdown().await;
    }
}
