//! [`LastLine`]: what something that takes long printed last.

use std::sync::{Arc, Mutex, PoisonError};

use crate::events::cut_text;

/// Bytes of a line; what is longer is cut.
const MAX_LINE: usize = 300;

/// The last line of what compilers and tasks print, for whoever waits for them. Clones are the same.
#[derive(Debug, Clone, Default)]
pub struct LastLine(Arc<Mutex<Option<String>>>);

impl LastLine {
    /// Takes in more output: its last line that says anything counts.
    pub fn note(&self, output: &str) {
        let mut lines = output.lines().rev().map(str::trim);
        if let Some(line) = lines.find(|line| !line.is_empty()) {
            let line = cut_text(line, MAX_LINE);
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(line);
        }
    }

    /// The line, if there is one.
    pub fn get(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
