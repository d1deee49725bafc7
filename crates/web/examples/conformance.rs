//! A server of fixed answers on our own transports, for the protocol's conformance tests (`scripts/conformance`).
//!
//! The tests call tools, resources and prompts by names of their own, so they cannot run against the product's. Below
//! the handler everything is the product's: web server, gate, sessions, framing. What the product does not offer
//! (sampling, roots, logging, elicitation) is not offered here either.
//!
//! `conformance PORT` also serves `PORT`, a forwarder that adds the token: the tests cannot.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams, CompleteResult,
    ErrorCode, ErrorData, GetPromptRequestParams, GetPromptResponse, GetPromptResult,
    Implementation, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, ProgressNotificationParam, ReadResourceRequestParams,
    ReadResourceResponse, ReadResourceResult, ServerCapabilities, ServerConfig,
    SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use termbridge_mcp::http::{Answering, HttpEndpoint, HttpSettings, Served};
use termbridge_mcp::{Frames, Identity, Metrics};
use termbridge_web::{NewToken, TokenStore, WebServer, WebSettings};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

/// A red pixel.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
/// No sound.
const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=";

#[derive(Clone)]
struct Fixture {
    metrics: Arc<Metrics>,
}

/// Fixed answers are what they say.
fn made<T: DeserializeOwned>(mut value: Value) -> T {
    if let Some(result) = value.as_object_mut() {
        // rmcp leaves it out where the version does not know it.
        result.insert("resultType".into(), "complete".into());
    }
    serde_json::from_value(value).expect("a valid answer")
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn image() -> Value {
    json!({"type": "image", "data": PNG, "mimeType": "image/png"})
}

fn resource(uri: &str, mime: &str, content: &str) -> Value {
    json!({"type": "resource", "resource": {"uri": uri, "mimeType": mime, "text": content}})
}

fn tools() -> Vec<Tool> {
    let plain = [
        "test_simple_text",
        "test_image_content",
        "test_audio_content",
        "test_embedded_resource",
        "test_multiple_content_types",
        "test_tool_with_progress",
        "test_error_handling",
        "test_logging_tool",
        "test_missing_capability",
        "test_streaming_elicitation",
    ];
    let empty = json!({"type": "object", "properties": {}});
    let mut tools: Vec<Value> =
        plain.map(|name| json!({"name": name, "description": name, "inputSchema": empty})).into();
    tools.push(json!({
        "name": "json_schema_2020_12_tool",
        "description": "Tool with JSON Schema 2020-12 features",
        "inputSchema": {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "$defs": {"address": {"$anchor": "addressDef", "type": "object", "properties":
                {"street": {"type": "string"}, "city": {"type": "string"}}}},
            "properties": {
                "name": {"type": "string"}, "address": {"$ref": "#/$defs/address"},
                "contactMethod": {"type": "string", "enum": ["phone", "email"]},
                "phone": {"type": "string"}, "email": {"type": "string"},
            },
            "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
            "anyOf": [{"required": ["phone"]}, {"required": ["email"]}],
            "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
            "then": {"required": ["phone"]},
            "else": {"required": ["email"]},
            "additionalProperties": false,
        },
    }));
    tools.push(json!({
        "name": "test_x_mcp_header",
        "description": "A tool whose argument is repeated in a header",
        "inputSchema": {"type": "object", "required": ["region"], "properties":
            {"region": {"type": "string", "x-mcp-header": "Region"}}},
    }));
    made(Value::Array(tools))
}

/// What a tool without surprises answers.
fn answer(tool: &str) -> Option<Value> {
    let content = match tool {
        "test_simple_text" => vec![text("This is a simple text response for testing.")],
        "test_image_content" => vec![image()],
        "test_audio_content" => {
            vec![json!({"type": "audio", "data": WAV, "mimeType": "audio/wav"})]
        }
        "test_embedded_resource" => vec![resource(
            "test://embedded-resource",
            "text/plain",
            "This is an embedded resource content.",
        )],
        "test_multiple_content_types" => vec![
            text("Multiple content types test:"),
            image(),
            resource(
                "test://mixed-content-resource",
                "application/json",
                r#"{"test":"data","value":123}"#,
            ),
        ],
        "test_logging_tool"
        | "test_streaming_elicitation"
        | "test_tool_with_progress"
        | "json_schema_2020_12_tool"
        | "test_x_mcp_header" => {
            vec![text("done")]
        }
        "test_error_handling" => {
            let content = [text("This tool intentionally returns an error for testing")];
            return Some(json!({"isError": true, "content": content}));
        }
        _ => return None,
    };
    Some(json!({"content": content}))
}

impl ServerHandler for Fixture {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_prompts()
            .enable_completions()
            .build();
        let mut info = ServerConfig::new(capabilities);
        info.server_info = Implementation::new("termbridge-conformance", env!("CARGO_PKG_VERSION"));
        info
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        tools().into_iter().find(|tool| tool.name == name)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if let (true, Some(token)) =
            (request.name == "test_tool_with_progress", context.meta.get_progress_token())
        {
            for done in [0.0, 50.0, 100.0] {
                let mut progress = ProgressNotificationParam::new(token.clone(), done);
                progress.total = Some(100.0);
                let _ = context.peer.notify_progress(progress).await;
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
        if request.name == "test_missing_capability" {
            let needed = json!({"requiredCapabilities": {"sampling": {}}});
            let (code, message) = (ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY, "needs sampling");
            return Err(ErrorData::new(code, message, Some(needed)));
        }
        let Some(answer) = answer(&request.name) else {
            let message = format!("Unknown tool: {}", request.name);
            return Err(ErrorData::invalid_params(message, None));
        };
        Ok(made::<CallToolResult>(answer).into())
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let resources = ["static-text", "static-binary", "watched-resource"].map(|name| {
            json!({"uri": format!("test://{name}"), "name": name, "description": name, "mimeType": "text/plain"})
        });
        Ok(ListResourcesResult::with_all_items(made(json!(resources))))
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let template = json!({"uriTemplate": "test://template/{id}/data", "name": "template", "description": "By id",
            "mimeType": "application/json"});
        Ok(ListResourceTemplatesResult::with_all_items(made(json!([template]))))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri.as_str();
        let id = uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data"));
        let contents = match (uri, id) {
            ("test://static-text", _) => json!({"uri": uri, "mimeType": "text/plain",
                "text": "This is the content of the static text resource."}),
            ("test://static-binary", _) => {
                json!({"uri": uri, "mimeType": "image/png", "blob": PNG})
            }
            ("test://watched-resource", _) => {
                json!({"uri": uri, "mimeType": "text/plain", "text": "watched"})
            }
            (_, Some(id)) => {
                let data =
                    json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")});
                json!({"uri": uri, "mimeType": "application/json", "text": data.to_string()})
            }
            _ => {
                let data = Some(json!({"uri": uri}));
                return Err(ErrorData::invalid_params("Resource not found", data));
            }
        };
        Ok(made::<ReadResourceResult>(json!({"contents": [contents]})).into())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        let mut accepted = SubscriptionFilter::new();
        accepted.resource_subscriptions.clone_from(&requested.resource_subscriptions);
        Some(accepted)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        context.cancelled().await;
        Ok(())
    }

    async fn subscribe(
        &self,
        _request: SubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn unsubscribe(
        &self,
        _request: UnsubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let argument = |name: &str| json!({"name": name, "description": name, "required": true});
        let prompts = [
            ("test_simple_prompt", vec![]),
            ("test_prompt_with_arguments", vec![argument("arg1"), argument("arg2")]),
            ("test_prompt_with_embedded_resource", vec![argument("resourceUri")]),
            ("test_prompt_with_image", vec![]),
        ];
        let prompts = prompts.map(
            |(name, arguments)| json!({"name": name, "description": name, "arguments": arguments}),
        );
        Ok(ListPromptsResult::with_all_items(made(json!(prompts))))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let arguments = json!(request.arguments);
        let argument = |name: &str| arguments[name].as_str().unwrap_or_default().to_owned();
        let contents = match request.name.as_str() {
            "test_simple_prompt" => vec![text("This is a simple prompt for testing.")],
            "test_prompt_with_arguments" => {
                let (one, two) = (argument("arg1"), argument("arg2"));
                vec![text(&format!("Prompt with arguments: arg1='{one}', arg2='{two}'"))]
            }
            "test_prompt_with_embedded_resource" => vec![
                resource(
                    &argument("resourceUri"),
                    "text/plain",
                    "Embedded resource content for testing.",
                ),
                text("Please process the embedded resource above."),
            ],
            "test_prompt_with_image" => vec![image(), text("Please analyze the image above.")],
            other => return Err(ErrorData::invalid_params(format!("no prompt {other}"), None)),
        };
        let messages: Vec<Value> = contents
            .into_iter()
            .map(|content| json!({"role": "user", "content": content}))
            .collect();
        Ok(made::<GetPromptResult>(json!({"messages": messages})).into())
    }

    async fn complete(
        &self,
        _request: CompleteRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Ok(made(json!({"completion": {"values": [], "total": 0, "hasMore": false}})))
    }
}

impl Served for Fixture {
    type Handler = Self;

    fn handler(&self, _identity: &Identity) -> Self {
        self.clone()
    }

    fn ended(_handler: &Self) {}

    fn serve_frames(&self, _identity: &Identity, _frames: Frames) -> Answering<'static, ()> {
        Box::pin(async {})
    }

    fn metrics(&self) -> &Arc<Metrics> {
        &self.metrics
    }
}

#[tokio::main]
async fn main() {
    let port: u16 = std::env::args().nth(1).and_then(|port| port.parse().ok()).expect("a port");
    let folder =
        std::env::temp_dir().join(format!("termbridge-conformance-{}", std::process::id()));
    let tokens = Arc::new(TokenStore::new(&folder));
    let (_, token) = tokens.create(NewToken::default()).expect("a token");
    let stop = CancellationToken::new();
    let fixture = Fixture { metrics: Arc::default() };
    let endpoint = Arc::new(HttpEndpoint::new(fixture, &HttpSettings::default()));
    // The names that clients use are those of the forwarder.
    let allowed_hosts = ["localhost", "127.0.0.1"].map(|name| format!("{name}:{port}")).into();
    let settings = WebSettings { allowed_hosts, ..WebSettings::default() };
    let address = "127.0.0.1:0".parse().expect("an address");
    let web = WebServer::bind(address, settings, endpoint, tokens, stop.clone()).await;
    let web = web.expect("it listens");
    let (address, serving) = (web.address(), tokio::spawn(web.run(Duration::ZERO)));
    let forwarder = TcpListener::bind(("127.0.0.1", port)).await.expect("the port is free");
    eprintln!("ready");
    loop {
        let (stream, _) = tokio::select! {
            accepted = forwarder.accept() => accepted.expect("a connection"),
            _ = tokio::signal::ctrl_c() => break,
        };
        let token = token.clone();
        tokio::spawn(async move {
            let _ = forward(stream, address, &token).await;
        });
    }
    stop.cancel();
    let _ = serving.await;
    let _ = std::fs::remove_dir_all(folder);
}

/// One request with the token added, and its answer; the connection ends with it.
async fn forward(
    client: TcpStream,
    server: std::net::SocketAddr,
    token: &str,
) -> std::io::Result<()> {
    let (client, mut to_client) = client.into_split();
    let mut client = BufReader::new(client);
    let (mut from_server, mut server) = TcpStream::connect(server).await?.into_split();
    let mut line = String::new();
    client.read_line(&mut line).await?;
    server.write_all(line.as_bytes()).await?;
    loop {
        line.clear();
        client.read_line(&mut line).await?;
        if line.trim().is_empty() {
            break;
        }
        if !line.to_ascii_lowercase().starts_with("connection:") {
            server.write_all(line.as_bytes()).await?;
        }
    }
    let rest = format!("Authorization: Bearer {token}\r\nConnection: close\r\n\r\n");
    server.write_all(rest.as_bytes()).await?;
    // Whichever ends first: an answer that is whole, or a client that has left.
    tokio::select! {
        _ = tokio::io::copy(&mut from_server, &mut to_client) => {}
        () = async {
            let _ = tokio::io::copy_buf(&mut client, &mut server).await;
        } => {}
    }
    to_client.shutdown().await
}
