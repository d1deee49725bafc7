//! Shared memory beside a terminal in which nothing that was read is lost.
//!
//! The keeper makes one file in memory per program and holds it; the server maps it. What the server
//! reads from the terminal goes into the ring before anything is done with it, and what it made of
//! those bytes (a dump of the screen, the state of a session) is kept in checkpoints. A server that is
//! killed leaves both to the next one: the last checkpoint and the bytes since.
//!
//! ```text
//! ┌────────┬──────────────┬───────┬───────┬─────────┬─────────┐
//! │ header │ ring         │ big A │ big B │ small A │ small B │   sparse: only touched pages cost memory
//! └────────┴──────────────┴───────┴───────┴─────────┴─────────┘
//! ```
//!
//! * [`layout`] is the header and where the parts are; [`mapping`] the memory; [`ring`] the bytes that
//!   were read; [`checkpoint`] the A/B slots.
//!
//! # Invariants
//!
//! * A process that is killed at any instruction leaves a state that opens and loads: a position or an
//!   active slot is changed by one atomic store, after what it refers to was written.
//! * The file never shrinks (sealed on Linux), so the mapping cannot fault.
//! * One handle writes at a time. The keeper hands a journal to the server that holds the program and to
//!   nobody else, and a server that was told of its successor reads no more.
//! * A count or an offset found in the file is checked against the file's size before it is used.

mod checkpoint;
mod checksum;
mod layout;
mod make;
mod mapping;
mod ring;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::Ordering;

pub(crate) use layout::Layout;
pub(crate) use make::make;
use mapping::Mapping;

use crate::Register;

/// The bytes that were read from a terminal, and checkpoints of what was made of them.
///
/// Positions count bytes from the first one ever read from the terminal.
#[derive(Debug)]
pub struct Journal {
    file: File,
    map: Mapping,
    layout: Layout,
    /// The ring is blank from the head to here.
    blank_until: u64,
    /// Reads that begin before this are exact.
    exact_until: u64,
    exact_way: u64,
}

impl Journal {
    /// Opens what the keeper made, and settles a read that a killed server left unfinished.
    pub(crate) fn open(file: OwnedFd) -> io::Result<Self> {
        let file = File::from(file);
        check_seals(&file)?;
        let layout = Layout::read(&file)?;
        let length = usize::try_from(layout.mapped()).map_err(io::Error::other)?;
        let map = Mapping::new(&file, length)?;
        let mut journal =
            Self { file, map, layout, blank_until: 0, exact_until: 0, exact_way: ring::UNKNOWN };
        journal.settle();
        // What the output is like is not known yet.
        journal.exact_until = journal.head() + 1;
        Ok(journal)
    }

    /// The number of bytes that the ring holds before it overwrites the oldest.
    pub fn ring_size(&self) -> u64 {
        self.layout.ring
    }

    /// Sets a number that the next server finds.
    pub fn set(&self, register: Register, value: u64) {
        self.map.number(place(register)).store(value, Ordering::Release);
    }

    /// The number as it was last set, by whichever server; 0 if it never was.
    pub fn get(&self, register: Register) -> u64 {
        self.map.number(place(register)).load(Ordering::Acquire)
    }

    fn punch(&self, at: u64, length: u64) {
        if length == 0 {
            return;
        }
        // A file system that cannot only costs memory.
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::FallocateFlags;
            let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
            let _ = rustix::fs::fallocate(&self.file, flags, at, length);
        }
        #[cfg(not(target_os = "linux"))]
        let _ = (&self.file, at);
    }
}

/// Where a register is, which never changes.
fn place(register: Register) -> usize {
    let index = match register {
        Register::Seq => 0,
        Register::Printed => 1,
        Register::Written => 2,
    };
    layout::REGISTERS + 8 * index
}

/// A file that could shrink could fault under the mapping.
#[cfg(target_os = "linux")]
fn check_seals(file: &File) -> io::Result<()> {
    let seals = rustix::fs::fcntl_get_seals(file)?;
    if seals.contains(rustix::fs::SealFlags::SHRINK) {
        Ok(())
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidData, "the journal is not sealed"))
    }
}

#[cfg(not(target_os = "linux"))]
#[allow(clippy::unnecessary_wraps)]
fn check_seals(_: &File) -> io::Result<()> {
    Ok(())
}
