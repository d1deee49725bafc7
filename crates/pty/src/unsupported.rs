//! The types of the crate where there are no terminals yet (Windows): a spawn says so.
//!
//! [`Program`] cannot be made here, so its methods are never run; they stand so that the layers
//! above compile. The processes of debuggers are another matter: those functions do what the system's own
//! tools can.

use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::{
    AttachError, Checkpoint, ControlError, ExitStatus, HeldProgram, KeeperLoss, Lasting, LineMode,
    ProcessInfo, ProcessStart, ProgramId, PtySize, Register, Signal, SignalScope, SpawnError,
    SpawnSpec, StopReport, Survey, Waiting,
};

/// Starts programs; on this system it cannot.
#[derive(Debug, Clone, Default)]
pub struct Keeper;

/// A program on a terminal; on this system there is none.
#[derive(Debug)]
pub struct Program(std::convert::Infallible);

/// A pipe for commands; on this system there is none.
#[derive(Debug)]
pub struct CommandPipe(std::convert::Infallible);

/// A server's folder, in which nothing is made: on this system no program needs one.
#[derive(Debug)]
pub struct RuntimeFolder;

/// A program's folder; on this system no program gets one.
#[derive(Debug)]
pub struct PrivateFolder(PathBuf);

/// Shared memory beside a terminal; on this system there is none.
#[derive(Debug)]
pub struct Journal(std::convert::Infallible);

/// Makes a command start in a group of its own, so that a Ctrl+C for the server does not reach it.
pub fn start_in_own_session(command: &mut Command) {
    #[cfg(windows)]
    {
        use std::os::windows::process::CommandExt;
        const CREATE_NEW_PROCESS_GROUP: u32 = 0x200;
        command.creation_flags(CREATE_NEW_PROCESS_GROUP);
    }
    #[cfg(not(windows))]
    let _ = command;
}

/// Ends a process; there is one way only, whatever the signal. One that is gone is no error.
pub fn end_process(pid: u32, _signal: Signal) -> io::Result<()> {
    taskkill(&["/F", "/PID", &pid.to_string()])
}

/// Ends a process with all that descends from it.
pub fn end_group(group: u32, _signal: Signal) -> io::Result<()> {
    taskkill(&["/F", "/T", "/PID", &group.to_string()])
}

fn taskkill(arguments: &[&str]) -> io::Result<()> {
    let mut command = Command::new("taskkill");
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().map(drop)
}

/// Whether a process of that number is there: what cannot be asked is taken to be.
pub fn is_running(pid: i32) -> bool {
    let filter = format!("PID eq {pid}");
    let listed = Command::new("tasklist").args(["/NH", "/FO", "CSV", "/FI", &filter]).output();
    listed.map_or(true, |listed| {
        String::from_utf8_lossy(&listed.stdout).contains(&format!("\"{pid}\""))
    })
}

/// The system is not asked here; `end_group` finds descendants by itself.
pub fn processes() -> Vec<ProcessInfo> {
    Vec::new()
}

/// As [`processes`].
pub fn process(_pid: i32) -> Option<(ProcessInfo, u64)> {
    None
}

/// Not known here.
pub fn executable_of(_pid: i32) -> Option<PathBuf> {
    None
}

/// Users have no numbers here.
pub fn owner_of(_pid: i32) -> Option<u32> {
    None
}

/// As [`owner_of`].
pub fn own_user() -> Option<u32> {
    None
}

/// Not known here.
pub fn resident_memory(_pid: i32) -> Option<u64> {
    None
}

/// Nothing is asked of the allocator.
pub fn release_memory() {}

/// Not known here.
pub fn free_space(_path: &Path) -> io::Result<u64> {
    Err(io::ErrorKind::Unsupported.into())
}

/// There is no limit here that sessions would run into.
pub fn descriptor_limit() -> Option<u64> {
    None
}

#[allow(missing_docs)]
impl Journal {
    pub fn set(&self, _register: Register, _value: u64) {
        match self.0 {}
    }

    pub fn get(&self, _register: Register) -> u64 {
        match self.0 {}
    }

    pub fn ring_size(&self) -> u64 {
        match self.0 {}
    }

    pub fn head(&self) -> u64 {
        match self.0 {}
    }

    pub fn oldest(&self) -> u64 {
        match self.0 {}
    }

    pub fn slices(&self, _range: Range<u64>) -> Option<(&[u8], &[u8])> {
        match self.0 {}
    }

    pub fn bytes(&self, _range: Range<u64>) -> Option<Vec<u8>> {
        match self.0 {}
    }

    pub fn room_until_lost(&self, _from: u64) -> u64 {
        match self.0 {}
    }

    pub fn forget_before(&mut self, _position: u64) {
        match self.0 {}
    }

    pub fn capacity(&self, _kind: Checkpoint) -> u64 {
        match self.0 {}
    }

    pub fn store(&mut self, _kind: Checkpoint, _position: u64, _bytes: &[u8]) -> io::Result<()> {
        match self.0 {}
    }

    pub fn load(&self, _kind: Checkpoint) -> Option<(u64, Vec<u8>)> {
        match self.0 {}
    }
}

#[allow(missing_docs, clippy::unnecessary_wraps, clippy::unused_self)]
impl RuntimeFolder {
    pub fn lasting(_path: &Path) -> io::Result<Self> {
        Ok(Self)
    }

    pub fn adopt(self: &std::sync::Arc<Self>, folder: PathBuf) -> PrivateFolder {
        PrivateFolder(folder)
    }

    pub fn sweep(&self, _held: &[HeldProgram]) {}

    pub fn create() -> io::Result<Self> {
        Ok(Self)
    }

    pub fn private_folder(self: &std::sync::Arc<Self>) -> io::Result<PrivateFolder> {
        Err(unsupported())
    }

    pub fn remove(&self) {}
}

/// What whoever prepares a spawn is to report.
fn unsupported() -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, SpawnError::Unsupported)
}

#[allow(missing_docs, clippy::unused_self)]
impl PrivateFolder {
    pub fn hand_over(&mut self) {}

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn write(&self, _name: &str, _content: &[u8]) -> io::Result<()> {
        Err(unsupported())
    }

    pub fn pipe(&self, _name: &str) -> io::Result<CommandPipe> {
        Err(unsupported())
    }
}

/// Nothing is made here that could be left.
pub fn sweep_stale_folders() {}

#[allow(missing_docs)]
impl CommandPipe {
    pub fn close(&mut self) {
        match self.0 {}
    }

    pub fn capacity(&self) -> usize {
        match self.0 {}
    }

    pub fn write(&self, _message: &[u8]) -> io::Result<()> {
        match self.0 {}
    }

    pub fn unread(&self) -> io::Result<u64> {
        match self.0 {}
    }

    pub fn drain(&self) -> io::Result<()> {
        match self.0 {}
    }
}

#[allow(clippy::unused_async, missing_docs)]
impl Keeper {
    pub fn new() -> Self {
        Self
    }

    pub async fn spawn(&self, _spec: SpawnSpec) -> Result<Program, SpawnError> {
        Err(SpawnError::Unsupported)
    }

    /// One that holds nothing and lasts.
    pub async fn lasting(_lasting: Lasting) -> Result<Self, AttachError> {
        Ok(Self)
    }

    pub fn resume(_socket: &Path) {}

    pub async fn end_all(_socket: PathBuf, _grace: Duration) -> Result<bool, AttachError> {
        Ok(false)
    }

    pub async fn held(&self) -> Result<Vec<HeldProgram>, ControlError> {
        Ok(Vec::new())
    }

    pub async fn adopt(&self, _program: ProgramId) -> Result<Program, ControlError> {
        Err(ControlError::Unsupported)
    }

    pub async fn leave(&self) {}

    /// There is no process that could be.
    pub async fn lost(&self) -> KeeperLoss {
        std::future::pending().await
    }

    pub async fn shutdown(&self, _grace: Duration) {}

    pub fn pid(&self) -> Option<u32> {
        None
    }
}

#[allow(clippy::unused_async, missing_docs)]
impl Program {
    pub fn id(&self) -> ProgramId {
        match self.0 {}
    }

    pub fn take_journal(&mut self) -> Option<Journal> {
        match self.0 {}
    }

    pub fn is_handed_over(&self) -> bool {
        match self.0 {}
    }

    pub fn while_ours<T>(&self, _work: impl FnOnce() -> T) -> Option<T> {
        match self.0 {}
    }

    pub fn take_command_pipe(&mut self) -> Option<CommandPipe> {
        match self.0 {}
    }

    pub async fn read_into(&self, _journal: &mut Journal, _limit: usize) -> io::Result<Range<u64>> {
        match self.0 {}
    }

    pub fn try_read_into(&self, _journal: &mut Journal, _limit: usize) -> io::Result<Range<u64>> {
        match self.0 {}
    }

    pub fn pid(&self) -> i32 {
        match self.0 {}
    }

    pub fn tty_name(&self) -> &str {
        match self.0 {}
    }

    pub async fn read(&self, _buffer: &mut [u8]) -> io::Result<usize> {
        match self.0 {}
    }

    pub fn try_read(&self, _buffer: &mut [u8]) -> io::Result<usize> {
        match self.0 {}
    }

    pub async fn readable(&self) -> io::Result<()> {
        match self.0 {}
    }

    pub async fn write(&self, _bytes: &[u8]) -> io::Result<usize> {
        match self.0 {}
    }

    pub fn try_write(&self, _bytes: &[u8]) -> io::Result<usize> {
        match self.0 {}
    }

    pub async fn writable(&self) -> io::Result<()> {
        match self.0 {}
    }

    pub fn resize(&self, _size: PtySize) -> io::Result<()> {
        match self.0 {}
    }

    pub fn size(&self) -> io::Result<PtySize> {
        match self.0 {}
    }

    pub fn line_mode(&self) -> io::Result<LineMode> {
        match self.0 {}
    }

    pub fn unread_input(&self) -> io::Result<u64> {
        match self.0 {}
    }

    pub fn close_terminal(&mut self) {
        match self.0 {}
    }

    pub fn foreground_name(&self) -> Option<String> {
        match self.0 {}
    }

    pub fn foreground_group(&self) -> Option<i32> {
        match self.0 {}
    }

    pub fn working_directory(&self) -> Option<std::path::PathBuf> {
        match self.0 {}
    }

    pub fn waiting(&self) -> Waiting {
        match self.0 {}
    }

    pub fn waiting_place(&self) -> (Waiting, Option<u64>) {
        match self.0 {}
    }

    pub fn switches(&self) -> Option<u64> {
        match self.0 {}
    }

    pub fn waiting_for(&self, _file: &std::path::Path) -> Waiting {
        match self.0 {}
    }

    pub fn started_with(&self, _text: &str) -> Option<bool> {
        match self.0 {}
    }

    pub fn start_of(&self, _pid: i32) -> Option<ProcessStart> {
        match self.0 {}
    }

    pub fn name(&self) -> Option<String> {
        match self.0 {}
    }

    pub async fn exited(&self) -> ExitStatus {
        match self.0 {}
    }

    pub fn exit_status(&self) -> Option<ExitStatus> {
        match self.0 {}
    }

    pub async fn signal(&self, _signal: Signal, _scope: SignalScope) -> Result<(), ControlError> {
        match self.0 {}
    }

    pub async fn stop(
        &self,
        _signal: Signal,
        _grace: Duration,
    ) -> Result<StopReport, ControlError> {
        match self.0 {}
    }

    pub async fn survey(&self) -> Result<Survey, ControlError> {
        match self.0 {}
    }
}
