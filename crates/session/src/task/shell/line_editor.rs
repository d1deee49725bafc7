//! Whether a shell's own line editor is at work: the terminal's modes tell it from a builtin that reads keys
//! for a command (`read -n1`, `read -k`), which waits in the same way.

use termbridge_pty::{LineMode, Waiting};
use termbridge_shell::Shell;

/// The shell, which waits for the terminal's input, does so at its prompt. Not told apart are bash's `read
/// -e`, zsh's `vared` and fish's `read`, which use the line editor.
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
