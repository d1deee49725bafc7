//! Variables that have no value yet where the program stands, which an adapter shows with one.

use std::collections::BTreeSet;
use std::path::PathBuf;

use futures_util::future::join_all;
use serde_json::json;
use termbridge_foreign_files::{folder_of, off_worker};

use super::Inner;
use crate::adapter::{Declarations, Declared};
use crate::breakpoint::{Breakpoint, BreakpointPlace};
use crate::error::DebugError;
use crate::protocol::{Scope, Scopes, Variable, read};
use crate::reference::{FramePlace, ScopePlace};

/// What is shown for a variable that has no value yet.
pub(super) const UNSET: &str = "<not initialised>";
/// Variables of one scope that are read again.
const MAX_READ_AGAIN: usize = 100;

impl Inner {
    /// Keeps the scopes of a frame, whose variables may have no value yet.
    pub(super) fn keep_scopes(&self, link: u32, frame: i64, scopes: &[Scope]) {
        let Some(rules) = self.adapter.quirks().declarations() else { return };
        let mut state = self.lock();
        let Some(place) = state.references.frame_place(link, frame).cloned() else { return };
        let own = own(rules, scopes);
        for (at, scope) in scopes.iter().enumerate().filter(|(_, scope)| !scope.expensive) {
            let (scope, place) = (scope.clone(), place.clone());
            state.references.keep_scope(link, ScopePlace { scope, frame, place, is_own: at < own });
        }
    }

    /// Marks the variables of a scope that have no value yet.
    pub(super) async fn mark_unset(&self, link: u32, container: i64, variables: &mut [Variable]) {
        let Some(rules) = self.adapter.quirks().declarations() else { return };
        let Some(scope) = self.lock().references.scope(link, container).cloned() else { return };
        let unset = if scope.is_own {
            let declared = self.declared(rules, scope.place, vec![scope.scope]).await;
            declared.into_iter().flat_map(|declared| declared.unset).collect()
        } else {
            self.unset_around(rules, link, scope.frame, variables).await
        };
        for variable in variables.iter_mut().filter(|variable| unset.contains(&variable.name)) {
            *variable = Variable {
                name: std::mem::take(&mut variable.name),
                value: UNSET.to_owned(),
                ..Variable::default()
            };
        }
    }

    /// Reads the variables of a scope from the program, for an adapter that lists them as they were when it stopped.
    pub(super) async fn read_again(&self, link: u32, container: i64, variables: &mut [Variable]) {
        let scope = {
            let state = self.lock();
            if !state.references.is_touched(link) {
                return;
            }
            state.references.scope(link, container).cloned()
        };
        let Some(ScopePlace { frame, .. }) = scope else { return };
        let mut hidden = BTreeSet::new();
        let scopes = self.ask(link, "scopes", json!({"frameId": frame})).await.unwrap_or_default();
        for inner in read::<Scopes>(&scopes).scopes {
            if inner.variables_reference == container {
                break;
            }
            let children = self.some_children(link, inner.variables_reference).await;
            hidden.extend(
                children.into_iter().flat_map(|(children, _)| children).map(|one| one.name),
            );
        }
        let readable =
            variables.iter_mut().filter(|one| one.value != UNSET && !hidden.contains(&one.name));
        join_all(readable.take(MAX_READ_AGAIN).map(async |variable| {
            let now = self.value_of(link, frame, &variable.name, "watch").await;
            if let Ok(now) = now {
                *variable = Variable { name: std::mem::take(&mut variable.name), ..now };
            }
        }))
        .await;
    }

    /// Of variables of a function around a frame, those that have no value yet: the program itself knows.
    async fn unset_around(
        &self,
        rules: &dyn Declarations,
        link: u32,
        frame: i64,
        variables: &[Variable],
    ) -> BTreeSet<String> {
        let may_be = |variable: &&Variable| {
            let kind = variable.kind.as_deref().unwrap_or_default();
            rules.may_be_unset(kind) && rules.names_read(&variable.name) == [&*variable.name]
        };
        let names: Vec<_> =
            variables.iter().filter(may_be).map(|variable| &*variable.name).collect();
        if names.is_empty() {
            return BTreeSet::new();
        }
        let expression = rules.set_request(&names);
        let arguments = json!({"expression": expression, "frameId": frame, "context": "watch"});
        let Ok(answer) = self.ask(link, "evaluate", arguments).await else {
            return BTreeSet::new();
        };
        let answer = read::<Variable>(&answer).value;
        let digits = answer.bytes().filter(u8::is_ascii_digit);
        let unset = names.into_iter().zip(digits).filter(|(_, digit)| *digit == b'0');
        unset.map(|(name, _)| name.to_owned()).collect()
    }

    /// Marks in log messages what has no value yet at their lines, and has conditions fail that read it.
    pub(super) async fn mark_unset_at(&self, breakpoints: &mut [(BreakpointPlace, Breakpoint)]) {
        let Some(rules) = self.adapter.quirks().declarations() else { return };
        let started = self.lock().run_started;
        for (_, breakpoint) in breakpoints {
            let BreakpointPlace::Line { path, line } = &breakpoint.place else { continue };
            let (message, condition) =
                (breakpoint.log_message.clone(), breakpoint.condition.clone());
            if message.is_none() && condition.is_none() {
                continue;
            }
            let (path, line, sources) = (path.clone(), *line, self.sources.clone());
            let marked = off_worker(folder_of(&path), move || {
                let source = sources.read(rules, &path, started)?;
                let message = message.map(|text| source.log_message(&text, line, UNSET));
                Some((message, condition.map(|text| source.condition(&text, line))))
            });
            if let Ok(Some(marked)) = marked.await {
                (breakpoint.log_message, breakpoint.condition) = marked;
            }
        }
    }

    /// Refuses an expression that reads a variable which has no value yet.
    pub(super) async fn check_set(
        &self,
        link: u32,
        frame: i64,
        expression: &str,
    ) -> Result<(), DebugError> {
        let Some(rules) = self.adapter.quirks().declarations() else { return Ok(()) };
        let names = rules.names_read(expression);
        let place = self.lock().references.frame_place(link, frame).cloned();
        let Some(place) = place.filter(|_| !names.is_empty()) else { return Ok(()) };
        let scopes = if rules.has_one_scope() {
            vec![Scope::default()]
        } else {
            let scopes = self.ask(link, "scopes", json!({"frameId": frame})).await?;
            let mut scopes = read::<Scopes>(&scopes).scopes;
            scopes.truncate(own(rules, &scopes));
            scopes
        };
        let declared = self.declared(rules, place, scopes).await;
        for name in names {
            // The innermost of that name is meant.
            let meant = declared.iter().find(|declared| declared.all.contains(name));
            if meant.is_some_and(|declared| declared.unset.contains(name)) {
                return Err(DebugError::EvaluateFailed(rules.error(name)));
            }
        }
        Ok(())
    }

    /// What scopes declare; nothing where the source cannot be read or was changed since the program started.
    async fn declared(
        &self,
        rules: &'static dyn Declarations,
        place: FramePlace,
        scopes: Vec<Scope>,
    ) -> Vec<Declared> {
        let (started, sources) = (self.lock().run_started, self.sources.clone());
        let path = PathBuf::from(&place.path);
        let folder = folder_of(&path);
        let work = move || {
            let source = sources.read(rules, &path, started)?;
            Some(scopes.iter().map(|scope| source.declared(scope, &place)).collect())
        };
        off_worker(folder, work).await.ok().flatten().unwrap_or_default()
    }
}

/// How many of a frame's scopes are its own.
fn own(rules: &dyn Declarations, scopes: &[Scope]) -> usize {
    scopes.iter().position(|scope| rules.is_outermost(scope)).map_or(0, |at| at + 1)
}
