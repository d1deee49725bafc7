//! What is printed between commands, as it is saved for the next server.

use std::path::Path;
use std::sync::Arc;

use serde_bytes::ByteBuf;
use termbridge_vt::CleanOutput;
use tokio::time::Instant;

use super::{Background, Between, FIRST_LOOK, Stage};
use crate::output_store::OutputStore;
use crate::saved::{SavedBackground, SavedStage, SavedText, Unreadable, load_size, save_size};

impl Background {
    pub(in crate::task::shell) fn save(&mut self) -> SavedBackground {
        SavedBackground {
            size: save_size(self.size),
            clean: ByteBuf::from(self.clean.to_bytes()),
            output: self.output.save(),
        }
    }

    pub(in crate::task::shell) fn load(
        saved: SavedBackground,
        folder: Option<Arc<Path>>,
    ) -> Result<Self, Unreadable> {
        let clean = CleanOutput::from_bytes(&saved.clean)
            .map_err(|error| Unreadable::Damaged(error.to_string()))?;
        let output = OutputStore::load(saved.output, folder);
        Ok(Self { size: load_size(saved.size), clean, output })
    }
}

impl Between {
    pub(in crate::task::shell) fn save_stage(&self) -> SavedStage {
        match self.stage {
            Stage::Away => SavedStage::Away,
            Stage::Gap => SavedStage::Gap,
            Stage::Prompt => SavedStage::Prompt,
            Stage::Fresh { again: false, .. } => SavedStage::Fresh,
            Stage::Fresh { again: true, .. } => SavedStage::Redrawn,
            Stage::Idle { .. } => SavedStage::Idle,
            Stage::Typed => SavedStage::Typed,
        }
    }

    pub(in crate::task::shell) fn save_text(&self) -> SavedText {
        SavedText { held: ByteBuf::from(self.held.as_slice()), gap: self.gap.clone() }
    }

    /// `switches` is how often the shell has got a processor.
    pub(in crate::task::shell) fn load(
        stage: SavedStage,
        text: SavedText,
        switches: Option<u64>,
    ) -> Self {
        let fresh = |again| Stage::Fresh { look: Instant::now(), pause: FIRST_LOOK, again };
        let stage = match stage {
            SavedStage::Away => Stage::Away,
            SavedStage::Gap => Stage::Gap,
            SavedStage::Prompt => Stage::Prompt,
            SavedStage::Fresh => fresh(false),
            SavedStage::Redrawn => fresh(true),
            SavedStage::Idle => Stage::Idle { switches },
            SavedStage::Typed => Stage::Typed,
        };
        Self { stage, held: text.held.into_vec(), gap: text.gap }
    }
}
