//! What `install` and `uninstall` share: which files are meant, the change that is shown, the question, the report.
//!
//! Everything is planned before anything is written, and each file is done or refused by itself.

use std::io::{self, BufRead, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use termbridge_clients::{
    Action, Client, Entry, Environment, Error, Overwrite, Place, Plan, Scope, System,
    installed_for_folders, places,
};

use super::{one_line, print, print_json, printable, tell, wants_colour};
use crate::args::{EditArguments, ScopeName};
use crate::config::{home, state_folder};

/// How often a change is tried that others are faster with.
const MAX_TRIES: u32 = 5;

/// One of the two commands.
pub(super) struct Task {
    pub(super) verb: &'static str,
    pub(super) entry: Entry,
    pub(super) plan: fn(Place, &Entry, Overwrite, &Environment) -> Result<Plan, Error>,
}

/// One file: what is planned, and what became of it.
struct Job {
    place: Place,
    plan: Result<Plan, Error>,
    outcome: Outcome,
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
    let mut jobs: Vec<Job> = places
        .into_iter()
        .map(|place| {
            let plan = (task.plan)(place.clone(), &task.entry, overwrite, &environment);
            Job { place, plan, outcome: Outcome::Open }
        })
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
                job.plan = (task.plan)(job.place.clone(), &task.entry, overwrite, &environment);
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
            "termbridge: nothing was changed, because there is no terminal to ask on: \
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
        bail!("this folder is your home: go to a project's, or use --scope user");
    }
    Ok(wanted)
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

/// A line for each file, and one for the clients that are not there.
fn summary(
    task: &Task,
    jobs: &[Job],
    refused: &[(Client, Error)],
    (not_found, scope): (&[Client], ScopeName),
    consent: &Consent,
    environment: &Environment,
) -> String {
    let mut text = String::new();
    for job in jobs {
        let path = shortened(&job.place.path, &environment.home);
        let line = match (&job.plan, &job.outcome) {
            (Err(error), _) | (_, Outcome::Failed(error)) => {
                format!("not changed: {}; {}", reasons(error), hint(error, task))
            }
            (Ok(plan), outcome) => {
                let is_done = matches!(outcome, Outcome::Done { .. });
                let mut line = in_words(plan.action(), &path, is_done);
                if is_done
                    && plan.action().is_change()
                    && let Some(step) = job.place.client.next_step()
                {
                    line.push_str(&format!("; {step}"));
                }
                line
            }
        };
        text.push_str(&format!("{}: {line}\n", one_line(&job.place.label())));
    }
    for (client, error) in refused {
        text.push_str(&format!(
            "{client}: not changed: {}; {}\n",
            reasons(error),
            hint(error, task)
        ));
    }
    for job in jobs {
        text.push_str(&for_folders(&job.place, &environment.home));
    }
    let backups = jobs.iter().any(|job| matches!(job.outcome, Outcome::Done { backup: Some(_) }));
    if backups && matches!(consent, Consent::Given) {
        let folder = shortened(&environment.backups, &environment.home);
        text.push_str(&format!("Copies of the files as they were: {folder}\n"));
    }
    if !not_found.is_empty() {
        let names: Vec<&str> = not_found.iter().map(|client| client.name()).collect();
        let heading = match scope {
            ScopeName::User => "Not found",
            ScopeName::Project => "Not in this folder",
        };
        text.push_str(&format!("{heading}: {}\n", names.join(", ")));
    }
    text
}

/// What Claude Code has for one folder each, which is none of ours to change, and counts there in place of what is.
fn for_folders(place: &Place, home: &Path) -> String {
    const SHOWN: usize = 3;
    let found = installed_for_folders(place);
    let Some((_, entry)) = found.first() else { return String::new() };
    let names: Vec<String> =
        found.iter().take(SHOWN).map(|(folder, _)| shortened(folder, home)).collect();
    let more = match found.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(
        "{} has an entry of its own for {}{more}, which counts there: `claude mcp remove --scope local {}` in that \
         folder removes it\n",
        place.client,
        names.join(", "),
        one_line(&entry.name)
    )
}

fn in_words(action: Action, path: &str, is_done: bool) -> String {
    let (done, open) = match action {
        Action::AlreadyThere => return format!("already in {path}"),
        Action::NotThere => return format!("not in {path}"),
        Action::Add => ("added to", "would be added to"),
        Action::Update => ("updated in", "would be updated in"),
        Action::Replace => ("replaced in", "would be replaced in"),
        Action::Remove => ("removed from", "would be removed from"),
        Action::RemoveFile => ("removed with", "would be removed with"),
    };
    format!("{} {path}", if is_done { done } else { open })
}

fn as_json(
    task: &Task,
    jobs: &[Job],
    refused: &[(Client, Error)],
    not_found: &[Client],
    consent: &Consent,
) -> Value {
    let refused = refused.iter().map(|(client, error)| {
        json!({
            "client": client.id(),
            "path": null,
            "done": false,
            "error": reasons(error),
            "hint": hint(error, task),
        })
    });
    let files: Vec<Value> = jobs
        .iter()
        .map(|job| {
            let plan = job.plan.as_ref().ok();
            let backup = match &job.outcome {
                Outcome::Done { backup } => backup.clone(),
                _ => None,
            };
            json!({
                "client": job.place.client.id(),
                "profile": job.place.profile,
                "path": job.place.path.display().to_string(),
                "action": plan.map(|plan| action_name(plan.action())),
                "done": matches!(job.outcome, Outcome::Done { .. }),
                "diff": plan.map(Plan::diff),
                "backup": backup,
                "next_step": job.place.client.next_step(),
                "error": job.error().map(reasons),
                "hint": job.error().map(|error| hint(error, task)),
            })
        })
        .chain(refused)
        .collect();
    json!({
        "command": task.verb,
        "name": task.entry.name(),
        "applied": matches!(consent, Consent::Given),
        "files": files,
        "not_found": not_found.iter().map(|client| client.id()).collect::<Vec<_>>(),
    })
}

fn action_name(action: Action) -> &'static str {
    match action {
        Action::AlreadyThere => "already_there",
        Action::NotThere => "not_there",
        Action::Add => "add",
        Action::Update => "update",
        Action::Replace => "replace",
        Action::Remove => "remove",
        Action::RemoveFile => "remove_file",
    }
}

/// An error and what caused it.
fn reasons(error: &Error) -> String {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        // Some messages contain their cause already.
        if !text.contains(&cause_text) {
            text.push_str(&format!(": {cause_text}"));
        }
        source = cause.source();
    }
    one_line(&text)
}

fn hint(error: &Error, task: &Task) -> &'static str {
    match error {
        Error::Foreign { .. } if task.verb == "uninstall" => {
            "--force removes it all the same, --name names another"
        }
        Error::Broken { .. } => "correct the file and try again",
        Error::Foreign { .. } => "--force takes its place, --name uses another name",
        Error::Uneditable { .. } => "edit it by hand",
        Error::ReadOnly(_) => "make it writable (`chmod u+w`), or edit what generates it",
        Error::TooLarge(_) | Error::NotAFile(_) => "check the path",
        Error::DanglingLink(_) => "create that file, or remove the link",
        Error::Changed(_) => "try again",
        Error::Owner { .. } => "run this as its owner",
        Error::NoProjectScope(_) => "use --scope user",
        Error::OutsideProject { .. } => "run this where it leads to, or use --scope user",
        Error::Io { source, .. } => match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "make room and try again",
            io::ErrorKind::ReadOnlyFilesystem => "it is on a file system that cannot be written",
            io::ErrorKind::PermissionDenied => "check the permissions of the folder",
            _ => "check the path",
        },
    }
}

fn shortened(path: &Path, home: &Path) -> String {
    let shown = match path.strip_prefix(home) {
        Ok(rest) => Path::new("~").join(rest).display().to_string(),
        Err(_) => path.display().to_string(),
    };
    one_line(&shown)
}
