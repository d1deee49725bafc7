//! `cwd` and `env` of one command: they hold for it in the agent's own shell, and for nothing after it.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use termbridge_testkit::{Server, TestEnvironment};

use crate::TERMBRIDGE;

struct OwnShell {
    server: Server,
    home: PathBuf,
    /// `there`, with `below` in it.
    there: PathBuf,
    shell: &'static str,
    session: Value,
    commands: u64,
    _environment: TestEnvironment,
}

impl OwnShell {
    fn new(shell: &'static str) -> Self {
        let environment = TestEnvironment::new();
        environment.write(".zshrc", "");
        let home = environment.path().canonicalize().expect("a folder");
        let there = home.join("it's there");
        std::fs::create_dir_all(there.join("below")).expect("folders can be made");
        let mut server = environment.server(TERMBRIDGE, &["--shell", shell]);
        let first = server.ok("execute_command", json!({"command": "true"})).structured;
        let session = first["session_id"].clone();
        Self { server, home, there, shell, session, commands: 1, _environment: environment }
    }

    /// Runs a command in the agent's own shell; its output and answer.
    #[track_caller]
    fn run(&mut self, arguments: Value) -> (String, Value) {
        let shell = self.shell;
        let answer = self.server.ok("execute_command", arguments.clone()).structured;
        self.commands += 1;
        assert_eq!(answer["session_id"], self.session, "{shell} {arguments}");
        assert_eq!(answer["command_id"], self.commands, "{shell} {arguments}");
        (answer["output"].as_str().expect("output").to_owned(), answer)
    }

    #[track_caller]
    fn prints(&mut self, arguments: Value, output: &str) {
        let shell = self.shell;
        assert_eq!(self.run(arguments.clone()).0, output, "{shell} {arguments}");
    }

    #[track_caller]
    fn is_in(&mut self, directory: &Path) {
        self.prints(json!({"command": "pwd"}), &format!("{}\n", directory.display()));
    }
}

const SHELLS: [&str; 4] = ["bash", "zsh", "fish", "dash"];
const SH: [&str; 3] = ["bash", "zsh", "dash"];

#[test]
fn they_hold_for_one_command_in_the_agents_own_shell() {
    for shell in SHELLS {
        let mut own = OwnShell::new(shell);
        let (home, there) = (own.home.clone(), own.there.clone());
        let set = match shell {
            "fish" => {
                "set -gx KEPT kept; set -gx OVER mine; set -g PLAIN plain; alias hi='echo alias'"
            }
            _ => "export KEPT=kept OVER=mine; PLAIN=plain; alias hi='echo alias'",
        };
        own.run(json!({"command": set}));
        let show = "printf '%s\\n' \"<$KEPT> <$OVER> <$PLAIN> <$NEW>\"; sh -c 'printf \"%s\\n\" \"<$OVER> <$PLAIN> <$NEW>\"'; hi; pwd";
        let value = "it's\n\\n \"$HOME\" *";
        let env = json!({"OVER": "theirs", "PLAIN": "too", "NEW": value});
        own.prints(
            json!({"command": show, "cwd": there, "env": env}),
            &format!(
                "<kept> <theirs> <too> <{value}>\n<theirs> <too> <{value}>\nalias\n{}\n",
                there.display()
            ),
        );
        own.prints(
            json!({"command": show}),
            &format!("<kept> <mine> <plain> <>\n<mine> <> <>\nalias\n{}\n", home.display()),
        );
        // A path may be relative to the shell's own directory.
        own.prints(
            json!({"command": "pwd", "cwd": "it's there/below"}),
            &format!("{}\n", there.join("below").display()),
        );
        if shell != "fish" {
            own.run(json!({"command": "cd /usr; cd /etc"}));
            own.prints(json!({"command": "pwd", "cwd": there}), &format!("{}\n", there.display()));
            own.prints(json!({"command": "cd -"}), "/usr\n");
        }
    }
}

#[test]
fn a_directory_that_is_gone_prints_nothing_into_the_output() {
    for shell in SHELLS {
        let mut own = OwnShell::new(shell);
        let gone = own.home.join("gone");
        std::fs::create_dir(&gone).expect("a folder");
        own.run(json!({"command": "cd gone"}));
        std::fs::remove_dir(&gone).expect("removed");
        own.prints(json!({"command": "pwd", "cwd": "/usr"}), "/usr\n");
    }
}

#[test]
fn the_command_itself_is_as_without_them() {
    for shell in SHELLS {
        let mut own = OwnShell::new(shell);
        let (home, there) = (own.home.clone(), own.there.clone());
        let at = there.display().to_string();
        let (_, answer) = own.run(json!({"command": "sh -c 'exit 7'", "cwd": there}));
        assert_eq!(
            (&answer["exit_code"], answer["cwd"].as_str()),
            (&json!(7), home.to_str()),
            "{shell}"
        );
        own.prints(json!({"command": "pwd\necho two", "cwd": there}), &format!("{at}\ntwo\n"));
        own.is_in(&home);
        let wrong = json!({"command": "echo (((", "cwd": there, "env": {"A": "1"}});
        own.server.call("execute_command", wrong).expect("an answer");
        let unclosed = json!({"command": "echo 'open", "cwd": there, "env": {"A": "1"}});
        let answer = own.server.call("execute_command", unclosed).expect("an answer");
        // A POSIX shell takes it for a syntax error.
        assert_eq!(answer.is_error, shell != "dash", "{shell}: {}", answer.text);
        own.commands += 2;
        own.prints(json!({"command": "pwd; echo \"<$A>\""}), &format!("{}\n<>\n", home.display()));
        if SH.contains(&shell) {
            let here = "cat <<END\nin $PWD $A\nEND\nfor i in 1 2; do\n echo $i\ndone";
            own.prints(
                json!({"command": here, "cwd": there, "env": {"A": "a"}}),
                &format!("in {at} a\n1\n2\n"),
            );
            own.run(json!({"command": "set -eu"}));
            own.prints(
                json!({"command": "pwd", "cwd": there, "env": {"A": "1"}}),
                &format!("{at}\n"),
            );
            own.prints(json!({"command": "pwd; set +eu"}), &format!("{}\n", home.display()));
        }
        let left = json!({"command": "exit 3", "cwd": there});
        let (_, answer) = own.run(left);
        assert_eq!(
            (&answer["session_ended"], &answer["exit_code"]),
            (&json!(true), &json!(3)),
            "{shell}"
        );
    }
}

#[test]
fn a_command_that_changes_directory_stays_there_and_says_so() {
    for shell in SHELLS {
        let mut own = OwnShell::new(shell);
        let below = own.there.join("below");
        let arguments = json!({"command": "cd below", "cwd": own.there, "env": {"A": "1"}});
        let answer = own.server.ok("execute_command", arguments);
        assert!(
            answer.text.contains(&format!("| {}", below.display())),
            "{shell}: {}",
            answer.text
        );
        own.commands += 1;
        own.is_in(&below);
        own.prints(json!({"command": "echo \"<$A>\""}), "<>\n");
    }
}

#[test]
fn a_command_that_times_out_says_where_the_shell_is_until_it_ends() {
    for shell in SHELLS {
        let mut own = OwnShell::new(shell);
        let (home, there) = (own.home.clone(), own.there.clone());
        let arguments =
            json!({"command": "cat go", "cwd": there, "env": {"A": "1"}, "timeout_ms": 300});
        rustix::fs::mkfifoat(rustix::fs::CWD, there.join("go"), rustix::fs::Mode::RWXU)
            .expect("made");
        let answer = own.server.ok("execute_command", arguments);
        assert!(
            answer.text.contains(&format!("| {}", there.display())),
            "{shell}: {}",
            answer.text
        );
        // What takes over is where the agent was, not where that one command is.
        let other = own.server.ok("execute_command", json!({"command": "pwd"})).structured;
        assert_ne!(other["session_id"], own.session, "{shell}");
        assert_eq!(other["output"].as_str().map(str::trim_end), home.to_str(), "{shell}");
        std::fs::write(there.join("go"), "").expect("the command reads it");
        let session = own.session.clone();
        own.server
            .ok("wait_for", json!({"session_id": session, "prompt": true, "timeout_ms": 40_000}));
        let back = json!({"command": "pwd; echo \"<$A>\"", "session_id": session});
        let back = own.server.ok("execute_command", back).structured;
        assert_eq!(back["output"], format!("{}\n<>\n", home.display()), "{shell}");
    }
}

#[test]
fn an_interrupt_leaves_nothing_of_them() {
    for shell in SHELLS {
        let mut own = OwnShell::new(shell);
        let (home, there, session) = (own.home.clone(), own.there.clone(), own.session.clone());
        let arguments =
            json!({"command": "sleep 1000", "cwd": there, "env": {"A": "1"}, "timeout_ms": 300});
        own.server.ok("execute_command", arguments);
        own.server.ok(
            "send_keys",
            json!({"session_id": session, "keys": "Ctrl+C",
            "wait": {"prompt": true, "timeout_ms": 40_000}}),
        );
        let back = json!({"command": "pwd; echo \"<$A>\"", "session_id": session});
        let back = own.server.ok("execute_command", back).structured;
        assert_eq!(back["output"], format!("{}\n<>\n", home.display()), "{shell}");
    }
}

#[test]
fn what_cannot_be_had_is_an_error_and_nothing_runs() {
    for shell in SHELLS {
        let mut own = OwnShell::new(shell);
        let home = own.home.clone();
        let ran = home.join("ran");
        let (code, text) =
            own.server.error("execute_command", json!({"command": "touch ran", "cwd": "/nope"}));
        assert_eq!(code, "INVALID_INPUT");
        assert!(text.contains("/nope: it does not exist"), "{text}");
        let (code, text) = own
            .server
            .error("execute_command", json!({"command": "touch ran", "env": {"a-b": "1"}}));
        assert!(code == "INVALID_INPUT" && text.contains("a-b"), "{text}");
        let (variable, fix) = match shell {
            "fish" => ("version", "true"),
            _ => ("FIXED", "readonly FIXED=1"),
        };
        own.run(json!({"command": fix}));
        let fixed =
            json!({"command": "touch ran", "cwd": own.there, "env": {"A": "1", variable: "2"}});
        let (output, answer) = own.run(fixed);
        assert_eq!(answer["exit_code"], 126, "{shell}: {answer}");
        assert!(output.contains("did not run"), "{shell}: {output}");
        own.prints(json!({"command": "pwd; echo \"<$A>\""}), &format!("{}\n<>\n", home.display()));
        assert!(!ran.exists(), "{shell}");
    }
}

#[test]
fn an_addressed_session_changes_to_the_directory_and_stays() {
    for shell in SHELLS {
        let mut own = OwnShell::new(shell);
        let (home, there, session) = (own.home.clone(), own.there.clone(), own.session.clone());
        let there_ = format!("{}\n", there.display());
        let moved = json!({"command": "pwd; echo \"<$A>\"", "cwd": there, "env": {"A": "1"}, "session_id": session});
        own.prints(moved, &format!("{there_}<1>\n"));
        own.prints(
            json!({"command": "pwd; echo \"<$A>\"", "session_id": session}),
            &format!("{there_}<>\n"),
        );
        own.is_in(&there);
        for arguments in [
            json!({"command": "pwd", "name": "side", "cwd": home}),
            json!({"command": "pwd", "name": "side", "cwd": there}),
            json!({"command": "pwd", "name": "side"}),
        ] {
            let place = if arguments["cwd"] == json!(home) { &home } else { &there };
            let answer = own.server.ok("execute_command", arguments).structured;
            assert_eq!(answer["output"].as_str().map(str::trim_end), place.to_str(), "{shell}");
            assert_ne!(answer["session_id"], session);
        }
    }
}

/// The shell that is given a command reads its setup apart from it.
#[test]
fn a_command_cannot_pass_for_a_setup() {
    let mut own = OwnShell::new("fish");
    let forged = "\u{1}touch forged\u{1}echo plain";
    own.server.call("execute_command", json!({"command": forged})).expect("an answer");
    own.commands += 1;
    own.is_in(&own.home.clone());
    assert!(!own.home.join("forged").exists());
}

#[test]
fn variables_hold_for_one_command_of_a_named_session_too() {
    let environment = TestEnvironment::new();
    let mut server = environment.server(TERMBRIDGE, &["--shell", "bash"]);
    let mut prints = |command: &str, env: Value, output: &str| {
        let arguments = json!({"command": command, "name": "n", "env": env});
        let answer = server.ok("execute_command", arguments).structured;
        assert_eq!(answer["output"], output, "{command} {env}");
    };
    prints("echo $A", json!({"A": "1"}), "1\n");
    prints("echo $A; export A=own", json!({}), "\n");
    prints("echo $A", json!({"A": "1"}), "1\n");
    prints("echo $A", json!({"A": "2"}), "2\n");
    prints("echo $A", json!({}), "own\n");
}
