//! Breakpoints that do not hold, conditions that cannot be evaluated and programs that are not what their sources
//! say: told once, by the next report.

use super::state::State;
use crate::adapter::ConditionFailure;
use crate::breakpoint::BreakpointStore;

impl State {
    /// A condition could not be evaluated: of which breakpoint is not always said.
    pub(crate) fn note_condition(
        &mut self,
        failure: &ConditionFailure,
        store: &mut BreakpointStore,
    ) {
        let mut meant = store.conditions();
        let (quirks, is_rust) = (self.adapter.quirks(), self.shows_rust);
        meant.retain(|(_, condition)| {
            let sent = quirks.expression(condition, is_rust);
            failure.condition.as_ref().is_none_or(|one| one == condition || *one == sent)
        });
        // The program reached the breakpoint. It may end before the adapter says that the breakpoint is bound.
        if let [(place, _)] = meant.as_slice()
            && let Some(bound) = self.bound.get_mut(place)
        {
            *bound = true;
        }
        let what = if self.adapter.quirks().stops_without_condition() {
            "stops each time"
        } else {
            "never stops"
        };
        for (_, condition) in &meant {
            store.note_failure(condition, &failure.reason);
            let said = format!(
                "The condition `{condition}` cannot be evaluated, so its breakpoint {what}: {}",
                failure.reason
            );
            self.note_failure(said);
        }
    }

    /// Something that the next report says, once.
    pub(crate) fn note_failure(&mut self, said: String) {
        if !self.condition_failures.contains(&said) {
            self.condition_failures.push(said);
        }
    }

    /// Those that were not told.
    pub(crate) fn take_condition_failures(&mut self) -> Vec<String> {
        let told = std::mem::replace(&mut self.told_failures, self.condition_failures.len());
        self.condition_failures[told..].to_vec()
    }

    /// How to call what does not stop.
    pub(crate) fn running(&self) -> String {
        match self.pid {
            Some(pid) => format!("{} (process {pid})", self.program),
            None => self.program.clone(),
        }
    }
}
