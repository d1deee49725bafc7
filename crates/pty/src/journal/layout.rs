//! The journal's header and where its parts are.
//!
//! The header says where everything is, so that a later version may place it otherwise:
//!
//! | offset | field |
//! | --- | --- |
//! | 0 | magic, 8 bytes |
//! | 8 | version that wrote it, `u32` |
//! | 12 | oldest version that can read it, `u32` |
//! | 16 | offset and size of the ring |
//! | 32 | offset of the two big slots, the most that one holds |
//! | 48 | the same of the two small slots |
//! | 128 | head: bytes ever read |
//! | 136 | intent: where the place of the read under way ends |
//! | 144 | bytes before this were given up |
//! | 152 | how the read under way was announced (`ring`) |
//! | 160 | where the farthest place of a read ended |
//! | 192, 200 | the active big and small slot: 0 none, 1 A, 2 B |
//! | 256 | the registers, numbers of the server's own |
//!
//! All are little-endian `u64` unless said otherwise; the rest of the page is zero, which is what a
//! later version finds in a field that an earlier one did not know. The numbers from 128 on are used as atomics in the machine's own order: the memory never leaves the machine, and
//! a big-endian machine reads its own.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use crate::JournalSize;

/// The unit of everything in the file.
pub(super) const PAGE: u64 = 4096;
const MAGIC: &[u8; 8] = b"TBJOURNL";
const VERSION: u32 = 1;
/// The oldest version that can use what this one writes.
const READABLE_SINCE: u32 = 1;
const FIXED: usize = 64;

pub(super) const HEAD: usize = 128;
pub(super) const INTENT: usize = 136;
pub(super) const GIVEN_UP: usize = 144;
pub(super) const WAY: usize = 152;
pub(super) const TOUCHED: usize = 160;
pub(super) const ACTIVE_BIG: usize = 192;
pub(super) const ACTIVE_SMALL: usize = 200;
pub(super) const REGISTERS: usize = 256;

const LEAST_RING: u64 = 64 << 10;
const GREATEST: u64 = 1 << 30;

/// Where the parts are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(super) ring_at: u64,
    pub(super) ring: u64,
    pub(super) big_at: u64,
    pub(super) big: u64,
    pub(super) small_at: u64,
    pub(super) small: u64,
}

impl Layout {
    /// `None` for sizes out of bounds.
    pub(crate) fn of(size: JournalSize) -> Option<Self> {
        let slot = |size: u64| (1..=GREATEST).contains(&size).then(|| size.next_multiple_of(PAGE));
        let ring = slot(size.ring).filter(|ring| *ring >= LEAST_RING)?;
        let (big, small) = (slot(size.big)?, slot(size.small)?);
        let big_at = PAGE + ring;
        Some(Self { ring_at: PAGE, ring, big_at, big, small_at: big_at + 2 * stride(big), small })
    }

    /// The file's length.
    pub(crate) fn length(&self) -> u64 {
        (self.small_at + 2 * stride(self.small)).max(self.big_at + 2 * stride(self.big))
    }

    /// Header and ring.
    pub(super) fn mapped(&self) -> u64 {
        self.ring_at + self.ring
    }

    /// The constant part of the header.
    pub(crate) fn header(&self) -> [u8; FIXED] {
        let mut header = [0; FIXED];
        header[..8].copy_from_slice(MAGIC);
        header[8..12].copy_from_slice(&VERSION.to_le_bytes());
        header[12..16].copy_from_slice(&READABLE_SINCE.to_le_bytes());
        let fields = [self.ring_at, self.ring, self.big_at, self.big, self.small_at, self.small];
        for (place, field) in header[16..].chunks_exact_mut(8).zip(fields) {
            place.copy_from_slice(&field.to_le_bytes());
        }
        header
    }

    /// The layout of a file that some version has made.
    pub(super) fn read(file: &File) -> io::Result<Self> {
        let invalid = |reason| io::Error::new(io::ErrorKind::InvalidData, reason);
        let mut header = [0; FIXED];
        file.read_exact_at(&mut header, 0)?;
        if &header[..8] != MAGIC {
            return Err(invalid("not a journal"));
        }
        let word = |at: usize| {
            let mut word = [0; 4];
            word.copy_from_slice(&header[at..at + 4]);
            u32::from_le_bytes(word)
        };
        if word(12) > VERSION {
            return Err(invalid("the journal is of a version that this one cannot read"));
        }
        let field = |index: usize| {
            let at = 16 + 8 * index;
            u64::from(word(at)) | u64::from(word(at + 4)) << 32
        };
        let layout = Self {
            ring_at: field(0),
            ring: field(1),
            big_at: field(2),
            big: field(3),
            small_at: field(4),
            small: field(5),
        };
        if layout.is_within(file.metadata()?.len()) {
            Ok(layout)
        } else {
            Err(invalid("the journal's parts are not within it"))
        }
    }

    fn is_within(&self, length: u64) -> bool {
        let is_part = |at: u64, size: u64| {
            (PAGE..=length).contains(&at)
                && (1..=GREATEST).contains(&size)
                && at.is_multiple_of(PAGE)
                && size.is_multiple_of(PAGE)
        };
        is_part(self.ring_at, self.ring)
            && is_part(self.big_at, self.big)
            && is_part(self.small_at, self.small)
            && self.mapped() <= length
            && self.length() <= length
    }
}

/// From slot A to slot B: what it holds and a page for its header.
pub(super) fn stride(capacity: u64) -> u64 {
    capacity + PAGE
}
