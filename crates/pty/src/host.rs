//! Where programs come from, as the layers above see it.
//!
//! [`Keeper`] is the implementation for Unix. `ConPTY` would be another: nothing here names a
//! descriptor, a signal mask or a process group, and [`Program`] hides what it reads from.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use crate::{Keeper, Program, SpawnError, SpawnSpec};

/// A future that can be made by a trait object.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Starts programs on terminals and ends them all.
pub trait ProgramHost: Send + Sync {
    /// Starts a program; returns once it runs or is known not to.
    fn spawn(&self, spec: SpawnSpec) -> BoxFuture<'_, Result<Program, SpawnError>>;

    /// Ends every program and whatever descends from one; returns when all are gone.
    fn shutdown(&self, grace: Duration) -> BoxFuture<'_, ()>;
}

impl ProgramHost for Keeper {
    fn spawn(&self, spec: SpawnSpec) -> BoxFuture<'_, Result<Program, SpawnError>> {
        Box::pin(Self::spawn(self, spec))
    }

    fn shutdown(&self, grace: Duration) -> BoxFuture<'_, ()> {
        Box::pin(Self::shutdown(self, grace))
    }
}
