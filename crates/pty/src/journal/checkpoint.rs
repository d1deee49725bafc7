//! Checkpoints: what was made of the bytes up to a position, in two slots of which one is active.
//!
//! A slot is its length, position, checksum (`u64` each, little-endian) and a magic number, then the
//! bytes. A store writes the slot that is not active and then makes it the active one, by one atomic
//! store. What was active before is kept up to [`KEPT`] bytes, to fall back to; the memory beyond is
//! given back.

use std::io;
use std::os::unix::fs::FileExt;
use std::sync::atomic::Ordering;

use super::Journal;
use super::checksum::checksum;
use super::layout::{ACTIVE_BIG, ACTIVE_SMALL, stride};
use crate::Checkpoint;

const MAGIC: u64 = u64::from_le_bytes(*b"TBSLOT01");
const HEADER: usize = 32;
/// Of a slot that is not active this much memory is kept.
const KEPT: u64 = 64 << 10;
/// How much is written at a time.
const CHUNK: usize = 4 << 20;

/// How far a store goes; all but the last are for tests.
pub(super) type Steps = usize;
const ALL: Steps = Steps::MAX;

impl Journal {
    /// The most bytes that a checkpoint can have.
    pub fn capacity(&self, kind: Checkpoint) -> u64 {
        match kind {
            Checkpoint::Big => self.layout.big,
            Checkpoint::Small => self.layout.small,
        }
    }

    /// Keeps a checkpoint in place of the last one of its kind: `position` is that of the first byte
    /// which is not in it. On an error the last one stays. Takes as long as a copy.
    pub fn store(&mut self, kind: Checkpoint, position: u64, bytes: &[u8]) -> io::Result<()> {
        self.store_until(kind, position, bytes, ALL)
    }

    /// The last checkpoint of a kind, and its position.
    pub fn load(&self, kind: Checkpoint) -> Option<(u64, Vec<u8>)> {
        let active = self.active(kind)?;
        self.load_slot(kind, active).or_else(|| self.load_slot(kind, 1 - active))
    }

    /// Stops after a number of steps, as a process does that is killed.
    pub(super) fn store_until(
        &mut self,
        kind: Checkpoint,
        position: u64,
        bytes: &[u8],
        mut steps: Steps,
    ) -> io::Result<()> {
        if bytes.len() as u64 > self.capacity(kind) {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let active = self.active(kind);
        let slot = active.map_or(0, |active| 1 - active);
        let at = self.slot_at(kind, slot);
        let mut header = [0; HEADER];
        let fields = [bytes.len() as u64, position, checksum(position, bytes), MAGIC];
        for (place, field) in header.chunks_exact_mut(8).zip(fields) {
            place.copy_from_slice(&field.to_le_bytes());
        }
        let parts = std::iter::once(&header[..]).chain(bytes.chunks(CHUNK));
        let mut place = at;
        for part in parts {
            if steps == 0 {
                return Ok(());
            }
            steps -= 1;
            if let Err(error) = self.file.write_all_at(part, place) {
                self.shrink_slot(kind, slot);
                return Err(error);
            }
            place += part.len() as u64;
        }
        if steps == 0 {
            return Ok(());
        }
        self.map.number(active_at(kind)).store(slot + 1, Ordering::Release);
        if steps > 1 {
            // Also when nothing was there: an earlier store may have been killed in it.
            self.shrink_slot(kind, 1 - slot);
        }
        Ok(())
    }

    fn load_slot(&self, kind: Checkpoint, slot: u64) -> Option<(u64, Vec<u8>)> {
        let at = self.slot_at(kind, slot);
        let mut header = [0; HEADER];
        self.file.read_exact_at(&mut header, at).ok()?;
        let (fields, _) = header.as_chunks::<8>();
        let [length, position, sum, magic] = [0, 1, 2, 3].map(|i| u64::from_le_bytes(fields[i]));
        if magic != MAGIC || length > self.capacity(kind) {
            return None;
        }
        let mut bytes = vec![0; length as usize];
        self.file.read_exact_at(&mut bytes, at + HEADER as u64).ok()?;
        (checksum(position, &bytes) == sum).then_some((position, bytes))
    }

    fn active(&self, kind: Checkpoint) -> Option<u64> {
        let active = self.map.number(active_at(kind)).load(Ordering::Acquire);
        (1..=2).contains(&active).then(|| active - 1)
    }

    fn slot_at(&self, kind: Checkpoint, slot: u64) -> u64 {
        let (at, capacity) = match kind {
            Checkpoint::Big => (self.layout.big_at, self.layout.big),
            Checkpoint::Small => (self.layout.small_at, self.layout.small),
        };
        at + slot * stride(capacity)
    }

    fn shrink_slot(&self, kind: Checkpoint, slot: u64) {
        let length = stride(self.capacity(kind));
        self.punch(self.slot_at(kind, slot) + KEPT, length.saturating_sub(KEPT));
    }
}

fn active_at(kind: Checkpoint) -> usize {
    match kind {
        Checkpoint::Big => ACTIVE_BIG,
        Checkpoint::Small => ACTIVE_SMALL,
    }
}

#[cfg(test)]
impl Journal {
    /// Spoils a byte of the active checkpoint.
    pub(super) fn spoil(&mut self, kind: Checkpoint) {
        let at = self.slot_at(kind, self.active(kind).expect("active"));
        let mut byte = [0];
        self.file.read_exact_at(&mut byte, at + HEADER as u64).expect("read");
        self.file.write_all_at(&[!byte[0]], at + HEADER as u64).expect("written");
    }
}
