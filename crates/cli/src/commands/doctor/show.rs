//! The report as people read it, and as programs do.

use serde_json::{Value, json};

use super::check::{Check, Group, Status};
use crate::commands::{one_line, printable};

/// The version of the JSON; a change that could break a reader raises it.
const SCHEMA: u32 = 1;

/// Whether colours are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Colour {
    Yes,
    No,
}

/// Everything as JSON, in a form that stays.
pub(super) fn as_json(checks: &[Check]) -> Value {
    let count = |status: Status| checks.iter().filter(|check| check.status == status).count();
    json!({
        "schema": SCHEMA,
        "version": env!("CARGO_PKG_VERSION"),
        "system": {"os": std::env::consts::OS, "arch": std::env::consts::ARCH},
        "ok": count(Status::Failed) == 0,
        "failed": count(Status::Failed),
        "warnings": count(Status::Warning),
        "checks": checks,
    })
}

/// Everything in lines, by group.
pub(super) fn as_text(checks: &[Check], colour: Colour) -> String {
    let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
    let mut text = format!("termbridge {} on {os} {arch}\n", env!("CARGO_PKG_VERSION"));
    for group in Group::ALL {
        let mut of_group = checks.iter().filter(|check| check.group == group).peekable();
        if of_group.peek().is_some() {
            text.push_str(&format!("\n{}\n", bold(group.title(), colour)));
        }
        for check in of_group {
            let mark = mark(check.status, colour);
            // What others wrote may take several lines; ours are one.
            let detail = printable(&check.detail).replace('\n', "\n      ");
            text.push_str(&format!("{mark} {}: {detail}\n", one_line(&check.name)));
            if let Some(fix) = &check.fix {
                text.push_str(&format!("    → {}\n", one_line(fix)));
            }
        }
    }
    text.push_str(&format!("\n{}\n", conclusion(checks)));
    text
}

fn conclusion(checks: &[Check]) -> String {
    let names = |status: Status| -> Vec<String> {
        let found = checks.iter().filter(|check| check.status == status);
        found.map(|check| one_line(&check.name)).collect()
    };
    let (failed, warnings) = (names(Status::Failed), names(Status::Warning));
    match (failed.is_empty(), warnings.is_empty()) {
        (true, true) => "Everything that is installed works.".to_owned(),
        (true, false) => {
            format!("Everything that is installed works; look at: {}.", warnings.join(", "))
        }
        (false, _) => format!("Does not work: {}.", failed.join(", ")),
    }
}

fn mark(status: Status, colour: Colour) -> String {
    let (sign, code) = match status {
        Status::Ok => ("✓", "32"),
        Status::Info => ("·", "2"),
        Status::Missing => ("-", "2"),
        Status::Warning => ("!", "33"),
        Status::Failed => ("✗", "31"),
    };
    match colour {
        Colour::Yes => format!("\x1b[{code}m{sign}\x1b[0m"),
        Colour::No => sign.to_owned(),
    }
}

fn bold(text: &str, colour: Colour) -> String {
    match colour {
        Colour::Yes => format!("\x1b[1m{text}\x1b[0m"),
        Colour::No => text.to_owned(),
    }
}

/// Bytes, as people say them.
pub(super) fn megabytes(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} bytes"),
        1024..1_048_576 => format!("{} KB", bytes >> 10),
        1_048_576..1_073_741_824 => format!("{} MB", bytes >> 20),
        _ => format!("{} GB", bytes >> 30),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_failed_decides() {
        let good = Check::ok(Group::System, "a", "fine");
        let bad = Check::failed(Group::Program, "b\n✓ c", "\u{1b}[2Jbroken", "run this");
        let (one, both) = (vec![good.clone()], vec![good, bad]);
        assert_eq!(as_json(&one)["ok"], true);
        assert_eq!((&as_json(&both)["ok"], &as_json(&both)["failed"]), (&json!(false), &json!(1)));
        let text = as_text(&both, Colour::No);
        assert!(text.contains("    → run this\n") && !text.contains('\u{1b}'), "{text:?}");
        assert!(!text.contains("\n✓ c"), "a name is one line: {text}");
        assert!(text.find("Program\n") < text.find("System\n"), "in order: {text}");
    }
}
