//! A client's way to its server: lines, frames, and what HTTP needs of it.

use std::sync::Arc;

use rmcp::ServiceExt;
use rmcp::service::QuitReason;
use termbridge_bridge::{Caller, Client};
use termbridge_session::State;
use tokio::io::{AsyncRead, AsyncWrite};

use super::{McpServer, ServeError};
use crate::http::{Answering, Served};
use crate::identity::Identity;
use crate::metrics::Metrics;
use crate::transport::frames::Frames;
use crate::transport::lines::{LineReader, LineWriter};
use crate::transport::{Incoming, JsonRpc, Outgoing};

impl McpServer {
    /// Serves one client until it closes the connection; sessions go on.
    pub async fn serve<R, W>(self, reader: R, writer: W) -> Result<(), ServeError>
    where
        R: AsyncRead + Unpin + Send + 'static,
        W: AsyncWrite + Unpin + Send + 'static,
    {
        self.serve_messages(LineReader::new(reader), LineWriter(writer)).await
    }

    /// The same for one whose messages another transport carries.
    pub async fn serve_frames(self, frames: Frames) -> Result<(), ServeError> {
        self.serve_messages(frames.reader, frames.writer).await
    }

    async fn serve_messages<I, O>(mut self, incoming: I, outgoing: O) -> Result<(), ServeError>
    where
        I: Incoming,
        O: Outgoing,
    {
        let (closed, subscriptions) = (self.closed.clone(), self.subscriptions.clone());
        let metrics = Arc::clone(&self.metrics);
        let load = Arc::clone(self.load.insert(Arc::default()));
        let transport =
            JsonRpc::new(incoming, outgoing, closed.clone(), metrics, self.left_to_next(), load);
        let running = match ServiceExt::serve(self, transport).await {
            Ok(running) => running,
            // A client that leaves before it said anything is not a failure.
            Err(_) if closed.is_cancelled() => return Ok(()),
            Err(error) => return Err(ServeError::Handshake(error.to_string())),
        };
        let quit = running.waiting().await;
        subscriptions.clear();
        match quit {
            Ok(QuitReason::JoinError(error)) | Err(error) => {
                Err(ServeError::Failed(error.to_string()))
            }
            Ok(_) => Ok(()),
        }
    }
}

impl Served for McpServer {
    type Handler = Self;

    fn handler(&self, identity: &Identity) -> Self {
        self.for_identity(identity)
    }

    fn ended(handler: &Self) {
        handler.closed.cancel();
        handler.subscriptions.clear();
    }

    fn serve_frames(&self, identity: &Identity, frames: Frames) -> Answering<'static, ()> {
        let server = self.for_identity(identity);
        Box::pin(async move {
            if let Err(error) = server.serve_frames(frames).await {
                tracing::debug!(%error, "a connection ended badly");
            }
        })
    }

    fn metrics(&self) -> &Arc<Metrics> {
        &self.metrics
    }

    fn more_metrics(&self) -> Answering<'_, String> {
        Box::pin(async {
            let everyone = Caller::new(Arc::new(Client { is_admin: true, ..Client::default() }));
            let listed = self.bridge.sessions(&everyone).await;
            let all = listed.map(|listed| listed.sessions).unwrap_or_default();
            let running = all.iter().filter(|info| info.state == State::Running).count();
            let over = all.len() - running;
            format!(
                "# HELP termbridge_sessions Sessions by state.\n# TYPE termbridge_sessions gauge\n\
                 termbridge_sessions{{state=\"running\"}} {running}\n\
                 termbridge_sessions{{state=\"exited\"}} {over}\n"
            )
        })
    }
}
