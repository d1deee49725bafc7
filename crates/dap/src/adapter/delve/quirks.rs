//! Where delve is not like others.

use std::path::PathBuf;

use serde_json::{Map, Value};

use super::super::Adapter;
use super::super::declarations::Declarations;
use super::super::exceptions::{RaisingFunction, TEST_FAILURE};
use super::super::looks::{Bits, Container, Look, Part};
use super::super::quirks::{ConditionFailure, OwnFilter, Quirks, behind, first_line, numbered};
use super::super::registry::{Missing, Search};
use super::declarations::Go;
use super::values;
use crate::configuration::Configuration;
use crate::protocol::Variable;

/// What tests call to fail with a message.
const FAILING: [&str; 4] = [
    "testing.(*common).Error",
    "testing.(*common).Errorf",
    "testing.(*common).Fatal",
    "testing.(*common).Fatalf",
];

const TEST_FAILURES: OwnFilter =
    OwnFilter { name: "test_failure", label: "Go: test failures", function: FAILING[0] };

/// delve's table.
pub(crate) struct Delve;

impl Quirks for Delve {
    fn name(&self) -> &'static str {
        "delve"
    }

    fn languages(&self) -> &'static str {
        "Go"
    }

    // It stops at one breakpoint, and passes over those of the other threads when it continues.
    fn running_thread_marker(&self) -> Option<&'static str> {
        Some("(Thread ")
    }

    fn accepts_nested_steps(&self) -> bool {
        false
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

    fn reads_core_files(&self) -> bool {
        true
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

    // The end of the program is reported beside its output.
    fn without_reports(&self, output: String) -> String {
        let lines = output.split_inclusive('\n');
        lines.filter(|line| self.exit_code_in(line).is_none()).collect()
    }

    fn shares_output(&self) -> bool {
        true
    }

    fn is_own_word(&self, line: &str) -> bool {
        let line = line.trim();
        line == "Type 'dlv help' for list of commands."
            || line.starts_with("Detaching")
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

    fn look(&self, variable: &Variable) -> Option<Look> {
        Some(values::look(variable))
    }

    fn by_bits(&self, variable: &Variable, bits: Bits) -> String {
        values::by_bits(variable, bits)
    }

    fn parts(
        &self,
        container: Container,
        whole: &Variable,
        children: Vec<Variable>,
    ) -> (Container, Vec<(Part, Variable)>) {
        values::parts(container, whole, children)
    }

    fn declarations(&self) -> Option<&'static dyn Declarations> {
        Some(&Go)
    }

    // A result without a name has no value before the function returns.
    fn is_foreign(&self, variable: &Variable) -> bool {
        variable.name.starts_with("~r")
    }

    // It evaluates no statements.
    fn assignment<'a>(&self, expression: &'a str) -> Option<(&'a str, &'a str)> {
        super::assignment(expression)
    }

    fn own_filter(&self) -> Option<OwnFilter> {
        Some(TEST_FAILURES)
    }

    fn knows_exception_types(&self, _is_rust: bool) -> bool {
        false
    }

    fn raising_functions(
        &self,
        own_filter: bool,
        _types: &[&str],
        configuration: &Configuration,
    ) -> Vec<RaisingFunction> {
        let is_test = super::is_test(&super::arguments(configuration));
        let function = |name| RaisingFunction { name, condition: None, description: TEST_FAILURE };
        FAILING.into_iter().filter(|_| own_filter && is_test).map(function).collect()
    }
}
