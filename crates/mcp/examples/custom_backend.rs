//! A backend of your own: the terminal tools over something that is no terminal.
//!
//! This one's "shell" is a notebook that knows `add TEXT`, `list` and `fail`. An agent sees the same
//! tools as over a real shell (`execute_command`, `get_terminal_output`, `list_sessions`, …); those that
//! type keys and show screens are left out, since there is no screen.
//!
//! ```text
//! cargo run -p termbridge-mcp --example custom_backend
//! ```

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use termbridge_bridge::session::{
    CommandReport, CommandState, Scrollback, SessionError, SessionId, SessionInfo, Shell, ShellInfo,
};
use termbridge_bridge::{Awaited, NewSession, TerminalBackend, Until};
use termbridge_mcp::McpServer;

#[derive(Default)]
struct Notebooks {
    open: Mutex<HashMap<SessionId, Notebook>>,
}

struct Notebook {
    info: SessionInfo,
    notes: Vec<String>,
    done: Vec<CommandReport>,
}

impl Notebook {
    fn run(&mut self, command: &str) -> CommandReport {
        let (exit_code, output) = match command.split_once(' ') {
            Some(("add", text)) => {
                self.notes.push(text.to_owned());
                (0, String::new())
            }
            None if command == "list" => {
                (0, self.notes.iter().flat_map(|note| [note.as_str(), "\n"]).collect())
            }
            None if command == "fail" => (1, "it failed\n".to_owned()),
            _ => (127, format!("{command}: not a command of this notebook\n")),
        };
        let mut report = CommandReport::new(self.done.len() as u64 + 1, command);
        report.state = CommandState::Done { exit_code };
        report.output_bytes = output.len() as u64;
        report.final_bytes = report.output_bytes;
        report.output_lines = output.lines().count() as u64;
        report.output = output;
        report
    }
}

impl Notebooks {
    fn with<T>(
        &self,
        id: &SessionId,
        act: impl FnOnce(&mut Notebook) -> T,
    ) -> Result<T, SessionError> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.get_mut(id).map(act).ok_or_else(|| SessionError::NotFound(id.clone()))
    }
}

#[async_trait]
impl TerminalBackend for Notebooks {
    async fn create_session(&self, new: NewSession) -> Result<SessionInfo, SessionError> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let id = SessionId::from_text(&format!("notebook-{}", open.len() + 1));
        let mut info = SessionInfo::new(id.clone(), "notebook", new.cwd);
        info.name = new.name;
        info.owner = new.owner;
        info.shell = Some(ShellInfo { shell: Shell::Posix, running: None, idle: true, kept: None });
        let notebook = Notebook { info: info.clone(), notes: Vec::new(), done: Vec::new() };
        open.insert(id, notebook);
        Ok(info)
    }

    async fn list_sessions(&self) -> Result<Vec<SessionInfo>, SessionError> {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(open.values().map(|notebook| notebook.info.clone()).collect())
    }

    async fn session(&self, id: &SessionId) -> Result<SessionInfo, SessionError> {
        self.with(id, |notebook| notebook.info.clone())
    }

    async fn start_command(
        &self,
        id: &SessionId,
        command: &str,
        _patience: Duration,
    ) -> Result<u64, SessionError> {
        self.with(id, |notebook| {
            let report = notebook.run(command);
            let number = report.id;
            notebook.done.push(report);
            notebook.info.shell = Some(ShellInfo {
                shell: Shell::Posix,
                running: None,
                idle: true,
                kept: Some((1, number)),
            });
            number
        })
    }

    async fn wait_command(
        &self,
        _id: &SessionId,
        _command: u64,
        _awaited: Awaited,
        _timeout: Duration,
    ) -> Result<Until, SessionError> {
        Ok(Until::Over)
    }

    async fn command(
        &self,
        id: &SessionId,
        command: u64,
        from: u64,
        most: u64,
    ) -> Result<Option<CommandReport>, SessionError> {
        self.with(id, |notebook| {
            let mut report = notebook.done.iter().find(|report| report.id == command)?.clone();
            let start = report.output.floor_char_boundary(from as usize);
            let end = report.output.floor_char_boundary(start.saturating_add(most as usize));
            report.output = report.output[start..end].to_owned();
            report.output_start = start as u64;
            Some(report)
        })
    }

    async fn terminal_text(
        &self,
        id: &SessionId,
        _lines: usize,
    ) -> Result<Scrollback, SessionError> {
        self.with(id, |notebook| Scrollback {
            text: notebook.notes.join("\n"),
            total_lines: notebook.notes.len(),
        })
    }

    async fn interrupt(&self, _id: &SessionId, _command: u64) -> Result<(), SessionError> {
        Ok(())
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), termbridge_mcp::ServeError> {
    let server = McpServer::with_backend(Arc::new(Notebooks::default()));
    let (reader, writer) = termbridge_mcp::stdio().expect("stdin and stdout");
    server.serve(reader, writer).await
}
