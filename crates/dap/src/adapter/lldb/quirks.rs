//! Where lldb-dap is not like others.

use std::borrow::Cow;
use std::path::PathBuf;

use serde_json::{Map, Value};

use super::super::exceptions::{PANIC, RaisingFunction, throwing};
use super::super::quirks::{ConditionFailure, OwnFilter, Quirks, behind, last_line};
use super::super::registry::{Missing, Search};
use super::super::{Adapter, Formatter};
use super::{OwnResult, expressions};
use crate::configuration::Configuration;
use crate::protocol::Variable;
use crate::session::VariableFilter;

/// lldb-dap's table.
pub(crate) struct Lldb;

const RUST_PANICS: OwnFilter =
    OwnFilter { name: "rust_panic", label: "Rust: panics", function: "rust_panic" };

impl Quirks for Lldb {
    fn name(&self) -> &'static str {
        "lldb-dap"
    }

    fn languages(&self) -> &'static str {
        "C, C++ and Rust"
    }

    fn install(&self) -> &'static str {
        "sudo apt-get install lldb-19"
    }

    fn types(&self) -> &'static [&'static str] {
        &[
            "lldb",
            "lldb-dap",
            "lldb-vscode",
            "codelldb",
            "cppdbg",
            "c",
            "cpp",
            "c++",
            "rust",
            "swift",
            "zig",
        ]
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["c", "cc", "cpp", "cxx", "h", "hh", "hpp", "rs"]
    }

    fn find(&self, search: &Search<'_>) -> Result<Adapter, Missing> {
        super::find(search)
    }

    fn arguments(&self, configuration: &Configuration, _adapter: &Adapter) -> Map<String, Value> {
        super::arguments(configuration)
    }

    fn formatter(&self, configuration: &Configuration) -> Option<Formatter> {
        Some(Formatter::of(configuration))
    }

    fn reads_core_files(&self) -> bool {
        true
    }

    fn built_program(&self, configuration: &Configuration) -> Option<PathBuf> {
        configuration.executable()
    }

    fn unbound_reason(&self, configuration: &Configuration) -> Option<String> {
        super::unbound_reason(configuration)
    }

    // By the assertions of GoogleTest and Catch2.
    fn is_made_by_tools(&self, name: &str) -> bool {
        let (name, _) = name.split_once(" @ ").unwrap_or((name, ""));
        name == "gtest_ar"
            || name.starts_with("gtest_ar_")
            || name == "catchAssertionHandler"
            || name.starts_with("catch_internal_")
    }

    fn exits_with_signal(&self) -> bool {
        true
    }

    // The one signal that it does not see.
    fn perhaps_signal(&self, code: i64) -> Option<i64> {
        (code == 9).then_some(code)
    }

    fn lost(&self, code: i64) -> Option<&'static str> {
        (code == -1).then_some("the debugger lost it: it was killed, or its debugger was")
    }

    // Version 19 falls at its end, after all is told.
    fn is_own_word(&self, line: &str) -> bool {
        let line = line.trim();
        (line.starts_with("Process ") && line.contains(" exited with status"))
            || line == "free(): invalid pointer"
            || line.starts_with("PLEASE submit a bug report")
    }

    // It passes its complaints on as that; on Linux all that a program writes comes through one terminal, as
    // `stdout`.
    fn own_category(&self, _is_root: bool) -> Option<&'static str> {
        Some("stderr")
    }

    // It tells of each data breakpoint; our report says the same.
    fn without_reports(&self, output: String) -> String {
        super::without_watchpoints(output)
    }

    // A log message has them.
    fn plain_output(&self, output: &str) -> Option<String> {
        output.contains(super::VALUE_START).then(|| super::without_marks(output))
    }

    fn condition_failure(&self, output: &str) -> Option<ConditionFailure> {
        let said = behind("error evaluating condition of breakpoint ", output)?;
        let (_, said) = said.split_once(": \"")?;
        let whole = || (said.strip_suffix('"').unwrap_or(said), "");
        let (condition, said) = said.split_once("\"\n").unwrap_or_else(whole);
        let reason = said.lines().find_map(|line| line.strip_prefix("error: "));
        let reason = reason.map_or_else(|| last_line(said), super::plain_error);
        Some(ConditionFailure { condition: Some(condition.to_owned()), reason })
    }

    fn shuffles_functions(&self) -> bool {
        true
    }

    fn hit_condition(&self, condition: &str) -> Result<String, String> {
        let condition = condition.trim();
        let number = |text: &str| text.trim().parse::<u64>().ok();
        let from = condition.strip_prefix(">=").map(number);
        let after = condition.strip_prefix('>').map(number);
        match (number(condition), from, after) {
            (Some(count), ..) | (None, Some(Some(count)), _) => Ok(count.to_string()),
            (None, _, Some(Some(count))) => Ok(count.saturating_add(1).to_string()),
            _ => Err(format!("{} knows only NUMBER and >= NUMBER, not {condition}", self.name())),
        }
    }

    // It watches the place that one points to.
    fn data_name(&self, expression: &str) -> String {
        format!("&({expression})")
    }

    fn value_at(&self, data_id: &str, kind: &str) -> Option<String> {
        let (address, _) = data_id.split_once('/')?;
        let is_number = !address.is_empty() && address.bytes().all(|byte| byte.is_ascii_hexdigit());
        (is_number && !kind.is_empty()).then(|| format!("*({kind}*)0x{address}"))
    }

    // It calls it a breakpoint.
    fn is_data_stop(&self, description: Option<&str>) -> bool {
        description.is_some_and(|said| said.starts_with("watchpoint "))
    }

    fn hit_data_request(&self, description: Option<&str>) -> Option<String> {
        let number = description?.strip_prefix("watchpoint ")?.trim().parse::<u32>().ok()?;
        Some(format!("`termbridge-watched {number}"))
    }

    fn is_hit(&self, answer: &str, data_id: &str) -> Option<bool> {
        let hit = u64::from_str_radix(answer.split(super::MARK).nth(1)?, 16).ok()?;
        let (address, _) = data_id.split_once('/')?;
        Some(u64::from_str_radix(address, 16).ok()? == hit)
    }

    // It stops a program by a signal, or at a breakpoint of its own that the program comes to in that moment.
    fn is_pause(&self, description: Option<&str>) -> bool {
        description.is_some_and(|said| {
            said.ends_with("SIGSTOP") || said.starts_with("breakpoint -") || said == "trace"
        })
    }

    // Of a function in one line that GCC compiled it does not see where it begins.
    fn past_prologue(&self, thread: i64, steps_into: bool) -> Option<String> {
        let step = if steps_into { " step" } else { "" };
        Some(format!("`termbridge-past-prologue {thread}{step}"))
    }

    fn next_step(&self, answer: &str) -> Option<&'static str> {
        let said = answer.split(super::MARK).nth(1)?;
        ["stepIn", "stepOut"].into_iter().find(|step| *step == said)
    }

    fn has_passed_prologue(&self, answer: &str) -> bool {
        answer.contains(super::MARK)
    }

    // The step would end when the program next comes back to where it began.
    fn forget_step(&self) -> Option<&'static str> {
        Some("`thread plan discard 1")
    }

    // Among its events are those of threads that do not meet a condition and of threads that did not run in a step.
    fn unreported_command(&self) -> Option<&'static str> {
        Some("`termbridge-unreported")
    }

    fn unreported_in(&self, answer: &str) -> Option<Vec<i64>> {
        serde_json::from_str(answer.split(super::MARK).nth(1)?).ok()
    }

    // They are made of the thread's and the frame's position, and of the kind of the scope.
    fn keeps_numbers(&self) -> bool {
        true
    }

    fn own_filter(&self) -> Option<OwnFilter> {
        Some(RUST_PANICS)
    }

    fn knows_exception_types(&self, is_rust: bool) -> bool {
        !is_rust
    }

    fn raising_functions(
        &self,
        own_filter: bool,
        types: &[&str],
        _configuration: &Configuration,
    ) -> Vec<RaisingFunction> {
        let panics = own_filter.then_some(RaisingFunction {
            name: RUST_PANICS.function,
            condition: None,
            description: PANIC,
        });
        panics.into_iter().chain(throwing(types)).collect()
    }

    fn plain_value(&self, variable: &mut Variable, shows_rust: bool) {
        let own = super::own_text(&variable.value);
        let own = own.map(|own| (own.kind.map(str::to_owned), own.text.to_owned()));
        if let Some((kind, text)) = own {
            if text == super::UNSET || text == super::REMOVED {
                // What would be inside is as little its own.
                variable.variables_reference = 0;
            }
            if text == super::REMOVED {
                // A new value would overwrite the program's header.
                let hint = variable.presentation_hint.get_or_insert_default();
                hint.attributes.push("readOnly".to_owned());
            }
            variable.value = text;
            variable.kind = kind.or(variable.kind.take());
        } else if variable.kind.as_deref() == Some("void") {
            "()".clone_into(&mut variable.value);
        } else if let Some(why) = variable.value.strip_prefix("<error: ") {
            variable.value = format!("<not readable: {why}");
        }
        if shows_rust {
            if variable.value.starts_with(super::CLOSURE) {
                variable.value = super::plain_closure(&variable.value);
            }
            variable.kind = variable.kind.as_deref().map(super::rust_type);
        }
    }

    // Among the globals it lists each table of a trait of Rust and what the headers of C++'s library define, and
    // of an async function of Rust its state and the context that it is polled with.
    fn is_foreign(&self, variable: &Variable) -> bool {
        let name = variable.name.trim_start_matches("::");
        let libraries = ["std::", "__gnu_cxx::", "__pstl::", "__cxxabiv1::"];
        let is_of_library = libraries.iter().any(|library| name.starts_with(library));
        let kind = variable.kind.as_deref().unwrap_or_default();
        // Of two without a name it writes where they are declared.
        let is_nameless = name == "<null>" || name.starts_with("<null> @ ");
        let is_context = kind.starts_with("core::task::wake::Context") || kind.contains("ResumeTy");
        let is_of_async = is_nameless && kind.contains("_env#")
            || (is_nameless || name == "_task_context") && is_context;
        is_of_library || is_of_async || name.ends_with("::{vtable}")
    }

    // An async function of Rust has its arguments as they came, which are moved from, and as its own locals.
    fn keep_innermost(&self, variables: &mut Vec<Variable>) {
        super::keep_innermost(variables);
    }

    // In `repl` it takes what looks like one of LLDB's commands (`n`, `c`, `shell id`) for that.
    fn context(&self, context: &'static str) -> &'static str {
        if context == "repl" { "watch" } else { context }
    }

    fn expression<'a>(&self, expression: &'a str, is_rust: bool) -> Cow<'a, str> {
        expressions::exact(expression, is_rust)
    }

    fn log_message(&self, message: &str, is_rust: bool) -> String {
        expressions::exact_message(message, is_rust)
    }

    fn corrected(&self, expression: &str, message: &str) -> Option<String> {
        expressions::with_arrow(expression, message)
    }

    fn own_evaluation(&self, frame: i64, expression: &str) -> Option<String> {
        (!expression.contains('\n')).then(|| format!("`termbridge-evaluate {frame} {expression}"))
    }

    // What it finds by a path without subscripts can be changed. Of C and C++ our evaluator knows whether it does.
    fn is_adapters_first(&self, expression: &str, is_rust: bool) -> bool {
        is_rust && expression.chars().all(|c| c.is_alphanumeric() || "_.:->".contains(c))
    }

    fn own_result(&self, answer: &str) -> Option<OwnResult> {
        serde_json::from_str(answer.split(super::MARK).nth(1)?).ok()
    }

    // It takes numbers, but sets a bit-field with what lies around it.
    fn own_assignment(&self, frame: i64, path: &str, value: &str) -> Option<String> {
        let is_one_line = !path.contains('\n') && !value.contains('\n');
        (is_one_line && !value.trim().is_empty())
            .then(|| format!("`termbridge-assign {frame} {}", serde_json::json!([path, value])))
    }

    // It cannot compare text, nor look into what our formatters show.
    fn has_own_conditions(&self) -> bool {
        true
    }

    fn conditions_request(&self, conditions: &Map<String, Value>) -> String {
        format!("`termbridge-set-conditions {}", Value::Object(conditions.clone()))
    }

    // It finds those from everywhere.
    fn origin_request<'a>(&self, frame: i64, expression: &'a str) -> Option<(&'a str, String)> {
        let name = expression.trim_start_matches([' ', '*', '&', '(']);
        let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let (name, behind) = name.split_at(end.unwrap_or(name.len()));
        // A path names its module.
        if behind.starts_with("::") {
            return None;
        }
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        is_name.then(|| (name, super::origin_command(frame, name)))
    }

    fn origin_in<'a>(&self, answer: &'a str) -> Option<&'a str> {
        answer.split(super::MARK).nth(1)
    }

    // A result that is an address, where the expression names no place itself: what lies there is not what it
    // comes to.
    fn computed_value(&self, expression: &str, value: &mut String) {
        let is_place = |c: char| c.is_alphanumeric() || "_.:[]()&*->\"' ".contains(c);
        let names_place = expression.chars().all(is_place)
            && !expression.replace("->", "").contains(['-', '>'])
            && !expression.trim_start_matches(['*', '&']).contains(['*', '&']);
        if !names_place
            && let Some(own) = super::own_text(value)
            && own.before.starts_with("0x")
        {
            *value = format!("{} (an address; {} is there)", own.before.trim_end(), own.text);
        }
    }

    fn divisors<'a>(&self, expression: &'a str) -> Vec<&'a str> {
        expressions::divisors(expression)
    }

    fn new_value<'a>(&self, kind: Option<&str>, value: &'a str) -> &'a str {
        match (kind, value.trim()) {
            (Some("bool"), "true") => "1",
            (Some("bool"), "false") => "0",
            _ => value,
        }
    }

    // A pointer of C is shown with its address, and is set as such.
    fn set_through(&self, name: &str, kind: &str, value: &str, is_rust: bool) -> Option<String> {
        match (is_rust, kind.ends_with('&')) {
            (true, _) => {
                let pointers = super::pointers_in(kind);
                (pointers > 0).then(|| format!("{}({name}) = {value}", "*".repeat(pointers)))
            }
            (false, true) => Some(format!("{name} = {value}")),
            _ => None,
        }
    }

    fn evaluate_error(&self, message: String) -> String {
        super::plain_error(&message)
    }

    // It pages all children, takes no notice of the filter, and would take long to give all. Its scopes, of which
    // some variables are left out, are the first references.
    fn page_filter(&self, container: i64, filter: VariableFilter) -> VariableFilter {
        match filter {
            VariableFilter::All if container > super::LAST_SCOPE => VariableFilter::Indexed,
            _ => filter,
        }
    }
}
