//! Messages as the text frames of a WebSocket.

use std::io;

use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::{Error, Message};

use super::{MessageReader, MessageWriter, Received};

/// Both halves of a WebSocket that is open.
pub(crate) fn websocket<S>(socket: WebSocketStream<S>) -> (WebSocketReader<S>, WebSocketWriter<S>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send,
{
    let (sink, stream) = socket.split();
    (WebSocketReader(stream), WebSocketWriter(sink))
}

pub(crate) struct WebSocketReader<S>(SplitStream<WebSocketStream<S>>);

impl<S: AsyncRead + AsyncWrite + Unpin + Send> MessageReader for WebSocketReader<S> {
    async fn next(&mut self) -> io::Result<Received> {
        loop {
            return match self.0.next().await {
                Some(Ok(Message::Text(text))) => Ok(Received::Message(text.as_str().to_owned())),
                // The library answers these, and never returns a raw frame.
                Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => continue,
                Some(Ok(Message::Binary(_))) => Ok(Received::Skipped("a binary frame")),
                Some(Err(Error::Capacity(_))) => Ok(Received::TooLong),
                Some(Err(Error::Utf8(_))) => Err(io::ErrorKind::InvalidData.into()),
                Some(Ok(Message::Close(_)) | Err(Error::ConnectionClosed)) | None => {
                    Ok(Received::Closed)
                }
                Some(Err(error)) => Err(into_io(error)),
            };
        }
    }
}

pub(crate) struct WebSocketWriter<S>(SplitSink<WebSocketStream<S>, Message>);

impl<S: AsyncRead + AsyncWrite + Unpin + Send> MessageWriter for WebSocketWriter<S> {
    async fn send(&mut self, message: String) -> io::Result<()> {
        self.0.send(Message::text(message)).await.map_err(into_io)
    }

    async fn close(&mut self) -> io::Result<()> {
        self.0.close().await.map_err(into_io)
    }
}

fn into_io(error: Error) -> io::Error {
    match error {
        Error::Io(error) => error,
        other => io::Error::other(other),
    }
}
