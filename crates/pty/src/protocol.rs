//! What the server and the keeper say to each other.
//!
//! # Bytes
//!
//! A stream of frames over a Unix stream socket pair. A frame is a length (`u32`, little-endian,
//! of what follows, at most [`MAX_FRAME`]) and a body: one tag byte, then the fields in order.
//! Integers are little-endian; a byte string is a `u32` length and its bytes; a list is a `u32`
//! count and its items. A body must be used up exactly. There is no padding and no version per
//! frame: [`Event::Hello`] carries the one version, [`VERSION`].
//!
//! [`Event::Spawned`] is accompanied by one descriptor (`SCM_RIGHTS`), the PTY master, attached
//! to the first byte of its frame. No other frame carries one, so descriptors are matched to
//! frames by their order.
//!
//! # Order
//!
//! The keeper speaks first: `Hello`. Then the server asks, each question with a request id of its
//! choice, and the keeper answers each exactly once, in any order: a `Stop` is answered when the
//! session is gone, and what was asked later may be answered before. `Release` has no answer.
//! Of one program: `Spawned` comes before `Exited`, `Exited` comes once, and before the answer to
//! a `Stop` that it belongs to. End of file on either side is the other's death.
//!
//! # Trust
//!
//! Both ends are the same executable and the socket has no name, so neither end guards against
//! malice in the other. Decoding is total all the same: a malformed frame is an error, never a
//! panic or an allocation beyond the frame, and ends the connection as a death would. Programs
//! never hold the socket.

mod codec;
mod event;
mod request;
#[cfg(test)]
mod tests;

pub(crate) use codec::{Malformed, frame_length};
pub(crate) use event::{Event, Failure};
pub(crate) use request::{Request, Spawn};

/// Changes with every change of the frames.
pub(crate) const VERSION: u32 = 3;

/// The greatest length of a frame's body. Linux allows arguments and environment of 6 MiB.
pub(crate) const MAX_FRAME: usize = 8 << 20;

/// How many processes a reply lists; the rest are counted.
pub(crate) const MAX_LISTED: usize = 1024;

/// A question's number, chosen by the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct RequestId(pub(crate) u64);

/// A program's number, chosen by the keeper, never reused within its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ProgramId(pub(crate) u64);
