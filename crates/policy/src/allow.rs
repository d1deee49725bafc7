//! The allow list: what it names runs, all else is refused.
//!
//! Three kinds of entries: a command (`git status`), a variable that may be set (`RUST_LOG=*`), a
//! file that may be redirected to or from (`> /tmp/*`, `< data/*`). What is in doubt is refused.

use std::path::Path;

use crate::config::ConfigError;
use crate::glob;
use crate::pattern::{self, Pattern, Use};
use crate::place::Place;
use crate::walk::{Arg, UNKNOWN};

/// Where the system keeps its programs: `/usr/bin/git` is `git`, `/tmp/git` is not.
const PROGRAM_DIRECTORIES: &[&str] = &[
    "/bin",
    "/sbin",
    "/usr/bin",
    "/usr/sbin",
    "/usr/local/bin",
    "/usr/local/sbin",
    "/opt/homebrew/bin",
];

/// Commands that do nothing.
const NOTHING: &[&str] = &[":", "true", "false"];

/// Files that keep nothing.
const SINKS: &[&str] = &["/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty"];

#[derive(Debug, Default)]
pub(crate) struct AllowList {
    commands: Vec<Pattern>,
    /// Patterns of names and values.
    variables: Vec<(String, String)>,
    redirections: Vec<(Direction, String)>,
}

/// What a redirection does to its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    Read,
    Append,
    Write,
}

impl AllowList {
    /// Reads the entries. `None` where everything is allowed: no entry, or `*`.
    pub(crate) fn new(entries: &[String]) -> Result<Option<Self>, ConfigError> {
        if entries.is_empty() || entries.iter().any(|entry| entry.trim() == "*") {
            return Ok(None);
        }
        let mut list = Self::default();
        for entry in entries {
            let text = entry.trim();
            if let Some((direction, path)) = redirection(text) {
                list.redirections.push((direction, path.to_owned()));
            } else if let Some((name, value)) = variable(text) {
                list.variables.push((name.to_owned(), value.to_owned()));
            } else {
                list.commands.push(Pattern::new(entry)?);
            }
        }
        Ok(Some(list))
    }

    pub(crate) fn command(&self, args: &[Arg], cwd: Option<&Path>, home: &Path) -> bool {
        args.first().is_some_and(|program| NOTHING.contains(&program.text.as_str()))
            || self.commands.iter().any(|rule| rule.matches(args, cwd, home, Use::Allow))
    }

    /// Whether a variable may be set; a value that is not given may be any.
    pub(crate) fn variable(&self, name: &str, value: Option<&str>) -> bool {
        self.variables.iter().any(|(names, values)| {
            glob::matches(names, name)
                && (values == "*"
                    || value.is_some_and(|value| {
                        !value.contains(UNKNOWN) && glob::matches(values, value)
                    }))
        })
    }

    pub(crate) fn redirection(
        &self,
        direction: Direction,
        target: &Arg,
        cwd: Option<&Path>,
        home: &Path,
    ) -> bool {
        SINKS.contains(&target.text.as_str())
            || target.feed.is_some()
            || self.redirections.iter().any(|(allowed, path)| {
                let covers = *allowed == direction
                    || (*allowed == Direction::Write && direction == Direction::Append);
                covers && pattern::operand_allowed(path, target, cwd, home)
            })
    }
}

fn redirection(text: &str) -> Option<(Direction, &str)> {
    let operators = [(">>", Direction::Append), (">", Direction::Write), ("<", Direction::Read)];
    operators.into_iter().find_map(|(operator, direction)| {
        let path = text.strip_prefix(operator)?.trim_start();
        let plain = !path.is_empty() && !path.contains(char::is_whitespace);
        plain.then_some((direction, path))
    })
}

fn variable(text: &str) -> Option<(&str, &str)> {
    let (name, value) = text.split_once('=')?;
    let is_name = |sign: char| sign == '_' || sign.is_ascii_alphanumeric() || "*?".contains(sign);
    let plain =
        !name.is_empty() && name.chars().all(is_name) && !value.contains(char::is_whitespace);
    plain.then_some((name, value))
}

/// Whether a program is the system's own: found by its name, or in a directory of the system.
pub(crate) fn is_system_program(program: &Arg) -> bool {
    if !program.text.contains('/') {
        return true;
    }
    let absolute = program.text.starts_with('/') && !program.glob;
    let path = Place::of(program, None).map(|place| place.path()).unwrap_or_default();
    let directory = path.rsplit_once('/').map_or("", |(directory, _)| directory);
    absolute && PROGRAM_DIRECTORIES.contains(&directory)
}

/// Whether a shell has made a variable of that name a number: what it is set to is evaluated.
pub(crate) fn is_arithmetic(name: &str) -> bool {
    const NAMES: &[&str] = &[
        "RANDOM",
        "SRANDOM",
        "SECONDS",
        "OPTIND",
        "LINENO",
        "HISTCMD",
        "HISTSIZE",
        "SAVEHIST",
        "COLUMNS",
        "LINES",
        "KEYTIMEOUT",
        "LISTMAX",
        "MAILCHECK",
        "TMOUT",
        "DIRSTACKSIZE",
        "FUNCNEST",
        "SHLVL",
        "UID",
        "GID",
        "EUID",
        "EGID",
        "ERRNO",
        "BAUD",
        "LOGCHECK",
        "PERIOD",
        "TTYIDLE",
        "TRY_BLOCK_ERROR",
        "PPID",
        "BASHPID",
        "EPOCHSECONDS",
    ];
    NAMES.contains(&name)
}

/// Whether a variable of that name makes a shell or a usual program run something, or find its
/// programs elsewhere.
pub(crate) fn steers_programs(name: &str) -> bool {
    const NAMES: &[&str] = &[
        "PATH",
        "ENV",
        "IFS",
        "CDPATH",
        "FPATH",
        "SHELL",
        "SHELLOPTS",
        "BASHOPTS",
        "ZDOTDIR",
        "BROWSER",
        "CC",
        "CXX",
        "LD",
        "MAKE",
        "RUSTC",
        "HOME",
        "TERMINFO",
        "OLDPWD",
        "NULLCMD",
        "READNULLCMD",
        "SPROMPT",
        "HISTFILE",
        "HISTCHARS",
        "histchars",
        "INPUTRC",
        "FCEDIT",
        "POSIXLY_CORRECT",
        "fish_user_paths",
        // zsh: what is written to these is what a name runs.
        "functions",
        "dis_functions",
        "aliases",
        "galiases",
        "saliases",
        "dis_aliases",
        "dis_galiases",
        "dis_saliases",
        "commands",
        "builtins",
        "options",
        "prompt",
        "nameddirs",
    ];
    const PREFIXES: &[&str] = &[
        "LD_", "DYLD_", "PS", "RPS", "PROMPT", "RPROMPT", "BASH_", "GIT_", "LESS", "PERL5", "RUBY",
        "PYTHON", "NODE_", "npm_",
    ];
    const SUFFIXES: &[&str] = &[
        "PATH",
        "path",
        "_functions",
        "EDITOR",
        "VISUAL",
        "PAGER",
        "COMMAND",
        "ASKPASS",
        "OPTIONS",
        "OPTS",
        "FLAGS",
        "WRAPPER",
        "_SHELL",
    ];
    NAMES.contains(&name)
        || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        || SUFFIXES.iter().any(|suffix| name.ends_with(suffix))
}
