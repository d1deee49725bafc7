//! JSON-RPC over whole messages: lines of text (stdio, sockets) and frames (WebSocket).
//!
//! One message at a time, UTF-8, at most [`MAX_MESSAGE`] bytes. rmcp ignores messages it cannot parse and
//! takes a known method with bad parameters for an unknown method; a client then waits for ever or
//! looks in the wrong place. Here every message with a fault gets its answer: -32700 for what is not
//! JSON, -32600 for what is no request, -32602 for a known method with bad parameters; with the
//! request's id wherever one can be made out. The peer is not trusted: an answer to a fault is never longer than a
//! message, and how much it may have under way and unread is bounded ([`flow`]).

mod flow;
pub(crate) mod frames;
pub(crate) mod lines;
mod plain_call;

use std::io;
use std::pin::Pin;
use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ErrorCode, ErrorData, JsonRpcMessage, RequestId,
    ServerJsonRpcMessage,
};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use crate::metrics::Metrics;
use flow::Admission;
pub(crate) use flow::Load;

/// Longest message.
pub(crate) const MAX_MESSAGE: usize = 16 * 1024 * 1024;

/// Methods that rmcp knows: a request for one of them that it could not read has bad parameters.
const KNOWN_METHODS: [&str; 16] = [
    "initialize",
    "ping",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/read",
    "resources/templates/list",
    "resources/subscribe",
    "resources/unsubscribe",
    "prompts/list",
    "prompts/get",
    "completion/complete",
    "subscriptions/listen",
    "tasks/get",
    "tasks/update",
    "tasks/cancel",
];

/// Whence messages come.
pub(crate) trait Incoming: Send + 'static {
    /// Appends the next message to `message`. Cancel safe: what was read stays there.
    fn next(
        &mut self,
        message: &mut Vec<u8>,
    ) -> impl Future<Output = io::Result<MessageEnd>> + Send;
}

/// Where messages go.
pub(crate) trait Outgoing: Send + 'static {
    fn send(&mut self, message: Vec<u8>) -> impl Future<Output = io::Result<()>> + Send;
    fn close(&mut self) -> impl Future<Output = io::Result<()>> + Send;
}

/// How the reading of a message ended.
pub(crate) enum MessageEnd {
    Whole,
    /// It was longer than [`MAX_MESSAGE`], and is gone.
    TooLong,
    /// The peer sends no more.
    Closed,
}

/// A transport over messages in and out.
pub(crate) struct JsonRpc<I, O> {
    incoming: I,
    message: Vec<u8>,
    outgoing: Arc<Mutex<O>>,
    admission: Admission,
    /// The answer to a fault on its way. Kept here: a message must not end in the middle when whoever
    /// receives does something else in between.
    refusal: Option<Pin<Box<dyn Future<Output = io::Result<()>> + Send>>>,
    /// Cancelled when the peer is gone, so that nobody goes on waiting for it.
    closed: CancellationToken,
    metrics: Arc<Metrics>,
    /// Cancelled when the peer gets its answers from another server: nothing more is said to it.
    left: Option<CancellationToken>,
}

impl<I: Incoming, O: Outgoing> JsonRpc<I, O> {
    pub(crate) fn new(
        incoming: I,
        outgoing: O,
        closed: CancellationToken,
        metrics: Arc<Metrics>,
        left: Option<CancellationToken>,
        load: Arc<Load>,
    ) -> Self {
        Self {
            incoming,
            message: Vec::new(),
            outgoing: Arc::new(Mutex::new(outgoing)),
            admission: Admission::new(load),
            refusal: None,
            closed,
            metrics,
            left,
        }
    }

    fn refuse(&mut self, fault: Fault) {
        self.refusal = Some(Box::pin(self.write(fault.into_message())));
    }

    fn write(
        &self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + use<I, O> {
        let outgoing = Arc::clone(&self.outgoing);
        let (load, metrics) = (Arc::clone(self.admission.load()), Arc::clone(&self.metrics));
        let left = self.left.clone();
        async move {
            if left.is_some_and(|left| left.is_cancelled()) {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            write(&outgoing, &load, &metrics, &message).await
        }
    }
}

/// What is wrong with a message.
#[derive(Debug)]
pub(crate) struct Fault {
    code: ErrorCode,
    message: String,
    pub(crate) id: Option<RequestId>,
    /// The known method whose parameters are bad.
    method: Option<String>,
}

impl Fault {
    /// Whether it is in the parameters of one of these methods.
    pub(crate) fn is_of(&self, methods: &[&str]) -> bool {
        self.method.as_deref().is_some_and(|method| methods.contains(&method))
    }

    pub(crate) fn into_message(self) -> ServerJsonRpcMessage {
        ServerJsonRpcMessage::error(ErrorData::new(self.code, self.message, None), self.id)
    }
}

impl<I: Incoming, O: Outgoing> Transport<RoleServer> for JsonRpc<I, O> {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.write(message)
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            if let Some(refusal) = &mut self.refusal {
                if let Err(error) = refusal.await {
                    tracing::debug!(%error, "fault could not be reported");
                }
                self.refusal = None;
            }
            if let Some(message) = self.admission.next() {
                return Some(message);
            }
            let (takes_more, load) =
                (self.admission.takes_more(), Arc::clone(self.admission.load()));
            let read = tokio::select! {
                read = self.incoming.next(&mut self.message), if takes_more => read,
                () = load.eased() => continue,
            };
            match read {
                Ok(MessageEnd::Whole) => {}
                Ok(MessageEnd::TooLong) => {
                    let message = format!("message longer than {MAX_MESSAGE} bytes");
                    let code = ErrorCode::INVALID_REQUEST;
                    self.refuse(Fault { code, message, id: None, method: None });
                    continue;
                }
                Ok(MessageEnd::Closed) => match self.admission.pop() {
                    Some(message) => return Some(message),
                    None => break,
                },
                Err(error) => {
                    tracing::warn!(%error, "client cannot be read");
                    break;
                }
            }
            let (parsed, bytes) = (parse(self.message.trim_ascii()), self.message.len());
            self.metrics.received(bytes);
            self.message.clear();
            match parsed {
                Ok(Some(message)) => {
                    if let Some(message) = self.admission.take(message, bytes) {
                        return Some(message);
                    }
                }
                Ok(None) => {}
                Err(fault) => self.refuse(fault),
            }
        }
        self.closed.cancel();
        None
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.closed.cancel();
        self.outgoing.lock().await.close().await
    }
}

async fn write<O: Outgoing>(
    outgoing: &Mutex<O>,
    load: &Arc<Load>,
    metrics: &Metrics,
    message: &ServerJsonRpcMessage,
) -> io::Result<()> {
    let bytes = serde_json::to_vec(message)?;
    metrics.sent(bytes.len());
    let _unsent = load.sending(message, bytes.len());
    outgoing.lock().await.send(bytes).await
}

/// A message, nothing for a blank line, or what is wrong.
pub(crate) fn parse(line: &[u8]) -> Result<Option<ClientJsonRpcMessage>, Fault> {
    if line.is_empty() {
        return Ok(None);
    }
    if let Some(call) = plain_call::parse(line) {
        return Ok(Some(call));
    }
    match serde_json::from_slice::<ClientJsonRpcMessage>(line) {
        Ok(JsonRpcMessage::Request(request)) => match &request.request {
            ClientRequest::CustomRequest(custom)
                if KNOWN_METHODS.contains(&custom.method.as_str()) =>
            {
                Err(Fault {
                    code: ErrorCode::INVALID_PARAMS,
                    message: format!("invalid parameters for {}", custom.method),
                    id: Some(request.id),
                    method: Some(custom.method.clone()),
                })
            }
            _ => Ok(Some(JsonRpcMessage::Request(request))),
        },
        Ok(message) => Ok(Some(message)),
        Err(_) => Err(diagnose(line)),
    }
}

fn diagnose(line: &[u8]) -> Fault {
    let fault = |code, message: &str, id| {
        let message = message.to_owned();
        Fault { code, message, id, method: None }
    };
    let value = match serde_json::from_slice::<Value>(line) {
        // The parser stops where nesting could exhaust the stack; the request has an id all the same.
        Err(error) if error.to_string().starts_with("recursion limit") => {
            let message = "nested too deeply: at most 127 levels";
            return fault(ErrorCode::INVALID_REQUEST, message, id_of(line));
        }
        Err(error) => {
            // Half a surrogate pair, a number beyond all bounds, bytes that are not UTF-8: the client
            // waits for an answer with its id.
            let message = format!("not JSON: {error}");
            return fault(ErrorCode::PARSE_ERROR, &message, id_of(line));
        }
        Ok(value) => value,
    };
    let id = value.get("id").and_then(|id| serde_json::from_value(id.clone()).ok());
    let method = value.get("method").and_then(Value::as_str);
    match (&value, method) {
        (Value::Array(_), _) => fault(
            ErrorCode::INVALID_REQUEST,
            "batches are not supported: send one request at a time",
            None,
        ),
        (_, Some(method)) if KNOWN_METHODS.contains(&method) && id.is_some() => {
            let message = format!("invalid parameters for {method}");
            let method = Some(method.to_owned());
            Fault { method, ..fault(ErrorCode::INVALID_PARAMS, &message, id) }
        }
        _ => fault(ErrorCode::INVALID_REQUEST, "not a JSON-RPC 2.0 message", id),
    }
}

/// The id of a request that cannot be parsed. A response has an id too, but nobody waits for an
/// answer to it.
fn id_of(line: &[u8]) -> Option<RequestId> {
    outermost_value(line, b"\"method\"")?;
    let id = outermost_value(line, b"\"id\"")?;
    serde_json::Deserializer::from_slice(id).into_iter().next()?.ok()
}

/// What stands behind a key of the outermost object.
fn outermost_value<'a>(line: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    let (mut at, mut depth) = (0, 0_usize);
    while let Some(byte) = line.get(at) {
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.checked_sub(1)?,
            b'"' => {
                let end = string_end(line, at)?;
                let value = line[end..].trim_ascii_start().strip_prefix(b":");
                if let (1, true, Some(value)) = (depth, line[at..end] == *key, value) {
                    return Some(value);
                }
                at = end;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// The offset behind the string that begins at `start`.
fn string_end(line: &[u8], start: usize) -> Option<usize> {
    let mut escaped = false;
    let close = line.get(start + 1..)?.iter().position(|byte| {
        let closes = *byte == b'"' && !escaped;
        escaped = *byte == b'\\' && !escaped;
        closes
    });
    close.map(|at| start + at + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_that_is_nested_too_deeply_keeps_its_id() {
        let deep = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let request = |id: &str, depth| {
            let deep = deep(depth);
            format!(
                r#"{{"jsonrpc":"2.0","method":"tools/call","params":{{"name":"x","id":0,"a\"id\"":"id","arguments":{{"a":{deep}}}}},"id" : {id}}}"#
            )
        };
        for (id, expected) in
            [("7", RequestId::Number(7)), (r#""a\"b""#, RequestId::String("a\"b".into()))]
        {
            let fault = parse(request(id, 5000).as_bytes()).expect_err("refused");
            assert_eq!((fault.code, fault.id), (ErrorCode::INVALID_REQUEST, Some(expected)));
            assert!(fault.message.contains("nested"), "{}", fault.message);
            assert!(parse(request(id, 50).as_bytes()).is_ok());
        }
        // What has no id, or ends in the middle, has none.
        for line in [
            deep(5000),
            format!(r#"{{"id":{}"#, deep(5000)),
            format!(r#"{{"a":{},"id""#, deep(5000)),
        ] {
            assert_eq!(parse(line.as_bytes()).expect_err("refused").id, None, "{}", line.len());
        }
    }

    #[test]
    fn a_request_that_is_not_quite_json_keeps_its_id() {
        let request = |argument: &[u8]| {
            let head = br#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"a":"#;
            [head, argument, b"}}"].concat()
        };
        let arguments: [&[u8]; 5] =
            [br#""echo \ud800""#, br#""\udc00\ud800""#, b"NaN", b"1e999", b"\"\xff\xfe\""];
        for argument in arguments {
            let fault = parse(&request(argument)).expect_err("refused");
            assert_eq!(
                (fault.code, fault.id),
                (ErrorCode::PARSE_ERROR, Some(RequestId::Number(7))),
                "{}",
                argument.escape_ascii()
            );
        }
        // No answer to an answer, nor to what has no id.
        for line in [
            r#"{"jsonrpc":"2.0","id":7,"result":"\ud800"}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/x","params":{"id":7,"a":"\ud800"}}"#,
        ] {
            assert_eq!(parse(line.as_bytes()).expect_err("refused").id, None, "{line}");
        }
    }
}
