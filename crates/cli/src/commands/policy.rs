//! `termbridge policy`: whether a command may run, and why.

use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use serde_json::json;
use termbridge_bridge::SHELLS;
use termbridge_bridge::policy::{Decision, Dialect, Explanation, Verdict, built_in_rules};
use termbridge_bridge::session::command_text;

use super::print;
use crate::args::{PolicyAction, PolicyArguments};
use crate::config::{Config, is_shell};

/// Exit code for a command that is refused.
const REFUSED: u8 = 1;

pub(crate) fn run(arguments: PolicyArguments) -> Result<ExitCode> {
    match arguments.action {
        PolicyAction::Rules => print(&rules()),
        PolicyAction::Test { command, cwd, shell, json, config } => {
            if let Some(shell) = shell.as_deref().filter(|shell| !is_shell(shell)) {
                bail!("--shell is {shell:?}: it takes one of {}", SHELLS.join(", "));
            }
            let config = Config::of_file(config)?;
            let here = std::env::current_dir().context("the working directory cannot be used")?;
            let cwd = here.join(cwd.unwrap_or_default());
            let policy = config.policy()?;
            let dialect = Dialect::of(shell.as_deref().unwrap_or(&config.bridge.shell));
            let text = command_text(&command);
            let mut explanation = policy.explain(&text, dialect, &cwd, &config.bridge.home);
            // A rule that refuses the command does so in any directory.
            if explanation.decision.is_allowed() {
                let place = policy.check_path(&cwd);
                if !place.is_allowed() {
                    explanation.decision = place;
                }
            }
            print(&if json { as_json(&explanation) } else { as_text(&explanation) })?;
            let allowed = explanation.decision.is_allowed();
            Ok(if allowed { ExitCode::SUCCESS } else { REFUSED.into() })
        }
    }
}

fn rules() -> String {
    let mut text =
        "The built-in rules, and what each refuses. `disabled_rules` in [policy] turns rules off.\n\n"
            .to_owned();
    for (name, description) in built_in_rules() {
        text.push_str(&format!("{name:<23}{description}\n"));
    }
    text
}

fn as_text(explanation: &Explanation) -> String {
    let mut text = match &explanation.decision {
        Decision::Allow { why } => format!("allowed: {why}\n"),
        Decision::Deny { rule, reason, part } => {
            format!("refused by the rule `{rule}`: {reason}\n  in: {part}\n")
        }
    };
    if let Some(error) = &explanation.syntax_error {
        text.push_str(&format!("not valid shell syntax ({error}); its words were checked\n"));
    }
    if !explanation.commands.is_empty() {
        text.push_str("commands found:\n");
    }
    for judged in &explanation.commands {
        let via = match judged.via.as_slice() {
            [] => String::new(),
            via => format!(" (in {})", via.join(" > ")),
        };
        let (words, verdict) = (judged.words.join(" "), verdict(&judged.verdict));
        text.push_str(&format!("  {words}{via}: {verdict}\n"));
    }
    if explanation.left_out > 0 {
        text.push_str(&format!("  and {} more\n", explanation.left_out));
    }
    text
}

fn as_json(explanation: &Explanation) -> String {
    let (allowed, rule, reason, part) = match &explanation.decision {
        Decision::Allow { why } => (true, None, why, None),
        Decision::Deny { rule, reason, part } => (false, Some(rule), reason, Some(part)),
    };
    let commands: Vec<_> = explanation
        .commands
        .iter()
        .map(|judged| {
            let verdict = verdict(&judged.verdict);
            json!({ "words": judged.words, "via": judged.via, "verdict": verdict })
        })
        .collect();
    let printed = json!({
        "allowed": allowed,
        "rule": rule,
        "reason": reason,
        "part": part,
        "commands": commands,
        "left_out": explanation.left_out,
        "syntax_error": explanation.syntax_error,
    });
    format!("{printed:#}\n")
}

fn verdict(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Passed => "passed".to_owned(),
        Verdict::Denied { rule, .. } => format!("refused by {rule}"),
    }
}
