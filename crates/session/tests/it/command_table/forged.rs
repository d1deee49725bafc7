//! Marks that another process prints: what it knows does not make them the shell's.

use termbridge_session::{CommandState, SessionError, Wait};

use super::folder::folder_of;
use super::setups::{PROGRAMS, installed};
use super::{ALL, Bash, Dash, Fish, Kind, Zsh, home, launch, launch_program, over, ready, run};
use crate::support::{limited, see, sessions, start, stays_away, until};

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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_that_the_shell_reads_for_a_command_is_not_its_prompt() {
    const PROMPT: &str = r"\033]633;D;42\007\033]633;A\007\033]633;B\007";
    const PASTING: &str = r"\033[?2004h";
    for (kind, read) in [
        (Bash, "read -rsn1 key"),
        (Bash, "read -rn 1 -t 600 key"),
        (Bash, "read -re key"),
        (Bash, "stty -icanon; read key; stty sane"),
        (Zsh, "read -k1 key"),
        (Zsh, "read -sk key"),
        (Zsh, "vared -c key"),
        (Zsh, "select key in a b; do break; done"),
        (Dash, "stty raw; read key; stty sane"),
        (Dash, "stty -icanon -echo; read key; stty sane"),
    ] {
        for printed in [PROMPT, PASTING] {
            let (sessions, home) = (sessions(), home());
            let session = ready(&sessions, launch(kind, home.path())).await;
            let command = format!("printf '{printed}'; echo Go'?'; {read}; echo late; (exit 5)");
            let id = session.submit(&command).await.expect("free");
            see(&session, "Go?").await;
            stays_away(&session, Wait { command: Some(id), ..Wait::default() }).await;
            session
                .send_keys(if read.contains("select") { "1<Enter>" } else { "y<Enter>" })
                .await
                .expect("sent");
            // In raw mode nothing makes a line of it.
            session.send_keys("<C-j>").await.expect("sent");
            let report = over(&session, id).await;
            let end = (report.state, report.output.contains("late\n"));
            assert_eq!(end, (CommandState::Done { exit_code: 5 }, true), "{kind:?}: {read}");
            assert_eq!(run(&session, "echo next").await.output, "next\n", "{kind:?}: {read}");
            sessions.shutdown().await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_line_that_is_edited_for_a_command_is_not_the_prompt() {
    for (kind, define, call) in [
        (Bash, "ask() { read -e -p 'name> ' x; echo got=$x; }", "ask"),
        (Bash, "shopt -s expand_aliases; alias ask='read -e -p \"name> \" x'", "ask; echo got=$x"),
        (Zsh, "ask() { x=; vared -p 'name> ' x; echo got=$x }", "ask"),
        (Zsh, "ask() { PS3='name> '; select x in me you; do break; done; echo got=$x }", "ask"),
        (Bash, "echo 'read -e -p \"name> \" x' > ask", ". ./ask; echo got=$x"),
        (Bash, "echo 'read -e -p \"name> \" x' > ask", "eval \"$(cat ask)\"; echo got=$x"),
        (Bash, "echo 'f() { read -e -p \"name> \" x; }; f' > ask", "source ./ask; echo got=$x"),
        (Zsh, "echo 'x=; vared -p \"name> \" x' > ask", ". ./ask; echo got=$x"),
        (Zsh, "echo 'x=; vared -p \"name> \" x' > ask", "eval \"$(cat ask)\"; echo got=$x"),
        (Fish, "echo 'read -P \"name> \" x' > ask", "source ask; echo got=$x"),
        (Fish, "echo 'read -P \"name> \" x' > ask", "eval (cat ask); echo got=$x"),
    ] {
        let (sessions, home) = (sessions(), home());
        let session = ready(&sessions, launch(kind, home.path())).await;
        run(&session, define).await;
        let id = session.submit(&format!("{call}; sh -c 'exit 5'")).await.expect("free");
        see(&session, "name>").await;
        stays_away(&session, Wait { command: Some(id), ..Wait::default() }).await;
        let answer = if define.contains("select") { "1<Enter>" } else { "me<Enter>" };
        session.send_keys(answer).await.expect("sent");
        let report = over(&session, id).await;
        let end = (report.state, report.output.ends_with("got=me\n"));
        assert_eq!(end, (CommandState::Done { exit_code: 5 }, true), "{define}: {}", report.output);
        assert_eq!(run(&session, "echo next").await.output, "next\n", "{define}");
        sessions.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_edits_a_line_is_not_the_prompt_before_any_command_ran_either() {
    for (kind, text, call) in [
        (Bash, "read -e -p 'name> ' x", ". ./ask; echo got=$x; (exit 5)"),
        (Zsh, "x=; vared -p 'name> ' x", ". ./ask; echo got=$x; (exit 5)"),
    ] {
        let (sessions, home) = (sessions(), home());
        std::fs::write(home.path().join("ask"), text).expect("written");
        let session = start(&sessions, launch(kind, home.path())).await;
        let id = session.submit(call).await.expect("free");
        see(&session, "name>").await;
        stays_away(&session, Wait { command: Some(id), ..Wait::default() }).await;
        session.send_keys("me<Enter>").await.expect("sent");
        let report = over(&session, id).await;
        assert_eq!(report.state, CommandState::Done { exit_code: 5 }, "{}", report.output);
        assert!(report.output.ends_with("got=me\n"), "{}", report.output);
        sessions.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_to_a_person_is_left_to_them() {
    for (kind, ask) in [
        (Bash, "read -e -p 'Su''re? ' x; echo got=$x"),
        (Zsh, "x=; vared -p 'Su''re? ' x; echo got=$x"),
        (Fish, "read -P 'Su''re? ' x; echo got=$x"),
        (Dash, "printf 'Su''re? '; read x; echo got=$x"),
    ] {
        let (sessions, home) = (sessions(), home());
        let session = ready(&sessions, launch(kind, home.path())).await;
        run(&session, "true").await;
        session.send_keys(&format!("{ask}<Enter>")).await.expect("sent");
        see(&session, "Sure? ").await;
        let asks = Wait { needs_input: true, interactive: true, ..Wait::default() };
        assert!(session.wait(asks).await.expect("there").fired.is_some(), "{kind:?}");
        let refused = session.submit("echo mine").await;
        assert!(matches!(refused, Err(SessionError::ShellBusy(_))), "{kind:?}: {refused:?}");
        session.send_keys("yes<Enter>").await.expect("sent");
        see(&session, "got=yes").await;
        let free = Wait { free: true, ..Wait::default() };
        session.wait(free).await.expect("there");
        assert_eq!(run(&session, "echo next").await.output, "next\n", "{kind:?}");
        sessions.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_that_a_hook_reads_is_not_done() {
    let (sessions, home) = (sessions(), home());
    let session = ready(&sessions, launch(Bash, home.path())).await;
    run(&session, "hook() { read -e -p 'name> ' x; }; PROMPT_COMMAND+=(hook)").await;
    see(&session, "name>").await;
    let report = limited("an end", run(&session, "touch ran")).await;
    let ran = home.path().join("ran").exists();
    assert_eq!((report.state, ran), (CommandState::NotTaken, false));
    sessions.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_function_that_takes_hooks_and_prompt_away_leaves_the_shell_free() {
    for (kind, define) in [
        (Bash, "away() { unset PROMPT_COMMAND; PS1='> '; }"),
        (Bash, "shopt -s expand_aliases; alias away=\"unset PROMPT_COMMAND; PS1='> '\""),
        (Zsh, "away() { precmd_functions=(); preexec_functions=(); PS1='> ' }"),
        (Zsh, "alias away=\"precmd_functions=(); preexec_functions=(); PS1='> '\""),
    ] {
        let (sessions, home) = (sessions(), home());
        let session = ready(&sessions, launch(kind, home.path())).await;
        run(&session, define).await;
        limited("an end", run(&session, "away")).await;
        let report = limited("an end", run(&session, "echo next; (exit 3)")).await;
        let expected = (CommandState::Done { exit_code: 3 }, "next\n");
        assert_eq!((report.state, report.output.as_str()), expected, "{define}");
        sessions.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_that_somebody_took_from_the_pipe_is_not_done() {
    for kind in ALL {
        let (sessions, home) = (sessions(), home());
        let session = ready(&sessions, launch(kind, home.path())).await;
        let folder = folder_of(session.info().await.expect("info").pid.expect("a pid"));
        let thief = format!("cat {}/commands > /dev/null &", folder.display());
        run(&session, &thief).await;
        let report = limited("an answer", run(&session, "touch ran; sh -c 'exit 7'")).await;
        let ran = home.path().join("ran").exists();
        let known = matches!(report.state, CommandState::Done { .. });
        assert_eq!(known, ran, "{kind:?}: {report:?}");
        sessions.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn names_that_a_command_fixed_change_nothing() {
    let names = "status command nonce answer each first last others map result fatal taken text IFS \
                 REPLY HISTIGNORE";
    for kind in [Bash, Zsh, Dash] {
        for name in names.split(' ') {
            // zsh has these itself.
            if kind != Bash && ["status", "IFS"].contains(&name) {
                continue;
            }
            let (sessions, home) = (sessions(), home());
            let session = ready(&sessions, launch(kind, home.path())).await;
            run(&session, &format!("readonly {name}=3")).await;
            for code in [7, 0] {
                let command = format!("echo ' two  words '; (exit {code})");
                let report = limited(name, run(&session, &command)).await;
                let expected = (CommandState::Done { exit_code: code }, " two  words \n");
                assert_eq!((report.state, report.output.as_str()), expected, "{kind:?}: {name}");
            }
            sessions.shutdown().await;
        }
    }
    let (sessions, home) = (sessions(), home());
    let session = ready(&sessions, launch(Fish, home.path())).await;
    for name in ["math", "source", "printf", "commandline", "bind", "functions"] {
        run(&session, &format!("function {name}; end")).await;
        let report = limited(name, run(&session, "echo hi; sh -c 'exit 7'")).await;
        // What fish's own prompt says of it may come before.
        let end = (report.state, report.output.ends_with("hi\n"));
        assert_eq!(end, (CommandState::Done { exit_code: 7 }, true), "{name}");
    }
    sessions.shutdown().await;
}

/// Marks come at any moment, also while the shell takes a command.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn marks_that_a_job_prints_all_the_time_are_none() {
    const JOB: &str = r#"
import os, time
marks = ["\33]633;%s\7" % mark for mark in ["C", "B", "F", "E", "A", "D;0", "D;0;", "C;x", "B;x"]]
open("began", "w")
while not os.path.exists("stop"):
    for mark in marks:
        os.write(1, mark.encode())
        time.sleep(0.001)
"#;
    for program in installed(&PROGRAMS) {
        let (sessions, home) = (sessions(), home());
        std::fs::write(home.path().join("job.py"), JOB).expect("written");
        let session = ready(&sessions, launch_program(program, home.path())).await;
        run(&session, "python3 job.py &").await;
        until("the job", || async { home.path().join("began").exists() }).await;
        for number in 1..=40 {
            let text = format!("echo {number} >> ran; echo out {number}; sh -c 'exit {number}'");
            let report = run(&session, &text).await;
            let expected = (CommandState::Done { exit_code: number }, format!("out {number}\n"));
            assert_eq!((report.state, report.output), expected, "{program}");
        }
        let ran = std::fs::read_to_string(home.path().join("ran")).expect("there");
        assert_eq!(ran.lines().count(), 40, "{program}: {ran}");
        std::fs::write(home.path().join("stop"), "").expect("written");
        sessions.shutdown().await;
    }
}

/// A job that knows the prompt prints it while the shell waits for the answer to its last mark.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_prompt_that_a_job_prints_does_not_mix_up_the_pipe() {
    let (sessions, home) = (sessions(), home());
    let session = ready(&sessions, launch_program("bash", home.path())).await;
    let job = r#"(touch began; until [ -e stop ]; do printf '%s' "${PS1@P}"; sleep 0.001; done) &"#;
    run(&session, job).await;
    until("the job", || async { home.path().join("began").exists() }).await;
    for number in 1..=100 {
        run(&session, &format!("echo {number} >> ran")).await;
    }
    std::fs::write(home.path().join("stop"), "").expect("written");
    let ran = std::fs::read_to_string(home.path().join("ran")).expect("there");
    let expected: Vec<String> = (1..=100).map(|number| number.to_string()).collect();
    assert_eq!(ran.lines().collect::<Vec<_>>(), expected);
    sessions.shutdown().await;
}

/// A trap runs before each command of the hooks too.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_trap_does_not_change_the_exit_code() {
    for program in installed(&["bash", "zsh", "ksh"]) {
        let (sessions, home) = (sessions(), home());
        let session = ready(&sessions, launch_program(program, home.path())).await;
        run(&session, "trap true DEBUG").await;
        for exit_code in [7, 1, 0] {
            let report = run(&session, &format!("sh -c 'exit {exit_code}'")).await;
            assert_eq!(report.state, CommandState::Done { exit_code }, "{program}");
        }
        sessions.shutdown().await;
    }
}
