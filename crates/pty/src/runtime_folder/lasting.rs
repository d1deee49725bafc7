//! The folder of a server whose programs outlive it.
//!
//! It has a place of its own, which every server of the same lasting keeper uses, and no lock: while a
//! program is held its folder is the keeper's, which removes it with the program. What a killed keeper
//! left, the next server removes ([`RuntimeFolder::sweep`]).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{MAX_ENTRIES, PrivateFolder, RuntimeFolder, is_random, named, open_folder};
use crate::{HeldProgram, make_private_folders};

impl RuntimeFolder {
    /// Makes a folder at this place, or uses the one that is there, if it is ours and nobody else's. It
    /// is never removed.
    pub fn lasting(path: &Path) -> io::Result<Self> {
        make_private_folders(path).map_err(|error| named(path, error))?;
        open_folder(path).map_err(|error| named(path, error))?;
        // Without links: the kernel shows an open file by that path.
        Ok(Self { path: path.canonicalize()?, locked: None })
    }

    /// The folder of an adopted program, which is the keeper's to remove.
    pub fn adopt(self: &Arc<Self>, folder: PathBuf) -> PrivateFolder {
        PrivateFolder { path: folder, is_handed_over: true, _runtime: Arc::clone(self) }
    }

    /// Removes what no program has that the keeper holds: to be called by the keeper's server, before
    /// it makes folders. Blocks; never follows a link.
    pub fn sweep(&self, held: &[HeldProgram]) {
        let is_held = |path: &Path| {
            held.iter().any(|program| program.private_folder.as_deref() == Some(path))
        };
        for entry in fs::read_dir(&self.path).into_iter().flatten().take(MAX_ENTRIES).flatten() {
            let path = entry.path();
            if entry.file_name().to_str().is_some_and(is_random) && !is_held(&path) {
                let _ = fs::remove_dir_all(&path);
            }
        }
    }
}

impl PrivateFolder {
    /// Leaves it to the keeper, which holds the program that it was made for.
    pub fn hand_over(&mut self) {
        self.is_handed_over = true;
    }
}
