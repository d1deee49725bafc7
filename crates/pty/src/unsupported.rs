//! The types of the crate where there is no implementation yet: a spawn says so.
//!
//! [`Program`] cannot be made here, so its methods are never run; they stand so that the layers
//! above compile.

use std::io;
use std::time::Duration;

use crate::{
    ControlError, ExitStatus, LineMode, ProcessStart, PtySize, Signal, SignalScope, SpawnError,
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

/// A server's folder; on this system there is none.
#[derive(Debug)]
pub struct RuntimeFolder(std::convert::Infallible);

/// A program's folder; on this system there is none.
#[derive(Debug)]
pub struct PrivateFolder(std::convert::Infallible);

#[allow(missing_docs)]
impl RuntimeFolder {
    pub fn create() -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub fn private_folder(self: &std::sync::Arc<Self>) -> io::Result<PrivateFolder> {
        match self.0 {}
    }

    pub fn remove(&self) {
        match self.0 {}
    }
}

#[allow(missing_docs)]
impl PrivateFolder {
    pub fn path(&self) -> &std::path::Path {
        match self.0 {}
    }

    pub fn write(&self, _name: &str, _content: &[u8]) -> io::Result<()> {
        match self.0 {}
    }

    pub fn pipe(&self, _name: &str) -> io::Result<CommandPipe> {
        match self.0 {}
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

    pub async fn shutdown(&self, _grace: Duration) {}

    pub fn pid(&self) -> Option<u32> {
        None
    }
}

#[allow(clippy::unused_async, missing_docs)]
impl Program {
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
