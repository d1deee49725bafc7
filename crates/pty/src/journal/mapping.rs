//! The header and the ring as memory that is shared with the keeper's file.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::ptr::NonNull;
use std::sync::atomic::AtomicU64;

use super::layout::PAGE;

/// A shared mapping of the file's first bytes. The first page is used as atomics only, what follows as
/// bytes only.
#[derive(Debug)]
pub(super) struct Mapping {
    address: NonNull<u8>,
    length: usize,
}

// SAFETY: the memory is not bound to a thread; what `&self` gives is atomics and bytes that only
// `&mut self` changes.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps the file, which must be at least as long and never shrink.
    pub(super) fn new(file: &File, length: usize) -> io::Result<Self> {
        // SAFETY: a new mapping at a place of the kernel's choice touches no memory of ours; the
        // descriptor is open through the call.
        let address = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                length,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                file.as_raw_fd(),
                0,
            )
        };
        if address == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let address = NonNull::new(address.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { address, length })
    }

    /// A number in the header.
    pub(super) fn number(&self, at: usize) -> &AtomicU64 {
        assert!(at.is_multiple_of(8) && at + 8 <= PAGE as usize && PAGE as usize <= self.length);
        // SAFETY: within the mapping and aligned, as just checked; the header is never given out as
        // plain bytes, so all access to it is atomic.
        unsafe { AtomicU64::from_ptr(self.address.as_ptr().add(at).cast()) }
    }

    /// Bytes behind the header.
    pub(super) fn bytes(&self, range: Range<usize>) -> &[u8] {
        self.check(&range);
        // SAFETY: within the mapping, as just checked, and initialised, as a file is. This process
        // changes it through `&mut self` only. Other processes do not: the keeper never writes, and
        // it hands the file to one server at a time (see the module above).
        unsafe { std::slice::from_raw_parts(self.address.as_ptr().add(range.start), range.len()) }
    }

    /// The same, to be written.
    pub(super) fn bytes_mut(&mut self, range: Range<usize>) -> &mut [u8] {
        self.check(&range);
        // SAFETY: as in `bytes`, and `&mut self` is the only access of this process.
        unsafe {
            std::slice::from_raw_parts_mut(self.address.as_ptr().add(range.start), range.len())
        }
    }

    fn check(&self, range: &Range<usize>) {
        assert!(
            range.start >= PAGE as usize && range.start <= range.end && range.end <= self.length
        );
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: unmaps exactly what was mapped; nothing borrowed from it outlives this.
        unsafe {
            libc::munmap(self.address.as_ptr().cast(), self.length);
        }
    }
}
