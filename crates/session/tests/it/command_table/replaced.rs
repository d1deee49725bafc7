//! Shells that are no longer there, or never came: told, never waited for without end.

use std::time::Duration;

use termbridge_session::{CommandState, Fired, Session, SessionError, Wait};

use super::start_up::with_files;
use super::{ALL, Bash, Dash, Fish, Kind, Zsh, home, launch, over, ready, run};
use crate::support::{LIMIT, limited, see, sessions, start, text};

/// What reads the terminal in a shell's place and takes no commands.
const OTHERS: [&str; 3] =
    ["exec python3 -q", "exec cat", "exec sh -c 'read x; exec sh -c \"read y\"'"];

async fn works_again(session: &Session, kind: Kind) {
    limited("the restart", session.restart()).await.expect("restarts");
    let report = run(session, "echo back").await;
    assert_eq!(report.output, "back\n", "{kind:?}");
    assert_eq!(report.state, CommandState::Done { exit_code: 0 }, "{kind:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_exec_of_another_program_is_told_and_a_restart_mends_it() {
    for kind in ALL {
        let (sessions, home) = (sessions(), home());
        let session = ready(&sessions, launch(kind, home.path())).await;
        for command in OTHERS {
            let id = session.submit(command).await.expect("free");
            let report = limited(command, over(&session, id)).await;
            let CommandState::Replaced { program } = &report.state else {
                panic!("{kind:?}: {command}: {report:?}:\n{}", text(&session).await);
            };
            assert!(command.contains(program.as_str()), "{command}: {program}");
            let error = session.submit("echo lost").await.expect_err("refused");
            assert!(matches!(error, SessionError::ShellReplaced { .. }), "{command}: {error}");
            assert!(error.to_string().contains("restart"), "{error}");
            works_again(&session, kind).await;
        }
        sessions.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shell_inside_the_shell_is_a_command_that_runs() {
    for kind in ALL {
        let (sessions, home) = (sessions(), home());
        let session = ready(&sessions, launch(kind, home.path())).await;
        // It reads whole lines: the kernel tells that it asks.
        let id = session.submit("PS1='inner> ' sh -i").await.expect("free");
        let wait = Wait { command: Some(id), needs_input: true, ..Wait::default() }.timeout(LIMIT);
        let waited = session.wait(wait).await.expect("there");
        assert_eq!(waited.fired, Some(Fired::NeedsInput { echo: true }), "{kind:?}");
        session.send_keys("exit 4<Enter>").await.expect("sent");
        assert_eq!(over(&session, id).await.state, CommandState::Done { exit_code: 4 }, "{kind:?}");

        // It has a line editor.
        let id = session.submit("PS1='dee'per'> ' bash --norc --noprofile").await.expect("free");
        see(&session, "deeper>").await;
        session.send_keys("exit 6<Enter>").await.expect("sent");
        let report = limited("the inner shell", over(&session, id)).await;
        assert_eq!(report.state, CommandState::Done { exit_code: 6 }, "{kind:?}");
        assert_eq!(run(&session, "echo next").await.output, "next\n", "{kind:?}");
        sessions.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shell_that_shows_no_prompt_is_given_up_with_its_screen() {
    for (kind, name) in [(Bash, ".bashrc"), (Zsh, ".zshrc")] {
        let (sessions, home) = (sessions(), home());
        // Neither a question nor another program: it is only slow.
        let slow = "echo waiting for the sun; until [ -e sun ]; do sleep 0.01; done";
        std::fs::write(home.path().join(name), slow).expect("written");
        let launch = launch(kind, home.path()).start_limit(Duration::from_millis(200));
        let session = start(&sessions, launch).await;
        see(&session, "waiting for the sun").await;
        let error = limited("the limit", session.submit("echo lost")).await.expect_err("no prompt");
        assert!(matches!(error, SessionError::ShellNotReady { .. }), "{kind:?}: {error}");
        assert!(error.to_string().contains("waiting for the sun"), "{kind:?}: {error}");
        // Once it is there, all is well, and what was given up does not run.
        std::fs::write(home.path().join("sun"), "").expect("written");
        let free = Wait { free: true, ..Wait::default() }.timeout(LIMIT);
        assert_eq!(session.wait(free).await.expect("there").fired, Some(Fired::Free), "{kind:?}");
        let report = run(&session, "echo now").await;
        assert_eq!((report.id, report.output.as_str()), (1, "now\n"), "{kind:?}");
        sessions.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn start_up_files_that_end_the_shell_are_left_out() {
    // fish goes on after an `exit` there.
    for kind in [Bash, Zsh] {
        let (sessions, home) = (sessions(), home());
        let go = home.path().join("go");
        let text = "until [ -e go ]; do sleep 0.01; done; exit 3";
        let session = start(&sessions, with_files(kind, home.path(), text)).await;
        let waiting = session.execute("echo found", LIMIT, 100);
        let (report, written) =
            tokio::join!(limited("the end", waiting), async { std::fs::write(go, "") });
        written.expect("written");
        let report = report.expect("it runs without them");
        assert_eq!(report.output, "found\n", "{kind:?}");
        let notice = report.notice.expect("said");
        assert!(notice.contains("ends the shell (exit code 3)"), "{notice}");
        // One that nobody waited for, too.
        let session = start(&sessions, with_files(kind, home.path(), "exit 3")).await;
        let report = run(&session, "echo found").await;
        assert_eq!((report.output.as_str(), report.notice), ("found\n", Some(notice)), "{kind:?}");
        sessions.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shell_that_ends_before_it_takes_a_command_is_told() {
    for kind in ALL {
        let (sessions, home) = (sessions(), home());
        let session = ready(&sessions, launch(kind, home.path())).await;
        let id = session.submit("exec < /dev/null").await.expect("free");
        over(&session, id).await;
        // Some shells end there, before or after the next command is given.
        match limited("an answer", session.execute("touch ran; sh -c 'exit 7'", LIMIT, 100)).await {
            Ok(report) => {
                let ran = home.path().join("ran").exists();
                let expected =
                    if ran { CommandState::Done { exit_code: 7 } } else { CommandState::NotTaken };
                assert_eq!(report.state, expected, "{kind:?}");
            }
            Err(error) => {
                // One that is about to end is busy with that.
                let known = matches!(error, SessionError::Dead { .. } | SessionError::ShellBusy(_));
                assert!(known, "{kind:?}: {error}");
                assert!(!home.path().join("ran").exists(), "{kind:?}");
            }
        }
        sessions.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_trigger_that_was_lost_is_sent_again() {
    for (kind, keys) in
        [(Bash, "Ctrl+R"), (Bash, "Ctrl+V"), (Bash, "Escape"), (Zsh, "Ctrl+V"), (Zsh, "Ctrl+R")]
    {
        let (sessions, home) = (sessions(), home());
        let session = ready(&sessions, launch(kind, home.path())).await;
        run(&session, "echo before").await;
        // The line editor takes what follows for something else.
        session.send_keys(keys).await.expect("sent");
        let report = limited(keys, session.execute("echo found", LIMIT, 100)).await.expect("runs");
        assert_eq!(
            report.state,
            CommandState::Done { exit_code: 0 },
            "{kind:?} {keys}: {report:?}"
        );
        assert_eq!(report.output, "found\n", "{kind:?} {keys}");
        assert_eq!(run(&session, "echo next").await.output, "next\n", "{kind:?} {keys}");
        sessions.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shell_without_its_keys_says_so() {
    let taken = [
        (Bash, "bind -r '\\e[5151;1~'"),
        (Zsh, "bindkey -r '\\e[5151;1~'"),
        (Fish, "bind -e \\e\\[5151\\;1~"),
    ];
    for (kind, command) in taken {
        let (sessions, home) = (sessions(), home());
        let session = ready(&sessions, launch(kind, home.path())).await;
        run(&session, command).await;
        let report = limited("an answer", session.execute("echo lost", LIMIT, 100)).await;
        let report = report.expect("told");
        assert_eq!(
            (report.state, report.output.as_str()),
            (CommandState::NotTaken, ""),
            "{kind:?}"
        );
        works_again(&session, kind).await;
        sessions.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shell_without_its_line_editor_says_so() {
    for (kind, command) in [(Bash, "set +o emacs"), (Zsh, "unsetopt zle")] {
        let (sessions, home) = (sessions(), home());
        let session = ready(&sessions, launch(kind, home.path())).await;
        run(&session, command).await;
        let report = limited("an answer", session.execute("echo lost", LIMIT, 100)).await;
        assert_eq!(report.expect("told").state, CommandState::NotTaken, "{kind:?}");
        works_again(&session, kind).await;
        sessions.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_terminal_left_in_raw_mode_is_bearable() {
    for kind in ALL {
        let (sessions, home) = (sessions(), home());
        let session = ready(&sessions, launch(kind, home.path())).await;
        run(&session, "stty raw -echo").await;
        for _ in 0..2 {
            let report = limited("it", run(&session, "sh -c 'echo hi; exit 7'")).await;
            let done = CommandState::Done { exit_code: 7 };
            let output = report.output.replace('\r', "");
            assert_eq!((report.state, output.trim()), (done, "hi"), "{kind:?}");
        }
        sessions.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_fish_does_not_accept_is_not_run_in_part() {
    let (sessions, home) = (sessions(), home());
    let session = ready(&sessions, launch(Fish, home.path())).await;
    let report = run(&session, "touch ran; ps -p $$").await;
    assert_eq!(report.state, CommandState::Done { exit_code: 123 });
    assert!(report.output.starts_with("fish: $$ is not the pid"), "{}", report.output);
    assert!(!report.output.contains("termbridge"), "{}", report.output);
    assert!(!home.path().join("ran").exists());
    assert_eq!(run(&session, "echo next").await.output, "next\n");
    sessions.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn options_that_come_back_add_nothing() {
    let (sessions, home) = (sessions(), home());
    let session = ready(&sessions, launch(Zsh, home.path())).await;
    run(&session, "emulate -R zsh").await;
    assert_eq!(run(&session, "echo hi").await.output, "hi\n");
    assert_eq!(run(&session, "printf hi").await.output, "hi");
    sessions.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hooks_and_prompt_taken_at_once_are_bearable() {
    for (kind, command) in
        [(Bash, "unset PROMPT_COMMAND; PS1='$ '"), (Zsh, "precmd_functions=(); PS1='$ '")]
    {
        let (sessions, home) = (sessions(), home());
        let session = ready(&sessions, launch(kind, home.path())).await;
        let report =
            limited("an answer", session.execute(command, LIMIT, 100)).await.expect("told");
        assert_eq!(report.state, CommandState::Lost, "{kind:?}: {report:?}");
        let next = run(&session, "sh -c 'echo next; exit 3'").await;
        let done = CommandState::Done { exit_code: 3 };
        assert_eq!((next.state, next.output.as_str()), (done, "next\n"), "{kind:?}");
        sessions.shutdown().await;
    }
}

/// A typed line passes none of our functions.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hooks_that_a_typed_line_takes_away_come_back() {
    for (kind, take) in [(Bash, "unset PROMPT_COMMAND"), (Zsh, "precmd_functions=()")] {
        let (sessions, home) = (sessions(), home());
        let session = ready(&sessions, launch(kind, home.path())).await;
        run(&session, "true").await;
        session.send_keys(&format!("{take}; PS1='ne''w> '<Enter>")).await.expect("sent");
        see(&session, "new> ").await;
        for code in [3, 4] {
            let next = run(&session, &format!("sh -c 'echo next; exit {code}'")).await;
            let done = CommandState::Done { exit_code: code };
            assert_eq!((next.state, next.output.as_str()), (done, "next\n"), "{kind:?}");
        }
        sessions.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_line_that_a_person_left_unfinished_is_left() {
    for (kind, prompt) in [(Bash, "> "), (Zsh, "quote>"), (Dash, "> ")] {
        let (sessions, home) = (sessions(), home());
        let session = ready(&sessions, launch(kind, home.path())).await;
        let before = session.screen().await.expect("a screen").seq;
        session.send_keys("echo 'open<Enter>").await.expect("sent");
        let more = Wait::text(prompt).after(before).timeout(LIMIT);
        assert!(session.wait(more).await.expect("there").fired.is_some(), "{kind:?}");
        let report = limited("it", session.execute("echo whole", LIMIT, 100)).await.expect("runs");
        let done = CommandState::Done { exit_code: 0 };
        assert_eq!((report.state, report.output.as_str()), (done, "whole\n"), "{kind:?}");
        sessions.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn output_that_somebody_stopped_goes_on() {
    for kind in ALL {
        let (sessions, home) = (sessions(), home());
        let session = ready(&sessions, launch(kind, home.path())).await;
        run(&session, "true").await;
        session.send_keys("<C-s>").await.expect("sent");
        let report = run(&session, "echo next").await;
        let done = CommandState::Done { exit_code: 0 };
        assert_eq!((report.state, report.output.as_str()), (done, "next\n"), "{kind:?}");
        sessions.shutdown().await;
    }
}
