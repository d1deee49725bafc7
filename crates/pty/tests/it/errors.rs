//! Programs that cannot be started, and those that nearly cannot.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use termbridge_pty::{ExitStatus, Keeper, SpawnError};

use crate::support::{read_to_end, spec};

fn write(path: &Path, content: &[u8], mode: u32) -> String {
    fs::write(path, content).expect("write");
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("mode");
    path.to_str().expect("utf-8").to_owned()
}

#[tokio::test]
async fn not_found_names_what_was_searched() {
    let keeper = Keeper::new();
    let error = keeper.spawn(spec("no-such-program", &[])).await.expect_err("missing");
    assert_eq!(
        error.to_string(),
        "program not found: no-such-program (searched PATH=/usr/local/bin:/usr/bin:/bin)"
    );
    let error = keeper.spawn(spec("/no/such/program", &[])).await.expect_err("missing");
    assert!(matches!(error, SpawnError::NotFound { searched: None, .. }), "{error}");
    let error = keeper.spawn(spec("", &[])).await.expect_err("empty");
    assert!(matches!(error, SpawnError::NotFound { .. }), "{error}");
    let error = keeper.spawn(spec("/etc/passwd/x", &[])).await.expect_err("not a directory");
    assert!(matches!(error, SpawnError::NotFound { .. }), "{error}");
}

#[tokio::test]
async fn what_is_there_but_cannot_run_says_why() {
    let keeper = Keeper::new();
    let folder = tempfile::tempdir().expect("tempdir");
    let plain = write(&folder.path().join("plain"), b"text", 0o644);
    let error = keeper.spawn(spec(&plain, &[])).await.expect_err("not executable");
    assert!(matches!(&error, SpawnError::PermissionDenied { path } if path == Path::new(&plain)));

    let error = keeper.spawn(spec("/tmp", &[])).await.expect_err("directory");
    assert!(matches!(error, SpawnError::IsDirectory { .. }), "{error}");

    let script = write(&folder.path().join("script"), b"#!/no/such/interpreter\n", 0o755);
    let error = keeper.spawn(spec(&script, &[])).await.expect_err("no interpreter");
    assert!(matches!(error, SpawnError::NoInterpreter { .. }), "{error}");

    let binary = write(&folder.path().join("binary"), b"\x7fELF\0\0\0garbage", 0o755);
    let error = keeper.spawn(spec(&binary, &[])).await.expect_err("no format");
    assert!(
        matches!(&error, SpawnError::Exec { source, .. } if source.raw_os_error() == Some(8)),
        "{error}"
    );
}

#[tokio::test]
async fn a_bad_directory_is_told_from_a_bad_program() {
    let keeper = Keeper::new();
    for (cwd, errno) in [("/no/such/place", 2), ("/etc/passwd", 20)] {
        let mut spec = spec("true", &[]);
        spec.cwd = cwd.into();
        let error = keeper.spawn(spec).await.expect_err("no directory");
        assert!(
            matches!(&error, SpawnError::BadCwd { source, .. } if source.raw_os_error() == Some(errno)),
            "{error}"
        );
    }
}

#[tokio::test]
async fn what_execve_cannot_take_is_refused() {
    let keeper = Keeper::new();
    let error = keeper.spawn(spec("true", &["a\0b"])).await.expect_err("NUL");
    assert!(matches!(error, SpawnError::InvalidInput { what: "argument", .. }), "{error}");
    let mut bad = spec("true", &[]);
    bad.env.push(("A=B".into(), "c".into()));
    let error = keeper.spawn(bad).await.expect_err("name");
    assert!(matches!(error, SpawnError::InvalidInput { what: "environment", .. }), "{error}");
    let long = "x".repeat(4 << 20);
    let error = keeper.spawn(spec("true", &[&long])).await.expect_err("E2BIG");
    assert!(
        matches!(&error, SpawnError::Exec { source, .. } if source.raw_os_error() == Some(7)),
        "{error}"
    );
    let long = "x".repeat(9 << 20);
    let error = keeper.spawn(spec("true", &[&long])).await.expect_err("frame");
    assert!(matches!(error, SpawnError::TooLarge), "{error}");
    // Nothing of this disturbed the keeper.
    let program = keeper.spawn(spec("true", &[])).await.expect("spawn");
    assert_eq!(program.exited().await, ExitStatus::Code(0));
}

#[tokio::test]
async fn a_script_without_a_first_line_is_run_by_sh() {
    let keeper = Keeper::new();
    let folder = tempfile::tempdir().expect("tempdir");
    write(&folder.path().join("script"), b"echo \"$0 $1 $2\"; exit 7\n", 0o755);
    let mut relative = spec("./script", &["one", "two words"]);
    relative.cwd = folder.path().to_owned();
    let program = keeper.spawn(relative).await.expect("spawn");
    assert_eq!(read_to_end(&program).await, "./script one two words\r\n");
    assert_eq!(program.exited().await, ExitStatus::Code(7));
}

#[tokio::test]
async fn the_search_goes_past_what_cannot_run() {
    let keeper = Keeper::new();
    let folder = tempfile::tempdir().expect("tempdir");
    let (first, second) = (folder.path().join("a"), folder.path().join("b"));
    fs::create_dir_all(first.join("tool")).expect("mkdir");
    fs::create_dir(&second).expect("mkdir");
    let mut spec = spec("tool", &[]);
    spec.env[0].1 = format!("{}:{}:/bin", first.display(), second.display()).into();
    let error = keeper.spawn(spec.clone()).await.expect_err("only a directory");
    assert!(matches!(error, SpawnError::IsDirectory { .. }), "{error}");
    write(&second.join("tool"), b"#!/bin/sh\necho found\n", 0o755);
    let program = keeper.spawn(spec).await.expect("spawn");
    assert_eq!(read_to_end(&program).await, "found\r\n");
}
