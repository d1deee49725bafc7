//! Paths as `file:` addresses and back.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// The address of an absolute path.
pub(crate) fn of_path(path: &Path) -> String {
    let mut uri = String::from("file://");
    for &byte in path.as_os_str().as_bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                uri.push(byte as char);
            }
            // Writing to a String cannot fail.
            _ => drop(write!(uri, "%{byte:02X}")),
        }
    }
    uri
}

/// The absolute path that an address names, if it names one of this machine.
pub(crate) fn to_path(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix("file://")?;
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    let mut bytes = path.bytes();
    let mut decoded = Vec::with_capacity(path.len());
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            decoded.push(byte);
            continue;
        }
        let digits = [bytes.next()?, bytes.next()?];
        decoded.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
    }
    let path = PathBuf::from(OsString::from_vec(decoded));
    // A path with `..` could name something else than it seems to.
    let plain = path.components().all(|part| part != std::path::Component::ParentDir);
    (path.is_absolute() && plain).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_comes_back_from_its_address() {
        for path in ["/a/b.py", "/a b/ü#?%41.rs", "/a/:@[x]+(y).ts"] {
            assert_eq!(to_path(&of_path(Path::new(path))).as_deref(), Some(Path::new(path)));
        }
        assert_eq!(of_path(Path::new("/a b")), "file:///a%20b");
    }

    #[test]
    fn what_is_no_path_here_is_none() {
        for uri in ["http://a/b", "file://host/a", "file:///a/%2", "file:///a/../b", "untitled:x"] {
            assert_eq!(to_path(uri), None, "{uri}");
        }
    }
}
