//! What a person has set in an editor, as limits for the agents in the window's folders.
//!
//! Each setting is read by itself: one that is wrong is named and voids no other.

use std::path::PathBuf;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::Value;
use termbridge_bridge::{Bridge, FolderLimiting, FolderLimits};
use termbridge_editor::WrongSetting;
use termbridge_session::SessionLimits;

/// The settings of a window; those that are not known are the extension's own.
struct Settings<'a> {
    all: &'a Value,
    wrong: Vec<WrongSetting>,
}

/// Puts what a person has set in force, with what of it cannot be used.
pub(crate) fn set(
    bridge: &Bridge,
    folders: &[PathBuf],
    settings: &Value,
) -> (Option<FolderLimiting>, Vec<WrongSetting>) {
    let mut settings = Settings { all: settings, wrong: Vec::new() };
    let blocked_commands = settings.texts("blockedCommands");
    let directories = settings.lists("allowedDirectories");
    let limits = FolderLimits {
        folders: folders.to_vec(),
        blocked_commands: blocked_commands.unwrap_or_default(),
        // One that cannot be read was still meant to allow no other.
        no_directory: directories.is_err(),
        allowed_directories: directories.unwrap_or_default(),
        max_sessions: settings.number("maxConcurrentSessions"),
        default_timeout: settings.number("defaultTimeoutMs").map(milliseconds),
        sessions: SessionLimits {
            session_timeout: settings.number("idleTimeoutMs").map(milliseconds).unwrap_or_default(),
            scrollback_lines: settings.number("maxOutputLines"),
        },
    };
    let mut wrong = settings.wrong;
    let is_empty = FolderLimits { folders: folders.to_vec(), ..FolderLimits::default() } == limits;
    if is_empty || folders.is_empty() {
        return (None, wrong);
    }
    match bridge.limit_folders(limits) {
        Ok((limiting, more)) => {
            wrong.extend(more);
            (Some(limiting), wrong)
        }
        Err(error) => {
            wrong.push(WrongSetting { name: String::new(), reason: error.to_string() });
            (None, wrong)
        }
    }
}

impl Settings<'_> {
    fn is_wrong(&mut self, name: &str, reason: String) {
        self.wrong.push(WrongSetting { name: name.to_owned(), reason });
    }

    fn number<T: DeserializeOwned>(&mut self, name: &str) -> Option<T> {
        let value = self.all.get(name).filter(|value| !value.is_null())?;
        let number = serde_json::from_value(value.clone()).ok();
        if number.is_none() {
            let what = match value.as_f64() {
                Some(number) if number >= 0.0 && number.fract() == 0.0 => "is too large",
                _ => "is not a whole number of 0 or more",
            };
            self.is_wrong(name, format!("{value} {what}"));
        }
        number
    }

    /// The texts of a list; an error where there is something and no text in it.
    fn texts(&mut self, name: &str) -> Result<Vec<String>, ()> {
        let value = self.all.get(name).filter(|value| !value.is_null());
        value.map_or_else(|| Ok(Vec::new()), |value| self.texts_of(name, value))
    }

    /// One list of paths, or several.
    fn lists(&mut self, name: &str) -> Result<Vec<Vec<PathBuf>>, ()> {
        let Some(value) = self.all.get(name).filter(|value| !value.is_null()) else {
            return Ok(Vec::new());
        };
        let lists: Vec<&Value> = match value.as_array() {
            Some(entries) if entries.iter().any(Value::is_array) => entries.iter().collect(),
            _ => vec![value],
        };
        let paths = |texts: Vec<String>| texts.into_iter().map(PathBuf::from).collect();
        lists.into_iter().map(|list| self.texts_of(name, list).map(paths)).collect()
    }

    fn texts_of(&mut self, name: &str, value: &Value) -> Result<Vec<String>, ()> {
        let Some(entries) = value.as_array() else {
            self.is_wrong(name, format!("{value} is not a list of texts"));
            return Err(());
        };
        let mut texts = Vec::new();
        for entry in entries {
            match entry.as_str() {
                Some(text) => texts.push(text.to_owned()),
                None => self.is_wrong(name, format!("{entry} is not a text")),
            }
        }
        if texts.is_empty() && !entries.is_empty() { Err(()) } else { Ok(texts) }
    }
}

/// A time that can be added to any other.
fn milliseconds(number: u64) -> Duration {
    Duration::from_millis(number).min(Duration::from_hours(24 * 365))
}
