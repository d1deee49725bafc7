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

use std::collections::VecDeque;
use std::path::PathBuf;

use termbridge_pty::{CommandPipe, Program, Survey, Waiting};
use termbridge_shell::{CleanOutput, Shell};
use termbridge_vt::{Event, Mark, Tapped};
use tokio::time::Instant;

use super::SessionTask;
use crate::command::{CommandReport, CommandState};
use crate::error::SessionError;
use crate::info::ShellInfo;
use crate::output_store::OutputStore;

/// Commands whose output can still be read.
const KEPT_COMMANDS: usize = 50;
/// Bytes before the output mark that are kept, for a command that fails before it starts.
const MAX_BEFORE: usize = 64 * 1024;
/// What the shell's line editor prints when it has accepted a line: bracketed paste off.
const ACCEPTED: &[u8] = b"\x1b[?2004l";

/// A program, and what it has beside its terminal if it is a shell.
#[derive(Debug)]
pub(crate) struct Spawned {
    pub(crate) program: Program,
    pub(crate) shell: Option<ShellLink>,
}

/// Ctrl+C.
const INTERRUPT: &[u8] = b"\x03";

/// What a shell session has beside its terminal.
#[derive(Debug)]
pub(crate) struct ShellLink {
    pub(crate) shell: Shell,
    pub(crate) pipe: CommandPipe,
    pub(crate) trigger: &'static [u8],
    /// Holds pipe and scripts; gone with the session.
    pub(crate) _folder: tempfile::TempDir,
}

pub(super) struct ShellState {
    link: ShellLink,
    /// The shell has shown its first prompt.
    ready: bool,
    commands: VecDeque<Run>,
    next_id: u64,
    cwd: Option<PathBuf>,
}

struct Run {
    id: u64,
    command: String,
    nonce: String,
    /// Raw bytes before the output mark.
    before: Vec<u8>,
    output_began: bool,
    clean: CleanOutput,
    full_screen: bool,
    output: OutputStore,
    began: Instant,
    ended: Option<Instant>,
    state: CommandState,
    /// A status without nonce.
    unconfirmed: Option<i32>,
    /// A prompt was shown since the output began; the kernel has to confirm that it is the shell's.
    prompted: bool,
    incomplete: bool,
}

impl ShellState {
    pub(super) fn new(link: ShellLink) -> Self {
        Self { link, ready: false, commands: VecDeque::new(), next_id: 1, cwd: None }
    }

    fn is_free(&self) -> bool {
        let runs = self.commands.back().is_some_and(|run| run.state == CommandState::Running);
        self.ready && !runs
    }

    fn open(&mut self) -> Option<&mut Run> {
        self.commands.back_mut().filter(|run| run.state == CommandState::Running)
    }

    /// The command is over; its output is complete.
    fn close(&mut self, state: CommandState) {
        let Some(run) = self.open() else { return };
        if !run.output_began {
            let before = std::mem::take(&mut run.before);
            run.clean.feed(after_line_editor(&before));
        }
        run.full_screen = run.clean.was_full_screen();
        let rest = std::mem::take(&mut run.clean).finish();
        run.output.append(&rest);
        run.ended = Some(Instant::now());
        run.state = if run.incomplete { CommandState::Incomplete } else { state };
    }
}

impl SessionTask {
    /// Gives the shell a command; it runs from now on.
    pub(super) fn submit(&mut self, command: String) -> Result<u64, SessionError> {
        self.running()?;
        let Some(shell) = &mut self.shell else {
            return Err(SessionError::Invalid("this session's program is not a shell".into()));
        };
        if !shell.is_free() {
            return Err(SessionError::ShellBusy(self.id.clone()));
        }
        let nonce = crate::id::SessionId::random()
            .map_err(|error| SessionError::System(error.to_string()))?
            .to_string();
        let message = message(shell.link.shell, &command, &nonce)?;
        if message.len() > shell.link.pipe.capacity() / 2 {
            return Err(SessionError::Invalid(format!(
                "the command has {} bytes; a shell takes at most {}",
                command.len(),
                shell.link.pipe.capacity() / 2
            )));
        }
        let written = shell.link.pipe.drain().and_then(|()| shell.link.pipe.write(&message));
        written.map_err(|error| SessionError::System(format!("the shell's pipe: {error}")))?;
        let id = shell.next_id;
        shell.next_id += 1;
        shell.commands.push_back(Run {
            id,
            command,
            nonce,
            before: Vec::new(),
            output_began: false,
            clean: CleanOutput::default(),
            full_screen: false,
            output: OutputStore::default(),
            began: Instant::now(),
            ended: None,
            state: CommandState::Running,
            unconfirmed: None,
            prompted: false,
            incomplete: false,
        });
        if shell.commands.len() > KEPT_COMMANDS {
            shell.commands.pop_front();
        }
        let trigger = shell.link.trigger.to_vec();
        self.enqueue_reply(trigger);
        self.last_input = Instant::now();
        Ok(id)
    }

    /// What is known of a command, with at most `most` bytes of its output from `from` on.
    pub(super) fn command_report(&self, id: u64, from: u64, most: u64) -> Option<CommandReport> {
        let shell = self.shell.as_ref()?;
        let run = shell.commands.iter().find(|run| run.id == id)?;
        // What a running command printed last can still be changed by it, and is shown as it stands.
        let pending = run.clean.pending();
        let kept = run.output.len();
        let to = from.saturating_add(most);
        let mut bytes = run.output.read(from..to).unwrap_or_default();
        let range = |at: u64| pending.len().min(at.saturating_sub(kept) as usize);
        bytes.extend_from_slice(&pending.as_bytes()[range(from)..range(to)]);
        let (skipped, output) = whole_characters(&bytes);
        let end = kept + pending.len() as u64;
        let last_line = pending.rfind('\n').map_or(0, |newline| newline + 1) as u64;
        let is_open = !pending.is_empty() && !pending.ends_with('\n');
        Some(CommandReport {
            state: run.state.clone(),
            output: output.to_owned(),
            output_start: (from + skipped as u64).min(end),
            unfinished_from: if is_open { kept + last_line } else { end },
            output_bytes: end,
            output_lines: run.output.lines()
                + memchr::memchr_iter(b'\n', pending.as_bytes()).count() as u64
                + u64::from(is_open),
            dropped_bytes: run.output.dropped(),
            full_screen: run.full_screen || run.clean.was_full_screen(),
            duration: run.ended.unwrap_or_else(Instant::now) - run.began,
            cwd: shell.cwd.clone(),
            ..CommandReport::new(id, run.command.as_str())
        })
    }

    /// The command is over, or there is none with this number.
    pub(super) fn is_command_over(&self, id: u64) -> bool {
        let run =
            self.shell.as_ref().and_then(|shell| shell.commands.iter().find(|run| run.id == id));
        run.is_none_or(|run| run.state != CommandState::Running)
    }

    /// Follows the stream of a shell's terminal.
    pub(super) fn follow_shell(&mut self) {
        if self.shell.is_none() {
            return;
        }
        for piece in self.terminal.take_tapped() {
            let Some(shell) = &mut self.shell else { return };
            match piece {
                Tapped::Bytes(bytes) => {
                    let Some(run) = shell.open() else { continue };
                    if run.output_began {
                        run.clean.feed(&bytes);
                        run.output.append(&run.clean.take_done());
                    } else {
                        let room = MAX_BEFORE.saturating_sub(run.before.len());
                        run.before.extend_from_slice(&bytes[..bytes.len().min(room)]);
                    }
                }
                Tapped::Event(Event::WorkingDirectory(path)) => {
                    let path = path.strip_prefix("file://").unwrap_or(&path);
                    shell.cwd = Some(PathBuf::from(path));
                }
                Tapped::Event(Event::Mark(mark)) => self.shell_mark(&mark),
                Tapped::Event(_) => {}
            }
        }
    }

    fn shell_mark(&mut self, mark: &Mark) {
        let Some(shell) = &mut self.shell else { return };
        match mark {
            Mark::CommandStart(_) => {
                shell.ready = true;
                // A prompt while a command is open: the kernel tells whether it is the shell's.
                if let Some(run) = shell.open()
                    && (run.output_began || run.incomplete)
                {
                    run.prompted = true;
                    self.survey_soon();
                }
            }
            Mark::OutputStart(_) => {
                let fish = shell.link.shell == Shell::Fish;
                let Some(run) = shell.open() else { return };
                let first = !std::mem::replace(&mut run.output_began, true);
                let nonce = format!("{}\0", run.nonce);
                // fish reads ahead, so it gets the nonce only once the command is read.
                if first
                    && fish
                    && let Err(error) = shell.link.pipe.write(nonce.as_bytes())
                {
                    tracing::warn!(session = %self.id, %error, "the shell's pipe");
                }
            }
            Mark::CommandEnd(rest) => {
                let Some(run) = shell.open() else { return };
                let (status, nonce) = rest.split_once(';').unwrap_or((rest, ""));
                let Ok(exit_code) = status.parse::<i32>() else { return };
                if nonce == run.nonce {
                    shell.close(CommandState::Done { exit_code });
                } else if nonce.is_empty() {
                    run.unconfirmed = Some(exit_code);
                }
            }
            Mark::Continuation(_) => {
                // The shell asks for more of an unfinished command, and there is no more: it is
                // interrupted once the kernel says that it waits.
                if let Some(run) = shell.open().filter(|run| !run.output_began) {
                    run.incomplete = true;
                    self.survey_soon();
                }
            }
            _ => {}
        }
    }

    /// The kernel says that the shell itself waits for input: what it ran is over, nonce or not.
    pub(super) fn confirm_end(&mut self, survey: Option<&Survey>) {
        let waits = survey.is_some_and(|survey| {
            matches!(survey.waiting, Waiting::Reading | Waiting::Polling)
                && survey.foreground == Some(self.program.pid())
        });
        let Some(shell) = &mut self.shell else { return };
        let Some(run) = shell.open().filter(|_| waits) else { return };
        if run.prompted {
            let state = run.unconfirmed.map(|exit_code| CommandState::Done { exit_code });
            shell.close(state.unwrap_or(CommandState::Lost));
        } else if run.incomplete {
            self.enqueue_reply(INTERRUPT.to_vec());
        }
    }

    /// A command was given to the shell and has not begun: it is the shell that reads.
    pub(super) fn shell_is_reading_command(&self) -> bool {
        let last = self.shell.as_ref().and_then(|shell| shell.commands.back());
        last.is_some_and(|run| !run.output_began && run.state == CommandState::Running)
    }

    /// A prompt was shown that may be the shell's: the kernel is asked until it is known.
    pub(super) fn shell_is_in_doubt(&self) -> bool {
        let last = self.shell.as_ref().and_then(|shell| shell.commands.back());
        last.is_some_and(|run| {
            (run.prompted || run.incomplete) && run.state == CommandState::Running
        })
    }

    /// The shell ended, and with it the command that ran.
    pub(super) fn shell_ended(&mut self, exit_code: Option<i32>) {
        self.follow_shell();
        if let Some(shell) = &mut self.shell {
            shell.close(CommandState::SessionEnded { exit_code });
        }
    }

    /// Where the shell is.
    pub(super) fn shell_cwd(&self) -> Option<PathBuf> {
        self.shell.as_ref()?.cwd.clone()
    }

    pub(super) fn shell_info(&self) -> Option<ShellInfo> {
        let commands = &self.shell.as_ref()?.commands;
        let last = commands.back();
        let running = last.filter(|run| run.state == CommandState::Running).map(|run| run.id);
        let kept = commands.front().zip(last).map(|(first, last)| (first.id, last.id));
        Some(ShellInfo { running, kept })
    }

    /// The shell has shown a prompt and nothing runs.
    pub(super) fn shell_is_free(&self) -> bool {
        self.shell.as_ref().is_some_and(ShellState::is_free)
    }
}

/// What goes through the pipe for a command.
fn message(shell: Shell, command: &str, nonce: &str) -> Result<Vec<u8>, SessionError> {
    if command.contains('\0') {
        return Err(SessionError::Invalid("a command cannot hold a NUL".into()));
    }
    Ok(match shell {
        Shell::Bash | Shell::Zsh => format!("{command}\0{nonce}\0").into_bytes(),
        Shell::Fish => format!("{command}\0").into_bytes(),
        // One line, for `read -r` and printf's `%b`.
        Shell::Posix => {
            let escaped = command.replace('\\', r"\\").replace('\n', r"\n").replace('\r', r"\r");
            format!("{escaped}\n{nonce}\n").into_bytes()
        }
    })
}

/// The whole characters of a piece of valid text, and the bytes skipped before them.
fn whole_characters(bytes: &[u8]) -> (usize, &str) {
    let skipped = bytes.iter().take_while(|byte| **byte & 0xC0 == 0x80).count();
    let rest = &bytes[skipped..];
    let valid = std::str::from_utf8(rest).map_or_else(|error| error.valid_up_to(), str::len);
    (skipped, std::str::from_utf8(&rest[..valid]).unwrap_or_default())
}

/// What a command that never began to run printed: the part behind the line editor's own output.
fn after_line_editor(before: &[u8]) -> &[u8] {
    let found = before.windows(ACCEPTED.len()).rposition(|window| window == ACCEPTED);
    let from = match found {
        Some(at) => at + ACCEPTED.len(),
        None => before.iter().position(|byte| *byte == b'\n').unwrap_or(before.len()),
    };
    let rest = &before[from..];
    let text = rest.iter().position(|byte| !matches!(byte, b'\r' | b'\n')).unwrap_or(rest.len());
    &rest[text..]
}
