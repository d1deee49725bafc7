//! Evaluating expressions and changing values.

use serde_json::{Value, json};

use super::inspect::{Page, VariableFilter};
use super::{DebugSession, Inner};
use crate::error::DebugError;
use crate::protocol::{Variable, read};
use crate::report::{ScopeKind, VariableInfo};

/// What an expression is evaluated for; adapters differ in what they allow and show.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum EvaluateContext {
    /// A command line: statements are allowed where the language has them.
    #[default]
    Repl,
    /// An expression to be watched.
    Watch,
    /// A value to be shown beside the source; without side effects.
    Hover,
}

impl EvaluateContext {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Repl => "repl",
            Self::Watch => "watch",
            Self::Hover => "hover",
        }
    }
}

impl DebugSession {
    /// Evaluates an expression in a frame; without one in that of the latest stop.
    pub async fn evaluate(
        &self,
        expression: &str,
        frame: Option<u64>,
        context: EvaluateContext,
    ) -> Result<VariableInfo, DebugError> {
        let (link, mut value) = self.raw_value(expression, frame, context.name()).await?;
        self.inner.adapter.computed_value(expression, &mut value.value);
        Ok(self.inner.variable(link, value))
    }

    /// The value of an expression, uncut.
    pub(super) async fn raw_value(
        &self,
        expression: &str,
        frame: Option<u64>,
        context: &'static str,
    ) -> Result<(u32, Variable), DebugError> {
        let (link, id) = self.inner.frame_or_top(frame).await?;
        let adapter = self.inner.adapter;
        let context = adapter.context(context);
        let arguments = json!({"expression": expression, "frameId": id, "context": context});
        let answer = self.inner.ask(link, "evaluate", arguments).await;
        let answer = answer.map_err(|error| match error {
            DebugError::EvaluateFailed(why) => {
                DebugError::EvaluateFailed(adapter.evaluate_error(why))
            }
            other => other,
        });
        Ok((link, read(&answer?)))
    }

    /// The context in which the adapter of a frame gives a text whole, if it has one.
    pub(super) async fn whole_context(&self, frame: Option<u64>) -> Option<&'static str> {
        let (link, _) = self.inner.frame_or_top(frame).await.ok()?;
        let can = self.inner.capability(link, |known| known.supports_clipboard_context);
        can.then_some("clipboard")
    }

    /// Changes a variable: one of a container, or without one a local of the latest stop.
    pub async fn set_variable(
        &self,
        name: &str,
        value: &str,
        container: Option<u64>,
    ) -> Result<VariableInfo, DebugError> {
        let inner = &self.inner;
        let containers = match container {
            Some(reference) => vec![inner.container(reference)?],
            None => inner.containers_of_top().await?,
        };
        for (link, id) in containers {
            let all = Page { start: 0, count: 0 };
            let page = inner.variables(link, id, VariableFilter::All, all).await?;
            let is_whole = page.known_rest() == 0;
            let found = page.variables.into_iter().find(|variable| variable.name == name);
            if found.is_none() && (is_whole || container.is_none()) {
                continue;
            }
            if found.as_ref().is_some_and(|found| found.read_only) {
                return Err(DebugError::ReadOnly(name.to_owned()));
            }
            if !inner.capability(link, |capabilities| capabilities.supports_set_variable) {
                return Err(inner.unsupported("changing variables"));
            }
            let kind = found.as_ref().and_then(|found| found.kind.as_deref());
            let value = inner.adapter.new_value(kind, value);
            let arguments = json!({"variablesReference": id, "name": name, "value": value});
            let body = inner.ask(link, "setVariable", arguments).await?;
            let mut changed = Variable { name: name.to_owned(), ..read(&body) };
            // debugpy says nothing of a value that it could not make, and leaves the old one.
            if found.as_ref().is_some_and(|found| found.value == changed.value) {
                self.raw_value(value, None, EvaluateContext::Watch.name()).await?;
            }
            // Not every adapter says the type again.
            changed.kind = changed.kind.or(found.and_then(|found| found.kind));
            if inner.adapter.shows_old_values() {
                inner.lock().references.keep_change(link, id, changed.clone());
            }
            return Ok(inner.variable(link, changed));
        }
        Err(DebugError::InvalidParams(format!("there is no variable {name:?} here")))
    }

    /// Changes what an expression stands for.
    pub async fn set_expression(
        &self,
        expression: &str,
        value: &str,
        frame: Option<u64>,
    ) -> Result<VariableInfo, DebugError> {
        let (link, id) = self.inner.frame_or_top(frame).await?;
        if !self.inner.capability(link, |capabilities| capabilities.supports_set_expression) {
            return Err(self.inner.unsupported("changing expressions"));
        }
        let arguments = json!({"expression": expression, "value": value, "frameId": id});
        let body = self.inner.ask(link, "setExpression", arguments).await?;
        let changed = Variable { name: expression.to_owned(), ..read(&body) };
        Ok(self.inner.variable(link, changed))
    }
}

impl Inner {
    /// A frame, or the innermost of the latest stop that has a source.
    async fn frame_or_top(&self, frame: Option<u64>) -> Result<(u32, i64), DebugError> {
        let number = match frame {
            Some(number) => number,
            None => self.focus().await?.id,
        };
        self.frame(number)
    }

    /// Where the locals of the latest stop are.
    async fn containers_of_top(&self) -> Result<Vec<(u32, i64)>, DebugError> {
        let (link, id) = self.frame_or_top(None).await?;
        let scopes = self.scopes(link, id).await?;
        let kept = scopes.iter().filter(|scope| scope.kind != ScopeKind::Registers);
        let references = kept.map(|scope| scope.reference).filter(|reference| *reference != 0);
        references.map(|reference| self.container(reference)).collect()
    }

    fn capability(
        &self,
        link: u32,
        has: impl FnOnce(&crate::protocol::Capabilities) -> bool,
    ) -> bool {
        self.lock().links.get(&link).is_some_and(|link| has(&link.capabilities))
    }

    fn unsupported(&self, what: &str) -> DebugError {
        let (adapter, what) = (self.adapter.name().to_owned(), what.to_owned());
        DebugError::UnsupportedCapability { adapter, what }
    }

    /// What an adapter says of an exception that stopped a thread.
    pub(super) async fn exception(&self, link: u32, thread: i64) -> Option<Value> {
        if !self.capability(link, |capabilities| capabilities.supports_exception_info_request) {
            return None;
        }
        let info = self.ask(link, "exceptionInfo", json!({"threadId": thread})).await.ok()?;
        self.record("exceptionInfo", info.clone());
        Some(info)
    }
}
