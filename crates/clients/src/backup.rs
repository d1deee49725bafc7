//! What files were like before our entry was added to them.
//!
//! One backup per file, in a folder of ours, so that projects and dotfiles are not littered. It is also how uninstall
//! knows what install had to create. A file that did not exist has a backup with a name of its own, which says what folder did not
//! exist either.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

use sha2::{Digest, Sha256};

use crate::Error;
use crate::file::{self, Privacy};

/// Most characters of a file's name that its backup shows.
const MAX_SHOWN: usize = 80;

/// The backup of one file.
#[derive(Debug)]
pub(crate) struct Backup {
    copy: PathBuf,
    absence: PathBuf,
}

/// What a backup says.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Kept {
    /// There is none.
    Nothing,
    /// There was no file.
    Absence,
    /// These bytes.
    Bytes(Vec<u8>),
}

impl Backup {
    /// The backup of a file, in the folder of backups.
    pub(crate) fn of(file: &Path, folder: &Path) -> Self {
        let digest = Sha256::digest(file.as_os_str().as_encoded_bytes());
        let hash = digest.iter().take(6).fold(String::new(), |mut hash, byte| {
            let _ = write!(hash, "{byte:02x}");
            hash
        });
        let name = file.file_name().map(OsStr::to_string_lossy).unwrap_or_default();
        let shown: String = name.trim_start_matches('.').chars().take(MAX_SHOWN).collect();
        let copy = folder.join(format!("{hash}-{shown}"));
        Self { copy, absence: folder.join(format!("{hash}-{shown}.absent")) }
    }

    /// What it says. One that cannot be read says nothing.
    pub(crate) fn read(&self) -> Kept {
        match file::read(&self.copy) {
            Ok(Some(bytes)) => Kept::Bytes(bytes),
            _ if self.absence.is_file() => Kept::Absence,
            _ => Kept::Nothing,
        }
    }

    /// Keeps what a file is like now; returns where, if there is anything to be kept. Without one, the folder is kept that is
    /// made with it.
    pub(crate) fn write(
        &self,
        old: Option<&[u8]>,
        made: Option<&Path>,
    ) -> Result<Option<PathBuf>, Error> {
        self.make_folder()?;
        let (path, other) = match old {
            Some(_) => (&self.copy, &self.absence),
            None => (&self.absence, &self.copy),
        };
        let made = made.map(|folder| folder.as_os_str().as_encoded_bytes()).unwrap_or_default();
        let before = file::read(path)?;
        file::replace(path, before.as_deref(), old.unwrap_or(made), Privacy::Private)?;
        remove(other)?;
        Ok(old.map(|_| path.clone()))
    }

    /// The folder that was made with the file.
    pub(crate) fn made_folder(&self) -> Option<PathBuf> {
        let text = String::from_utf8(file::read(&self.absence).ok()??).ok()?;
        (!text.is_empty()).then(|| PathBuf::from(text))
    }

    /// Waits until nobody else changes files; the turn lasts as long as what is returned.
    pub(crate) fn turn(&self) -> Result<Option<fs::File>, Error> {
        self.make_folder()?;
        // Elsewhere a folder cannot be opened.
        let Some(folder) = self.copy.parent().filter(|_| cfg!(unix)) else { return Ok(None) };
        let opened = fs::File::open(folder).map_err(Error::io("open", folder))?;
        opened.lock().map_err(Error::io("lock", folder))?;
        Ok(Some(opened))
    }

    /// Forgets what it says.
    pub(crate) fn remove(&self) -> Result<(), Error> {
        remove(&self.copy)?;
        remove(&self.absence)
    }

    /// What is kept contains the users' secrets.
    fn make_folder(&self) -> Result<(), Error> {
        let Some(folder) = self.copy.parent() else { return Ok(()) };
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(folder).map_err(Error::io("create", folder))
    }
}

fn remove(path: &Path) -> Result<(), Error> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(Error::io("remove", path)(error))
        }
        _ => Ok(()),
    }
}
