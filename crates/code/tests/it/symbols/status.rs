//! Which servers are installed, and which of them start.

use std::os::unix::fs::PermissionsExt;

use termbridge_code::symbols::{ServerStatus, check_servers, servers};
use termbridge_dap::Environment;

use super::project::{LIMIT, environment};
use crate::project::repository;

#[tokio::test]
async fn servers_are_started_to_see_that_they_work() {
    let modules = environment();
    let folder = tempfile::tempdir().expect("a folder");
    let status = check_servers(&modules, folder.path(), LIMIT).await;
    let languages: Vec<_> = status.iter().map(|status| status.language.as_str()).collect();
    assert_eq!(languages, ["Rust", "Python", "Go", "TypeScript and JavaScript"]);
    let works = |status: &ServerStatus| status.program.is_some() && status.problem.is_none();
    assert!(status.iter().all(works), "{status:#?}");
}

/// As TypeScript 7 is for this server: it has no tsserver.
#[tokio::test]
async fn a_typescript_without_tsserver_is_reported() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path().canonicalize().expect("a path");
    let modules = root.join("node_modules");
    let write = |name: &str, text: &str| {
        let path = modules.join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        std::fs::write(path, text).expect("written");
    };
    write("typescript/package.json", r#"{"name": "typescript", "version": "7.0.2"}"#);
    write("typescript/lib/version.cjs", "");
    // A copy: Node looks for packages from where a program really is.
    let server = "typescript-language-server";
    let source = repository().join("tests/debuggers/node_modules").join(server);
    for name in ["package.json", "lib/cli.mjs"] {
        let text = std::fs::read_to_string(source.join(name)).expect("it is installed");
        write(&format!("{server}/{name}"), &text);
    }
    let program = modules.join(server).join("lib/cli.mjs");
    std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).expect("a mode");
    std::fs::create_dir(modules.join(".bin")).expect("made");
    std::os::unix::fs::symlink(program, modules.join(".bin").join(server)).expect("a link");
    let status = check_servers(&Environment::of_process(), &root, LIMIT).await;
    let problem = status[3].problem.as_deref().unwrap_or_default();
    assert!(problem.contains("Could not find a valid TypeScript installation"), "{status:#?}");
    assert!(status[3].install.ends_with(" typescript@7"), "{status:#?}");
}

#[test]
fn what_is_installed_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let status = servers(&environment(), folder.path());
    let languages: Vec<_> = status.iter().map(|status| status.language.as_str()).collect();
    assert_eq!(languages, ["Rust", "Python", "Go", "TypeScript and JavaScript"]);
    assert!(status.iter().all(|status| status.program.is_some()), "{status:?}");
    let none = servers(&Environment::default(), folder.path());
    assert!(none.iter().all(|status| status.program.is_none()), "{none:?}");
    assert_eq!(none[0].install, "rustup component add rust-analyzer");
}
