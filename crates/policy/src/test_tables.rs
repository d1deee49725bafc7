//! Tables of commands that have to be refused, or to run.

use crate::{Decision, Dialect};

/// Judges a command in a shell's syntax.
pub(crate) type Judge = fn(&str, Dialect) -> Decision;

#[track_caller]
pub(crate) fn all_refused(judge: Judge, dialects: &[Dialect], commands: &[&str]) {
    let mut passed = Vec::new();
    for dialect in dialects {
        let wrong = |command: &&&str| judge(command, *dialect).is_allowed();
        passed.extend(commands.iter().filter(wrong).map(|command| (*dialect, *command)));
    }
    assert!(passed.is_empty(), "they run: {passed:#?}");
}

#[track_caller]
pub(crate) fn all_run(judge: Judge, dialects: &[Dialect], commands: &[&str]) {
    let mut refused = Vec::new();
    for dialect in dialects {
        let judged = commands.iter().map(|command| (*dialect, *command, judge(command, *dialect)));
        refused.extend(judged.filter(|(.., decision)| !decision.is_allowed()));
    }
    assert!(refused.is_empty(), "{refused:#?}");
}
