//! Who is at the other end of a socket: the server, or a guest.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::event::PollFlags;

use super::is_transient;
use crate::protocol::{Event, Malformed, Request};
use crate::wire::{Filled, Inbox, OUTBOX_LIMIT, Outbox};

pub(super) struct Peer {
    pub(super) socket: OwnedFd,
    inbox: Inbox,
    outbox: Outbox,
    /// It has closed its end; what it sent before is still to be read.
    is_closed: bool,
    /// 0 where it is not known.
    pub(super) pid: u32,
}

/// The other end is gone, or sent what is no frame.
pub(super) struct Gone;

/// A frame that was received.
pub(super) enum Asked {
    Request(Request),
    /// Not a request that this version knows: to be refused with the error number.
    Unknown {
        event: Option<Event>,
    },
}

impl Peer {
    /// Greets whoever is there.
    pub(super) fn new(socket: OwnedFd, pid: u32) -> Self {
        let (inbox, outbox) = (Inbox::default(), Outbox::default());
        let mut peer = Self { socket, inbox, outbox, is_closed: false, pid };
        let (version, pid) = (crate::protocol::VERSION, std::process::id());
        peer.send(&Event::Hello { version, pid }, Vec::new());
        peer
    }

    /// What it is to be polled for.
    pub(super) fn interest(&self) -> PollFlags {
        let mut interest = PollFlags::empty();
        interest.set(PollFlags::IN, !self.is_full());
        interest.set(PollFlags::OUT, !self.outbox.is_empty());
        interest
    }

    pub(super) fn has_unsent(&self) -> bool {
        !self.outbox.is_empty()
    }

    fn is_full(&self) -> bool {
        self.outbox.bytes() >= OUTBOX_LIMIT
    }

    pub(super) fn send(&mut self, event: &Event, descriptors: Vec<OwnedFd>) {
        // Events are far below the frame limit: lists are cut to MAX_LISTED, paths to PATH_MAX, and
        // there are not as many programs as would fill a list of them.
        if let Ok(frame) = event.encode()
            && !self.is_closed
        {
            self.outbox.push(frame, descriptors);
        }
    }

    /// Sends what the socket takes. A peer that takes no more is not gone before it was read to the end:
    /// the last that a server does may be to release a program.
    pub(super) fn flush(&mut self) -> Result<(), Gone> {
        match self.outbox.flush(self.socket.as_fd()) {
            Ok(()) => Ok(()),
            Err(error) if is_transient(&error) => Ok(()),
            Err(error) if is_closed(&error) => {
                self.is_closed = true;
                self.outbox = Outbox::default();
                Ok(())
            }
            Err(_) => Err(Gone),
        }
    }

    /// Reads once, if there is room for answers.
    pub(super) fn fill(&mut self) -> Result<(), Gone> {
        if self.is_full() {
            return Ok(());
        }
        match self.inbox.fill(self.socket.as_fd()) {
            Ok(Filled::Some) => Ok(()),
            Err(error) if is_transient(&error) => Ok(()),
            Ok(Filled::EndOfFile) | Err(_) => Err(Gone),
        }
    }

    /// The next whole frame that was read.
    pub(super) fn next(&mut self) -> Result<Option<Asked>, Gone> {
        let Some(body) = self.inbox.next_frame().map_err(|_| Gone)? else {
            return Ok(None);
        };
        Ok(Some(match Request::decode(body) {
            Ok(request) => Asked::Request(request),
            Err(malformed) => {
                let is_unknown = matches!(malformed, Malformed::Tag(_));
                let errno = if is_unknown { libc::ENOSYS } else { libc::EINVAL };
                let request = Request::number_of(body);
                Asked::Unknown { event: request.map(|request| Event::Done { request, errno }) }
            }
        }))
    }

    /// The other end has closed, whatever it sent before.
    pub(super) fn is_hung_up(&self) -> bool {
        let mut sources = [rustix::event::PollFd::new(&self.socket, PollFlags::IN)];
        let polled = rustix::event::poll(&mut sources, Some(&rustix::event::Timespec::default()));
        let is_over = PollFlags::HUP | PollFlags::ERR;
        matches!(polled, Ok(1)) && sources[0].revents().intersects(is_over)
    }
}

fn is_closed(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset)
}

/// Accepts a connection, of our own user only.
pub(super) fn accept(listener: &OwnedFd) -> io::Result<Option<Peer>> {
    #[cfg(not(target_vendor = "apple"))]
    let socket = {
        use rustix::net::SocketFlags;
        rustix::net::accept_with(listener, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK)?
    };
    #[cfg(target_vendor = "apple")]
    let socket = {
        let socket = rustix::net::accept(listener)?;
        rustix::io::fcntl_setfd(&socket, rustix::io::FdFlags::CLOEXEC)?;
        super::setup::set_nonblocking(&socket)?;
        socket
    };
    let peer = crate::sys::peer(&socket)?;
    let is_ours = peer.user == rustix::process::geteuid().as_raw();
    Ok(is_ours.then(|| Peer::new(socket, peer.pid)))
}
