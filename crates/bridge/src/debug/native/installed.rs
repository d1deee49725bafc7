//! What is installed to debug and to ask about symbols.

use serde_json::{Value, json};
use termbridge_code::symbols::ServerStatus;
use termbridge_dap::AdapterStatus;

/// The debug adapters and language servers of a machine, as the catalogue names their fields.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Installed {
    /// A list: `name`, `language`, `path` where it was found, `problem` where it does not start, and
    /// otherwise `looked` and `install`.
    pub adapters: Value,
    /// A list: `language`, `program`, `problem`, `install`.
    pub language_servers: Value,
}

impl Installed {
    pub(super) fn new(adapters: &[AdapterStatus], servers: &[ServerStatus]) -> Self {
        Self { adapters: adapters.iter().map(adapter).collect(), language_servers: json!(servers) }
    }
}

fn adapter(status: &AdapterStatus) -> Value {
    let mut adapter = json!({"name": status.kind.name(), "language": status.kind.languages()});
    match &status.command {
        Some(command) => adapter["path"] = json!(command),
        None => adapter["looked"] = json!(status.looked),
    }
    if let Some(problem) = &status.problem {
        adapter["problem"] = json!(problem);
    }
    if status.command.is_none() || status.problem.is_some() {
        adapter["install"] = json!(status.install);
    }
    adapter
}
