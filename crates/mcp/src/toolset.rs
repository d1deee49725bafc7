//! Toolsets: groups of tools that are offered or left out together.

use std::str::FromStr;

/// A group of tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Toolset {
    /// Terminals and the programs in them.
    Terminal,
    /// The seven tools of vscode-terminal-mcp, for whoever moves from it.
    Compat,
}

/// A name that is no toolset.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no toolset {0:?}; there are: terminal, compat")]
pub struct UnknownToolset(pub String);

impl Toolset {
    /// What is offered unless something else was chosen.
    pub const DEFAULT: &'static [Self] = &[Self::Terminal];
}

impl FromStr for Toolset {
    type Err = UnknownToolset;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        match name.trim() {
            "terminal" => Ok(Self::Terminal),
            "compat" => Ok(Self::Compat),
            other => Err(UnknownToolset(other.to_owned())),
        }
    }
}
