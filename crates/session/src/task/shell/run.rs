//! One command of a shell.

mod saved;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use termbridge_shell::{CommandSetup, Shell, command_text};
use termbridge_vt::{CleanOutput, PendingOutput, Terminal};
use tokio::time::Instant;

use super::background::Background;
use super::report::report_text;
use crate::command::{CommandReport, CommandState};
use crate::error::SessionError;
use crate::output_store::{Appended, OutputStore};

/// Bytes that are kept before it is known whether they are output: those before the output mark, for
/// a command that fails before it starts, and those after a continuation mark that may be false.
pub(super) const MAX_HELD: usize = 64 * 1024;
/// What the shell's line editor prints when it has accepted a line: bracketed paste off.
const ACCEPTED: &[u8] = b"\x1b[?2004l";

/// What may not be output.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Suspended {
    #[serde(with = "serde_bytes")]
    bytes: Vec<u8>,
    /// What was pending before.
    pending: PendingOutput,
    /// Where in the stream it began.
    pub(crate) from: u64,
}

pub(super) struct Run {
    pub(super) id: u64,
    shell: Shell,
    pub(super) command: String,
    pub(super) nonce: String,
    /// The request that it came with, by which its client finds it again at another server.
    pub(super) key: Option<String>,
    /// Its directory and variables, until it is in the pipe.
    setup: CommandSetup,
    /// The shell has to restore its directory or variables at the end.
    needs_restore: bool,
    /// Where the shell returns at its end.
    pub(super) returns_to: Option<PathBuf>,
    /// What goes through the pipe, until it is put there.
    message: Option<Vec<u8>>,
    message_len: u64,
    /// How often the shell was told to take it.
    pub(super) triggers: u8,
    /// Surveys that showed the shell reading, but not for a command.
    pub(super) unheard: u8,
    /// The shell was interrupted; it is told again at its next prompt.
    pub(super) awaits_prompt: bool,
    /// Raw bytes before the output mark.
    pub(super) before: Vec<u8>,
    /// Bytes after these that were dropped.
    dropped: u64,
    /// Where among them the last prompt ends.
    prompt_end: usize,
    pub(super) output_began: bool,
    /// What came since a mark that is not proven: of an end without nonce, or of a shell that asks for
    /// the rest of the command.
    suspended: Option<Suspended>,
    /// What is suspended began where the shell was about to run the next line.
    announced: bool,
    /// The shell may have asked for the rest of the command.
    pub(super) asked_for_more: bool,
    /// Where in the stream the capture of its output began.
    captured_from: u64,
    /// What its output ends with, once it is complete.
    rest: Option<PendingOutput>,
    full_screen: bool,
    ends_in_prompt: bool,
    pub(super) output: OutputStore,
    /// Output could not be written to the disk since this was last looked at.
    pub(super) disk_is_full: bool,
    /// Bytes in memory and on disk that the server's budgets know of.
    pub(super) published: (usize, u64),
    /// What jobs printed after it.
    pub(super) background: Option<Background>,
    began: Instant,
    ended: Option<Instant>,
    state: CommandState,
    /// How it ended, by the shell's own mark, if the shell itself goes on.
    pub(super) said: Option<CommandState>,
    /// A status without nonce.
    pub(super) unconfirmed: Option<i32>,
    /// A prompt was shown since it was taken; the kernel has to confirm that it is the shell's.
    pub(super) prompted: bool,
    /// The hook at its end has run, though its mark did not get through.
    pub(super) hook_ran: bool,
    /// How often it was interrupted because the shell asked for the rest of it.
    pub(super) interrupts: u8,
    pub(super) cwd: Option<PathBuf>,
    /// What its report should mention of the shell.
    pub(super) notice: Option<String>,
    /// Its record, once nothing in it changes any more.
    pub(super) record: Option<Vec<u8>>,
}

impl Run {
    pub(super) fn new(
        id: u64,
        shell: Shell,
        command: String,
        nonce: String,
        setup: CommandSetup,
        message: Vec<u8>,
        folder: Option<Arc<Path>>,
    ) -> Self {
        Self {
            id,
            shell,
            command,
            nonce,
            key: None,
            needs_restore: !setup.env.is_empty() || (setup.cwd.is_some() && !setup.stays),
            setup,
            returns_to: None,
            message_len: message.len() as u64,
            message: Some(message),
            triggers: 0,
            unheard: 0,
            awaits_prompt: false,
            before: Vec::new(),
            dropped: 0,
            prompt_end: 0,
            output_began: false,
            suspended: None,
            announced: false,
            asked_for_more: false,
            captured_from: 0,
            rest: None,
            full_screen: false,
            ends_in_prompt: false,
            output: OutputStore::in_folder(folder),
            background: None,
            disk_is_full: false,
            published: (0, 0),
            began: Instant::now(),
            ended: None,
            state: CommandState::Running,
            said: None,
            unconfirmed: None,
            prompted: false,
            hook_ran: false,
            interrupts: 0,
            cwd: None,
            notice: None,
            record: None,
        }
    }

    /// It goes to another shell than it was meant for.
    pub(super) fn address(&mut self, shell: Shell) {
        self.shell = shell;
        if self.message.is_some()
            && let Ok(message) = message(shell, &self.command, &self.nonce, &self.setup)
        {
            self.message_len = message.len() as u64;
            self.message = Some(message);
        }
    }

    /// Prepares an empty message that makes a POSIX shell restore its directory and variables. Other shells do so in the hooks of
    /// their prompt. False if there is nothing to restore.
    pub(super) fn begin_restore(&mut self, state: &CommandState, terminal: &mut Terminal) -> bool {
        let restores = self.shell == Shell::Posix && std::mem::take(&mut self.needs_restore);
        if restores {
            self.end_output(terminal);
            self.said = Some(state.clone());
            let answer = self.shell.answer();
            self.message_len = answer.len() as u64;
            self.message = Some(answer.to_vec());
        }
        restores
    }

    /// What goes through the pipe; once.
    pub(super) fn take_message(&mut self) -> Option<Vec<u8>> {
        self.setup = CommandSetup::default();
        self.message.take()
    }

    /// The shell has not read it, with that many bytes unread in the pipe.
    pub(super) fn is_untaken(&self, unread: u64) -> bool {
        self.message.is_some() || unread >= self.message_len
    }

    pub(super) fn is_open(&self) -> bool {
        self.state == CommandState::Running
    }

    /// The shell has drawn its prompt, and has not taken the command yet.
    pub(super) fn note_prompt_end(&mut self) {
        self.prompt_end = self.before.len();
    }

    /// The output since the last prompt, while the shell has not taken the command. After its key was pressed this is known of
    /// bash alone: other shells draw their prompt in pieces.
    pub(super) fn since_prompt(&self) -> Option<&[u8]> {
        let is_known = self.triggers == 0 || self.shell == Shell::Bash;
        self.before.get(self.prompt_end..).filter(|_| is_known && !self.output_began)
    }

    /// What jobs printed since then, when the shell has shown the command and is about to run it.
    pub(super) fn beside_echo(&self) -> Option<Vec<u8>> {
        const NEWLINE: &[u8] = b"\r\n";
        let rest = self.since_prompt()?.strip_prefix(self.command.as_bytes())?;
        let accepted = rest.windows(ACCEPTED.len()).position(|window| window == ACCEPTED)?;
        let (before, after) = (&rest[..accepted], &rest[accepted + ACCEPTED.len()..]);
        // The line editor's own newline ends the command, or else a line of a job that has ended already.
        let newline = match before.starts_with(NEWLINE) {
            true => 0,
            false => before.windows(4).position(|window| window == b"\r\n\r\n")? + NEWLINE.len(),
        };
        Some([&before[..newline], &before[newline + NEWLINE.len()..], after].concat())
    }

    /// What comes from now on, at this position of the stream, may be a prompt.
    pub(super) fn suspend(&mut self, terminal: &mut Terminal, from: u64) {
        self.resume(terminal);
        let pending =
            if self.is_captured() { terminal.suspend_output() } else { PendingOutput::default() };
        self.suspended = Some(Suspended { bytes: Vec::new(), pending, from });
        self.announced = false;
    }

    /// A prompt that was shown is not the shell's: the command goes on.
    pub(super) fn doubt_was_idle(&mut self, terminal: &mut Terminal) {
        self.prompted = false;
        self.unconfirmed = None;
        self.resume(terminal);
    }

    /// The shell is about to run a line; what hooks print until then is not output.
    pub(super) fn announce(&mut self, terminal: &mut Terminal, from: u64) {
        self.suspend(terminal, from);
        self.announced = true;
    }

    /// Output begins at this position of the stream; true for the first line's.
    pub(super) fn begin_output(&mut self, terminal: &mut Terminal, from: u64) -> bool {
        let first = !std::mem::replace(&mut self.output_began, true);
        let is_announced = std::mem::take(&mut self.announced);
        if first {
            self.unconfirmed = None;
        } else if !is_announced || !self.is_captured() {
            return false;
        } else if self.suspended.as_ref().is_some_and(|since| since.bytes.is_empty()) {
            // This line continues where the one before stopped.
            self.resume(terminal);
            return false;
        }
        // What the prompt said is not output, or what hooks printed before a later line.
        if let Some(Suspended { pending, .. }) = self.suspended.take() {
            self.append(&pending.text);
            self.full_screen |= pending.was_full_screen;
        }
        terminal.begin_output();
        self.captured_from = from;
        first
    }

    /// The terminal captures its output, or has suspended that.
    pub(super) fn is_captured(&self) -> bool {
        self.output_began && self.rest.is_none() && self.is_open()
    }

    /// Takes what came from the terminal: `bytes` are what it has tapped.
    pub(super) fn feed(&mut self, bytes: &[u8], terminal: &mut Terminal) {
        if self.said.is_some() {
            return;
        }
        if !self.output_began {
            let room = MAX_HELD.saturating_sub(self.before.len());
            let (kept, dropped) = bytes.split_at(bytes.len().min(room));
            self.before.extend_from_slice(kept);
            self.dropped += dropped.len() as u64;
        } else if let Some(suspended) = &mut self.suspended {
            suspended.bytes.extend_from_slice(bytes);
            // A shell that asks for more prints less than this.
            if suspended.bytes.len() > MAX_HELD {
                self.resume(terminal);
            }
        } else {
            self.take_done(terminal);
        }
    }

    /// Takes output that can no longer change.
    pub(super) fn take_done(&mut self, terminal: &mut Terminal) {
        if self.is_captured() && self.suspended.is_none() {
            self.append(&terminal.take_done_output());
        }
    }

    fn append(&mut self, text: &str) {
        let appended = self.output.append(text);
        self.disk_is_full |= appended == Appended::DiskFull;
    }

    /// What was suspended is output.
    fn resume(&mut self, terminal: &mut Terminal) {
        if self.suspended.take().is_some() && self.is_captured() {
            terminal.resume_output();
            self.take_done(terminal);
        }
    }

    /// Another shell took this one's place: what it left unfinished in the last line is its prompt.
    pub(super) fn drop_prompt(&mut self, terminal: &mut Terminal) {
        self.resume(terminal);
        self.ends_in_prompt = true;
    }

    /// Its output is complete; returns what was printed since the mark of its end.
    pub(super) fn end_output(&mut self, terminal: &mut Terminal) -> Vec<u8> {
        self.take_done(terminal);
        let is_captured = self.is_captured();
        let pending = if is_captured { terminal.end_output() } else { PendingOutput::default() };
        let (bytes, pending) = match self.suspended.take() {
            Some(suspended) => (suspended.bytes, suspended.pending),
            None => (Vec::new(), pending),
        };
        if is_captured {
            self.rest = Some(pending);
        }
        bytes
    }

    /// It is over; its output is complete. `proven` is an end by the shell's own word.
    pub(super) fn close(&mut self, state: CommandState, proven: bool, terminal: &mut Terminal) {
        let incomplete = self.interrupts > 0 || state == CommandState::Incomplete;
        if proven && !incomplete {
            self.resume(terminal);
        }
        self.end_output(terminal);
        let mut rest = self.rest.take().unwrap_or_default();
        if !self.output_began && !incomplete && state != CommandState::NotTaken {
            rest = self.output_before_mark();
        }
        self.before = Vec::new();
        self.full_screen |= rest.was_full_screen;
        let rest = rest.text.as_str();
        let rest = rest.strip_suffix(Shell::VERBOSE_HOOK).unwrap_or(rest);
        // bash says so when it leaves by `exit`.
        let left = matches!(state, CommandState::SessionEnded { .. }) && self.leaves_by_exit();
        let rest = if left { rest.strip_suffix("exit\n").unwrap_or(rest) } else { rest };
        let rest = if self.output_began { rest } else { rest.trim_start_matches('\n') };
        let end = if self.ends_in_prompt {
            rest.rfind('\n').map_or(0, |end| end + 1)
        } else {
            rest.len()
        };
        self.append(&rest[..end]);
        self.ended = Some(Instant::now());
        self.state = if incomplete { CommandState::Incomplete } else { state };
    }

    /// What a command printed that failed before it began to run.
    fn output_before_mark(&self) -> PendingOutput {
        let mut clean = CleanOutput::default();
        clean.feed(after_line_editor(&self.before));
        if self.dropped > 0 {
            let note = format!("\r\n[termbridge: {} bytes dropped here]\r\n", self.dropped);
            clean.feed(note.as_bytes());
        }
        PendingOutput { was_full_screen: clean.was_full_screen(), text: clean.finish() }
    }

    /// The text has the word `exit` in it.
    fn leaves_by_exit(&self) -> bool {
        let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
        self.shell == Shell::Bash
            && self.command.split(|c: char| !is_part(c)).any(|word| word == "exit")
    }

    /// What of its output can still change.
    fn pending(&self, terminal: &Terminal) -> PendingOutput {
        match (&self.rest, &self.suspended) {
            (Some(rest), _) => rest.clone(),
            (None, Some(suspended)) => suspended.pending.clone(),
            (None, None) if self.is_captured() => terminal.pending_output(),
            (None, None) => PendingOutput::default(),
        }
    }

    pub(super) fn report(
        &self,
        cwd: Option<PathBuf>,
        from: u64,
        most: u64,
        terminal: &Terminal,
    ) -> CommandReport {
        let pending = self.pending(terminal);
        let report = CommandReport {
            state: self.state.clone(),
            full_screen: self.full_screen || pending.was_full_screen,
            background_bytes: self.background.as_ref().map_or(0, Background::len),
            duration: self.ended.unwrap_or_else(Instant::now) - self.began,
            cwd,
            notice: self.notice.clone(),
            ..CommandReport::new(self.id, self.command.as_str())
        };
        report_text(report, &self.output, &pending.text, from, most)
    }

    /// Its own output, and what jobs printed after it.
    pub(super) fn stores(&self) -> impl Iterator<Item = &OutputStore> {
        let background = self.background.as_ref().map(|background| &background.output);
        [&self.output].into_iter().chain(background)
    }

    /// The same, to drop some of it.
    pub(super) fn stores_mut(&mut self) -> impl Iterator<Item = &mut OutputStore> {
        self.record = None;
        let background = self.background.as_mut().map(|background| &mut background.output);
        [&mut self.output].into_iter().chain(background)
    }
}

/// What goes through the pipe for a command.
pub(super) fn message(
    shell: Shell,
    command: &str,
    nonce: &str,
    setup: &CommandSetup,
) -> Result<Vec<u8>, SessionError> {
    let mut texts = setup.env.values().chain(&setup.cwd).map(String::as_str).chain([command]);
    if texts.any(|text| text.contains('\0')) {
        let what = "a command, its directory and its variables cannot hold a NUL";
        return Err(SessionError::Invalid(what.into()));
    }
    if let Some(name) = setup.refused_variable(shell) {
        let what = format!(
            "`env` cannot set {name} in this shell, which uses it itself: set it for the program alone, with \
             `env '{name}=value' program`"
        );
        return Err(SessionError::Invalid(what));
    }
    Ok(shell.message(&command_text(command), nonce, setup))
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

#[cfg(test)]
mod tests {
    use termbridge_vt::{Options, Size};

    use super::*;

    #[test]
    fn output_that_is_not_kept_is_counted_in_it() {
        let (command, nonce) = ("cat".to_owned(), "n".to_owned());
        let setup = CommandSetup::default();
        let mut run = Run::new(1, Shell::Bash, command, nonce, setup, Vec::new(), None);
        let mut terminal = Terminal::new(Size { cols: 80, rows: 24 }, Options::default());
        run.feed(ACCEPTED, &mut terminal);
        for _ in 0..MAX_HELD {
            run.feed(b"ab", &mut terminal);
        }
        run.close(CommandState::Done { exit_code: 0 }, true, &mut terminal);
        let report = run.report(None, 0, u64::MAX, &terminal);
        let dropped = MAX_HELD + ACCEPTED.len();
        let note = format!("\n[termbridge: {dropped} bytes dropped here]\n");
        assert!(report.output.ends_with(&note), "{:?}", report.output.get(MAX_HELD - 100..));
    }
}
