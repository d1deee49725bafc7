//! `termbridge install` and `uninstall` in a home of their own.

use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use termbridge_testkit::TestEnvironment;

use crate::TERMBRIDGE;
use crate::support::{App, repository};

const CURSOR: &str = ".cursor/mcp.json";
const ZED: &str = ".config/zed/settings.json";

/// A home in which two clients are found.
fn home() -> TestEnvironment {
    let environment = TestEnvironment::new();
    environment.write(CURSOR, "{\n  \"mcpServers\": {}\n}\n");
    environment.write(ZED, "// mine\n{\n  \"vim_mode\": true,\n}\n");
    environment
}

fn run(environment: &TestEnvironment, words: &[&str]) -> (Option<i32>, String, String) {
    run_by(environment.command(TERMBRIDGE), words)
}

fn run_by(mut command: Command, words: &[&str]) -> (Option<i32>, String, String) {
    let output = command.args(words).stdin(Stdio::null()).output().expect("runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[track_caller]
fn ok(environment: &TestEnvironment, words: &[&str]) -> String {
    let (code, out, err) = run(environment, words);
    assert_eq!((code, err.as_str()), (Some(0), ""), "{words:?}: {out}");
    out
}

#[track_caller]
fn parsed(environment: &TestEnvironment, file: &str) -> Value {
    serde_json::from_str(&environment.read(file)).expect("JSON")
}

#[test]
fn every_client_that_is_found_gets_it_and_loses_it_again() {
    let environment = home();
    let before = [CURSOR, ZED].map(|file| environment.read(file));
    let out = ok(&environment, &["install", "--yes"]);
    assert!(out.contains("Cursor: added to ~/.cursor/mcp.json; restart it\n"), "{out}");
    assert!(out.contains("Zed: added to ~/.config/zed/settings.json\n"), "{out}");
    assert!(out.contains("Not found: Claude Code, Claude Desktop, "), "{out}");
    assert!(out.contains("~/.local/state/termbridge/backups\n"), "{out}");
    assert!(out.contains("+    \"termbridge\": {\n") && !out.contains('\x1b'), "{out}");
    let entry = parsed(&environment, CURSOR)["mcpServers"]["termbridge"].take();
    assert_eq!(entry, json!({"command": TERMBRIDGE, "args": ["mcp"]}));
    let out = ok(&environment, &["install"]);
    assert!(
        out.contains("Cursor: already in ~/.cursor/mcp.json\n") && !out.contains("@@"),
        "{out}"
    );
    let out = ok(&environment, &["uninstall", "--yes"]);
    assert!(out.contains("Zed: removed from ~/.config/zed/settings.json\n"), "{out}");
    assert_eq!([CURSOR, ZED].map(|file| environment.read(file)), before);
    let out = ok(&environment, &["uninstall"]);
    assert!(out.contains("Cursor: not in ~/.cursor/mcp.json\n"), "{out}");
}

#[test]
fn the_skill_is_written_where_clients_look_for_it_and_removed_again() {
    let environment = home();
    environment.write(".claude/settings.json", "{}");
    environment.write(".codex/config.toml", "");
    let [claude, codex, cursor] = [".claude", ".agents", ".cursor"]
        .map(|folder| format!("{folder}/skills/termbridge/SKILL.md"));
    let out = ok(&environment, &["install", "--yes"]);
    assert!(!out.contains("SKILL.md"), "only where it is wanted: {out}");
    let out = ok(&environment, &["install", "--yes", "--skill"]);
    let line = "Claude Code: added to ~/.claude/skills/termbridge/SKILL.md; start a new session\n";
    assert!(out.contains(line), "{out}");
    let skill = std::fs::read_to_string(repository("skills/termbridge/SKILL.md")).expect("there");
    for file in [&claude, &codex, &cursor] {
        assert_eq!(environment.read(file), skill, "{file}");
    }
    assert!(!environment.path().join(".config/zed/skills").exists(), "Zed knows no skills");
    // Our older version is updated, someone else's file is left alone.
    environment.write(&claude, "---\nname: termbridge\n---\nold\n");
    environment.write(&codex, "mine\n");
    let (code, out, _) = run(&environment, &["install", "--yes", "--skill"]);
    assert_eq!(code, Some(1));
    assert!(out.contains("Claude Code: updated in ~/.claude/skills/termbridge/SKILL.md"), "{out}");
    assert!(out.contains("Codex: not changed: ") && out.contains("--force replaces it"), "{out}");
    ok(&environment, &["install", "--yes", "--skill", "--force", "codex"]);
    assert_eq!(environment.read(&codex), skill);
    ok(&environment, &["uninstall", "--yes"]);
    assert!(!environment.path().join(".claude/skills").exists(), "with the folders that were made");
    assert!(environment.path().join(".claude/settings.json").exists());
    assert_eq!(environment.read(&codex), "mine\n", "as it was");
    assert!(!ok(&environment, &["uninstall"]).contains("SKILL.md"));
    let project = environment.path().join("project");
    std::fs::create_dir(&project).expect("a folder");
    let mut command = environment.command(TERMBRIDGE);
    command.current_dir(&project);
    let words = ["install", "--yes", "--skill", "--scope", "project", "claude-code"];
    let (code, _, err) = run_by(command, &words);
    assert_eq!(code, Some(0), "{err}");
    assert_eq!(environment.read("project/.claude/skills/termbridge/SKILL.md"), skill);
}

#[test]
fn the_skill_is_short_and_names_tools_that_there_are() {
    let skill = std::fs::read_to_string(repository("skills/termbridge/SKILL.md")).expect("there");
    assert!(skill.starts_with("---\nname: termbridge\ndescription: "), "{skill}");
    assert!(skill.lines().count() <= 60);
    let environment = TestEnvironment::new();
    let tools = ok(&environment, &["tools"]);
    let tools: Value = serde_json::from_str(&tools).expect("JSON");
    let tools = tools["tools"].as_array().expect("a list");
    let properties = |name: &str| {
        let tool = tools.iter().find(|tool| tool["name"] == name);
        tool.map(|tool| tool["inputSchema"]["properties"].clone())
    };
    let words = skill.split('`').skip(1).step_by(2).filter(|word| word.contains('_'));
    let arguments = ["timeout_ms", "timeout_ms: 0", "needs_input"];
    for word in words.filter(|word| !arguments.contains(word)) {
        assert!(properties(word).is_some(), "no tool {word}");
    }
    let examples: Vec<&str> = skill.lines().filter_map(|line| line.strip_prefix("    ")).collect();
    assert_eq!(examples.len(), 11);
    for example in examples {
        let (tool, arguments) = example.split_once(' ').expect("a tool and arguments");
        let properties = properties(tool).unwrap_or_else(|| panic!("no tool {tool}"));
        let arguments: Value = serde_json::from_str(arguments).expect("JSON");
        for name in arguments.as_object().expect("an object").keys() {
            assert!(properties.get(name).is_some(), "{tool} has no {name}");
        }
    }
}

#[test]
fn the_entry_that_was_written_starts_a_server() {
    let environment = home();
    ok(&environment, &["install", "--yes", "--toolsets", "compat", "cursor"]);
    let entry = parsed(&environment, CURSOR)["mcpServers"]["termbridge"].take();
    let args: Vec<&str> =
        entry["args"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
    assert_eq!(args, ["mcp", "--toolsets", "compat"]);
    let mut server = environment.server(entry["command"].as_str().expect("a path"), &args[1..]);
    let tools = server.request("tools/list", json!({})).expect("tools");
    assert_eq!(tools["tools"].as_array().map(Vec::len), Some(7));
}

#[test]
fn without_a_terminal_nothing_is_changed() {
    let environment = home();
    let before = environment.read(CURSOR);
    let (code, out, err) = run(&environment, &["install", "cursor"]);
    assert_eq!(code, Some(1));
    assert!(out.contains("Cursor: would be added to ~/.cursor/mcp.json\n"), "{out}");
    assert!(err.contains("`termbridge install --yes`"), "{err}");
    let out = ok(&environment, &["install", "--dry-run", "cursor", "codex"]);
    assert!(out.contains("--- /dev/null\n") && out.contains("Codex: would be added to"), "{out}");
    assert!(!environment.path().join(".codex").exists());
    assert_eq!(environment.read(CURSOR), before);
}

#[test]
fn a_person_is_asked() {
    for (answer, code) in [("n<Enter>", 1), ("<Enter>", 1), ("y<Enter>", 0)] {
        let environment = home();
        let before = environment.read(CURSOR);
        let launch = json!({"command": TERMBRIDGE, "args": ["install", "cursor"], "rows": 40});
        let mut app = App::launch(environment, launch);
        let screen = app.until("it asks", |screen| screen.contains("Change this file? [y/N]"));
        assert!(screen.contains("\"termbridge\": {"), "the change is shown: {}", screen.content());
        let (ended, screen) = app.keys_end(answer);
        assert_eq!(ended, Some(code), "{}", screen.content());
        let is_same = app.environment.read(CURSOR) == before;
        assert_eq!(is_same, code == 1, "{answer}");
    }
}

#[test]
fn json_for_programs() {
    let environment = home();
    let (code, out, _) = run(&environment, &["install", "--json"]);
    let report: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!((code, &report["applied"]), (Some(1), &json!(false)), "it does not ask");
    let report: Value =
        serde_json::from_str(&ok(&environment, &["install", "--json", "--yes"])).expect("JSON");
    assert_eq!((&report["command"], &report["applied"]), (&json!("install"), &json!(true)));
    let files = report["files"].as_array().expect("files");
    let file = files.iter().find(|file| file["client"] == "cursor").expect("Cursor's");
    assert_eq!(file["action"], "add");
    assert_eq!((&file["done"], &file["error"]), (&json!(true), &Value::Null));
    assert_eq!(file["path"], json!(environment.path().join(CURSOR)));
    assert!(file["diff"].as_str().is_some_and(|diff| diff.contains("+    \"termbridge\"")));
    let backup = file["backup"].as_str().expect("a backup");
    assert_eq!(std::fs::read_to_string(backup).expect("readable"), "{\n  \"mcpServers\": {}\n}\n");
    assert!(report["not_found"].as_array().expect("a list").contains(&json!("codex")));
}

#[test]
fn one_that_fails_does_not_keep_others_from_it() {
    let environment = home();
    environment.write(CURSOR, "{\n  \"mcpServers\": {\n");
    let (code, out, _) = run(&environment, &["install", "--yes"]);
    assert_eq!(code, Some(1));
    assert!(out.contains("Cursor: not changed: ") && out.contains("line 2, column 17: "), "{out}");
    assert!(out.contains("Zed: added to"), "{out}");
    assert_eq!(environment.read(CURSOR), "{\n  \"mcpServers\": {\n");
    environment.write(CURSOR, "{\"mcpServers\": {\"termbridge\": {\"url\": \"https://x\"}}}");
    let (code, out, _) = run(&environment, &["install", "--yes", "cursor"]);
    assert!(code == Some(1) && out.contains("starts another program; --force"), "{out}");
    let out = ok(&environment, &["install", "--yes", "--force", "cursor"]);
    assert!(out.contains("Cursor: replaced in"), "{out}");
}

#[test]
fn a_project_of_several_clients() {
    let environment = TestEnvironment::new();
    environment.write("bin/termbridge", "");
    environment.write("project/README", "");
    let project = |words: &[&str]| {
        let mut command = environment.command(TERMBRIDGE);
        command.current_dir(environment.path().join("project"));
        command.env("PATH", environment.path().join("bin"));
        run_by(command, &[&words[..1], &["--scope", "project", "--yes"], &words[1..]].concat())
    };
    let (code, _, err) = project(&["uninstall"]);
    assert!(code == Some(0) && err.contains("nothing to remove"), "{err}");
    let (code, out, err) = project(&["install"]);
    assert_eq!((code, out.as_str()), (Some(1), ""), "an empty folder is no one's");
    assert!(
        err.contains("no client is configured in this folder; name one: ")
            && err.contains("`termbridge install claude-code --scope project`"),
        "{err}"
    );
    let words = ["install", "--connect", "--name", "tb", "claude", "vscode", "vscodium", "codex"];
    assert_eq!(project(&words).0, Some(0));
    let claude = parsed(&environment, "project/.mcp.json");
    let args = json!(["mcp", "--connect"]);
    let expected = json!({"type": "stdio", "command": "termbridge", "args": args});
    assert_eq!(claude["mcpServers"]["tb"], expected, "no path of this machine");
    assert_eq!(parsed(&environment, "project/.vscode/mcp.json")["servers"]["tb"], expected);
    assert!(environment.read("project/.codex/config.toml").contains("[mcp_servers.tb]\n"));
    let (_, out, _) = project(&["uninstall", "--name", "other"]);
    assert!(out.contains("\nNot in this folder: Cursor, ") && !out.contains("Not found"), "{out}");
    let (code, _, err) = project(&["uninstall", "--name", "tb", "claude", "code", "codex"]);
    assert_eq!((code, err.as_str()), (Some(0), ""));
    for file in [".mcp.json", ".vscode/mcp.json", ".codex/config.toml"] {
        assert!(!environment.path().join("project").join(file).exists(), "{file}");
    }
    let (code, out, _) = project(&["install", "windsurf", "cursor"]);
    assert!(out.contains("Cursor: added to ") && code == Some(1), "{out}");
    let refused =
        "Windsurf: not changed: Windsurf has no configuration in projects; use --scope user";
    assert!(out.contains(refused), "{out}");
    let (_, out, _) = project(&["uninstall", "--json", "windsurf", "cursor"]);
    let report: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(
        (&report["files"][0]["done"], &report["files"][1]["done"]),
        (&json!(true), &json!(false))
    );
    assert_eq!(report["files"][1]["client"], "windsurf");
    std::fs::remove_file(environment.path().join("bin/termbridge")).expect("removed");
    let (code, _, err) = project(&["install", "claude"]);
    assert!(code == Some(0) && err.contains("termbridge is not on your PATH"), "{err}");
    let (code, _, err) = run(&environment, &["install", "--scope", "project", "claude"]);
    assert!(code == Some(1) && err.contains("this folder is your home"), "{err}");
}

#[test]
fn run_by_npx_or_uvx_the_entry_uses_them() {
    let environment = TestEnvironment::new();
    for (cache, command, args) in [
        (
            ".npm/_npx/0a1b/node_modules/@termbridge/linux-x64/bin",
            "npx",
            json!(["-y", "termbridge", "mcp"]),
        ),
        (".cache/uv/archive-v0/0a1b/bin", "uvx", json!(["termbridge-mcp", "mcp"])),
    ] {
        environment.write(CURSOR, "{}");
        let program = environment.path().join(cache).join("termbridge");
        std::fs::create_dir_all(program.parent().expect("a folder")).expect("made");
        if std::fs::hard_link(TERMBRIDGE, &program).is_err() {
            std::fs::copy(TERMBRIDGE, &program).expect("copied");
        }
        let runner = environment.write(&format!("bin/{command}"), "");
        std::fs::set_permissions(&runner, PermissionsExt::from_mode(0o755)).expect("a mode");
        let cached = |words: &[&str]| {
            let mut command = environment.command(&program);
            command.env("PATH", environment.path().join("bin"));
            run_by(command, words)
        };
        let (code, out, err) = cached(&["install", "--yes", "cursor"]);
        assert_eq!((code, err.as_str()), (Some(0), ""), "{out}");
        let entry = parsed(&environment, CURSOR)["mcpServers"]["termbridge"].take();
        assert_eq!(entry, json!({"command": command, "args": args}));
        let (code, _, _) = cached(&["uninstall", "--yes", "cursor"]);
        assert_eq!((code, environment.read(CURSOR).as_str()), (Some(0), "{}"));
    }
}

#[test]
fn a_package_that_came_from_a_file_is_not_looked_for_in_a_registry() {
    let environment = TestEnvironment::new();
    let npx = ".npm/_npx/0a/node_modules/@termbridge/linux-x64/bin/termbridge";
    environment
        .write(".npm/_npx/0a/package.json", r#"{"dependencies": {"termbridge": "file:../a.tgz"}}"#);
    let uvx = ".cache/uv/archive-v0/0a/bin/termbridge";
    let origin =
        ".cache/uv/archive-v0/0a/lib/python3.12/site-packages/termbridge_mcp-0.1.0.dist-info";
    environment.write(&format!("{origin}/direct_url.json"), "{}");
    for (place, runner) in [(npx, "npx"), (uvx, "uvx")] {
        environment.write(CURSOR, "{}");
        let program = environment.path().join(place);
        std::fs::create_dir_all(program.parent().expect("a folder")).expect("made");
        if std::fs::hard_link(TERMBRIDGE, &program).is_err() {
            std::fs::copy(TERMBRIDGE, &program).expect("copied");
        }
        let (code, _, err) = run_by(environment.command(&program), &["install", "--yes", "cursor"]);
        assert!(code == Some(0) && err.contains(&format!("{runner}'s cache")), "{err}");
        let entry = parsed(&environment, CURSOR)["mcpServers"]["termbridge"].take();
        assert_eq!(entry, json!({"command": program, "args": ["mcp"]}));
    }
}

#[test]
fn what_claude_code_has_for_one_folder_is_named() {
    let environment = TestEnvironment::new();
    let folder = environment.path().join("project");
    let entry = json!({"type": "stdio", "command": "termbridge", "args": ["mcp"]});
    let projects = json!({folder.display().to_string(): {"mcpServers": {"termbridge": entry}}});
    environment.write(".claude.json", json!({"projects": projects}).to_string());
    let told = "Claude Code has its own entry for ~/project, which takes precedence there: `claude mcp remove --scope local \
                termbridge` in that folder removes it\n";
    for words in [["install", "--yes"], ["uninstall", "--yes"]] {
        let out = ok(&environment, &words);
        assert!(out.contains(told), "{out}");
    }
    let foreign = json!({"mcpServers": {"termbridge": {"url": "http://127.0.0.1:1/mcp"}}});
    environment.write(CURSOR, foreign.to_string());
    let (code, out, _) = run(&environment, &["uninstall", "--yes", "cursor"]);
    assert!(code == Some(1) && out.contains("--force removes it anyway"), "{out}");
}

#[test]
fn without_room_the_file_stays_and_the_reason_is_said() {
    let environment = home();
    let before = environment.read(CURSOR);
    // A file that may not grow is as good as a full disk.
    let mut command = environment.command("bash");
    let line = format!("ulimit -f 0; trap '' XFSZ; exec {TERMBRIDGE} install --yes cursor | cat");
    let output = command.args(["-c", &line]).output().expect("runs");
    let out = String::from_utf8_lossy(&output.stdout);
    assert!(out.contains("Cursor: not changed: cannot write"), "{out}");
    assert_eq!(environment.read(CURSOR), before);
    let names = std::fs::read_dir(environment.path().join(".cursor")).expect("there").count();
    assert_eq!(names, 1, "no temporary file stays");
}

#[test]
fn mistakes_on_the_command_line() {
    let environment = home();
    let table: [(&[&str], &str); 6] = [
        (&["install", "emacs"], "no client \"emacs\"; there are: claude-code, "),
        (&["install", "--toolsets", "nope", "--yes"], "no toolset \"nope\""),
        (&["install", "--name", "a b", "--yes"], "\"a b\" cannot name a server"),
        (&["install", "--connect", "--toolsets", "debug"], "cannot be used with"),
        (
            &["install", "--scope", "project", "windsurf"],
            "Windsurf has no configuration in projects",
        ),
        (&["install", "--command", "", "cursor"], "--command is empty"),
    ];
    for (words, part) in table {
        let (code, out, err) = run(&environment, words);
        assert!(matches!(code, Some(1 | 2)) && out.is_empty(), "{words:?}: {out}");
        assert!(err.contains(part), "{words:?}: {err}");
    }
    let mut relative = environment.command(TERMBRIDGE);
    relative.env("HOME", "here");
    let (code, _, err) = run_by(relative, &["install", "--yes", "cursor"]);
    assert!(code == Some(1) && err.contains("HOME is not set, or relative"), "{err}");
    for command in ["install", "uninstall"] {
        let help = ok(&environment, &[command, "--help"]);
        assert!(help.contains("Examples:") && help.contains("Exit code:"), "{help}");
    }
}
