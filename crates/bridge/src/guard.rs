//! The one place that every command, directory and call passes before anything happens.
//!
//! Every decision is logged under the target `policy`: who asked, and which rule applied. The command
//! itself can hold secrets, so it is logged at the level `debug` only.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use termbridge_policy::{Decision, Dialect, Policy, RateLimiter};
use termbridge_session::{Shell, command_text};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::error::BridgeError;

/// Bytes of a command in the log.
const MAX_LOGGED: usize = 200;

/// Most long commands judged at once: the longest cost some 20 MB while they are.
const JUDGED_TOGETHER: usize = 2;

pub(crate) struct Guard {
    policy: Policy,
    limiter: Option<Mutex<RateLimiter>>,
    home: PathBuf,
    long_commands: Arc<Semaphore>,
}

impl Guard {
    pub(crate) fn new(policy: Policy, home: PathBuf) -> Self {
        let limiter = policy.rate_limiter().map(Mutex::new);
        let long_commands = Arc::new(Semaphore::new(JUDGED_TOGETHER));
        Self { policy, limiter, home, long_commands }
    }

    /// Counts a call.
    pub(crate) fn call(&self, agent: Option<&str>) -> Result<(), BridgeError> {
        let Some(limiter) = &self.limiter else { return Ok(()) };
        let mut limiter = limiter.lock().unwrap_or_else(PoisonError::into_inner);
        limiter.check(agent.unwrap_or_default(), Instant::now()).map_err(|limited| {
            tracing::warn!(target: "policy", agent, %limited, "call refused");
            limited.into()
        })
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
        agent: Option<&str>,
    ) -> Result<(), BridgeError> {
        self.directory(cwd, agent)?;
        // What the shell gets, not what was written.
        let text = command_text(command);
        let decision = self.policy.check_command(&text, dialect, cwd, &self.home);
        conclude(decision, command, agent)
    }

    /// Whether a program may be started there.
    pub(crate) fn program(
        &self,
        words: &[impl AsRef<str>],
        cwd: &Path,
        agent: Option<&str>,
    ) -> Result<(), BridgeError> {
        self.directory(cwd, agent)?;
        let logged = words.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(" ");
        conclude(self.policy.check_program(words, cwd, &self.home), &logged, agent)
    }

    /// Whether a shell or program may be started with a variable set.
    pub(crate) fn variable(
        &self,
        (name, value): (&str, &str),
        dialect: Dialect,
        cwd: &Path,
        agent: Option<&str>,
    ) -> Result<(), BridgeError> {
        match self.policy.check_variable(name, value, dialect, cwd, &self.home) {
            Decision::Allow { .. } => Ok(()),
            refused @ Decision::Deny { .. } => conclude(refused, name, agent),
        }
    }

    /// Whether something may be done in a directory.
    pub(crate) fn directory(&self, path: &Path, agent: Option<&str>) -> Result<(), BridgeError> {
        let Decision::Deny { reason, .. } = self.policy.check_path(path) else { return Ok(()) };
        let path = path.display().to_string();
        tracing::warn!(target: "policy", agent, path, reason, "directory refused");
        Err(BridgeError::PathNotAllowed { path, reason })
    }
}

fn conclude(decision: Decision, command: &str, agent: Option<&str>) -> Result<(), BridgeError> {
    // A command line may hold secrets: it is logged at `debug` only.
    let logged = &command[..command.floor_char_boundary(MAX_LOGGED)];
    tracing::debug!(target: "policy", agent, command = logged, "command judged");
    match decision {
        Decision::Allow { why } => {
            tracing::info!(target: "policy", agent, %why, "command allowed");
            Ok(())
        }
        Decision::Deny { rule, reason, part } => {
            tracing::warn!(target: "policy", agent, rule, reason, "command refused");
            Err(BridgeError::Blocked { rule, reason, part })
        }
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

    use termbridge_policy::{Policy, PolicyConfig};
    use tokio::sync::TryAcquireError;

    use super::{Guard, JUDGED_TOGETHER};

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
