//! Files the system needs, and who may touch its directories.

use crate::place::{Guarded, Place};
use crate::walk::Arg;

use super::{Options, Subject};

pub(super) fn check_overwrite(program: &str, subject: &Subject<'_>) -> Option<String> {
    let options = Options::of(subject.rest());
    let critical = |arg: &Arg| subject.place(arg).filter(Place::is_critical_file);
    let target = match program {
        "tee" if options.has('a', "append") => options
            .operands
            .iter()
            .find_map(|arg| critical(arg).filter(|place| place.path() == "/proc/sysrq-trigger")),
        "tee" | "truncate" | "sponge" => options.operands.iter().find_map(|arg| critical(arg)),
        "cp" | "mv" | "ln" | "install" if options.operands.len() > 1 => {
            critical(options.operands.last()?)
        }
        "dd" => options.operands.iter().find_map(|arg| {
            let text = arg.text.strip_prefix("of=")?.to_owned();
            critical(&Arg { text, ..(*arg).clone() })
        }),
        "wget" | "curl" | "aria2c" | "sort" => {
            super::devices::outputs(program, subject.rest()).iter().find_map(critical)
        }
        _ => None,
    };
    target.map(|place| overwritten(&place))
}

pub(super) fn overwritten(place: &Place) -> String {
    format!("{} would be overwritten: the system depends on it", place.path())
}

pub(super) fn check_permissions(program: &str, subject: &Subject<'_>) -> Option<String> {
    if !matches!(program, "chmod" | "chown" | "chgrp" | "chattr" | "setfacl" | "gchmod" | "gchown")
    {
        return None;
    }
    let options = Options::of(subject.rest());
    if !options.has('R', "recursive") {
        return None;
    }
    options.operands.iter().filter_map(|arg| subject.place(arg)).find_map(|place| {
        let guarded = match place.guarded(subject.home)? {
            guarded @ (Guarded::Root | Guarded::System) => guarded,
            // One's own home may be given back to oneself, but not to everyone.
            guarded @ Guarded::Home if program == "chmod" => guarded,
            _ => return None,
        };
        let what = if guarded == Guarded::Home { "a home directory" } else { "the system" };
        let path = place.path().replace(crate::walk::UNKNOWN, "…");
        Some(format!("`{program}` would change all of {path}: that is {what}"))
    })
}
