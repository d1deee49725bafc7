//! Looking into a stopped program: threads, stacks, scopes, variables.

use serde_json::{Value, json};

use super::function_name::plain_function;
use super::one_line::Detail;
use super::{DebugSession, Inner};
use crate::client::Client;
use crate::error::DebugError;
use crate::events::cut_text;
use crate::protocol::{Scope, Scopes, StackFrame, StackTrace, Threads, Variable, Variables, read};
use crate::reference::{FramePlace, Reference, Target};
use crate::report::{FrameInfo, ScopeInfo, ScopeKind, StackPage, ThreadInfo, VariableInfo};

/// Frames or variables of one page.
const MAX_PAGE: u64 = 1000;

/// A part of a long list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page {
    /// The first one, from 0.
    pub start: u64,
    /// How many; 0 for as many as may be.
    pub count: u64,
}

impl Page {
    fn count(self) -> u64 {
        if self.count == 0 { MAX_PAGE } else { self.count.min(MAX_PAGE) }
    }
}

/// How many children come behind a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeftOut {
    /// So many.
    Some(usize),
    /// The adapter does not say; perhaps none.
    Unknown,
}

/// A page of children.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VariablePage {
    /// The children.
    pub variables: Vec<VariableInfo>,
    /// How many come behind them.
    pub left_out: LeftOut,
}

impl VariablePage {
    /// How many come behind it, as far as that is known.
    pub(super) fn known_rest(&self) -> usize {
        match self.left_out {
            LeftOut::Some(count) => count,
            LeftOut::Unknown => 0,
        }
    }
}

/// Which children of a value are wanted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum VariableFilter {
    /// All.
    #[default]
    All,
    /// Those with an index.
    Indexed,
    /// Those with a name.
    Named,
}

impl DebugSession {
    /// The threads of the program and its children.
    pub async fn threads(&self) -> Result<Vec<ThreadInfo>, DebugError> {
        let inner = &self.inner;
        let links: Vec<(u32, Client)> = {
            let state = inner.lock();
            state.alive()?;
            state.links.iter().map(|(number, link)| (*number, link.client.clone())).collect()
        };
        let mut all = Vec::new();
        let several = links.len() > 1;
        for (link, client) in links {
            let timeout = inner.context.settings.request_timeout;
            let threads: Threads = match client.request("threads", Value::Null, timeout).await {
                Ok(body) => read(&body),
                // The parent of others may have none of its own.
                Err(_) if several => continue,
                Err(error) => return Err(inner.request_failed(error)),
            };
            let mut state = inner.lock();
            for thread in threads.threads {
                let stopped = state.is_thread_stopped(link, thread.id);
                let id = state.thread_number(link, thread.id);
                let reason = state.stop_reason(link, thread.id);
                all.push(ThreadInfo { id, name: thread.name, stopped, reason });
            }
        }
        Ok(all)
    }

    /// A part of a thread's stack; without a thread that of the latest stop.
    pub async fn stack(&self, thread: Option<i64>, page: Page) -> Result<StackPage, DebugError> {
        let (link, id) = {
            let state = self.inner.lock();
            state.alive()?;
            let (link, id) = match thread {
                Some(number) => state.thread(number)?,
                None => {
                    let stop = state.latest_stop(None);
                    let (link, stop) = stop.ok_or_else(|| not_stopped(&state.running()))?;
                    (link, stop.event.thread_id.unwrap_or_default())
                }
            };
            if !state.is_thread_stopped(link, id) {
                return Err(not_stopped(&state.running()));
            }
            (link, id)
        };
        self.inner.stack(link, id, page).await
    }

    /// The scopes of a frame.
    pub async fn scopes(&self, frame: u64) -> Result<Vec<ScopeInfo>, DebugError> {
        let (link, id) = self.inner.frame(frame)?;
        self.inner.scopes(link, id).await
    }

    /// What is inside a scope or a value.
    pub async fn variables(
        &self,
        reference: u64,
        filter: VariableFilter,
        page: Page,
    ) -> Result<Vec<VariableInfo>, DebugError> {
        Ok(self.variables_page(reference, filter, page).await?.variables)
    }

    /// The same, with what is known of the rest.
    pub async fn variables_page(
        &self,
        reference: u64,
        filter: VariableFilter,
        page: Page,
    ) -> Result<VariablePage, DebugError> {
        let (link, id) = self.inner.container(reference)?;
        let filter = self.inner.adapter.quirks().page_filter(id, filter);
        self.inner.variables(link, id, filter, page, Detail::FULL).await
    }
}

impl Inner {
    /// What a frame's number stands for.
    pub(super) fn frame(&self, number: u64) -> Result<(u32, i64), DebugError> {
        let state = self.lock();
        state.alive()?;
        match state.references.get(number)? {
            Reference { link, target: Target::Frame(id) } => Ok((link, id)),
            Reference { .. } => Err(DebugError::InvalidReference(number)),
        }
    }

    /// What a container's number stands for.
    pub(super) fn container(&self, number: u64) -> Result<(u32, i64), DebugError> {
        let state = self.lock();
        state.alive()?;
        if number == 0 {
            return Err(DebugError::NotExpandable("reference 0".to_owned()));
        }
        match state.references.get(number)? {
            Reference { link, target: Target::Variables(id) } => Ok((link, id)),
            Reference { .. } => Err(DebugError::InvalidReference(number)),
        }
    }

    pub(super) async fn stack(
        &self,
        link: u32,
        thread: i64,
        page: Page,
    ) -> Result<StackPage, DebugError> {
        let count = page.count();
        let arguments = json!({"threadId": thread, "startFrame": page.start, "levels": count});
        let trace: StackTrace = read(&self.ask(link, "stackTrace", arguments).await?);
        let mut state = self.lock();
        let mut frames = trace.stack_frames;
        // Adapters may return more than was asked for.
        frames.truncate(count as usize);
        let frames = frames.into_iter().map(|frame| {
            let (number, function) = (frame.id, frame.name.clone());
            let id = state.references.add(Reference { link, target: Target::Frame(number) });
            let info = frame_info(id, frame);
            if let (Some(path), None) = (&info.path, info.source_reference) {
                let (path, line, column) = (path.clone(), info.line, info.column);
                let place = FramePlace { path, line, column, function };
                state.references.keep_frame(link, number, place);
            }
            info
        });
        let frames = frames.collect();
        let thread = state.thread_number(link, thread);
        Ok(StackPage { thread, frames, total: trace.total_frames })
    }

    pub(super) async fn scopes(&self, link: u32, frame: i64) -> Result<Vec<ScopeInfo>, DebugError> {
        let body = self.ask(link, "scopes", json!({"frameId": frame})).await?;
        let scopes: Scopes = read(&body);
        self.keep_scopes(link, frame, &scopes.scopes);
        // What the top level of an ES module declares is local to it, and global to its functions.
        let is_top_level = !scopes.scopes.iter().any(|scope| scope.name.starts_with("Local"));
        let mut state = self.lock();
        let info = |scope: Scope| {
            let target = Target::Variables(scope.variables_reference);
            let reference = match scope.variables_reference {
                0 => 0,
                _ => state.references.add(Reference { link, target }),
            };
            state.references.keep_owner(link, scope.variables_reference, frame);
            let is_module = is_top_level && scope.name == "Module";
            let kind = if is_module { ScopeKind::Local } else { scope_kind(&scope) };
            ScopeInfo { name: scope.name, kind, reference, expensive: scope.expensive }
        };
        Ok(scopes.scopes.into_iter().map(info).collect())
    }

    pub(super) async fn variables(
        &self,
        link: u32,
        container: i64,
        filter: VariableFilter,
        page: Page,
        detail: Detail,
    ) -> Result<VariablePage, DebugError> {
        let (mut variables, left_out) = self.raw_variables(link, container, filter, page).await?;
        let frame = self.lock().references.frame_of(link, container);
        if let Some(frame) = frame {
            let mut state = self.lock();
            for variable in &variables {
                state.references.keep_owner(link, variable.variables_reference, frame);
            }
        }
        self.in_one_line(link, frame, &mut variables, detail).await;
        let variables =
            variables.into_iter().map(|variable| self.variable(link, variable)).collect();
        Ok(VariablePage { variables, left_out })
    }

    /// A page of children as the adapter gives them, and how many come behind it. Where the adapter
    /// pages itself it does not tell, and a full page may have others behind it.
    pub(super) async fn raw_variables(
        &self,
        link: u32,
        container: i64,
        filter: VariableFilter,
        page: Page,
    ) -> Result<(Vec<Variable>, LeftOut), DebugError> {
        let count = page.count() as usize;
        let mut arguments = json!({"variablesReference": container});
        if filter != VariableFilter::All {
            let name = if filter == VariableFilter::Indexed { "indexed" } else { "named" };
            arguments["filter"] = json!(name);
        }
        // Paging is for indexed children; adapters disagree on what it means for others.
        let paged = filter == VariableFilter::Indexed && !self.adapter.quirks().has_rest();
        if paged {
            arguments["start"] = json!(page.start);
            arguments["count"] = json!(count);
        }
        let variables: Variables = read(&self.ask(link, "variables", arguments).await?);
        let mut variables = variables.variables;
        variables.retain(|variable| !self.adapter.quirks().is_foreign(variable));
        self.adapter.quirks().keep_innermost(&mut variables);
        if self.lock().references.scope(link, container).is_some() {
            let names: Vec<_> = variables.iter().map(|variable| &*variable.name).collect();
            let helpers = self.adapter.quirks().helpers(&names);
            variables.retain(|variable| !helpers.contains(&&*variable.name));
        }
        let left_out = if paged {
            variables.retain(|variable| !self.adapter.quirks().is_no_element(variable));
            variables.truncate(count);
            if variables.len() < count { LeftOut::Some(0) } else { LeftOut::Unknown }
        } else {
            let dropped = self.fetch_rest(link, &mut variables, page).await?;
            if self.adapter.quirks().has_rest() {
                let is_index = |variable: &Variable| variable.name.parse::<u64>().is_ok();
                variables.retain(|variable| match filter {
                    VariableFilter::All => true,
                    VariableFilter::Indexed => {
                        is_index(variable) || self.adapter.quirks().is_rest(variable)
                    }
                    VariableFilter::Named => !is_index(variable),
                });
            }
            let start = ((page.start - dropped) as usize).min(variables.len());
            variables.drain(..start);
            let behind = variables.len().saturating_sub(count);
            variables.truncate(count);
            LeftOut::Some(behind)
        };
        self.mark_unset(link, container, &mut variables).await;
        self.read_again(link, container, &mut variables).await;
        Ok((variables, left_out))
    }

    /// Puts children in the place of entries that stand for them, as far as the page reaches; returns
    /// how many before the page were not even fetched.
    async fn fetch_rest(
        &self,
        link: u32,
        variables: &mut Vec<Variable>,
        page: Page,
    ) -> Result<u64, DebugError> {
        let mut dropped = 0;
        while let Some(at) = variables.iter().position(|child| self.adapter.quirks().is_rest(child))
        {
            let first = dropped + at as u64;
            if first >= page.start + page.count() {
                break;
            }
            let rest = variables.remove(at);
            if let Some(count) = rest_range(&rest.value)
                && first + count <= page.start
            {
                variables.drain(..at);
                dropped = first + count;
                continue;
            }
            let arguments = json!({"variablesReference": rest.variables_reference});
            let next: Variables = read(&self.ask(link, "variables", arguments).await?);
            variables.splice(at..at, next.variables);
        }
        Ok(dropped)
    }

    /// All children of a container as the adapter gives them, and the containers that stand for the
    /// rest of them.
    pub(super) async fn some_children(
        &self,
        link: u32,
        container: i64,
    ) -> Result<(Vec<Variable>, Vec<i64>), DebugError> {
        let arguments = json!({"variablesReference": container});
        let children: Variables = read(&self.ask(link, "variables", arguments).await?);
        let (rest, children): (Vec<_>, Vec<_>) =
            children.variables.into_iter().partition(|child| self.adapter.quirks().is_rest(child));
        Ok((children, rest.into_iter().map(|child| child.variables_reference).collect()))
    }

    /// A variable as callers see it, with a reference of ours.
    pub(super) fn variable(&self, link: u32, mut variable: Variable) -> VariableInfo {
        let shows_rust = self.lock().shows_rust;
        self.adapter.quirks().plain_value(&mut variable, shows_rust);
        let limit = self.context.settings.max_value;
        let target = Target::Variables(variable.variables_reference);
        let reference = match variable.variables_reference {
            0 => 0,
            _ => self.lock().references.add(Reference { link, target }),
        };
        let attributes = variable.presentation_hint.unwrap_or_default().attributes;
        VariableInfo {
            cut: variable.value.len().saturating_sub(limit),
            value: match self.adapter.quirks().cuts_values_at() {
                // How much more there is it does not say.
                Some(most) if variable.value.len() >= most => {
                    cut_text(&variable.value, limit).replace("… (", "… (more than ")
                }
                _ => cut_text(&variable.value, limit),
            },
            name: variable.name,
            kind: variable.kind.filter(|kind| !kind.is_empty()),
            reference,
            named: variable.named_variables,
            indexed: variable.indexed_variables,
            evaluate_name: variable.evaluate_name,
            read_only: attributes.iter().any(|attribute| attribute == "readOnly"),
        }
    }
}

/// How many children an entry stands for that reads `[100:1100]`.
fn rest_range(text: &str) -> Option<u64> {
    let (from, to) = text.strip_prefix('[')?.strip_suffix(']')?.split_once(':')?;
    to.parse::<u64>().ok()?.checked_sub(from.parse().ok()?)
}

pub(super) fn not_stopped(program: &str) -> DebugError {
    DebugError::NotStopped { program: program.to_owned() }
}

fn frame_info(id: u64, frame: StackFrame) -> FrameInfo {
    let source = frame.source.unwrap_or_default();
    let source_reference = source.source_reference.filter(|reference| *reference > 0);
    let path = source.path.or(source.name);
    let hint = frame.presentation_hint.as_deref();
    FrameInfo {
        id,
        name: plain_function(&frame.name),
        subtle: matches!(hint, Some("subtle" | "label" | "deemphasize")) || path.is_none(),
        path,
        line: frame.line,
        column: frame.column,
        source_reference,
    }
}

fn scope_kind(scope: &Scope) -> ScopeKind {
    let name = scope.name.to_ascii_lowercase();
    match scope.presentation_hint.as_deref() {
        Some("locals" | "arguments") => ScopeKind::Local,
        Some("registers") => ScopeKind::Registers,
        Some("globals") => ScopeKind::Global,
        _ if name.contains("register") => ScopeKind::Registers,
        _ if name.contains("global") || name.contains("static") || name.contains("module") => {
            ScopeKind::Global
        }
        _ if name.contains("closure") => ScopeKind::Closure,
        _ => ScopeKind::Local,
    }
}
