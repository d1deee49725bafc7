//! What a terminal takes in memory, and how that is made less.

use super::Terminal;
use crate::image::Images;

/// Least room beyond what is taken for a history that was shortened to grow again.
const ROOM_TO_GROW: usize = 1024 * 1024;

impl Terminal {
    /// Bytes that screens and history take.
    pub fn memory_estimate(&self) -> usize {
        let core = &self.core;
        core.primary.memory()
            + core.alternate.memory()
            + core.history.memory()
            + core.tables.memory()
            + core.images.memory()
    }

    /// Drops images and the oldest lines until screens and history take about `bytes`, and keeps no more rows
    /// than that from now on.
    pub fn shrink_memory(&mut self, bytes: usize) {
        if self.memory_estimate() > bytes {
            self.core.images = Images::default();
        }
        let core = &mut self.core;
        let screens = core.primary.memory() + core.alternate.memory() + core.tables.memory();
        let rows = core.history.shrink(bytes.saturating_sub(screens), core.size.cols.into());
        core.lowered = Some(rows);
        core.history.set_limit(rows, core.size.cols.into());
    }

    /// Memory is there again: a history that was shortened may grow, if there is enough.
    pub fn grow_memory(&mut self, room: usize) {
        let core = &mut self.core;
        if core.lowered.is_some() && room >= ROOM_TO_GROW {
            core.lowered = None;
            core.history.set_limit(core.scrollback_lines, core.size.cols.into());
        }
    }

    /// The program has ended: frees the memory that only further output needs.
    pub fn finish(&mut self) {
        let core = &mut self.core;
        core.history.free_spare();
        core.primary.give_back_memory();
        core.alternate.give_back_memory();
    }
}

#[cfg(test)]
impl Terminal {
    pub(crate) fn core_history_memory(&self) -> usize {
        self.core.history.memory()
    }
}
