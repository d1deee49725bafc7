//! Giving a command to an editor's terminal: captured where the shell can be read, else merely sent.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use termbridge_editor::Reply;
use termbridge_session::{CommandState, SessionError};
use tokio::time::Instant;

use super::look::Seen;
use super::state::Integration;
use super::terminal::{EditorTerminal, Purpose};
use super::windows::{CONNECT_LIMIT, Failure};
use super::{EditorTerminals, line};

/// How long a shell may take until the editor can read it.
pub(super) const INTEGRATION_LIMIT: Duration = Duration::from_secs(5);
/// How long the editor may take to report a command that it was told is over.
const REPORT_LIMIT: Duration = Duration::from_secs(5);
/// What a caller is told of such a command.
const MARKS_LOST: &str = "the shell shows its prompt again, but has not told the editor how the command ended (something took its \
                          shell integration away): the exit code is not known, and the output may hold its prompt, or be missing. A new session tells both";
/// Bytes of a command that people see.
const MAX_SHOWN: usize = 200;

impl EditorTerminals {
    /// Gives a terminal a command.
    pub(super) async fn run(
        &self,
        terminal: &Arc<EditorTerminal>,
        command: &str,
        key: Option<&str>,
        patience: Duration,
    ) -> Result<u64, SessionError> {
        settled(terminal).await;
        terminal.check_alive()?;
        if terminal.lock().look() == Seen::Prompt {
            self.give_up(terminal).await;
        }
        let number = terminal.change(|state| match state.running() {
            None if !state.is_used_by_person() => {
                let number = state.begin(command, terminal.shell());
                if let Some(key) = key {
                    state.set_key(number, key.to_owned());
                }
                Ok(number)
            }
            _ => Err(SessionError::ShellBusy(terminal.id.clone())),
        })?;
        // Before the editor has it: the next server has to know that it may have run.
        self.keep();
        let mut starting = Starting { terminal, number, is_over: false };
        let given = self.give(terminal, number, command, patience).await;
        starting.is_over = true;
        if given.is_err() {
            terminal.change(|state| state.take_back(number));
        }
        self.keep();
        given.map(|()| number)
    }

    /// The running command is over, as the kernel tells; the shell did not. The editor is told, which then reports it.
    pub(super) async fn give_up(&self, terminal: &Arc<EditorTerminal>) {
        let given_up = terminal.change(|state| {
            let command = state.running_mut().filter(|command| !command.is_given_up)?;
            // One that the editor has not confirmed may not have been typed yet.
            let execution = command.execution.clone()?;
            command.is_given_up = true;
            // Why the marks of a command are not seen may be known already.
            command.notice.get_or_insert_with(|| MARKS_LOST.into());
            Some((command.id, execution))
        });
        let Some((number, execution)) = given_up else { return };
        let data = json!({ "terminalId": terminal.terminal_id, "executionId": execution });
        let ended = self.try_request(terminal, "end_execution", data, None).await;
        tracing::info!(session = %terminal.id, confirmed = ended.is_ok(), "a command ended without a mark");
        let reported = async {
            let mut changed = terminal.changed.subscribe();
            while terminal.lock().running().is_some_and(|running| running.id == number) {
                // The sender is the terminal's.
                let _ = changed.changed().await;
            }
        };
        if ended.is_err() || tokio::time::timeout(REPORT_LIMIT, reported).await.is_err() {
            self.execution_ended(terminal, &execution, None, None);
        }
    }

    async fn give(
        &self,
        terminal: &EditorTerminal,
        number: u64,
        command: &str,
        patience: Duration,
    ) -> Result<(), SessionError> {
        let line = line::typed(terminal.shell(), command);
        let captured = json!({
            "command": line, "shown": shown(command), "terminalId": terminal.terminal_id, "capture": true
        });
        let deadline = Instant::now() + patience.min(INTEGRATION_LIMIT);
        let is_missing = || terminal.lock().integration == Integration::Missing;
        let mut has_ended_phantom = false;
        while terminal.is_in_ours() && !is_missing() {
            let request = captured.clone();
            let reply = self.try_request(terminal, "execute", request, Some(patience)).await;
            match reply {
                Ok(Reply::Success(data)) if data["executionId"].is_string() => {
                    terminal.change(|state| {
                        state.integration = Integration::Works;
                        let execution = data["executionId"].as_str().unwrap_or_default();
                        let started = state.commands.iter_mut().find(|it| it.id == number);
                        if let Some(started) = started {
                            started.execution.get_or_insert_with(|| execution.to_owned());
                        }
                    });
                    return Ok(());
                }
                Ok(_) => break,
                // It did not run.
                Err(Failure::Refused { code: Some(code), .. }) if code == "no_integration" => {
                    if !integrated(terminal, deadline).await {
                        terminal.change(|state| state.integration = Integration::Missing);
                    }
                }
                // A command of the person runs there, or one that was lost when the window was loaded anew.
                Err(Failure::Refused { code: Some(code), .. }) if code == "busy" => {
                    let phantom = terminal.lock().phantom().filter(|_| !has_ended_phantom);
                    let Some(execution) = phantom else {
                        return Err(SessionError::ShellBusy(terminal.id.clone()));
                    };
                    has_ended_phantom = true;
                    let id = &terminal.terminal_id;
                    let over = json!({ "terminalId": id, "executionId": execution });
                    let _ = self.try_request(terminal, "end_execution", over, None).await;
                }
                Err(failure) => {
                    return Err(terminal.check_alive().err().unwrap_or_else(|| failure.into()));
                }
            }
        }
        if terminal.purpose == Purpose::Program {
            let why = "the editor cannot read this shell, so what the program shows cannot be seen";
            return Err(SessionError::NotSupported(why.into()));
        }
        let setup = terminal.lock().setup.clone();
        let line = setup.map_or_else(|| command.to_owned(), |setup| line::after(&setup, command));
        let plain = json!({ "command": line, "terminalId": terminal.terminal_id });
        let reply = self.request(terminal, "execute", plain).await?;
        let (why, output) = match reply {
            Reply::Success(data) if !terminal.is_in_ours() => (
                "its extension does not report them. The output shown is the extension's own reply",
                data["output"].as_str().unwrap_or_default().to_owned(),
            ),
            _ => ("its shell has no integration", String::new()),
        };
        terminal.change(|state| {
            state.setup = None;
            if let Some(sent) = state.commands.iter_mut().find(|it| it.id == number) {
                sent.notice = Some(format!(
                    "the editor confirms that it was sent to the terminal; output and exit code cannot be captured: {why}"
                ));
                sent.feed(output.replace("\r\n", "\n").replace('\n', "\r\n").as_bytes());
                sent.end(CommandState::Sent);
            }
        });
        Ok(())
    }
}

/// A command that is on its way. Where nobody sees to its start any more, it is not known what became of it.
struct Starting<'a> {
    terminal: &'a EditorTerminal,
    number: u64,
    is_over: bool,
}

impl Drop for Starting<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            let number = self.number;
            self.terminal.change(|state| {
                let command = state.commands.iter_mut().find(|it| it.id == number);
                if let Some(command) = command.filter(|command| command.is_running()) {
                    command.end(CommandState::Lost);
                }
            });
        }
    }
}

/// Waits, at most as long as for an editor to connect, until it is known whether an earlier server's command runs.
async fn settled(terminal: &EditorTerminal) {
    let mut changed = terminal.changed.subscribe();
    let settled = async {
        while terminal.lock().is_unsettled() {
            // The sender is the terminal's.
            if changed.changed().await.is_err() {
                return;
            }
        }
    };
    // Whoever waited in vain finds the shell busy, or the editor away.
    let _ = tokio::time::timeout(CONNECT_LIMIT, settled).await;
}

/// What of a command people see while it runs.
fn shown(command: &str) -> &str {
    let line = command.lines().next().unwrap_or_default();
    &line[..line.floor_char_boundary(MAX_SHOWN)]
}

/// Waits until the editor can read the shell.
async fn integrated(terminal: &EditorTerminal, deadline: Instant) -> bool {
    let mut changed = terminal.changed.subscribe();
    let works = async {
        while terminal.lock().integration != Integration::Works {
            // The sender is the terminal's.
            if changed.changed().await.is_err() {
                return;
            }
        }
    };
    tokio::time::timeout_at(deadline, works).await.is_ok()
}
