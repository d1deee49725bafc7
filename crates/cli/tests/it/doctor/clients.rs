//! `termbridge doctor` and MCP clients: what their entries start is started, and nothing of a project is.

use std::net::TcpListener;
use std::process::Stdio;

use serde_json::{Value, json};
use termbridge_testkit::TestEnvironment;

use super::{check, cursor, doctor, report, write_program};
use crate::TERMBRIDGE;
use crate::serving::Serving;

#[test]
fn what_a_client_has_configured_is_started() {
    let environment = TestEnvironment::new();
    cursor(&environment, TERMBRIDGE, &["mcp", "--toolsets", "compat"]);
    let gone = json!({"mcpServers": {"tb": {"command": "/gone/termbridge", "args": ["mcp"]}}});
    environment.write(".codeium/windsurf/mcp_config.json", gone.to_string());
    environment.write(".gemini/settings.json", "{}");
    environment.write(".codex/config.toml", "[mcp_servers\n");
    let (code, report) = report(&mut doctor(&environment, &["sh", "bash"]));
    assert_eq!(code, 1, "one is broken");
    let good = check(&report, "Cursor");
    assert_eq!(good["status"], "ok", "{good:#}");
    assert!(
        good["detail"].as_str().expect("text").ends_with(" starts and lists 7 tools"),
        "{good:#}"
    );
    let absent = check(&report, "Gemini CLI");
    assert_eq!(
        (&absent["status"], &absent["fix"]),
        (&json!("missing"), &json!("termbridge install gemini"))
    );
    let named = check(&report, "Windsurf (entry tb)");
    assert_eq!(named["fix"], "termbridge install windsurf --name tb --yes", "{named:#}");
    let broken = check(&report, "Codex");
    assert_eq!(broken["status"], "failed");
    assert!(broken["detail"].as_str().expect("text").contains("line 1, column"), "{broken:#}");
}

#[test]
fn an_entry_that_does_not_work_comes_with_the_command_that_helps() {
    let environment = TestEnvironment::new();
    let shell = "#!/bin/sh\nread hello\n";
    let old = r#"echo '{"jsonrpc":"2.0","id":1,"result":{"serverInfo":{"version":"0.0.1"}}}'; read a; read b
                 echo '{"jsonrpc":"2.0","id":2,"result":{"tools":[{}]}}'"#;
    let old = write_program(&environment, "old/termbridge", &format!("{shell}{old}\n"));
    let dead = write_program(
        &environment,
        "dead/termbridge",
        &format!("{shell}echo 'no library' >&2\nexit 3\n"),
    );
    let mute =
        write_program(&environment, "mute/termbridge", &format!("{shell}echo hello\nread more\n"));
    let gone = environment.path().join("gone/termbridge").display().to_string();
    let table: [(&str, &[&str], &str, &str); 6] = [
        (&gone, &["mcp"], "gone/termbridge does not exist", "failed"),
        (&old, &["mcp"], "is version 0.0.1, this is", "failed"),
        (&dead, &["mcp"], "no library", "failed"),
        (&mute, &["mcp"], "does not speak MCP", "failed"),
        (
            "npx",
            &["-y", "termbridge", "mcp"],
            "npx, which would run it, is not on your PATH",
            "failed",
        ),
        ("something", &["else"], "starts another program", "warning"),
    ];
    for (command, args, part, status) in table {
        cursor(&environment, command, args);
        let (code, report) = report(&mut doctor(&environment, &["sh", "bash"]));
        let found = check(&report, "Cursor");
        assert_eq!(
            (code == 1, &found["status"]),
            (status == "failed", &json!(status)),
            "{found:#}"
        );
        assert!(found["detail"].as_str().expect("text").contains(part), "{part}: {found:#}");
        assert!(
            found["fix"].as_str().expect("text").contains("termbridge install cursor"),
            "{found:#}"
        );
    }
}

#[test]
fn what_a_project_has_configured_is_not_started() {
    let environment = TestEnvironment::new();
    let mark = environment.path().join("was-started");
    let evil = format!("#!/bin/sh\ntouch {}\n", mark.display());
    let evil = write_program(&environment, "project/termbridge", &evil);
    let entry = json!({"mcpServers": {"termbridge": {"command": evil, "args": ["mcp"]}}});
    environment.write("project/.mcp.json", entry.to_string());
    let mut command = doctor(&environment, &["sh", "bash"]);
    let (_, report) = report(command.current_dir(environment.path().join("project")));
    let found = check(&report, "Claude Code in this project");
    assert!(found["detail"].as_str().expect("text").starts_with(".mcp.json starts `"), "{found:#}");
    assert!(!mark.exists(), "a project's files are whoever wrote them's");
}

#[test]
fn what_claude_code_has_for_one_folder_is_found() {
    let environment = TestEnvironment::new();
    let path = |name: &str| environment.path().join(name).display().to_string();
    environment.write("project/src/lib.rs", "");
    environment.write("project/.git/HEAD", "");
    let entry = json!({"type": "stdio", "command": TERMBRIDGE, "args": ["mcp"], "env": {}});
    let projects = json!({
        path("project"): {"mcpServers": {"termbridge": entry}, "history": []},
        path("other"): {"mcpServers": {"else": {"command": "x"}}},
        path("odd"): [1],
    });
    environment.write(".claude.json", json!({"projects": projects}).to_string());
    let mut command = doctor(&environment, &["sh", "bash"]);
    let (_, here) = report(command.current_dir(environment.path().join("project/src")));
    let found = check(&here, "Claude Code (for this folder only)");
    assert_eq!(found["status"], "ok", "{found:#}");
    let broken = environment.read(".claude.json").replace(TERMBRIDGE, "/gone/termbridge");
    environment.write(".claude.json", broken);
    let mut command = doctor(&environment, &["sh", "bash"]);
    let (code, here) = report(command.current_dir(environment.path().join("project/src")));
    let found = check(&here, "Claude Code (for this folder only)");
    let remove = json!("claude mcp remove --scope local termbridge");
    assert_eq!(
        (code, &found["fix"]),
        (1, &remove),
        "install would change another entry: {found:#}"
    );
    let (_, elsewhere) = report(&mut doctor(&environment, &["sh", "bash"]));
    let found = check(&elsewhere, "Claude Code");
    assert_eq!(
        (&found["status"], &found["detail"], &found["fix"]),
        (
            &json!("missing"),
            &json!("has termbridge in one other folder only"),
            &json!("termbridge install claude-code")
        )
    );
}

#[test]
fn what_a_package_runner_puts_on_the_path_is_not_where_clients_look() {
    let environment = TestEnvironment::new();
    let mut command = doctor(&environment, &["sh", "bash"]);
    write_program(&environment, ".npm/_npx/0a/node_modules/.bin/termbridge", "#!/bin/sh\n");
    let own = environment.path().join("bin").display().to_string();
    let cache = environment.path().join(".npm/_npx/0a/node_modules/.bin").display().to_string();
    command.env("PATH", format!("{cache}:{own}"));
    cursor(&environment, "termbridge", &["mcp"]);
    let output = command.arg("--json").output().expect("it runs");
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let found = check(&report, "Cursor");
    assert_eq!(found["detail"], "termbridge is not on your PATH", "{found:#}");
    // Nor does the user's shell find it there.
    let fix = format!("{TERMBRIDGE} uninstall cursor --yes && {TERMBRIDGE} install cursor --yes");
    assert_eq!((&found["status"], &found["fix"]), (&json!("failed"), &json!(fix)), "{found:#}");
}

#[test]
fn an_entry_that_uses_a_running_server_is_told_from_one_that_starts_another_program() {
    let serving = Serving::start(&[]);
    let environment = &serving.environment;
    let token = std::fs::read_to_string(serving.runtime().join("token")).expect("a token");
    let authorization = |token: &str| json!({"Authorization": format!("Bearer {}", token.trim())});
    let entry = |url: &str, headers: Value| {
        let entry = json!({"type": "http", "url": url, "headers": headers});
        environment
            .write(".cursor/mcp.json", json!({"mcpServers": {"termbridge": entry}}).to_string());
        let (_, report) = report(&mut doctor(environment, &["sh", "bash"]));
        let found = check(&report, "Cursor");
        (found["status"].clone(), found["detail"].clone(), found["fix"].clone())
    };
    let url = &serving.url;
    let detail = json!(format!("uses the server at {url}, which accepts it"));
    let found = entry(&format!("{url}?key=secret"), authorization(&token));
    assert_eq!(found, (json!("ok"), detail, json!(null)));
    // As the README has it, and without a header.
    for (headers, why) in [
        (
            authorization("TOKEN"),
            "which refuses the entry's token: it is unknown, expired or revoked",
        ),
        (json!({}), "which needs a token: the entry has none"),
    ] {
        let (status, detail, fix) = entry(url, headers);
        let expected = json!(format!("uses the server at {url}, {why}"));
        assert_eq!((status, detail), (json!("failed"), expected));
        assert!(
            fix.as_str().is_some_and(|fix| fix.starts_with("termbridge token create")),
            "{fix}"
        );
    }
    // Only the client knows the value.
    let (status, detail, _) = entry(url, authorization("${input:token}"));
    assert_eq!(status, "ok", "{detail}");
    let codex = |header: &str| {
        let entry = format!("[mcp_servers.termbridge]\nurl = {url:?}\n{header}\n");
        environment.write(".codex/config.toml", entry);
        let (_, report) = report(&mut doctor(environment, &["sh", "bash"]));
        check(&report, "Codex")["status"].clone()
    };
    assert_eq!(codex("http_headers = { Authorization = \"Bearer TOKEN\" }"), "failed");
    assert_eq!(codex("bearer_token_env_var = \"TOKEN\""), "ok");
    let (status, detail, _) = entry(&url.replace("/mcp", "/mpc"), authorization(&token));
    assert_eq!(status, "failed", "{detail}");
    let free = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address");
    let (status, _, fix) = entry(&format!("http://{free}/mcp"), authorization(&token));
    assert_eq!((status, fix), (json!("failed"), json!("termbridge serve")));
    let (status, detail, _) = entry("https://example.com/mcp", json!({}));
    assert_eq!((status, detail), (json!("info"), json!("uses a server elsewhere; not tried")));
    cursor(environment, TERMBRIDGE, &["mpc"]);
    let (_, report) = report(&mut doctor(environment, &["sh", "bash"]));
    let found = check(&report, "Cursor");
    assert!(found["fix"].as_str().is_some_and(|fix| fix.ends_with("--force")), "{found:#}");
}

#[test]
fn a_projects_program_that_is_not_on_the_path_is_named() {
    let environment = TestEnvironment::new();
    let entry = json!({"mcpServers": {"termbridge": {"command": "termbridge", "args": ["mcp"]}}});
    environment.write("project/.mcp.json", entry.to_string());
    let mut command = doctor(&environment, &["sh", "bash"]);
    let (_, report) = report(command.current_dir(environment.path().join("project")));
    let found = check(&report, "Claude Code in this project");
    assert_eq!(found["status"], "warning", "{found:#}");
    let detail = ".mcp.json starts `termbridge`, which is not on your PATH";
    assert_eq!(found["detail"], detail, "{found:#}");
}

#[test]
fn this_program_is_known_under_another_name() {
    let environment = TestEnvironment::new();
    let path = environment.path().join("bin/term-0.1");
    let mut command = doctor(&environment, &["sh", "bash"]);
    if std::fs::hard_link(TERMBRIDGE, &path).is_err() {
        std::fs::copy(TERMBRIDGE, &path).expect("copied");
    }
    cursor(&environment, &path.display().to_string(), &["mcp"]);
    let (_, other) = report(&mut command);
    assert_eq!(check(&other, "Cursor")["status"], "warning", "{other:#}");
    let mut renamed = environment.command(&path);
    renamed.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let (_, own) = report(renamed.arg("doctor").stdin(Stdio::null()));
    assert_eq!(check(&own, "Cursor")["status"], "ok", "{own:#}");
}
