//! From whoever types to the program.

mod queue;
mod saved;

use std::io;
use std::time::Duration;

use termbridge_pty::{Survey, Waiting};
use termbridge_shell::Shell;
use tokio::time::Instant;

pub(super) use self::queue::InputQueue;
use self::queue::{HeldFor, Piece};
use super::waiting::{DRAWING_QUIET, PendingWait};
use super::{MAX_INPUT, SessionTask};
use crate::error::SessionError;
use crate::input::{Input, Sent};
use crate::typing::{INTERRUPT, encode_input, note_typing};
use crate::wait::UNCHANGED_GRACE;

/// Bytes written before output is read again, so that a program which echoes is never blocked.
const WRITE_PIECE: usize = 1024;
/// Longest line that the kernel keeps while a program reads whole lines (`N_TTY`'s buffer).
const LONGEST_LINE: usize = 4095;
/// How long typed input is held at most: until the command has the terminal, or the shell shows its prompt.
const HOLD_LIMIT: Duration = Duration::from_secs(1);
/// How long Ctrl+C waits at most until the program has read what precedes it. One that works does not read.
const READ_LIMIT: Duration = Duration::from_millis(300);

impl SessionTask {
    pub(super) fn send(&mut self, input: &[Input]) -> Result<Sent, SessionError> {
        self.running()?;
        if let Some(shell) = &mut self.shell {
            shell.note_typed();
        }
        let before = self.terminal.look();
        let mut pieces = encode_input(&self.terminal, input)?;
        if self.reads_line_feeds() {
            // The shell accepts either as Enter. A program started by an earlier line would not recognise a carriage
            // return that arrived while the shell still had the terminal: only the program's mode translates it.
            let texts = pieces.iter_mut().map(|piece| &mut piece.bytes);
            texts.filter(|text| text.len() > 1).for_each(|text| {
                text.iter_mut().filter(|byte| **byte == b'\r').for_each(|byte| *byte = b'\n');
            });
        }
        let bytes = self.enqueue(pieces.into_iter().map(Piece::from).collect())?;
        if self.input.holds() {
            self.input.held_typing.extend_from_slice(input);
        } else {
            self.note_typing(input);
        }
        self.write_some();
        Ok(Sent { bytes, queued: self.queued_input(), before })
    }

    /// The shell reads, and takes a line feed as it is. zsh swaps the two characters.
    fn reads_line_feeds(&self) -> bool {
        self.shell_kind().is_some_and(|shell| shell != Shell::Zsh)
            && self.program.foreground_group() == Some(self.program.pid())
    }

    /// Notes what is about to be written, so that its echo is not taken for output.
    fn note_typing(&mut self, input: &[Input]) {
        // Where the terminal edits lines without echo, what looks like the input is output.
        if self.program.line_mode().map_or(true, |mode| mode.echo || !mode.canonical) {
            note_typing(&mut self.terminal, input);
        }
    }

    /// Types what a person's own terminal made of the person's keys.
    pub(super) fn type_bytes(&mut self, bytes: Vec<u8>) -> Result<(), SessionError> {
        self.running()?;
        if let Some(shell) = &mut self.shell {
            shell.note_typed();
        }
        self.enqueue(vec![Piece { by_person: true, ..bytes.into() }])?;
        self.write_some();
        Ok(())
    }

    /// Queues all of it, or nothing.
    fn enqueue(&mut self, pieces: Vec<Piece>) -> Result<usize, SessionError> {
        let bytes = pieces.iter().map(|piece| piece.bytes.len()).sum();
        let open_line =
            self.check_line_length(pieces.iter().flat_map(|piece| &piece.bytes).copied())?;
        if bytes > MAX_INPUT {
            return Err(SessionError::InputTooLong { bytes, most: MAX_INPUT });
        }
        let queued = self.queued_input();
        if queued + bytes > MAX_INPUT {
            return Err(SessionError::InputFull { queued });
        }
        self.input.open_line = open_line;
        let last = pieces.last().map(|piece| &piece.bytes);
        self.input.ends_in_escape = last.is_some_and(|bytes| bytes.iter().eq(b"\x1b"));
        if pieces.iter().any(|piece| piece.bytes.iter().eq(INTERRUPT)) {
            self.input.drop_answers();
        }
        self.typed_at_prompt();
        if self.shell_awaits_prompt() && self.input.held_until.is_none() {
            self.input.held_until = Some(Instant::now() + HOLD_LIMIT);
        }
        if self.shell_is_reading_command() || self.input.held_until.is_some() {
            self.input.held.extend(pieces);
            if !matches!(self.input.held_for, HeldFor::Command) {
                self.survey_soon();
            }
            self.release_if_begun(Instant::now());
        } else {
            self.queue(pieces, HeldFor::Command);
        }
        self.last_input = Instant::now();
        self.at_prompt = false;
        self.bells_heard = self.bells;
        self.keep_pace(self.last_input);
        Ok(bytes)
    }

    /// Queues `pieces`; `held_for` is what they have waited for so far.
    ///
    /// At Ctrl+C the terminal discards unread input, and a line right behind it would reach the program that is about to
    /// end. So Ctrl+C waits until the program has read what precedes it, and what follows waits until the interrupted
    /// program has ended or reads again. A shell on its way to its prompt would notice Ctrl+C only with the next key, so
    /// it must read first, too.
    fn queue(&mut self, pieces: Vec<Piece>, held_for: HeldFor) {
        let is_read = matches!(held_for, HeldFor::Reader);
        let mut pieces = pieces.into_iter().peekable();
        while let Some(piece) = pieces.peek() {
            let interrupts = piece.bytes.iter().eq(INTERRUPT)
                && self.program.line_mode().is_ok_and(|mode| mode.signals);
            let is_pacing = self.input.pacing.is_some_and(|until| Instant::now() < until);
            let follows = self.input.len() > 0 || is_pacing;
            if interrupts && !is_read && (follows || self.shell_is_in_front()) {
                self.hold_for(HeldFor::Reader, READ_LIMIT);
                break;
            }
            self.input.push(pieces.next().unwrap_or_default());
            if interrupts {
                let (at, prompts) = (Instant::now(), self.prompts_shown());
                self.hold_for(HeldFor::Interrupted { at, prompts }, HOLD_LIMIT);
                break;
            }
        }
        self.input.held.extend(pieces);
    }

    /// The shell has the terminal, for its prompt or for a typed line.
    pub(super) fn shell_is_in_front(&self) -> bool {
        let is_in_front = || self.program.foreground_group() == Some(self.program.pid());
        self.shell.is_some() && !self.runs_command() && is_in_front()
    }

    fn hold_for(&mut self, what: HeldFor, limit: Duration) {
        self.input.held_for = what;
        self.input.held_until = Some(Instant::now() + limit);
        self.survey_soon();
    }

    /// The command is over: what was typed for it is written behind the prompt.
    pub(super) fn hold_until_prompt(&mut self) {
        if self.input.holds() {
            self.input.held_until = Some(Instant::now() + HOLD_LIMIT);
            self.release_if_begun(Instant::now());
        }
    }

    /// Bytes that the program has not been given yet.
    pub(super) fn queued_input(&self) -> usize {
        self.input.len() + self.input.held_len()
    }

    /// The shell has begun the command. What was typed for it is written once the command has the
    /// terminal, or the shell itself reads (a builtin), or after a while.
    pub(super) fn release_input_soon(&mut self) {
        self.input.held_until = Some(Instant::now() + HOLD_LIMIT);
        self.release_if_begun(Instant::now());
    }

    fn release_if_begun(&mut self, now: Instant) {
        // Between fork and exec a signal would be the shell's, and lost.
        let begun = || {
            self.program.foreground_group() != Some(self.program.pid())
                && self.program.foreground_name() != self.program.name()
        };
        let shows_prompt = self.shell_has_shown_prompt();
        let is_ready = match self.input.held_for {
            // What hooks run before the prompt has the terminal, too.
            _ if self.shell_awaits_prompt() => false,
            HeldFor::Command => shows_prompt || begun(),
            HeldFor::Reader => false,
            HeldFor::Interrupted { prompts, .. } => shows_prompt && self.prompts_shown() > prompts,
        };
        let Some(until) = self.input.held_until else { return };
        if now >= until {
            self.give_up_first_prompt();
            self.release_input();
        } else if is_ready {
            self.release_input();
        }
    }

    /// Whether held input may go to the program that waits for input. `settled` is when the kernel was asked, if the program
    /// had read all of its input by then.
    pub(super) fn may_take_input(&self, survey: &Survey, settled: Option<Instant>) -> bool {
        let is_shell = survey.foreground == Some(self.program.pid()) && self.shell.is_some();
        let waits_since =
            |at: Instant| settled.filter(|began| survey.waiting.is_for_input() && *began > at);
        self.input.held_until.is_some()
            && match self.input.held_for {
                // A program that waits has the terminal, whatever it is called; the shell polls for itself.
                HeldFor::Command => match survey.waiting {
                    Waiting::Polling => !is_shell,
                    waiting => waiting.is_reading(),
                },
                // One that polls may do so between two pieces of work, where it takes no note of Ctrl+C (fish).
                HeldFor::Reader => waits_since(self.last_input).is_some_and(|began| {
                    let is_quiet = began >= self.last_output.max(self.last_input) + DRAWING_QUIET;
                    survey.waiting.is_reading() || is_quiet
                }),
                // The shell reads before the end of its command is known.
                HeldFor::Interrupted { .. } if is_shell && self.runs_command() => false,
                HeldFor::Interrupted { at, .. } => waits_since(at).is_some_and(|began| {
                    let has_reacted = self.last_output > at && began > self.last_output;
                    (has_reacted && !is_shell) || began >= at + UNCHANGED_GRACE
                }),
            }
    }

    /// Something typed waits for a command that has begun, or for the prompt.
    pub(super) fn holds_input(&self) -> bool {
        self.input.held_until.is_some() && self.input.holds()
    }

    /// What was typed for a command is for whatever reads now.
    pub(super) fn release_input(&mut self) {
        self.input.held_until = None;
        let held_for = std::mem::take(&mut self.input.held_for);
        if std::mem::take(&mut self.input.held_interrupt) {
            self.write_interrupt();
        }
        let held = std::mem::take(&mut self.input.held);
        if !held.is_empty() {
            let typing = std::mem::take(&mut self.input.held_typing);
            self.queue(held, held_for);
            match self.input.holds() {
                true => self.input.held_typing = typing,
                false => self.note_typing(&typing),
            }
            self.last_input = Instant::now();
            self.at_prompt = false;
            self.write_some();
        }
    }

    /// Sends Ctrl+C to the open command, when it has begun.
    pub(super) fn send_interrupt(&mut self) {
        if self.shell_is_reading_command() || self.input.held_until.is_some() {
            self.input.held_interrupt = true;
            self.release_if_begun(Instant::now());
        } else {
            self.write_interrupt();
        }
        self.last_input = Instant::now();
        self.at_prompt = false;
    }

    /// Ahead of what is queued, which may wait for a program that does not read.
    fn write_interrupt(&mut self) {
        if !matches!(self.program.try_write(INTERRUPT), Ok(1)) {
            self.input.len += INTERRUPT.len();
            self.input.pieces.push_front(INTERRUPT.to_vec().into());
        }
    }

    /// Queues the terminal's answers to queries, unless the program leaves too many unread.
    pub(super) fn enqueue_answers(&mut self, answers: &[u8]) {
        // In line mode the kernel does not tell: no program reads answers in it.
        let raw = || self.program.line_mode().is_ok_and(|mode| !mode.canonical);
        let read = || self.program.unread_input().is_ok_and(|unread| unread == 0);
        if self.input.answers > 0 && self.input.len() == 0 && raw() && read() {
            self.input.answers = 0;
        }
        self.input.push_answers(answers);
        self.write_some();
    }

    /// Queues keys of our own as far as there is room.
    pub(super) fn enqueue_keys(&mut self, bytes: Vec<u8>) {
        if self.input.len() + bytes.len() <= MAX_INPUT {
            self.input.push(bytes.into());
            self.write_some();
        }
    }

    pub(super) fn writable(&mut self, ready: io::Result<()>) {
        match ready {
            Ok(()) => self.write_some(),
            Err(_) => self.input.clear(),
        }
    }

    /// Whether it matters to anyone that the last piece was read.
    pub(super) fn paces(&self) -> bool {
        self.input.len() > 0 || self.input.holds() || self.waits.iter().any(PendingWait::is_held)
    }

    /// Goes on with the queue when the program has read what was written, or takes too long.
    pub(super) fn keep_pace(&mut self, now: Instant) {
        if self.input.holds() {
            self.release_if_begun(now);
        }
        if self.input.paused.is_some_and(|until| now >= until) {
            self.input.paused = None;
            self.write_some();
        }
        let Some(until) = self.input.pacing.filter(|_| self.paces()) else {
            return;
        };
        // A program that reads whole lines gets each line in one piece whatever we do.
        let line_mode = || self.program.line_mode().is_ok_and(|mode| mode.canonical);
        let read = || self.program.unread_input().is_ok_and(|unread| unread == 0);
        let taken = line_mode() || read();
        if taken || now >= until {
            self.input.stalled = !taken;
            self.input.pacing = None;
            self.write_some();
        }
    }

    fn write_some(&mut self) {
        if !self.input.wants_to_write() {
            return;
        }
        let Some(front) = self.input.pieces.front() else {
            return;
        };
        if !front.by_person && !self.may_write(front.bytes.iter().copied()) {
            self.input.clear();
            return self.refuse_lines(SessionError::HiddenLine);
        }
        let (piece, _) = front.bytes.as_slices();
        let piece = &piece[..piece.len().min(WRITE_PIECE)];
        self.count_written(self.input.written_bytes + piece.len() as u64);
        let written = self.program.try_write(piece);
        let count = written.as_ref().map_or(0, |count| *count);
        self.count_written(self.input.written_bytes + count as u64);
        match written {
            Ok(count) => self.input.written(count, Instant::now()),
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
                ) => {}
            Err(error) => {
                tracing::debug!(session = %self.id, %error, "input dropped");
                self.input.clear();
            }
        }
    }

    /// In line mode the kernel drops what a line has beyond its buffer; better to say so. Returns how
    /// long the unfinished line is with these bytes.
    fn check_line_length(&self, bytes: impl Iterator<Item = u8>) -> Result<usize, SessionError> {
        if !self.program.line_mode().is_ok_and(|mode| mode.canonical) {
            return Ok(0);
        }
        let mut length = self.input.open_line;
        for byte in bytes {
            length = match byte {
                b'\t' | b' '..=b'~' | 0x80.. => length + 1,
                0x7f => length.saturating_sub(1),
                // Ends the line, erases it, or raises a signal that does.
                _ => 0,
            };
            if length > LONGEST_LINE {
                return Err(SessionError::Invalid(format!(
                    "a line of more than {LONGEST_LINE} bytes is too long: the program reads whole \
                     lines, and the system keeps no more of each"
                )));
            }
        }
        Ok(length)
    }
}
