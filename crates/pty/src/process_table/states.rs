//! What follows from the states of processes and their threads alone, where the kernel does not show what
//! they sleep in: one that runs does not wait for input, and one that sleeps may. Pure.

use super::Process;
use crate::Waiting;

/// `p_stat` of `sys/proc.h`.
const STOPPED: u32 = 4;
const ZOMBIE: u32 = 5;

/// The letter of a process's state. `p_stat` says "running" of one that sleeps too, so the number of its
/// threads that run has to tell; `?` where that is not shown.
pub(super) fn letter(status: u32, running: Option<u32>) -> char {
    match (status, running) {
        (ZOMBIE, _) => 'Z',
        (STOPPED, _) => 'T',
        (_, None) => '?',
        (_, Some(0)) => 'S',
        (_, Some(_)) => 'R',
    }
}

/// Processor time as clock ticks of 10 ms; `unit` is the nanoseconds of one, as a fraction.
pub(super) fn ticks(time: u64, (numerator, denominator): (u32, u32)) -> u64 {
    const NANOSECONDS: u128 = 10_000_000;
    let nanoseconds = u128::from(time) * u128::from(numerator) / u128::from(denominator);
    (nanoseconds / NANOSECONDS) as u64
}

/// Whether these processes wait for their terminal: not if one runs or nobody is there.
pub(super) fn waiting<'a>(processes: impl Iterator<Item = &'a Process>) -> Waiting {
    let mut living = processes.filter(|process| process.is_alive()).peekable();
    let is_empty = living.peek().is_none();
    match is_empty || living.any(|process| matches!(process.info.state, 'R' | 'T')) {
        true => Waiting::No,
        false => Waiting::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ProcessInfo;

    fn process(state: char) -> Process {
        let name = String::from("cat");
        let info = ProcessInfo { pid: 7, parent: 1, group: 7, session: 7, state, name, ticks: 0 };
        Process { info, threads: 1, terminal: 0, foreground: 7, start: 1 }
    }

    #[test]
    fn only_those_that_sleep_may_wait() {
        let of = |states: &str| {
            let processes: Vec<Process> = states.chars().map(process).collect();
            waiting(processes.iter())
        };
        for (states, expected) in [
            ("", Waiting::No),
            ("Z", Waiting::No),
            ("R", Waiting::No),
            ("SR", Waiting::No),
            ("T", Waiting::No),
            ("S", Waiting::Unknown),
            ("ZS", Waiting::Unknown),
            ("?", Waiting::Unknown),
        ] {
            assert_eq!(of(states), expected, "{states}");
        }
    }

    #[test]
    fn threads_tell_what_the_status_does_not() {
        const RUNNING: u32 = 2;
        assert_eq!(letter(RUNNING, Some(0)), 'S');
        assert_eq!(letter(RUNNING, Some(1)), 'R');
        assert_eq!(letter(RUNNING, None), '?');
        assert_eq!(letter(STOPPED, Some(1)), 'T');
        assert_eq!(letter(ZOMBIE, None), 'Z');
    }

    #[test]
    fn times_are_in_the_systems_units() {
        // Nanoseconds on Intel, 125/3 of one on Apple's processors.
        assert_eq!(ticks(25_000_000, (1, 1)), 2);
        assert_eq!(ticks(24_000_000, (125, 3)), 100);
        assert_eq!(ticks(u64::MAX, (125, 3)), 76_861_433_640_456);
    }
}
