//! All tools there are, by name.

use std::collections::HashMap;
use std::path::Path;
use std::sync::LazyLock;

use crate::metadata::{Compiled, ErrorCode};
use crate::tool::{Origin, Tool};
use crate::workspace::{self, Warning};

/// What the build left; JSON, because parsing it when it is needed takes less than a millisecond.
static COMPILED: LazyLock<Compiled> = LazyLock::new(|| {
    let json = include_str!(concat!(env!("OUT_DIR"), "/catalog.json"));
    // The build wrote it from the same types.
    serde_json::from_str(json).expect("the build's own catalogue can be read")
});

pub(crate) fn compiled() -> &'static Compiled {
    &COMPILED
}

/// The tools of a server.
#[derive(Debug, Clone, PartialEq)]
pub struct Catalog {
    tools: Vec<Tool>,
    /// Every name a tool is called by, and its alias.
    names: HashMap<String, usize>,
}

impl Catalog {
    /// Ours.
    pub fn own() -> Self {
        let mut catalog = Self { tools: Vec::new(), names: HashMap::new() };
        for metadata in &compiled().tools {
            // Unique by the build's check.
            catalog.add(Tool::new(metadata.clone(), Origin::Own)).ok();
        }
        catalog
    }

    /// Ours and those that a workspace brings; `reserved` are names that other tools of the server have.
    pub fn with_workspace(workspace: &Path, reserved: &[&str]) -> (Self, Vec<Warning>) {
        let mut catalog = Self::own();
        // Our own words for the scripts that the published extension has.
        let found = workspace::read(workspace, |alias| catalog.by_alias(alias).is_some());
        let mut warnings = found.warnings;
        for found in found.tools {
            let tool = Tool::new(found.metadata, Origin::Workspace(found.path.clone()));
            let (name, alias) = (tool.name().to_owned(), tool.alias().to_owned());
            let taken = reserved.contains(&&*name) || catalog.add(tool).is_err();
            if taken {
                let message = format!("there is another tool named {name}");
                warnings.push(Warning {
                    line: workspace::line_of(&found.path, &alias),
                    path: found.path,
                    message,
                });
            }
        }
        (catalog, warnings)
    }

    /// All tools, those that are not enabled included, in a fixed order.
    pub fn all(&self) -> impl Iterator<Item = &Tool> {
        self.tools.iter()
    }

    /// The tools that agents get, in a fixed order.
    pub fn enabled(&self) -> impl Iterator<Item = &Tool> {
        self.tools.iter().filter(|tool| tool.is_enabled())
    }

    /// A tool by its name, or by another name of it.
    pub fn get(&self, name: &str) -> Option<&Tool> {
        self.names.get(name).map(|&index| &self.tools[index])
    }

    /// A tool by its script.
    pub fn by_alias(&self, alias: &str) -> Option<&Tool> {
        self.tools.iter().find(|tool| tool.alias() == alias)
    }

    /// The error codes that tools share.
    pub fn errors() -> &'static [ErrorCode] {
        &compiled().errors
    }

    /// What is known of an error code.
    pub fn error(code: &str) -> Option<&'static ErrorCode> {
        Self::errors().iter().find(|error| error.code == code)
    }

    /// Adds a tool, unless one of its names is taken.
    fn add(&mut self, tool: Tool) -> Result<(), ()> {
        let names: Vec<String> = std::iter::once(tool.name())
            .chain(tool.other_names().iter().map(String::as_str))
            .map(str::to_owned)
            .collect();
        if names.iter().any(|name| self.names.contains_key(name)) {
            return Err(());
        }
        for name in names {
            self.names.insert(name, self.tools.len());
        }
        self.tools.push(tool);
        Ok(())
    }
}
