//! Start-up files that lead elsewhere, and shells that another program replaced.
//!
//! Before the first prompt, while a command waits for it, the kernel tells these cases apart from a
//! shell that is merely slow:
//!
//! * Another shell took the place of ours (`exec zsh`): it is started anew with our hooks, in its own
//!   environment and directory. The same goes for one that a later command brought.
//! * Another program did (`exec tmux`), or a child waits for the terminal's input (`tmux`, a menu):
//!   nobody would answer. A shell without start-up files takes its place, with what they exported.
//! * The shell ended (`exit`, `set -e`): the same.
//! * The shell itself reads the terminal (a question of a framework), or is at a prompt that cannot be
//!   marked (PS1 and `PROMPT_COMMAND` read-only): the same.
//!
//! A session that somebody typed into is left to them. How often a shell is started anew is bounded by
//! [`MAX_RESPAWNS`].

use std::path::Path;

use termbridge_pty::{ExitStatus, ProcessStart, SESSION_VARIABLE, Survey, Waiting};
use termbridge_shell::{Shell, StartUpFiles};
use tokio::time::Instant;

use super::Place;
use crate::command::CommandState;
use crate::launch::Launch;
use crate::task::SessionTask;
use crate::task::interactive::RELAYS;

/// How often in a row a shell is started anew that shows no prompt.
const MAX_RESPAWNS: u8 = 3;
/// Surveys in a row that have to show the same process waiting, with nothing printed in between: it
/// may have asked the terminal something.
const STUCK_SURVEYS: u8 = 4;
/// Variables that belong to a process, not to its environment.
const OF_PROCESS: [&str; 2] = ["_", "SHLVL"];

/// A process that waits for input before the first prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stuck {
    pid: i32,
    last_output: Instant,
    surveys: u8,
}

impl SessionTask {
    /// Takes over the shell that has replaced ours, if one has and commands can be told apart in it.
    pub(super) fn adopts_shell(&mut self, waiting: Waiting) -> bool {
        let Some(shell) = &self.shell else { return false };
        if shell.replaced.is_some() || shell.respawns >= MAX_RESPAWNS || !self.is_other_program() {
            return false;
        }
        let Some(start) = self.program.start_of(self.program.pid()) else { return false };
        // In the middle of an `exec` the kernel shows no environment.
        if start.env.is_empty() && !waiting.is_for_input() {
            return false;
        }
        let args: Vec<_> = start.args.iter().map(|arg| arg.to_string_lossy()).collect();
        let args: Vec<&str> = args.iter().map(AsRef::as_ref).collect();
        let kind = Shell::known(&start.program.to_string_lossy());
        let (Some(kind), Some(start_up_files)) = (kind, Shell::reads_terminal(&args)) else {
            return false;
        };
        let name = file_name(&start.program);
        let was = shell.link.shell;
        let notice = if shell.ready {
            format!(
                "{name} replaced the shell and was restarted, in the same directory and environment"
            )
        } else {
            format!("{} starts {name}, so this session runs {name}", was.start_up_file())
        };
        let launch = Launch {
            program: start.program.clone().into(),
            args: Vec::new(),
            shell: Some(kind),
            cwd: Some(start.cwd.clone()),
            start_up_files,
            ..self.with_environment(start)
        };
        self.respawn(launch, notice);
        true
    }

    /// Whether the start-up files lead nowhere: a shell without them is started then.
    pub(super) fn leaves_start_up_files(&mut self, survey: &Survey, waiting: Waiting) -> bool {
        let Some(shell) = &self.shell else { return false };
        let is_clean = self.launch.start_up_files == StartUpFiles::Skip || shell.is_clean;
        if shell.ready || shell.typed || shell.parked.is_none() || is_clean {
            return false;
        }
        let (is_replaced, is_unmarked) = (self.is_other_program(), self.is_unmarked_prompt());
        // After its hooks it is the prompt that is on its way.
        if shell.place == Place::Ended && !is_replaced {
            return false;
        }
        let Some(pid) = self.waits_at_start(survey, waiting) else {
            return false;
        };
        let now = Stuck { pid, last_output: self.last_output, surveys: 1 };
        let Some(shell) = &mut self.shell else { return false };
        let stuck = match shell.stuck {
            Some(before) if Stuck { surveys: 1, ..before } == now => {
                Stuck { surveys: before.surveys + 1, ..now }
            }
            _ => now,
        };
        shell.stuck = Some(stuck);
        if stuck.surveys < STUCK_SURVEYS {
            return false;
        }
        let (kind, file) = (shell.link.shell, shell.link.shell.start_up_file());
        let is_shell = pid == self.program.pid() && !is_replaced;
        let start = self.program.start_of(pid).filter(|_| !is_shell);
        let (what, guarded) = match &start {
            Some(start) => {
                let name = file_name(&start.program);
                let exec = if is_replaced { "exec " } else { "" };
                (format!("runs {name}"), format!("{exec}{name}"))
            }
            None if is_unmarked => (
                "makes PS1 and PROMPT_COMMAND read-only".to_owned(),
                "readonly PROMPT_COMMAND".to_owned(),
            ),
            None => ("asks something".to_owned(), "…".to_owned()),
        };
        let notice = format!(
            "{file} {what} before the first prompt, so this shell was started without it; to keep that \
             out of agents' shells, write there: {}",
            kind.guarded(SESSION_VARIABLE, &guarded)
        );
        let launch =
            start.map_or_else(|| self.launch.clone(), |start| self.with_environment(start));
        self.respawn(Launch { start_up_files: StartUpFiles::Skip, ..launch }, notice);
        true
    }

    /// Whether the start-up files ended the shell: one without them is started then.
    pub(in crate::task) fn leaves_files_that_end(&mut self, status: ExitStatus) -> bool {
        let Some(shell) = &self.shell else { return false };
        let is_clean = self.launch.start_up_files == StartUpFiles::Skip || shell.is_clean;
        let ExitStatus::Code(code) = status else { return false };
        if shell.ready || shell.typed || is_clean || shell.replaced.is_some() {
            return false;
        }
        let (kind, file) = (shell.link.shell, shell.link.shell.start_up_file());
        let notice = format!(
            "{file} ends the shell (exit code {code}) before the first prompt, so this shell was started \
             without it; to keep that out of agents' shells, write there: {}",
            kind.guarded(SESSION_VARIABLE, "exit")
        );
        let launch = Launch { start_up_files: StartUpFiles::Skip, ..self.launch.clone() };
        self.respawn(launch, notice);
        true
    }

    /// The process that waits for a person: it waits for the terminal's input, or it has the terminal
    /// read key by key and lets another process wait, as tmux does. A shell that polls has set itself a
    /// limit (`read -t`), other than fish, whose `read` uses its line editor.
    fn waits_at_start(&self, survey: &Survey, waiting: Waiting) -> Option<i32> {
        let leader = self.program.pid();
        let in_front = survey.foreground?;
        let is_replaced = self.is_other_program();
        let fish = self.shell.as_ref().is_some_and(|shell| shell.link.shell == Shell::Fish);
        if in_front == leader && waiting.is_for_input() {
            let for_good = waiting.is_reading() || fish || is_replaced || self.is_unmarked_prompt();
            return for_good.then_some(leader);
        }
        let raw = self.program.line_mode().is_ok_and(|mode| !mode.canonical);
        let group = survey.processes.iter().filter(|process| process.group == in_front);
        let mut others = group.filter(|process| process.pid != leader || is_replaced);
        let other = others.next()?;
        // fish itself may have the terminal read key by key while its files run a program.
        let holds_terminal = raw && (!fish || RELAYS.contains(&other.name.as_str()));
        (holds_terminal || survey.waiting.is_for_input()).then_some(other.pid)
    }

    /// bash's line editor is at work though no hook has printed a mark.
    fn is_unmarked_prompt(&self) -> bool {
        let bash = self.shell.as_ref().is_some_and(|shell| shell.link.shell == Shell::Bash);
        bash && self.terminal.input_modes().bracketed_paste
    }

    /// What runs under the shell's pid is not what we started.
    pub(super) fn is_other_program(&self) -> bool {
        let Some(shell) = &self.shell else { return false };
        let folder = shell.link.folder.path().to_string_lossy();
        self.program.started_with(&folder) == Some(false)
    }

    /// The launch with the environment of a process, but for what is that process's own or ours.
    fn with_environment(&self, start: ProcessStart) -> Launch {
        let folder = self.shell.as_ref().map(|shell| shell.link.folder.path().to_string_lossy());
        let is_ours = |value: &str| {
            let in_folder = folder.as_ref().is_some_and(|folder| value.contains(&**folder));
            in_folder || value.contains("]633;") || value.contains("__termbridge")
        };
        let env = start.env.into_iter().filter(|(name, value)| {
            !OF_PROCESS.iter().any(|own| name == own) && !is_ours(&value.to_string_lossy())
        });
        Launch { env: env.collect(), inherits: false, ..self.launch.clone() }
    }

    /// Starts another shell in the place of this one; what waits for its prompt waits on.
    fn respawn(&mut self, launch: Launch, notice: String) {
        let Some(shell) = &mut self.shell else { return };
        tracing::info!(session = %self.id, notice, "restarting the shell");
        shell.respawns += 1;
        shell.ready = false;
        shell.is_clean = launch.start_up_files == StartUpFiles::Skip;
        match shell.open() {
            // It brought the other shell; one that was never given to ours waits for the new one.
            Some(run) if run.triggers > 0 => {
                run.notice = Some(notice);
                run.drop_prompt(&mut self.terminal);
                self.close(CommandState::Done { exit_code: 0 }, true);
            }
            _ => shell.notice = Some(notice),
        }
        self.replace_program(launch, None);
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
