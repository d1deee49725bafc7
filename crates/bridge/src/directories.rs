//! Looks at directories that agents name or that their shells are in, off the workers.
//!
//! Such a directory may be on a file system that gives no answer. Only the caller waits for it then, and not for long.

use std::path::{Path, PathBuf};

use termbridge_foreign_files::off_worker;
use termbridge_session::files::real_path;

use crate::caller::Caller;
use crate::error::BridgeError;

/// Parents looked through for a project's root.
const MAX_PARENTS: usize = 32;

/// Refuses what is not a directory.
pub(crate) async fn check(path: &Path) -> Result<(), BridgeError> {
    let directory = path.to_owned();
    let why = off_worker(path, move || match directory.metadata() {
        Ok(found) if found.is_dir() => None,
        Ok(_) => Some("it is not a directory"),
        Err(_) => Some("it does not exist"),
    });
    match why.await? {
        Some(why) => {
            Err(BridgeError::BadDirectory { cwd: path.display().to_string(), why: why.into() })
        }
        None => Ok(()),
    }
}

/// Where the links of a path lead in this process; the path itself if there is nothing.
pub(crate) async fn resolved(path: PathBuf) -> Result<PathBuf, BridgeError> {
    Ok(off_worker(path.clone(), move || real_path(&path).unwrap_or(path)).await?)
}

/// Whether a session's directory is the one at this path. The system names the former without links.
pub(crate) async fn is_same(own: &Path, path: &Path) -> bool {
    own == path || resolved(path.to_owned()).await.is_ok_and(|real| real == own)
}

/// The nearest directory to one that is gone: itself, if it was made again, or a parent.
pub(crate) async fn nearest(
    gone: &Path,
    is_allowed: impl Fn(&Path) -> bool + Send + 'static,
) -> Option<PathBuf> {
    let path = gone.to_owned();
    let look = move || {
        let mut parents = path.ancestors();
        parents.find(|path| path.is_dir() && is_allowed(path)).map(Path::to_owned)
    };
    off_worker(gone, look).await.ok().flatten()
}

/// The root of the work tree that a directory is in, or else the caller's workspace if it is in that.
pub(crate) async fn project_of(caller: &Caller, cwd: PathBuf) -> Option<String> {
    let workspace = caller.workspace().filter(|workspace| cwd.starts_with(workspace));
    let workspace = workspace.map(|workspace| workspace.display().to_string());
    let root = off_worker(cwd.clone(), move || {
        let mut parents = cwd.ancestors().take(MAX_PARENTS);
        let root = parents.find(|folder| folder.join(".git").exists())?;
        Some(root.display().to_string())
    });
    root.await.ok().flatten().or(workspace)
}

/// The path of a removed directory without the mark that Linux appends to it.
pub(crate) fn without_mark(path: &Path) -> PathBuf {
    let text = path.to_string_lossy();
    text.strip_suffix(" (deleted)").map_or_else(|| path.to_owned(), PathBuf::from)
}

/// The directory of a command that is only a plain `cd`, to an absolute path or home.
pub(crate) fn of_cd(command: &str) -> Option<&Path> {
    let words = command.trim();
    let (cd, rest) = words.split_once([' ', '\t']).unwrap_or((words, ""));
    let rest = rest.trim();
    let rest = rest.strip_prefix("-- ").unwrap_or(rest).trim_start();
    let in_quotes = |quote: char| rest.strip_prefix(quote)?.strip_suffix(quote);
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+@%,:=".contains(c);
    let directory = match in_quotes('\'').or_else(|| in_quotes('"')) {
        Some(path) => path
            .starts_with('/')
            .then_some(path)
            .filter(|path| path.chars().all(|c| is_plain(c) || c == ' '))?,
        None if rest.is_empty() => "~",
        None => {
            let path = rest.strip_prefix('~').unwrap_or(rest);
            let is_one = (path.is_empty() || path.starts_with('/')) && path.chars().all(is_plain);
            is_one.then_some(rest)?
        }
    };
    (cd == "cd").then_some(Path::new(directory))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::of_cd;

    #[test]
    fn a_plain_cd_is_recognised_and_nothing_else() {
        for (command, directory) in [
            ("cd /a/b", Some("/a/b")),
            ("  cd\t-- /a-b\n", Some("/a-b")),
            ("cd '/a b'", Some("/a b")),
            ("cd \"/a\"", Some("/a")),
            ("cd ~/x", Some("~/x")),
            ("cd", Some("~")),
            ("cd ..", None),
            ("cd a", None),
            ("cd -", None),
            ("cd /a; ls", None),
            ("cd /a && rm -rf x", None),
            ("cd /$x", None),
            ("cd /a\nls", None),
            ("cd '/a' '/b'", None),
            ("cd '~/x'", None),
            ("cd ~user", None),
            ("cdx /a", None),
            ("ls /a", None),
        ] {
            assert_eq!(of_cd(command), directory.map(Path::new), "{command:?}");
        }
    }
}
