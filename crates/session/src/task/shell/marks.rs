//! What the shell says of itself: the marks in its output.

use std::time::Duration;

use termbridge_pty::Waiting;
use termbridge_shell::{Shell, mark_key};
use termbridge_vt::Mark;
use tokio::time::Instant;

use super::background::visible;
use super::{ClaimedEnd, Looks, Place, Run};
use crate::command::CommandState;
use crate::registry::PIPE_NAME;
use crate::task::SessionTask;
use crate::task::lifecycle::Change;

/// How long a mark holds up the thread while the shell gets to where it waits. Most need a tenth of it.
const LOOK_TIME: Duration = Duration::from_micros(200);

impl SessionTask {
    /// Follows the stream of a shell's terminal, up to the mark that the last feed ended with.
    pub(in crate::task) fn follow_shell(&mut self) {
        if self.shell.is_none() {
            return;
        }
        let (tapped, mark) = (self.terminal.take_tapped(), self.terminal.take_mark());
        let printed = self.terminal.take_printed();
        // What a shell prints in whose place another is being started counts for nothing.
        if self.change.as_ref().is_some_and(Change::is_own) {
            return;
        }
        match self.shell.as_mut().and_then(|shell| shell.open()) {
            Some(run) => {
                run.feed(&tapped, &mut self.terminal);
                self.printed += printed;
            }
            None if tapped.is_empty() => {}
            None => self.printed_between(&tapped),
        }
        if let Some(mark) = mark {
            self.shell_mark(&mark);
        }
        self.output_grew();
    }

    /// Takes what a new size moved off the screen.
    pub(in crate::task) fn take_done_output(&mut self) {
        if let Some(run) = self.shell.as_mut().and_then(|shell| shell.open()) {
            run.take_done(&mut self.terminal);
        }
    }

    fn shell_mark(&mut self, mark: &Mark) {
        let is_own = |rest: &str| {
            let folder = self.shell.as_ref().map(|shell| shell.link.folder.path());
            folder.is_some_and(|folder| rest.rsplit(';').next() == Some(&*mark_key(folder)))
        };
        match mark {
            Mark::CommandStart(rest) if is_own(rest) => self.prompt_shown(),
            Mark::OutputStart(rest) if is_own(rest) => self.output_began(),
            Mark::CommandLine(rest) if is_own(rest) => self.line_announced(),
            Mark::CommandEnd(rest) => {
                let (status, nonce) = rest.split_once(';').unwrap_or((rest, ""));
                let nonce = (!is_own(rest)).then_some(nonce);
                self.command_ended(status, nonce);
            }
            Mark::Continuation(rest) if is_own(rest) => self.more_is_asked(),
            Mark::PromptStart(rest) if is_own(rest) => self.prompt_begins(),
            _ => {}
        }
    }

    pub(super) fn prompt_shown(&mut self) {
        let Some(shell) = &mut self.shell else { return };
        let first = !std::mem::replace(&mut shell.ready, true);
        shell.respawns = 0;
        shell.prompts += 1;
        shell.place = Place::Prompt;
        let unread = shell.link.pipe.unread().unwrap_or_default();
        if let Some(run) = shell.open() {
            run.note_prompt_end();
        }
        match shell.open() {
            Some(run) if run.awaits_prompt => self.trigger(),
            Some(run) if run.triggers == 0 => self.trigger_when_read(),
            // mksh draws its prompt once more.
            Some(run) if run.said.is_some() && run.is_untaken(unread) => {}
            Some(Run { said: Some(state), .. }) => {
                let state = state.clone();
                self.close(state, true);
            }
            // The kernel tells whether it is the shell's own.
            Some(run) if run.output_began || run.interrupts > 0 => {
                run.prompted = true;
                self.survey_soon();
            }
            // One that the line editor shows once more, with the command behind it.
            Some(_) => {}
            None if first => shell.first_prompt = Some(Looks::begin()),
            None => self.survey_soon(),
        }
        if let Some(shell) = &mut self.shell
            && shell.open().is_none()
            && !shell.commands.is_empty()
        {
            shell.between.prompt_ends();
        }
    }

    fn prompt_begins(&mut self) {
        let Some(shell) = &mut self.shell else { return };
        let last = shell.commands.back().filter(|run| run.is_open());
        let printed = match last {
            Some(run) => {
                run.since_prompt().and_then(|bytes| shell.between.new_text(bytes.to_vec()))
            }
            None => shell.between.prompt_begins(),
        };
        if let Some(printed) = printed {
            self.keep_background(&printed);
        }
    }

    fn line_announced(&mut self) {
        let position = self.fed();
        let Some(run) = self.shell.as_mut().and_then(|shell| shell.open()) else { return };
        let printed = run.beside_echo().filter(|printed| visible(printed).is_some());
        run.announce(&mut self.terminal, position);
        if let Some(printed) = printed {
            self.keep_background(&printed);
        }
    }

    fn output_began(&mut self) {
        let position = self.fed();
        let Some(shell) = &mut self.shell else { return };
        shell.place = Place::Away;
        let Some(run) = shell.open() else { return shell.between.typed_command_began() };
        // Before it is given to the shell, the mark is of a line that somebody typed.
        if run.triggers == 0 {
            return;
        }
        if !run.output_began {
            self.reset_terminal();
        }
        let run = self.shell.as_mut().and_then(|shell| shell.open());
        if run.is_some_and(|run| run.begin_output(&mut self.terminal, position)) {
            self.release_input_soon();
        }
    }

    /// Brings the terminal into the state that a command expects, for viewers too.
    fn reset_terminal(&mut self) {
        let reset = self.terminal.reset_for_command();
        if !reset.is_empty() {
            drop(self.terminal.take_tapped());
            self.tell_output(reset.as_bytes());
            self.keep_screens();
        }
    }

    /// The mark of an end came: with a nonce, or with the shell's key.
    fn command_ended(&mut self, status: &str, nonce: Option<&str>) {
        let position = self.fed();
        let Some(shell) = &mut self.shell else { return };
        let state = match status.parse() {
            Ok(exit_code) => CommandState::Done { exit_code },
            // fish would keep it in its line.
            Err(_) if status == "incomplete" => CommandState::Incomplete,
            Err(_) => return,
        };
        if let Some(nonce) = nonce {
            if shell.commands.back().is_none_or(|run| run.nonce != nonce) {
                return;
            }
            if let Some(run) = shell.open()
                && run.interrupts == 0
            {
                // What came after a mark that was not the shell's is output after all.
                run.suspend(&mut self.terminal, position);
            }
            let before = shell.claimed_end.take();
            let looks = before.map_or_else(Looks::begin, |claimed| claimed.looks);
            shell.claimed_end = Some(ClaimedEnd { state, looks });
            return;
        }
        let is_claimed = shell.claimed_end.is_some();
        match shell.open() {
            Some(run) if !is_claimed => {
                if let CommandState::Done { exit_code } = state {
                    run.unconfirmed = Some(exit_code);
                    run.suspend(&mut self.terminal, position);
                }
            }
            Some(_) => {}
            None => {
                shell.place = Place::Ended;
                shell.between.typed_command_ended();
            }
        }
    }

    /// Ends the command whose end a mark claims, once the kernel shows the shell waiting for the answer.
    /// All that the shell printed can be read then, so the last mark is the shell's own.
    pub(in crate::task) fn confirm_end(&mut self) {
        let Some(shell) = &mut self.shell else { return };
        let Some(claimed) = &shell.claimed_end else { return };
        let is_patient = claimed.looks.is_patient();
        let pipe = shell.link.folder.path().join(PIPE_NAME);
        if look_for_waiting(|| self.program.waiting_for(&pipe)) == Waiting::No {
            return;
        }
        // A job that prints without end does not hold up the command's.
        if !self.read_output() && is_patient {
            return;
        }
        let Some(shell) = &mut self.shell else { return };
        let Some(ClaimedEnd { state, .. }) = shell.claimed_end.take() else { return };
        shell.place = Place::Ended;
        shell.answer(&self.id);
        let fish = shell.link.shell == Shell::Fish;
        match shell.open() {
            // fish marks `exit` too: the prompt shows that it goes on.
            Some(run) if fish => {
                // What was printed since is of handlers, which ran when the directory or a variable changed back.
                drop(run.end_output(&mut self.terminal));
                run.said = Some(state);
            }
            Some(run) => {
                // The shell has printed nothing since.
                let printed = run.end_output(&mut self.terminal);
                self.close(state, false);
                if let Some(shell) = &mut self.shell {
                    shell.between.begin(printed);
                }
            }
            None => {}
        }
    }

    /// Gives what waits for the first prompt once the shell waits there: from then on it is known where
    /// that is.
    pub(in crate::task) fn settle_first_prompt(&mut self) {
        let Some(shell) = &mut self.shell else { return };
        let Some(looks) = shell.first_prompt else { return };
        let (waiting, place) = self.program.waiting_place();
        if waiting.is_for_input() {
            shell.note_prompt_place(place);
        } else if waiting == Waiting::No && !looks.are_enough() {
            return std::thread::yield_now();
        }
        shell.first_prompt = None;
        if shell.typed_since {
            // Lines that were typed come first.
            self.release_input();
            self.survey_soon();
        } else {
            self.unpark();
        }
    }

    fn looks(&self) -> impl Iterator<Item = Looks> {
        let shell = self.shell.iter();
        shell.flat_map(|shell| {
            let end = shell.claimed_end.as_ref().map(|claimed| claimed.looks);
            end.into_iter().chain(shell.first_prompt)
        })
    }

    /// The shell is about to wait for the answer to its mark, or at its first prompt: look again at once.
    pub(in crate::task) fn looks_at_once(&self) -> bool {
        self.looks().any(Looks::is_patient)
    }

    /// When to look again, once looking at once has not helped.
    pub(in crate::task) fn look_deadline(&self, now: Instant) -> Option<Instant> {
        self.looks().filter_map(|looks| looks.next(now)).min()
    }

    /// The shell asks for more of an unfinished command, and there is no more: it is interrupted once
    /// the kernel says that it waits.
    fn more_is_asked(&mut self) {
        let position = self.fed();
        let Some(shell) = &mut self.shell else { return };
        match shell.open() {
            Some(run) => {
                run.suspend(&mut self.terminal, position);
                run.asked_for_more = true;
                self.survey_soon();
            }
            None => shell.place = Place::Continuation,
        }
    }
}

/// Looks until the shell waits, or for [`LOOK_TIME`]: it may be on its way there, and on the same processor it needs its
/// turn. To look again from the task's loop wakes other threads.
fn look_for_waiting(look: impl Fn() -> Waiting) -> Waiting {
    let began = Instant::now();
    loop {
        let waiting = look();
        if waiting != Waiting::No || began.elapsed() >= LOOK_TIME {
            return waiting;
        }
        std::thread::yield_now();
    }
}
