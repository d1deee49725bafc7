//! The tasks that take in what comes from adapters.

use std::sync::{Arc, Weak};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::Inner;
use super::control::Resume;
use super::other_stops::OtherStops;
use super::reverse::{MAX_WAITING, ReverseRequest, answer_requests};
use super::state::{Effect, Phase, State};
use crate::client::Incoming;
use crate::report::EndReason;
use crate::transport::Stream;

/// Longest wait for a program to get to where its arguments are.
const PROLOGUE: Duration = Duration::from_secs(2);

/// Takes in everything that comes over a connection, in order.
pub(super) async fn pump(session: Weak<Inner>, link: u32, mut incoming: mpsc::Receiver<Incoming>) {
    let (requests, waiting) = mpsc::channel(MAX_WAITING);
    tokio::spawn(answer_requests(session.clone(), link, waiting));
    while let Some(message) = incoming.recv().await {
        let Some(inner) = session.upgrade() else { return };
        match message {
            Incoming::Event { event, body } => {
                if event == "stopped" {
                    if inner.pass_prologue(link, &body).await {
                        continue;
                    }
                    inner.keep_other_stops(link, &body).await;
                }
                inner.event(link, &event, body);
            }
            Incoming::Request { seq, command, arguments } => {
                // The connection may have been given up: then nothing more is read from it.
                if requests.send(ReverseRequest { seq, command, arguments }).await.is_err() {
                    return;
                }
            }
            Incoming::Closed { reason } => inner.closed(link, reason),
            // Whoever waits may have given up.
            Incoming::Fence(passed) => drop(passed.send(())),
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
            if let Some((code, signal)) = inner.adapter.quirks().end_in(&text) {
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
    if !text.lines().any(|line| inner.adapter.quirks().is_own_word(line)) {
        return text;
    }
    let lines = text.split_inclusive('\n').filter(|line| !inner.adapter.quirks().is_own_word(line));
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
            if self.configuration.core_file().is_some() {
                as_of_core(event, &mut body, state.core_signal);
            }
            if event == "stopped"
                && let Some(description) = state.raised_by(&body)
            {
                body["reason"] = json!("exception");
                body["description"] = json!(description);
            }
            if event == "stopped"
                && let Some(reason) = self.asked_for(&state, &body)
            {
                body["reason"] = json!(reason);
                body["description"] = Value::Null;
            }
            // Recorded under the lock, so that a wait that sees the state also sees the output.
            match event {
                "output" => self.record_output(&mut state, link, body.clone()),
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
        if event == "stopped" {
            self.foresee(link, &body);
        }
        match effect {
            Effect::None => {}
            Effect::Terminated => self.finish_soon(EndReason::Exited),
            Effect::Attach(configuration) => self.attach_child(link, configuration),
            Effect::Loaded(path) => self.place_again(link, &path),
        }
        self.notify();
    }

    /// Before anyone sees a stop at the first instruction of a function: its arguments are not where the debugger
    /// looks for them yet. Returns whether the step continues because it is in a library.
    async fn pass_prologue(&self, link: u32, stopped: &Value) -> bool {
        let quirks = self.adapter.quirks();
        let reason = stopped["reason"].as_str().unwrap_or_default();
        // A breakpoint's place, as the adapter calls it, stays where it is.
        let place = stopped["description"].as_str().filter(|_| reason.ends_with("breakpoint"));
        let thread = stopped["threadId"].as_i64().unwrap_or_default();
        let (client, command) = {
            let state = self.lock();
            let Some(link) = state.links.get(&link) else { return false };
            let is_new = place.is_some_and(|place| !link.settled.contains(place));
            let steps_into = reason == "step" && link.resumed == Some(Resume::StepInto);
            let command = quirks.past_prologue(thread, steps_into).filter(|_| is_new || steps_into);
            let Some(command) = command else { return false };
            (link.client.clone(), command)
        };
        let arguments = json!({"expression": command, "context": "repl"});
        // If this fails, the program stays where it is.
        let answer = client.request("evaluate", arguments, PROLOGUE).await;
        let said = answer.as_ref().ok().and_then(|answer| answer["result"].as_str());
        if let Some(step) = said.and_then(|said| quirks.next_step(said)) {
            let next = client.request(step, json!({"threadId": thread}), PROLOGUE).await;
            // Where it fails, the program stands in the library.
            if next.is_ok()
                && let Some(link) = self.lock().links.get_mut(&link)
            {
                link.others = OtherStops::default();
            }
            return next.is_ok();
        }
        if let (Some(place), Some(said)) = (place, said)
            && !quirks.has_passed_prologue(said)
            && let Some(link) = self.lock().links.get_mut(&link)
        {
            link.settled.insert(place.to_owned());
        }
        false
    }

    /// Why a stop came that was asked for and that an adapter calls a signal.
    fn asked_for(&self, state: &State, stopped: &Value) -> Option<&'static str> {
        if !self.adapter.quirks().is_pause(stopped["description"].as_str()) {
            return None;
        }
        let at_entry = state.stops == 0
            && self.configuration.fields.get("stopOnEntry").is_some_and(|entry| *entry == true);
        match (state.pausing, at_entry) {
            (true, _) => Some("pause"),
            (false, true) => Some("entry"),
            (false, false) => None,
        }
    }

    /// Keeps what the program wrote, and apart from it what is its adapter's.
    fn record_output(&self, state: &mut State, link: u32, mut body: Value) {
        let text = body["output"].as_str().unwrap_or_default().to_owned();
        let words = without_own_words(self, text);
        if words.is_empty() {
            return;
        }
        if body["category"] != "stdout"
            && let Some(failure) = self.adapter.quirks().condition_failure(&words)
        {
            state.note_condition(&failure, &mut self.context.breakpoints());
            // It says so each time; it is told once, by the report.
            body["category"] = json!("adapter");
        }
        if self.adapter.quirks().is_note(&words) {
            body["category"] = json!("adapter");
        }
        let is_console = body["category"].as_str().is_none_or(|category| category == "console");
        let own = self.adapter.quirks().own_category(state.is_root(link));
        let is_own = own.is_some_and(|own| body["category"] == own);
        let plain = (is_console || is_own).then(|| self.adapter.quirks().plain_output(&words));
        let plain = plain.flatten();
        if is_own {
            // One of our log messages is not a complaint.
            body["category"] = json!(if plain.is_some() { "console" } else { "adapter" });
        }
        body["output"] = json!(plain.unwrap_or(words));
        self.record("output", body);
    }

    /// Whether a child's output also comes with its parent's.
    fn is_heard_twice(&self, state: &State, link: u32, body: &Value) -> bool {
        let is_child = state.links.get(&link).is_some_and(|link| link.parent.is_some());
        let is_own_console =
            self.configuration.text("console").is_none_or(|console| console == "internalConsole");
        is_child
            && is_own_console
            && self.adapter.quirks().children_share_output()
            && self.configuration.request == crate::configuration::Request::Launch
            && matches!(body["category"].as_str(), Some("stdout" | "stderr"))
    }

    pub(super) fn closed(self: &Arc<Self>, link: u32, reason: String) {
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
            let reason = format!("{} was lost: {reason}", self.adapter.name());
            self.finish_soon(EndReason::AdapterLost(reason));
        }
        self.notify();
    }
}

/// An event of a core file: the process is gone, and another may have its number; the stop is by the signal, also where
/// the adapter reports that it cannot let it run.
fn as_of_core(event: &str, body: &mut Value, signal: Option<&str>) {
    match event {
        "process" => body["systemProcessId"] = Value::Null,
        "stopped" => {
            body["reason"] = json!("exception");
            let said = body["description"].as_str().filter(|said| said.starts_with("signal "));
            let said = said.map(str::to_owned).or(signal.map(|name| format!("signal {name}")));
            body["description"] = json!(said);
            body["text"] = Value::Null;
        }
        _ => {}
    }
}
