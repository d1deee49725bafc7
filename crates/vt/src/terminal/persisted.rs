//! A terminal as bytes, for the next server: the state itself, in `MessagePack` with named fields.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::core::Core;
use super::{Options, Terminal};
use crate::changes::Changes;
use crate::parser::Parser;
use crate::search::Typings;

/// Changes with the state.
const VERSION: u32 = 2;

/// Why a terminal cannot be restored.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PersistedError {
    /// Another version wrote it.
    #[error(
        "the terminal's record is of a version that this program cannot read; start with an empty terminal"
    )]
    Version,
    /// Bytes are missing or were changed.
    #[error("the terminal's record is damaged ({0}); start with an empty terminal")]
    Damaged(String),
}

#[derive(Serialize, Deserialize)]
struct Record<P, C, H, T> {
    version: u32,
    parser: P,
    core: C,
    changes: H,
    typings: T,
}

impl Terminal {
    /// The whole state. Replies and events are not part of it: the owner takes them before.
    pub fn to_bytes(&self) -> Vec<u8> {
        let record = Record {
            version: VERSION,
            parser: &self.parser,
            core: &self.core,
            changes: &self.changes,
            typings: &self.typings,
        };
        // Writing to memory cannot fail, and no type here refuses to be written.
        rmp_serde::to_vec_named(&record).unwrap_or_default()
    }

    /// The terminal that [`Terminal::to_bytes`] wrote. With fewer rows of scrollback than it had, the oldest are left out.
    pub fn from_bytes(bytes: &[u8], options: Options) -> Result<Self, PersistedError> {
        #[derive(Deserialize)]
        struct Version {
            version: u32,
        }
        let damaged = |error: rmp_serde::decode::Error| PersistedError::Damaged(error.to_string());
        let Version { version } = rmp_serde::from_slice(bytes).map_err(damaged)?;
        if version != VERSION {
            return Err(PersistedError::Version);
        }
        let record: Record<Parser, Core, Changes, Typings> =
            rmp_serde::from_slice(bytes).map_err(damaged)?;
        let Record { parser, mut core, changes, typings, .. } = record;
        if !core.is_sound() {
            return Err(PersistedError::Damaged("a part does not fit the others".to_owned()));
        }
        core.restored(options);
        Ok(Self { parser, core, changes, typings })
    }
}

impl Core {
    fn is_sound(&self) -> bool {
        let saved = self.per_screen.iter().all(|screen| {
            let position = screen.saved.position;
            position.row < self.size.rows.into()
                && position.col < self.size.cols.into()
                && screen.saved.charsets.is_sound()
        });
        let frozen =
            self.frozen.as_ref().is_none_or(|frozen| frozen.grid.is_sound(self.size, &self.tables));
        self.size == self.size.clamped()
            && self.tables.is_sound()
            && self.primary.is_sound(self.size, &self.tables)
            && self.alternate.is_sound(self.size, &self.tables)
            && frozen
            && saved
            && self.charsets.is_sound()
            && self.level.is_none_or(|level| (1..=5).contains(&level))
            && self.tabs.cols() == usize::from(self.size.cols)
            && self.history.is_sound()
            && self.images.is_sound(self.size.cols)
    }

    fn restored(&mut self, options: Options) {
        self.palette = options.palette;
        self.scrollback_lines = options.scrollback_lines;
        let limit = self.lowered.unwrap_or(usize::MAX).min(options.scrollback_lines);
        if limit != self.history.limit() {
            self.history.set_limit(limit, self.size.cols.into());
        }
    }
}
