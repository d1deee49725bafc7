//! What the system offers and allows, for whoever reports it. Nothing in this crate depends on it.

use std::io;
use std::path::Path;

use rustix::process::{Resource, getrlimit};

/// Bytes that this user may still write to the file system of a path.
pub fn free_space(path: &Path) -> io::Result<u64> {
    let found = rustix::fs::statvfs(path)?;
    Ok(found.f_bavail.saturating_mul(found.f_frsize))
}

/// How many files a process may have open; `None` if there is no limit.
pub fn descriptor_limit() -> Option<u64> {
    getrlimit(Resource::Nofile).current
}

/// The version of Landlock's interface, with which a process can give up rights to files; `None` if the kernel has none,
/// or it is turned off.
#[cfg(target_os = "linux")]
pub fn landlock_abi() -> Option<u32> {
    /// Asks for the version instead of making a rule set.
    const VERSION: libc::c_long = 1;
    let (none, size): (*const libc::c_void, usize) = (std::ptr::null(), 0);
    // SAFETY: with this flag the kernel reads no memory of ours and makes nothing.
    let answer = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, none, size, VERSION) };
    u32::try_from(answer).ok().filter(|abi| *abi > 0)
}

/// Whether a process can be held by a descriptor, so that its number means no other one.
#[cfg(target_os = "linux")]
pub fn has_pidfd() -> bool {
    use rustix::process::{PidfdFlags, getpid, pidfd_open};
    pidfd_open(getpid(), PidfdFlags::empty()).is_ok()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_is_asked() {
        assert!(free_space(Path::new("/")).is_ok());
        assert!(free_space(Path::new("/no/such/folder")).is_err());
        assert!(descriptor_limit().is_none_or(|limit| limit > 0));
        // A kernel that lists Landlock among its security modules has a version of it.
        let modules = std::fs::read_to_string("/sys/kernel/security/lsm").unwrap_or_default();
        if modules.contains("landlock") {
            assert!(landlock_abi().is_some());
        }
    }
}
