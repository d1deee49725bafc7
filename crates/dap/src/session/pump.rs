//! The tasks that take in what comes from adapters.

use std::sync::{Arc, Weak};

use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::Inner;
use super::state::{Effect, PANIC, Phase, State};
use crate::client::Incoming;
use crate::report::EndReason;
use crate::transport::Stream;

/// Takes in everything that comes over a connection, in order.
pub(super) async fn pump(session: Weak<Inner>, link: u32, mut incoming: mpsc::Receiver<Incoming>) {
    while let Some(message) = incoming.recv().await {
        let Some(inner) = session.upgrade() else { return };
        match message {
            Incoming::Event { event, body } => inner.event(link, &event, body),
            Incoming::Request { seq, command, arguments } => {
                inner.reverse_request(link, seq, command, arguments);
            }
            Incoming::Closed { reason } => inner.closed(link, reason),
        }
    }
}

/// Takes in what an adapter or a program in a pipe writes.
pub(super) async fn pump_output(
    session: Weak<Inner>,
    run: u64,
    mut output: mpsc::Receiver<(Stream, String)>,
    is_program: bool,
) {
    while let Some((stream, text)) = output.recv().await {
        let Some(inner) = session.upgrade() else { return };
        {
            let mut state = inner.lock();
            if state.run != run {
                return;
            }
            if let Some((code, signal)) = inner.adapter.end_in(&text) {
                (state.exit_code, state.signal) = (code, signal);
            }
        }
        let text = without_own_words(&inner, text);
        if text.is_empty() {
            inner.notify();
            continue;
        }
        let category = match (is_program, stream) {
            (true, Stream::Stdout) => "stdout",
            (true, Stream::Stderr) => "stderr",
            (false, _) => "adapter",
        };
        inner.record("output", json!({"category": category, "output": text}));
        inner.notify();
    }
}

/// Output without lines that are the adapter's own.
fn without_own_words(inner: &Inner, text: String) -> String {
    if !text.lines().any(|line| inner.adapter.is_own_word(line)) {
        return text;
    }
    let lines = text.split_inclusive('\n').filter(|line| !inner.adapter.is_own_word(line));
    lines.collect()
}

impl Inner {
    fn event(self: &Arc<Self>, link: u32, event: &str, mut body: Value) {
        let effect = {
            let mut state = self.lock();
            if !state.links.contains_key(&link) {
                // Of a run that is over.
                return;
            }
            if event == "output" && self.is_heard_twice(&state, link, &body) {
                return;
            }
            if event == "stopped" && state.is_own_filter(&body) {
                body["reason"] = json!("exception");
                body["description"] = json!(PANIC);
            }
            // Recorded under the lock, so that a wait that sees the state also sees the output.
            match event {
                "output" => self.record_output(&mut state, body.clone()),
                _ => self.record(event, body.clone()),
            }
            let effect = state.apply(link, event, &body);
            if event == "process"
                && self.configuration.request == crate::configuration::Request::Launch
                && let Some(pid) = state.pid
                && let Some(adapter) = state.processes.first_mut()
            {
                adapter.adopt(pid);
            }
            effect
        };
        match effect {
            Effect::None => {}
            Effect::Terminated => self.finish_soon(EndReason::Exited),
            Effect::Attach(configuration) => self.attach_child(link, configuration),
        }
        self.notify();
    }

    /// Keeps what the program wrote, and apart from it what is its adapter's.
    fn record_output(&self, state: &mut State, mut body: Value) {
        let text = body["output"].as_str().unwrap_or_default().to_owned();
        let words = without_own_words(self, text);
        if words.is_empty() {
            return;
        }
        if body["category"] != "stdout"
            && let Some(failure) = self.adapter.condition_failure(&words)
        {
            state.note_condition(&failure, &mut self.context.breakpoints());
            // It says so each time; it is told once, by the report.
            body["category"] = json!("adapter");
        }
        let is_console = body["category"].as_str().is_none_or(|category| category == "console");
        let plain = if is_console { self.adapter.plain_output(&words) } else { None };
        body["output"] = json!(plain.unwrap_or(words));
        if self.adapter.owns_stderr() && body["category"] == "stderr" {
            body["category"] = json!("adapter");
        }
        self.record("output", body);
    }

    /// Whether a child's output also comes with its parent's.
    fn is_heard_twice(&self, state: &State, link: u32, body: &Value) -> bool {
        let is_child = state.links.get(&link).is_some_and(|link| link.parent.is_some());
        let is_own_console =
            self.configuration.text("console").is_none_or(|console| console == "internalConsole");
        is_child
            && is_own_console
            && self.adapter.children_share_output()
            && self.configuration.request == crate::configuration::Request::Launch
            && matches!(body["category"].as_str(), Some("stdout" | "stderr"))
    }

    fn closed(self: &Arc<Self>, link: u32, reason: String) {
        let lost = {
            let mut state = self.lock();
            if state.is_root(link) {
                if let Some(root) = state.links.get_mut(&link) {
                    root.closed = true;
                }
                matches!(state.phase, Phase::Live)
            } else {
                state.remove_child(link);
                false
            }
        };
        if lost {
            self.finish_soon(EndReason::AdapterLost(reason));
        }
        self.notify();
    }

    /// Answers a request of the adapter, beside the pump.
    fn reverse_request(self: &Arc<Self>, link: u32, seq: i64, command: String, arguments: Value) {
        let Some(client) = self.lock().links.get(&link).map(|link| link.client.clone()) else {
            return;
        };
        let inner = Arc::clone(self);
        tokio::spawn(async move {
            inner.record(&format!("request:{command}"), arguments.clone());
            let result = match command.as_str() {
                "runInTerminal" => inner.run_in_terminal(&arguments).await,
                "startDebugging" => inner.start_debugging(link, &arguments),
                other => Err(format!("{other} is not supported")),
            };
            client.respond(seq, &command, result).await;
        });
    }
}
