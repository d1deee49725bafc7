//! The change counter: which rows differ since a reader last looked.
//!
//! A [`Seq`] is handed out whenever someone looks. Between two looks rows are compared by hash, so
//! feeding costs nothing, a row redrawn with the same content is unchanged, and any `Seq` that was
//! handed out can be asked about later. Rows that only moved up, because the screen scrolled between two
//! looks, and rows of a screen that came back can be told from rows with new content.

use std::collections::VecDeque;
use std::fmt;

/// A moment of the screen's content; larger is later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Seq(pub u64);

impl fmt::Display for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[derive(Debug, Default)]
pub(crate) struct Changes {
    seq: Seq,
    /// Hash of what is not in a row: cursor, title, size, which screen.
    frame: u64,
    /// Per row: hash of its content and when that was first seen there.
    rows: Vec<(u64, Seq)>,
    /// The screen that is shown, and the other one: the primary and the alternate one.
    shown: Fresh,
    hidden: Fresh,
    is_alternate: bool,
}

/// Whose content is new on a screen, wherever it was.
#[derive(Debug, Default)]
struct Fresh {
    /// Per row: hash of its content and when that was first seen, there or further down.
    rows: Vec<(u64, Seq)>,
    /// By how many rows the screen scrolled, and when that was seen.
    scrolls: VecDeque<(Seq, u16)>,
    /// The last scroll that is no longer remembered.
    forgotten: Option<Seq>,
}

/// Scrolls that are remembered.
const MAX_SCROLLS: usize = 64;
/// Rows that may have changed besides where a screen scrolled: a line that was typed, a status line.
const CHANGED_BESIDES: usize = 3;
/// Furthest that a scroll is looked for.
const MAX_SCROLL: usize = 100;
/// Different rows that have to be found again for a scroll to be one.
const MOVED_AT_LEAST: usize = 3;

impl Changes {
    /// Compares with the last look and returns the current `Seq`.
    pub(crate) fn look(
        &mut self,
        frame: u64,
        is_alternate: bool,
        rows: impl ExactSizeIterator<Item = u64>,
    ) -> Seq {
        let next = Seq(self.seq.0 + 1);
        let rows: Vec<u64> = rows.collect();
        self.note_fresh(&rows, is_alternate, next);
        let mut changed = frame != self.frame || rows.len() != self.rows.len();
        self.frame = frame;
        // A row that did not exist before counts as changed.
        self.rows.resize(rows.len(), (0, next));
        for (known, hash) in self.rows.iter_mut().zip(rows) {
            if known.0 != hash {
                *known = (hash, next);
                changed = true;
            }
        }
        if changed {
            self.seq = next;
        }
        self.seq
    }

    /// Notes whose content is new, and whose was there before, further down or before the other screen.
    fn note_fresh(&mut self, rows: &[u64], is_alternate: bool, next: Seq) {
        if is_alternate != self.is_alternate {
            self.is_alternate = is_alternate;
            std::mem::swap(&mut self.shown, &mut self.hidden);
            if is_alternate {
                // It begins empty.
                self.shown = Fresh::default();
            }
        }
        self.shown.note(rows, next);
    }

    /// Rows whose content is newer than `since` wherever it was, and how far the screen scrolled since:
    /// every other row has moved up that far.
    pub(crate) fn fresh_since(&self, since: Seq) -> (Vec<u16>, u32) {
        self.shown.since(since)
    }

    /// Counts on from `seq`.
    pub(crate) fn start_at(&mut self, seq: Seq) {
        self.seq = seq;
    }

    /// The last `Seq` handed out.
    pub(crate) fn seq(&self) -> Seq {
        self.seq
    }

    /// Rows whose content is newer than `since`.
    pub(crate) fn rows_since(&self, since: Seq) -> Vec<u16> {
        let newer = |(row, (_, seq)): (usize, &(u64, Seq))| (*seq > since).then_some(row as u16);
        self.rows.iter().enumerate().filter_map(newer).collect()
    }
}

impl Fresh {
    fn note(&mut self, rows: &[u64], next: Seq) {
        let known: Vec<u64> = self.rows.iter().map(|(hash, _)| *hash).collect();
        let by = scrolled_by(&known, rows);
        let first_seen = |(row, hash): (usize, &u64)| {
            // A line at the bottom that stays counts as new: all that is not shown has moved alike.
            let known = self.rows.get(row + by.unwrap_or(0)).filter(|(known, _)| known == hash);
            (*hash, known.map_or(next, |(_, seq)| *seq))
        };
        self.rows = rows.iter().enumerate().map(first_seen).collect();
        if let Some(by) = by {
            self.scrolls.push_back((next, by as u16));
        }
        if self.scrolls.len() > MAX_SCROLLS {
            self.forgotten = self.scrolls.pop_front().map(|(seq, _)| seq);
        }
    }

    fn since(&self, since: Seq) -> (Vec<u16>, u32) {
        let rows = self.rows.iter().enumerate();
        if self.forgotten.is_some_and(|forgotten| forgotten > since) {
            return (rows.map(|(row, _)| row as u16).collect(), 0);
        }
        let fresh = rows.filter(|(_, (_, seq))| *seq > since).map(|(row, _)| row as u16);
        let scrolls = self.scrolls.iter().filter(|(seq, _)| *seq > since);
        (fresh.collect(), scrolls.map(|(_, by)| u32::from(*by)).sum())
    }
}

/// By how many rows the known ones moved up, if nearly all others are where they were.
fn scrolled_by(known: &[u64], rows: &[u64]) -> Option<usize> {
    if known.len() != rows.len() || known == rows {
        return None;
    }
    (1..rows.len().min(MAX_SCROLL)).find(|by| {
        let pairs = || known[*by..].iter().zip(rows);
        let other = pairs().filter(|(known, row)| known != row).take(CHANGED_BESIDES + 1).count();
        if other > CHANGED_BESIDES {
            return false;
        }
        let mut found: Vec<u64> = Vec::new();
        for (known, row) in pairs() {
            if known == row && !found.contains(row) && found.len() < MOVED_AT_LEAST {
                found.push(*row);
            }
        }
        found.len() >= MOVED_AT_LEAST
    })
}

/// A fast hash for short-lived comparisons within one process; not for untrusted keys.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowHash(u64);

impl RowHash {
    pub(crate) fn new() -> Self {
        Self(0x9e37_79b9_7f4a_7c15)
    }

    pub(crate) fn add(&mut self, value: u64) {
        self.0 = (self.0.rotate_left(5) ^ value).wrapping_mul(0x517c_c1b7_2722_0a95);
    }

    pub(crate) fn finish(self) -> u64 {
        self.0
    }
}
