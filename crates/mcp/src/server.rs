//! [`McpServer`]: what rmcp calls.

mod serving;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CancelTaskParams, ContentBlock,
    ErrorCode, GetPromptRequestParams, GetPromptResponse, GetTaskParams, GetTaskResult,
    Implementation, JsonObject, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams,
    ReadResourceResponse, ReadResourceResult, ServerCapabilities, ServerConfig,
    SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequestParams, UpdateTaskParams,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::Value;
use termbridge_bridge::policy::{Policy, PolicyConfig};
use termbridge_bridge::{
    Bridge, BridgeError, BridgeSettings, Caller, Client, DebugSettings, Debugging, Scope,
    TerminalBackend,
};
use termbridge_session::{SessionError, SessionId};
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::again::ClientCalls;
use crate::calls::Calls;
use crate::error::{Code, ToolError};
use crate::identity::Identity;
use crate::metrics::{Connected, Metrics};
use crate::offered::Offered;
use crate::shim::AGAIN;
use crate::subscriptions::Subscriptions;
use crate::tasks::Tasks;
use crate::told::Told;
use crate::tool::{CallFuture, Context, ReadCursors};
use crate::toolset::{Offer, Toolset, UnknownTool};
use crate::{prompts, resources, subscriptions, tool};

/// What an answer ends with where a person has typed in its session.
const A_PERSON_TYPED: &str = "[a person has typed in this session since your last call]";

/// Where a request of 2026-07-28 says whose it is.
const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";

/// What a model is told about the server as a whole.
const INSTRUCTIONS: &str = "Real terminals. execute_command runs a shell command and returns its output and exit code. \
    get_terminal_output reads on in one that runs longer. search_history finds earlier ones. launch_app starts a \
    program with a screen. send_keys types to it, waits and shows what changed. wait_for waits for text, a quiet screen \
    or the end. stop_app ends it. Rows and columns count from 0.";

/// What it is told where there is a debugger.
const DEBUG_INSTRUCTIONS: &str = "To debug, breakpoint_set, then debug_start with `wait: true`: each stop brings source, \
    locals and stack. test_debug_single debugs one test.";

/// And where all of its tools are offered.
const GUIDES: &str = "docs_list has guides.";

/// The MCP server: tools over sessions. Clones are the same server.
#[derive(Clone)]
pub struct McpServer {
    bridge: Bridge,
    /// Who its client is.
    caller: Caller,
    tools: Arc<Offered>,
    tasks: Tasks,
    read_cursors: ReadCursors,
    told: Told,
    subscriptions: Subscriptions,
    closed: CancellationToken,
    /// Cancelled when a server ends that is shared, and whose sessions go on.
    ending: Option<CancellationToken>,
    /// The server leaves what its lasting clients wait for to the next one: they hear nothing more.
    left: CancellationToken,
    /// What became of calls, where clients come again with them.
    calls: Option<Arc<Calls>>,
    /// The client's own, if it does.
    client_calls: Option<ClientCalls>,
    /// Of all clients together.
    metrics: Arc<Metrics>,
    /// Counts the client, where it is one of several.
    _connected: Option<Arc<Connected>>,
}

/// Why serving ended badly.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The client did not speak MCP.
    #[error("the client did not complete the handshake: {0}")]
    Handshake(String),
    /// The server's task failed.
    #[error("the server failed: {0}")]
    Failed(String),
}

impl McpServer {
    /// A server that offers these tools; of those that show screens and type keys, only where the
    /// backend has screens.
    pub fn new(bridge: Bridge, offer: Offer) -> Result<Self, UnknownTool> {
        let tools = Offered::new(bridge.clone(), offer)?;
        Ok(Self {
            bridge,
            caller: Caller::default(),
            tools: Arc::new(tools),
            tasks: Tasks::default(),
            read_cursors: ReadCursors::default(),
            told: Told::default(),
            subscriptions: Subscriptions::default(),
            closed: CancellationToken::new(),
            ending: None,
            left: CancellationToken::new(),
            calls: None,
            client_calls: None,
            metrics: Arc::default(),
            _connected: None,
        })
    }

    /// A server of the default tools over a backend of your own, with the default rules of the
    /// policy and without history.
    ///
    /// ```no_run
    /// # use std::sync::Arc;
    /// # use termbridge_mcp::{McpServer, TerminalBackend};
    /// # async fn example(backend: impl TerminalBackend) -> Result<(), termbridge_mcp::ServeError> {
    /// let server = McpServer::with_backend(Arc::new(backend));
    /// server.serve(tokio::io::stdin(), tokio::io::stdout()).await
    /// # }
    /// ```
    pub fn with_backend(backend: Arc<dyn TerminalBackend>) -> Self {
        let cwd = std::env::current_dir().unwrap_or_else(|_| "/".into());
        let offer = Offer::new(Toolset::DEFAULT, DebugSettings::new(cwd));
        // No tool is chosen by its name.
        Self::with_offer(backend, offer).expect("all tools are known")
    }

    /// The same with other tools.
    pub fn with_offer(
        backend: Arc<dyn TerminalBackend>,
        offer: Offer,
    ) -> Result<Self, UnknownTool> {
        let home = std::env::home_dir().unwrap_or_else(|| "/".into());
        let cwd = std::env::current_dir().unwrap_or_else(|_| "/".into());
        let policy = Policy::new(&PolicyConfig::default(), &home)
            // The default configuration names no rule of its own.
            .expect("the default policy is valid");
        let settings = BridgeSettings::new("bash", cwd, home);
        Self::new(Bridge::new(backend, settings, policy, None), offer)
    }

    /// The same server for a client that a transport knows: tools and sessions are shared, and the debugger with clients
    /// of the same principal and workspace; what was told, read and subscribed to, tasks and the end of the connection
    /// are the client's own.
    #[must_use]
    pub fn for_client(&self, client: Client) -> Self {
        let caller = Caller::new(Arc::new(client));
        Self {
            bridge: self.bridge.clone(),
            caller: caller.clone(),
            tools: Arc::new(self.tools.for_client(caller)),
            tasks: Tasks::default(),
            read_cursors: ReadCursors::default(),
            told: Told::default(),
            subscriptions: Subscriptions::default(),
            closed: self.closed.child_token(),
            ending: Some(self.closed.clone()),
            left: self.left.clone(),
            calls: self.calls.clone(),
            client_calls: None,
            metrics: Arc::clone(&self.metrics),
            _connected: Some(Arc::new(self.metrics.connected())),
        }
    }

    /// The same for a client that a transport let in, with what it may do.
    #[must_use]
    pub fn for_identity(&self, identity: &Identity) -> Self {
        self.for_client(identity.client.clone())
    }

    /// The same for a client that comes again with its open calls when its server dies, by this name. Its waits do not
    /// end with the server: the next one answers them.
    #[must_use]
    pub(crate) fn for_lasting_client(
        &self,
        identity: &Identity,
        name: &str,
        is_back: bool,
    ) -> Self {
        let client = name.to_owned();
        let client_calls = self.calls.clone().map(|calls| ClientCalls { calls, client, is_back });
        let closed = self.left.child_token();
        Self { closed, client_calls, ..self.for_identity(identity) }
    }

    /// Leaves what lasting clients wait for to the next server, which they ask again.
    pub(crate) fn leave_lasting_clients(&self) {
        self.left.cancel();
    }

    /// Cancelled when the client gets its answers from the next server; `None` if it never does.
    fn left_to_next(&self) -> Option<CancellationToken> {
        self.client_calls.is_some().then(|| self.left.clone())
    }

    /// The same server, which writes down what becomes of calls.
    #[must_use]
    pub fn with_calls(mut self, calls: Arc<Calls>) -> Self {
        self.calls = Some(calls);
        self
    }

    /// The counters of this server and all its clients.
    pub fn metrics(&self) -> &Arc<Metrics> {
        &self.metrics
    }

    /// Ends every wait of every client, as if they had left.
    pub fn end_waits(&self) {
        self.closed.cancel();
    }

    /// Ends what is being debugged.
    pub async fn end_debugging(&self) {
        self.tools.end_debugging().await;
    }

    /// The tools' definitions, in the order of the list.
    pub fn definitions(&self) -> Vec<Tool> {
        self.tools.entries().iter().map(|entry| entry.definition.clone()).collect()
    }

    /// Whether a call with these arguments would be run; `None` for an unknown tool. Runs nothing.
    pub fn check(&self, tool: &str, arguments: JsonObject) -> Option<Result<(), ToolError>> {
        Some(self.tools.find(tool)?.check(arguments))
    }

    /// Calls a tool from this process, until the call is cancelled; `None` for an unknown tool.
    pub async fn run_tool(
        &self,
        tool: &str,
        arguments: JsonObject,
        cancelled: CancellationToken,
    ) -> Option<CallToolResult> {
        let context = Context {
            bridge: self.bridge.clone(),
            caller: self.caller.clone(),
            tools: Arc::clone(&self.tools),
            progress: None,
            peer: None,
            read_cursors: Arc::clone(&self.read_cursors),
            told: self.told.clone(),
            named: None,
            // Nobody gives up on it after a minute.
            is_task: true,
            began: std::time::Instant::now(),
            cancelled,
            closed: self.closed.clone(),
            ending: self.ending.clone(),
        };
        Some(answered(self.tools.find(tool)?.call(arguments, context)).await)
    }

    /// Whether the client of a request gets structured content.
    fn is_structured_for(&self, context: &RequestContext<RoleServer>) -> bool {
        let of_session = || Some(context.peer.peer_info()?.client_info.name.clone());
        // Only its name: a client may leave out what else belongs there.
        let of_request = context.meta.get(CLIENT_INFO).and_then(|client| client["name"].as_str());
        let client = of_request.map(str::to_owned).or_else(of_session);
        self.tools.is_structured_for(client.as_deref())
    }

    /// The debugger, where its tools are offered.
    pub fn debugging(&self) -> Option<&Debugging> {
        self.tools.debugging()
    }
}

/// Says in an answer that a person has typed in the session since the last one.
fn tell_of_typing(
    bridge: &Bridge,
    caller: &Caller,
    told: &Told,
    named: Option<&str>,
    result: &mut CallToolResult,
) {
    let found = || result.structured_content.as_ref()?.get("session_id")?.as_str();
    let Some(id) = named.or_else(found).map(SessionId::from_text) else { return };
    let Ok(handle) = bridge.screen(caller, &id) else { return };
    let typed = handle.own().map_or(0, termbridge_session::Session::typed_by_people);
    if told.is_new_typing(&id, typed)
        && let Some(ContentBlock::Text(text)) = result.content.first_mut()
    {
        text.text = format!("{}\n{A_PERSON_TYPED}", text.text.trim_end_matches('\n'));
    }
}

/// A call that is answered in any case: a fault of ours must not leave its client waiting.
fn answered(call: CallFuture) -> CallFuture {
    Box::pin(async move {
        AssertUnwindSafe(call).catch_unwind().await.unwrap_or_else(|_| {
            tracing::error!("a tool panicked");
            let hint = "The server's log has more; other calls are not affected.";
            ToolError::new(Code::InternalError, "the tool failed by a fault of its own", hint, &[])
                .into_result()
        })
    })
}

/// The same for requests that are no tool calls.
async fn answered_request<T>(
    request: impl Future<Output = Result<T, ErrorData>>,
) -> Result<T, ErrorData> {
    AssertUnwindSafe(request).catch_unwind().await.unwrap_or_else(|_| {
        tracing::error!("a request panicked");
        Err(ErrorData::internal_error("the request failed by a fault of the server's own", None))
    })
}

/// Refuses resources to a client that may not read.
fn readable(caller: &Caller) -> Result<(), ErrorData> {
    let refuse = |error: BridgeError| ErrorData::invalid_request(error.to_string(), None);
    Bridge::require(caller, Scope::Read).map_err(refuse)
}

impl ServerHandler for McpServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_prompts()
            .enable_tasks()
            .build();
        let mut info = ServerConfig::new(capabilities);
        info.server_info = Implementation::new("termbridge", env!("CARGO_PKG_VERSION"));
        info.server_info.title = Some("termbridge".into());
        let terminals = self.tools.may_use_terminals().then_some(INSTRUCTIONS);
        let debugger = self.tools.may_debug().then_some(DEBUG_INSTRUCTIONS);
        let guides = self.tools.has_guides().then_some(GUIDES);
        let parts: Vec<&str> = [terminals, debugger, guides].into_iter().flatten().collect();
        let told = self.tools.with_offered_names(parts.join(" "));
        info.instructions = Some(told).filter(|told| !told.is_empty());
        info
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let usable = self.tools.entries().iter().filter(|entry| self.caller.may(entry.scope()));
        let mut tools: Vec<Tool> = usable.map(|entry| entry.definition.clone()).collect();
        if !self.is_structured_for(&context) {
            tools.iter_mut().for_each(|tool| tool.output_schema = None);
        }
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(entry) = self.tools.find(&request.name) else {
            let more = self.tools.how_to_offer(&request.name).unwrap_or_default();
            let message = format!("Unknown tool: {}{more}", request.name);
            return Err(ErrorData::invalid_params(message, None));
        };
        let arguments = request.arguments.unwrap_or_default();
        let is_structured = self.is_structured_for(&context);
        if let Err(refused) = self.bridge.admit(&self.caller.for_agent(tool::agent_of(&arguments)))
        {
            let mut refused = ToolError::from(refused).into_result();
            refused.structured_content.take_if(|_| !is_structured);
            return Ok(refused.into());
        }
        let is_again = context.meta.get(AGAIN).and_then(Value::as_bool) == Some(true);
        let mut named = match entry.scope() {
            Scope::Read => None,
            _ => self.client_calls.as_ref().map(|calls| calls.named(&context.id, is_again)),
        };
        if let Some(answer) = named.as_mut().and_then(|named| named.begin(entry)) {
            return Ok(answer.into());
        }
        let started = std::time::Instant::now();
        let session =
            ["session_id", "sessionId", "terminalId"].iter().find_map(|name| arguments.get(*name));
        let session = session.and_then(Value::as_str).map(str::to_owned);
        let span = tracing::info_span!(
            "request",
            id = %context.id,
            principal = self.caller.principal(),
            session = session.as_deref(),
        );
        let speaks_tasks = context.client_capabilities().is_some_and(|caps| caps.supports_tasks());
        let longest = ["timeout_ms", "timeoutMs"].iter().find_map(|name| arguments.get(*name));
        let longest = longest.and_then(Value::as_u64).unwrap_or_default();
        let call = |cancelled: CancellationToken| {
            let call = Context {
                bridge: self.bridge.clone(),
                caller: self.caller.clone(),
                tools: Arc::clone(&self.tools),
                progress: context.meta.get_progress_token(),
                peer: Some(context.peer),
                read_cursors: Arc::clone(&self.read_cursors),
                told: self.told.clone(),
                named: named.clone(),
                is_task: speaks_tasks,
                began: started,
                cancelled,
                closed: self.closed.clone(),
                ending: self.ending.clone(),
            };
            let call = answered(entry.call(arguments, call));
            let metrics = Arc::clone(&self.metrics);
            let tool = entry.definition.name.clone();
            let (left, client_calls) = (self.left_to_next(), self.client_calls.clone());
            let (bridge, caller) = (self.bridge.clone(), self.caller.clone());
            let told = self.told.clone();
            let call = async move {
                let mut result = call.await;
                tell_of_typing(&bridge, &caller, &told, session.as_deref(), &mut result);
                if let Some(calls) = client_calls {
                    calls.explain(&mut result);
                }
                let (took, failed) = (started.elapsed(), result.is_error == Some(true));
                let error = result.structured_content.as_ref().map(|content| &content["error"]);
                let code = error.and_then(|error| error["code"].as_str());
                metrics.called(&tool, took, failed, code.filter(|_| failed));
                tracing::debug!(%tool, failed, micros = took.as_micros() as u64, "call");
                result.structured_content.take_if(|_| !is_structured);
                // Where the client asks the next server, it may have ended because this one does.
                let is_left = left.is_some_and(|left| left.is_cancelled());
                if let Some(named) = named.filter(|_| !is_left) {
                    named.end(&result);
                }
                result
            };
            let call = call.instrument(span);
            Box::pin(call) as CallFuture
        };
        let response = if speaks_tasks {
            self.tasks.run(context.ct, Duration::from_millis(longest), call).await
        } else {
            call(context.ct).await.into()
        };
        Ok(response)
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        self.tasks.get(&request)
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.tasks.update(request)
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.tasks.cancel(&request)
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(prompts::list(|name| self.tools.find(name).is_some())))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        prompts::get(&request, |name| self.tools.find(name).is_some()).map(Into::into)
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        readable(&self.caller)?;
        answered_request(self.subscriptions.add(
            &self.bridge,
            &self.caller,
            request.uri,
            context.peer,
        ))
        .await
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.subscriptions.remove(&request.uri);
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        let asked = requested.resource_subscriptions.iter().flatten();
        let asked = asked.filter(|_| self.caller.may(Scope::Read));
        let known =
            asked.filter(|uri| subscriptions::is_known(&self.bridge, &self.caller, uri)).cloned();
        let mut accepted = SubscriptionFilter::new();
        accepted.resource_subscriptions = Some(known.collect());
        Some(accepted)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let uris = context.accepted().resource_subscriptions.clone().unwrap_or_default();
        tokio::select! {
            () = subscriptions::watch_all(&self.bridge, &self.caller, &uris, context.sink()) => {}
            () = context.cancelled() => {}
            () = self.closed.cancelled() => {}
        }
        Ok(())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        readable(&self.caller)?;
        let cursor = request.and_then(|request| request.cursor);
        let list = resources::page(&self.bridge, &self.caller, &self.tools, cursor.as_deref());
        let page = answered_request(async { Ok(list.await) }).await?;
        let unknown = || ErrorData::invalid_params("no cursor of this listing", None);
        let (resources, next) = page.ok_or_else(unknown)?;
        let mut result = ListResourcesResult::with_all_items(resources);
        result.next_cursor = next;
        Ok(result)
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(resources::templates(
            &self.bridge,
            &self.caller,
            self.tools.debugging(),
        )))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        readable(&self.caller)?;
        let missing = |why: String| ErrorData::new(ErrorCode::RESOURCE_NOT_FOUND, why, None);
        let read = async {
            Ok(resources::read(&self.bridge, &self.caller, &self.tools, &request.uri).await)
        };
        match answered_request(read).await? {
            Ok(Some(contents)) => Ok(ReadResourceResult::new(vec![contents]).into()),
            Ok(None) => Err(missing(format!("no resource {}", request.uri))),
            Err(
                error @ (BridgeError::Session(SessionError::NotFound(_))
                | BridgeError::NoCommand { .. }),
            ) => Err(missing(error.to_string())),
            Err(error @ (BridgeError::FileTooLarge { .. } | BridgeError::Invalid(_))) => {
                Err(ErrorData::invalid_params(error.to_string(), None))
            }
            Err(error) => Err(ErrorData::internal_error(error.to_string(), None)),
        }
    }
}
