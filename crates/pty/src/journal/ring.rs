//! The bytes that were read, in a ring.
//!
//! `read(2)` writes straight into the ring, and the head is stored when it has returned. A process that
//! is killed within the call dies on the way out of it, with the bytes taken from the terminal and the
//! head not moved: not a rare case in a flood, where half of the time is spent there. So a read is
//! announced: its place is filled with bytes that the next process can tell from what is read, and
//! where the place ends is stored as the intent. There are two ways:
//!
//! * Text: the place is filled with `0xff`, which is in no UTF-8 text. Everything up to the last byte that
//!   is another one was read.
//! * Exact, at first and once bytes were seen that are in no text: how many bytes the terminal has is asked first, and
//!   exactly so many are read. What the terminal has it gives whole, so only whether the read
//!   happened is to be known. The first [`MARKED`] bytes of the place have a pattern.
//!
//! So no byte of text is lost, however a server is killed. Of other output, a kill can lose `0xff` at the
//! end of a read that is the first with such bytes after text, and a read that is the very pattern: a
//! single byte, by a chance of 1 in 256 (in a server's first read, 1 in 8 of the bytes that are in no text).
//!
//! Filling also touches the pages, so that the call cannot fault while it copies.

use std::io;
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::sync::atomic::Ordering;

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;

use super::Journal;
use super::layout::{GIVEN_UP, HEAD, INTENT, PAGE, TOUCHED, WAY};

/// What the place of a read is filled with where text is expected.
const BLANK: u8 = 0xff;

/// A terminal has no more at a time; on Linux one byte less.
const TEXT_READ: usize = 4096;

/// The ways to read, as they are stored: blank; exact while it is not known what comes; exact.
const TEXT: u64 = 0;
pub(super) const UNKNOWN: u64 = 1;
const OTHER: u64 = 2;

/// How much of the place for an exact read is filled.
const MARKED: usize = 64;

/// For so many bytes after one that is in no text, reads are exact.
const EXACT_FOR: u64 = 64 << 10;

/// Holes are worth a call from here on.
const LEAST_HOLE: u64 = 64 << 10;

impl Journal {
    /// How many bytes were ever read.
    pub fn head(&self) -> u64 {
        self.map.number(HEAD).load(Ordering::Acquire)
    }

    /// Bytes that were read, in up to two parts; `None` when some are no longer there, or not yet.
    pub fn slices(&self, range: Range<u64>) -> Option<(&[u8], &[u8])> {
        if range.start < self.oldest() || range.start > range.end || range.end > self.head() {
            return None;
        }
        let length = (range.end - range.start) as usize;
        let at = self.place(range.start);
        let first = length.min(self.layout.ring as usize - at);
        let start = self.layout.ring_at as usize;
        let bytes = |from: usize, to: usize| self.map.bytes(start + from..start + to);
        Some((bytes(at, at + first), bytes(0, length - first)))
    }

    /// A copy of bytes that were read; `None` as in [`Journal::slices`].
    pub fn bytes(&self, range: Range<u64>) -> Option<Vec<u8>> {
        self.slices(range).map(|(first, second)| [first, second].concat())
    }

    /// How many more bytes can be read before the one at `from` is overwritten; 0 when it is gone. A
    /// read with a limit counts as much as its limit, however little comes.
    pub fn room_until_lost(&self, from: u64) -> u64 {
        if from < self.oldest() {
            return 0;
        }
        from.saturating_add(self.layout.ring).saturating_sub(self.head())
    }

    /// The oldest byte that is still there.
    pub fn oldest(&self) -> u64 {
        let touched = self.map.number(TOUCHED).load(Ordering::Acquire).max(self.head());
        let overwritten = touched.saturating_sub(self.layout.ring);
        self.map.number(GIVEN_UP).load(Ordering::Acquire).max(overwritten)
    }

    /// Gives up the bytes before a position, and their memory once that is worth it: whole pages, when
    /// they are at least 64 KiB.
    pub fn forget_before(&mut self, position: u64) {
        let from = self.oldest().next_multiple_of(PAGE);
        let to = position.min(self.head()) / PAGE * PAGE;
        if to < from.saturating_add(LEAST_HOLE) {
            return;
        }
        // First: a byte that is there no more must not be taken for a zero.
        self.map.number(GIVEN_UP).store(to, Ordering::Release);
        let (at, length) = (self.place(from) as u64, to - from);
        let first = length.min(self.layout.ring - at);
        self.punch(self.layout.ring_at + at, first);
        self.punch(self.layout.ring_at, length - first);
    }

    /// Reads once from a terminal, `limit` bytes at most and not across the ring's end; gives how many
    /// came, 0 for a terminal that is hung up.
    pub(crate) fn read_from(&mut self, terminal: &OwnedFd, limit: usize) -> io::Result<usize> {
        let head = self.head();
        let limit = limit.clamp(1, self.layout.ring as usize - self.place(head));
        let count = if head < self.exact_until {
            let count = limit.min(there(terminal)?);
            self.announce_exact(head, count, self.exact_way);
            count
        } else {
            let count = limit.min(TEXT_READ);
            self.announce_text(head, count);
            count
        };
        let range = self.range(head, count);
        let place = self.map.bytes_mut(range);
        let read = rustix::io::retry_on_intr(|| rustix::io::read(terminal, &mut *place));
        let count = *read.as_ref().unwrap_or(&0);
        // Of all bytes, since that takes a tenth of the time of looking for the first.
        let is_text = place[..count].iter().fold(0, |most, &byte| byte.max(most)) < 0xf8;
        let next = head + count as u64;
        if head < self.exact_until {
            // In this order: at any moment the intent is right for the head.
            self.map.number(INTENT).store(next, Ordering::Release);
        }
        self.map.number(HEAD).store(next, Ordering::Release);
        if !is_text {
            self.exact_until = next + EXACT_FOR;
            self.exact_way = OTHER;
        }
        match read {
            // A master whose slave nobody has open any more reads so on Linux.
            Err(Errno::IO) => Ok(0),
            read => Ok(read?),
        }
    }

    /// The place is blank; what was left so by the last read is known.
    fn announce_text(&mut self, head: u64, count: usize) {
        let end = head + count as u64;
        let from = self.blank_until.max(head);
        if from < end {
            self.touch(end);
            let range = self.range(from, (end - from) as usize);
            self.map.bytes_mut(range).fill(BLANK);
            self.blank_until = end;
        }
        self.map.number(WAY).store(TEXT, Ordering::Release);
        self.map.number(INTENT).store(end, Ordering::Release);
    }

    fn announce_exact(&mut self, head: u64, count: usize, way: u64) {
        // A blank place announced before must not be taken for this one's.
        self.map.number(INTENT).store(head, Ordering::Release);
        self.map.number(WAY).store(way, Ordering::Release);
        self.blank_until = 0;
        self.touch(head + count as u64);
        let range = self.range(head, count);
        mark(self.map.bytes_mut(range), head, way);
        self.map.number(INTENT).store(head + count as u64, Ordering::Release);
    }

    /// What was in the ring before these bytes is gone, whether they are read or not.
    fn touch(&self, end: u64) {
        if self.map.number(TOUCHED).load(Ordering::Relaxed) < end {
            self.map.number(TOUCHED).store(end, Ordering::Release);
        }
    }

    /// A read was under way when the process that had this was killed: counts it if it happened.
    pub(super) fn settle(&mut self) {
        let head = self.head();
        let intent = self.map.number(INTENT).load(Ordering::Acquire);
        let count = intent.saturating_sub(head);
        if count == 0 || count > self.layout.ring - self.place(head) as u64 {
            return;
        }
        let place = self.map.bytes(self.range(head, count as usize));
        let way = self.map.number(WAY).load(Ordering::Acquire);
        let read = if way == TEXT {
            place.iter().rposition(|&byte| byte != BLANK).map_or(0, |last| last as u64 + 1)
        } else {
            let mut marked = place.iter().take(MARKED).zip(head..);
            if marked.any(|(&byte, position)| byte != pattern(position, way)) { count } else { 0 }
        };
        self.map.number(HEAD).store(head + read, Ordering::Release);
    }

    /// Bytes of the mapping, not across the ring's end.
    fn range(&self, position: u64, count: usize) -> Range<usize> {
        let start = self.layout.ring_at as usize + self.place(position);
        start..start + count
    }

    /// Where in the ring a position is.
    fn place(&self, position: u64) -> usize {
        (position % self.layout.ring) as usize
    }
}

/// Fills the beginning and touches every page of the rest.
fn mark(place: &mut [u8], position: u64, way: u64) {
    for (byte, position) in place.iter_mut().take(MARKED).zip(position..) {
        *byte = pattern(position, way);
    }
    for byte in place.iter_mut().skip(MARKED).step_by(PAGE as usize) {
        *byte = 0;
    }
    if let Some(last) = place.get_mut(MARKED..).and_then(<[u8]>::last_mut) {
        *last = 0;
    }
}

/// What fills the place of an exact read: where text may come bytes that are in none, else any.
fn pattern(position: u64, way: u64) -> u8 {
    let any = (position.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8;
    if way == UNKNOWN { 0xf8 | any } else { any }
}

/// How many bytes can be read, at least one; `WouldBlock` for none. A single byte is not tried for
/// without need: it could be the pattern.
fn there(terminal: &OwnedFd) -> io::Result<usize> {
    let count = || rustix::io::ioctl_fionread(terminal).unwrap_or(0) as usize;
    let found = count();
    if found > 0 {
        return Ok(found);
    }
    // What was just written may still be on its way, and polling waits for it to arrive.
    let mut arrived = [PollFd::new(terminal, PollFlags::IN)];
    match rustix::event::poll(&mut arrived, Some(&Timespec::default()))? {
        0 => Err(io::ErrorKind::WouldBlock.into()),
        // None for the end.
        _ => Ok(count().max(1)),
    }
}

#[cfg(test)]
pub(super) mod test_steps {
    //! What a killed process leaves, made by hand.

    use super::*;

    impl Journal {
        /// The read was announced, and nothing else happened.
        pub(in crate::journal) fn announce(&mut self, count: usize, way: u64) {
            let head = self.head();
            match way {
                TEXT => self.announce_text(head, count),
                exact => self.announce_exact(head, count, exact),
            }
        }

        /// The kernel has filled the place, and the head was not stored.
        pub(in crate::journal) fn fill_announced(&mut self, bytes: &[u8]) {
            let range = self.range(self.head(), bytes.len());
            self.map.bytes_mut(range).copy_from_slice(bytes);
        }
    }
}
