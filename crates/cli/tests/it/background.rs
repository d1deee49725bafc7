//! What background jobs print between commands can be read, apart from the commands' own output.

use serde_json::{Value, json};
use termbridge_testkit::{Server, TestEnvironment};

use crate::TERMBRIDGE;

/// Long enough for a machine that does much else; no passing test waits for it.
const PATIENCE_MS: u64 = 40_000;

/// Prints each line that comes through the pipe, until it ends.
const SERVER: &str = "while read line; do echo \"job: $line\"; done < go\necho \"job: over\"\n";

struct Shell {
    server: Server,
    environment: TestEnvironment,
    session: Value,
    /// Holds the pipe open.
    pipe: std::fs::File,
}

impl Shell {
    /// A shell with a job in the background.
    #[track_caller]
    fn start(shell: &str) -> Self {
        let environment = TestEnvironment::new();
        environment.write("server.sh", SERVER);
        let mut server = environment.server(TERMBRIDGE, &["--shell", shell]);
        let command = json!({"command": "mkfifo go", "timeout_ms": PATIENCE_MS});
        let session = server.ok("execute_command", command).structured["session_id"].clone();
        let mut options = std::fs::File::options();
        let pipe = options.read(true).write(true).open(environment.path().join("go"));
        let mut this = Self { server, environment, session, pipe: pipe.expect("a pipe") };
        let begun = this.run("sh server.sh &");
        assert_eq!(begun["exit_code"], 0, "{shell}: {begun}");
        this
    }

    #[track_caller]
    fn run(&mut self, command: &str) -> Value {
        let arguments =
            json!({"command": command, "session_id": self.session, "timeout_ms": PATIENCE_MS});
        self.server.ok("execute_command", arguments).structured
    }

    #[track_caller]
    fn read(&mut self, mut arguments: Value) -> Value {
        arguments["session_id"] = self.session.clone();
        self.server.ok("get_terminal_output", arguments).structured
    }

    /// Lets the job print a line at the shell's prompt, and waits until it is on the screen.
    #[track_caller]
    fn tell(&mut self, line: &str) {
        use std::io::Write;
        // While the shell draws its prompt, whose output it is cannot be told in every shell.
        let quiet = json!({"session_id": self.session, "idle_ms": 300,
            "timeout_ms": PATIENCE_MS});
        self.server.ok("wait_for", quiet);
        writeln!(self.pipe, "{line}").expect("the job reads it");
        let seen = json!({"session_id": self.session, "text": format!("job: {line}"),
            "timeout_ms": PATIENCE_MS});
        let waited = self.server.ok("wait_for", seen).structured;
        assert_eq!(waited["fired"], "text", "{waited}");
    }
}

#[track_caller]
fn text(page: &Value) -> &str {
    page["output"].as_str().expect("output")
}

fn jobs_are_read_apart(shell: &str) {
    let mut this = Shell::start(shell);
    let before = this.read(json!({}))["cursor"].clone();
    this.tell("one");
    this.tell("two");
    // New behind the cursor, under its own line.
    let page = this.read(json!({"since": before}));
    assert_eq!(text(&page), "[background or typed]\njob: one\njob: two\n", "{shell}: {page}");
    let cursor = page["cursor"].clone();
    let page = this.read(json!({"since": cursor}));
    assert_eq!(text(&page), "", "{shell}: {page}");
    this.tell("three");
    let page = this.read(json!({"since": cursor, "wait_ms": PATIENCE_MS}));
    assert_eq!(text(&page), "[background or typed]\njob: three\n", "{shell}: {page}");
    // A command's own is its own.
    let own = this.run("echo own");
    assert_eq!(own["output"], "own\n", "{shell}: {own}");
    this.tell("four");
    let page = this.read(json!({"command_id": own["command_id"]}));
    assert_eq!(text(&page), "own\n", "{shell}: {page}");
    let page = this.read(json!({"since": page["cursor"]}));
    assert_eq!(text(&page), "[background or typed]\njob: four\n", "{shell}: {page}");
    let page = this.read(json!({"lines": 4}));
    assert_eq!(
        text(&page),
        "$ echo own\nown\n[background or typed]\njob: four\n",
        "{shell}: {page}"
    );
    let page = this.read(json!({"lines": 1}));
    assert_eq!(text(&page), "[background or typed]\njob: four\n", "{shell}: {page}");
    let page = this.read(json!({"grep": "^job: t"}));
    let found: Vec<&str> =
        text(&page).lines().map(|line| line.split_once(':').expect("a number").1).collect();
    assert_eq!(
        found,
        ["[background or typed] job: two", "[background or typed] job: three"],
        "{shell}: {page}"
    );
    // A new size prints nothing; typed lines do where the shell marks them.
    let end = this.read(json!({}))["cursor"].clone();
    for cols in [100, 60] {
        let size = json!({"session_id": this.session, "cols": cols, "rows": 30});
        this.server.ok("resize_terminal", size);
        let quiet = json!({"session_id": this.session, "idle_ms": 400});
        this.server.ok("wait_for", quiet);
    }
    let page = this.read(json!({"since": end}));
    assert_eq!(text(&page), "", "{shell}, after a resize: {page}");
    let typed = json!({"session_id": this.session, "keys": "echo typed<Enter>",
        "wait": {"prompt": true, "timeout_ms": PATIENCE_MS}});
    this.server.ok("send_keys", typed);
    let page = this.read(json!({"since": end}));
    let typed = if shell == "dash" { "" } else { "[background or typed]\ntyped\n" };
    assert_eq!(text(&page), typed, "{shell}, after typing: {page}");
    let end = page["cursor"].clone();
    this.tell("five");
    let page = this.read(json!({"since": end, "wait_ms": PATIENCE_MS}));
    assert_eq!(text(&page), "[background or typed]\njob: five\n", "{shell}: {page}");
    // The next command is as clean as ever.
    let next = this.run("echo next");
    assert_eq!(next["output"], "next\n", "{shell}: {next}");
    drop(this.environment);
}

#[test]
fn jobs_of_bash_are_read_apart() {
    jobs_are_read_apart("bash");
}

#[test]
fn jobs_of_zsh_are_read_apart() {
    jobs_are_read_apart("zsh");
}

#[test]
fn jobs_of_fish_are_read_apart() {
    jobs_are_read_apart("fish");
}

#[test]
fn jobs_of_dash_are_read_apart() {
    jobs_are_read_apart("dash");
}
