//! Checks of what a session is made with: its directory, shell and variables. They look at files, off the workers.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use termbridge_foreign_files::off_worker;
use termbridge_policy::Dialect;

use crate::backends::BackendIndex;
use crate::caller::Caller;
use crate::directories;
use crate::error::BridgeError;
use crate::hub::Bridge;

/// Variables that a call may set.
const MAX_VARIABLES: usize = 1000;
/// Bytes of their names and values.
const MAX_VARIABLE_BYTES: usize = 128 * 1024;

impl Bridge {
    /// Whether something may be done in a directory.
    pub(crate) async fn check_directory(
        &self,
        path: &Path,
        caller: &Caller,
    ) -> Result<(), BridgeError> {
        let (shared, directory) = (Arc::clone(&self.shared), path.to_owned());
        let caller = caller.clone();
        off_worker(path, move || shared.guard.directory(&directory, &caller)).await?
    }

    /// What a session is made with may run things too: the shell that was requested has to be one, and the variables
    /// pass the policy.
    pub(crate) async fn check_session(
        &self,
        caller: &Caller,
        shell: Option<&str>,
        dialect: Dialect,
        env: &BTreeMap<String, String>,
        cwd: &Path,
    ) -> Result<(), BridgeError> {
        check_variables(env.iter())?;
        if shell.is_none() && env.is_empty() {
            return Ok(());
        }
        let (shared, judged_by) = (Arc::clone(&self.shared), caller.clone());
        let directory = cwd.to_owned();
        let (shell, env) = (shell.map(str::to_owned), env.clone());
        let check = move || {
            let (settings, guard) = (&shared.settings, &shared.guard);
            // With an allow list it has to be one of the system's: any file can be called `bash`.
            let path = || judged_by.variable("PATH");
            let is_refused = |shell: &String| {
                !settings.is_shell(shell)
                    || (guard.has_allow_list()
                        && !settings.is_system_shell(shell, path().as_deref()))
            };
            if let Some(shell) = shell.filter(is_refused) {
                return Err(BridgeError::NotAShell(shell));
            }
            env.iter().try_for_each(|(name, value)| {
                guard.variable((name, value), dialect, &directory, &judged_by)
            })
        };
        self.judged(caller, cwd, check).await
    }

    /// Runs what judges a command off the workers. Where all directories are allowed, it looks at those alone that the
    /// command names: a shell in a directory that gives no answer can be used.
    pub(crate) async fn judged(
        &self,
        caller: &Caller,
        cwd: &Path,
        judge: impl FnOnce() -> Result<(), BridgeError> + Send + 'static,
    ) -> Result<(), BridgeError> {
        if self.shared.guard.limits_directories(cwd, caller) {
            return off_worker(cwd, judge).await?;
        }
        let judged = off_worker(format!("{:?}", caller.key()), judge).await;
        judged.map_err(|error| {
            let message = "the file system of a directory that it names gave no answer";
            io::Error::new(error.kind(), message)
        })?
    }

    /// A directory as an agent writes it: `~`, relative to `base` or to where sessions start. Where only some are
    /// allowed, it is the one that the links lead to here: `/proc/self/cwd` leads elsewhere in another process.
    pub(crate) async fn directory(
        &self,
        caller: &Caller,
        path: &Path,
        base: Option<&Path>,
        at: BackendIndex,
    ) -> Result<PathBuf, BridgeError> {
        let start = self.shared.settings.start_folder(caller);
        let is_named = !path.as_os_str().is_empty();
        let path = match is_named {
            true => base.unwrap_or(start).join(self.expand_home(caller, path)),
            false => start.to_owned(),
        };
        let is_limited = self.shared.guard.limits_directories(&path, caller);
        if !self.backends().get(at).is_local() {
            return Ok(path);
        }
        if is_named {
            directories::check(&path).await?;
        }
        if is_limited { directories::resolved(path).await } else { Ok(path) }
    }
}

/// Each variable is judged, and all of them go to the program in one piece.
pub(crate) fn check_variables<T: AsRef<str>>(
    variables: impl Iterator<Item = (T, T)>,
) -> Result<(), BridgeError> {
    let (mut count, mut bytes) = (0, 0);
    for (name, value) in variables {
        count += 1;
        bytes += name.as_ref().len() + value.as_ref().len();
    }
    if count <= MAX_VARIABLES && bytes <= MAX_VARIABLE_BYTES {
        return Ok(());
    }
    Err(BridgeError::Invalid(format!(
        "`env` has {count} variables with {bytes} bytes; at most {MAX_VARIABLES} with \
         {MAX_VARIABLE_BYTES} bytes can be set: put more into a file that the program reads"
    )))
}
