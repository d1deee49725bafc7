//! A session as a window's list shows it.

use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde::Serialize;
use termbridge_bridge::{Bridge, Caller};
use termbridge_session::{EndReason, SessionInfo, State, is_shell_name};

/// Most bytes of a command line that are shown.
const MAX_COMMAND: usize = 500;

/// One row.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Row {
    pub(crate) session_id: String,
    name: Option<String>,
    title: String,
    agent: String,
    folder: Option<PathBuf>,
    is_here: bool,
    state: &'static str,
    running: Option<String>,
    cwd: PathBuf,
    created: u64,
    cols: u16,
    rows: u16,
    exit_code: Option<i32>,
    signal: Option<String>,
    stopped: bool,
    driver: &'static str,
    is_driver: bool,
    /// This window's panel sets its size.
    is_fitted: bool,
    /// A person has paused its agent.
    paused: bool,
    secret: Option<String>,
    /// The program that reads the password, and whether it is a shell.
    secret_reader: Option<String>,
    is_read_by_shell: bool,
    /// Tells a password that is asked for again from one that still is.
    #[serde(skip)]
    secrets_asked: u64,
}

impl Row {
    /// The same without the password, where another one is asked for now.
    pub(crate) fn answered(&self, now: &Self) -> Option<Self> {
        let is_again = self.secret.is_some() && now.secret.is_some();
        let is_again = is_again && self.secrets_asked != now.secrets_asked;
        is_again.then(|| Self {
            secret: None,
            secret_reader: None,
            is_read_by_shell: false,
            state: "running",
            ..now.clone()
        })
    }

    /// The row of a session, for a window with these folders.
    pub(crate) async fn of(
        bridge: &Bridge,
        caller: &Caller,
        info: SessionInfo,
        window: &str,
        folders: &[PathBuf],
    ) -> Self {
        let running = match info.shell.and_then(|shell| shell.running) {
            Some(command) => {
                let report = bridge.command(caller, &info.id, command, 0, 0).await;
                report.ok().flatten().map(|report| shortened(&report.command))
            }
            None => None,
        };
        let (state, exit_code, signal) = match &info.state {
            State::Running if info.secret_prompt.is_some() => ("needs_input", None, None),
            State::Running => ("running", None, None),
            State::Exited(ended) => ("exited", ended.exit_code(), ended.signal()),
        };
        let stopped = matches!(&info.state, State::Exited(ended)
            if matches!(ended.reason, EndReason::Stopped | EndReason::Idle));
        let folder = info.owner.workspace.clone();
        let is_in = |path: &Path| folders.iter().any(|folder| path.starts_with(folder));
        let reader = info.foreground.clone().filter(|_| info.secret_prompt.is_some());
        let created = info.created.duration_since(UNIX_EPOCH).unwrap_or_default();
        Self {
            is_here: folder.as_deref().map_or_else(|| is_in(&info.cwd), is_in),
            title: title_of(&info),
            agent: info.owner.for_people(),
            session_id: info.id.to_string(),
            name: info.name,
            folder,
            state,
            running,
            cwd: info.cwd,
            created: created.as_millis() as u64,
            cols: info.size.cols,
            rows: info.size.rows,
            exit_code,
            signal,
            stopped,
            driver: if info.driver.is_some() { "person" } else { "agent" },
            is_driver: info.driver.as_deref() == Some(window),
            is_fitted: info.fitted_by.as_deref() == Some(window),
            paused: bridge.is_paused(&info.owner),
            is_read_by_shell: reader.as_deref().is_some_and(is_shell_name),
            secret_reader: reader,
            secret: info.secret_prompt,
            secrets_asked: info.secrets_asked,
        }
    }
}

/// What people call it: by its name, else by its program.
fn title_of(info: &SessionInfo) -> String {
    match &info.name {
        Some(name) => name.clone(),
        None => {
            let program = info.command.split(' ').next().unwrap_or_default();
            program.rsplit('/').next().unwrap_or(program).to_owned()
        }
    }
}

fn shortened(command: &str) -> String {
    match command.len() > MAX_COMMAND {
        true => format!("{}…", &command[..command.floor_char_boundary(MAX_COMMAND)]),
        false => command.to_owned(),
    }
}
