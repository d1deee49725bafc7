//! Commands in a shell: their own output, their own exit code, in every shell.

use std::time::Duration;

use termbridge_session::{CommandState, Launch, Session, SessionError, Sessions, Settings, Wait};

const PATIENCE: Duration = Duration::from_secs(30);

async fn shell(sessions: &Sessions, program: &str) -> Session {
    let home = std::env::temp_dir();
    let launch = Launch::shell(program).cwd("/").env("HOME", home).env("PS1", "$ ");
    let session = sessions.launch(launch).await.expect("the shell starts");
    let free = Wait { free: true, ..Wait::default() }.timeout(PATIENCE);
    let waited = session.wait(free).await.expect("the session is there");
    let screen = session.screen().await.expect("a screen").text();
    assert!(waited.fired.is_some(), "{program} shows no prompt:\n{screen}");
    session
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_has_its_own_output_and_exit_code() {
    // Command, output, exit code; the same in every shell.
    let long = format!("echo {} | wc -c", "x".repeat(6000));
    let table: [(&str, &str, i32); 14] = [
        ("echo hi", "hi\n", 0),
        ("false", "", 1),
        ("printf nonl", "nonl", 0),
        ("echo one; echo two", "one\ntwo\n", 0),
        ("echo a\necho b", "a\nb\n", 0),
        ("cd /tmp", "", 0),
        ("pwd", "/tmp\n", 0),
        ("echo 'a\tb !! $HOME'", "a\tb !! $HOME\n", 0),
        ("sh -c 'exit 42'", "", 42),
        ("sh -c 'kill -TERM $$'", "", 143),
        ("printf '10%%\\r50%%\\r100%%\\n'", "100%\n", 0),
        ("printf '\\033[31mred\\033[0m\\n'", "red\n", 0),
        ("sh -c 'echo err >&2'", "err\n", 0),
        (&long, "6001\n", 0),
    ];
    let sessions = Sessions::new(Settings::default());
    for program in ["bash", "zsh", "fish", "dash"] {
        let session = shell(&sessions, program).await;
        for (command, output, exit_code) in &table {
            let report = session.execute(command, PATIENCE, 1 << 20).await.expect("it runs");
            let shown = format!("{program}: {}", &command[..command.len().min(60)]);
            let mut got = report.output.clone();
            // A shell's own word about a signal is part of what a person would see.
            if *exit_code == 143 {
                got.clear();
            }
            assert_eq!(report.state, CommandState::Done { exit_code: *exit_code }, "{shown}");
            assert_eq!(&got, output, "{shown}");
        }
    }
    sessions.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fake_end_mark_does_not_fool_it() {
    let sessions = Sessions::new(Settings::default());
    for program in ["bash", "zsh", "fish", "dash"] {
        let session = shell(&sessions, program).await;
        let fake =
            "printf '\\033]633;D;0;guess\\007\\033]633;D;0\\007\\033]633;A\\007> \\033]633;B\\007'";
        let command = format!("sh -c \"{}; echo after; exit 7\"", fake.replace('\\', "\\\\"));
        let report = session.execute(&command, PATIENCE, 1 << 20).await.expect("it runs");
        assert_eq!(report.state, CommandState::Done { exit_code: 7 }, "{program}");
        assert!(report.output.ends_with("after\n"), "{program}: {:?}", report.output);
    }
    sessions.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unfinished_commands_long_ones_and_exits_are_told() {
    let sessions = Sessions::new(Settings::default());
    for program in ["bash", "zsh"] {
        let session = shell(&sessions, program).await;
        let open = session.execute("echo 'open", PATIENCE, 1 << 20).await.expect("it is told");
        let screen = session.screen().await.expect("a screen").text();
        assert_eq!(open.state, CommandState::Incomplete, "{program}: {screen}");
        let short = Duration::from_millis(50);
        let slow = session.execute("sleep 30", short, 1 << 20).await.expect("it runs");
        assert_eq!(slow.state, CommandState::Running, "{program}");
        assert!(session.submit("echo too early").await.is_err(), "{program}");
        session.send_keys("Ctrl+C").await.expect("sent");
        let over = Wait { command: Some(slow.id), ..Wait::default() }.timeout(PATIENCE);
        assert!(session.wait(over).await.expect("there").fired.is_some(), "{program}");
        let slow = session.command(slow.id, 0, 100).await.expect("there").expect("known");
        assert_eq!(slow.state, CommandState::Done { exit_code: 130 }, "{program}");
        let asks =
            session.execute("read answer; echo got $answer", PATIENCE, 100).await.expect("asks");
        assert_eq!(asks.state, CommandState::Running, "{program} waits for input");
        session.send_keys("yes<Enter>").await.expect("sent");
        let over = Wait { command: Some(asks.id), ..Wait::default() }.timeout(PATIENCE);
        session.wait(over).await.expect("there");
        let asks = session.command(asks.id, 0, 100).await.expect("there").expect("known");
        assert!(asks.output.ends_with("got yes\n"), "{program}: {:?}", asks.output);
        let exit = session.execute("exit 5", PATIENCE, 1 << 20).await.expect("it ends");
        assert_eq!(exit.state, CommandState::SessionEnded { exit_code: Some(5) }, "{program}");
    }
    sessions.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_interrupt_is_for_its_own_command_alone() {
    let sessions = Sessions::new(Settings::default());
    for program in ["bash", "zsh", "fish", "dash"] {
        let session = shell(&sessions, program).await;
        for _ in 0..3 {
            // Before the shell has begun it, and after.
            let early = session.submit("sleep 1000").await.expect("taken");
            assert!(session.interrupt(early).await.expect("there"), "{program}");
            let over = Wait { command: Some(early), ..Wait::default() }.timeout(PATIENCE);
            assert!(session.wait(over).await.expect("there").fired.is_some(), "{program}");
            let next = session.submit("sh -c 'trap \"exit 9\" INT; echo begun; read line'").await;
            let next = next.expect("the shell is free");
            assert!(!session.interrupt(early).await.expect("there"), "{program}");
            let asked = Wait { command: Some(next), needs_input: true, ..Wait::default() };
            let asked = session.wait(asked.timeout(PATIENCE)).await.expect("there").fired;
            assert_eq!(asked.map(|fired| fired.name()), Some("needs_input"), "{program}");
            assert!(!session.interrupt(early).await.expect("there"), "{program}");
            session.send_keys("on<Enter>").await.expect("sent");
            let over = Wait { command: Some(next), ..Wait::default() }.timeout(PATIENCE);
            session.wait(over).await.expect("there");
            let report = session.command(next, 0, 100).await.expect("there").expect("known");
            assert_eq!(report.state, CommandState::Done { exit_code: 0 }, "{program}: {report:?}");
            assert!(!session.interrupt(next).await.expect("there"), "{program}");
        }
    }
    sessions.shutdown().await;
}

/// Far more questions than their answers may take, from a program that does not read them.
const QUERIES: &str = r#"python3 -c 'import sys
sys.stdout.write("\x1b[c\x1b[6n\x1bP$qm\x1b\\\x1b]11;?\x07" * 20000)'"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_that_nobody_read_do_not_hold_up_the_next_command() {
    let sessions = Sessions::new(Settings::default());
    for program in ["bash", "zsh", "fish", "dash"] {
        let session = shell(&sessions, program).await;
        let report = session.execute(QUERIES, PATIENCE, 1 << 20).await.expect("it runs");
        assert_eq!(report.state, CommandState::Done { exit_code: 0 }, "{program}");
        let report = session.execute("echo after", PATIENCE, 1 << 20).await.expect("it runs");
        assert_eq!(report.state, CommandState::Done { exit_code: 0 }, "{program}");
        assert_eq!(report.output, "after\n", "{program}");
    }
    sessions.shutdown().await;
}

/// The marks of typed lines are not those of a command that is given while they run.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_behind_typed_lines_has_its_own_output() {
    let sessions = Sessions::new(Settings::default());
    for program in ["bash", "zsh", "fish", "dash"] {
        let session = shell(&sessions, program).await;
        for typed in ["echo typed<Enter>", "echo one<Enter>echo two<Enter>", "sleep 0.1<Enter>"] {
            // Samples of a race: the line is unread, runs, or is over.
            for delay in [0, 1, 3, 10] {
                session.send_keys(typed).await.expect("sent");
                tokio::time::sleep(Duration::from_millis(delay)).await;
                let report = session.execute("echo given; sh -c 'exit 3'", PATIENCE, 1000).await;
                let report = report.expect("it runs");
                let shown = format!("{program}, {typed}, {delay} ms");
                assert_eq!(report.output, "given\n", "{shown}");
                assert_eq!(report.state, CommandState::Done { exit_code: 3 }, "{shown}");
            }
        }
    }
    sessions.shutdown().await;
}

/// Nor is it a program's input that a typed line has started.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_behind_a_typed_program_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let sessions = Sessions::new(Settings::default());
    for program in ["bash", "zsh", "fish", "dash"] {
        let session = shell(&sessions, program).await;
        let (input, ran) = (folder.path().join("input"), folder.path().join("ran"));
        session.send_keys(&format!("cat > {}<Enter>", input.display())).await.expect("sent");
        let command = format!("echo ran > {}", ran.display());
        let refused = session.execute(&command, PATIENCE, 1000).await;
        assert!(matches!(refused, Err(SessionError::ShellBusy(_))), "{program}: {refused:?}");
        session.send_keys("<C-d>").await.expect("sent");
        // The shell itself is at work.
        let end = if program == "fish" { "end" } else { "do :; done" };
        session.send_keys(&format!("while true; {end}<Enter>")).await.expect("sent");
        let refused = session.execute(&command, PATIENCE, 1000).await;
        assert!(matches!(refused, Err(SessionError::ShellBusy(_))), "{program}: {refused:?}");
        session.send_keys("<C-c>").await.expect("sent");
        let report = session.execute("echo next", PATIENCE, 1000).await;
        assert_eq!(report.expect(program).output, "next\n", "{program}");
        assert_eq!(std::fs::read_to_string(&input).expect("there"), "", "{program}");
        assert!(!ran.exists(), "{program}");
    }
    sessions.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_line_of_a_command_continues_where_the_one_before_stopped() {
    let sessions = Sessions::new(Settings::default());
    for program in ["bash", "zsh", "fish", "dash"] {
        let session = shell(&sessions, program).await;
        for (command, output) in [
            ("printf 'a\\t'\nprintf 'b\\n'", "a\tb\n"),
            ("printf 'Building...'\nprintf '\\rDone.      \\n'", "Done.      \n"),
            ("printf 'e'\nprintf '\\314\\201\\n'", "e\u{301}\n"),
        ] {
            let report = session.execute(command, PATIENCE, 1000).await.expect("it runs");
            assert_eq!(report.output, output, "{program}: {command}");
        }
    }
    sessions.shutdown().await;
}

/// The next command is there already when it is printed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_printed_before_the_prompt_is_kept() {
    let hold =
        "[ ! -e hold ] || { until [ -e go ]; do sleep 0.01; done; rm hold go; echo a line; }";
    for (program, hook) in [
        ("bash", format!("PROMPT_COMMAND=\"sh -c '{hold}'\"")),
        ("zsh", format!("precmd() {{ {hold}; }}")),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        let sessions = Sessions::new(Settings::default());
        let session = shell(&sessions, program).await;
        let cd = format!("cd {}", folder.path().display());
        for command in [cd.as_str(), &hook] {
            session.execute(command, PATIENCE, 1000).await.expect("it runs");
        }
        let first = session.execute("touch hold", PATIENCE, 1000).await.expect("it runs");
        let second = session.submit("echo two").await.expect("it waits for the prompt");
        std::fs::write(folder.path().join("go"), "").expect("written");
        let over = Wait { command: Some(second), ..Wait::default() }.timeout(PATIENCE);
        assert!(session.wait(over).await.expect("there").fired.is_some(), "{program}");
        let second = session.command(second, 0, 1000).await.expect("there").expect("known");
        assert_eq!(second.output, "two\n", "{program}");
        let between = session.background(first.id, 0, 1000).await.expect("there");
        assert_eq!(between.expect("kept").output, "a line\n", "{program}");
        sessions.shutdown().await;
    }
}

/// Where it waits at its prompt is known before anything is typed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_typed_at_once_into_a_new_shell_is_not_mistaken() {
    let sessions = Sessions::new(Settings::default());
    for (program, line) in [("bash", "read -e v"), ("fish", "read v"), ("zsh", "vared -c v")] {
        let launch = Launch::shell(program).cwd("/").env("PS1", "$ ");
        let session = sessions.launch(launch).await.expect("the shell starts");
        let free = Wait { free: true, ..Wait::default() }.timeout(PATIENCE);
        session.wait(free).await.expect("the session is there");
        session.send_keys(&format!("{line}<Enter>")).await.expect("sent");
        let refused = session.execute("echo ran", PATIENCE, 1000).await;
        assert!(matches!(refused, Err(SessionError::ShellBusy(_))), "{program}: {refused:?}");
    }
    sessions.shutdown().await;
}
