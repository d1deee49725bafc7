//! The commands, one file each.

pub(crate) mod completions;
pub(crate) mod debug;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod history;
pub(crate) mod mcp;
pub(crate) mod policy;
pub(crate) mod tools;

use std::io::{self, Write};
use std::process::ExitCode;

/// Text that is someone else's, without what a terminal would take for a command.
fn printable(text: &str) -> String {
    let shown = |c: char| if c.is_control() && c != '\n' && c != '\t' { '\u{fffd}' } else { c };
    // The ends of a terminal's lines are not to be seen.
    text.replace("\r\n", "\n").chars().map(shown).collect()
}

/// Writes an answer to stdout; whoever reads it may stop early.
fn print(text: &str) -> anyhow::Result<ExitCode> {
    match io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(ExitCode::SUCCESS),
    }
}
