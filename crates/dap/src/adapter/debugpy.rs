//! debugpy: the project's own interpreter first, so that the program finds its packages.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::registry::{Missing, Search, configured};
use super::{Adapter, AdapterKind, Transport};
use crate::configuration::{Configuration, Request, set_default};
use crate::environment::Environment;
use crate::process::CommandLine;

/// Runs the adapter as `-m debugpy.adapter` would, but quick to acknowledge what the program sends: that
/// writes each message in two pieces, the second of which waits for an acknowledgement of the first,
/// and the kernel takes 40 ms over that.
pub(super) const RUN: &str = "\
import runpy, socket
if hasattr(socket, 'TCP_QUICKACK'):
    read = socket.SocketIO.readinto
    def readinto(self, buffer):
        try:
            self._sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
        except OSError:
            pass
        return read(self, buffer)
    socket.SocketIO.readinto = readinto
runpy.run_module('debugpy.adapter', run_name='__main__', alter_sys=True)
";
/// Folders in which projects keep their virtual environment.
const VENV_FOLDERS: [&str; 3] = [".venv", "venv", "env"];
/// Folders of packages below an interpreter's own; the second is Debian's.
const PACKAGES: [&str; 2] = ["site-packages", "dist-packages"];
/// Entries of a `lib` folder that are looked at.
const MAX_ENTRIES: usize = 10_000;

pub(super) fn find(search: &Search<'_>) -> Result<Adapter, Missing> {
    if let Some(python) = &search.paths.python {
        return Ok(adapter(configured(python, "Python")?, None));
    }
    let candidates = candidates(search);
    let own = candidates.first().cloned();
    for python in &candidates {
        if search.cache.has_debugpy(python, || has_debugpy(python, search.folder)) {
            // The adapter may come from elsewhere; the program runs with the project's interpreter.
            return Ok(adapter(python, own));
        }
    }
    let looked: Vec<_> = candidates.iter().map(|path| path.display().to_string()).collect();
    Err(match looked.as_slice() {
        [] => "there is no python3".to_owned().into(),
        // Into the project's own interpreter, which is the first.
        [first, ..] => Missing::with_install(
            format!("no debugpy in {}", looked.join(", ")),
            format!("{first} -m pip install debugpy"),
        ),
    })
}

fn adapter(python: &Path, interpreter: Option<PathBuf>) -> Adapter {
    let command = CommandLine::new(python).args(["-c", RUN]);
    let interpreter = interpreter.unwrap_or_else(|| python.to_owned());
    Adapter {
        kind: AdapterKind::Debugpy,
        transport: Transport::Stdio(command),
        interpreter: Some(interpreter),
    }
}

fn candidates(search: &Search<'_>) -> Vec<PathBuf> {
    let named = search.interpreter.map(Path::to_owned).filter(|path| path.exists());
    let mut found: Vec<PathBuf> = interpreters(search.folder, search.environment);
    if let Some(named) = named {
        found.retain(|path| *path != named);
        found.insert(0, named);
    }
    found
}

/// Python interpreters in the order of their closeness to a project; the first is its own.
pub fn interpreters(folder: &Path, environment: &Environment) -> Vec<PathBuf> {
    let venvs = folder
        .ancestors()
        .flat_map(|folder| VENV_FOLDERS.iter().map(move |name| folder.join(name)));
    let active = ["VIRTUAL_ENV", "CONDA_PREFIX"]
        .into_iter()
        .filter_map(|name| environment.get(name).map(PathBuf::from));
    let venvs = venvs.map(|venv| venv.join("bin/python"));
    let venvs = venvs.filter(|python| is_trusted(python, folder));
    let mut found: Vec<_> = venvs.chain(active.map(|venv| venv.join("bin/python"))).collect();
    found.extend(["python3", "python"].iter().filter_map(|name| environment.find_program(name)));
    found.retain(|path| path.exists());
    let mut seen = std::collections::HashSet::new();
    found.retain(|path| seen.insert(path.clone()));
    found
}

/// Whether an interpreter has debugpy. One of the project is not run to find out: looking for an adapter
/// must not run the project's code, so its files tell.
fn has_debugpy(python: &Path, folder: &Path) -> bool {
    if !is_of_project(python, folder) {
        return says_it_has_debugpy(python);
    }
    let Some(venv) = python.parent().and_then(Path::parent) else { return false };
    let configuration = std::fs::read_to_string(venv.join("pyvenv.cfg")).unwrap_or_default();
    let value = |name: &str| {
        let mut lines = configuration.lines().filter_map(|line| line.split_once('='));
        lines.find(|(key, _)| key.trim() == name).map(|(_, value)| value.trim())
    };
    let shares = value("include-system-site-packages") == Some("true");
    let base = value("home").filter(|_| shares).map(Path::new).and_then(Path::parent);
    let own = debugpy_below(&venv.join("lib"));
    own || base.is_some_and(|base| {
        debugpy_below(&base.join("lib")) || debugpy_below(&base.join("local/lib"))
    })
}

/// Whether debugpy is among the packages in a `lib` folder.
fn debugpy_below(lib: &Path) -> bool {
    let entries = lib.read_dir().into_iter().flatten().flatten().take(MAX_ENTRIES);
    let pythons =
        entries.filter(|entry| entry.file_name().as_encoded_bytes().starts_with(b"python"));
    let packages = pythons.flat_map(|entry| PACKAGES.map(|name| entry.path().join(name)));
    { packages }.any(|packages| packages.join("debugpy/__init__.py").is_file())
}

fn is_of_project(python: &Path, folder: &Path) -> bool {
    let venvs = folder
        .ancestors()
        .flat_map(|folder| VENV_FOLDERS.iter().map(move |name| folder.join(name)));
    python.starts_with(folder) || { venvs }.any(|venv| python.starts_with(venv))
}

fn says_it_has_debugpy(python: &Path) -> bool {
    let probe = "import importlib.util, sys; sys.exit(importlib.util.find_spec('debugpy') is None)";
    // Not where the project is: Python imports from there, and version managers read it.
    CommandLine::new(python).args(["-c", probe]).cwd("/").probe().is_some()
}

/// Whether a virtual environment may be used: anyone may put one into a folder above the project that
/// everyone writes to.
fn is_trusted(python: &Path, folder: &Path) -> bool {
    let owner = |path: &Path| path.metadata().map(|meta| meta.uid()).ok();
    let venv = python.parent().and_then(Path::parent).and_then(owner);
    let own = rustix::process::geteuid().as_raw();
    venv.is_some_and(|venv| venv == own || venv == 0 || Some(venv) == owner(folder))
}

pub(super) fn arguments(configuration: &Configuration, adapter: &Adapter) -> Map<String, Value> {
    let mut arguments = configuration.arguments();
    // What every value of its type has, and every module, tells nothing about the program.
    let presentation = json!({"special": "hide", "function": "hide", "class": "group"});
    set_default(&mut arguments, "variablePresentation", presentation);
    arguments.insert("type".to_owned(), json!("python"));
    if configuration.request == Request::Attach {
        if let Some(pid) = arguments.remove("pid") {
            set_default(&mut arguments, "processId", pid);
        }
        // The connection goes there already.
        for field in ["host", "port", "connect"] {
            arguments.remove(field);
        }
        return arguments;
    }
    // A warning about the standard library's modules, in the output of every child.
    let env = arguments.entry("env").or_insert_with(|| json!({}));
    if let Some(env) = env.as_object_mut() {
        set_default(env, "PYDEVD_DISABLE_FILE_VALIDATION", json!("1"));
        // With it, from Python 3.12 on, a test that fails stops in what runs it.
        set_default(env, "PYDEVD_USE_SYS_MONITORING", json!("0"));
    }
    let named = ["python", "pythonPath"].iter().any(|name| arguments.contains_key(*name));
    if let (false, Some(interpreter)) = (named, &adapter.interpreter) {
        arguments.insert("python".to_owned(), json!([interpreter]));
    }
    set_default(&mut arguments, "console", json!("internalConsole"));
    if arguments["console"] == "internalConsole" {
        set_default(&mut arguments, "redirectOutput", json!(true));
    }
    arguments
}
