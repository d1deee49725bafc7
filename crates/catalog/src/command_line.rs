//! A tool as a command for people: `termbridge debug breakpoint set --path … --line …`.

use serde_json::Value;

use crate::metadata::{Kind, Param};
use crate::tool::Tool;

/// A command.
#[derive(Debug, Clone, PartialEq)]
pub struct CommandLine {
    /// Its words after `termbridge debug`.
    pub words: Vec<String>,
    /// What it does.
    pub about: String,
    /// More of it.
    pub long_about: String,
    /// What it takes, the required first.
    pub flags: Vec<Flag>,
}

/// A flag of a command.
#[derive(Debug, Clone, PartialEq)]
pub struct Flag {
    /// The argument's name.
    pub name: String,
    /// `--hit-condition`, without the dashes.
    pub long: String,
    /// Whether it must be given.
    pub required: bool,
    /// What it takes.
    pub kind: Kind,
    /// The values it may have.
    pub options: Vec<String>,
    /// What it is when it is not given.
    pub default: Option<Value>,
    /// What it is for.
    pub help: String,
}

impl Tool {
    /// As a command for people.
    pub fn command_line(&self) -> CommandLine {
        let metadata = self.metadata();
        let mut flags: Vec<Flag> =
            metadata.params.iter().map(|(name, param)| flag(name, param)).collect();
        // Stable: within both parts by name.
        flags.sort_by_key(|flag| !flag.required);
        CommandLine {
            words: self.alias().split('.').map(str::to_owned).collect(),
            about: metadata.description.clone(),
            long_about: metadata.mcp.llm.when_to_use.trim().to_owned(),
            flags,
        }
    }
}

fn flag(name: &str, param: &Param) -> Flag {
    let shown = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    Flag {
        name: name.to_owned(),
        long: kebab(name),
        required: param.required,
        kind: param.kind,
        options: param.options.iter().map(shown).collect(),
        default: param.default.clone(),
        help: param.description.clone(),
    }
}

fn kebab(name: &str) -> String {
    let mut words = String::new();
    for character in name.chars() {
        match character {
            '_' => words.push('-'),
            _ if character.is_ascii_uppercase() => {
                words.push('-');
                words.push(character.to_ascii_lowercase());
            }
            _ => words.push(character),
        }
    }
    words
}
