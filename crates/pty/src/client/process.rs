//! The keeper as a child process of the server: starting and reaping it.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
#[cfg(target_os = "linux")]
use std::path::Path;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use crate::role;

/// Variables without which an executable that was started might not start again.
const LOADER_VARIABLES: &[&str] = &["LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"];

/// A keeper process. It ends by itself when the socket closes; dropping this waits for that on
/// a thread of its own, so that no zombie is left and nobody is held up.
#[derive(Debug)]
pub(super) struct KeeperProcess(Option<Child>);

/// Starts a keeper; gives it and our end of the socket, non-blocking.
pub(super) fn start() -> io::Result<(KeeperProcess, OwnedFd)> {
    let (ours, theirs) = UnixStream::pair()?;
    ours.set_nonblocking(true)?;
    Ok((KeeperProcess(Some(command(theirs.into())?.spawn()?)), ours.into()))
}

/// Starts a lasting keeper with the socket that it is to listen on. It is not our child.
pub(super) fn start_lasting(listener: OwnedFd) -> io::Result<()> {
    let status = command(listener)?.stderr(Stdio::null()).status()?;
    match status.success() {
        true => Ok(()),
        false => Err(io::Error::other(format!("the keeper process ended: {status}"))),
    }
}

/// This executable in the keeper's role.
fn command(socket: OwnedFd) -> io::Result<Command> {
    role::link_constructor();
    let mut command = Command::new(own_executable()?);
    command
        .arg0(role::ROLE_NAME.to_string_lossy().as_ref())
        .current_dir("/")
        .env_clear()
        .stdin(socket)
        // Our own stdout carries a protocol.
        .stdout(Stdio::null());
    for name in LOADER_VARIABLES {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    Ok(command)
}

impl KeeperProcess {
    pub(super) fn pid(&self) -> u32 {
        self.0.as_ref().map_or(0, Child::id)
    }

    /// Waits until it has ended.
    pub(super) async fn wait(mut self) {
        let Some(child) = self.0.take() else { return };
        let _ = tokio::task::spawn_blocking(move || reap(child)).await;
    }
}

impl Drop for KeeperProcess {
    fn drop(&mut self) {
        if let Some(child) = self.0.take() {
            let name = "keeper-reaper".to_owned();
            let _ = std::thread::Builder::new().name(name).spawn(move || reap(child));
        }
    }
}

fn reap(mut child: Child) {
    match child.wait() {
        Ok(status) if status.success() => tracing::debug!("the keeper ended"),
        Ok(status) => tracing::warn!(%status, "the keeper ended"),
        Err(error) => tracing::warn!(%error, "the keeper could not be waited for"),
    }
}

/// The running image, even when its file was replaced or deleted since. In an emulator (qemu-user, as in a
/// container of another architecture) that would be the emulator: it shows the link, but does not follow it, so
/// the name is another file than the link leads to.
#[cfg(target_os = "linux")]
fn own_executable() -> io::Result<PathBuf> {
    use std::os::unix::fs::MetadataExt;
    const IMAGE: &str = "/proc/self/exe";
    let file = |path: &Path| path.metadata().map(|found| (found.dev(), found.ino())).ok();
    let named = std::fs::read_link(IMAGE).map_err(|_| {
        io::Error::other("/proc is not mounted, which is needed: `sudo mount -t proc proc /proc`")
    })?;
    let is_other = file(&named).is_some_and(|it| Some(it) != file(IMAGE.as_ref()));
    Ok(if is_other { named } else { PathBuf::from(IMAGE) })
}

#[cfg(not(target_os = "linux"))]
fn own_executable() -> io::Result<PathBuf> {
    std::env::current_exe()
}
