//! A process to attach to: whether it is there, whose it is, what it runs, and which debugger serves it.
//!
//! Read from `/proc` where there is one, else asked of `ps`. Nothing here touches the process.

use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use object::{Object, ObjectSection};
use rustix::io::Errno;
use rustix::process::{Pid, geteuid, test_kill_process};

use crate::error::DebugError;
use crate::process::CommandLine;

/// What the system adds to the name of an executable that was removed since.
const REMOVED: &str = " (deleted)";
/// The sections in which Go's linker names the modules of a program: of ELF and of Mach-O.
const GO_SECTIONS: [&str; 2] = [".go.buildinfo", "__go_buildinfo"];
/// Where Linux says who may trace whom.
const PTRACE_SCOPE: &str = "/proc/sys/kernel/yama/ptrace_scope";

/// A process that runs and that may be debugged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetProcess {
    pid: u32,
    executable: Option<PathBuf>,
}

impl TargetProcess {
    /// The process with this number. One that is not there is an error, and so is our own.
    pub fn find(pid: u32) -> Result<Self, DebugError> {
        if !is_there(pid) {
            return Err(DebugError::InvalidParams(format!("there is no process {pid}")));
        }
        if is_own(pid) {
            let message = format!("process {pid} is this server itself, which cannot debug itself");
            return Err(DebugError::InvalidParams(message));
        }
        Ok(Self { pid, executable: executable(pid) })
    }

    /// The `type` of the debugger for what it runs; `None` where that cannot be read.
    pub fn kind(&self) -> Option<&'static str> {
        let program = self.executable.as_deref()?;
        let name = program.file_name()?.to_str()?;
        Some(match name.trim_end_matches(REMOVED) {
            name if is_node(name) => "node",
            name if name.starts_with("python") => "python",
            // The link leads to the file also when its name is gone.
            _ if is_go(&linked_executable(self.pid)) || is_go(program) => "go",
            _ => "lldb",
        })
    }

    /// Whether it runs node.
    pub(crate) fn is_node(&self) -> bool {
        self.kind() == Some("node")
    }

    /// Whether it is of the user that we are.
    pub(crate) fn is_own_users(&self) -> bool {
        owner(self.pid).is_none_or(|owner| owner == geteuid().as_raw())
    }

    /// What it runs, for people.
    pub(crate) fn shown(&self) -> String {
        let name = self.executable.as_deref().and_then(Path::file_name);
        name.map_or_else(|| "unknown".to_owned(), |name| name.to_string_lossy().into_owned())
    }
}

/// Whether a process runs that has this number.
pub(crate) fn is_there(pid: u32) -> bool {
    let number = i32::try_from(pid).ok().and_then(Pid::from_raw);
    number.is_some_and(|number| !matches!(test_kill_process(number), Err(Errno::SRCH)))
        && !status(pid, "State").is_zombie()
}

/// What to do about an attach that failed.
pub(crate) fn attach_hint(pid: u32, reason: &str) -> String {
    let own = geteuid();
    if reason.contains("gdb: not found") || reason.contains("gdb: command not found") {
        return "debugpy needs gdb to attach by pid: sudo apt-get install gdb; or run the program \
                with python -m debugpy --listen 5678 and attach by port"
            .to_owned();
    }
    if reason.contains("extended state") {
        return "this gdb cannot write the registers of this machine: install a newer one; or run the \
                program with python -m debugpy --listen 5678 and attach by port"
            .to_owned();
    }
    let thread = status(pid, "TracerPid").number().filter(|thread| *thread > 0);
    if let Some(tracer) = thread.and_then(|thread| status(thread, "Tgid").number()) {
        let name = status(tracer, "Name").0;
        return format!("process {tracer} ({name}) debugs it already: end that first");
    }
    if let Some(owner) = owner(pid)
        && !own.is_root()
        && owner != own.as_raw()
    {
        return format!("it belongs to another user ({owner}): run the server as that user");
    }
    let scope = std::fs::read_to_string(PTRACE_SCOPE).unwrap_or_default();
    match (scope.trim(), own.is_root()) {
        ("1" | "2", false) => "the system lets no process attach to one that it did not start: \
                               sudo sysctl kernel.yama.ptrace_scope=0, or start it with debug_start"
            .to_owned(),
        ("3", _) => "the system forbids attaching until it is restarted \
                     (kernel.yama.ptrace_scope=3): start it with debug_start"
            .to_owned(),
        _ if reason.to_lowercase().contains("not permitted") => {
            "the system forbids it; in a container allow SYS_PTRACE, or start it with debug_start"
                .to_owned()
        }
        _ => "see dap_logs for all that the adapter said; or start it with debug_start".to_owned(),
    }
}

/// Whether a program was made by Go's linker.
pub(crate) fn is_go(program: &Path) -> bool {
    let Ok(file) = File::open(program) else { return false };
    let cache = object::ReadCache::new(file);
    let Ok(object) = object::File::parse(&cache) else { return false };
    object.sections().any(|section| section.name().is_ok_and(|name| GO_SECTIONS.contains(&name)))
}

/// `node`, `nodejs`, and names with a version such as `node20`.
fn is_node(name: &str) -> bool {
    let rest = name.strip_prefix("nodejs").or_else(|| name.strip_prefix("node"));
    rest.is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit() || matches!(c, '-' | '.')))
}

/// This process, or a helper that runs the same executable as our child.
fn is_own(pid: u32) -> bool {
    let own = std::process::id();
    let same = || {
        let of = |pid: u32| std::fs::read_link(linked_executable(pid)).ok();
        of(pid).is_some() && of(pid) == of(own)
    };
    pid == own || (status(pid, "PPid").number() == Some(own) && same())
}

fn executable(pid: u32) -> Option<PathBuf> {
    if Path::new("/proc/self").exists() {
        return std::fs::read_link(linked_executable(pid)).ok();
    }
    let asked = CommandLine::new("ps").args(["-o", "comm=", "-p"]).args([pid.to_string()]);
    let output = String::from_utf8(asked.probe()?).ok()?;
    let name = output.lines().next()?.trim();
    (!name.is_empty()).then(|| PathBuf::from(name))
}

fn linked_executable(pid: u32) -> PathBuf {
    format!("/proc/{pid}/exe").into()
}

fn owner(pid: u32) -> Option<u32> {
    Path::new(&format!("/proc/{pid}")).metadata().ok().map(|meta| meta.uid())
}

/// A field of `/proc/PID/status`; empty where it cannot be read.
pub(crate) fn status(pid: u32, field: &str) -> StatusField {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let value = text.lines().filter_map(|line| line.split_once(':'));
    let value = { value }.find(|(name, _)| *name == field).map(|(_, value)| value.trim());
    StatusField(value.unwrap_or_default().to_owned())
}

/// The value of a field of `/proc/PID/status`.
pub(crate) struct StatusField(pub(crate) String);

impl StatusField {
    fn number(&self) -> Option<u32> {
        self.0.parse().ok()
    }

    fn is_zombie(&self) -> bool {
        self.0.starts_with(['Z', 'X'])
    }
}
