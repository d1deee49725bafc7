//! What every request passes before anything answers it, in this order: the name it calls us by, the page it comes
//! from, its token, how often and how much at once its principal calls.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;
use http_body::Frame;
use termbridge_mcp::{Identity, Proof};
use tokio_util::sync::WaitForCancellationFutureOwned;
use tracing::Instrument;

use crate::connections::{Kept, Place};
use crate::principals::{Admission, Refusal};
use crate::server::Shared;
use crate::tokens::Token;

/// The only path that answers without a token.
pub(crate) const HEALTH: &str = "/healthz";

/// Whom the gate let in.
#[derive(Debug, Clone)]
pub(crate) struct Admitted {
    pub(crate) identity: Identity,
    pub(crate) admission: Admission,
}

/// Lets a request in, or answers it.
pub(crate) async fn gate(
    State(shared): State<Arc<Shared>>,
    mut request: Request,
    next: Next,
) -> Response {
    let headers = request.headers();
    if !is_for_us(&shared, &request) {
        shared.counters.refused.host.add();
        tracing::warn!(host = ?headers.get(header::HOST), "refused: not a name of this server");
        return refusal(
            StatusCode::FORBIDDEN,
            "the Host is not one of this server's; see --allow-host",
        );
    }
    if !is_from_us(&shared, headers) {
        shared.counters.refused.origin.add();
        tracing::warn!(origin = ?headers.get(header::ORIGIN), "refused: a page of another site");
        return refusal(
            StatusCode::FORBIDDEN,
            "pages of this Origin may not call; see --allow-origin",
        );
    }
    if request.method() == Method::OPTIONS {
        return options();
    }
    if request.uri().path() == HEALTH {
        return next.run(request).await;
    }
    let token = match token_of(&shared, headers) {
        Ok(token) => token,
        Err(response) => return *response,
    };
    let Some(kept) = request.extensions().get::<Arc<Place>>().and_then(Place::keep) else {
        // The connection is about to be closed: nothing is begun whose answer could not be sent.
        return refusal(
            StatusCode::SERVICE_UNAVAILABLE,
            "the connection is closed for a newer one",
        );
    };
    let kept = Arc::new(kept);
    let admission = match shared.principals.admit(&token.id) {
        Ok(admission) => admission,
        Err(Refusal::Rate(after)) => {
            shared.counters.refused.rate.add();
            return come_again(after, "too many requests in a short time");
        }
        Err(Refusal::Busy(after)) => {
            shared.counters.refused.busy.add();
            return come_again(after, "too many requests of this token are under way");
        }
    };
    let Token { id, name, scope, all_sessions, workspace, .. } = token;
    let proof = Proof::Token { id, name, scope, all_sessions, workspace };
    let admitted = Admitted { identity: Identity::from(&proof), admission };
    let mcp_session = headers.get("mcp-session-id").and_then(|id| id.to_str().ok());
    let span = tracing::info_span!(
        "http",
        method = %request.method(),
        path = request.uri().path(),
        token = admitted.identity.client.principal,
        mcp_session,
    );
    request.extensions_mut().insert(admitted.clone());
    request.extensions_mut().insert(Arc::clone(&kept));
    let response = next.run(request).instrument(span).await;
    response.map(|body| Body::new(Held::new(body, admitted.admission, kept)))
}

fn is_for_us(shared: &Shared, request: &Request) -> bool {
    let mut hosts = request.headers().get_all(header::HOST).iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else { return false };
    let in_line = request.uri().authority().map(axum::http::uri::Authority::as_str);
    let is_known = |host: &str| shared.hosts.knows(host);
    host.to_str().is_ok_and(is_known) && in_line.is_none_or(is_known)
}

fn is_from_us(shared: &Shared, headers: &HeaderMap) -> bool {
    let mut origins = headers.get_all(header::ORIGIN).iter();
    origins.all(|origin| origin.to_str().is_ok_and(|origin| shared.hosts.admits(origin)))
}

fn token_of(shared: &Shared, headers: &HeaderMap) -> Result<Token, Box<Response>> {
    let mut given = headers.get_all(header::AUTHORIZATION).iter();
    let (Some(value), None) = (given.next(), given.next()) else {
        shared.counters.refused.token.add();
        return Err(unauthorized("Bearer").into());
    };
    let text = value.to_str().ok().and_then(|value| value.split_once(' '));
    let text = text.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
    match text.map(|(_, text)| shared.tokens.verify(text.trim())).transpose() {
        Ok(Some(Some(token))) => Ok(token),
        Ok(_) => {
            shared.counters.refused.token.add();
            Err(unauthorized("Bearer error=\"invalid_token\"").into())
        }
        Err(error) => {
            tracing::error!(%error, "the tokens cannot be read");
            Err(refusal(
                StatusCode::INTERNAL_SERVER_ERROR,
                "the tokens cannot be read: see the server's log",
            )
            .into())
        }
    }
}

/// A short answer that says why.
pub(crate) fn refusal(status: StatusCode, why: &str) -> Response {
    let mut response = Response::new(Body::from(serde_json::json!({"error": why}).to_string()));
    *response.status_mut() = status;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    response
}

fn unauthorized(challenge: &'static str) -> Response {
    let why = "a valid token is needed, one that is neither unknown, expired nor revoked: Authorization: Bearer TOKEN. \
               `termbridge token create` makes one";
    let mut response = refusal(StatusCode::UNAUTHORIZED, why);
    response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static(challenge));
    response
}

fn come_again(after: Duration, why: &str) -> Response {
    let mut response = refusal(StatusCode::TOO_MANY_REQUESTS, why);
    let seconds = HeaderValue::from(after.as_secs().max(1));
    response.headers_mut().insert(header::RETRY_AFTER, seconds);
    response
}

/// No page of another site gets permission for anything.
fn options() -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    let allowed = HeaderValue::from_static("GET, POST, DELETE, OPTIONS");
    response.headers_mut().insert(header::ALLOW, allowed);
    response
}

/// A body that takes its principal's place until it ends, keeps its connection's, and ends with its principal.
struct Held {
    body: Body,
    _admission: Admission,
    _kept: Arc<Kept>,
    ended: Pin<Box<WaitForCancellationFutureOwned>>,
}

impl Held {
    fn new(body: Body, admission: Admission, kept: Arc<Kept>) -> Self {
        let ended = Box::pin(admission.ended.clone().cancelled_owned());
        Self { body, _admission: admission, _kept: kept, ended }
    }
}

impl http_body::Body for Held {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.ended.as_mut().poll(context).is_ready() {
            return Poll::Ready(Some(Err(axum::Error::new("the token is no longer valid"))));
        }
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> http_body::SizeHint {
        self.body.size_hint()
    }
}
