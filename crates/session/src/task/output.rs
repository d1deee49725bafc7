//! From the program to the terminal.

use std::io;

use termbridge_vt::{Event, Mark};
use tokio::time::Instant;

use super::{BATCH_READS, BATCH_TIME, SHORT_BATCH_TIME, SYNCHRONIZED_LIMIT, SessionTask};
use crate::memory;

/// Change of the estimate between two reports to the memory budget.
const REPORT_BYTES: usize = 512 * 1024;

/// Reads of output that is dropped: more than the system's buffers hold.
const MAX_DROPPED_READS: usize = 64;

impl SessionTask {
    /// Reads and feeds a batch.
    pub(super) fn readable(&mut self, ready: io::Result<()>) {
        if let Err(error) = ready {
            tracing::warn!(session = %self.id, %error, "terminal cannot be polled");
            self.hung_up = true;
            return;
        }
        // What comes now may be the answer to the input: whoever waits for that must see it.
        self.keep_pace(Instant::now());
        self.read_output();
    }

    /// Does what may take long: it is this session's turn.
    pub(super) fn work_in_turn(&mut self) {
        self.resize_as_asked();
        // A flood of output does not hold up Ctrl+C.
        self.writable(Ok(()));
        if self.behind {
            self.readable(Ok(()));
        }
    }

    /// Reads what is there, up to a batch, and feeds it; true when nothing is left to read.
    pub(super) fn read_output(&mut self) -> bool {
        let mut drained = false;
        let mut buffer = std::mem::take(&mut self.buffer);
        let until = self.feed_unfed();
        for _ in 0..BATCH_READS {
            if !self.unfed.is_empty() || Instant::now() >= until {
                break;
            }
            match self.read_some(&mut buffer) {
                Ok(0) => {
                    self.hung_up = true;
                    break;
                }
                Ok(count) => self.feed(&buffer[..count], until),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    drained = true;
                    break;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    tracing::warn!(session = %self.id, %error, "terminal cannot be read");
                    self.hung_up = true;
                    break;
                }
            }
        }
        self.buffer = buffer;
        if self.terminal.memory_estimate().abs_diff(self.published_memory) >= REPORT_BYTES {
            self.publish_memory();
        }
        self.behind = !(self.unfed.is_empty() && (drained || self.hung_up));
        !self.behind
    }

    /// Feeds what was read before, and reads nothing; when the batch is to end.
    pub(super) fn feed_unfed(&mut self) -> Instant {
        let until = Instant::now() + if self.has_turn { BATCH_TIME } else { SHORT_BATCH_TIME };
        let unfed = std::mem::take(&mut self.unfed);
        self.feed(&unfed, until);
        until
    }

    /// Reads once; through the journal, where there is one.
    fn read_some(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.keep_room();
        let Some(keeping) = &mut self.keeping else { return self.program.try_read(buffer) };
        let read = self.program.try_read_into(&mut keeping.journal, buffer.len())?;
        let slices = keeping.journal.slices(read).unwrap_or_default();
        buffer[..slices.0.len()].copy_from_slice(slices.0);
        buffer[slices.0.len()..][..slices.1.len()].copy_from_slice(slices.1);
        Ok(slices.0.len() + slices.1.len())
    }

    /// Feeds the terminal; what it has not taken when the time is over stays unfed.
    fn feed(&mut self, mut bytes: &[u8], until: Instant) {
        if bytes.is_empty() {
            return;
        }
        self.last_output = Instant::now();
        self.last_active = std::time::SystemTime::now();
        while !bytes.is_empty() {
            bytes = &bytes[self.feed_portion(bytes)..];
            if !bytes.is_empty() && Instant::now() >= until {
                self.unfed = bytes.to_vec();
                break;
            }
        }
        self.batch_rest = 0;
        for event in self.terminal.take_events() {
            self.noticed(&event);
        }
        let replies = self.terminal.take_replies();
        if !replies.is_empty() {
            self.enqueue_answers(&replies);
        }
        if !self.terminal.is_synchronized() {
            self.synchronized_since = None;
        } else if self.synchronized_since.is_none() {
            self.synchronized_since = Some(Instant::now());
        }
    }

    /// The program was stopped: what it printed and the terminal was too slow to take is dropped, which
    /// the reader sees.
    pub(super) fn drop_late_output(&mut self) {
        let mut dropped = std::mem::take(&mut self.unfed).len();
        let mut buffer = std::mem::take(&mut self.buffer);
        for _ in 0..MAX_DROPPED_READS {
            match self.read_some(&mut buffer) {
                Ok(count) if count > 0 => dropped += count,
                _ => break,
            }
        }
        self.buffer = buffer;
        if dropped > 0 {
            // CAN ends a sequence that was cut.
            let notice = format!("\x18\r\n[{dropped} bytes of output dropped: stopped]\r\n");
            let mut rest = notice.as_bytes();
            while !rest.is_empty() {
                rest = &rest[self.feed_portion(rest)..];
            }
            self.keep_screens();
        }
        self.behind = false;
    }

    /// Feeds as much as is little work; how many bytes that was.
    fn feed_portion(&mut self, bytes: &[u8]) -> usize {
        // Someone looks for text: no more than half a screen may pass between two looks, or the text
        // could scroll by unseen.
        let is_watched = self.waits.iter().any(|pending| pending.wait.reads_text());
        let (size, half) =
            (self.terminal.size(), usize::from(self.terminal.size().rows / 2).max(1));
        let end = if is_watched {
            let room = half.saturating_sub(self.unseen_rows).max(1);
            let end =
                if size.rows == 1 { start_of_newline(bytes) } else { end_of_rows(bytes, room) };
            end.min(room * usize::from(size.cols)).min(bytes.len())
        } else {
            bytes.len()
        };
        let taken = self.terminal.feed_some(&bytes[..end]);
        self.batch_rest = bytes.len() - taken;
        let piece = &bytes[..taken];
        self.tell_output(piece);
        if self.shell.is_none() {
            self.printed += taken as u64;
        }
        self.follow_shell();
        if is_watched {
            let newlines = memchr::memchr_iter(b'\n', piece).count();
            self.unseen_rows += newlines + taken.div_ceil(usize::from(size.cols));
            if self.unseen_rows >= half || size.rows == 1 {
                self.judge_waits(Instant::now());
            }
        }
        taken
    }

    fn noticed(&mut self, event: &Event) {
        match event {
            Event::Bell => self.bells += 1,
            Event::Mark(Mark::PromptStart(_) | Mark::CommandStart(_)) => self.at_prompt = true,
            Event::Mark(Mark::OutputStart(_)) => self.at_prompt = false,
            _ => {}
        }
    }

    pub(super) fn end_long_update(&mut self, now: Instant) {
        if self.synchronized_since.is_some_and(|since| now >= since + SYNCHRONIZED_LIMIT) {
            self.synchronized_since = None;
            self.terminal.end_synchronized();
        }
    }

    pub(super) fn publish_memory(&mut self) {
        self.published_memory = self.terminal.memory_estimate();
        if let Some(server) = self.server.upgrade() {
            let budget = &server.budgets.scrollback;
            let room = budget.publish(&self.shares.scrollback, self.published_memory);
            self.terminal.grow_memory(room);
        }
    }

    pub(super) fn report_freed_memory(&mut self) {
        self.publish_memory();
        memory::release_soon();
    }

    pub(super) fn trim(&mut self, keep_bytes: usize) {
        self.terminal.shrink_memory(keep_bytes);
        tracing::debug!(session = %self.id, keep_bytes, "scrollback trimmed");
        self.report_freed_memory();
    }
}

/// Offset of the next newline but one at the very front: on a screen of one row, text is gone with
/// its newline.
fn start_of_newline(bytes: &[u8]) -> usize {
    let later = bytes.iter().skip(1).position(|byte| *byte == b'\n');
    later.map_or(bytes.len(), |at| at + 1)
}

/// Offset behind the `rows`-th newline.
fn end_of_rows(bytes: &[u8], rows: usize) -> usize {
    let newlines = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
    newlines.map(|(at, _)| at + 1).nth(rows - 1).unwrap_or(bytes.len())
}
