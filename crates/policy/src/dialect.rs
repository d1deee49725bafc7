//! The shells whose syntax is read.

/// The syntax that a command line is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dialect {
    /// GNU bash.
    #[default]
    Bash,
    /// Z shell.
    Zsh,
    /// fish.
    Fish,
    /// Any other Bourne shell: dash, busybox, ksh. Such a line is read twice, as dash and as bash
    /// would, and has to pass both times.
    Posix,
}

impl Dialect {
    /// The syntax of a shell, by its name or path.
    pub fn of(shell: &str) -> Self {
        let name = shell.rsplit('/').next().unwrap_or(shell).trim_start_matches('-');
        match name {
            "bash" | "rbash" => Self::Bash,
            "zsh" => Self::Zsh,
            "fish" => Self::Fish,
            _ => Self::Posix,
        }
    }
}

/// One way to read a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Grammar {
    Bash,
    Zsh,
    Fish,
    /// POSIX with nothing added.
    Dash,
}
