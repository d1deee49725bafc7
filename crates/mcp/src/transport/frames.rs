//! Messages as frames that another crate's transport reads and writes, a WebSocket's for example.
//!
//! Both ways are bounded channels, so that a peer that does not read holds up its own answers only.

use std::io;

use bytes::Bytes;
use tokio::sync::mpsc;

use super::{Incoming, MAX_MESSAGE, MessageEnd, Outgoing};

/// Frames that wait in either direction.
const WAITING: usize = 16;

/// The transport's end of a connection: what it received goes in, what comes out is to be sent. Dropping
/// `incoming` ends the connection.
#[derive(Debug)]
pub struct FrameEnds {
    /// For each message that was received.
    pub incoming: mpsc::Sender<Bytes>,
    /// The messages to send; it ends with the connection.
    pub outgoing: mpsc::Receiver<Vec<u8>>,
}

/// The server's end.
#[derive(Debug)]
pub struct Frames {
    pub(crate) reader: FrameReader,
    pub(crate) writer: FrameWriter,
}

impl Frames {
    /// Both ends of a connection.
    pub fn pair() -> (Self, FrameEnds) {
        let (incoming, received) = mpsc::channel(WAITING);
        let (to_send, outgoing) = mpsc::channel(WAITING);
        let frames = Self { reader: FrameReader(received), writer: FrameWriter(Some(to_send)) };
        (frames, FrameEnds { incoming, outgoing })
    }
}

#[derive(Debug)]
pub(crate) struct FrameReader(mpsc::Receiver<Bytes>);

impl Incoming for FrameReader {
    async fn next(&mut self, message: &mut Vec<u8>) -> io::Result<MessageEnd> {
        let Some(frame) = self.0.recv().await else { return Ok(MessageEnd::Closed) };
        if frame.len() > MAX_MESSAGE {
            return Ok(MessageEnd::TooLong);
        }
        message.extend_from_slice(&frame);
        Ok(MessageEnd::Whole)
    }
}

#[derive(Debug)]
pub(crate) struct FrameWriter(Option<mpsc::Sender<Vec<u8>>>);

impl Outgoing for FrameWriter {
    async fn send(&mut self, message: Vec<u8>) -> io::Result<()> {
        let sender = self.0.as_ref().ok_or(io::ErrorKind::BrokenPipe)?;
        sender.send(message).await.map_err(|_| io::ErrorKind::BrokenPipe.into())
    }

    async fn close(&mut self) -> io::Result<()> {
        self.0 = None;
        Ok(())
    }
}
