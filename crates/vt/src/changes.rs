//! The change counter: which rows differ since a reader last looked.
//!
//! A [`Seq`] is handed out whenever someone looks. Between two looks rows are compared by hash, so
//! feeding costs nothing, a row redrawn with the same content is unchanged, and any `Seq` that was
//! handed out can be asked about later.

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
    /// Per row: hash of its content and when that was first seen.
    rows: Vec<(u64, Seq)>,
}

impl Changes {
    /// Compares with the last look and returns the current `Seq`.
    pub(crate) fn look(&mut self, frame: u64, rows: impl ExactSizeIterator<Item = u64>) -> Seq {
        let next = Seq(self.seq.0 + 1);
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
