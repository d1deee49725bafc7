//! Ending and restarting: the adapter is asked, then its processes are ended, then it is reported.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::future::join_all;
use serde_json::json;
use tokio::time::Instant;

use super::state::Phase;
use super::{DebugSession, Inner};
use crate::breakpoint::BreakpointPlace;
use crate::configuration::Request;
use crate::error::DebugError;
use crate::report::{EndReason, EndReport};

/// How long an adapter may take to close the connection once it said goodbye.
const GOODBYE: Duration = Duration::from_millis(300);

impl DebugSession {
    /// From now on, stopping this session stops these too. That it ends by itself does not, nor a restart.
    pub(crate) fn stop_with(&self, all: &[DebugSession]) {
        let others = all.iter().filter(|other| other.id() != self.id());
        let others = others.map(|other| Arc::downgrade(&other.inner)).collect();
        // Only the launch that started it calls this, once.
        let _ = self.inner.companions.set(others);
    }

    /// Ends the program, or leaves it alone when it was attached to, and the sessions that are stopped with it;
    /// returns when all is over.
    pub async fn stop(&self) -> Result<EndReport, DebugError> {
        if let Phase::Ended(end) = &self.inner.lock().phase
            && !self.inner.changing.load(Ordering::Acquire)
        {
            return Ok(end.clone());
        }
        let others = self.inner.companions().map(async |other| other.stop_alone().await);
        let (end, others) = tokio::join!(self.stop_alone(), join_all(others));
        for error in others.into_iter().filter_map(Result::err) {
            tracing::warn!(%error, "a session of the same compound did not end");
        }
        end
    }

    async fn stop_alone(&self) -> Result<EndReport, DebugError> {
        let inner = &self.inner;
        let reason = match inner.configuration.request {
            Request::Launch => EndReason::Stopped,
            Request::Attach => EndReason::Detached,
        };
        inner.stop_requested.store(true, Ordering::Release);
        inner.finish(reason).await;
        inner.start_over().await?;
        inner.ended().await
    }

    /// Starts the program again, ending it first if it runs. Breakpoints stay. The event store has the new
    /// run under the session's id, and the one before under the name that is returned.
    pub async fn restart(&self, timeout: Duration) -> Result<String, DebugError> {
        let inner = &self.inner;
        let _changing = inner.change()?;
        if !self.is_ended() {
            inner.finish(EndReason::Stopped).await;
            inner.ended().await?;
        }
        let run = {
            let mut state = inner.lock();
            state.begin_run();
            state.run - 1
        };
        // The last run can still be looked at, and be compared with the next.
        let (events, id) = (inner.context.events.clone(), inner.id.to_string());
        let previous = format!("{id}-{run}");
        let name = previous.clone();
        let renamed = tokio::task::spawn_blocking(move || events.rename(&id, &name));
        renamed.await.map_err(|error| DebugError::Internal(error.to_string()))?;
        inner.start_run(timeout).await?;
        Ok(previous)
    }
}

impl Inner {
    /// Ends the run beside the caller.
    pub(crate) fn finish_soon(self: &Arc<Self>, reason: EndReason) {
        let inner = Arc::clone(self);
        let ending = self.context.begin_ending();
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn(async move {
                inner.finish(reason).await;
                drop(ending);
            })),
            // Nothing can be asked of anyone any more.
            Err(_) => drop(inner.lock().end_run()),
        }
    }

    /// Ends the run, once: the first to come does it and says why.
    pub(crate) async fn finish(self: &Arc<Self>, reason: EndReason) {
        let (root, run) = {
            let mut state = self.lock();
            if matches!(state.phase, Phase::Ending(_) | Phase::Ended(_)) {
                return;
            }
            state.phase = Phase::Ending(reason.clone());
            let open = state.links.values().find(|link| link.parent.is_none() && !link.closed);
            (open.map(|link| link.client.clone()), state.run)
        };
        self.notify();
        // Detached, so that whoever asked may give up without leaving it half done.
        let inner = Arc::clone(self);
        let ending = tokio::spawn(async move {
            if let Some(root) = root {
                let terminate = inner.configuration.request == Request::Launch;
                let arguments = json!({"restart": false, "terminateDebuggee": terminate});
                let limit = inner.adapter.quirks().farewell(inner.context.settings.end_timeout);
                if let Err(error) = root.request("disconnect", arguments, limit).await {
                    tracing::debug!(%error, "disconnect");
                }
                // The last events are read before the connection closes.
                inner.root_closed(GOODBYE).await;
            }
            let processes = std::mem::take(&mut inner.lock().processes);
            for process in processes {
                process.end().await;
            }
            inner.root_closed(GOODBYE).await;
            let readers = std::mem::take(&mut inner.lock().readers);
            for reader in readers {
                // What they wrote last counts, as long as no orphan holds the pipe.
                let _ = tokio::time::timeout(GOODBYE, reader).await;
            }
            inner.settle(reason, run).await;
        });
        // It does not panic, and if it did the phase would tell.
        let _ = ending.await;
    }

    /// Waits until the call that starts the session has given up: what it had started is gone then.
    async fn start_over(&self) -> Result<(), DebugError> {
        let mut changed = self.subscribe();
        let limit = self.context.settings.end_timeout * 3;
        let over = changed.wait_for(|_| !self.changing.load(Ordering::Acquire));
        match tokio::time::timeout(limit, over).await {
            // The sender is ours.
            Ok(_) => Ok(()),
            Err(_) => {
                let what = "the start of the session did not end".to_owned();
                let program = self.lock().program.clone();
                Err(DebugError::Timeout { what, program, after: limit })
            }
        }
    }

    /// Waits for the session to be over.
    pub(super) async fn ended(&self) -> Result<EndReport, DebugError> {
        let mut changed = self.subscribe();
        let limit = self.context.settings.end_timeout * 3;
        let deadline = Instant::now() + limit;
        loop {
            if let Phase::Ended(end) = &self.lock().phase {
                return Ok(end.clone());
            }
            if tokio::time::timeout_at(deadline, changed.changed()).await.is_err() {
                let program = self.lock().program.clone();
                let what = "the session did not end".to_owned();
                return Err(DebugError::Timeout { what, program, after: limit });
            }
        }
    }

    async fn root_closed(&self, limit: Duration) {
        let mut changed = self.subscribe();
        let deadline = Instant::now() + limit;
        loop {
            if self.lock().links.values().all(|link| link.parent.is_some() || link.closed) {
                return;
            }
            if tokio::time::timeout_at(deadline, changed.changed()).await.is_err() {
                return;
            }
        }
    }

    /// Notes the end, when everything that belongs to the run is gone.
    async fn settle(self: &Arc<Self>, reason: EndReason, run: u64) {
        let set = self.context.breakpoints().all();
        let unbound: Vec<_> = {
            let state = self.lock();
            let never = state.bound.iter().filter(|(_, bound)| !**bound).map(|(place, _)| place);
            // Nothing runs from a core file.
            let runs = self.configuration.core_file().is_none();
            let of_ours = |place: &&BreakpointPlace| runs && self.adapter.may_have(place);
            // A program may end before the adapter tells what it bound, and what only logs stops nowhere.
            let is_silent = self.adapter.quirks().reports_binding_late()
                && !state.bound.values().any(|bound| *bound);
            let is_known = |place: &&BreakpointPlace| {
                let found = set.get(*place);
                found.is_some_and(|found| found.log_message.is_none() || !is_silent)
            };
            let unbound = never.filter(is_known).filter(of_ours);
            unbound.cloned().collect()
        };
        let why = if unbound.is_empty() { None } else { self.unbound_reason().await };
        let end = {
            let mut state = self.lock();
            drop(state.end_run());
            why.into_iter().for_each(|why| state.note_failure(why));
            let lost = state.exit_code.and_then(|code| self.adapter.quirks().lost(code));
            let reason = match lost {
                Some(words) if reason == EndReason::Exited => {
                    state.exit_code = None;
                    EndReason::AdapterLost(words.to_owned())
                }
                _ => reason,
            };
            let reason = match (&state.signal, reason) {
                (Some(signal), EndReason::Exited) => EndReason::Signalled(signal.clone()),
                (None, EndReason::AdapterLost(_)) if state.exit_code.is_some() => EndReason::Exited,
                (_, reason) => reason,
            };
            EndReport {
                session: self.id.clone(),
                program: state.program.clone(),
                exit_code: state.exit_code,
                reason,
                condition_failures: state.take_condition_failures(),
                perhaps_signal: state.perhaps_signal(),
                output: self.take_output(&mut state),
                unbound,
            }
        };
        self.record("ended", json!({"run": run, "how": end.how(), "exitCode": end.exit_code}));
        let (events, id) = (self.context.events.clone(), self.id.to_string());
        // A panic there would be the store's; the session is over all the same.
        let _ = tokio::task::spawn_blocking(move || events.finish(&id)).await;
        self.lock().phase = Phase::Ended(end);
        self.notify();
    }

    /// Why no breakpoint was bound and no frame has a source, where the program is the reason.
    pub(super) async fn unbound_reason(&self) -> Option<String> {
        let (adapter, configuration) = (self.adapter, self.configuration.clone());
        let read = move || adapter.quirks().unbound_reason(&configuration);
        tokio::task::spawn_blocking(read).await.ok()?
    }
}
