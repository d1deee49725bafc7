//! Where programs come from, as the layers above see it.
//!
//! [`Keeper`] is the implementation for Unix. `ConPTY` would be another: nothing here names a
//! descriptor, a signal mask or a process group, and [`Program`] hides what it reads from.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use crate::{ControlError, HeldProgram, Keeper, Program, ProgramId, SpawnError, SpawnSpec};

/// A future that can be made by a trait object.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Starts programs on terminals and ends them all.
pub trait ProgramHost: Send + Sync {
    /// Starts a program; returns once it runs or is known not to.
    fn spawn(&self, spec: SpawnSpec) -> BoxFuture<'_, Result<Program, SpawnError>>;

    /// Ends every program and whatever descends from one; returns when all are gone.
    fn shutdown(&self, grace: Duration) -> BoxFuture<'_, ()>;

    /// The programs that it holds, those of earlier servers included.
    fn held(&self) -> BoxFuture<'_, Result<Vec<HeldProgram>, ControlError>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    /// Takes over a program of an earlier server.
    fn adopt(&self, _program: ProgramId) -> BoxFuture<'_, Result<Program, ControlError>> {
        Box::pin(async { Err(ControlError::NoProcess) })
    }

    /// Leaves everything to the next server.
    fn leave(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {})
    }
}

impl ProgramHost for Keeper {
    fn spawn(&self, spec: SpawnSpec) -> BoxFuture<'_, Result<Program, SpawnError>> {
        Box::pin(Self::spawn(self, spec))
    }

    fn shutdown(&self, grace: Duration) -> BoxFuture<'_, ()> {
        Box::pin(Self::shutdown(self, grace))
    }

    fn held(&self) -> BoxFuture<'_, Result<Vec<HeldProgram>, ControlError>> {
        Box::pin(Self::held(self))
    }

    fn adopt(&self, program: ProgramId) -> BoxFuture<'_, Result<Program, ControlError>> {
        Box::pin(Self::adopt(self, program))
    }

    fn leave(&self) -> BoxFuture<'_, ()> {
        Box::pin(Self::leave(self))
    }
}
