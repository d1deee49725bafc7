//! What a shell would know at a point of the line: directory, variables, functions, input.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::parse::Script;

/// Stands in a text for what cannot be known before the command runs.
pub(crate) const UNKNOWN: char = '\u{f8ff}';
/// Stands in a text for what came from the network or out of a decoder.
pub(crate) const FETCHED: char = '\u{f8fe}';

/// Most variables and functions that are followed; later ones are unknown.
pub(super) const MAX_NAMES: usize = 64;
/// Most values followed for one variable, as of a loop.
const MAX_VALUES: usize = 16;

/// One argument after expansion.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Arg {
    pub(crate) text: String,
    /// Holds an unquoted pattern.
    pub(crate) glob: bool,
    /// What a process substitution in its place would give to read.
    pub(crate) feed: Option<Feed>,
}

impl Feed {
    pub(super) fn text(text: impl Into<Rc<str>>) -> Self {
        Self::Text(text.into())
    }

    pub(super) fn empty() -> Self {
        Self::text("")
    }
}

impl Arg {
    pub(crate) fn literal(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }
}

/// What a command has to read, or wrote.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum Feed {
    #[default]
    Unknown,
    Text(Rc<str>),
    /// From the network, or out of a decoder.
    Fetched,
}

/// The values a variable may have here. Each is a list: arrays have many elements.
pub(super) type Values = Rc<Vec<Vec<String>>>;

#[derive(Debug, Clone)]
pub(crate) struct State {
    /// `None` when it cannot be known.
    pub(super) cwd: Option<PathBuf>,
    pub(super) previous: Option<PathBuf>,
    pub(super) home: Rc<Path>,
    pub(super) variables: Rc<HashMap<String, Values>>,
    pub(super) functions: Rc<HashMap<String, Rc<Script>>>,
    /// `$1` and on; `None` when they cannot be known.
    pub(super) positional: Option<Rc<Vec<String>>>,
    pub(super) feed: Feed,
    /// What runs now may not run.
    pub(super) conditional: bool,
    /// The functions being called, each with whether a fork lies between it and here.
    pub(super) calls: Rc<Vec<(String, bool)>>,
    /// How the commands here were reached.
    pub(super) via: Rc<Vec<String>>,
}

impl State {
    pub(super) fn new(cwd: &Path, home: &Path) -> Self {
        Self {
            cwd: Some(cwd.to_owned()),
            previous: None,
            home: Rc::from(home),
            variables: Rc::default(),
            functions: Rc::default(),
            positional: Some(Rc::default()),
            feed: Feed::Unknown,
            conditional: false,
            calls: Rc::default(),
            via: Rc::default(),
        }
    }

    pub(crate) fn cwd(&self) -> Option<&Path> {
        self.cwd.as_deref()
    }

    pub(crate) fn home(&self) -> &Path {
        &self.home
    }

    pub(super) fn reached(&self, how: impl Into<String>) -> Self {
        let mut state = self.clone();
        Rc::make_mut(&mut state.via).push(how.into());
        state
    }

    /// A process of its own: a function called again from here multiplies.
    pub(super) fn forked(&self) -> Self {
        let mut state = self.clone();
        if !state.calls.is_empty() {
            for call in Rc::make_mut(&mut state.calls) {
                call.1 = true;
            }
        }
        state
    }

    pub(super) fn assign(&mut self, name: &str, value: Vec<String>) {
        self.assign_any(name, vec![value]);
    }

    pub(super) fn assign_any(&mut self, name: &str, mut values: Vec<Vec<String>>) {
        let variables = Rc::make_mut(&mut self.variables);
        if self.conditional
            && let Some(old) = variables.get(name)
        {
            let kept: Vec<_> = old.iter().filter(|old| !values.contains(old)).cloned().collect();
            values.extend(kept);
        }
        values.truncate(MAX_VALUES);
        if variables.len() < MAX_NAMES || variables.contains_key(name) {
            variables.insert(name.to_owned(), Rc::new(values));
        }
    }

    pub(super) fn forget(&mut self, name: &str) {
        Rc::make_mut(&mut self.variables).remove(name);
    }

    /// The value of a parameter. `None` if it cannot be known.
    pub(super) fn value(&self, name: &str) -> Option<Vec<String>> {
        if let Some(values) = self.variables.get(name) {
            return values.first().cloned();
        }
        let path = |path: &Option<PathBuf>| Some(vec![path.as_ref()?.to_str()?.to_owned()]);
        match name {
            "HOME" => Some(vec![self.home.to_str()?.to_owned()]),
            "PWD" => path(&self.cwd),
            "OLDPWD" => path(&self.previous),
            "IFS" => Some(vec![" ".to_owned()]),
            "SHELL" | "BASH" => Some(vec!["/bin/sh".to_owned()]),
            "@" | "*" => self.positional.as_ref().map(|all| all.to_vec()),
            _ => {
                let index: usize = name.parse().ok()?;
                let index = index.checked_sub(1)?;
                let all = self.positional.as_ref()?;
                Some(vec![all.get(index).cloned().unwrap_or_default()])
            }
        }
    }

    /// Follows `cd`. An unknown target makes the directory unknown.
    pub(super) fn change_directory(&mut self, target: Option<&str>) {
        let next = match target {
            None => Some(self.home.to_path_buf()),
            Some("-") => self.previous.clone(),
            Some(text) if text.contains([UNKNOWN, FETCHED]) => None,
            Some(text) if text.starts_with('/') => Some(PathBuf::from(text)),
            Some(text) => self.cwd.as_ref().map(|cwd| cwd.join(text)),
        };
        self.previous = std::mem::replace(&mut self.cwd, next);
    }
}
