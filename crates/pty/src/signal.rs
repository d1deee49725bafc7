//! Signals by name and number.
//!
//! The names are POSIX's and Linux's, with or without `SIG`, in any case; real-time signals are
//! `RTMIN+n`, `RTMAX-n` or a number.

use std::fmt;
use std::str::FromStr;

/// A signal that can be sent to a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Signal(i32);

/// Whom a signal is sent to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SignalScope {
    /// The program itself, the leader of its session.
    Leader,
    /// The terminal's foreground process group: what Ctrl+C would reach.
    Foreground,
    /// Every process of the session, background jobs included.
    Session,
}

/// The text names no signal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown signal {0:?}: give a name such as TERM or SIGINT, or a number")]
pub struct UnknownSignal(pub String);

impl Signal {
    /// `SIGHUP`: the terminal is gone.
    pub const HUP: Self = Self(1);
    /// `SIGINT`: Ctrl+C.
    pub const INT: Self = Self(2);
    /// `SIGQUIT`: Ctrl+\.
    pub const QUIT: Self = Self(3);
    /// `SIGKILL`: cannot be caught.
    pub const KILL: Self = Self(9);
    /// `SIGUSR1`: what it means is the program's own.
    pub const USR1: Self = Self(number_of_usr1());
    /// `SIGTERM`: please end.
    pub const TERM: Self = Self(15);
    /// `SIGWINCH`: the terminal has another size.
    pub const WINCH: Self = Self(28);
    /// `SIGXFSZ`: a file would become larger than a limit allows.
    pub const XFSZ: Self = Self(25);
    /// `SIGCONT`: go on after a stop.
    pub const CONT: Self = Self(number_of_cont());

    /// The signal of that number, if there is one.
    pub fn from_number(number: i32) -> Option<Self> {
        let named = NAMES.iter().any(|&(_, known)| known == number);
        let (least, greatest) = realtime_range();
        (named || (least..=greatest).contains(&number)).then_some(Self(number))
    }

    /// The signal's number on this system.
    pub fn number(self) -> i32 {
        self.0
    }
}

impl FromStr for Signal {
    type Err = UnknownSignal;

    fn from_str(text: &str) -> Result<Self, UnknownSignal> {
        let upper = text.trim().to_ascii_uppercase();
        let name = upper.strip_prefix("SIG").unwrap_or(&upper);
        let (least, greatest) = realtime_range();
        let number = if let Ok(number) = name.parse::<i32>() {
            Some(number)
        } else if let Some(offset) = name.strip_prefix("RTMIN") {
            realtime_offset(offset, '+').map(|offset| least.saturating_add(offset))
        } else if let Some(offset) = name.strip_prefix("RTMAX") {
            realtime_offset(offset, '-').map(|offset| greatest.saturating_sub(offset))
        } else {
            NAMES.iter().find(|&&(known, _)| known == name).map(|&(_, number)| number)
        };
        number.and_then(Self::from_number).ok_or_else(|| UnknownSignal(text.to_owned()))
    }
}

impl fmt::Display for Signal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((name, _)) = NAMES.iter().find(|&&(_, number)| number == self.0) {
            return write!(formatter, "SIG{name}");
        }
        match self.0 - realtime_range().0 {
            0 => formatter.write_str("SIGRTMIN"),
            offset => write!(formatter, "SIGRTMIN+{offset}"),
        }
    }
}

fn realtime_offset(text: &str, sign: char) -> Option<i32> {
    if text.is_empty() {
        return Some(0);
    }
    text.strip_prefix(sign)?.parse::<u8>().ok().map(i32::from)
}

#[cfg(unix)]
const fn number_of_cont() -> i32 {
    libc::SIGCONT
}

#[cfg(not(unix))]
const fn number_of_cont() -> i32 {
    18
}

#[cfg(unix)]
const fn number_of_usr1() -> i32 {
    libc::SIGUSR1
}

#[cfg(not(unix))]
const fn number_of_usr1() -> i32 {
    10
}

#[cfg(target_os = "linux")]
fn realtime_range() -> (i32, i32) {
    (libc::SIGRTMIN(), libc::SIGRTMAX())
}

/// An empty range: no real-time signals.
#[cfg(not(target_os = "linux"))]
fn realtime_range() -> (i32, i32) {
    (1, 0)
}

/// Names and numbers; where a number has two names, the first is the one displayed.
#[cfg(unix)]
const NAMES: &[(&str, i32)] = &[
    ("HUP", libc::SIGHUP),
    ("INT", libc::SIGINT),
    ("QUIT", libc::SIGQUIT),
    ("ILL", libc::SIGILL),
    ("TRAP", libc::SIGTRAP),
    ("ABRT", libc::SIGABRT),
    ("IOT", libc::SIGABRT),
    ("BUS", libc::SIGBUS),
    ("FPE", libc::SIGFPE),
    ("KILL", libc::SIGKILL),
    ("USR1", libc::SIGUSR1),
    ("SEGV", libc::SIGSEGV),
    ("USR2", libc::SIGUSR2),
    ("PIPE", libc::SIGPIPE),
    ("ALRM", libc::SIGALRM),
    ("TERM", libc::SIGTERM),
    #[cfg(target_vendor = "apple")]
    ("EMT", libc::SIGEMT),
    #[cfg(target_vendor = "apple")]
    ("INFO", libc::SIGINFO),
    #[cfg(target_os = "linux")]
    ("STKFLT", libc::SIGSTKFLT),
    ("CHLD", libc::SIGCHLD),
    ("CLD", libc::SIGCHLD),
    ("CONT", libc::SIGCONT),
    ("STOP", libc::SIGSTOP),
    ("TSTP", libc::SIGTSTP),
    ("TTIN", libc::SIGTTIN),
    ("TTOU", libc::SIGTTOU),
    ("URG", libc::SIGURG),
    ("XCPU", libc::SIGXCPU),
    ("XFSZ", libc::SIGXFSZ),
    ("VTALRM", libc::SIGVTALRM),
    ("PROF", libc::SIGPROF),
    ("WINCH", libc::SIGWINCH),
    ("IO", libc::SIGIO),
    #[cfg(target_os = "linux")]
    ("POLL", libc::SIGPOLL),
    #[cfg(target_os = "linux")]
    ("PWR", libc::SIGPWR),
    ("SYS", libc::SIGSYS),
];

#[cfg(not(unix))]
const NAMES: &[(&str, i32)] =
    &[("HUP", 1), ("INT", 2), ("QUIT", 3), ("KILL", 9), ("USR1", 10), ("TERM", 15), ("CONT", 18)];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_of_any_spelling() {
        for text in ["TERM", "SIGTERM", "sigterm", "Term", "15", " term "] {
            assert_eq!(text.parse(), Ok(Signal::TERM), "{text}");
        }
        assert_eq!("WINCH".parse::<Signal>().unwrap().number(), 28);
        assert_eq!("iot".parse::<Signal>().unwrap().to_string(), "SIGABRT");
        for text in ["", "SIG", "NOPE", "0", "-1", "65", "TERM2", "RTMIN+99", "RTMIN-1"] {
            assert_eq!(text.parse::<Signal>(), Err(UnknownSignal(text.to_owned())));
        }
    }

    #[test]
    fn every_signal_survives_display_and_parse() {
        let signals: Vec<_> = (1..=64).filter_map(Signal::from_number).collect();
        assert!(signals.len() >= 31);
        for signal in signals {
            assert_eq!(signal.to_string().parse(), Ok(signal));
        }
    }
}
