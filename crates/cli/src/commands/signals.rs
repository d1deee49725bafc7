//! What ends a process from outside, and who is kept from it.

#[cfg(unix)]
mod unix;
#[cfg(not(unix))]
mod windows;

#[cfg(unix)]
use unix as system;
#[cfg(not(unix))]
use windows as system;

pub(super) use system::{EndingSignals, without_ctrl_c};
