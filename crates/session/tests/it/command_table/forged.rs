//! Marks that another process prints: what it knows does not make them the shell's.

use termbridge_session::{CommandState, Wait};

use super::folder::folder_of;
use super::{ALL, Bash, Dash, Kind, Zsh, home, launch, over, ready, run};
use crate::support::{see, sessions, stays_away};

/// Prints an end and a prompt with the nonce that it is given, goes on, and fails.
const FORGER: &str = r#"
echo begun
printf '\033]633;D;0;%s\007\033]633;D;0\007\033]633;A\007$ \033]633;B\007' "$1"
echo "still $((40+2))"
if [ -n "$2" ]; then until [ -e "$2" ]; do sleep 0.01; done; fi
echo more
exit 3
"#;

async fn is_not_believed(kind: Kind, before: &str) {
    let (sessions, home) = (sessions(), home());
    std::fs::write(home.path().join("forger.sh"), FORGER).expect("written");
    let session = ready(&sessions, launch(kind, home.path())).await;
    run(&session, before).await;
    // The shell's own word for the nonce: no better way to learn it.
    let command = "sh forger.sh \"$__termbridge_nonce\" go";
    let id = session.submit(command).await.expect("free");
    see(&session, "still 42").await;
    stays_away(&session, Wait { command: Some(id), ..Wait::default() }).await;
    std::fs::write(home.path().join("go"), "").expect("written");
    let expected = (CommandState::Done { exit_code: 3 }, "begun\n$ still 42\nmore\n");
    let report = over(&session, id).await;
    assert_eq!((report.state, report.output.as_str()), expected, "{kind:?} after {before:?}");

    // One that is gone when its mark is read.
    let report = run(&session, "sh forger.sh \"$__termbridge_nonce\"").await;
    assert_eq!((report.state, report.output.as_str()), expected, "{kind:?} after {before:?}");
    assert_eq!(run(&session, "echo next").await.output, "next\n", "{kind:?} after {before:?}");
    sessions.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_end_with_the_nonce_is_not_believed_of_a_child() {
    for kind in ALL {
        is_not_believed(kind, "true").await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nor_without_job_control() {
    for kind in [Bash, Zsh, Dash] {
        is_not_believed(kind, "set +m").await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_child_learns_nothing_from_the_pipe() {
    const READER: &str = "
import os, sys
pipe = os.open(sys.argv[1], os.O_RDONLY | os.O_NONBLOCK)
try:
    print(os.read(pipe, 99))
except BlockingIOError:
    print('nothing')
sys.exit(3)
";
    for kind in ALL {
        let (sessions, home) = (sessions(), home());
        std::fs::write(home.path().join("reader.py"), READER).expect("written");
        let session = ready(&sessions, launch(kind, home.path())).await;
        let pipe = folder_of(session.info().await.expect("info").pid.expect("a pid"));
        let command = format!("python3 reader.py {}/commands", pipe.display());
        let report = run(&session, &command).await;
        let expected = (CommandState::Done { exit_code: 3 }, "nothing\n");
        assert_eq!((report.state, report.output.as_str()), expected, "{kind:?}");
        sessions.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_the_shell_is_cannot_be_printed() {
    for kind in ALL {
        let (sessions, home) = (sessions(), home());
        let session = ready(&sessions, launch(kind, home.path())).await;
        let marks = r"\033]633;P;Cwd=/fake\007\033]7;file:///fake\007";
        // Between commands, when the shell itself prints nothing.
        let script = format!(
            "until [ -e go ]; do sleep 0.01; done; printf '{marks}'; echo printed$((40+2))"
        );
        std::fs::write(home.path().join("printer.sh"), script).expect("written");
        run(&session, "sh printer.sh &").await;
        std::fs::write(home.path().join("go"), "").expect("written");
        see(&session, "printed42").await;
        assert_eq!(session.info().await.expect("info").cwd, home.path(), "{kind:?}");
        // During one.
        let report = run(&session, &format!("printf '{marks}'")).await;
        assert_eq!(report.cwd.as_deref(), Some(home.path()), "{kind:?}");
        sessions.shutdown().await;
    }
}
