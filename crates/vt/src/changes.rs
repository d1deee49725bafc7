//! The change counter: which rows differ since a reader last looked.
//!
//! A [`Seq`] is handed out whenever someone looks. Between two looks rows are compared by hash, so
//! feeding costs nothing, a row redrawn with the same content is unchanged, and any `Seq` that was
//! handed out can be asked about later. Rows that only moved up, because the screen scrolled between two
//! looks, and rows of a screen that came back are not new.

use std::collections::VecDeque;
use std::fmt;

use serde::{Deserialize, Serialize};

/// A moment of the screen's content; larger is later.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
pub struct Seq(pub u64);

impl fmt::Display for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Until when a reader knows each of the two screens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Since {
    /// The primary screen.
    pub main: Seq,
    /// The alternate screen.
    pub alternate: Seq,
}

impl From<Seq> for Since {
    fn from(seq: Seq) -> Self {
        Self { main: seq, alternate: seq }
    }
}

#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Changes {
    seq: Seq,
    /// Hash of what is not in a row: cursor, title, size, which screen.
    frame: u64,
    /// The screen that is shown, and the other one: the primary and the alternate one.
    shown: Rows,
    hidden: Rows,
    is_alternate: bool,
    /// When the other screen came back.
    came_back: Option<Seq>,
}

/// The rows of a screen.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Rows {
    /// Per row: hash of its content and when that was first seen, there or further down.
    rows: Vec<(u64, Seq)>,
    /// Lines that had scrolled off the top.
    lines_above: u64,
    /// By how many rows it scrolled, and when that was seen.
    scrolls: VecDeque<(Seq, u64)>,
    /// The last scroll that is no longer remembered.
    forgotten: Option<Seq>,
}

/// Scrolls that are remembered.
const MAX_SCROLLS: usize = 1024;

/// What a look finds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame {
    /// Hash of what is not in a row.
    pub(crate) hash: u64,
    pub(crate) is_alternate: bool,
    /// Lines that have scrolled off the top of the primary screen.
    pub(crate) lines_above: u64,
}

impl Changes {
    /// Compares with the last look and returns the current `Seq`.
    pub(crate) fn look(&mut self, frame: Frame, rows: impl ExactSizeIterator<Item = u64>) -> Seq {
        let next = Seq(self.seq.0.saturating_add(1));
        let mut changed = frame.hash != self.frame || rows.len() != self.shown.rows.len();
        self.frame = frame.hash;
        if frame.is_alternate != self.is_alternate {
            self.is_alternate = frame.is_alternate;
            std::mem::swap(&mut self.shown, &mut self.hidden);
            match frame.is_alternate {
                // It begins empty.
                true => self.shown = Rows::default(),
                false => self.came_back = Some(next),
            }
        }
        changed |= self.shown.note(rows, frame.lines_above, next);
        if changed {
            self.seq = next;
        }
        self.seq
    }

    /// Counts on from `seq`.
    pub(crate) fn start_at(&mut self, seq: Seq) {
        self.seq = seq;
    }

    /// The last `Seq` handed out.
    pub(crate) fn seq(&self) -> Seq {
        self.seq
    }

    /// Rows whose content is newer than `since`, and by how many rows the screen scrolled since: every
    /// other row has moved up that far.
    pub(crate) fn rows_since(&self, since: Since) -> (Vec<u16>, u64) {
        self.shown.since(if self.is_alternate { since.alternate } else { since.main })
    }

    /// The primary screen came back since then.
    pub(crate) fn came_back_since(&self, since: Since) -> bool {
        let last = since.main.max(since.alternate);
        !self.is_alternate && self.came_back.is_some_and(|seq| seq > last)
    }
}

impl Rows {
    /// Whether any row differs from what was there.
    fn note(
        &mut self,
        hashes: impl ExactSizeIterator<Item = u64>,
        lines_above: u64,
        next: Seq,
    ) -> bool {
        let is_same_size = hashes.len() == self.rows.len();
        let before = std::mem::replace(&mut self.lines_above, lines_above);
        let by = if is_same_size { lines_above.saturating_sub(before) } else { 0 };
        let by = by.min(u32::MAX.into());
        let mut changed = false;
        let mut rows = Vec::with_capacity(hashes.len());
        for (row, hash) in hashes.enumerate() {
            changed |= self.rows.get(row).is_none_or(|(known, _)| *known != hash);
            // A line at the bottom that stays counts as new: all that is not shown has moved alike.
            let known = self.rows.get(row.saturating_add(by as usize));
            let known = known.filter(|(known, _)| is_same_size && *known == hash);
            rows.push((hash, known.map_or(next, |(_, seq)| *seq)));
        }
        self.rows = rows;
        if by > 0 {
            self.scrolls.push_back((next, by));
        }
        if self.scrolls.len() > MAX_SCROLLS {
            self.forgotten = self.scrolls.pop_front().map(|(seq, _)| seq);
        }
        changed
    }

    fn since(&self, since: Seq) -> (Vec<u16>, u64) {
        let rows = self.rows.iter().enumerate();
        if self.forgotten.is_some_and(|forgotten| forgotten > since) {
            return (rows.map(|(row, _)| row as u16).collect(), 0);
        }
        let fresh = rows.filter(|(_, (_, seq))| *seq > since).map(|(row, _)| row as u16);
        let fresh: Vec<u16> = fresh.collect();
        let scrolls = self.scrolls.iter().filter(|(seq, _)| *seq > since).map(|(_, by)| *by);
        let scrolled: u64 = scrolls.sum();
        // Where all is new there is nothing that moved, but some may have gone by.
        let is_all = fresh.len() == self.rows.len();
        let tells = !is_all || scrolled > self.rows.len() as u64;
        (fresh, if tells { scrolled } else { 0 })
    }
}
