//! The third part of `cargo xtask layers`: a crate's modules form no cycle, at any level.
//!
//! A module counts with its children, which may use each other and their parent. Uses are the paths from `crate` and `super` in the
//! text of a file; a name that a module has from another (`use`) counts as that other module's. Tests do not count:
//! files that are named so, and everything from a file's inner module on.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;

use anyhow::{Context, Result};

/// Crates whose modules are checked. `cargo xtask layers --cycles` counts those of the others.
const CHECKED: [&str; 1] = ["vt"];

/// The path of a module within its crate; the crate's own is empty.
type Module = Vec<String>;

/// Every cycle in the crates that are checked.
pub(crate) fn cycles(root: &Path) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for name in CHECKED {
        let named = |cycle| format!("crates/{name}: the modules {cycle} form a cycle");
        found.extend(cycles_of(&modules(root, name)?).into_iter().map(named));
    }
    Ok(found)
}

/// How many cycles there are in each of our crates.
pub(crate) fn counts(root: &Path) -> Result<BTreeMap<String, usize>> {
    let mut found = BTreeMap::new();
    for entry in root.join("crates").read_dir()? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        let count = cycles_of(&modules(root, &name)?).len();
        found.insert(name, count);
    }
    Ok(found)
}

fn modules(root: &Path, name: &str) -> Result<BTreeMap<Module, String>> {
    let source = root.join("crates").join(name).join("src");
    let mut files = BTreeMap::new();
    read(&source, &source, &mut files)?;
    Ok(files)
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

/// One cycle for each group of siblings that use each other.
fn cycles_of(files: &BTreeMap<Module, String>) -> Vec<String> {
    let names = files.iter().flat_map(|(module, text)| names(text, module)).collect();
    let mut uses: BTreeMap<&[String], Uses> = BTreeMap::new();
    for (module, text) in files {
        for used in paths(text, module) {
            let used = origin(used, &names);
            let shared = module.iter().zip(&used).take_while(|(own, other)| own == other).count();
            // A module that is used is a file; what else a parent has belongs to the parent.
            if let (Some(user), Some(sibling)) = (module.get(shared), used.get(shared))
                && files.contains_key(&used[..=shared])
            {
                let siblings = uses.entry(&module[..shared]).or_default();
                siblings.entry(user.clone()).or_default().insert(sibling.clone());
            }
        }
    }
    let mut cycles = Vec::new();
    for (parent, uses) in uses {
        let mut named = BTreeSet::new();
        for start in uses.keys() {
            if !named.contains(start)
                && let Some(cycle) = shortest_cycle(start, &uses)
            {
                let of: String = parent.iter().flat_map(|name| [name.as_str(), "::"]).collect();
                cycles.push(format!("{of}({})", cycle.join(" → ")));
                named.extend(cycle);
            }
        }
    }
    cycles
}

/// The siblings that each module uses.
type Uses = BTreeMap<String, BTreeSet<String>>;

/// The path of a thing where it is defined, as far as modules have its name from others.
fn origin(mut path: Module, names: &BTreeMap<Module, Module>) -> Module {
    // Bounded: two modules may re-export from each other.
    for _ in 0..names.len().min(16) {
        let known = (1..=path.len()).find_map(|len| Some((len, names.get(&path[..len])?)));
        let Some((len, from)) = known else { break };
        path = from.iter().chain(&path[len..]).cloned().collect();
    }
    path
}

/// The shortest way from a module back to it.
fn shortest_cycle(start: &str, uses: &Uses) -> Option<Vec<String>> {
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

/// The names that a module has from others or from its children, each with its path.
fn names(text: &str, module: &[String]) -> Vec<(Module, Module)> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices("use ") {
        let line = text[..at].rfind('\n').map_or(0, |end| end + 1);
        let mut rest = &text[at + "use ".len()..];
        if !matches!(&text[line..at], "" | "pub " | "pub(crate) " | "pub(super) ") {
            continue;
        }
        let mut base = take_base(&mut rest, module);
        leaves(&mut rest, &mut base, &mut found);
    }
    let name_of = |leaf: Leaf| Some(([module, &[leaf.name?]].concat(), leaf.path));
    found.into_iter().filter_map(name_of).filter(|(name, path)| name != path).collect()
}

/// The paths from `crate` and `super` in a text, as seen from the crate.
fn paths(text: &str, module: &[String]) -> Vec<Module> {
    let mut found = Vec::new();
    for keyword in ["crate::", "super::"] {
        for (at, _) in text.match_indices(keyword) {
            let is_start = !text[..at]
                .ends_with(|sign: char| sign == ':' || sign == '_' || sign.is_alphanumeric());
            if !is_start {
                continue;
            }
            let mut rest = &text[at..];
            let mut base = take_base(&mut rest, module);
            leaves(&mut rest, &mut base, &mut found);
        }
    }
    found.into_iter().map(|leaf| leaf.path).collect()
}

/// Takes `crate::`, `self::` and `super::` off a path, and returns the module that it starts from.
fn take_base(rest: &mut &str, module: &[String]) -> Module {
    let mut base = module.to_vec();
    if let Some(behind) = rest.strip_prefix("crate::") {
        *rest = behind;
        base.clear();
    }
    *rest = rest.strip_prefix("self::").unwrap_or(rest);
    while let Some(behind) = rest.strip_prefix("super::") {
        *rest = behind;
        base.pop();
    }
    base
}

/// A thing that a path leads to.
struct Leaf {
    path: Module,
    /// What `use` calls it; `None` if that is not known (`*`).
    name: Option<String>,
}

/// Adds the leaves of a tree as `use` has it: `a::{b, c::d as e}`.
fn leaves(rest: &mut &str, path: &mut Module, found: &mut Vec<Leaf>) {
    if let Some(inner) = rest.strip_prefix('{') {
        *rest = inner.trim_start();
        while !rest.is_empty() && !rest.starts_with('}') {
            leaves(rest, &mut path.clone(), found);
            *rest = rest.trim_start_matches(|sign: char| sign == ',' || sign.is_whitespace());
        }
        *rest = rest.strip_prefix('}').unwrap_or(rest);
        return;
    }
    let name = take_name(rest);
    let is_named = !name.is_empty();
    path.extend(Some(name).filter(|name| is_named && name != "self"));
    if let Some(behind) = rest.strip_prefix("::") {
        *rest = behind;
        return leaves(rest, path, found);
    }
    let name = match rest.strip_prefix(" as ") {
        Some(behind) => {
            *rest = behind;
            Some(take_name(rest))
        }
        None => path.last().filter(|_| is_named).cloned(),
    };
    found.push(Leaf { path: path.clone(), name });
    // What is not understood (`*`) leads nowhere else.
    *rest = rest.trim_start_matches(|sign| !matches!(sign, ',' | '}' | ';'));
}

/// Takes the name that a text begins with.
fn take_name(rest: &mut &str) -> String {
    let is_name = |sign: char| sign == '_' || sign.is_alphanumeric();
    let (name, behind) = rest.split_at(rest.find(|sign| !is_name(sign)).unwrap_or(rest.len()));
    *rest = behind;
    name.to_owned()
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
        assert_eq!(found, ["(a → b → c → a)"]);
    }

    #[test]
    fn siblings_at_any_depth_count_and_names_lead_to_where_they_are_from() {
        let found = cycles(&[
            ("", "mod a;\n"),
            ("a", "mod one;\nmod two;\nuse self::two::Deep as Name;\npub use one::{Other};\n"),
            ("a::one", "use super::Name;\n"),
            ("a::two", "mod deep;\npub use self::deep::Deep;\n"),
            ("a::two::deep", "fn f(x: crate::a::Other) {}\n"),
        ]);
        assert_eq!(found, ["a::(one → two → one)"]);
    }

    #[test]
    fn parents_comments_and_tests_make_no_cycle() {
        let found = cycles(&[
            ("a", "mod child;\nuse crate::b::X;\nuse self::child::Y;\n"),
            ("a::child", "use super::{Parent, other::X};\nuse crate::a::Parent;\n"),
            ("a::other", "pub use super::Parent;\n"),
            (
                "b",
                "//! See crate::a.\nuse std::collections::{BTreeMap as a};\nmod tests {\nuse crate::a::X;\n}",
            ),
        ]);
        assert_eq!(found, [""; 0]);
    }
}
