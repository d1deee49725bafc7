//! Shells as plain programs: what they run shows, prompts and questions are noticed, all ends.

use serde_json::{Value, json};
use termbridge_testkit::TestEnvironment;

use crate::support::{App, Screen, is_running, program};

/// A shell as it differs from the others.
#[derive(Debug, Clone, Copy)]
struct Shell {
    name: &'static str,
    /// Exit code of the last command.
    status: &'static str,
    /// Process id of the last background job.
    job: &'static str,
    /// Reads a line and shows it as `got LINE`.
    read: &'static str,
    /// The same, hidden.
    read_hidden: &'static str,
}

const SHELLS: [Shell; 4] = [
    Shell {
        name: "bash",
        status: "$?",
        job: "$!",
        read: "read x; echo got $x",
        read_hidden: "read -s x; echo got $x",
    },
    Shell {
        name: "dash",
        status: "$?",
        job: "$!",
        read: "read x; echo got $x",
        read_hidden: "stty -echo; read x; stty echo; echo got $x",
    },
    Shell {
        name: "zsh",
        status: "$?",
        job: "$!",
        read: "read x; echo got $x",
        read_hidden: "read -s x; echo got $x",
    },
    // Fish reads by its line editor, so another program asks.
    Shell {
        name: "fish",
        status: "$status",
        job: "$last_pid",
        read: "bash -c 'read x; echo got $x'",
        read_hidden: "bash -c 'read -s x; echo got $x'",
    },
];

impl Shell {
    /// The shell at its first prompt.
    fn start(self) -> App {
        let environment = TestEnvironment::new();
        // Without one, zsh asks a new user to make one.
        environment.write(".zshrc", "");
        let mut app = App::launch(environment, json!({"command": program(self.name), "cwd": "/"}));
        app.wait_for(json!({"prompt": true}));
        app
    }
}

/// The match is what the command printed. Where it was typed before the prompt came, the prompt may
/// stand before its output; the command itself must not.
#[track_caller]
fn is_output(outcome: &Value, screen: &Screen, output: &str) {
    let row = outcome["match"]["row"].as_u64().expect("a row") as usize;
    let line = screen.row(row);
    assert!(line.ends_with(output) && !line.contains("echo"), "{line:?} of {screen:?}");
}

#[test]
fn commands_run_and_their_output_is_not_their_echo() {
    for shell in SHELLS {
        let mut app = shell.start();
        let (outcome, screen) = app.send(
            json!({"keys": "sleep 0.2; echo plainword<Enter>"}),
            json!({"text": "plainword"}),
        );
        is_output(&outcome, &screen, "plainword");
        assert_eq!(outcome["match"]["col"], 0, "{shell:?}: {screen:?}");

        // Also before the next prompt is there, when the wait is a call of its own, and by a pattern.
        app.call("send_keys", json!({"keys": "sleep 0.2; echo otherword<Enter>"}));
        let (outcome, screen) = app.wait_for(json!({"regex": "o[t]herword"}));
        is_output(&outcome, &screen, "otherword");

        // Text typed literally and entered apart.
        app.wait_for(json!({"prompt": true}));
        app.call("send_keys", json!({"text": "sleep 0.2; echo 'third word'"}));
        let (outcome, screen) = app.send(json!({"keys": "Enter"}), json!({"text": "third word"}));
        is_output(&outcome, &screen, "third word");
    }
}

#[test]
fn a_prompt_comes_after_the_command() {
    for shell in SHELLS {
        let mut app = shell.start();
        for number in 0..3 {
            let screen = app.keys(
                &format!("sleep 0.2; echo {number}-$(printf done)<Enter>"),
                json!({"prompt": true}),
            );
            assert!(screen.contains(&format!("{number}-done")), "{shell:?}: {screen:?}");
        }
        // While a command runs there is no prompt.
        app.keys_show("sh -c 'echo running-$((1+1)); exec sleep 1000'<Enter>", "running-2");
        let answer = app.call("wait_for", json!({"prompt": true, "timeout_ms": 300}));
        assert_eq!(answer.structured["timed_out"], true, "{shell:?}");
    }
}

#[test]
fn ctrl_c_interrupts_and_exit_codes_are_known() {
    for shell in SHELLS {
        let mut app = shell.start();
        app.keys_show("sh -c 'echo running-$((1+1)); exec sleep 1000'<Enter>", "running-2");
        app.keys("Ctrl+C", json!({"prompt": true}));
        app.keys_show(&format!("echo code-{}<Enter>", shell.status), "code-130");
        app.wait_for(json!({"prompt": true}));
        let (code, _) = app.keys_end("exit 7<Enter>");
        assert_eq!(code, Some(7), "{shell:?}");
    }
}

#[test]
fn the_end_of_input_ends_a_shell() {
    for shell in SHELLS {
        let mut app = shell.start();
        let (code, _) = app.keys_end("Ctrl+D");
        assert_eq!(code, Some(0), "{shell:?}");
    }
}

#[test]
fn background_jobs_end_with_the_session() {
    for shell in SHELLS {
        let mut app = shell.start();
        app.keys("sleep 1000 &<Enter>", json!({"prompt": true}));
        let (outcome, _) = app.send(
            json!({"keys": format!("echo job {} end<Enter>", shell.job)}),
            json!({"regex": "job [0-9]+ end"}),
        );
        let job = number(&outcome["match"]["text"]);
        assert!(is_running(job), "{shell:?}");
        let stopped = app.call("stop_app", json!({"grace_ms": 300})).structured;
        assert_eq!(stopped["already_ended"], false, "{shell:?}: {stopped}");
        assert_eq!(stopped["detached"], json!([]), "{shell:?}: {stopped}");
        assert!(!is_running(job), "{shell:?}: {stopped}");
    }
}

fn number(text: &Value) -> i64 {
    let text = text.as_str().unwrap_or_default();
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    digits.parse().expect("a number")
}

#[test]
fn a_question_is_noticed_and_answered() {
    for shell in SHELLS {
        let mut app = shell.start();
        for (command, echo) in [(shell.read, true), (shell.read_hidden, false)] {
            let keys = json!({"keys": format!("{command}<Enter>")});
            let (outcome, _) = app.send(keys, json!({"needs_input": true}));
            assert_eq!(outcome["state"], "needs_input", "{shell:?} {command}");
            assert_eq!(outcome["echo"], echo, "{shell:?} {command}");
            let screen = app.keys_show("the answer<Enter>", "got the answer");
            let shown = screen.content().lines().filter(|line| *line == "the answer");
            assert_eq!(shown.count(), usize::from(echo), "{shell:?} {command}: {screen:?}");
            app.wait_for(json!({"prompt": true}));
            app.keys("clear<Enter>", json!({"gone": "got the answer"}));
        }
    }
}

#[test]
fn what_is_no_shell_has_no_prompt() {
    let mut app = App::launch(TestEnvironment::new(), json!({"command": program("cat")}));
    let id = app.id().to_owned();
    let asked = json!({"prompt": true});
    for (tool, arguments) in [
        ("wait_for", json!({"session_id": id, "prompt": true})),
        ("send_keys", json!({"session_id": id, "keys": "a", "wait": asked})),
        ("launch_app", json!({"command": program("cat"), "wait": asked})),
    ] {
        let (code, text) = app.server.error(tool, arguments);
        assert!(code == "INVALID_INPUT" && text.contains("interactive"), "{tool}: {text}");
    }
    let listed = app.server.ok("list_sessions", json!({})).structured;
    assert_eq!(listed["sessions"].as_array().map(Vec::len), Some(1), "{listed}");
    assert_eq!(app.screen().row(0), "", "nothing was typed");
}
