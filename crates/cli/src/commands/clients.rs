//! What `install` and `uninstall` share: which files are meant, the change that is shown, the question, the report.
//!
//! Everything is planned before anything is written, and each file is done or refused by itself.

mod report;

use std::io::{self, BufRead, IsTerminal, Write};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use termbridge_clients::{
    Action, Client, Entry, Environment, Error, Overwrite, Place, Plan, Scope, System, places,
};

use self::report::{as_json, summary};
use super::{print, print_json, printable, tell, wants_colour};
use crate::args::{EditArguments, ScopeName};
use crate::config::{home, state_folder};

/// How often a change is tried that others are faster with.
const MAX_TRIES: u32 = 5;

/// One of the two commands.
pub(super) struct Task {
    pub(super) verb: &'static str,
    pub(super) entry: Entry,
    pub(super) plan: PlanEntry,
    /// What becomes of the skill, if anything.
    pub(super) plan_skill: Option<PlanSkill>,
}

pub(super) type PlanEntry = fn(Place, &Entry, Overwrite, &Environment) -> Result<Plan, Error>;
pub(super) type PlanSkill = fn(Place, Overwrite, &Environment) -> Result<Plan, Error>;

/// One file: what is planned, and what became of it.
struct Job {
    place: Place,
    kind: Kind,
    plan: Result<Plan, Error>,
    outcome: Outcome,
}

/// What is written.
#[derive(Clone, Copy)]
enum Kind {
    Entry,
    Skill(PlanSkill),
}

enum Outcome {
    /// Nothing has been written.
    Open,
    Done {
        backup: Option<String>,
    },
    Failed(Error),
}

/// Whether the changes are made.
enum Consent {
    Given,
    /// It was not sought: they are only shown.
    DryRun,
    /// The person said no.
    Denied,
    /// There is no one to ask.
    Missing,
}

pub(super) fn run(arguments: &EditArguments, task: &Task) -> Result<ExitCode> {
    let environment = environment()?;
    let Wanted { places, refused, not_found } = wanted(arguments, &environment)?;
    if places.is_empty() {
        return nothing_found(arguments, task, &not_found);
    }
    let overwrite = if arguments.force { Overwrite::Foreign } else { Overwrite::Never };
    let planned = |place: &Place, kind| match kind {
        Kind::Entry => (task.plan)(place.clone(), &task.entry, overwrite, &environment),
        Kind::Skill(plan) => plan(place.clone(), overwrite, &environment),
    };
    let skills = task.plan_skill.map(|plan| skill_places(&places, &environment, plan));
    let entries = places.into_iter().map(|place| (place, Kind::Entry));
    let mut jobs: Vec<Job> = entries
        .chain(skills.into_iter().flatten())
        .map(|(place, kind)| {
            let plan = planned(&place, kind);
            Job { place, kind, plan, outcome: Outcome::Open }
        })
        .filter(|job| !job.is_absent_skill())
        .collect();
    let changes = jobs.iter().filter(|job| job.is_change()).count();
    if !arguments.json {
        show(&jobs)?;
    }
    let consent = consent(arguments, changes)?;
    if matches!(consent, Consent::Given) {
        for job in &mut jobs {
            job.apply();
            // Nobody was asked about one change in particular: it is worked out anew for what is there now.
            let mut tries = 1;
            while arguments.yes && job.is_outdated() && tries < MAX_TRIES {
                job.plan = planned(&job.place, job.kind);
                job.apply();
                tries += 1;
            }
        }
    }
    match arguments.json {
        true => print_json(&as_json(task, &jobs, &refused, &not_found, &consent))?,
        false => {
            let not_found = (not_found.as_slice(), arguments.scope);
            print(&summary(task, &jobs, &refused, not_found, &consent, &environment))?
        }
    };
    match consent {
        Consent::Missing => tell(&format!(
            "termbridge: nothing was changed, because there is no terminal for the question: \
             `termbridge {} --yes` makes the changes",
            task.verb
        )),
        Consent::Denied => tell("termbridge: nothing was changed"),
        Consent::Given | Consent::DryRun => {}
    }
    let is_refused = matches!(consent, Consent::Missing | Consent::Denied);
    let has_failed = |job: &Job| job.plan.is_err() || matches!(job.outcome, Outcome::Failed(_));
    Ok(if is_refused || !refused.is_empty() || jobs.iter().any(has_failed) {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

pub(super) fn environment() -> Result<Environment> {
    let home = home().context("there is no home folder: HOME is not set, or relative")?;
    let backups =
        state_folder().context("there is no folder for backups: HOME is not set, or relative")?;
    let environment = Environment::new(System::current(), home, backups.join("backups"));
    Ok(environment.with_variables(|name| std::env::var_os(name)))
}

/// What a command is about.
#[derive(Default)]
struct Wanted {
    /// The files that are meant. Clients that share a file have it once.
    places: Vec<Place>,
    /// Clients that were named and have no such file, with the reason.
    refused: Vec<(Client, Error)>,
    /// Clients that were looked for in vain.
    not_found: Vec<Client>,
}

fn wanted(arguments: &EditArguments, environment: &Environment) -> Result<Wanted> {
    let scope = match arguments.scope {
        ScopeName::User => Scope::User,
        ScopeName::Project => {
            Scope::Project(std::env::current_dir().context("there is no working directory")?)
        }
    };
    let mut wanted = Wanted::default();
    let is_named = !arguments.clients.is_empty();
    for client in if is_named { arguments.clients.as_slice() } else { &Client::ALL } {
        let places = match places(*client, environment, &scope) {
            Err(Error::NoProjectScope(_)) if !is_named => continue,
            Err(error) => {
                wanted.refused.push((*client, error));
                continue;
            }
            Ok(places) => places,
        };
        let mut is_found = is_named;
        for place in places {
            is_found |= place.is_found;
            let is_new = wanted.places.iter().all(|other| other.path != place.path);
            if (is_named || place.is_found) && is_new {
                wanted.places.push(place);
            }
        }
        if !is_found {
            wanted.not_found.push(*client);
        }
    }
    if wanted.places.is_empty()
        && let Some((_, error)) = wanted.refused.pop()
    {
        return Err(error.into());
    }
    if let Scope::Project(folder) = &scope
        && environment.home.canonicalize().is_ok_and(|home| home == *folder)
    {
        bail!("this folder is your home: change to a project's folder, or use --scope user");
    }
    Ok(wanted)
}

/// Where the clients of these files look for the skill. Clients that share a folder have it once.
fn skill_places(
    places: &[Place],
    environment: &Environment,
    plan: PlanSkill,
) -> Vec<(Place, Kind)> {
    let mut skills: Vec<(Place, Kind)> = Vec::new();
    for skill in places.iter().filter_map(|place| place.skill(environment)) {
        if skills.iter().all(|(other, _)| other.path != skill.path) {
            skills.push((skill, Kind::Skill(plan)));
        }
    }
    skills
}

fn nothing_found(arguments: &EditArguments, task: &Task, not_found: &[Client]) -> Result<ExitCode> {
    if arguments.json {
        print_json(&as_json(task, &[], &[], not_found, &Consent::DryRun))?;
    }
    if task.verb == "uninstall" {
        tell("termbridge: no client was found here, so there is nothing to remove");
        return Ok(ExitCode::SUCCESS);
    }
    tell(&match arguments.scope {
        ScopeName::User => format!(
            "termbridge: no client was found on this machine; name one: `termbridge {} claude-code`",
            task.verb
        ),
        ScopeName::Project => format!(
            "termbridge: no client is configured in this folder; name one: \
             `termbridge {} claude-code --scope project`",
            task.verb
        ),
    });
    Ok(ExitCode::FAILURE)
}

fn consent(arguments: &EditArguments, changes: usize) -> Result<Consent> {
    if changes == 0 || arguments.yes {
        return Ok(Consent::Given);
    }
    if arguments.dry_run {
        return Ok(Consent::DryRun);
    }
    if arguments.json || !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Ok(Consent::Missing);
    }
    let files =
        if changes == 1 { "this file".to_owned() } else { format!("these {changes} files") };
    write!(io::stderr().lock(), "Change {files}? [y/N] ").context("cannot ask")?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer).context("cannot read the answer")?;
    let is_yes = matches!(answer.trim().to_lowercase().as_str(), "y" | "yes");
    Ok(if is_yes { Consent::Given } else { Consent::Denied })
}

impl Job {
    fn is_change(&self) -> bool {
        self.plan.as_ref().is_ok_and(|plan| plan.action().is_change())
    }

    /// A skill that was not installed, which is not worth a line.
    fn is_absent_skill(&self) -> bool {
        let is_absent = |plan: &Plan| plan.action() == Action::NotThere;
        matches!(self.kind, Kind::Skill(_)) && self.plan.as_ref().is_ok_and(is_absent)
    }

    fn apply(&mut self) {
        let Ok(plan) = &self.plan else { return };
        self.outcome = match plan.apply() {
            Ok(applied) => {
                let backup = applied.backup.map(|path| path.display().to_string());
                Outcome::Done { backup }
            }
            Err(error) => Outcome::Failed(error),
        };
    }

    /// Somebody else wrote the file first.
    fn is_outdated(&self) -> bool {
        matches!(self.outcome, Outcome::Failed(Error::Changed(_)))
    }

    fn error(&self) -> Option<&Error> {
        match (&self.plan, &self.outcome) {
            (Err(error), _) | (_, Outcome::Failed(error)) => Some(error),
            _ => None,
        }
    }
}

/// The changes, as unified diffs.
fn show(jobs: &[Job]) -> Result<()> {
    let colour = wants_colour(&io::stdout());
    for plan in jobs.iter().filter_map(|job| job.plan.as_ref().ok()) {
        let mut text = String::new();
        for line in printable(&plan.diff()).lines() {
            let code = match line.chars().next() {
                Some('+') => "32",
                Some('-') => "31",
                Some('@') => "36",
                _ => "",
            };
            text.push_str(&match colour && !code.is_empty() {
                true => format!("\x1b[{code}m{line}\x1b[0m\n"),
                false => format!("{line}\n"),
            });
        }
        if !text.is_empty() {
            print(&format!("{text}\n"))?;
        }
    }
    Ok(())
}
