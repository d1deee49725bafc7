//! Limits that the keeper inherits from the server, changes for itself, and restores for programs.

use rustix::process::{Resource, Rlimit};

use crate::sys;

/// The limits of the server.
pub(super) struct Inherited {
    descriptor_limit: Rlimit,
    /// As the kernel writes it; `None` if the keeper's is the same.
    #[cfg(target_os = "linux")]
    oom_score: Option<Vec<u8>>,
}

impl Inherited {
    /// Notes the inherited limits and sets the keeper's own.
    pub(super) fn replace() -> Self {
        Self {
            descriptor_limit: raise_descriptor_limit(),
            #[cfg(target_os = "linux")]
            oom_score: lower_oom_score(),
        }
    }

    /// Restores the inherited limits in a forked child, by system calls only.
    pub(super) fn restore(&self) {
        let _ = rustix::process::setrlimit(Resource::Nofile, self.descriptor_limit);
        #[cfg(target_os = "linux")]
        if let Some(score) = &self.oom_score {
            let _ = write_oom_score(score);
        }
    }
}

/// Each program costs two descriptors, so the common soft limit of 1024 would be the bound on
/// sessions. Returns the inherited limit.
fn raise_descriptor_limit() -> Rlimit {
    let inherited = rustix::process::getrlimit(Resource::Nofile);
    // macOS refuses "no limit", which is the common maximum there.
    let most = cfg!(target_vendor = "apple").then_some(sys::MOST_DESCRIPTORS as u64);
    let current = [inherited.maximum, most].into_iter().flatten().min();
    let raised = Rlimit { current, maximum: inherited.maximum };
    let _ = rustix::process::setrlimit(Resource::Nofile, raised);
    inherited
}

#[cfg(target_os = "linux")]
const OOM_SCORE: &str = "/proc/self/oom_score_adj";

/// Scores to try. The first needs privileges, and often the others do.
#[cfg(target_os = "linux")]
const OOM_SCORES: [i32; 3] = [-900, 0, 100];

/// When memory runs out, the kernel ends the process with the highest score. With the keeper, which is small,
/// every session would end. Returns the inherited score if it could be lowered.
#[cfg(target_os = "linux")]
fn lower_oom_score() -> Option<Vec<u8>> {
    let inherited = std::fs::read_to_string(OOM_SCORE).ok()?;
    let score: i32 = inherited.trim().parse().ok()?;
    let lower = OOM_SCORES.into_iter().filter(|lower| *lower < score);
    let lowered = { lower }.any(|lower| write_oom_score(lower.to_string().as_bytes()).is_ok());
    lowered.then(|| inherited.into_bytes())
}

/// Allocates nothing: a short path is copied to the stack.
#[cfg(target_os = "linux")]
fn write_oom_score(score: &[u8]) -> rustix::io::Result<()> {
    use rustix::fs::{Mode, OFlags};
    let file = rustix::fs::open(OOM_SCORE, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    rustix::io::write(&file, score).map(drop)
}
