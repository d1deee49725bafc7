//! A second backend with screens that are none of ours: what is typed is printed, and nothing runs.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use async_trait::async_trait;
use termbridge_bridge::session::vt::input::InputItem;
use termbridge_bridge::session::vt::{Options, Size, Terminal};
use termbridge_bridge::session::{
    CommandReport, EndReason, Ended, ExitStatus, Fired, Input, Launch, Look, Owner, Scrollback,
    Sent, SessionError, SessionId, SessionInfo, Signal, Snapshot, SnapshotRequest, State, Stopped,
    Wait, Waited,
};
use termbridge_bridge::{
    Awaited, NewSession, ScreenSession, Screens, TerminalBackend, Until, Waiting,
};
use tokio::sync::watch;

/// What it is called.
pub(crate) const TARGET: &str = "typewriter";

/// How it lists its sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Listing {
    Works,
    Fails,
    Hangs,
}

pub(crate) struct Typewriters {
    pub(crate) listing: Mutex<Listing>,
    /// The id of the next session, where that is chosen.
    pub(crate) next: Mutex<Option<String>>,
    open: Mutex<BTreeMap<String, Arc<Typewriter>>>,
}

impl Typewriters {
    pub(crate) fn new() -> Arc<Self> {
        let listing = Mutex::new(Listing::Works);
        Arc::new(Self { listing, next: Mutex::default(), open: Mutex::default() })
    }

    fn find(&self, id: &SessionId) -> Option<Arc<Typewriter>> {
        lock(&self.open).get(id.as_str()).cloned()
    }

    fn get(&self, id: &SessionId) -> Result<Arc<Typewriter>, SessionError> {
        self.find(id).ok_or_else(|| SessionError::NotFound(id.clone()))
    }

    fn open(&self, command: &str, cwd: &str, owner: Owner) -> Arc<Typewriter> {
        let mut open = lock(&self.open);
        let id = lock(&self.next).take().unwrap_or_else(|| format!("typewriter-{}", open.len()));
        let mut info = SessionInfo::new(SessionId::from_text(&id), command, cwd);
        (info.size, info.owner) = (Size { cols: 80, rows: 24 }, owner);
        let typewriter = Arc::new(Typewriter::new(info));
        open.insert(id, Arc::clone(&typewriter));
        typewriter
    }
}

pub(crate) struct Typewriter {
    info: SessionInfo,
    paper: Mutex<Paper>,
    changed: watch::Sender<()>,
}

struct Paper {
    terminal: Terminal,
    state: State,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn blank(size: Size) -> Paper {
    Paper { terminal: Terminal::new(size, Options::default()), state: State::Running }
}

impl Typewriter {
    fn new(info: SessionInfo) -> Self {
        let paper = Mutex::new(blank(info.size));
        Self { info, paper, changed: watch::channel(()).0 }
    }

    fn state(&self) -> State {
        lock(&self.paper).state.clone()
    }

    fn text(&self) -> String {
        self.look(SnapshotRequest::default()).text()
    }

    fn look(&self, request: SnapshotRequest) -> Snapshot {
        let mut paper = lock(&self.paper);
        let seq = paper.terminal.look();
        let changed = request.since.map(|since| paper.terminal.rows_since(since));
        let screen = paper.terminal.screen();
        let mut snapshot = Snapshot {
            screen,
            seq,
            scrolled: changed.as_ref().map_or(0, |(_, rows)| *rows),
            changed: changed.map(|(rows, _)| rows),
            came_back: false,
            scrollback: None,
            size: paper.terminal.size(),
            state: paper.state.clone(),
            modes: paper.terminal.input_modes(),
            quiet: Duration::from_secs(1),
        };
        snapshot.scrollback = request.scrollback.map(|_| {
            let text = snapshot.text();
            Scrollback { total_lines: text.lines().count(), text }
        });
        snapshot
    }

    fn type_in(&self, input: Vec<Input>) -> Result<Sent, SessionError> {
        let mut paper = lock(&self.paper);
        if paper.state != State::Running {
            return Err(SessionError::NotFound(self.info.id.clone()));
        }
        let before = paper.terminal.look();
        let mut bytes = 0;
        for input in input {
            let text = match input {
                Input::Text(text) | Input::Paste(text) => text,
                Input::Items(items) => items
                    .into_iter()
                    .map(|item| match item {
                        InputItem::Text(text) => text,
                        InputItem::Press(_) => "\r\n".to_owned(),
                    })
                    .collect(),
                Input::Mouse(_) | Input::Pause(_) => String::new(),
            };
            bytes += text.len();
            paper.terminal.feed(text.as_bytes());
        }
        drop(paper);
        self.changed.send_replace(());
        Ok(Sent { bytes, queued: 0, before })
    }

    fn end(&self) -> (Ended, bool) {
        let mut paper = lock(&self.paper);
        if let State::Exited(ended) = &paper.state {
            return (ended.clone(), true);
        }
        let at = SystemTime::now();
        let ended = Ended { status: ExitStatus::Code(0), reason: EndReason::Stopped, at };
        paper.state = State::Exited(ended.clone());
        drop(paper);
        self.changed.send_replace(());
        (ended, false)
    }

    /// What of a wait is true now.
    fn fired(&self, wait: &Wait) -> Option<Fired> {
        if wait.exit && self.state() != State::Running {
            return Some(Fired::Exit);
        }
        if let Some(text) = &wait.text {
            let found = self.text().contains(text);
            return found.then_some(Fired::Surveyed);
        }
        (wait.settled || wait.idle.is_some()).then_some(Fired::Settled)
    }

    async fn wait_for(&self, wait: Wait) -> Waited {
        let began = Instant::now();
        let mut changed = self.changed.subscribe();
        let come_true = async {
            loop {
                if let Some(fired) = self.fired(&wait) {
                    return fired;
                }
                if changed.changed().await.is_err() {
                    std::future::pending::<()>().await;
                }
            }
        };
        let limit = wait.timeout.unwrap_or(Duration::from_secs(1));
        let fired = tokio::time::timeout(limit, come_true).await.ok();
        let since = match wait.look {
            Some(Look::Changes(since)) => Some(since),
            _ => None,
        };
        let snapshot = self.look(SnapshotRequest { since, scrollback: None });
        Waited {
            fired,
            state: self.state(),
            told: None,
            seq: snapshot.seq,
            elapsed: began.elapsed(),
            unanswered_query: None,
            seen_before: false,
            hidden_line: false,
            queued: 0,
            snapshot: wait.look.map(|_| Box::new(snapshot)),
            command: None,
        }
    }
}

/// A typewriter as its own kind of session.
struct Screen(Arc<Typewriter>);

#[async_trait]
impl ScreenSession for Screen {
    fn id(&self) -> &SessionId {
        &self.0.info.id
    }

    fn owner(&self) -> &Owner {
        &self.0.info.owner
    }

    async fn snapshot(&self, request: SnapshotRequest) -> Result<Snapshot, SessionError> {
        Ok(self.0.look(request))
    }

    async fn send(&self, input: Vec<Input>) -> Result<Sent, SessionError> {
        self.0.type_in(input)
    }

    async fn send_then_wait(
        &self,
        input: Vec<Input>,
        wait: Wait,
    ) -> Result<(Sent, Waiting), SessionError> {
        let sent = self.0.type_in(input)?;
        let typewriter = Arc::clone(&self.0);
        Ok((sent, Box::pin(async move { Ok(typewriter.wait_for(wait).await) })))
    }

    async fn wait(&self, wait: Wait) -> Result<Waited, SessionError> {
        Ok(self.0.wait_for(wait).await)
    }

    async fn size(&self) -> Result<Size, SessionError> {
        Ok(lock(&self.0.paper).terminal.size())
    }

    async fn resize(&self, size: Size) -> Result<Size, SessionError> {
        lock(&self.0.paper).terminal.resize(size);
        Ok(size)
    }

    async fn restart(&self) -> Result<(), SessionError> {
        let mut paper = lock(&self.0.paper);
        *paper = blank(paper.terminal.size());
        Ok(())
    }

    async fn stop(&self, _signal: Signal, _grace: Duration) -> Result<Stopped, SessionError> {
        let (ended, already) = self.0.end();
        Ok(Stopped { ended, already, killed: 0, detached: Vec::new() })
    }

    async fn info(&self) -> Result<SessionInfo, SessionError> {
        let (state, size) = (self.0.state(), lock(&self.0.paper).terminal.size());
        Ok(SessionInfo { state, size, ..self.0.info.clone() })
    }
}

#[async_trait]
impl Screens for Typewriters {
    async fn launch(&self, launch: Launch) -> Result<Arc<dyn ScreenSession>, SessionError> {
        let owner = launch.owned_by().clone();
        Ok(Arc::new(Screen(self.open(&launch.command_line(), "/paper", owner))))
    }

    fn get(&self, id: &SessionId) -> Result<Arc<dyn ScreenSession>, SessionError> {
        Ok(Arc::new(Screen(Typewriters::get(self, id)?)))
    }
}

#[async_trait]
impl TerminalBackend for Typewriters {
    async fn create_session(&self, new: NewSession) -> Result<SessionInfo, SessionError> {
        let typewriter = self.open("typewriter", &new.cwd.to_string_lossy(), new.owner);
        Ok(typewriter.info.clone())
    }

    async fn list_sessions(&self) -> Result<Vec<SessionInfo>, SessionError> {
        let listing = *lock(&self.listing);
        match listing {
            Listing::Works => {}
            Listing::Fails => return Err(SessionError::System("out of paper".into())),
            Listing::Hangs => std::future::pending().await,
        }
        let open = lock(&self.open);
        let info = |it: &Arc<Typewriter>| SessionInfo { state: it.state(), ..it.info.clone() };
        Ok(open.values().map(info).collect())
    }

    async fn session(&self, id: &SessionId) -> Result<SessionInfo, SessionError> {
        Screen(self.get(id)?).info().await
    }

    async fn start_command(
        &self,
        id: &SessionId,
        _command: &str,
        _patience: Duration,
    ) -> Result<u64, SessionError> {
        Err(SessionError::TakesNoCommands(id.clone()))
    }

    async fn wait_command(
        &self,
        id: &SessionId,
        _command: u64,
        _awaited: Awaited,
        _timeout: Duration,
    ) -> Result<Until, SessionError> {
        Err(SessionError::TakesNoCommands(id.clone()))
    }

    async fn command(
        &self,
        _id: &SessionId,
        _command: u64,
        _from: u64,
        _most: u64,
    ) -> Result<Option<CommandReport>, SessionError> {
        Ok(None)
    }

    async fn terminal_text(
        &self,
        id: &SessionId,
        lines: usize,
    ) -> Result<Scrollback, SessionError> {
        let request = SnapshotRequest { since: None, scrollback: Some(lines) };
        Ok(self.get(id)?.look(request).scrollback.unwrap_or_default())
    }

    async fn interrupt(&self, _id: &SessionId, _command: u64) -> Result<(), SessionError> {
        Ok(())
    }

    fn target(&self) -> &str {
        TARGET
    }

    fn has(&self, id: &SessionId) -> bool {
        self.find(id).is_some()
    }

    fn screens(&self) -> Option<&dyn Screens> {
        Some(self)
    }
}
