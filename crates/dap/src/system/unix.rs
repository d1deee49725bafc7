//! Programs of a Unix system.

use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::process::ChildStdout;

use crate::environment::Environment;
use crate::process::CommandLine;

/// The variable that names the user's home.
pub(crate) const HOME: &str = "HOME";
/// The folder of the programs of a Python environment.
pub const VENV_PROGRAMS: &str = "bin";
/// The interpreter of a Python environment.
pub(crate) const VENV_PYTHON: &str = "bin/python";

/// A variable's name as it is compared.
pub(crate) fn variable_name(name: &OsStr) -> OsString {
    name.to_owned()
}

/// The names of the files that a program may be.
pub(crate) fn program_names(name: &str) -> Vec<String> {
    vec![name.to_owned()]
}

/// The command that runs a line of a task in the shell that was named, or else the user's.
pub(crate) fn shell_line(shell: Option<OsString>, own: &Environment, line: &str) -> CommandLine {
    let shell = shell.or_else(|| own.get("SHELL").map(OsString::from));
    CommandLine::new(shell.unwrap_or_else(|| "/bin/sh".into())).args(["-c", line])
}

/// What a program that has ended printed, at most so many bytes. Not to the end of the pipe: what the program left
/// running may hold it.
pub(crate) fn read_answer(pipe: ChildStdout, most: u64) -> Option<Vec<u8>> {
    let mut answer = Vec::new();
    rustix::fs::fcntl_setfl(&pipe, rustix::fs::OFlags::NONBLOCK).ok()?;
    let _ = pipe.take(most).read_to_end(&mut answer);
    Some(answer)
}
