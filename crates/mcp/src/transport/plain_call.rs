//! A tool call as nearly every client writes it, read without trying what else a message could be.
//!
//! rmcp keeps the whole message aside and tries one kind after another, which takes longer than the rest of a cheap
//! call. Whatever has another field, a missing one or one of another type is left to it.

use rmcp::model::{
    CallToolRequest, CallToolRequestMethod, CallToolRequestParams, ClientJsonRpcMessage,
    ClientRequest, JsonObject, JsonRpcVersion2_0, RequestId, RequestMetaObject,
};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlainCall {
    #[serde(rename = "jsonrpc")]
    _jsonrpc: JsonRpcVersion2_0,
    id: RequestId,
    #[serde(rename = "method")]
    _method: CallToolRequestMethod,
    params: PlainParams,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlainParams {
    #[serde(rename = "_meta")]
    meta: Option<JsonObject>,
    name: String,
    arguments: Option<JsonObject>,
}

/// The message, if it is such a call.
pub(super) fn parse(line: &[u8]) -> Option<ClientJsonRpcMessage> {
    let PlainCall { id, params, .. } = serde_json::from_slice(line).ok()?;
    let mut call = CallToolRequestParams::new(params.name);
    call.arguments = params.arguments;
    let mut request = CallToolRequest::new(call);
    if let Some(meta) = params.meta {
        request.extensions.insert(RequestMetaObject::from(meta));
    }
    Some(ClientJsonRpcMessage::request(ClientRequest::CallToolRequest(request), id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_what_rmcp_reads() {
        for (line, is_plain) in [
            (r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"x"}}"#, true),
            (
                r#"{"params":{"arguments":{"a":[1,2.5,null,"\u00e9"]},"name":"x"},"method":"tools/call","id":"q","jsonrpc":"2.0"}"#,
                true,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":null,"_meta":{"progressToken":3}}}"#,
                true,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","requestState":"s"}}"#,
                false,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"},"more":1}"#,
                false,
            ),
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, false),
            (r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"x"}}"#, false),
        ] {
            let read = parse(line.as_bytes());
            assert_eq!(read.is_some(), is_plain, "{line}");
            let Some(read) = read else { continue };
            let expected: ClientJsonRpcMessage = serde_json::from_str(line).expect("rmcp reads it");
            assert_eq!(format!("{read:?}"), format!("{expected:?}"));
            let [read, expected] =
                [read, expected].map(|message| serde_json::to_value(message).expect("written"));
            assert_eq!(read, expected);
        }
    }

    #[test]
    fn a_result_beside_a_call_is_refused() {
        let line =
            br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"},"result":{}}"#;
        assert!(parse(line).is_none());
        assert!(super::super::parse(line).is_err());
    }
}
