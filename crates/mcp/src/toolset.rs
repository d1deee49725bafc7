//! Toolsets: groups of tools that are offered or left out together, and which tools are.

use std::str::FromStr;

use termbridge_bridge::DebugSettings;

/// A group of tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Toolset {
    /// Terminals and the programs in them.
    Terminal,
    /// The debugger, from the catalogue.
    Debug,
    /// The seven tools of vscode-terminal-mcp, for whoever moves from it.
    Compat,
}

/// A name that is no toolset.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no toolset {0:?}; there are: terminal, debug, compat")]
pub struct UnknownToolset(pub String);

/// A name that is no tool.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no tool {0:?}; `termbridge tools` lists them")]
pub struct UnknownTool(pub String);

impl Toolset {
    /// What is offered unless something else was chosen.
    pub const DEFAULT: &'static [Self] = &[Self::Terminal, Self::Debug];

    /// All of them.
    pub const ALL: &'static [Self] = &[Self::Terminal, Self::Debug, Self::Compat];
}

impl FromStr for Toolset {
    type Err = UnknownToolset;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        match name.trim() {
            "terminal" => Ok(Self::Terminal),
            "debug" => Ok(Self::Debug),
            "compat" => Ok(Self::Compat),
            other => Err(UnknownToolset(other.to_owned())),
        }
    }
}

/// Which tools a server offers.
#[derive(Debug, Clone)]
pub struct Offer {
    /// All tools of these.
    pub toolsets: Vec<Toolset>,
    /// These tools too, whatever their toolset.
    pub tools: Vec<String>,
    /// But not these.
    pub without: Vec<String>,
    /// How programs are debugged.
    pub debug: DebugSettings,
}

impl Offer {
    /// These toolsets whole.
    pub fn new(toolsets: &[Toolset], debug: DebugSettings) -> Self {
        Self { toolsets: toolsets.to_vec(), tools: Vec::new(), without: Vec::new(), debug }
    }

    /// Whether tools are chosen by name.
    pub(crate) fn names_tools(&self) -> bool {
        !self.tools.is_empty() || !self.without.is_empty()
    }

    /// Whether a tool of a toolset is offered.
    pub(crate) fn has(&self, toolset: Toolset, name: &str) -> bool {
        let named = |names: &[String]| names.iter().any(|known| known == name);
        (self.toolsets.contains(&toolset) || named(&self.tools)) && !named(&self.without)
    }
}
