//! Data breakpoints: places in memory that stop the program when they are written or read.
//!
//! They belong to a connection, since only its adapter knows what its `dataId` means, and go with it. No
//! adapter tells what was there before: the values are read when one is set and at each stop by one. Where the
//! adapter does not tell either which of several was hit, what differs has changed.

use serde_json::json;

use super::Inner;
use super::state::State;
use super::stopped::Stop;
use crate::adapter::OwnResult;
use crate::breakpoint::{
    Breakpoint, BreakpointGroup, BreakpointInfo, BreakpointPlace, BreakpointState, DataAccess,
    check,
};
use crate::error::DebugError;
use crate::protocol::{DataBreakpointInfo, Variable, read};
use crate::report::{DataChange, FrameInfo};

/// The reason of a stop by one.
pub(super) const DATA_STOP: &str = "data breakpoint";
/// What processors can watch.
const LIMITS: &str = "a processor watches about four places of up to 8 bytes each";
/// How many a session may have.
const MAX_DATA: usize = 64;

/// A data breakpoint of a connection.
pub(crate) struct WatchedData {
    pub(super) breakpoint: Breakpoint,
    pub(super) data_id: String,
    /// An expression for the value in any frame, where there is one.
    read_by: Option<String>,
    value: Option<String>,
    /// The function in whose frame a local variable was found.
    function: Option<String>,
}

impl Inner {
    /// Watches what an expression stands for in the frame of the latest stop.
    pub(crate) async fn set_data(
        &self,
        mut breakpoint: Breakpoint,
    ) -> Result<BreakpointInfo, DebugError> {
        check(&mut breakpoint)?;
        let BreakpointPlace::Data { expression, access } = breakpoint.place.clone() else {
            return Err(DebugError::Internal("not a data breakpoint".to_owned()));
        };
        let frame = self.focus().await?;
        let (link, id) = self.frame(frame.id)?;
        if !self.capability(link, |known| known.supports_data_breakpoints) {
            return Err(DebugError::UnsupportedCapability {
                adapter: self.adapter.name().to_owned(),
                what: "data breakpoints".to_owned(),
                instead: "set a breakpoint with a `condition` where the value is written",
            });
        }
        let is_rust = self.lock().shows_rust;
        let exact = self.adapter.quirks().expression(&expression, is_rust);
        let name = self.adapter.quirks().data_name(&exact);
        let name = match self.own_result(link, id, &name).await {
            Some(OwnResult::Named { name }) => name,
            Some(OwnResult::Failed { error }) => return Err(DebugError::EvaluateFailed(error)),
            _ => name,
        };
        let arguments = json!({"name": name, "frameId": id});
        let info = self.ask(link, "dataBreakpointInfo", arguments).await?;
        let info: DataBreakpointInfo = read(&info);
        let Some(data_id) = info.data_id else {
            let why = self.adapter.quirks().evaluate_error(info.description);
            return Err(DebugError::EvaluateFailed(format!("{expression} is no place: {why}")));
        };
        if info.access_types.is_some_and(|known| !known.iter().any(|one| one == access.name())) {
            let message = format!("{expression} cannot be watched for access {:?}", access.name());
            return Err(DebugError::InvalidParams(message));
        }
        let value = self.value_of(link, id, &expression, "watch").await.ok();
        let kind = value.as_ref().and_then(|value| value.kind.as_deref());
        let read_by = self.adapter.quirks().value_at(&data_id, kind.unwrap_or_default());
        let value = value.map(|value| self.variable(link, value).value);
        let function = self.is_local(&frame, &expression).await.then_some(frame.name);
        let data = WatchedData { breakpoint, data_id, read_by, value, function };
        self.place_data(link, data, &info.description).await
    }

    async fn place_data(
        &self,
        number: u32,
        data: WatchedData,
        description: &str,
    ) -> Result<BreakpointInfo, DebugError> {
        let (key, breakpoint) = (data.breakpoint.place.clone(), data.breakpoint.clone());
        let _order = self.context.placing.lock().await;
        {
            let mut state = self.lock();
            let link = state.links.get_mut(&number).ok_or(DebugError::NoSession(None))?;
            link.data.retain(|other, _| !is_same(other, &key));
            if link.data.len() >= MAX_DATA {
                let message = format!("{MAX_DATA} data breakpoints are set, which is the limit");
                return Err(DebugError::InvalidParams(message));
            }
            link.data.insert(key.clone(), data);
        }
        self.place_group(number, &BreakpointGroup::Data).await?;
        // lldb-dap answers in an order of its own; the others were fine before.
        let refused = {
            let mut state = self.lock();
            let placed = state.links.get(&number).map(|link| &link.placed);
            let mut placed = placed.into_iter().flatten();
            let refused = placed.find_map(|(place, placed)| {
                let is_data = place.group() == BreakpointGroup::Data;
                (is_data && !placed.verified).then(|| placed.message.clone())
            });
            if let (Some(_), Some(link)) = (&refused, state.links.get_mut(&number)) {
                link.data.remove(&key);
            }
            refused
        };
        let Some(why) = refused else {
            let state = BreakpointState::Verified;
            return Ok(BreakpointInfo { breakpoint, state, message: None, location: None });
        };
        self.place_group(number, &BreakpointGroup::Data).await?;
        let why = why.map(|why| format!(": {why}")).unwrap_or_default();
        let message = format!("it cannot be watched ({description}){why}");
        Err(DebugError::InvalidParams(format!("{message}; {LIMITS}")))
    }

    /// Removes those on an expression, or all; returns how many.
    pub(crate) async fn remove_data(&self, wanted: Option<&BreakpointPlace>) -> usize {
        let _order = self.context.placing.lock().await;
        let mut changed = Vec::new();
        let mut removed = 0;
        for (number, link) in &mut self.lock().links {
            let before = link.data.len();
            link.data.retain(|key, _| wanted.is_some_and(|wanted| !is_same(key, wanted)));
            if link.data.len() < before {
                removed += before - link.data.len();
                changed.push(*number);
            }
        }
        for link in changed {
            if let Err(error) = self.place_group(link, &BreakpointGroup::Data).await {
                tracing::warn!(session = %self.id, %error, "data breakpoints were not sent");
            }
        }
        removed
    }

    /// Those of all connections.
    pub(crate) fn data_breakpoints(&self) -> Vec<BreakpointInfo> {
        let state = self.lock();
        let all = state.links.values().flat_map(|link| link.data.values());
        let info = |data: &WatchedData| BreakpointInfo {
            breakpoint: data.breakpoint.clone(),
            state: BreakpointState::Verified,
            message: None,
            location: None,
        };
        all.map(info).collect()
    }

    /// What a stop by data breakpoints is about. Asked again, the answer is the same.
    pub(super) async fn data_changes(
        &self,
        number: u32,
        stop: &Stop,
        focus: Option<&FrameInfo>,
        frames: &[FrameInfo],
        has_all_frames: bool,
    ) -> Vec<DataChange> {
        if stop.event.reason != DATA_STOP {
            return Vec::new();
        }
        let reads: Vec<_> = {
            let state = self.lock();
            let Some(link) = state.links.get(&number) else { return Vec::new() };
            match &link.data_changes {
                Some((known, changes)) if *known == stop.number => return changes.clone(),
                _ => { link.data.iter() }
                    .map(|(key, data)| (key.clone(), data.reads(focus), data.data_id.clone()))
                    .collect(),
            }
        };
        let hit = self.hit_data(number, stop).await;
        let mut now = Vec::new();
        for (key, expressions, data_id) in reads {
            let is_hit = hit.as_ref().and_then(|hit| self.adapter.quirks().is_hit(hit, &data_id));
            if is_hit != Some(false) {
                now.push((key, self.read_data(number, expressions, focus).await, is_hit.is_some()));
            }
        }
        let mut state = self.lock();
        let Some(link) = state.links.get_mut(&number) else { return Vec::new() };
        let single = link.data.len() == 1;
        let mut changes = Vec::new();
        for (key, new, is_hit) in now {
            let BreakpointPlace::Data { expression, access } = &key else { continue };
            let Some(data) = link.data.get_mut(&key) else { continue };
            let old = std::mem::replace(&mut data.value, new.clone());
            // Which of those that are read was read nobody tells.
            if old == new && !single && !is_hit {
                continue;
            }
            let breakpoint = &data.breakpoint;
            let sees_all = breakpoint.condition.is_none() && breakpoint.hit_condition.is_none();
            let is_there = |function: &String| frames.iter().any(|frame| frame.name == *function);
            let returned = data.function.clone().filter(|function| !is_there(function));
            changes.push(DataChange {
                expression: expression.clone(),
                written: *access == DataAccess::Write,
                old: old.filter(|_| sees_all),
                new,
                returned: returned.filter(|_| has_all_frames),
            });
        }
        link.data_changes = Some((stop.number, changes.clone()));
        changes
    }

    /// What the adapter says of which was hit.
    async fn hit_data(&self, link: u32, stop: &Stop) -> Option<String> {
        let command = self.adapter.quirks().hit_data_request(stop.event.description.as_deref())?;
        let arguments = json!({"expression": command, "context": "repl"});
        let answer = self.ask(link, "evaluate", arguments).await.ok()?;
        Some(read::<Variable>(&answer).value)
    }

    /// The value by the first expression that has one.
    async fn read_data(
        &self,
        link: u32,
        expressions: Vec<String>,
        focus: Option<&FrameInfo>,
    ) -> Option<String> {
        let (_, frame) = self.frame(focus?.id).ok()?;
        for expression in expressions {
            if let Ok(value) = self.value_of(link, frame, &expression, "watch").await {
                return Some(self.variable(link, value).value);
            }
        }
        None
    }

    /// Whether an expression begins with a local variable of a frame.
    async fn is_local(&self, frame: &FrameInfo, expression: &str) -> bool {
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        let root = expression.trim_start_matches(|c: char| !is_name(c));
        let end = root.find(|c| !is_name(c)).unwrap_or(root.len());
        let locals = self.locals(frame.id).await.unwrap_or_default();
        locals.0.iter().any(|local| local.name == root[..end])
    }
}

impl WatchedData {
    /// Expressions for its value in a frame: what lies at its address, or itself where it is in scope.
    fn reads(&self, frame: Option<&FrameInfo>) -> Vec<String> {
        let is_own = |frame: &FrameInfo| {
            self.function.as_ref().is_none_or(|function| frame.name == *function)
        };
        let itself = match &self.breakpoint.place {
            BreakpointPlace::Data { expression, .. } if frame.is_some_and(is_own) => {
                Some(expression.clone())
            }
            _ => None,
        };
        self.read_by.clone().into_iter().chain(itself).collect()
    }
}

impl State {
    /// The data breakpoints of a connection.
    pub(super) fn data_of(&self, link: u32) -> Vec<(BreakpointPlace, Breakpoint)> {
        let data = self.links.get(&link).map(|link| &link.data).into_iter().flatten();
        data.map(|(key, data)| (key.clone(), data.breakpoint.clone())).collect()
    }
}

/// Whether two watch the same expression.
fn is_same(one: &BreakpointPlace, other: &BreakpointPlace) -> bool {
    match (one, other) {
        (
            BreakpointPlace::Data { expression: one, .. },
            BreakpointPlace::Data { expression: other, .. },
        ) => one == other,
        _ => false,
    }
}
