//! The native backend: scripts over debug adapters that we start ourselves.
//!
//! One function for each script, in the file of its group; the data they give has the fields that
//! the catalogue names. Programs, tasks and directories pass the policy before they run, and so do the
//! compilers, test runners and language servers that run a project's code.

mod breakpoints;
mod code;
mod control;
mod core;
mod events;
mod inspect;
mod installed;
mod pending;
mod start;
mod terminals;
mod view;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use async_trait::async_trait;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use termbridge_code::symbols::{self, LanguageServers};
use termbridge_dap::{
    BreakpointPlace, DebugSession, DebugSessionId, Debugger, Environment, Hooks, Settings,
    TerminalLauncher,
};
use termbridge_session::Launch;
use tokio::sync::Semaphore;

pub use self::installed::Installed;
use self::pending::Pending;
use self::terminals::Terminals;
use super::hub::NATIVE;
use super::{Answer, DebugBackend, DebugCall, DebugFailure};
use crate::caller::Caller;
use crate::hub::Bridge;

/// Scripts that spend their time waiting and tell themselves what they waited for.
const WAITING: [&str; 17] = [
    "debug.start",
    "debug.attach",
    "debug.restart",
    "debug.continue",
    "debug.step-over",
    "debug.step-into",
    "debug.step-out",
    "debug.wait-for-hit",
    "debug.pause",
    "debug.set-next-line",
    "test.debug-single",
    "diagnostic.collect",
    "symbol.navigate",
    "symbol.calls",
    "symbol.rename",
    "code.replace-method",
    "search.symbol-search",
];
/// What a waiting script may take beyond its wait, to tell what it found.
const GRACE: Duration = Duration::from_secs(10);

/// Debugging without an editor. Clones are the same debugger.
#[derive(Clone)]
pub struct NativeDebugger {
    shared: Arc<Shared>,
    /// On whose behalf it acts: its first caller's, or that of the call that it runs.
    caller: Caller,
}

struct Shared {
    debugger: Debugger,
    /// A start that takes longer than its call waited.
    pending: Mutex<Option<Arc<Pending>>>,
    /// The starts whose calls may still wait for them.
    begun: Mutex<Vec<Weak<Pending>>>,
    /// Sessions whose end was told.
    told_ends: Mutex<HashSet<String>>,
    bridge: Bridge,
    workspace: PathBuf,
    environment: Environment,
    terminals: Option<Arc<Terminals>>,
    servers: LanguageServers,
    /// Places for questions to the event store.
    questions: Arc<Semaphore>,
}

impl NativeDebugger {
    pub(crate) fn new(
        bridge: Bridge,
        owner: Caller,
        workspace: PathBuf,
        settings: Settings,
    ) -> Self {
        let environment = settings.environment.clone();
        let environment = guarded(environment, bridge.clone(), owner.clone(), workspace.clone());
        let terminals = bridge.backends().local_screens();
        let terminals =
            terminals.map(|at| Arc::new(Terminals::new(bridge.clone(), owner.clone(), at)));
        let terminal = terminals.clone().map(|launcher| launcher as Arc<dyn TerminalLauncher>);
        let debugger = Debugger::with_hooks(settings, Hooks { terminal, tasks: None });
        let servers = LanguageServers::new(workspace.clone(), environment.clone());
        let shared = Shared {
            debugger,
            pending: Mutex::default(),
            begun: Mutex::default(),
            told_ends: Mutex::default(),
            bridge,
            workspace,
            environment,
            terminals,
            servers,
            questions: Arc::new(Semaphore::new(events::MAX_QUESTIONS)),
        };
        Self { shared: Arc::new(shared), caller: owner }
    }

    /// The environment in which what a call starts is judged as its caller's.
    fn environment(&self) -> Environment {
        let Shared { environment, bridge, workspace, .. } = &*self.shared;
        guarded(environment.clone(), bridge.clone(), self.caller.clone(), workspace.clone())
    }

    /// The debug adapters and language servers as their files tell: where each is, or the command that
    /// installs it. Starts nothing.
    pub(super) async fn installed(&self) -> Installed {
        let native = self.clone();
        let look = move || {
            let adapters = native.debugger().adapters(native.workspace());
            let servers = symbols::servers(&native.shared.environment, native.workspace());
            Installed::new(&adapters, &servers)
        };
        tokio::task::spawn_blocking(look).await.unwrap_or_default()
    }

    /// As `installed` for this workspace, with each started there and ended again; `problem` says why one does not
    /// start within a time. What a workspace brings along is started too: it must be one that the user trusts.
    pub async fn doctor(&self, workspace: &Path, limit: Duration) -> Installed {
        let (debugger, environment) = (self.debugger(), &self.shared.environment);
        let adapters = debugger.doctor(workspace, limit);
        let servers = symbols::check_servers(environment, workspace, limit);
        let (adapters, servers) = tokio::join!(adapters, servers);
        Installed::new(&adapters, &servers)
    }

    pub(super) fn session_ids(&self) -> Vec<String> {
        let open = self.debugger().sessions().into_iter().filter(|session| !session.is_ended());
        open.map(|session| session.id().to_string()).collect()
    }

    /// Whether a start is on its way.
    pub(super) fn is_starting(&self) -> bool {
        self.kept_pending().is_some_and(|pending| !pending.is_over())
    }

    /// Whether a session is open.
    pub fn is_open(&self) -> bool {
        self.debugger().sessions().iter().any(|session| !session.is_ended())
    }

    pub(super) async fn remove_breakpoint(&self, path: &str, line: u64) {
        let place = BreakpointPlace::Line { path: path.into(), line };
        self.debugger().remove_breakpoint(&place).await;
    }

    fn pending(&self) -> MutexGuard<'_, Option<Arc<Pending>>> {
        self.shared.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) async fn shutdown(&self) {
        while self.end_pending().await.is_some() {}
        self.debugger().shutdown().await;
        self.shared.servers.shutdown().await;
    }

    /// Whether the end of a session was told before; from now on it was.
    fn note_end(&self, session: &str) -> bool {
        let mut told = self.shared.told_ends.lock().unwrap_or_else(PoisonError::into_inner);
        let open = self.debugger().sessions();
        told.retain(|id| open.iter().any(|session| session.id().as_str() == id));
        !told.insert(session.to_owned())
    }

    /// It runs again.
    fn forget_end(&self, session: &str) {
        self.shared.told_ends.lock().unwrap_or_else(PoisonError::into_inner).remove(session);
    }

    fn is_end_told(&self, session: &str) -> bool {
        let told = self.shared.told_ends.lock().unwrap_or_else(PoisonError::into_inner);
        told.contains(session)
    }

    fn debugger(&self) -> &Debugger {
        &self.shared.debugger
    }

    fn questions(&self) -> Arc<Semaphore> {
        Arc::clone(&self.shared.questions)
    }

    fn workspace(&self) -> &Path {
        &self.shared.workspace
    }

    /// The session that is named, or that was started last.
    fn session_or_latest(&self, id: Option<&str>) -> Result<DebugSession, DebugFailure> {
        match id {
            Some(_) => self.session(id, None),
            None => Ok(self.debugger().latest()?),
        }
    }

    /// The session that is named, or that gave the reference, or the latest that is stopped.
    fn session(
        &self,
        id: Option<&str>,
        reference: Option<u64>,
    ) -> Result<DebugSession, DebugFailure> {
        let of_reference = || self.debugger().session_of(reference?);
        match id {
            Some(id) => Ok(self.debugger().session(Some(&DebugSessionId::from_text(id)))?),
            None => Ok(of_reference().map_or_else(|| self.debugger().session(None), Ok)?),
        }
    }

    async fn run(&self, call: &DebugCall) -> Result<Answer, DebugFailure> {
        let timeout = call.timeout;
        match call.script.as_str() {
            "breakpoint.set" => breakpoints::set(self, read(call)?).await,
            "breakpoint.remove" => breakpoints::remove(self, read(call)?).await,
            "breakpoint.clear.file" => breakpoints::clear_file(self, read(call)?).await,
            "breakpoint.clear.project" => breakpoints::clear_project(self).await,
            "breakpoint.list" => Ok(breakpoints::list(self)),
            "debug.start" => start::start(self, read(call)?, call).await,
            "debug.attach" => start::attach(self, read(call)?, timeout).await,
            "debug.restart" => start::restart(self, read(call)?, timeout).await,
            "test.debug-single" => start::test(self, read(call)?, call).await,
            "debug.stop" => control::stop(self, read(call)?).await,
            "debug.status" => control::status(self).await,
            "debug.continue" => control::resume(self, read(call)?, timeout).await,
            "debug.step-over" | "debug.step-into" | "debug.step-out" => {
                control::step(self, &call.script, read(call)?, timeout).await
            }
            "debug.set-next-line" => control::set_next_line(self, read(call)?, timeout).await,
            "debug.pause" => control::pause(self, read(call)?, timeout).await,
            "debug.wait-for-hit" => control::wait_for_hit(self, read(call)?, call).await,
            "debug.stack" => inspect::stack(self, read(call)?).await,
            "debug.threads" => inspect::threads(self, read(call)?).await,
            "debug.scopes" => inspect::scopes(self, read(call)?).await,
            "debug.evaluate" => inspect::evaluate(self, read(call)?).await,
            "debug.list-variables" => inspect::list_variables(self, read(call)?).await,
            "debug.get-variable" => inspect::get_variable(self, read(call)?).await,
            "debug.set-variable" => inspect::set_variable(self, read(call)?).await,
            "debug.save-variable" => inspect::save_variable(self, read(call)?).await,
            "debug.tracker" => events::ask(self, (), |store, ()| Ok(events::tracker(store))).await,
            "dap.logs" => events::ask(self, read(call)?, events::logs).await,
            "dap.search" => events::ask(self, read(call)?, events::search).await,
            "dap.exceptions" => events::ask(self, read(call)?, events::exceptions).await,
            "dap.filter" => events::ask(self, read(call)?, events::filter).await,
            "dap.stats" => events::ask(self, read(call)?, events::stats).await,
            "dap.summary" => events::ask(self, read(call)?, events::summary).await,
            "dap.timeline" => events::ask(self, read(call)?, events::timeline).await,
            "dap.compare" => events::ask(self, read(call)?, events::compare).await,
            "diagnostic.collect" => code::diagnostics(self, read(call)?, timeout).await,
            "symbol.navigate" => code::navigate(self, read(call)?, timeout).await,
            "symbol.calls" => code::calls(self, read(call)?, timeout).await,
            "symbol.rename" => code::rename(self, read(call)?, timeout).await,
            "code.replace-method" => code::replace_method(self, read(call)?, timeout).await,
            "search.symbol-search" => code::search(self, read(call)?, timeout).await,
            script if script.starts_with("editor.") || script.starts_with("util.") => {
                Err(DebugFailure::editor_only(script))
            }
            script => {
                Err(DebugFailure::new("E_SCRIPT_NOT_FOUND", format!("there is no script {script}")))
            }
        }
    }
}

#[async_trait]
impl DebugBackend for NativeDebugger {
    fn name(&self) -> &'static str {
        NATIVE
    }

    async fn call(&self, call: DebugCall) -> Result<Answer, DebugFailure> {
        let native = Self { shared: Arc::clone(&self.shared), caller: call.caller.clone() };
        let grace = if WAITING.contains(&&*call.script) { GRACE } else { Duration::ZERO };
        tokio::select! {
            biased;
            () = call.cancel.cancelled() => Err(DebugFailure::cancelled()),
            // What is under way is dropped with the future: a start ends what it has started, a
            // program that was let go goes on.
            ended = tokio::time::timeout(call.timeout + grace, Box::pin(native.run(&call))) => {
                ended.unwrap_or_else(|_| Err(DebugFailure::timeout(&call.script, call.timeout)))
            }
        }
    }
}

/// An environment in which a project's compilers, test runners and language servers pass the policy.
fn guarded(
    environment: Environment,
    bridge: Bridge,
    owner: Caller,
    workspace: PathBuf,
) -> Environment {
    environment.guarded(move |command| {
        let cwd = command.cwd.clone().unwrap_or_else(|| workspace.clone());
        let launch = Launch::new(&command.program).args(&command.args).cwd(cwd);
        bridge.check_launch(&owner, &launch).map_err(|error| error.to_string())
    })
}

fn read<T: DeserializeOwned>(call: &DebugCall) -> Result<T, DebugFailure> {
    serde_json::from_value(Value::Object(call.arguments.clone()))
        .map_err(|error| DebugFailure::new("E_INVALID_PARAMS", error.to_string()))
}

/// The arguments of a script that needs nothing but a session.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct OnlySession {
    session_id: Option<String>,
}
