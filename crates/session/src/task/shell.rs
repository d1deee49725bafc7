//! Commands in a shell: one at a time, each with its own output and its own end.
//!
//! The shell was started with an integration (`termbridge-shell`): it marks where output begins and
//! where a command ended. A command's end is believed when the mark carries the command's nonce and
//! the kernel shows that the shell itself waits for the answer, which comes through its pipe. A mark
//! without the nonce counts only when the shell itself waits for the terminal's input again. That argument is one, so it
//! stands in one file, long as it is; what can be told apart from it is in the modules below.
//!
//! ```text
//! Starting ─ B ─► Prompt ─ submit ─► Open ─ D;status;nonce, waits ─► answered ─► Prompt
//! ```
//!
//! Where the shell is (its directory) is asked of the kernel, never taken from what was printed.
//!
//! `marks` follows the marks, `doubt` asks the kernel where it says nothing, `run` is one
//! command. A command that is given while the shell is on its way to its prompt waits for that; one
//! that is given before the first prompt waits up to the launch's start limit. One that comes behind typed lines
//! waits until the kernel shows that they are read: their marks and their input are not the command's.
//!
//! What other processes print while a command is open (a job of an earlier one) is part of its
//! output: the terminal is one stream. What jobs print between commands is kept apart (`background`).

mod background;
mod doubt;
mod kept;
mod line_editor;
mod looks;
mod marks;
mod report;
mod run;
mod saved;
mod start_up;

pub(crate) use self::run::Suspended;

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use termbridge_pty::{CommandPipe, Journal, LineMode, PrivateFolder, Program, Waiting};
use termbridge_shell::Shell;
use tokio::sync::oneshot;
use tokio::time::Instant;

use self::background::Between;
use self::line_editor::PromptPlaces;
use self::looks::Looks;
use self::run::Run;
use self::start_up::Stuck;
use super::SessionTask;
use super::lifecycle::Change;
use crate::command::{CommandReport, CommandState, NewCommand};
use crate::error::SessionError;
use crate::id::SessionId;
use crate::info::{ShellInfo, is_shell_name};
use crate::typing::INTERRUPT;

/// Commands whose output can still be read.
const KEPT_COMMANDS: usize = 50;
/// How long a command waits for the end of lines that were typed before it.
const TYPED_LIMIT: Duration = Duration::from_secs(1);
/// Rows of the screen that an error shows.
const SHOWN_ROWS: usize = 8;

/// A program, and what it has beside its terminal if it is a shell.
#[derive(Debug)]
pub(crate) struct Spawned {
    pub(crate) program: Program,
    pub(crate) shell: Option<ShellLink>,
    /// Where sessions outlive their server.
    pub(crate) journal: Option<Journal>,
}

/// What a shell session has beside its terminal.
#[derive(Debug)]
pub(crate) struct ShellLink {
    pub(crate) shell: Shell,
    pub(crate) pipe: CommandPipe,
    /// Holds pipe and scripts; gone with the session.
    pub(crate) folder: PrivateFolder,
}

pub(super) struct ShellState {
    link: ShellLink,
    /// The shell has shown its first prompt.
    ready: bool,
    /// How often it has shown a prompt.
    prompts: u64,
    /// Input waited for its first prompt for as long as it may: perhaps none comes.
    prompt_is_late: bool,
    /// It has shown its first prompt, and is about to wait there.
    first_prompt: Option<Looks>,
    prompt_places: PromptPlaces,
    /// Somebody has typed since the last command began: a POSIX shell, which prints no marks of typed lines, may read
    /// for one of those when it seems to be at its prompt.
    typed_since: bool,
    place: Place,
    /// The program that took the shell's place, by `exec`.
    replaced: Option<String>,
    /// A command that waits for the first prompt, or for the end of what was typed before it.
    parked: Option<Parked>,
    commands: VecDeque<Run>,
    next_id: u64,
    between: Between,
    /// A mark claims that the last command is over.
    claimed_end: Option<ClaimedEnd>,
    /// Where it was after its last command.
    cwd: Option<PathBuf>,
    /// Somebody typed into it before its first prompt.
    typed: bool,
    /// What waits for input before the first prompt.
    stuck: Option<Stuck>,
    /// How often it was started anew.
    respawns: u8,
    /// It was started without the user's files, in place of one with them.
    is_clean: bool,
    /// What the next command's report should mention.
    notice: Option<String>,
    /// Where output is filed by name, for the next server.
    output_folder: Option<Arc<Path>>,
    /// How often the output of commands that are over was cut.
    cuts: u64,
}

/// What a mark with the right nonce says, before the kernel has confirmed it.
struct ClaimedEnd {
    state: CommandState,
    looks: Looks,
}

/// Where the shell's marks say that it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// It starts, or runs something.
    Away,
    /// What it ran is over; the prompt comes.
    Ended,
    /// It has shown its prompt.
    Prompt,
    /// It asks for the rest of something that a person typed.
    Continuation,
}

struct Parked {
    command: NewCommand,
    limit: Duration,
    until: Instant,
    reply: SubmitReply,
}

type SubmitReply = oneshot::Sender<Result<u64, SessionError>>;

impl ShellState {
    /// The shell has ended: nobody reads commands any more.
    pub(super) fn close_pipe(&mut self) {
        self.link.pipe.close();
    }

    /// `next_id` is the number of its first command: numbers go on when a session is restarted.
    pub(super) fn new(link: ShellLink, next_id: u64) -> Self {
        Self {
            link,
            ready: false,
            prompts: 0,
            prompt_is_late: false,
            first_prompt: None,
            prompt_places: PromptPlaces::default(),
            typed_since: false,
            place: Place::Away,
            replaced: None,
            parked: None,
            commands: VecDeque::new(),
            next_id,
            between: Between::default(),
            claimed_end: None,
            cwd: None,
            typed: false,
            stuck: None,
            respawns: 0,
            is_clean: false,
            notice: None,
            output_folder: None,
            cuts: 0,
        }
    }

    /// Whether output is filed by name, for the next server.
    pub(super) fn lasting(mut self, is_lasting: bool) -> Self {
        self.output_folder = is_lasting.then(|| self.link.folder.path().into());
        self
    }

    /// The same session with another shell: its commands stay, and what waits for the prompt.
    pub(super) fn respawned(self, link: ShellLink) -> Self {
        let Self { parked, mut commands, respawns, is_clean, notice, next_id, .. } = self;
        if let Some(run) = commands.back_mut().filter(|run| run.is_open()) {
            run.address(link.shell);
        }
        let output_folder = self.output_folder.is_some().then(|| link.folder.path().into());
        // The old folder goes with the old shell, which ends only now.
        if let Some(folder) = &output_folder {
            commands.iter_mut().flat_map(Run::stores_mut).for_each(|store| store.move_to(folder));
        }
        let shell = Self::new(link, next_id);
        Self { parked, commands, respawns, is_clean, notice, output_folder, ..shell }
    }

    /// The other shell could not be started.
    pub(super) fn give_up(&mut self, error: SessionError) {
        if let Some(parked) = self.parked.take() {
            let _ = parked.reply.send(Err(error));
        }
    }

    /// Somebody types: what asks for input before the first prompt is theirs to answer.
    pub(super) fn note_typed(&mut self) {
        self.typed |= !self.ready;
    }

    /// The shell waits for input, as it seems at its prompt.
    fn note_prompt_place(&mut self, place: Option<u64>) {
        if !self.typed_since || self.link.shell != Shell::Posix {
            self.prompt_places.note(place);
        }
    }

    fn is_free(&self) -> bool {
        let runs = self.commands.back().is_some_and(Run::is_open);
        self.ready && !runs && self.is_unclaimed() && self.replaced.is_none()
    }

    /// A person's command may run in the shell; one that the marks do not tell of, too. Where nobody has typed, it is a hook.
    fn is_away(&self, program: &Program) -> bool {
        self.typed_since
            && self.place != Place::Ended
            && program.foreground_group() != Some(program.pid())
    }

    /// A person's command may have the shell itself read the terminal (`read -e`). Of typed lines a POSIX
    /// shell prints no marks.
    fn reads_for_person(&self, program: &Program) -> bool {
        let posix = self.link.shell == Shell::Posix;
        let typed = self.place == Place::Away || (posix && self.place == Place::Prompt);
        let reads_elsewhere = || {
            let (waiting, place) = program.waiting_place();
            let at_prompt = self.prompt_places.has(place).unwrap_or_else(|| {
                // Not seen there yet, on a machine that does much else: how it reads has to tell.
                let mode = program.line_mode().ok().filter(|_| posix);
                mode.is_none_or(|mode| line_editor::is_at_work(Shell::Posix, mode, waiting))
            });
            waiting.is_for_input() && !at_prompt
        };
        typed && reads_elsewhere()
    }

    pub(super) fn next_id(&self) -> u64 {
        self.next_id
    }

    /// Nobody waits for the first prompt, or no longer.
    fn is_unclaimed(&self) -> bool {
        self.parked.as_ref().is_none_or(|parked| parked.reply.is_closed())
    }

    /// Lets a shell go on that waits after the mark of a command's end.
    fn answer(&self, session: &SessionId) {
        if let Err(error) = self.link.pipe.write(self.link.shell.answer()) {
            tracing::warn!(%session, %error, "the shell's pipe");
        }
    }

    /// The shell has read the answer to its last mark.
    fn has_read_answer(&self) -> bool {
        self.link.pipe.unread().unwrap_or_default() == 0
    }

    fn open(&mut self) -> Option<&mut Run> {
        self.commands.back_mut().filter(|run| run.is_open())
    }
}

impl SessionTask {
    /// Gives the shell a command: now, or when it shows its first prompt, or when it has read what was typed.
    pub(super) fn submit(&mut self, command: NewCommand, patience: Duration, reply: SubmitReply) {
        let is_starting = self.shell.as_ref().is_some_and(|shell| !shell.ready);
        let limit = if is_starting { self.launch.start_limit } else { TYPED_LIMIT }.min(patience);
        // Whoever asked may have gone; the command must not run then.
        if reply.is_closed() {
            return;
        }
        match &mut self.shell {
            Some(shell)
                if (!shell.ready || shell.first_prompt.is_some() || shell.typed_since)
                    && (!shell.ready || shell.is_free())
                    && shell.is_unclaimed()
                    && shell.replaced.is_none()
                    && self.ended.is_none()
                    && self.change.as_ref().is_none_or(Change::is_own) =>
            {
                let until = Instant::now() + limit;
                shell.parked = Some(Parked { command, limit, until, reply });
                self.survey_soon();
            }
            _ => {
                let given = self.give(command);
                self.keep_state();
                // Gone in the meantime.
                if let Err(Ok(id)) = reply.send(given) {
                    let _ = self.interrupt(id);
                }
            }
        }
    }

    /// Gives the shell a command; it runs from now on.
    fn give(&mut self, command: NewCommand) -> Result<u64, SessionError> {
        let NewCommand { text, key, setup } = command;
        self.running()?;
        let is_others = self.is_others();
        let Some(shell) = &mut self.shell else {
            return Err(SessionError::TakesNoCommands(self.id.clone()));
        };
        if let Some(program) = &shell.replaced {
            let program = program.clone();
            return Err(SessionError::ShellReplaced { id: self.id.clone(), program });
        }
        if !shell.is_free() || is_others {
            return Err(SessionError::ShellBusy(self.id.clone()));
        }
        let nonce = SessionId::random().map_err(|error| SessionError::System(error.to_string()))?;
        let nonce = nonce.to_string();
        let message = run::message(shell.link.shell, &text, &nonce, &setup)?;
        let most = shell.link.pipe.capacity() / 2;
        if message.len() > most {
            return Err(SessionError::CommandTooLong { bytes: text.len(), most });
        }
        // What was typed before is not for this command.
        self.release_input();
        let gap = self.end_background();
        let Some(shell) = &mut self.shell else { return Err(SessionError::Gone) };
        let id = shell.next_id;
        shell.next_id += 1;
        let kind = shell.link.shell;
        let folder = shell.output_folder.clone();
        let is_elsewhere = setup.cwd.is_some() && !setup.stays;
        let mut run = Run::new(id, kind, text, nonce, setup, message, folder);
        run.returns_to = is_elsewhere.then(|| self.program.working_directory()).flatten();
        run.before = gap;
        run.notice = shell.notice.take();
        run.key = key;
        shell.commands.push_back(run);
        if shell.commands.len() > KEPT_COMMANDS {
            shell.commands.pop_front();
        }
        let place = shell.place;
        match place {
            Place::Prompt if shell.has_read_answer() => self.trigger(),
            Place::Prompt => self.survey_soon(),
            // Whoever typed the beginning has left it; the prompt comes back.
            Place::Continuation => {
                shell.place = Place::Ended;
                self.enqueue_keys(INTERRUPT.to_vec());
            }
            Place::Ended | Place::Away => {
                let resume = self.resume_key();
                self.enqueue_keys(resume.into_iter().collect());
            }
        }
        self.last_input = Instant::now();
        self.printed += 1;
        self.survey_later(place == Place::Prompt);
        Ok(id)
    }

    /// A person uses the shell; one that took its place is not known yet.
    fn is_others(&self) -> bool {
        let Some(shell) = &self.shell else { return false };
        shell.is_away(&self.program)
            || (shell.reads_for_person(&self.program) && !self.is_other_program())
    }

    /// As [`SessionTask::trigger`], once the shell has read all that was sent to it: what somebody typed, and the answer to its
    /// last mark. With that unread, the prompt is not the shell's.
    fn trigger_when_read(&mut self) {
        let Some(shell) = &self.shell else { return };
        if shell.typed_since || !shell.has_read_answer() {
            self.survey_soon();
        } else {
            self.trigger();
        }
    }

    /// Presses the keys that make the shell take the command from its pipe.
    fn trigger(&mut self) {
        let resume = self.resume_key();
        let Some(shell) = &mut self.shell else { return };
        let is_raw = self.program.line_mode().is_ok_and(line_editor::is_left_raw);
        let trigger = shell.link.shell.trigger(is_raw).iter().copied();
        let keys: Vec<u8> = resume.into_iter().chain(trigger).collect();
        shell.place = Place::Away;
        shell.typed_since = false;
        shell.first_prompt = None;
        shell.claimed_end = None;
        let mut message = None;
        if let Some(run) = shell.open() {
            run.triggers += 1;
            run.awaits_prompt = false;
            run.unconfirmed = None;
            // The line that the shell shows is an echo.
            if !self.terminal.note_command_given() {
                self.terminal.begin_typing();
                self.terminal.note_typed(&format!("{}\r", run.command));
            }
            message = run.take_message();
        }
        // Not before the shell is at its prompt: it may still have to read the answer to its last mark.
        if let Some(message) = message {
            // From here on it may run, whatever becomes of this server. The next one has to know that it was triggered: it
            // would take the mark of its output for that of a typed line.
            self.save();
            self.put_into_pipe(&message);
        }
        self.enqueue_keys(keys);
        self.last_input = Instant::now();
    }

    fn put_into_pipe(&self, message: &[u8]) {
        let Some(shell) = &self.shell else { return };
        let written = shell.link.pipe.drain().and_then(|()| shell.link.pipe.write(message));
        if let Err(error) = written {
            tracing::warn!(session = %self.id, %error, "the shell's pipe");
        }
    }

    /// Somebody may have stopped the terminal's output by Ctrl+S: the shell could not go on. The terminal
    /// takes this key for itself.
    fn resume_key(&self) -> Option<u8> {
        self.program.line_mode().ok()?.resumes_output
    }

    /// Ctrl+C for a command, once it has begun; false when it is over. Decided here, where commands
    /// begin and end, so that it cannot reach the next one.
    pub(super) fn interrupt(&mut self, command: u64) -> Result<bool, SessionError> {
        let open = self.shell.as_mut().and_then(|shell| shell.open());
        if open.is_none_or(|run| run.id != command) {
            return Ok(false);
        }
        self.running()?;
        self.send_interrupt();
        Ok(true)
    }

    /// What is known of a command, with at most `most` bytes of its output from `from` on.
    pub(super) fn command_report(
        &mut self,
        id: u64,
        from: u64,
        most: u64,
    ) -> Option<CommandReport> {
        let seq = self.terminal.look();
        let shell = self.shell.as_ref()?;
        let run = shell.commands.iter().find(|run| run.id == id)?;
        let cwd = if run.is_open() { self.shell_cwd() } else { run.cwd.clone() };
        Some(CommandReport { seq, ..run.report(cwd, from, most, &self.terminal) })
    }

    /// The command that came with a request of this name.
    pub(super) fn keyed_command(&self, key: &str) -> Option<u64> {
        let runs = self.shell.iter().flat_map(|shell| &shell.commands);
        runs.rev().find(|run| run.key.as_deref() == Some(key)).map(|run| run.id)
    }

    /// The command that is open, without its output.
    pub(super) fn running_command(&mut self) -> Option<CommandReport> {
        let last = self.shell.as_ref()?.commands.back().filter(|run| run.is_open())?.id;
        self.command_report(last, 0, 0)
    }

    /// A command of the shell is open.
    pub(super) fn runs_command(&self) -> bool {
        self.shell.as_ref().and_then(|shell| shell.commands.back()).is_some_and(Run::is_open)
    }

    /// The command is over, or there is none with this number.
    pub(super) fn is_command_over(&self, id: u64) -> bool {
        let run =
            self.shell.as_ref().and_then(|shell| shell.commands.iter().find(|run| run.id == id));
        run.is_none_or(|run| !run.is_open())
    }

    /// The open command is over; its output is complete.
    fn close(&mut self, state: CommandState, proven: bool) {
        let kernels = self.program.working_directory();
        let Some(shell) = &mut self.shell else { return };
        let Some(run) = shell.commands.back_mut().filter(|run| run.is_open()) else { return };
        run.close(state, proven, &mut self.terminal);
        shell.cwd = kernels.or(shell.cwd.take());
        run.cwd.clone_from(&shell.cwd);
        shell.between.begin(Vec::new());
        self.printed += 1;
        self.terminal.note_command_over();
        self.input.drop_interrupt();
        self.input.drop_answers();
        self.hold_until_prompt();
        self.publish_output();
    }

    /// The shell ended, and with it the command that ran.
    pub(super) fn shell_ended(&mut self, exit_code: Option<i32>) {
        self.follow_shell();
        let Some(shell) = &mut self.shell else { return };
        if let Some(parked) = shell.parked.take() {
            let how = match exit_code {
                Some(code) => format!("exit code {code}, before its first prompt"),
                None => "a signal, before its first prompt".to_owned(),
            };
            let _ = parked.reply.send(Err(SessionError::Dead { id: self.id.clone(), how }));
        }
        let unread = shell.link.pipe.unread().unwrap_or_default();
        match shell.open() {
            // Its input ended, say, before it read the command.
            Some(run) if !run.output_began && run.is_untaken(unread) => {
                self.close(CommandState::NotTaken, false);
            }
            _ => self.close(CommandState::SessionEnded { exit_code }, true),
        }
    }

    /// Where the shell is; where it was last, if it has ended.
    pub(super) fn shell_cwd(&self) -> Option<PathBuf> {
        let shell = self.shell.as_ref()?;
        self.program.working_directory().or_else(|| shell.cwd.clone())
    }

    /// Where it returns after its command, if that has a directory of its own.
    pub(super) fn shell_returns_to(&self) -> Option<PathBuf> {
        let last = self.shell.as_ref()?.commands.back().filter(|run| run.is_open())?;
        last.returns_to.clone()
    }

    pub(super) fn shell_info(&self) -> Option<ShellInfo> {
        let shell = self.shell.as_ref()?;
        let (first, last) = (shell.commands.front(), shell.commands.back());
        let starting = !shell.ready && shell.is_unclaimed();
        Some(ShellInfo {
            shell: shell.link.shell,
            running: last.filter(|run| run.is_open()).map(|run| run.id),
            idle: starting || (shell.is_free() && !self.is_others()),
            kept: first.zip(last).map(|(first, last)| (first.id, last.id)),
        })
    }

    pub(super) fn shell_kind(&self) -> Option<Shell> {
        self.shell.as_ref().map(|shell| shell.link.shell)
    }

    /// The shell has shown a prompt and nothing runs.
    pub(super) fn shell_is_free(&self) -> bool {
        self.shell.as_ref().is_some_and(ShellState::is_free)
    }

    /// The shell is on its way to its prompt: its first one, or that behind a command. The terminal would echo what is
    /// typed now, before the line editor does.
    pub(super) fn shell_awaits_prompt(&self) -> bool {
        let is_under_way = |shell: &ShellState| {
            (!shell.ready && !shell.prompt_is_late)
                || shell.place == Place::Ended
                || shell.first_prompt.is_some()
        };
        !self.runs_command() && self.shell.as_ref().is_some_and(is_under_way)
    }

    /// Input is no longer held until the first prompt.
    pub(super) fn give_up_first_prompt(&mut self) {
        if let Some(shell) = &mut self.shell {
            shell.prompt_is_late = true;
        }
    }

    /// How often the shell has shown a prompt.
    pub(super) fn prompts_shown(&self) -> u64 {
        self.shell.as_ref().map_or(0, |shell| shell.prompts)
    }

    /// The shell has shown its prompt and runs nothing.
    pub(super) fn shell_has_shown_prompt(&self) -> bool {
        self.shell.as_ref().is_some_and(|shell| shell.place == Place::Prompt)
            && !self.runs_command()
    }

    /// Its program is a shell, with or without our hooks.
    pub(super) fn is_shell(&self) -> bool {
        self.shell.is_some() || self.program.name().is_some_and(|name| is_shell_name(&name))
    }

    /// The program, which waits for the terminal's input, is a shell and does so at its prompt.
    pub(super) fn shell_shows_prompt(&self, mode: LineMode, waiting: Waiting) -> bool {
        let kind = match &self.shell {
            Some(shell) => Some(shell.link.shell),
            None => self.program.name().and_then(|name| Shell::known(&name)),
        };
        match kind {
            Some(kind) => line_editor::is_at_work(kind, mode, waiting),
            None => self.is_shell(),
        }
    }

    /// The last rows of the screen that have something on them.
    fn shown(&self) -> String {
        let screen = self.terminal.screen();
        let rows: Vec<_> = screen.rows.iter().map(|row| row.text().trim_end().to_owned()).collect();
        let used: Vec<_> = rows.iter().filter(|row| !row.is_empty()).collect();
        let last = used.iter().skip(used.len().saturating_sub(SHOWN_ROWS));
        last.map(|row| row.as_str()).collect::<Vec<_>>().join("\n")
    }
}
