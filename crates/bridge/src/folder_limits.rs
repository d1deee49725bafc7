//! Limits that a person has set for the agents that work in some folders.
//!
//! They come beside the server's own policy and can only add to it: what either refuses is refused. They hold as long as
//! what set them lives, such as an editor's window. An entry that cannot be used voids no other; a list of directories of which
//! none can be used allows none.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use termbridge_editor::WrongSetting;
use termbridge_policy::{ConfigError, Decision, Policy, PolicyConfig};
use termbridge_session::{SessionInfo, SessionLimits, State};

use crate::backends::Backends;
use crate::caller::Caller;
use crate::error::BridgeError;
use crate::guard::Guard;
use crate::hub::Bridge;

/// What a person has set.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FolderLimits {
    /// The folders that it is for: callers that work in them, and what is done in them.
    pub folders: Vec<PathBuf>,
    /// Commands that never run, as in the policy's `deny`.
    pub blocked_commands: Vec<String>,
    /// Lists of directories; only what is in one of each list is allowed. An empty list allows all.
    pub allowed_directories: Vec<Vec<PathBuf>>,
    /// No directory is allowed: what was set cannot be read.
    pub no_directory: bool,
    /// Most sessions of one caller that run at once.
    pub max_sessions: Option<usize>,
    /// How long a call waits for a command where its caller does not say.
    pub default_timeout: Option<Duration>,
    /// What new sessions are held to.
    pub sessions: SessionLimits,
}

/// Limits in force; dropping this lifts them.
#[derive(Debug)]
pub struct FolderLimiting {
    all: Arc<AllLimits>,
    limits: Arc<Limits>,
}

impl Drop for FolderLimiting {
    fn drop(&mut self) {
        let mut all = self.all.0.write().unwrap_or_else(PoisonError::into_inner);
        all.retain(|other| !Arc::ptr_eq(other, &self.limits));
    }
}

/// All limits that were set.
#[derive(Debug, Default)]
pub(crate) struct AllLimits(RwLock<Vec<Arc<Limits>>>);

/// Those of one person in some folders.
#[derive(Debug)]
pub(crate) struct Limits {
    folders: Vec<PathBuf>,
    /// On commands.
    pub(crate) commands: Policy,
    /// One for each list of directories.
    directories: Vec<Policy>,
    no_directory: bool,
    max_sessions: Option<usize>,
    default_timeout: Option<Duration>,
    pub(crate) sessions: SessionLimits,
}

/// What the making of a session is held to.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RoomLimits {
    /// Most sessions of its caller that run at once.
    pub(crate) max_sessions: Option<usize>,
    pub(crate) sessions: SessionLimits,
}

impl AllLimits {
    pub(crate) fn add(
        self: &Arc<Self>,
        limits: FolderLimits,
        home: &Path,
    ) -> Result<(FolderLimiting, Vec<WrongSetting>), ConfigError> {
        let mut wrong = Vec::new();
        let blocked = usable("blockedCommands", limits.blocked_commands, &mut wrong, |rule| {
            policy(vec![rule], Vec::new(), home)
        });
        let mut no_directory = limits.no_directory;
        let mut directories = Vec::new();
        for list in { limits.allowed_directories }.into_iter().filter(|list| !list.is_empty()) {
            let allowed = usable("allowedDirectories", list, &mut wrong, |directory| {
                policy(Vec::new(), vec![directory], home)
            });
            no_directory |= allowed.is_empty();
            directories.push(policy(Vec::new(), allowed, home)?);
        }
        let limits = Arc::new(Limits {
            folders: limits.folders,
            directories,
            no_directory,
            commands: policy(blocked, Vec::new(), home)?,
            max_sessions: limits.max_sessions,
            default_timeout: limits.default_timeout,
            sessions: limits.sessions,
        });
        self.0.write().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&limits));
        Ok((FolderLimiting { all: Arc::clone(self), limits }, wrong))
    }

    /// The limits for a directory, and for a caller that works in `workspace`.
    pub(crate) fn of(&self, workspace: Option<&Path>, directory: &Path) -> Vec<Arc<Limits>> {
        let all = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let counts = |limits: &&Arc<Limits>| {
            let is_in = |path: &Path| limits.folders.iter().any(|folder| path.starts_with(folder));
            is_in(directory) || workspace.is_some_and(is_in)
        };
        all.iter().filter(counts).cloned().collect()
    }
}

impl Limits {
    /// What they are for, for people.
    pub(crate) fn folders_named(&self) -> String {
        let folders = self.folders.iter().map(|folder| folder.display().to_string());
        folders.collect::<Vec<_>>().join(", ")
    }

    pub(crate) fn limits_directories(&self) -> bool {
        self.no_directory || !self.directories.is_empty()
    }

    /// Whether something may be done in a directory.
    pub(crate) fn check_path(&self, path: &Path) -> Decision {
        if self.no_directory {
            return Decision::Deny {
                rule: "allowed_directories".into(),
                reason: "none of the directories that are set can be used".into(),
                part: path.to_string_lossy().into_owned(),
            };
        }
        let decisions = self.directories.iter().map(|directories| directories.check_path(path));
        let refused = { decisions }.find(|decision| !decision.is_allowed());
        refused.unwrap_or_else(|| Decision::Allow { why: "each list allows it".into() })
    }
}

/// A policy of these alone.
fn policy(
    deny: Vec<String>,
    allowed_directories: Vec<PathBuf>,
    home: &Path,
) -> Result<Policy, ConfigError> {
    let config =
        PolicyConfig { deny, allowed_directories, default_rules: false, ..PolicyConfig::default() };
    Policy::new(&config, home)
}

/// The entries of a setting that a policy can be made of; the others are named.
fn usable<T: Clone>(
    setting: &str,
    entries: Vec<T>,
    wrong: &mut Vec<WrongSetting>,
    alone: impl Fn(T) -> Result<Policy, ConfigError>,
) -> Vec<T> {
    let mut is_usable = |entry: &T| match alone(entry.clone()) {
        Ok(_) => true,
        Err(error) => {
            wrong.push(WrongSetting { name: setting.to_owned(), reason: error.to_string() });
            false
        }
    };
    { entries }.into_iter().filter(|entry| is_usable(entry)).collect()
}

impl Bridge {
    /// Limits what is done in some folders beside the policy, as long as what is returned lives. What cannot be used is named.
    pub fn limit_folders(
        &self,
        limits: FolderLimits,
    ) -> Result<(FolderLimiting, Vec<WrongSetting>), BridgeError> {
        self.shared.guard.limit(limits).map_err(|error| BridgeError::Invalid(error.to_string()))
    }

    /// How long a call waits for a command where its caller does not say: `usual`, or less where a person has set it.
    pub fn default_timeout(
        &self,
        caller: &Caller,
        directory: Option<&Path>,
        usual: Duration,
    ) -> Duration {
        let start = self.shared.settings.start_folder(caller);
        let directory = directory.map_or_else(|| start.to_owned(), |path| start.join(path));
        let limits = self.shared.guard.folder_limits(caller, &directory);
        limits.iter().filter_map(|it| it.default_timeout).fold(usual, Duration::min)
    }

    /// The most lines of output in one answer about a directory, where a person has limited them.
    pub fn max_output_lines(&self, caller: &Caller, directory: &Path) -> Option<u64> {
        self.shared.guard.max_output_lines(caller.workspace(), directory)
    }
}

impl RoomLimits {
    pub(crate) fn of(guard: &Guard, caller: &Caller, directory: &Path) -> Self {
        let limits = guard.folder_limits(caller, directory);
        Self {
            max_sessions: limits.iter().filter_map(|it| it.max_sessions).min(),
            sessions: limits.iter().fold(SessionLimits::default(), |all, it| all.and(it.sessions)),
        }
    }

    /// Refuses a further session where a person has said how many a caller may have.
    pub(crate) async fn check(
        &self,
        backends: &Backends,
        caller: &Caller,
    ) -> Result<(), BridgeError> {
        let Some(limit) = self.max_sessions else { return Ok(()) };
        let own = backends.list_own(caller).await?.sessions;
        // What a person shares is nobody's doing.
        let counts =
            |info: &&SessionInfo| info.state == State::Running && !info.owner.is_everyone();
        let running = own.iter().filter(counts).count();
        match running < limit {
            true => Ok(()),
            false => Err(BridgeError::FolderFull { limit }),
        }
    }
}
