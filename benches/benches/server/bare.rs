//! The floor of a call: rmcp's own transports, and one tool that knows its answer. A process of its own.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use anyhow::{Context, Result};
use axum::Router;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::routing::get;
use futures_util::{SinkExt, StreamExt, future};
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ServerCapabilities,
    ServerConfig, ServerJsonRpcMessage,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use tokio::net::{TcpListener, TcpStream, UnixListener};

/// The argument that makes this executable such a server.
pub(crate) const MODE: &str = "--bare-server";
/// As many threads as ours has.
const WORKERS: usize = 2;

/// A bare server's process; ends with this.
pub(crate) struct BareServer {
    child: Child,
    pub(crate) address: SocketAddr,
    pub(crate) socket: PathBuf,
}

impl BareServer {
    pub(crate) fn start(folder: &Path) -> Result<Self> {
        let socket = folder.join("bare.sock");
        let mut command = Command::new(std::env::current_exe()?);
        let mut child = command.arg(MODE).arg(&socket).stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().context("no output")?).read_line(&mut line)?;
        Ok(Self { child, address: line.trim().parse()?, socket })
    }
}

impl Drop for BareServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Serves until it is killed.
#[allow(clippy::print_stdout, reason = "the parent reads where it listens")]
pub(crate) fn run(socket: &str) -> Result<()> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(WORKERS).enable_all().build()?;
    runtime.block_on(async {
        let lines = UnixListener::bind(socket)?;
        let web = TcpListener::bind("127.0.0.1:0").await?;
        println!("{}", web.local_addr()?);
        let config = StreamableHttpServerConfig::default().with_json_response(true);
        let http = StreamableHttpService::new(
            || Ok(Bare),
            Arc::new(LocalSessionManager::default()),
            config,
        );
        let router = Router::new().route("/ws", get(upgrade)).route_service("/mcp", http);
        tokio::try_join!(serve_web(web, router), serve_lines(lines))?;
        Ok(())
    })
}

async fn serve_web(listener: TcpListener, router: Router) -> Result<()> {
    loop {
        let (stream, _) = listener.accept().await?;
        tokio::spawn(serve_one(stream, TowerToHyperService::new(router.clone())));
    }
}

async fn serve_one(stream: TcpStream, service: TowerToHyperService<Router>) {
    let _ = stream.set_nodelay(true);
    let _ =
        http1::Builder::new().serve_connection(TokioIo::new(stream), service).with_upgrades().await;
}

async fn serve_lines(listener: UnixListener) -> Result<()> {
    loop {
        let (stream, _) = listener.accept().await?;
        tokio::spawn(async move {
            if let Ok(running) = Bare.serve(stream.into_split()).await {
                let _ = running.waiting().await;
            }
        });
    }
}

async fn upgrade(upgrade: WebSocketUpgrade) -> axum::response::Response {
    upgrade.protocols(["mcp"]).on_upgrade(|socket| async {
        if let Ok(running) = Bare.serve(messages(socket)).await {
            let _ = running.waiting().await;
        }
    })
}

/// A WebSocket as rmcp wants it: JSON-RPC out and in.
fn messages(
    socket: WebSocket,
) -> (
    impl futures_util::Sink<ServerJsonRpcMessage, Error = axum::Error> + Send + Unpin + 'static,
    impl futures_util::Stream<Item = rmcp::model::ClientJsonRpcMessage> + Send + Unpin + 'static,
) {
    let (sink, stream) = socket.split();
    let sink = sink.with(|message: ServerJsonRpcMessage| {
        let text = serde_json::to_string(&message).map_err(axum::Error::new);
        future::ready(text.map(|text| Message::Text(text.into())))
    });
    let stream = stream.filter_map(|message| {
        let text =
            message.ok().and_then(|message| serde_json::from_slice(&message.into_data()).ok());
        future::ready(text)
    });
    (sink, stream)
}

/// Answers every call with the size of a terminal.
#[derive(Clone)]
struct Bare;

impl ServerHandler for Bare {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        if !arguments.contains_key("session_id") {
            return Err(ErrorData::invalid_params("no session", None));
        }
        let mut result = CallToolResult::success(vec![ContentBlock::text("24 rows, 80 cols")]);
        result.structured_content = Some(serde_json::json!({"rows": 24, "cols": 80}));
        Ok(result.into())
    }
}
