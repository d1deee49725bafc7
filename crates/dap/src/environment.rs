//! What the library knows of the user's environment: given by the caller, read by nobody else.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use termbridge_foreign_files::off_worker;
use termbridge_pty::is_executable;

use crate::last_line::LastLine;
use crate::process::CommandLine;
use crate::system::{HOME, program_names, variable_name};

/// Environment variables and what follows from them, and who judges what is run with them.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    variables: BTreeMap<OsString, OsString>,
    gate: Option<Gate>,
    /// Hears what captured commands write on their standard error.
    listener: Option<LastLine>,
}

/// Judges a command before it runs: the reason when it may not.
type Judge = dyn Fn(&CommandLine) -> Result<(), String> + Send + Sync;

#[derive(Clone)]
struct Gate(Arc<Judge>);

impl std::fmt::Debug for Gate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Gate")
    }
}

impl Environment {
    /// That of this process.
    pub fn of_process() -> Self {
        let variables = std::env::vars_os().map(|(name, value)| (variable_name(&name), value));
        Self { variables: variables.collect(), gate: None, listener: None }
    }

    /// With a judge of every command that is captured with it or asks [`Environment::may_run`].
    pub fn guarded(
        mut self,
        gate: impl Fn(&CommandLine) -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        self.gate = Some(Gate(Arc::new(gate)));
        self
    }

    /// With the last line of what captured commands write on their standard error kept there.
    pub fn heard_by(mut self, listener: LastLine) -> Self {
        self.listener = Some(listener);
        self
    }

    pub(crate) fn hear(&self, written: &[u8]) {
        if let Some(listener) = &self.listener {
            listener.note(&String::from_utf8_lossy(written));
        }
    }

    /// Whether a command may run, or the reason why not.
    pub async fn may_run(&self, command: &CommandLine) -> Result<(), String> {
        let Some(gate) = self.gate.clone() else { return Ok(()) };
        let (folder, command) = (command.cwd.clone().unwrap_or_default(), command.clone());
        off_worker(folder, move || gate.0(&command)).await.map_err(|error| error.to_string())?
    }

    /// With a variable set.
    pub fn with(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.variables.insert(variable_name(&name.into()), value.into());
        self
    }

    /// The value of a variable.
    pub fn get(&self, name: impl AsRef<OsStr>) -> Option<&OsStr> {
        self.variables.get(&variable_name(name.as_ref())).map(OsString::as_os_str)
    }

    /// The user's home.
    pub fn home(&self) -> Option<&Path> {
        self.get(HOME).filter(|home| !home.is_empty()).map(Path::new)
    }

    /// Gives a command this environment, and not this process's, beneath its own variables.
    pub fn apply(&self, command: &mut CommandLine) {
        let own = std::mem::take(&mut command.env);
        let others = std::env::vars_os().filter(|(name, _)| self.get(name).is_none());
        command.env.extend(others.map(|(name, _)| (name, None)));
        let set = self.variables.iter();
        command.env.extend(set.map(|(name, value)| (name.clone(), Some(value.clone()))));
        command.env.extend(own);
    }

    /// The first executable with this name on the search path; a path is looked at as it is.
    pub fn find_program(&self, name: &str) -> Option<PathBuf> {
        if name.contains(std::path::is_separator) {
            let mut files = program_names(name).into_iter().map(PathBuf::from);
            return files.find(|path| is_executable(path));
        }
        self.find_programs(name).next()
    }

    /// Every executable with this name on the search path, in its order.
    pub fn find_programs(&self, name: &str) -> impl Iterator<Item = PathBuf> {
        let names = program_names(name);
        let files = move |folder: PathBuf| {
            let paths = names.iter().map(|name| folder.join(name));
            paths.collect::<Vec<_>>()
        };
        self.search_path().flat_map(files).filter(|path| is_executable(path))
    }

    /// Executables named `PREFIX-NUMBER` on the search path, the highest number first.
    pub(crate) fn find_numbered(&self, prefix: &str) -> Option<PathBuf> {
        let entries = self.search_path().flat_map(|folder| folder.read_dir().into_iter().flatten());
        let numbered = entries.flatten().filter_map(|entry| {
            let name = entry.file_name();
            let number = name.to_str()?.strip_prefix(prefix)?.strip_prefix('-')?;
            Some((number.parse::<u32>().ok()?, entry.path()))
        });
        numbered.filter(|(_, path)| is_executable(path)).max().map(|(_, path)| path)
    }

    fn search_path(&self) -> impl Iterator<Item = PathBuf> {
        let path = self.get("PATH").unwrap_or_default().to_owned();
        // A relative one would be the project's.
        let absolute = std::env::split_paths(&path).filter(|folder| folder.is_absolute());
        absolute.collect::<Vec<_>>().into_iter()
    }
}
