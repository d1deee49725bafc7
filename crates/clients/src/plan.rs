//! A change of one file: worked out, shown, made.

use std::path::{Path, PathBuf};

use crate::backup::{Backup, Kept};
use crate::client::Format;
use crate::entry::{Addition, Origin, Removal};
use crate::file;
use crate::text::problem;
use crate::{Entry, Environment, Error, Place, diff, json, toml};

/// Whether someone else's entry of our name is overwritten or removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overwrite {
    /// It is left alone
    Never,
    /// It is
    Foreign,
}

/// What a plan does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Nothing: the entry is there
    AlreadyThere,
    /// Nothing: there is no entry
    NotThere,
    /// Adds the entry
    Add,
    /// Gives our entry another command or other arguments
    Update,
    /// Replaces someone else's entry
    Replace,
    /// Removes the entry
    Remove,
    /// Removes the file, which install created and no one else has added to
    RemoveFile,
}

impl Action {
    /// Whether a file changes.
    pub fn is_change(self) -> bool {
        !matches!(self, Self::AlreadyThere | Self::NotThere)
    }
}

/// A change of one file.
#[derive(Debug)]
pub struct Plan {
    place: Place,
    action: Action,
    target: PathBuf,
    old: Option<Vec<u8>>,
    new: String,
    backup: Backup,
}

/// A change that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied {
    /// Where the file is kept as it was, if it was there and is not the same as before install
    pub backup: Option<PathBuf>,
}

impl Plan {
    /// Works out how a file gets the entry. A file that does not exist is created, with its folder, when the plan is
    /// applied; whether it should be is the caller's decision ([`Place::is_found`]).
    pub fn install(
        place: Place,
        entry: &Entry,
        overwrite: Overwrite,
        environment: &Environment,
    ) -> Result<Self, Error> {
        let (target, old) = read(&place)?;
        let text = text_of(&target, old.as_deref())?;
        let addition = match place.client.format() {
            Format::Json(format) => json::add(text, format, entry, overwrite),
            Format::Toml => toml::add(text, entry, overwrite),
        };
        let addition =
            addition.map_err(|refusal| Error::refused(&place.path, entry.name(), refusal))?;
        let (action, new) = match addition {
            Addition::Same => (Action::AlreadyThere, String::new()),
            Addition::Added(new) => (Action::Add, new),
            Addition::Updated(new) => (Action::Update, new),
            Addition::Replaced(new) => (Action::Replace, new),
        };
        Self::new(place, action, target, old, new, environment)
    }

    /// Works out how a file gets rid of the entry, and of what install had to create for it.
    pub fn uninstall(
        place: Place,
        entry: &Entry,
        overwrite: Overwrite,
        environment: &Environment,
    ) -> Result<Self, Error> {
        let (target, old) = read(&place)?;
        let text = text_of(&target, old.as_deref())?;
        let kept = Backup::of(&target, &environment.backups).read();
        let origin = match &kept {
            Kept::Nothing => Origin::Unknown,
            Kept::Absence => Origin::Absent,
            Kept::Bytes(bytes) => std::str::from_utf8(bytes).map_or(Origin::Unknown, Origin::Text),
        };
        let removal = match place.client.format() {
            Format::Json(format) => json::remove(text, format, entry, overwrite, origin),
            Format::Toml => toml::remove(text, entry, overwrite, origin),
        };
        let removal =
            removal.map_err(|refusal| Error::refused(&place.path, entry.name(), refusal))?;
        let (action, new) = match removal {
            Removal::NotThere => (Action::NotThere, String::new()),
            Removal::Text(new) => (Action::Remove, new),
            Removal::Nothing => (Action::RemoveFile, String::new()),
        };
        Self::new(place, action, target, old, new, environment)
    }

    pub(crate) fn new(
        place: Place,
        action: Action,
        target: PathBuf,
        old: Option<Vec<u8>>,
        new: String,
        environment: &Environment,
    ) -> Result<Self, Error> {
        if action.is_change() {
            file::check_writable(&target)?;
        }
        let backup = Backup::of(&target, &environment.backups);
        Ok(Self { place, action, target, old, new, backup })
    }

    /// The file.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// What is done to it.
    pub fn action(&self) -> Action {
        self.action
    }

    /// The change as a unified diff with little context, long lines cut and values of secrets masked; empty without a
    /// change.
    pub fn diff(&self) -> String {
        if !self.action.is_change() {
            return String::new();
        }
        let old = self.old.as_deref().map(String::from_utf8_lossy);
        let new = (self.action != Action::RemoveFile).then_some(self.new.as_str());
        diff::unified(&self.place.path, old.as_deref(), new)
    }

    /// Makes the change, after a backup.
    pub fn apply(&self) -> Result<Applied, Error> {
        let old = self.old.as_deref();
        let mut backup = None;
        // Two at once would each find the file as it was.
        let _turn = self.backup.turn()?;
        match self.action {
            Action::AlreadyThere | Action::NotThere => {}
            Action::Add | Action::Replace => {
                backup = self.backup.write(old, missing_folder(&self.target))?;
                self.replace()?;
            }
            Action::Update => {
                // One from before our entry is worth more.
                if self.backup.read() == Kept::Nothing {
                    backup = self.backup.write(old, None)?;
                }
                self.replace()?;
            }
            Action::Remove => {
                if self.backup.read() == Kept::Bytes(self.new.clone().into_bytes()) {
                    self.replace()?;
                    self.backup.remove()?;
                } else {
                    backup = self.backup.write(old, None)?;
                    self.replace()?;
                }
            }
            Action::RemoveFile => {
                file::remove(&self.target, old.unwrap_or_default())?;
                if let Some(made) = self.backup.made_folder() {
                    remove_empty_folders(&self.target, &made);
                }
                self.backup.remove()?;
            }
        }
        Ok(Applied { backup })
    }

    fn replace(&self) -> Result<(), Error> {
        let new = self.new.as_bytes();
        file::replace(&self.target, self.old.as_deref(), new, self.place.privacy)
    }
}

/// The outermost folder that is made with a file.
fn missing_folder(file: &Path) -> Option<&Path> {
    file.ancestors().skip(1).take_while(|folder| !folder.exists()).last()
}

/// Removes the folders of a file up to one that was made with it, as long as nothing else is in them.
fn remove_empty_folders(file: &Path, made: &Path) {
    let folders = file.ancestors().skip(1).take_while(|folder| folder.starts_with(made));
    for folder in folders {
        if std::fs::remove_dir(folder).is_err() {
            return;
        }
    }
}

pub(crate) fn read(place: &Place) -> Result<(PathBuf, Option<Vec<u8>>), Error> {
    let target = file::target(&place.path)?;
    if let Some(project) = &place.project {
        file::check_within(&place.path, &target, project)?;
    }
    let old = file::read(&target)?;
    Ok((target, old))
}

pub(crate) fn text_of<'a>(path: &Path, bytes: Option<&'a [u8]>) -> Result<&'a str, Error> {
    let bytes = bytes.unwrap_or_default();
    std::str::from_utf8(bytes).map_err(|error| {
        let valid = &bytes[..error.valid_up_to()];
        let valid = String::from_utf8_lossy(valid);
        let problem = problem(&valid, valid.len(), "the text is not UTF-8");
        Error::Broken { path: path.to_owned(), problem }
    })
}
