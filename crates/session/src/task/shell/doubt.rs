//! Where the shell's marks do not tell, the kernel does: who waits for the terminal's input, and
//! whether that is still the shell which was started.
//!
//! Everything here rests on a survey that began after the last input was read: what waits for the
//! terminal then has seen all that was sent.

use termbridge_pty::Survey;
use termbridge_shell::Shell;
use tokio::time::Instant;

use super::{Parked, Place, line_editor};
use crate::command::CommandState;
use crate::error::SessionError;
use crate::registry::PIPE_NAME;
use crate::task::SessionTask;
use crate::typing::INTERRUPT;

/// How often a shell that did not take a command is told again, and one that asks for more is
/// interrupted again.
const ATTEMPTS: u8 = 3;
/// Surveys that have to show a shell which reads, but not for a command, before that is told.
const UNHEARD_SURVEYS: u8 = 10;
/// The same for one that reads a line elsewhere than at its prompt, before it is interrupted.
const UNHEARD_LINES: u8 = 3;

impl SessionTask {
    /// Judges what is in doubt by what the kernel says.
    pub(in crate::task) fn settle_doubt(&mut self, survey: Option<&Survey>) {
        if self.ended.is_some() {
            return;
        }
        // The shell itself: in its group there may be others, without job control.
        let switches = self.program.switches();
        let (waiting, place) = self.program.waiting_place();
        let asks = self.shell_asks_for_answer();
        let pipe = self.shell.as_ref().map(|shell| &shell.link.pipe);
        let unread = pipe.and_then(|pipe| pipe.unread().ok()).unwrap_or_default();
        if self.program.switches() != switches {
            // It ran meanwhile, so these do not belong together.
            return;
        }
        // What it printed before it began to wait is read before it is judged.
        let all_is_read = self.read_output();
        if let Some(shell) = &mut self.shell
            && shell.claimed_end.is_none()
            && asks
            && all_is_read
        {
            // Its mark did not get through, or the answer to it.
            shell.answer(&self.id);
            let posix = shell.link.shell == Shell::Posix;
            match shell.open() {
                // It waits for the command, which somebody else took from its pipe.
                Some(run) if posix && !run.output_began => {
                    return self.close(CommandState::NotTaken, false);
                }
                Some(run) => run.hook_ran = true,
                None => {}
            }
        }
        let Some(survey) = survey.filter(|_| self.change.is_none()) else { return };
        let in_front = survey.foreground == Some(self.program.pid());
        if (in_front && self.adopts_shell(waiting)) || self.leaves_start_up_files(survey, waiting) {
            return;
        }
        let reader = if in_front { waiting } else { survey.waiting };
        let input_is_read = self.queued_input() == 0 && all_is_read;
        if input_is_read && self.waits_behind_typed() {
            if reader.is_for_input() {
                return self.unpark();
            }
            // Ctrl+S may have been typed: the shell could not show its prompt.
            self.enqueue_keys(self.resume_key().into_iter().collect());
        }
        if !in_front || !waiting.is_for_input() || self.is_replaced() || !all_is_read {
            return;
        }
        let Ok(mode) = self.program.line_mode() else { return };
        let Some(shell) = &mut self.shell else { return };
        let edits = line_editor::is_at_work(shell.link.shell, mode, waiting);
        // Not known before its first prompt, where fish may read for its files.
        let known = shell.prompt_places.has(place);
        let at_prompt = known.unwrap_or(edits);
        if !shell.ready && shell.place == Place::Ended && edits {
            // Its hooks work, though its prompt has no mark.
            return self.prompt_shown();
        }
        let is_fish = shell.link.shell == Shell::Fish;
        let was_away = shell.place == Place::Away;
        if at_prompt && let Some(claimed) = shell.claimed_end.take() {
            // The mark was its own, and the answer came too late.
            return self.close(claimed.state, false);
        }
        let Some(run) = shell.open() else { return };
        let lost = |run: &super::Run| {
            let known = run.unconfirmed.map(|exit_code| CommandState::Done { exit_code });
            known.unwrap_or(CommandState::Lost)
        };
        if let Some(state) = run.said.clone() {
            self.close(state, true);
        } else if run.prompted && at_prompt && (known.is_some() || !is_fish || run.hook_ran) {
            // fish's `read` uses the line editor too.
            let state = lost(run);
            self.end_without_mark(state);
        } else if run.prompted {
            // What reads is the command (`read`, say), and the marks were not the shell's.
            run.doubt_was_idle(&mut self.terminal);
        } else if run.asked_for_more && run.interrupts < ATTEMPTS && edits {
            run.interrupts += 1;
            self.enqueue_keys(INTERRUPT.to_vec());
            self.last_input = Instant::now();
        } else if !run.output_began && edits {
            // At its prompt, and the command is where it was put.
            let untaken = run.is_untaken(unread);
            if untaken && run.triggers == 0 && !at_prompt && !run.awaits_prompt {
                // A hook reads a line, or somebody left one unfinished; what somebody typed is theirs.
                run.unheard += 1;
                if was_away && run.unheard >= UNHEARD_SURVEYS {
                    self.close(CommandState::NotTaken, false);
                } else if !was_away && run.unheard >= UNHEARD_LINES {
                    run.awaits_prompt = true;
                    self.enqueue_keys(INTERRUPT.to_vec());
                    self.last_input = Instant::now();
                }
            } else if untaken && run.triggers < ATTEMPTS {
                tracing::debug!(session = %self.id, "the shell did not take the command yet");
                self.trigger();
            } else if untaken && run.triggers == ATTEMPTS && !run.awaits_prompt {
                // Its line editor is in a mode of its own (a search, say, begun by the answers to
                // questions of a program that left): out of it, and once more at the prompt.
                run.awaits_prompt = true;
                self.enqueue_keys(INTERRUPT.to_vec());
                self.last_input = Instant::now();
            } else {
                // Nothing has begun; what the prompt says is the status of the command before.
                self.close(CommandState::NotTaken, false);
            }
        } else if !run.output_began && run.is_untaken(unread) {
            // What reads is not its line editor, and nobody knows that a command waits.
            run.unheard += 1;
            if run.unheard >= UNHEARD_SURVEYS {
                self.close(CommandState::NotTaken, false);
            }
        } else if run.output_began && known == Some(true) {
            // It is at its prompt again, and no hook has printed a mark.
            let state = lost(run);
            self.end_without_mark(state);
        }
    }

    /// The open command is over, and its own mark did not come.
    fn end_without_mark(&mut self, state: CommandState) {
        let open = self.shell.as_mut().and_then(|shell| shell.open());
        if open.is_some_and(|run| run.begin_restore(&state, &mut self.terminal)) {
            self.trigger();
        } else {
            self.close(state, false);
        }
    }

    /// A command waits until the shell has read the lines that were typed before it.
    fn waits_behind_typed(&self) -> bool {
        let shell = self.shell.as_ref();
        shell.is_some_and(|shell| {
            shell.ready && shell.first_prompt.is_none() && shell.parked.is_some()
        })
    }

    /// The shell waits for the answer to the mark of a command's end.
    fn shell_asks_for_answer(&self) -> bool {
        let Some(shell) = &self.shell else { return false };
        let is_empty = || shell.link.pipe.unread().is_ok_and(|unread| unread == 0);
        let pipe = shell.link.folder.path().join(PIPE_NAME);
        shell.ready && is_empty() && self.program.waiting_for(&pipe).is_for_input()
    }

    /// Notes that another program has taken the shell's place. It waits for input there, so the
    /// command which led to it is over.
    fn is_replaced(&mut self) -> bool {
        let is_other = self.is_other_program();
        let Some(shell) = &mut self.shell else { return false };
        if shell.replaced.is_some() || !is_other {
            return shell.replaced.is_some();
        }
        // Its start-up files may have done it: another shell follows.
        if !shell.ready && !shell.typed && !shell.is_clean {
            return true;
        }
        let program = self.program.name().unwrap_or_else(|| "another program".to_owned());
        tracing::info!(session = %self.id, program, "another program took the shell's place");
        shell.replaced = Some(program.clone());
        if let Some(parked) = shell.parked.take() {
            let (id, program) = (self.id.clone(), program.clone());
            let _ = parked.reply.send(Err(SessionError::ShellReplaced { id, program }));
        }
        self.close(CommandState::Replaced { program }, true);
        true
    }

    /// A command was given to the shell and has not begun: it is the shell that reads.
    pub(in crate::task) fn shell_is_reading_command(&self) -> bool {
        let last = self.shell.as_ref().and_then(|shell| shell.commands.back());
        last.is_some_and(|run| !run.output_began && run.is_open())
    }

    /// Something waits for the shell that its marks have not told yet: the kernel is asked until it
    /// is known.
    pub(in crate::task) fn shell_is_in_doubt(&self) -> bool {
        let Some(shell) = &self.shell else { return false };
        let run = shell.commands.back().filter(|run| run.is_open());
        shell.parked.is_some()
            || shell.claimed_end.is_some()
            || run.is_some_and(|run| {
                !run.output_began || run.prompted || run.asked_for_more || run.said.is_some()
            })
    }

    /// The shell has shown its first prompt: what waited for it is given.
    pub(super) fn unpark(&mut self) {
        if let Some(parked) = self.shell.as_mut().and_then(|shell| shell.parked.take()) {
            self.give_parked(parked);
        }
    }

    fn give_parked(&mut self, parked: Parked) {
        // Whoever asked may have gone; the command must not run then.
        if !parked.reply.is_closed() {
            let given = self.give(parked.command);
            self.keep_state();
            let _ = parked.reply.send(given);
        }
    }

    /// When a command that waits for the first prompt is given up.
    pub(in crate::task) fn parked_deadline(&self) -> Option<Instant> {
        self.shell.as_ref()?.parked.as_ref().map(|parked| parked.until)
    }

    pub(in crate::task) fn give_up_parked(&mut self, now: Instant) {
        if self.parked_deadline().is_none_or(|until| now < until) {
            return;
        }
        let has_ended = self.shell.as_ref().is_some_and(|shell| shell.place == Place::Ended);
        if self.waits_behind_typed() {
            match self.shell.as_mut().and_then(|shell| shell.parked.take()) {
                // Hooks hold up the prompt.
                Some(parked) if has_ended => self.give_parked(parked),
                // The shell itself runs a line that was typed.
                Some(parked) => {
                    let _ = parked.reply.send(Err(SessionError::ShellBusy(self.id.clone())));
                }
                None => {}
            }
            return;
        }
        let screen = self.shown();
        if let Some(Parked { reply, limit, .. }) =
            self.shell.as_mut().and_then(|shell| shell.parked.take())
        {
            let id = self.id.clone();
            let _ = reply.send(Err(SessionError::ShellNotReady { id, limit, screen }));
        }
    }
}
