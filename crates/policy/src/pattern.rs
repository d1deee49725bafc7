//! Rules as people write them: a command with the words that matter.

use std::path::Path;

use crate::allow::is_system_program;
use crate::config::ConfigError;
use crate::dialect::Grammar;
use crate::glob;
use crate::parse::{self, Command, Piece};
use crate::place::Place;
use crate::rules::Options;
use crate::walk::{Arg, UNKNOWN, base_name};

/// A rule on simple commands, written as one: `git push --force`, `rm -rf /var/*`.
///
/// - The first word is the program. Without a slash it is compared with the program's file name,
///   so `rm` is also `/bin/rm`; with one, with the path as written. A denied `mkfs` is also `mkfs.ext4`. In an
///   allow list `git` is the system's: `./git` and `/tmp/git` are other programs.
/// - `-abc`: each of these short options must be present, in any order and grouping. `--name`: that
///   option, with or without a value; `--name=value` compares the value. `-r`, `-R` and `--recursive`
///   are one option, so are `-f` and `--force`.
/// - A plain word (`push`) is a subcommand: plain words must be the first words of the command that
///   are not options, in that order. A word right after an option may be its value and is skipped
///   if need be, so a denied `git push` is also `git -C dir push`. An allow rule does so only for
///   options that it names: `git -C status` allows `git -C dir status`.
/// - A word with `/`, `~`, `.`, `=` or a pattern sign is compared with every word of the command
///   that is not an option, as written and as the absolute path it leads to. If it ends with `=`, it matches
///   every value: `dd if=` is every `dd` with an `if=`.
/// - `*` matches anything, slashes too; `?` and `[…]` one character.
/// - A command may have more words than the rule. In an allow list, when the rule has words of the
///   last kind, each remaining word of the command must match one of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    source: String,
    program: String,
    short: Vec<char>,
    long: Vec<(String, Option<String>)>,
    subcommands: Vec<String>,
    operands: Vec<String>,
}

/// What a pattern is for: an allow rule must account for every operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    Deny,
    Allow,
}

impl Pattern {
    /// Reads a rule.
    pub fn new(source: &str) -> Result<Self, ConfigError> {
        let problem = |problem| ConfigError::Rule { rule: source.to_owned(), problem };
        let words = words(source).map_err(problem)?;
        let mut words = words.into_iter();
        let program = words.next().unwrap_or_default();
        if program.is_empty() {
            return Err(problem("it names no program"));
        }
        let mut pattern = Self {
            source: source.to_owned(),
            program,
            short: Vec::new(),
            long: Vec::new(),
            subcommands: Vec::new(),
            operands: Vec::new(),
        };
        for word in words {
            if let Some(long) = word.strip_prefix("--").filter(|long| !long.is_empty()) {
                let (name, value) = match long.split_once('=') {
                    Some((name, value)) => {
                        (name, Some(value.to_owned()).filter(|value| !value.is_empty()))
                    }
                    None => (long, None),
                };
                pattern.long.push((name.to_owned(), value));
            } else if let Some(letters) = word.strip_prefix('-').filter(|rest| !rest.is_empty()) {
                pattern.short.extend(letters.chars());
            } else if word.contains(['/', '~', '.', '=', '*', '?', '[']) {
                pattern.operands.push(word);
            } else {
                pattern.subcommands.push(word);
            }
        }
        Ok(pattern)
    }

    /// The rule as written.
    pub fn source(&self) -> &str {
        &self.source
    }

    pub(crate) fn matches(
        &self,
        args: &[Arg],
        cwd: Option<&Path>,
        home: &Path,
        usage: Use,
    ) -> bool {
        let Some(program) = args.first() else { return false };
        if usage == Use::Allow && !self.allows_program(program, cwd) {
            return false;
        }
        let name = if self.program.contains('/') { &program.text } else { base_name(args) };
        let glob_names = usage == Use::Deny && program.glob && glob::matches(name, &self.program);
        let leads_there = self.program.starts_with('/')
            && Place::of(program, cwd)
                .is_some_and(|place| glob::matches(&self.program, &place.path()));
        let is_variant = usage == Use::Deny
            && name.strip_prefix(&self.program).is_some_and(|rest| rest.starts_with('.'));
        if !(glob::matches(&self.program, name) || glob_names || leads_there || is_variant) {
            return false;
        }
        let rest = &args[1..];
        let options = Options::of(rest);
        self.short.iter().all(|letter| options.has(*letter, synonym(*letter)))
            && self.long.iter().all(|(name, value)| long_option(&options, name, value.as_deref()))
            && self.rest_matches(rest, cwd, home, usage)
    }

    /// Whether the rule means this very program: one named without a slash is the system's, and a
    /// path is where it leads.
    fn allows_program(&self, program: &Arg, cwd: Option<&Path>) -> bool {
        if !self.program.contains('/') {
            return is_system_program(program);
        }
        let path = Place::of(program, cwd).map(|place| place.path());
        !self.program.starts_with('/')
            || path.is_some_and(|path| glob::matches(&self.program, &path))
    }

    fn rest_matches(&self, rest: &[Arg], cwd: Option<&Path>, home: &Path, usage: Use) -> bool {
        let mut wanted = self.subcommands.iter().peekable();
        let mut remaining = Vec::new();
        let mut after_option = false;
        let mut options_ended = false;
        let mut named = false;
        for arg in rest {
            if !options_ended && arg.text.starts_with('-') && arg.text.len() > 1 {
                options_ended = arg.text == "--";
                named = self.names_option(arg.text.split('=').next().unwrap_or_default());
                // What an option that a permission does not name makes of the command is not known.
                let has_value = arg.text.contains('=') && (usage == Use::Deny || named);
                after_option = !options_ended && !has_value;
                continue;
            }
            // Whether the word is the value of the option before it cannot be known. A denial takes
            // the reading that hits, a permission neither.
            let may_be_value = after_option && (usage == Use::Deny || named);
            let may_be_word = !after_option || may_be_value;
            match wanted.peek() {
                Some(word) if may_be_word && **word == arg.text => {
                    wanted.next();
                }
                Some(_) if !may_be_value => return false,
                _ => remaining.push(arg),
            }
            after_option = false;
        }
        if wanted.peek().is_some() {
            return false;
        }
        let operand_matches =
            |pattern: &String, arg: &Arg| operand_matches(pattern, arg, cwd, home);
        match usage {
            Use::Deny => self
                .operands
                .iter()
                .all(|pattern| remaining.iter().any(|arg| operand_matches(pattern, arg))),
            Use::Allow => {
                self.operands.is_empty()
                    || remaining.iter().all(|arg| {
                        self.operands.iter().any(|pattern| operand_allowed(pattern, arg, cwd, home))
                    })
            }
        }
    }

    fn names_option(&self, given: &str) -> bool {
        match given.strip_prefix("--") {
            Some(long) => self.long.iter().any(|(name, _)| name == long),
            None => given.chars().skip(1).all(|letter| self.short.contains(&letter)),
        }
    }
}

/// The same for a permission: `src/*` does not name `src/../../secret`.
pub(crate) fn operand_allowed(pattern: &str, arg: &Arg, cwd: Option<&Path>, home: &Path) -> bool {
    let climbs = |text: &str| text.split('/').any(|part| part == "..");
    let by_path = pattern == "*" || pattern.starts_with(['/', '~']) || climbs(pattern);
    (by_path || !climbs(&arg.text)) && operand_matches(pattern, arg, cwd, home)
}

pub(crate) fn operand_matches(pattern: &str, arg: &Arg, cwd: Option<&Path>, home: &Path) -> bool {
    if pattern == "*" || (pattern.ends_with('=') && arg.text.starts_with(pattern)) {
        return true;
    }
    if arg.text.contains(UNKNOWN) {
        return false;
    }
    let expanded = match pattern.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => {
            format!("{}{rest}", home.to_string_lossy())
        }
        _ => pattern.to_owned(),
    };
    // As a path only by where it leads, so that `/tmp/../etc` is not below `/tmp`.
    let path = Place::of(arg, cwd).map(|place| place.path());
    let is_path = expanded.starts_with('/');
    (!is_path && glob::matches(&expanded, &arg.text))
        || path.is_some_and(|path| glob::matches(&expanded, &path))
}

fn synonym(letter: char) -> &'static str {
    match letter {
        'r' | 'R' => "recursive",
        'f' => "force",
        _ => "",
    }
}

fn long_option(options: &Options<'_>, name: &str, value: Option<&str>) -> bool {
    let letter = match (name, value) {
        ("recursive", None) => Some('r'),
        ("force", None) => Some('f'),
        _ => None,
    };
    letter.is_some_and(|letter| options.has(letter, ""))
        || options.long.iter().any(|given| {
            let (given, given_value) = given.split_once('=').unwrap_or((given, ""));
            given == name && value.is_none_or(|value| glob::matches(value, given_value))
        })
}

/// The words of a rule, unquoted.
fn words(source: &str) -> Result<Vec<String>, &'static str> {
    let reading = parse::parse(source, 0, Grammar::Bash);
    let one = "write one command of plain words, without `;`, `|`, `$` or redirections";
    let ([item], None) = (reading.script.items.as_slice(), reading.error) else { return Err(one) };
    let [Command::Simple(simple)] = item.stages.as_slice() else { return Err(one) };
    if !simple.assignments.is_empty() || !simple.redirects.is_empty() || item.background {
        return Err(one);
    }
    let literal = |piece: &Piece| match piece {
        Piece::Literal { text, .. } => Some(text.clone()),
        _ => None,
    };
    simple
        .words
        .iter()
        .map(|word| word.pieces.iter().map(literal).collect::<Option<String>>().ok_or(one))
        .collect()
}

#[cfg(test)]
mod tests;
