//! lldb-dap, under the names it had: `lldb-dap`, `lldb-dap-19`, `lldb-vscode-14`.
//!
//! Values are shown by formatters of ours. That of Rust's toolchain takes LLDB's word for which variant an
//! enum is, and LLDB's word is wrong; of C and C++, LLDB shows addresses where we show what is there.

mod arrays;
mod bit_fields;
mod dwarf;
mod enums;
mod expressions;
mod optimised;
mod quirks;
mod variables;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use regex::Regex;
use serde::Deserialize;
use serde_json::{Map, Value, json};

pub(crate) use self::quirks::Lldb;
use super::registry::{Missing, Search, configured};
use super::{Adapter, AdapterKind, Transport};
use crate::configuration::{CORE_FIELDS, Configuration, Request, set_default};
use crate::process::CommandLine;
use crate::protocol::Variable;

/// The variable that keeps LLVM from writing a backtrace; programs do not get it.
const NO_BACKTRACE: &str = "LLVM_DISABLE_SYMBOLIZATION";

/// Names, the newest first.
const NAMES: [&str; 2] = ["lldb-dap", "lldb-vscode"];

pub(super) fn find(search: &Search<'_>) -> Result<Adapter, Missing> {
    let found = match &search.paths.lldb {
        Some(path) => Some(configured(path, "lldb-dap")?.to_owned()),
        None => NAMES.iter().find_map(|name| {
            let plain = search.environment.find_program(name);
            plain.or_else(|| search.environment.find_numbered(name))
        }),
    };
    let command = found.ok_or_else(|| {
        "lldb-dap, lldb-dap-NUMBER and lldb-vscode-NUMBER are not on the search path".to_owned()
    })?;
    let mut command = CommandLine::new(command);
    // Version 19 falls at its end, and would leave the files of its own backtrace behind.
    command.env.push((NO_BACKTRACE.into(), Some("1".into())));
    Ok(Adapter { kind: AdapterKind::Lldb, transport: Transport::Stdio(command), interpreter: None })
}

pub(super) fn arguments(configuration: &Configuration) -> Map<String, Value> {
    let mut arguments = configuration.arguments();
    arguments.insert("type".to_owned(), json!("lldb-dap"));
    // The names of Microsoft's C++ debugger.
    if let Some(Value::Array(pairs)) = arguments.remove("environment") {
        let pairs = pairs
            .iter()
            .filter_map(|pair| Some((pair["name"].as_str()?.to_owned(), pair["value"].clone())));
        set_default(&mut arguments, "env", Value::Object(pairs.collect()));
    }
    if let Some(stop) = arguments.remove("stopAtEntry") {
        set_default(&mut arguments, "stopOnEntry", stop);
    }
    // Versions before 18 know only the list.
    if let Some(Value::Object(variables)) = arguments.get("env") {
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let list: Vec<_> =
            variables.iter().map(|(name, value)| format!("{name}={}", text(value))).collect();
        arguments.insert("env".to_owned(), json!(list));
    }
    if let Some(core) = configuration.core_file() {
        CORE_FIELDS.iter().for_each(|field| drop(arguments.remove(*field)));
        arguments.insert("coreFile".to_owned(), json!(core));
        arguments.insert("request".to_owned(), json!("attach"));
    } else if configuration.request == Request::Attach {
        if let Some(pid) = arguments.remove("processId") {
            set_default(&mut arguments, "pid", pid);
        }
        if let (Some(host), Some(port)) = (arguments.remove("host"), arguments.remove("port")) {
            set_default(&mut arguments, "gdb-remote-hostname", host);
            set_default(&mut arguments, "gdb-remote-port", port);
        }
    } else if arguments.get("console").is_some_and(|console| console != "internalConsole") {
        set_default(&mut arguments, "runInTerminal", json!(true));
    }
    arguments
}

/// C's names of what Rust has other names for; LLDB knows only those.
const BASIC: [(&str, &str); 14] = [
    ("unsigned __int128", "u128"),
    ("unsigned char", "u8"),
    ("unsigned short", "u16"),
    ("unsigned int", "u32"),
    ("unsigned long", "u64"),
    ("__int128", "i128"),
    ("signed char", "i8"),
    ("char32_t", "char"),
    ("short", "i16"),
    ("int", "i32"),
    ("long", "i64"),
    ("float", "f32"),
    ("double", "f64"),
    ("void", "()"),
];

/// A type of Rust as its source has it: without paths, without the usual allocator and hasher.
pub(super) fn rust_type(name: &str) -> String {
    let mut short = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '#' | '{' | '}');
        if !is_word(first) {
            short.push(first);
            rest = &rest[first.len_utf8()..];
            continue;
        }
        let basic = BASIC.iter().find(|(c, _)| {
            let after = rest.strip_prefix(c);
            after.is_some_and(|after| !after.starts_with(is_word) && !after.starts_with("::"))
        });
        if let Some((c, rust)) = basic {
            short.push_str(rust);
            rest = &rest[c.len()..];
            continue;
        }
        let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        match rest[end..].strip_prefix("::") {
            Some(after) => rest = after,
            None => {
                short.push_str(&rest[..end]);
                rest = &rest[end..];
            }
        }
    }
    let plain = short.replace(", Global>", ">").replace(", RandomState>", ">");
    let plain = plain.replace(", DefaultHashBuilder>", ">");
    plain_closure(&plain.replace(" >", ">").replace(" *", "*"))
}

/// How many pointers of plain addresses lead to what a type of Rust stands for, by its name in Rust or LLDB's.
pub(super) fn pointers_in(kind: &str) -> usize {
    let (mut rest, mut count) = (kind.trim_end_matches('*'), 0);
    loop {
        let boxed = || rest.strip_prefix("Box<")?.strip_suffix('>');
        let signs = ["&mut ", "&", "*const ", "*mut "];
        let Some(target) = signs.iter().find_map(|sign| rest.strip_prefix(sign)).or_else(boxed)
        else {
            break;
        };
        (rest, count) = (target, count + 1);
    }
    // One to what has no fixed size is no plain address.
    let is_wide =
        rest == "str" || rest.starts_with("dyn ") || (rest.starts_with('[') && !has_length(rest));
    kind.len() - kind.trim_end_matches('*').len() + count - usize::from(is_wide && count > 0)
}

/// Whether `[T]` is an array and no slice.
fn has_length(array: &str) -> bool {
    let length = array.trim_end_matches(']').rsplit_once("; ");
    length.is_some_and(|(_, length)| length.bytes().all(|digit| digit.is_ascii_digit()))
}

/// How the compiler begins the name of a closure's type.
pub(super) const CLOSURE: &str = "{closure_env#";

/// A type or value without the names that the compiler gives to closures.
pub(super) fn plain_closure(text: &str) -> String {
    let (mut plain, mut rest) = (String::new(), text);
    while let Some((before, behind)) = rest.split_once(CLOSURE) {
        plain.push_str(before);
        plain.push_str("closure");
        rest = behind.split_once('}').map_or("", |(_, behind)| behind);
    }
    plain + rest
}

/// The name of a variable without its place (`n @ main.rs:3`), which lldb-dap adds where several have the name.
fn name_with_place(name: &str) -> Option<&str> {
    let (name, place) = name.split_once(" @ ")?;
    let is_line = |line: &str| !line.is_empty() && line.bytes().all(|byte| byte.is_ascii_digit());
    let has_line = place.rsplit_once(':').is_some_and(|(_, line)| is_line(line));
    let is_name = name.chars().all(|c| c.is_alphanumeric() || c == '_');
    (has_line && is_name).then_some(name)
}

/// Of variables with one name and one place, leaves the innermost that has a value, which lldb-dap lists last.
pub(super) fn keep_innermost(variables: &mut Vec<Variable>) {
    if !variables.iter().any(|variable| name_with_place(&variable.name).is_some()) {
        return;
    }
    let is_set = |variable: &Variable| !variable.value.ends_with(UNSET_END);
    let set = variables.iter().filter(|variable| is_set(variable));
    let set: HashSet<_> = set.map(|variable| variable.name.clone()).collect();
    let mut seen = HashSet::new();
    variables.reverse();
    variables.retain(|variable| {
        let is_wanted = is_set(variable) || !set.contains(&variable.name);
        name_with_place(&variable.name).is_none()
            || (is_wanted && seen.insert(variable.name.clone()))
    });
    variables.reverse();
    // A name that is left once needs no place.
    let mut counts: HashMap<String, usize> = HashMap::new();
    for name in variables.iter().filter_map(|variable| name_with_place(&variable.name)) {
        *counts.entry(name.to_owned()).or_default() += 1;
    }
    for variable in variables {
        let alone = name_with_place(&variable.name).filter(|name| counts[*name] == 1);
        if let Some(name) = alone.map(str::to_owned) {
            variable.name = name;
        }
    }
}

/// The last of the references that lldb-dap has for scopes: locals, globals, registers.
pub(super) const LAST_SCOPE: i64 = 3;

/// What stands before the text of our formatters.
pub(super) const MARK: char = '\u{1f}';
/// What stands between a type's name in Rust and the text.
const TYPE_END: char = '\u{1e}';
/// What stands before each value of a log message: where the text before it ends, nothing else tells.
pub(super) const VALUE_START: char = '\u{1d}';

/// Functions of Rust's libraries, which a step into a line passes over: by path, or of an implementation for a type of
/// theirs (`<alloc::vec::Vec<T> as …>::index`), also as symbols have it. Of newer symbols LLDB has no name; our command
/// leaves those.
const RUST_LIBRARIES: &str = "^(std|core|alloc|hashbrown)::|^_?([$]LT[$]|<)(&|[$]RF[$])*(std|core|alloc|hashbrown)([.][.]|::)";

/// What our formatters show for a variable that has no value yet.
pub(super) const UNSET: &str = "<not set yet>";
/// What they show for a static variable that the linker removed.
pub(super) const REMOVED: &str = "<not readable: the linker removed it>";
/// How the text of one ends that has none yet, or may have none.
const UNSET_END: &str = "not set yet>";

/// A value that a formatter of ours made.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct OwnText<'a> {
    /// What LLDB puts before it.
    pub(super) before: &'a str,
    /// The type where LLDB's name of it is C's.
    pub(super) kind: Option<&'a str>,
    pub(super) text: &'a str,
}

pub(super) fn own_text(value: &str) -> Option<OwnText<'_>> {
    let (before, own) = value.split_once(MARK)?;
    let (kind, text) = match own.split_once(TYPE_END) {
        Some((kind, text)) => (Some(kind), text),
        None => (None, own),
    };
    Some(OwnText { before, kind, text })
}

/// A command of our formatters, as lldb-dap takes it in `repl`.
pub(super) fn origin_command(frame: i64, name: &str) -> String {
    format!("`termbridge-origin {frame} {name}")
}

/// What our own evaluator made of an expression.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum OwnResult {
    /// A value that LLDB knows by a name.
    Named { name: String },
    /// A number or a text.
    Plain {
        text: String,
        #[serde(rename = "type")]
        kind: String,
    },
    /// It has no value.
    Failed { error: String },
}

/// A log message's output without the marks, and without what LLDB puts between the start of a value and our text.
pub(super) fn without_marks(text: &str) -> String {
    static BEFORE: LazyLock<Regex> = LazyLock::new(|| {
        // A constant.
        Regex::new(r"\x1d(?:[^\x1d\x1f]*\x1f(?:[^\x1d-\x1f]*\x1e)?)?").expect("a valid pattern")
    });
    static UNIT: LazyLock<Regex> = LazyLock::new(|| {
        // A constant.
        Regex::new(r"<error: error: Couldn't materialize: couldn't get the value of variable \w+: Unable to determine byte size\.\n[^>]*>")
            .expect("a valid pattern")
    });
    // Of a variable without a size it is Rust's `()`; C has none.
    UNIT.replace_all(&BEFORE.replace_all(text, ""), "()").into_owned()
}

/// A program's output without what LLDB writes at each hit of a data breakpoint.
pub(super) fn without_watchpoints(output: String) -> String {
    static REPORT: LazyLock<Regex> = LazyLock::new(|| {
        // A constant.
        Regex::new(r"(?m)^\n?Watchpoint \d+ hit:\n(?:(?:old|new) value: .*\n)+")
            .expect("a valid pattern")
    });
    if REPORT.is_match(&output) { REPORT.replace_all(&output, "").into_owned() } else { output }
}

/// An error of LLDB's expressions without the place in a text that nobody sees.
pub(super) fn plain_error(text: &str) -> String {
    let mut lines = text.lines();
    let first = lines.next().unwrap_or_default().trim_start_matches("error: ");
    // What it is about may stand below.
    if first.ends_with(':')
        && let Some(next) = lines.next()
    {
        return format!("{first} {}", next.trim());
    }
    let placed = ["<user expression ", "<lldb wrapper prefix>"]
        .iter()
        .find_map(|place| first.strip_prefix(place)?.split_once(": "));
    let message = placed.map_or(first, |(_, message)| message);
    let hidden = message.strip_suffix("' in namespace '$__lldb_local_vars'");
    match hidden.and_then(|hidden| hidden.strip_prefix("no member named '")) {
        Some(name) => format!(
            "LLDB cannot use {name} in an expression, since it is a word of C++ or Objective-C: read {name} alone"
        ),
        None => message.to_owned(),
    }
}

/// What shows the values of a program: formatters of ours, which the adapter loads.
#[derive(Debug)]
pub(crate) struct Formatter {
    /// Where the debug information is.
    program: Option<PathBuf>,
    is_rust: bool,
    /// Steps pass over libraries.
    is_own_code: bool,
}

/// The parts of the formatters.
const COMMON: (&str, &str) = ("common.py", include_str!("lldb/common.py"));
const DECLARATIONS: (&str, &str) = ("declarations.py", include_str!("lldb/declarations.py"));
const REMOVED_STATICS: (&str, &str) = ("removed.py", include_str!("lldb/removed.py"));
const STATEMENTS: (&str, &str) = ("statements.py", include_str!("lldb/statements.py"));
const UNTOUCHED: (&str, &str) = ("untouched.py", include_str!("lldb/untouched.py"));
const RUST: (&str, &str) = ("rust_values.py", include_str!("lldb/rust_values.py"));
const RUST_CRATES: (&str, &str) = ("rust_crates.py", include_str!("lldb/rust_crates.py"));
const RUST_ENUMS: (&str, &str) = ("rust_enums.py", include_str!("lldb/rust_enums.py"));
const RUST_FIELDS: (&str, &str) = ("rust_fields.py", include_str!("lldb/rust_fields.py"));
const RUST_CONTAINERS: (&str, &str) =
    ("rust_containers.py", include_str!("lldb/rust_containers.py"));
const RUST_LIBRARY: (&str, &str) = ("rust_library.py", include_str!("lldb/rust_library.py"));
const RUST_FUTURES: (&str, &str) = ("rust_futures.py", include_str!("lldb/rust_futures.py"));
const RUST_INSIDE: (&str, &str) = ("rust_inside.py", include_str!("lldb/rust_inside.py"));
const RUST_NAMES: (&str, &str) = ("rust_names.py", include_str!("lldb/rust_names.py"));
const CPP_BITS: (&str, &str) = ("cpp_bits.py", include_str!("lldb/cpp_bits.py"));
const CPP_TEXT: (&str, &str) = ("cpp_text.py", include_str!("lldb/cpp_text.py"));
const CPP_ACCESS: (&str, &str) = ("cpp_access.py", include_str!("lldb/cpp_access.py"));
const CALCULATION: (&str, &str) = ("calculation.py", include_str!("lldb/calculation.py"));
const IMPORTING: (&str, &str) = ("importing.py", include_str!("lldb/importing.py"));
const STEPPING: (&str, &str) = ("stepping.py", include_str!("lldb/stepping.py"));
const READER: (&str, &str) = ("reader.py", include_str!("lldb/reader.py"));
const EVALUATOR: (&str, &str) = ("evaluator.py", include_str!("lldb/evaluator.py"));
const OWN_BREAKPOINTS: (&str, &str) =
    ("own_breakpoints.py", include_str!("lldb/own_breakpoints.py"));
const RUST_ACCESS: (&str, &str) = ("rust_access.py", include_str!("lldb/rust_access.py"));
const CPP: (&str, &str) = ("cpp_values.py", include_str!("lldb/cpp_values.py"));

impl Formatter {
    /// The language is read from the program, not from the configuration.
    pub(crate) fn of(configuration: &Configuration) -> Self {
        let program = debug_information(configuration);
        let is_rust = program.as_deref().is_some_and(enums::has_rust);
        let is_own_code = configuration.fields.get("justMyCode") != Some(&json!(false));
        Self { program, is_rust, is_own_code }
    }

    /// Whether it shows values of Rust.
    pub(crate) fn is_rust(&self) -> bool {
        self.is_rust
    }

    /// Puts itself into a folder and the command that loads it before the others.
    pub(crate) fn install(
        &self,
        folder: &Path,
        arguments: &mut Map<String, Value>,
    ) -> std::io::Result<()> {
        let (main, parts) = if self.is_rust {
            (
                RUST,
                &[
                    RUST_NAMES,
                    RUST_ENUMS,
                    RUST_FIELDS,
                    RUST_CONTAINERS,
                    RUST_LIBRARY,
                    RUST_FUTURES,
                    RUST_INSIDE,
                    RUST_ACCESS,
                    RUST_CRATES,
                    RUST,
                ][..],
            )
        } else {
            (CPP, &[CPP_TEXT, CPP_BITS, CPP_ACCESS, CALCULATION, CPP][..])
        };
        let shared = [
            COMMON,
            DECLARATIONS,
            REMOVED_STATICS,
            STATEMENTS,
            UNTOUCHED,
            IMPORTING,
            STEPPING,
            READER,
            EVALUATOR,
            OWN_BREAKPOINTS,
        ];
        for (name, text) in shared.iter().chain(parts) {
            std::fs::write(folder.join(name), text)?;
        }
        let main = folder.join(main.0);
        let mut commands = vec![
            json!(format!("command script import \"{}\"", main.display())),
            json!(format!("settings append target.unset-env-vars {NO_BACKTRACE}")),
        ];
        let passed_over = match (self.is_own_code, self.is_rust) {
            (true, false) => None,
            (true, true) => Some(RUST_LIBRARIES),
            (false, _) => {
                commands.push(json!("script stepping.LIBRARIES_ARE_LEFT = False"));
                Some("")
            }
        };
        commands.extend(passed_over.map(|names| {
            json!(format!("settings set target.process.thread.step-avoid-regexp \"{names}\""))
        }));
        if let Some(Value::Array(own)) = arguments.remove("initCommands") {
            commands.extend(own);
        }
        arguments.insert("initCommands".to_owned(), Value::Array(commands));
        Ok(())
    }

    /// Writes what the formatter has to know of a program, and returns the source files that were compiled with optimisation; it
    /// may take a while.
    pub(crate) fn describe(&self, folder: &Path) -> BTreeSet<PathBuf> {
        let Some(program) = &self.program else { return BTreeSet::new() };
        let optimised = optimised::files(program);
        let files = optimised.as_ref().map_or_else(|_| BTreeSet::new(), BTreeSet::clone);
        let mut described = vec![("optimised.json", optimised.map(|files| json!(files)))];
        if self.is_rust {
            described.push(("enums.json", enums::read(program).map(|enums| json!(enums))));
            let variables = variables::read(program).map(|variables| json!(variables));
            described.push(("variables.json", variables));
        } else {
            described.push(("arrays.json", arrays::read(program).map(|arrays| json!(arrays))));
            let structs = bit_fields::read(program).map(|structs| json!(structs));
            described.push(("bit_fields.json", structs));
        }
        for (name, described) in described {
            let written = described.and_then(|described| {
                let part = folder.join("types.part");
                std::fs::write(&part, serde_json::to_vec(&described)?)?;
                Ok(std::fs::rename(part, folder.join(name))?)
            });
            if let Err(error) = written {
                tracing::warn!(program = %program.display(), %error, name, "it is not described");
            }
        }
        files
    }
}

/// The file that has a program's debug information.
fn debug_information(configuration: &Configuration) -> Option<PathBuf> {
    let program = configuration.executable()?;
    // On macOS it lies beside the program.
    let name = program.file_name()?;
    let beside = program.with_file_name(format!("{}.dSYM", name.to_string_lossy()));
    let beside = beside.join("Contents/Resources/DWARF").join(name);
    Some(if beside.is_file() { beside } else { program })
}

/// Why no breakpoint of a program can be bound, if it has no debug information.
pub(super) fn unbound_reason(configuration: &Configuration) -> Option<String> {
    let has_any = dwarf::has_any(&debug_information(configuration)?).ok()?;
    let program = configuration.program_name();
    (!has_any).then(|| {
        format!(
            "{program} has no debug information: build it with it (C and C++: -g; Rust: a profile with debug = true and without strip)"
        )
    })
}
