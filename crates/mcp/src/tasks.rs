//! The tasks extension: for clients that speak it, a call that takes long becomes a task to poll.
//!
//! A call that ends within [`INLINE`] is answered as ever, so that quick commands cost no polling.
//! `tasks/cancel` interrupts what runs, as `notifications/cancelled` does.

use std::time::Duration;

use rmcp::ErrorData;
use rmcp::model::{
    CallToolResponse, CancelTaskParams, CreateTaskResult, GetTaskParams, GetTaskResult,
    UpdateTaskParams,
};
use rmcp::task_manager::{TaskExit, TaskManager, TaskOptions};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use crate::error::ToolError;
use crate::tool::CallFuture;

/// How long a call may take before it becomes a task.
const INLINE: Duration = Duration::from_secs(2);
/// How often a client should ask.
const POLL_MS: u64 = 500;
/// How long a task is kept beyond the time its call may take.
const KEEP: Duration = Duration::from_mins(10);

#[derive(Clone, Default)]
pub(crate) struct Tasks {
    manager: TaskManager,
}

impl Tasks {
    /// Runs a call that may take `longest`; `make` gets the token that cancels it.
    pub(crate) async fn run(
        &self,
        cancelled: CancellationToken,
        longest: Duration,
        make: impl FnOnce(CancellationToken) -> CallFuture,
    ) -> CallToolResponse {
        let token = CancellationToken::new();
        let mut call = make(token.clone());
        let (finished, result) = oneshot::channel();
        let keep = (longest + KEEP).as_millis() as u64;
        let options = TaskOptions::new().with_ttl_ms(keep).with_poll_interval_ms(POLL_MS);
        let task = self.manager.spawn(options, |context| {
            Box::pin(async move {
                let result = tokio::select! {
                    result = &mut call => result,
                    () = context.cancelled() => {
                        token.cancel();
                        call.await;
                        return Err(TaskExit::Cancelled);
                    }
                };
                // Nobody listens once it has become a task.
                let _ = finished.send(result.clone());
                Ok(result)
            })
        });
        tokio::select! {
            Ok(result) = result => result.into(),
            () = cancelled.cancelled() => {
                if let Err(error) = self.manager.cancel_task(&task.task_id) {
                    tracing::debug!(%error, "the cancelled call had ended");
                }
                ToolError::cancelled().into_result().into()
            }
            () = tokio::time::sleep(INLINE) => CallToolResponse::Task(CreateTaskResult::new(task)),
        }
    }

    pub(crate) fn get(&self, request: &GetTaskParams) -> Result<GetTaskResult, ErrorData> {
        self.manager.get_task(&request.task_id).map(GetTaskResult::new)
    }

    pub(crate) fn update(&self, request: UpdateTaskParams) -> Result<(), ErrorData> {
        self.manager.update_task(&request.task_id, request.input_responses)
    }

    pub(crate) fn cancel(&self, request: &CancelTaskParams) -> Result<(), ErrorData> {
        self.manager.cancel_task(&request.task_id)
    }
}
