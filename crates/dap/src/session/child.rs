//! What adapters ask for: programs in terminals, and connections for child processes.

use std::process::Stdio;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio::time::Instant;

use super::Inner;
use super::pump::{pump, pump_output};
use super::state::Phase;
use crate::error::DebugError;
use crate::process::CommandLine;
use crate::protocol::{RunInTerminal, StartDebugging, read};
use crate::terminal::TerminalRequest;
use crate::transport::{Stream, dial, forward};

/// Pieces of a program's output waiting to be taken.
const OUTPUT_QUEUE: usize = 64;
/// Connections to child processes at once, those that are being made included.
pub(super) const MAX_CHILDREN: usize = 256;

impl Inner {
    /// `runInTerminal`: in the caller's terminal, or as a plain child.
    pub(super) async fn run_in_terminal(
        self: &Arc<Self>,
        arguments: &Value,
    ) -> Result<Value, String> {
        let wanted: RunInTerminal = read(arguments);
        let (program, args) = wanted.args.split_first().ok_or("there is nothing to run")?;
        let mut command = CommandLine::new(program).args(args);
        if !wanted.cwd.is_empty() {
            command.cwd = Some(wanted.cwd.into());
        }
        let text = |value: Value| match value {
            Value::Null => None,
            Value::String(text) => Some(text.into()),
            other => Some(other.to_string().into()),
        };
        let variables = wanted.env.unwrap_or_default().into_iter();
        command.env = variables.map(|(name, value)| (name.into(), text(value))).collect();
        let Some(terminal) = &self.context.terminal else {
            return self.run_in_pipes(&command);
        };
        let title = wanted.title.unwrap_or_else(|| self.configuration.name.clone());
        let session = self.id.to_string();
        let process = terminal.launch(TerminalRequest { title, command, session }).await?;
        Ok(json!({"processId": process.pid}))
    }

    fn run_in_pipes(self: &Arc<Self>, command: &CommandLine) -> Result<Value, String> {
        let command = self.with_environment(command.clone());
        let mut process = command.spawn(Stdio::null()).map_err(|error| error.to_string())?;
        let pid = process.pid();
        let (_, stdout, stderr) = process.pipes();
        let (sender, output) = mpsc::channel(OUTPUT_QUEUE);
        if let Some(stdout) = stdout {
            tokio::spawn(forward(stdout, Stream::Stdout, sender.clone()));
        }
        if let Some(stderr) = stderr {
            tokio::spawn(forward(stderr, Stream::Stderr, sender));
        }
        let run = {
            let mut state = self.lock();
            if matches!(state.phase, Phase::Ending(_) | Phase::Ended(_)) {
                return Err("the session is over".to_owned());
            }
            state.processes.push(process);
            state.run
        };
        let reader = tokio::spawn(pump_output(Arc::downgrade(self), run, output, true));
        self.lock().readers.push(reader);
        Ok(json!({"processId": pid}))
    }

    /// A command with the debugger's environment and not this process's.
    pub(super) fn with_environment(&self, mut command: CommandLine) -> CommandLine {
        self.context.settings.environment.apply(&mut command);
        command
    }

    /// `startDebugging`: the answer says only that the request was understood.
    pub(super) fn start_debugging(
        self: &Arc<Self>,
        parent: u32,
        arguments: &Value,
    ) -> Result<Value, String> {
        let wanted: StartDebugging = read(arguments);
        // debugpy names the port where the child waits; js-debug takes it over its own.
        let address = address_in(&wanted.configuration).or_else(|| self.lock().address.clone());
        let Some((host, port)) = address else {
            return Err("the adapter is no server that takes another connection".to_owned());
        };
        self.connect_child(parent, (host, port), wanted.request, wanted.configuration)?;
        Ok(json!({}))
    }

    /// debugpy's own way to offer a child process: the port where it waits.
    pub(super) fn attach_child(self: &Arc<Self>, parent: u32, configuration: Value) {
        let Value::Object(configuration) = configuration else { return };
        let Some((host, port)) = address_in(&configuration) else { return };
        let connecting =
            self.connect_child(parent, (host, port), "attach".to_owned(), configuration);
        if let Err(error) = connecting {
            tracing::warn!(session = %self.id, error, "a child process is not debugged");
        }
    }

    /// Connects beside the caller.
    fn connect_child(
        self: &Arc<Self>,
        parent: u32,
        (host, port): (String, u16),
        request: String,
        configuration: Map<String, Value>,
    ) -> Result<(), String> {
        let place = Arc::clone(&self.children).try_acquire_owned();
        let place = place
            .map_err(|_| format!("a debug session has at most {MAX_CHILDREN} child sessions"))?;
        let name = configuration.get("name").and_then(Value::as_str).unwrap_or("child").to_owned();
        let inner = Arc::clone(self);
        tokio::spawn(async move {
            let connecting =
                inner.try_child(parent, (&host, port), &request, &name, configuration, place);
            if let Err(error) = connecting.await {
                let text = format!("the child session {name} cannot be debugged: {error}\n");
                inner.record("output", json!({"category": "important", "output": text}));
                inner.notify();
            }
        });
        Ok(())
    }

    async fn try_child(
        self: &Arc<Self>,
        parent: u32,
        (host, port): (&str, u16),
        request: &str,
        name: &str,
        configuration: Map<String, Value>,
        place: OwnedSemaphorePermit,
    ) -> Result<(), DebugError> {
        let timeout = self.context.settings.request_timeout;
        let deadline = Instant::now() + self.context.settings.launch_timeout;
        let (client, incoming) = dial(host, port, timeout).await?;
        let link = {
            let mut state = self.lock();
            if !state.links.contains_key(&parent) {
                return Err(DebugError::Aborted("its parent is gone".to_owned()));
            }
            state.add_link(client.clone(), name.to_owned(), Some(parent))
        };
        let (quirks, child) = (self.adapter.quirks(), name.to_owned());
        tokio::task::spawn_blocking(move || quirks.hasten(&child));
        let pumping = pump(Arc::downgrade(self), link, incoming);
        tokio::spawn(async move {
            pumping.await;
            drop(place);
        });
        let shaken = self.handshake(link, &client, request, configuration, deadline).await;
        if shaken.is_err() {
            self.lock().remove_child(link);
        }
        shaken
    }
}

/// The address that a child's configuration names.
fn address_in(configuration: &Map<String, Value>) -> Option<(String, u16)> {
    let connect = configuration.get("connect")?;
    let host = connect["host"].as_str().unwrap_or("127.0.0.1").to_owned();
    Some((host, u16::try_from(connect["port"].as_u64()?).ok()?))
}
