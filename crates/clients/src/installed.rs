//! Entries that are in a client's list already: for whoever checks that they work. Nothing is changed.

use std::path::PathBuf;

use crate::client::Format;
use crate::entry::{FoundEntry, PACKAGE};
use crate::plan::{read, text_of};
use crate::{Client, Error, Place, json, toml};

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
    /// The server that it uses, if it starts none.
    pub url: Option<String>,
    /// Headers that the client sends to it.
    pub headers: Vec<(String, String)>,
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
    Ok(found.into_iter().filter_map(|(name, found)| InstalledEntry::of(name, found)).collect())
}

/// The entries that a user has for one folder each, which only Claude Code knows: `claude mcp add` writes them.
pub fn installed_for_folders(place: &Place) -> Vec<(PathBuf, InstalledEntry)> {
    if place.client != Client::ClaudeCode || place.project.is_some() {
        return Vec::new();
    }
    let Ok((target, old)) = read(place) else { return Vec::new() };
    let Ok(text) = text_of(&target, old.as_deref()) else { return Vec::new() };
    let found = json::entries_of_folders(text).into_iter();
    let ours = found.filter_map(|(folder, name, found)| {
        Some((PathBuf::from(folder), InstalledEntry::of(name, found)?))
    });
    ours.collect()
}

impl InstalledEntry {
    /// If it is one of ours, or looks like one.
    fn of(name: String, found: FoundEntry) -> Option<Self> {
        let start = found.start();
        let FoundEntry { command, args, env, url, headers, is_disabled } = found;
        let is_enabled = !is_disabled;
        let entry = Self { name, command, args, env, url, headers, start, is_enabled };
        (start != StartKind::Foreign || entry.name == PACKAGE).then_some(entry)
    }
}
