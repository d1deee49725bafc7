//! A cache of parsed sources: each step needs those of its frames again.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use termbridge_foreign_files::read_to_string;

use crate::adapter::{Declarations, SourceDeclarations};

/// Sources that are kept.
const MAX_KEPT: usize = 8;
/// Bytes of a source that are read.
const MAX_SOURCE: u64 = 4 * 1024 * 1024;

/// A file as it was at a time, and what it declares.
type Kept = (PathBuf, SystemTime, Arc<dyn SourceDeclarations>);

/// The sources that a session read, the latest last.
#[derive(Clone, Default)]
pub(super) struct Sources(Arc<Mutex<VecDeque<Kept>>>);

impl Sources {
    /// What a file declares, if it is still the one that a program was started with: the program's positions are of
    /// that. Blocks.
    pub(super) fn read(
        &self,
        rules: &dyn Declarations,
        path: &Path,
        started: SystemTime,
    ) -> Option<Arc<dyn SourceDeclarations>> {
        let modified = path.metadata().and_then(|file| file.modified()).ok()?;
        if modified > started {
            return None;
        }
        let is_current = |(of, at, _): &&Kept| of == path && *at == modified;
        let found =
            self.lock().iter().find(is_current).map(|(.., declarations)| declarations.clone());
        if found.is_some() {
            return found;
        }
        // Not locked: the file system may hang.
        let text = read_to_string(path, MAX_SOURCE).ok()?;
        let declarations: Arc<dyn SourceDeclarations> = rules.read(text).into();
        let mut kept = self.lock();
        kept.retain(|(of, _, _)| of != path);
        if kept.len() == MAX_KEPT {
            kept.pop_front();
        }
        kept.push_back((path.to_owned(), modified, declarations.clone()));
        Some(declarations)
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Kept>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
