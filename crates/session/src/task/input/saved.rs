//! Input that is not written yet, as it is saved for the next server.
//!
//! What was written is counted in the journal before each write, so a key that a server was about to
//! write when it died is not typed twice. It may be lost: its client is told that it may not have
//! arrived. What was written since the queue was saved answers what the program asked since, and comes
//! up again when that is followed again.

use std::time::Duration;

use serde_bytes::ByteBuf;

use super::queue::{InputQueue, Piece};
use crate::saved::{SavedInput, SavedPiece};

impl InputQueue {
    pub(in crate::task) fn save(&self) -> SavedInput {
        SavedInput {
            written: self.written_bytes,
            pieces: self.pieces.iter().map(Piece::save).collect(),
            held: self.held.iter().map(Piece::save).collect(),
            held_interrupt: self.held_interrupt,
        }
    }

    /// The queue as it was saved, less what was written since: `written` bytes in all.
    pub(in crate::task) fn load(saved: SavedInput, written: u64) -> Self {
        let mut queue = Self {
            held: saved.held.into_iter().map(Piece::load).collect(),
            held_interrupt: saved.held_interrupt,
            written_bytes: written.max(saved.written),
            repeated: written.saturating_sub(saved.written),
            ..Self::default()
        };
        saved.pieces.into_iter().map(Piece::load).for_each(|piece| queue.push(piece));
        queue
    }
}

impl Piece {
    fn save(&self) -> SavedPiece {
        SavedPiece {
            bytes: ByteBuf::from(self.bytes.iter().copied().collect::<Vec<_>>()),
            pause_ms: u64::try_from(self.pause.as_millis()).unwrap_or(u64::MAX),
            answers: self.answers,
            begun: self.begun,
        }
    }

    fn load(saved: SavedPiece) -> Self {
        Self {
            pause: Duration::from_millis(saved.pause_ms),
            answers: saved.answers,
            begun: saved.begun,
            ..saved.bytes.into_vec().into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_since_is_not_written_again() {
        let mut queue = InputQueue::default();
        queue.push(b"first".to_vec().into());
        queue.push(b"second".to_vec().into());
        queue.held.push(b"held".to_vec().into());
        let bytes = |queue: &InputQueue| -> Vec<u8> {
            queue.pieces.iter().flat_map(|piece| piece.bytes.iter().copied()).collect()
        };
        for written in 0..=11 {
            let loaded = InputQueue::load(queue.save(), written);
            assert_eq!(bytes(&loaded), b"firstsecond"[written as usize..]);
            assert_eq!((loaded.len(), loaded.held_len()), (11 - written as usize, 4));
        }
        // What was queued only after it was saved.
        let mut loaded = InputQueue::load(queue.save(), 14);
        loaded.push(b"answer".to_vec().into());
        assert_eq!(bytes(&loaded), b"wer");
    }
}
