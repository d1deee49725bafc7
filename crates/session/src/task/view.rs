//! What is told of a session: its screen, its scrollback, its state.

use super::SessionTask;
use super::lifecycle::Change;
use crate::info::{SessionInfo, State};
use crate::snapshot::{Page, Scrollback, Snapshot, SnapshotRequest};

impl SessionTask {
    pub(super) fn snapshot(&mut self, request: SnapshotRequest) -> Snapshot {
        let seq = self.terminal.look();
        let changed = request.since.map(|since| self.terminal.rows_since(since));
        Snapshot {
            screen: self.terminal.screen(),
            seq,
            scrolled: changed.as_ref().map_or(0, |(_, rows)| *rows),
            changed: changed.map(|(rows, _)| rows),
            came_back: request.since.is_some_and(|since| self.terminal.came_back_since(since)),
            scrollback: request.scrollback.map(|lines| Scrollback::of(&self.terminal, lines)),
            size: self.terminal.size(),
            state: self.state(),
            modes: self.terminal.input_modes(),
            quiet: self.last_output.elapsed(),
        }
    }

    pub(super) fn page(&self, most: usize) -> Page {
        Page::of(&self.terminal, most)
    }

    pub(super) fn state(&self) -> State {
        self.ended.clone().map_or(State::Running, State::Exited)
    }

    pub(super) fn info(&self) -> SessionInfo {
        SessionInfo {
            id: self.id.clone(),
            name: self.launch.name.clone(),
            owner: self.launch.owner.clone(),
            command: self.launch.command_line(),
            project: self.launch.project.clone(),
            cwd: self.shell_cwd().unwrap_or_else(|| self.launch.directory()),
            returns_to: self.shell_returns_to(),
            pid: Some(self.program.pid()),
            shell: self.shell_info(),
            size: self.terminal.size(),
            state: self.state(),
            is_shell: self.is_shell(),
            stopping: matches!(self.change, Some(Change::Stopping { .. })),
            created: self.created,
            last_active: self.last_active,
            foreground: self.ended.is_none().then(|| self.program.foreground_name()).flatten(),
            title: self.terminal.title().to_owned(),
            printed: self.printed,
            driver: self.driver().map(str::to_owned),
            away: false,
            secret_prompt: self.notices.secret().map(str::to_owned),
            secrets_asked: self.notices.asked(),
        }
    }
}
