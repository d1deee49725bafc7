//! [`EditorTerminals`]: the terminals of connected editors as sessions, the target `vscode`.
//!
//! ```text
//! hub ──► EditorTerminals ──► a terminal: commands, a screen ◄── what its window reports (Terminals)
//!                └──► windows: requests to the editor that has it
//! ```
//!
//! A window of our own extension reports what commands print and how they end; the screen is a terminal of ours that is
//! fed with it. A plain extension replies to a command with a text of its own; nothing else is known of the command
//! ([`Sent`](termbridge_session::CommandState::Sent)). Its terminals have no directory and no variables: the first command
//! sets them.
//!
//! Invariants:
//! - A command is given to the editor at most once; it is sent again only if it was never written.
//! - A window can speak of its own terminals only. One that is loaded anew is another window; it goes on with those of which it
//!   knows who had them.
//! - A terminal that is closed in the editor is an ended session. So is one whose editor is away for [`GONE_LIMIT`], or is away
//!   and has taken its shell along.
//! - Whose a terminal is, is known from the server that made it (`kept`), never from a window.
//! - Bounds: [`MAX_TERMINALS`] that live, [`MAX_ENDED`] that can still be read.

mod command;
mod execution;
mod kept;
mod line;
mod look;
mod reports;
mod screen;
mod state;
mod terminal;
mod waiting;
mod windows;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};
use termbridge_editor::Reply;
use termbridge_session::{
    CommandReport, Launch, NewCommand, Owner, Scrollback, SessionError, SessionId, SessionInfo,
    State, Wait,
};
use tokio::time::Instant;

use self::execution::INTEGRATION_LIMIT;
use self::kept::KeptFile;
use self::screen::EditorScreen;
use self::terminal::{EditorTerminal, NewTerminal, PROGRAM_SHELL, Purpose, base_name};
use self::windows::{ConnectedWindows, Failure, WindowKey};
use crate::backend::{Awaited, NewSession, TerminalBackend, Until};
use crate::screens::{ScreenSession, Screens};
use crate::settings::SHELLS;

/// The name of the target.
pub const EDITOR_TARGET: &str = "vscode";
/// Terminals that live at once.
const MAX_TERMINALS: usize = 64;
/// Terminals that have ended and can still be read.
const MAX_ENDED: usize = 32;
/// How long an editor may stay away before its terminals are given up.
const GONE_LIMIT: Duration = Duration::from_mins(1);

/// The shell of a plain extension's terminal, whose name is not known.
const EDITORS_SHELL: &str = "the editor's default shell";

/// What is reported of a command whose window is not there.
const AWAY: &str = "the editor's window does not answer: it was closed, is cut off, or is reloading; output meanwhile may not be captured";

/// What is called when the target is used for the first time.
pub type FirstUse = Box<dyn Fn() + Send + Sync>;

/// The terminals of editors. Clones are the same.
#[derive(Clone)]
pub struct EditorTerminals {
    shared: Arc<Shared>,
}

struct Shared {
    windows: ConnectedWindows,
    open: Mutex<Open>,
    first_use: OnceLock<FirstUse>,
    kept: KeptFile,
}

#[derive(Default)]
struct Open {
    /// In the order of their start.
    terminals: Vec<Arc<EditorTerminal>>,
    /// Windows with terminals that have disconnected, and since when.
    gone: HashMap<WindowKey, Instant>,
}

impl Open {
    /// Gives a plain connection the terminals of the one that it replaces, if exactly one is gone.
    fn reconnect_plain(&mut self, window: &WindowKey) {
        let lives_in = |key: &WindowKey| {
            self.terminals.iter().any(|one| one.is_of(key) && one.lock().ended.is_none())
        };
        let mut gone = self.gone.keys().filter(|key| !key.is_ours() && lives_in(key));
        let (Some(before), None) = (gone.next().cloned(), gone.next()) else { return };
        for terminal in self.terminals.iter().filter(|one| one.is_of(&before)) {
            terminal.add_window(window.clone());
            terminal.leave_window(&before);
        }
        self.gone.remove(&before);
    }
}

impl Default for EditorTerminals {
    fn default() -> Self {
        Self::new()
    }
}

impl EditorTerminals {
    /// No terminals yet.
    pub fn new() -> Self {
        let shared = Shared {
            windows: ConnectedWindows::new(),
            open: Mutex::default(),
            first_use: OnceLock::new(),
            kept: KeptFile::default(),
        };
        Self { shared: Arc::new(shared) }
    }

    /// Has this called before each search for an editor, for servers that listen only then.
    #[must_use]
    pub fn on_use(self, call: FirstUse) -> Self {
        let _ = self.shared.first_use.set(call);
        self
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.shared.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn find(&self, id: &SessionId) -> Option<Arc<EditorTerminal>> {
        self.lock().terminals.iter().find(|terminal| terminal.id == *id).cloned()
    }

    fn terminal(&self, id: &SessionId) -> Result<Arc<EditorTerminal>, SessionError> {
        self.sweep();
        self.find(id).ok_or_else(|| SessionError::NotFound(id.clone()))
    }

    fn of_window(&self, window: &WindowKey, terminal_id: &str) -> Option<Arc<EditorTerminal>> {
        let open = self.lock();
        let fits = |terminal: &&Arc<EditorTerminal>| {
            terminal.is_of(window)
                && terminal.terminal_id == terminal_id
                && terminal.lock().is_in_editor()
        };
        open.terminals.iter().find(fits).cloned()
    }

    /// Ends the terminals of editors that stay away, and forgets the oldest that have ended.
    fn sweep(&self) {
        let mut open = self.lock();
        let now = Instant::now();
        let is_over = |since: &Instant| now.duration_since(*since) > GONE_LIMIT;
        for terminal in open.terminals.iter().filter(|_| !open.gone.is_empty()) {
            let left: Option<Vec<&Instant>> =
                terminal.windows().iter().map(|window| open.gone.get(window)).collect();
            let away = left.and_then(|left| left.into_iter().max());
            if away.is_some_and(|since| is_over(since) || terminal.lock().has_lost_process()) {
                terminal.withdraw("its window was closed");
            }
        }
        let Open { terminals, gone } = &mut *open;
        // One that is gone for long still counts as gone where another window has the terminal too.
        let lives_in = |one: &Arc<EditorTerminal>, window: &WindowKey| {
            one.is_of(window) && one.lock().ended.is_none()
        };
        gone.retain(|window, since| {
            !is_over(since) || terminals.iter().any(|one| lives_in(one, window))
        });
        let has_ended = |terminal: &Arc<EditorTerminal>| terminal.lock().ended.is_some();
        let ended = open.terminals.iter().filter(|terminal| has_ended(terminal)).count();
        let mut surplus = ended.saturating_sub(MAX_ENDED);
        open.terminals.retain(|terminal| {
            let goes = surplus > 0 && has_ended(terminal);
            surplus -= usize::from(goes);
            !goes
        });
    }

    /// Whether no window that has it is there.
    fn is_away(&self, terminal: &EditorTerminal) -> bool {
        !self.shared.windows.is_usable(&terminal.windows())
    }

    fn info_of(&self, terminal: &EditorTerminal) -> SessionInfo {
        let info = terminal.info();
        let away = info.state == State::Running && self.is_away(terminal);
        SessionInfo { away, ..info }
    }

    fn add(&self, new: NewTerminal) -> Result<Arc<EditorTerminal>, SessionError> {
        let id = SessionId::random()
            .map_err(|error| SessionError::System(format!("no random numbers: {error}")))?;
        let terminal = Arc::new(EditorTerminal::new(id, new));
        self.lock().terminals.push(Arc::clone(&terminal));
        self.keep();
        Ok(terminal)
    }

    /// Has an editor open a terminal.
    async fn open(&self, opening: Opening) -> Result<Arc<EditorTerminal>, SessionError> {
        self.sweep();
        let living = self.lock().terminals.iter().filter(|one| one.lock().ended.is_none()).count();
        if living >= MAX_TERMINALS {
            return Err(SessionError::TooManySessions { limit: MAX_TERMINALS });
        }
        if let Some(first_use) = self.shared.first_use.get() {
            first_use();
        }
        let Opening {
            name,
            owner,
            project,
            cwd,
            workspace,
            env,
            shell,
            is_shell_requested,
            program,
        } = opening;
        let peer = self.shared.windows.choose(&workspace, &cwd).await?;
        let window = WindowKey::of(&peer);
        let cannot = |why: &str| Err(SessionError::NotSupported(why.into()));
        if program.is_some() && !window.is_ours() {
            return cannot(
                "this editor's extension cannot show screens: run it with execute_command, or leave `target` out",
            );
        }
        if is_shell_requested && !window.is_ours() {
            return cannot(
                "this editor's extension cannot choose the shell of a terminal: leave `shell` out",
            );
        }
        let setup = if window.is_ours() { None } else { Some(line::setup(&cwd, &env)?) };
        let mut data = json!({});
        if let Some(name) = &name {
            data["terminalName"] = json!(name);
        }
        if window.is_ours() {
            data["agent"] = json!(owner.for_people());
            data["cwd"] = json!(cwd);
            data["env"] = json!(env);
            data["shell"] = json!(shell);
        }
        let created = self.shared.windows.request(&window, "create_terminal", data).await?;
        let Reply::TerminalCreated { terminal_id, terminal_name, pid } = created else {
            return Err(SessionError::Unavailable("the editor made no terminal".into()));
        };
        let shell = if setup.is_some() { EDITORS_SHELL.to_owned() } else { shell };
        let terminal = self.add(NewTerminal {
            owner,
            windows: vec![window],
            terminal_id,
            purpose: if program.is_some() { Purpose::Program } else { Purpose::Shell },
            name: name.or(Some(terminal_name)),
            project,
            command: program.unwrap_or(shell),
            cwd,
            pid,
        })?;
        terminal.lock().setup = setup;
        Ok(terminal)
    }

    async fn try_request(
        &self,
        terminal: &EditorTerminal,
        kind: &str,
        data: Value,
        patience: Option<Duration>,
    ) -> Result<Reply, Failure> {
        let result = self.shared.windows.request_for(terminal, kind, data, patience).await;
        if let Err(Failure::Refused { message, .. }) = &result
            && message.contains("not found")
        {
            // The editor does not know it any more.
            terminal.withdraw("the editor no longer knows it");
            self.keep();
        }
        result
    }

    /// Has the editor close a terminal.
    async fn close(&self, terminal: &EditorTerminal) -> Result<(), SessionError> {
        let data = json!({ "terminalId": terminal.terminal_id });
        match self.try_request(terminal, "close_terminal", data, None).await {
            // It is gone already.
            Ok(_) | Err(Failure::Refused { .. }) => {
                terminal.lock().is_left_open = false;
                Ok(())
            }
            Err(failure) => Err(failure.into()),
        }
    }

    async fn request(
        &self,
        terminal: &EditorTerminal,
        kind: &str,
        data: Value,
    ) -> Result<Reply, SessionError> {
        let reply = self.try_request(terminal, kind, data, None).await;
        reply.map_err(|failure| terminal.check_alive().err().unwrap_or_else(|| failure.into()))
    }
}

/// A terminal to open.
struct Opening {
    name: Option<String>,
    owner: Owner,
    project: Option<String>,
    cwd: PathBuf,
    workspace: PathBuf,
    env: std::collections::BTreeMap<String, String>,
    shell: String,
    is_shell_requested: bool,
    program: Option<String>,
}

impl WindowKey {
    fn is_ours(&self) -> bool {
        matches!(self, Self::Window(_))
    }
}

#[async_trait]
impl Screens for EditorTerminals {
    async fn launch(&self, launch: Launch) -> Result<Arc<dyn ScreenSession>, SessionError> {
        let cwd = launch.directory();
        let env = launch.variables().map(|(name, value)| (name.into_owned(), value.into_owned()));
        let line = launch.command_line();
        let opening = Opening {
            name: launch.named().map(str::to_owned),
            owner: launch.owned_by().clone(),
            project: None,
            workspace: cwd.clone(),
            cwd,
            env: env.collect(),
            shell: PROGRAM_SHELL.to_owned(),
            is_shell_requested: false,
            program: Some(line.clone()),
        };
        let terminal = self.open(opening).await?;
        if let Err(error) = self.run(&terminal, &line, None, INTEGRATION_LIMIT).await {
            let _ = self.close(&terminal).await;
            self.lock().terminals.retain(|one| one.id != terminal.id);
            self.keep();
            return Err(error);
        }
        Ok(Arc::new(EditorScreen { terminal, editors: self.clone() }))
    }

    fn get(&self, id: &SessionId) -> Result<Arc<dyn ScreenSession>, SessionError> {
        let terminal = self.terminal(id)?;
        Ok(Arc::new(EditorScreen { terminal, editors: self.clone() }))
    }
}

#[async_trait]
impl TerminalBackend for EditorTerminals {
    async fn create_session(&self, new: NewSession) -> Result<SessionInfo, SessionError> {
        let terminal = self
            .open(Opening {
                name: new.name,
                owner: new.owner,
                project: new.project,
                workspace: new.workspace.unwrap_or_else(|| new.cwd.clone()),
                cwd: new.cwd,
                env: new.env,
                shell: new.shell,
                is_shell_requested: new.is_shell_requested,
                program: None,
            })
            .await?;
        Ok(terminal.info())
    }

    async fn list_sessions(&self) -> Result<Vec<SessionInfo>, SessionError> {
        self.sweep();
        let terminals = self.lock().terminals.clone();
        Ok(terminals.iter().map(|terminal| self.info_of(terminal)).collect())
    }

    async fn session(&self, id: &SessionId) -> Result<SessionInfo, SessionError> {
        Ok(self.info_of(&*self.terminal(id)?))
    }

    async fn start_command(
        &self,
        id: &SessionId,
        command: &str,
        patience: Duration,
    ) -> Result<u64, SessionError> {
        let command = NewCommand { text: command.to_owned(), ..NewCommand::default() };
        self.start_new_command(id, command, patience).await
    }

    async fn start_new_command(
        &self,
        id: &SessionId,
        command: NewCommand,
        patience: Duration,
    ) -> Result<u64, SessionError> {
        let terminal = self.terminal(id)?;
        if terminal.purpose == Purpose::Program {
            return Err(SessionError::TakesNoCommands(id.clone()));
        }
        self.run(&terminal, &command.text, command.key.as_deref(), patience).await
    }

    async fn keyed_command(&self, key: &str) -> Result<Option<(SessionId, u64)>, SessionError> {
        let terminals = self.lock().terminals.clone();
        let keyed = |terminal: &Arc<EditorTerminal>| {
            Some((terminal.id.clone(), terminal.lock().keyed(key)?))
        };
        Ok(terminals.iter().find_map(keyed))
    }

    async fn wait_command(
        &self,
        id: &SessionId,
        command: u64,
        awaited: Awaited,
        timeout: Duration,
    ) -> Result<Until, SessionError> {
        let input = awaited == Awaited::EndOrInput;
        let command = Some(command);
        let wait = Wait { command, needs_input: input, interactive: input, ..Wait::default() };
        Ok(waiting::begin(self, &self.terminal(id)?, wait.timeout(timeout))?.await?.into())
    }

    async fn wait_output(
        &self,
        id: &SessionId,
        command: Option<u64>,
        printed: u64,
        timeout: Duration,
    ) -> Result<Until, SessionError> {
        let wait = Wait {
            command,
            needs_input: command.is_some(),
            interactive: command.is_some(),
            news_only: true,
            printed_after: Some(printed).filter(|_| !timeout.is_zero()),
            ..Wait::default()
        };
        Ok(waiting::begin(self, &self.terminal(id)?, wait.timeout(timeout))?.await?.into())
    }

    async fn command(
        &self,
        id: &SessionId,
        command: u64,
        from: u64,
        most: u64,
    ) -> Result<Option<CommandReport>, SessionError> {
        let terminal = self.terminal(id)?;
        let mut state = terminal.lock();
        let seq = state.screen.look();
        let mut report = state.command(command).map(|command| command.report(from, most, seq));
        drop(state);
        if let Some(running) = report.as_mut().filter(|report| report.is_running())
            && self.is_away(&terminal)
        {
            running.notice.get_or_insert_with(|| AWAY.to_owned());
        }
        Ok(report)
    }

    async fn terminal_text(
        &self,
        id: &SessionId,
        lines: usize,
    ) -> Result<Scrollback, SessionError> {
        let terminal = self.terminal(id)?;
        if !terminal.is_in_ours() {
            let why = "this editor's extension cannot read its terminals";
            return Err(SessionError::NotSupported(why.into()));
        }
        let state = terminal.lock();
        Ok(Scrollback::of(&state.screen, lines))
    }

    async fn interrupt(&self, id: &SessionId, command: u64) -> Result<(), SessionError> {
        let terminal = self.terminal(id)?;
        let runs = terminal.lock().running().is_some_and(|running| running.id == command);
        if runs {
            let data = json!({ "terminalId": terminal.terminal_id, "text": "\u{3}" });
            self.request(&terminal, "send_text", data).await?;
        }
        Ok(())
    }

    async fn show_session(&self, id: &SessionId) -> Result<(), SessionError> {
        let terminal = self.terminal(id)?;
        if terminal.is_in_ours() {
            let data = json!({ "terminalId": terminal.terminal_id });
            self.request(&terminal, "show_terminal", data).await?;
        }
        Ok(())
    }

    /// False for a shell without shell integration, if a window can show the server's own session instead.
    fn can_read(&self, shell: &str) -> bool {
        let is_readable = terminal::is_readable(shell) || !SHELLS.contains(&base_name(shell));
        is_readable || !self.shared.windows.has_ours()
    }

    fn target(&self) -> &str {
        EDITOR_TARGET
    }

    fn has(&self, id: &SessionId) -> bool {
        self.find(id).is_some()
    }

    fn screens(&self) -> Option<&dyn Screens> {
        Some(self)
    }
}
