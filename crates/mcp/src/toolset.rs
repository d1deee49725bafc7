//! Toolsets: groups of tools that are offered or left out together, and which tools are.

use std::str::FromStr;

use termbridge_bridge::DebugSettings;

use crate::structured::Structured;

/// A group of tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Toolset {
    /// Terminals and the programs in them.
    Terminal,
    /// What most debugging takes, of the catalogue.
    DebugCore,
    /// All of the debugger, from the catalogue.
    Debug,
    /// The seven tools of vscode-terminal-mcp, for whoever moves from it.
    Compat,
}

/// The tools of [`Toolset::DebugCore`]: a model pays for each that it is told of, and clients pass on some
/// forty in all.
pub(crate) const DEBUG_CORE: [&str; 14] = [
    "breakpoint_set",
    "breakpoint_remove",
    "breakpoint_list",
    "debug_start",
    "test_debug_single",
    "debug_continue",
    "debug_step_over",
    "debug_step_into",
    "debug_step_out",
    "debug_wait_for_hit",
    "debug_pause",
    "debug_evaluate",
    "debug_list_variables",
    "debug_stop",
];

/// What a server is started with to offer every tool of the debugger.
pub(crate) const ALL_TOOLS: &str = "--toolsets terminal,debug";

/// A name that is no toolset.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no toolset {0:?}; there are: terminal, debug-core, debug, compat, all")]
pub struct UnknownToolset(pub String);

/// A name that is no tool.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no tool {0:?}; `termbridge tools` lists them")]
pub struct UnknownTool(pub String);

impl Toolset {
    /// What is offered unless something else was chosen.
    pub const DEFAULT: &'static [Self] = &[Self::Terminal, Self::DebugCore];

    /// All that differ: the core is part of the debugger.
    pub const ALL: &'static [Self] = &[Self::Terminal, Self::Debug, Self::Compat];

    /// The toolsets of these names; `all` stands for every one.
    pub fn named(names: &[String]) -> Result<Vec<Self>, UnknownToolset> {
        let mut toolsets = Vec::new();
        for name in names {
            match name.trim() {
                "all" => toolsets.extend(Self::ALL),
                name => toolsets.push(name.parse()?),
            }
        }
        Ok(toolsets)
    }

    /// Whether it has a tool of another.
    fn includes(self, toolset: Self, name: &str) -> bool {
        self == toolset
            || (self == Self::DebugCore && toolset == Self::Debug && DEBUG_CORE.contains(&name))
    }
}

impl FromStr for Toolset {
    type Err = UnknownToolset;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        match name.trim() {
            "terminal" => Ok(Self::Terminal),
            "debug-core" => Ok(Self::DebugCore),
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
    /// Who gets structured content.
    pub structured: Structured,
    /// Further clients that drop the text for it.
    pub text_clients: Vec<String>,
    /// How programs are debugged.
    pub debug: DebugSettings,
}

impl Offer {
    /// These toolsets whole.
    pub fn new(toolsets: &[Toolset], debug: DebugSettings) -> Self {
        Self {
            toolsets: toolsets.to_vec(),
            tools: Vec::new(),
            without: Vec::new(),
            structured: Structured::default(),
            text_clients: Vec::new(),
            debug,
        }
    }

    /// Whether tools are chosen by name.
    pub(crate) fn names_tools(&self) -> bool {
        !self.tools.is_empty() || !self.without.is_empty()
    }

    /// Whether debugging tools may be among them.
    pub(crate) fn may_debug(&self) -> bool {
        let debugs = |toolset: &Toolset| matches!(toolset, Toolset::DebugCore | Toolset::Debug);
        self.toolsets.iter().any(debugs) || !self.tools.is_empty()
    }

    /// Whether a tool of a toolset is offered.
    pub(crate) fn has(&self, toolset: Toolset, name: &str) -> bool {
        let named = |names: &[String]| names.iter().any(|known| known == name);
        let included = self.toolsets.iter().any(|own| own.includes(toolset, name));
        (included || named(&self.tools)) && !named(&self.without)
    }
}
