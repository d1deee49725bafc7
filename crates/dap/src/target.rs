//! A process to attach to: whether it is there, whose it is, what it runs, and which debugger serves it.
//!
//! What every system tells comes from `termbridge-pty`; who traces it, and its signals, only Linux tells.
//! Nothing here touches the process.

use std::path::{Path, PathBuf};

use object::{Object, ObjectSection};
use termbridge_pty::{executable_of, is_running, own_user, owner_of};

use crate::error::DebugError;

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
        Ok(Self { pid, executable: executable_of(pid.cast_signed()) })
    }

    /// The `type` of the debugger for what it runs; `None` where that cannot be read.
    pub fn kind(&self) -> Option<&'static str> {
        let program = self.executable.as_deref()?;
        let name = program.file_name()?.to_str()?;
        Some(match name.trim_end_matches(REMOVED) {
            name if is_node(name) => "node",
            name if name.starts_with("python") => "python",
            // The link leads to the file also when its name is gone.
            _ if linked_executable(self.pid).is_some_and(|file| is_go(&file)) => "go",
            _ if is_go(program) => "go",
            _ => "lldb",
        })
    }

    /// Whether it runs node.
    pub(crate) fn is_node(&self) -> bool {
        self.kind() == Some("node")
    }

    /// Whether it is of the user that we are.
    pub(crate) fn is_own_users(&self) -> bool {
        let owner = owner_of(self.pid.cast_signed());
        owner.is_none_or(|owner| Some(owner) == own_user())
    }

    /// What it runs, for people.
    pub(crate) fn shown(&self) -> String {
        let name = self.executable.as_deref().and_then(Path::file_name);
        name.map_or_else(|| "unknown".to_owned(), |name| name.to_string_lossy().into_owned())
    }
}

/// Whether a process runs that has this number.
pub(crate) fn is_there(pid: u32) -> bool {
    i32::try_from(pid).is_ok_and(|pid| pid > 0 && is_running(pid))
}

/// What to do about an attach that failed.
pub(crate) fn attach_hint(pid: u32, reason: &str) -> String {
    let own = own_user();
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
    if let Some(owner) = owner_of(pid.cast_signed())
        && own != Some(0)
        && own != Some(owner)
    {
        return format!("it belongs to another user ({owner}): run the server as that user");
    }
    let scope = std::fs::read_to_string(PTRACE_SCOPE).unwrap_or_default();
    match (scope.trim(), own == Some(0)) {
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
    let Ok(file) = termbridge_foreign_files::open(program) else { return false };
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
    let of = |pid: u32| executable_of(pid.cast_signed());
    let parent = || termbridge_pty::process(pid.cast_signed()).map(|(found, _)| found.parent);
    pid == own || (parent() == Some(own.cast_signed()) && of(pid).is_some() && of(pid) == of(own))
}

/// A file by which its bytes can be read: on Linux also when its name is gone.
pub(crate) fn linked_executable(pid: u32) -> Option<PathBuf> {
    match cfg!(target_os = "linux") {
        true => Some(format!("/proc/{pid}/exe").into()),
        false => executable_of(pid.cast_signed()),
    }
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
}
