//! The debugging tools, each described once in a `*.meta.yaml` file.
//!
//! ```text
//! meta/**/*.meta.yaml ┐             ┌► Tool: schema, title, description, annotations, command line
//! errors.yaml         ├─ build.rs ─►│  manifest.json, TypeScript types      (cargo xtask generate)
//! guides/*.md         ┘             └► Docs: pages that docs_list and docs_get serve
//! WORKSPACE's own metadata ── Catalog::with_workspace ──► more tools
//! ```
//!
//! Ours are read and checked when this crate is built, and bad metadata fails the build; what the
//! binary carries is JSON that is parsed when the catalogue is first asked for. A workspace's own are
//! read at start: a bad one is skipped with a [`Warning`] that names file and line.
//!
//! ```
//! let catalog = termbridge_catalog::Catalog::own();
//! let tool = catalog.get("breakpoint_add").expect("by its other name too");
//! assert_eq!((tool.name(), tool.alias()), ("breakpoint_set", "breakpoint.set"));
//! assert_eq!(tool.input_schema()["properties"]["path"]["type"], "string");
//! ```
//!
//! Invariants:
//! - Names, aliases and other names are each unique in a catalogue, and its order is fixed.
//! - What comes from a workspace is bounded in number and size, never replaces a tool of ours, and is
//!   marked as such ([`Origin`]): its words are someone else's.
//!
//! What is deliberately absent: MCP types, validation of arguments, running anything.

mod catalog;
mod check;
mod command_line;
mod docs;
mod document;
mod manifest;
mod metadata;
mod read;
mod schema;
mod tool;
mod typescript;
mod workspace;

pub use catalog::Catalog;
pub use command_line::{CommandLine, Flag};
pub use docs::{Docs, Page};
pub use manifest::manifest;
pub use metadata::{
    ErrorCode, ErrorEntry, Field, Hint, Kind, Llm, Mcp, Metadata, Param, Relationships, Resolve,
    Response, Safety,
};
pub use read::{Problem, Strictness, read};
pub use tool::{Annotations, DEFAULT_TIMEOUT, Origin, Tool};
pub use typescript::typescript;
pub use workspace::Warning;
