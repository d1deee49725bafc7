//! Whether a process is blocked on its terminal's input, or on a pipe's.
//!
//! `/proc/PID/task/TID/syscall` names the system call a sleeping thread is in and its arguments.
//! A read names its descriptor; poll and select point at lists in the process's memory, and an
//! epoll instance lists its members in `fdinfo`. A descriptor is the terminal's if its link in
//! `/proc/PID/fd` says so: no file is opened or looked up, so no file system can stall us.
//!
//! The kernel lets us look at descendants of the same user, also under `ptrace_scope=1`. Where
//! it does not (a set-user-id program), or where the call is one we cannot read, the answer is
//! `Unknown`.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::OnceLock;

use super::Process;
use super::linux::read_short;
use crate::Waiting;

/// Threads looked at in all.
const MAX_THREADS: usize = 256;

/// Descriptors of one poll or select looked at.
const MAX_DESCRIPTORS: usize = 1024;

/// The numbers of the system calls in which a thread waits for input. They are those of the kernel's
/// architecture, which an emulator (qemu-user) does not translate, so they are not those that this program was
/// compiled with.
struct Numbers {
    read: i64,
    readv: i64,
    polls: &'static [i64],
    selects: &'static [i64],
    epolls: &'static [i64],
    restart: i64,
}

const X86_64: Numbers = Numbers {
    read: 0,
    readv: 19,
    polls: &[271, 7],
    selects: &[270, 23],
    epolls: &[281, 441, 232],
    restart: 219,
};

/// Of every architecture that Linux took up since 2012, arm64 among them.
const GENERIC: Numbers =
    Numbers { read: 63, readv: 65, polls: &[73], selects: &[72], epolls: &[22, 441], restart: 128 };

impl Numbers {
    /// A process that asks for its own call is in `read`.
    fn of_kernel() -> &'static Self {
        static OF_KERNEL: OnceLock<&Numbers> = OnceLock::new();
        OF_KERNEL.get_or_init(|| {
            let line = read_short("/proc/thread-self/syscall").unwrap_or_default();
            let number = line.split_ascii_whitespace().next().and_then(|field| field.parse().ok());
            let own = if cfg!(target_arch = "x86_64") { &X86_64 } else { &GENERIC };
            [&X86_64, &GENERIC].into_iter().find(|each| Some(each.read) == number).unwrap_or(own)
        })
    }
}

/// What the processes, together the foreground group, do about the terminal of that name, and the pids of
/// those with a running thread.
pub(crate) fn waiting(processes: &[&Process], terminal: &str) -> (Waiting, Vec<i32>) {
    let threads = processes.iter().flat_map(|process| threads_of(process)).take(MAX_THREADS);
    let mut least = None;
    let mut running = Vec::new();
    for (pid, thread) in threads {
        let call = Call::of(pid, thread);
        if matches!(call, Err(NoCall::Runs)) {
            running.push(pid);
        }
        match (waiting_call(pid, call, &|link| is_terminal(link, terminal)), least) {
            (reading @ (Waiting::Reading | Waiting::ReadingByte), _) => least = Some(reading),
            (_, Some(reading)) if reading.is_reading() => {}
            (Waiting::Polling, _) => least = Some(Waiting::Polling),
            (Waiting::No, None | Some(Waiting::Unknown)) => least = Some(Waiting::No),
            (Waiting::Unknown, None) => least = Some(Waiting::Unknown),
            (Waiting::No | Waiting::Unknown, _) => {}
        }
    }
    // Nobody is there, or no longer.
    (least.unwrap_or(Waiting::No), running)
}

/// The first of these processes that waits for the terminal of that name, which is not their own.
pub(crate) fn waiting_elsewhere(pids: &[i32], terminal: &str) -> Option<(i32, Waiting)> {
    pids.iter().find_map(|&pid| {
        let waiting = waiting_thread(pid, pid, &|link| link.as_os_str() == terminal);
        waiting.is_for_input().then_some((pid, waiting))
    })
}

/// What the process's first thread does about the terminal of that name, and where on its stack.
pub(crate) fn waiting_for_terminal(pid: i32, terminal: &str) -> (Waiting, Option<u64>) {
    let call = Call::of(pid, pid);
    let place = call.as_ref().ok().map(|call| call.stack);
    (waiting_call(pid, call, &|link| is_terminal(link, terminal)), place)
}

/// What the process's first thread does about a file.
pub(crate) fn waiting_for_file(pid: i32, file: &Path) -> Waiting {
    waiting_thread(pid, pid, &|link| link == file)
}

fn threads_of(process: &Process) -> Vec<(i32, i32)> {
    let pid = process.info.pid;
    if process.threads <= 1 {
        return vec![(pid, pid)];
    }
    let Ok(entries) = fs::read_dir(format!("/proc/{pid}/task")) else {
        return Vec::new();
    };
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .map(|thread| (pid, thread))
        .collect()
}

/// The system call that a thread sleeps in.
struct Call {
    number: i64,
    arguments: [u64; 6],
    /// The address on the thread's stack from which it was made.
    stack: u64,
}

/// Why the system call of a thread is not known.
#[derive(Clone, Copy)]
enum NoCall {
    Runs,
    /// It has ended, or sleeps outside of a system call.
    Elsewhere,
    NotShown,
}

impl From<NoCall> for Waiting {
    fn from(reason: NoCall) -> Self {
        match reason {
            NoCall::Runs | NoCall::Elsewhere => Self::No,
            NoCall::NotShown => Self::Unknown,
        }
    }
}

impl Call {
    fn of(pid: i32, thread: i32) -> Result<Self, NoCall> {
        let line = match read_short(&format!("/proc/{pid}/task/{thread}/syscall")) {
            Ok(line) => line,
            Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                return Err(NoCall::NotShown);
            }
            Err(_) => return Err(NoCall::Elsewhere),
        };
        let mut fields = line.split_ascii_whitespace();
        // -1 is outside of a system call, and has no arguments.
        let number = match fields.next() {
            Some("running") => return Err(NoCall::Runs),
            number => number.and_then(|number| number.parse().ok()).ok_or(NoCall::Elsewhere)?,
        };
        let fields: Vec<u64> = fields
            .filter_map(|field| u64::from_str_radix(field.trim_start_matches("0x"), 16).ok())
            .collect();
        // Behind the arguments stand the pointers to its stack and to its code.
        let Some((&arguments, &[stack, _])) = fields.split_first_chunk() else {
            return Err(NoCall::Elsewhere);
        };
        Ok(Self { number, arguments, stack })
    }
}

fn waiting_thread(pid: i32, thread: i32, is_wanted: &dyn Fn(&Path) -> bool) -> Waiting {
    waiting_call(pid, Call::of(pid, thread), is_wanted)
}

/// `is_wanted` judges a descriptor by its link in `/proc`.
fn waiting_call(
    pid: i32,
    call: Result<Call, NoCall>,
    is_wanted: &dyn Fn(&Path) -> bool,
) -> Waiting {
    let (call, first, second, third) = match call {
        Ok(Call { number, arguments: [first, second, third, ..], .. }) => {
            (number, first, second, third)
        }
        Err(reason) => return reason.into(),
    };
    let is_wanted = |descriptor: u64| {
        fs::read_link(format!("/proc/{pid}/fd/{descriptor}")).is_ok_and(|link| is_wanted(&link))
    };
    let numbers = Numbers::of_kernel();
    if call == numbers.read || call == numbers.readv {
        let one = call == numbers.read && third == 1;
        return match is_wanted(first) {
            true if one => Waiting::ReadingByte,
            true => Waiting::Reading,
            false => Waiting::No,
        };
    }
    let watched = if numbers.polls.contains(&call) {
        polled(pid, first, second)
    } else if numbers.selects.contains(&call) {
        selected(pid, first, second)
    } else if numbers.epolls.contains(&call) {
        members(pid, first)
    } else if call == numbers.restart {
        None
    } else {
        return Waiting::No;
    };
    match watched {
        None => Waiting::Unknown,
        Some(watched) if watched.iter().copied().any(is_wanted) => Waiting::Polling,
        Some(_) => Waiting::No,
    }
}

/// The kernel's name for the terminal itself, or for "my controlling terminal".
fn is_terminal(link: &Path, terminal: &str) -> bool {
    link.as_os_str() == terminal || link.as_os_str() == "/dev/tty"
}

/// `struct pollfd { int fd; short events; short revents; }`, those that wait for input.
fn polled(pid: i32, address: u64, count: u64) -> Option<Vec<u64>> {
    const WANTED: i16 = libc::POLLIN | libc::POLLRDNORM;
    let count = (count as usize).min(MAX_DESCRIPTORS);
    let bytes = memory(pid, address, count * 8)?;
    let (entries, _) = bytes.as_chunks::<8>();
    let wanted = entries.iter().filter_map(|&[a, b, c, d, e, f, _, _]| {
        let descriptor = i32::from_ne_bytes([a, b, c, d]);
        let events = i16::from_ne_bytes([e, f]);
        (events & WANTED != 0).then(|| u64::try_from(descriptor).ok()).flatten()
    });
    Some(wanted.collect())
}

/// The bits of the read set.
fn selected(pid: i32, count: u64, address: u64) -> Option<Vec<u64>> {
    let count = (count as usize).min(MAX_DESCRIPTORS);
    if address == 0 {
        return Some(Vec::new());
    }
    let bytes = memory(pid, address, count.div_ceil(8))?;
    Some((0..count).filter(|&n| bytes[n / 8] >> (n % 8) & 1 == 1).map(|n| n as u64).collect())
}

/// Lines `tfd: 0 events: 19 data: …`, the events in hexadecimal.
fn members(pid: i32, epoll: u64) -> Option<Vec<u64>> {
    let info = fs::read_to_string(format!("/proc/{pid}/fdinfo/{epoll}")).ok()?;
    let wanted = info.lines().take(MAX_DESCRIPTORS).filter_map(|line| {
        let mut fields = line.split_ascii_whitespace();
        let descriptor = fields.by_ref().skip_while(|&field| field != "tfd:").nth(1)?;
        let events = fields.skip_while(|&field| field != "events:").nth(1)?;
        let events = u32::from_str_radix(events, 16).ok()?;
        (events & libc::EPOLLIN as u32 != 0).then(|| descriptor.parse().ok()).flatten()
    });
    Some(wanted.collect())
}

fn memory(pid: i32, address: u64, length: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![0; length];
    File::open(format!("/proc/{pid}/mem")).ok()?.read_exact_at(&mut bytes, address).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn the_numbers_are_the_kernels() {
        let Numbers { read, readv, polls, selects, epolls, restart } = &X86_64;
        assert_eq!(
            (*read, *readv, *restart),
            (libc::SYS_read, libc::SYS_readv, libc::SYS_restart_syscall)
        );
        assert_eq!(*polls, [libc::SYS_ppoll, libc::SYS_poll]);
        assert_eq!(*selects, [libc::SYS_pselect6, libc::SYS_select]);
        assert_eq!(*epolls, [libc::SYS_epoll_pwait, libc::SYS_epoll_pwait2, libc::SYS_epoll_wait]);
        assert_eq!(Numbers::of_kernel().read, libc::SYS_read);
    }

    #[test]
    #[cfg(target_arch = "aarch64")]
    fn the_numbers_are_those_of_the_headers() {
        let Numbers { read, readv, polls, selects, epolls, restart } = &GENERIC;
        assert_eq!(
            (*read, *readv, *restart),
            (libc::SYS_read, libc::SYS_readv, libc::SYS_restart_syscall)
        );
        assert_eq!(*polls, [libc::SYS_ppoll]);
        assert_eq!(*selects, [libc::SYS_pselect6]);
        assert_eq!(*epolls, [libc::SYS_epoll_pwait, libc::SYS_epoll_pwait2]);
    }
}
