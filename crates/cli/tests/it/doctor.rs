//! `termbridge doctor`: what it finds, what it says to do, and that it leaves nothing behind.

mod clients;

use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use termbridge_testkit::TestEnvironment;

use crate::TERMBRIDGE;
use crate::support::program;

/// A doctor in a home of its own with nothing on its path but these programs: few things to start.
fn doctor(environment: &TestEnvironment, programs: &[&str]) -> Command {
    let folder = environment.path().join("bin");
    std::fs::create_dir_all(&folder).expect("a folder");
    for name in programs {
        let _ = symlink(program(name), folder.join(name));
    }
    let runtime = environment.path().join("run");
    std::fs::create_dir_all(&runtime).expect("a folder");
    let mut command = environment.command(TERMBRIDGE);
    command.env("PATH", folder).env("XDG_RUNTIME_DIR", runtime).arg("doctor").stdin(Stdio::null());
    command
}

#[track_caller]
fn report(command: &mut Command) -> (i32, Value) {
    let output = command.arg("--json").output().expect("it runs");
    // Fixes name it by its path here, where it is not on the search path.
    let text = String::from_utf8_lossy(&output.stdout);
    let report = serde_json::from_str(&text.replace(&format!("{TERMBRIDGE} "), "termbridge "));
    let complaints = String::from_utf8_lossy(&output.stderr);
    (
        output.status.code().expect("a code"),
        report.unwrap_or_else(|error| panic!("{error}: {complaints}")),
    )
}

#[track_caller]
fn check<'a>(report: &'a Value, name: &str) -> &'a Value {
    let checks = report["checks"].as_array().expect("a list");
    let found =
        checks.iter().find(|check| check["name"].as_str().is_some_and(|it| it.starts_with(name)));
    found.unwrap_or_else(|| panic!("no {name} in {report:#}"))
}

fn write_program(environment: &TestEnvironment, name: &str, text: &str) -> String {
    let path = environment.write(name, text);
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).expect("a mode");
    path.display().to_string()
}

fn cursor(environment: &TestEnvironment, command: &str, args: &[&str]) {
    let entry = json!({"command": command, "args": args, "env": {"TERMBRIDGE_MAX_SESSIONS": "7"}});
    environment.write(".cursor/mcp.json", json!({"mcpServers": {"termbridge": entry}}).to_string());
}

/// Every file below a folder.
fn files(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).expect("readable").flatten() {
            found.push(entry.path().display().to_string());
            if entry.file_type().expect("a type").is_dir() {
                open.push(entry.path());
            }
        }
    }
    found.sort();
    found
}

#[test]
fn the_shape_of_its_json_stays() {
    let environment = TestEnvironment::new();
    let (code, report) = report(&mut doctor(&environment, &["sh", "bash"]));
    assert_eq!(
        (code, &report["ok"], &report["failed"]),
        (0, &json!(true), &json!(0)),
        "{report:#}"
    );
    assert_eq!((&report["schema"], &report["system"]["os"]), (&json!(1), &json!("linux")));
    let statuses = ["ok", "info", "missing", "warning", "failed"];
    let groups = ["program", "terminals", "clients", "debugging", "server", "system"];
    for check in report["checks"].as_array().expect("a list") {
        let fields: Vec<&String> = check.as_object().expect("an object").keys().collect();
        assert_eq!(
            fields,
            ["data", "detail", "fix", "group", "milliseconds", "name", "status"],
            "{check:#}"
        );
        let status = check["status"].as_str().expect("text");
        assert!(statuses.contains(&status), "{check:#}");
        assert!(groups.contains(&check["group"].as_str().expect("text")), "{check:#}");
        let needs_fix = ["missing", "warning", "failed"].contains(&status);
        assert_eq!(check["fix"].is_string(), needs_fix, "what to do: {check:#}");
    }
    for name in [
        "termbridge",
        "terminals",
        "bash",
        "debugpy",
        "kernel",
        "ptrace",
        "open files",
        "port 8080",
        "server",
    ] {
        check(&report, name);
    }
    assert_eq!(check(&report, "bash")["data"]["default"], true);
    assert!(check(&report, "bash")["milliseconds"].is_u64());
}

#[test]
fn nothing_is_changed_and_nothing_stays() {
    let environment = TestEnvironment::new();
    let mut command = doctor(&environment, &["sh", "bash", "dash", "ksh"]);
    cursor(&environment, TERMBRIDGE, &["mcp", "--connect"]);
    let temporary = environment.path().join("tmp");
    std::fs::create_dir(&temporary).expect("a folder");
    let before = files(environment.path());
    let (code, report) = report(command.env("TMPDIR", &temporary));
    assert_eq!(code, 0, "{report:#}");
    assert_eq!(check(&report, "Cursor")["status"], "ok", "{report:#}");
    assert_eq!(check(&report, "server")["detail"], "none runs, and none has run", "{report:#}");
    assert_eq!(files(environment.path()), before, "no server, no history, no folder");
}

#[test]
fn the_launcher_of_the_npm_package_is_no_other_program() {
    let environment = TestEnvironment::new();
    let mut command = doctor(&environment, &["sh", "bash"]);
    let modules = environment.path().join("lib/node_modules");
    let own = modules.join("termbridge/node_modules/@termbridge/linux-x64/bin/termbridge");
    std::fs::create_dir_all(own.parent().expect("a folder")).expect("made");
    if std::fs::hard_link(TERMBRIDGE, &own).is_err() {
        std::fs::copy(TERMBRIDGE, &own).expect("copied");
    }
    let launcher = "lib/node_modules/termbridge/bin/termbridge.js";
    let launcher = write_program(&environment, launcher, "#!/bin/sh\necho termbridge 9\n");
    symlink(&launcher, environment.path().join("bin/termbridge")).expect("a link");
    let of = |program: &Path, command: &mut Command| {
        let mut other = environment.command(program);
        other.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        report(other.arg("doctor").stdin(Stdio::null())).1
    };
    let has_other = |report: &Value| {
        report["checks"].as_array().expect("a list").iter().any(|check| check["name"] == "PATH")
    };
    assert!(!has_other(&of(&own, &mut command)), "it is what started this");
    assert!(has_other(&of(Path::new(TERMBRIDGE), &mut command)), "it starts another");
}

#[test]
fn a_runtime_folder_that_is_not_there_is_named() {
    let environment = TestEnvironment::new();
    let mut command = doctor(&environment, &["sh", "bash"]);
    let (code, report) = report(command.env("XDG_RUNTIME_DIR", "/run/user/nobody"));
    let found = check(&report, "runtime folder");
    assert_eq!((code, &found["fix"]), (1, &json!("unset XDG_RUNTIME_DIR")), "{found:#}");
    assert!(
        found["detail"].as_str().expect("text").contains("XDG_RUNTIME_DIR is /run"),
        "{found:#}"
    );
}

/// A program that leaves a file behind when it runs.
fn trap(environment: &TestEnvironment, name: &str) {
    let mark = environment.path().join("was-started");
    write_program(environment, name, &format!("#!/bin/sh\necho {name} >>{}\n", mark.display()));
}

#[test]
fn nothing_that_a_project_brings_along_is_started() {
    let environment = TestEnvironment::new();
    for name in [
        "node_modules/.bin/typescript-language-server",
        ".venv/bin/python",
        ".venv/bin/pylsp",
        ".venv/bin/pyright-langserver",
        "rust-analyzer",
        "termbridge",
        "lldb-dap",
    ] {
        trap(&environment, &format!("project/{name}"));
    }
    environment.write("project/.venv/lib/python3.12/site-packages/debugpy/adapter/__init__.py", "");
    environment.write("project/.venv/lib/python3.12/site-packages/debugpy/__init__.py", "");
    environment.write("project/.venv/pyvenv.cfg", "");
    let mark = environment.path().join("was-started");
    let started = || std::fs::read_to_string(&mark).unwrap_or_default();
    let project = environment.path().join("project");
    let mut command = doctor(&environment, &["sh", "bash"]);
    let path = environment.path().join("bin").display().to_string();
    // An empty element, and a dot, are the working directory to others.
    command.env("PATH", format!("{path}::.:../project"));
    let (_, report) = report(command.current_dir(&project));
    assert_eq!(started(), "", "{report:#}");
    for (name, own) in [("debugpy", ".venv/bin/python"), ("symbols of Python", ".venv/bin/p")] {
        let found = check(&report, name);
        let detail = found["detail"].as_str().expect("text");
        assert!(
            detail.contains(own) && detail.ends_with("the project's: not started"),
            "{found:#}"
        );
    }
    let detail = check(&report, "workspace")["detail"].as_str().expect("text").to_owned();
    assert!(detail.contains("`termbridge doctor --workspace .`"), "{detail}");
    let mut command = doctor(&environment, &["sh", "bash"]);
    let _ = self::report(command.current_dir(&project).args(["--workspace", "."]));
    assert!(
        started().contains("pyright-langserver"),
        "a folder that was named is trusted: {}",
        started()
    );
}

#[test]
fn paths_need_not_be_text() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let environment = TestEnvironment::new();
    let odd = environment.path().join(OsStr::from_bytes(b"odd\xff"));
    std::fs::create_dir_all(odd.join(".cursor")).expect("a folder");
    let mut command = doctor(&environment, &["sh", "bash"]);
    command.env("HOME", &odd).env("XDG_STATE_HOME", odd.join("state")).current_dir(&odd);
    let output = command.arg("--json").output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!said.contains("panicked"), "{said}");
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert!(
        check(&report, "Cursor")["detail"].as_str().expect("text").contains("odd"),
        "{report:#}"
    );
}

#[test]
fn start_up_files_that_never_end_are_named() {
    let environment = TestEnvironment::new();
    environment.write(".bashrc", "echo 'waiting for godot'\nsleep 1000\n");
    let (code, report) = report(&mut doctor(&environment, &["sh", "bash", "sleep"]));
    assert_eq!(code, 1, "agents get this shell: {report:#}");
    let bash = check(&report, "bash");
    let detail = bash["detail"].as_str().expect("text");
    assert!(detail.contains(".bashrc") && detail.contains("waiting for godot"), "{bash:#}");
    assert!(bash["fix"].as_str().expect("text").starts_with("bash -xic exit"), "{bash:#}");
    assert_eq!(check(&report, "sh")["status"], "ok", "others work: {report:#}");
}

#[test]
fn whoever_holds_a_port_is_named() {
    let environment = TestEnvironment::new();
    let held = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = held.local_addr().expect("an address").port().to_string();
    let mut command = doctor(&environment, &["sh", "bash"]);
    let (code, report) = report(command.env("TERMBRIDGE_EDITOR_PORT", &port));
    assert_eq!(code, 0, "only a warning: {report:#}");
    let found = check(&report, &format!("port {port} (editors)"));
    assert_eq!(found["data"]["holder"]["pid"], json!(std::process::id()), "{found:#}");
    assert!(found["fix"].as_str().expect("text").contains("--editor-port"), "{found:#}");
}

#[test]
fn a_broken_configuration_does_not_keep_it_from_the_rest() {
    let environment = TestEnvironment::new();
    environment.write(".config/termbridge/config.toml", "max_sessions = 'many'\n");
    let (code, report) = report(&mut doctor(&environment, &["sh", "bash"]));
    assert_eq!(code, 1);
    let found = check(&report, "configuration");
    assert!(found["detail"].as_str().expect("text").contains("line 1"), "{found:#}");
    assert!(found["fix"].as_str().expect("text").ends_with("config.toml"), "{found:#}");
    assert_eq!(check(&report, "terminals")["status"], "ok");
    std::fs::remove_file(environment.path().join(".config/termbridge/config.toml"))
        .expect("removed");
    let mut command = doctor(&environment, &["sh", "bash"]);
    let (code, report) =
        self::report(command.env("TERMBRIDGE_SHELL", "sh").env("MCP_PORT", "none"));
    let found = check(&report, "environment");
    assert!(code == 1 && found["detail"].as_str().expect("text").contains("none"), "{found:#}");
    let mut command = doctor(&environment, &["sh", "bash"]);
    let (_, report) = self::report(command.env("TERMBRIDGE_SHELL", "sh"));
    assert_eq!(check(&report, "sh, which agents get")["status"], "ok", "{report:#}");
}

#[test]
fn a_folder_that_others_can_enter_is_refused() {
    let environment = TestEnvironment::new();
    let mut command = doctor(&environment, &["sh", "bash"]);
    let folder = environment.path().join("run/termbridge");
    std::fs::create_dir(&folder).expect("a folder");
    std::fs::set_permissions(&folder, PermissionsExt::from_mode(0o755)).expect("a mode");
    let (code, report) = report(&mut command);
    let found = check(&report, "runtime folder");
    assert_eq!((code, &found["status"]), (1, &json!("failed")), "{found:#}");
    assert_eq!(found["fix"], json!(format!("chmod 700 {}", folder.display())), "{found:#}");
}

#[test]
fn a_folder_that_cannot_be_written_is_named() {
    let environment = TestEnvironment::new();
    let mut command = doctor(&environment, &["sh", "bash"]);
    // Not even the superuser makes a folder there.
    let (code, report) = report(command.env("XDG_STATE_HOME", "/proc/state"));
    let found = check(&report, "room for history");
    assert_eq!((code, &found["status"]), (1, &json!("failed")), "{found:#}");
    assert!(found["detail"].as_str().expect("text").contains("cannot be written"), "{found:#}");
}

#[test]
fn a_system_without_bash_has_another_shell_for_agents() {
    let environment = TestEnvironment::new();
    let mut command = doctor(&environment, &["sh"]);
    let (_, report) = report(command.env_remove("SHELL"));
    assert_eq!(check(&report, "sh, which agents get")["status"], "ok", "{report:#}");
}

#[test]
fn a_report_for_a_bug_has_no_secrets() {
    let environment = TestEnvironment::new();
    environment.write(
        ".config/termbridge/config.toml",
        "max_sessions = 9\n[commands.env]\nA = \"plain-hunter1\"\nAPI_KEY = \"hunter2\"\n",
    );
    let said = "password=hunter5 {\\\"secret\\\":\\\"hunter6\\\"} Authorization: Bearer hunter7 --token hunter8 $A $1";
    let talks =
        write_program(&environment, "termbridge", &format!("#!/bin/sh\necho \"{said}\" >&2\n"));
    let entry = json!({"command": talks, "args": ["mcp", "--x=hunter9"], "env": {"A": "hunter10"}});
    environment.write(".cursor/mcp.json", json!({"mcpServers": {"termbridge": entry}}).to_string());
    let log = environment.write("elsewhere", "hunter11");
    let mut command = doctor(&environment, &["sh", "bash"]);
    let folder = environment.path().join("run/termbridge");
    std::fs::create_dir(&folder).expect("a folder");
    std::fs::set_permissions(&folder, PermissionsExt::from_mode(0o700)).expect("a mode");
    symlink(&log, folder.join("server.log")).expect("a link");
    command
        .env("TERMBRIDGE_TOKEN", "hunter12")
        .env("MY_TOKEN", "hunter3")
        .env("OTHER", "hunter4")
        .env("USER", "adalovelace");
    let words = ["--bundle", "report.txt"];
    let output = command.args(words).output().expect("it runs");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.contains("Wrote report.txt") && told.contains("look at it"), "{told}");
    let text = environment.read("report.txt");
    assert!(!text.contains("hunter"), "{text}");
    assert!(!text.contains(&environment.path().display().to_string()), "{text}");
    assert!(!text.contains("adalovelace"), "{text}");
    for part in [
        "✓ terminals: ",
        "max_sessions = 9",
        "A = ***",
        "MY_TOKEN=***",
        "==== server.log",
        "\"schema\": 1",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let mode = std::fs::metadata(environment.path().join("report.txt"))
        .expect("there")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    let output = command.output().expect("it runs");
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
    assert!(String::from_utf8_lossy(&output.stderr).contains("report.txt already exists"));
    assert_eq!(environment.read("report.txt"), text, "it is left alone");
    // A pipe that nobody writes to is not waited for.
    std::fs::remove_file(folder.join("server.log")).expect("removed");
    let made = Command::new("mkfifo").arg(folder.join("server.log")).status().expect("it runs");
    assert!(made.success());
    let mut command = doctor(&environment, &["sh", "bash"]);
    let output = command.args(["--bundle", "second.txt"]).output().expect("it runs");
    assert!(environment.read("second.txt").contains("==== server.log\n\nnone"), "{output:?}");
}

#[test]
fn an_interrupt_ends_what_was_started() {
    let environment = TestEnvironment::new();
    // The shell reports that it runs, and would for long.
    let pipe = environment.path().join("started");
    let made = Command::new("mkfifo").arg(&pipe).status().expect("it runs");
    assert!(made.success());
    environment.write(".bashrc", format!("echo $$ > {}\nsleep 1000\n", pipe.display()));
    let mut command = doctor(&environment, &["sh", "bash", "sleep"]);
    let mut child = command.stdout(Stdio::piped()).spawn().expect("it starts");
    let shell: i32 =
        std::fs::read_to_string(&pipe).expect("it reads").trim().parse().expect("a pid");
    let pid = rustix::process::Pid::from_raw(child.id().cast_signed()).expect("a pid");
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("it runs");
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    assert!(!Path::new(&format!("/proc/{shell}")).exists(), "the shell is gone");
}

#[test]
fn a_system_without_proc_is_told_what_it_lacks() {
    let environment = TestEnvironment::new();
    let inner = doctor(&environment, &["sh", "bash"]);
    let mut command = Command::new(program("unshare"));
    command.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let script = r#"/bin/mount -t tmpfs none /proc && exec "$0" doctor "$@""#;
    command.args(["--user", "--map-root-user", "--mount", "/bin/sh", "-c", script, TERMBRIDGE]);
    let (code, report) = report(&mut command);
    let found = check(&report, "terminals");
    assert_eq!((code, &found["fix"]), (1, &json!("sudo mount -t proc proc /proc")), "{found:#}");
    assert!(found["detail"].as_str().expect("text").contains("/proc is not mounted"), "{found:#}");
}
