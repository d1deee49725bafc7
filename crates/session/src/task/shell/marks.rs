//! What the shell says of itself: the marks in its output.

use std::path::PathBuf;

use termbridge_shell::Shell;
use termbridge_vt::{Event, Mark, Tapped};

use super::{Place, Run};
use crate::command::CommandState;
use crate::task::SessionTask;

impl SessionTask {
    /// Follows the stream of a shell's terminal.
    pub(in crate::task) fn follow_shell(&mut self) {
        if self.shell.is_none() {
            return;
        }
        for piece in self.terminal.take_tapped() {
            match piece {
                Tapped::Bytes(bytes) => {
                    if let Some(run) = self.shell.as_mut().and_then(|shell| shell.open()) {
                        run.feed(&bytes);
                    }
                }
                Tapped::Event(Event::Mark(mark)) => self.shell_mark(&mark),
                Tapped::OutputAt(row) => {
                    let size = self.terminal.size();
                    if let Some(run) = self.shell.as_mut().and_then(|shell| shell.open()) {
                        run.output_at(size, row);
                    }
                }
                Tapped::Event(_) => {}
            }
        }
    }

    /// Gives the open command's output the terminal's new size.
    pub(in crate::task) fn resize_output(&mut self) {
        let (size, (row, _)) = (self.terminal.size(), self.terminal.cursor_position());
        if let Some(run) = self.shell.as_mut().and_then(|shell| shell.open()) {
            run.resize(size, row);
        }
    }

    fn shell_mark(&mut self, mark: &Mark) {
        match mark {
            Mark::CommandStart(_) => self.prompt_shown(),
            Mark::OutputStart(_) => self.output_began(),
            Mark::CommandLine(_) => {
                if let Some(run) = self.shell.as_mut().and_then(|shell| shell.open()) {
                    run.announce();
                }
            }
            Mark::CommandEnd(rest) => self.command_ended(rest),
            Mark::Continuation(_) => self.more_is_asked(),
            Mark::Property(property) => {
                if let Some(path) = property.strip_prefix("Cwd=") {
                    self.directory_told(path);
                }
            }
            Mark::PromptStart(_) => {}
        }
    }

    pub(super) fn prompt_shown(&mut self) {
        let Some(shell) = &mut self.shell else { return };
        let first = !std::mem::replace(&mut shell.ready, true);
        shell.place = Place::Prompt;
        match shell.open() {
            Some(run) if run.triggers == 0 || run.awaits_prompt => self.trigger(),
            Some(Run { said: Some(state), .. }) => {
                let state = state.clone();
                self.close(state, true);
            }
            // The kernel tells whether it is the shell's own. Before the output begins, it is one that
            // the line editor shows once more.
            Some(run) if run.output_began || run.interrupts > 0 => {
                run.prompted = true;
                self.survey_soon();
            }
            Some(_) => {}
            None if first => self.unpark(),
            None => {}
        }
    }

    fn output_began(&mut self) {
        let Some(shell) = &mut self.shell else { return };
        shell.place = Place::Away;
        let fish = shell.link.shell == Shell::Fish;
        let Some(run) = shell.open() else { return };
        let first = run.begin_output();
        let nonce = format!("{}\0", run.nonce);
        // fish reads ahead, so it gets the nonce only once the command is read.
        if first
            && fish
            && let Err(error) = shell.link.pipe.write(nonce.as_bytes())
        {
            tracing::warn!(session = %self.id, %error, "the shell's pipe");
        }
        if first {
            self.release_input_soon();
        }
    }

    fn command_ended(&mut self, rest: &str) {
        let Some(shell) = &mut self.shell else { return };
        let (status, nonce) = rest.split_once(';').unwrap_or((rest, ""));
        let state = match status.parse() {
            Ok(exit_code) => CommandState::Done { exit_code },
            // fish would keep it in its line.
            Err(_) if status == "incomplete" => CommandState::Incomplete,
            Err(_) => return,
        };
        let fish = shell.link.shell == Shell::Fish;
        match shell.open() {
            // fish says so of `exit` too: the prompt tells that it goes on.
            Some(run) if nonce == run.nonce && fish => {
                run.said = Some(state);
                shell.place = Place::Ended;
            }
            Some(run) if nonce == run.nonce => {
                shell.place = Place::Ended;
                self.close(state, true);
            }
            Some(run) => {
                if let (CommandState::Done { exit_code }, "") = (state, nonce) {
                    run.unconfirmed = Some(exit_code);
                    run.suspend();
                }
            }
            None => shell.place = Place::Ended,
        }
    }

    /// The shell asks for more of an unfinished command, and there is no more: it is interrupted once
    /// the kernel says that it waits.
    fn more_is_asked(&mut self) {
        let Some(shell) = &mut self.shell else { return };
        match shell.open() {
            Some(run) => {
                run.suspend();
                run.asked_for_more = true;
                self.survey_soon();
            }
            None => shell.place = Place::Continuation,
        }
    }

    fn directory_told(&mut self, path: &str) {
        let Some(shell) = &mut self.shell else { return };
        // What is no text is asked of the kernel.
        let plain = !path.is_empty() && !path.contains(char::REPLACEMENT_CHARACTER);
        let path = plain.then(|| PathBuf::from(path));
        match shell.open() {
            Some(run) => run.told_cwd = path,
            None => shell.cwd = path.or_else(|| self.program.working_directory()),
        }
    }
}
