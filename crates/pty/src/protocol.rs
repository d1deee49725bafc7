//! What the server and the keeper say to each other.
//!
//! # Bytes
//!
//! A stream of frames over a Unix stream socket. A frame is a length (`u32`, little-endian, of what
//! follows, at most [`MAX_FRAME`]) and a body: one tag byte, then the fields in order. Integers are
//! little-endian; a byte string is a `u32` length and its bytes; a list is a `u32` count and its
//! items; a part is a byte string that holds fields. There is no padding.
//!
//! [`Event::Spawned`] and [`Event::Adopted`] are accompanied by descriptors (`SCM_RIGHTS`, one message),
//! attached to the first byte of the frame: the PTY master, then what the frame names. No other frame
//! carries any, so descriptors are matched to frames by their order.
//!
//! # Versions
//!
//! A keeper may outlive its server, so a server may be newer than its keeper, or older. The rules
//! for both ends, now and later:
//!
//! * A tag, once used, keeps its meaning and the order and type of its fields. Fields are added at the
//!   end of a frame or of a part only. What follows the last field that a decoder knows is ignored; a
//!   field that is missing at the end of a frame of an earlier version has a default.
//! * A list whose items may grow is a list of parts.
//! * Every request but `Release` and `Return` begins with its request id, now and later. The keeper answers one that
//!   it does not know by `Done` with `ENOSYS`, one that it cannot decode by `Done` with `EINVAL`, and goes on.
//! * A server ignores an event that it does not know. A keeper sends what a version does not know (an
//!   event, a code in a field, a descriptor) only to a server that said in `Attach` that it is of a later
//!   one, or that asked for it by a request that came with it.
//! * `Hello` carries [`VERSION`], which changes with every change of the frames. The server refuses a
//!   keeper older than [`OLDEST`], which changes when a rule above cannot be kept.
//!
//! # Order
//!
//! The keeper speaks first: `Hello`. Then the server asks, each question with a request id of its
//! choice, and the keeper answers each exactly once, in any order: a `Stop` is answered when the
//! session is gone, and what was asked later may be answered before. `Release` and `Return` have none.
//! Of one program: `Spawned` or `Adopted` comes before `Exited`, `Exited` comes once per server, and
//! before the answer to a `Stop` that it belongs to. End of file on either side is the other's death.
//!
//! Who connects to a lasting keeper by its socket's name is a guest: it may `List`, `Shutdown` and
//! `Attach`, which makes it the server. There is one server at a time. One that another takes over from
//! gets `TakenOver` and closes the link when it has stopped reading terminals; only then, or when
//! it takes too long, is the other admitted. Answers to a server that is gone are dropped.
//!
//! # Trust
//!
//! Both ends are the same program, and its user's: the socket of a private keeper has no name, and a
//! lasting keeper accepts its own user only. So neither end guards against malice in the other.
//! Decoding is total all the same: a malformed frame is an error, never a panic or an allocation beyond
//! the frame. One that is too long, or an event that cannot be decoded, ends the connection as a death
//! would. Programs never hold the socket.

mod codec;
mod event;
mod held;
mod request;
#[cfg(test)]
mod tests;

pub(crate) use codec::{Malformed, frame_length};
pub(crate) use event::{Event, Failure};
pub(crate) use held::Parcels;
pub(crate) use request::{Request, Spawn};

pub(crate) use crate::ProgramId;

/// Changes with every change of the frames.
pub(crate) const VERSION: u32 = 4;

/// The oldest keeper that a server can use.
pub(crate) const OLDEST: u32 = 4;

/// The greatest length of a frame's body. Linux allows arguments and environment of 6 MiB.
pub(crate) const MAX_FRAME: usize = 8 << 20;

/// How many processes a reply lists; the rest are counted.
pub(crate) const MAX_LISTED: usize = 1024;

/// A question's number, chosen by the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct RequestId(pub(crate) u64);
