//! The terminals of editors: a plain extension, and a scripted window of ours.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use termbridge_bridge::editor::{
    Admission, EditorService, NoSessionsShown, REPLY_LIMIT, lines, serve,
};
use termbridge_bridge::session::vt::Size;
use termbridge_bridge::session::{
    CommandState, Fired, Input, Launch, Owner, Session, SessionError, SessionId, SessionInfo,
    Sessions, Settings, Signal, SnapshotRequest, State, Wait,
};
use termbridge_bridge::{Awaited, EditorTerminals, NewSession, Screens, TerminalBackend, Until};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

pub(crate) const LIMIT: Duration = Duration::from_mins(1);

/// An editor at the other end of a connection.
pub(crate) struct Editor {
    reader: BufReader<ReadHalf<DuplexStream>>,
    writer: WriteHalf<DuplexStream>,
    connection: JoinHandle<()>,
}

impl Editor {
    fn connect(terminals: &EditorTerminals) -> Self {
        let service = EditorService {
            windows: Arc::new(NoSessionsShown::default()),
            terminals: Arc::new(terminals.clone()),
            is_valid_token: Arc::new(|_| false),
        };
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let connection = tokio::spawn(async move {
            let (reader, writer) = tokio::io::split(theirs);
            let stop = CancellationToken::new();
            serve(lines(reader, writer), Admission::Anyone, &service, &stop).await;
        });
        let (reader, writer) = tokio::io::split(ours);
        Self { reader: BufReader::new(reader), writer, connection }
    }

    /// Disconnects; the server knows it by then.
    pub(crate) async fn leave(self) {
        let Self { reader, writer, connection } = self;
        drop((reader, writer));
        connection.await.expect("the connection ended");
    }

    pub(crate) async fn plain(terminals: &EditorTerminals) -> Self {
        let mut editor = Self::connect(terminals);
        let (id, _) = editor.expect("ping").await;
        editor.send(json!({"type": "pong", "id": id})).await;
        editor
    }

    pub(crate) async fn window(terminals: &EditorTerminals, window: &str, folder: &str) -> Self {
        Self::hello(terminals, hello(window, folder)).await
    }

    pub(crate) async fn hello(terminals: &EditorTerminals, data: Value) -> Self {
        let mut editor = Self::connect(terminals);
        editor.send(json!({"type": "hello", "id": "h", "data": data})).await;
        editor.expect("welcome").await;
        editor
    }

    pub(crate) async fn send(&mut self, message: Value) {
        let line = format!("{message}\n");
        self.writer.write_all(line.as_bytes()).await.expect("sent");
    }

    pub(crate) async fn notice(&mut self, kind: &str, data: Value) {
        self.send(json!({"type": kind, "data": data})).await;
    }

    /// The next message, which has to be of this type. Pings are answered meanwhile.
    pub(crate) async fn expect(&mut self, kind: &str) -> (String, Value) {
        let deadline = tokio::time::Instant::now() + LIMIT;
        loop {
            let mut line = String::new();
            let read = tokio::time::timeout_at(deadline, self.reader.read_line(&mut line)).await;
            assert_ne!(read.expect("in time").expect("read"), 0, "closed before {kind}");
            let message: Value = serde_json::from_str(&line).expect("JSON");
            let id = message["id"].as_str().unwrap_or_default().to_owned();
            if message["type"] == "ping" && kind != "ping" {
                self.send(json!({"type": "pong", "id": id})).await;
                continue;
            }
            assert_eq!(message["type"], kind, "{message}");
            return (id, message["data"].clone());
        }
    }

    pub(crate) async fn reply(&mut self, kind: &str, id: &str, data: Value) {
        self.send(json!({"type": kind, "id": id, "data": data})).await;
    }

    /// Makes the terminal that is asked for; what was asked.
    pub(crate) async fn create(&mut self, pid: Option<i32>) -> Value {
        let (id, asked) = self.expect("create_terminal").await;
        let data = json!({"terminalId": id, "terminalName": "Terminal 1", "pid": pid});
        self.reply("terminal_created", &id, data).await;
        asked
    }

    /// Runs a command: what it prints, and how it ends.
    pub(crate) async fn run(&mut self, output: &[&str], exit_code: Option<i32>) -> Value {
        let (id, asked) = self.expect("execute").await;
        assert_eq!(asked["capture"], true);
        let terminal = asked["terminalId"].clone();
        self.reply("success", &id, json!({"executionId": id})).await;
        for data in output {
            let data = json!({"terminalId": terminal, "executionId": id, "data": data});
            self.notice("execution_output", data).await;
        }
        let ended = json!({"terminalId": terminal, "executionId": id, "exitCode": exit_code, "cwd": "/tmp"});
        self.notice("execution_ended", ended).await;
        asked
    }
}

pub(crate) fn hello(window: &str, folder: &str) -> Value {
    json!({"protocol": 1, "window": window, "editor": "Code", "folders": [folder]})
}

pub(crate) fn new_session(cwd: &str) -> NewSession {
    NewSession {
        shell: "bash".into(),
        cwd: cwd.into(),
        workspace: Some(cwd.into()),
        ..NewSession::default()
    }
}

/// A session in a window, and its terminal's id.
pub(crate) async fn session(
    terminals: &EditorTerminals,
    editor: &mut Editor,
    pid: Option<i32>,
) -> (SessionInfo, Value) {
    let (made, asked) =
        tokio::join!(terminals.create_session(new_session("/work")), editor.create(pid));
    (made.expect("a session"), asked)
}

pub(crate) async fn finished(terminals: &EditorTerminals, id: &SessionId, command: u64) {
    let until = terminals.wait_command(id, command, Awaited::End, LIMIT).await;
    assert_eq!(until.expect("a wait"), Until::Over);
}

#[tokio::test]
async fn a_plain_editor_replies_and_nothing_else() {
    let terminals = EditorTerminals::new();
    let mut editor = Editor::plain(&terminals).await;
    let chosen = NewSession { is_shell_requested: true, ..new_session("/work") };
    let refused = terminals.create_session(chosen).await;
    assert!(matches!(refused, Err(SessionError::NotSupported(why)) if why.contains("`shell`")));
    let env = [("A".to_owned(), "b c".to_owned())].into();
    let (made, asked) = tokio::join!(
        terminals.create_session(NewSession { env, ..new_session("/work") }),
        editor.create(None)
    );
    let info = made.expect("a session");
    assert_eq!(asked, json!({}), "a plain extension is told what it knows");
    assert_eq!(info.name.as_deref(), Some("Terminal 1"));
    assert_eq!(info.command, "the editor's default shell");
    let reply = "Command executed: npm install\nNote: no output";
    // Directory and variables are set once; what follows is the agent's own affair.
    let first = "cd -- '/work' && export A='b c' && npm install";
    for (command, typed) in [("npm install", first), ("ls", "ls")] {
        let starting = terminals.start_command(&info.id, command, LIMIT);
        let confirming = async {
            let (id, asked) = editor.expect("execute").await;
            assert_eq!(asked["command"], typed);
            assert_eq!(asked.as_object().map(serde_json::Map::len), Some(2));
            editor.reply("success", &id, json!({"output": reply})).await;
        };
        let (number, ()) = tokio::join!(starting, confirming);
        let number = number.expect("started");
        finished(&terminals, &info.id, number).await;
        let report = terminals.command(&info.id, number, 0, 1000).await.expect("a report");
        let report = report.expect("a report");
        assert_eq!((report.state, report.output.as_str()), (CommandState::Sent, reply));
        assert!(report.notice.is_some_and(|notice| notice.contains("cannot be captured")));
    }

    let screen = terminals.get(&info.id).expect("a session");
    let seen = screen.snapshot(SnapshotRequest::default()).await;
    assert!(matches!(seen, Err(SessionError::NotSupported(_))));
    let typed = screen.send(vec![Input::Text("x".into())]).await;
    assert!(matches!(typed, Err(SessionError::NotSupported(_))));
    let launched = terminals.launch(Launch::new("vim")).await.err().expect("refused");
    assert!(matches!(launched, SessionError::NotSupported(_)), "{launched}");

    let closing = screen.stop(Signal::TERM, LIMIT);
    let confirming = async {
        let (id, _) = editor.expect("close_terminal").await;
        editor.reply("success", &id, json!({"output": "closed"})).await;
    };
    let (stopped, ()) = tokio::join!(closing, confirming);
    assert!(!stopped.expect("stopped").already);
    let listed = terminals.list_sessions().await.expect("a list");
    assert!(matches!(listed[0].state, State::Exited(_)));
}

/// Has a plain extension confirm a command; in which terminal.
async fn confirm(terminals: &EditorTerminals, editor: &mut Editor, id: &SessionId) -> Value {
    let (started, asked) = tokio::join!(terminals.start_command(id, "true", LIMIT), async {
        let (id, asked) = editor.expect("execute").await;
        editor.reply("success", &id, json!({"output": "sent"})).await;
        asked
    });
    started.expect("started");
    asked["terminalId"].clone()
}

/// Returns when everybody waits: the clock of these tests moves only then.
async fn all_is_quiet() {
    tokio::time::sleep(Duration::from_millis(1)).await;
}

#[tokio::test(start_paused = true)]
async fn a_second_plain_editor_leaves_the_first_its_terminals() {
    let terminals = EditorTerminals::new();
    let mut first = Editor::plain(&terminals).await;
    let (of_first, _) = session(&terminals, &mut first, None).await;
    let mut second = Editor::plain(&terminals).await;
    all_is_quiet().await;
    let (of_second, _) = session(&terminals, &mut second, None).await;
    let terminal = confirm(&terminals, &mut first, &of_first.id).await;
    assert_ne!(terminal, confirm(&terminals, &mut second, &of_second.id).await);

    // One that connects again keeps its own terminals, whatever other peers there are.
    first.leave().await;
    let mut first = Editor::plain(&terminals).await;
    assert_eq!(terminal, confirm(&terminals, &mut first, &of_first.id).await);
    confirm(&terminals, &mut second, &of_second.id).await;
    assert_eq!(terminals.session(&of_first.id).await.expect("a session").state, State::Running);

    // Of two that are gone, nobody knows which one comes back.
    first.leave().await;
    second.leave().await;
    let mut unknown = Editor::plain(&terminals).await;
    all_is_quiet().await;
    let (own, _) = session(&terminals, &mut unknown, None).await;
    let all = terminals.list_sessions().await.expect("a list");
    assert!(all.iter().all(|session| session.away == (session.id != own.id)), "{all:?}");
}

#[tokio::test]
async fn a_window_captures_output_exit_code_and_directory() {
    let terminals = EditorTerminals::new();
    let mut editor = Editor::window(&terminals, "w", "/work").await;
    let (info, asked) = session(&terminals, &mut editor, None).await;
    assert_eq!(asked, json!({"agent": "", "cwd": "/work", "env": {}, "shell": "bash"}));
    let output = ["\u{1b}[31mred\u{1b}[0m\r\n", "10%\r100%\r\n"];
    let (command, _) = tokio::join!(
        terminals.start_command(&info.id, "false", LIMIT),
        editor.run(&output, Some(1))
    );
    let command = command.expect("started");
    finished(&terminals, &info.id, command).await;
    let report = terminals.command(&info.id, command, 0, 1000).await.expect("a report");
    let report = report.expect("a report");
    assert_eq!(report.output, "red\n100%\n");
    assert_eq!((report.exit_code(), report.cwd.as_deref()), (Some(1), Some(Path::new("/tmp"))));
    assert_eq!(terminals.session(&info.id).await.expect("a session").cwd, Path::new("/tmp"));
    let text = terminals.terminal_text(&info.id, 100).await.expect("text").text;
    assert!(text.contains("red") && text.contains("100%"), "{text}");

    // What the shell does not mark: without any output, none may have been reported.
    for (output, is_noted) in [(&["some\r\n"][..], false), (&[][..], true)] {
        let starting = terminals.start_command(&info.id, "odd", LIMIT);
        let (command, _) = tokio::join!(starting, editor.run(output, None));
        let command = command.expect("started");
        finished(&terminals, &info.id, command).await;
        let report = terminals.command(&info.id, command, 0, 0).await.expect("a report");
        let report = report.expect("a report");
        assert_eq!((report.state, report.notice.is_some()), (CommandState::Lost, is_noted));
    }

    // One at a time.
    let (first, asked) = tokio::join!(terminals.start_command(&info.id, "sleep 9", LIMIT), async {
        let (id, asked) = editor.expect("execute").await;
        editor.reply("success", &id, json!({"executionId": "e2"})).await;
        asked
    });
    let busy = terminals.start_command(&info.id, "true", LIMIT).await;
    assert!(matches!(busy, Err(SessionError::ShellBusy(_))));
    // Closed in the editor: the session and its command end.
    let closed = json!({"terminalId": asked["terminalId"], "exitCode": 7});
    editor.notice("terminal_closed", closed).await;
    let command = first.expect("started");
    finished(&terminals, &info.id, command).await;
    let report = terminals.command(&info.id, command, 0, 0).await.expect("a report");
    let ended = CommandState::SessionEnded { exit_code: Some(7) };
    assert_eq!(report.expect("a report").state, ended);
    let dead = terminals.start_command(&info.id, "true", LIMIT).await;
    assert!(matches!(dead, Err(SessionError::Dead { .. })));
}

#[tokio::test(start_paused = true)]
async fn a_shell_that_cannot_be_read_yet_is_waited_for() {
    let terminals = EditorTerminals::new();
    let mut editor = Editor::window(&terminals, "w", "/work").await;
    let (info, _) = session(&terminals, &mut editor, None).await;
    let refused = json!({"error": "no shell integration", "code": "no_integration"});
    let late = async {
        let (id, asked) = editor.expect("execute").await;
        editor.reply("error", &id, refused.clone()).await;
        tokio::time::sleep(Duration::from_secs(2)).await;
        let data = json!({"terminalId": asked["terminalId"], "shell": "bash", "cwd": "/work"});
        editor.notice("terminal_integration", data).await;
        editor.run(&["hi\r\n"], Some(0)).await;
    };
    let (command, ()) = tokio::join!(terminals.start_command(&info.id, "echo hi", LIMIT), late);
    let command = command.expect("started");
    finished(&terminals, &info.id, command).await;
    let report = terminals.command(&info.id, command, 0, 100).await.expect("a report");
    assert_eq!(report.expect("a report").output, "hi\n");

    // Another shell never can: it is given the command all the same.
    let (info, _) = session(&terminals, &mut editor, None).await;
    let never = async {
        let (id, _) = editor.expect("execute").await;
        editor.reply("error", &id, refused).await;
        let (id, asked) = editor.expect("execute").await;
        assert_eq!(asked["capture"], Value::Null);
        editor.reply("success", &id, json!({"output": "sent"})).await;
    };
    let (command, ()) = tokio::join!(terminals.start_command(&info.id, "echo hi", LIMIT), never);
    let report = terminals.command(&info.id, command.expect("started"), 0, 100).await;
    let report = report.expect("a report").expect("a report");
    assert_eq!(report.state, CommandState::Sent);
    assert!(report.notice.is_some_and(|notice| notice.contains("integration")));
}

#[tokio::test(start_paused = true)]
async fn a_shell_without_integration_is_not_waited_for_and_not_shown() {
    let terminals = EditorTerminals::new();
    let mut editor = Editor::window(&terminals, "w", "/work").await;
    let dash = NewSession { shell: "/bin/dash".into(), ..new_session("/work") };
    let (made, _) = tokio::join!(terminals.create_session(dash), editor.create(None));
    let info = made.expect("a session");
    let began = tokio::time::Instant::now();
    let sent = async {
        let (id, asked) = editor.expect("execute").await;
        assert_eq!(asked["capture"], Value::Null, "nothing is waited for");
        editor.reply("success", &id, json!({"output": "Command executed"})).await;
        asked["terminalId"].clone()
    };
    let (command, terminal) =
        tokio::join!(terminals.start_command(&info.id, "echo hi", LIMIT), sent);
    assert_eq!(began.elapsed(), Duration::ZERO);
    let report = terminals.command(&info.id, command.expect("started"), 0, 100).await;
    let report = report.expect("a report").expect("a report");
    assert_eq!((report.state, report.output.as_str()), (CommandState::Sent, ""));
    let screen = terminals.get(&info.id).expect("a session");
    let seen = screen.snapshot(SnapshotRequest::default()).await.expect_err("it cannot be seen");
    assert!(seen.to_string().contains("cannot be seen"), "{seen}");

    // One that reports itself after all is read.
    let works = json!({"terminalId": terminal, "shell": "dash", "cwd": "/now"});
    editor.notice("terminal_integration", works).await;
    while terminals.session(&info.id).await.expect("a session").cwd != *"/now" {
        tokio::task::yield_now().await;
    }
    let (command, _) = tokio::join!(
        terminals.start_command(&info.id, "echo hi", LIMIT),
        editor.run(&["hi\r\n"], Some(0))
    );
    finished(&terminals, &info.id, command.expect("started")).await;
}

#[tokio::test]
async fn shared_terminals_are_everyones_until_they_are_taken_back() {
    let terminals = EditorTerminals::new();
    let mut editor = Editor::window(&terminals, "w", "/work").await;
    let shared = json!({"terminalId": "t", "terminalName": "zsh", "pid": null, "cwd": "/work", "shell": "/bin/zsh"});
    editor.notice("terminal_shared", shared.clone()).await;
    editor.notice("terminal_shared", shared).await;
    let info = loop {
        let listed = terminals.list_sessions().await.expect("a list");
        assert!(listed.len() < 2, "shared twice is shared once");
        if let Some(info) = listed.into_iter().next() {
            break info;
        }
        tokio::task::yield_now().await;
    };
    assert_eq!((info.name.as_deref(), &info.owner), (Some("zsh"), &Owner::everyone()));
    let caller = termbridge_bridge::Caller::default();
    assert_eq!(caller.access(&info.owner), termbridge_bridge::Access::Own);
    let (command, _) =
        tokio::join!(terminals.start_command(&info.id, "true", LIMIT), editor.run(&[], Some(0)));
    finished(&terminals, &info.id, command.expect("started")).await;
    let busy = async {
        let (id, _) = editor.expect("execute").await;
        editor.reply("error", &id, json!({"error": "it runs another", "code": "busy"})).await;
    };
    let (refused, ()) = tokio::join!(terminals.start_command(&info.id, "true", LIMIT), busy);
    assert!(matches!(refused, Err(SessionError::ShellBusy(_))), "{refused:?}");
    let refused = terminals.get(&info.id).expect("a session").stop(Signal::TERM, LIMIT).await;
    assert!(matches!(refused, Err(SessionError::NotSupported(_))), "{refused:?}");
    editor.notice("terminal_unshared", json!({"terminalId": "t"})).await;
    let wait = terminals.get(&info.id).expect("a session").wait(Wait::exit().timeout(LIMIT)).await;
    assert_eq!(wait.expect("a wait").fired, Some(Fired::Exit));
    let refused = terminals.start_command(&info.id, "true", LIMIT).await;
    assert!(matches!(refused, Err(SessionError::Withdrawn { .. })), "{refused:?}");
}

#[tokio::test]
async fn what_a_person_runs_in_a_shared_terminal_is_not_interrupted() {
    let sessions = Sessions::new(Settings::default());
    let home = tempfile::tempdir().expect("a folder");
    let shell =
        Launch::new("bash").args(["--norc", "-i"]).env("HOME", home.path()).env("PS1", "ready> ");
    let person = sessions.launch(shell).await.expect("a shell");
    person.wait(Wait::text("ready>").timeout(LIMIT)).await.expect("a prompt");
    let pid = person.info().await.expect("its row").pid;

    let terminals = EditorTerminals::new();
    let mut editor = Editor::window(&terminals, "w", "/work").await;
    let shared =
        json!({"terminalId": "t", "terminalName": "bash", "pid": pid, "cwd": "/", "shell": "bash"});
    editor.notice("terminal_shared", shared).await;
    let integrated = json!({"terminalId": "t", "shell": "bash", "cwd": "/work"});
    editor.notice("terminal_integration", integrated).await;
    let info = loop {
        let listed = terminals.list_sessions().await.expect("a list");
        match listed.into_iter().next() {
            Some(info) if info.cwd == *"/work" => break info,
            _ => tokio::task::yield_now().await,
        }
    };
    person.send(vec![Input::Text("cat\r".into())]).await.expect("typed");
    let reads = Wait { needs_input: true, ..Wait::default() };
    assert!(person.wait(reads.timeout(LIMIT)).await.expect("a wait").fired.is_some(), "it reads");
    let refused = terminals.start_command(&info.id, "echo agent", LIMIT).await;
    assert!(matches!(refused, Err(SessionError::ShellBusy(_))), "{refused:?}");
    let screen = terminals.get(&info.id).expect("a session");
    let refused = screen.send(vec![Input::Text("\u{3}".into())]).await;
    assert!(matches!(refused, Err(SessionError::TakenOver(_))), "{refused:?}");
    person.send(vec![Input::Text("\u{4}".into())]).await.expect("typed");
    let again = regex::Regex::new(r"(?s)ready>.*ready>").expect("a pattern");
    let prompts = Wait { regex: Some(again), ..Wait::default() };
    let waited = person.wait(prompts.timeout(LIMIT)).await.expect("a wait");
    assert!(waited.fired.is_some(), "a prompt again");
    let (command, asked) = tokio::join!(
        terminals.start_command(&info.id, "(exit 3)", LIMIT),
        editor.run(&[], Some(3))
    );
    assert_eq!(asked["command"], "eval $'(exit 3)'", "its marks tell of it then");
    finished(&terminals, &info.id, command.expect("started")).await;
    sessions.shutdown().await;
}

#[tokio::test]
async fn a_window_whose_extension_was_started_anew_has_none_of_its_terminals() {
    let terminals = EditorTerminals::new();
    let mut editor = Editor::window(&terminals, "w", "/work").await;
    let (info, _) = session(&terminals, &mut editor, None).await;
    let (_, asked) =
        tokio::join!(terminals.start_command(&info.id, "true", LIMIT), editor.run(&[], Some(0)));
    drop(editor);
    let mut hello = hello("w", "/work");
    hello["terminals"] = json!([asked["terminalId"]]);
    let again = Editor::hello(&terminals, hello.clone()).await;
    assert_eq!(terminals.session(&info.id).await.expect("a session").state, State::Running);
    drop(again);
    hello["terminals"] = json!([]);
    let _anew = Editor::hello(&terminals, hello).await;
    let info = terminals.session(&info.id).await.expect("a session");
    assert!(matches!(info.state, State::Exited(_)));
}

#[tokio::test(start_paused = true)]
async fn the_window_that_has_the_folder_is_used() {
    let terminals = EditorTerminals::new();
    let nobody = terminals.create_session(new_session("/work")).await;
    assert!(matches!(nobody, Err(SessionError::Unavailable(why)) if why.contains("6 s")));

    // One that comes while it is waited for will do.
    let (made, mut first) =
        tokio::join!(terminals.create_session(new_session("/elsewhere")), async {
            tokio::time::sleep(Duration::from_secs(5)).await;
            let mut first = Editor::window(&terminals, "w1", "/work/one").await;
            first.create(None).await;
            first
        });
    made.expect("the only window");

    let mut second = Editor::window(&terminals, "w2", "/work/two").await;
    let two = terminals.create_session(new_session("/work/two/src"));
    let (made, _) = tokio::join!(two, second.create(None));
    made.expect("in the second");
    let (made, _) =
        tokio::join!(terminals.create_session(new_session("/work/one")), first.create(None));
    made.expect("in the first");
    let Err(SessionError::Unavailable(why)) =
        terminals.create_session(new_session("/elsewhere")).await
    else {
        panic!("which one?")
    };
    assert!(why.contains("Code with /work/one") && why.contains("/work/two"), "{why}");
}

#[tokio::test(start_paused = true)]
async fn a_command_is_given_once_whatever_becomes_of_the_connection() {
    let terminals = EditorTerminals::new();
    let mut editor = Editor::window(&terminals, "w", "/work").await;
    let (info, _) = session(&terminals, &mut editor, None).await;
    let starting = terminals.start_command(&info.id, "make", LIMIT);
    let leaving = async move {
        editor.expect("execute").await;
        drop(editor);
    };
    let (lost, ()) = tokio::join!(starting, leaving);
    assert!(matches!(lost, Err(SessionError::Unavailable(why)) if why.contains("not sent again")));

    // The window comes back while the next command waits for it, and gets that one only.
    let (command, mut editor) =
        tokio::join!(terminals.start_command(&info.id, "make test", LIMIT), async {
            tokio::time::sleep(Duration::from_secs(5)).await;
            let mut editor = Editor::window(&terminals, "w", "/work").await;
            let asked = editor.run(&["ok\r\n"], Some(0)).await;
            assert_eq!(asked["command"], "make test");
            editor
        });
    finished(&terminals, &info.id, command.expect("started")).await;

    // No reply: it may have run.
    let starting = terminals.start_command(&info.id, "make", LIMIT);
    let silent = async {
        editor.expect("execute").await;
        let (id, _) = editor.expect("ping").await;
        editor.reply("pong", &id, Value::Null).await;
    };
    let (late, ()) = tokio::join!(starting, silent);
    let limit = format!("within {} s", REPLY_LIMIT.as_secs());
    assert!(matches!(late, Err(SessionError::Unavailable(why)) if why.contains(&limit)));

    // An editor that stays away takes its terminals with it.
    drop(editor);
    tokio::time::sleep(Duration::from_secs(90)).await;
    let info = terminals.session(&info.id).await.expect("a session");
    assert!(matches!(info.state, State::Exited(_)));
}

/// A terminal of the editor with a real shell in it, and what the editor would type there.
struct RealShell {
    terminals: EditorTerminals,
    editor: Editor,
    id: SessionId,
    /// The shell's terminal, which the editor has.
    device: Session,
    _sessions: Sessions,
    _home: tempfile::TempDir,
}

impl RealShell {
    async fn start() -> Self {
        let sessions = Sessions::new(Settings::default());
        let home = tempfile::tempdir().expect("a folder");
        let shell = Launch::new("bash")
            .args(["--norc", "-i"])
            .env("HOME", home.path())
            .env("PS1", "ready> ");
        let device = sessions.launch(shell).await.expect("a shell");
        device.wait(Wait::text("ready>").timeout(LIMIT)).await.expect("a prompt");
        let at_prompt = Wait { interactive: true, ..Wait::default() };
        device.wait(at_prompt.timeout(LIMIT)).await.expect("a prompt");
        let pid = device.info().await.expect("its row").pid;
        let terminals = EditorTerminals::new();
        let mut editor = Editor::window(&terminals, "w", "/work").await;
        let (info, _) = session(&terminals, &mut editor, pid).await;
        Self { terminals, editor, id: info.id, device, _sessions: sessions, _home: home }
    }

    /// Gives the shell a command; the editor types it, and never says that it is over.
    async fn begin(&mut self, command: &str) -> (u64, Value) {
        let starting = self.terminals.start_command(&self.id, command, LIMIT);
        let typing = async {
            let (id, asked) = self.editor.expect("execute").await;
            let line = format!("{}\r", asked["command"].as_str().expect("a line"));
            self.device.send(vec![Input::Text(line)]).await.expect("typed");
            self.editor.reply("success", &id, json!({"executionId": id})).await;
            json!({"terminalId": asked["terminalId"], "executionId": id})
        };
        let (command, execution) = tokio::join!(starting, typing);
        (command.expect("started"), execution)
    }

    async fn wait(&self, command: u64) -> Until {
        let waited = self.terminals.wait_command(&self.id, command, Awaited::EndOrInput, LIMIT);
        waited.await.expect("a wait")
    }

    async fn end(&mut self, execution: &Value) {
        let mut ended = execution.clone();
        ended["exitCode"] = json!(0);
        self.editor.notice("execution_ended", ended).await;
    }
}

#[tokio::test]
async fn what_waits_for_someone_in_a_terminal_of_the_editor_is_seen() {
    let mut shell = RealShell::start().await;
    for (command, until) in [
        ("read -r answer", Until::NeedsInput { echo: true }),
        ("read -rs secret", Until::NeedsInput { echo: false }),
        // It edits a line as the prompt does, and is none.
        ("read -er line", Until::Interactive { uncertain: false }),
        ("cat", Until::NeedsInput { echo: true }),
    ] {
        let (number, execution) = shell.begin(command).await;
        assert_eq!(shell.wait(number).await, until, "{command}");
        // It is told once.
        let printed = shell.terminals.session(&shell.id).await.expect("its row").printed;
        let again = shell.terminals.wait_output(&shell.id, Some(number), printed, Duration::ZERO);
        assert_eq!(again.await.expect("a wait"), until, "{command}");
        let end = if command == "cat" { "\u{4}" } else { "\r" };
        shell.device.send(vec![Input::Text(end.into())]).await.expect("typed");
        shell.end(&execution).await;
        finished(&shell.terminals, &shell.id, number).await;
        let at_prompt = Wait { interactive: true, ..Wait::default() };
        shell.device.wait(at_prompt.timeout(LIMIT)).await.expect("a prompt");
    }
}

#[tokio::test]
async fn a_command_is_over_when_the_shell_is_at_its_prompt_and_says_nothing() {
    let mut shell = RealShell::start().await;
    // An editor that is slow to tell is waited for.
    let (number, execution) = shell.begin("true").await;
    let slow = Duration::from_secs(4);
    let waiting = shell.terminals.wait_command(&shell.id, number, Awaited::EndOrInput, slow);
    assert_eq!(waiting.await.expect("a wait"), Until::TimedOut);
    shell.end(&execution).await;
    finished(&shell.terminals, &shell.id, number).await;
    // Of the second, the shell is another program since.
    for command in ["true", "exec bash --norc -i"] {
        let (number, execution) = shell.begin(command).await;
        let ending = async {
            let (id, asked) = shell.editor.expect("end_execution").await;
            assert_eq!(asked, execution);
            shell.editor.reply("success", &id, json!({})).await;
            let mut ended = execution.clone();
            ended["exitCode"] = Value::Null;
            shell.editor.notice("execution_ended", ended).await;
        };
        let waiting = shell.terminals.wait_command(&shell.id, number, Awaited::EndOrInput, LIMIT);
        let (until, ()) = tokio::join!(waiting, ending);
        assert_eq!(until.expect("a wait"), Until::Over, "{command}");
        let report = shell.terminals.command(&shell.id, number, 0, 1000).await.expect("a report");
        let report = report.expect("a report");
        assert_eq!(report.state, CommandState::Lost);
        assert!(report.notice.is_some_and(|notice| notice.contains("prompt")));
    }
    // An extension that does not know the request; nobody waits, and the next command finds out.
    let (first, _) = shell.begin("true").await;
    let waiting = shell.terminals.wait_command(&shell.id, first, Awaited::End, LIMIT);
    let refusing = async {
        let (id, _) = shell.editor.expect("end_execution").await;
        shell.editor.reply("error", &id, json!({"error": "Unknown message type"})).await;
    };
    let (until, ()) = tokio::join!(waiting, refusing);
    assert_eq!(until.expect("a wait"), Until::Over);
    let (second, _) = shell.begin("sleep 600").await;
    let longer = Duration::from_secs(3);
    let waiting = shell.terminals.wait_command(&shell.id, second, Awaited::EndOrInput, longer);
    assert_eq!(waiting.await.expect("a wait"), Until::TimedOut, "it runs");
}

#[tokio::test]
async fn a_program_is_seen_and_typed_to() {
    // Its terminal is the one whose size counts.
    let sessions = Sessions::new(Settings::default());
    let other =
        sessions.launch(Launch::new("sleep").arg("600").size(40, 10)).await.expect("a program");
    let pid = other.info().await.expect("its row").pid;

    let terminals = EditorTerminals::new();
    let mut editor = Editor::window(&terminals, "w", "/work").await;
    let launch = Launch::new("vim").arg("a file").cwd("/work").env("A", "b");
    let starting = async {
        let asked = editor.create(pid).await;
        assert_eq!(asked["env"], json!({"A": "b"}));
        let (id, asked) = editor.expect("execute").await;
        assert_eq!(asked["command"], "vim 'a file'");
        editor.reply("success", &id, json!({"executionId": "e"})).await;
        asked["terminalId"].clone()
    };
    let (screen, terminal) = tokio::join!(terminals.launch(launch), starting);
    let screen = screen.expect("launched");
    assert_eq!(screen.size().await.expect("a size"), Size { cols: 40, rows: 10 });
    let output = |data: &str| json!({"terminalId": terminal, "executionId": "e", "data": data});
    editor.notice("execution_output", output("\u{1b}[?1049h\u{1b}[2J\u{1b}[3;5Hhello")).await;
    let waited = screen.wait(Wait::text("hello").timeout(LIMIT)).await.expect("a wait");
    assert!(matches!(waited.fired, Some(Fired::Text(found)) if (found.row, found.col) == (2, 4)));
    let snapshot = screen.snapshot(SnapshotRequest::default()).await.expect("a screen");
    assert!(snapshot.screen.alternate && snapshot.contains("hello"));

    let wait = Wait { change: true, ..Wait::default() }.timeout(LIMIT);
    let typing = screen.send_then_wait(vec![Input::Text("ZQ".into())], wait);
    let answering = async {
        let (id, asked) = editor.expect("send_text").await;
        assert_eq!(asked["text"], "ZQ");
        editor.reply("success", &id, json!({})).await;
        editor.notice("execution_output", output("\u{1b}[?1049l")).await;
    };
    let (typed, ()) = tokio::join!(typing, answering);
    let (sent, waiting) = typed.expect("typed");
    assert_eq!(sent.bytes, 2);
    assert_eq!(waiting.await.expect("a wait").fired, Some(Fired::Change));
    let ended = json!({"terminalId": terminal, "executionId": "e", "exitCode": 0, "cwd": null});
    editor.notice("execution_ended", ended).await;
    let waited = screen.wait(Wait::exit().timeout(LIMIT)).await.expect("a wait");
    assert_eq!(waited.fired, Some(Fired::Exit));
    let State::Exited(ended) = waited.state else { panic!("it runs") };
    assert_eq!(ended.exit_code(), Some(0));
    assert!(matches!(
        screen.resize(Size { cols: 9, rows: 9 }).await,
        Err(SessionError::NotSupported(_))
    ));
    let (id, asked) = editor.expect("close_terminal").await;
    assert_eq!(asked["terminalId"], terminal, "it has nothing to show any more");
    editor.reply("success", &id, json!({"output": ""})).await;
    sessions.shutdown().await;
}

#[tokio::test]
async fn the_terminal_of_a_program_that_failed_stays_until_it_is_stopped() {
    let terminals = EditorTerminals::new();
    let mut editor = Editor::window(&terminals, "w", "/work").await;
    let starting = async {
        editor.create(None).await;
        let (id, asked) = editor.expect("execute").await;
        editor.reply("success", &id, json!({"executionId": "e"})).await;
        asked["terminalId"].clone()
    };
    let launch = Launch::new("make").cwd("/work");
    let (screen, terminal) = tokio::join!(terminals.launch(launch), starting);
    let screen = screen.expect("launched");
    let ended = json!({"terminalId": terminal, "executionId": "e", "exitCode": 2, "cwd": null});
    editor.notice("execution_ended", ended).await;
    let waited = screen.wait(Wait::exit().timeout(LIMIT)).await.expect("a wait");
    assert_eq!(waited.fired, Some(Fired::Exit));
    let stop = || screen.stop(Signal::TERM, LIMIT);
    let closing = async {
        let (id, asked) = editor.expect("close_terminal").await;
        assert_eq!(asked["terminalId"], terminal);
        editor.reply("success", &id, json!({"output": ""})).await;
    };
    let (stopped, ()) = tokio::join!(stop(), closing);
    let stopped = stopped.expect("stopped");
    assert!(stopped.already && stopped.ended.exit_code() == Some(2), "{stopped:?}");
    // The editor is not asked again.
    assert!(stop().await.expect("stopped").already);
}
