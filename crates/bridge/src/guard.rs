//! The one place that every command, directory and call passes before anything happens.
//!
//! Judging follows links, so async code does it off the workers.
//!
//! Every decision is logged under the target `policy`: who asked, and which rule applied. The command
//! itself can hold secrets, so it is logged at the level `debug` only.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use termbridge_editor::WrongSetting;
use termbridge_policy::{
    ConfigError, Decision, Dialect, Policy, RateLimit, RateLimited, RateLimiter,
};
use termbridge_session::{Shell, command_text};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::caller::Caller;
use crate::error::BridgeError;
use crate::folder_limits::{AllLimits, FolderLimiting, FolderLimits, Limits};

/// Bytes of a command in the log.
const MAX_LOGGED: usize = 200;

/// How many agents' calls a principal may make: a caller that takes another `agent_id` gets no more than this.
const AGENTS_OF_PRINCIPAL: u32 = 8;

/// Most long commands judged at once: the longest cost some 20 MB while they are.
const JUDGED_TOGETHER: usize = 2;

pub(crate) struct Guard {
    policy: Policy,
    /// What people have set for some folders beside it.
    folders: Arc<AllLimits>,
    limits: Option<Mutex<RateLimits>>,
    home: PathBuf,
    long_commands: Arc<Semaphore>,
}

impl Guard {
    pub(crate) fn new(policy: Policy, home: PathBuf) -> Self {
        let limits = policy.rate_limiter().map(RateLimits::new).map(Mutex::new);
        let long_commands = Arc::new(Semaphore::new(JUDGED_TOGETHER));
        Self { policy, folders: Arc::default(), limits, home, long_commands }
    }

    /// Adds limits for some folders, as long as what is returned lives.
    pub(crate) fn limit(
        &self,
        limits: FolderLimits,
    ) -> Result<(FolderLimiting, Vec<WrongSetting>), ConfigError> {
        self.folders.add(limits, &self.home)
    }

    /// What people have set for what a caller does in a directory.
    pub(crate) fn folder_limits(&self, caller: &Caller, directory: &Path) -> Vec<Arc<Limits>> {
        self.folders.of(caller.workspace(), directory)
    }

    /// The most lines of output in one answer, where a person has limited them.
    pub(crate) fn max_output_lines(
        &self,
        workspace: Option<&Path>,
        directory: &Path,
    ) -> Option<u64> {
        let limits = self.folders.of(workspace, directory);
        limits.iter().filter_map(|it| it.sessions.scrollback_lines).min().map(|lines| lines as u64)
    }

    /// Counts a call.
    pub(crate) fn call(&self, caller: &Caller) -> Result<(), BridgeError> {
        let Some(limits) = &self.limits else { return Ok(()) };
        let mut limits = limits.lock().unwrap_or_else(PoisonError::into_inner);
        limits.check(caller.principal(), caller.agent(), Instant::now()).map_err(|limited| {
            let (principal, agent) = (caller.principal(), caller.agent());
            tracing::warn!(target: "policy", principal, agent, %limited, "call refused");
            limited.into()
        })
    }

    /// What `~` stands for.
    fn home<'a>(&'a self, caller: &'a Caller) -> &'a Path {
        caller.home().unwrap_or(&self.home)
    }

    /// Whether only what is listed may run.
    pub(crate) fn has_allow_list(&self) -> bool {
        self.policy.has_allow_list()
    }

    /// Waits for the turn of a long command, which lasts as long as the permit.
    pub(crate) async fn turn(&self) -> Option<OwnedSemaphorePermit> {
        // It is never closed.
        Arc::clone(&self.long_commands).acquire_owned().await.ok()
    }

    /// Whether a shell may run a command there.
    pub(crate) fn command(
        &self,
        command: &str,
        dialect: Dialect,
        cwd: &Path,
        caller: &Caller,
    ) -> Result<(), BridgeError> {
        self.directory(cwd, caller)?;
        // What the shell gets, not what was written.
        let text = command_text(command);
        let home = self.home(caller);
        conclude(self.policy.check_command(&text, dialect, cwd, home), command, caller)?;
        for limits in self.folder_limits(caller, cwd) {
            let decision = limits.commands.check_command(&text, dialect, cwd, home);
            conclude(by_person(decision, "blockedCommands", &limits), command, caller)?;
        }
        Ok(())
    }

    /// The same, or `None` where it takes a look at the file system.
    pub(crate) fn command_at_once(
        &self,
        command: &str,
        dialect: Dialect,
        cwd: &Path,
        caller: &Caller,
    ) -> Option<Result<(), BridgeError>> {
        if !self.allowed_directories().is_empty() || !self.folder_limits(caller, cwd).is_empty() {
            return None;
        }
        let text = command_text(command);
        let decision = self.policy.check_command_at_once(&text, dialect, cwd, self.home(caller))?;
        Some(conclude(decision, command, caller))
    }

    /// Whether a program may be started there.
    pub(crate) fn program(
        &self,
        words: &[impl AsRef<str>],
        cwd: &Path,
        caller: &Caller,
    ) -> Result<(), BridgeError> {
        self.directory(cwd, caller)?;
        let logged = words.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(" ");
        let home = self.home(caller);
        conclude(self.policy.check_program(words, cwd, home), &logged, caller)?;
        for limits in self.folder_limits(caller, cwd) {
            let decision = limits.commands.check_program(words, cwd, home);
            conclude(by_person(decision, "blockedCommands", &limits), &logged, caller)?;
        }
        Ok(())
    }

    /// Whether a shell or program may be started with a variable set.
    pub(crate) fn variable(
        &self,
        (name, value): (&str, &str),
        dialect: Dialect,
        cwd: &Path,
        caller: &Caller,
    ) -> Result<(), BridgeError> {
        match self.policy.check_variable(name, value, dialect, cwd, self.home(caller)) {
            Decision::Allow { .. } => Ok(()),
            refused @ Decision::Deny { .. } => conclude(refused, name, caller),
        }
    }

    /// The directories that are allowed; without any, all are.
    pub(crate) fn allowed_directories(&self) -> &[PathBuf] {
        self.policy.allowed_directories()
    }

    /// Whether only a person may type a hidden line, such as a password.
    pub(crate) fn secrets_by_person(&self) -> bool {
        self.policy.secrets_by_person()
    }

    /// Whether a path is in an allowed directory. Not logged: listings ask for each link.
    pub(crate) fn path(&self, path: &Path) -> Decision {
        self.policy.check_path(path)
    }

    /// Whether only some directories are allowed to a caller that names this one.
    pub(crate) fn limits_directories(&self, path: &Path, caller: &Caller) -> bool {
        !self.policy.allowed_directories().is_empty()
            || self.folder_limits(caller, path).iter().any(|it| it.limits_directories())
    }

    /// Whether something may be done in a directory.
    pub(crate) fn directory(&self, path: &Path, caller: &Caller) -> Result<(), BridgeError> {
        let limits = self.folder_limits(caller, path);
        let by_person =
            limits.iter().map(|it| by_person(it.check_path(path), "allowedDirectories", it));
        let decisions = std::iter::once(self.policy.check_path(path)).chain(by_person);
        let refused = { decisions }.find_map(|decision| {
            if let Decision::Deny { reason, .. } = decision { Some(reason) } else { None }
        });
        let Some(reason) = refused else { return Ok(()) };
        let path = path.display().to_string();
        let (principal, agent) = (caller.principal(), caller.agent());
        tracing::warn!(target: "policy", principal, agent, path, reason, "directory refused");
        Err(BridgeError::PathNotAllowed { path, reason })
    }
}

/// A refusal by what a person has set in an editor says so: the server's configuration has nothing of it.
fn by_person(decision: Decision, setting: &str, limits: &Limits) -> Decision {
    match decision {
        Decision::Deny { rule, reason, part } => {
            let folders = limits.folders_named();
            let reason = format!(
                "{reason} (set as termbridge.{setting} or terminalMcp.{setting} in the editor's window on {folders})"
            );
            Decision::Deny { rule, reason, part }
        }
        allowed @ Decision::Allow { .. } => allowed,
    }
}

fn conclude(decision: Decision, command: &str, caller: &Caller) -> Result<(), BridgeError> {
    let (principal, agent) = (caller.principal(), caller.agent());
    // A command line may hold secrets: it is logged at `debug` only.
    let logged = &command[..command.floor_char_boundary(MAX_LOGGED)];
    tracing::debug!(target: "policy", principal, agent, command = logged, "command judged");
    match decision {
        Decision::Allow { why } => {
            tracing::info!(target: "policy", principal, agent, %why, "command allowed");
            Ok(())
        }
        Decision::Deny { rule, reason, part } => {
            tracing::warn!(target: "policy", principal, agent, rule, reason, "command refused");
            Err(BridgeError::Blocked { rule, reason, part })
        }
    }
}

/// How often agents may call, and the principals that they belong to.
struct RateLimits {
    agents: RateLimiter,
    principals: RateLimiter,
}

impl RateLimits {
    fn new(agents: RateLimiter) -> Self {
        let limit = agents.limit();
        let calls = limit.calls.saturating_mul(AGENTS_OF_PRINCIPAL);
        Self { agents, principals: RateLimiter::new(RateLimit { calls, ..limit }) }
    }

    fn check(
        &mut self,
        principal: &str,
        agent: Option<&str>,
        now: Instant,
    ) -> Result<(), RateLimited> {
        // The principal is the transport's word: the first of these characters is ours.
        let agent = format!("{principal}\0{}", agent.unwrap_or_default());
        self.agents.check(&agent, now)?;
        self.principals.check(principal, now)
    }
}

/// The syntax that a shell reads.
pub(crate) fn dialect_of(shell: Shell) -> Dialect {
    match shell {
        Shell::Bash => Dialect::Bash,
        Shell::Zsh => Dialect::Zsh,
        Shell::Fish => Dialect::Fish,
        Shell::Posix => Dialect::Posix,
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use std::time::Instant;

    use termbridge_policy::{Policy, PolicyConfig, RateLimit, RateLimiter};
    use tokio::sync::TryAcquireError;

    use super::{AGENTS_OF_PRINCIPAL, Guard, JUDGED_TOGETHER, RateLimits};

    #[test]
    fn another_agent_id_is_no_new_budget_for_its_principal() {
        let limit = RateLimit { calls: 10, per_seconds: 60 };
        let mut limits = RateLimits::new(RateLimiter::new(limit));
        let now = Instant::now();
        let mut calls = |principal: &str, agent: &dyn Fn(u32) -> String| {
            let calls = 0..10 * limit.calls * AGENTS_OF_PRINCIPAL;
            calls.filter(|call| limits.check(principal, Some(&agent(*call)), now).is_ok()).count()
        };
        assert_eq!(calls("ada", &|_| "one".into()), 10);
        let rest = 10 * AGENTS_OF_PRINCIPAL as usize - 10;
        assert_eq!(calls("ada", &|call| call.to_string()), rest);
        assert_eq!(calls("bob", &|_| "one".into()), 10, "another principal's is untouched");
    }

    #[tokio::test]
    async fn long_commands_take_turns() {
        let home = Path::new("/home/ann");
        let policy = Policy::new(&PolicyConfig::default(), home).unwrap();
        let guard = Guard::new(policy, home.to_owned());
        let mut turns = Vec::new();
        for _ in 0..JUDGED_TOGETHER {
            turns.extend(guard.turn().await);
        }
        let more = || guard.long_commands.try_acquire().map(drop);
        assert_eq!(more(), Err(TryAcquireError::NoPermits));
        turns.pop();
        assert_eq!(more(), Ok(()));
    }
}
