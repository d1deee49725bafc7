//! What a session is started with.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use termbridge_pty::{PtySize, SpawnSpec};
use termbridge_shell::{Shell, StartUpFiles};
use termbridge_vt::Size;

use crate::id::SessionId;
use crate::owner::Owner;
use crate::settings::SessionLimits;

/// A program to launch on a terminal of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    pub(crate) program: OsString,
    pub(crate) args: Vec<OsString>,
    pub(crate) env: Vec<(OsString, OsString)>,
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) size: Size,
    pub(crate) name: Option<String>,
    pub(crate) owner: Owner,
    pub(crate) project: Option<String>,
    pub(crate) shell: Option<Shell>,
    pub(crate) keep_history: bool,
    pub(crate) start_limit: Duration,
    pub(crate) start_up_files: StartUpFiles,
    /// `env` stands beside the variables of `base`; otherwise it is all there is.
    pub(crate) inherits: bool,
    /// What is inherited: the server's variables, where it is `None`.
    pub(crate) base: Option<Arc<BTreeMap<OsString, OsString>>>,
    pub(crate) limits: SessionLimits,
}

/// How long a shell may take to its first prompt.
const START_LIMIT: Duration = Duration::from_secs(10);

/// Variables that describe the terminal and the directory the server itself was started in. A program that believed
/// them would talk to that terminal, or list that directory.
const OF_SERVER: [&str; 14] = [
    "PWD",
    "OLDPWD",
    "TMUX",
    "TMUX_PANE",
    "STY",
    "WINDOWID",
    "TERM_PROGRAM",
    "TERM_PROGRAM_VERSION",
    "VTE_VERSION",
    "KITTY_WINDOW_ID",
    "WEZTERM_PANE",
    "LINES",
    "COLUMNS",
    "TERMCAP",
];

impl Launch {
    /// A program by name or path, without arguments, 80×24.
    pub fn new(program: impl Into<OsString>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            env: Vec::new(),
            cwd: None,
            size: Size { cols: 80, rows: 24 },
            name: None,
            owner: Owner::default(),
            project: None,
            shell: None,
            keep_history: false,
            start_limit: START_LIMIT,
            start_up_files: StartUpFiles::Read,
            inherits: true,
            base: None,
            limits: SessionLimits::default(),
        }
    }

    /// A shell whose commands are told apart: see [`crate::Session::execute`].
    pub fn shell(program: impl Into<OsString>) -> Self {
        let mut launch = Self::new(program).size(120, 40);
        launch.shell = Some(Shell::of(&launch.program.to_string_lossy()));
        launch
    }

    /// Whether commands go into the shell's history as if a person had typed them. By default they do
    /// not, and the shell neither reads nor writes its history file.
    pub fn keep_history(mut self, keep: bool) -> Self {
        self.keep_history = keep;
        self
    }

    /// How long a command waits for the shell's first prompt; 10 seconds by default.
    pub fn start_limit(mut self, limit: Duration) -> Self {
        self.start_limit = limit;
        self
    }

    /// Adds an argument.
    pub fn arg(mut self, arg: impl Into<OsString>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// Adds arguments.
    pub fn args<A: Into<OsString>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Starts from these variables instead of those the server has; what is set by [`Launch::env`] stands beside them.
    pub fn base_environment(mut self, base: Arc<BTreeMap<OsString, OsString>>) -> Self {
        self.base = Some(base);
        self
    }

    /// Sets a variable beside those the server has.
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }

    /// Sets the working directory; the server's own by default.
    pub fn cwd(mut self, cwd: impl Into<PathBuf>) -> Self {
        self.cwd = Some(cwd.into());
        self
    }

    /// Makes the working directory, where it is not absolute, one below `base`; without one it is `base`.
    pub fn relative_to(mut self, base: &Path) -> Self {
        self.cwd = Some(base.join(self.cwd.unwrap_or_default()));
        self
    }

    /// Sets the terminal's size.
    pub fn size(mut self, cols: u16, rows: u16) -> Self {
        self.size = Size { cols, rows }.clamped();
        self
    }

    /// Names the session for people.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Says whose session it is.
    pub fn owner(mut self, owner: Owner) -> Self {
        self.owner = owner;
        self
    }

    /// Holds the session to limits beside the server's.
    pub fn limits(mut self, limits: SessionLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Says which project it belongs to.
    pub fn project(mut self, project: impl Into<String>) -> Self {
        self.project = Some(project.into());
        self
    }

    /// Whose session it is to be.
    pub fn owned_by(&self) -> &Owner {
        &self.owner
    }

    /// Its name for people.
    pub fn named(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The terminal's size.
    pub fn terminal_size(&self) -> Size {
        self.size
    }

    /// The command as a person would type it.
    pub fn command_line(&self) -> String {
        let words = std::iter::once(&self.program).chain(&self.args);
        words.map(|word| quoted(&word.to_string_lossy())).collect::<Vec<_>>().join(" ")
    }

    /// The program and its arguments, as text.
    pub fn words(&self) -> Vec<Cow<'_, str>> {
        std::iter::once(&self.program)
            .chain(&self.args)
            .map(|word| word.to_string_lossy())
            .collect()
    }

    /// The variables that are set beside those the server has.
    pub fn variables(&self) -> impl Iterator<Item = (Cow<'_, str>, Cow<'_, str>)> {
        self.env.iter().map(|(name, value)| (name.to_string_lossy(), value.to_string_lossy()))
    }

    /// The directory the program starts in.
    pub fn directory(&self) -> PathBuf {
        let own = || std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
        match &self.cwd {
            Some(cwd) if cwd.is_absolute() => cwd.clone(),
            Some(cwd) => own().join(cwd),
            None => own(),
        }
    }

    pub(crate) fn spec(&self, id: &SessionId, size: Size) -> SpawnSpec {
        let inherited: Vec<(OsString, OsString)> = match (&self.base, self.inherits) {
            (_, false) => Vec::new(),
            (None, true) => std::env::vars_os().collect(),
            (Some(base), true) => {
                base.iter().map(|(name, value)| (name.clone(), value.clone())).collect()
            }
        };
        let inherited =
            inherited.into_iter().filter(|(name, _)| !OF_SERVER.iter().any(|own| name == own));
        let terminal = [("TERM", "xterm-256color"), ("COLORTERM", "truecolor")];
        let terminal = terminal.map(|(name, value)| (name.into(), value.into()));
        let cwd = self.directory();
        // A path with `..` is none that programs accept: they ask the system then.
        let is_plain = !cwd.components().any(|part| part == Component::ParentDir);
        let pwd = is_plain.then(|| ("PWD".into(), cwd.components().collect::<PathBuf>().into()));
        // The last of those with one name counts.
        let env: BTreeMap<OsString, OsString> =
            inherited.chain(terminal).chain(pwd).chain(self.env.iter().cloned()).collect();
        SpawnSpec {
            program: self.program.clone(),
            args: self.args.clone(),
            env: env.into_iter().collect(),
            cwd,
            size: PtySize { cols: size.cols, rows: size.rows },
            label: id.to_string(),
            private_folder: None,
            journal: None,
            command_pipe: None,
        }
    }
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./=:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pwd_of(launch: &Launch) -> [Option<OsString>; 2] {
        let spec = launch.spec(&SessionId::from_text("id"), launch.size);
        ["PWD", "OLDPWD"].map(|name| {
            let found = spec.env.iter().find(|(variable, _)| variable == name);
            found.map(|(_, value)| value.clone())
        })
    }

    #[test]
    fn a_program_is_told_the_directory_that_it_starts_in() {
        let of_server = ["PWD", "OLDPWD"].map(|name| (name.into(), "/of/the/server".into()));
        let launch = Launch::new("ls").base_environment(Arc::new(of_server.into()));
        assert_eq!(pwd_of(&launch.clone().cwd("/usr/./lib/")), [Some("/usr/lib".into()), None]);
        assert_eq!(pwd_of(&launch.clone().cwd("/usr/../etc")), [None, None]);
        let own = std::env::current_dir().expect("a directory");
        assert_eq!(pwd_of(&launch), [Some(own.into()), None]);
        let set = launch.cwd("/usr").env("PWD", "/asked");
        assert_eq!(pwd_of(&set), [Some("/asked".into()), None]);
    }
}
