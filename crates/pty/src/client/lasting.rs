//! Finds the lasting keeper, or starts it, and becomes its server.
//!
//! One of several servers that start at once starts the keeper: it binds the socket under a lock
//! (`flock` on a file beside it) and hands it to the keeper listening. Until the keeper runs, who connects
//! waits in the socket's queue. A socket that nobody listens on is that of a dead keeper and is replaced,
//! under the same lock.
//!
//! Everything here blocks, for a bounded time, and is done before the connection task has the socket:
//! connecting, the greeting, one question and its answer.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, OFlags};

use super::{REPLY_LIMIT, SHUTDOWN_LIMIT, process};
use crate::protocol::{Event, Malformed, OLDEST, Request, RequestId, VERSION};
use crate::wire::{Filled, Inbox, Outbox};
use crate::{AttachError, Lasting, Signal, process_table, role, sys};

/// How often a keeper that was just ending is looked for again.
const ATTEMPTS: usize = 40;

/// Most keepers that one attachment starts: something that kills them at once would kill more.
const MAX_STARTS: u32 = 3;

/// Between attempts.
const PAUSE: Duration = Duration::from_millis(50);

/// Bytes of the keeper's process in the lock's file.
const MAX_RECORD: u64 = 32;

/// How long a keeper that closed its socket may take to end.
const DEATH_LIMIT: Duration = Duration::from_secs(1);

/// A socket to a keeper that has made us its server.
pub(super) struct Attached {
    /// Non-blocking.
    pub(super) socket: OwnedFd,
    /// What came behind the answer.
    pub(super) inbox: Inbox,
    pub(super) pid: u32,
}

/// Becomes the server of the keeper, which is started if there is none.
pub(super) fn attach(lasting: &Lasting) -> Result<Attached, AttachError> {
    let path = &lasting.socket;
    let request = Request::Attach {
        request: RequestId(0),
        version: VERSION,
        claim: lasting.claim,
        linger_ms: u32::try_from(lasting.linger.as_millis()).unwrap_or(u32::MAX),
    };
    let mut started = 0;
    for _ in 0..ATTEMPTS {
        let stream = reach(path, &mut started).map_err(|source| unreachable(path, source))?;
        let answer = Caller::greet(stream, path)
            .and_then(|mut caller| caller.ask(&request).map(|answer| (caller, answer)));
        match answer {
            Ok((caller, Event::Done { errno: 0, .. })) => {
                // Without it a stopped keeper is not resumed.
                let _ = record(path, caller.pid);
                return caller.attached(path);
            }
            Ok((_, Event::Busy { holder, .. })) => return Err(AttachError::Busy { holder }),
            Err(Broken::Gone) if started >= MAX_STARTS => {
                return Err(AttachError::Dies { started });
            }
            // It is ending, and makes room for another.
            Ok((_, Event::Done { errno: libc::ESHUTDOWN, .. })) | Err(Broken::Gone) => {
                std::thread::sleep(PAUSE);
            }
            Ok((_, Event::Done { errno, .. })) => {
                return Err(unreachable(path, io::Error::from_raw_os_error(errno)));
            }
            Ok(_) => return Err(unreachable(path, io::Error::other(Malformed::Value))),
            Err(Broken::For(error)) => return Err(error),
        }
    }
    Err(unreachable(path, ErrorKind::UnexpectedEof.into()))
}

/// Ends everything that a keeper holds which has no server, and the keeper; false when there is none.
pub(super) fn end_all(path: &Path, grace: Duration) -> Result<bool, AttachError> {
    let stream = match UnixStream::connect(path) {
        Ok(stream) => stream,
        Err(error) if is_nobody(&error) => return Ok(false),
        Err(source) => return Err(unreachable(path, source)),
    };
    let grace_ms = u32::try_from(grace.as_millis()).unwrap_or(u32::MAX);
    let limit = grace.saturating_add(SHUTDOWN_LIMIT);
    let asked = Caller::greet(stream, path).and_then(|mut caller| {
        caller.limit(limit)?;
        let answer = caller.ask(&Request::Shutdown { request: RequestId(0), grace_ms })?;
        Ok((caller.pid, answer))
    });
    match asked {
        Ok((_, Event::Busy { holder, .. })) => Err(AttachError::Busy { holder }),
        Ok((pid, _)) => {
            wait_dead(pid, DEATH_LIMIT);
            Ok(true)
        }
        // It was ending already.
        Err(Broken::Gone) => Ok(true),
        Err(Broken::For(error)) => Err(error),
    }
}

/// Resumes a keeper that is stopped (`SIGSTOP`): it would not answer.
pub(super) fn resume(path: &Path) {
    let Ok(file) = File::open(lock_path(path)) else { return };
    let mut recorded = String::new();
    let _ = file.take(MAX_RECORD).read_to_string(&mut recorded);
    let Ok(pid) = recorded.parse() else { return };
    let is_ours = process_table::owner(pid) == Some(rustix::process::geteuid().as_raw());
    let name = role::ROLE_NAME.to_bytes();
    // The number may be another process's by now.
    if is_ours && process_table::started_with(pid, name) == Some(true) {
        let _ = sys::kill(pid, Signal::CONT.number());
    }
}

/// Whether the keeper that closed its socket has died.
pub(super) async fn is_dead(pid: u32) -> bool {
    tokio::task::spawn_blocking(move || wait_dead(pid, DEATH_LIMIT)).await.unwrap_or(false)
}

/// Waits for a process that is not our child to end; false when it has not.
fn wait_dead(pid: u32, limit: Duration) -> bool {
    let until = Instant::now() + limit;
    let lives = || process_table::read(pid as i32).is_some_and(|process| process.is_alive());
    while lives() {
        if Instant::now() >= until {
            return false;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    true
}

fn unreachable(path: &Path, source: io::Error) -> AttachError {
    AttachError::Unreachable { path: path.to_owned(), source }
}

/// No socket, or one that nobody listens on.
fn is_nobody(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::ConnectionRefused)
}

/// Connects to the keeper. Starts one if there is none, and counts it in `started`.
fn reach(path: &Path, started: &mut u32) -> io::Result<UnixStream> {
    match UnixStream::connect(path) {
        Err(error) if is_nobody(&error) => {}
        connected => return connected,
    }
    let _locked = lock(path)?;
    // Somebody may have been faster.
    match UnixStream::connect(path) {
        Err(error) if is_nobody(&error) => {}
        connected => return connected,
    }
    if fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket()) {
        fs::remove_file(path)?;
    }
    let listener = UnixListener::bind(path)?;
    fs::set_permissions(path, Permissions::from_mode(0o600))?;
    *started += 1;
    process::start_lasting(listener.into())?;
    UnixStream::connect(path)
}

/// Held while the file is open.
fn lock(path: &Path) -> io::Result<File> {
    let file = open_lock(path)?;
    rustix::io::retry_on_intr(|| rustix::fs::flock(&file, FlockOperation::LockExclusive))?;
    Ok(file)
}

/// Writes the keeper's process into the lock's file.
fn record(path: &Path, pid: u32) -> io::Result<()> {
    let mut file = open_lock(path)?;
    file.set_len(0)?;
    write!(file, "{pid}")
}

fn lock_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    name.into()
}

fn open_lock(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600);
    options.custom_flags(OFlags::NOFOLLOW.bits() as i32);
    options.open(lock_path(path))
}

/// Why a keeper gave no answer.
enum Broken {
    /// It closed the socket.
    Gone,
    For(AttachError),
}

/// A guest's end of the socket, blocking.
struct Caller {
    stream: UnixStream,
    inbox: Inbox,
    path: PathBuf,
    pid: u32,
    limit: Duration,
}

impl Caller {
    /// Checks who is there and hears the greeting.
    fn greet(stream: UnixStream, path: &Path) -> Result<Self, Broken> {
        let path = path.to_owned();
        let peer = sys::peer(&stream).map_err(|_| Broken::Gone)?;
        if peer.user != rustix::process::geteuid().as_raw() {
            return Err(Broken::For(AttachError::Foreign { path }));
        }
        let mut caller = Self { stream, inbox: Inbox::default(), path, pid: 0, limit: REPLY_LIMIT };
        caller.limit(REPLY_LIMIT)?;
        let Event::Hello { version, pid } = caller.next()? else { return Err(Broken::Gone) };
        if version < OLDEST {
            return Err(Broken::For(AttachError::Version { pid, version }));
        }
        caller.pid = pid;
        Ok(caller)
    }

    fn limit(&mut self, limit: Duration) -> Result<(), Broken> {
        self.limit = limit;
        let set = self.stream.set_read_timeout(Some(limit));
        set.and_then(|()| self.stream.set_write_timeout(Some(limit)))
            .map_err(|source| self.failed(source))
    }

    fn ask(&mut self, request: &Request) -> Result<Event, Broken> {
        let frame = request.encode().map_err(|error| self.failed(io::Error::other(error)))?;
        let mut outbox = Outbox::default();
        outbox.push(frame, Vec::new());
        outbox.flush(self.stream.as_fd()).map_err(|source| self.failed(source))?;
        self.next()
    }

    fn next(&mut self) -> Result<Event, Broken> {
        loop {
            match self.inbox.next_frame().map(|body| body.map(Event::decode)) {
                Ok(Some(Ok(event))) => return Ok(event),
                // Of a later version.
                Ok(Some(Err(Malformed::Tag(_)))) => continue,
                Ok(Some(Err(malformed))) | Err(malformed) => {
                    return Err(self.failed(io::Error::other(malformed)));
                }
                Ok(None) => {}
            }
            match self.inbox.fill(self.stream.as_fd()) {
                Ok(Filled::Some) => {}
                Ok(Filled::EndOfFile) => return Err(Broken::Gone),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(self.failed(error)),
            }
        }
    }

    fn failed(&self, source: io::Error) -> Broken {
        match source.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => {
                Broken::For(AttachError::Silent { limit: self.limit })
            }
            ErrorKind::BrokenPipe | ErrorKind::ConnectionReset => Broken::Gone,
            _ => Broken::For(unreachable(&self.path, source)),
        }
    }

    /// Gives up the socket, as the connection task wants it.
    fn attached(self, path: &Path) -> Result<Attached, AttachError> {
        let Self { stream, inbox, pid, .. } = self;
        stream.set_nonblocking(true).map_err(|source| unreachable(path, source))?;
        Ok(Attached { socket: stream.into(), inbox, pid })
    }
}
