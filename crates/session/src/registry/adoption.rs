//! Taking over what an earlier server left.

use std::sync::Arc;

use termbridge_pty::{ExitStatus, HeldProgram, Program};
use tokio::sync::{Semaphore, mpsc};

use super::{Sessions, Shared};
use crate::error::SessionError;
use crate::id::SessionId;
use crate::session::Session;
use crate::task::adoption::{Adopted, Heritage, restore_terminal};
use crate::task::shell::{ShellLink, Spawned};
use crate::task::{COMMAND_QUEUE, Command, SessionTask};

/// Terminals that are restored at a time.
const AT_ONCE: usize = 2;

/// What became of the programs that a keeper held.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Adoption {
    /// Sessions that go on.
    pub adopted: Vec<SessionId>,
    /// Those that could not be taken over, and why; their programs are ended.
    pub lost: Vec<(SessionId, String)>,
}

impl Sessions {
    /// Takes over the sessions that an earlier server left with the keeper. Returns once all are listed;
    /// whoever asks for one waits until its terminal is restored.
    pub async fn adopt(&self) -> Result<Adoption, SessionError> {
        let system = |error: &dyn std::fmt::Display| SessionError::System(error.to_string());
        let mut held = self.shared.host.held().await.map_err(|error| system(&error))?;
        // Of a session that was being restarted, the newer program counts.
        held.sort_by_key(|program| program.id);
        held.reverse();
        let runtime = self.shared.runtime().map_err(|error| system(&error))?;
        runtime.sweep(&held);
        let turns = Arc::new(Semaphore::new(AT_ONCE));
        let mut adoption = Adoption::default();
        for program in held {
            let id = SessionId::from_text(&program.label);
            match self.adopt_one(&id, &program, &turns).await {
                Ok(()) => adoption.adopted.push(id),
                Err(why) => adoption.lost.push((id, why)),
            }
        }
        Ok(adoption)
    }

    async fn adopt_one(
        &self,
        id: &SessionId,
        held: &HeldProgram,
        turns: &Arc<Semaphore>,
    ) -> Result<(), String> {
        let program = self.shared.host.adopt(held.id).await.map_err(|error| error.to_string())?;
        if self.get(id).is_ok() {
            return Err("another program took its place".to_owned());
        }
        let (heritage, spawned) = self.shared.inherit(id, program).map_err(|why| {
            tracing::warn!(session = %id, why, "a session could not be taken over; it is ended");
            why
        })?;
        // One more than allowed is better than one that is lost.
        let place = self.shared.place().ok().filter(|_| !heritage.is_over());
        let (commands, receiver) = mpsc::channel(COMMAND_QUEUE);
        let session = Session::new(id.clone(), &heritage.launch, commands.clone());
        self.shared.add(session.clone(), Some(heritage.number));
        if heritage.is_over() {
            self.shared.set_finished(id, true);
        }
        let ties = self.shared.ties(&session, &commands);
        drop(commands);
        let shared = Arc::downgrade(&self.shared);
        let settings = self.shared.settings.clone().within(&heritage.launch.limits);
        let (id, turns) = (id.clone(), Arc::clone(turns));
        tokio::spawn(async move {
            let _turn = turns.acquire_owned().await;
            let restored = tokio::task::spawn_blocking(move || {
                let journal = spawned.journal.as_ref();
                let (dumped, terminal) =
                    journal.map(|journal| restore_terminal(&heritage, journal, &settings))?;
                Some(Adopted { heritage, spawned, terminal, dumped, place })
            });
            let adopted = restored.await.ok().flatten();
            let task = adopted.map(|adopted| SessionTask::adopt(adopted, ties));
            match task {
                Some(Ok(task)) => begin(task, receiver),
                failed => {
                    let why = failed.and_then(Result::err).map(|error| error.to_string());
                    tracing::error!(session = %id, ?why, "a session could not be restored");
                    if let Some(server) = shared.upgrade() {
                        server.remove(&id);
                    }
                }
            }
        });
        Ok(())
    }
}

fn begin(task: SessionTask, receiver: mpsc::Receiver<Command>) {
    tokio::spawn(task.run(receiver));
}

impl Shared {
    /// What the earlier server left of a session.
    fn inherit(&self, id: &SessionId, mut program: Program) -> Result<(Heritage, Spawned), String> {
        let journal = program.take_journal().ok_or("it has no journal")?;
        let heritage = Heritage::read(id.clone(), &journal).map_err(|error| error.to_string())?;
        let shell = match heritage.shell().zip(heritage.folder()) {
            Some((shell, folder)) => {
                let runtime = self.runtime().map_err(|error| error.to_string())?;
                let folder = runtime.adopt(folder);
                let pipe = program.take_command_pipe().ok_or("its command pipe is gone")?;
                Some(ShellLink { shell, pipe, folder })
            }
            None => None,
        };
        if program.exit_status() == Some(ExitStatus::Lost) {
            tracing::warn!(session = %id, "how it ended is not known");
        }
        Ok((heritage, Spawned { program, shell, journal: Some(journal) }))
    }
}
