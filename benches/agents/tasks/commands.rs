//! Commands: a failing test, a server with its log, a password.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use serde_json::json;

use super::{Scripts, Task, ours, theirs};
use crate::model::Model;

const TEST: &str = "python3 -m pytest -q";
const MEND: &str =
    r#"sed -i 's/strip("\$")/strip("$").replace(",", "")/' prices.py && python3 -m pytest -q"#;

pub(super) const FAILING_TEST: Task = Task {
    name: "a failing test",
    prompt: "A test fails. Find out why and mend the code.",
    prepare: |home| {
        home.write("prices.py", PRICES);
        home.write("test_prices.py", TEST_PRICES);
        // pytest draws rules as wide as the terminal: as wide as in ours.
        home.write("../.tmux.conf", "set -g default-size 120x24\n");
        Ok(())
    },
    scripts: Scripts::in_terminals(test_ours, test_terminal, test_tmux),
    check: |home, _| {
        let text = home.read("prices.py")?;
        ensure!(text.contains(r#"replace(",", "")"#), "prices.py is {text:?}");
        Ok(())
    },
};

const PRICES: &str = r#"def parse_price(text):
    return float(text.strip("$"))


def total(prices):
    return sum(parse_price(price) for price in prices)
"#;
const TEST_PRICES: &str = r#"from prices import total


def test_cents():
    assert total(["$1.50", "$2.25"]) == 3.75


def test_thousands():
    assert total(["$1,250.00", "$3.00"]) == 1253
"#;
/// The line to mend, as the failure shows it.
const CAUSE: &str = r"return float\(text\.strip";

fn test_ours(model: &mut Model) -> Result<()> {
    model.call("execute_command", json!({"command": TEST}))?.expect(CAUSE)?;
    model.call("execute_command", json!({"command": MEND}))?.expect("2 passed")
}

fn test_terminal(model: &mut Model) -> Result<()> {
    model.call("session_exec", json!({"exec": TEST}))?.expect(CAUSE)?;
    model.call("session_exec", json!({"exec": MEND}))?.expect("2 passed")
}

fn test_tmux(model: &mut Model) -> Result<()> {
    model.call("tmux_new_session", json!({"name": "dev"}))?;
    let run = json!({"target_pane": "dev", "command": TEST});
    model.call("tmux_run", run)?.expect(CAUSE)?;
    let mend = json!({"target_pane": "dev", "command": MEND});
    model.call("tmux_run", mend)?.expect("2 passed")
}

/// Prints the port that the system gave it, and a line for each request.
const APP: &str = r#"import http.server

class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if self.path == "/health" else 404)
        self.end_headers()
        self.wfile.write(b"ok\n")

    def log_message(self, format, *args):
        print("request:", format % args, flush=True)

server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
print(f"Loading configuration\nListening on http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
"#;
const PORT: &str = r"127\.0\.0\.1:(\d+)";
const REQUEST: &str = "GET /health HTTP/1.1.* 200";

pub(super) const DEV_SERVER: Task = Task {
    name: "a dev server and its log",
    prompt: "Start app.py, request /health with curl, see the request in the server's log, and stop it.",
    prepare: |home| {
        home.write("app.py", APP);
        Ok(())
    },
    scripts: Scripts::in_terminals(server_ours, server_terminal, server_tmux),
    check: |_, read| {
        ensure!(regex::Regex::new(REQUEST)?.is_match(read), "the request's line was not read");
        let port = regex::Regex::new(PORT)?.captures(read).map(|port| port[1].to_owned());
        let port = port.unwrap_or_default().parse()?;
        // It closes its socket when it ends, a moment after it has printed why.
        let is_up = || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok();
        let deadline = Instant::now() + Duration::from_secs(5);
        while is_up() {
            ensure!(Instant::now() < deadline, "the server still runs");
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    },
};

fn server_ours(model: &mut Model) -> Result<()> {
    let start = json!({"command": "python3 app.py", "timeout_ms": 2000});
    let seen = model.call("execute_command", start)?;
    let (port, session) = (seen.value(PORT)?, seen.value(ours::SESSION)?);
    let request = json!({"command": format!("curl -s http://127.0.0.1:{port}/health")});
    model.call("execute_command", request)?.expect("ok")?;
    // What the server printed since it was last read comes with its end.
    ours::type_keys(model, &session, "C-c", REQUEST)
}

fn server_terminal(model: &mut Model) -> Result<()> {
    let seen = model.call("session_create", json!({"command": "python3 app.py"}))?;
    let session = seen.value(theirs::SESSION)?;
    let wait = json!({"session_id": session, "pattern": r"Listening on \S+"});
    let port = model.call("session_wait_for", wait)?.value(PORT)?;
    let request = json!({"exec": format!("curl -s http://127.0.0.1:{port}/health")});
    model.call("session_exec", request)?.expect("ok")?;
    theirs::interact(model, &session, &json!({"control_char": "c"}), "GET /health")
}

fn server_tmux(model: &mut Model) -> Result<()> {
    let start = json!({"name": "dev"});
    model.call("tmux_new_session", start)?;
    let run = json!({"target_pane": "dev", "text": "python3 app.py", "enter": true});
    model.call("tmux_send_keys", run)?;
    let wait = json!({"target_pane": "dev", "pattern": "Listening"});
    let port = model.call("tmux_wait_for_text", wait)?.value(PORT)?;
    let second = json!({"session": "dev", "name": "curl"});
    model.call("tmux_new_window", second)?;
    let request = format!("curl -s http://127.0.0.1:{port}/health");
    let request = json!({"target_pane": "dev:curl", "command": request});
    model.call("tmux_run", request)?.expect("ok")?;
    let stop = json!({"target_pane": "dev:0", "keys": ["C-c"]});
    model.call("tmux_send_keys", stop)?;
    // It sends and does not wait: the pane is read until the server has ended.
    let wait = json!({"target_pane": "dev:0", "pattern": "KeyboardInterrupt"});
    model.call("tmux_wait_for_text", wait)?.expect("GET /health")
}

pub(super) const PASSWORD: Task = Task {
    name: "a password prompt",
    prompt: "Run ./deploy.sh; the password is `correct horse`. Which release was deployed?",
    prepare: |home| {
        home.write(
            "deploy.sh",
            "#!/bin/bash\nread -r -s -p 'Deploy password: ' password\necho\n\
             [[ $password == 'correct horse' ]] || { echo 'wrong password' >&2; exit 1; }\n\
             echo 'Uploading 14 files'\necho \"Deployed release $((40 + 2))\" | tee deployed.txt\n",
        );
        home.shell("chmod +x deploy.sh")?;
        Ok(())
    },
    scripts: Scripts::in_terminals(password_ours, password_terminal, password_tmux),
    check: |home, read| {
        ensure!(read.contains("Deployed release 42"), "the release was not read");
        ensure!(home.read("deployed.txt")? == "Deployed release 42\n", "it was not deployed");
        Ok(())
    },
};

fn password_ours(model: &mut Model) -> Result<()> {
    let seen = model.call("execute_command", json!({"command": "./deploy.sh"}))?;
    seen.expect("password: ")?;
    let session = seen.value(ours::SESSION)?;
    ours::type_keys(model, &session, "correct horse<Enter>", "Deployed release")
}

fn password_terminal(model: &mut Model) -> Result<()> {
    // Not by `session_wait_for`, which does not see a line before it ends.
    let session = theirs::start(model, "./deploy.sh", "password: ")?;
    theirs::interact(model, &session, &json!({"password": "correct horse"}), "Deployed release")
}

fn password_tmux(model: &mut Model) -> Result<()> {
    model.call("tmux_new_session", json!({"name": "dev"}))?;
    let run = json!({"target_pane": "dev", "text": "./deploy.sh", "enter": true});
    model.call("tmux_send_keys", run)?;
    let wait = json!({"target_pane": "dev", "pattern": "password:"});
    model.call("tmux_wait_for_text", wait)?.expect("password:")?;
    let answer = json!({"target_pane": "dev", "text": "correct horse", "enter": true});
    model.call("tmux_send_keys", answer)?;
    let wait = json!({"target_pane": "dev", "pattern": "release|wrong", "regex": true});
    model.call("tmux_wait_for_text", wait)?.expect("Deployed release")
}
