//! The profiles of VS Code and its variants.
//!
//! The default profile's files are in `User`, those of another in `User/profiles/LOCATION`. Names, and which profiles
//! use the default one's servers, are in `User/globalStorage/storage.json`.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::file;

/// Most profiles that are looked at.
const MAX_PROFILES: usize = 64;

/// The folder of profiles that the editor makes for itself.
const BUILT_IN: &str = "builtin";

/// A profile with servers of its own, beside the default one.
#[derive(Debug)]
pub(crate) struct Profile {
    pub(crate) name: String,
    pub(crate) folder: PathBuf,
}

/// The profiles in a `User` folder.
pub(crate) fn profiles(user: &Path) -> Vec<Profile> {
    let folder = user.join("profiles");
    let mut profiles = match listed(user) {
        Some(listed) => listed
            .iter()
            .filter(|profile| profile["useDefaultFlags"]["mcp"] != true)
            .filter_map(|profile| {
                let location = profile["location"].as_str().filter(|text| is_plain(text))?;
                let name = profile["name"].as_str().unwrap_or(location).to_owned();
                Some(Profile { name, folder: folder.join(location) })
            })
            .collect(),
        None => in_folder(&folder),
    };
    profiles.retain(|profile| profile.folder.is_dir());
    profiles.sort_by(|one, other| one.folder.cmp(&other.folder));
    profiles.truncate(MAX_PROFILES);
    profiles
}

fn listed(user: &Path) -> Option<Vec<Value>> {
    let storage = user.join("globalStorage").join("storage.json");
    let bytes = file::read(&storage).ok()??;
    let mut storage: Value = serde_json::from_slice(&bytes).ok()?;
    match storage["userDataProfiles"].take() {
        Value::Array(profiles) => Some(profiles),
        _ => None,
    }
}

fn in_folder(folder: &Path) -> Vec<Profile> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| {
            Some(Profile { name: entry.file_name().into_string().ok()?, folder: entry.path() })
        })
        .filter(|profile| profile.name != BUILT_IN)
        .collect()
}

/// Whether a location is the name of a folder rather than a way out of ours.
fn is_plain(location: &str) -> bool {
    !location.is_empty() && location != "." && location != ".." && !location.contains(['/', '\\'])
}
