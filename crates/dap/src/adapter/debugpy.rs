//! debugpy: the project's own interpreter first, so that the program finds its packages.

mod quirks;

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

pub(crate) use self::quirks::Debugpy;
use super::registry::{Missing, Probing, Search, configured};
use super::{Adapter, AdapterKind, Transport};
use crate::configuration::{Configuration, Request, set_default};
use crate::environment::Environment;
use crate::process::CommandLine;
use crate::system::{VENV_PROGRAMS, VENV_PYTHON};

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
/// Bytes of a `pyvenv.cfg`.
const MAX_PYVENV: u64 = 64 * 1024;

pub(super) fn find(search: &Search<'_>) -> Result<Adapter, Missing> {
    if let Some(python) = &search.paths.python {
        return Ok(adapter(configured(python, "Python")?, None));
    }
    let candidates = candidates(search);
    let own = candidates.first().cloned();
    for python in &candidates {
        if has_debugpy(python, search) {
            // The adapter may come from elsewhere; the program runs with the project's interpreter.
            return Ok(adapter(python, own));
        }
    }
    let looked: Vec<_> = candidates.iter().map(|path| path.display().to_string()).collect();
    Err(match candidates.first() {
        None => "there is no python3".to_owned().into(),
        // Into the project's own interpreter, which is the first.
        Some(first) => Missing::with_install(
            format!("no debugpy in {}", looked.join(", ")),
            pip_install(first, "debugpy"),
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
    let venvs = venvs.map(|venv| venv.join(VENV_PYTHON));
    let venvs = venvs.filter(|python| is_trusted(python, folder));
    let mut found: Vec<_> = venvs.chain(active.map(|venv| venv.join(VENV_PYTHON))).collect();
    found.extend(["python3", "python"].iter().filter_map(|name| environment.find_program(name)));
    found.retain(|path| path.exists());
    let mut seen = std::collections::HashSet::new();
    found.retain(|path| seen.insert(path.clone()));
    found
}

/// Whether an interpreter has debugpy. One of the project is not run to find out: looking for an adapter
/// must not run the project's code, so its files tell.
fn has_debugpy(python: &Path, search: &Search<'_>) -> bool {
    match search.probing {
        Probing::Programs(cache) if !is_of_project(python, search.folder) => {
            cache.has_debugpy(python, || says_it_has_debugpy(python))
        }
        _ => has_files_of_debugpy(python, search.environment.home()),
    }
}

fn has_files_of_debugpy(python: &Path, home: Option<&Path>) -> bool {
    let Some(prefix) = python.parent().and_then(Path::parent) else { return false };
    if python.parent().is_some_and(|folder| folder.ends_with("shims")) {
        // pyenv's: it runs one of these, by what the folder says.
        let versions = prefix.join("versions").read_dir().into_iter().flatten().flatten();
        let mut versions = versions.take(MAX_ENTRIES);
        return versions.any(|version| debugpy_below(&version.path().join("lib")));
    }
    let Ok(configuration) =
        termbridge_foreign_files::read_to_string(&prefix.join("pyvenv.cfg"), MAX_PYVENV)
    else {
        let user = home.map(|home| home.join(".local/lib"));
        return installed_below(prefix)
            || real_prefix(python).is_some_and(|prefix| installed_below(&prefix))
            || user.is_some_and(|lib| debugpy_below(&lib));
    };
    let value = |name: &str| {
        let mut lines = configuration.lines().filter_map(|line| line.split_once('='));
        lines.find(|(key, _)| key.trim() == name).map(|(_, value)| value.trim())
    };
    let shares = value("include-system-site-packages") == Some("true");
    let base = value("home").filter(|_| shares).map(Path::new).and_then(Path::parent);
    debugpy_below(&prefix.join("lib")) || base.is_some_and(installed_below)
}

/// The folder that a system's interpreter is installed below.
fn real_prefix(python: &Path) -> Option<PathBuf> {
    Some(python.canonicalize().ok()?.parent()?.parent()?.to_owned())
}

/// The command that installs a package for an interpreter. A system that manages its interpreter's packages
/// itself (PEP 668) refuses that; there the project gets an interpreter of its own.
pub fn pip_install(python: &Path, package: &str) -> String {
    let is_venv = python.parent().and_then(Path::parent).map(|prefix| prefix.join("pyvenv.cfg"));
    let lib = real_prefix(python).map(|prefix| prefix.join("lib"));
    let is_managed = lib.is_some_and(|lib| {
        let entries = lib.read_dir().into_iter().flatten().flatten().take(MAX_ENTRIES);
        { entries }.any(|entry| entry.path().join("EXTERNALLY-MANAGED").is_file())
    });
    let python = python.display();
    match is_managed && !is_venv.is_some_and(|file| file.is_file()) {
        true => format!(
            "{python} -m venv .venv && .venv/{VENV_PROGRAMS}/python -m pip install {package}"
        ),
        false => format!("{python} -m pip install {package}"),
    }
}

fn installed_below(prefix: &Path) -> bool {
    debugpy_below(&prefix.join("lib")) || debugpy_below(&prefix.join("local/lib"))
}

/// Whether debugpy is among the packages in a `lib` folder.
fn debugpy_below(lib: &Path) -> bool {
    let entries = lib.read_dir().into_iter().flatten().flatten().take(MAX_ENTRIES);
    let pythons =
        entries.filter(|entry| entry.file_name().as_encoded_bytes().starts_with(b"python"));
    // On Windows there is no folder for each version.
    let plain = cfg!(windows).then(|| lib.join(PACKAGES[0]));
    let packages = pythons.flat_map(|entry| PACKAGES.map(|name| entry.path().join(name)));
    let packages = packages.chain(plain);
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
#[cfg(unix)]
fn is_trusted(python: &Path, folder: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let owner = |path: &Path| path.metadata().map(|meta| meta.uid()).ok();
    let venv = python.parent().and_then(Path::parent).and_then(owner);
    let own = termbridge_pty::own_user();
    venv.is_some_and(|venv| Some(venv) == own || venv == 0 || Some(venv) == owner(folder))
}

/// Where folders have no owner that could be compared, only those inside the project are.
#[cfg(not(unix))]
fn is_trusted(python: &Path, folder: &Path) -> bool {
    python.starts_with(folder)
}

pub(super) fn arguments(configuration: &Configuration, adapter: &Adapter) -> Map<String, Value> {
    let mut arguments = configuration.arguments();
    // What every value of its type has, and every module, tells nothing about the program.
    let presentation = json!({"special": "hide", "function": "hide", "class": "group",
                              "protected": "inline"});
    set_default(&mut arguments, "variablePresentation", presentation);
    // After a step out of a function, among the variables.
    set_default(&mut arguments, "showReturnValue", json!(true));
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

/// Whether debugpy takes a file for a library's: one of an installed package or of Python's own.
pub(super) fn is_of_library(file: &Path) -> bool {
    let mut parts = file.iter().map(|part| part.to_string_lossy());
    parts.clone().any(|part| PACKAGES.contains(&&*part))
        || parts.any(|part| part == "lib") && parts.any(|part| part.starts_with("python3"))
}

/// What a line of gdb's has that says why it could not attach.
const REASONS: [&str; 9] = [
    "ptrace",
    "not permitted",
    "not found",
    "already traced",
    "No such process",
    "Couldn't",
    "Could not",
    "Cannot",
    "denied",
];
/// Lines of gdb's that are reported.
const MAX_REASONS: usize = 3;

/// Errors of gdb, or of the shell that starts it, in the output of a failed attach. debugpy's own lines come before them, or
/// after them if Python buffers its output.
pub(super) fn words_of_gdb(output: &str) -> String {
    let lines = output.lines().map(str::trim).take_while(|line| !line.starts_with("E+"));
    let own = lines.filter(|line| !line.starts_with("Running: "));
    let mut told: Vec<&str> =
        own.filter(|line| REASONS.iter().any(|reason| line.contains(reason))).collect();
    told.dedup();
    told.truncate(MAX_REASONS);
    told.join("\n")
}

/// How a traceback of Python begins.
const TRACEBACK: &str = "Traceback (most recent call last):";

/// Output in which tracebacks begin with the program's first frame, and not with those of what runs it.
pub(super) fn without_own_frames(output: String) -> String {
    if !output.contains("/debugpy/") {
        return output;
    }
    let (mut kept, mut begun) = (String::new(), false);
    for line in output.split_inclusive('\n') {
        let is_frame = line.starts_with("  File \"");
        let is_own = ["/debugpy/", "/runpy.py\"", "\"<frozen runpy>\""];
        let is_own = is_frame && is_own.iter().any(|part| line.contains(part));
        // Lines of source, and of marks below them, belong to the frame above.
        begun = begun && (is_own || line.starts_with("    "));
        if !begun {
            kept.push_str(line);
        }
        begun |= line.trim_end() == TRACEBACK;
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::{without_own_frames, words_of_gdb};

    #[test]
    fn the_words_of_gdb_are_found_in_either_order() {
        let (gdb, own) = ("/bin/sh: 1: gdb: not found\n", "Running: gdb 'Cannot'\n");
        let failure = "E+00000.057: Code injection into PID=7 failed:\nsubprocess: Cannot\n";
        for output in [format!("{own}{gdb}{failure}"), format!("{gdb}{failure}{own}")] {
            assert_eq!(words_of_gdb(&output), gdb.trim_end());
        }
    }

    #[test]
    fn a_traceback_begins_with_the_program() {
        let output = "before\nTraceback (most recent call last):\n  \
                      File \"/x/lib/python3.11/runpy.py\", line 198, in _run_module_as_main\n    return _run_code(\n           ^^^^\n  \
                      File \"/x/site-packages/debugpy/__main__.py\", line 71, in <module>\n    cli.main()\n  \
                      File \"/app/crash.py\", line 10, in <module>\n    main()\n  \
                      File \"/app/debugpy/of_user.py\", line 1, in main\n    raise ValueError\nValueError\n";
        let expected = "before\nTraceback (most recent call last):\n  File \"/app/crash.py\", line 10, in <module>\n    \
                        main()\n  File \"/app/debugpy/of_user.py\", line 1, in main\n    raise ValueError\nValueError\n";
        assert_eq!(without_own_frames(output.to_owned()), expected);
        assert_eq!(without_own_frames("  File \"x\"\n".to_owned()), "  File \"x\"\n");
    }
}
