//! What can go wrong: one variant for each code of the debug catalogue that these tools can give.

use std::path::PathBuf;
use std::time::Duration;

/// Why a project's tools gave no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CodeError {
    /// The policy forbids what would have to run.
    #[error("{0}")]
    Refused(String),
    /// An argument makes no sense.
    #[error("{0}")]
    InvalidParams(String),
    /// There is no such file.
    #[error("no such file: {}", .0.display())]
    FileNotFound(PathBuf),
    /// The file has no such line.
    #[error("{} has no line {line}: it has {lines}", .path.display())]
    InvalidLine {
        /// The file.
        path: PathBuf,
        /// The line asked for.
        line: u64,
        /// How many lines there are.
        lines: u64,
    },
    /// No test is there; the message names those that are near.
    #[error("{0}")]
    NoTestAtCursor(String),
    /// Several tests have that name; the message names them.
    #[error("{0}")]
    AmbiguousTest(String),
    /// The tests could not be found out: no runner, or the project does not build.
    #[error("{0}")]
    DiscoveryFailed(String),
    /// No language server for the file's language is installed.
    #[error("no language server for {language} was found: {looked}")]
    NoLanguageServer {
        /// The language.
        language: String,
        /// What was looked for.
        looked: String,
        /// The command that installs one.
        install: String,
    },
    /// Several symbols have that name; the message names them.
    #[error("{0}")]
    AmbiguousSymbol(String),
    /// No symbol has that name.
    #[error("{0}")]
    SymbolNotFound(String),
    /// The language server cannot do this.
    #[error("{0}")]
    Unsupported(String),
    /// It took too long.
    #[error("{what} within {} ms", .after.as_millis())]
    Timeout {
        /// What did not happen.
        what: String,
        /// How long was waited.
        after: Duration,
    },
    /// A tool broke its protocol or died, or the system refused something it usually grants.
    #[error("{0}")]
    Internal(String),
}

impl CodeError {
    /// The code of the debug catalogue.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Refused(_) => "COMMAND_BLOCKED",
            Self::InvalidParams(_) => "E_INVALID_PARAMS",
            Self::FileNotFound(_) => "E_FILE_NOT_FOUND",
            Self::InvalidLine { .. } => "E_INVALID_LINE",
            Self::NoTestAtCursor(_) => "E_NO_TEST_AT_CURSOR",
            Self::DiscoveryFailed(_) => "E_DISCOVERY_FAILED",
            Self::NoLanguageServer { .. } => "E_NO_LANGUAGE_SERVER",
            Self::AmbiguousSymbol(_) | Self::AmbiguousTest(_) => "E_AMBIGUOUS_SYMBOL",
            Self::SymbolNotFound(_) => "E_SYMBOL_NOT_FOUND",
            Self::Unsupported(_) => "E_UNSUPPORTED_CAPABILITY",
            Self::Timeout { .. } => "E_TIMEOUT",
            Self::Internal(_) => "E_INTERNAL",
        }
    }

    /// What to do next.
    pub fn hint(&self) -> String {
        match self {
            Self::Refused(_) => {
                "do it another way, or ask the user: only they can change the rules"
            }
            Self::InvalidParams(_) => "correct the arguments and call again",
            Self::FileNotFound(_) => {
                "give the path of an existing file, absolute or relative to the workspace"
            }
            Self::InvalidLine { .. } => "choose a line of the file",
            Self::NoTestAtCursor(_) => "give a line inside a test function, or the name of a test",
            Self::AmbiguousTest(_) => "give one of these names in full",
            Self::DiscoveryFailed(_) => {
                "correct what it says; execute_command runs the tests plainly"
            }
            Self::NoLanguageServer { install, .. } => {
                return format!("install one with: {install}");
            }
            Self::AmbiguousSymbol(_) => "name it with its class or module, or by nodeId",
            Self::SymbolNotFound(_) => "find its name with search_symbol_search",
            Self::Unsupported(_) => "ask for something else, or install another language server",
            Self::Timeout { .. } => "call again; the tool may still be reading the workspace",
            Self::Internal(_) => "call again; see the server's log if it stays",
        }
        .to_owned()
    }
}
