//! The modules that lead from the root of a target to a file, by its `mod` items.

use std::collections::{HashSet, VecDeque};
use std::path::{Path, PathBuf};

use termbridge_pty::real_path;
use tree_sitter::Node;

use crate::error::CodeError;
use crate::parse::{MAX_DEPTH, children, field, parse, text};
use crate::tool::text_of;

/// Files of a target that are read.
const MAX_FILES: usize = 5_000;

/// A file of the target.
struct Module {
    file: PathBuf,
    /// The folder that its modules are in.
    folder: PathBuf,
    path: Vec<String>,
}

/// The names of the modules from `root` to `file`, both real paths; none when it is not reached.
pub(super) fn path_to(file: &Path, root: &Path) -> Result<Option<Vec<String>>, CodeError> {
    let folder = root.parent().unwrap_or(root).to_owned();
    let mut open = VecDeque::from([Module { file: root.to_owned(), folder, path: Vec::new() }]);
    let mut seen = HashSet::from([root.to_owned()]);
    while let Some(module) = open.pop_front() {
        if module.file == file {
            return Ok(Some(module.path));
        }
        let source = text_of(&module.file);
        let tree = parse(&tree_sitter_rust::LANGUAGE.into(), &source)?;
        let mut inner = Vec::new();
        declared(tree.root_node(), &module, &source, 0, &mut inner);
        open.extend(
            inner
                .into_iter()
                .filter(|inner| seen.len() < MAX_FILES && seen.insert(inner.file.clone())),
        );
    }
    Ok(None)
}

/// The modules that a file, or a module written in it, declares and that are files.
fn declared(node: Node<'_>, module: &Module, source: &str, depth: usize, found: &mut Vec<Module>) {
    if depth > MAX_DEPTH {
        return;
    }
    let mut given: Option<&str> = None;
    for item in children(node) {
        if item.kind() == "attribute_item" {
            given = path_attribute(item, source).or(given);
            continue;
        }
        if item.kind() == "mod_item" {
            let name = field(item, "name", source).unwrap_or_default();
            let path: Vec<_> = module.path.iter().cloned().chain([name.to_owned()]).collect();
            if let Some(body) = item.child_by_field_name("body") {
                let folder = module.folder.join(given.unwrap_or(name));
                let written = Module { file: module.file.clone(), folder, path };
                declared(body, &written, source, depth + 1, found);
            } else {
                found.extend(file_of(module, name, given, path, depth));
            }
        }
        if !matches!(item.kind(), "line_comment" | "block_comment") {
            given = None;
        }
    }
}

fn file_of(
    module: &Module,
    name: &str,
    given: Option<&str>,
    path: Vec<String>,
    depth: usize,
) -> Option<Module> {
    let beside = module.file.parent().unwrap_or(&module.file);
    if let Some(given) = given {
        // Counted from the file, or from the folder of the module that is written in it.
        let from = if depth == 0 { beside } else { &module.folder };
        let file = real_path(&from.join(given)).ok()?;
        let folder = file.parent()?.to_owned();
        return Some(Module { file, folder, path });
    }
    let folder = module.folder.join(name);
    let files = [module.folder.join(format!("{name}.rs")), folder.join("mod.rs")];
    let file = files.iter().find_map(|file| real_path(file).ok())?;
    Some(Module { file, folder, path })
}

/// The text of `#[path = "…"]`.
fn path_attribute<'s>(item: Node<'_>, source: &'s str) -> Option<&'s str> {
    let inside = text(item, source).strip_prefix("#[")?.trim_start().strip_prefix("path")?;
    inside.trim_start().strip_prefix('=')?.split('"').nth(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_reached_by_their_declarations() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("a path");
        let write = |name: &str, text: &str| {
            let path = root.join(name);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            std::fs::write(&path, text).expect("is written");
            path
        };
        let lib = write("lib.rs", "mod a;\n#[cfg(test)]\n#[path = \"odd/name.rs\"]\nmod odd;\n");
        write("a.rs", "mod b;\nmod written { pub mod c; }\n");
        let b = write("a/b/mod.rs", "mod d;\n");
        let c = write("a/written/c.rs", "");
        let d = write("a/b/d.rs", "");
        let odd = write("odd/name.rs", "");
        let lost = write("lost.rs", "");
        let path = |file: &Path| path_to(file, &lib).expect("parses").map(|path| path.join("::"));
        assert_eq!(path(&b).as_deref(), Some("a::b"));
        assert_eq!(path(&c).as_deref(), Some("a::written::c"));
        assert_eq!(path(&d).as_deref(), Some("a::b::d"));
        assert_eq!(path(&odd).as_deref(), Some("odd"));
        assert_eq!(path(&lost), None);
    }
}
