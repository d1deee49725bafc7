//! Makes the file; the keeper does this.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::Layout;

/// A file in memory, of its final size and empty.
#[cfg(target_os = "linux")]
fn make_file(_: Option<&Path>, length: u64) -> io::Result<File> {
    use rustix::fs::{MemfdFlags, SealFlags};
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let file = File::from(rustix::fs::memfd_create("termbridge-journal", flags)?);
    file.set_len(length)?;
    let seals = SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL;
    rustix::fs::fcntl_add_seals(&file, seals)?;
    Ok(file)
}

/// A file without a name, in the program's private folder where it has one.
#[cfg(not(target_os = "linux"))]
fn make_file(folder: Option<&Path>, length: u64) -> io::Result<File> {
    use std::fs::{OpenOptions, remove_file};
    use std::os::unix::fs::OpenOptionsExt;
    let mut random = [0; 8];
    getrandom::fill(&mut random).map_err(|error| io::Error::other(error.to_string()))?;
    let name = format!("termbridge-journal-{:016x}", u64::from_ne_bytes(random));
    let path = folder.unwrap_or(Path::new("/tmp")).join(name);
    let mut options = OpenOptions::new();
    let file = options.read(true).write(true).create_new(true).mode(0o600).open(&path)?;
    remove_file(&path)?;
    file.set_len(length)?;
    Ok(file)
}

/// Makes an empty journal.
pub(crate) fn make(layout: &Layout, folder: Option<&Path>) -> io::Result<OwnedFd> {
    let file = make_file(folder, layout.length())?;
    file.write_all_at(&layout.header(), 0)?;
    Ok(file.into())
}
