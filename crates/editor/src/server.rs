//! [`EditorListener`]: the WebSocket that editors connect to, on loopback only.
//!
//! ```text
//! connection ── user of the process ── room? ── (TLS) ── handshake: path, Origin, Host ── serve
//! ```
//!
//! Who is trusted: processes of this user. A browser's page reaches loopback too, but it says so by its `Origin`, and a
//! page that gave its own name our address is betrayed by its `Host`. Where the user of a connection is another, or not
//! known (other systems than Linux, other network namespaces, a socket that is closed already), a token is needed: in a window's `hello`, or in any
//! peer's handshake as `Authorization: Bearer`.
//!
//! A port that is taken is reported with its holder ([`ListenError::Taken`]); no other is tried, since no editor would look
//! there. Bounds: [`MAX_CONNECTIONS`] for this user, as many for all others together, and [`HANDSHAKE_LIMIT`].

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::FutureExt;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::handshake::server::{ErrorResponse, Request, Response};
use tokio_tungstenite::tungstenite::http::{StatusCode, header};
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::channel::{MAX_MESSAGE, websocket};
use crate::connection::{Admission, EditorService, serve};
use crate::sockets::{PeerUser, holder_of, users_of};

/// Where editors look for the server.
pub const DEFAULT_PORT: u16 = 3000;
/// Connections at once of this user's processes; a further one is closed. All other processes together have as many.
pub const MAX_CONNECTIONS: usize = 32;
/// How long TLS and the handshake may take.
pub const HANDSHAKE_LIMIT: Duration = Duration::from_secs(10);
/// Connections whose users are found together.
const MAX_LOOKUPS: usize = 100;
/// How long to wait where the system refuses a connection for want of descriptors.
const OUT_OF_DESCRIPTORS: Duration = Duration::from_millis(100);
/// The first byte of a TLS connection: a handshake record.
const TLS_HANDSHAKE: u8 = 0x16;

/// A stream of bytes, encrypted or not.
pub trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}
impl<S: AsyncRead + AsyncWrite + Unpin + Send> Stream for S {}

/// The server's side of TLS, by whoever has the certificate.
#[async_trait]
pub trait TlsAccept: Send + Sync + 'static {
    /// Does the handshake.
    async fn accept(&self, stream: TcpStream) -> io::Result<Box<dyn Stream>>;
}

/// How editors are let in.
#[derive(Clone, Default)]
pub struct ServerSettings {
    /// Only windows with a valid token are.
    pub require_token: bool,
    /// With it, a connection that begins with TLS gets it (`wss`); `ws` goes on to work.
    pub tls: Option<Arc<dyn TlsAccept>>,
}

/// Why nobody listens.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// Somebody else does.
    #[error("port {port} is in use{}", held_by(holder.as_ref()))]
    Taken {
        /// The port.
        port: u16,
        /// Pid and name of who listens, where that can be seen.
        holder: Option<(u32, String)>,
    },
    /// The system refused.
    #[error("cannot listen on port {port}: {error}")]
    Io {
        /// The port.
        port: u16,
        /// What it said.
        error: io::Error,
    },
}

/// ` by NAME (pid N)`, or nothing where the holder is not known.
fn held_by(holder: Option<&(u32, String)>) -> String {
    holder.map(|(pid, name)| format!(" by {name} (pid {pid})")).unwrap_or_default()
}

/// A port that is listened on; nobody is answered yet.
pub struct EditorListener {
    port: u16,
    first: TcpListener,
    /// On `::1`, where the machine has it.
    second: Option<TcpListener>,
}

impl EditorListener {
    /// Listens on 127.0.0.1 and, where there is one, on `::1`.
    pub async fn bind(port: u16) -> Result<Self, ListenError> {
        let first = match TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await {
            Ok(listener) => listener,
            Err(error) => return Err(why(port, error).await),
        };
        let port = first.local_addr().map_err(|error| ListenError::Io { port, error })?.port();
        let second = match TcpListener::bind((Ipv6Addr::LOCALHOST, port)).await {
            Ok(listener) => Some(listener),
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
                return Err(why(port, error).await);
            }
            Err(error) => {
                tracing::debug!(%error, "there is no ::1 to listen on");
                None
            }
        };
        Ok(Self { port, first, second })
    }

    /// The port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Serves until `stop` is cancelled, and returns when no connection is left.
    pub async fn run(
        self,
        settings: ServerSettings,
        service: EditorService,
        stop: CancellationToken,
    ) {
        let connections = TaskTracker::new();
        let own_places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        let other_places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        loop {
            let accepted = tokio::select! {
                accepted = self.accept_waiting() => accepted,
                () = stop.cancelled() => break,
            };
            let streams = match accepted {
                Ok(streams) => streams,
                Err(error) => {
                    tracing::warn!(%error, "an editor's connection could not be accepted");
                    tokio::time::sleep(OUT_OF_DESCRIPTORS).await;
                    continue;
                }
            };
            for (stream, user) in with_users(streams).await {
                let places = if user == PeerUser::Own { &own_places } else { &other_places };
                let Ok(place) = Arc::clone(places).try_acquire_owned() else {
                    tracing::warn!(?user, "there are {MAX_CONNECTIONS} connections already");
                    continue;
                };
                let (settings, service) = (settings.clone(), service.clone());
                let (port, stop) = (self.port, stop.clone());
                connections.spawn(async move {
                    let _place = place;
                    tokio::select! {
                        () = welcome(stream, user, port, settings, &service, &stop) => {}
                        () = ended_long_ago(&stop) => {}
                    }
                });
            }
        }
        drop(self);
        connections.close();
        connections.wait().await;
    }

    /// Waits for a connection, then accepts all that are pending, up to [`MAX_LOOKUPS`]. Cancel safe: nothing is awaited after
    /// the first.
    async fn accept_waiting(&self) -> io::Result<Vec<TcpStream>> {
        let mut streams = vec![self.accept().await?];
        while streams.len() < MAX_LOOKUPS {
            // An error that lasts is seen by the next call.
            let Some(Ok(stream)) = self.accept().now_or_never() else { break };
            streams.push(stream);
        }
        Ok(streams)
    }

    async fn accept(&self) -> io::Result<TcpStream> {
        let second = async {
            match &self.second {
                Some(listener) => listener.accept().await,
                None => std::future::pending().await,
            }
        };
        let (stream, _) = tokio::select! {
            accepted = self.first.accept() => accepted?,
            accepted = second => accepted?,
        };
        Ok(stream)
    }
}

/// Returns some time after `stop`: a connection that is not open yet does not hold up the end.
async fn ended_long_ago(stop: &CancellationToken) {
    stop.cancelled().await;
    tokio::time::sleep(2 * crate::connection::GOODBYE).await;
}

async fn why(port: u16, error: io::Error) -> ListenError {
    if error.kind() != io::ErrorKind::AddrInUse {
        return ListenError::Io { port, error };
    }
    let holder = tokio::task::spawn_blocking(move || holder_of(port)).await.ok().flatten();
    ListenError::Taken { port, holder }
}

/// Finds the user of each connection. The system's tables are read once for all: a flood of connections makes them long.
async fn with_users(streams: Vec<TcpStream>) -> Vec<(TcpStream, PeerUser)> {
    let ends = |stream: &TcpStream| Some((stream.peer_addr().ok()?, stream.local_addr().ok()?));
    let ends: Vec<_> = streams.iter().map(ends).collect();
    let users = tokio::task::spawn_blocking(move || users_of(&ends)).await.unwrap_or_default();
    let users = users.into_iter().chain(std::iter::repeat(PeerUser::Unknown));
    let users = streams.into_iter().zip(users).map(|(stream, user)| match stream.peer_addr() {
        Ok(_) => (stream, user),
        // It was reset, and its peer's port may be another process's by now.
        Err(_) => (stream, PeerUser::Unknown),
    });
    users.collect()
}

/// A connection from its first byte on.
async fn welcome(
    stream: TcpStream,
    user: PeerUser,
    port: u16,
    settings: ServerSettings,
    service: &EditorService,
    stop: &CancellationToken,
) {
    let admission = match user {
        PeerUser::Own if !settings.require_token => Admission::Anyone,
        _ => Admission::Token,
    };
    tracing::debug!(
        ?user,
        needs_token = admission == Admission::Token,
        "a connection of an editor"
    );
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "no TCP_NODELAY");
    }
    let opening = async {
        let stream = maybe_tls(stream, settings.tls.as_deref()).await?;
        let mut config = WebSocketConfig::default();
        config.max_message_size = Some(MAX_MESSAGE);
        config.max_frame_size = Some(MAX_MESSAGE);
        let mut bearer = None;
        #[expect(clippy::result_large_err, reason = "the library's type")]
        let check = |request: &Request, response: Response| {
            bearer = bearer_token(request);
            let is_valid = bearer.as_deref().is_none_or(|token| (service.is_valid_token)(token));
            check(request, response, port, is_valid)
        };
        let opened =
            tokio_tungstenite::accept_hdr_async_with_config(stream, check, Some(config)).await;
        let opened = opened.map_err(io::Error::other)?;
        io::Result::Ok((opened, bearer.map_or(admission, Admission::Bearer)))
    };
    match timeout(HANDSHAKE_LIMIT, opening).await {
        Ok(Ok((socket, admission))) => serve(websocket(socket), admission, service, stop).await,
        Ok(Err(error)) => tracing::warn!(?user, %error, "an editor's connection was refused"),
        Err(_) => tracing::warn!(?user, "an editor's handshake took too long"),
    }
}

/// The stream itself, or what is inside of TLS where it begins with that and there is a certificate.
async fn maybe_tls(stream: TcpStream, tls: Option<&dyn TlsAccept>) -> io::Result<Box<dyn Stream>> {
    let Some(tls) = tls else { return Ok(Box::new(stream)) };
    let mut first = [0];
    let seen = stream.peek(&mut first).await?;
    if seen == 1 && first[0] == TLS_HANDSHAKE {
        tls.accept(stream).await
    } else {
        Ok(Box::new(stream))
    }
}

/// The token of `Authorization: Bearer`; empty if the header is of another kind.
fn bearer_token(request: &Request) -> Option<String> {
    let value = request.headers().get(header::AUTHORIZATION)?.to_str().unwrap_or_default();
    let (scheme, token) = value.split_once(' ').unwrap_or_default();
    let is_bearer = scheme.eq_ignore_ascii_case("bearer");
    Some(if is_bearer { token.trim().to_owned() } else { String::new() })
}

#[expect(clippy::result_large_err, reason = "the library's type")]
fn check(
    request: &Request,
    response: Response,
    port: u16,
    has_valid_token: bool,
) -> Result<Response, ErrorResponse> {
    let header = |name| request.headers().get(name);
    let host = header(header::HOST).and_then(|host| host.to_str().ok());
    let refusal = if header(header::ORIGIN).is_some() {
        Some((StatusCode::FORBIDDEN, "web pages may not connect"))
    } else if !host.is_some_and(|host| is_own(host, port)) {
        Some((StatusCode::FORBIDDEN, "the Host is none of this server's"))
    } else if request.uri().path() != "/" {
        Some((StatusCode::NOT_FOUND, "the path is /"))
    } else if !has_valid_token {
        Some((
            StatusCode::UNAUTHORIZED,
            "the token is not valid: make one with `termbridge token create --scopes admin`",
        ))
    } else {
        None
    };
    let Some((status, why)) = refusal else { return Ok(response) };
    tracing::warn!(%status, why, "an editor's connection was refused");
    let mut refused = ErrorResponse::new(Some(format!("{why}\n")));
    *refused.status_mut() = status;
    Err(refused)
}

/// Whether a `Host` is this machine's loopback with our port.
fn is_own(host: &str, port: u16) -> bool {
    let Some((name, given)) = host.rsplit_once(':') else { return false };
    let is_name = name.eq_ignore_ascii_case("localhost") || ["127.0.0.1", "[::1]"].contains(&name);
    is_name && given == port.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A connection that was reset keeps its bytes, while its port is free for a process of another user.
    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn a_connection_that_was_reset_is_not_its_successor() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let first = TcpStream::connect(address).await.expect("connects");
        let port = first.local_addr().expect("an address");
        let (accepted, _) = listener.accept().await.expect("accepts");
        let (accepted, user) = with_users(vec![accepted]).await.remove(0);
        assert_eq!(user, PeerUser::Own);
        first.set_zero_linger().expect("a reset at the end");
        drop(first);
        let second = tokio::net::TcpSocket::new_v4().expect("a socket");
        second.set_reuseaddr(true).expect("the same port");
        second.bind(port).expect("the same port");
        let _second = second.connect(address).await.expect("connects");
        assert_eq!(with_users(vec![accepted]).await[0].1, PeerUser::Unknown);
    }

    /// Another user who opens and closes connections must not hold up this user's: each would wait for a look at tables that
    /// the flood has made long.
    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn connections_that_wait_are_accepted_together() {
        let listener = EditorListener::bind(0).await.expect("a port");
        let mut clients = Vec::new();
        for _ in 0..20 {
            let client = TcpStream::connect((Ipv4Addr::LOCALHOST, listener.port())).await;
            clients.push(client.expect("connects"));
        }
        drop(clients.drain(3..6));
        let accepted = listener.accept_waiting().await.expect("accepts");
        let users: Vec<_> = with_users(accepted).await.into_iter().map(|(_, user)| user).collect();
        let own = users.iter().filter(|user| **user == PeerUser::Own).count();
        assert_eq!((own, users.len()), (17, 20));
    }

    #[test]
    fn only_the_names_of_loopback_with_our_port_are_ours() {
        for host in ["localhost:3000", "LocalHost:3000", "127.0.0.1:3000", "[::1]:3000"] {
            assert!(is_own(host, 3000), "{host}");
        }
        for host in [
            "",
            "localhost",
            "localhost:3001",
            "localhost:+3000",
            "localhost:03000",
            "localhost.:3000",
            "evil.example:3000",
            "localhost.evil:3000",
            "127.0.0.2:3000",
            "::1:3000",
            "[::1",
            ":3000",
            "localhost:3000:3000",
            "localhost@evil:3000",
        ] {
            assert!(!is_own(host, 3000), "{host}");
        }
    }
}
