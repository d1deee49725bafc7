//! Programs that are run for what they write: bounded in time and output, ended with all they started.

use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};

use crate::environment::Environment;
use crate::process::CommandLine;

/// How long output may come after the program ended: what it left running may hold its pipes.
const LAST_OUTPUT: Duration = Duration::from_millis(300);
/// Bytes that are read at once.
const PIECE: usize = 64 * 1024;

/// What a program wrote, and how it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Captured {
    /// How it ended.
    pub status: ExitStatus,
    /// The beginning of its standard output.
    pub stdout: Vec<u8>,
    /// The end of its standard error.
    pub stderr: Vec<u8>,
    /// Whether its standard output was longer than that.
    pub cut: bool,
}

/// Why nothing was captured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CaptureError {
    /// The environment's judge refused it.
    #[error("{0}")]
    Refused(String),
    /// It cannot be started.
    #[error("{command} cannot be started: {reason}")]
    Start {
        /// The command.
        command: String,
        /// What the system says.
        reason: std::io::Error,
    },
    /// It took too long, and was ended.
    #[error("{command} was not done within {} ms", .after.as_millis())]
    Timeout {
        /// The command.
        command: String,
        /// How long it had.
        after: Duration,
    },
}

impl CommandLine {
    /// Runs it to its end with no input, keeping at most `limit` bytes of each output. When this is
    /// dropped, or past the time, it is ended with all that it started.
    pub async fn capture(
        mut self,
        environment: &Environment,
        timeout: Duration,
        limit: usize,
    ) -> Result<Captured, CaptureError> {
        environment.may_run(&self).await.map_err(CaptureError::Refused)?;
        environment.apply(&mut self);
        let command = self.shown();
        let mut process = match self.spawn(Stdio::null()) {
            Ok(process) => process,
            Err(reason) => return Err(CaptureError::Start { command, reason }),
        };
        let (_, stdout, stderr) = process.pipes();
        let (mut output, mut errors) =
            (Kept::new(Side::Beginning, limit), Kept::new(Side::End, limit));
        let ended = async {
            let reading = async {
                tokio::join!(output.read(stdout, None), errors.read(stderr, Some(environment)))
            };
            tokio::pin!(reading);
            let (status, read) = tokio::select! {
                status = process.wait() => (status, false),
                _ = &mut reading => (process.wait().await, true),
            };
            if !read {
                // Whoever holds the pipes longer than this is not the program.
                let _ = tokio::time::timeout(LAST_OUTPUT, reading).await;
            }
            status
        };
        match tokio::time::timeout(timeout, ended).await {
            Ok(Some(status)) => {
                Ok(Captured { status, stdout: output.bytes, stderr: errors.bytes, cut: output.cut })
            }
            Ok(None) => {
                let reason = std::io::Error::other("how it ended is not known");
                Err(CaptureError::Start { command, reason })
            }
            Err(_) => Err(CaptureError::Timeout { command, after: timeout }),
        }
    }
}

/// Which side of an output is kept.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Beginning,
    End,
}

struct Kept {
    side: Side,
    limit: usize,
    bytes: Vec<u8>,
    cut: bool,
}

impl Kept {
    fn new(side: Side, limit: usize) -> Self {
        Self { side, limit, bytes: Vec::new(), cut: false }
    }

    /// Reads to the end, so that the program can always write on.
    async fn read(&mut self, pipe: Option<impl AsyncRead + Unpin>, heard: Option<&Environment>) {
        let Some(mut pipe) = pipe else { return };
        let mut piece = vec![0; PIECE];
        while let Ok(length @ 1..) = pipe.read(&mut piece).await {
            self.keep(&piece[..length]);
            if let Some(environment) = heard {
                environment.hear(&piece[..length]);
            }
        }
    }

    fn keep(&mut self, piece: &[u8]) {
        match self.side {
            Side::Beginning => {
                let room = piece.len().min(self.limit - self.bytes.len());
                self.bytes.extend_from_slice(&piece[..room]);
                self.cut |= room < piece.len();
            }
            Side::End => {
                self.bytes.extend_from_slice(piece);
                let excess = self.bytes.len().saturating_sub(self.limit);
                self.bytes.drain(..excess);
                self.cut |= excess > 0;
            }
        }
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    fn shell(script: &str) -> CommandLine {
        CommandLine::new("/bin/sh").args(["-c", script])
    }

    #[tokio::test]
    async fn the_beginning_of_the_output_and_the_end_of_the_errors_are_kept() {
        let environment = Environment::of_process();
        let command = shell("echo 12345678; echo abcdefgh >&2; exit 3");
        let captured = command.capture(&environment, Duration::from_secs(20), 4).await;
        let captured = captured.expect("it runs");
        assert_eq!((captured.status.code(), captured.cut), (Some(3), true));
        assert_eq!(captured.stdout, b"1234");
        assert_eq!(captured.stderr, b"fgh\n");
    }

    #[tokio::test]
    async fn what_takes_too_long_is_ended_with_its_children() {
        let folder = tempfile::tempdir().expect("a folder");
        let pid = folder.path().join("pid");
        let script = format!("sleep 300 & echo $! > {}; wait", pid.display());
        let environment = Environment::of_process();
        let time = Duration::from_secs(1);
        let error = shell(&script).capture(&environment, time, 4).await.expect_err("too long");
        assert!(matches!(error, CaptureError::Timeout { .. }), "{error}");
        let pid = std::fs::read_to_string(pid).expect("it ran");
        let stat = format!("/proc/{}/stat", pid.trim());
        // Killed is not yet reaped.
        let alive = || std::fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z "));
        let gone = async {
            while alive() {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(20), gone).await.expect("it is gone");
    }

    #[tokio::test]
    async fn what_is_left_running_does_not_hold_it_up() {
        let environment = Environment::of_process();
        let command = shell("sleep 300 & echo done");
        let captured = command.capture(&environment, Duration::from_secs(20), 100).await;
        assert_eq!(captured.expect("it runs").stdout, b"done\n");
    }
}
