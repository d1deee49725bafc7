//! The search for adapters, and the list of what was found.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{Adapter, AdapterKind, Transport};
use crate::environment::Environment;
use crate::error::DebugError;

/// Adapters that are not where they are looked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AdapterPaths {
    /// A Python interpreter that has debugpy.
    pub python: Option<PathBuf>,
    /// `lldb-dap`.
    pub lldb: Option<PathBuf>,
    /// `dlv`.
    pub delve: Option<PathBuf>,
    /// `dapDebugServer.js` or `vsDebugServer.cjs`, or the folder it is in.
    pub js_debug: Option<PathBuf>,
    /// `node`, to run js-debug.
    pub node: Option<PathBuf>,
}

/// What a search has to go by.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Search<'a> {
    pub(crate) paths: &'a AdapterPaths,
    pub(crate) environment: &'a Environment,
    /// The workspace.
    pub(crate) folder: &'a Path,
    /// The interpreter that the configuration names.
    pub(crate) interpreter: Option<&'a Path>,
    /// How interpreters of the machine are asked for debugpy.
    pub(crate) probing: Probing<'a>,
}

/// How a search learns what a program has.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Probing<'a> {
    /// By its files. Nothing is started.
    Files,
    /// By running it, unless an earlier search did.
    Programs(&'a Cache),
}

/// What programs were asked once and need not be asked again. Only good news is kept: what is
/// missing may be installed any moment.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    /// Interpreters that have debugpy.
    debugpy: Mutex<HashSet<PathBuf>>,
}

impl Cache {
    pub(super) fn has_debugpy(&self, python: &Path, ask: impl FnOnce() -> bool) -> bool {
        if lock(&self.debugpy).contains(python) {
            return true;
        }
        let found = ask();
        if found {
            lock(&self.debugpy).insert(python.to_owned());
        }
        found
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One line of the list of adapters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdapterStatus {
    /// The adapter.
    pub kind: AdapterKind,
    /// The command that starts it, when it was found.
    pub command: Option<String>,
    /// Where it was looked for, when it was not.
    pub looked: Option<String>,
    /// Why it does not start, when that was tried.
    pub problem: Option<String>,
    /// The command that installs it.
    pub install: String,
}

/// An adapter that was not found.
pub(crate) struct Missing {
    /// Where it was looked for.
    looked: String,
    /// The command that installs it, where it is not the usual one.
    install: Option<String>,
}

impl Missing {
    /// To be installed with a command of its own.
    pub(super) fn with_install(looked: String, install: String) -> Self {
        Self { looked, install: Some(install) }
    }
}

impl From<String> for Missing {
    fn from(looked: String) -> Self {
        Self { looked, install: None }
    }
}

/// Finds an adapter, or says where it was looked for and how to install it.
pub(crate) fn find(kind: AdapterKind, search: &Search<'_>) -> Result<Adapter, DebugError> {
    let found = kind.quirks().find(search);
    found.map_err(|missing| DebugError::AdapterNotFound {
        language: kind.languages().to_owned(),
        looked: missing.looked,
        install: missing.install.unwrap_or_else(|| kind.install().to_owned()),
    })
}

/// Every adapter: where it is, or how to install it. Starts nothing.
pub(crate) fn survey(
    paths: &AdapterPaths,
    environment: &Environment,
    folder: &Path,
) -> Vec<AdapterStatus> {
    let search = Search { paths, environment, folder, interpreter: None, probing: Probing::Files };
    AdapterKind::ALL.into_iter().map(|kind| AdapterStatus::of(kind, &find(kind, &search))).collect()
}

impl AdapterStatus {
    /// What a search came to.
    pub(super) fn of(kind: AdapterKind, found: &Result<Adapter, DebugError>) -> Self {
        let own = || kind.install().to_owned();
        let (command, looked, install) = match found {
            Ok(adapter) => (Some(shown(&adapter.transport)), None, own()),
            Err(DebugError::AdapterNotFound { looked, install, .. }) => {
                (None, Some(looked.clone()), install.clone())
            }
            Err(other) => (None, Some(other.to_string()), own()),
        };
        Self { kind, command, looked, problem: None, install }
    }
}

fn shown(transport: &Transport) -> String {
    match transport {
        Transport::Stdio(command) | Transport::Server(command) => command.shown(),
        Transport::Connect { host, port } => format!("{host}:{port}"),
    }
}

/// A path that the caller configured: what must be there.
pub(super) fn configured<'a>(path: &'a Path, what: &str) -> Result<&'a Path, String> {
    if path.exists() {
        Ok(path)
    } else {
        Err(format!("the configured {what} {} is not there", path.display()))
    }
}
