//! The output of a shell's commands within the budgets of the server.

use super::ShellState;
use crate::task::SessionTask;

/// Files of output that a server has open, at most: each counts at least this part of the budget.
const MAX_FILES: usize = 256;
/// Growth that is not published yet.
const UNPUBLISHED: usize = 64 * 1024;

impl ShellState {
    fn in_memory(&self) -> usize {
        self.commands.iter().map(|run| run.output.in_memory()).sum()
    }

    /// Bytes on disk, a file counted as `least` or more.
    fn on_disk(&self, least: u64) -> u64 {
        self.commands.iter().map(|run| charge(run.output.filed(), least)).sum()
    }

    /// Drops the oldest commands' output until no more than `keep` bytes are in memory; the newest
    /// command's stays.
    fn trim_memory(&mut self, keep: usize) {
        let mut total = self.in_memory();
        let old = self.commands.len().saturating_sub(1);
        for run in self.commands.iter_mut().take(old) {
            if total <= keep {
                return;
            }
            let before = run.output.in_memory();
            run.output.discard();
            total -= before - run.output.in_memory();
        }
    }

    /// The same for files; the newest command's is shortened.
    fn trim_disk(&mut self, keep: u64, least: u64) {
        let mut total = self.on_disk(least);
        let old = self.commands.len().saturating_sub(1);
        for run in self.commands.iter_mut().take(old).filter(|run| run.output.filed() > 0) {
            if total <= keep {
                return;
            }
            total -= charge(run.output.filed(), least);
            run.output.discard();
        }
        if let Some(newest) = self.commands.back_mut().filter(|_| total > keep) {
            newest.output.shrink_file(newest.output.filed().saturating_sub(total - keep));
        }
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
            run.published = (run.output.in_memory(), run.output.filed());
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
        let grew = run.output.in_memory() >= memory + UNPUBLISHED || run.output.filed() != disk;
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

fn charge(bytes: u64, least: u64) -> u64 {
    if bytes == 0 { 0 } else { bytes.max(least) }
}
