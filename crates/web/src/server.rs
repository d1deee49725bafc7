//! [`WebServer`]: listens, serves each connection in a task of its own, and drains.
//!
//! Ending: the listener closes, WebSocket connections end with `stop`, requests and streams under way get the time that they
//! are given, and then every connection is closed; [`WebServer::run`] returns when none is left.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::response::Response;
use axum::routing::{any, get};
use axum::{Extension, middleware};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use termbridge_bridge::editor::holder_of;
use termbridge_mcp::http::Endpoint;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::connections::{Connections, Place};
use crate::gate::{Admitted, HEALTH, gate, refusal};
use crate::hosts::Hosts;
use crate::limits::Limits;
use crate::metrics::{Counters, health, metrics};
use crate::principals::Principals;
use crate::tls::{TlsError, TlsFiles, acceptor};
use crate::tokens::TokenStore;
use crate::websocket::upgrade;

/// How often is looked whether a token is still valid that has something under way.
const TOKEN_CHECK: Duration = Duration::from_secs(1);
/// How long to wait where the system refuses a connection for want of descriptors.
const OUT_OF_DESCRIPTORS: Duration = Duration::from_millis(100);
/// How long a connection that is closed for a newer one may take to send the rest of its last answer.
const EVICTION_GRACE: Duration = Duration::from_secs(1);

/// How the web server is set up.
#[derive(Debug, Clone, Default)]
pub struct WebSettings {
    /// Further names that it goes by, with a port or without.
    pub allowed_hosts: Vec<String>,
    /// Further pages that may call it.
    pub allowed_origins: Vec<String>,
    /// Certificate and key; needed for every address but loopback.
    pub tls: Option<TlsFiles>,
    /// What peers may take.
    pub limits: Limits,
}

/// Why there is no web server.
#[derive(Debug, thiserror::Error)]
pub enum WebError {
    /// Somebody listens there.
    #[error("port {} is in use{}: stop that program, or choose another port with --port", address.port(), held_by(holder.as_ref()))]
    Taken {
        /// Where it should listen.
        address: SocketAddr,
        /// Pid and name of who listens, where that can be seen.
        holder: Option<(u32, String)>,
    },
    /// The address can be reached from elsewhere, and there is no TLS.
    #[error(
        "{0} can be reached from other machines: give --tls-cert and --tls-key, or listen on 127.0.0.1"
    )]
    NeedsTls(SocketAddr),
    /// The system refused.
    #[error("cannot listen on {address}: {error}")]
    Io {
        /// Where it should listen.
        address: SocketAddr,
        /// What it said.
        error: io::Error,
    },
    /// Certificate or key cannot be used.
    #[error(transparent)]
    Tls(#[from] TlsError),
}

fn held_by(holder: Option<&(u32, String)>) -> String {
    holder.map(|(pid, name)| format!(" by {name} (pid {pid})")).unwrap_or_default()
}

/// What all connections use.
pub(crate) struct Shared {
    pub(crate) endpoint: Arc<dyn Endpoint>,
    pub(crate) tokens: Arc<TokenStore>,
    pub(crate) hosts: Hosts,
    pub(crate) limits: Limits,
    pub(crate) principals: Principals,
    pub(crate) counters: Counters,
    pub(crate) started: Instant,
    /// Of all connections, those included that were upgraded.
    pub(crate) connections: TaskTracker,
    pub(crate) places: Arc<Connections>,
    /// Ends everything.
    pub(crate) stop: CancellationToken,
}

/// An address that is listened on; nobody is answered yet.
pub struct WebListener {
    listener: TcpListener,
    address: SocketAddr,
    tls: Option<TlsAcceptor>,
}

impl WebListener {
    /// Listens.
    pub async fn bind(address: SocketAddr, settings: &WebSettings) -> Result<Self, WebError> {
        let tls = settings.tls.as_ref().map(acceptor).transpose()?;
        if tls.is_none() && !address.ip().is_loopback() {
            return Err(WebError::NeedsTls(address));
        }
        let listener = TcpListener::bind(address).await.map_err(|error| match error.kind() {
            io::ErrorKind::AddrInUse => {
                WebError::Taken { address, holder: holder_of(address.port()) }
            }
            _ => WebError::Io { address, error },
        })?;
        let address = listener.local_addr().map_err(|error| WebError::Io { address, error })?;
        Ok(Self { listener, address, tls })
    }
}

/// A web server that listens.
pub struct WebServer {
    listener: WebListener,
    /// By which name and port clients reach it.
    authority: String,
    shared: Arc<Shared>,
}

impl WebServer {
    /// Listens; serves nobody yet. `stop` ends it, and what the endpoint has under way should end with it too.
    pub async fn bind(
        address: SocketAddr,
        settings: WebSettings,
        endpoint: Arc<dyn Endpoint>,
        tokens: Arc<TokenStore>,
        stop: CancellationToken,
    ) -> Result<Self, WebError> {
        let listener = WebListener::bind(address, &settings).await?;
        Ok(Self::new(listener, settings, endpoint, tokens, stop))
    }

    /// The same, on an address that is listened on already.
    pub fn new(
        listener: WebListener,
        settings: WebSettings,
        endpoint: Arc<dyn Endpoint>,
        tokens: Arc<TokenStore>,
        stop: CancellationToken,
    ) -> Self {
        let WebSettings { allowed_hosts, allowed_origins, limits, .. } = settings;
        let (address, has_tls) = (listener.address, listener.tls.is_some());
        let shared = Shared {
            endpoint,
            tokens,
            hosts: Hosts::new(address, has_tls, &allowed_hosts, &allowed_origins),
            principals: Principals::new(&limits),
            counters: Counters::default(),
            started: Instant::now(),
            connections: TaskTracker::new(),
            places: Connections::new(limits.max_connections),
            limits,
            stop,
        };
        let authority = authority(address, &allowed_hosts);
        Self { listener, authority, shared: Arc::new(shared) }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.listener.address
    }

    /// The address of MCP.
    pub fn url(&self) -> String {
        let scheme = if self.listener.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://{}/mcp", self.authority)
    }

    /// Serves until `stop` is cancelled; requests under way then get `grace`.
    pub async fn run(self, grace: Duration) {
        let Self { listener: WebListener { listener, tls, .. }, shared, .. } = self;
        let service = TowerToHyperService::new(router(&shared));
        let watching = tokio::spawn(watch_tokens(Arc::clone(&shared)));
        loop {
            let next = async {
                let (stream, _) = listener.accept().await?;
                io::Result::Ok((stream, shared.places.place().await))
            };
            let next = tokio::select! {
                next = next => next,
                () = shared.stop.cancelled() => break,
            };
            let (stream, place) = match next {
                Ok((stream, place)) => (stream, Arc::new(place)),
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(OUT_OF_DESCRIPTORS).await;
                    continue;
                }
            };
            shared.counters.connections.add();
            let (tls, service, all) = (tls.clone(), service.clone(), Arc::clone(&shared));
            shared.connections.spawn(async move {
                tokio::select! {
                    () = serve_one(stream, tls, service, &all, &place, grace) => {}
                    () = eviction_deadline(&place) => tracing::debug!("closed for a newer connection"),
                }
            });
        }
        drop(listener);
        watching.abort();
        shared.connections.close();
        shared.connections.wait().await;
    }
}

/// Waits until a connection has to be closed for a newer one, whatever it does.
async fn eviction_deadline(place: &Place) {
    place.evicted().await;
    if place.has_shown_token() {
        tokio::time::sleep(EVICTION_GRACE).await;
    }
}

/// The name and port in a URL: an address that stands for all of a machine's is none that a client can call.
fn authority(address: SocketAddr, allowed_hosts: &[String]) -> String {
    let name = allowed_hosts.first().filter(|_| address.ip().is_unspecified());
    match name {
        Some(name)
            if name.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok()) =>
        {
            name.clone()
        }
        Some(name) => format!("{name}:{}", address.port()),
        None if address.ip().is_unspecified() => format!("localhost:{}", address.port()),
        None => address.to_string(),
    }
}

fn router(shared: &Arc<Shared>) -> Router {
    Router::new()
        .route("/mcp", any(mcp))
        .route("/ws", get(upgrade))
        .route(HEALTH, get(health))
        .route("/metrics", get(metrics))
        .layer(middleware::from_fn_with_state(Arc::clone(shared), gate))
        .with_state(Arc::clone(shared))
}

/// Streamable HTTP: the whole body, then the endpoint.
async fn mcp(
    State(shared): State<Arc<Shared>>,
    Extension(admitted): Extension<Admitted>,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    let most = shared.limits.max_body;
    let too_long = || {
        let why = format!("a message is at most {most} bytes");
        refusal(StatusCode::PAYLOAD_TOO_LARGE, &why)
    };
    let announced = parts.headers.get(header::CONTENT_LENGTH);
    let announced = announced.and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    if announced.is_some_and(|length| length > most) {
        return too_long();
    }
    let reading = axum::body::to_bytes(body, most);
    let body = match tokio::time::timeout(shared.limits.body_time, reading).await {
        Ok(Ok(body)) => body,
        Ok(Err(error)) if is_too_long(&error) => return too_long(),
        Ok(Err(_)) => return refusal(StatusCode::BAD_REQUEST, "the body cannot be read"),
        Err(_) => return refusal(StatusCode::REQUEST_TIMEOUT, "the body did not come in time"),
    };
    let request = Request::from_parts(parts, body);
    shared.endpoint.answer(admitted.identity, request).await.map(Body::new)
}

/// Whether a body was not read to its end because it is too long.
fn is_too_long(error: &axum::Error) -> bool {
    let mut cause: Option<&dyn std::error::Error> = Some(error);
    while let Some(error) = cause {
        if error.is::<http_body_util::LengthLimitError>() {
            return true;
        }
        cause = error.source();
    }
    false
}

async fn serve_one(
    stream: TcpStream,
    tls: Option<TlsAcceptor>,
    service: TowerToHyperService<Router>,
    shared: &Shared,
    place: &Arc<Place>,
    grace: Duration,
) {
    // Without it, a streamed answer waits 40 ms for the peer's acknowledgement.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "no TCP_NODELAY");
    }
    let Some(tls) = tls else { return serve_http(stream, service, shared, place, grace).await };
    match tokio::time::timeout(shared.limits.handshake_time, tls.accept(stream)).await {
        Ok(Ok(stream)) => serve_http(stream, service, shared, place, grace).await,
        Ok(Err(error)) => tracing::debug!(%error, "a TLS handshake failed"),
        Err(_) => tracing::debug!("a TLS handshake took too long"),
    }
}

async fn serve_http(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    service: TowerToHyperService<Router>,
    shared: &Shared,
    place: &Arc<Place>,
    grace: Duration,
) {
    let request_place = Arc::clone(place);
    let service = service_fn(move |mut request: hyper::Request<Incoming>| {
        request.extensions_mut().insert(Arc::clone(&request_place));
        service.call(request)
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(shared.limits.header_time)
        .max_buf_size(shared.limits.max_headers);
    let connection = http.serve_connection(TokioIo::new(stream), service).with_upgrades();
    let mut connection = std::pin::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = place.evicted() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
        () = shared.stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            match tokio::time::timeout(grace, connection).await {
                Ok(ended) => ended,
                Err(_) => return,
            }
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended badly");
    }
}

/// Ends what those have under way whose token was revoked or has expired.
async fn watch_tokens(shared: Arc<Shared>) {
    let mut checks = tokio::time::interval(TOKEN_CHECK);
    loop {
        checks.tick().await;
        let Ok(tokens) = shared.tokens.all() else { continue };
        let now = std::time::SystemTime::now();
        let is_valid =
            |id: &str| tokens.iter().any(|token| token.id == id && token.is_valid_at(now));
        for principal in shared.principals.end(is_valid) {
            tracing::info!(token = principal, "its token is no longer valid");
            shared.endpoint.forget(&principal);
        }
    }
}
