//! Running tasks before a program is debugged.

use std::process::Stdio;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc;

use crate::environment::Environment;
use crate::last_line::LastLine;
use crate::launch_json::Task;
use crate::process::ProcessTree;
use crate::settings::Settings;
use crate::terminal::BoxFuture;
use crate::transport::{Stream, forward};

/// Bytes of a failed task's output that are told.
const TOLD_OUTPUT: usize = 4 * 1024;
/// Pieces of output waiting to be taken.
const OUTPUT_QUEUE: usize = 64;
/// How long output may come after the task ended.
const LAST_OUTPUT: Duration = Duration::from_millis(300);

/// Runs tasks. A task that succeeded, or that goes on in the background, is `Ok`.
pub trait TaskRunner: Send + Sync {
    /// Runs a task, keeping its last line there; an error says why it failed, with the end of what it wrote.
    fn run(&self, task: Task, said: LastLine) -> BoxFuture<'_, Result<(), String>>;

    /// Ends those that go on in the background.
    fn end_background(&self) {}
}

/// Runs tasks as plain processes. Those in the background end with it.
pub(crate) struct PlainRunner {
    environment: Environment,
    timeout: Duration,
    background: Mutex<Vec<ProcessTree>>,
}

impl PlainRunner {
    pub(crate) fn new(settings: &Settings) -> Self {
        let (environment, timeout) = (settings.environment.clone(), settings.task_timeout);
        Self { environment, timeout, background: Mutex::default() }
    }

    async fn run_task(&self, mut task: Task, last: LastLine) -> Result<(), String> {
        self.environment.apply(&mut task.command);
        let mut process = task
            .command
            .spawn(Stdio::null())
            .map_err(|error| format!("{} cannot be started: {error}", task.command.shown()))?;
        let (_, stdout, stderr) = process.pipes();
        let (sender, mut output) = mpsc::channel(OUTPUT_QUEUE);
        if let (Some(stdout), Some(stderr)) = (stdout, stderr) {
            tokio::spawn(forward(stdout, Stream::Stdout, sender.clone()));
            tokio::spawn(forward(stderr, Stream::Stderr, sender));
        }
        if task.background {
            tokio::spawn(async move { while output.recv().await.is_some() {} });
            self.background.lock().unwrap_or_else(PoisonError::into_inner).push(process);
            return Ok(());
        }
        let mut said = String::new();
        let ended = async {
            let waited = process.wait();
            tokio::pin!(waited);
            loop {
                tokio::select! {
                    status = &mut waited => return status,
                    Some((_, piece)) = output.recv() => {
                        keep_end(&mut said, &piece);
                        last.note(&said);
                    }
                }
            }
        };
        let ended = tokio::time::timeout(self.timeout, ended).await;
        while let Ok(Some((_, piece))) = tokio::time::timeout(LAST_OUTPUT, output.recv()).await {
            keep_end(&mut said, &piece);
        }
        match ended {
            Ok(Some(status)) if status.success() => Ok(()),
            Ok(Some(status)) => Err(format!("{status}\n{}", said.trim_end())),
            Ok(None) => Err("how it ended is not known".to_owned()),
            Err(_) => {
                Err(format!("not done within {} s\n{}", self.timeout.as_secs(), said.trim_end()))
            }
        }
    }
}

impl TaskRunner for PlainRunner {
    fn run(&self, task: Task, said: LastLine) -> BoxFuture<'_, Result<(), String>> {
        Box::pin(self.run_task(task, said))
    }

    fn end_background(&self) {
        // Dropping them ends them.
        self.background.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

fn keep_end(said: &mut String, piece: &str) {
    said.push_str(piece);
    let mut start = said.len().saturating_sub(TOLD_OUTPUT);
    while !said.is_char_boundary(start) {
        start += 1;
    }
    said.drain(..start);
}
