//! Which shell it is, and what it is started with so that it marks its commands.
//!
//! The user's own start-up files are still read, and none of them is touched: bash gets `--rcfile`,
//! zsh a `ZDOTDIR` of ours that reads theirs, fish `--init-command`, any other POSIX shell `ENV`.
//!
//! Marks (OSC 633, as VS Code's): `A` prompt begins, `B` prompt ended, `E` a line is about
//! to run (what comes until `C` is of hooks), `C` output begins, `F` the shell
//! asks for the rest of an unfinished command, `D;STATUS;NONCE` command ended. The nonce comes through
//! the named pipe with the command and changes with every command. After that mark the shell reads its
//! pipe until it is answered ([`Shell::answer`]): the kernel shows that it waits there, so a mark that
//! another process printed is not believed, whatever it knows. A `D` without nonce stands in every
//! prompt, for a command that took the hooks away. All other marks end in a key ([`mark_key`]), in place of the nonce.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::path::Path;

use crate::setup::quoted;

/// A shell whose commands can be told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Shell {
    /// GNU bash.
    Bash,
    /// Z shell.
    Zsh,
    /// fish.
    Fish,
    /// dash and any other POSIX shell: without a line editor that could be spoken to.
    Posix,
}

/// Whether a shell reads the user's start-up files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartUpFiles {
    /// It does.
    Read,
    /// It was told not to.
    Skip,
}

/// Characters of a nonce.
pub const NONCE_LENGTH: usize = 12;

/// Why a command does not run whose directory cannot be entered or whose variables cannot be set.
const NOT_PREPARED: &str = "the shell cannot change to `cwd`, or a variable of `env` cannot be set";
/// Why a command does not run that the shell cannot read.
const NOT_DECODED: &str = "the shell cannot decode it";

/// What a session says about the shell to be started.
#[derive(Debug, Clone, Copy)]
pub struct Setup<'a> {
    /// A folder private to the session, for the files.
    pub folder: &'a Path,
    /// The named pipe in it.
    pub pipe: &'a Path,
    /// `ZDOTDIR` as zsh would have had it.
    pub zdotdir: Option<&'a str>,
    /// `ENV` as a POSIX shell would have had it.
    pub env: Option<&'a str>,
    /// Commands go into the shell's history, as if a person had typed them.
    pub keep_history: bool,
    /// Whether the user's start-up files are read.
    pub start_up_files: StartUpFiles,
}

/// What a shell is started with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Integration {
    /// Arguments.
    pub args: Vec<String>,
    /// Variables to set.
    pub env: Vec<(String, String)>,
    /// Files to place in the private folder: name and content.
    pub files: Vec<(&'static str, String)>,
}

impl Shell {
    /// The line that a verbose shell (`set -v`) prints of our hook, just before a command's end.
    pub const VERBOSE_HOOK: &'static str = "{ \\__termbridge_end; } 3>&1 > /dev/null 2>&1\n";

    /// Keys that make the shell read a command from the pipe and run it. A shell without a line editor
    /// has its lines edited by the kernel (what somebody has half typed is erased first), unless a
    /// program left the terminal in raw mode.
    pub fn trigger(self, is_raw: bool) -> &'static [u8] {
        match self {
            Self::Bash | Self::Zsh | Self::Fish => b"\x1b[5151;1~",
            Self::Posix if is_raw => b"__termbridge\n",
            Self::Posix => b"\x15__termbridge\r",
        }
    }

    /// The shell that a program is, by its name.
    pub fn of(program: &str) -> Self {
        let name = program.rsplit('/').next().unwrap_or(program).trim_start_matches('-');
        match name {
            "bash" => Self::Bash,
            "zsh" => Self::Zsh,
            "fish" => Self::Fish,
            _ => Self::Posix,
        }
    }

    /// The same, if commands can be told apart in it for sure.
    pub fn known(program: &str) -> Option<Self> {
        let name = program.rsplit('/').next().unwrap_or(program);
        let is_known = matches!(name, "bash" | "zsh" | "fish" | "dash" | "sh" | "ksh" | "mksh");
        is_known.then(|| Self::of(program))
    }

    /// Whether a shell that was started with these arguments reads commands from its terminal; with
    /// which of the user's start-up files, if so.
    pub fn reads_terminal(args: &[&str]) -> Option<StartUpFiles> {
        let has_command = |arg: &&str| !arg.starts_with("--") && arg.contains('c');
        if args.iter().any(|arg| !arg.starts_with(['-', '+']) || has_command(arg)) {
            return None;
        }
        let skips =
            |arg: &&str| matches!(*arg, "--norc" | "-f" | "--no-rcs" | "-N" | "--no-config");
        Some(if args.iter().any(skips) { StartUpFiles::Skip } else { StartUpFiles::Read })
    }

    /// The file that this shell reads when it starts, as a person writes its name.
    pub fn start_up_file(self) -> &'static str {
        match self {
            Self::Bash => "~/.bashrc",
            Self::Zsh => "~/.zshrc",
            Self::Fish => "~/.config/fish/config.fish",
            Self::Posix => "$ENV",
        }
    }

    /// A line for that file that keeps `command` out of sessions; `variable` is set in them.
    pub fn guarded(self, variable: &str, command: &str) -> String {
        match self {
            Self::Fish => format!("test -n \"${variable}\"; or {command}"),
            _ => format!("[ -n \"${variable}\" ] || {command}"),
        }
    }

    /// What goes through the pipe when the end of a command is known.
    pub fn answer(self) -> &'static [u8] {
        if self == Self::Posix { b"\n" } else { b"\0" }
    }

    /// The text that runs in place of a command that cannot run. It works without `PATH`, where the shell can.
    fn refusal(self, why: &str) -> String {
        let exit = if self == Self::Fish { "sh -c 'exit 126'" } else { "(exit 126)" };
        format!("echo 'termbridge: the command did not run: {why}' >&2; {exit}")
    }

    /// What to start it with.
    pub fn integration(self, setup: &Setup<'_>) -> Integration {
        let folder = setup.folder.display().to_string();
        let read = setup.start_up_files == StartUpFiles::Read;
        let script = |text: &str| {
            text.replace("@KEY@", &mark_key(setup.folder))
                .replace("@PIPE@", &quoted(&setup.pipe.display().to_string()))
                .replace("@ZDOTDIR@", &quoted(setup.zdotdir.unwrap_or_default()))
                .replace("@ENV@", &quoted(setup.env.unwrap_or_default()))
                .replace("@NONCE_LENGTH@", &NONCE_LENGTH.to_string())
                .replace("@NONCE_PATTERN@", &"?".repeat(NONCE_LENGTH))
                .replace("@NOT_PREPARED@", &quoted(&self.refusal(NOT_PREPARED)))
                .replace("@NOT_DECODED@", &quoted(&self.refusal(NOT_DECODED)))
                .replace("@KEEP_HISTORY@", if setup.keep_history { "'1'" } else { "''" })
                .replace("@START_UP_FILES@", if read { "'1'" } else { "''" })
        };
        match self {
            Self::Bash => Integration {
                args: vec!["--rcfile".into(), format!("{folder}/rc.bash"), "-i".into()],
                // For one that starts in POSIX mode.
                env: vec![("ENV".into(), format!("{folder}/rc.bash"))],
                files: vec![("rc.bash", script(include_str!("scripts/bash.sh")))],
            },
            Self::Zsh => Integration {
                // `-d` leaves out the system's files.
                args: vec![if read { "-i" } else { "-id" }.into()],
                env: vec![("ZDOTDIR".into(), folder)],
                files: vec![
                    (".zshenv", script(include_str!("scripts/zshenv.zsh"))),
                    (".zprofile", script(include_str!("scripts/zprofile.zsh"))),
                    (".zshrc", script(include_str!("scripts/zshrc.zsh"))),
                ],
            },
            Self::Fish => Integration {
                args: vec![
                    "--init-command".into(),
                    format!("source {}", quoted(&format!("{folder}/init.fish"))),
                    if read { "-i" } else { "-iN" }.into(),
                ],
                env: Vec::new(),
                files: vec![("init.fish", script(include_str!("scripts/init.fish")))],
            },
            Self::Posix => Integration {
                args: vec!["-i".into()],
                env: vec![("ENV".into(), format!("{folder}/env.sh"))],
                files: vec![("env.sh", script(include_str!("scripts/posix.sh")))],
            },
        }
    }
}

/// The last field of a shell's marks: the name of its folder. Programs that print marks do not know it.
pub fn mark_key(folder: &Path) -> Cow<'_, str> {
    folder.file_name().map(OsStr::to_string_lossy).unwrap_or_default()
}

/// What runs in place of a text with nothing to run: shells disagree on what that means.
const NOTHING: &str = "true";

/// The text that a shell gets for a command. Whatever judges a command has to judge this: nothing
/// changes it afterwards. Applied to its own result it changes nothing.
pub fn command_text(command: &str) -> Cow<'_, str> {
    let is_empty = |line: &str| line.trim().is_empty() || line.trim_start().starts_with('#');
    if command.lines().all(is_empty) {
        return Cow::Borrowed(NOTHING);
    }
    if !command.contains("\r\n") {
        return Cow::Borrowed(command);
    }
    let mut text = String::with_capacity(command.len());
    for line in command.split_inclusive('\n') {
        match line.strip_suffix('\n') {
            Some(line) => text.extend([line.trim_end_matches('\r'), "\n"]),
            None => text.push_str(line),
        }
    }
    Cow::Owned(text)
}

#[cfg(test)]
mod tests {
    use super::command_text;

    #[test]
    fn the_text_of_a_command_is_settled_once() {
        for (command, text) in [
            ("ls", "ls"),
            ("", "true"),
            (" \n# comment\r\n", "true"),
            ("cat <<E\r\nx\r\nE\r\nls\r\n", "cat <<E\nx\nE\nls\n"),
            ("a\rb", "a\rb"),
            ("a\r\r\nb", "a\nb"),
        ] {
            assert_eq!(command_text(command), text, "{command:?}");
            assert_eq!(command_text(text), text, "{command:?}");
        }
    }
}
