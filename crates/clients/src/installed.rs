//! Entries that are in a client's list already: for whoever checks that they work. Nothing is changed.

use crate::client::Format;
use crate::entry::{FoundEntry, PACKAGE};
use crate::plan::{read, text_of};
use crate::{Error, Place, json, toml};

/// An entry that starts this program, or has its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstalledEntry {
    /// Its key in the list.
    pub name: String,
    /// The program; `None` if it starts none.
    pub command: Option<String>,
    /// The program's arguments.
    pub args: Vec<String>,
    /// Variables that the client sets for it.
    pub env: Vec<(String, String)>,
    /// How it starts termbridge.
    pub start: StartKind,
    /// The client does not leave it out.
    pub is_enabled: bool,
}

/// What an entry starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartKind {
    /// The program itself
    Program,
    /// A package runner (npx, uvx), which may download it first
    Runner,
    /// Something else
    Foreign,
}

/// The entries of a place that start this program or are named after it; a file that is not there has none.
pub fn installed(place: &Place) -> Result<Vec<InstalledEntry>, Error> {
    let (target, old) = read(place)?;
    let text = text_of(&target, old.as_deref())?;
    let found = match place.client.format() {
        Format::Json(format) => json::entries(text, format),
        Format::Toml => toml::entries(text),
    };
    let found = found.map_err(|refusal| Error::refused(&place.path, PACKAGE, refusal))?;
    let entries = found.into_iter().map(|(name, found)| {
        let start = found.start();
        let FoundEntry { command, args, env, is_disabled } = found;
        InstalledEntry { name, command, args, env, start, is_enabled: !is_disabled }
    });
    Ok(entries.filter(|entry| entry.start != StartKind::Foreign || entry.name == PACKAGE).collect())
}
