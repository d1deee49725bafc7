//! Debugging through debug adapters: sessions, breakpoints, values, an event store.
//!
//! [`Debugger`] holds every session of a server and the breakpoints they share; a [`DebugSession`]
//! is a cloneable handle to one. The adapters are the languages' own (debugpy, lldb-dap, delve,
//! js-debug): found on the machine, started for a session and ended with it.
//!
//! ```no_run
//! use std::time::Duration;
//! use termbridge_dap::{Breakpoint, Configuration, Debugger, Halt, Settings};
//!
//! # async fn example() -> Result<(), termbridge_dap::DebugError> {
//! let debugger = Debugger::new(Settings::default());
//! debugger.set_breakpoint(Breakpoint::new("/work/app.py", 12).condition("n > 3")).await?;
//! let session = debugger.start(Configuration::launch("python", "app.py", "/work")).await?;
//! if let Halt::Stopped(stop) = session.wait(Duration::from_secs(10)).await? {
//!     assert_eq!(stop.reason, "breakpoint");
//! }
//! session.stop().await?;
//! # Ok(())
//! # }
//! ```
//!
//! What it promises: a stop that already happened is reported; a wait that timed out names the
//! program that still runs; an end says how; references from before the program went on are stale;
//! a breakpoint's state is what the adapter says. Everything is bounded and every cut is visible.
//!
//! What is deliberately absent: MCP, printing, and the environment, which the caller gives.

mod adapter;
mod breakpoint;
mod capture;
mod client;
mod configuration;
mod context;
mod core_file;
mod debugger;
mod environment;
mod error;
pub mod events;
pub mod exchange;
pub mod framing;
mod id;
mod last_line;
pub mod launch_json;
mod probe;
mod process;
mod protocol;
mod reference;
mod report;
mod session;
mod settings;
mod system;
mod target;
mod task;
mod terminal;
mod transport;

pub use adapter::{AdapterKind, AdapterPaths, AdapterStatus, interpreters, pip_install};
pub use breakpoint::{
    Breakpoint, BreakpointInfo, BreakpointPlace, BreakpointState, DataAccess, check_line,
};
pub use capture::{CaptureError, Captured};
pub use configuration::{Configuration, ExceptionFilters, Request};
pub use context::Hooks;
pub use core_file::CoreFile;
pub use debugger::Debugger;
pub use environment::Environment;
pub use error::DebugError;
pub use id::DebugSessionId;
pub use last_line::LastLine;
pub use process::{CommandLine, ProcessTree};
pub use report::{
    DataChange, EndReason, EndReport, ExceptionReport, FrameInfo, Halt, Location, OutputSince,
    ScopeInfo, ScopeKind, SourceLine, StackPage, StopReport, ThreadInfo, VariableInfo,
    VariableNode,
};
pub use session::{
    DebugSession, DebugSessionInfo, EvaluateContext, LeftOut, Page, Resume, Save, Saved,
    ScopeFilter, ScopeRest, SessionState, Ticket, VariableFilter, VariablePage, VariableTree,
    lines_of_file,
};
pub use settings::Settings;
pub use system::VENV_PROGRAMS;
pub use target::TargetProcess;
pub use task::TaskRunner;
pub use terminal::{BoxFuture, TerminalLauncher, TerminalProcess, TerminalRequest};
