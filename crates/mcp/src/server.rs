//! [`McpServer`]: what rmcp calls.

mod handler;
mod serving;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Tool};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use termbridge_bridge::policy::{Policy, PolicyConfig};
use termbridge_bridge::{
    Bridge, BridgeError, BridgeSettings, Caller, Client, DebugSettings, Debugging, Scope,
    TerminalBackend,
};
use termbridge_session::SessionId;
use tokio_util::sync::CancellationToken;

use crate::again::ClientCalls;
use crate::calls::Calls;
use crate::error::{Code, ToolError};
use crate::identity::Identity;
use crate::metrics::{Connected, Metrics};
use crate::offered::Offered;
use crate::subscriptions::Subscriptions;
use crate::tasks::Tasks;
use crate::told::Told;
use crate::tool::{CallFuture, Context, ReadCursors};
use crate::toolset::{Offer, Toolset, UnknownTool};
use crate::transport::Load;

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
    /// The requests and unsent answers of this client, where they are known.
    load: Option<Arc<Load>>,
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
            load: None,
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
            load: None,
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

    /// The same for a client that wants other toolsets.
    #[must_use]
    pub(crate) fn with_toolsets(self, toolsets: Vec<Toolset>) -> Self {
        Self { tools: Arc::new(self.tools.with_toolsets(toolsets)), ..self }
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
            room: None,
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
        let client = name_in(context).map(str::to_owned).or_else(of_session);
        self.tools.is_structured_for(client.as_deref())
    }

    /// Who makes a request. Without an MCP session, the client's name in a request identifies the client of a token.
    fn caller_of(&self, context: &RequestContext<RoleServer>) -> Caller {
        let client = self.caller.client();
        let is_alone = !client.principal.is_empty() && client.instance.is_empty();
        match name_in(context).filter(|_| is_alone) {
            Some(name) => self.caller.for_instance(name),
            None => self.caller.clone(),
        }
    }

    /// The debugger, where its tools are offered.
    pub fn debugging(&self) -> Option<&Debugging> {
        self.tools.debugging()
    }
}

/// The client's name in a request of 2026-07-28; it may leave out what else belongs there.
fn name_in(context: &RequestContext<RoleServer>) -> Option<&str> {
    context.meta.get(CLIENT_INFO)?.get("name")?.as_str()
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
    let refused = BridgeError::MissingScope(Scope::Read).to_string();
    caller.may(Scope::Read).then_some(()).ok_or_else(|| ErrorData::invalid_request(refused, None))
}
