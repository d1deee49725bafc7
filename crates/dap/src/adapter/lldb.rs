//! lldb-dap, under the names it had: `lldb-dap`, `lldb-dap-19`, `lldb-vscode-14`.
//!
//! Values are shown by formatters of ours. That of Rust's toolchain takes LLDB's word for which variant an
//! enum is, and LLDB's word is wrong; of C and C++, LLDB shows addresses where we show what is there.

mod enums;

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Map, Value, json};

use super::registry::{Missing, Search, configured};
use super::{Adapter, AdapterKind, Transport};
use crate::configuration::{Configuration, Request, set_default};
use crate::process::CommandLine;

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
    Ok(Adapter {
        kind: AdapterKind::Lldb,
        transport: Transport::Stdio(CommandLine::new(command)),
        interpreter: None,
    })
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
    if configuration.request == Request::Attach {
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
    plain.replace(" >", ">").replace(" *", "*")
}

/// What stands before the text of our formatters.
pub(super) const MARK: char = '\u{1f}';

/// A text without the marks, and without what LLDB puts before them.
pub(super) fn without_marks(text: &str) -> String {
    static BEFORE: LazyLock<Regex> = LazyLock::new(|| {
        let value = r"(?:(?:0x|U\+0x)[0-9a-f]+|'[^']*'|[-+.0-9a-z]*[0-9]|nan|inf) \x1f|\x1f";
        // A constant.
        Regex::new(value).expect("a valid pattern")
    });
    BEFORE.replace_all(text, "").into_owned()
}

/// An error of LLDB's expressions without the place in a text that nobody sees.
pub(super) fn plain_error(text: &str) -> String {
    let first = text.lines().next().unwrap_or_default();
    let first = first.trim_start_matches("error: ");
    match first.strip_prefix("<user expression ").and_then(|rest| rest.split_once(": ")) {
        Some((_, message)) => message.to_owned(),
        None => first.to_owned(),
    }
}

/// What shows the values of a program: formatters of ours, which the adapter loads.
#[derive(Debug)]
pub(crate) struct Formatter {
    /// Where the debug information is, of a program that has anything of Rust.
    rust: Option<PathBuf>,
}

/// The parts of the formatters.
const COMMON: (&str, &str) = ("common.py", include_str!("lldb/common.py"));
const RUST: (&str, &str) = ("rust_values.py", include_str!("lldb/rust_values.py"));
const CPP: (&str, &str) = ("cpp_values.py", include_str!("lldb/cpp_values.py"));

impl Formatter {
    /// The language is read from the program, not from the configuration.
    pub(crate) fn of(configuration: &Configuration) -> Self {
        Self { rust: debug_information(configuration).filter(|program| enums::has_rust(program)) }
    }

    /// Whether it shows values of Rust.
    pub(crate) fn is_rust(&self) -> bool {
        self.rust.is_some()
    }

    /// Puts itself into a folder and the command that loads it before the others.
    pub(crate) fn install(
        &self,
        folder: &Path,
        arguments: &mut Map<String, Value>,
    ) -> std::io::Result<()> {
        let main = if self.is_rust() { RUST } else { CPP };
        for (name, text) in [COMMON, main] {
            std::fs::write(folder.join(name), text)?;
        }
        let main = folder.join(main.0);
        let mut commands = vec![json!(format!("command script import \"{}\"", main.display()))];
        if let Some(Value::Array(own)) = arguments.remove("initCommands") {
            commands.extend(own);
        }
        arguments.insert("initCommands".to_owned(), Value::Array(commands));
        Ok(())
    }

    /// Writes what the formatter has to know of a program's enums; it may take a while.
    pub(crate) fn describe_enums(&self, folder: &Path) {
        let Some(program) = &self.rust else { return };
        let described = enums::read(program).and_then(|enums| {
            let part = folder.join("enums.part");
            std::fs::write(&part, serde_json::to_vec(&enums)?)?;
            Ok(std::fs::rename(part, folder.join("enums.json"))?)
        });
        if let Err(error) = described {
            tracing::warn!(program = %program.display(), %error, "its enums are not described");
        }
    }
}

/// The file that has a program's debug information.
fn debug_information(configuration: &Configuration) -> Option<PathBuf> {
    let program = match configuration.request {
        Request::Launch => configuration.program_path()?,
        Request::Attach => {
            let pid = configuration.fields.get("pid").or(configuration.fields.get("processId"));
            pid.and_then(process_id).map(|pid| format!("/proc/{pid}/exe").into())?
        }
    };
    // On macOS it lies beside the program.
    let name = program.file_name()?;
    let beside = program.with_file_name(format!("{}.dSYM", name.to_string_lossy()));
    let beside = beside.join("Contents/Resources/DWARF").join(name);
    Some(if beside.is_file() { beside } else { program })
}

fn process_id(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}
