//! A command as it is saved for the next server.

use std::path::Path;
use std::sync::Arc;

use serde_bytes::ByteBuf;
use termbridge_shell::Shell;

use super::{Background, Run, message};
use crate::output_store::OutputStore;
use crate::saved::{
    SavedOpen, SavedRun, Unreadable, load_instant, load_path, save_instant, save_path,
};

impl Run {
    /// What is known of it, but for its output.
    pub(in crate::task::shell) fn save_open(&self) -> SavedOpen {
        SavedOpen {
            id: self.id,
            unsent: self.message.is_some(),
            triggers: self.triggers,
            awaits_prompt: self.awaits_prompt,
            output_began: self.output_began,
            announced: self.announced,
            asked_for_more: self.asked_for_more,
            ends_in_prompt: self.ends_in_prompt,
            said: self.said.as_ref().map(Into::into),
            unconfirmed: self.unconfirmed,
            prompted: self.prompted,
            hook_ran: self.hook_ran,
            interrupts: self.interrupts,
        }
    }

    /// The command and its output, most of which goes to its file.
    pub(in crate::task::shell) fn save(&mut self) -> SavedRun {
        SavedRun {
            id: self.id,
            command: self.command.clone(),
            nonce: self.nonce.clone(),
            key: self.key.clone(),
            setup: self.setup.clone(),
            returns_to: self.returns_to.as_deref().map(|cwd| save_path(cwd.as_os_str())),
            message_len: self.message_len,
            before: ByteBuf::from(self.before.as_slice()),
            suspended: self.suspended.clone(),
            captured_from: self.captured_from,
            rest: self.rest.clone(),
            full_screen: self.full_screen,
            began: save_instant(self.began),
            ended: self.ended.map(save_instant),
            state: (&self.state).into(),
            cwd: self.cwd.as_deref().map(|cwd| save_path(cwd.as_os_str())),
            notice: self.notice.clone(),
            output: self.output.save(),
            background: self.background.as_mut().map(Background::save),
        }
    }

    /// The command as it was saved; `open` is what was known of one that ran.
    pub(in crate::task::shell) fn load(
        saved: SavedRun,
        open: Option<SavedOpen>,
        shell: Shell,
        folder: Option<Arc<Path>>,
    ) -> Result<Self, Unreadable> {
        let damaged = |error: &dyn std::fmt::Display| Unreadable::Damaged(error.to_string());
        let open = open.filter(|open| open.id == saved.id);
        let to_send = open.as_ref().is_some_and(|open| open.unsent);
        let text = message(shell, &saved.command, &saved.nonce, &saved.setup)
            .map_err(|error| damaged(&error))?;
        let open = open.unwrap_or_default();
        let background = saved.background.map(|saved| Background::load(saved, folder.clone()));
        Ok(Self {
            key: saved.key,
            returns_to: saved.returns_to.map(load_path),
            message: to_send.then_some(text),
            message_len: saved.message_len,
            triggers: open.triggers,
            awaits_prompt: open.awaits_prompt,
            prompt_end: saved.before.len(),
            before: saved.before.into_vec(),
            output_began: open.output_began,
            suspended: saved.suspended,
            announced: open.announced,
            asked_for_more: open.asked_for_more,
            captured_from: saved.captured_from,
            rest: saved.rest,
            full_screen: saved.full_screen,
            ends_in_prompt: open.ends_in_prompt,
            output: OutputStore::load(saved.output, folder),
            background: background.transpose()?,
            began: load_instant(saved.began),
            ended: saved.ended.map(load_instant),
            state: saved.state.into(),
            said: open.said.map(Into::into),
            unconfirmed: open.unconfirmed,
            prompted: open.prompted,
            hook_ran: open.hook_ran,
            interrupts: open.interrupts,
            cwd: saved.cwd.map(load_path),
            notice: saved.notice,
            ..Self::new(saved.id, shell, saved.command, saved.nonce, saved.setup, Vec::new(), None)
        })
    }
}
