//! Looking into a stopped program: stack, threads, scopes, values.

use std::path::PathBuf;

use serde::Deserialize;
use termbridge_dap::{
    DebugError, EvaluateContext, LeftOut, Page, Save, ScopeFilter, ScopeKind, VariableFilter,
};

use super::{NativeDebugger, view};
use crate::debug::DebugFailure;
use crate::debug::answer::{self, Answer, ScopeRest, Variable};

/// Bytes of a variable tree.
const TREE_BUDGET: usize = 16 * 1024;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Paged {
    session_id: Option<String>,
    thread_id: Option<i64>,
    start: u64,
    count: u64,
}

pub(super) async fn stack(native: &NativeDebugger, asked: Paged) -> Result<Answer, DebugFailure> {
    let session = native.session(asked.session_id.as_deref(), None)?;
    let page = Page { start: asked.start, count: asked.count };
    let stack = session.stack(asked.thread_id, page).await?;
    let frames: Vec<_> = stack.frames.iter().map(view::frame).collect();
    let next = asked.start + frames.len() as u64;
    let more = stack.total.is_some_and(|total| next < total);
    Ok(Answer::Stack(answer::Stack {
        thread_id: Some(stack.thread),
        frames,
        total: stack.total,
        next: more.then_some(next),
    }))
}

pub(super) async fn threads(native: &NativeDebugger, asked: Paged) -> Result<Answer, DebugFailure> {
    let session = native.session(asked.session_id.as_deref(), None)?;
    let mut threads = session.threads().await?;
    threads.retain(|thread| asked.thread_id.is_none_or(|id| thread.id == id));
    let total = threads.len();
    let page = threads.iter().skip(asked.start as usize).take(asked.count as usize);
    let threads: Vec<_> = page
        .map(|thread| answer::Thread {
            id: thread.id,
            name: thread.name.clone(),
            state: Some(if thread.stopped { "stopped" } else { "running" }),
            reason: thread.reason.clone(),
        })
        .collect();
    let next = asked.start as usize + threads.len();
    Ok(Answer::Threads(answer::Threads { threads, total, next: (next < total).then_some(next) }))
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Scopes {
    frame_id: u64,
    session_id: Option<String>,
}

pub(super) async fn scopes(native: &NativeDebugger, asked: Scopes) -> Result<Answer, DebugFailure> {
    let session = native.session(asked.session_id.as_deref(), Some(asked.frame_id))?;
    let scopes = session.scopes(asked.frame_id).await?;
    let scopes = scopes.into_iter().map(|scope| answer::Scope {
        name: scope.name,
        variables_reference: scope.reference,
        expensive: scope.expensive,
    });
    Ok(Answer::Scopes { scopes: scopes.collect() })
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Evaluate {
    expression: String,
    frame_id: Option<u64>,
    context: String,
    session_id: Option<String>,
}

pub(super) async fn evaluate(
    native: &NativeDebugger,
    asked: Evaluate,
) -> Result<Answer, DebugFailure> {
    let session = native.session(asked.session_id.as_deref(), asked.frame_id)?;
    let context = context(&asked.context);
    let value = session.evaluate(&asked.expression, asked.frame_id, context).await?;
    Ok(Answer::Evaluated(answer::Evaluated {
        result: value.value,
        cut: view::count(value.cut),
        kind: value.kind,
        variables_reference: value.reference,
        named_variables: value.named,
        indexed_variables: value.indexed,
    }))
}

fn context(name: &str) -> EvaluateContext {
    match name {
        "watch" => EvaluateContext::Watch,
        "hover" => EvaluateContext::Hover,
        _ => EvaluateContext::Repl,
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ListVariables {
    frame_id: Option<u64>,
    session_id: Option<String>,
    scope: String,
    max_depth: u32,
}

pub(super) async fn list_variables(
    native: &NativeDebugger,
    asked: ListVariables,
) -> Result<Answer, DebugFailure> {
    let session = native.session(asked.session_id.as_deref(), asked.frame_id)?;
    let filter = match asked.scope.as_str() {
        "local" => ScopeFilter::Only(ScopeKind::Local),
        "closure" => ScopeFilter::Only(ScopeKind::Closure),
        "global" => ScopeFilter::Only(ScopeKind::Global),
        _ => ScopeFilter::All,
    };
    let tree = session.variable_tree(asked.frame_id, filter, asked.max_depth, TREE_BUDGET).await?;
    let variables = tree.scopes.iter().flat_map(|(scope, nodes)| {
        nodes.iter().map(move |node| Variable { scope: Some(scope.clone()), ..view::node(node) })
    });
    let left_out = tree.rest.iter().map(|rest| rest.count).sum();
    let rest = tree.rest.iter().map(|rest| ScopeRest {
        scope: rest.scope.clone(),
        variables_reference: rest.reference,
        start: rest.start,
        count: rest.count,
    });
    let truncated = left_out > 0 || tree.scopes.iter().any(|(_, nodes)| is_cut(nodes));
    Ok(Answer::Variables(answer::Variables {
        variables: variables.collect(),
        truncated,
        left_out: view::count(left_out),
        rest: rest.collect(),
    }))
}

fn is_cut(nodes: &[termbridge_dap::VariableNode]) -> bool {
    nodes.iter().any(|node| node.left_out > 0 || is_cut(&node.children))
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct GetVariable {
    variables_reference: u64,
    start: u64,
    count: u64,
    filter: String,
}

pub(super) async fn get_variable(
    native: &NativeDebugger,
    asked: GetVariable,
) -> Result<Answer, DebugFailure> {
    let session = native.session(None, Some(asked.variables_reference))?;
    let filter = match asked.filter.as_str() {
        "indexed" => VariableFilter::Indexed,
        "named" => VariableFilter::Named,
        _ => VariableFilter::All,
    };
    let page = Page { start: asked.start, count: asked.count };
    let page = session.variables_page(asked.variables_reference, filter, page).await?;
    let next = asked.start + page.variables.len() as u64;
    let behind = match page.left_out {
        LeftOut::Some(behind) => Some(behind as u64),
        LeftOut::Unknown => None,
    };
    Ok(Answer::Page(answer::Page {
        variables: page.variables.iter().map(view::variable).collect(),
        total: behind.map(|behind| next + behind),
        next: (behind != Some(0)).then_some(next),
    }))
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SetVariable {
    session_id: Option<String>,
    name: String,
    value: String,
    variables_reference: Option<u64>,
}

pub(super) async fn set_variable(
    native: &NativeDebugger,
    asked: SetVariable,
) -> Result<Answer, DebugFailure> {
    let session = native.session(asked.session_id.as_deref(), asked.variables_reference)?;
    let set = session.set_variable(&asked.name, &asked.value, asked.variables_reference).await?;
    Ok(Answer::Set(Variable { name: asked.name, ..view::variable(&set) }))
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SaveVariable {
    session_id: Option<String>,
    output_path: PathBuf,
    expression: String,
    page_size: u64,
    max_items: Option<u64>,
    context: String,
}

pub(super) async fn save_variable(
    native: &NativeDebugger,
    asked: SaveVariable,
) -> Result<Answer, DebugFailure> {
    native.check_directory(&asked.output_path).await?;
    let session = native.session(asked.session_id.as_deref(), None)?;
    let save = Save {
        expression: asked.expression,
        frame: None,
        context: context(&asked.context),
        path: asked.output_path,
        page_size: asked.page_size,
        max_items: asked.max_items.unwrap_or(0),
    };
    let saved = session.save_variable(&save).await.map_err(|error| match error {
        DebugError::InvalidPath { .. } => DebugFailure::from(error)
            .hint("give an `outputPath` in an existing folder that can be written to"),
        error => error.into(),
    })?;
    Ok(Answer::Saved(answer::Saved {
        path: save.path.to_string_lossy().into_owned(),
        items: saved.items,
        bytes: saved.bytes,
        truncated: saved.cut,
        value: Some(view::variable(&saved.value)),
    }))
}
