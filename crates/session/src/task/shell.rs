//! Commands in a shell: one at a time, each with its own output and its own end.
//!
//! The shell was started with an integration (`termbridge-shell`): it marks where output begins and
//! where a command ended. A command's end is believed when the mark carries the nonce that only this
//! task knows and that the shell fetched after the command was over. A mark without it counts only
//! when the kernel says that the shell itself waits for input again.
//!
//! ```text
//! Starting ─ B ─► Prompt ─ submit ─► Open ─ D;status;nonce ─► Prompt
//! ```
//!
//! `marks` follows what the shell says, `doubt` asks the kernel where it says nothing, `run` is one
//! command. A command that is given while the shell is on its way to its prompt waits for that; one
//! that is given before the first prompt waits up to the launch's start limit.
//!
//! What other processes print while a command is open (a job of an earlier one) is part of its
//! output: the terminal is one stream. Words of a job that come between commands belong to none.

mod doubt;
mod marks;
mod run;

use std::collections::VecDeque;
use std::path::PathBuf;
use std::time::Duration;

use termbridge_pty::{CommandPipe, PrivateFolder, Program};
use termbridge_shell::Shell;
use tokio::sync::oneshot;
use tokio::time::Instant;

use self::run::Run;
use super::SessionTask;
use crate::command::{CommandReport, CommandState};
use crate::error::SessionError;
use crate::info::ShellInfo;

/// Commands whose output can still be read.
const KEPT_COMMANDS: usize = 50;
/// Rows of the screen that an error shows.
const SHOWN_ROWS: usize = 8;

/// A program, and what it has beside its terminal if it is a shell.
#[derive(Debug)]
pub(crate) struct Spawned {
    pub(crate) program: Program,
    pub(crate) shell: Option<ShellLink>,
}

/// What a shell session has beside its terminal.
#[derive(Debug)]
pub(crate) struct ShellLink {
    pub(crate) shell: Shell,
    pub(crate) pipe: CommandPipe,
    pub(crate) trigger: &'static [u8],
    /// Holds pipe and scripts; gone with the session.
    pub(crate) folder: PrivateFolder,
}

pub(super) struct ShellState {
    link: ShellLink,
    /// The shell has shown its first prompt.
    ready: bool,
    place: Place,
    /// The program that took the shell's place, by `exec`.
    replaced: Option<String>,
    /// A command that waits for the first prompt.
    parked: Option<Parked>,
    commands: VecDeque<Run>,
    next_id: u64,
    cwd: Option<PathBuf>,
}

/// Where the shell's marks say that it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// It starts, or runs something.
    Away,
    /// What it ran is over; the prompt comes.
    Ended,
    /// It has shown its prompt.
    Prompt,
    /// It asks for the rest of something that a person typed.
    Continuation,
}

struct Parked {
    command: String,
    limit: Duration,
    until: Instant,
    reply: SubmitReply,
}

type SubmitReply = oneshot::Sender<Result<u64, SessionError>>;

impl ShellState {
    /// `next_id` is the number of its first command: numbers go on when a session is restarted.
    pub(super) fn new(link: ShellLink, next_id: u64) -> Self {
        Self {
            link,
            ready: false,
            place: Place::Away,
            replaced: None,
            parked: None,
            commands: VecDeque::new(),
            next_id,
            cwd: None,
        }
    }

    fn is_free(&self) -> bool {
        let runs = self.commands.back().is_some_and(Run::is_open);
        self.ready && !runs && self.is_unclaimed() && self.replaced.is_none()
    }

    /// A person's command may run in the shell; one that the marks do not tell of, too.
    fn is_away(&self, program: &Program) -> bool {
        self.place != Place::Ended && program.foreground_group() != Some(program.pid())
    }

    pub(super) fn next_id(&self) -> u64 {
        self.next_id
    }

    /// Nobody waits for the first prompt, or no longer.
    fn is_unclaimed(&self) -> bool {
        self.parked.as_ref().is_none_or(|parked| parked.reply.is_closed())
    }

    fn open(&mut self) -> Option<&mut Run> {
        self.commands.back_mut().filter(|run| run.is_open())
    }
}

impl SessionTask {
    /// Gives the shell a command, now or when it shows its first prompt.
    pub(super) fn submit(&mut self, command: String, patience: Duration, reply: SubmitReply) {
        let limit = self.launch.start_limit.min(patience);
        // Whoever asked may have gone; the command must not run then.
        if reply.is_closed() {
            return;
        }
        match &mut self.shell {
            Some(shell)
                if !shell.ready
                    && shell.is_unclaimed()
                    && shell.replaced.is_none()
                    && self.ended.is_none()
                    && self.change.is_none() =>
            {
                let until = Instant::now() + limit;
                shell.parked = Some(Parked { command, limit, until, reply });
                self.survey_soon();
            }
            _ => {
                let given = self.give(command);
                if reply.send(given).is_err_and(|given| given.is_ok()) {
                    self.enqueue_reply(doubt::INTERRUPT.to_vec());
                }
            }
        }
    }

    /// Gives the shell a command; it runs from now on.
    fn give(&mut self, command: String) -> Result<u64, SessionError> {
        self.running()?;
        let Some(shell) = &mut self.shell else {
            return Err(SessionError::Invalid("this session's program is not a shell".into()));
        };
        if let Some(program) = &shell.replaced {
            let program = program.clone();
            return Err(SessionError::ShellReplaced { id: self.id.clone(), program });
        }
        if !shell.is_free() || shell.is_away(&self.program) {
            return Err(SessionError::ShellBusy(self.id.clone()));
        }
        let nonce = crate::id::SessionId::random()
            .map_err(|error| SessionError::System(error.to_string()))?
            .to_string();
        let message = run::message(shell.link.shell, &command, &nonce)?;
        let most = shell.link.pipe.capacity() / 2;
        if message.len() > most {
            return Err(SessionError::Invalid(format!(
                "the command has {} bytes; a shell takes at most {most}",
                command.len(),
            )));
        }
        let written = shell.link.pipe.drain().and_then(|()| shell.link.pipe.write(&message));
        written.map_err(|error| SessionError::System(format!("the shell's pipe: {error}")))?;
        let id = shell.next_id;
        shell.next_id += 1;
        let kind = shell.link.shell;
        shell.commands.push_back(Run::new(id, kind, command, nonce, message.len() as u64));
        if shell.commands.len() > KEPT_COMMANDS {
            shell.commands.pop_front();
        }
        let place = shell.place;
        match place {
            Place::Prompt => self.trigger(),
            // Whoever typed the beginning has left it; the prompt comes back.
            Place::Continuation => {
                shell.place = Place::Ended;
                self.enqueue_reply(doubt::INTERRUPT.to_vec());
            }
            Place::Ended | Place::Away => {}
        }
        self.last_input = Instant::now();
        self.survey_later(place == Place::Prompt);
        Ok(id)
    }

    /// Presses the keys that make the shell take the command from its pipe.
    fn trigger(&mut self) {
        let Some(shell) = &mut self.shell else { return };
        let keys = shell.link.trigger.to_vec();
        shell.place = Place::Away;
        if let Some(run) = shell.open() {
            run.triggers += 1;
            run.awaits_prompt = false;
            run.unconfirmed = None;
            // The line that the shell shows is an echo.
            if !self.terminal.note_command_given() {
                self.terminal.begin_typing();
                self.terminal.note_typed(&format!("{}\r", run.command));
            }
        }
        self.enqueue_reply(keys);
        self.last_input = Instant::now();
    }

    /// What is known of a command, with at most `most` bytes of its output from `from` on.
    pub(super) fn command_report(&self, id: u64, from: u64, most: u64) -> Option<CommandReport> {
        let shell = self.shell.as_ref()?;
        let run = shell.commands.iter().find(|run| run.id == id)?;
        let cwd = if run.is_open() { &shell.cwd } else { &run.cwd };
        Some(run.report(cwd.clone(), from, most))
    }

    /// A command of the shell is open.
    pub(super) fn runs_command(&self) -> bool {
        self.shell.as_ref().and_then(|shell| shell.commands.back()).is_some_and(Run::is_open)
    }

    /// The command is over, or there is none with this number.
    pub(super) fn is_command_over(&self, id: u64) -> bool {
        let run =
            self.shell.as_ref().and_then(|shell| shell.commands.iter().find(|run| run.id == id));
        run.is_none_or(|run| !run.is_open())
    }

    /// The open command is over; its output is complete.
    fn close(&mut self, state: CommandState, proven: bool) {
        let kernels = self.program.working_directory();
        let Some(shell) = &mut self.shell else { return };
        let Some(run) = shell.open() else { return };
        run.close(state, proven);
        // What a command says of the directory counts only as the shell's own last word.
        let cwd = run.told_cwd.take().or(kernels);
        run.cwd.clone_from(&cwd);
        shell.cwd = cwd.or(shell.cwd.take());
        self.release_input();
    }

    /// The shell ended, and with it the command that ran.
    pub(super) fn shell_ended(&mut self, exit_code: Option<i32>) {
        self.follow_shell();
        let Some(shell) = &mut self.shell else { return };
        if let Some(parked) = shell.parked.take() {
            let how = match exit_code {
                Some(code) => format!("exit code {code}, before its first prompt"),
                None => "a signal, before its first prompt".to_owned(),
            };
            let _ = parked.reply.send(Err(SessionError::Dead { id: self.id.clone(), how }));
        }
        self.close(CommandState::SessionEnded { exit_code }, true);
    }

    /// Where the shell is.
    pub(super) fn shell_cwd(&self) -> Option<PathBuf> {
        self.shell.as_ref()?.cwd.clone()
    }

    pub(super) fn shell_info(&self) -> Option<ShellInfo> {
        let shell = self.shell.as_ref()?;
        let (first, last) = (shell.commands.front(), shell.commands.back());
        let starting = !shell.ready && shell.is_unclaimed();
        Some(ShellInfo {
            shell: shell.link.shell,
            running: last.filter(|run| run.is_open()).map(|run| run.id),
            idle: starting || (shell.is_free() && !shell.is_away(&self.program)),
            kept: first.zip(last).map(|(first, last)| (first.id, last.id)),
        })
    }

    /// The shell has shown a prompt and nothing runs.
    pub(super) fn shell_is_free(&self) -> bool {
        self.shell.as_ref().is_some_and(ShellState::is_free)
    }

    /// The last rows of the screen that have something on them.
    fn shown(&self) -> String {
        let screen = self.terminal.screen();
        let rows: Vec<_> = screen.rows.iter().map(|row| row.text().trim_end().to_owned()).collect();
        let used: Vec<_> = rows.iter().filter(|row| !row.is_empty()).collect();
        let last = used.iter().skip(used.len().saturating_sub(SHOWN_ROWS));
        last.map(|row| row.as_str()).collect::<Vec<_>>().join("\n")
    }
}
