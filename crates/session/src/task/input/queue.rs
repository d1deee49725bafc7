//! What is to be written to the program: whoever types, and the terminal's answers.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::Instant;

use super::WRITE_PIECE;
use crate::input::Input;
use crate::typing::Encoded;

/// How long a key waits for the program to take the one before it. A program that runs at all reads
/// by then, even on a busy machine; for one that does not, keys wait no longer until it reads again.
const PACE_LIMIT: Duration = Duration::from_millis(250);
/// Bytes of answers to queries that a program may leave unread; further queries get no answer until
/// it has read. A program that asks and ends leaves them to its shell, which takes them for keys.
const MAX_ANSWERS: usize = 8 * 1024;
/// How often it is looked whether a key was read.
const PACE_INTERVAL: Duration = Duration::from_millis(1);

/// What is to be written, in pieces as a person would make them.
///
/// A keyboard sends one key at a time, and there are programs that take each read for one key. So
/// keys and clicks are pieces of their own, and the next piece waits, a little, until the program
/// has read the one before. Text is one piece however long.
#[derive(Debug, Default)]
pub(in crate::task) struct InputQueue {
    pub(super) pieces: VecDeque<Piece>,
    pub(super) len: usize,
    /// Input that waits for the command to begin, for the prompt, or for an interrupted command to end.
    pub(super) held: Vec<Piece>,
    /// The same as it was sent. Its echo begins where the cursor is when it is written.
    pub(super) held_typing: Vec<Input>,
    /// Ctrl+C for that command; it is not for what comes after it.
    pub(super) held_interrupt: bool,
    /// When it is written at the latest.
    pub(super) held_until: Option<Instant>,
    /// What the held input waits for.
    pub(super) held_for: HeldFor,
    /// A piece was written; until when its successor waits for it to be read.
    pub(super) pacing: Option<Instant>,
    /// The next piece was sent with a pause before it: when that is over.
    pub(super) paused: Option<Instant>,
    /// Bytes of answers to queries that were queued since the program was last seen to have read.
    pub(super) answers: usize,
    /// The program did not read within the limit.
    pub(super) stalled: bool,
    /// Length of the line that a program which reads whole lines has not got yet.
    pub(super) open_line: usize,
    /// Bytes that were written to the program, interrupts ahead of the queue left out.
    pub(super) written_bytes: u64,
    /// Bytes to come that an earlier server has written already.
    pub(super) repeated: u64,
    /// The last key was Escape, which a program takes for one only after a while.
    pub(in crate::task) ends_in_escape: bool,
}

/// What held input waits for, beside a prompt that is on its way.
#[derive(Debug, Clone, Copy, Default)]
pub(super) enum HeldFor {
    /// A command that begins.
    #[default]
    Command,
    /// The program, which has to read what was typed before Ctrl+C: the terminal discards what is unread.
    Reader,
    /// The end of what Ctrl+C interrupts.
    Interrupted {
        /// When Ctrl+C was queued.
        at: Instant,
        /// The prompts that the shell had shown by then.
        prompts: u64,
    },
}

/// Bytes that are written together.
#[derive(Debug, Default)]
pub(super) struct Piece {
    pub(super) bytes: VecDeque<u8>,
    /// Time between the piece before and this one.
    pub(super) pause: Duration,
    /// The terminal's answers, not something typed; whole ones.
    pub(super) answers: bool,
    /// A part was written: the rest has to follow.
    pub(super) begun: bool,
    /// A person typed it, who may type anything.
    pub(super) by_person: bool,
}

impl From<Vec<u8>> for Piece {
    fn from(bytes: Vec<u8>) -> Self {
        Self { bytes: bytes.into(), ..Self::default() }
    }
}

impl From<Encoded> for Piece {
    fn from(Encoded { pause, bytes }: Encoded) -> Self {
        Self { pause, ..bytes.into() }
    }
}

impl InputQueue {
    pub(in crate::task) fn len(&self) -> usize {
        self.len
    }

    pub(in crate::task) fn clear(&mut self) {
        let Self { written_bytes, repeated, .. } = *self;
        *self = Self { written_bytes, repeated, ..Self::default() };
    }

    /// The front piece may be written as soon as the terminal takes it.
    pub(in crate::task) fn wants_to_write(&self) -> bool {
        self.len > 0 && self.pacing.is_none() && self.paused.is_none()
    }

    /// Everything was written, and read or given time to be.
    pub(in crate::task) fn is_taken(&self) -> bool {
        self.len == 0 && !self.holds() && self.pacing.is_none()
    }

    pub(super) fn holds(&self) -> bool {
        !self.held.is_empty() || self.held_interrupt
    }

    /// The command is over.
    pub(in crate::task) fn drop_interrupt(&mut self) {
        self.held_interrupt = false;
    }

    /// Nobody is there any more to read the answers that were not yet written.
    pub(in crate::task) fn drop_answers(&mut self) {
        self.pieces.retain(|piece| !piece.answers || piece.begun);
        self.len = self.pieces.iter().map(|piece| piece.bytes.len()).sum();
    }

    /// Queues answers to queries, unless too many are unread.
    pub(super) fn push_answers(&mut self, answers: &[u8]) {
        if self.answers + answers.len() > MAX_ANSWERS {
            return;
        }
        self.answers += answers.len();
        for bytes in whole_answers(answers) {
            self.push(Piece { answers: true, ..bytes.to_vec().into() });
        }
    }

    pub(super) fn held_len(&self) -> usize {
        self.held.iter().map(|piece| piece.bytes.len()).sum()
    }

    /// When to look whether the last piece was read.
    pub(in crate::task) fn deadline(&self, now: Instant) -> Option<Instant> {
        let held = self.held_until.filter(|_| self.holds());
        let soon = |until: Instant| until.min(now + PACE_INTERVAL);
        self.pacing.into_iter().chain(held).map(soon).chain(self.paused).min()
    }

    pub(super) fn push(&mut self, mut piece: Piece) {
        let repeated = self.repeated.min(piece.bytes.len() as u64);
        piece.bytes.drain(..repeated as usize);
        self.repeated -= repeated;
        if !piece.bytes.is_empty() {
            self.len += piece.bytes.len();
            self.pieces.push_back(piece);
        }
    }

    pub(super) fn written(&mut self, count: usize, now: Instant) {
        let Some(front) = self.pieces.front_mut() else {
            return;
        };
        front.bytes.drain(..count);
        self.len -= count;
        self.written_bytes += count as u64;
        front.begun = true;
        if front.bytes.is_empty() {
            self.pieces.pop_front();
            self.pacing = Some(if self.stalled { now } else { now + PACE_LIMIT });
            let pause = self.pieces.front().map(|next| next.pause);
            self.paused = pause.filter(|pause| !pause.is_zero()).map(|pause| now + pause);
        }
    }
}

/// Cuts answers into pieces that are written at once, none in the middle of an answer unless that is
/// longer.
fn whole_answers(mut answers: &[u8]) -> impl Iterator<Item = &[u8]> {
    let starts = |pair: &[u8]| pair[0] == 0x1b && pair[1] != b'\\';
    std::iter::from_fn(move || {
        let most = answers.len().min(WRITE_PIECE);
        let cut = match answers.len() > WRITE_PIECE {
            true => answers[..=most].windows(2).rposition(starts).filter(|at| *at > 0),
            false => None,
        };
        let (piece, rest) = answers.split_at(cut.unwrap_or(most));
        answers = rest;
        (!piece.is_empty()).then_some(piece)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANSWER: &[u8] = b"\x1b]11;rgb:0000/0000/0000\x1b\\";

    #[test]
    fn a_program_that_does_not_read_gets_no_more_answers() {
        let mut queue = InputQueue::default();
        for _ in 0..20_000 {
            queue.push_answers(ANSWER);
        }
        assert!(queue.len() <= MAX_ANSWERS && queue.len() > MAX_ANSWERS - ANSWER.len());
        // Nor when they were written and nothing tells that they were read.
        let now = Instant::now();
        while let Some(front) = queue.pieces.front() {
            queue.written(front.bytes.len(), now);
        }
        queue.push_answers(ANSWER);
        assert_eq!(queue.len(), 0);
    }

    #[test]
    fn answers_are_dropped_whole_and_keys_stay() {
        let mut queue = InputQueue::default();
        queue.push_answers(&ANSWER.repeat(200));
        queue.push(b"keys".to_vec().into());
        let first = queue.pieces[0].bytes.len();
        assert_eq!(first % ANSWER.len(), 0, "an answer is cut");
        queue.written(10, Instant::now());
        queue.drop_answers();
        assert_eq!(queue.len(), first - 10 + 4);
        assert_eq!(queue.pieces.len(), 2);
    }
}
