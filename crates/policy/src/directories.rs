//! Allowed directories: where a path really leads.
//!
//! A path is followed part by part, links resolved as they come and `..` taken off after that, as the
//! kernel does. From the first part that does not exist on, the rest is taken as written. What was
//! true at the check may be changed before the use; a sandbox closes that gap, this does not.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf, Prefix};
use std::sync::atomic::{AtomicBool, Ordering};

/// Most links followed for one path, as in Linux.
const MAX_LINKS: usize = 40;

/// How links are read. The file system for real, a table in tests.
pub trait ReadLink: Send + Sync {
    /// The target if the path is a link, `None` if it is something else. An error of kind
    /// [`NotFound`](io::ErrorKind::NotFound) says that there is nothing.
    fn read_link(&self, path: &Path) -> io::Result<Option<PathBuf>>;
}

/// The file system of this machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct FileSystem;

impl ReadLink for FileSystem {
    fn read_link(&self, path: &Path) -> io::Result<Option<PathBuf>> {
        if path.symlink_metadata()?.is_symlink() { path.read_link().map(Some) } else { Ok(None) }
    }
}

/// Links that are not read; only whether one should have been is noted.
#[derive(Debug, Default)]
pub(crate) struct NoLooks(AtomicBool);

impl NoLooks {
    pub(crate) fn was_asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl ReadLink for NoLooks {
    fn read_link(&self, _: &Path) -> io::Result<Option<PathBuf>> {
        self.0.store(true, Ordering::Relaxed);
        Ok(None)
    }
}

/// Why a path could not be followed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ResolveError {
    #[error("the path is not absolute")]
    Relative,
    #[error("more than {MAX_LINKS} links lead on from it")]
    TooManyLinks,
    #[error("`{}` cannot be looked at: {problem}", path.display())]
    Unreadable { path: PathBuf, problem: String },
}

/// Where a path leads.
pub(crate) fn resolve(path: &Path, links: &dyn ReadLink) -> Result<PathBuf, ResolveError> {
    if !path.is_absolute() {
        return Err(ResolveError::Relative);
    }
    let mut resolved = root_of(path);
    let mut ahead: VecDeque<OsString> = parts(path).collect();
    let mut followed = 0;
    while let Some(part) = ahead.pop_front() {
        if part == ".." {
            resolved.pop();
            continue;
        }
        resolved.push(&part);
        match links.read_link(&resolved) {
            Ok(None) => {}
            Ok(Some(target)) => {
                followed += 1;
                if followed > MAX_LINKS {
                    return Err(ResolveError::TooManyLinks);
                }
                resolved.pop();
                if target.has_root() {
                    resolved = resolved.join(root_of(&target));
                }
                for part in parts(&target).collect::<Vec<_>>().into_iter().rev() {
                    ahead.push_front(part);
                }
            }
            Err(error) if is_absent(&error) => {}
            Err(error) => {
                let problem = error.to_string();
                return Err(ResolveError::Unreadable { path: resolved, problem });
            }
        }
    }
    Ok(resolved)
}

/// Where a path begins: `/`, or a drive on Windows, however that is written. One without a drive (`\\folder`) begins on
/// whichever it is joined to.
fn root_of(path: &Path) -> PathBuf {
    let mut root = PathBuf::new();
    for component in path.components() {
        match component {
            Component::Prefix(prefix) => match prefix.kind() {
                // What canonical paths begin with means the same as the plain prefix.
                Prefix::VerbatimDisk(letter) => root.push(format!("{}:", char::from(letter))),
                _ => root.push(prefix.as_os_str()),
            },
            Component::RootDir => root.push(std::path::MAIN_SEPARATOR_STR),
            _ => break,
        }
    }
    root
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn parts(path: &Path) -> impl Iterator<Item = OsString> {
    path.components().filter_map(|component| match component {
        Component::Normal(part) => Some(part.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    })
}

#[cfg(test)]
#[cfg(unix)]
mod tests;

#[cfg(test)]
#[cfg(windows)]
mod tests {
    use super::*;

    /// A folder on each of two drives, one with a link to the other.
    struct Drives;

    impl ReadLink for Drives {
        fn read_link(&self, path: &Path) -> io::Result<Option<PathBuf>> {
            match path.to_str() {
                Some(r"C:\work\out") => Ok(Some(r"\\?\D:\data".into())),
                Some(r"C:\work\root") => Ok(Some(r"\other".into())),
                Some(_) => Ok(None),
                None => Err(io::ErrorKind::NotFound.into()),
            }
        }
    }

    #[test]
    fn a_path_stays_on_its_drive_however_that_is_written() {
        for (path, leads_to) in [
            (r"C:\work\x", r"C:\work\x"),
            (r"\\?\C:\work\x", r"C:\work\x"),
            (r"D:\work\..\x", r"D:\x"),
            (r"C:\work\out\x", r"D:\data\x"),
            (r"C:\work\root\x", r"C:\other\x"),
        ] {
            assert_eq!(resolve(Path::new(path), &Drives), Ok(leads_to.into()), "{path}");
        }
        assert_eq!(resolve(Path::new(r"\work"), &Drives), Err(ResolveError::Relative));
    }
}
