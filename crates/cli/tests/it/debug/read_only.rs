//! Tools that say `readOnlyHint` run nothing of the workspace; those that have to pass the policy.

use std::os::unix::fs::PermissionsExt;

use serde_json::{Map, Value, json};
use termbridge_mcp::client::Client;
use termbridge_testkit::{PROTOCOL, Server, TestEnvironment};

use crate::TERMBRIDGE;

/// Programs that a project brings and that tools would run for it.
const PROGRAMS: [&str; 9] = [
    ".venv/bin/python",
    ".venv/bin/pylsp",
    ".venv/bin/pyright-langserver",
    "venv/bin/python",
    "node_modules/.bin/typescript-language-server",
    "node_modules/.bin/tsc",
    "toolchain/bin/rust-analyzer",
    "toolchain/bin/rustc",
    "toolchain/bin/cargo",
];

/// Programs of the machine that tools would ask about themselves.
const MACHINE: [&str; 9] = [
    "python3",
    "python",
    "lldb-dap",
    "dlv",
    "node",
    "rust-analyzer",
    "pyright-langserver",
    "gopls",
    "typescript-language-server",
];

/// A workspace in which everything that can be run leaves its name in `ran`.
struct Trap {
    environment: TestEnvironment,
}

impl Trap {
    fn new() -> Self {
        let environment = TestEnvironment::new();
        let ran = environment.path().join("ran").display().to_string();
        let trap = Self { environment };
        PROGRAMS.iter().for_each(|name| trap.program(name));
        let environment = &trap.environment;
        let python = format!("open({ran:?}, 'a').write(__file__ + '\\n')\n");
        for name in ["conftest.py", "debugpy.py", "contextlib.py", "sitecustomize.py", "app.py"] {
            environment.write(name, &python);
        }
        let rust = format!("fn main() {{ std::fs::write({ran:?}, \"build.rs\\n\").unwrap(); }}\n");
        environment.write("build.rs", rust);
        environment.write("Cargo.toml", "[package]\nname = \"trap\"\nedition = \"2021\"\n");
        environment.write("rust-toolchain.toml", "[toolchain]\npath = \"toolchain\"\n");
        environment.write("src/main.rs", "fn main() {}\n");
        environment.write("package.json", r#"{"name": "trap"}"#);
        environment.write("app.ts", "function main() {}\n");
        let metadata = "alias: trap.run\ndescription: x\nmcp:\n  safety: {read_only: true}\n";
        environment.write("src/vsc-scripts/trap.meta.yaml", metadata);
        trap
    }

    /// A program that leaves its name.
    fn program(&self, name: &str) {
        let ran = self.environment.path().join("ran");
        let script = format!("#!/bin/sh\necho {name} >> {}\nexit 1\n", ran.display());
        let path = self.environment.write(name, script);
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).expect("a mode");
    }

    fn ran(&self) -> String {
        std::fs::read_to_string(self.environment.path().join("ran")).unwrap_or_default()
    }
}

fn definitions(server: &mut Server) -> Vec<Value> {
    let list = server.request("tools/list", json!({})).expect("the tools");
    list["tools"].as_array().expect("a list").clone()
}

/// Arguments that a tool's schema accepts, about a file of the workspace where it asks for one.
fn arguments(tool: &Value, file: &str) -> Value {
    let schema = &tool["inputSchema"];
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let mut names: Vec<&str> = required.collect();
    let offered = |name: &str| schema["properties"].get(name).is_some();
    names.extend(["path", "symbol"].into_iter().filter(|name| offered(name)));
    let value = |name: &str| {
        let property = &schema["properties"][name];
        match (property["enum"].as_array(), property["type"].as_str()) {
            (Some(values), _) => values[0].clone(),
            (_, Some("integer" | "number")) => property.get("minimum").cloned().unwrap_or(json!(1)),
            (_, Some("array")) => json!([]),
            _ if name == "path" => json!(file),
            _ => json!("main"),
        }
    };
    Value::Object(
        names.into_iter().map(|name| (name.to_owned(), value(name))).collect::<Map<_, _>>(),
    )
}

#[test]
fn read_only_tools_run_nothing_of_the_workspace() {
    let trap = Trap::new();
    let mut server = trap.environment.server(TERMBRIDGE, &["--toolsets", "terminal,debug,compat"]);
    let tools = definitions(&mut server);
    let read_only: Vec<&Value> =
        tools.iter().filter(|tool| tool["annotations"]["readOnlyHint"] == true).collect();
    let has = |name: &str| read_only.iter().any(|tool| tool["name"] == name);
    assert!(has("bridge_status") && has("view_screen") && has("breakpoint_list"));
    for tool in &read_only {
        for file in ["app.py", "src/main.rs", "app.ts"] {
            let name = tool["name"].as_str().expect("a name");
            let mut arguments = arguments(tool, file);
            for wait in ["timeoutMs", "timeout_ms"] {
                if tool["inputSchema"]["properties"].get(wait).is_some() {
                    arguments[wait] = json!(1000);
                }
            }
            // Most have nothing to show here.
            server.call(name, arguments).expect("an answer");
            assert_eq!(trap.ran(), "", "{name} of {file} ran something");
        }
    }
    assert!(!tools.iter().any(|tool| tool["name"] == "trap_run"), "a tool that nobody wanted");
}

#[test]
fn the_status_starts_nothing_at_all() {
    let trap = Trap::new();
    let path = trap.environment.path();
    for name in MACHINE {
        trap.program(&format!("machine/{name}"));
    }
    trap.environment.write("other-venv/pyvenv.cfg", "home = /nowhere\n");
    trap.program("other-venv/bin/python");
    trap.environment.write("other-venv/lib/python3.12/site-packages/debugpy/__init__.py", "");
    let mut command = trap.environment.command(TERMBRIDGE);
    // Not below the workspace: interpreters of the machine were asked.
    let workspace = path.join("workspace");
    std::fs::create_dir(&workspace).expect("a folder");
    command.args(["mcp", "--toolsets", "debug", "--workspace"]).arg(workspace);
    command.env("PATH", path.join("machine")).env("VIRTUAL_ENV", path.join("other-venv"));
    let mut server = Client::start(&mut command).expect("starts");
    server.initialize(PROTOCOL).expect("shakes hands");
    let answer = server.call("bridge_status", json!({})).expect("answers");
    assert_eq!(trap.ran(), "");
    let status = &answer.structured["data"];
    let adapters = status["adapters"].as_array().expect("adapters");
    let found: Vec<&str> = adapters.iter().filter_map(|adapter| adapter["path"].as_str()).collect();
    assert!(found[0].starts_with(path.join("other-venv/bin/python").to_str().expect("a path")));
    assert_eq!(found.len(), 3, "all but js-debug: {status:#}");
    let servers = status["languageServers"].as_array().expect("servers");
    assert!(servers.iter().all(|server| server["program"].is_string()), "{status:#}");
    assert!(status["note"].as_str().expect("a note").contains("termbridge doctor"), "{status:#}");
}

#[test]
fn what_runs_a_projects_code_passes_the_policy() {
    let trap = Trap::new();
    let deny = "[policy]\ndeny = [\"typescript-language-server\", \"tsc\", \"ruff\", \"cargo\"]\n";
    trap.environment.write(".config/termbridge/config.toml", deny);
    trap.environment.write("tsconfig.json", "{}");
    let mut server = trap.environment.server(TERMBRIDGE, &["--toolsets", "debug"]);
    let which = json!({"path": "app.ts", "symbol": "main"});
    for tool in ["symbol_navigate", "symbol_calls"] {
        assert_eq!(server.error(tool, which.clone()).0, "COMMAND_BLOCKED", "{tool}");
    }
    let search = json!({"query": "main", "mode": "document", "path": "app.ts"});
    assert_eq!(server.error("search_symbol_search", search).0, "COMMAND_BLOCKED");
    let found = server.ok("diagnostic_collect", json!({"path": "app.ts"})).structured;
    assert_eq!(found["data"]["tools"][0]["status"], "failed", "{found:#}");
    let test = json!({"path": "src/main.rs", "line": 1});
    server.call("test_debug_single", test).expect("an answer");
    assert_eq!(trap.ran(), "");
}
