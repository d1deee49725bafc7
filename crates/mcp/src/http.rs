//! Streamable HTTP: the MCP side of it. Connections, tokens and limits are the web server's.
//!
//! ```text
//! web ── Identity, Request<Bytes> ──► HttpEndpoint ── rmcp's StreamableHttpService ── a handler per client
//! ```
//!
//! Requests of 2026-07-28 stand alone: each principal has one handler for all of them, so that a task is found again by
//! the next request. The name in `clientInfo`, which each of them carries, is what tells its clients apart. Earlier
//! versions open a session with `initialize`: it gets a handler and a current terminal session of its own,
//! belongs to the principal that opened it (for others there is no such session), and ends by `DELETE`, after
//! [`HttpSettings::session_idle`], or with its principal.
//!
//! Bounds: [`HttpSettings::max_sessions`] sessions; a body is bounded by the web server before it comes here.

mod sessions;

use std::collections::HashMap;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use http_body::Body;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, JsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, ServerHandler};

use crate::client_instances::{ClientInstance, ClientInstances};
use crate::identity::Identity;
use crate::metrics::Metrics;
use crate::transport::{self, frames::Frames};
use sessions::{OwnSessions, Sessions};

/// How often a silent stream shows that it lives.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// When a client should come back that finds no room.
const RETRY_SECONDS: &str = "5";

/// The first version without sessions, and the methods that it has no more.
const FIRST_STATELESS: &str = "2026-07-28";
const REMOVED: [&str; 4] = ["initialize", "ping", "resources/subscribe", "resources/unsubscribe"];

/// The body of an answer.
pub type HttpBody = BoxBody<Bytes, Infallible>;

/// A future of a trait object.
pub type Answering<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// How sessions of HTTP clients are kept.
#[derive(Debug, Clone)]
pub struct HttpSettings {
    /// Most sessions at once.
    pub max_sessions: usize,
    /// A session that is not used ends after this.
    pub session_idle: Duration,
}

impl Default for HttpSettings {
    fn default() -> Self {
        Self { max_sessions: 1024, session_idle: Duration::from_mins(30) }
    }
}

/// What the web server hands requests to.
pub trait Endpoint: Send + Sync + 'static {
    /// Answers a request to `/mcp`.
    fn answer(
        &self,
        identity: Identity,
        request: Request<Bytes>,
    ) -> Answering<'_, Response<HttpBody>>;

    /// Serves a client on a connection of frames until it ends.
    fn serve_frames(&self, identity: Identity, frames: Frames) -> Answering<'static, ()>;

    /// Ends the sessions of a principal that may no longer use them.
    fn forget(&self, principal: &str);

    /// The sessions that clients have opened.
    fn sessions(&self) -> usize;

    /// The server's counters.
    fn metrics(&self) -> &Arc<Metrics>;

    /// The rest of what is to be shown of it, in Prometheus' text format.
    fn more_metrics(&self) -> Answering<'_, String> {
        Box::pin(async { String::new() })
    }
}

/// What makes a handler for each client.
pub trait Served: Send + Sync + 'static {
    /// Answers one client.
    type Handler: ServerHandler + Clone;

    /// The handler of a client.
    fn handler(&self, identity: &Identity) -> Self::Handler;

    /// Its client is gone.
    fn ended(handler: &Self::Handler);

    /// Serves one client on frames.
    fn serve_frames(&self, identity: &Identity, frames: Frames) -> Answering<'static, ()>;

    /// The counters.
    fn metrics(&self) -> &Arc<Metrics>;

    /// The rest of what is to be shown of it.
    fn more_metrics(&self) -> Answering<'_, String> {
        Box::pin(async { String::new() })
    }
}

/// The MCP side of streamable HTTP.
pub struct HttpEndpoint<S: Served> {
    served: Arc<S>,
    sessions: Arc<Sessions>,
    alone: Arc<Alone<S>>,
    instances: ClientInstances,
    config: StreamableHttpServerConfig,
}

/// The handlers of requests that stand alone, by principal.
struct Alone<S: Served> {
    served: Arc<S>,
    handlers: Mutex<HashMap<String, S::Handler>>,
}

impl<S: Served> Alone<S> {
    fn of(&self, identity: &Identity) -> S::Handler {
        let mut handlers = self.handlers.lock().unwrap_or_else(PoisonError::into_inner);
        let principal = &identity.client.principal;
        if let Some(handler) = handlers.get(principal) {
            return handler.clone();
        }
        handlers.entry(principal.clone()).or_insert_with(|| self.served.handler(identity)).clone()
    }

    fn remove(&self, principal: &str) -> Option<S::Handler> {
        self.handlers.lock().unwrap_or_else(PoisonError::into_inner).remove(principal)
    }
}

impl<S: Served> HttpEndpoint<S> {
    /// One that nobody has called.
    pub fn new(served: S, settings: &HttpSettings) -> Self {
        let config = StreamableHttpServerConfig::default()
            .with_sse_keep_alive(Some(KEEP_ALIVE))
            .with_json_response(true)
            .with_max_request_body_bytes(usize::MAX)
            // The web server has looked at both, for all of its paths.
            .disable_allowed_hosts()
            .disable_allowed_origins();
        let sessions = Arc::new(Sessions::new(settings));
        let served = Arc::new(served);
        let alone = Arc::new(Alone { served: Arc::clone(&served), handlers: Mutex::default() });
        Self { served, sessions, alone, instances: ClientInstances::default(), config }
    }

    /// Gives a client a current session of its own, as long as the result lives.
    fn instance(&self, identity: &mut Identity) -> ClientInstance {
        let instance = self.instances.enter(&identity.client.principal, 0);
        identity.client.instance = instance.number().to_string();
        instance
    }

    async fn handle(&self, mut identity: Identity, request: Request<Bytes>) -> Response<HttpBody> {
        let metrics = Arc::clone(self.served.metrics());
        metrics.received(request.body().len());
        let mut opens_session = false;
        if request.method() == Method::POST {
            match transport::parse(request.body().trim_ascii()) {
                Ok(Some(message)) => opens_session = is_initialize(&message),
                Ok(None) => return fault(StatusCode::BAD_REQUEST, &empty()),
                // There is no such method: rmcp says so in the way of that version.
                Err(found) if is_stateless(&request) && found.is_of(&REMOVED) => {}
                // A client that finds its request's id reads the answer as one to that request.
                Err(found) => {
                    let status =
                        if found.id.is_some() { StatusCode::OK } else { StatusCode::BAD_REQUEST };
                    return fault(status, &found.into_message());
                }
            }
        }
        let principal = identity.client.principal.clone();
        let is_end = request.method() == Method::DELETE;
        if is_end && !self.sessions.is_of(&principal, session_of(&request)) {
            return fault(StatusCode::NOT_FOUND, &no_session());
        }
        let place = if opens_session { self.sessions.place(&principal).await } else { None };
        if opens_session && place.is_none() {
            return full();
        }
        let opened = opens_session.then(|| self.instance(&mut identity));
        let opened = opened.map(|instance| (self.served.handler(&identity), instance));
        let own_handler = opened.as_ref().map(|(handler, _)| handler.clone());
        let ending = opened.map(|(handler, instance)| {
            let ending = move || {
                S::ended(&handler);
                drop(instance);
            };
            Box::new(ending) as Box<dyn FnOnce() + Send>
        });
        let own = OwnSessions::new(Arc::clone(&self.sessions), principal, place, ending);
        let alone = Arc::clone(&self.alone);
        // Called only by requests that open a session or stand alone.
        let make = move || match &own_handler {
            Some(handler) => Ok(handler.clone()),
            None => Ok(alone.of(&identity)),
        };
        let service = StreamableHttpService::new(make, Arc::new(own), self.config.clone());
        let mut response = service.handle(request.map(Full::new)).await;
        if is_end && response.status() == StatusCode::ACCEPTED {
            // It is done, not accepted; some clients warn of any other answer.
            *response.status_mut() = StatusCode::NO_CONTENT;
        }
        response.map(|body| counted(body, metrics))
    }
}

impl<S: Served> Endpoint for HttpEndpoint<S> {
    fn answer(
        &self,
        identity: Identity,
        request: Request<Bytes>,
    ) -> Answering<'_, Response<HttpBody>> {
        Box::pin(self.handle(identity, request))
    }

    fn serve_frames(&self, mut identity: Identity, frames: Frames) -> Answering<'static, ()> {
        let instance = self.instance(&mut identity);
        let serving = self.served.serve_frames(&identity, frames);
        Box::pin(async move {
            serving.await;
            drop(instance);
        })
    }

    fn forget(&self, principal: &str) {
        if let Some(handler) = self.alone.remove(principal) {
            S::ended(&handler);
        }
        let (sessions, principal) = (Arc::clone(&self.sessions), principal.to_owned());
        tokio::spawn(async move { sessions.end_all_of(&principal).await });
    }

    fn sessions(&self) -> usize {
        self.sessions.count()
    }

    fn metrics(&self) -> &Arc<Metrics> {
        self.served.metrics()
    }

    fn more_metrics(&self) -> Answering<'_, String> {
        self.served.more_metrics()
    }
}

fn is_initialize(message: &ClientJsonRpcMessage) -> bool {
    let JsonRpcMessage::Request(request) = message else { return false };
    matches!(request.request, ClientRequest::InitializeRequest(_))
}

/// Counts the bytes of an answer: of a whole one at once, so that its length stays known; of a stream as they go out.
fn counted(body: HttpBody, metrics: Arc<Metrics>) -> HttpBody {
    if let Some(length) = body.size_hint().exact() {
        metrics.sent(usize::try_from(length).unwrap_or(usize::MAX));
        return body;
    }
    body.map_frame(move |frame| {
        metrics.sent(frame.data_ref().map_or(0, Bytes::len));
        frame
    })
    .boxed()
}

/// Whether a request is of a version without sessions.
fn is_stateless(request: &Request<Bytes>) -> bool {
    let version = request.headers().get("mcp-protocol-version");
    version.is_some_and(|version| version.as_bytes() >= FIRST_STATELESS.as_bytes())
}

/// The session that a request names.
fn session_of(request: &Request<Bytes>) -> &str {
    let named = request.headers().get("mcp-session-id");
    named.and_then(|id| id.to_str().ok()).unwrap_or_default()
}

fn no_session() -> ServerJsonRpcMessage {
    ServerJsonRpcMessage::error(ErrorData::invalid_request("there is no such session", None), None)
}

fn empty() -> ServerJsonRpcMessage {
    ServerJsonRpcMessage::error(ErrorData::parse_error("the request has no body", None), None)
}

/// No room for another session.
fn full() -> Response<HttpBody> {
    let error =
        ErrorData::internal_error("too many clients have a session here: try again later", None);
    let mut response =
        fault(StatusCode::SERVICE_UNAVAILABLE, &ServerJsonRpcMessage::error(error, None));
    let retry = HeaderValue::from_static(RETRY_SECONDS);
    response.headers_mut().insert(header::RETRY_AFTER, retry);
    response
}

/// A JSON-RPC error as a whole answer.
fn fault(status: StatusCode, message: &ServerJsonRpcMessage) -> Response<HttpBody> {
    let body = serde_json::to_vec(message).unwrap_or_default();
    let mut response = Response::new(Full::new(Bytes::from(body)).boxed());
    *response.status_mut() = status;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    response
}
