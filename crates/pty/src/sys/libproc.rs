//! What macOS tells of processes: `libproc.h` and `sysctl`.
//!
//! `proc_pidinfo` gives all but the short form only to the process's user and to root. Zombies are shown
//! where asked for. There is no session id in any of the structures: `getsid` has it.

use std::ffi::{c_char, c_int, c_void};
use std::mem::MaybeUninit;
use std::sync::OnceLock;

/// Which processes a list is to hold, as in `sys/proc_info.h`.
#[derive(Clone, Copy)]
pub(crate) enum Listed {
    All,
    ChildrenOf(i32),
}

/// Room for processes that start between the two calls of a listing.
const SLACK: usize = 64;

/// `ARG_MAX`: no process has more arguments and variables than this.
const MOST_ARGUMENTS: usize = 1 << 20;

/// The pids of processes, zombies included.
pub(crate) fn pids(listed: Listed) -> Vec<i32> {
    const PROC_ALL_PIDS: u32 = 1;
    const PROC_PPID_ONLY: u32 = 6;
    let (kind, of) = match listed {
        Listed::All => (PROC_ALL_PIDS, 0),
        Listed::ChildrenOf(pid) => (PROC_PPID_ONLY, pid as u32),
    };
    // SAFETY: without a buffer the call gives the number of bytes that a list of every process takes.
    let size = unsafe { libc::proc_listpids(kind, of, std::ptr::null_mut(), 0) };
    let mut pids = vec![0i32; usize::try_from(size).unwrap_or(0) / size_of::<i32>() + SLACK];
    let room = (pids.len() * size_of::<i32>()) as c_int;
    // SAFETY: the buffer lives through the call and has the size that is passed.
    let filled = unsafe { libc::proc_listpids(kind, of, pids.as_mut_ptr().cast(), room) };
    pids.truncate(usize::try_from(filled).unwrap_or(0) / size_of::<i32>());
    pids.retain(|&pid| pid > 0);
    pids
}

/// A structure that `proc_pidinfo` fills.
///
/// # Safety
///
/// It is the structure of `FLAVOR`, and valid with any bytes in it.
unsafe trait PidInfo {
    const FLAVOR: c_int;
    const ARGUMENT: u64 = 0;
}

/// For the flavours that can show zombies.
const ZOMBIES_TOO: u64 = 1;

// SAFETY: of this flavour; integers and arrays of them.
unsafe impl PidInfo for libc::proc_bsdinfo {
    const FLAVOR: c_int = libc::PROC_PIDTBSDINFO;
    const ARGUMENT: u64 = ZOMBIES_TOO;
}

// SAFETY: of this flavour; integers and arrays of them.
unsafe impl PidInfo for libc::proc_bsdshortinfo {
    const FLAVOR: c_int = libc::PROC_PIDT_SHORTBSDINFO;
    const ARGUMENT: u64 = ZOMBIES_TOO;
}

// SAFETY: of this flavour; integers.
unsafe impl PidInfo for libc::proc_taskinfo {
    const FLAVOR: c_int = libc::PROC_PIDTASKINFO;
}

// SAFETY: of this flavour; integers and arrays of them.
unsafe impl PidInfo for libc::proc_vnodepathinfo {
    const FLAVOR: c_int = libc::PROC_PIDVNODEPATHINFO;
}

fn info<T: PidInfo>(pid: i32) -> Option<T> {
    let mut found = MaybeUninit::<T>::zeroed();
    let size = size_of::<T>() as c_int;
    let place = found.as_mut_ptr().cast::<c_void>();
    // SAFETY: the buffer lives through the call and has the size that is passed.
    let filled = unsafe { libc::proc_pidinfo(pid, T::FLAVOR, T::ARGUMENT, place, size) };
    // SAFETY: zeroed, then filled; any bytes are valid.
    (filled == size).then(|| unsafe { found.assume_init() })
}

/// Of our own user's process, or of any for root.
pub(crate) fn whole(pid: i32) -> Option<libc::proc_bsdinfo> {
    info(pid)
}

/// Of anybody's process.
pub(crate) fn short(pid: i32) -> Option<libc::proc_bsdshortinfo> {
    info(pid)
}

/// What its threads do; not of a zombie.
pub(crate) fn task(pid: i32) -> Option<libc::proc_taskinfo> {
    info(pid)
}

/// The path of the working directory.
pub(crate) fn working_directory(pid: i32) -> Option<Vec<u8>> {
    let found: libc::proc_vnodepathinfo = info(pid)?;
    let path = text(found.pvi_cdir.vip_path.as_flattened());
    (!path.is_empty()).then_some(path)
}

/// The bytes of a C string in an array.
pub(crate) fn text(characters: &[c_char]) -> Vec<u8> {
    characters.iter().map(|&each| each as u8).take_while(|&byte| byte != 0).collect()
}

/// The path of the executable.
pub(crate) fn executable(pid: i32) -> Option<Vec<u8>> {
    let mut path = vec![0u8; libc::PROC_PIDPATHINFO_MAXSIZE as usize];
    // SAFETY: the buffer lives through the call and has the size that is passed.
    let length = unsafe { libc::proc_pidpath(pid, path.as_mut_ptr().cast(), path.len() as u32) };
    path.truncate(usize::try_from(length).ok().filter(|length| *length > 0)?);
    Some(path)
}

/// The arguments and the environment, as `process_table::arguments` reads them. Of a program of the
/// system's own the kernel leaves out the environment.
pub(crate) fn arguments(pid: i32) -> Option<Vec<u8>> {
    let mut name = [libc::CTL_KERN, libc::KERN_PROCARGS2, pid];
    let mut bytes = vec![0u8; MOST_ARGUMENTS];
    let mut length = bytes.len();
    // SAFETY: the name, the buffer and the length live through the call; the length is the buffer's, and
    // nothing is to be set.
    let done = unsafe {
        libc::sysctl(
            name.as_mut_ptr(),
            name.len() as u32,
            bytes.as_mut_ptr().cast(),
            &raw mut length,
            std::ptr::null_mut(),
            0,
        )
    };
    bytes.truncate(length);
    (done == 0).then_some(bytes)
}

/// The session of any process that is no zombie.
pub(crate) fn session(pid: i32) -> Option<i32> {
    // SAFETY: takes an integer; touches no memory of ours.
    let session = unsafe { libc::getsid(pid) };
    (session > 0).then_some(session)
}

/// Nanoseconds per unit of the times in `proc_taskinfo`, as a fraction.
#[allow(deprecated)] // libc sends us to another crate for one function.
pub(crate) fn time_unit() -> (u32, u32) {
    static UNIT: OnceLock<(u32, u32)> = OnceLock::new();
    *UNIT.get_or_init(|| {
        let mut unit = libc::mach_timebase_info { numer: 1, denom: 1 };
        // SAFETY: the structure lives through the call, which fills it.
        unsafe {
            libc::mach_timebase_info(&raw mut unit);
        }
        (unit.numer.max(1), unit.denom.max(1))
    })
}
