//! Our own tools against the contract.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};
use termbridge_catalog::{Catalog, Kind, Origin, manifest, typescript};

/// What a model may have to read of all enabled tools: name, description, input schema.
const MOST_READ: usize = 26_000;

/// Each tool of the contract: its arguments, the required ones marked, with their defaults.
const CONTRACT: &[(&str, &str)] = &[
    (
        "breakpoint_set",
        "path line text function variable access sessionId condition hitCondition logMessage",
    ),
    ("breakpoint_remove", "path line function variable"),
    ("breakpoint_clear_file", "path!"),
    ("breakpoint_clear_project", ""),
    ("breakpoint_list", ""),
    (
        "debug_start",
        "launch inputs program core module runtime runtimeArgs type args cwd env stopOnEntry justMyCode console exceptions folder timeoutMs=30000 wait=false",
    ),
    ("debug_attach", "pid host port type exceptions"),
    ("debug_stop", "sessionId"),
    ("debug_restart", "sessionId timeoutMs=30000 wait=false"),
    ("debug_status", ""),
    ("debug_continue", "sessionId timeoutMs=30000 wait=true"),
    ("debug_step_over", "sessionId timeoutMs=5000"),
    ("debug_step_into", "sessionId timeoutMs=5000"),
    ("debug_step_out", "sessionId timeoutMs=5000"),
    ("debug_pause", "sessionId"),
    ("debug_set_next_line", "line! path sessionId timeoutMs=5000"),
    ("debug_wait_for_hit", "sessionId timeoutMs=30000"),
    ("debug_stack", "sessionId threadId start count"),
    ("debug_threads", "sessionId threadId start count"),
    ("debug_scopes", "frameId! sessionId"),
    ("debug_evaluate", "expression! frameId context sessionId"),
    ("debug_list_variables", "scope=\"all\" maxDepth=3 frameId sessionId"),
    ("debug_get_variable", "variablesReference! start=0 count=100 filter=\"all\""),
    ("debug_set_variable", "name! value! variablesReference sessionId"),
    (
        "debug_save_variable",
        "outputPath! expression! pageSize=500 maxItems context=\"watch\" sessionId",
    ),
    ("debug_tracker", ""),
    ("dap_logs", "sessionId count=20 category=\"all\" search since reverse=false showSource=true"),
    ("dap_search", "pattern! sessionId category contextLines=2 limit=50 caseSensitive=false"),
    ("dap_exceptions", "sessionId count=10 withContext=true contextLines=5"),
    ("dap_filter", "filters! sessionId"),
    ("dap_stats", "sessionId groupBy=\"category\" includeCharts=true"),
    ("dap_summary", "sessionId compact=false"),
    ("dap_timeline", "sessionId eventTypes window granularity=\"all\" fromEnd=false"),
    ("dap_compare", "sessionA! sessionB! compareBy=\"counts\""),
    ("test_debug_single", "path! line name column=1 exceptions timeoutMs=30000"),
    ("diagnostic_collect", "path"),
    ("symbol_navigate", "path symbol nodeId action"),
    ("symbol_calls", "path symbol nodeId direction"),
    ("symbol_rename", "path symbol nodeId newName!"),
    ("code_replace_method", "path symbol nodeId replacement!"),
    ("search_symbol_search", "query mode path kinds limit=100"),
    ("editor_get_context", ""),
    ("editor_goto_line", "path! line! column=1"),
    ("editor_show_testing_ui", ""),
    ("util_restart_vscode", ""),
    ("bridge_status", ""),
    ("docs_list", "category tags"),
    ("docs_get", "id!"),
];

#[test]
fn every_tool_of_the_contract_takes_what_it_says() {
    let catalog = Catalog::own();
    for (name, arguments) in CONTRACT {
        let tool = catalog.get(name).unwrap_or_else(|| panic!("{name} is missing"));
        let schema = tool.input_schema();
        let properties = schema["properties"].as_object().expect("properties");
        let mut named = BTreeSet::new();
        for argument in arguments.split_whitespace() {
            let (argument, default) = match argument.split_once('=') {
                Some((argument, default)) => (argument, serde_json::from_str(default).ok()),
                None => (argument, None::<Value>),
            };
            let required = argument.ends_with('!');
            let argument = argument.trim_end_matches('!');
            named.insert(argument.to_owned());
            let property = &schema["properties"][argument];
            let is_required = schema["required"]
                .as_array()
                .is_some_and(|all| all.iter().any(|one| one == argument));
            assert!(property.is_object(), "{name} takes no {argument}");
            assert_eq!(is_required, required, "{name}: {argument}");
            if default.is_some() {
                assert_eq!(property.get("default"), default.as_ref(), "{name}: {argument}");
            }
        }
        let all: BTreeSet<String> = properties.keys().cloned().collect();
        assert_eq!(all, named, "{name}");
        assert_eq!(schema["additionalProperties"], false);
    }
    assert_eq!(catalog.all().count(), CONTRACT.len(), "no tool beside the contract");
    assert!(catalog.enabled().count() >= 40);
}

#[test]
fn what_a_model_reads_stays_small() {
    let mut read = Vec::new();
    for tool in Catalog::own().enabled() {
        let seen = json!({
            "name": tool.name(), "description": tool.description(), "inputSchema": tool.input_schema(),
        });
        read.push((seen.to_string().len(), tool.name().to_owned()));
    }
    let total: usize = read.iter().map(|(bytes, _)| bytes).sum();
    read.sort();
    assert!(total <= MOST_READ, "{total} bytes; the largest: {:?}", &read[read.len() - 5..]);
}

#[test]
fn names_follow_from_aliases_and_group_by_thing() {
    for tool in Catalog::own().all() {
        assert_eq!(tool.name(), tool.alias().replace(['.', '-'], "_"));
        assert!(tool.name().starts_with(tool.category()), "{}", tool.name());
        assert_eq!(tool.origin(), &Origin::Own);
    }
}

#[test]
fn other_names_lead_to_the_same_tool() {
    let catalog = Catalog::own();
    for (other, name) in [
        ("breakpoint_add", "breakpoint_set"),
        ("variable_list", "debug_list_variables"),
        ("variable_set", "debug_set_variable"),
    ] {
        assert_eq!(catalog.get(other).map(termbridge_catalog::Tool::name), Some(name));
        assert!(catalog.enabled().all(|tool| tool.name() != other), "{other} is not listed");
    }
    assert!(catalog.get("no_such_tool").is_none());
}

#[test]
fn safety_reaches_the_annotations() {
    let catalog = Catalog::own();
    let hints = |name: &str| catalog.get(name).unwrap().definition()["annotations"].clone();
    let hint = |read: bool, destroy: bool, same: bool| json!({"readOnlyHint": read, "destructiveHint": destroy, "idempotentHint": same});
    assert_eq!(hints("breakpoint_list"), hint(true, false, true));
    assert_eq!(hints("breakpoint_set"), hint(false, false, true));
    assert_eq!(hints("debug_stop"), hint(false, true, true));
    assert_eq!(hints("debug_set_variable"), hint(false, true, true));
    assert_eq!(hints("debug_evaluate"), hint(false, false, false));
    assert_eq!(hints("bridge_status"), hint(true, false, true));
    // Language servers run build scripts.
    for name in ["symbol_navigate", "symbol_calls", "search_symbol_search"] {
        assert_eq!(hints(name), hint(false, false, true), "{name}");
    }
}

#[test]
fn descriptions_say_what_goes_before() {
    let catalog = Catalog::own();
    let description = catalog.get("debug_continue").unwrap().description();
    assert!(description.ends_with("Use after debug_start."), "{description}");
}

#[test]
fn timeouts_are_those_of_the_metadata() {
    let catalog = Catalog::own();
    let timeout = |name: &str| catalog.get(name).unwrap().timeout();
    assert_eq!(timeout("breakpoint_set"), Some(Duration::from_secs(5)));
    assert_eq!(timeout("debug_wait_for_hit"), Some(Duration::from_secs(90)));
    for tool in catalog.all() {
        let default = &tool.input_schema()["properties"]["timeoutMs"]["default"];
        let own = tool.timeout().unwrap_or(termbridge_catalog::DEFAULT_TIMEOUT);
        let waits = default.as_u64().map(Duration::from_millis);
        assert!(waits.is_none_or(|waits| waits <= own), "{} ends before its wait", tool.name());
    }
}

#[test]
fn errors_are_the_contracts_with_a_hint_each() {
    let codes = "E_NO_SESSION E_NOT_PAUSED E_NOT_STOPPED E_TIMEOUT E_CANCELLED E_ABORTED \
        E_INVALID_PARAMS E_FILE_NOT_FOUND E_INVALID_PATH E_INVALID_LINE E_LAUNCH_FAILED \
        E_PROGRAM_EXITED E_STALE_REFERENCE E_INVALID_REFERENCE E_NOT_EXPANDABLE E_EVALUATE_FAILED \
        E_READ_ONLY E_UNSUPPORTED_CAPABILITY E_LARGE_DATA E_BUSY E_NO_LANGUAGE_SERVER \
        E_AMBIGUOUS_SYMBOL E_SYMBOL_NOT_FOUND E_NO_TEST_AT_CURSOR E_DISCOVERY_FAILED \
        E_SCRIPT_NOT_FOUND E_BRIDGE_NOT_FOUND E_BRIDGE_UNAVAILABLE E_PICKUP_TIMEOUT E_NO_RESPONSE \
        E_CAPACITY E_CIRCUIT_OPEN E_ADAPTER_NOT_FOUND E_INTERNAL";
    let own: Vec<&str> = Catalog::errors().iter().map(|error| &*error.code).collect();
    assert_eq!(own, codes.split_whitespace().collect::<Vec<_>>());
    assert!(Catalog::errors().iter().all(|error| !error.hint.is_empty()));
    assert!(Catalog::error("E_NO_SESSION").unwrap().hint.contains("debug_start"));
}

#[test]
fn commands_are_made_of_the_alias_and_the_arguments() {
    let catalog = Catalog::own();
    let command = catalog.get("breakpoint_set").unwrap().command_line();
    assert_eq!(command.words, ["breakpoint", "set"]);
    let flags: Vec<&str> = command.flags.iter().map(|flag| &*flag.long).collect();
    let own = ["condition", "hit-condition", "line", "log-message", "path", "text"];
    assert!(own.iter().all(|flag| flags.contains(flag)), "{flags:?}");
    let flag = |name: &str| command.flags.iter().find(|flag| flag.name == name).unwrap();
    assert_eq!(flag("line").kind, Kind::Integer);
    assert!(!flag("line").required && !flag("path").required);
    let clear = catalog.get("breakpoint_clear_file").unwrap().command_line();
    assert!(clear.flags[0].required);
    let start = catalog.get("debug_start").unwrap().command_line();
    let kind = start.flags.iter().find(|flag| flag.name == "type").unwrap();
    assert_eq!(kind.options, ["python", "rust", "c", "cpp", "go", "node"]);
}

#[test]
fn the_envelope_is_in_the_output_schema() {
    let catalog = Catalog::own();
    let schema = catalog.get("breakpoint_list").unwrap().output_schema();
    let properties = &schema["properties"];
    assert_eq!(properties["ok"]["type"], "boolean");
    assert_eq!(properties["data"]["properties"]["total"]["type"], "integer");
    assert_eq!(properties["error"]["properties"]["code"]["type"], "string");
    assert!(schema.get("required").is_none());
}

#[test]
fn the_manifest_says_all_and_can_be_read_back() {
    let catalog = Catalog::own();
    let manifest = manifest(&catalog);
    let script = &manifest["scripts"]["breakpoint.clear.file"];
    assert_eq!(script["scriptRelPath"], "breakpoint/clear-file.js");
    assert_eq!(manifest["scripts"].as_object().unwrap().len(), CONTRACT.len());
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join(".vsc-bridge")).unwrap();
    let text = serde_json::to_string_pretty(&manifest).unwrap();
    std::fs::write(folder.path().join(".vsc-bridge/manifest.json"), text).unwrap();
    let (read, warnings) = Catalog::with_workspace(folder.path(), &[]);
    assert_eq!((read, warnings), (catalog, Vec::new()), "nothing is new and nothing is wrong");
}

#[test]
fn types_name_every_script() {
    let text = typescript(&Catalog::own());
    for (name, _) in CONTRACT {
        assert!(text.contains(&format!("  {name}: '")), "{name}");
    }
    assert!(text.contains("    context: 'repl' | 'watch' | 'hover';"));
    assert!(text.contains("    args?: string[];"));
    assert!(text.contains("  | 'E_NO_SESSION'"));
}
