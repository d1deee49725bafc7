//! Which source files of a program were compiled with optimisation.
//!
//! GCC writes its options beside its name. Other compilers for Linux do not say it, but what they do with optimisation alone
//! shows in the abbreviations of a unit: those for C and C++ give a variable several places, one after the other (a location
//! list). Rust's compiler does that without optimisation too, but only with it a variable is a constant and nowhere in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use gimli::{Dwarf, Unit};

use super::dwarf::{Failure, Slice, for_each_unit, is_rust, language};

/// The files of what was compiled at once, and whether it was optimised.
#[derive(Default)]
struct Compiled {
    files: BTreeSet<PathBuf>,
    is_optimised: bool,
}

/// The files that were optimised, without those that are part of something else too, which was not.
pub(super) fn files(program: &Path) -> Result<BTreeSet<PathBuf>, Failure> {
    let mut compiled: BTreeMap<String, Compiled> = BTreeMap::new();
    let _ = for_each_unit(
        program,
        |_| true,
        |dwarf, unit| {
            let name = unit.name.map(|name| name.to_string_lossy().into_owned());
            let folder = unit.comp_dir.map(|folder| folder.to_string_lossy().into_owned());
            // The units of a crate are named after its root, `/@/` and a number.
            let name = name.unwrap_or_default();
            let root = name.split_once("/@/").map_or(&*name, |(root, _)| root);
            let key = format!("{}/{root}", folder.unwrap_or_default());
            let one = compiled.entry(key).or_default();
            one.is_optimised |= is_optimised(dwarf, unit)?;
            one.files.extend(files_of(dwarf, unit)?);
            Ok(ControlFlow::Continue(()))
        },
    )?;
    let (optimised, plain): (Vec<_>, Vec<_>) =
        compiled.into_values().partition(|one| one.is_optimised);
    let plain: BTreeSet<_> = plain.into_iter().flat_map(|one| one.files).collect();
    let optimised = optimised.into_iter().flat_map(|one| one.files);
    Ok(optimised.filter(|file| !plain.contains(file)).collect())
}

/// Reads GCC's recorded options, of which the last level counts; `None` if it recorded none.
fn by_options(producer: &str) -> Option<bool> {
    let (_, options) = producer.strip_prefix("GNU ")?.split_once(" -")?;
    let mut levels = options.split(' ').filter_map(|option| {
        let option = option.trim_start_matches('-');
        option.strip_prefix('O').filter(|level| level.len() <= 1 || *level == "fast")
    });
    Some(levels.next_back().is_some_and(|level| level != "0"))
}

fn is_optimised(dwarf: &Dwarf<Slice<'_>>, unit: &Unit<Slice<'_>>) -> Result<bool, Failure> {
    let mut entries = unit.entries();
    let root = entries.next_dfs()?;
    if let Some(producer) = root.and_then(|root| root.attr_value(gimli::DW_AT_producer))
        && let Some(is_optimised) =
            by_options(&dwarf.attr_string(unit, producer)?.to_string_lossy())
    {
        return Ok(is_optimised);
    }
    let is_rust = is_rust(language(unit)?);
    // They are numbered from 1 on.
    let all = (1..).map_while(|code| unit.abbreviations.get(code));
    let variables = all.filter(|abbreviation| {
        matches!(abbreviation.tag(), gimli::DW_TAG_variable | gimli::DW_TAG_formal_parameter)
    });
    Ok(variables.flat_map(gimli::Abbreviation::attributes).any(|attribute| {
        let is_list =
            matches!(attribute.form(), gimli::DW_FORM_sec_offset | gimli::DW_FORM_loclistx);
        match attribute.name() {
            gimli::DW_AT_const_value => is_rust,
            gimli::DW_AT_location => !is_rust && is_list,
            _ => false,
        }
    }))
}

fn files_of<'a>(dwarf: &Dwarf<Slice<'a>>, unit: &Unit<Slice<'a>>) -> Result<Vec<PathBuf>, Failure> {
    let Some(lines) = &unit.line_program else { return Ok(Vec::new()) };
    let header = lines.header();
    let text = |value| Ok::<_, Failure>(dwarf.attr_string(unit, value)?.to_string_lossy());
    let root = unit.comp_dir.map(|folder| folder.to_string_lossy().into_owned());
    let mut files = Vec::new();
    for file in header.file_names() {
        let mut path = PathBuf::from(root.as_deref().unwrap_or_default());
        if let Some(folder) = file.directory(header) {
            path.push(&*text(folder)?);
        }
        path.push(&*text(file.path_name())?);
        files.push(path);
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::by_options;

    #[test]
    fn the_last_level_of_gcc_counts() {
        for (producer, expected) in [
            ("GNU C++20 12.2.0 -mtune=generic -march=x86-64 -g -std=c++20", Some(false)),
            ("GNU C17 12.2.0 -mtune=generic -march=x86-64 -g -O2", Some(true)),
            ("GNU C17 12.2.0 -mtune=generic -O2 -g -O0", Some(false)),
            ("GNU C17 12.2.0 -g -O", Some(true)),
            ("GNU C17 12.2.0 -g -Ofast -fno-plt", Some(true)),
            ("GNU C17 12.2.0", None),
            ("Debian clang version 19.1.7", None),
        ] {
            assert_eq!(by_options(producer), expected, "{producer}");
        }
    }
}
