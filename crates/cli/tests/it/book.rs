//! The documents link to what exists, the book has every page, and its commands work.
//!
//! A block of the book that begins with ```` ```sh ```` is run here; one that begins with ```` ```sh example ```` is only
//! shown. Wherever a document names a termbridge command, its options exist.

use std::collections::BTreeSet;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use termbridge_mcp::client::{Answer, Client};
use termbridge_testkit::{PROTOCOL, TestEnvironment};

use crate::TERMBRIDGE;
use crate::shim::{Runtime, Shim};
use crate::support::{await_that, built, repository};

/// Pages whose blocks of commands are run.
const RUN: [&str; 2] = ["getting-started.md", "debugging.md"];

/// The pages of `docs`, and what is beside the book.
fn documents() -> Vec<PathBuf> {
    let docs = std::fs::read_dir(repository("docs")).expect("a folder");
    let pages = docs.map(|entry| entry.expect("an entry").path());
    let pages = pages.filter(|path| path.extension().is_some_and(|ending| ending == "md"));
    let others = [
        "README.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        "editors/vscode/README.md",
    ];
    pages.chain(others.map(|name| repository(name).into())).collect()
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The targets of a page's links, without code.
fn links(text: &str) -> Vec<&str> {
    let prose = text.split("```").step_by(2);
    let targets = prose.flat_map(|part| part.split("](").skip(1));
    targets.filter_map(|rest| rest.split_once(')')).map(|(target, _)| target).collect()
}

/// The anchors of a page's headings, as GitHub and mdBook make them.
fn anchors(text: &str) -> Vec<String> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    let anchor = |line: &str| {
        let title = line.trim_start_matches('#').trim().to_lowercase();
        let kept = title.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    };
    headings.map(anchor).collect()
}

#[test]
fn every_link_leads_to_a_file_and_a_heading() {
    let mut wrong = Vec::new();
    for page in documents() {
        let text = read(&page);
        for link in links(&text) {
            if link.contains("://") || link.starts_with("mailto:") {
                continue;
            }
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = match file {
                "" => page.clone(),
                file => page.parent().expect("a folder").join(file),
            };
            let has_anchor = || anchors(&read(&target)).iter().any(|found| found == anchor);
            if !target.exists() || !(anchor.is_empty() || has_anchor()) {
                wrong.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_book_has_every_page() {
    let summary = read(repository("docs/SUMMARY.md").as_ref());
    let listed = links(&summary);
    for page in documents() {
        let name = page.file_name().expect("a name").to_string_lossy().into_owned();
        if page.parent() == Some(repository("docs").as_ref())
            && !["SUMMARY.md", "plan.md"].contains(&&*name)
        {
            assert!(listed.contains(&&*name), "{name} is missing in docs/SUMMARY.md");
        }
    }
}

/// The blocks of a page, each with what is behind its opening fence.
fn blocks(text: &str) -> Vec<(&str, &str)> {
    let blocks = text.split("\n```").skip(1).step_by(2);
    blocks.map(|block| block.split_once('\n').expect("a block has lines")).collect()
}

/// The commands of the blocks that are run, without comments.
fn commands(page: &str) -> Vec<String> {
    let text = read(repository(&format!("docs/{page}")).as_ref());
    let run = blocks(&text).into_iter().filter(|(kind, _)| *kind == "sh");
    let lines = run.flat_map(|(_, block)| block.lines());
    let bare = lines.map(|line| line.split(" # ").next().unwrap_or_default().trim().to_owned());
    bare.filter(|line| !line.is_empty()).collect()
}

#[test]
fn a_block_of_commands_is_run_or_an_example() {
    for page in documents() {
        let name = page.file_name().expect("a name").to_string_lossy().into_owned();
        if page.parent() != Some(repository("docs").as_ref()) {
            continue;
        }
        for (kind, block) in blocks(&read(&page)) {
            let is_run = kind == "sh" && RUN.contains(&&*name);
            let is_shown = ["sh example", "text", "json", "toml", "rust", ""].contains(&kind);
            assert!(is_run || is_shown, "{name}: {kind}: {block}");
        }
    }
}

/// The termbridge commands in a document: in code within the text, and in blocks.
fn own_commands(text: &str) -> Vec<String> {
    let shell = blocks(text).into_iter().filter(|(kind, _)| kind.starts_with("sh"));
    let lines = shell.flat_map(|(_, block)| block.lines()).map(str::to_owned);
    let prose: String = text.split("\n```").step_by(2).collect();
    let spans = prose.split('`').skip(1).step_by(2).map(|span| span.replace("\\|", "|"));
    let all: Vec<String> = lines.chain(spans).collect();
    all.into_iter().filter(|command| command.starts_with("termbridge ")).collect()
}

#[test]
fn the_options_of_every_command_exist() {
    let environment = TestEnvironment::new();
    let mut found = BTreeSet::new();
    for page in documents() {
        found.extend(own_commands(&read(&page)));
    }
    for command in &found {
        let words = shlex::split(command).unwrap_or_else(|| panic!("{command}"));
        let is_own = |word: &&String| !word.starts_with(['<', '>', '|', ';']);
        // Capitals stand for a word of the reader's.
        let is_given =
            |word: &&String| *word != "help" && word.chars().any(|c| !c.is_ascii_uppercase());
        let words: Vec<&String> =
            words.iter().skip(1).take_while(is_own).filter(is_given).collect();
        let output = environment.command(TERMBRIDGE).args(words).arg("--help").output();
        let output = output.expect("runs");
        let refused = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command}: {refused}");
    }
    assert!(found.len() > 40, "{found:#?}");
}

/// A person's shell on a terminal, where `termbridge` is installed.
struct Person {
    terminal: Client,
    runtime: Runtime,
}

impl Person {
    fn new() -> Self {
        let runtime = Runtime::new();
        let folder = runtime.environment.path().join("bin");
        std::fs::create_dir(&folder).expect("a folder");
        symlink(TERMBRIDGE, folder.join("termbridge")).expect("installed");
        let path = std::env::var_os("PATH").unwrap_or_default();
        let venv = PathBuf::from(built("test-venv/bin"));
        let folders = [folder, venv].into_iter().chain(std::env::split_paths(&path));
        let mut command = runtime.command(&["mcp"]);
        command.env("PATH", std::env::join_paths(folders).expect("a search path"));
        let mut terminal = Client::start(&mut command).expect("starts");
        terminal.initialize(PROTOCOL).expect("shakes hands");
        Self { terminal, runtime }
    }

    #[track_caller]
    fn call(&mut self, tool: &str, arguments: Value) -> Answer {
        let answer = self.terminal.call(tool, arguments).expect("answers");
        assert!(!answer.is_error, "{tool}: {}", answer.text);
        answer
    }

    /// Runs a command, says yes where it asks, and returns its output.
    #[track_caller]
    fn runs(&mut self, command: &str) -> String {
        let run = json!({"command": command, "timeout_ms": 120_000});
        let mut answer = self.call("execute_command", run);
        if answer.structured["state"] == "needs_input" {
            let session = answer.structured["session_id"].clone();
            self.call("send_keys", json!({"session_id": session, "keys": "y<Enter>", "wait": {}}));
            let rest = json!({"session_id": session, "until": "end", "wait_ms": 120_000});
            answer = self.call("get_terminal_output", rest);
        }
        assert_eq!(answer.structured["exit_code"], 0, "{command}: {}", answer.text);
        answer.structured["output"].as_str().unwrap_or_default().to_owned()
    }
}

#[test]
fn the_commands_of_getting_started_run() {
    let mut person = Person::new();
    person.runtime.environment.write(".cursor/mcp.json", "{}");
    let mut commands = commands("getting-started.md").into_iter();
    let mut next = || commands.next().unwrap_or_default();
    // This builds what is installed here already; the packages' tests install it.
    assert_eq!(next(), "cargo install --path crates/cli");
    let demo = next();
    assert_eq!(demo, "termbridge demo");
    assert!(person.runs(&demo).contains("launch_app"));
    let install = next();
    assert!(person.runs(&install).contains("Cursor: added to"), "{install}");
    let doctor = next();
    // Its exit code depends on every debugger of the machine, and on how busy that is.
    assert!(person.runs(&format!("{doctor}; true")).contains("Cursor"), "{doctor}");
    let connect = next();
    assert!(person.runs(&connect).contains("Cursor: updated in"), "{connect}");
    // An agent that was connected.
    let entry = person.runtime.environment.read(".cursor/mcp.json");
    let entry: Value = serde_json::from_str(&entry).expect("JSON");
    let entry = &entry["mcpServers"]["termbridge"];
    let words: Vec<&str> =
        entry["args"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
    let mut agent = Shim::ready(&mut person.runtime.command(&words));
    let ask = json!({"command": "sh", "args": ["-c", "echo ready; read answer; echo got $answer"]});
    let session =
        agent.call(1, "launch_app", ask)["session_id"].as_str().expect("an id").to_owned();
    let list = next();
    assert!(person.runs(&list).contains("sh -c"), "{list}");
    let logs = next().replace("SESSION", &session);
    let follow = json!({"command": logs, "name": "logs", "timeout_ms": 0});
    person.call("execute_command", follow);
    let shown = json!({"session_id": "logs", "text": "ready", "timeout_ms": 40_000});
    assert_eq!(person.call("wait_for", shown).structured["fired"], "text", "{logs}");
    let send = next().replace("SESSION", &session);
    person.runs(&send);
    let rest = json!({"session_id": "logs", "until": "end", "wait_ms": 40_000});
    let rest = person.call("get_terminal_output", rest);
    assert_eq!(rest.structured["exit_code"], 0, "{}", rest.text);
    let shown = person.call("get_terminal_output", json!({"session_id": "logs"})).text;
    assert!(shown.contains("got y"), "{shown}");
    assert_eq!(next(), "", "every command was run");
    person.runs("termbridge stop --all");
    await_that("the server is gone", || person.runtime.servers().is_empty());
}

#[test]
fn the_commands_of_the_debugger_s_page_run() {
    let mut person = Person::new();
    let program =
        "price = 2\ncount = 3\nwhile price < 6:\n    price += 1\n    total = price * count\n";
    person.runtime.environment.write("app.py", program);
    let shown = person.runs(&commands("debugging.md").join("\n"));
    assert!(shown.contains("Stopped (breakpoint) at app.py:5") && shown.contains("12"), "{shown}");
}
