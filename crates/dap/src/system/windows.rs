//! Programs of Windows.

use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::path::Path;
use std::process::ChildStdout;
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use crate::environment::Environment;
use crate::process::CommandLine;

/// The variable that names the user's home.
pub(crate) const HOME: &str = "USERPROFILE";
/// The folder of the programs of a Python environment.
pub const VENV_PROGRAMS: &str = "Scripts";
/// The interpreter of a Python environment.
pub(crate) const VENV_PYTHON: &str = r"Scripts\python.exe";
/// What a program's file ends with, in the order in which they are looked for. Scripts (`npm.cmd`) can be started too.
const ENDINGS: [&str; 4] = ["exe", "com", "cmd", "bat"];
/// How long what a program that has ended printed may take to be read.
const READ_LIMIT: Duration = Duration::from_secs(1);

/// A variable's name as it is compared: without regard to case.
pub(crate) fn variable_name(name: &OsStr) -> OsString {
    name.to_ascii_uppercase()
}

/// The names of the files that a program may be.
pub(crate) fn program_names(name: &str) -> Vec<String> {
    let ending = Path::new(name).extension().unwrap_or_default();
    if ENDINGS.iter().any(|known| ending.eq_ignore_ascii_case(known)) {
        return vec![name.to_owned()];
    }
    ENDINGS.iter().map(|ending| format!("{name}.{ending}")).collect()
}

/// The command that runs a line of a task: the shell that was named is taken to be one that knows `-c`, unless it is the
/// system's own.
pub(crate) fn shell_line(shell: Option<OsString>, own: &Environment, line: &str) -> CommandLine {
    let shell = shell.or_else(|| own.get("COMSPEC").map(OsString::from));
    let shell = shell.unwrap_or_else(|| "cmd.exe".into());
    let is_system = Path::new(&shell).file_stem().is_some_and(|it| it.eq_ignore_ascii_case("cmd"));
    let options: &[&str] = if is_system { &["/d", "/s", "/c"] } else { &["-c"] };
    CommandLine::new(shell).args(options.iter().copied().chain([line]))
}

/// What a program that has ended printed, at most so many bytes. Not for ever: what the program left running may hold
/// the pipe.
pub(crate) fn read_answer(pipe: ChildStdout, most: u64) -> Option<Vec<u8>> {
    let (sender, receiver) = sync_channel(1);
    let read = move || {
        let mut answer = Vec::new();
        let _ = pipe.take(most).read_to_end(&mut answer);
        let _ = sender.send(answer);
    };
    std::thread::Builder::new().spawn(read).ok()?;
    receiver.recv_timeout(READ_LIMIT).ok()
}
