//! How servers come to a lasting keeper, and go.
//!
//! Whoever connects to the socket and is of our own user is a guest, for [`PATIENCE`] at most. A guest
//! may attach, which makes it the server; list what is held; or end everything while there is no
//! server. A guest that takes over waits until the server has closed its link, which it does once it
//! reads no terminal any more, or [`HANDOVER`] has passed.
//!
//! Nothing here reads a terminal: while no server is there a program that prints more than the kernel
//! holds waits.
//!
//! The keeper ends by itself when it holds no program, and nobody was connected for the time that the last
//! server has set. The door is closed before: the socket's name is removed, if it is still this one's,
//! and who was about to come in sees the end of the stream and starts another keeper. It also ends, with all that it
//! holds, when the socket has no name any more and no server is there: nobody could ever find it.

use std::ffi::OsStr;
use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::ending::DEATH_GRACE;
use super::peer::{self, Asked, Gone, Peer};
use super::{Keeper, stop::MAX_GRACE};
use crate::Claim;
use crate::protocol::{Event, Request, RequestId};

/// How long a guest may take to say what it wants.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long a server may take to let go.
const HANDOVER: Duration = Duration::from_secs(3);

/// How long the keeper stays when nobody has said otherwise.
const LINGER: Duration = Duration::from_secs(10);

/// How often is looked whether the socket still has its name, while no server is there.
const NAME_CHECK: Duration = Duration::from_secs(5);

/// Guests at a time; others wait in the socket's queue.
const MAX_GUESTS: usize = 16;

pub(super) struct Door {
    /// `None` once it is closed.
    listener: Option<OwnedFd>,
    path: PathBuf,
    /// Device and number of the socket's file.
    identity: Option<(u64, u64)>,
    pub(super) guests: Vec<Guest>,
    linger: Duration,
    /// Since when nothing is held and nobody is there.
    idle_since: Option<Instant>,
    /// The server has to be gone by then.
    handover_by: Option<Instant>,
    /// When the socket's name was looked for.
    looked: Instant,
}

pub(super) struct Guest {
    pub(super) peer: Peer,
    until: Instant,
    wish: Option<Wish>,
}

/// What a guest waits for.
#[derive(Clone, Copy)]
enum Wish {
    /// To be the server.
    Attach { request: RequestId, claim: Claim, linger: Duration },
    /// The end of everything.
    End { request: RequestId },
}

impl Door {
    pub(super) fn new(listener: OwnedFd) -> Self {
        let path = socket_path(&listener).unwrap_or_default();
        Self {
            identity: identity(&path),
            listener: Some(listener),
            path,
            guests: Vec::new(),
            linger: LINGER,
            idle_since: None,
            handover_by: None,
            looked: Instant::now(),
        }
    }

    /// The listener, while a guest can be let in.
    pub(super) fn open(&self) -> Option<&OwnedFd> {
        self.listener.as_ref().filter(|_| self.guests.len() < MAX_GUESTS)
    }

    /// Lets one guest in.
    pub(super) fn accept(&mut self) {
        let Some(listener) = self.open() else { return };
        // A stranger, or one that has gone already: nothing to do.
        if let Ok(Some(peer)) = peer::accept(listener) {
            self.guests.push(Guest { peer, until: Instant::now() + PATIENCE, wish: None });
        }
    }

    /// Nobody comes in any more; those who only waited to be the server find another keeper.
    pub(super) fn close(&mut self) {
        if let Some(listener) = self.listener.take() {
            if self.identity.is_some() && identity(&self.path) == self.identity {
                let _ = fs::remove_file(&self.path);
            }
            drop(listener);
        }
        self.guests.retain(|guest| matches!(guest.wish, Some(Wish::End { .. })));
    }

    /// All is over.
    pub(super) fn answer_enders(&mut self) {
        for guest in &mut self.guests {
            if let Some(Wish::End { request }) = guest.wish.take() {
                guest.peer.send(&Event::Done { request, errno: 0 }, Vec::new());
                let _ = guest.peer.flush();
            }
        }
    }

    pub(super) fn next_look(&self, has_server: bool) -> Option<Instant> {
        let waits = |guest: &Guest| matches!(guest.wish, Some(Wish::Attach { .. }));
        if !has_server && self.guests.iter().any(waits) {
            return Some(Instant::now());
        }
        let guests = self.guests.iter().filter(|guest| guest.wish.is_none());
        let idle = self.idle_since.filter(|_| self.listener.is_some());
        let idle = idle.map(|since| since + self.linger);
        let name = self.listener.as_ref().filter(|_| !has_server);
        let name = name.map(|_| self.looked + NAME_CHECK);
        guests.map(|guest| guest.until).chain(idle).chain(self.handover_by).chain(name).min()
    }

    /// The server has gone.
    pub(super) fn server_left(&mut self) {
        self.handover_by = None;
    }
}

impl Keeper {
    /// Hears a guest; `index` is its place.
    pub(super) fn hear(&mut self, index: usize) {
        let Some(mut guest) = self
            .door
            .as_mut()
            .and_then(|door| (index < door.guests.len()).then(|| door.guests.remove(index)))
        else {
            return;
        };
        let mut heard = guest.peer.fill();
        while heard.is_ok() {
            match guest.peer.next() {
                Ok(Some(asked)) => self.answer_guest(&mut guest, asked),
                Ok(None) => break,
                Err(gone) => heard = Err(gone),
            }
        }
        let is_there = heard.is_ok() && guest.peer.flush().is_ok();
        // A door that was closed meanwhile has sent the others off.
        let may_stay = self.ending.is_none() || matches!(guest.wish, Some(Wish::End { .. }));
        if is_there
            && may_stay
            && let Some(door) = &mut self.door
        {
            door.guests.insert(index.min(door.guests.len()), guest);
        }
    }

    fn answer_guest(&mut self, guest: &mut Guest, asked: Asked) {
        let request = match asked {
            Asked::Request(request) => request,
            Asked::Unknown { event } => {
                if let Some(event) = event {
                    guest.peer.send(&event, Vec::new());
                }
                return;
            }
        };
        self.notice_death();
        let holder = self.server.as_ref().map(|server| server.pid);
        let answer = match request {
            Request::List { request } => Event::Listed { request, programs: self.listed() },
            Request::Attach { request, .. } if self.ending.is_some() => {
                Event::Done { request, errno: libc::ESHUTDOWN }
            }
            Request::Attach { request, claim, linger_ms, version: _ } => {
                let linger = Duration::from_millis(linger_ms.into()).min(MAX_GRACE);
                guest.wish = Some(Wish::Attach { request, claim, linger });
                return;
            }
            Request::Shutdown { request, grace_ms } => match holder {
                Some(holder) => Event::Busy { request, holder },
                None => {
                    guest.wish = Some(Wish::End { request });
                    return self.begin_ending(Duration::from_millis(grace_ms.into()), None);
                }
            },
            other => match other.number() {
                Some(request) => Event::Done { request, errno: libc::EPERM },
                None => return,
            },
        };
        guest.peer.send(&answer, Vec::new());
    }

    /// A server that was killed is gone when its successor comes, even if we have not heard yet.
    fn notice_death(&mut self) {
        // What it sent before is heard first; it is finite.
        while self.server.as_ref().is_some_and(Peer::is_hung_up) {
            self.receive();
            // With too much unsent nothing is read; sending it fails.
            self.flush();
        }
    }

    /// Sends off guests that said nothing, admits the next server, notes that nobody is there.
    pub(super) fn advance_door(&mut self) {
        let now = Instant::now();
        let Some(door) = &mut self.door else { return };
        door.guests.retain(|guest| guest.wish.is_some() || now < guest.until);
        // It was told, so it is cut off even if the one that wanted its place is gone.
        if door.handover_by.is_some_and(|at| now >= at) {
            self.server_gone();
        }
        for index in (0..self.door.as_ref().map_or(0, |door| door.guests.len())).rev() {
            self.consider(index, now);
        }
        let Some(door) = &mut self.door else { return };
        let is_alone = self.server.is_none() && door.guests.is_empty() && self.ending.is_none();
        if now >= door.looked + NAME_CHECK {
            door.looked = now;
            let is_lost = door.identity.is_some() && identity(&door.path) != door.identity;
            if is_lost && is_alone {
                return self.begin_ending(DEATH_GRACE, None);
            }
        }
        let is_idle = self.server.is_none() && self.programs.is_empty() && door.guests.is_empty();
        if !is_idle || self.ending.is_some() {
            door.idle_since = None;
            return;
        }
        let since = *door.idle_since.get_or_insert(now);
        if now >= since + door.linger {
            self.begin_ending(DEATH_GRACE, None);
        }
    }

    /// Makes a guest the server that wishes it, or refuses it, or has it wait for the server to go.
    fn consider(&mut self, index: usize, now: Instant) {
        let Some(door) = &mut self.door else { return };
        let guest = &mut door.guests[index];
        let Some(Wish::Attach { request, claim, linger }) = guest.wish else { return };
        if let Some(server) = &mut self.server {
            if claim == Claim::IfFree {
                guest.wish = None;
                guest.peer.send(&Event::Busy { request, holder: server.pid }, Vec::new());
                return;
            }
            if door.handover_by.is_none() {
                door.handover_by = Some(now + HANDOVER);
                server.send(&Event::TakenOver { by: guest.peer.pid }, Vec::new());
                self.flush();
            }
            return;
        }
        let mut guest = door.guests.remove(index);
        door.linger = linger;
        door.handover_by = None;
        guest.peer.send(&Event::Done { request, errno: 0 }, Vec::new());
        self.server = Some(guest.peer);
        self.flush();
    }

    /// Sends what guests can take.
    pub(super) fn flush_guests(&mut self) {
        if let Some(door) = &mut self.door {
            door.guests.retain_mut(|guest| !matches!(guest.peer.flush(), Err(Gone)));
        }
    }
}

fn socket_path(listener: &OwnedFd) -> Option<PathBuf> {
    let address = rustix::net::getsockname(listener).ok()?;
    let address = rustix::net::SocketAddrUnix::try_from(address).ok()?;
    Some(OsStr::from_bytes(address.path()?.to_bytes()).into())
}

fn identity(path: &PathBuf) -> Option<(u64, u64)> {
    fs::symlink_metadata(path).ok().map(|found| (found.dev(), found.ino()))
}
