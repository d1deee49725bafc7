//! lldb-dap, under the names it had: `lldb-dap`, `lldb-dap-19`, `lldb-vscode-14`.

use std::path::PathBuf;

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

pub(super) fn arguments(configuration: &Configuration, search: &Search<'_>) -> Map<String, Value> {
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
    // They look at every value, so they cost time where there is nothing of Rust.
    let is_c = matches!(configuration.kind.as_str(), "c" | "cpp" | "cppdbg");
    let mut commands = if is_c { Vec::new() } else { rust_formatters(search) };
    if let Some(Value::Array(own)) = arguments.remove("initCommands") {
        commands.extend(own);
    }
    arguments.insert("initCommands".to_owned(), Value::Array(commands));
    arguments
}

/// Commands that make values of Rust look like Rust, when its toolchain is there.
fn rust_formatters(search: &Search<'_>) -> Vec<Value> {
    let sysroot = search.cache.sysroot(search.folder, || sysroot(search));
    let Some(folder) = sysroot.map(|sysroot| sysroot.join("lib/rustlib/etc")) else {
        return Vec::new();
    };
    let (lookup, commands) = (folder.join("lldb_lookup.py"), folder.join("lldb_commands"));
    if !lookup.is_file() || !commands.is_file() {
        return Vec::new();
    }
    vec![
        json!(format!("command script import \"{}\"", lookup.display())),
        json!(format!("command source -s 1 \"{}\"", commands.display())),
    ]
}

fn sysroot(search: &Search<'_>) -> Option<PathBuf> {
    let rustc = search.environment.find_program("rustc")?;
    // A project may choose its own toolchain.
    let answer = CommandLine::new(rustc).args(["--print", "sysroot"]).cwd(search.folder).probe()?;
    Some(PathBuf::from(String::from_utf8_lossy(&answer).trim()))
}
