//! Processes of adapters and programs: started in a session of their own, ended with all they started.
//!
//! A session of its own keeps them away from the terminal of whoever runs the server: its Ctrl+C does not
//! reach them, and debugpy, which puts the program into the foreground of its terminal, finds none.
//! Debuggers put the program into yet another group, so a group is not enough to end it: [`ProcessTree`]
//! also looks for the session's members and for descendants in the moment before it kills (on Windows only
//! for descendants, which the system's own tool finds). When the server itself is killed, an adapter or a language server ends because its input
//! does, and the program with it.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};

use termbridge_pty::{Signal, end_group, end_process};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout};

/// Bytes of an argument that is shown.
const SHOWN_ARGUMENT: usize = 200;

/// What to start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandLine {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Changes to the environment; `None` removes a variable.
    pub env: Vec<(OsString, Option<OsString>)>,
    /// The working directory.
    pub cwd: Option<PathBuf>,
}

impl CommandLine {
    /// A program without arguments.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self { program: program.into(), args: Vec::new(), env: Vec::new(), cwd: None }
    }

    /// With these arguments too.
    pub fn args<A: Into<OsString>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// In this folder.
    pub fn cwd(mut self, cwd: impl Into<PathBuf>) -> Self {
        self.cwd = Some(cwd.into());
        self
    }

    /// The program and its arguments, for people.
    pub fn shown(&self) -> String {
        // A script is not for reading.
        let args = self.args.iter().map(|arg| match arg.to_string_lossy() {
            text if text.contains('\n') || text.len() > SHOWN_ARGUMENT => "…".to_owned(),
            text => text.into_owned(),
        });
        let program = self.program.to_string_lossy().into_owned();
        std::iter::once(program).chain(args).collect::<Vec<_>>().join(" ")
    }

    /// Starts it in a session of its own with its output in pipes.
    pub fn spawn(&self, stdin: Stdio) -> std::io::Result<ProcessTree> {
        let mut command = tokio::process::Command::from(self.command());
        command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn()?;
        Ok(ProcessTree { child: Some(child), ended: None, programs: Vec::new() })
    }

    /// The command, which starts in a session of its own.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        termbridge_pty::start_in_own_session(command.args(&self.args));
        if let Some(cwd) = &self.cwd {
            command.current_dir(cwd).env("PWD", cwd).env_remove("OLDPWD");
        }
        for (name, value) in &self.env {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command
    }
}

/// A process and everything it started. Dropping it ends them.
///
/// A process that was not waited for keeps its number to itself until then.
#[derive(Debug)]
pub struct ProcessTree {
    child: Option<Child>,
    /// The number of a process that was waited for, which its session keeps.
    ended: Option<u32>,
    /// Programs it said it started, which may have lost it as their parent.
    programs: Vec<Identity>,
}

/// A process that is not mistaken for a later one with the same number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Identity {
    pid: u32,
    started: u64,
}

impl ProcessTree {
    /// The pipes of the process.
    pub fn pipes(&mut self) -> (Option<ChildStdin>, Option<ChildStdout>, Option<ChildStderr>) {
        let Some(child) = &mut self.child else { return (None, None, None) };
        (child.stdin.take(), child.stdout.take(), child.stderr.take())
    }

    /// The number of the process.
    pub fn pid(&self) -> Option<u32> {
        self.child.as_ref().and_then(Child::id)
    }

    /// Also ends this program, which the process started.
    pub fn adopt(&mut self, pid: i32) {
        let identity = u32::try_from(pid).ok().and_then(Identity::of);
        self.programs.extend(identity.filter(|found| !self.programs.contains(found)));
    }

    /// Ends the process, its session, its descendants and its programs, at once.
    pub fn kill(&mut self) {
        self.signal_all();
        // The runtime reaps a child that is dropped.
        self.child = None;
    }

    /// As [`ProcessTree::kill`], and returns when the process is gone.
    pub async fn end(mut self) -> Option<ExitStatus> {
        self.signal_all();
        self.child.take()?.wait().await.ok()
    }

    /// Waits for the process to end by itself; what it leaves running ends when this is dropped.
    pub async fn wait(&mut self) -> Option<ExitStatus> {
        let child = self.child.as_mut()?;
        let pid = child.id();
        let status = child.wait().await.ok()?;
        // Its number may be another's from now on, but not while its session or its group has members.
        self.ended = pid;
        Some(status)
    }

    fn signal_all(&mut self) {
        if let Some(leader) = self.pid().or(self.ended.take()) {
            // Listed before anything dies: orphans have another parent.
            let family = family(leader);
            // What has ended already needs no signal.
            let _ = end_group(leader, Signal::KILL);
            for member in family {
                let _ = end_group(member, Signal::KILL);
                let _ = end_process(member, Signal::KILL);
            }
        }
        for program in self.programs.drain(..) {
            if Identity::of(program.pid) == Some(program) {
                let _ = end_process(program.pid, Signal::KILL);
            }
        }
    }
}

impl Drop for ProcessTree {
    fn drop(&mut self) {
        self.kill();
    }
}

impl Identity {
    fn of(pid: u32) -> Option<Self> {
        let (_, started) = termbridge_pty::process(pid.cast_signed())?;
        Some(Self { pid, started })
    }
}

/// Every process in the session of `leader`, and every one that descends from it or from one of those, as
/// far as the system tells.
fn family(leader: u32) -> Vec<u32> {
    let leader = leader.cast_signed();
    let mut children: HashMap<i32, Vec<i32>> = HashMap::new();
    let mut open = vec![leader];
    for process in termbridge_pty::processes() {
        if process.session == leader && process.pid != leader {
            open.push(process.pid);
        }
        children.entry(process.parent).or_default().push(process.pid);
    }
    let mut found = HashSet::new();
    while let Some(process) = open.pop() {
        if process != leader && !found.insert(process) {
            continue;
        }
        open.extend(children.remove(&process).unwrap_or_default());
    }
    found.into_iter().map(i32::cast_unsigned).collect()
}
