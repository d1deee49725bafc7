//! [`Debugging`]: the catalogue, the backends, and the choice between them.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde_json::{Map, Value, json};
use termbridge_catalog::{Catalog, DEFAULT_TIMEOUT, Docs, Origin, Page, Resolve, Tool};
use termbridge_editor::{EditorBridge, Liveness};

use super::place::find_line;
use super::{DebugBackend, DebugCall, DebugFailure, EditorBackend, NativeDebugger};

/// Scripts that need no backend.
const OWN_SCRIPTS: [&str; 3] = ["bridge.status", "docs.list", "docs.get"];

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
            native,
            editor: termbridge_editor::Settings::default(),
        }
    }
}

/// What a call came to.
#[derive(Debug, Clone, PartialEq)]
pub struct DebugAnswer {
    /// The data, or why there is none.
    pub result: Result<Value, DebugFailure>,
    /// Who gave it.
    pub backend: &'static str,
}

/// The debugging of a server. Clones are the same.
#[derive(Clone)]
pub struct Debugging {
    shared: Arc<Shared>,
}

struct Shared {
    settings: DebugSettings,
    catalog: Catalog,
    docs: OnceLock<Docs>,
    editors: EditorBridge,
    native: NativeDebugger,
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
        Self { shared: Arc::new(Shared { settings, catalog, docs, editors, native }) }
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
        let answer = |backend, result| DebugAnswer { result, backend };
        if tool.alias() == "breakpoint.set"
            && let Err(failure) = find_line(&mut call.arguments)
        {
            return answer("none", Err(failure));
        }
        if OWN_SCRIPTS.contains(&tool.alias()) {
            let backend = self.backend().await.map_or("none", |backend| backend.name());
            let own = self.own(tool.alias(), &call.arguments);
            let result = tokio::select! {
                result = tokio::time::timeout(call.timeout, own) => result.unwrap_or_else(|_| {
                    Err(DebugFailure::timeout(tool.alias(), call.timeout))
                }),
                () = call.cancel.cancelled() => Err(DebugFailure::cancelled()),
            };
            return answer(backend, result);
        }
        let backend = match self.backend().await {
            Ok(backend) => backend,
            Err(failure) => return answer("editor", Err(failure)),
        };
        let is_native = backend.name() == self.shared.native.name();
        if is_native && matches!(tool.origin(), Origin::Workspace(_)) {
            return answer(backend.name(), Err(DebugFailure::editor_only(tool.name())));
        }
        if !is_native && tool.alias() == "test.debug-single" && !call.arguments.contains_key("line")
        {
            let failure = DebugFailure::new("E_INVALID_PARAMS", "argument `line` is missing");
            let failure = failure.hint("an editor finds a test by its line");
            return answer(backend.name(), Err(failure));
        }
        if is_native {
            fill_in_defaults(tool, &mut call.arguments);
        }
        answer(backend.name(), backend.call(call).await)
    }

    /// Whether an editor serves now.
    pub async fn has_editor(&self) -> bool {
        self.backend().await.is_ok_and(|backend| backend.name() != self.shared.native.name())
    }

    /// Ends everything that was started natively.
    pub async fn shutdown(&self) {
        self.shared.native.shutdown().await;
    }

    /// Who serves now. While a native session is open the native backend does, so that an editor
    /// that comes up in the middle of it does not take its calls.
    async fn backend(&self) -> Result<Box<dyn DebugBackend>, DebugFailure> {
        let Shared { settings, editors, native, .. } = &*self.shared;
        let native = || Box::new(native.clone()) as Box<dyn DebugBackend>;
        let editor = |host| Box::new(EditorBackend::new(host)) as Box<dyn DebugBackend>;
        match settings.backend {
            BackendChoice::Native => Ok(native()),
            BackendChoice::Editor => Ok(editor(editors.find(&settings.workspace).await?)),
            BackendChoice::Auto if self.shared.native.is_open() => Ok(native()),
            BackendChoice::Auto => {
                // Whatever keeps a bridge from being found, there is still the native one.
                let host = editors.discover(&settings.workspace).await.unwrap_or_default();
                Ok(host.map_or_else(native, editor))
            }
        }
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
        let serving = self.backend().await;
        let (adapters, servers) = tokio::join!(native.adapters(), native.language_servers());
        let mut status = json!({
            "backend": serving.as_ref().map_or("none", |backend| backend.name()),
            "workspace": settings.workspace,
            "adapters": adapters,
            "languageServers": servers,
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
                *path = self.workspace().join(&*path).to_string_lossy().into_owned();
            }
        }
    }
}

fn host(found: &termbridge_editor::Found) -> Value {
    let info = found.info.clone().unwrap_or_default();
    let (Liveness::Live(age) | Liveness::Stale(age)) = found.liveness else {
        return json!({"bridge": found.bridge, "live": false, "problem": "it belongs to someone else"});
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

fn fill_in_defaults(tool: &Tool, arguments: &mut Map<String, Value>) {
    for (name, param) in &tool.metadata().params {
        if let (None, Some(default)) = (arguments.get(name), &param.default) {
            arguments.insert(name.clone(), default.clone());
        }
    }
}
