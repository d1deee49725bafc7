//! What rmcp asks of a server: each request of a client, with who that is.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, ErrorCode, GetPromptRequestParams,
    GetPromptResponse, GetTaskParams, GetTaskResult, Implementation, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, ServerCapabilities,
    ServerConfig, SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequestParams,
    UpdateTaskParams,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::Value;
use termbridge_bridge::{BridgeError, Scope};
use termbridge_session::SessionError;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::error::{ToolError, message_of};
use crate::shim::AGAIN;
use crate::tool::{CallFuture, Context};
use crate::{prompts, resources, subscriptions, tool};

use super::{
    DEBUG_INSTRUCTIONS, GUIDES, INSTRUCTIONS, McpServer, answered, answered_request, readable,
    tell_of_typing,
};

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
        self.tools.prepare().await;
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
        self.tools.prepare().await;
        let Some(entry) = self.tools.find(&request.name) else {
            let more = self.tools.how_to_offer(&request.name).unwrap_or_default();
            let message = format!("Unknown tool: {}{more}", request.name);
            return Err(ErrorData::invalid_params(message_of(message), None));
        };
        let arguments = request.arguments.unwrap_or_default();
        let is_structured = self.is_structured_for(&context);
        let caller = self.caller_of(&context);
        if let Err(refused) = self.bridge.admit(&caller.for_agent(tool::agent_of(&arguments))) {
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
                caller: caller.clone(),
                tools: Arc::clone(&self.tools),
                progress: context.meta.get_progress_token(),
                peer: Some(context.peer),
                read_cursors: Arc::clone(&self.read_cursors),
                told: self.told.clone(),
                named: named.clone(),
                // A task's answer is fetched by another request.
                room: self.load.clone().filter(|_| !speaks_tasks).map(|load| (load, context.id)),
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
            let bridge = self.bridge.clone();
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
        self.tools.prepare().await;
        Ok(ListPromptsResult::with_all_items(prompts::list(|name| self.tools.find(name).is_some())))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        self.tools.prepare().await;
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
        self.tools.prepare().await;
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
        self.tools.prepare().await;
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
        self.tools.prepare().await;
        let missing =
            |why: String| ErrorData::new(ErrorCode::RESOURCE_NOT_FOUND, message_of(why), None);
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
