//! Evaluating expressions and changing values.

use std::slice::from_mut;
use std::time::Duration;

use serde_json::{Value, json};

use super::inspect::{Page, VariableFilter};
use super::one_line::Detail;
use super::unset::UNSET;
use super::{DebugSession, Inner};
use crate::adapter::OwnResult;
use crate::error::DebugError;
use crate::protocol::{Variable, read};
use crate::report::{ScopeKind, VariableInfo};

/// Bytes of a value that is compared with what it was set to: adapters cut longer ones.
const MAX_COMPARED: usize = 80;
/// How long an adapter that interrupts an expression may take to report that, on a busy machine.
const INTERRUPTION: Duration = Duration::from_secs(5);

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
        if let Some((place, value)) = self.inner.adapter.quirks().assignment(expression) {
            return self.assign(place, value, frame).await;
        }
        let (link, id) = self.inner.frame_or_top(frame).await?;
        let mut value = self.inner.value_of(link, id, expression, context.name()).await?;
        let rules = self.inner.adapter.quirks().declarations();
        if let Some(name) = rules.and_then(|rules| rules.assigned(expression)) {
            self.inner.check_kept(link, id, name, &value).await?;
        }
        // A name, a path or a number.
        let is_plain = |c: char| c.is_alphanumeric() || "_$.".contains(c);
        if self.inner.adapter.quirks().shows_old_values() && !expression.chars().all(is_plain) {
            self.inner.lock().references.touch(link);
        }
        self.check_origin(expression, frame).await?;
        self.check_divisors(expression, frame, &value).await?;
        self.inner.adapter.quirks().computed_value(expression, &mut value.value);
        self.inner.lock().references.keep_owner(link, value.variables_reference, id);
        Ok(self.inner.shown(link, id, expression, value).await)
    }

    /// Changes the variable that an expression names, or a part of it.
    async fn assign(
        &self,
        place: &str,
        value: &str,
        frame: Option<u64>,
    ) -> Result<VariableInfo, DebugError> {
        let context = EvaluateContext::Watch.name();
        let parts = whole_and_part(place);
        let (containers, name) = match parts {
            Some((whole, part)) => {
                let (mut link, mut found) = self.raw_value(whole, frame, context).await?;
                if found.kind.as_deref().is_some_and(|kind| kind.starts_with('*')) {
                    (link, found) = self.raw_value(&format!("*{whole}"), frame, context).await?;
                }
                (vec![(link, found.variables_reference)], part)
            }
            None => (self.inner.containers_of(frame).await?, place),
        };
        self.set_in(containers, parts.is_none(), name, value).await?;
        // The answer to that may be the new value as it was written.
        self.changed(place, "", frame).await
    }

    /// What a path comes to after a change, under a name.
    async fn changed(
        &self,
        path: &str,
        name: &str,
        frame: Option<u64>,
    ) -> Result<VariableInfo, DebugError> {
        let (link, id) = self.inner.frame_or_top(frame).await?;
        let value = self.inner.value_of(link, id, path, EvaluateContext::Watch.name()).await?;
        let value = Variable { name: name.to_owned(), ..value };
        Ok(self.inner.shown(link, id, path, value).await)
    }

    /// Refuses a name that the source of a frame cannot mean, which the adapter found elsewhere.
    async fn check_origin(&self, expression: &str, frame: Option<u64>) -> Result<(), DebugError> {
        let inner = &self.inner;
        let (link, id) = inner.frame_or_top(frame).await?;
        let Some((name, command)) = inner.adapter.quirks().origin_request(id, expression) else {
            return Ok(());
        };
        let arguments = json!({"expression": command, "frameId": id, "context": "repl"});
        // An adapter that cannot say it has not found it elsewhere.
        let Ok(answer) = inner.ask(link, "evaluate", arguments).await else { return Ok(()) };
        match inner.adapter.quirks().origin_in(&read::<Variable>(&answer).value) {
            Some(library) => Err(DebugError::EvaluateFailed(format!(
                "{name} is not in scope here: it is a static variable of {library}"
            ))),
            None => Ok(()),
        }
    }

    /// Refuses the result of a division of whole numbers by zero, where the adapter makes one up.
    async fn check_divisors(
        &self,
        expression: &str,
        frame: Option<u64>,
        result: &Variable,
    ) -> Result<(), DebugError> {
        let is_float =
            |kind: &str| matches!(kind, "double" | "float" | "long double" | "f64" | "f32");
        if result.kind.as_deref().is_some_and(is_float) {
            return Ok(());
        }
        for divisor in self.inner.adapter.quirks().divisors(expression) {
            let value = self.raw_value(divisor, frame, EvaluateContext::Watch.name()).await;
            let value = value.map(|(link, value)| self.inner.variable(link, value));
            let is_zero = |found: &VariableInfo| {
                found.value == "0" && !found.kind.as_deref().is_some_and(is_float)
            };
            if value.is_ok_and(|value| is_zero(&value)) {
                let message = format!("division by zero: {divisor} is 0");
                return Err(DebugError::EvaluateFailed(message));
            }
        }
        Ok(())
    }

    /// The value of an expression, uncut.
    pub(super) async fn raw_value(
        &self,
        expression: &str,
        frame: Option<u64>,
        context: &'static str,
    ) -> Result<(u32, Variable), DebugError> {
        let (link, id) = self.inner.frame_or_top(frame).await?;
        Ok((link, self.inner.value_of(link, id, expression, context).await?))
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
        let containers = match container {
            Some(reference) => vec![self.inner.container(reference)?],
            None => self.inner.containers_of(None).await?,
        };
        self.set_in(containers, container.is_none(), name, value).await
    }

    /// Changes a variable of the first of some containers that has it.
    async fn set_in(
        &self,
        containers: Vec<(u32, i64)>,
        is_local: bool,
        name: &str,
        value: &str,
    ) -> Result<VariableInfo, DebugError> {
        let inner = &self.inner;
        let is_only = containers.len() == 1;
        for (link, id) in containers {
            let all = Page { start: 0, count: 0 };
            let page = inner.variables(link, id, VariableFilter::All, all, Detail::NONE).await?;
            let is_whole = page.known_rest() == 0;
            let found = page.variables.into_iter().find(|variable| variable.name == name);
            if found.is_none() && (is_whole || !is_only) {
                continue;
            }
            if found.as_ref().is_some_and(|found| found.read_only) {
                return Err(DebugError::ReadOnly(name.to_owned()));
            }
            if found.as_ref().is_some_and(|found| found.value == UNSET) {
                let message = format!("{name} is not initialised: step over its declaration first");
                return Err(DebugError::EvaluateFailed(message));
            }
            if !inner.capability(link, |capabilities| capabilities.supports_set_variable) {
                return Err(inner.unsupported("changing variables"));
            }
            if let Some(found) = &found
                && let Some(changed) = self.assign_through(found, is_local, value).await?
            {
                return Ok(changed);
            }
            let kind = found.as_ref().and_then(|found| found.kind.as_deref());
            let value = inner.adapter.quirks().new_value(kind, value);
            let arguments = json!({"variablesReference": id, "name": name, "value": value});
            let body = inner.ask(link, "setVariable", arguments).await?;
            let mut changed = Variable { name: name.to_owned(), ..read(&body) };
            // debugpy says nothing of a value that it could not make, and leaves the old one.
            if found.as_ref().is_some_and(|found| found.value == changed.value) {
                self.raw_value(value, None, EvaluateContext::Watch.name()).await?;
            }
            // Not every adapter says the type again.
            changed.kind = changed.kind.or(found.and_then(|found| found.kind));
            if inner.adapter.quirks().shows_old_values() {
                let frame = inner.lock().references.frame_of(link, id);
                let is_scope = inner.lock().references.scope(link, id).is_some();
                if let Some(frame) = frame.filter(|_| is_scope) {
                    inner.check_kept(link, frame, name, &changed).await?;
                }
                inner.lock().references.touch(link);
            }
            inner.in_one_line(link, None, from_mut(&mut changed), Detail::FULL).await;
            return Ok(inner.variable(link, changed));
        }
        Err(DebugError::InvalidParams(format!("there is no variable {name:?} here")))
    }

    /// Changes what a variable refers to, where that is what is shown for it.
    async fn assign_through(
        &self,
        variable: &VariableInfo,
        is_local: bool,
        value: &str,
    ) -> Result<Option<VariableInfo>, DebugError> {
        let own = Some(&variable.name).filter(|_| is_local);
        let name = own.or(variable.evaluate_name.as_ref()).unwrap_or(&variable.name);
        let kind = variable.kind.as_deref().unwrap_or_default();
        if let Some(changed) = self.assign_own(variable, name, value).await? {
            return Ok(Some(changed));
        }
        let is_rust = self.inner.lock().shows_rust;
        let assignment = self.inner.adapter.quirks().set_through(name, kind, value, is_rust);
        let Some(assignment) = assignment else { return Ok(None) };
        let context = EvaluateContext::Watch.name();
        self.raw_value(&assignment, None, context).await.map_err(|error| match error {
            DebugError::EvaluateFailed(why) => {
                let message = format!("what {name} refers to cannot be set to {value}: {why}");
                DebugError::EvaluateFailed(message)
            }
            other => other,
        })?;
        self.changed(name, &variable.name, None).await.map(Some)
    }

    /// Changes a variable by our own evaluator, where the adapter runs one and it takes such a value.
    async fn assign_own(
        &self,
        variable: &VariableInfo,
        path: &str,
        value: &str,
    ) -> Result<Option<VariableInfo>, DebugError> {
        let inner = &self.inner;
        let (link, frame) = inner.frame_or_top(None).await?;
        let Some(command) = inner.adapter.quirks().own_assignment(frame, path, value) else {
            return Ok(None);
        };
        match inner.own_answer(link, frame, &command).await {
            None => Ok(None),
            Some(OwnResult::Failed { error }) => {
                Err(DebugError::EvaluateFailed(format!("{path} cannot be set to {value}: {error}")))
            }
            Some(_) => self.changed(path, &variable.name, None).await.map(Some),
        }
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
        Ok(self.inner.shown(link, id, expression, changed).await)
    }
}

impl Inner {
    /// Fails where a variable of a frame does not have the plain value that it was changed to.
    async fn check_kept(
        &self,
        link: u32,
        frame: i64,
        name: &str,
        changed: &Variable,
    ) -> Result<(), DebugError> {
        if changed.variables_reference != 0 || changed.value.len() > MAX_COMPARED {
            return Ok(());
        }
        let now = self.value_of(link, frame, name, EvaluateContext::Watch.name()).await;
        let Ok(now) = now else { return Ok(()) };
        let mut both = [Variable { kind: now.kind.clone(), ..changed.clone() }, now];
        self.in_one_line(link, Some(frame), &mut both, Detail::NONE).await;
        let [changed, now] = both;
        if changed.value == now.value {
            return Ok(());
        }
        Err(DebugError::EvaluateFailed(format!(
            "{name} is still {}: its function is optimised and cannot be changed here; step once, then change it",
            now.value
        )))
    }

    /// The value that an expression has in an adapter's frame, in one line.
    async fn shown(
        &self,
        link: u32,
        frame: i64,
        expression: &str,
        mut value: Variable,
    ) -> VariableInfo {
        let named = value.evaluate_name.replace(expression.to_owned());
        self.in_one_line(link, Some(frame), from_mut(&mut value), Detail::FULL).await;
        value.evaluate_name = named;
        self.variable(link, value)
    }

    /// The value of an expression in an adapter's frame, as the adapter gives it.
    pub(super) async fn value_of(
        &self,
        link: u32,
        frame: i64,
        expression: &str,
        context: &'static str,
    ) -> Result<Variable, DebugError> {
        let quirks = self.adapter.quirks();
        self.check_set(link, frame, expression).await?;
        let is_rust = self.lock().shows_rust;
        let exact = quirks.expression(expression, is_rust);
        let by_adapter = || self.adapters_value(link, frame, &exact, context);
        let is_first = quirks.is_adapters_first(expression, is_rust);
        let answer = if is_first { Some(by_adapter().await) } else { None };
        if let Some(answer) = &answer
            && !matches!(answer, Err(DebugError::EvaluateFailed(_)))
        {
            return answer.clone();
        }
        match (self.own_result(link, frame, expression).await, answer) {
            (Some(OwnResult::Failed { error }), _) => Err(DebugError::EvaluateFailed(error)),
            (Some(OwnResult::Plain { text, kind }), _) => {
                Ok(Variable { value: text, kind: Some(kind), ..Variable::default() })
            }
            (Some(OwnResult::Named { name }), _) => {
                self.adapters_value(link, frame, &name, context).await
            }
            (None, Some(answer)) => answer,
            (None, None) => by_adapter().await,
        }
    }

    /// The value of an expression by the adapter's own evaluator.
    async fn adapters_value(
        &self,
        link: u32,
        frame: i64,
        expression: &str,
        context: &'static str,
    ) -> Result<Variable, DebugError> {
        let quirks = self.adapter.quirks();
        let (mut exact, context) = (expression.to_owned(), quirks.context(context));
        let mut limit = self.context.settings.evaluate_timeout;
        if quirks.evaluation_limit(limit).is_some() {
            limit += INTERRUPTION;
        }
        let answer = loop {
            let arguments = json!({"expression": exact, "frameId": frame, "context": context});
            let answer = self.ask_within(link, "evaluate", arguments, limit).await;
            let Err(DebugError::EvaluateFailed(why)) = &answer else { break answer };
            // Each time there is one mistake less.
            match quirks.corrected(&exact, why) {
                Some(corrected) => exact = corrected,
                None => break answer,
            }
        };
        let answer = answer.map_err(|error| match error {
            DebugError::EvaluateFailed(why) => {
                DebugError::EvaluateFailed(quirks.evaluate_error(why))
            }
            DebugError::AdapterSlow { program, after, .. } => {
                DebugError::EvaluateSlow { program, after }
            }
            other => other,
        });
        Ok(read(&answer?))
    }

    /// The value of an expression by our evaluator, if the adapter runs it.
    pub(super) async fn own_result(
        &self,
        link: u32,
        frame: i64,
        expression: &str,
    ) -> Option<OwnResult> {
        let quirks = self.adapter.quirks();
        self.own_answer(link, frame, &quirks.own_evaluation(frame, expression)?).await
    }

    /// The answer of that evaluator to a command.
    async fn own_answer(&self, link: u32, frame: i64, command: &str) -> Option<OwnResult> {
        let quirks = self.adapter.quirks();
        let arguments = json!({"expression": command, "frameId": frame, "context": "repl"});
        let answer: Variable = read(&self.ask(link, "evaluate", arguments).await.ok()?);
        quirks.own_result(&answer.value)
    }

    /// A frame, or the innermost of the latest stop that has a source.
    async fn frame_or_top(&self, frame: Option<u64>) -> Result<(u32, i64), DebugError> {
        let number = match frame {
            Some(number) => number,
            None => self.focus().await?.id,
        };
        self.frame(number)
    }

    /// Where the locals of a frame are; without one those of the latest stop.
    async fn containers_of(&self, frame: Option<u64>) -> Result<Vec<(u32, i64)>, DebugError> {
        let (link, id) = self.frame_or_top(frame).await?;
        let scopes = self.scopes(link, id).await?;
        let kept = scopes.iter().filter(|scope| scope.kind != ScopeKind::Registers);
        let references = kept.map(|scope| scope.reference).filter(|reference| *reference != 0);
        references.map(|reference| self.container(reference)).collect()
    }

    pub(super) fn capability(
        &self,
        link: u32,
        has: impl FnOnce(&crate::protocol::Capabilities) -> bool,
    ) -> bool {
        self.lock().links.get(&link).is_some_and(|link| has(&link.capabilities))
    }

    fn unsupported(&self, what: &str) -> DebugError {
        let (adapter, what) = (self.adapter.name().to_owned(), what.to_owned());
        let instead = "do without it, or use debug_evaluate";
        DebugError::UnsupportedCapability { adapter, what, instead }
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

/// A place as what it is in and the name of the part, as adapters list it: `a.rows[2]` is `[2]` of `a.rows`.
fn whole_and_part(place: &str) -> Option<(&str, &str)> {
    let at = place.rfind(['.', '[']).filter(|at| *at > 0)?;
    Some((&place[..at], place[at..].trim_start_matches('.')))
}
