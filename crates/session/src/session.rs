//! [`Session`]: the handle through which everyone talks to a session's task.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use termbridge_pty::Signal;
use termbridge_vt::Size;
use termbridge_vt::input::parse_keys;
use tokio::sync::{mpsc, oneshot};

use crate::command::{CommandReport, NewCommand};
use crate::error::SessionError;
use crate::id::SessionId;
use crate::info::{SessionInfo, Stopped};
use crate::input::{Input, Sent};
use crate::launch::Launch;
use crate::owner::Owner;
use crate::snapshot::{Page, Snapshot, SnapshotRequest};
use crate::subscription::{Subscription, Update};
use crate::task::Command;
use crate::task::driving::Deed;
use crate::wait::{Wait, Waited};

/// A handle to a session. Clones are the same session; dropping one ends nothing.
#[derive(Debug, Clone)]
pub struct Session {
    id: SessionId,
    owner: Arc<Owner>,
    runs_commands: bool,
    commands: mpsc::Sender<Command>,
    /// Bytes that people have typed.
    typed: Arc<AtomicU64>,
}

impl Session {
    pub(crate) fn new(id: SessionId, launch: &Launch, commands: mpsc::Sender<Command>) -> Self {
        let (owner, runs_commands) = (Arc::new(launch.owner.clone()), launch.shell.is_some());
        Self { id, owner, runs_commands, commands, typed: Arc::default() }
    }

    /// How many bytes people have typed; known without asking.
    pub fn typed_by_people(&self) -> u64 {
        self.typed.load(Ordering::Relaxed)
    }

    pub(crate) fn typed_counter(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.typed)
    }

    /// The session's id.
    pub fn id(&self) -> &SessionId {
        &self.id
    }

    /// Whose session it is.
    pub fn owner(&self) -> &Owner {
        &self.owner
    }

    /// Whether it was launched as a shell that runs commands ([`Session::submit`]); known without a request.
    pub fn runs_commands(&self) -> bool {
        self.runs_commands
    }

    /// A copy of the screen.
    pub async fn screen(&self) -> Result<Snapshot, SessionError> {
        self.snapshot(SnapshotRequest::default()).await
    }

    /// A copy of the screen and what else is asked for.
    pub async fn snapshot(&self, request: SnapshotRequest) -> Result<Snapshot, SessionError> {
        self.ask(|reply| Command::Snapshot { request, reply }).await
    }

    /// The screen with at most so many lines that scrolled off it, for one who only watches.
    pub async fn page(&self, most: usize) -> Result<Page, SessionError> {
        self.ask(|reply| Command::Page { most, reply }).await
    }

    /// Sends keys and text as `send_keys` of the MCP tools reads them: `iHello<Escape>:wq<Enter>`.
    pub async fn send_keys(&self, keys: &str) -> Result<Sent, SessionError> {
        self.send(vec![Input::Items(parse_keys(keys)?)]).await
    }

    /// Sends input, all of it or nothing.
    pub async fn send(&self, input: Vec<Input>) -> Result<Sent, SessionError> {
        self.ask(|reply| Command::Send { input, then: None, reply }).await?
    }

    /// Sends input and begins to wait in the same moment, so that nothing the input leads to is
    /// missed. What stood on the screen before does not count, unless the wait has its own `after`.
    ///
    /// Returns once the input is queued, with the wait; dropping that ends it and nothing else.
    pub async fn send_then_wait(
        &self,
        input: Vec<Input>,
        wait: Wait,
    ) -> Result<(Sent, impl Future<Output = Result<Waited, SessionError>> + use<>), SessionError>
    {
        let (waited, answer) = oneshot::channel();
        let then = Some((wait, waited));
        let sent = self.ask(|reply| Command::Send { input, then, reply }).await??;
        Ok((sent, async move { answer.await.map_err(|_| SessionError::Gone) }))
    }

    /// Waits; dropping the future ends the wait and nothing else.
    pub async fn wait(&self, wait: Wait) -> Result<Waited, SessionError> {
        self.ask(|reply| Command::Wait { wait, reply }).await
    }

    /// Runs a command in a shell session and waits for its end, for it to wait for input, or
    /// for `timeout`; the command goes on after that. At most `most` bytes of output are returned.
    pub async fn execute(
        &self,
        command: &str,
        timeout: Duration,
        most: u64,
    ) -> Result<CommandReport, SessionError> {
        let id = self.submit(command).await?;
        let wait =
            Wait { command: Some(id), needs_input: true, interactive: true, ..Wait::default() };
        self.wait(wait.timeout(timeout)).await?;
        self.command(id, 0, most).await?.ok_or(SessionError::Gone)
    }

    /// Gives a shell session a command and returns its number. The shell has to be free; one that
    /// has not shown its first prompt yet is waited for, up to the launch's start limit.
    pub async fn submit(&self, command: &str) -> Result<u64, SessionError> {
        self.submit_within(command, Duration::MAX).await
    }

    /// The same with a limit of its own on the wait for the first prompt.
    pub async fn submit_within(
        &self,
        command: &str,
        patience: Duration,
    ) -> Result<u64, SessionError> {
        let command = NewCommand { text: command.to_owned(), ..NewCommand::default() };
        self.submit_new(command, patience).await
    }

    /// The same with a key and a setup.
    pub async fn submit_new(
        &self,
        command: NewCommand,
        patience: Duration,
    ) -> Result<u64, SessionError> {
        self.ask(|reply| Command::Submit { command, patience, reply }).await?
    }

    /// The number of the command that came with a request of this name, if it is still known.
    pub async fn keyed(&self, key: &str) -> Result<Option<u64>, SessionError> {
        let key = key.to_owned();
        self.ask(|reply| Command::Keyed { key, reply }).await
    }

    /// What is known of a command, with at most `most` bytes of its output from `from` on.
    pub async fn command(
        &self,
        id: u64,
        from: u64,
        most: u64,
    ) -> Result<Option<CommandReport>, SessionError> {
        self.ask(|reply| Command::Report { id, background: false, from, most, reply }).await
    }

    /// What background jobs printed after a command and before the next, in the same form.
    pub async fn background(
        &self,
        after: u64,
        from: u64,
        most: u64,
    ) -> Result<Option<CommandReport>, SessionError> {
        self.ask(|reply| Command::Report { id: after, background: true, from, most, reply }).await
    }

    /// Sends Ctrl+C to a command, as soon as it has begun; false when it is over.
    pub async fn interrupt(&self, command: u64) -> Result<bool, SessionError> {
        self.ask(|reply| Command::Interrupt { command, reply }).await?
    }

    /// Changes the terminal's size; the program gets SIGWINCH.
    pub async fn resize(&self, size: Size) -> Result<Size, SessionError> {
        self.ask(|reply| Command::Resize { size, reply }).await?
    }

    /// Starts the same command again on a clean screen, ending it first if it runs.
    pub async fn restart(&self) -> Result<(), SessionError> {
        self.ask(|reply| Command::Restart { reply }).await?
    }

    /// Ends the program: `signal`, `grace`, then KILL for every process of its terminal.
    pub async fn stop(&self, signal: Signal, grace: Duration) -> Result<Stopped, SessionError> {
        self.ask(|reply| Command::Stop { signal, grace, reply }).await?
    }

    /// A person types: these bytes, as the person's own terminal made them. The person drives from then on.
    pub async fn type_in(&self, person: &str, bytes: Vec<u8>) -> Result<(), SessionError> {
        self.person(person, Deed::Type(bytes)).await
    }

    /// A person types a hidden line, and Enter; an error where none is asked for.
    pub async fn type_secret(&self, person: &str, text: String) -> Result<(), SessionError> {
        self.person(person, Deed::TypeSecret(text)).await
    }

    /// A person takes over: agents neither type, run nor resize anything until it is handed back.
    pub async fn take_over(&self, person: &str) -> Result<(), SessionError> {
        self.person(person, Deed::TakeOver).await
    }

    /// The size of the panel of the person who drives; that of another changes nothing.
    pub async fn fit(&self, person: &str, size: Size) -> Result<(), SessionError> {
        self.person(person, Deed::Fit(size)).await
    }

    /// Gives the session the size of a person's panel while agents drive, until [`restore_size`](Self::restore_size).
    pub async fn fit_to_panel(&self, person: &str, size: Size) -> Result<(), SessionError> {
        self.person(person, Deed::FitToPanel(size)).await
    }

    /// Restores the size from before [`fit_to_panel`](Self::fit_to_panel), if this person called that.
    pub async fn restore_size(&self, person: &str) -> Result<(), SessionError> {
        self.person(person, Deed::RestoreSize).await
    }

    /// A person's window has opened or closed its box for the password.
    pub async fn sees_password_box(&self, person: &str, is_open: bool) -> Result<(), SessionError> {
        self.person(person, Deed::SeesPasswordBox(is_open)).await
    }

    /// Gives the session back to its agents, in the size that they know.
    pub async fn hand_back(&self, person: &str) -> Result<(), SessionError> {
        self.person(person, Deed::HandBack).await
    }

    /// A person who drives is gone: the next agent may, after a while.
    pub async fn leave(&self, person: &str) -> Result<(), SessionError> {
        self.person(person, Deed::Leave).await
    }

    /// A person who left is back: drives on, unless somebody else does or the session was given back to its agents.
    pub async fn return_to(&self, person: &str) -> Result<(), SessionError> {
        self.person(person, Deed::Return).await
    }

    async fn person(&self, person: &str, deed: Deed) -> Result<(), SessionError> {
        let person = person.to_owned();
        self.ask(|reply| Command::Person { person, deed, reply }).await?
    }

    /// Watches the session: what its terminal shows, then what its program prints.
    pub async fn subscribe(&self) -> Result<Subscription, SessionError> {
        Subscription::begin(self.clone()).await
    }

    /// Lets the task go round once; one that has requests waiting does so anyway.
    pub(crate) fn wake(&self) {
        let _ = self.commands.try_send(Command::Wake);
    }

    pub(crate) async fn updates(&self) -> Result<mpsc::Receiver<Update>, SessionError> {
        self.ask(|reply| Command::Watch { reply }).await
    }

    /// The terminal's size.
    pub async fn size(&self) -> Result<Size, SessionError> {
        self.ask(|reply| Command::Size { reply }).await
    }

    /// What is known of the session.
    pub async fn info(&self) -> Result<SessionInfo, SessionError> {
        self.ask(|reply| Command::Info { reply }).await
    }

    /// Ends a shell that waits at its prompt, unless another process runs in its session (a
    /// background job); tells whether it does.
    pub async fn end_if_idle(&self) -> Result<bool, SessionError> {
        self.ask(|reply| Command::EndIdle { reply }).await
    }

    #[cfg(test)]
    pub(crate) fn commands(&self) -> &mpsc::Sender<Command> {
        &self.commands
    }

    async fn ask<T>(
        &self,
        command: impl FnOnce(oneshot::Sender<T>) -> Command,
    ) -> Result<T, SessionError> {
        let (reply, answer) = oneshot::channel();
        let gone = || SessionError::NotFound(self.id.clone());
        self.commands.send(command(reply)).await.map_err(|_| gone())?;
        answer.await.map_err(|_| SessionError::Gone)
    }
}
