//! Files of Windows, where a folder's access list holds for what is made in it.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::path::{Component, Path, PathBuf, Prefix};
use std::time::SystemTime;

/// Endings of what can be run where `PATHEXT` is not set.
const ENDINGS: &str = ".COM;.EXE;.BAT;.CMD";

/// What changes whenever a file does, as far as it can be known without opening it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileStamp {
    length: u64,
    created: Option<SystemTime>,
    modified: Option<SystemTime>,
}

impl FileStamp {
    /// That of a file as it was looked at.
    pub fn of(found: &Metadata) -> Self {
        let (created, modified) = (found.created().ok(), found.modified().ok());
        Self { length: found.len(), created, modified }
    }
}

/// Makes a folder that was not there. Whose it is follows from the folder it is in.
pub fn make_private_folder(path: &Path) -> io::Result<()> {
    fs::create_dir(path)
}

/// Whose a folder is follows from the one it is in.
pub fn close_folder(_path: &Path) -> io::Result<()> {
    Ok(())
}

/// Makes a file that was not there, open for writing. Whose it is follows from the folder it is in.
pub fn make_private_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(path)
}

/// Opens a file, made if it is missing. Whose it is follows from the folder it is in.
pub fn open_private_file(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    options.create(true).open(path)
}

/// Owners are left as the system makes them.
pub fn keep_owner(_file: &File, _replaced: &Metadata) -> io::Result<()> {
    Ok(())
}

/// Who may look at a file is taken for its owner.
pub fn is_own(_found: &Metadata) -> bool {
    true
}

/// There are no modes here.
pub fn grants_others(_found: &Metadata) -> Option<u32> {
    None
}

/// Whether a path leads to a file that can be run: by its ending.
pub fn is_executable(path: &Path) -> bool {
    let endings = std::env::var("PATHEXT").unwrap_or_else(|_| ENDINGS.to_owned());
    let ending = path.extension().unwrap_or_default().to_string_lossy();
    let is_listed = |listed: &str| {
        listed.strip_prefix('.').is_some_and(|listed| listed.eq_ignore_ascii_case(&ending))
    };
    path.is_file() && endings.split(';').any(is_listed)
}

/// Where a path leads, without the prefix `\\?\`, which most programs do not take.
pub fn real_path(path: &Path) -> io::Result<PathBuf> {
    let real = path.canonicalize()?;
    let mut parts = real.components();
    let plain = match parts.next() {
        Some(Component::Prefix(prefix)) => match prefix.kind() {
            Prefix::VerbatimDisk(letter) => format!("{}:", char::from(letter)).into(),
            Prefix::VerbatimUNC(server, share) => {
                let mut text = OsString::from(r"\\");
                text.push(server);
                text.push(r"\");
                text.push(share);
                text
            }
            _ => return Ok(real),
        },
        _ => return Ok(real),
    };
    // The rest begins with the separator.
    Ok([plain.as_os_str(), parts.as_path().as_os_str()].into_iter().collect::<OsString>().into())
}

/// A path as UTF-8; what is no Unicode in it is replaced.
pub fn path_to_bytes(path: &OsStr) -> Vec<u8> {
    path.to_string_lossy().into_owned().into_bytes()
}

/// The path of this UTF-8.
pub fn path_from_bytes(bytes: Vec<u8>) -> Option<OsString> {
    String::from_utf8(bytes).ok().map(OsString::from)
}
