//! Reads files that others write: a workspace, another program, a person.
//!
//! The writer chooses what is at the path: a link to an endless device, a pipe without a writer, the input of this
//! process. So only regular files are opened, the open never waits, and a read has a limit. A regular file can still be
//! slow, on a network file system for example: async code reads it inside of [`off_worker`].
//!
//! `cargo xtask layers` finds reads that bypass this crate.

use std::collections::BTreeMap;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout_at};

/// How long [`off_worker`] waits for a file system.
pub const TIME_LIMIT: Duration = Duration::from_secs(10);

/// Threads that file systems may hold at once. A server needs more threads for blocking work than that.
pub const MAX_THREADS: usize = 128;

/// Threads that the work on one path may hold at once, so that a hung folder leaves the others theirs.
pub const MAX_THREADS_OF_PATH: usize = 4;

static THREADS: Semaphore = Semaphore::const_new(MAX_THREADS);

static PATHS: Mutex<BTreeMap<PathBuf, Weak<PathThreads>>> = Mutex::new(BTreeMap::new());

/// The threads that work on a path.
struct PathThreads {
    free: Arc<Semaphore>,
    /// Threads whose callers have given up.
    hung: AtomicUsize,
}

impl PathThreads {
    fn of(path: &Path) -> Arc<Self> {
        let mut paths = PATHS.lock().unwrap_or_else(PoisonError::into_inner);
        paths.retain(|_, threads| threads.strong_count() > 0);
        if let Some(threads) = paths.get(path).and_then(Weak::upgrade) {
            return threads;
        }
        let free = Arc::new(Semaphore::new(MAX_THREADS_OF_PATH));
        let threads = Arc::new(Self { free, hung: AtomicUsize::new(0) });
        paths.insert(path.to_owned(), Arc::downgrade(&threads));
        threads
    }
}

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

/// Runs work on files at or below a path off the async workers, so that a slow file system does not hold one up.
///
/// After [`TIME_LIMIT`] the caller gets [`ErrorKind::TimedOut`]. The thread waits until the file system answers. While
/// all threads of the path do, further callers get the error at once.
pub async fn off_worker<T: Send + 'static>(
    path: impl Into<PathBuf>,
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<T> {
    let path = path.into();
    let of_path = PathThreads::of(&path);
    let no_answer = || {
        let (path, limit) = (path.display(), TIME_LIMIT.as_secs());
        let message = format!("the file system of {path} did not answer within {limit} s");
        io::Error::new(ErrorKind::TimedOut, message)
    };
    if of_path.hung.load(Ordering::Relaxed) >= MAX_THREADS_OF_PATH {
        return Err(no_answer());
    }
    let deadline = Instant::now() + TIME_LIMIT;
    let permits = async {
        let of_path = Arc::clone(&of_path.free).acquire_owned().await.map_err(io::Error::other)?;
        Ok::<_, io::Error>((of_path, THREADS.acquire().await.map_err(io::Error::other)?))
    };
    let permits = timeout_at(deadline, permits).await.map_err(|_| no_answer())??;
    let counted = (permits, Arc::clone(&of_path));
    let mut run = tokio::task::spawn_blocking(move || {
        let _counted = counted;
        work()
    });
    match timeout_at(deadline, &mut run).await {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(failed)) if failed.is_panic() => std::panic::resume_unwind(failed.into_panic()),
        Ok(Err(ended)) => Err(io::Error::other(ended)),
        Err(_) => {
            of_path.hung.fetch_add(1, Ordering::Relaxed);
            tokio::spawn(async move {
                let _ = run.await;
                of_path.hung.fetch_sub(1, Ordering::Relaxed);
            });
            Err(no_answer())
        }
    }
}

/// The folder of a file, for [`off_worker`]: files of a folder hang together.
pub fn folder_of(file: &Path) -> PathBuf {
    file.parent().unwrap_or(file).to_owned()
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
    async fn a_hung_folder_ends_the_wait_and_leaves_the_others_their_threads() {
        assert_eq!(off_worker("/hung", || 7).await.expect("done"), 7);
        let mut answers = Vec::new();
        let mut calls = Vec::new();
        for number in 0..2 * MAX_THREADS {
            let (answer, waiting) = mpsc::channel::<()>();
            answers.push(answer);
            let (began, begun) = tokio::sync::oneshot::channel();
            calls.push(tokio::spawn(off_worker("/hung", move || {
                let _ = began.send(());
                let _ = waiting.recv();
            })));
            if number < MAX_THREADS_OF_PATH {
                begun.await.expect("it began");
            }
        }
        assert_eq!(off_worker("/other", || 8).await.expect("done"), 8);
        while !calls.iter().all(tokio::task::JoinHandle::is_finished) {
            tokio::time::advance(TIME_LIMIT).await;
        }
        for call in calls {
            assert_eq!(kind(call.await.expect("a result")), Some(ErrorKind::TimedOut));
        }
        let asked = Instant::now();
        let late = off_worker("/hung", || ()).await.expect_err("it hangs");
        assert_eq!(late.to_string(), "the file system of /hung did not answer within 10 s");
        assert_eq!(asked.elapsed(), Duration::ZERO, "nobody waits for what hangs");
        assert_eq!(off_worker("/other", || 9).await.expect("done"), 9);
        drop(answers);
        while PathThreads::of(Path::new("/hung")).hung.load(Ordering::Relaxed) > 0 {
            tokio::task::yield_now().await;
        }
        assert_eq!(off_worker("/hung", || 10).await.expect("done"), 10);
    }

    #[tokio::test(start_paused = true)]
    async fn a_caller_that_goes_leaves_its_thread_counted() {
        let mut answers = Vec::new();
        for _ in 0..MAX_THREADS_OF_PATH {
            let (answer, waiting) = mpsc::channel::<()>();
            answers.push(answer);
            let (began, begun) = tokio::sync::oneshot::channel();
            let call = tokio::spawn(off_worker("/left", move || {
                let _ = began.send(());
                let _ = waiting.recv();
            }));
            begun.await.expect("it began");
            call.abort();
        }
        let late = tokio::spawn(off_worker("/left", || ()));
        tokio::task::yield_now().await;
        tokio::time::advance(TIME_LIMIT).await;
        assert_eq!(kind(late.await.expect("a result")), Some(ErrorKind::TimedOut));
    }
}
