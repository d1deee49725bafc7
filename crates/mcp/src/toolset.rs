//! Toolsets: groups of tools that are offered or left out together.

use std::str::FromStr;

/// A group of tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Toolset {
    /// Terminals and the programs in them.
    Terminal,
}

/// A name that is no toolset.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no toolset {0:?}; there is: terminal")]
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
            other => Err(UnknownToolset(other.to_owned())),
        }
    }
}
