//! Between the public types and the protocol's.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use crate::protocol::{Failure, Spawn};
use crate::{SESSION_VARIABLE, SpawnError, SpawnSpec};

/// The specification as the keeper takes it, checked for what no program can be given.
pub(super) fn to_wire(spec: &SpawnSpec) -> Result<Spawn, SpawnError> {
    let absolute = |path: &Path| {
        let bad = |source| SpawnError::BadCwd { path: path.to_owned(), source };
        std::path::absolute(path).map_err(bad)
    };
    let cwd = absolute(&spec.cwd)?;
    let bytes = |what, text: &OsStr| -> Result<Vec<u8>, SpawnError> {
        if text.as_bytes().contains(&0) {
            return Err(SpawnError::InvalidInput { what, reason: "holds a NUL byte" });
        }
        Ok(text.as_bytes().to_vec())
    };
    let mut env = Vec::with_capacity(spec.env.len() + 1);
    for (name, value) in &spec.env {
        if name.is_empty() || name.as_bytes().contains(&b'=') {
            let reason = "a name is empty or holds '='";
            return Err(SpawnError::InvalidInput { what: "environment", reason });
        }
        if spec.label.is_empty() || name != SESSION_VARIABLE {
            env.push(bytes("environment", &entry(name, value))?);
        }
    }
    if !spec.label.is_empty() {
        env.push(bytes("label", &entry(SESSION_VARIABLE.as_ref(), spec.label.as_ref()))?);
    }
    Ok(Spawn {
        program: bytes("program", &spec.program)?,
        args: spec.args.iter().map(|arg| bytes("argument", arg)).collect::<Result<_, _>>()?,
        env,
        cwd: bytes("working directory", cwd.as_os_str())?,
        label: spec.label.as_bytes().to_vec(),
        size: spec.size,
        private_folder: match &spec.private_folder {
            Some(folder) => bytes("private folder", absolute(folder)?.as_os_str())?,
            None => Vec::new(),
        },
        journal: spec.journal,
        command_pipe: match &spec.command_pipe {
            Some(pipe) => bytes("command pipe", absolute(pipe)?.as_os_str())?,
            None => Vec::new(),
        },
    })
}

/// What the keeper's failure means to whoever asked.
pub(super) fn spawn_error(
    spec: &SpawnSpec,
    spawn: &Spawn,
    failure: Failure,
    errno: i32,
    path: &[u8],
) -> SpawnError {
    let source = io::Error::from_raw_os_error(errno);
    let is_limit =
        matches!(errno, libc::EAGAIN | libc::EMFILE | libc::ENFILE | libc::ENOMEM | libc::ENOSPC);
    // Candidates may be relative to where the program was to start.
    let path = spec.cwd.join(OsString::from_vec(path.to_vec()));
    match failure {
        Failure::Terminal | Failure::Process | Failure::Journal
            if matches!(errno, libc::EMFILE | libc::ENFILE) =>
        {
            SpawnError::ResourceLimit { what: "file descriptors", source }
        }
        Failure::Terminal if is_limit => SpawnError::ResourceLimit { what: "terminals", source },
        Failure::Terminal => SpawnError::Terminal { source },
        Failure::Journal => SpawnError::Journal { source },
        Failure::Process if errno == libc::ECANCELED => SpawnError::KeeperGone,
        Failure::Process => SpawnError::ResourceLimit { what: "processes", source },
        Failure::Cwd => SpawnError::BadCwd { path: spec.cwd.clone(), source },
        Failure::NotFound => SpawnError::NotFound {
            program: spec.program.to_string_lossy().into_owned(),
            searched: (!spawn.program.contains(&b'/'))
                .then(|| String::from_utf8_lossy(spawn.search_path()).into_owned()),
        },
        Failure::Denied => SpawnError::PermissionDenied { path },
        Failure::Directory => SpawnError::IsDirectory { path },
        Failure::Interpreter => SpawnError::NoInterpreter { path },
        Failure::Exec => SpawnError::Exec { path, source },
    }
}

/// Why there is no keeper.
pub(super) fn start_error(source: io::Error) -> SpawnError {
    let processes = matches!(source.raw_os_error(), Some(libc::EAGAIN | libc::ENOMEM));
    SpawnError::descriptor_limit(source).unwrap_or_else(|source| match processes {
        true => SpawnError::ResourceLimit { what: "processes", source },
        false => SpawnError::KeeperStart { source },
    })
}

fn entry(name: &OsStr, value: &OsStr) -> OsString {
    let mut entry = OsString::with_capacity(name.len() + 1 + value.len());
    entry.push(name);
    entry.push("=");
    entry.push(value);
    entry
}
