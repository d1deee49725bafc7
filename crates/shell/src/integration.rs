//! Which shell it is, and what it is started with so that it marks its commands.
//!
//! The user's own start-up files are still read, and none of them is touched: bash gets `--rcfile`,
//! zsh a `ZDOTDIR` of ours that reads theirs, fish `--init-command`, any other POSIX shell `ENV`.
//!
//! Marks (OSC 633, as VS Code's): `A` prompt begins, `B` prompt ended, `C` output begins, `D;STATUS;NONCE`
//! command ended, `P;Cwd=PATH`. The nonce is asked for when a command has ended, through the named
//! pipe: while a command runs it stands nowhere, and it changes with every command.

use std::path::Path;

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

/// What a shell is started with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Integration {
    /// Arguments.
    pub args: Vec<String>,
    /// Variables to set.
    pub env: Vec<(String, String)>,
    /// Files to place in the private folder: name and content.
    pub files: Vec<(&'static str, String)>,
    /// Keys that make the shell read a command from the pipe and run it.
    pub trigger: &'static [u8],
}

impl Shell {
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

    /// What to start it with. `folder` is private to the session and holds the files; `pipe` is the
    /// named pipe in it; `original_zdotdir` is what zsh would have used.
    pub fn integration(
        self,
        folder: &Path,
        pipe: &Path,
        original_zdotdir: Option<&str>,
    ) -> Integration {
        let folder = folder.display().to_string();
        let pipe = quoted(&pipe.display().to_string());
        let script = |text: &str| text.replace("@PIPE@", &pipe);
        match self {
            Self::Bash => Integration {
                args: vec!["--rcfile".into(), format!("{folder}/rc.bash"), "-i".into()],
                env: Vec::new(),
                files: vec![("rc.bash", script(include_str!("scripts/bash.sh")))],
                trigger: b"\x1b[5151;1~\x1b[5151;2~",
            },
            Self::Zsh => {
                let original = quoted(original_zdotdir.unwrap_or_default());
                let wrapper = |text: &str| script(text).replace("@ZDOTDIR@", &original);
                Integration {
                    args: vec!["-i".into()],
                    env: vec![("ZDOTDIR".into(), folder)],
                    files: vec![
                        (".zshenv", wrapper(include_str!("scripts/zshenv.zsh"))),
                        (".zshrc", wrapper(include_str!("scripts/zshrc.zsh"))),
                    ],
                    trigger: b"\x1b[5151;1~",
                }
            }
            Self::Fish => Integration {
                args: vec![
                    "--init-command".into(),
                    format!("source {}", quoted(&format!("{folder}/init.fish"))),
                    "-i".into(),
                ],
                env: Vec::new(),
                files: vec![("init.fish", script(include_str!("scripts/init.fish")))],
                trigger: b"\x1b[5151;1~",
            },
            Self::Posix => Integration {
                args: vec!["-i".into()],
                env: vec![("ENV".into(), format!("{folder}/env.sh"))],
                files: vec![("env.sh", script(include_str!("scripts/posix.sh")))],
                trigger: b"__termbridge\r",
            },
        }
    }
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}
