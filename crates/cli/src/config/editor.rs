//! The `[editor]` table, and how editors connect from it and the arguments.

use std::ops::RangeInclusive;

use anyhow::Result;
use termbridge_bridge::editor::DEFAULT_PORT;

use super::{Whole, number};
use crate::args::EditorArguments;

const PORT: RangeInclusive<usize> = 0..=65_535;

/// The `[editor]` table.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EditorTable {
    enabled: Option<bool>,
    port: Option<Whole>,
    require_token: Option<bool>,
}

/// How editors connect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EditorConfig {
    /// Whether they can at all.
    pub(crate) is_enabled: bool,
    /// A server that would wait for the first use of an editor listens at once.
    pub(crate) listens_at_once: bool,
    /// Where; 0 for any port that is free.
    pub(crate) port: u16,
    /// Only windows with a token are let in.
    pub(crate) require_token: bool,
}

impl EditorConfig {
    /// The settings; arguments come before the file.
    pub(super) fn new(
        arguments: EditorArguments,
        is_off: bool,
        table: EditorTable,
    ) -> Result<Self> {
        let given = arguments.editor_port.map(usize::from);
        let port = number(given, "editor.port", table.port, PORT)?;
        let listens_at_once = arguments.editor.unwrap_or(false);
        Ok(Self {
            is_enabled: !is_off && (listens_at_once || table.enabled.unwrap_or(true)),
            listens_at_once,
            // Within the bounds of a port.
            port: port.map_or(DEFAULT_PORT, |port| port as u16),
            require_token: arguments
                .require_editor_token
                .or(table.require_token)
                .unwrap_or_default(),
        })
    }
}
