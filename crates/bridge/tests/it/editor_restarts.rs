//! A server that was killed, and the terminals of editors that the next one finds.

use std::path::PathBuf;

use serde_json::{Value, json};
use tempfile::TempDir;
use termbridge_bridge::session::{
    CommandState, Launch, NewCommand, Owner, SessionError, SessionId, State, TerminalLook, Wait,
    look_at_terminal_of,
};
use termbridge_bridge::{Awaited, EditorTerminals, NewSession, Screens, TerminalBackend, Until};

use crate::editor_terminals::{Editor, LIMIT, finished, hello, new_session, session};

/// The servers of one runtime folder, one after the other.
struct Servers {
    folder: TempDir,
}

impl Servers {
    fn new() -> Self {
        Self { folder: TempDir::new().expect("a folder") }
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("editor-terminals")
    }

    /// The next server; those before it are as good as killed.
    fn next(&self) -> EditorTerminals {
        let terminals = EditorTerminals::new();
        terminals.adopt(self.file());
        terminals
    }
}

/// The hello of a window that has these terminals.
fn has(window: &str, terminals: &[&Value]) -> Value {
    let mut data = hello(window, "/work");
    data["terminals"] = json!(terminals);
    data
}

/// Has the window begin a command; the ids of its terminal and execution.
async fn begins(
    terminals: &EditorTerminals,
    editor: &mut Editor,
    id: &SessionId,
    command: &str,
    key: Option<&str>,
) -> (u64, Value, String) {
    let command = NewCommand {
        text: command.to_owned(),
        key: key.map(str::to_owned),
        ..NewCommand::default()
    };
    let starting = terminals.start_new_command(id, command, LIMIT);
    let beginning = async {
        let (execution, asked) = editor.expect("execute").await;
        editor.reply("success", &execution, json!({"executionId": execution})).await;
        (asked["terminalId"].clone(), execution)
    };
    let (number, (terminal, execution)) = tokio::join!(starting, beginning);
    (number.expect("started"), terminal, execution)
}

async fn prints(editor: &mut Editor, terminal: &Value, execution: &str, at: u64, data: &str) {
    let data = json!({"terminalId": terminal, "executionId": execution, "data": data, "at": at});
    editor.notice("execution_output", data).await;
}

async fn ends(editor: &mut Editor, terminal: &Value, execution: &str, exit_code: i32) {
    let data = json!({"terminalId": terminal, "executionId": execution, "exitCode": exit_code, "cwd": "/tmp"});
    editor.notice("execution_ended", data).await;
}

async fn resumes(editor: &mut Editor, terminal: &Value, execution: Option<&str>) {
    let data = json!({"terminalId": terminal, "executionId": execution, "isRunning": true});
    editor.notice("terminal_resumed", data).await;
}

/// The same for a command that has ended: all of it is reported again.
async fn repeats(editor: &mut Editor, terminal: &Value, execution: &str, output: &str) {
    let data = json!({"terminalId": terminal, "executionId": execution, "isRunning": false});
    editor.notice("terminal_resumed", data).await;
    prints(editor, terminal, execution, 0, output).await;
    ends(editor, terminal, execution, 0).await;
}

#[tokio::test]
async fn the_next_server_goes_on_with_the_same_sessions_of_the_same_owners() {
    let servers = Servers::new();
    let first = servers.next();
    let mut editor = Editor::window(&first, "w", "/work").await;
    let owner = Owner {
        principal: "token ci".into(),
        client: "claude in /work".into(),
        agent: Some("builder".into()),
        workspace: Some("/work".into()),
    };
    let new = NewSession {
        owner: owner.clone(),
        name: Some("build".into()),
        project: Some("app".into()),
        ..new_session("/work")
    };
    let (made, _) = tokio::join!(first.create_session(new), editor.create(None));
    let made = made.expect("a session");
    let (number, terminal, execution) =
        begins(&first, &mut editor, &made.id, "make", Some("call 7")).await;
    prints(&mut editor, &terminal, &execution, 0, "one\r\n").await;
    let wait = Wait { text: Some("one".into()), ..Wait::default() }.timeout(LIMIT);
    let screen = Screens::get(&first, &made.id).expect("it is there");
    screen.wait(wait).await.expect("printed");
    let shared = json!({"terminalId": "s", "terminalName": "zsh", "shell": "zsh", "cwd": "/work"});
    editor.notice("terminal_shared", shared.clone()).await;
    let shared_id = loop {
        let all = first.list_sessions().await.expect("a list");
        if let Some(found) = all.iter().find(|info| info.owner.is_everyone()) {
            break found.id.clone();
        }
        tokio::task::yield_now().await;
    };

    drop(editor);
    let second = servers.next();
    let found = second.session(&made.id).await.expect("the same session");
    assert_eq!((&found.owner, &found.name, &found.project), (&owner, &made.name, &made.project));
    assert_eq!(found.state, State::Running);
    assert_eq!(
        second.keyed_command("call 7").await.expect("looked"),
        Some((made.id.clone(), number))
    );

    // All that it printed is reported again, and what it printed meanwhile.
    let mut editor = Editor::hello(&second, has("w", &[&terminal, &json!("s")])).await;
    resumes(&mut editor, &terminal, Some(&execution)).await;
    prints(&mut editor, &terminal, &execution, 0, "one\r\n").await;
    prints(&mut editor, &terminal, &execution, 5, "two\r\n").await;
    ends(&mut editor, &terminal, &execution, 3).await;
    finished(&second, &made.id, number).await;
    let report = second.command(&made.id, number, 0, 100).await.expect("asked").expect("known");
    assert_eq!((report.output.as_str(), report.exit_code()), ("one\ntwo\n", Some(3)), "{report:?}");
    assert_eq!((report.command.as_str(), report.notice), ("make", None));
    editor.notice("terminal_shared", shared).await;
    let (next, _) = tokio::join!(
        second.start_command(&made.id, "make test", LIMIT),
        editor.run(&["ok\r\n"], Some(0))
    );
    assert_eq!(next.expect("started"), number + 1, "numbers go on");
    finished(&second, &made.id, number + 1).await;
    let all = second.list_sessions().await.expect("a list");
    let shared: Vec<_> = all.iter().filter(|info| info.owner.is_everyone()).collect();
    assert_eq!(shared.len(), 1, "it is not shared twice");
    assert_eq!(shared[0].id, shared_id);
}

#[tokio::test]
async fn output_is_taken_once_and_what_is_missing_is_reported() {
    let servers = Servers::new();
    let first = servers.next();
    let mut editor = Editor::window(&first, "w", "/work").await;
    let (made, _) = session(&first, &mut editor, None).await;
    let (number, terminal, execution) = begins(&first, &mut editor, &made.id, "make", None).await;
    prints(&mut editor, &terminal, &execution, 0, "a😀b").await;

    // Another connection to the same server: what it has is left out, in the editor's own units.
    drop(editor);
    let mut editor = Editor::hello(&first, has("w", &[&terminal])).await;
    resumes(&mut editor, &terminal, Some(&execution)).await;
    prints(&mut editor, &terminal, &execution, 0, "a😀b").await;
    prints(&mut editor, &terminal, &execution, 3, "bcd").await;

    // Another server, after much was printed.
    drop(editor);
    let second = servers.next();
    let mut editor = Editor::hello(&second, has("w", &[&terminal])).await;
    resumes(&mut editor, &terminal, Some(&execution)).await;
    prints(&mut editor, &terminal, &execution, 1000, "end").await;
    ends(&mut editor, &terminal, &execution, 0).await;
    finished(&second, &made.id, number).await;
    let report = second.command(&made.id, number, 0, 100).await.expect("asked").expect("known");
    assert_eq!((report.output.as_str(), report.exit_code()), ("end", Some(0)));
    assert!(report.notice.is_some_and(|notice| notice.contains("1000 characters")), "a gap shows");

    let wait = Wait { printed_after: Some(0), ..Wait::default() }.timeout(LIMIT);
    Screens::get(&first, &made.id).expect("there").wait(wait).await.expect("waited");
    let report = first.command(&made.id, number, 0, 100).await.expect("asked").expect("known");
    assert_eq!(report.output, "a😀bcd");
}

#[tokio::test]
async fn a_window_that_was_reloaded_goes_on_and_what_was_not_captured_is_reported() {
    let servers = Servers::new();
    let server = servers.next();
    let mut editor = Editor::window(&server, "w", "/work").await;
    let (made, _) = session(&server, &mut editor, None).await;
    let (number, terminal, execution) = begins(&server, &mut editor, &made.id, "make", None).await;
    prints(&mut editor, &terminal, &execution, 0, "begun\r\n").await;

    drop(editor);
    let mut editor = Editor::hello(&server, has("w", &[&terminal])).await;
    let resumed = json!({"terminalId": terminal, "executionId": execution, "isRunning": true, "isReloaded": true});
    editor.notice("terminal_resumed", resumed).await;
    ends(&mut editor, &terminal, &execution, 7).await;
    finished(&server, &made.id, number).await;
    let report = server.command(&made.id, number, 0, 100).await.expect("asked").expect("known");
    assert_eq!((report.output.as_str(), report.exit_code()), ("begun\n", Some(7)));
    assert!(report.notice.is_some_and(|notice| notice.contains("reloaded")), "the gap shows");

    // Of a command that had ended before, nothing is missing.
    let (number, terminal, execution) = begins(&server, &mut editor, &made.id, "ls", None).await;
    prints(&mut editor, &terminal, &execution, 0, "a file\r\n").await;
    ends(&mut editor, &terminal, &execution, 0).await;
    finished(&server, &made.id, number).await;
    drop(editor);
    let mut editor = Editor::hello(&server, has("w", &[&terminal])).await;
    let resumed = json!({"terminalId": terminal, "executionId": execution, "isRunning": false, "isReloaded": true});
    editor.notice("terminal_resumed", resumed).await;
    ends(&mut editor, &terminal, &execution, 0).await;
    let report = server.command(&made.id, number, 0, 100).await.expect("asked").expect("known");
    assert_eq!((report.output.as_str(), report.notice), ("a file\n", None));
}

#[tokio::test]
async fn a_command_of_which_the_editor_knows_nothing_is_lost_and_the_terminal_is_free() {
    let servers = Servers::new();
    let first = servers.next();
    let mut editor = Editor::window(&first, "w", "/work").await;
    let (made, _) = session(&first, &mut editor, None).await;
    let (number, terminal, execution) = begins(&first, &mut editor, &made.id, "make", None).await;
    ends(&mut editor, &terminal, &execution, 0).await;
    finished(&first, &made.id, number).await;
    // Killed between the record and the request: the editor was never given it.
    let starting = first.start_command(&made.id, "rm x", LIMIT);
    let killed = async {
        editor.expect("execute").await;
    };
    tokio::select! {
        _ = starting => panic!("nobody replied"),
        () = killed => {}
    }

    let second = servers.next();
    let mut editor = Editor::hello(&second, has("w", &[&terminal])).await;
    resumes(&mut editor, &terminal, Some(&execution)).await;
    finished(&second, &made.id, number + 1).await;
    let report = second.command(&made.id, number + 1, 0, 9).await.expect("asked").expect("known");
    assert_eq!(report.state, CommandState::Lost);
    assert!(report.notice.is_some_and(|notice| notice.contains("restarted")));
    let (next, _) =
        tokio::join!(second.start_command(&made.id, "ls", LIMIT), editor.run(&["ok\r\n"], Some(0)));
    finished(&second, &made.id, next.expect("it is free")).await;

    // An extension that resumes nothing reports its shells all the same.
    let (last, terminal, _) = begins(&second, &mut editor, &made.id, "make", None).await;
    let third = servers.next();
    let mut editor = Editor::hello(&third, has("w", &[&terminal])).await;
    let integration = json!({"terminalId": terminal, "shell": "bash", "cwd": "/work"});
    editor.notice("terminal_integration", integration).await;
    finished(&third, &made.id, last).await;
    let report = third.command(&made.id, last, 0, 9).await.expect("asked").expect("known");
    assert_eq!(report.state, CommandState::Lost);
}

#[tokio::test(start_paused = true)]
async fn a_command_that_comes_before_the_window_waits_for_it_and_has_its_own_output() {
    let servers = Servers::new();
    let first = servers.next();
    let mut editor = Editor::window(&first, "w", "/work").await;
    let (made, _) = session(&first, &mut editor, None).await;
    let (number, terminal, execution) = begins(&first, &mut editor, &made.id, "make", None).await;
    prints(&mut editor, &terminal, &execution, 0, "made\r\n").await;
    ends(&mut editor, &terminal, &execution, 0).await;
    finished(&first, &made.id, number).await;

    let coming = async |server: &EditorTerminals| {
        let mut editor = Editor::hello(server, has("w", &[&terminal])).await;
        repeats(&mut editor, &terminal, &execution, "made\r\n").await;
        editor.run(&["ok\r\n"], Some(0)).await;
        editor
    };
    let output = async |server: &EditorTerminals, number| {
        finished(server, &made.id, number).await;
        let report = server.command(&made.id, number, 0, 100).await;
        report.expect("asked").expect("known").output
    };
    let second = servers.next();
    let shell = second.session(&made.id).await.expect("there").shell.expect("a shell");
    assert!(shell.idle && shell.running.is_none(), "it had ended: {shell:?}");
    let (next, _editor) =
        tokio::join!(second.start_command(&made.id, "make test", LIMIT), coming(&second));
    let next = next.expect("it is not busy");
    assert_eq!(output(&second, number).await, "made\n");
    assert_eq!(output(&second, next).await, "ok\n");

    // Where nothing could be written, the window reports a command that nobody knows.
    let kept = std::fs::read_to_string(servers.file()).expect("kept");
    let mut kept: Value = serde_json::from_str(&kept).expect("JSON");
    kept["terminals"][0]["last"] = Value::Null;
    std::fs::write(servers.file(), kept.to_string()).expect("written");
    let third = servers.next();
    let (next, _editor) =
        tokio::join!(third.start_command(&made.id, "make all", LIMIT), coming(&third));
    assert_eq!(output(&third, next.expect("started")).await, "ok\n");
}

#[tokio::test(start_paused = true)]
async fn only_the_window_that_had_a_terminal_hands_it_back() {
    let servers = Servers::new();
    let first = servers.next();
    let mut editor = Editor::window(&first, "w", "/work").await;
    let (made, _) = session(&first, &mut editor, None).await;
    let (number, terminal, execution) = begins(&first, &mut editor, &made.id, "make", None).await;
    drop(editor);

    let second = servers.next();
    // Another window and a plain extension say that it is theirs.
    let mut thief = Editor::hello(&second, has("thief", &[&terminal])).await;
    resumes(&mut thief, &terminal, Some(&execution)).await;
    let (_, unknown) = thief.expect("terminal_unknown").await;
    assert_eq!(unknown["terminalId"], terminal);
    prints(&mut thief, &terminal, &execution, 0, "gotcha").await;
    ends(&mut thief, &terminal, &execution, 0).await;
    let mut plain = Editor::plain(&second).await;
    prints(&mut plain, &terminal, &execution, 0, "gotcha").await;
    ends(&mut plain, &terminal, &execution, 0).await;
    // Neither is asked to type in it.
    let screen = Screens::get(&second, &made.id).expect("there");
    let typed = screen.send(vec![termbridge_bridge::session::Input::Text("x".into())]).await;
    assert!(matches!(typed, Err(SessionError::Unavailable(_))), "{typed:?}");
    let report = second.command(&made.id, number, 0, 100).await.expect("asked").expect("known");
    assert!(report.is_running() && report.output.is_empty(), "{report:?}");

    // A window that was loaded anew has it no longer, and one that stays away neither.
    let third = servers.next();
    let _editor = Editor::hello(&third, has("w", &[])).await;
    let gone = third.start_command(&made.id, "ls", LIMIT).await;
    assert!(matches!(gone, Err(SessionError::Withdrawn { .. })), "{gone:?}");
    assert!(servers.next().session(&made.id).await.is_err(), "nor does the next server have it");
}

/// A shell whose process the test can end.
struct Process(std::process::Child);

impl Process {
    /// It has a terminal of its own, as the editor's have.
    fn start() -> Self {
        let mut command = std::process::Command::new("script");
        let shell = "echo $$; PS1='at the prompt' exec bash --norc --noprofile -i";
        command.args(["-qfc", shell, "/dev/null"]).env_remove("PROMPT_COMMAND");
        command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
        Self(command.spawn().expect("script is there"))
    }

    /// Its process, once it shows its prompt.
    fn shell(&mut self) -> i32 {
        use std::io::Read;
        let output = self.0.stdout.as_mut().expect("piped");
        let mut seen = String::new();
        while !seen.contains("at the prompt") {
            let mut bytes = [0; 256];
            let count = output.read(&mut bytes).expect("read");
            assert_ne!(count, 0, "it ended: {seen}");
            seen.push_str(&String::from_utf8_lossy(&bytes[..count]));
        }
        let digits = seen.trim_start().chars().take_while(char::is_ascii_digit);
        let pid: i32 = digits.collect::<String>().parse().expect("a process id");
        // It reads only after it has shown its prompt, and the kernel tells nobody when.
        let waits = |look: TerminalLook| look.waiting.is_for_input();
        let began = std::time::Instant::now();
        while !look_at_terminal_of(pid.cast_unsigned()).is_some_and(waits) {
            assert!(began.elapsed() < LIMIT, "it does not read");
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        pid
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test]
async fn a_window_that_was_loaded_anew_is_another_that_goes_on_with_its_terminals() {
    let server = Servers::new().next();
    let mut editor = Editor::window(&server, "before", "/work").await;
    let (made, _) = session(&server, &mut editor, None).await;
    let (number, terminal, execution) = begins(&server, &mut editor, &made.id, "make", None).await;

    // The one before is left running for a while; in some editors two windows show the same terminal.
    let mut next = Editor::hello(&server, has("after", &[&terminal])).await;
    let resumed = json!({
        "terminalId": terminal, "windows": ["long ago", "before"],
        "executionId": execution, "isRunning": true, "isReloaded": true
    });
    next.notice("terminal_resumed", resumed).await;
    ends(&mut next, &terminal, &execution, 7).await;
    finished(&server, &made.id, number).await;
    ends(&mut editor, &terminal, &execution, 1).await;
    let report = server.command(&made.id, number, 0, 100).await.expect("asked").expect("known");
    assert_eq!(report.exit_code(), Some(7), "{report:?}");
    assert!(report.notice.is_some_and(|notice| notice.contains("reloaded")), "the gap shows");

    // One that names no window that had it gets nothing.
    let mut thief = Editor::hello(&server, has("thief", &[&terminal])).await;
    let claim = json!({"terminalId": terminal, "windows": ["w"]});
    thief.notice("terminal_resumed", claim).await;
    thief.expect("terminal_unknown").await;
    let (number, _) = tokio::join!(
        server.start_command(&made.id, "ls", LIMIT),
        next.run(&["a file\r\n"], Some(0))
    );
    finished(&server, &made.id, number.expect("started")).await;

    // Without the newer one, the older one has it.
    next.leave().await;
    let (number, _) = tokio::join!(
        server.start_command(&made.id, "ls", LIMIT),
        editor.run(&["a file\r\n"], Some(0))
    );
    finished(&server, &made.id, number.expect("started")).await;
    assert!(!server.session(&made.id).await.expect("there").away);
    editor.leave().await;
    assert!(server.session(&made.id).await.expect("there").away);
}

#[tokio::test(start_paused = true)]
async fn a_request_waits_for_a_window_that_is_loaded_anew() {
    let server = Servers::new().next();
    let mut editor = Editor::window(&server, "before", "/work").await;
    let (made, _) = session(&server, &mut editor, None).await;
    let (number, terminal, execution) = begins(&server, &mut editor, &made.id, "make", None).await;
    ends(&mut editor, &terminal, &execution, 0).await;
    finished(&server, &made.id, number).await;
    editor.leave().await;
    let reloading = async {
        // Longer than another window may take to connect.
        let mut editor = Editor::window(&server, "after", "/work").await;
        tokio::time::sleep(std::time::Duration::from_secs(15)).await;
        let resumed = json!({"terminalId": terminal, "windows": ["before"], "executionId": execution, "isReloaded": true});
        editor.notice("terminal_resumed", resumed).await;
        editor.run(&["ok\r\n"], Some(0)).await;
        editor
    };
    let (number, _editor) =
        tokio::join!(server.start_command(&made.id, "make test", LIMIT), reloading);
    finished(&server, &made.id, number.expect("started")).await;
}

#[tokio::test]
async fn a_window_that_is_closed_is_reported_while_a_command_runs() {
    let server = Servers::new().next();
    let mut process = Process::start();
    let shell = process.shell();
    let mut editor = Editor::window(&server, "w", "/work").await;
    let (made, _) = session(&server, &mut editor, Some(shell)).await;
    let (number, ..) = begins(&server, &mut editor, &made.id, "make", None).await;
    assert!(!server.session(&made.id).await.expect("there").away);
    editor.leave().await;
    // It may come back, and nothing else is known.
    assert!(server.session(&made.id).await.expect("there").away);
    let report = server.command(&made.id, number, 0, 100).await.expect("asked").expect("known");
    assert!(report.is_running(), "{report:?}");
    assert!(report.notice.is_some_and(|notice| notice.contains("does not answer")), "it is said");

    // The editor takes the shell along: nobody waits for it any longer.
    let waiting = server.wait_command(&made.id, number, Awaited::End, LIMIT);
    let closing = async {
        tokio::task::yield_now().await;
        drop(process);
    };
    let (until, ()) = tokio::join!(waiting, closing);
    assert_eq!(until.expect("a wait"), Until::Over);
    let info = server.session(&made.id).await.expect("it can be read");
    assert!(matches!(info.state, State::Exited(_)) && !info.away, "{info:?}");
    let gone = server.start_command(&made.id, "ls", LIMIT).await;
    assert!(matches!(gone, Err(SessionError::Withdrawn { .. })), "{gone:?}");
}

#[tokio::test(start_paused = true)]
async fn a_window_that_stays_away_takes_its_terminals_with_it() {
    let servers = Servers::new();
    let first = servers.next();
    let mut editor = Editor::window(&first, "w", "/work").await;
    let launch = Launch::new("vim").cwd("/work");
    let starting = async {
        editor.create(None).await;
        let (id, _) = editor.expect("execute").await;
        editor.reply("success", &id, json!({"executionId": id})).await;
    };
    let (screen, ()) = tokio::join!(Screens::launch(&first, launch), starting);
    let id = screen.expect("launched").id().clone();
    drop(editor);
    // Of a plain extension nothing says which one it is.
    let mut plain = Editor::plain(&first).await;
    let (sent, _) = tokio::join!(first.create_session(new_session("/work")), plain.create(None));
    sent.expect("a session of the plain one");

    let second = servers.next();
    assert_eq!(second.list_sessions().await.expect("a list").len(), 1);
    assert!(second.session(&id).await.expect("there").shell.is_none(), "it is a program");
    tokio::time::sleep(std::time::Duration::from_secs(90)).await;
    let info = second.session(&id).await.expect("it can be read");
    assert!(matches!(info.state, State::Exited(_)), "{info:?}");
}

#[test]
fn a_file_that_cannot_be_read_is_no_terminals() {
    let servers = Servers::new();
    for bytes in [&b"{"[..], b"[]", b"{\"terminals\": 7}", b"\xff\xfe"] {
        std::fs::write(servers.file(), bytes).expect("written");
        assert!(!servers.next().has(&SessionId::from_text("")), "{bytes:?}");
    }
    std::fs::write(servers.file(), br#"{"terminals": [{"session": "s"}], "more": 1}"#).expect("ok");
    assert!(servers.next().has(&SessionId::from_text("s")), "what is missing has its default");
}

#[tokio::test]
async fn a_command_that_was_lost_with_its_window_does_not_keep_the_shell_busy() {
    let server = Servers::new().next();
    let mut process = Process::start();
    let shell = process.shell();
    let mut editor = Editor::window(&server, "before", "/work").await;
    let (made, _) = session(&server, &mut editor, Some(shell)).await;
    let (number, terminal, execution) = begins(&server, &mut editor, &made.id, "make", None).await;
    ends(&mut editor, &terminal, &execution, 0).await;
    finished(&server, &made.id, number).await;
    let losing = async {
        let (lost, _) = editor.expect("execute").await;
        drop(editor);
        lost
    };
    let (failed, lost) = tokio::join!(server.start_command(&made.id, "ls", LIMIT), losing);
    assert!(matches!(failed, Err(SessionError::Unavailable(_))), "{failed:?}");

    // The next window takes it for running; the shell is at its prompt.
    let mut editor = Editor::window(&server, "after", "/work").await;
    let resumed = json!({"terminalId": terminal, "windows": ["before"], "executionId": lost, "isRunning": true});
    editor.notice("terminal_resumed", resumed).await;
    let answering = async {
        let (id, _) = editor.expect("execute").await;
        editor.reply("error", &id, json!({"error": "runs another", "code": "busy"})).await;
        let (id, asked) = editor.expect("end_execution").await;
        assert_eq!(asked["executionId"], lost.as_str());
        editor.reply("success", &id, json!({})).await;
        ends(&mut editor, &terminal, &lost, 1).await;
        editor.run(&["ok\r\n"], Some(0)).await;
    };
    let (next, ()) = tokio::join!(server.start_command(&made.id, "make test", LIMIT), answering);
    let next = next.expect("started");
    assert_eq!(next, number + 1, "numbers have no gaps");
    finished(&server, &made.id, next).await;
    let report = server.command(&made.id, next, 0, 100).await.expect("asked").expect("known");
    assert_eq!((report.output.as_str(), report.exit_code()), ("ok\n", Some(0)), "{report:?}");
}

#[tokio::test(start_paused = true)]
async fn a_window_that_does_not_answer_its_extension_is_away_and_keeps_its_terminals() {
    let server = Servers::new().next();
    let mut editor = Editor::window(&server, "w", "/work").await;
    let (made, _) = session(&server, &mut editor, None).await;
    let (number, terminal, execution) = begins(&server, &mut editor, &made.id, "make", None).await;
    editor.send(json!({"type": "update", "id": "u", "data": {"away": true}})).await;
    editor.expect("success").await;
    assert!(server.session(&made.id).await.expect("there").away);
    let report = server.command(&made.id, number, 0, 9).await.expect("asked").expect("known");
    assert!(report.notice.is_some_and(|notice| notice.contains("does not answer")), "it is said");
    let refused = server.create_session(new_session("/work")).await;
    assert!(matches!(refused, Err(SessionError::Unavailable(_))), "{refused:?}");
    let began = tokio::time::Instant::now();
    let patience = std::time::Duration::from_secs(2);
    let typed = server.start_command(&made.id, "ls", patience).await;
    assert!(matches!(typed, Err(SessionError::ShellBusy(_))), "{typed:?}");
    assert!(began.elapsed() <= patience, "it waits no longer than its caller");

    ends(&mut editor, &terminal, &execution, 0).await;
    finished(&server, &made.id, number).await;
    let coming = async {
        tokio::time::sleep(std::time::Duration::from_secs(10)).await;
        editor.send(json!({"type": "update", "id": "u", "data": {"away": false}})).await;
        editor.expect("success").await;
        editor.run(&["ok\r\n"], Some(0)).await;
    };
    let (next, ()) = tokio::join!(server.start_command(&made.id, "make test", LIMIT), coming);
    finished(&server, &made.id, next.expect("started")).await;
    assert!(!server.session(&made.id).await.expect("there").away);
}
