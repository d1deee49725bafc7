//! What a command gives back, case by case, in every shell: its own output, its own exit code.
//!
//! One shell serves the whole table, so that a case which leaves something behind spoils the next
//! and shows. Cases that end or wreck the shell have one of their own (`endings`).

mod cases;
mod endings;
mod exchange;
mod folder;
mod forged;
mod history;
mod hostile;
mod replaced;
mod setups;
mod start_up;
mod volume;

use std::path::{Path, PathBuf};

use termbridge_session::{CommandReport, CommandState, Launch, Session, Sessions, Wait};

use crate::support::{LIMIT, limited, sessions, start};

/// No case takes this long.
const STUCK: std::time::Duration = std::time::Duration::from_secs(8);

/// A shell under test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Bash,
    Zsh,
    Fish,
    Dash,
}

pub(crate) use Kind::{Bash, Dash, Fish, Zsh};

pub(crate) const ALL: [Kind; 4] = [Bash, Zsh, Fish, Dash];

impl Kind {
    pub(crate) fn program(self) -> &'static str {
        match self {
            Bash => "bash",
            Zsh => "zsh",
            Fish => "fish",
            Dash => "dash",
        }
    }
}

/// What a command is expected to print.
#[derive(Debug, Clone)]
pub(crate) enum Output {
    Exactly(String),
    /// Shells word their own messages differently.
    Has(String),
    Any,
}

/// One command and what comes of it.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    name: &'static str,
    text: String,
    fish: Option<String>,
    shells: Vec<Kind>,
    output: Output,
    exceptions: Vec<(Kind, Output)>,
    exit_code: i32,
    other_codes: Vec<(Kind, i32)>,
    cwd: Option<PathBuf>,
    full_screen: bool,
}

/// A command that prints nothing and succeeds, unless said otherwise.
pub(crate) fn case(name: &'static str, text: impl Into<String>) -> Case {
    Case {
        name,
        text: text.into(),
        fish: None,
        shells: ALL.to_vec(),
        output: Output::Exactly(String::new()),
        exceptions: Vec::new(),
        exit_code: 0,
        other_codes: Vec::new(),
        cwd: None,
        full_screen: false,
    }
}

impl Case {
    /// The same in fish's own syntax.
    fn fish(mut self, text: impl Into<String>) -> Self {
        self.fish = Some(text.into());
        self
    }

    fn only(mut self, shells: &[Kind]) -> Self {
        self.shells = shells.to_vec();
        self
    }

    fn not(mut self, shell: Kind) -> Self {
        self.shells.retain(|each| *each != shell);
        self
    }

    fn prints(mut self, text: impl Into<String>) -> Self {
        self.output = Output::Exactly(text.into());
        self
    }

    fn says(mut self, part: impl Into<String>) -> Self {
        self.output = Output::Has(part.into());
        self
    }

    fn prints_anything(mut self) -> Self {
        self.output = Output::Any;
        self
    }

    fn but(mut self, shell: Kind, output: Output) -> Self {
        self.exceptions.push((shell, output));
        self
    }

    fn exits(mut self, code: i32) -> Self {
        self.exit_code = code;
        self
    }

    fn exits_in(mut self, shell: Kind, code: i32) -> Self {
        self.other_codes.push((shell, code));
        self
    }

    fn ends_in(mut self, cwd: impl Into<PathBuf>) -> Self {
        self.cwd = Some(cwd.into());
        self
    }

    fn full_screen(mut self) -> Self {
        self.full_screen = true;
        self
    }

    fn text(&self, kind: Kind) -> &str {
        match (&self.fish, kind) {
            (Some(text), Fish) => text,
            _ => &self.text,
        }
    }

    /// What is wrong with a report.
    fn faults(&self, kind: Kind, report: &CommandReport) -> Vec<String> {
        let exception = self.exceptions.iter().find(|(shell, _)| *shell == kind);
        let output = exception.map_or(&self.output, |(_, output)| output);
        let code = self.other_codes.iter().find(|(shell, _)| *shell == kind);
        let exit_code = code.map_or(self.exit_code, |(_, code)| *code);
        let mut faults = Vec::new();
        if report.state != (CommandState::Done { exit_code }) {
            faults.push(format!("{:?} instead of exit code {exit_code}", report.state));
        }
        match output {
            Output::Exactly(text) if report.output != *text => {
                faults.push(format!("printed {:?} instead of {text:?}", report.output));
            }
            Output::Has(part) if !report.output.contains(part.as_str()) => {
                faults.push(format!("printed {:?} without {part:?}", report.output));
            }
            _ => {}
        }
        if let Some(cwd) = &self.cwd
            && report.cwd.as_deref() != Some(cwd)
        {
            faults.push(format!("in {:?} instead of {}", report.cwd, cwd.display()));
        }
        if report.full_screen != self.full_screen {
            faults.push(format!("full_screen is {}", report.full_screen));
        }
        faults
    }
}

/// A shell with a home of its own.
pub(crate) fn launch(kind: Kind, home: &Path) -> Launch {
    launch_program(kind.program(), home)
}

pub(crate) fn launch_program(program: &str, home: &Path) -> Launch {
    Launch::shell(program)
        .cwd(home)
        .env("HOME", home)
        .env("ZDOTDIR", home)
        .env("XDG_CONFIG_HOME", home.join(".config"))
        .env("XDG_DATA_HOME", home.join(".local"))
        .env("LC_ALL", "C.UTF-8")
        .env("PS1", "$ ")
}

pub(crate) fn home() -> tempfile::TempDir {
    // No link on the way: a shell may say where it is by either name.
    let folder = tempfile::Builder::new().prefix("home-").tempdir().expect("a folder");
    std::fs::write(folder.path().join(".zshrc"), "").expect("no questions of zsh-newuser-install");
    folder
}

pub(crate) async fn ready(sessions: &Sessions, launch: Launch) -> Session {
    let session = start(sessions, launch).await;
    let free = Wait { free: true, ..Wait::default() }.timeout(LIMIT * 2);
    let waited = session.wait(free).await.expect("the session is there");
    let screen = session.screen().await.expect("a screen").text();
    assert!(waited.fired.is_some(), "no prompt:\n{screen}");
    session
}

pub(crate) async fn run(session: &Session, command: &str) -> CommandReport {
    let shown: String = command.chars().take(60).collect();
    limited(&shown, session.execute(command, LIMIT, 1 << 20)).await.expect(&shown)
}

/// Waits for a command's end.
pub(crate) async fn over(session: &Session, id: u64) -> CommandReport {
    let over = Wait { command: Some(id), ..Wait::default() }.timeout(LIMIT);
    session.wait(over).await.expect("the session is there");
    session.command(id, 0, 1 << 20).await.expect("there").expect("known")
}

/// Runs the table in one shell but for some cases; how many, and what went wrong, all of it.
pub(crate) async fn run_table(
    session: &Session,
    kind: Kind,
    home: &Path,
    skipped: &[&str],
) -> (usize, Vec<String>) {
    let mut faults = Vec::new();
    let mut count = 0;
    for case in cases::table(home) {
        if !case.shells.contains(&kind) || skipped.contains(&case.name) {
            continue;
        }
        count += 1;
        let executed = session.execute(case.text(kind), STUCK, 1 << 20);
        let report = match executed.await {
            Ok(report) => report,
            Err(error) => {
                faults.push(format!("{kind:?}, {}: {error}", case.name));
                break;
            }
        };
        for fault in case.faults(kind, &report) {
            faults.push(format!("{kind:?}, {}: {fault}", case.name));
        }
        if report.state == CommandState::Running {
            let screen = session.screen().await.expect("a screen").text();
            faults.push(format!("{kind:?}, {}: stuck:\n{}", case.name, screen.trim_end()));
            break;
        }
    }
    (count, faults)
}

async fn table_holds(kind: Kind) {
    let (sessions, home) = (sessions(), home());
    let session = ready(&sessions, launch(kind, home.path())).await;
    let (count, faults) = run_table(&session, kind, home.path(), &[]).await;
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(count >= 60, "{kind:?} has {count} cases");
    sessions.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bash_keeps_the_table() {
    table_holds(Bash).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn zsh_keeps_the_table() {
    table_holds(Zsh).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fish_keeps_the_table() {
    table_holds(Fish).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dash_keeps_the_table() {
    table_holds(Dash).await;
}
