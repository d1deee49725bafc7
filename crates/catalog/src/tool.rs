//! A tool as those who offer it need it.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};

use crate::check::{is_alias, tool_name};
use crate::metadata::Metadata;
use crate::schema;

/// The time a tool has where nothing else is said.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);
/// What stands before the words of a workspace.
const WORKSPACE: &str = "[workspace] ";
/// Longest part of the guidance that goes into a description.
const BRIEF: usize = 160;

/// Where a tool's words come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// Ours.
    Own,
    /// A file of the workspace: written by whoever wrote the workspace.
    Workspace(PathBuf),
}

/// What a tool may do, as MCP clients are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Annotations {
    /// It changes nothing and runs nothing of the workspace.
    pub read_only: bool,
    /// It may destroy something.
    pub destructive: bool,
    /// Calling it twice is calling it once.
    pub idempotent: bool,
}

/// A tool of the catalogue.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    name: String,
    title: String,
    description: String,
    metadata: Metadata,
    origin: Origin,
}

impl Tool {
    pub(crate) fn new(metadata: Metadata, origin: Origin) -> Self {
        let name = tool_name(&metadata);
        let title = if metadata.name.is_empty() { &name } else { &metadata.name };
        // A model must not take a workspace's words for ours.
        let label = if origin == Origin::Own { "" } else { WORKSPACE };
        let title = format!("{label}{title}");
        let description = format!("{label}{}", describe(&metadata));
        Self { name, title, description, metadata, origin }
    }

    /// Its name, `thing_action`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Other names it is called by.
    pub fn other_names(&self) -> &[String] {
        &self.metadata.mcp.aliases
    }

    /// The script that does it, `thing.action`.
    pub fn alias(&self) -> &str {
        &self.metadata.alias
    }

    /// Its title.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// What it belongs to.
    pub fn category(&self) -> &str {
        &self.metadata.category
    }

    /// What a model reads: what it does, and what goes before it.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// All that was said of it.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// Who said it.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Whether agents get it.
    pub fn is_enabled(&self) -> bool {
        self.metadata.mcp.enabled
    }

    /// The time it has by its metadata; none where the default holds.
    pub fn timeout(&self) -> Option<Duration> {
        self.metadata.mcp.timeout.map(Duration::from_millis)
    }

    /// What it may do.
    pub fn annotations(&self) -> Annotations {
        let safety = self.metadata.mcp.safety;
        Annotations {
            // A workspace's script is the workspace's code, whatever its metadata says.
            read_only: safety.read_only && self.origin == Origin::Own,
            destructive: safety.destructive,
            idempotent: safety.idempotent,
        }
    }

    /// The JSON Schema of its arguments.
    pub fn input_schema(&self) -> Value {
        schema::input(&self.metadata)
    }

    /// The JSON Schema of its answer.
    pub fn output_schema(&self) -> Value {
        schema::output(&self.metadata)
    }

    /// All of it, in the words of MCP's `tools/list`.
    pub fn definition(&self) -> Value {
        let Annotations { read_only, destructive, idempotent } = self.annotations();
        json!({
            "name": self.name,
            "title": self.title(),
            "description": self.description,
            "inputSchema": self.input_schema(),
            "outputSchema": self.output_schema(),
            "annotations": {
                "readOnlyHint": read_only,
                "destructiveHint": destructive,
                "idempotentHint": idempotent,
            },
            "_meta": {"category": self.category()},
        })
    }
}

fn describe(metadata: &Metadata) -> String {
    let mut words = match &metadata.mcp.description {
        Some(words) => words.trim().to_owned(),
        None => {
            let guidance = metadata.mcp.llm.when_to_use.lines().map(str::trim);
            let brief = guidance.filter(|line| !line.is_empty()).find(|line| line.len() <= BRIEF);
            [Some(metadata.description.trim()), brief]
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()
                .join(" ")
        }
    };
    let before: Vec<String> = metadata
        .mcp
        .relationships
        .requires
        .iter()
        // Some say it in free words.
        .filter(|alias| is_alias(alias))
        .map(|alias| alias.replace(['.', '-'], "_"))
        .collect();
    if !before.is_empty() {
        words.push_str(&format!(" Use after {}.", before.join(", ")));
    }
    words
}
