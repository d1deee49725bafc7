//! Programs that wait for keys are reported as such, early; programs at work are not.

use serde_json::{Value, json};
use termbridge_testkit::{Server, TestEnvironment};

use crate::TERMBRIDGE;
use crate::support::processes;

/// Long enough for a machine that does much else; no passing test waits for it.
const PATIENCE_MS: u64 = 120_000;
/// Long enough for a program at work to be taken for one that waits.
const A_WHILE_MS: u64 = 2500;

#[track_caller]
fn execute(server: &mut Server, command: &str, timeout_ms: u64) -> Value {
    let arguments = json!({"command": command, "timeout_ms": timeout_ms});
    server.ok("execute_command", arguments).structured
}

/// Runs a program that waits for keys, then types them; its exit code and all that it printed.
#[track_caller]
fn waits_for_keys(server: &mut Server, command: &str, shown: &str, keys: &str) -> (Value, String) {
    let answer = execute(server, command, PATIENCE_MS);
    assert_eq!(answer["state"], "interactive", "{command}: {answer}");
    assert_eq!(answer.get("uncertain"), None, "{command}: {answer}");
    let screen = answer["screen"].as_str().expect("a screen");
    assert!(screen.contains(shown), "{command} shows {shown}: {answer}");
    end(server, &answer, keys)
}

#[track_caller]
fn end(server: &mut Server, begun: &Value, keys: &str) -> (Value, String) {
    let session = &begun["session_id"];
    server.ok("send_keys", json!({"session_id": session, "keys": keys}));
    let over = json!({"session_id": session, "prompt": true, "timeout_ms": PATIENCE_MS});
    server.ok("wait_for", over);
    let read = json!({"session_id": session, "command_id": begun["command_id"]});
    let page = server.ok("get_terminal_output", read).structured;
    assert_eq!(page["state"], "done", "{page}");
    (page["exit_code"].clone(), page["output"].as_str().expect("output").to_owned())
}

#[test]
fn repls_and_nested_shells_wait_for_keys() {
    let environment = TestEnvironment::new();
    let mut server = environment.server(TERMBRIDGE, &["--shell", "bash"]);
    let table = [
        ("python3 -q", ">>>", "raise SystemExit(3)<Enter>", 3),
        ("node", ">", "process.exit(4)<Enter>", 4),
        ("sqlite3", "sqlite>", ".exit 5<Enter>", 5),
        ("PS1='nested> ' bash --norc", "nested>", "exit 6<Enter>", 6),
        ("PS1='nested> ' zsh -f", "nested>", "exit 7<Enter>", 7),
        (
            "fish --no-config -C 'function fish_prompt; echo nested\\>; end'",
            "nested>",
            "exit 8<Enter>",
            8,
        ),
    ];
    for (command, shown, keys, code) in table {
        let (exit_code, _) = waits_for_keys(&mut server, command, shown, keys);
        assert_eq!(exit_code, code, "{command}");
    }
}

#[test]
fn full_screen_programs_and_questions_wait_for_keys() {
    let environment = TestEnvironment::new();
    environment.write("notes.txt", "the text of the file\n".repeat(100));
    environment.write("work/file.txt", "x\n");
    let mut server = environment.server(TERMBRIDGE, &["--shell", "bash"]);
    let commit = "cd work && git init -q . && git add . && GIT_EDITOR='vim --clean' \
         git -c user.name=n -c user.email=e@x commit; result=$?; cd ..; (exit $result)";
    let table = [
        ("vim --clean notes.txt", "the text of the file", ":cq 3<Enter>", 3),
        ("less notes.txt", "the text of the file", "q", 0),
        (commit, "Please enter the commit message", ":cq<Enter>", 1),
        ("read -n1 -p 'Key? ' key; [ \"$key\" = y ]", "Key?", "y", 0),
        ("read -e -p 'Line? ' line; [ \"$line\" = abc ]", "Line?", "abc<Enter>", 0),
        ("top", "load average", "q", 0),
        ("mkdir -p new; cd new; npm init; cd ..; (exit 2)", "package name", "<Ctrl+C>", 2),
    ];
    for (command, shown, keys, code) in table {
        let (exit_code, _) = waits_for_keys(&mut server, command, shown, keys);
        assert_eq!(exit_code, code, "{command}");
    }
    let (exit_code, output) =
        // Not by a query: fzf filters in its own time.
        waits_for_keys(&mut server, "printf 'one\\ntwo\\n' | fzf", "two", "Up Enter");
    assert_eq!(exit_code, 0);
    assert!(output.ends_with("two\n"), "{output:?}");
}

#[test]
fn the_line_editor_of_fish_waits_for_keys() {
    let environment = TestEnvironment::new();
    // It is started for the first time, so that it writes completions meanwhile.
    let mut server = environment.server(TERMBRIDGE, &["--shell", "fish"]);
    let command = "read --prompt-str 'Name? ' name; echo \"hello $name\"";
    let (exit_code, output) = waits_for_keys(&mut server, command, "Name?", "agent<Enter>");
    assert_eq!(exit_code, 0);
    assert!(output.ends_with("hello agent\n"), "{output:?}");
}

/// Reads keys in raw mode and polls them while it works: in a process of its own, or by printing.
const WORKER: &str = r#"
import os, select, subprocess, sys, termios, tty
before = termios.tcgetattr(0)
tty.setcbreak(0)
print("works", flush=True)
work = {
    "process": lambda: subprocess.Popen(["sh", "-c", "while [ ! -e stop ]; do :; done"]),
    "detached": lambda: subprocess.Popen(
        ["sh", "-c", "while [ ! -e stop ]; do :; done"], start_new_session=True),
    "print": lambda: None,
}[sys.argv[1]]()
step = 0.1 if sys.argv[1] == "print" else 3600
while not os.path.exists("stop"):
    ready, _, _ = select.select([0], [], [], step)
    if ready and os.read(0, 1) == b"q":
        break
    print(".", end="", flush=True)
if work:
    work.wait()
print("idle", flush=True)
select.select([0], [], [])
termios.tcsetattr(0, termios.TCSADRAIN, before)
sys.exit(9)
"#;

#[test]
fn a_program_at_work_does_not_wait_for_keys() {
    let environment = TestEnvironment::new();
    environment.write("worker.py", WORKER);
    let mut server = environment.server(TERMBRIDGE, &["--shell", "bash"]);
    for how in ["process", "detached", "print"] {
        let begun = execute(&mut server, &format!("python3 worker.py {how}"), A_WHILE_MS);
        assert_eq!(begun["state"], "running", "{how}: {begun}\n{}", processes());
        let session = begun["session_id"].clone();
        // Its work is over when the file is there.
        environment.write("stop", "");
        server.ok("send_keys", json!({"session_id": session, "keys": "q"}));
        let wait = json!({"session_id": session, "interactive": true, "timeout_ms": PATIENCE_MS});
        let waited = server.ok("wait_for", wait).structured;
        assert_eq!(
            (&waited["fired"], &waited["state"]),
            (&json!("interactive"), &json!("interactive")),
            "{how}: {waited}"
        );
        std::fs::remove_file(environment.path().join("stop")).expect("removed");
        let (exit_code, _) = end(&mut server, &begun, "x");
        assert_eq!(exit_code, 9, "{how}");
    }
    // Without raw mode nothing waits for keys, however quiet it is.
    let begun = execute(&mut server, "sleep 1000", A_WHILE_MS);
    assert_eq!(begun["state"], "running", "{begun}");
    end(&mut server, &begun, "<Ctrl+C>");
    // A line is a line.
    let begun = execute(&mut server, "sh -c 'read line'", PATIENCE_MS);
    assert_eq!(begun["state"], "needs_input", "{begun}");
}

#[test]
fn a_busy_background_job_does_not_hide_a_program_that_waits() {
    let environment = TestEnvironment::new();
    let mut server = environment.server(TERMBRIDGE, &["--shell", "bash"]);
    execute(&mut server, "(while [ ! -e stop ]; do :; done) &", PATIENCE_MS);
    let command = "read -n1 -p 'Key? ' key; touch stop; wait; (exit 3)";
    let (exit_code, _) = waits_for_keys(&mut server, command, "Key?", "y");
    assert_eq!(exit_code, 3);
}

#[test]
fn a_program_behind_another_terminal_counts() {
    let environment = TestEnvironment::new();
    let mut server = environment.server(TERMBRIDGE, &["--shell", "bash"]);
    for command in [
        "script -qec 'sleep 1000' /dev/null",
        "python3 -c 'import pty; pty.spawn([\"sleep\", \"1000\"])'",
    ] {
        // Longer than it takes for a relay that cannot be looked into.
        let begun = execute(&mut server, command, 2 * A_WHILE_MS);
        assert_eq!(begun["state"], "running", "{command}: {begun}");
        end(&mut server, &begun, "<Ctrl+C>");
    }
    let nested = "script -qec \"PS1='nested> ' bash --norc\" /dev/null";
    let (exit_code, _) = waits_for_keys(&mut server, nested, "nested>", "exit 6<Enter>");
    assert_eq!(exit_code, 6);
    // mc has a shell of its own beside its screen, which does nothing.
    let (exit_code, _) = waits_for_keys(&mut server, "mc -s", "Name", "<F10><Enter>");
    assert_eq!(exit_code, 0);
}

#[test]
fn a_password_that_an_agent_asks_for_is_asked_for_here() {
    let environment = TestEnvironment::new();
    let mut server = environment.server(TERMBRIDGE, &["--shell", "bash"]);
    environment.write("home/.gnupg/gpg-agent.conf", "pinentry-program /usr/bin/pinentry-curses\n");
    let command = "export GNUPGHOME=$PWD/home/.gnupg GPG_TTY=$(tty); chmod 700 $GNUPGHOME; \
         echo secret > file; gpg -q --symmetric file";
    let (exit_code, _) = waits_for_keys(&mut server, command, "Passphrase", "<Tab><Tab><Enter>");
    assert_eq!(exit_code, 2);
    execute(&mut server, "gpgconf --kill all", PATIENCE_MS);
    let asked = execute(&mut server, "stty -echo; setsid -w sh -c 'read line'", PATIENCE_MS);
    assert_eq!(
        (&asked["state"], &asked["echo"]),
        (&json!("needs_input"), &json!("off")),
        "{asked}"
    );
}

#[test]
fn what_was_told_is_not_told_again_and_not_forgotten() {
    let environment = TestEnvironment::new();
    let mut server = environment.server(TERMBRIDGE, &["--shell", "bash"]);
    execute(&mut server, "mkfifo go", PATIENCE_MS);
    for (command, state) in [("read line", "needs_input"), ("read -rsn1 key", "interactive")] {
        let begun = execute(&mut server, command, PATIENCE_MS);
        assert_eq!(begun["state"], state, "{begun}");
        let read = |wait_ms: u64| {
            let (session, command) = (&begun["session_id"], &begun["command_id"]);
            json!({"session_id": session, "command_id": command, "wait_ms": wait_ms})
        };
        // Without a wait it is said as it stands; with one there is nothing new until it goes on.
        let page = server.ok("get_terminal_output", read(0)).structured;
        assert_eq!(page["state"], state, "{page}");
        let call = json!({"name": "get_terminal_output", "arguments": read(PATIENCE_MS)});
        let waiting = server.begin("tools/call", call).expect("sent");
        server.ok("send_keys", json!({"session_id": begun["session_id"], "keys": "y<Enter>"}));
        let page = server.finish(waiting).expect("answers")["structuredContent"].clone();
        assert_eq!((&page["state"], &page["exit_code"]), (&json!("done"), &json!(0)), "{page}");
    }
    // What it did before the answer says nothing of what it does after it.
    let begun = execute(&mut server, "read line; cat go", PATIENCE_MS);
    let read = json!({"session_id": begun["session_id"], "command_id": begun["command_id"],
        "wait_ms": PATIENCE_MS});
    let call = json!({"name": "get_terminal_output", "arguments": read});
    let waiting = server.begin("tools/call", call).expect("sent");
    let keys = json!({"session_id": begun["session_id"], "keys": "y<Enter>", "wait": {}});
    server.ok("send_keys", keys);
    std::fs::write(environment.path().join("go"), "").expect("the command reads it");
    let page = server.finish(waiting).expect("answers")["structuredContent"].clone();
    assert_eq!(page["state"], "done", "{page}");
    // Who only looks learns it too.
    let arguments = json!({"command": "read line", "timeout_ms": 0});
    let begun = server.ok("execute_command", arguments).structured;
    let read = json!({"session_id": begun["session_id"], "command_id": begun["command_id"]});
    let said = || server.ok("get_terminal_output", read.clone()).structured["state"].clone();
    assert_eq!(
        std::iter::repeat_with(said).find(|state| state != "running"),
        Some(json!("needs_input"))
    );
}

#[test]
fn keys_for_a_shell_in_a_shell_are_not_held() {
    let environment = TestEnvironment::new();
    let mut server = environment.server(TERMBRIDGE, &["--shell", "bash"]);
    let begun = execute(&mut server, "PS1='nested> ' bash --norc", PATIENCE_MS);
    let keys = json!({"session_id": begun["session_id"], "keys": "exit 6<Enter>",
        "wait": {"prompt": true, "timeout_ms": PATIENCE_MS}});
    let sent = server.ok("send_keys", keys);
    assert!(!sent.text.contains("queued"), "{}", sent.text);
}

#[test]
fn a_relay_is_not_certain() {
    let environment = TestEnvironment::new();
    let mut server = environment.server(TERMBRIDGE, &["--shell", "bash"]);
    let command = "tmux -L interactive -f /dev/null new 'cat > /dev/null'";
    let answer = execute(&mut server, command, PATIENCE_MS);
    assert_eq!(
        (&answer["state"], &answer["uncertain"]),
        (&json!("interactive"), &json!(true)),
        "{answer}"
    );
    let (exit_code, _) = end(&mut server, &answer, "<Ctrl+D>");
    assert_eq!(exit_code, 0);
}

#[test]
fn keys_that_end_a_command_bring_its_output_and_exit_code() {
    let environment = TestEnvironment::new();
    let mut server = environment.server(TERMBRIDGE, &["--shell", "bash"]);
    let asks = "seq 3; read -p 'Name? ' name; echo \"Hello $name\"; (exit 3)";
    let begun = execute(&mut server, asks, PATIENCE_MS);
    let id = begun["session_id"].clone();
    // The end may come after the time in which a program settles.
    let wait = json!({"prompt": true, "timeout_ms": PATIENCE_MS});
    let keys = json!({"session_id": id, "keys": "bob<Enter>", "wait": wait});
    let answer = server.ok("send_keys", keys);
    assert_eq!(answer.text, "Name? bob\nHello bob\n[prompt | exit 3]");
    let command = &answer.structured["command"];
    assert_eq!((&command["exit_code"], &command["state"]), (&json!(3), &json!("done")));
    assert_eq!(command["output"], "Name? bob\nHello bob\n");
    assert!(answer.structured["view"].is_null(), "{}", answer.structured);
    // With a view that was asked for, both.
    let menu = "whiptail --menu Pick 15 40 4 a Apple b Banana 3>&1 1>&2 2>&3";
    let shown = server.ok("execute_command", json!({"command": menu, "session_id": id}));
    assert!(
        shown.text.contains("│ Pick") && shown.text.contains("highlighted row"),
        "{}",
        shown.text
    );
    let keys = json!({"session_id": id, "keys": "Down Enter", "wait": wait, "view": "plain"});
    let answer = server.ok("send_keys", keys);
    assert!(answer.text.contains("exit 0") && answer.text.contains("Hello bob"), "{}", answer.text);
    assert_eq!(answer.structured["command"]["output"], "b");
    // What is typed to a command that goes on shows the screen.
    execute(&mut server, "cat", PATIENCE_MS);
    let keys = json!({"session_id": id, "keys": "echoed<Enter>", "wait": {"text": "echoed"}});
    let answer = server.ok("send_keys", keys);
    assert!(answer.text.contains("echoed") && answer.structured["command"].is_null());
}

#[test]
fn nothing_that_a_command_printed_is_lost_when_keys_end_it() {
    let environment = TestEnvironment::new();
    let mut server = environment.server(TERMBRIDGE, &["--shell", "bash"]);
    let asks = "for i in {1..200}; do echo row $i; done; read -p 'More? ' x; seq 3000; read -p 'End? ' x; \
                seq 30000; echo over";
    let begun = execute(&mut server, asks, PATIENCE_MS);
    let id = begun["session_id"].clone();
    // More than the screen has: a diff shows the end of it, so it counts as not told.
    let keys = json!({"session_id": id, "keys": "a<Enter>", "wait": {"needs_input": true}});
    let shown = server.ok("send_keys", keys).text;
    assert!(shown.contains("3000") && !shown.contains("\n100\n"), "{shown}");
    // What fails changes nothing.
    server.error("send_keys", json!({"session_id": id, "keys": "ls Enter"}));
    let wait = json!({"prompt": true, "timeout_ms": PATIENCE_MS});
    let keys = json!({"session_id": id, "keys": "b<Enter>", "wait": wait});
    let text = server.ok("send_keys", keys).text;
    assert!(text.starts_with("More? a\n1\n2\n3\n"), "{text}");
    assert!(text.ends_with("30000\nover\n[prompt | exit 0]"), "{text}");
    let (before, rest) = text.split_once(" bytes, ").expect("a cut");
    let cut: usize = before.rsplit(' ').next().and_then(|cut| cut.parse().ok()).expect("a number");
    let all: usize = (1..=3000).chain(1..=30000).map(|n: usize| n.to_string().len() + 1).sum();
    let note = text.find("[…").expect("a note")..text.find("…]\n").expect("its end") + "…]\n".len();
    let told = text.len() - note.len() - "[prompt | exit 0]".len();
    let untold = "More? a\nEnd? b\nover\n".len() + all;
    assert_eq!(cut + told, untold, "{rest}");
}

#[test]
fn what_changed_after_a_command_s_answer_is_shown_with_the_next_keys() {
    let environment = TestEnvironment::new();
    let mut server = environment.server(TERMBRIDGE, &["--shell", "bash"]);
    execute(&mut server, "mkfifo go", PATIENCE_MS);
    let late = "(cat go; echo LATE) & while read x; do echo got $x; done";
    let begun = execute(&mut server, late, PATIENCE_MS);
    assert_eq!(begun["state"], "needs_input", "{begun}");
    let id = begun["session_id"].clone();
    std::fs::write(environment.path().join("go"), "").expect("written");
    server.ok("wait_for", json!({"session_id": id, "text": "LATE", "view": "none"}));
    let keys = json!({"session_id": id, "keys": "k<Enter>", "wait": {"text": "got k"}});
    let text = server.ok("send_keys", keys).text;
    assert!(text.contains("LATE") && text.contains("got k"), "{text}");
}

#[test]
fn output_counts_as_told_only_where_it_could_be_seen() {
    let environment = TestEnvironment::new();
    let mut server = environment.server(TERMBRIDGE, &["--shell", "bash"]);
    let prompt = json!({"prompt": true, "timeout_ms": PATIENCE_MS});
    // Behind a full-screen program; wrapped, so that the beginning scrolled away.
    let behind = "read x; echo IMPORTANT; printf '\\033[?1049hFULL'; read y; printf '\\033[?1049l'; echo END";
    let wrapped = "read x; echo IMPORTANT; for i in {1..30}; do printf 'L%0250d\\n' $i; done; read -p FULL y; echo END";
    for command in [behind, wrapped] {
        let id = execute(&mut server, command, PATIENCE_MS)["session_id"].clone();
        let keys = json!({"session_id": id, "keys": "a<Enter>", "wait": {"text": "FULL"}});
        let seen = server.ok("send_keys", keys).text;
        let keys = json!({"session_id": id, "keys": "b<Enter>", "wait": prompt});
        let told = server.ok("send_keys", keys).text;
        assert!(!seen.contains("IMPORTANT") && told.contains("IMPORTANT"), "{seen}\n--\n{told}");
        assert!(told.contains("END") && told.contains("exit 0"), "{told}");
    }
    // A view that is asked for comes with the output.
    let id = execute(&mut server, "read x; seq 100", PATIENCE_MS)["session_id"].clone();
    let keys = json!({"session_id": id, "keys": "a<Enter>", "wait": prompt, "view": "diff"});
    let told = server.ok("send_keys", keys).text;
    assert!(told.starts_with("a\n1\n2\n3\n") && told.contains("\n100\n"), "{told}");
}

#[test]
fn long_lines_and_errors_of_a_command_that_keys_end_are_told() {
    let environment = TestEnvironment::new();
    let mut server = environment.server(TERMBRIDGE, &["--shell", "bash"]);
    let wait = json!({"prompt": true, "timeout_ms": PATIENCE_MS});
    let long = "read x; head -c 200000 /dev/zero | tr '\\0' x; echo";
    let id = execute(&mut server, long, PATIENCE_MS)["session_id"].clone();
    let keys = json!({"session_id": id, "keys": "a<Enter>", "wait": wait});
    let told = server.ok("send_keys", keys).text;
    assert!(told.matches('x').count() > 10_000, "{}", told.len());
    // The call that it names shows more of the line.
    let (_, call) = told.split_once("get_terminal_output ").expect("a call");
    let (call, _) = call.split_once(", or with grep").expect("its end");
    let call: Value = serde_json::from_str(call).expect("arguments");
    let more = server.ok("get_terminal_output", call).text;
    assert!(more.matches('x').count() >= 200_000, "{}", more.len());
    let failing = "read x; seq 4000; echo 'a.c:1: error: no'; seq 4000; (exit 2)";
    execute(&mut server, failing, PATIENCE_MS);
    let keys = json!({"session_id": id, "keys": "a<Enter>", "wait": wait});
    let told = server.ok("send_keys", keys).text;
    let first = "Errors among the lines that are cut:\n4002:a.c:1: error: no\nOutput:\na\n1\n";
    assert!(told.starts_with(first), "{}", &told[..200]);
}

#[test]
fn a_command_that_ended_before_the_keys_is_told() {
    let environment = TestEnvironment::new();
    let mut server = environment.server(TERMBRIDGE, &["--shell", "bash"]);
    execute(&mut server, "mkfifo go", PATIENCE_MS);
    let begun = execute(&mut server, "cat go; echo ENDED; (exit 3)", 100);
    let id = begun["session_id"].clone();
    std::fs::write(environment.path().join("go"), "").expect("written");
    // Not by `prompt`, which reports the end.
    let prompt = json!({"session_id": id, "regex": r"ENDED\n.*[$#]$", "timeout_ms": PATIENCE_MS});
    server.ok("wait_for", prompt);
    let keys =
        json!({"session_id": id, "keys": "echo typed-out<Enter>", "wait": {"text": "typed-out"}});
    let text = server.ok("send_keys", keys).text;
    assert!(text.starts_with("ENDED\n[command 2 had ended before the keys: exit 3"), "{text}");
    assert!(text.contains("typed-out"), "{text}");
    let keys = json!({"session_id": id, "keys": "echo again<Enter>", "wait": {"text": "again"}});
    let text = server.ok("send_keys", keys).text;
    assert!(!text.contains("had ended"), "once: {text}");
}

/// Switches to the alternate screen at once and paints later; a thread of its own reads keys and hands them
/// to another one, which draws them in pieces.
const DRAWS_FROM_ANOTHER_THREAD: &str = r#"
import os, queue, sys, threading, time, tty
tty.setraw(0)
keys = queue.Queue()
def read():
    while key := os.read(0, 1):
        keys.put(key.decode())
def work():
    end = time.thread_time() + 0.01
    while time.thread_time() < end:
        pass
if sys.argv[1] == "alternate":
    os.write(1, b"\x1b[?1049h\x1b[H")
    threading.Thread(target=read, daemon=True).start()
    time.sleep(0.4)
else:
    threading.Thread(target=read, daemon=True).start()
os.write(1, b"painted\r\n")
while (key := keys.get()) != "q":
    for part in "<", key, key, ">\r\n":
        work()
        os.write(1, part.encode())
"#;

#[test]
fn a_screen_is_shown_when_it_is_painted() {
    let environment = TestEnvironment::new();
    environment.write("draw.py", DRAWS_FROM_ANOTHER_THREAD);
    let mut server = environment.server(TERMBRIDGE, &[]);
    for screen in ["alternate", "main"] {
        let app = json!({"command": "python3", "args": ["draw.py", screen]});
        let app = server.ok("launch_app", app);
        let is_final = |text: &str, last: &str| {
            text.contains(last) || text.to_lowercase().contains("still at work")
        };
        assert!(is_final(&app.text, "painted"), "{screen}: {}", app.text);
        let session = app.structured["session_id"].clone();
        for key in 'a'..='h' {
            let sent = server.ok("send_keys", json!({"session_id": session, "text": key}));
            let last = format!("<{key}{key}>");
            assert!(is_final(&sent.text, &last), "{screen}: {}", sent.text);
        }
    }
}

#[test]
fn a_program_that_ends_by_a_key_has_ended() {
    let environment = TestEnvironment::new();
    let mut server = environment.server(TERMBRIDGE, &["--shell", "bash"]);
    for _ in 0..3 {
        let begun = execute(&mut server, "node", PATIENCE_MS);
        assert_eq!(begun["state"], "interactive", "{begun}");
        let keys = json!({"session_id": begun["session_id"], "keys": ".exit<Enter>"});
        let sent = server.ok("send_keys", keys);
        assert_eq!(sent.structured["command"]["exit_code"], 0, "{}", sent.text);

        let app = server.ok("launch_app", json!({"command": "node", "wait": {"text": "> "}}));
        let keys = json!({"session_id": app.structured["session_id"], "keys": ".exit<Enter>"});
        let sent = server.ok("send_keys", keys);
        assert_eq!(sent.structured["view"]["state"], "exited: exit code 0", "{}", sent.text);
    }
}
