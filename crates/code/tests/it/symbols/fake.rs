//! A language server that does what a test wants: `fake_server.py` under the name of a real one.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use termbridge_code::CodeError;
use termbridge_code::symbols::{Locations, Navigation};
use termbridge_dap::Environment;

use super::project::{LIMIT, Project, named};

const SCRIPT: &str = include_str!("fake_server.py");

pub(crate) const SOURCE: &str = "package demo\nfunc one() {}\nfunc two() { one() }\n";

/// A Go project whose server is scripted. Nothing else is on the search path.
pub(crate) fn fake() -> Project {
    with_programs(&[("gopls", SCRIPT)])
}

/// A project with `a.go` and `b.go`, and programs that are the only ones.
pub(crate) fn with_programs(programs: &[(&str, &str)]) -> Project {
    let project = Project::new(
        &[("go.mod", "module demo\n"), ("a.go", SOURCE), ("b.go", SOURCE)],
        Environment::default(),
    );
    let bin = project.path(".bin");
    fs::create_dir(&bin).expect("made");
    for (name, script) in programs {
        project.program(name, script);
    }
    let environment = Environment::default().with("PATH", bin).with("HOME", project.folder.path());
    let folder = project.folder;
    let servers = termbridge_code::symbols::LanguageServers::new(folder.path().into(), environment);
    Project { folder, servers }
}

impl Project {
    /// Puts a program on the search path.
    pub(crate) fn program(&self, name: &str, script: &str) {
        let path = self.path(".bin").join(name);
        fs::write(&path, script).expect("written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("set");
    }

    pub(crate) fn behave(&self, how: &str) {
        self.write("behaviour", how);
    }

    /// The lines that the server wrote of itself.
    pub(crate) fn log(&self) -> Vec<String> {
        let log = fs::read_to_string(self.path("log")).unwrap_or_default();
        log.lines().map(str::to_owned).collect()
    }

    /// Waits for a line of the log.
    pub(crate) async fn logged(&self, wanted: &str) {
        self.logged_times(wanted, 1).await;
    }

    /// Waits until a line stands in the log so many times.
    pub(crate) async fn logged_times(&self, wanted: &str, times: usize) {
        until(&format!("no {wanted} in the log"), || self.times_logged(wanted) >= times).await;
    }

    pub(crate) fn times_logged(&self, wanted: &str) -> usize {
        self.log().iter().filter(|line| *line == wanted).count()
    }

    /// The processes of each server that was started: its own, and one that it started.
    pub(crate) fn processes(&self) -> Vec<Vec<u32>> {
        let started = self.log().into_iter().filter_map(|line| {
            let numbers = line.strip_prefix("started ")?.split(' ');
            Some(numbers.map(|number| number.parse().expect("a number")).collect())
        });
        started.collect()
    }

    pub(crate) async fn references(&self, timeout: Duration) -> Result<Locations, CodeError> {
        self.servers.navigate(&named("a.go", "one"), Navigation::References, timeout).await
    }

    /// Asks for a rename that the server answers with these edits.
    pub(crate) async fn rename_with(&self, edit: Value) -> Result<(), CodeError> {
        self.write("edit.json", &edit.to_string());
        self.servers.rename(&named("a.go", "one"), "three", LIMIT).await.map(drop)
    }

    /// An edit of a file, from its second line's name on.
    pub(crate) fn change(&self, path: &Path, line: u32) -> Value {
        let path = self.folder.path().canonicalize().expect("a path").join(path);
        let place = |character| json!({"line": line, "character": character});
        json!({
            "textDocument": {"uri": format!("file://{}", path.display()), "version": null},
            "edits": [{"range": {"start": place(5), "end": place(8)}, "newText": "three"}],
        })
    }
}

/// Whether a process runs; one that only waits to be reaped does not.
fn runs(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
    state.is_some_and(|state| !matches!(state, 'Z' | 'X'))
}

/// Waits until processes are gone.
pub(crate) async fn gone(pids: &[u32]) {
    assert_eq!(pids.len(), 2);
    until("processes still run", || !pids.iter().any(|&pid| runs(pid))).await;
}

pub(crate) fn all_run(pids: &[u32]) -> bool {
    pids.len() == 2 && pids.iter().all(|&pid| runs(pid))
}

/// Waits until something is so, and fails the test instead of hanging it.
async fn until(problem: &str, so: impl Fn() -> bool) {
    let begin = Instant::now();
    while !so() {
        assert!(begin.elapsed() < LIMIT, "{problem}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
