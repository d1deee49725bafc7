//! [`Debugging`]: the catalogue, the backends, and the choice between them.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde_json::{Map, Value, json};
use termbridge_catalog::{Catalog, DEFAULT_TIMEOUT, Docs, Origin, Page, Resolve, Tool};
use termbridge_editor::{EditorBridge, Liveness};
use termbridge_foreign_files::{folder_of, off_worker};

use super::answer::Answer;
use super::editor::{EditorBackend, Memory};
use super::place::find_line;
use super::{DebugBackend, DebugCall, DebugFailure, NativeDebugger};

/// What the native backend is called in answers.
pub(super) const NATIVE: &str = "native";

/// Scripts that start something: the native debugger can, where the editor's extension cannot.
const STARTS: [&str; 3] = ["debug.start", "debug.attach", "test.debug-single"];

/// Scripts that need no backend.
const OWN_SCRIPTS: [&str; 3] = ["bridge.status", "docs.list", "docs.get"];

/// What is not known of what was found.
const NOT_STARTED: &str = "found by their files, not started: `termbridge doctor` starts them";

/// Which backend serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BackendChoice {
    /// An editor that is open for the workspace, else the native one.
    #[default]
    Auto,
    /// Adapters that we start ourselves.
    Native,
    /// The editor, or nobody.
    Editor,
}

/// A name that is no backend.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no debug backend {0:?}; there are: auto, native, editor")]
pub struct UnknownBackend(pub String);

impl FromStr for BackendChoice {
    type Err = UnknownBackend;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        match name {
            "auto" => Ok(Self::Auto),
            "native" => Ok(Self::Native),
            "editor" => Ok(Self::Editor),
            other => Err(UnknownBackend(other.to_owned())),
        }
    }
}

/// How debugging is set up.
#[derive(Debug, Clone)]
pub struct DebugSettings {
    /// Where relative paths start, launch.json is and an editor is looked for.
    pub workspace: PathBuf,
    /// Who serves.
    pub backend: BackendChoice,
    /// The time of every tool, where the call does not say.
    pub timeout: Option<Duration>,
    /// Whether metadata of the workspace becomes tools, also without a living editor to run them.
    pub workspace_tools: bool,
    /// Whether answers carry what the editor's scripts said, word for word.
    pub raw: bool,
    /// For adapters and programs.
    pub native: termbridge_dap::Settings,
    /// For editors.
    pub editor: termbridge_editor::Settings,
}

impl DebugSettings {
    /// Debugging in a workspace, with the environment of this process.
    pub fn new(workspace: PathBuf) -> Self {
        let environment = termbridge_dap::Environment::of_process();
        // One request may take as long as the call that it is for.
        let request_timeout = Duration::from_mins(1);
        let native =
            termbridge_dap::Settings { environment, request_timeout, ..Default::default() };
        Self {
            workspace,
            backend: BackendChoice::Auto,
            timeout: None,
            workspace_tools: false,
            raw: false,
            native,
            editor: termbridge_editor::Settings::default(),
        }
    }
}

/// What a call came to.
#[derive(Debug, Clone, PartialEq)]
pub struct DebugAnswer {
    /// The answer, or why there is none.
    pub result: Result<Answer, DebugFailure>,
    /// Who gave it.
    pub backend: &'static str,
    /// What the caller should know of that.
    pub note: Option<String>,
    /// What the editor's scripts said, word for word, where the settings ask for it.
    pub raw: Option<Value>,
    /// Names of tools that the backend does not have, which hints leave out.
    pub missing: Vec<String>,
}

impl DebugAnswer {
    fn of(result: Result<Answer, DebugFailure>, backend: &'static str) -> Self {
        Self { result, backend, note: None, raw: None, missing: Vec::new() }
    }

    /// A failure before anyone served.
    pub fn refused(failure: DebugFailure) -> Self {
        Self::of(Err(failure), "none")
    }
}

/// The debugging of a principal in a workspace. Clones are the same.
#[derive(Clone)]
pub struct Debugging {
    shared: Arc<Shared>,
}

struct Shared {
    settings: DebugSettings,
    catalog: Catalog,
    docs: OnceLock<Docs>,
    editors: EditorBridge,
    /// What is remembered of the editor's sessions.
    memory: Arc<Memory>,
    native: NativeDebugger,
}

/// Who serves.
enum Serving {
    Editor(EditorBackend),
    Native,
}

impl Serving {
    fn name(&self) -> &'static str {
        match self {
            Self::Editor(editor) => editor.name(),
            Self::Native => NATIVE,
        }
    }
}

impl Debugging {
    /// Debugging with these tools; what is wrong with a workspace's own metadata is logged. That becomes
    /// tools where the user wants it or an editor runs the workspace's scripts already.
    pub(crate) fn new(settings: DebugSettings, native: NativeDebugger, reserved: &[&str]) -> Self {
        let editors = EditorBridge::new(settings.editor.clone());
        let edited =
            settings.backend != BackendChoice::Native && editors.has_live_host(&settings.workspace);
        let catalog = if settings.workspace_tools || edited {
            let (catalog, warnings) = Catalog::with_workspace(&settings.workspace, reserved);
            for warning in warnings {
                tracing::warn!(target: "catalog", "{warning}");
            }
            catalog
        } else {
            Catalog::own()
        };
        let docs = OnceLock::new();
        Self {
            shared: Arc::new(Shared {
                settings,
                catalog,
                docs,
                editors,
                memory: Arc::default(),
                native,
            }),
        }
    }

    /// Whether nobody else holds it.
    pub(super) fn is_held_once(&self) -> bool {
        Arc::strong_count(&self.shared) == 1
    }

    /// Whether something is being debugged or started natively.
    pub(super) fn is_busy(&self) -> bool {
        self.shared.native.is_open() || self.shared.native.is_starting()
    }

    /// The tools.
    pub fn catalog(&self) -> &Catalog {
        &self.shared.catalog
    }

    /// Guides and tool pages.
    pub fn docs(&self) -> &Docs {
        self.shared.docs.get_or_init(|| Docs::new(&self.shared.catalog))
    }

    /// Where relative paths start.
    pub fn workspace(&self) -> &Path {
        &self.shared.settings.workspace
    }

    /// The native debugger.
    pub fn native(&self) -> &NativeDebugger {
        &self.shared.native
    }

    /// The time a call has: what it says itself, else what holds for all, else what its tool has.
    pub fn timeout(&self, tool: &Tool, arguments: &Map<String, Value>) -> Duration {
        let default = tool.metadata().params.get("timeoutMs").and_then(|param| {
            param.default.as_ref().and_then(Value::as_u64).map(Duration::from_millis)
        });
        let said = arguments.get("timeoutMs").and_then(Value::as_u64).map(Duration::from_millis);
        said.or(self.shared.settings.timeout)
            .or(default)
            .or(tool.timeout())
            .unwrap_or(DEFAULT_TIMEOUT)
    }

    /// Runs a tool's script with arguments that fit its schema.
    pub async fn call(&self, tool: &Tool, mut call: DebugCall) -> DebugAnswer {
        self.make_paths_absolute(tool, &mut call.arguments);
        if tool.alias() == "breakpoint.set" {
            let mut arguments = std::mem::take(&mut call.arguments);
            let path = arguments.get("path").and_then(Value::as_str).unwrap_or_default();
            let folder = folder_of(Path::new(path));
            let found = move || find_line(&mut arguments).map(|()| arguments);
            let found = off_worker(folder, found).await;
            match found.map_err(DebugFailure::from).flatten() {
                Ok(arguments) => call.arguments = arguments,
                Err(failure) => return DebugAnswer::refused(failure),
            }
        }
        if OWN_SCRIPTS.contains(&tool.alias()) {
            return self.call_own(tool, &call).await;
        }
        match self.serving().await {
            Ok(Serving::Native) => self.call_native(tool, call, None).await,
            Ok(Serving::Editor(editor)) => self.call_editor(tool, &editor, call).await,
            Err(failure) => DebugAnswer::of(Err(failure), "editor"),
        }
    }

    async fn call_own(&self, tool: &Tool, call: &DebugCall) -> DebugAnswer {
        let backend = self.serving().await.map_or("none", |serving| serving.name());
        let own = self.own(tool.alias(), &call.arguments);
        let result = tokio::select! {
            result = tokio::time::timeout(call.timeout, own) => result.unwrap_or_else(|_| {
                Err(DebugFailure::timeout(tool.alias(), call.timeout))
            }),
            () = call.cancel.cancelled() => Err(DebugFailure::cancelled()),
        };
        DebugAnswer::of(result.map(Answer::Other), backend)
    }

    async fn call_native(
        &self,
        tool: &Tool,
        mut call: DebugCall,
        note: Option<String>,
    ) -> DebugAnswer {
        let native = &self.shared.native;
        let result = match tool.origin() {
            Origin::Workspace(_) => Err(DebugFailure::editor_only(tool.name())),
            Origin::Own => {
                fill_in_defaults(tool, &mut call.arguments);
                native.call(call).await
            }
        };
        DebugAnswer { note, ..DebugAnswer::of(result, native.name()) }
    }

    /// What the editor's extension cannot start, the native debugger starts, with the editor's breakpoints.
    async fn call_editor(
        &self,
        tool: &Tool,
        editor: &EditorBackend,
        mut call: DebugCall,
    ) -> DebugAnswer {
        let answer = |result| DebugAnswer {
            raw: editor.heard(),
            missing: self.missing_in(editor),
            ..DebugAnswer::of(result, editor.name())
        };
        if matches!(tool.origin(), Origin::Own) {
            leave_out_defaults(tool, editor, &mut call.arguments);
            if let Err(unfit) = editor.check(tool.alias(), &call.arguments) {
                if self.shared.settings.backend != BackendChoice::Auto
                    || !STARTS.contains(&tool.alias())
                {
                    return answer(Err(unfit.into()));
                }
                self.lend_breakpoints(editor, &call).await;
                let note = format!("The editor's extension {unfit}: the native debugger serves.");
                return self.call_native(tool, call, Some(note)).await;
            }
        }
        answer(editor.call(call).await)
    }

    /// The tools that neither the editor's extension nor the native debugger has.
    fn missing_in(&self, editor: &EditorBackend) -> Vec<String> {
        let starts_natively = self.shared.settings.backend == BackendChoice::Auto;
        let is_missing = |tool: &&Tool| {
            let alias = tool.alias();
            let is_native = starts_natively && STARTS.contains(&alias);
            !(editor.has(alias) || is_native || OWN_SCRIPTS.contains(&alias))
                && matches!(tool.origin(), Origin::Own)
        };
        self.catalog().enabled().filter(is_missing).map(|tool| tool.name().to_owned()).collect()
    }

    /// Gives the native debugger the editor's breakpoints, in the place of those that it was given before.
    async fn lend_breakpoints(&self, editor: &EditorBackend, call: &DebugCall) {
        let (native, listed) = (&self.shared.native, editor.breakpoints(call).await);
        let place = |arguments: &Map<String, Value>| {
            let path = arguments.get("path")?.as_str()?.to_owned();
            Some((path, arguments.get("line")?.as_u64()?))
        };
        for (path, line) in self.shared.memory.lend(listed.iter().filter_map(place).collect()) {
            native.remove_breakpoint(&path, line).await;
        }
        for arguments in listed {
            let script = "breakpoint.set".to_owned();
            let set = native.call(DebugCall { script, arguments, ..call.clone() }).await;
            if let Err(failure) = set {
                tracing::debug!(target: "debug", %failure, "a breakpoint of the editor is not set");
            }
        }
    }

    /// Whether an editor serves now.
    pub async fn has_editor(&self) -> bool {
        matches!(self.serving().await, Ok(Serving::Editor(_)))
    }

    /// Ends everything that was started natively.
    pub async fn shutdown(&self) {
        self.shared.native.shutdown().await;
    }

    /// Who serves now. While a native session is open the native backend does, so that an editor
    /// that comes up in the middle of it does not take its calls.
    async fn serving(&self) -> Result<Serving, DebugFailure> {
        let Shared { settings, editors, memory, native, .. } = &*self.shared;
        let host = match settings.backend {
            BackendChoice::Native => None,
            BackendChoice::Editor => Some(editors.find(&settings.workspace).await?),
            BackendChoice::Auto if native.is_open() => None,
            // Whatever keeps a bridge from being found, there is still the native one.
            BackendChoice::Auto => editors.discover(&settings.workspace).await.unwrap_or_default(),
        };
        Ok(match host {
            Some(host) => Serving::Editor(EditorBackend::new(host, memory, settings.raw).await),
            None => Serving::Native,
        })
    }

    async fn own(
        &self,
        script: &str,
        arguments: &Map<String, Value>,
    ) -> Result<Value, DebugFailure> {
        match script {
            "bridge.status" => self.status().await,
            "docs.list" => Ok(self.list_docs(arguments)),
            _ => self.read_docs(arguments),
        }
    }

    /// Which backend serves, and what the others have.
    async fn status(&self) -> Result<Value, DebugFailure> {
        let Shared { settings, editors, native, .. } = &*self.shared;
        let found = editors.survey(&settings.workspace).await?;
        let hosts: Vec<Value> = found.iter().map(host).collect();
        let live = found.iter().position(|found| found.liveness.is_live());
        let serving = self.serving().await;
        let installed = native.installed().await;
        let mut status = json!({
            "backend": serving.as_ref().map_or("none", Serving::name),
            "workspace": settings.workspace.display().to_string(),
            "adapters": installed.adapters,
            "languageServers": installed.language_servers,
            "note": NOT_STARTED,
            "sessions": native.session_ids(),
        });
        if let Some(host) = live.or((!hosts.is_empty()).then_some(0)).map(|index| &hosts[index]) {
            status["host"] = host.clone();
        }
        if hosts.len() > 1 {
            status["hosts"] = Value::Array(hosts);
        }
        if let Err(failure) = serving {
            status["problem"] = json!(failure.message);
        }
        Ok(status)
    }

    fn list_docs(&self, arguments: &Map<String, Value>) -> Value {
        let category = arguments.get("category").and_then(Value::as_str);
        let tags: Vec<String> =
            arguments.get("tags").and_then(Value::as_array).map_or_else(Vec::new, |tags| {
                tags.iter().filter_map(Value::as_str).map(str::to_owned).collect()
            });
        let entry = |page: &Page| json!({"id": page.id, "title": page.title, "category": page.category, "tags": page.tags, "summary": page.summary});
        let docs: Vec<Value> = self.docs().list(category, &tags).map(entry).collect();
        json!({"total": docs.len(), "docs": docs})
    }

    fn read_docs(&self, arguments: &Map<String, Value>) -> Result<Value, DebugFailure> {
        let id = arguments.get("id").and_then(Value::as_str).unwrap_or_default();
        let page = self.docs().get(id).ok_or_else(|| {
            DebugFailure::new("E_INVALID_PARAMS", format!("no page {id:?}"))
                .hint("docs_list names the pages")
        })?;
        Ok(json!({"id": page.id, "title": page.title, "text": page.text}))
    }

    fn make_paths_absolute(&self, tool: &Tool, arguments: &mut Map<String, Value>) {
        for (name, param) in &tool.metadata().params {
            if param.resolve == Some(Resolve::CwdRelative)
                && let Some(Value::String(path)) = arguments.get_mut(name)
            {
                let whole = self.workspace().join(&*path);
                *path = without_dots(&whole).to_string_lossy().into_owned();
            }
        }
    }
}

/// A path without `.`; a `..` stays, since what is before it may be a link.
fn without_dots(path: &Path) -> PathBuf {
    path.components().collect()
}

fn host(found: &termbridge_editor::Found) -> Value {
    let info = found.info.clone().unwrap_or_default();
    let problem = |words: &str| json!({"bridge": found.bridge, "live": false, "problem": words});
    let age = match found.liveness {
        Liveness::Live(age) | Liveness::Stale(age) => age,
        Liveness::Closed => return problem("the editor was closed"),
        Liveness::Untrusted => return problem("it belongs to someone else"),
    };
    json!({
        "bridge": found.bridge,
        "bridgeId": info.bridge_id,
        "workspace": info.workspace,
        "pid": info.pid,
        "ageMs": age.as_millis() as u64,
        "live": found.liveness.is_live(),
    })
}

/// Leaves out what an editor's script does not take and is as if it was not given.
fn leave_out_defaults(tool: &Tool, editor: &EditorBackend, arguments: &mut Map<String, Value>) {
    let params = &tool.metadata().params;
    arguments.retain(|name, value| {
        editor.takes(tool.alias(), name)
            || params.get(name).and_then(|param| param.default.as_ref()) != Some(value)
    });
}

fn fill_in_defaults(tool: &Tool, arguments: &mut Map<String, Value>) {
    for (name, param) in &tool.metadata().params {
        if let (None, Some(default)) = (arguments.get(name), &param.default) {
            arguments.insert(name.clone(), default.clone());
        }
    }
}
