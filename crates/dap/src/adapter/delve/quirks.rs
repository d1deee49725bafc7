//! Where delve is not like others.

use std::path::PathBuf;

use serde_json::{Map, Value};

use super::super::Adapter;
use super::super::quirks::{ConditionFailure, Quirks, behind, first_line, numbered};
use super::super::registry::{Missing, Search};
use crate::configuration::Configuration;

/// delve's table.
pub(crate) struct Delve;

impl Quirks for Delve {
    fn name(&self) -> &'static str {
        "delve"
    }

    fn languages(&self) -> &'static str {
        "Go"
    }

    fn install(&self) -> &'static str {
        "sudo apt-get install delve golang-go"
    }

    fn types(&self) -> &'static [&'static str] {
        &["go", "delve", "dlv"]
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["go"]
    }

    fn find(&self, search: &Search<'_>) -> Result<Adapter, Missing> {
        super::find(search)
    }

    fn arguments(&self, configuration: &Configuration, _adapter: &Adapter) -> Map<String, Value> {
        super::arguments(configuration)
    }

    // `dlv --headless`.
    fn speaks_when_listening(&self) -> bool {
        true
    }

    fn needs_output(&self, arguments: &Map<String, Value>) -> bool {
        super::builds(arguments) && !arguments.contains_key("output")
    }

    fn built_program(&self, configuration: &Configuration) -> Option<PathBuf> {
        configuration.executable().filter(|_| !super::builds(&super::arguments(configuration)))
    }

    fn build_line(&self, configuration: &Configuration) -> Option<String> {
        super::build_line(configuration)
    }

    fn exit_code_in(&self, output: &str) -> Option<i64> {
        let said = output.strip_prefix("Process ")?;
        let code = behind(" has exited with status ", said)?;
        let end = code.find(|c: char| c != '-' && !c.is_ascii_digit());
        code[..end.unwrap_or(code.len())].parse().ok()
    }

    fn shares_output(&self) -> bool {
        true
    }

    fn is_own_word(&self, line: &str) -> bool {
        let line = line.trim();
        line == "Type 'dlv help' for list of commands."
            || line == "Detaching"
            || line.contains(" error layer=dap ")
    }

    fn condition_failure(&self, output: &str) -> Option<ConditionFailure> {
        let reason = first_line(behind("error evaluating expression:", output)?);
        Some(ConditionFailure { condition: None, reason })
    }

    // It loads all code at once.
    fn says_why_not(&self) -> bool {
        true
    }

    fn knows_hit_conditions(&self) -> bool {
        true
    }

    fn hit_condition(&self, condition: &str) -> Result<String, String> {
        Ok(numbered(condition))
    }

    // It evaluates no statements.
    fn assignment<'a>(&self, expression: &'a str) -> Option<(&'a str, &'a str)> {
        super::assignment(expression)
    }

    fn knows_exception_types(&self, _is_rust: bool) -> bool {
        false
    }
}
