//! The built-in rules. Each acts on what a command would do, not on how it is spelled.
//!
//! The list of seed 002 (`rm -rf /`, `mkfs`, `dd if=`, the fork bomb) is the core of it; `dd` is
//! refused only where it writes to a device.

mod devices;
mod files;
mod options;
mod processes;
mod remove;

use std::path::{Path, PathBuf};

use crate::glob;
use crate::place::Place;
use crate::walk::{Arg, UNKNOWN, base_name};

pub(crate) use options::Options;

/// A built-in rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rule {
    RemoveSystem,
    WriteDevice,
    FormatDevice,
    OverwriteSystemFile,
    Permissions,
    PowerOff,
    KillAll,
    RemoveCrontab,
    ForkBomb,
    PipeToShell,
}

impl Rule {
    pub(crate) const ALL: [Self; 10] = [
        Self::RemoveSystem,
        Self::WriteDevice,
        Self::FormatDevice,
        Self::OverwriteSystemFile,
        Self::Permissions,
        Self::PowerOff,
        Self::KillAll,
        Self::RemoveCrontab,
        Self::ForkBomb,
        Self::PipeToShell,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::RemoveSystem => "remove-system",
            Self::WriteDevice => "write-device",
            Self::FormatDevice => "format-device",
            Self::OverwriteSystemFile => "overwrite-system-file",
            Self::Permissions => "permissions",
            Self::PowerOff => "power-off",
            Self::KillAll => "kill-all",
            Self::RemoveCrontab => "remove-crontab",
            Self::ForkBomb => "fork-bomb",
            Self::PipeToShell => "pipe-to-shell",
        }
    }

    /// What the rule refuses, for people.
    pub(crate) fn description(self) -> &'static str {
        match self {
            Self::RemoveSystem => {
                "Removing or moving the file system, a system directory or a home directory"
            }
            Self::WriteDevice => "Writing to a disk device",
            Self::FormatDevice => "Formatting, partitioning or erasing a disk",
            Self::OverwriteSystemFile => {
                "Overwriting a file that the system needs, such as /etc/passwd"
            }
            Self::Permissions => {
                "Changing permissions or owners of the whole system or a home directory"
            }
            Self::PowerOff => "Stopping, restarting or suspending the machine",
            Self::KillAll => "Ending every process of the user",
            Self::RemoveCrontab => "Removing all scheduled jobs (`crontab -r`)",
            Self::ForkBomb => "A function that starts itself in ever more processes",
            Self::PipeToShell => {
                "Running text from the network or a decoder unread (`curl URL | sh`)"
            }
        }
    }

    /// What the rule says of a command whose program has that name.
    fn check(self, program: &str, subject: &Subject<'_>) -> Option<String> {
        match self {
            Self::RemoveSystem => remove::check(program, subject),
            Self::WriteDevice => devices::check_write(program, subject),
            Self::FormatDevice => devices::check_format(program, subject),
            Self::OverwriteSystemFile => files::check_overwrite(program, subject),
            Self::Permissions => files::check_permissions(program, subject),
            Self::PowerOff => processes::check_power(program, subject),
            Self::KillAll => processes::check_kill(program, subject),
            Self::RemoveCrontab => processes::check_crontab(program, subject),
            // Judged where the line is followed: they are not about one command.
            Self::ForkBomb | Self::PipeToShell => None,
        }
    }
}

/// A simple command with where it would run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Subject<'a> {
    pub(crate) args: &'a [Arg],
    pub(crate) cwd: Option<&'a Path>,
    pub(crate) home: &'a Path,
    /// Where it would run if a `cd` before it failed.
    pub(crate) fallbacks: &'a [PathBuf],
}

impl Subject<'_> {
    fn rest(&self) -> &[Arg] {
        self.args.get(1..).unwrap_or_default()
    }

    fn place(&self, arg: &Arg) -> Option<Place> {
        Place::of(arg, self.cwd)
    }
}

/// Programs that a pattern in the place of a program's name is tried against.
const TRIED_FOR_PATTERNS: &[&str] = &[
    "rm",
    "dd",
    "find",
    "chmod",
    "chown",
    "mv",
    "shred",
    "mkfs",
    "mkfs.ext4",
    "wipefs",
    "shutdown",
    "reboot",
    "halt",
    "poweroff",
    "init",
    "kill",
    "crontab",
    "tee",
    "cp",
    "truncate",
];

/// Programs that a name which cannot be known is tried as. Their arguments alone tell the danger:
/// an `$EDITOR file` is none.
const TRIED_FOR_UNKNOWN: &[&str] = &["rm", "dd", "chmod", "find"];

/// Judges a command by the rules given.
pub(crate) fn check(subject: &Subject<'_>, rules: &[Rule]) -> Option<(Rule, String)> {
    let first = subject.args.first()?;
    let name = base_name(subject.args).to_ascii_lowercase();
    let tried: Vec<&str> = if name.contains(UNKNOWN) {
        let forced = Options::of(subject.rest());
        let removes = forced.has('r', "recursive") && forced.has('f', "force");
        TRIED_FOR_UNKNOWN.iter().copied().filter(|known| *known != "rm" || removes).collect()
    } else if first.glob {
        TRIED_FOR_PATTERNS.iter().copied().filter(|known| glob::matches(&name, known)).collect()
    } else {
        vec![name.as_str()]
    };
    tried.into_iter().find_map(|program| {
        rules.iter().find_map(|rule| Some((*rule, rule.check(program, subject)?)))
    })
}

/// Judges a redirection to a file by the rules given.
pub(crate) fn check_write(
    target: &Arg,
    append: bool,
    cwd: Option<&Path>,
    rules: &[Rule],
) -> Option<(Rule, String)> {
    let place = Place::of(target, cwd)?;
    if rules.contains(&Rule::WriteDevice) && place.is_device() {
        return Some((Rule::WriteDevice, devices::written(&place)));
    }
    let fatal = !append || place.path() == "/proc/sysrq-trigger";
    (rules.contains(&Rule::OverwriteSystemFile) && fatal && place.is_critical_file())
        .then(|| (Rule::OverwriteSystemFile, files::overwritten(&place)))
}
