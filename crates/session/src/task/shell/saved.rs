//! A shell and its commands as they are saved for the next server.
//!
//! What a server decides (a command was given, it began, the kernel confirmed its end) is saved as
//! soon as it is decided. What the shell prints in between is in the journal and is followed again by
//! the next server, in the same way. So nothing is decided twice: a mark whose end was confirmed lies
//! before the saved position.

use serde_bytes::ByteBuf;

use super::background::Between;
use super::line_editor::PromptPlaces;
use super::looks::Looks;
use super::run::Run;
use super::{ClaimedEnd, Place, ShellLink, ShellState};
use crate::saved::{
    self, SavedPlace, SavedRun, SavedShell, SavedText, Unreadable, load_path, save_path,
};

impl ShellState {
    /// Where it stands, but for what was printed.
    pub(in crate::task) fn save(&self) -> SavedShell {
        let open = self.commands.back().filter(|run| run.is_open());
        SavedShell {
            kind: Some(self.link.shell.into()),
            folder: save_path(self.link.folder.path().as_os_str()),
            ready: self.ready,
            first_prompt: self.first_prompt.is_some(),
            prompt_places: self.prompt_places.all(),
            place: match self.place {
                Place::Away => SavedPlace::Away,
                Place::Ended => SavedPlace::Ended,
                Place::Prompt => SavedPlace::Prompt,
                Place::Continuation => SavedPlace::Continuation,
            },
            replaced: self.replaced.clone(),
            next_id: self.next_id,
            stage: self.between.save_stage(),
            claimed_end: self.claimed_end.as_ref().map(|claimed| (&claimed.state).into()),
            cwd: self.cwd.as_deref().map(|cwd| save_path(cwd.as_os_str())),
            typed: self.typed,
            respawns: self.respawns,
            is_clean: self.is_clean,
            notice: self.notice.clone(),
            open: open.map(Run::save_open),
            cuts: self.cuts,
        }
    }

    pub(in crate::task) fn save_text(&self) -> SavedText {
        self.between.save_text()
    }

    /// The commands' records, oldest first. Those of commands that are over are made once.
    pub(in crate::task) fn save_runs(&mut self) -> Vec<ByteBuf> {
        let last = self.commands.len().saturating_sub(1);
        let runs = self.commands.iter_mut().enumerate();
        runs.map(|(index, run)| {
            if let Some(record) = &run.record {
                return ByteBuf::from(record.as_slice());
            }
            let record = saved::encode(&run.save());
            // What jobs print belongs to the last one.
            run.record = (index < last).then(|| record.clone());
            ByteBuf::from(record)
        })
        .collect()
    }

    /// The shell as it was saved. `switches` is how often it has got a processor.
    pub(in crate::task) fn load(
        link: ShellLink,
        mut saved: SavedShell,
        text: SavedText,
        runs: &[ByteBuf],
        switches: Option<u64>,
    ) -> Result<Self, Unreadable> {
        let folder = Some(link.folder.path().into());
        let mut shell = Self { output_folder: folder.clone(), ..Self::new(link, saved.next_id) };
        for record in runs {
            let run: SavedRun = saved::decode(record)?;
            let open = saved.open.take_if(|open| open.id == run.id);
            let run = Run::load(run, open, shell.link.shell, folder.clone())?;
            shell.commands.push_back(run);
        }
        shell.ready = saved.ready;
        shell.first_prompt = saved.first_prompt.then(Looks::begin);
        shell.prompt_places = PromptPlaces::of(&saved.prompt_places);
        shell.place = match saved.place {
            SavedPlace::Away => Place::Away,
            SavedPlace::Ended => Place::Ended,
            SavedPlace::Prompt => Place::Prompt,
            SavedPlace::Continuation => Place::Continuation,
        };
        shell.replaced = saved.replaced;
        shell.between = Between::load(saved.stage, text, switches);
        shell.claimed_end = saved
            .claimed_end
            .map(|state| ClaimedEnd { state: state.into(), looks: Looks::begin() });
        shell.cwd = saved.cwd.map(load_path);
        shell.typed = saved.typed;
        // What runs in it may be a person's.
        shell.typed_since = true;
        shell.respawns = saved.respawns;
        shell.is_clean = saved.is_clean;
        shell.notice = saved.notice;
        Ok(shell)
    }
}
