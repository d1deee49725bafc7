//! Paths as `file:` addresses (RFC 8089) and back.
//!
//! On Windows `C:\a b` is `file:///C:/a%20b`; a drive's letter is written as it comes.

use std::path::{Path, PathBuf};

use termbridge_pty::{path_from_bytes, path_to_bytes};

/// What they begin with.
const FILE: &str = "file://";

/// The address of an absolute path.
pub fn of_path(path: &Path) -> String {
    let mut address = FILE.to_owned();
    for byte in to_slashes(path_to_bytes(path.as_os_str())) {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                address.push(byte as char);
            }
            other => address.push_str(&format!("%{other:02X}")),
        }
    }
    address
}

/// The absolute path that an address names, if it names one of this machine.
pub fn to_path(address: &str) -> Option<PathBuf> {
    let rest = address.strip_prefix(FILE)?;
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    // What stands before the path is another machine.
    if !path.starts_with('/') {
        return None;
    }
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => 16 * digit(rest.next()?)? + digit(rest.next()?)?,
            plain => plain,
        });
    }
    if bytes.contains(&0) {
        return None;
    }
    Some(PathBuf::from(path_from_bytes(from_slashes(bytes))?)).filter(|path| path.is_absolute())
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(unix)]
fn to_slashes(path: Vec<u8>) -> Vec<u8> {
    path
}

#[cfg(unix)]
fn from_slashes(path: Vec<u8>) -> Vec<u8> {
    path
}

/// `C:\a` as `/C:/a`.
#[cfg(not(unix))]
fn to_slashes(path: Vec<u8>) -> Vec<u8> {
    let plain = path.strip_prefix(br"\\?\".as_slice()).unwrap_or(&path);
    let first = (!plain.starts_with(br"\") && !plain.starts_with(b"/")).then_some(b'/');
    let rest = plain.iter().map(|byte| if *byte == b'\\' { b'/' } else { *byte });
    first.into_iter().chain(rest).collect()
}

/// The other way; the colon may have been encoded, as VS Code does.
#[cfg(not(unix))]
fn from_slashes(path: Vec<u8>) -> Vec<u8> {
    let has_drive = path.len() > 2 && path[1].is_ascii_alphabetic() && path[2] == b':';
    let path = if has_drive { &path[1..] } else { &path[..] };
    path.iter().map(|byte| if *byte == b'/' { b'\\' } else { *byte }).collect()
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;

    use super::*;

    #[test]
    fn every_path_comes_back_from_its_address() {
        for bytes in [&b"/a b/c%20"[..], b"/\xff\xfe/\n", "/ünï/日本".as_bytes(), b"/a?b#c", b"/"]
        {
            let path = PathBuf::from(OsString::from_vec(bytes.to_vec()));
            let address = of_path(&path);
            assert!(address.is_ascii(), "{address}");
            assert_eq!(to_path(&address), Some(path));
        }
        for byte in 1..=u8::MAX {
            let path = PathBuf::from(OsString::from_vec(vec![b'/', byte]));
            assert_eq!(to_path(&of_path(&path)), Some(path));
        }
        assert_eq!(of_path(Path::new("/a b")), "file:///a%20b");
    }

    #[test]
    fn what_is_no_address_of_a_file_here_is_none() {
        for address in [
            "file://elsewhere/etc/passwd",
            "file:/etc/passwd",
            "file://",
            "file:///a%",
            "file:///a%2",
            "file:///a%zz",
            "file:///a%00b",
            "http:///a",
            "untitled:x",
        ] {
            assert_eq!(to_path(address), None, "{address}");
        }
        assert_eq!(to_path("file://localhost/a"), Some("/a".into()));
    }
}

#[cfg(all(test, windows))]
mod tests {
    use super::*;

    #[test]
    fn a_drive_is_the_first_part_of_the_address() {
        for (path, address) in [
            (r"C:\a b\ü.py", "file:///C%3A/a%20b/%C3%BC.py"),
            (r"\\server\share\x", "file:////server/share/x"),
        ] {
            assert_eq!(of_path(Path::new(path)), address);
            assert_eq!(to_path(address).as_deref(), Some(Path::new(path)));
        }
        assert_eq!(of_path(Path::new(r"\\?\C:\a")), "file:///C%3A/a");
        assert_eq!(to_path("file:///c:/a"), Some(r"c:\a".into()));
        assert_eq!(to_path("file:///a"), None, "a path without a drive is not absolute");
    }
}
