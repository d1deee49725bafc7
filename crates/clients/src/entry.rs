//! Our entry in a client's list of servers.

use crate::StartKind;

/// Most characters of an entry's name.
const MAX_NAME: usize = 64;

/// A server that a client starts and speaks to over stdio.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    name: String,
    command: String,
    args: Vec<String>,
    keeps_arguments: bool,
}

/// The word in its arguments from which on they are ours; what is before it belongs to a package runner.
const SUBCOMMAND: &str = "mcp";

/// The program's name, and the package's in most registries.
pub(crate) const PACKAGE: &str = "termbridge";
/// The package's name on `PyPI`, where another project has the shorter one.
pub const PYPI_PACKAGE: &str = "termbridge-mcp";

/// Programs that run a package without installing it.
const RUNNERS: [&str; 9] = ["npx", "npm", "pnpm", "yarn", "bunx", "bun", "uvx", "uv", "pipx"];

/// A name that not every client accepts.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} cannot name a server: it takes 1 to {MAX_NAME} letters, digits, `-` and `_`")]
pub struct InvalidName(pub String);

impl Entry {
    /// An entry by name, with the program and its arguments.
    pub fn new(
        name: impl Into<String>,
        command: impl Into<String>,
        args: impl IntoIterator<Item = impl Into<String>>,
    ) -> Result<Self, InvalidName> {
        let name = name.into();
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        if name.is_empty() || name.len() > MAX_NAME || !name.chars().all(is_plain) {
            return Err(InvalidName(name));
        }
        let args = args.into_iter().map(Into::into).collect();
        Ok(Self { name, command: command.into(), args, keeps_arguments: false })
    }

    /// The same, but one of ours that is there already keeps its arguments: whoever chose them knew why.
    #[must_use]
    pub fn keeping_arguments(self) -> Self {
        Self { keeps_arguments: true, ..self }
    }

    /// What is written in place of an entry of ours.
    pub(crate) fn in_place_of(&self, found: &FoundEntry) -> Self {
        let mut entry = self.clone();
        if self.keeps_arguments
            && let (Some(ours), Some(theirs)) = (subcommand(&self.args), subcommand(&found.args))
        {
            entry.args.truncate(ours);
            entry.args.extend_from_slice(&found.args[theirs..]);
        }
        entry
    }

    /// Its key in the client's list.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The program.
    pub fn command(&self) -> &str {
        &self.command
    }

    /// The program's arguments.
    pub fn args(&self) -> &[String] {
        &self.args
    }

    /// Whether an entry that was found in a file is one that this program wrote: it starts `termbridge mcp`, wherever
    /// that is installed or by whatever runs the package, or this very command.
    pub(crate) fn recognizes(&self, found: &FoundEntry) -> bool {
        let is_own = |at: usize| {
            found.command.as_ref() == Some(&self.command)
                && self.args.starts_with(&found.args[..at])
        };
        found.start() != StartKind::Foreign || subcommand(&found.args).is_some_and(is_own)
    }

    pub(crate) fn is_same(&self, found: &FoundEntry) -> bool {
        found.command.as_ref() == Some(&self.command) && found.args == self.args
    }
}

/// Where the subcommand is among arguments.
fn subcommand(args: &[String]) -> Option<usize> {
    args.iter().position(|word| word == SUBCOMMAND)
}

/// What an entry in a file starts.
#[derive(Debug, Default)]
pub(crate) struct FoundEntry {
    pub(crate) command: Option<String>,
    /// Only if they are a list of strings.
    pub(crate) args: Vec<String>,
    /// Only those that are strings.
    pub(crate) env: Vec<(String, String)>,
    /// Of one that starts nothing.
    pub(crate) url: Option<String>,
    /// Only those that are strings.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) is_disabled: bool,
}

impl FoundEntry {
    /// Whether it starts this program, and how.
    pub(crate) fn start(&self) -> StartKind {
        let (Some(command), Some(at)) = (&self.command, subcommand(&self.args)) else {
            return StartKind::Foreign;
        };
        let file = command.rsplit(['/', '\\']).next().unwrap_or_default();
        let file = [".exe", ".cmd"].iter().find_map(|end| file.strip_suffix(end)).unwrap_or(file);
        let is_package = |word: &String| {
            word.split(['@', '='])
                .next()
                .is_some_and(|name| [PACKAGE, PYPI_PACKAGE].contains(&name))
        };
        match self.args[..at].last() {
            None if file == PACKAGE => StartKind::Program,
            Some(last) if RUNNERS.contains(&file) && is_package(last) => StartKind::Runner,
            _ => StartKind::Foreign,
        }
    }
}

/// What was in a file before our entry was added to it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Origin<'a> {
    /// Not known: nothing but the entry is taken out.
    Unknown,
    /// There was no file.
    Absent,
    /// This text.
    Text(&'a str),
}

/// A new text, and how it came about.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Addition {
    /// The entry is there already.
    Same,
    /// It was added.
    Added(String),
    /// Ours was there with another command or other arguments.
    Updated(String),
    /// Someone else's entry was replaced.
    Replaced(String),
}

/// The text without the entry.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Removal {
    /// It is not there.
    NotThere,
    /// The text that is left.
    Text(String),
    /// Only what we made is left: the file can go.
    Nothing,
}

/// Why a text cannot be edited.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// It is broken, or not of the form that the client reads.
    Problem(crate::Problem),
    /// The entry of that name is someone else's.
    Foreign,
    /// The edit would not mean what it should.
    Uneditable,
}

impl From<crate::Problem> for Refusal {
    fn from(problem: crate::Problem) -> Self {
        Self::Problem(problem)
    }
}
