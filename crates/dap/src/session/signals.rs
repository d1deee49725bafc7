//! Names and numbers of signals.

use super::state::State;

/// The signal that a stop's description begins with: `signal SIGSEGV: …`.
pub(super) fn signal_in(description: &str) -> Option<String> {
    let name = description.strip_prefix("signal ")?;
    let end = name.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(name.len());
    Some(name[..end].to_owned())
}

/// Signals by their numbers, from 1.
pub(super) const SIGNALS: [&str; 15] = [
    "SIGHUP", "SIGINT", "SIGQUIT", "SIGILL", "SIGTRAP", "SIGABRT", "SIGBUS", "SIGFPE", "SIGKILL",
    "SIGUSR1", "SIGSEGV", "SIGUSR2", "SIGPIPE", "SIGALRM", "SIGTERM",
];

/// The number of a signal.
pub(super) fn signal_number(name: &str) -> Option<i64> {
    SIGNALS.iter().zip(1..).find(|(known, _)| **known == name).map(|(_, number)| number)
}

/// The name of a signal by its number.
pub(super) fn signal_name(number: i64) -> Option<&'static str> {
    SIGNALS.get(usize::try_from(number).ok()?.checked_sub(1)?).copied()
}

impl State {
    /// The signal that the adapter tells by the same exit code.
    pub(crate) fn perhaps_signal(&self) -> Option<String> {
        let number = self.adapter.quirks().perhaps_signal(self.exit_code?)?;
        signal_name(number).map(str::to_owned)
    }
}
