//! `termbridge uninstall`: takes out what install added.

use std::process::ExitCode;

use anyhow::Result;
use termbridge_clients::Plan;

use super::clients::{self, PlanSkill, Task};
use super::install::Start;
use crate::args::UninstallArguments;

pub(crate) fn run(arguments: &UninstallArguments) -> Result<ExitCode> {
    let start = Start::of_this_program(arguments.edit.scope)?;
    let entry = start.entry(&arguments.edit.name, vec!["mcp".to_owned()])?;
    let plan_skill: PlanSkill = |place, _, environment| Plan::uninstall_skill(place, environment);
    let plan_skill = Some(plan_skill);
    clients::run(
        &arguments.edit,
        &Task { verb: "uninstall", entry, plan: Plan::uninstall, plan_skill },
    )
}
