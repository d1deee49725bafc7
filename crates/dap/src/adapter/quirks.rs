//! What differs from adapter to adapter, as questions. The default answers are those of an adapter that does
//! what the protocol says; one file per adapter (`ADAPTER/quirks.rs`) has the answers of its own.
//! The file is long because a trait cannot be split.

use std::borrow::Cow;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::declarations::Declarations;
use super::exceptions::RaisingFunction;
use super::lldb::OwnResult;
use super::looks::{Bits, Container, Look, Part};
use super::registry::{Missing, Search};
use super::{Adapter, AdapterKind, Formatter};
use crate::breakpoint::Breakpoint;
use crate::configuration::Configuration;
use crate::error::DebugError;
use crate::protocol::Variable;
use crate::session::VariableFilter;

/// A condition that could not be evaluated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ConditionFailure {
    /// Which, where the adapter says it.
    pub(crate) condition: Option<String>,
    pub(crate) reason: String,
}

/// An exception filter that a breakpoint on a function replaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OwnFilter {
    pub(crate) name: &'static str,
    pub(crate) label: &'static str,
    pub(crate) function: &'static str,
}

/// An adapter's table: what it is, and where it is not like others.
pub(crate) trait Quirks: Sync {
    /// What people call it.
    fn name(&self) -> &'static str;
    /// The languages it debugs.
    fn languages(&self) -> &'static str;
    /// The command that installs it.
    fn install(&self) -> &'static str;
    /// The `type` of configurations that it serves, in small letters.
    fn types(&self) -> &'static [&'static str];
    /// The endings of its languages' files.
    fn extensions(&self) -> &'static [&'static str];
    /// Looks for it.
    fn find(&self, search: &Search<'_>) -> Result<Adapter, Missing>;
    /// Turns a configuration into the arguments of `launch` or `attach`.
    fn arguments(&self, configuration: &Configuration, adapter: &Adapter) -> Map<String, Value>;

    // ---- Starting and ending

    /// Its `adapterID`.
    fn id(&self) -> &'static str {
        self.name()
    }

    /// Whether a program that listens for a debugger speaks the protocol itself.
    fn speaks_when_listening(&self) -> bool {
        false
    }

    /// Whether it can look into a core file.
    fn reads_core_files(&self) -> bool {
        false
    }

    /// Makes a process that runs ready to be attached to. Blocks.
    fn open_process(&self, _attach: &mut Map<String, Value>) -> Result<(), DebugError> {
        Ok(())
    }

    /// Changes the arguments of the start so that the program stops in the files that have breakpoints.
    fn reach(&self, _arguments: &mut Map<String, Value>, _files: &[PathBuf]) {}

    /// What shows the program's values, where the adapter cannot by itself.
    fn formatter(&self, _configuration: &Configuration) -> Option<Formatter> {
        None
    }

    /// Whether the adapter builds the program, to a path that these arguments do not name yet.
    fn needs_output(&self, _arguments: &Map<String, Value>) -> bool {
        false
    }

    /// The file that was built from sources, before the session.
    fn built_program(&self, _configuration: &Configuration) -> Option<PathBuf> {
        None
    }

    /// Why none of a program's breakpoints can be bound. Reads files.
    fn unbound_reason(&self, _configuration: &Configuration) -> Option<String> {
        None
    }

    /// What the adapter builds before it starts the program, as a command.
    fn build_line(&self, _configuration: &Configuration) -> Option<String> {
        None
    }

    /// Whether the adapter takes a folder for temporary files, which it leaves there, as its last argument.
    fn takes_temporary_folder(&self) -> bool {
        false
    }

    /// The variable of the program by which an evaluation is interrupted after a time, and its value.
    fn evaluation_limit(&self, _limit: Duration) -> Option<(&'static str, String)> {
        None
    }

    /// Requests that the adapter needs before the program runs.
    fn before_the_program(&self) -> Vec<(&'static str, Value)> {
        Vec::new()
    }

    /// Whether a program that is attached to is debugged over a connection of its own, which comes later.
    fn attaches_later(&self) -> bool {
        false
    }

    /// Makes the program of a child session answer faster, where it can be made to. Blocks.
    fn hasten(&self, _child: &str) {}

    /// Whether an output says that a request fails which is never answered; the next output says why.
    fn refuses_in(&self, _output: &str) -> bool {
        false
    }

    /// What it reports of an attach that failed, by its answer and what it wrote.
    fn attach_failure(&self, answer: &str, _output: &str) -> String {
        answer.to_owned()
    }

    /// How long an answer to `disconnect` is worth waiting for.
    fn farewell(&self, limit: Duration) -> Duration {
        limit
    }

    /// Reads from what the adapter writes beside the protocol how the program ended: its exit code and the
    /// signal.
    fn end_in(&self, _written: &str) -> Option<(Option<i64>, Option<String>)> {
        None
    }

    /// Reads from an output how the program ended, where the adapter says it only there.
    fn exit_code_in(&self, _output: &str) -> Option<i64> {
        None
    }

    /// Whether an exit code is the number of the signal that the program stopped by last, if it has that number.
    fn exits_with_signal(&self) -> bool {
        false
    }

    /// The number of the signal that an exit code may stand for.
    fn perhaps_signal(&self, _code: i64) -> Option<i64> {
        None
    }

    /// Why a program is over whose exit code is none.
    fn lost(&self, _code: i64) -> Option<&'static str> {
        None
    }

    // ---- Output

    /// Whether the program's output comes over the adapter's own output.
    fn shares_output(&self) -> bool {
        false
    }

    /// Whether the output of its children comes with that of their parent.
    fn children_share_output(&self) -> bool {
        false
    }

    /// Whether a line of output is the adapter's own and not the program's.
    fn is_own_word(&self, _line: &str) -> bool {
        false
    }

    /// The category of output that is the adapter's own; `is_root` for the first connection.
    fn own_category(&self, _is_root: bool) -> Option<&'static str> {
        None
    }

    /// Whether output is a note of the adapter's, though it comes as the program's.
    fn is_note(&self, _output: &str) -> bool {
        false
    }

    /// A program's output without what the adapter wrote into it, in several lines.
    fn without_reports(&self, output: String) -> String {
        output
    }

    /// Output without the marks of our formatter, where it has them.
    fn plain_output(&self, _output: &str) -> Option<String> {
        None
    }

    // ---- Breakpoints and stops

    /// What an output says of a breakpoint's condition that could not be evaluated.
    fn condition_failure(&self, output: &str) -> Option<ConditionFailure>;

    /// Whether a breakpoint stops each time when its condition cannot be evaluated, or never.
    fn stops_without_condition(&self) -> bool {
        true
    }

    /// What it says of a breakpoint, in words.
    fn breakpoint_words(&self, message: String) -> String {
        message
    }

    /// Whether what it says of a breakpoint that it has not set is why it never will.
    fn says_why_not(&self) -> bool {
        false
    }

    /// Whether it reports bound breakpoints only after a delay.
    fn reports_binding_late(&self) -> bool {
        false
    }

    /// The name of a function as breakpoints on functions take it.
    fn function_name<'a>(&self, name: &'a str) -> &'a str {
        name
    }

    /// Whether its answers about functions come in another order than they were sent.
    fn shuffles_functions(&self) -> bool {
        false
    }

    /// Whether it honours hit conditions without saying so.
    fn knows_hit_conditions(&self) -> bool {
        false
    }

    /// What it ignores of a breakpoint with a hit condition, as the end of a sentence about the adapter.
    fn hit_condition_conflict(&self, _breakpoint: &Breakpoint) -> Option<&'static str> {
        None
    }

    /// A condition that writes a log message where another condition is met, for an adapter that ignores the message
    /// beside that.
    fn conditional_message(&self, _condition: &str, _message: &str) -> Option<String> {
        None
    }

    /// A hit condition as the adapter writes it. A plain number is understood by all: that hit, or with lldb
    /// that hit and those after it.
    fn hit_condition(&self, condition: &str) -> Result<String, String> {
        Ok(condition.trim().to_owned())
    }

    /// Whether it wants the paths of sources with symbolic links resolved.
    fn resolves_links(&self) -> bool {
        false
    }

    /// An expression as its data breakpoints take it.
    fn data_name(&self, expression: &str) -> String {
        expression.to_owned()
    }

    /// An expression that gives, in any frame, the value of a type at what a `dataId` stands for.
    fn value_at(&self, _data_id: &str, _kind: &str) -> Option<String> {
        None
    }

    /// Whether a stop's description says that it is by a data breakpoint, where the reason does not.
    fn is_data_stop(&self, _description: Option<&str>) -> bool {
        false
    }

    /// What asks, by a stop's description, which data breakpoint was hit.
    fn hit_data_request(&self, _description: Option<&str>) -> Option<String> {
        None
    }

    /// Whether the answer to that means what a `dataId` stands for; none where it says nothing.
    fn is_hit(&self, _answer: &str, _data_id: &str) -> Option<bool> {
        None
    }

    /// After which time a program that was asked to pause, and has not, has nothing to run.
    fn idle_after(&self) -> Option<Duration> {
        None
    }

    /// Whether a pause shows as this stop.
    fn is_pause(&self, _description: Option<&str>) -> bool {
        false
    }

    /// What lets a thread that stands at the first instruction of a function go on to where its arguments are, if
    /// the adapter does not see to that.
    fn past_prologue(&self, _thread: i64, _steps_into: bool) -> Option<String> {
        None
    }

    /// The request in the answer to that, after a step into a library: the step continues with it.
    fn next_step(&self, _answer: &str) -> Option<&'static str> {
        None
    }

    /// Whether the answer to that says that it has gone on.
    fn has_passed_prologue(&self, _answer: &str) -> bool {
        false
    }

    /// Whether it accepts a step while a breakpoint in another thread interrupts an earlier one.
    fn accepts_nested_steps(&self) -> bool {
        true
    }

    /// What makes it forget a step that something else stopped, where it would end that later.
    fn forget_step(&self) -> Option<&'static str> {
        None
    }

    /// A filter for exceptions that the adapter lacks. It is on by default.
    fn own_filter(&self) -> Option<OwnFilter> {
        None
    }

    /// Whether it can be told a type of exceptions; `is_rust` where the program's exceptions are panics.
    fn knows_exception_types(&self, is_rust: bool) -> bool;

    /// Its own name for an exception filter.
    fn exception_filter<'a>(&self, name: &'a str) -> &'a str {
        name
    }

    /// The arguments of `setExceptionBreakpoints`.
    fn exception_request(&self, filters: &[&str], _types: &[&str]) -> Value {
        json!({"filters": filters})
    }

    /// The runtime's functions that stand for its own filter and for types of exceptions.
    fn raising_functions(
        &self,
        _own_filter: bool,
        _types: &[&str],
        _configuration: &Configuration,
    ) -> Vec<RaisingFunction> {
        Vec::new()
    }

    /// The command that lists the threads with a stop of their own that is not reported yet; the thread of an event follows it.
    /// Set if the adapter sends a `stopped` event for each thread that is stopped. All but one have `preserveFocusHint`.
    fn unreported_command(&self) -> Option<&'static str> {
        None
    }

    /// The threads in the answer.
    fn unreported_in(&self, _answer: &str) -> Option<Vec<i64>> {
        None
    }

    /// Text in the names of threads that the system runs. Set if the adapter sends one `stopped` event although several
    /// threads stop at the same moment.
    fn running_thread_marker(&self) -> Option<&'static str> {
        None
    }

    /// Whether frames and scopes of a thread have the same numbers after a step.
    fn keeps_numbers(&self) -> bool {
        false
    }

    // ---- Values and expressions

    /// Whether a local variable is made by a tool that rewrites the source, and no business of a stop.
    fn is_made_by_tools(&self, _name: &str) -> bool {
        false
    }

    /// Names that the runtime or a compiler puts into a scope with such names, in each file.
    fn helpers(&self, _names: &[&str]) -> Vec<&'static str> {
        Vec::new()
    }

    /// An assignment that it does not take as an expression: what is changed, and to what.
    fn assignment<'a>(&self, _expression: &'a str) -> Option<(&'a str, &'a str)> {
        None
    }

    /// A value without what the adapter puts around the text that our formatter made.
    fn plain_value(&self, _variable: &mut Variable, _shows_rust: bool) {}

    /// How a value is shown in one line, where the adapter's own text does not do.
    fn look(&self, _variable: &Variable) -> Option<Look> {
        None
    }

    /// Bytes of a local of a stop that has others in it.
    fn report_line(&self) -> usize {
        usize::MAX
    }

    /// The text of a number by its bits.
    fn by_bits(&self, variable: &Variable, _bits: Bits) -> String {
        variable.value.clone()
    }

    /// What is inside a value that is shown by it, in order.
    fn parts(
        &self,
        container: Container,
        _whole: &Variable,
        _children: Vec<Variable>,
    ) -> (Container, Vec<(Part, Variable)>) {
        (container, Vec::new())
    }

    /// How to tell which variables have no value yet, where the adapter shows one for them.
    fn declarations(&self) -> Option<&'static dyn Declarations> {
        None
    }

    /// Whether a variable is not the program's own.
    fn is_foreign(&self, _variable: &Variable) -> bool {
        false
    }

    /// Of variables with one name and one place, leaves the innermost.
    fn keep_innermost(&self, _variables: &mut Vec<Variable>) {}

    /// The context in which an expression is an expression.
    fn context(&self, context: &'static str) -> &'static str {
        context
    }

    /// An expression as the adapter takes it.
    fn expression<'a>(&self, expression: &'a str, _is_rust: bool) -> Cow<'a, str> {
        Cow::Borrowed(expression)
    }

    /// A log message with its expressions as the adapter takes them.
    fn log_message(&self, message: &str, _is_rust: bool) -> String {
        message.to_owned()
    }

    /// An expression that failed, corrected as the adapter's message says.
    fn corrected(&self, _expression: &str, _message: &str) -> Option<String> {
        None
    }

    /// The command that evaluates an expression with our evaluator, which the adapter runs.
    fn own_evaluation(&self, _frame: i64, _expression: &str) -> Option<String> {
        None
    }

    /// Whether that evaluator is asked only if the adapter fails.
    fn is_adapters_first(&self, _expression: &str, _is_rust: bool) -> bool {
        true
    }

    /// The value in the answer to that command; none where the expression is left to the adapter.
    fn own_result(&self, _answer: &str) -> Option<OwnResult> {
        None
    }

    /// The command that sets a variable by its path, where the adapter may not take such a value. It is answered as an
    /// evaluation is.
    fn own_assignment(&self, _frame: i64, _path: &str, _value: &str) -> Option<String> {
        None
    }

    /// Whether our evaluator evaluates conditions of breakpoints, too.
    fn has_own_conditions(&self) -> bool {
        false
    }

    /// The command that sets the conditions of breakpoints by their numbers: as given and as the adapter takes them, or
    /// none.
    fn conditions_request(&self, _conditions: &Map<String, Value>) -> String {
        String::new()
    }

    /// The name that an expression begins with, and the command that reports which other library has it as a static
    /// variable.
    fn origin_request<'a>(&self, _frame: i64, _expression: &'a str) -> Option<(&'a str, String)> {
        None
    }

    /// The library in the answer to that command.
    fn origin_in<'a>(&self, _answer: &'a str) -> Option<&'a str> {
        None
    }

    /// A result as it is shown for an expression.
    fn computed_value(&self, _expression: &str, _value: &mut String) {}

    /// A new value as the adapter takes it, for a variable of a type.
    fn new_value<'a>(&self, _kind: Option<&str>, value: &'a str) -> &'a str {
        value
    }

    /// An expression that sets what a variable of a type refers to, where that is what is shown as its value and the
    /// adapter would set the reference itself.
    fn set_through(
        &self,
        _name: &str,
        _kind: &str,
        _value: &str,
        _is_rust: bool,
    ) -> Option<String> {
        None
    }

    /// What an expression divides by, where the adapter does not say that this is 0.
    fn divisors<'a>(&self, _expression: &'a str) -> Vec<&'a str> {
        Vec::new()
    }

    /// What an adapter says of an expression that failed, without what is of no use.
    fn evaluate_error(&self, message: String) -> String {
        message
    }

    /// Bytes at which the adapter cuts a value, without saying how much it cut.
    fn cuts_values_at(&self) -> Option<usize> {
        None
    }

    /// Whether it lists a changed variable as it was when the program stopped.
    fn shows_old_values(&self) -> bool {
        false
    }

    /// Whether a long container has entries that stand for others, whatever page is asked for.
    fn has_rest(&self) -> bool {
        false
    }

    /// Whether a child is such an entry.
    fn is_rest(&self, _child: &Variable) -> bool {
        false
    }

    /// With which filter a page of a container is asked for.
    fn page_filter(&self, _container: i64, filter: VariableFilter) -> VariableFilter {
        filter
    }

    /// Whether a child on a page of elements is none.
    fn is_no_element(&self, _child: &Variable) -> bool {
        false
    }
}

impl AdapterKind {
    /// Its table.
    pub(crate) fn quirks(self) -> &'static dyn Quirks {
        match self {
            Self::Debugpy => &super::debugpy::Debugpy,
            Self::Lldb => &super::lldb::Lldb,
            Self::Delve => &super::delve::Delve,
            Self::JsDebug => &super::js_debug::JsDebug,
        }
    }
}

/// A hit condition for adapters that compare: a plain number means that hit.
pub(super) fn numbered(condition: &str) -> String {
    let condition = condition.trim();
    let is_number = condition.parse::<u64>().is_ok();
    if is_number { format!("== {condition}") } else { condition.to_owned() }
}

/// What stands behind a marker.
pub(super) fn behind<'a>(marker: &str, output: &'a str) -> Option<&'a str> {
    Some(output[output.find(marker)? + marker.len()..].trim_start())
}

pub(super) fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().trim_end().to_owned()
}

/// The last line that has anything.
pub(super) fn last_line(text: &str) -> String {
    let mut lines = text.lines().rev().map(str::trim);
    lines.find(|line| !line.is_empty()).unwrap_or_default().to_owned()
}
