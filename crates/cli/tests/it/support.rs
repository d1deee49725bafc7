//! What the tests of real programs share: finding the programs, and one program in one session.
//!
//! Nothing sleeps and nothing measures time: a step acts, and the tools' own waits tell when it took
//! effect. A wait that ends without what it waited for fails the test and shows the screen.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use termbridge_mcp::client::Answer;
use termbridge_testkit::{Server, TestEnvironment};

use crate::TERMBRIDGE;

/// Longest wait, for a machine that does much else: only a failing test takes this long.
const PATIENCE_MS: u64 = 40_000;

/// A program of the system; that it is missing is a failure, never a reason to skip.
#[track_caller]
pub(crate) fn program(name: &str) -> String {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found =
        std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file());
    match found {
        Some(file) => file.display().to_string(),
        None => panic!("{name} is missing: run scripts/setup-tests"),
    }
}

/// A file of the repository.
#[track_caller]
pub(crate) fn repository(path: &str) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    let Ok(file) = file.canonicalize() else {
        panic!("{path} is missing: run scripts/setup-tests");
    };
    file.display().to_string()
}

/// A file of the target folder (or of a profile's folder within it), in which this test stands too.
#[track_caller]
pub(crate) fn built(path: &str) -> String {
    let test = std::env::current_exe().expect("a test knows its own file");
    let file = test.ancestors().map(|folder| folder.join(path));
    match { file }.find(|file| file.exists()) {
        Some(file) => file.display().to_string(),
        None => panic!("{path} is not in the target folder: run scripts/setup-tests"),
    }
}

/// A text of numbered lines.
pub(crate) fn numbered(name: &str, numbers: RangeInclusive<usize>) -> String {
    let lines: Vec<String> = numbers.map(|number| format!("{name} {number:03}\n")).collect();
    lines.concat()
}

/// Waits until something holds.
#[track_caller]
pub(crate) fn await_that(what: &str, holds: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_millis(PATIENCE_MS);
    while !holds() {
        assert!(Instant::now() < deadline, "not so: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Waits until a file is there.
#[track_caller]
pub(crate) fn await_file(path: &Path) {
    await_that(&format!("{} is there", path.display()), || path.exists());
}

/// Waits until there is nothing in a folder.
#[track_caller]
pub(crate) fn await_empty(folder: &Path) {
    let is_empty = || std::fs::read_dir(folder).expect("a folder").count() == 0;
    await_that(&format!("{} is empty", folder.display()), is_empty);
}

/// Waits until there is no such process.
#[track_caller]
pub(crate) fn await_end_of(pid: i64) {
    await_that(&format!("process {pid} is gone"), || !is_running(pid));
}

/// A process that was killed and awaits its parent's attention no longer counts.
pub(crate) fn is_running(pid: i64) -> bool {
    let stat = std::fs::read_to_string(PathBuf::from(format!("/proc/{pid}/stat")));
    stat.is_ok_and(|stat| {
        let state = stat.rsplit(") ").next().unwrap_or_default();
        !state.starts_with(['Z', 'X'])
    })
}

/// A screen as `view_screen` shows it.
#[derive(Debug, Clone)]
pub(crate) struct Screen(Value);

impl Screen {
    pub(crate) fn content(&self) -> &str {
        self.0["content"].as_str().expect("a screen has content")
    }

    pub(crate) fn row(&self, row: usize) -> &str {
        self.content().lines().nth(row).unwrap_or_default()
    }

    /// The row as `view_screen` counts, from 0.
    pub(crate) fn row_of(&self, text: &str) -> Option<usize> {
        self.content().lines().position(|line| line.contains(text))
    }

    pub(crate) fn contains(&self, text: &str) -> bool {
        self.content().contains(text)
    }

    pub(crate) fn highlights(&self) -> Vec<&str> {
        let all = self.0["highlights"].as_array().expect("highlights");
        all.iter().filter_map(|one| one["text"].as_str()).collect()
    }

    pub(crate) fn highlights_text(&self, text: &str) -> bool {
        self.highlights().iter().any(|one| one.contains(text))
    }

    pub(crate) fn cursor(&self) -> (u64, u64) {
        let cursor = &self.0["cursor"];
        let number = |name: &str| cursor[name].as_u64().expect("a cursor");
        (number("row"), number("col"))
    }

    pub(crate) fn size(&self) -> (u64, u64) {
        let number = |name: &str| self.0[name].as_u64().expect("a size");
        (number("cols"), number("rows"))
    }

    pub(crate) fn is_alternate(&self) -> bool {
        self.0["alternate_screen"] == true
    }

    fn seq(&self) -> u64 {
        self.0["seq"].as_u64().expect("a counter")
    }
}

/// A program in a session of a server of its own.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) server: Server,
    pub(crate) environment: TestEnvironment,
    id: String,
}

impl App {
    /// Launches with the arguments of `launch_app`.
    #[track_caller]
    pub(crate) fn launch(environment: TestEnvironment, arguments: Value) -> Self {
        let mut server = environment.server(TERMBRIDGE, &[]);
        let id = server.launch(arguments);
        Self { server, environment, id }
    }

    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// Calls a tool on the session; it must succeed.
    #[track_caller]
    pub(crate) fn call(&mut self, tool: &str, mut arguments: Value) -> Answer {
        arguments["session_id"] = self.id.as_str().into();
        self.server.ok(tool, arguments)
    }

    #[track_caller]
    pub(crate) fn screen(&mut self) -> Screen {
        Screen(self.call("view_screen", json!({})).structured)
    }

    /// `wait_for`, which must come true; its answer and the screen afterwards.
    #[track_caller]
    pub(crate) fn wait_for(&mut self, condition: Value) -> (Value, Screen) {
        let mut arguments = patient(condition);
        arguments["view"] = "plain".into();
        let mut answer = self.call("wait_for", arguments);
        let view = answer.structured["view"].take();
        came_true(&answer.structured, &answer.text);
        (answer.structured, Screen(view))
    }

    /// `send_keys` with these arguments, then a wait that must come true.
    #[track_caller]
    pub(crate) fn send(&mut self, mut arguments: Value, wait: Value) -> (Value, Screen) {
        arguments["wait"] = patient(wait);
        arguments["view"] = "plain".into();
        let mut answer = self.call("send_keys", arguments);
        let view = answer.structured["view"].take();
        came_true(&answer.structured["wait"], &answer.text);
        (answer.structured["wait"].take(), Screen(view))
    }

    /// Keys, then a wait that must come true.
    #[track_caller]
    pub(crate) fn keys(&mut self, keys: &str, wait: Value) -> Screen {
        self.send(json!({"keys": keys}), wait).1
    }

    /// Keys that lead to a screen with `text` in a row that changed.
    #[track_caller]
    pub(crate) fn keys_show(&mut self, keys: &str, text: &str) -> Screen {
        self.keys(keys, json!({"text": text}))
    }

    /// Keys that end the program; its exit code and the last screen.
    #[track_caller]
    pub(crate) fn keys_end(&mut self, keys: &str) -> (Option<i64>, Screen) {
        let screen = self.keys(keys, json!({"exit": true}));
        (self.exit_code(), screen)
    }

    /// Looks again after each change until the screen is as it should be.
    #[track_caller]
    pub(crate) fn until(&mut self, what: &str, wanted: impl Fn(&Screen) -> bool) -> Screen {
        match self.try_until(wanted) {
            Ok(screen) => screen,
            Err(shown) => panic!("{what}: the screen does not come: {shown}"),
        }
    }

    /// The screen wanted, or the text of the last one.
    #[track_caller]
    fn try_until(&mut self, wanted: impl Fn(&Screen) -> bool) -> Result<Screen, String> {
        let mut screen = self.screen();
        while !wanted(&screen) {
            let mut arguments = patient(json!({"change": true, "after": screen.seq()}));
            arguments["view"] = "plain".into();
            let mut answer = self.call("wait_for", arguments);
            if answer.structured["fired"] != "change" {
                return Err(answer.text);
            }
            screen = Screen(answer.structured["view"].take());
        }
        Ok(screen)
    }

    /// Resizes and waits for the screen that the program makes of it. A failure shows what the
    /// program printed and what the kernel knows of its size and of `SIGWINCH`.
    #[track_caller]
    pub(crate) fn resize_shows(&mut self, cols: u64, rows: u64, wanted: impl Fn(&Screen) -> bool) {
        self.resize(cols, rows);
        if let Err(shown) = self.try_until(wanted) {
            let bytes = self.call("view_screen", json!({"format": "ansi"})).text;
            let programs = descendants(self.server.pid());
            panic!("no screen of {cols}x{rows}: {shown}\n{bytes}\n{}", programs.join("\n"));
        }
    }

    #[track_caller]
    pub(crate) fn resize(&mut self, cols: u64, rows: u64) {
        let answer = self.call("resize_terminal", json!({"cols": cols, "rows": rows}));
        assert_eq!(
            (&answer.structured["cols"], &answer.structured["rows"]),
            (&json!(cols), &json!(rows))
        );
    }

    /// The exit code of a program that ended.
    #[track_caller]
    pub(crate) fn exit_code(&mut self) -> Option<i64> {
        let list = self.server.ok("list_sessions", json!({"all": true}));
        let rows = list.structured["sessions"].as_array().expect("sessions");
        let row = rows.iter().find(|row| row["session_id"] == *self.id);
        let row = row.expect("a finished session is still listed");
        assert_eq!(row["state"], "exited", "{row}");
        row["exit_code"].as_i64()
    }
}

/// What the kernel knows of each process below one: its signals, its terminal's size, where it sleeps.
fn descendants(root: u32) -> Vec<String> {
    let tasks = std::fs::read_dir(format!("/proc/{root}/task")).into_iter().flatten().flatten();
    let lists = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
    let children: Vec<u32> = lists
        .flat_map(|list| list.split(' ').filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>())
        .collect();
    let mut all = Vec::new();
    for pid in children {
        let read = |name: &str| std::fs::read_to_string(format!("/proc/{pid}/{name}"));
        let status = read("status").unwrap_or_default();
        let signals: Vec<&str> = status
            .lines()
            .filter(|line| {
                ["Name", "State", "Sig", "ShdPnd"].iter().any(|name| line.starts_with(name))
            })
            .collect();
        let stty = std::process::Command::new("stty")
            .args(["-F", &format!("/proc/{pid}/fd/0"), "size"])
            .output();
        let size = stty.map(|done| String::from_utf8_lossy(&done.stdout).trim().to_owned());
        let sleeps = read("wchan").unwrap_or_default();
        all.push(format!("{pid}: {signals:?}, rows and cols {size:?}, sleeps in {sleeps}"));
        all.extend(descendants(pid));
    }
    all
}

fn patient(mut condition: Value) -> Value {
    condition["timeout_ms"] = PATIENCE_MS.into();
    condition
}

#[track_caller]
fn came_true(outcome: &Value, shown: &str) {
    assert!(outcome["fired"].is_string(), "{shown}");
}

/// All processes and what they do, for a message.
pub(crate) fn processes() -> String {
    let columns = "pid,ppid,pgid,sid,stat,time,wchan:20,args";
    let listed = Command::new("ps").args(["-e", "--forest", "-o", columns]).output();
    listed.map(|listed| String::from_utf8_lossy(&listed.stdout).into_owned()).unwrap_or_default()
}

/// What the descriptors of a process are open for, for a message.
pub(crate) fn descriptors(pid: u32) -> Vec<String> {
    let all = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    let target = |entry: std::fs::DirEntry| std::fs::read_link(entry.path()).ok();
    all.filter_map(target).map(|target| target.display().to_string()).collect()
}
