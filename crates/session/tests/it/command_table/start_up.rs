//! Start-up files as people have them: other shells, tmux, questions; and shells that replace the shell.

use std::path::Path;

use termbridge_session::{CommandReport, CommandState, Launch, Session};

use super::hostile::{prepare, rc};
use super::{ALL, Bash, Fish, Kind, Zsh, home, launch, ready, run};
use crate::support::{LIMIT, limited, see, sessions, start};

const DONE: CommandState = CommandState::Done { exit_code: 0 };

/// A shell whose start-up file is `text`; nothing waits for its prompt.
pub(super) fn with_files(kind: Kind, home: &Path, text: &'static str) -> Launch {
    // tmux has its socket there.
    prepare(kind, &rc("start-up", text), home).env("TMUX_TMPDIR", home)
}

async fn first(session: &Session, command: &str) -> CommandReport {
    limited(command, session.execute(command, LIMIT, 1 << 16)).await.expect(command)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shell_that_start_up_files_bring_is_adopted() {
    let version = "echo $FROM_RC ${ZSH_VERSION:+zsh}${BASH_VERSION:+bash}";
    for (kind, text, command, expected) in [
        (Bash, "export FROM_RC=yes; exec zsh", version, "yes zsh\n"),
        (Bash, "export FROM_RC=yes; [ -t 0 ] && exec env X=1 zsh -l", version, "yes zsh\n"),
        (
            Bash,
            "export FROM_RC=yes; exec fish",
            "echo $FROM_RC (string length -q $FISH_VERSION; and echo fish)",
            "yes fish\n",
        ),
        (Bash, "export FROM_RC=yes; exec sh", "echo $FROM_RC $0", "yes /usr/bin/dash\n"),
        (Bash, "exec env -i FROM_RC=yes zsh", version, "yes zsh\n"),
        (Zsh, "export FROM_RC=yes; exec bash", version, "yes bash\n"),
        (Fish, "set -gx FROM_RC yes; exec bash", version, "yes bash\n"),
    ] {
        let (sessions, home) = (sessions(), home());
        let session = start(&sessions, with_files(kind, home.path(), text)).await;
        let report = first(&session, command).await;
        assert_eq!((report.state, report.output.as_str()), (DONE, expected), "{text}");
        let notice = report.notice.expect(text);
        assert!(notice.contains("so this session runs"), "{text}: {notice}");
        let next = run(&session, "sh -c 'echo next; exit 3'").await;
        let failed = CommandState::Done { exit_code: 3 };
        assert_eq!((next.state, next.output.as_str()), (failed, "next\n"), "{text}");
        assert_eq!(next.notice, None, "once is enough");
        sessions.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn start_up_files_that_lead_elsewhere_are_left_out() {
    let tmux = "tmux -L ours -f /dev/null";
    let echo = "echo $FROM_RC$AFTER${TMUX:+ in tmux}";
    for (kind, text, named, output) in [
        (Bash, "export FROM_RC=yes; exec tmux -L ours -f /dev/null", "exec tmux", "yes\n"),
        (Bash, "export FROM_RC=yes; tmux -L ours -f /dev/null; AFTER=no", "|| tmux", "yes\n"),
        (Zsh, "export FROM_RC=yes; exec tmux -L ours -f /dev/null", "exec tmux", "yes\n"),
        (Zsh, "export FROM_RC=yes; tmux -L ours -f /dev/null; AFTER=no", "|| tmux", "yes\n"),
        (Fish, "set -gx FROM_RC yes; exec tmux -L ours -f /dev/null", "; or exec tmux", "yes\n"),
        // oh-my-zsh's update, in its two forms.
        (
            Zsh,
            "echo -n '[oh-my-zsh] update? [Y/n] '; read -r -k 1 option; AFTER=no",
            "~/.zshrc asks",
            "\n",
        ),
        (Zsh, "read -q '?Would you like to update? [Y/n] '; AFTER=no", "~/.zshrc asks", "\n"),
        (Bash, "read -p 'which project? ' -n 1 x; AFTER=no", "~/.bashrc asks", "\n"),
        (Bash, "select x in one two; do break; done; AFTER=no", "~/.bashrc asks", "\n"),
        (Bash, "readonly PS1='> ' PROMPT_COMMAND=true; AFTER=no", "readonly PROMPT_COMMAND", "\n"),
        (Bash, "export FROM_RC=yes; sh -c 'stty -echo; read secret'; AFTER=no", "runs", "yes\n"),
    ] {
        let (sessions, home) = (sessions(), home());
        let session = start(&sessions, with_files(kind, home.path(), text)).await;
        let command = if kind == Fish { "echo $FROM_RC" } else { echo };
        let report = first(&session, command).await;
        assert_eq!((report.state, report.output.as_str()), (DONE, output), "{text}");
        let notice = report.notice.expect(text);
        assert!(
            notice.contains(named) && notice.contains("$TERMBRIDGE_SESSION"),
            "{text}: {notice}"
        );
        assert!(!notice.contains('\n'), "{notice}");
        let next = run(&session, "sh -c 'echo next; exit 3'").await;
        let failed = CommandState::Done { exit_code: 3 };
        assert_eq!((next.state, next.output.as_str()), (failed, "next\n"), "{text}");
        sessions.shutdown().await;
        let _ = std::process::Command::new("sh")
            .args(["-c", &format!("{tmux} kill-server 2>/dev/null")])
            .env("TMUX_TMPDIR", home.path())
            .status();
    }
}

#[tokio::test]
async fn keys_wait_once_for_a_first_prompt_that_is_not_marked() {
    let (sessions, home) = (sessions(), home());
    let files = with_files(Bash, home.path(), "readonly PS1='> ' PROMPT_COMMAND=true");
    let session = start(&sessions, files).await;
    let first = session.send_keys("echo ty''ped<Enter>").await.expect("sent");
    assert!(first.queued > 0, "it is held");
    see(&session, "typed").await;
    let next = session.send_keys("x").await.expect("sent");
    assert_eq!(next.queued, 0);
    sessions.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_notice_says_works_and_slowness_is_no_reason() {
    for (kind, text) in [
        (Bash, "[ -n \"$TERMBRIDGE_SESSION\" ] || exec tmux\nsleep 0.6; FROM_RC=yes"),
        (Zsh, "[ -n \"$TERMBRIDGE_SESSION\" ] || exec tmux\nsleep 0.6; FROM_RC=yes"),
        (Fish, "test -n \"$TERMBRIDGE_SESSION\"; or exec tmux\nsleep 0.6; set FROM_RC yes"),
        // It waits for itself, not for a person.
        (Bash, "read -t 0.6 -n 1 key; FROM_RC=yes"),
        (Zsh, "read -t 0.6 -k 1 key; FROM_RC=yes"),
    ] {
        let (sessions, home) = (sessions(), home());
        let session = start(&sessions, with_files(kind, home.path(), text)).await;
        let report = first(&session, "echo $FROM_RC").await;
        assert_eq!((report.output.as_str(), report.notice), ("yes\n", None), "{text}");
        sessions.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn start_up_files_that_ask_are_answered_by_hand() {
    for kind in [Bash, Zsh] {
        let (sessions, home) = (sessions(), home());
        let question = "printf 'who'; printf ' is it? '; read name; echo \"hello $name\"";
        let session = start(&sessions, with_files(kind, home.path(), question)).await;
        see(&session, "who is it?").await;
        // Who types takes care of it.
        session.send_keys("m").await.expect("sent");
        let waiting = session.execute("echo $name", LIMIT, 100);
        let answer = async {
            see(&session, "is it? m").await;
            session.send_keys("e<Enter>").await
        };
        let (sent, report) = tokio::join!(answer, limited("it", waiting));
        sent.expect("sent");
        let report = report.expect("it runs once the files are read");
        assert_eq!((report.state, report.output.as_str()), (DONE, "me\n"), "{kind:?}");
        sessions.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_exec_of_another_shell_keeps_directory_and_environment() {
    for kind in ALL {
        for command in
            ["exec bash --norc --noprofile", "exec zsh -f", "exec dash", "exec fish -N", "exec zsh"]
        {
            let (sessions, home) = (sessions(), home());
            let session = ready(&sessions, launch(kind, home.path())).await;
            let export = if kind == Fish { "set -gx KEPT 'a b'" } else { "export KEPT='a b'" };
            run(&session, &format!("mkdir sub; cd sub; {export}")).await;
            let report = run(&session, &format!("echo before; {command}")).await;
            assert_eq!(report.state, DONE, "{kind:?}: {command}: {report:?}");
            let (printed, greets) = (&report.output, command.contains("fish"));
            assert!(
                printed == "before\n" || greets && printed.ends_with('\n'),
                "no prompt: {kind:?}: {command}: {printed:?}"
            );
            assert!(
                report.notice.is_some_and(|notice| notice.contains("was restarted")),
                "{command}"
            );
            let report = first(&session, "pwd; echo \"$KEPT\"").await;
            let expected = format!("{}/sub\na b\n", home.path().display());
            assert_eq!((report.state, report.output), (DONE, expected), "{kind:?}: {command}");
            sessions.shutdown().await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_that_a_person_typed_too() {
    let (sessions, home) = (sessions(), home());
    let session = ready(&sessions, launch(Bash, home.path())).await;
    session.send_keys("PS1='ty''ped> ' exec dash<Enter>").await.expect("sent");
    see(&session, "typed>").await;
    let report = first(&session, "echo $0").await;
    assert_eq!((report.state, report.output.as_str()), (DONE, "/usr/bin/dash\n"));
    sessions.shutdown().await;
}
