//! The bounds and defaults of a debugger.

use std::path::PathBuf;
use std::time::Duration;

use crate::adapter::AdapterPaths;
use crate::environment::Environment;
use crate::events::EventLimits;

/// How a [`Debugger`](crate::Debugger) works.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Sessions that may be open at once.
    pub max_sessions: usize,
    /// Ended sessions whose state can still be asked for.
    pub max_ended: usize,
    /// How long an adapter may take for one request.
    pub request_timeout: Duration,
    /// How long an expression may take. An adapter that can interrupt it does so then.
    pub evaluate_timeout: Duration,
    /// How long a start may take, the build that some adapters do included.
    pub launch_timeout: Duration,
    /// How long a task before a program may take.
    pub task_timeout: Duration,
    /// How long an adapter may take to end by itself.
    pub end_timeout: Duration,
    /// How long a breakpoint that the adapter has not placed yet is waited for.
    pub breakpoint_timeout: Duration,
    /// How long the values of a stop may take to read: some run code of the program.
    pub value_timeout: Duration,
    /// Lines of source before and after the one where the program stopped.
    pub source_context: u64,
    /// Frames in a stop report.
    pub report_frames: u64,
    /// Bytes of local variables in a stop report.
    pub report_locals: usize,
    /// Bytes of output in a stop report.
    pub report_output: usize,
    /// Bytes of one value; what is longer is cut.
    pub max_value: usize,
    /// Where adapters are, when not where they are looked for.
    pub adapters: AdapterPaths,
    /// The environment of adapters and programs.
    pub environment: Environment,
    /// Bounds of the event store.
    pub events: EventLimits,
    /// Where the events of ended sessions are kept; in memory when absent.
    pub state_folder: Option<PathBuf>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            max_sessions: 16,
            max_ended: 16,
            request_timeout: Duration::from_secs(10),
            evaluate_timeout: Duration::from_secs(10),
            launch_timeout: Duration::from_mins(1),
            task_timeout: Duration::from_mins(10),
            end_timeout: Duration::from_secs(3),
            breakpoint_timeout: Duration::from_millis(500),
            value_timeout: Duration::from_secs(5),
            source_context: 4,
            report_frames: 5,
            report_locals: 4 * 1024,
            report_output: 4 * 1024,
            max_value: 512,
            adapters: AdapterPaths::default(),
            environment: Environment::of_process(),
            events: EventLimits::default(),
            state_folder: None,
        }
    }
}
