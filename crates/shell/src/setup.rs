//! The directory and the variables of one command.
//!
//! They come with the command, behind its nonce, as a line of shell that calls two functions of the scripts:
//! `__termbridge_enter` and `__termbridge_export`. The script runs that line before the command and reverts it at the
//! command's end, so the text of the command itself is never changed.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Shell;

/// Separates the parts of a message to fish. A command that begins with it is sent with an empty setup.
const FISH_MARKER: char = '\u{1}';

/// How the names of the scripts begin.
const OWN_PREFIX: &str = "__termbridge";

/// Variables by which a shell itself works: its hooks, its limits, its user.
const OWN_VARIABLES: [(Shell, &[&str]); 2] = [
    (
        Shell::Bash,
        &["PS0", "PROMPT_COMMAND", "FUNCNEST", "UID", "EUID", "PPID", "SHELLOPTS", "BASHOPTS"],
    ),
    (Shell::Zsh, &["UID", "EUID", "GID", "EGID", "USERNAME", "FUNCNEST"]),
];

/// The directory and variables of a command that are not its shell's.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CommandSetup {
    /// The absolute path of its directory; the shell's own by default.
    pub cwd: Option<String>,
    /// The shell stays in that directory. Otherwise it returns at the command's end, unless the command changed
    /// directory itself.
    pub stays: bool,
    /// Variables. The shell gets its own back at the command's end.
    pub env: BTreeMap<String, String>,
}

impl CommandSetup {
    /// Whether every shell can set a variable of this name. Names of the scripts are theirs.
    pub fn is_variable_name(name: &str) -> bool {
        let mut characters = name.chars();
        let is_first = |c: char| c.is_ascii_alphabetic() || c == '_';
        !name.starts_with(OWN_PREFIX)
            && characters.next().is_some_and(is_first)
            && characters.all(|c| is_first(c) || c.is_ascii_digit())
    }

    /// The first variable that a command in this shell cannot have.
    pub fn refused_variable(&self, shell: Shell) -> Option<&str> {
        self.env.keys().map(String::as_str).find(|name| !shell.takes_variable(name))
    }

    /// The line that the scripts run before the command; empty when there is nothing to do.
    fn line(&self, shell: Shell) -> String {
        let enter = match shell {
            _ if !self.stays => "__termbridge_enter",
            Shell::Posix => r"\command cd --",
            Shell::Bash | Shell::Zsh => r"\builtin cd --",
            Shell::Fish => "builtin cd --",
        };
        let cwd = self.cwd.iter().map(|cwd| format!("{enter} {}", shell.quoted(cwd)));
        let env = self.env.iter().map(|(name, value)| match shell.takes_variable(name) {
            true => format!("__termbridge_export {name} {}", shell.quoted(value)),
            // The name would become shell text: the command does not run.
            false => "false".to_owned(),
        });
        cwd.chain(env).collect::<Vec<_>>().join(" && ")
    }
}

impl Shell {
    /// Whether a command can have a variable of this name while the shell keeps working.
    fn takes_variable(self, name: &str) -> bool {
        let is_own = |(shell, names): &(Self, &[&str])| *shell == self && names.contains(&name);
        CommandSetup::is_variable_name(name) && !OWN_VARIABLES.iter().any(is_own)
    }

    /// What goes through the pipe for a command; `nonce` has [`NONCE_LENGTH`](crate::NONCE_LENGTH) characters.
    pub fn message(self, text: &str, nonce: &str, setup: &CommandSetup) -> Vec<u8> {
        let line = setup.line(self);
        match self {
            Self::Bash | Self::Zsh => format!("{text}\0{nonce}{line}\0").into_bytes(),
            // It reads ahead, so all has to be one piece.
            Self::Fish if line.is_empty() && !text.starts_with(FISH_MARKER) => {
                format!("{nonce}{text}\0").into_bytes()
            }
            Self::Fish => format!("{nonce}{FISH_MARKER}{line}{FISH_MARKER}{text}\0").into_bytes(),
            // Two lines, for `read -r` and printf's `%b`.
            Self::Posix => format!("{}\n{nonce}{}\n", escaped(text), escaped(&line)).into_bytes(),
        }
    }

    fn quoted(self, text: &str) -> String {
        match self {
            Self::Fish => {
                let text = text.replace('\\', r"\\").replace('\'', r"\'");
                format!("'{}'", text.replace(FISH_MARKER, r"'\x01'"))
            }
            _ => quoted(text),
        }
    }
}

/// A word of a POSIX shell.
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// The text as a line that printf's `%b` decodes.
fn escaped(text: &str) -> String {
    text.replace('\\', r"\\").replace('\n', r"\n").replace('\r', r"\r")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(shell: Shell, text: &str, setup: &CommandSetup) -> String {
        String::from_utf8(shell.message(text, "nonce", setup)).expect("text")
    }

    #[test]
    fn a_setup_comes_behind_the_nonce_and_never_in_the_command() {
        let env = BTreeMap::from([("A".to_owned(), "it's\n\\".to_owned())]);
        let setup = CommandSetup { cwd: Some("/a b".into()), stays: false, env };
        assert_eq!(
            message(Shell::Bash, "ls", &setup),
            "ls\0nonce__termbridge_enter '/a b' && __termbridge_export A 'it'\\''s\n\\'\0"
        );
        assert_eq!(
            message(Shell::Posix, "ls", &setup),
            "ls\nnonce__termbridge_enter '/a b' && __termbridge_export A 'it'\\\\''s\\n\\\\'\n"
        );
        assert_eq!(
            message(Shell::Fish, "ls", &setup),
            "nonce\u{1}__termbridge_enter '/a b' && __termbridge_export A 'it\\'s\n\\\\'\u{1}ls\0"
        );
        let none = CommandSetup::default();
        assert_eq!(message(Shell::Zsh, "ls", &none), "ls\0nonce\0");
        assert_eq!(message(Shell::Fish, "ls", &none), "noncels\0");
    }

    #[test]
    fn a_command_cannot_pass_for_a_setup() {
        let none = CommandSetup::default();
        let forged = "\u{1}rm -rf ~\u{1}ls";
        assert_eq!(message(Shell::Fish, forged, &none), format!("nonce\u{1}\u{1}{forged}\0"));
        let env = BTreeMap::from([("A".to_owned(), "x\u{1}y".to_owned())]);
        let setup = CommandSetup { env, ..CommandSetup::default() };
        let marks = message(Shell::Fish, "ls", &setup).matches('\u{1}').count();
        assert_eq!(marks, 2, "a value has none");
    }

    #[test]
    fn names_are_those_of_all_shells() {
        for (name, is_one) in
            [("A", true), ("_a1", true), ("1a", false), ("", false), ("a-b", false), ("ä", false)]
        {
            assert_eq!(CommandSetup::is_variable_name(name), is_one, "{name:?}");
        }
    }

    #[test]
    fn variables_of_the_shell_and_of_the_scripts_are_refused() {
        let refused = |shell, name: &str| {
            let env = BTreeMap::from([(name.to_owned(), "1".to_owned())]);
            let setup = CommandSetup { env, ..CommandSetup::default() };
            let line = setup.line(shell);
            assert_eq!(line == "false", !line.contains(name), "{line}");
            setup.refused_variable(shell).is_some()
        };
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish, Shell::Posix] {
            assert!(refused(shell, "__termbridge_undo"), "{shell:?}");
            assert!(!refused(shell, "PATH"), "{shell:?}");
        }
        assert!(refused(Shell::Bash, "PROMPT_COMMAND") && !refused(Shell::Zsh, "PROMPT_COMMAND"));
        assert!(refused(Shell::Zsh, "GID") && !refused(Shell::Bash, "GID"));
    }
}
