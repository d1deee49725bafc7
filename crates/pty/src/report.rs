//! What is known of a program: how it ended, what runs in its session, what it waits for.

use std::ffi::OsString;
use std::path::PathBuf;

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ExitStatus {
    /// It exited with this code.
    Code(i32),
    /// A signal ended it.
    Signal {
        /// The signal's number.
        number: i32,
        /// Whether a core file was written.
        core_dumped: bool,
    },
    /// Not known: the keeper died, and with it whoever could have waited for the program.
    Lost,
}

/// One process of a session, or one that descends from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessInfo {
    /// Process id.
    pub pid: i32,
    /// The parent's process id.
    pub parent: i32,
    /// Process group.
    pub group: i32,
    /// Session id.
    pub session: i32,
    /// The kernel's letter: `R` running, `S` sleeping, `D` in the kernel, `T` stopped, `Z` zombie. In the
    /// foreground of a survey it is `R` if any thread runs.
    pub state: char,
    /// The command's name as the kernel has it (15 bytes at most).
    pub name: String,
    /// Processor time used, user and system, in clock ticks.
    pub ticks: u64,
}

/// What a process was started with, by its last `execve`, and where it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessStart {
    /// The executable's path.
    pub program: PathBuf,
    /// The arguments after `argv[0]`; empty ones are left out.
    pub args: Vec<OsString>,
    /// The environment.
    pub env: Vec<(OsString, OsString)>,
    /// The working directory.
    pub cwd: PathBuf,
}

/// Whether the foreground process waits for the terminal's input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Waiting {
    /// It is blocked in a read of the terminal.
    Reading,
    /// The same for a single byte, as a shell's `read` does it.
    ReadingByte,
    /// It is blocked in poll, select or epoll with the terminal among what it watches.
    Polling,
    /// It runs, or is blocked on something else.
    No,
    /// The kernel would not say (another user's process, no `/proc`).
    Unknown,
}

impl Waiting {
    /// It is blocked in a read of the terminal.
    pub fn is_reading(self) -> bool {
        matches!(self, Self::Reading | Self::ReadingByte)
    }

    /// It does nothing until there is input.
    pub fn is_for_input(self) -> bool {
        self.is_reading() || self == Self::Polling
    }
}

/// What runs on a terminal at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Survey {
    /// The foreground process group, when there is one.
    pub foreground: Option<i32>,
    /// The living processes of the session.
    pub processes: Vec<ProcessInfo>,
    /// Living processes that descend from the program but left its session.
    pub detached: Vec<ProcessInfo>,
    /// How many more there were than the two lists hold.
    pub unlisted: u32,
    /// What the foreground group does; where it does nothing about the terminal, though the terminal is
    /// raw or hides what is typed, what any other process does that reads it.
    pub waiting: Waiting,
    /// The foreground group runs others on terminals of its own (`script`, `sudo`): what those do there.
    pub beyond: Option<Waiting>,
}

/// What came of stopping a program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StopReport {
    /// How the program itself ended; `None` when it could not be ended.
    pub status: Option<ExitStatus>,
    /// How many processes outlasted the grace and were killed.
    pub killed: u32,
    /// How many processes of the session are still there (stuck in the kernel).
    pub remaining: u32,
    /// Living processes that descend from the program but left its session: not signalled.
    pub detached: Vec<ProcessInfo>,
    /// How many more there were than `detached` holds.
    pub unlisted: u32,
}

/// The terminal's line discipline, as the program has set it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LineMode {
    /// Input is gathered into lines (`ICANON`).
    pub canonical: bool,
    /// Input is echoed (`ECHO`); off in canonical mode means a password is asked for.
    pub echo: bool,
    /// Control characters raise signals (`ISIG`).
    pub signals: bool,
    /// Input is taken as UTF-8 (`IUTF8`).
    pub utf8: bool,
    /// A return is read as a newline (`ICRNL`).
    pub return_is_newline: bool,
    /// A newline is read as a return (`INLCR`).
    pub newline_is_return: bool,
    /// Output is processed (`OPOST`).
    pub processes_output: bool,
    /// The key that lets stopped output go on, where one stops it (`IXON`, `VSTART`).
    pub resumes_output: Option<u8>,
}

#[cfg(unix)]
impl LineMode {
    /// What the terminal's settings say.
    pub(crate) fn of(modes: &libc::termios) -> Self {
        let (local, input) = (modes.c_lflag, modes.c_iflag);
        let resumes = modes.c_cc[libc::VSTART];
        Self {
            canonical: local & libc::ICANON != 0,
            echo: local & libc::ECHO != 0,
            signals: local & libc::ISIG != 0,
            utf8: input & libc::IUTF8 != 0,
            return_is_newline: input & libc::ICRNL != 0,
            newline_is_return: input & libc::INLCR != 0,
            processes_output: modes.c_oflag & libc::OPOST != 0,
            resumes_output: Some(resumes).filter(|key| input & libc::IXON != 0 && *key != 0),
        }
    }
}
