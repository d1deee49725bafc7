//! What the server does when the keeper died before it.
//!
//! Someone killed it; its programs were handed to init and run on. Their sessions are killed
//! here, as well as a process that is not their parent can. Since nobody holds the zombies any
//! more, a session's number may mean somebody else by now: a process is ours only if it has our
//! terminal, or our label in its environment. What left its session is not found.

use std::os::unix::fs::MetadataExt;
use std::time::Duration;

use crate::process_table::{self, Process};
use crate::{SESSION_VARIABLE, sys};

/// Rounds of killing: forks may outrun one.
const ROUNDS: usize = 20;

/// Between rounds.
const PAUSE: Duration = Duration::from_millis(10);

/// A program that was held by a keeper.
#[derive(Debug, Clone)]
pub(super) struct LostProgram {
    pub(super) pid: i32,
    pub(super) tty: String,
    pub(super) label: String,
}

/// Kills what is left of the programs' sessions. Blocks for 200 ms at most, unless the process
/// table is huge.
pub(super) fn end(programs: Vec<LostProgram>) {
    if programs.is_empty() {
        return;
    }
    let marks: Vec<Mark> = programs.into_iter().map(Mark::new).collect();
    for _ in 0..ROUNDS {
        let mut left = process_table::all();
        left.retain(|process| marks.iter().any(|mark| mark.is_of(process)));
        if left.is_empty() {
            return;
        }
        for process in left {
            let _ = sys::kill(process.info.pid, libc::SIGKILL);
        }
        std::thread::sleep(PAUSE);
    }
}

struct Mark {
    session: i32,
    terminal: Option<u32>,
    environment: Option<Vec<u8>>,
}

impl Mark {
    fn new(program: LostProgram) -> Self {
        let LostProgram { pid, tty, label } = program;
        Self {
            session: pid,
            // The same number as in the process table: on Linux for any major number below 4096.
            terminal: std::fs::metadata(tty).ok().map(|found| found.rdev() as u32),
            environment: (!label.is_empty())
                .then(|| format!("{SESSION_VARIABLE}={label}").into_bytes()),
        }
    }

    fn is_of(&self, process: &Process) -> bool {
        process.info.session == self.session
            && (self.terminal == Some(process.terminal)
                || self
                    .environment
                    .as_ref()
                    .is_some_and(|entry| process_table::has_environment(process.info.pid, entry)))
    }
}
