//! Frames and descriptors over a non-blocking Unix stream socket, for both ends alike.
//!
//! [`Inbox`] gathers what arrives and cuts it into frames; [`Outbox`] holds what could not be
//! sent yet. Neither waits: a socket that is not ready gives `WouldBlock`, and whoever owns the
//! socket polls it. Neither looks into a frame.
//!
//! Bounds: the inbox holds at most one frame and one read; the outbox is kept small by its
//! owner, who stops taking work while [`Outbox::bytes`] is over [`OUTBOX_LIMIT`].

use std::collections::VecDeque;
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags,
};

use crate::protocol::{Malformed, frame_length};

/// Above this many unsent bytes an owner takes no more work.
pub(crate) const OUTBOX_LIMIT: usize = 1 << 20;

const READ_SIZE: usize = 64 << 10;

/// A frame's descriptors: terminal, journal, command pipe.
pub(crate) const DESCRIPTORS_PER_FRAME: usize = 3;

/// More descriptors than one read of the smallest frames could bring.
const DESCRIPTORS_PER_READ: usize = 16;

/// What a read of the socket came to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Filled {
    Some,
    EndOfFile,
}

/// The descriptors of one frame that was sent to us.
#[derive(Debug)]
pub(crate) enum Received {
    Whole(Vec<OwnedFd>),
    /// This process has as many open as it may.
    Lost,
}

/// What has arrived and was not yet taken.
#[derive(Default)]
pub(crate) struct Inbox {
    bytes: Vec<u8>,
    taken: usize,
    descriptors: VecDeque<Received>,
}

impl Inbox {
    /// Reads once.
    pub(crate) fn fill(&mut self, socket: BorrowedFd<'_>) -> io::Result<Filled> {
        self.bytes.drain(..self.taken);
        self.taken = 0;
        let held = self.bytes.len();
        self.bytes.resize(held + READ_SIZE, 0);
        let received = self.receive(socket, held);
        self.bytes.truncate(held + received.as_ref().map_or(0, |&count| count));
        match received {
            Ok(0) => Ok(Filled::EndOfFile),
            Ok(_) => Ok(Filled::Some),
            // A peer that died with unread bytes resets the connection: the same end.
            Err(rustix::io::Errno::CONNRESET) => Ok(Filled::EndOfFile),
            Err(error) => Err(error.into()),
        }
    }

    /// The next whole frame's body.
    pub(crate) fn next_frame(&mut self) -> Result<Option<&[u8]>, Malformed> {
        let rest = &self.bytes[self.taken..];
        let Some(length) = frame_length(rest)? else {
            return Ok(None);
        };
        let Some(body) = rest.get(4..4 + length) else {
            return Ok(None);
        };
        self.taken += 4 + length;
        Ok(Some(body))
    }

    /// The oldest descriptors that arrived.
    pub(crate) fn next_descriptors(&mut self) -> Option<Received> {
        self.descriptors.pop_front()
    }

    fn receive(&mut self, socket: BorrowedFd<'_>, at: usize) -> rustix::io::Result<usize> {
        let mut space =
            [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS_PER_READ))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let mut slices = [IoSliceMut::new(&mut self.bytes[at..])];
        let received = rustix::net::recvmsg(socket, &mut slices, &mut ancillary, receive_flags())?;
        // A read ends behind a message with descriptors, so what is lost is of that one.
        let is_cut = received.flags.contains(ReturnFlags::CTRUNC);
        let before = self.descriptors.len();
        for message in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(descriptors) = message {
                let whole: Vec<_> = descriptors.inspect(close_on_exec).collect();
                let received = if is_cut { Received::Lost } else { Received::Whole(whole) };
                self.descriptors.push_back(received);
            }
        }
        if is_cut && self.descriptors.len() == before {
            self.descriptors.push_back(Received::Lost);
        }
        Ok(received.bytes)
    }
}

/// What is to be sent.
#[derive(Default)]
pub(crate) struct Outbox {
    frames: VecDeque<Outgoing>,
    bytes: usize,
}

struct Outgoing {
    bytes: Vec<u8>,
    sent: usize,
    descriptors: Vec<OwnedFd>,
}

impl Outbox {
    /// Queues a frame, with the descriptors that travel with its first byte.
    pub(crate) fn push(&mut self, bytes: Vec<u8>, descriptors: Vec<OwnedFd>) {
        self.bytes += bytes.len();
        self.frames.push_back(Outgoing { bytes, sent: 0, descriptors });
    }

    /// Sends as much as the socket takes; `WouldBlock` when something is left.
    pub(crate) fn flush(&mut self, socket: BorrowedFd<'_>) -> io::Result<()> {
        while let Some(frame) = self.frames.front_mut() {
            let sent = frame.send(socket)?;
            self.bytes -= sent;
            if frame.sent == frame.bytes.len() {
                self.frames.pop_front();
            }
        }
        Ok(())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// How many bytes wait to be sent.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Outgoing {
    fn send(&mut self, socket: BorrowedFd<'_>) -> io::Result<usize> {
        let slices = [IoSlice::new(&self.bytes[self.sent..])];
        let mut space =
            [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS_PER_FRAME))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        let descriptors: Vec<_> = self.descriptors.iter().map(AsFd::as_fd).collect();
        if !descriptors.is_empty() {
            ancillary.push(SendAncillaryMessage::ScmRights(&descriptors));
        }
        let sent = rustix::net::sendmsg(socket, &slices, &mut ancillary, send_flags())?;
        self.sent += sent;
        self.descriptors.clear();
        Ok(sent)
    }
}

#[cfg(not(target_vendor = "apple"))]
fn receive_flags() -> RecvFlags {
    RecvFlags::CMSG_CLOEXEC
}

#[cfg(target_vendor = "apple")]
fn receive_flags() -> RecvFlags {
    RecvFlags::empty()
}

#[cfg(not(target_vendor = "apple"))]
fn send_flags() -> SendFlags {
    SendFlags::NOSIGNAL
}

/// Both ends ignore `SIGPIPE`.
#[cfg(target_vendor = "apple")]
fn send_flags() -> SendFlags {
    SendFlags::empty()
}

/// For systems that cannot receive a descriptor so marked; elsewhere it is marked already.
fn close_on_exec(descriptor: &OwnedFd) {
    if cfg!(target_vendor = "apple") {
        let _ = rustix::io::fcntl_setfd(descriptor, rustix::io::FdFlags::CLOEXEC);
    }
}
