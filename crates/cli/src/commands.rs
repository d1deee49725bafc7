//! The commands, one file each.

pub(crate) mod completions;
pub(crate) mod demo;
pub(crate) mod mcp;
