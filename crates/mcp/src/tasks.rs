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
use tokio_util::sync::CancellationToken;

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
        tokio::select! {
            result = &mut call => return result.into(),
            () = cancelled.cancelled() => {
                token.cancel();
                return call.await.into();
            }
            () = tokio::time::sleep(INLINE) => {}
        }
        let keep = (longest + KEEP).as_millis() as u64;
        let options = TaskOptions::new().with_ttl_ms(keep).with_poll_interval_ms(POLL_MS);
        let task = self.manager.spawn(options, |context| {
            Box::pin(async move {
                tokio::select! {
                    result = &mut call => Ok(result),
                    () = context.cancelled() => {
                        token.cancel();
                        call.await;
                        Err(TaskExit::Cancelled)
                    }
                }
            })
        });
        CallToolResponse::Task(CreateTaskResult::new(task))
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
