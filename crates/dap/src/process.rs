//! Processes of adapters and programs: started in a group of their own, ended with all they started.
//!
//! A group of its own keeps the Ctrl+C of whoever runs the server away from them. Debuggers put the
//! program into yet another group, so a group is not enough to end it: [`ProcessTree`] also looks
//! for descendants (on Linux, in `/proc`) in the moment before it kills.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};

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

    /// Starts it in a process group of its own with its output in pipes.
    pub fn spawn(&self, stdin: Stdio) -> std::io::Result<ProcessTree> {
        let mut command = Command::new(&self.program);
        command.args(&self.args).stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.process_group(0);
        if let Some(cwd) = &self.cwd {
            command.current_dir(cwd);
        }
        for (name, value) in &self.env {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        let child = command.spawn()?;
        Ok(ProcessTree { child: Some(child), group: None, programs: Vec::new() })
    }
}

/// A process and everything it started. Dropping it ends them.
///
/// A process that was not waited for keeps its number to itself until then.
#[derive(Debug)]
pub struct ProcessTree {
    child: Option<Child>,
    /// The group of a process that was waited for.
    group: Option<Pid>,
    /// Programs it said it started, which may have lost it as their parent.
    programs: Vec<Identity>,
}

/// A process that is not mistaken for a later one with the same number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Identity {
    pid: Pid,
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
        let identity = Pid::from_raw(pid).and_then(Identity::of);
        self.programs.extend(identity.filter(|found| !self.programs.contains(found)));
    }

    /// Ends the process, its group, its descendants and its programs, at once.
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
        // Its number may be another's from now on, but not that of its group while it has members.
        self.group = pid.and_then(|pid| Pid::from_raw(pid.cast_signed()));
        Some(status)
    }

    fn signal_all(&mut self) {
        if let Some(group) = self.group.take() {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let root = self.pid().and_then(|pid| Pid::from_raw(pid.cast_signed()));
        if let Some(root) = root {
            // Listed before anything dies: orphans have another parent.
            let descendants = descendants(root);
            // What has ended already needs no signal.
            let _ = kill_process_group(root, Signal::KILL);
            for descendant in descendants {
                let _ = kill_process_group(descendant, Signal::KILL);
                let _ = kill_process(descendant, Signal::KILL);
            }
        }
        for program in self.programs.drain(..) {
            if Identity::of(program.pid) == Some(program) {
                let _ = kill_process(program.pid, Signal::KILL);
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
    fn of(pid: Pid) -> Option<Self> {
        let started = stat_fields(pid.as_raw_nonzero().get())?.get(19)?.parse().ok()?;
        Some(Self { pid, started })
    }
}

/// Every process that `root` started, directly or not, as far as the system tells.
fn descendants(root: Pid) -> Vec<Pid> {
    let mut children: HashMap<i32, Vec<i32>> = HashMap::new();
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    for entry in processes {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else {
            continue;
        };
        if let Some(parent) = parent_of(pid) {
            children.entry(parent).or_default().push(pid);
        }
    }
    let mut found = Vec::new();
    let mut open = vec![root.as_raw_nonzero().get()];
    while let Some(parent) = open.pop() {
        for child in children.remove(&parent).unwrap_or_default() {
            found.extend(Pid::from_raw(child));
            open.push(child);
        }
    }
    found
}

fn parent_of(pid: i32) -> Option<i32> {
    stat_fields(pid)?.get(1)?.parse().ok()
}

/// The fields of `/proc/PID/stat` after the name.
fn stat_fields(pid: i32) -> Option<Vec<String>> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name is in parentheses and may hold anything, a parenthesis included.
    let (_, after_name) = stat.rsplit_once(')')?;
    Some(after_name.split_whitespace().map(str::to_owned).collect())
}
