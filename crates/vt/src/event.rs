//! What a program tells its terminal beside what it shows.

/// Something that happened while bytes were fed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// BEL.
    Bell,
    /// OSC 0 or 2; `None` when it was reset.
    Title(Option<String>),
    /// OSC 52: kept with the session, never given to the host's clipboard.
    Clipboard(String),
    /// OSC 7, or the `Cwd` property of OSC 633: the path as the program wrote it.
    WorkingDirectory(String),
    /// OSC 133 or 633.
    Mark(Mark),
}

/// A shell integration mark. Programs can print these too: a mark alone proves nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mark {
    /// `A`: the prompt begins.
    PromptStart(String),
    /// `B`: the prompt ended, the person types.
    CommandStart(String),
    /// `C`: the command's output begins.
    OutputStart(String),
    /// `D`: the command ended, with its exit status where it was given.
    CommandEnd(String),
    /// `E` of OSC 633: the command line, escaped as VS Code does.
    CommandLine(String),
    /// `F` of OSC 633: the shell asks for more of an unfinished command.
    Continuation(String),
    /// `P` of OSC 633: a property.
    Property(String),
}

impl Mark {
    /// Parses what follows `133;` or `633;`. The text keeps everything after the letter.
    pub(crate) fn parse(payload: &str) -> Option<Self> {
        let (letter, rest) = payload.split_once(';').unwrap_or((payload, ""));
        let rest = rest.to_owned();
        Some(match letter {
            "A" => Self::PromptStart(rest),
            "B" => Self::CommandStart(rest),
            "C" => Self::OutputStart(rest),
            "D" => Self::CommandEnd(rest),
            "E" => Self::CommandLine(rest),
            "F" => Self::Continuation(rest),
            "P" => Self::Property(rest),
            _ => return None,
        })
    }
}
