use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use super::ReadLink;
use crate::{Decision, Policy, PolicyConfig};

/// A file system of links and other files.
struct Table(HashMap<PathBuf, Option<PathBuf>>);

impl ReadLink for Table {
    fn read_link(&self, path: &Path) -> io::Result<Option<PathBuf>> {
        if path.ends_with("secret") {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        self.0.get(path).cloned().ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

fn policy() -> Policy {
    let links = [
        ("/work/out", Some("/etc")),
        ("/work/in", Some("/work/real")),
        ("/work/up", Some("../etc")),
        ("/work/loop", Some("loop")),
        ("/work/dangling", Some("/elsewhere/new")),
        ("/work/real", None),
        ("/work", None),
        ("/alias", Some("/work")),
        ("/tmp", Some("private/tmp")),
        ("/private", None),
        ("/private/tmp", None),
    ];
    let table = links.map(|(path, target)| (path.into(), target.map(PathBuf::from)));
    let config = PolicyConfig {
        allowed_directories: vec!["/work".into(), "/tmp".into(), "~/src".into()],
        ..PolicyConfig::default()
    };
    Policy::with_links(&config, Path::new("/home/ann"), Box::new(Table(table.into()))).unwrap()
}

#[test]
fn paths_that_lead_into_an_allowed_directory() {
    for path in [
        "/work",
        "/work/",
        "/work/a/b",
        "/work/in/x",
        "/work/./real/../real",
        "/alias/x",
        "/tmp/x",
        "/private/tmp/x",
        "/home/ann/src/x",
        "/work/new/deeper/file",
    ] {
        let decision = policy().check_path(Path::new(path));
        assert!(decision.is_allowed(), "{path}: {decision:?}");
    }
}

#[test]
fn paths_that_lead_elsewhere() {
    for path in [
        "/etc/passwd",
        "/workshop",
        "/work/../etc",
        "/work/out/passwd",
        "/work/up/passwd",
        "/work/loop",
        "/work/dangling",
        "/work/new/../../etc",
        "/work/in/../../etc",
        "/work/out/../work/../etc",
        "/work/secret/x",
        "/home/ann",
        "work",
        "",
    ] {
        assert!(!policy().check_path(Path::new(path)).is_allowed(), "{path}");
    }
    // Only where a path leads elsewhere is that said.
    for (path, leads) in [("/etc/passwd", false), ("/work/../etc", true), ("/work/up/x", true)] {
        let Decision::Deny { reason, .. } = policy().check_path(Path::new(path)) else {
            panic!("{path} is allowed");
        };
        assert_eq!(reason.contains("leads to"), leads, "{reason}");
    }
}
