//! What is known of an editor's terminal at a moment: its commands, its screen, and what the editor has said of it.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::time::SystemTime;

use termbridge_session::vt::{Event, Options, Size, Terminal};
use termbridge_session::{
    CommandState, Ended, Fired, Scrollback, SessionError, Shell, Snapshot, SnapshotRequest, State,
    is_in_foreground, terminal_size_of,
};
use tokio::time::Instant;

use super::command::EditorCommand;
use super::look::{Looks, Seen, is_at_prompt};

/// Commands of a terminal that are kept.
const KEPT_COMMANDS: usize = 100;
/// The size that output is read with where the real one is not known.
pub(super) const ASSUMED_SIZE: Size = Size { cols: 120, rows: 40 };

/// What is reported of a command of which neither server nor editor knows the end.
const LOST_WITH_SERVER: &str = "the server was restarted, or the window reloaded, and the editor no longer reports on this command: look at the terminal before you repeat it";

/// What is reported of a command that ran while its window was reloaded.
const RELOADED: &str =
    "the editor's window was reloaded while it ran: what it printed from then on was not captured";

/// Whether the editor can read a terminal's shell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Integration {
    /// It has not said yet.
    Unknown,
    /// It can.
    Works,
    /// It cannot, and did not within the time that it had.
    Missing,
}

pub(super) struct TerminalState {
    pub(super) pid: Option<u32>,
    /// Its process is one of this machine.
    is_here: bool,
    pub(super) screen: Terminal,
    pub(super) integration: Integration,
    pub(super) ended: Option<Ended>,
    /// Why it cannot be used any more, where its shell may go on.
    pub(super) withdrawn: Option<&'static str>,
    /// Its program has ended, and the editor still shows the terminal.
    pub(super) is_left_open: bool,
    /// Goes in front of the first command.
    pub(super) setup: Option<String>,
    pub(super) commands: VecDeque<EditorCommand>,
    next_command: u64,
    /// Names of the requests that began commands, by the commands' numbers.
    keys: VecDeque<(u64, String)>,
    /// How much of the last command's output has come, in the editor's units (UTF-16).
    output_at: u64,
    /// The last command is an earlier server's, and the editor has not reported yet what became of it.
    restored: Option<Restored>,
    /// What our extension calls a command that it reports again, and that is none of those known here.
    unknown_execution: Option<String>,
    pub(super) cwd: PathBuf,
    pub(super) last_active: SystemTime,
    pub(super) last_output: Instant,
    pub(super) last_input: Instant,
    pub(super) printed: u64,
    looks: Looks,
    told: Option<Told>,
    pub(super) bells: u64,
    /// Bells up to the last input, which no later wait is for.
    pub(super) bells_heard: u64,
}

/// What was told of a command that waits for someone, and what had been printed by then.
struct Told {
    command: u64,
    fired: Fired,
    printed: u64,
    at: Instant,
}

/// What is known of a command that an earlier server began.
struct Restored {
    /// What our extension called the command before it.
    previous: Option<String>,
    /// It has ended: only its output and exit code are missing.
    is_over: bool,
    /// The editor has begun to report them.
    is_reported: bool,
}

/// The last command of a terminal that an earlier server had.
pub(super) struct LastCommand<'a> {
    pub(super) id: u64,
    pub(super) text: &'a str,
    pub(super) key: Option<String>,
    pub(super) execution: Option<String>,
    pub(super) previous: Option<String>,
    pub(super) is_over: bool,
    pub(super) is_sent: bool,
}

impl TerminalState {
    /// A terminal that nothing is known of yet but its shell.
    pub(super) fn new(pid: Option<u32>, cwd: PathBuf) -> Self {
        Self {
            pid,
            is_here: pid.and_then(is_in_foreground).is_some(),
            screen: Terminal::new(ASSUMED_SIZE, Options::default()),
            integration: Integration::Unknown,
            ended: None,
            withdrawn: None,
            is_left_open: false,
            setup: None,
            commands: VecDeque::new(),
            next_command: 1,
            keys: VecDeque::new(),
            output_at: 0,
            restored: None,
            unknown_execution: None,
            cwd,
            last_active: SystemTime::now(),
            last_output: Instant::now(),
            last_input: Instant::now(),
            printed: 0,
            looks: Looks::default(),
            told: None,
            bells: 0,
            bells_heard: 0,
        }
    }

    /// Whether the editor shows it, as far as is known.
    pub(super) fn is_in_editor(&self) -> bool {
        self.ended.is_none() || self.is_left_open
    }

    pub(super) fn state(&self) -> State {
        self.ended.clone().map_or(State::Running, State::Exited)
    }

    pub(super) fn running(&self) -> Option<&EditorCommand> {
        self.commands.back().filter(|command| command.is_running())
    }

    pub(super) fn running_mut(&mut self) -> Option<&mut EditorCommand> {
        self.commands.back_mut().filter(|command| command.is_running())
    }

    pub(super) fn command(&self, id: u64) -> Option<&EditorCommand> {
        self.commands.iter().find(|command| command.id == id)
    }

    /// Whether something runs there that no agent started: to give the shell a command, the editor would interrupt it.
    pub(super) fn is_used_by_person(&self) -> bool {
        let is_known = self.integration == Integration::Works;
        is_known && self.pid.and_then(is_in_foreground) == Some(false)
    }

    /// A command is about to be given to the shell.
    pub(super) fn begin(&mut self, text: &str, shell: Shell) -> u64 {
        let size = self.follow_size().unwrap_or(ASSUMED_SIZE);
        self.looks.learn_prompt(self.pid);
        let id = self.next_command;
        self.next_command += 1;
        let (row, _) = self.screen.cursor_position();
        self.commands.push_back(EditorCommand::new(id, text, shell, size, row));
        while self.commands.len() > KEPT_COMMANDS {
            self.commands.pop_front();
        }
        self.output_at = 0;
        self.restored = None;
        self.last_active = SystemTime::now();
        id
    }

    /// When the terminal last did something that can be seen from here.
    pub(super) fn last_change(&self) -> Instant {
        let began = self.running().map(|command| command.began);
        self.last_output.max(self.last_input).max(began.unwrap_or(self.last_input))
    }

    /// Asks the kernel what the running command does.
    pub(super) fn look(&mut self) -> Seen {
        let since = self.last_change();
        let runs = self.running().is_some() && !self.is_unsettled();
        match self.pid.filter(|_| runs) {
            Some(pid) => self.looks.see(pid, since),
            None => Seen::Nothing,
        }
    }

    /// A command has ended, with or without a word of the shell about it.
    pub(super) fn note_end(&mut self, is_told: bool) {
        self.looks.note_end(is_told);
    }

    /// What was told of the running command, as long as nothing was printed or typed since.
    pub(super) fn told(&self) -> Option<&Fired> {
        let told = self.told.as_ref()?;
        let holds = self.printed == told.printed && self.last_input <= told.at;
        let runs = self.running().is_some_and(|running| running.id == told.command);
        (holds && runs).then_some(&told.fired)
    }

    pub(super) fn note_told(&mut self, fired: &Fired) {
        if let Some(command) = self.running().map(|command| command.id) {
            let (fired, printed, at) = (fired.clone(), self.printed, Instant::now());
            self.told = Some(Told { command, fired, printed, at });
        }
    }

    /// Names the request that began a command.
    pub(super) fn set_key(&mut self, command: u64, key: String) {
        self.keys.push_back((command, key));
        while self.keys.len() > KEPT_COMMANDS {
            self.keys.pop_front();
        }
    }

    pub(super) fn key_of(&self, command: u64) -> Option<&str> {
        self.keys.iter().find(|(id, _)| *id == command).map(|(_, key)| key.as_str())
    }

    /// The command that a request of this name began.
    pub(super) fn keyed(&self, key: &str) -> Option<u64> {
        let (id, _) = self.keys.iter().find(|(_, known)| known == key)?;
        self.command(*id).map(|command| command.id)
    }

    /// Goes on with the last command of an earlier server.
    pub(super) fn go_on_with(&mut self, last: LastCommand<'_>, shell: Shell) {
        self.next_command = last.id;
        let id = self.begin(last.text, shell);
        if let Some(key) = last.key {
            self.set_key(id, key);
        }
        let Some(command) = self.running_mut() else { return };
        command.execution = last.execution;
        if last.is_sent {
            command.end(CommandState::Sent);
        } else {
            self.restored = Some(Restored {
                previous: last.previous,
                is_over: last.is_over,
                is_reported: false,
            });
        }
    }

    /// The editor is there again; the last command that it ran is this one. One of ours that it does not know is lost.
    pub(super) fn resumed(&mut self, execution: Option<&str>, is_running: bool) {
        let restored = self.restored.take();
        let was_restored = restored.is_some();
        if let Some(command) = self.running_mut() {
            if let Some(Restored { previous, .. }) = restored
                && command.execution.is_none()
                && execution != previous.as_deref()
            {
                command.execution = execution.map(str::to_owned);
            }
            // One that has no name yet is on its way, unless an earlier server sent it.
            let is_known = match &command.execution {
                Some(own) => Some(own.as_str()) == execution,
                None => !was_restored,
            };
            if !is_known {
                command.notice = Some(LOST_WITH_SERVER.to_owned());
                command.end(CommandState::Lost);
            } else if was_restored && !is_running {
                self.restored = Some(Restored { previous: None, is_over: true, is_reported: true });
            }
        }
        let is_ours = self.commands.iter().any(|it| it.execution.as_deref() == execution);
        self.unknown_execution = execution.filter(|_| !is_ours).map(str::to_owned);
    }

    /// The window was reloaded while the running command ran.
    pub(super) fn note_reload(&mut self) {
        if let Some(command) = self.running_mut() {
            command.notice = Some(RELOADED.to_owned());
            // What it shows by now is not known.
            self.screen.feed(b"\x1bc");
        }
    }

    /// Its shell was seen on this machine, and has ended.
    pub(super) fn has_lost_process(&self) -> bool {
        self.is_here && self.pid.and_then(is_in_foreground).is_none()
    }

    /// Whether the last command is an earlier server's, and it is not known yet whether it runs.
    pub(super) fn is_unsettled(&self) -> bool {
        self.restored.is_some() && self.running().is_some()
    }

    /// Whether the last command is an earlier server's, and has ended.
    pub(super) fn is_restored_and_over(&self) -> bool {
        self.restored.as_ref().is_some_and(|restored| restored.is_over)
    }

    /// What became of an earlier server's command will not be reported.
    pub(super) fn give_up_restored(&mut self) {
        if self.restored.as_ref().is_some_and(|restored| !restored.is_reported) {
            self.resumed(None, false);
        }
    }

    /// The command was not given to the shell after all.
    pub(super) fn take_back(&mut self, id: u64) {
        self.commands.retain(|command| command.id != id);
        // Numbers have no gaps.
        if self.next_command == id + 1 {
            self.next_command = id;
        }
    }

    /// A command that the editor takes for running, that is none of ours, and that the kernel does not see.
    pub(super) fn phantom(&self) -> Option<String> {
        let is_at_prompt = self.pid.is_some_and(is_at_prompt);
        self.unknown_execution.clone().filter(|_| is_at_prompt)
    }

    /// The running command, if it is the one that our extension calls so. One whose name is not known yet is: a
    /// terminal runs one at a time, and what it prints may overtake the reply that names it.
    pub(super) fn execution(&mut self, execution: &str) -> Option<&mut EditorCommand> {
        let is_other =
            |it: &EditorCommand| !it.is_running() && it.execution.as_deref() == Some(execution);
        if self.unknown_execution.as_deref() == Some(execution)
            || self.commands.iter().any(is_other)
        {
            return None;
        }
        let command = self.running_mut()?;
        let known = command.execution.get_or_insert_with(|| execution.to_owned());
        (known == execution).then_some(command)
    }

    /// What is new of an output that begins at a place: what has come already is reported again after a reconnect.
    pub(super) fn new_output<'a>(
        &mut self,
        execution: &str,
        text: &'a str,
        at: Option<u64>,
    ) -> &'a str {
        let known = self.output_at;
        let Some(command) = self.execution(execution) else { return text };
        let Some(at) = at else { return text };
        let end = at + text.encode_utf16().count() as u64;
        if at > known {
            command.notice = Some(format!(
                "{} characters of its output are missing: the server was restarted, and the editor keeps the last part only",
                at - known
            ));
        }
        self.output_at = known.max(end);
        let mut left = known.saturating_sub(at);
        let is_known = |c: char| {
            let is_known = left > 0;
            left = left.saturating_sub(c.len_utf16() as u64);
            is_known
        };
        text.trim_start_matches(is_known)
    }

    pub(super) fn feed(&mut self, execution: &str, text: &str) {
        self.follow_size();
        let Some(command) = self.execution(execution) else {
            return tracing::debug!(execution, "output of a command that is not ours");
        };
        let own = command.feed(text.as_bytes());
        self.screen.feed(&own);
        // The editor's own terminal answers what the program asks.
        drop(self.screen.take_replies());
        let events = self.screen.take_events();
        self.bells += events.iter().filter(|event| **event == Event::Bell).count() as u64;
        self.printed += text.len() as u64;
        self.last_output = Instant::now();
        self.last_active = SystemTime::now();
    }

    /// The size of the shell's own terminal, which the screen takes over.
    pub(super) fn follow_size(&mut self) -> Option<Size> {
        let (cols, rows) = terminal_size_of(self.pid?)?;
        let size = Size { cols, rows }.clamped();
        if self.ended.is_none() && size != self.screen.size() {
            self.screen.resize(size);
            let (row, _) = self.screen.cursor_position();
            if let Some(command) = self.running_mut() {
                command.resize(size, row);
            }
        }
        Some(self.screen.size())
    }

    /// The same for whoever needs it to be right. The last size of a terminal that has ended is as good.
    pub(super) fn known_size(&mut self) -> Result<Size, SessionError> {
        if self.ended.is_some() {
            return Ok(self.screen.size());
        }
        let why = "the editor does not show this terminal's screen: the size of its shell's terminal is not known";
        self.follow_size().ok_or_else(|| SessionError::NotSupported(why.into()))
    }

    /// Fails if the screen cannot be read.
    pub(super) fn check_visible(&mut self) -> Result<(), SessionError> {
        if self.integration == Integration::Missing {
            let why = "the editor cannot read this terminal, so its screen cannot be seen: its shell has no shell integration. Use bash, zsh or fish; send_keys with view \"none\" still types";
            return Err(SessionError::NotSupported(why.into()));
        }
        self.known_size().map(drop)
    }

    pub(super) fn snapshot(&mut self, request: SnapshotRequest) -> Snapshot {
        let seq = self.screen.look();
        let changed = request.since.map(|since| self.screen.rows_since(since));
        Snapshot {
            screen: self.screen.screen(),
            seq,
            scrolled: changed.as_ref().map_or(0, |(_, rows)| *rows),
            changed: changed.map(|(rows, _)| rows),
            came_back: request.since.is_some_and(|since| self.screen.came_back_since(since)),
            scrollback: request.scrollback.map(|lines| Scrollback::of(&self.screen, lines)),
            size: self.screen.size(),
            state: self.state(),
            modes: self.screen.input_modes(),
            quiet: self.last_output.elapsed(),
        }
    }
}
