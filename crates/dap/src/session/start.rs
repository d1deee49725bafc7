//! Starting: the adapter, the handshake, the first breakpoints.
//!
//! The order that works with all adapters: `initialize`; `launch` or `attach` without waiting for
//! its answer; at the event `initialized`, which may come before that answer or after, breakpoints,
//! exception filters and `configurationDone`; then the answer.

use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::future::join_all;
use serde_json::{Map, Value, json};
use termbridge_pty::{PrivateFolder, RuntimeFolder};
use tokio::time::Instant;

use super::pump::{pump, pump_output};
use super::signals::signal_name;
use super::state::Phase;
use super::{DebugSession, Inner};
use crate::adapter::{Adapter, AdapterKind, Probing, Search, Transport, find};
use crate::breakpoint::{BreakpointGroup, BreakpointPlace};
use crate::client::{Client, RequestError};
use crate::configuration::{Request, set_default};
use crate::core_file::CoreFile;
use crate::error::DebugError;
use crate::events::SessionLabel;
use crate::protocol::{Capabilities, read};
use crate::report::EndReason;
use crate::target::{attach_hint, is_there};
use crate::transport::connect;

/// How long a program that is attached to may take to find its breakpoints.
const ATTACH_SETTLES: Duration = Duration::from_secs(2);
/// How long the events that came before the answer to a failed start may take to be taken in.
const LAST_EVENTS: Duration = Duration::from_secs(2);
/// Bytes of what the adapter said in the message of a failed start.
const FAILURE_OUTPUT: usize = 2 * 1024;

impl DebugSession {
    /// Starts the program the first time; on failure nothing is left running.
    pub(crate) async fn start(&self, timeout: Duration) -> Result<(), DebugError> {
        let _changing = self.inner.change()?;
        self.inner.start_run(timeout).await
    }
}

impl Inner {
    /// Starts a run in a state that is ready for it.
    pub(super) async fn start_run(self: &Arc<Self>, timeout: Duration) -> Result<(), DebugError> {
        self.context.events.begin(SessionLabel {
            id: self.id.to_string(),
            name: self.configuration.name.clone(),
            adapter: self.adapter.name().to_owned(),
        });
        let failing = Failing(Some(Arc::clone(self)));
        let started = tokio::select! {
            biased;
            () = self.stop_requested() => {
                Err(DebugError::Aborted("by request, before it had started".to_owned()))
            }
            started = self.try_start(Instant::now() + timeout) => started,
        };
        match started {
            Ok(()) => {
                failing.defuse();
                Ok(())
            }
            Err(error) => {
                self.hear_out().await;
                let error = self.explain(error);
                failing.defuse();
                let reason = match error {
                    DebugError::Aborted(_) => EndReason::Stopped,
                    _ => EndReason::AdapterLost(error.to_string()),
                };
                self.finish(reason).await;
                Err(self.with_its_end(error))
            }
        }
    }

    /// Waits until someone wants the session to be stopped.
    async fn stop_requested(&self) {
        let mut changed = self.subscribe();
        // The sender is ours.
        let _ = changed.wait_for(|_| self.stop_requested.load(Ordering::Acquire)).await;
    }

    async fn try_start(self: &Arc<Self>, deadline: Instant) -> Result<(), DebugError> {
        let (adapter, arguments) = self.prepare().await?;
        let timeout = deadline.saturating_duration_since(Instant::now());
        let connection = connect(&adapter.transport, timeout).await?;
        let client = connection.client;
        let (run, link) = {
            let mut state = self.lock();
            state.processes.extend(connection.process);
            state.address = connection.address;
            let name = self.configuration.name.clone();
            (state.run, state.add_link(client.clone(), name, None))
        };
        let shared = self.adapter.quirks().shares_output();
        let output = pump_output(Arc::downgrade(self), run, connection.output, shared);
        self.lock().readers.push(tokio::spawn(output));
        tokio::spawn(pump(Arc::downgrade(self), link, connection.incoming));
        // The adapter's own: it may attach where a core file is launched.
        let request =
            arguments.get("request").and_then(Value::as_str).unwrap_or("launch").to_owned();
        self.handshake(link, &client, &request, arguments, deadline).await?;
        {
            let mut state = self.lock();
            let gone = state.links.get(&link).is_none_or(|link| link.closed);
            if state.phase == Phase::Starting && gone {
                return Err(DebugError::LaunchFailed("the adapter ended".to_owned()));
            }
            if state.phase == Phase::Starting {
                state.phase = Phase::Live;
            }
        }
        self.notify();
        if self.configuration.request == Request::Attach && self.adapter.quirks().attaches_later() {
            self.wait_for_child(deadline).await;
        }
        Ok(())
    }

    /// Waits until the program that is attached to has its breakpoints: it runs meanwhile.
    async fn wait_for_child(&self, deadline: Instant) {
        let mut changed = self.subscribe();
        let has_child = || {
            let state = self.lock();
            state.alive().is_err()
                || state.links.values().any(|link| link.parent.is_some() && link.configured)
        };
        while !has_child() {
            if tokio::time::timeout_at(deadline, changed.changed()).await.is_err() {
                return;
            }
        }
        let places: Vec<BreakpointPlace> = self.context.breakpoints().all().into_keys().collect();
        // Those of files that it has not loaded stay as they are.
        let limit = deadline.min(Instant::now() + ATTACH_SETTLES);
        for place in places.iter().filter(|place| self.adapter.may_have(place)) {
            self.wait_placed(place, limit.saturating_duration_since(Instant::now())).await;
        }
    }

    /// Finds the adapter and what to ask of it, beside the runtime: both run programs.
    async fn prepare(self: &Arc<Self>) -> Result<(Adapter, Map<String, Value>), DebugError> {
        let inner = Arc::clone(self);
        let prepared = tokio::task::spawn_blocking(move || {
            let (settings, configuration) = (&inner.context.settings, &inner.configuration);
            let interpreter = configuration.text("python").or(configuration.text("pythonPath"));
            let search = Search {
                paths: &settings.adapters,
                environment: &settings.environment,
                folder: &configuration.folder,
                interpreter: interpreter.map(std::path::Path::new),
                probing: Probing::Programs(&inner.context.adapters),
            };
            let mut adapter = match inner.adapter.listening(configuration) {
                Some(adapter) => adapter,
                None => find(inner.adapter, &search)?,
            };
            let mut arguments = inner.adapter.quirks().arguments(configuration, &adapter);
            let limit = inner.adapter.quirks().evaluation_limit(settings.evaluate_timeout);
            if let Some((name, value)) = limit
                && configuration.request == Request::Launch
            {
                let env = arguments.entry("env").or_insert_with(|| json!({}));
                if let Value::Object(env) = env {
                    set_default(env, name, json!(value));
                }
            }
            if let Some(core) = configuration.core_file() {
                let signal = CoreFile::read(&core)?.signal;
                inner.lock().core_signal = signal.and_then(signal_name);
            }
            inner.adapter.quirks().reach(&mut arguments, &inner.files_with_breakpoints());
            if configuration.request == Request::Attach {
                inner.adapter.quirks().open_process(&mut arguments)?;
            }
            if inner.adapter.quirks().needs_output(&arguments)
                && let Some(folder) = private_folder()?
            {
                arguments.insert("output".to_owned(), json!(folder.path().join("program")));
                inner.lock().files = Some(folder);
            }
            if inner.adapter.quirks().takes_temporary_folder()
                && let Transport::Server(command) = &mut adapter.transport
                && let Some(folder) = private_folder()?
            {
                command.args.push(folder.path().into());
                inner.lock().files = Some(folder);
            }
            if let Some(formatter) = inner.adapter.quirks().formatter(configuration)
                && let Some(folder) = private_folder()?
            {
                let path = folder.path().to_owned();
                let installed = formatter.install(&path, &mut arguments);
                installed.map_err(|error| {
                    DebugError::Internal(format!("{}: {error}", path.display()))
                })?;
                let mut state = inner.lock();
                state.files = Some(folder);
                state.shows_rust = formatter.is_rust();
                // The adapter starts meanwhile.
                state.optimised = Arc::default();
                let optimised = Arc::clone(&state.optimised);
                // It is set once.
                let describe = move || _ = optimised.set(formatter.describe(&path));
                state.describing = Some(tokio::task::spawn_blocking(describe));
            }
            inner.place_adapter(&mut adapter, &arguments);
            Ok((adapter, arguments))
        });
        prepared.await.map_err(|error| DebugError::Internal(error.to_string()))?
    }

    /// The files of the adapter's languages that have breakpoints, with symbolic links resolved.
    fn files_with_breakpoints(&self) -> Vec<PathBuf> {
        let groups = self.context.breakpoints().groups().into_iter();
        let files = groups.filter_map(|group| match group {
            BreakpointGroup::File(file) => Some(file),
            _ => None,
        });
        files.filter(|file| self.adapter.may_have_file(file)).collect()
    }

    /// Where the adapter runs and with what environment.
    fn place_adapter(&self, adapter: &mut Adapter, arguments: &Map<String, Value>) {
        let text = |name: &str| arguments.get(name).and_then(Value::as_str);
        if let Transport::Stdio(command) | Transport::Server(command) = &mut adapter.transport {
            let folder =
                text("dlvCwd").map_or_else(|| self.configuration.folder.clone(), Into::into);
            *command = self
                .with_environment(std::mem::replace(command, crate::process::CommandLine::new("")));
            command.cwd = Some(folder).filter(|folder| folder.is_dir());
        }
    }

    /// Brings a connection to the point where its program runs.
    pub(super) async fn handshake(
        self: &Arc<Self>,
        link: u32,
        client: &Client,
        request: &str,
        arguments: Map<String, Value>,
        deadline: Instant,
    ) -> Result<(), DebugError> {
        let left = || deadline.saturating_duration_since(Instant::now());
        let body = client.request("initialize", initialize_arguments(self.adapter), left()).await;
        let capabilities: Capabilities = read(&body.map_err(|error| self.start_error(error))?);
        if let Some(link) = self.lock().links.get_mut(&link) {
            link.capabilities = capabilities.clone();
        }
        let launch = client.request(request, Value::Object(arguments), left());
        let configure = async {
            self.initialized(link, deadline).await?;
            self.configure(link, client, &capabilities, left()).await
        };
        tokio::pin!(launch, configure);
        let mut configured = false;
        // A launch that fails may never become initialized; one that works may answer only after
        // it was configured, or before.
        loop {
            tokio::select! {
                // The launch is sent first, also where the adapter is initialized already.
                biased;
                answer = &mut launch => {
                    answer.map_err(|error| self.start_error(error))?;
                    return if configured { Ok(()) } else { configure.await };
                }
                done = &mut configure, if !configured => {
                    done?;
                    configured = true;
                }
            }
        }
    }

    /// Waits for the event; it may have come already.
    async fn initialized(&self, link: u32, deadline: Instant) -> Result<(), DebugError> {
        let mut changed = self.subscribe();
        loop {
            {
                let state = self.lock();
                if state.refused {
                    return Err(DebugError::LaunchFailed("the adapter cannot attach".to_owned()));
                }
                match state.links.get(&link) {
                    Some(link) if link.initialized => return Ok(()),
                    Some(link) if !link.closed => {}
                    _ => return Err(DebugError::LaunchFailed("the adapter ended".to_owned())),
                }
            }
            if tokio::time::timeout_at(deadline, changed.changed()).await.is_err() {
                let message = "the adapter did not become ready in time".to_owned();
                return Err(DebugError::LaunchFailed(message));
            }
        }
    }

    async fn configure(
        self: &Arc<Self>,
        link: u32,
        client: &Client,
        capabilities: &Capabilities,
        timeout: Duration,
    ) -> Result<(), DebugError> {
        self.check_exceptions(capabilities)?;
        // What reads breakpoints may be replaced by it.
        self.ask_before_program(client).await;
        self.place_all(link).await?;
        let describing = self.lock().describing.take();
        if let Some(describing) = describing {
            // What is not described by then is shown as not known.
            let _ = tokio::time::timeout(timeout / 2, describing).await;
        }
        self.send_exception_filters(client, capabilities).await?;
        {
            let mut state = self.lock();
            // What was written before is the adapter's preparation and not the program's.
            if state.is_root(link) {
                state.reported = self.context.events.last_seq(self.id.as_str());
                state.reported_bytes = self.printed.load(Ordering::Acquire);
            }
        }
        if capabilities.supports_configuration_done_request {
            let done = client.request("configurationDone", json!({}), timeout).await;
            done.map_err(|error| self.start_error(error))?;
        }
        Ok(())
    }

    /// Sends what the adapter needs before the program runs.
    async fn ask_before_program(&self, client: &Client) {
        let limit = self.context.settings.request_timeout;
        let requests = self.adapter.quirks().before_the_program().into_iter();
        join_all(requests.map(async |(request, arguments)| {
            if let Err(error) = client.request(request, arguments, limit).await {
                tracing::debug!(%error, request, "not known to the adapter");
            }
        }))
        .await;
    }

    fn start_error(&self, error: RequestError) -> DebugError {
        match error {
            RequestError::Timeout { command, after } => DebugError::Timeout {
                what: format!("{} did not answer {command}", self.adapter.name()),
                program: self.lock().program.clone(),
                after,
            },
            other => DebugError::LaunchFailed(other.to_string()),
        }
    }

    /// Waits for what the adapter said before its last answer.
    async fn hear_out(&self) {
        let root = {
            let state = self.lock();
            let mut links = state.links.values();
            links.find(|link| link.parent.is_none()).map(|link| link.client.clone())
        };
        if let Some(root) = root {
            root.taken_in(LAST_EVENTS).await;
        }
    }

    /// Adds to the reason of a failed attach that the process is gone since.
    fn with_its_end(&self, error: DebugError) -> DebugError {
        match (error, self.configuration.attached_process()) {
            (DebugError::AttachFailed { reason, hint }, Some(pid)) if !is_there(pid) => {
                let reason = format!("{reason}\nProcess {pid} has ended meanwhile.");
                DebugError::AttachFailed { reason, hint: format!("start it again; {hint}") }
            }
            (error, _) => error,
        }
    }

    /// Whether someone has stopped the session.
    fn is_stopped_by_request(&self) -> bool {
        let state = self.lock();
        let reason = match &state.phase {
            Phase::Ending(reason) => reason,
            Phase::Ended(end) => &end.reason,
            Phase::Starting | Phase::Live => return false,
        };
        matches!(reason, EndReason::Stopped | EndReason::Detached)
    }

    /// Adds what the adapter said to the reason of a failed start.
    fn explain(&self, error: DebugError) -> DebugError {
        if self.is_stopped_by_request() {
            return DebugError::Aborted("by request, before it had started".to_owned());
        }
        let DebugError::LaunchFailed(message) = error else { return error };
        let records = self.context.events.since(self.id.as_str(), 0);
        let said: String = records.iter().filter_map(|record| record.output()).collect();
        let said = said.trim();
        if let Some(pid) = self.configuration.attached_process() {
            let words = self.adapter.quirks().attach_failure(&message, said);
            let reason = format!("{} cannot attach to process {pid}: {words}", self.adapter.name());
            return DebugError::AttachFailed { hint: attach_hint(pid, &words), reason };
        }
        let mut start = said.len().saturating_sub(FAILURE_OUTPUT);
        while !said.is_char_boundary(start) {
            start += 1;
        }
        if said.is_empty() || message.contains(said) {
            return DebugError::LaunchFailed(message);
        }
        let cut = if start > 0 { "…" } else { "" };
        DebugError::LaunchFailed(format!("{message}\n{cut}{}", &said[start..]))
    }
}

/// Ends a start that nobody waits for any more.
struct Failing(Option<Arc<Inner>>);

impl Failing {
    fn defuse(mut self) {
        self.0 = None;
    }
}

impl Drop for Failing {
    fn drop(&mut self) {
        if let Some(inner) = self.0.take() {
            inner.finish_soon(EndReason::Stopped);
        }
    }
}

/// What an adapter is told of us.
pub(crate) fn initialize_arguments(adapter: AdapterKind) -> Value {
    json!({
        "clientID": "termbridge", "clientName": "termbridge", "adapterID": adapter.quirks().id(),
        "locale": "en", "linesStartAt1": true, "columnsStartAt1": true, "pathFormat": "path",
        "supportsVariableType": true, "supportsVariablePaging": true,
        "supportsRunInTerminalRequest": true, "supportsStartDebuggingRequest": true,
        "supportsANSIStyling": false,
    })
}

/// A folder for what an adapter builds: not in the project, and nobody else's. `None` on systems where
/// there is no such folder; the adapter then has a place of its own.
pub(crate) fn private_folder() -> Result<Option<PrivateFolder>, DebugError> {
    match RuntimeFolder::create().and_then(|folder| Arc::new(folder).private_folder()) {
        Ok(folder) => Ok(Some(folder)),
        Err(error) if error.kind() == ErrorKind::Unsupported => Ok(None),
        Err(error) => Err(DebugError::Internal(format!("no folder for the adapter: {error}"))),
    }
}
