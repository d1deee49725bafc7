//! What to debug: a configuration as launch.json has it, with its variables filled in.
//!
//! The fields keep the names that VS Code gives them; each adapter's file turns them into what the
//! adapter wants. Reading launch.json is [`launch_json`](crate::launch_json)'s work.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::adapter::AdapterKind;
use crate::error::DebugError;
use crate::target::{TargetProcess, is_go, linked_executable};

/// Whether the program is started or already runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Request {
    /// The debugger starts the program, and ends it.
    Launch,
    /// The program runs already, and goes on when the debugger leaves.
    Attach,
}

/// Which exceptions stop a program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ExceptionFilters {
    /// Those that the adapter recommends, and those that nobody catches.
    #[default]
    Default,
    /// Those of these filters, as the adapter names them (`raised`, `uncaught`, `all`, `cpp_throw`), and of
    /// these types, wherever they are raised (`ValueError`, `app.Error`, `std::runtime_error`).
    Named(Vec<String>),
}

/// A program to debug and how.
#[derive(Debug, Clone, PartialEq)]
pub struct Configuration {
    /// What people call it.
    pub name: String,
    /// The `type`, which chooses the adapter.
    pub kind: String,
    /// Started or attached to.
    pub request: Request,
    /// The workspace, from which relative paths count.
    pub folder: PathBuf,
    /// The other fields of the configuration.
    pub fields: Map<String, Value>,
    /// The exceptions that stop it.
    pub exceptions: ExceptionFilters,
    /// The program traps at an assertion that fails.
    pub traps_at_failures: bool,
}

/// A language that none of our adapters debugs.
struct ForeignLanguage {
    name: &'static str,
    /// The types of its configurations, the usual one first, and the endings of its files.
    types: &'static [&'static str],
}

const FOREIGN: [ForeignLanguage; 5] = [
    ForeignLanguage { name: "Java", types: &["java", "jar", "class"] },
    ForeignLanguage { name: "Kotlin", types: &["kotlin", "kt", "kts"] },
    ForeignLanguage {
        name: "C#",
        types: &["coreclr", "clr", "csharp", "dotnet", "cs", "csproj", "sln"],
    },
    ForeignLanguage { name: "Ruby", types: &["ruby", "rdbg", "ruby_lsp", "rb"] },
    ForeignLanguage { name: "PHP", types: &["php", "xdebug"] },
];

/// The language of a type or an ending that none of our adapters debugs.
fn foreign(name: &str) -> Option<ForeignLanguage> {
    FOREIGN.into_iter().find(|language| language.types.contains(&name))
}

impl Configuration {
    pub(crate) fn new(
        name: String,
        kind: String,
        request: Request,
        folder: PathBuf,
        fields: Map<String, Value>,
    ) -> Self {
        let exceptions = ExceptionFilters::Default;
        let is_core =
            CORE_FIELDS.iter().any(|field| fields.get(*field).is_some_and(Value::is_string));
        // lldb-dap attaches to one; for us nothing is there that could go on.
        let request = if is_core { Request::Launch } else { request };
        Self { name, kind, request, folder, fields, exceptions, traps_at_failures: false }
    }

    /// A program to start, with no launch.json.
    pub fn launch(kind: &str, program: impl AsRef<Path>, folder: impl Into<PathBuf>) -> Self {
        let folder = folder.into();
        let program = folder.join(program);
        let name = program.file_name().unwrap_or(program.as_os_str()).to_string_lossy();
        let mut fields = Map::new();
        fields.insert("program".to_owned(), json!(program));
        fields.insert("cwd".to_owned(), json!(folder));
        let (name, kind) = (name.into_owned(), kind.to_owned());
        Self::new(name, kind, Request::Launch, folder, fields)
    }

    /// A module to run, with no launch.json: `pytest`.
    pub fn module(kind: &str, module: &str, folder: impl Into<PathBuf>) -> Self {
        let folder = folder.into();
        let mut fields = Map::new();
        fields.insert("module".to_owned(), json!(module));
        fields.insert("cwd".to_owned(), json!(folder));
        let (name, kind) = (module.to_owned(), kind.to_owned());
        Self::new(name, kind, Request::Launch, folder, fields)
    }

    /// The core file of a program to look into.
    pub fn core(
        kind: &str,
        core: impl AsRef<Path>,
        program: impl AsRef<Path>,
        folder: impl Into<PathBuf>,
    ) -> Self {
        let folder = folder.into();
        let core = folder.join(core);
        Self::launch(kind, program, folder).with(CORE_FIELDS[0], json!(core))
    }

    /// A process to attach to.
    pub fn attach_to_process(kind: &str, pid: u32, folder: impl Into<PathBuf>) -> Self {
        let fields = Map::from_iter([("pid".to_owned(), json!(pid))]);
        let name = format!("process {pid}");
        Self::new(name, kind.to_owned(), Request::Attach, folder.into(), fields)
    }

    /// A debug server to attach to: `debugpy --listen`, `node --inspect`, `dlv --headless`, gdbserver.
    pub fn attach_to_server(kind: &str, host: &str, port: u16, folder: impl Into<PathBuf>) -> Self {
        let fields =
            Map::from_iter([("host".to_owned(), json!(host)), ("port".to_owned(), json!(port))]);
        let name = format!("{host}:{port}");
        Self::new(name, kind.to_owned(), Request::Attach, folder.into(), fields)
    }

    /// With a field set, whatever it was.
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.fields.insert(name.to_owned(), value.into());
        self
    }

    /// Stopped by these exceptions, as the adapter names them.
    pub fn exceptions<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.exceptions = ExceptionFilters::Named(names.into_iter().map(Into::into).collect());
        self
    }

    /// With these arguments for the program.
    pub fn args<S: AsRef<str>>(self, args: impl IntoIterator<Item = S>) -> Self {
        let args: Vec<_> = args.into_iter().map(|arg| json!(arg.as_ref())).collect();
        self.with("args", args)
    }

    /// The `type` for a program, guessed from its name and its first bytes.
    pub fn guess_kind(program: &Path) -> Option<&'static str> {
        let extension = program.extension().and_then(|extension| extension.to_str());
        match extension.unwrap_or_default() {
            "py" | "pyw" => Some("python"),
            "js" | "mjs" | "cjs" | "ts" | "mts" | "cts" => Some("node"),
            "go" => Some("go"),
            _ if program.join("go.mod").is_file() => Some("go"),
            extension => {
                if let Some(language) = foreign(extension) {
                    return Some(language.types[0]);
                }
                let mut magic = [0; 4];
                let mut file = termbridge_foreign_files::open(program).ok()?;
                std::io::Read::read_exact(&mut file, &mut magic).ok()?;
                let kind = if is_go(program) { "go" } else { "lldb" };
                (&magic == b"\x7fELF").then_some(kind)
            }
        }
    }

    /// The adapter that serves it.
    pub fn adapter(&self) -> Result<AdapterKind, DebugError> {
        AdapterKind::for_type(&self.kind).ok_or_else(|| {
            if let Some(language) = foreign(&self.kind.to_ascii_lowercase()) {
                return DebugError::UnsupportedLanguage(language.name);
            }
            let known = "python, go, node, lldb, rust, c, cpp";
            DebugError::InvalidParams(format!("unknown type {:?}; known are {known}", self.kind))
        })
    }

    /// The text of a field.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.fields.get(name).and_then(Value::as_str).filter(|text| !text.is_empty())
    }

    /// The core file that is looked into in place of a process.
    pub(crate) fn core_file(&self) -> Option<PathBuf> {
        let file = CORE_FIELDS.iter().find_map(|field| self.text(field))?;
        Some(self.folder.join(file))
    }

    /// The process to attach to, when it is named by its number.
    pub(crate) fn attached_process(&self) -> Option<u32> {
        let named = self.fields.get("pid").or(self.fields.get("processId"));
        named.filter(|_| self.request == Request::Attach).and_then(process_id)
    }

    /// The program's path, when it has one.
    pub(crate) fn program_path(&self) -> Option<PathBuf> {
        self.text("program").map(|program| self.folder.join(program))
    }

    /// The file that runs.
    pub(crate) fn executable(&self) -> Option<PathBuf> {
        match self.request {
            Request::Launch => self.program_path(),
            Request::Attach => self.attached_process().and_then(linked_executable),
        }
    }

    /// What to call the program in messages.
    pub(crate) fn program_name(&self) -> String {
        let named = ["program", "module"].iter().find_map(|field| self.text(field));
        let name = named.map(|name| name.rsplit('/').next().unwrap_or(name));
        name.unwrap_or(&self.name).to_owned()
    }

    /// The fields as an adapter gets them, before it looks at them its own way.
    pub(crate) fn arguments(&self) -> Map<String, Value> {
        let mut arguments = self.fields.clone();
        for ours in OURS {
            arguments.remove(*ours);
        }
        let request = match self.request {
            Request::Launch => "launch",
            Request::Attach => "attach",
        };
        arguments.insert("name".to_owned(), json!(self.name));
        arguments.insert("request".to_owned(), json!(request));
        if self.request == Request::Launch {
            set_default(&mut arguments, "cwd", json!(self.folder));
        }
        arguments
    }

    /// Refuses what cannot work before an adapter is started for it.
    pub(crate) fn check(&self) -> Result<(), DebugError> {
        if self.request == Request::Attach {
            let ports = [self.fields.get("port"), self.fields.get("connect").map(|at| &at["port"])];
            let is_port = |port: &Value| match port {
                Value::String(text) => text.parse::<u16>().is_ok(),
                Value::Number(number) => number.as_u64().is_some_and(|port| port <= 65_535),
                other => other.is_null(),
            };
            if let Some(port) = ports.into_iter().flatten().find(|port| !is_port(port)) {
                return Err(DebugError::InvalidParams(format!("{port} is no port")));
            }
            return self
                .attached_process()
                .map_or(Ok(()), |pid| TargetProcess::find(pid).map(drop));
        }
        let files = [self.program_path(), self.core_file()].into_iter().flatten();
        if let Some(missing) = { files }.find(|file| !file.exists()) {
            return Err(DebugError::FileNotFound(missing));
        }
        if self.core_file().is_some() && !self.adapter()?.quirks().reads_core_files() {
            let what = "core files".to_owned();
            let instead = "core files of C, C++, Rust and Go programs can be read";
            let adapter = self.adapter()?.name().to_owned();
            return Err(DebugError::UnsupportedCapability { adapter, what, instead });
        }
        if let Some(cwd) = self.text("cwd").map(|cwd| self.folder.join(cwd))
            && !cwd.is_dir()
        {
            return Err(DebugError::InvalidPath { path: cwd, reason: "no folder".to_owned() });
        }
        Ok(())
    }
}

/// Fields that name a core file: of lldb-dap, delve and Microsoft's C++ debugger.
pub(crate) const CORE_FIELDS: [&str; 3] = ["coreFile", "coreFilePath", "coreDumpPath"];

/// Fields that are for us and not for the adapter.
const OURS: &[&str] = &[
    "preLaunchTask",
    "postDebugTask",
    "presentation",
    "internalConsoleOptions",
    "linux",
    "osx",
    "windows",
    "envFile",
];

/// The number of a process, which may be a text: VS Code's variable for it is one.
pub(crate) fn process_id(value: &Value) -> Option<u32> {
    let number = value.as_u64().or_else(|| value.as_str()?.parse().ok());
    number.and_then(|number| number.try_into().ok())
}

/// Sets a field that is not there.
pub(crate) fn set_default(fields: &mut Map<String, Value>, name: &str, value: Value) {
    fields.entry(name).or_insert(value);
}
