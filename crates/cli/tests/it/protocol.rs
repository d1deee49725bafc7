//! JSON-RPC and the handshake: what a client gets for good and bad messages.

use serde_json::{Value, json};
use termbridge_mcp::client::{Client, ClientError};
use termbridge_testkit::TestEnvironment;

use crate::TERMBRIDGE;

/// What a model may read of the tools: names, descriptions and input schemas.
const TOOL_BYTES: usize = 12 * 1024;
/// The same of the debugging tools.
const DEBUG_BYTES: usize = 26 * 1024;
/// Tools that are offered by default, and what a model reads of them.
const TOOLS: usize = 30;
const DEFAULT_BYTES: usize = 17_500;
/// The whole default list where answers' schemas are left out.
const TEXT_LIST_BYTES: usize = 26 * 1024;
/// The whole list, answers' schemas and all.
const LIST_BYTES: usize = 24 * 1024;

#[test]
fn every_protocol_version_is_spoken() {
    let environment = TestEnvironment::new();
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut client = Client::start(environment.command(TERMBRIDGE).arg("mcp")).expect("starts");
        let answer = client.initialize(version).expect("answers");
        assert_eq!(answer["protocolVersion"], version);
        assert_eq!(answer["serverInfo"]["name"], "termbridge");
        let tools = client.request("tools/list", json!({})).expect("lists");
        assert!(tools["tools"].as_array().is_some_and(|tools| tools.len() == TOOLS), "{version}");
        assert_eq!(client.close().expect("ends").code(), Some(0));
    }
    // The newest has no handshake: every request says what it speaks.
    let mut client = Client::start(environment.command(TERMBRIDGE).arg("mcp")).expect("starts");
    let meta = json!({"_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }});
    let found = client.request("server/discover", meta.clone()).expect("discovers");
    let versions = found["supportedVersions"].as_array().cloned().unwrap_or_default();
    assert!(versions.contains(&json!("2026-07-28")), "{found}");
    let tools = client.request("tools/list", meta).expect("lists");
    assert!(tools["tools"].as_array().is_some_and(|tools| tools.len() == TOOLS));
}

#[test]
fn faults_get_the_codes_of_json_rpc() {
    let environment = TestEnvironment::new();
    let mut server = environment.server(TERMBRIDGE, &[]);
    let table = [
        ("this is not json", -32700),
        ("{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": ", -32700),
        ("[]", -32600),
        ("[{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}]", -32600),
        ("42", -32600),
        ("{\"hello\": true}", -32600),
    ];
    for (line, code) in table {
        server.send_line(line).expect("sent");
        let answer = server.receive(|message| message.get("error").is_some()).expect("answered");
        assert_eq!(answer["error"]["code"], code, "{line}: {answer}");
    }
    let table = [
        ("no/such/method", json!({}), -32601),
        ("tools/call", json!({}), -32602),
        ("tools/call", json!({"name": 3}), -32602),
        ("tools/call", json!({"name": "no_such_tool"}), -32602),
        ("tools/call", json!({"name": "list_sessions", "arguments": []}), -32602),
    ];
    for (method, params, expected) in table {
        match server.request(method, params.clone()) {
            Err(ClientError::Rpc { code, message }) => {
                assert_eq!(code, expected, "{method} {params}: {message}");
                if params["name"] == "no_such_tool" {
                    assert_eq!(message, "Unknown tool: no_such_tool");
                }
            }
            other => panic!("{method} {params}: {other:?}"),
        }
    }
    server.ok("list_sessions", json!({}));
}

#[test]
fn a_message_without_end_is_refused_and_the_next_one_served() {
    let environment = TestEnvironment::new();
    let mut server = environment.server(TERMBRIDGE, &[]);
    server.send_line(&"x".repeat(17 * 1024 * 1024)).expect("sent");
    let answer = server.receive(|message| message.get("error").is_some()).expect("answered");
    assert_eq!(answer["error"]["code"], -32600);
    server.ok("list_sessions", json!({}));
}

#[test]
fn what_a_model_reads_is_small() {
    let environment = TestEnvironment::new();
    let tools_of = |toolset: &str| {
        let mut server = environment.server(TERMBRIDGE, &["--toolsets", toolset]);
        let tools = server.request("tools/list", json!({})).expect("lists");
        tools["tools"].as_array().expect("tools").clone()
    };
    let read = |tools: &[Value]| -> usize {
        let sizes = tools.iter().map(|tool| {
            let part = |name: &str| tool[name].clone();
            let read =
                ["name", "description", "inputSchema"].map(|name| (name.to_owned(), part(name)));
            Value::Object(read.into_iter().collect()).to_string().len()
        });
        sizes.sum()
    };
    let usual = tools_of("terminal,debug-core");
    assert!(usual.len() == TOOLS && read(&usual) <= DEFAULT_BYTES, "{} bytes", read(&usual));
    let debug = tools_of("debug");
    assert!(debug.len() >= 40 && read(&debug) <= DEBUG_BYTES, "{} bytes", read(&debug));
    let tools = tools_of("terminal");
    assert!(read(&tools) <= TOOL_BYTES, "{} bytes", read(&tools));
    let whole = Value::Array(tools.clone()).to_string().len();
    assert!(whole <= LIST_BYTES, "{whole} bytes");
    for tool in &tools {
        assert!(tool["title"].is_string() && tool["outputSchema"].is_object(), "{}", tool["name"]);
        for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
            assert!(tool["annotations"][hint].is_boolean(), "{} {hint}", tool["name"]);
        }
        let text = tool.to_string();
        for noise in ["\"format\":\"uint", "$schema", "\"null\"", "\"minimum\":0"] {
            assert!(!text.contains(noise), "{} has {noise}", tool["name"]);
        }
    }
}

/// Fails where an `enum` holds anything but text: Gemini and strict clients refuse the whole list then.
fn check_options(schema: &Value, tool: &str) {
    match schema {
        Value::Object(fields) => {
            if let Some(Value::Array(options)) = fields.get("enum") {
                assert!(options.iter().all(Value::is_string), "{tool}: {options:?}");
            }
            fields.values().for_each(|field| check_options(field, tool));
        }
        Value::Array(items) => items.iter().for_each(|item| check_options(item, tool)),
        _ => {}
    }
}

#[test]
fn options_are_texts_in_every_format() {
    let environment = TestEnvironment::new();
    for format in ["mcp", "openai", "gemini"] {
        let mut command = environment.command(TERMBRIDGE);
        command.args(["tools", "--toolsets", "terminal,debug,compat", "--format", format]);
        let printed = command.output().expect("it runs").stdout;
        let printed: Value = serde_json::from_slice(&printed).expect("JSON");
        assert!(printed.to_string().matches("\"enum\"").count() > 10, "{format}");
        check_options(&printed, format);
    }
}

#[test]
fn bad_arguments_name_the_argument() {
    let environment = TestEnvironment::new();
    let mut server = environment.server(TERMBRIDGE, &[]);
    let id = server.launch(json!({"command": "cat"}));
    let table: [(&str, Value, &[&str]); 34] = [
        ("launch_app", json!({}), &["`command` is missing", "string"]),
        ("launch_app", json!({"command": 5}), &["`command`", "the number 5", "a string"]),
        (
            "launch_app",
            json!({"command": "cat", "colums": 5}),
            &["unknown argument `colums`", "cols"],
        ),
        ("launch_app", json!({"command": "cat", "cols": 1}), &["`cols`", "from 2 to 1000"]),
        ("launch_app", json!({"command": "cat", "rows": 1001}), &["`rows`", "from 1 to 1000"]),
        ("launch_app", json!({"command": "cat", "args": 5}), &["`args`", "array of strings"]),
        ("launch_app", json!({"command": "cat", "args": "'x"}), &["`args`", "array of strings"]),
        ("launch_app", json!({"program": "cat"}), &["`program`", "Did you mean `command`?"]),
        (
            "execute_command",
            json!({"command": "ls", "workdir": "/"}),
            &["`workdir`", "Did you mean `cwd`?"],
        ),
        (
            "send_keys",
            json!({"session_id": id, "mouse": {"x": 1, "row": 1}}),
            &["`mouse.x`", "Did you mean `mouse.col`?"],
        ),
        ("switch_session", json!({"name": "db"}), &["`name`", "Did you mean `session_id`?"]),
        (
            "launch_app",
            json!({"command": "cat", "args": ["x", [1]]}),
            &["`args[1]`", "the array [1]"],
        ),
        ("launch_app", json!({"command": "cat", "env": {"A": {}}}), &["`env.A`", "a string"]),
        ("launch_app", json!({"command": "no-such-program"}), &["not found", "no-such-program"]),
        ("launch_app", json!({"command": "cat | cat"}), &["not found", "`args`"]),
        ("launch_app", json!({"command": "cat ~/notes"}), &["not found", "`args`"]),
        ("launch_app", json!({"command": "no-such-program -A"}), &["not found", "no-such-program"]),
        ("launch_app", json!({"command": "cat", "cwd": "/nowhere"}), &["/nowhere", "`cwd`"]),
        ("launch_app", json!({"command": "cat", "host": "ssh://x"}), &["unknown argument `host`"]),
        (
            "launch_app",
            json!({"command": "cat", "target": "ssh://x"}),
            &["no target \"ssh://x\"", "local, vscode"],
        ),
        ("view_screen", json!({"session_id": id, "format": "jpeg"}), &["`format`", "plain, raw"]),
        (
            "view_screen",
            json!({"session_id": id, "region": {"row": 99, "col": 0, "rows": 1, "cols": 1}}),
            &["24 rows"],
        ),
        ("send_keys", json!({"session_id": id}), &["exactly one of"]),
        ("send_keys", json!({"session_id": id, "keys": "a", "text": "b"}), &["exactly one of"]),
        ("send_keys", json!({"session_id": id, "keys": "Ctrl+Entr"}), &["Ctrl+Enter"]),
        ("send_keys", json!({"session_id": id, "mouse": {"row": 1}}), &["mouse.row"]),
        (
            "send_keys",
            json!({"session_id": id, "mouse": {"row": 1, "col": 1}}),
            &["not asked for mouse"],
        ),
        (
            "send_keys",
            json!({"session_id": id, "keys": "a", "wait": {"txt": "x"}}),
            &["`wait.txt`", "idle_ms"],
        ),
        (
            "send_keys",
            json!({"session_id": id, "keys": "a", "wait": {"idle_ms": "soon"}}),
            &["`wait.idle_ms`", "an integer"],
        ),
        ("launch_app", json!({"command": "cat", "wait": {"exit": 1}}), &["`wait.exit`", "boolean"]),
        ("launch_app", json!({"command": "cat", "wait": {"timeout_ms": 5}}), &["no condition"]),
        ("wait_for", json!({"session_id": id}), &["no condition"]),
        ("wait_for", json!({"session_id": id, "regex": "("}), &["`regex`", "unclosed group"]),
        ("stop_app", json!({"session_id": id, "signal": "TREM"}), &["`signal`", "TREM"]),
    ];
    for (tool, arguments, parts) in table {
        let (code, text) = server.error(tool, arguments.clone());
        assert!(
            matches!(code.as_str(), "INVALID_INPUT" | "NOT_SUPPORTED"),
            "{tool} {arguments}: {text}"
        );
        for part in parts {
            assert!(text.contains(part), "{tool} {arguments}: {part:?} is not in {text:?}");
        }
    }
    for tool in [
        "view_screen",
        "send_keys",
        "wait_for",
        "get_cursor_position",
        "get_screen_size",
        "resize_terminal",
        "restart_app",
        "stop_app",
    ] {
        let mut arguments = json!({"session_id": "nobody"});
        if tool == "send_keys" {
            arguments["keys"] = "a".into();
        }
        if tool == "wait_for" {
            arguments["exit"] = true.into();
        }
        if tool == "resize_terminal" {
            arguments["cols"] = 80.into();
            arguments["rows"] = 24.into();
        }
        let (code, text) = server.error(tool, arguments);
        assert_eq!(code, "SESSION_NOT_FOUND", "{tool}");
        assert!(
            text.starts_with("[SESSION_NOT_FOUND] ") && text.contains("list_sessions"),
            "{text}"
        );
    }
    assert_eq!(
        server.ok("list_sessions", json!({})).structured["sessions"].as_array().map(Vec::len),
        Some(1)
    );
}

/// Asks as a client of that name; the answer to `tools/list`, to a call and to a call that fails.
fn as_client(name: &str, arguments: &[&str]) -> [Value; 3] {
    let environment = TestEnvironment::new();
    let mut command = environment.command(TERMBRIDGE);
    let mut client = Client::start(command.arg("mcp").args(arguments)).expect("starts");
    let hello = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": name, "version": "1"},
    });
    client.request("initialize", hello).expect("answers");
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    client.send(&ready).expect("sent");
    let mut ask = |method, parameters| client.request(method, parameters).expect("answered");
    let call = |tool, arguments| json!({"name": tool, "arguments": arguments});
    [
        ask("tools/list", json!({})),
        ask("tools/call", call("execute_command", json!({"command": "echo hi"}))),
        ask("tools/call", call("view_screen", json!({"session_id": "none"}))),
    ]
}

#[test]
fn clients_that_drop_the_text_get_no_structured_content() {
    for (client, arguments, is_structured) in [
        ("claude-code", &[][..], false),
        ("Visual Studio Code - Insiders", &[][..], false),
        ("cursor-vscode", &[][..], true),
        ("claude-code", &["--structured", "always"][..], true),
        ("anything", &["--structured", "never"][..], false),
    ] {
        let [tools, answer, error] = as_client(client, arguments);
        let listed = tools["tools"].as_array().expect("tools");
        let has_schemas = listed.iter().all(|tool| tool["outputSchema"].is_object());
        let without_schemas = listed.iter().all(|tool| tool.get("outputSchema").is_none());
        assert_eq!((has_schemas, without_schemas), (is_structured, !is_structured), "{client}");
        if !is_structured {
            let bytes = tools["tools"].to_string().len();
            assert!(bytes <= TEXT_LIST_BYTES, "{bytes} bytes");
        }
        for reply in [&answer, &error] {
            assert_eq!(reply["structuredContent"].is_object(), is_structured, "{client}: {reply}");
            assert_eq!(reply["content"].as_array().map(Vec::len), Some(1), "{reply}");
        }
        let text = answer["content"][0]["text"].as_str().expect("text");
        assert!(text.starts_with("hi\n[exit 0"), "{text}");
        let text = error["content"][0]["text"].as_str().expect("text");
        assert!(text.contains("SESSION_NOT_FOUND") && text.contains("list_sessions"), "{text}");
    }
}

#[test]
fn a_tool_that_is_not_offered_says_how_it_is() {
    let mut server = TestEnvironment::new().server(TERMBRIDGE, &[]);
    let call = json!({"name": "dap_logs", "arguments": {}});
    let refused = server.request("tools/call", call).expect_err("not offered").to_string();
    assert!(refused.contains("--toolsets terminal,debug"), "{refused}");
}

#[test]
fn tools_that_are_left_out_are_not_named() {
    let environment = TestEnvironment::new();
    let mut command = environment.command(TERMBRIDGE);
    command.args(["mcp", "--tools", "execute_command,view_screen,breakpoint_set"]);
    let mut client = Client::start(&mut command).expect("starts");
    let hello = client.initialize("2025-11-25").expect("answers");
    let told = hello["instructions"].as_str().expect("instructions");
    assert!(told.contains("execute_command"), "{told}");
    let tools = client.request("tools/list", json!({})).expect("lists")["tools"].clone();
    let described: Vec<&str> = tools
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|tool| tool["description"].as_str())
        .collect();
    assert!(
        described.len() == 3 && described.iter().all(|words| !words.is_empty()),
        "{described:?}"
    );
    let lost = client.call("view_screen", json!({"session_id": "nope"})).expect("answers").text;
    for left_out in
        ["get_terminal_output", "send_keys", "launch_app", "list_sessions", "debug_start"]
    {
        assert!(!told.contains(left_out), "{left_out} in: {told}");
        assert!(
            described.iter().all(|words| !words.contains(left_out)),
            "{left_out}: {described:?}"
        );
        assert!(!lost.contains(left_out), "{left_out} in: {lost}");
    }
}
