//! What editors report: who is there, and what happens in their terminals.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::json;
use termbridge_editor::{Peer, TerminalEvent, Terminals};
use termbridge_session::{CommandState, EndReason, Owner};
use tokio::time::Instant;

use super::EditorTerminals;
use super::state::Integration;
use super::terminal::{EditorTerminal, NewTerminal, Purpose};
use super::windows::WindowKey;

/// What a caller is told of a command without output, of which the editor does not know how it ended.
const UNREPORTED: &str =
    "if it printed something, the editor did not report it: repeat it in a new session";
/// Windows that are looked for of those that a terminal is said to have had.
const MAX_NAMED: usize = 8;
/// What is fed to a screen at once.
const PIECE: usize = 64 * 1024;

#[async_trait]
impl Terminals for EditorTerminals {
    fn joined(&self, peer: &Peer) {
        let window = WindowKey::of(peer);
        let mut open = self.lock();
        open.gone.remove(&window);
        if !window.is_ours() {
            open.reconnect_plain(&window);
        }
        if let Some(kept) = peer.hello().and_then(|hello| hello.terminals.clone()) {
            // They were closed meanwhile, or its extension was started anew and knows nothing of those before.
            let is_gone =
                |one: &&Arc<EditorTerminal>| one.is_of(&window) && !kept.contains(&one.terminal_id);
            for terminal in open.terminals.iter().filter(is_gone) {
                if !terminal.leave_window(&window) {
                    terminal.withdraw(
                        "its window no longer has it: it was closed, or the window was reloaded",
                    );
                }
            }
        }
        drop(open);
        self.keep();
        self.shared.windows.add(peer);
    }

    async fn event(&self, peer: &Peer, event: TerminalEvent) {
        let window = WindowKey::of(peer);
        let known = match (&event, self.of_window(&window, event.terminal_id())) {
            (TerminalEvent::TerminalResumed { terminal_id, windows, .. }, None) => {
                self.take_along(peer, terminal_id, windows)
            }
            (_, known) => known,
        };
        let is_output = matches!(event, TerminalEvent::ExecutionOutput { .. });
        match (event, known) {
            (TerminalEvent::ExecutionOutput { execution_id, data, at, .. }, Some(terminal)) => {
                let mut rest = terminal.change(|state| state.new_output(&execution_id, &data, at));
                while !rest.is_empty() {
                    let (piece, more) = rest.split_at(rest.floor_char_boundary(PIECE));
                    terminal.change(|state| state.feed(&execution_id, piece));
                    rest = more;
                    tokio::task::yield_now().await;
                }
            }
            (
                TerminalEvent::ExecutionEnded { execution_id, exit_code, cwd, .. },
                Some(terminal),
            ) => {
                self.execution_ended(&terminal, &execution_id, exit_code, cwd);
            }
            (TerminalEvent::TerminalClosed { exit_code, .. }, Some(terminal)) => {
                terminal.end(exit_code, EndReason::Itself);
                terminal.lock().is_left_open = false;
            }
            (TerminalEvent::TerminalIntegration { cwd, .. }, Some(terminal)) => {
                terminal.change(|state| {
                    // An extension that resumes nothing has not done so before this.
                    state.give_up_restored();
                    state.integration = Integration::Works;
                    state.cwd = cwd.unwrap_or_else(|| state.cwd.clone());
                });
            }
            (
                TerminalEvent::TerminalResumed { execution_id, is_running, is_reloaded, .. },
                Some(terminal),
            ) => {
                terminal.change(|state| {
                    state.resumed(execution_id.as_deref(), is_running);
                    if is_reloaded {
                        state.note_reload();
                    }
                });
            }
            // The window shows it to people as an agent's, and it is nobody's.
            (TerminalEvent::TerminalResumed { terminal_id, .. }, None) => {
                let _ = peer.notify("terminal_unknown", json!({ "terminalId": terminal_id })).await;
            }
            (TerminalEvent::TerminalUnshared { .. }, Some(terminal)) => {
                if terminal.owner.is_everyone() {
                    terminal.withdraw("the person no longer shares it");
                }
            }
            (
                TerminalEvent::TerminalShared { terminal_id, terminal_name, pid, cwd, shell },
                None,
            ) => {
                let shared = NewTerminal {
                    owner: Owner::everyone(),
                    windows: vec![window],
                    terminal_id,
                    purpose: Purpose::Shell,
                    name: Some(terminal_name),
                    project: None,
                    command: shell.unwrap_or_else(|| "shell".to_owned()),
                    cwd: cwd.unwrap_or_else(|| Path::new("/").to_owned()),
                    pid,
                };
                if let Err(error) = self.add(shared) {
                    tracing::warn!(%error, "a terminal that was shared is not used");
                }
            }
            // Shared again, after a reconnect.
            (TerminalEvent::TerminalShared { .. }, Some(_)) => {}
            (event, None) => {
                tracing::debug!(
                    terminal = event.terminal_id(),
                    "a report on a terminal that is not known"
                );
            }
        }
        if !is_output {
            self.keep();
        }
    }

    fn left(&self, peer: &Peer) {
        self.shared.windows.remove(peer);
        let window = WindowKey::of(peer);
        if !self.shared.windows.is_connected(&window) {
            let mut open = self.lock();
            // Whoever waits for something there looks after it from now on.
            for terminal in open.terminals.iter().filter(|one| one.is_of(&window)) {
                terminal.changed.send_replace(());
            }
            open.gone.insert(window, Instant::now());
        }
    }
}

impl EditorTerminals {
    /// A terminal that a window had before it was loaded anew, or has too: the editor shows it there.
    fn take_along(
        &self,
        peer: &Peer,
        terminal_id: &str,
        windows: &[String],
    ) -> Option<Arc<EditorTerminal>> {
        let before = |name: &String| self.of_window(&WindowKey::Window(name.clone()), terminal_id);
        let terminal = windows.iter().take(MAX_NAMED).find_map(before)?;
        terminal.add_window(WindowKey::of(peer));
        tracing::debug!(session = %terminal.id, "another window has it");
        self.shared.windows.wake();
        Some(terminal)
    }

    /// A command is over; without an exit code, it is not known how.
    pub(super) fn execution_ended(
        &self,
        terminal: &Arc<EditorTerminal>,
        execution: &str,
        exit_code: Option<i32>,
        cwd: Option<PathBuf>,
    ) {
        let ended = terminal.change(|state| {
            let Some(command) = state.execution(execution) else { return false };
            command.cwd.clone_from(&cwd);
            let is_told = !command.is_given_up;
            match exit_code {
                Some(exit_code) => command.end(CommandState::Done { exit_code }),
                None => {
                    command.end(CommandState::Lost);
                    if command.has_printed_nothing() {
                        command.notice.get_or_insert_with(|| UNREPORTED.to_owned());
                    }
                }
            }
            if let Some(cwd) = cwd {
                state.cwd = cwd;
            }
            state.note_end(is_told);
            true
        });
        if ended && terminal.purpose == Purpose::Program {
            self.program_ended(terminal, exit_code);
        }
    }

    /// The program is over that a terminal was made for. One that failed has its terminal stay, for the person to see.
    fn program_ended(&self, terminal: &Arc<EditorTerminal>, exit_code: Option<i32>) {
        terminal.end(exit_code, EndReason::Itself);
        terminal.lock().is_left_open = true;
        if exit_code == Some(0) {
            let (editors, terminal) = (self.clone(), Arc::clone(terminal));
            // A report is not to wait for what the editor is asked then.
            tokio::spawn(async move {
                if let Err(error) = editors.close(&terminal).await {
                    tracing::info!(session = %terminal.id, %error, "the editor did not close the terminal");
                }
            });
        }
    }
}
