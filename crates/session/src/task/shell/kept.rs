//! The output of a shell's commands within the budgets of the server.

use super::{Run, ShellState};
use crate::output_store::OutputStore;
use crate::task::SessionTask;

/// Files of output that a server has open, at most: each counts at least this part of the budget.
const MAX_FILES: usize = 256;
/// Growth that is not published yet.
const UNPUBLISHED: usize = 64 * 1024;

impl ShellState {
    fn in_memory(&self) -> usize {
        self.commands.iter().flat_map(Run::stores).map(OutputStore::in_memory).sum()
    }

    /// Bytes on disk, a file counted as `least` or more.
    fn on_disk(&self, least: u64) -> u64 {
        let stores = self.commands.iter().flat_map(Run::stores);
        stores.map(|store| charge(store.filed(), least)).sum()
    }

    /// Drops the oldest commands' output until no more than `keep` bytes are in memory; the newest
    /// command's stays.
    fn trim_memory(&mut self, keep: usize) {
        self.cuts += 1;
        let mut total = self.in_memory();
        let old = self.stores().saturating_sub(1);
        for store in self.commands.iter_mut().flat_map(Run::stores_mut).take(old) {
            if total <= keep {
                return;
            }
            let before = store.in_memory();
            store.discard();
            total -= before - store.in_memory();
        }
    }

    /// The same for files; the newest command's is shortened.
    fn trim_disk(&mut self, keep: u64, least: u64) {
        self.cuts += 1;
        let mut total = self.on_disk(least);
        let old = self.stores().saturating_sub(1);
        let stores = self.commands.iter_mut().flat_map(Run::stores_mut);
        for store in stores.take(old).filter(|store| store.filed() > 0) {
            if total <= keep {
                return;
            }
            total -= charge(store.filed(), least);
            store.discard();
        }
        let newest = self.commands.back_mut().and_then(|run| run.stores_mut().last());
        if let Some(newest) = newest.filter(|_| total > keep) {
            newest.shrink_file(newest.filed().saturating_sub(total - keep));
        }
    }

    fn stores(&self) -> usize {
        self.commands.iter().flat_map(Run::stores).count()
    }
}

impl SessionTask {
    /// What a file counts at least, so that there are not too many of them.
    fn least_charge(&self) -> u64 {
        (self.settings.output_disk / MAX_FILES) as u64
    }

    /// Tells the budgets what the commands' output takes.
    pub(in crate::task) fn publish_output(&mut self) {
        let least = self.least_charge();
        let (Some(server), Some(shell)) = (self.server.upgrade(), &mut self.shell) else { return };
        let (memory, disk) = (shell.in_memory(), shell.on_disk(least));
        let mut disk_is_full = false;
        if let Some(run) = shell.commands.back_mut() {
            run.published = taken(run);
            disk_is_full = std::mem::take(&mut run.disk_is_full);
        }
        let disk = usize::try_from(disk).unwrap_or(usize::MAX);
        server.budgets.output_memory.publish(&self.shares.output_memory, memory);
        server.budgets.output_disk.publish(&self.shares.output_disk, disk);
        if disk_is_full {
            server.budgets.output_disk.shed();
        }
    }

    /// The same once the running command has printed enough for it.
    pub(super) fn output_grew(&mut self) {
        let Some(run) = self.shell.as_ref().and_then(|shell| shell.commands.back()) else { return };
        let (memory, disk) = run.published;
        let (memory_now, disk_now) = taken(run);
        let grew = memory_now >= memory + UNPUBLISHED || disk_now != disk;
        if grew || run.disk_is_full {
            self.publish_output();
        }
    }

    pub(in crate::task) fn trim_output_memory(&mut self, keep: usize) {
        if let Some(shell) = &mut self.shell {
            shell.trim_memory(keep);
            tracing::debug!(session = %self.id, keep, "output in memory trimmed");
        }
        self.publish_output();
    }

    pub(in crate::task) fn trim_output_disk(&mut self, keep: usize) {
        let least = self.least_charge();
        if let Some(shell) = &mut self.shell {
            shell.trim_disk(keep as u64, least);
            tracing::debug!(session = %self.id, keep, "output on disk trimmed");
        }
        self.publish_output();
    }
}

/// Bytes in memory and on disk.
fn taken(run: &Run) -> (usize, u64) {
    let memory = run.stores().map(OutputStore::in_memory).sum();
    (memory, run.stores().map(OutputStore::filed).sum())
}

fn charge(bytes: u64, least: u64) -> u64 {
    if bytes == 0 { 0 } else { bytes.max(least) }
}
