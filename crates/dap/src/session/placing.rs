//! Sending breakpoints to adapters, and keeping what they say of them.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::time::Instant;

use super::Inner;
use crate::adapter::{AdapterKind, RaisingFunction};
use crate::breakpoint::{Breakpoint, BreakpointGroup, BreakpointPlace, Placed, file_key};
use crate::client::Client;
use crate::configuration::Request;
use crate::error::DebugError;
use crate::protocol::{self, Breakpoints, Capabilities, read};

/// What an adapter lacks that has no breakpoints on functions.
const FUNCTIONS: &str = "breakpoints by function name";
/// Of a breakpoint that the adapter gave no number.
const NO_ID: i64 = -1;

impl Inner {
    /// Sends every breakpoint over a new connection.
    pub(super) async fn place_all(&self, link: u32) -> Result<(), DebugError> {
        let _order = self.context.placing.lock().await;
        let mut groups = self.context.breakpoints().groups();
        if !self.raising_functions().is_empty() {
            groups.insert(BreakpointGroup::Functions);
        }
        for group in groups {
            self.place_group(link, &group).await?;
        }
        if let Some(link) = self.lock().links.get_mut(&link) {
            link.configured = true;
        }
        Ok(())
    }

    /// Sends the breakpoints of a file anew that were sent before a program, which is attached to, told that it
    /// has the file: js-debug does not look again by itself.
    pub(super) fn place_again(self: &Arc<Self>, link: u32, path: &str) {
        if self.configuration.request != Request::Attach || !self.adapter.quirks().attaches_later()
        {
            return;
        }
        let file = file_key(Path::new(path));
        let group = BreakpointGroup::File(file.clone());
        let is_unbound = |place: &BreakpointPlace, placed: &Placed| {
            place.group() == group && !placed.verified && placed.id.is_some()
        };
        let wants = self.lock().links.get(&link).is_some_and(|link| {
            link.placed.iter().any(|(place, placed)| is_unbound(place, placed))
        });
        if !wants {
            return;
        }
        let inner = Arc::clone(self);
        tokio::spawn(async move {
            let _order = inner.context.placing.lock().await;
            let client = inner.lock().links.get(&link).map(|link| link.client.clone());
            let Some(client) = client else { return };
            let none = inner.of_file(&file, &[]);
            let emptied = inner.send_breakpoints(&client, "setBreakpoints", none).await;
            if let Err(error) = emptied.and(inner.place_group(link, &group).await) {
                tracing::debug!(%error, "breakpoints are not placed again");
            }
            inner.notify();
        });
    }

    /// Sends a group over every connection that has the others already. The caller holds the context's
    /// `placing`.
    pub(crate) async fn place_everywhere(&self, group: &BreakpointGroup) -> Result<(), DebugError> {
        let links: Vec<u32> = {
            let state = self.lock();
            let configured = state.links.iter().filter(|(_, link)| link.configured && !link.closed);
            configured.map(|(number, _)| *number).collect()
        };
        for link in links {
            self.place_group(link, group).await?;
        }
        Ok(())
    }

    pub(super) async fn place_group(
        &self,
        number: u32,
        group: &BreakpointGroup,
    ) -> Result<(), DebugError> {
        let link = {
            let state = self.lock();
            state.links.get(&number).map(|link| (link.client.clone(), link.capabilities.clone()))
        };
        let Some((client, capabilities)) = link else { return Ok(()) };
        if matches!(group, BreakpointGroup::File(file) if !self.adapter.may_have_file(file)) {
            // Of another language; debugpy would call it verified.
            return Ok(());
        }
        let wanted = match group {
            BreakpointGroup::Data => self.lock().data_of(number),
            _ => self.context.breakpoints().of_group(group),
        };
        let (mut sent, refused): (Vec<_>, Vec<_>) =
            wanted.into_iter().partition(|(_, wanted)| self.lacks(wanted, &capabilities).is_none());
        self.mark_unset_at(&mut sent).await;
        let (own, answers) = match group {
            BreakpointGroup::File(file) => {
                let arguments = self.of_file(file, &sent);
                (Vec::new(), self.send_breakpoints(&client, "setBreakpoints", arguments).await?)
            }
            BreakpointGroup::Functions => {
                let own = self.raising_functions();
                let can = !own.is_empty() || capabilities.supports_function_breakpoints;
                let answers = match can {
                    true => self.send_functions(number, &client, &own, &sent).await?,
                    false => Vec::new(),
                };
                (own, answers)
            }
            BreakpointGroup::Data => {
                let arguments = json!({"breakpoints": self.of_data(number, &sent)});
                let answers = self.send_breakpoints(&client, "setDataBreakpoints", arguments);
                (Vec::new(), answers.await?)
            }
        };
        let of_sent = answers.iter().skip(own.len()).map(|answer| answer.as_ref()?.id);
        self.send_conditions(&client, of_sent.zip(&sent)).await?;
        let mut answers = answers.into_iter();
        let mut state = self.lock();
        if *group == BreakpointGroup::Functions {
            let ids = own.iter().map(|function| {
                let id = answers.next().flatten().and_then(|answer| answer.id);
                Some((id?, function.description))
            });
            state.raising_ids = ids.flatten().collect();
        }
        let Some(link) = state.links.get_mut(&number) else { return Ok(()) };
        link.placed.retain(|place, _| place.group() != *group);
        let mut failures = Vec::new();
        for (key, _) in sent {
            let placed = match answers.next().flatten() {
                Some(answer) => self.placed_by(&key, answer),
                None => Placed::refused("the adapter said nothing of it".to_owned()),
            };
            let why_not = placed.message.as_ref().filter(|_| !placed.verified);
            if let Some(why) = why_not.filter(|_| self.adapter.quirks().says_why_not()) {
                failures.push(format!("Breakpoint {key} is not set: {why}"));
            }
            link.placed.insert(key, placed);
        }
        let of_group = link.placed.iter().filter(|(place, _)| place.group() == *group);
        let now: Vec<_> =
            of_group.map(|(place, placed)| (place.clone(), placed.verified)).collect();
        for (key, breakpoint) in refused {
            let why = self.lacks(&breakpoint, &capabilities).unwrap_or_default();
            failures.push(format!("Breakpoint {key} is not set: {why}"));
            link.placed.insert(key, Placed::refused(why));
        }
        for (place, verified) in now {
            *state.bound.entry(place).or_default() |= verified;
        }
        failures.into_iter().for_each(|failure| state.note_failure(failure));
        Ok(())
    }

    async fn send_breakpoints(
        &self,
        client: &Client,
        command: &str,
        arguments: Value,
    ) -> Result<Vec<Option<protocol::Breakpoint>>, DebugError> {
        let timeout = self.context.settings.request_timeout;
        let answer = client.request(command, arguments, timeout).await;
        let answer = answer.map_err(|error| self.request_failed(error))?;
        Ok(read::<Breakpoints>(&answer).breakpoints)
    }

    /// Sets what our evaluator does at breakpoints, by their numbers: it checks conditions, and where LLDB would crash at an
    /// expression it also counts hits and writes messages.
    async fn send_conditions(
        &self,
        client: &Client,
        sent: impl Iterator<Item = (Option<i64>, &(BreakpointPlace, Breakpoint))>,
    ) -> Result<(), DebugError> {
        let quirks = self.adapter.quirks();
        if !quirks.has_own_conditions() {
            return Ok(());
        }
        let is_rust = self.lock().shows_rust;
        let sent = sent.filter(|(_, (place, _))| !matches!(place, BreakpointPlace::Data { .. }));
        let conditions = sent.filter_map(|(id, (_, breakpoint))| {
            let condition = breakpoint.condition.as_deref();
            let is_own = own_condition(breakpoint, self.adapter).is_some();
            let wanted = condition.is_some() || breakpoint.log_message.is_some();
            let hits = breakpoint.hit_condition.as_ref();
            let own = wanted.then(|| {
                json!({
                    "condition": condition,
                    "exact": condition.map(|given| quirks.expression(given, is_rust)),
                    "hits": hits.and_then(|hits| quirks.hit_condition(hits).ok()?.parse::<u64>().ok()),
                    "message": breakpoint.log_message,
                    "isOwn": is_own,
                })
            });
            Some((id?.to_string(), own.unwrap_or_default()))
        });
        let conditions: Map<_, _> = conditions.collect();
        if !conditions.is_empty() {
            let command = quirks.conditions_request(&conditions);
            let arguments = json!({"expression": command, "context": "repl"});
            let answer =
                client.request("evaluate", arguments, self.context.settings.request_timeout);
            answer.await.map_err(|error| self.request_failed(error))?;
        }
        Ok(())
    }

    fn of_file(&self, file: &Path, sent: &[(BreakpointPlace, Breakpoint)]) -> Value {
        let path = match sent.first().map(|(_, breakpoint)| &breakpoint.place) {
            Some(BreakpointPlace::Line { path, .. }) if !self.adapter.quirks().resolves_links() => {
                path
            }
            _ => file,
        };
        let list = self.shapes(sent);
        let lines: Vec<_> = list.iter().map(|shape| shape["line"].clone()).collect();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        json!({
            "source": {"name": name, "path": path}, "breakpoints": list, "lines": lines,
            "sourceModified": false,
        })
    }

    /// Sends breakpoints on functions, first those that stand for exceptions. lldb-dap answers
    /// in an order of its own: what is new to it is sent one by one, and told apart by its number.
    async fn send_functions(
        &self,
        number: u32,
        client: &Client,
        own: &[RaisingFunction],
        sent: &[(BreakpointPlace, Breakpoint)],
    ) -> Result<Vec<Option<protocol::Breakpoint>>, DebugError> {
        const COMMAND: &str = "setFunctionBreakpoints";
        let own_shapes = own.iter().map(|function| match &function.condition {
            Some(condition) => json!({"name": function.name, "condition": condition}),
            None => json!({"name": function.name}),
        });
        let list: Vec<Value> = own_shapes.chain(self.shapes(sent)).collect();
        if !self.adapter.quirks().shuffles_functions() {
            return self.send_breakpoints(client, COMMAND, json!({"breakpoints": list})).await;
        }
        let mut ids: Vec<Option<i64>> = {
            let state = self.lock();
            let placed = state.links.get(&number).map(|link| &link.placed);
            let id_of = |key| placed.and_then(|placed| placed.get(key)?.id);
            let own_id = |at| state.raising_ids.get(at).map(|(id, _): &(i64, _)| *id);
            let own = (0..own.len()).map(own_id);
            own.chain(sent.iter().map(|(key, _)| id_of(key))).collect()
        };
        loop {
            let next = ids.iter().position(Option::is_none);
            let is_sent = |at: usize| ids[at].is_some() || Some(at) == next;
            let now: Vec<_> =
                (0..list.len()).filter(|at| is_sent(*at)).map(|at| &list[at]).collect();
            let answers =
                self.send_breakpoints(client, COMMAND, json!({"breakpoints": now})).await?;
            let answers: Vec<_> = answers.into_iter().flatten().collect();
            if let Some(next) = next {
                let mut new = answers.iter().filter_map(|answer| answer.id);
                let new = new.find(|id| !ids.contains(&Some(*id)));
                ids[next] = Some(new.unwrap_or(NO_ID));
            }
            if !ids.contains(&None) {
                let of_id = |id| answers.iter().find(|answer| answer.id == id).cloned();
                return Ok(ids.into_iter().map(of_id).collect());
            }
        }
    }

    fn of_data(&self, number: u32, sent: &[(BreakpointPlace, Breakpoint)]) -> Vec<Value> {
        let shapes = self.shapes(sent).into_iter().zip(sent);
        let state = self.lock();
        let data = state.links.get(&number).map(|link| &link.data);
        let with_id = shapes.filter_map(|(mut shape, (key, _))| {
            shape["dataId"] = json!(data?.get(key)?.data_id);
            Some(shape)
        });
        with_id.collect()
    }

    fn shapes(&self, sent: &[(BreakpointPlace, Breakpoint)]) -> Vec<Value> {
        let is_rust = self.lock().shows_rust;
        sent.iter().map(|(_, breakpoint)| shape(breakpoint, self.adapter, is_rust)).collect()
    }

    /// What an adapter's answer means.
    fn placed_by(&self, key: &BreakpointPlace, answer: protocol::Breakpoint) -> Placed {
        let mut placed = Placed {
            id: answer.id,
            verified: answer.verified,
            path: answer.source.and_then(|source| source.path),
            line: answer.line,
            message: answer.message.map(|words| self.adapter.quirks().breakpoint_words(words)),
        };
        if let BreakpointPlace::Function { name } = key {
            if placed.verified && placed.line.is_none() {
                // debugpy takes any name.
                placed.verified = false;
                let name = self.adapter.quirks().function_name(name);
                placed.message = Some(format!("it stops when any function {name} is called"));
            } else if !placed.verified && placed.message.is_none() {
                placed.message = Some(format!("no function {name} is loaded"));
            }
        }
        placed
    }

    /// What the adapter cannot do that a breakpoint needs. It would stop where nobody wants it to.
    fn lacks(&self, breakpoint: &Breakpoint, capabilities: &Capabilities) -> Option<String> {
        let is_function = matches!(breakpoint.place, BreakpointPlace::Function { .. });
        let needs = [
            (is_function, capabilities.supports_function_breakpoints, FUNCTIONS),
            (
                breakpoint.condition.is_some(),
                capabilities.supports_conditional_breakpoints,
                "conditions",
            ),
            (
                breakpoint.hit_condition.is_some(),
                capabilities.supports_hit_conditional_breakpoints
                    || self.adapter.quirks().knows_hit_conditions(),
                "hit conditions",
            ),
            (breakpoint.log_message.is_some(), capabilities.supports_log_points, "log messages"),
        ];
        if let Some((_, _, what)) = needs.iter().find(|(needed, has, _)| *needed && !*has) {
            return Some(format!("{} does not support {what}", self.adapter.name()));
        }
        let hits = breakpoint.hit_condition.as_ref()?;
        if let Some(conflict) = self.adapter.quirks().hit_condition_conflict(breakpoint) {
            let adapter = self.adapter.name();
            return Some(format!("{adapter} {conflict}; set it with one of them"));
        }
        self.adapter.quirks().hit_condition(hits).err()
    }

    /// Why a session takes no breakpoint at such a place, once its adapter has said what it can.
    pub(crate) fn refuses(&self, place: &BreakpointPlace) -> Option<DebugError> {
        let state = self.lock();
        let mut configured = state.links.values().filter(|link| link.configured).peekable();
        configured.peek()?;
        let lacks = matches!(place, BreakpointPlace::Function { .. })
            && !{ configured }.any(|link| link.capabilities.supports_function_breakpoints);
        lacks.then(|| DebugError::UnsupportedCapability {
            adapter: self.adapter.name().to_owned(),
            what: FUNCTIONS.to_owned(),
            instead: "set it at a line: give `path`, and `line` or the `text` of that line",
        })
    }

    /// What this session's adapter says of a breakpoint: the best of its connections.
    pub(crate) fn placed(&self, key: &BreakpointPlace) -> Option<Placed> {
        let state = self.lock();
        let all = state.links.values().filter_map(|link| link.placed.get(key));
        all.max_by_key(|placed| placed.verified).cloned()
    }

    /// Waits for a line's breakpoint to be placed, which some adapters do after their answer.
    pub(crate) async fn wait_placed(&self, key: &BreakpointPlace, limit: Duration) {
        if !matches!(key, BreakpointPlace::Line { .. }) {
            return;
        }
        let mut changed = self.subscribe();
        let deadline = Instant::now() + limit;
        while let Some(Placed { verified: false, id: Some(_), .. }) = self.placed(key) {
            if tokio::time::timeout_at(deadline, changed.changed()).await.is_err() {
                return;
            }
        }
    }
}

/// The condition of a breakpoint that our evaluator checks. The adapter counts hits and writes messages itself, and checks
/// their conditions before.
fn own_condition(breakpoint: &Breakpoint, adapter: AdapterKind) -> Option<&str> {
    let is_plain = breakpoint.hit_condition.is_none()
        && breakpoint.log_message.is_none()
        && !matches!(breakpoint.place, BreakpointPlace::Data { .. });
    let condition = breakpoint.condition.as_deref()?;
    (is_plain && adapter.quirks().has_own_conditions()).then_some(condition)
}

fn shape(breakpoint: &Breakpoint, adapter: AdapterKind, is_rust: bool) -> Value {
    let quirks = adapter.quirks();
    let mut shape = match &breakpoint.place {
        BreakpointPlace::Line { line, .. } => json!({"line": line}),
        BreakpointPlace::Function { name } => json!({"name": quirks.function_name(name)}),
        BreakpointPlace::Data { access, .. } => json!({"accessType": access.name()}),
    };
    let hits = breakpoint.hit_condition.as_ref();
    let hits = hits.and_then(|hits| quirks.hit_condition(hits).ok());
    let condition = breakpoint.condition.as_deref();
    let condition = match own_condition(breakpoint, adapter) {
        // It is not met until the real one is set.
        Some(_) => Some("0".to_owned()),
        None => condition.map(|condition| quirks.expression(condition, is_rust).into_owned()),
    };
    let message = breakpoint.log_message.as_deref();
    let message = message.map(|message| quirks.log_message(message, is_rust));
    let conditional = condition
        .as_ref()
        .zip(message.as_ref())
        .and_then(|(condition, message)| quirks.conditional_message(condition, message));
    let (condition, message) = match conditional {
        Some(conditional) => (Some(conditional), None),
        None => (condition, message),
    };
    let fields = [("condition", condition), ("hitCondition", hits), ("logMessage", message)];
    for (name, value) in fields {
        if let Some(value) = value {
            shape[name] = json!(value);
        }
    }
    shape
}
