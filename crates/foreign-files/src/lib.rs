//! Reads files that others write: a workspace, another program, a person.
//!
//! The writer chooses what is at the path: a link to an endless device, a pipe without a writer, the input of this
//! process. So only regular files are opened, the open never waits, and a read has a limit. A regular file can still be
//! slow, on a network file system for example: async code reads it inside of [`off_worker`].
//!
//! `cargo xtask layers` finds reads that bypass this crate.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::path::Path;
use std::time::Duration;

use tokio::sync::Semaphore;

/// How long [`off_worker`] waits for a file system.
pub const TIME_LIMIT: Duration = Duration::from_secs(10);

/// Threads that file systems may hold at once: half of the server's threads for blocking work.
const MAX_THREADS: usize = 8;

static THREADS: Semaphore = Semaphore::const_new(MAX_THREADS);

/// Opens a regular file for reading. Anything else is [`ErrorKind::InvalidInput`].
pub fn open(path: &Path) -> io::Result<File> {
    // Before the open, because opening changes the state of some devices.
    check_regular(&fs::metadata(path)?)?;
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags((OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed());
    }
    let file = options.open(path)?;
    // Again after it, because the path may lead to another file by now.
    check_regular(&file.metadata()?)?;
    Ok(file)
}

/// The bytes of a regular file. More than `limit` are [`ErrorKind::FileTooLarge`].
pub fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let file = open(path)?;
    let too_large =
        || io::Error::new(ErrorKind::FileTooLarge, format!("larger than {limit} bytes"));
    if file.metadata()?.len() > limit {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    // The file may grow, and files of /proc have no size.
    file.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit { Err(too_large()) } else { Ok(bytes) }
}

/// As [`read`], as text. Bytes that are not UTF-8 are [`ErrorKind::InvalidData`].
pub fn read_to_string(path: &Path, limit: u64) -> io::Result<String> {
    String::from_utf8(read(path, limit)?)
        .map_err(|error| io::Error::new(ErrorKind::InvalidData, error.utf8_error()))
}

/// Runs work on files off the async workers, so that a slow file system does not hold one up.
///
/// After [`TIME_LIMIT`] the caller gets [`ErrorKind::TimedOut`]. The thread waits until the file system answers; at most
/// `MAX_THREADS` do.
pub async fn off_worker<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<T> {
    let run = async {
        let thread = THREADS.acquire().await.map_err(io::Error::other)?;
        let run = tokio::task::spawn_blocking(move || {
            let _thread = thread;
            work()
        });
        match run.await {
            Ok(value) => Ok(value),
            Err(failed) if failed.is_panic() => std::panic::resume_unwind(failed.into_panic()),
            Err(ended) => Err(io::Error::other(ended)),
        }
    };
    tokio::time::timeout(TIME_LIMIT, run).await.unwrap_or_else(|_| {
        let message = format!("the file system did not answer within {} s", TIME_LIMIT.as_secs());
        Err(io::Error::new(ErrorKind::TimedOut, message))
    })
}

fn check_regular(found: &Metadata) -> io::Result<()> {
    match found.is_file() {
        true => Ok(()),
        false => Err(io::Error::new(ErrorKind::InvalidInput, "not a regular file")),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    fn kind<T>(result: io::Result<T>) -> Option<ErrorKind> {
        result.err().map(|error| error.kind())
    }

    #[test]
    fn a_file_is_read_up_to_its_limit() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        fs::write(&path, "12345").expect("written");
        assert_eq!(read(&path, 5).expect("read"), b"12345");
        assert_eq!(read_to_string(&path, 9).expect("read"), "12345");
        assert_eq!(kind(read(&path, 4)), Some(ErrorKind::FileTooLarge));
        fs::write(&path, b"\xff").expect("written");
        assert_eq!(kind(read_to_string(&path, 4)), Some(ErrorKind::InvalidData));
        assert_eq!(kind(read(&folder.path().join("none"), 4)), Some(ErrorKind::NotFound));
        assert_eq!(kind(read(folder.path(), 4)), Some(ErrorKind::InvalidInput));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn devices_and_pipes_are_refused_and_never_waited_for() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        for target in ["/dev/zero", "/dev/ptmx", "/dev/tty", "/dev/full"] {
            std::os::unix::fs::symlink(target, &path).expect("a link");
            assert_eq!(kind(open(&path)), Some(ErrorKind::InvalidInput), "{target}");
            fs::remove_file(&path).expect("removed");
        }
        let made = std::process::Command::new("mkfifo").arg(&path).status().expect("mkfifo");
        assert!(made.success());
        assert_eq!(kind(open(&path)), Some(ErrorKind::InvalidInput));
        // The system gives its size as 0.
        assert_eq!(kind(read(Path::new("/proc/self/status"), 16)), Some(ErrorKind::FileTooLarge));
    }

    #[tokio::test(start_paused = true)]
    async fn a_file_system_that_hangs_ends_the_wait_and_leaves_room() {
        assert_eq!(off_worker(|| 7).await.expect("done"), 7);
        let mut hanging = Vec::new();
        for _ in 0..MAX_THREADS {
            let (answer, waiting) = mpsc::channel::<()>();
            let (began, begun) = tokio::sync::oneshot::channel();
            let task = tokio::spawn(off_worker(move || {
                let _ = began.send(());
                let _ = waiting.recv();
            }));
            begun.await.expect("it began");
            hanging.push((answer, task));
        }
        let late = tokio::spawn(off_worker(|| ()));
        tokio::task::yield_now().await;
        tokio::time::advance(TIME_LIMIT).await;
        assert_eq!(kind(late.await.expect("a result")), Some(ErrorKind::TimedOut));
        for (answer, task) in hanging {
            assert_eq!(kind(task.await.expect("a result")), Some(ErrorKind::TimedOut));
            drop(answer);
        }
        assert_eq!(off_worker(|| 8).await.expect("done"), 8);
    }
}
