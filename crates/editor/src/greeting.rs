//! The beginning of a connection: who it is, and whether it is let in.

use std::time::Duration;

use serde_json::Value;
use tokio::time::timeout;

use crate::channel::{MessageReader, MessageWriter, Received};
use crate::connection::{Admission, GOODBYE, GREETING_PAUSE, TokenCheck, failure};
use crate::message::{Incoming, Outgoing};
use crate::peer::unique_id;
use crate::window::{Hello, Refused};

/// How long a peer may take to answer the first ping before it is taken for a plain one all the same.
const FIRST_PONG: Duration = Duration::from_secs(2);
/// How long a window may take to say hello where nobody else is let in.
const HELLO_LIMIT: Duration = Duration::from_secs(5);

pub(crate) enum Greeted {
    Plain,
    Window {
        hello: Box<Hello>,
        id: Option<String>,
        /// Which it was let in with.
        token: Option<String>,
    },
    /// Gone, or sent away.
    Gone,
}

/// What came first.
enum First {
    Hello(Incoming),
    Other,
    Nothing,
    Closed,
}

pub(crate) async fn greet(
    reader: &mut impl MessageReader,
    writer: &mut impl MessageWriter,
    admission: &Admission,
    is_valid_token: &TokenCheck,
) -> Greeted {
    let plain_may_enter = matches!(admission, Admission::Anyone | Admission::Bearer(_));
    let patience = if plain_may_enter { GREETING_PAUSE } else { HELLO_LIMIT };
    let mut first = first_message(reader, patience).await;
    if plain_may_enter && matches!(first, First::Nothing) {
        let id = unique_id();
        let ping = message("ping", Some(&id), Value::Null);
        if !matches!(timeout(FIRST_PONG, writer.send(ping)).await, Ok(Ok(()))) {
            return Greeted::Gone;
        }
        first = first_message(reader, FIRST_PONG).await;
    }
    let (id, judged) = match first {
        First::Closed => return Greeted::Gone,
        First::Hello(message) => {
            let judged = judge(message.data, admission, is_valid_token);
            (message.id, judged)
        }
        First::Other | First::Nothing if plain_may_enter => return Greeted::Plain,
        First::Other | First::Nothing => (None, Err(refused("hello_expected", "say hello first"))),
    };
    match judged {
        Ok((hello, token)) => Greeted::Window { hello: Box::new(hello), id, token },
        Err(refused) => {
            tracing::warn!(%refused, "an editor was not let in");
            let error = message("error", id.as_deref(), failure(&refused));
            let _ = timeout(GOODBYE, writer.send(error)).await;
            Greeted::Gone
        }
    }
}

async fn first_message(reader: &mut impl MessageReader, patience: Duration) -> First {
    let Ok(received) = timeout(patience, reader.next()).await else { return First::Nothing };
    match received {
        Ok(Received::Message(text)) => match serde_json::from_str::<Incoming>(&text) {
            Ok(message) if message.kind == "hello" => First::Hello(message),
            Ok(message) => {
                tracing::debug!(kind = message.kind, "the first message of a plain editor");
                First::Other
            }
            Err(error) => {
                tracing::warn!(%error, bytes = text.len(), "dropped something that is not a message");
                First::Other
            }
        },
        Ok(Received::Skipped(what)) => {
            tracing::warn!(what, "dropped something that is not a message");
            First::Other
        }
        Ok(Received::TooLong | Received::Closed) | Err(_) => First::Closed,
    }
}

/// The hello without its token, and that.
fn judge(
    data: Value,
    admission: &Admission,
    is_valid_token: &TokenCheck,
) -> Result<(Hello, Option<String>), Refused> {
    let mut hello: Hello = serde_json::from_value(data)
        .map_err(|error| refused("malformed_hello", &format!("the hello is malformed: {error}")))?;
    match &hello.token {
        Some(token) if !is_valid_token(token) => Err(refused(
            "wrong_token",
            "the token is not valid: make one with `termbridge token create --scopes admin`",
        )),
        None if *admission == Admission::Token => Err(refused(
            "token_needed",
            "a token is needed, in `hello` or as `Authorization: Bearer`: make one with `termbridge token create --scopes admin`",
        )),
        _ => {
            let token = hello.token.take();
            Ok((hello, token))
        }
    }
}

fn refused(code: &'static str, message: &str) -> Refused {
    Refused { code, message: message.to_owned() }
}

/// A message that is written without a queue.
pub(crate) fn message(kind: &str, id: Option<&str>, data: Value) -> String {
    Outgoing { kind, id, data }.text()
}
