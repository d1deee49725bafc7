//! What a shell would know at a point of the line: directory, variables, functions, input.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::parse::Script;

/// Stands in a text for what cannot be known before the command runs.
pub(crate) const UNKNOWN: char = '\u{f8ff}';
/// Stands in a text for what came from the network or out of a decoder.
pub(crate) const FETCHED: char = '\u{f8fe}';

/// Stands in a value for a sign that a shell has expanded as a pattern: it is one however the
/// variable is quoted.
pub(super) const EXPANDED: char = '\u{f8fd}';

/// Most variables, functions and aliases that are followed; later ones are unknown.
const MAX_NAMES: usize = 64;
/// Most values followed for one variable, as of a loop. With more, it may be anything too.
const MAX_VALUES: usize = 64;
/// Most directories remembered for `cd` commands that may fail.
const MAX_FALLBACKS: usize = 4;

/// One argument after expansion.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Arg {
    pub(crate) text: String,
    /// Holds an unquoted pattern.
    pub(crate) glob: bool,
    /// May become several words, or none: an unquoted value that is not known.
    pub(crate) splits: bool,
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
    /// The text of a value that this becomes, with patterns marked as such.
    pub(super) fn expanded(self) -> String {
        if self.glob { self.text.replace('*', &EXPANDED.to_string()) } else { self.text }
    }

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
    /// The paths that a `find` with these arguments prints.
    Found(Rc<Vec<Arg>>),
}

/// A function being called.
#[derive(Debug, Clone)]
pub(super) struct Call {
    pub(super) name: String,
    /// A fork lies between it and here.
    pub(super) forked: bool,
    /// A condition does.
    pub(super) guarded: bool,
}

/// A function as defined.
#[derive(Debug, Clone)]
pub(super) struct Defined {
    pub(super) body: Rc<Script>,
    /// It was defined whatever happened before.
    pub(super) certain: bool,
}

/// An alias as defined.
#[derive(Debug, Clone)]
pub(super) struct Alias {
    pub(super) text: String,
    /// zsh: it is expanded anywhere in a line.
    pub(super) global: bool,
}

/// The values a variable may have here. Each is a list: arrays have many elements.
pub(super) type Choices = Rc<Vec<Vec<String>>>;

/// Whether values that a line shows are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Values {
    Followed,
    /// Nothing but what stands in the text counts: a trap, a later turn of a loop, a function or a
    /// later line may see another value, another directory and another output than the walk does.
    Unknown,
}

#[derive(Debug, Clone)]
pub(crate) struct State {
    pub(super) followed: Values,
    /// `None` when it cannot be known.
    pub(super) cwd: Option<PathBuf>,
    pub(super) previous: Option<PathBuf>,
    pub(super) home: Rc<Path>,
    pub(super) variables: Rc<HashMap<String, Choices>>,
    pub(super) functions: Rc<HashMap<String, Defined>>,
    pub(super) aliases: Rc<HashMap<String, Alias>>,
    /// `$1` and on; `None` when they cannot be known.
    pub(super) positional: Option<Rc<Vec<String>>>,
    /// `$0`.
    pub(super) program_name: Option<String>,
    pub(super) feed: Feed,
    /// What runs now may not run.
    pub(super) conditional: bool,
    /// A conditional `return` or `exit` came before.
    pub(super) may_have_left: bool,
    /// A failed command ends the shell: `set -e`.
    pub(super) exits_on_error: bool,
    /// Where the shell would be if a `cd` before this failed.
    pub(super) fallbacks: Rc<Vec<PathBuf>>,
    pub(super) calls: Rc<Vec<Call>>,
    /// How the commands here were reached.
    pub(super) via: Rc<Vec<String>>,
}

impl State {
    pub(super) fn new(cwd: &Path, home: &Path, followed: Values) -> Self {
        Self {
            followed,
            cwd: Some(cwd.to_owned()),
            previous: None,
            home: Rc::from(home),
            variables: Rc::default(),
            functions: Rc::default(),
            aliases: Rc::default(),
            positional: Some(Rc::default()),
            program_name: None,
            feed: Feed::Unknown,
            conditional: false,
            may_have_left: false,
            exits_on_error: false,
            fallbacks: Rc::default(),
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
                call.forked = true;
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
        if values.len() > MAX_VALUES {
            values.truncate(MAX_VALUES);
            values.push(vec![UNKNOWN.to_string()]);
        }
        if variables.len() < MAX_NAMES || variables.contains_key(name) {
            variables.insert(name.to_owned(), Rc::new(values));
        }
    }

    pub(super) fn define(&mut self, name: &str, body: &Rc<Script>) {
        if self.functions.len() < MAX_NAMES {
            let defined = Defined { body: body.clone(), certain: !self.conditional };
            Rc::make_mut(&mut self.functions).insert(name.to_owned(), defined);
        }
    }

    pub(super) fn undefine(&mut self, name: &str) {
        Rc::make_mut(&mut self.functions).remove(name);
    }

    pub(super) fn alias(&mut self, name: &str, text: &str, global: bool) {
        if self.aliases.len() < MAX_NAMES {
            let alias = Alias { text: text.to_owned(), global };
            Rc::make_mut(&mut self.aliases).insert(name.to_owned(), alias);
        }
    }

    /// A program of its own: what the shell defined is not known there.
    pub(super) fn outside(mut self) -> Self {
        self.functions = Rc::default();
        self.aliases = Rc::default();
        self
    }

    pub(super) fn fall_back_to(&mut self, directories: Vec<PathBuf>) {
        if directories.is_empty() {
            return;
        }
        let fallbacks = Rc::make_mut(&mut self.fallbacks);
        fallbacks.extend(directories);
        fallbacks.truncate(MAX_FALLBACKS);
    }

    pub(crate) fn fallbacks(&self) -> &[PathBuf] {
        &self.fallbacks
    }

    pub(super) fn forget(&mut self, name: &str) {
        Rc::make_mut(&mut self.variables).remove(name);
    }

    /// The value of a parameter. `None` if it cannot be known.
    pub(super) fn value(&self, name: &str) -> Option<Vec<String>> {
        if self.followed == Values::Unknown {
            return None;
        }
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
            "0" => self.program_name.clone().map(|name| vec![name]),
            "@" | "*" | "argv" => self.positional.as_ref().map(|all| all.to_vec()),
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
            // It may fail, be another command, or go by a variable.
            _ if self.followed == Values::Unknown => None,
            None => Some(self.home.to_path_buf()),
            Some("-") => self.previous.clone(),
            Some(text) if text.contains([UNKNOWN, FETCHED]) => None,
            Some(text) if text.starts_with('/') => Some(PathBuf::from(text)),
            Some(text) => self.cwd.as_ref().map(|cwd| joined(cwd, text)),
        };
        self.previous = std::mem::replace(&mut self.cwd, next);
    }
}

/// A path below a directory with the separator of shells, also where the system's is another.
fn joined(directory: &Path, text: &str) -> PathBuf {
    if cfg!(unix) {
        return directory.join(text);
    }
    let mut path = directory.as_os_str().to_owned();
    path.push("/");
    path.push(text);
    path.into()
}
