//! What a check found.

use std::path::Path;
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;

use crate::commands::quoted;

/// How a thing stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Status {
    /// It works.
    Ok,
    /// There is nothing to judge.
    Info,
    /// It is not there, and need not be.
    Missing,
    /// It works, but not as one would expect.
    Warning,
    /// It does not work.
    Failed,
}

/// What a thing belongs to, in the order in which groups are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Group {
    Program,
    Terminals,
    Clients,
    Debugging,
    Server,
    System,
}

impl Group {
    pub(super) const ALL: [Self; 6] = [
        Self::Program,
        Self::Terminals,
        Self::Clients,
        Self::Debugging,
        Self::Server,
        Self::System,
    ];

    pub(super) const fn title(self) -> &'static str {
        match self {
            Self::Program => "Program",
            Self::Terminals => "Terminals and shells",
            Self::Clients => "MCP clients",
            Self::Debugging => "Debugging",
            Self::Server => "Shared server",
            Self::System => "System",
        }
    }
}

/// One thing that was checked. Its fields are those of `--json`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Check {
    pub(super) group: Group,
    pub(super) name: String,
    pub(super) status: Status,
    /// What was found, for people.
    pub(super) detail: String,
    /// The command that helps, or what to do where there is none; always there for what does not work.
    pub(super) fix: Option<String>,
    /// How long it took, where that says something.
    pub(super) milliseconds: Option<u64>,
    /// More of it, for programs.
    pub(super) data: Value,
}

/// The command that opens a file for whoever has to correct it.
pub(super) fn edit(path: &Path) -> String {
    format!("${{EDITOR:-vi}} {}", quoted(path))
}

impl Check {
    fn new(
        group: Group,
        name: impl Into<String>,
        status: Status,
        detail: impl Into<String>,
    ) -> Self {
        let (name, detail) = (name.into(), detail.into());
        Self { group, name, status, detail, fix: None, milliseconds: None, data: Value::Null }
    }

    pub(super) fn ok(group: Group, name: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::new(group, name, Status::Ok, detail)
    }

    pub(super) fn info(group: Group, name: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::new(group, name, Status::Info, detail)
    }

    pub(super) fn missing(
        group: Group,
        name: impl Into<String>,
        detail: impl Into<String>,
        fix: impl Into<String>,
    ) -> Self {
        Self { fix: Some(fix.into()), ..Self::new(group, name, Status::Missing, detail) }
    }

    pub(super) fn warning(
        group: Group,
        name: impl Into<String>,
        detail: impl Into<String>,
        fix: impl Into<String>,
    ) -> Self {
        Self { fix: Some(fix.into()), ..Self::new(group, name, Status::Warning, detail) }
    }

    pub(super) fn failed(
        group: Group,
        name: impl Into<String>,
        detail: impl Into<String>,
        fix: impl Into<String>,
    ) -> Self {
        Self { fix: Some(fix.into()), ..Self::new(group, name, Status::Failed, detail) }
    }

    pub(super) fn took(self, time: Duration) -> Self {
        Self { milliseconds: u64::try_from(time.as_millis()).ok(), ..self }
    }

    pub(super) fn data(self, data: Value) -> Self {
        Self { data, ..self }
    }
}
