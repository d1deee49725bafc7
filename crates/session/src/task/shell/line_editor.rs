//! Whether a shell waits at its prompt, or its line editor or a builtin reads for a command.
//!
//! A shell gets to its prompt by the same calls every time, so it waits there at the same place on its
//! stack, whatever it shows. A builtin that reads with the same line editor (bash's `read -e`, zsh's
//! `vared`, fish's `read`) does so at another one, within a file or a function too. Where that is not
//! known yet, the terminal's modes have to tell.

use termbridge_pty::{LineMode, Waiting};
use termbridge_shell::Shell;

/// Places on its stack at which a shell was seen to wait at its prompt. There are a few: it may have to
/// watch something else as well.
#[derive(Debug, Default)]
pub(super) struct PromptPlaces {
    seen: [Option<u64>; 4],
    next: usize,
}

impl PromptPlaces {
    pub(super) fn note(&mut self, place: Option<u64>) {
        if place.is_some() && !self.seen.contains(&place) {
            self.seen[self.next] = place;
            self.next = (self.next + 1) % self.seen.len();
        }
    }

    /// All of them.
    pub(super) fn all(&self) -> Vec<u64> {
        self.seen.iter().flatten().copied().collect()
    }

    /// Those that were seen before.
    pub(super) fn of(places: &[u64]) -> Self {
        let mut known = Self::default();
        places.iter().for_each(|place| known.note(Some(*place)));
        known
    }

    /// Whether this is one of them; `None` if that cannot be told.
    pub(super) fn has(&self, place: Option<u64>) -> Option<bool> {
        (place.is_some() && self.seen[0].is_some()).then(|| self.seen.contains(&place))
    }
}

/// The shell, which waits for the terminal's input, does so with its line editor, as far as the terminal's
/// modes tell.
pub(super) fn is_at_work(shell: Shell, mode: LineMode, waiting: Waiting) -> bool {
    match shell {
        // readline reads returns as such; `read -n` does not. It leaves signals as they are, so without
        // them the terminal may have been left raw, where only readline polls.
        Shell::Bash => {
            !mode.canonical
                && !mode.return_is_newline
                && (mode.signals || waiting == Waiting::Polling)
        }
        // zle exchanges the two.
        Shell::Zsh => !mode.canonical && mode.newline_is_return,
        Shell::Fish => !mode.canonical,
        // Without a line editor it reads its prompt's input in one piece, and `read` byte by byte.
        Shell::Posix => waiting != Waiting::ReadingByte || (!mode.canonical && !is_left_raw(mode)),
    }
}

/// The terminal is in a raw mode that is not a line editor's: those take signals, and leave output alone.
pub(super) fn is_left_raw(mode: LineMode) -> bool {
    !mode.canonical && (mode.signals || !mode.processes_output)
}
