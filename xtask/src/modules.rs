//! The third part of `cargo xtask layers`: a crate's modules do not use each other in a circle.
//!
//! A module counts with its children, which may use each other and their parent. Uses are the paths from `crate` and `super` in the
//! text of a file; a name that the crate passes on (`pub use`) counts as the module that it is from. Tests do not count:
//! files that are named so, and everything from a file's inner module on.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;

use anyhow::{Context, Result};

/// Crates whose modules are checked.
const CHECKED: [&str; 1] = ["crates/vt"];

/// The path of a module within its crate; the crate's own is empty.
type Module = Vec<String>;

/// Every cycle in the crates that are checked.
pub(crate) fn cycles(root: &Path) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for name in CHECKED {
        let source = root.join(name).join("src");
        let mut files = BTreeMap::new();
        read(&source, &source, &mut files)?;
        let named = |cycle| format!("{name}: the modules {cycle} use each other in a circle");
        found.extend(cycles_of(&files).into_iter().map(named));
    }
    Ok(found)
}

/// Reads the modules of a folder.
fn read(source: &Path, folder: &Path, files: &mut BTreeMap<Module, String>) -> Result<()> {
    let entries = folder.read_dir().with_context(|| folder.display().to_string())?;
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() {
            read(source, &path, files)?;
            continue;
        }
        let name = path.strip_prefix(source)?.with_extension("");
        let mut module: Module =
            name.iter().map(|part| part.to_string_lossy().into_owned()).collect();
        if module == ["lib"] {
            module.clear();
        }
        let is_test = |name: &String| name.ends_with("tests") || name.ends_with("properties");
        if !module.last().is_some_and(is_test) {
            files.insert(module, without_tests(&std::fs::read_to_string(&path)?));
        }
    }
    Ok(())
}

/// The text of a file without comments and up to its inner module.
fn without_tests(text: &str) -> String {
    let is_test = |line: &&str| line.starts_with("mod ") && line.ends_with('{');
    let lines = text.lines().take_while(|line| !is_test(line));
    lines
        .filter(|line| !line.trim_start().starts_with("//"))
        .flat_map(|line| [line, "\n"])
        .collect()
}

/// One cycle for each group of modules that use each other.
fn cycles_of(files: &BTreeMap<Module, String>) -> Vec<String> {
    let passed_on = files.get(&Module::new()).map_or_else(Vec::new, |text| passed_on(text));
    let origin = |name: &String| {
        let path = passed_on.iter().find(|path| path.last() == Some(name));
        path.map_or(name, |path| &path[0]).clone()
    };
    let mut uses: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (module, text) in files {
        let Some(user) = module.first() else { continue };
        let paths = paths(text, module);
        let used = paths.iter().filter_map(|path| path.first().map(origin));
        uses.entry(user.clone()).or_default().extend(used.filter(|used| used != user));
    }
    let mut cycles = Vec::new();
    let mut named = BTreeSet::new();
    for start in uses.keys() {
        if !named.contains(start)
            && let Some(cycle) = shortest_cycle(start, &uses)
        {
            cycles.push(cycle.join(" → "));
            named.extend(cycle);
        }
    }
    cycles
}

/// The shortest way from a module back to it.
fn shortest_cycle(start: &str, uses: &BTreeMap<String, BTreeSet<String>>) -> Option<Vec<String>> {
    let mut ways = VecDeque::from([vec![start.to_owned()]]);
    let mut seen = BTreeSet::new();
    while let Some(way) = ways.pop_front() {
        for next in uses.get(way.last()?).into_iter().flatten() {
            let longer = [way.as_slice(), std::slice::from_ref(next)].concat();
            if next == start {
                return Some(longer);
            }
            if seen.insert(next) {
                ways.push_back(longer);
            }
        }
    }
    None
}

/// The paths of names that the crate passes on from its modules.
fn passed_on(text: &str) -> Vec<Module> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices("pub") {
        let rest = &text[at..];
        if let Some((visibility, tree)) = rest.split_once("use ")
            && matches!(visibility, "pub " | "pub(crate) " | "pub(super) ")
        {
            let tree = tree.strip_prefix("self::").unwrap_or(tree);
            leaves(&mut tree.trim_start(), &mut Module::new(), &mut found);
        }
    }
    found
}

/// The paths from `crate` and `super` in a text, as seen from the crate.
fn paths(text: &str, module: &[String]) -> Vec<Module> {
    let mut found = Vec::new();
    for (keyword, levels) in [("crate::", module.len()), ("super::", 1)] {
        for (at, _) in text.match_indices(keyword) {
            let is_start = !text[..at]
                .ends_with(|sign: char| sign == ':' || sign == '_' || sign.is_alphanumeric());
            if !is_start {
                continue;
            }
            let mut rest = &text[at + keyword.len()..];
            let mut base = module.len().saturating_sub(levels);
            while let Some(above) = rest.strip_prefix("super::") {
                (rest, base) = (above, base.saturating_sub(1));
            }
            leaves(&mut rest, &mut module[..base].to_vec(), &mut found);
        }
    }
    found
}

/// Adds the paths of a tree as `use` has it: `a::{b, c::d}`.
fn leaves(rest: &mut &str, path: &mut Module, found: &mut Vec<Module>) {
    if let Some(inner) = rest.strip_prefix('{') {
        *rest = inner.trim_start();
        while !rest.is_empty() && !rest.starts_with('}') {
            leaves(rest, &mut path.clone(), found);
            *rest = rest.trim_start_matches(|sign: char| sign == ',' || sign.is_whitespace());
        }
        *rest = rest.strip_prefix('}').unwrap_or(rest);
        return;
    }
    let is_name = |sign: char| sign == '_' || sign.is_alphanumeric();
    let len = rest.find(|sign| !is_name(sign)).unwrap_or(rest.len());
    let (name, behind) = rest.split_at(len);
    if name != "self" {
        path.extend((len > 0).then(|| name.to_owned()));
    }
    *rest = behind;
    match behind.strip_prefix("::") {
        Some(behind) => {
            *rest = behind;
            leaves(rest, path, found);
        }
        None => {
            found.push(path.clone());
            // What is not understood (`*`, `as x`) leads nowhere else.
            *rest = rest.trim_start_matches(|sign| !matches!(sign, ',' | '}' | ';'));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cycles(files: &[(&str, &str)]) -> Vec<String> {
        let module = |path: &str| -> Module {
            path.split("::").filter(|name| !name.is_empty()).map(str::to_owned).collect()
        };
        let files = files.iter().map(|(path, text)| (module(path), without_tests(text)));
        cycles_of(&files.collect())
    }

    #[test]
    fn siblings_that_use_each_other_are_named() {
        let found = cycles(&[
            ("", "mod a;\nmod b;\nmod c;\npub use a::{One, Two};\n"),
            ("a", "use crate::b::deep::{Thing, Other as Name};\n"),
            ("b", "mod deep;\n"),
            ("b::deep", "use crate::c;\nuse super::Parent;\n"),
            ("c", "fn f() -> crate::Two {}\n"),
        ]);
        assert_eq!(found, ["a → b → c → a"]);
    }

    #[test]
    fn parents_comments_and_tests_make_no_cycle() {
        let found = cycles(&[
            ("a", "mod child;\nuse crate::b::X;\nuse self::child::Y;\n"),
            ("a::child", "use super::{Parent, other::X};\nuse crate::a::Parent;\n"),
            ("a::other", "use super::child::Y;\n"),
            (
                "b",
                "//! See crate::a.\nuse std::collections::{BTreeMap as a};\nmod tests {\nuse crate::a::X;\n}",
            ),
        ]);
        assert_eq!(found, [""; 0]);
    }
}
