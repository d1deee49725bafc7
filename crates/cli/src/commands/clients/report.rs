//! What `install` and `uninstall` report, for people and as JSON.

use std::io;
use std::path::Path;

use serde_json::{Value, json};
use termbridge_clients::{Action, Client, Environment, Error, Place, Plan, installed_for_folders};

use super::{Consent, Job, Kind, Outcome, Task};
use crate::args::ScopeName;
use crate::commands::one_line;

/// A line for each file, and one for the clients that are not there.
pub(super) fn summary(
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
                let mut line = action_text(plan.action(), &path, is_done);
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
    for job in jobs.iter().filter(|job| matches!(job.kind, Kind::Entry)) {
        text.push_str(&for_folders(&job.place, &environment.home));
    }
    let backups = jobs.iter().any(|job| matches!(job.outcome, Outcome::Done { backup: Some(_) }));
    if backups && matches!(consent, Consent::Given) {
        let folder = shortened(&environment.backups, &environment.home);
        text.push_str(&format!("Copies of the original files: {folder}\n"));
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

/// Names the folders for which Claude Code has an entry of its own. Such an entry takes precedence there, and install
/// does not change it.
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
        "{} has its own entry for {}{more}, which takes precedence there: `claude mcp remove --scope local {}` in that \
         folder removes it\n",
        place.client,
        names.join(", "),
        one_line(&entry.name)
    )
}

fn action_text(action: Action, path: &str, is_done: bool) -> String {
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

pub(super) fn as_json(
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
        Error::ForeignSkill(_) => "--force replaces it",
        Error::Foreign { .. } if task.verb == "uninstall" => {
            "--force removes it anyway, --name names another entry"
        }
        Error::Broken { .. } => "correct the file and try again",
        Error::Foreign { .. } => "--force replaces it, --name uses another name",
        Error::Uneditable { .. } => "edit it by hand",
        Error::ReadOnly(_) => "make it writable (`chmod u+w`), or edit what generates it",
        Error::TooLarge(_) | Error::NotAFile(_) => "check the path",
        Error::DanglingLink(_) => "create that file, or remove the link",
        Error::Changed(_) => "try again",
        Error::Owner { .. } => "run this as its owner",
        Error::NoProjectScope(_) => "use --scope user",
        Error::OutsideProject { .. } => "run this in that project, or use --scope user",
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
