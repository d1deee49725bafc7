//! Removal of the system or of a home as a whole.

use crate::place::{Guarded, Place};
use crate::walk::{Arg, base_name};

use super::{Options, Subject};

/// `find` tests that leave most files alone.
const NARROWING: &[&str] = &[
    "-name",
    "-iname",
    "-path",
    "-ipath",
    "-wholename",
    "-regex",
    "-iregex",
    "-lname",
    "-mtime",
    "-mmin",
    "-atime",
    "-amin",
    "-ctime",
    "-cmin",
    "-newer",
    "-size",
    "-empty",
    "-user",
    "-group",
    "-uid",
    "-gid",
    "-perm",
    "-inum",
    "-links",
    "-nouser",
    "-nogroup",
    "-samefile",
    "-xtype",
];

pub(super) fn check(program: &str, subject: &Subject<'_>) -> Option<String> {
    match program {
        "rm" | "grm" | "srm" => check_rm(subject),
        "unlink" | "shred" => check_files(subject, "removed"),
        "mv" | "gmv" => check_mv(subject),
        "find" | "gfind" => check_find(subject),
        "rsync" => check_rsync(subject),
        _ => None,
    }
}

fn check_rm(subject: &Subject<'_>) -> Option<String> {
    let options = Options::of(subject.rest());
    let recursive = options.has('r', "recursive");
    for place in options.operands.iter().filter_map(|arg| subject.place(arg)) {
        if (recursive || place.contents)
            && let Some(guarded) = place.guarded(subject.home)
        {
            return Some(removed(&place, guarded));
        }
    }
    let whole = |arg: &&Arg| recursive || arg.glob;
    check_files(subject, "removed")
        .or_else(|| elsewhere(options.operands.iter().copied().filter(whole), subject))
}

/// What would be removed as a whole where a failed `cd` leaves the shell.
fn elsewhere<'a>(
    args: impl Iterator<Item = &'a Arg> + Clone,
    subject: &Subject<'_>,
) -> Option<String> {
    subject.fallbacks.iter().find_map(|directory| {
        let place = args
            .clone()
            .filter_map(|arg| Place::of(arg, Some(directory)))
            .find(|place| place.guarded(subject.home).is_some() || place.is_directory(directory))?;
        let path = place.path();
        Some(format!(
            "the `cd` before it fails, as there is no such directory, and {path} would be removed: \
             join them with `&&`"
        ))
    })
}

fn check_files(subject: &Subject<'_>, done: &str) -> Option<String> {
    let options = Options::of(subject.rest());
    let mut places = options.operands.iter().filter_map(|arg| subject.place(arg));
    let place = places.find(Place::is_critical_file)?;
    Some(format!("{} would be {done}: the system depends on it", place.path()))
}

fn check_mv(subject: &Subject<'_>) -> Option<String> {
    let options = Options::of(subject.rest());
    let mut sources = options.operands.as_slice();
    if !options.has('t', "target-directory") {
        sources = sources.split_last().map_or(&[], |(_, sources)| sources);
    }
    sources.iter().filter_map(|arg| subject.place(arg)).find_map(|place| {
        let guarded = place.guarded(subject.home)?;
        // Tidying up a home moves what is in it, not the home.
        let tidying = place.contents && guarded == Guarded::Home;
        (!tidying).then(|| removed(&place, guarded))
    })
}

fn check_find(subject: &Subject<'_>) -> Option<String> {
    let rest = subject.rest();
    let is_expression =
        |arg: &Arg| arg.text.starts_with('-') || matches!(arg.text.as_str(), "(" | "!" | ")");
    let leading = rest.iter().take_while(|arg| matches!(arg.text.as_str(), "-H" | "-L" | "-P"));
    let (_, rest) = rest.split_at(leading.count());
    let starts = rest.iter().position(is_expression).unwrap_or(rest.len());
    let (starts, expression) = rest.split_at(starts);
    let alternatives = || expression.split(|arg| matches!(arg.text.as_str(), "-o" | "-or" | ","));
    let destroys_all = |alternative: &[Arg]| {
        alternative.iter().enumerate().any(|(at, arg)| destroys(arg, &alternative[at..]))
    };
    let removes = expression.iter().enumerate().any(|(at, arg)| destroys(arg, &expression[at..]));
    // One test narrows what its own alternative finds; `( -name a -o -name b ) -delete` has to
    // narrow both.
    let grouped = expression.iter().any(|arg| arg.text == "(");
    let unnarrowed = alternatives()
        .any(|alternative| !is_narrowed(alternative) && (grouped || destroys_all(alternative)));
    if !removes || !unnarrowed {
        return None;
    }
    let here = Arg::literal(".");
    let starts = if starts.is_empty() { std::slice::from_ref(&here) } else { starts };
    let contents = expression.windows(2).any(|words| {
        let (test, value) = (words[0].text.as_str(), words[1].text.as_str());
        matches!((test, value), ("-type", "f" | "l") | ("-mindepth", _))
    });
    let found = starts.iter().filter_map(|arg| subject.place(arg)).find_map(|mut place| {
        place.contents |= contents;
        let guarded = place.guarded(subject.home)?;
        Some(removed(&place, guarded))
    });
    found.or_else(|| elsewhere(starts.iter(), subject))
}

/// Whether a test leaves most files alone. One that is negated leaves out a few.
fn is_narrowed(expression: &[Arg]) -> bool {
    expression.iter().enumerate().any(|(index, arg)| {
        let value = expression.get(index + 1).map_or("", |value| value.text.as_str());
        let before = index.checked_sub(1).map_or("", |at| expression[at].text.as_str());
        NARROWING.iter().any(|test| arg.text.starts_with(test))
            && !matches!(value, "*" | "*.*" | "?*")
            && !matches!(before, "!" | "-not")
    })
}

/// Whether an action of `find` removes what it finds.
fn destroys(arg: &Arg, from: &[Arg]) -> bool {
    match arg.text.as_str() {
        "-delete" => true,
        "-exec" | "-execdir" | "-ok" | "-okdir" => from.iter().skip(1).take(4).any(|word| {
            let name = base_name(std::slice::from_ref(word));
            matches!(name, "rm" | "shred" | "unlink" | "truncate") || word.text.contains("rm ")
        }),
        _ => false,
    }
}

fn check_rsync(subject: &Subject<'_>) -> Option<String> {
    let options = Options::of(subject.rest());
    if !options.long.iter().any(|long| long.starts_with("del")) || options.has('n', "dry-run") {
        return None;
    }
    let place = subject.place(options.operands.last()?)?;
    let guarded = place.guarded(subject.home)?;
    Some(removed(&place, guarded))
}

fn removed(place: &Place, guarded: Guarded) -> String {
    let path = place.path().replace(crate::walk::UNKNOWN, "…");
    match guarded {
        Guarded::Root => format!("{path} would be removed or moved: that is the whole file system"),
        Guarded::System => format!("{path} would be removed or moved: the system depends on it"),
        Guarded::Shared => format!("{path} would be removed or moved as a whole"),
        Guarded::Home => format!("{path} would be removed or moved: that is a home directory"),
    }
}
