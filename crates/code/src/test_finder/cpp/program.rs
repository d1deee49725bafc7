//! The project's built test programs: which there are for a source, and how to build them.
//!
//! Only folders in which builds put things are looked at. A program is run, to list its tests, only if its own bytes name
//! both its framework and the source: another would do who knows what.

use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use memchr::memmem::Finder;
use termbridge_pty::is_executable;

use super::framework::Framework;
use crate::tool::folders;

/// Folders of builds, beside a source or above it.
const BUILD_FOLDERS: [&str; 7] =
    ["build", "builddir", "_build", "out", "bin", "build-", "cmake-build-"];
/// Folders that hold no test programs of the project.
const SKIPPED: [&str; 4] = ["CMakeFiles", "_deps", "node_modules", ".git"];
/// How deep a build folder is searched.
const MAX_DEPTH: usize = 8;
/// Entries of folders that are looked at.
const MAX_ENTRIES: usize = 50_000;
/// Bytes of a program that are searched.
const MAX_PROGRAM: u64 = 1024 * 1024 * 1024;
/// The first bytes of programs: ELF, and Mach-O for one architecture or several.
const MAGIC: [[u8; 4]; 3] = [*b"\x7fELF", [0xcf, 0xfa, 0xed, 0xfe], [0xca, 0xfe, 0xba, 0xbe]];

/// A program that was built with tests of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Program {
    pub(super) path: PathBuf,
    pub(super) framework: Framework,
    pub(super) built: SystemTime,
}

/// The programs with tests of a source, the newest first. Reads files.
pub(super) fn programs(source: &Path, workspace: &Path) -> Vec<Program> {
    let name = source.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut search = Search { left: MAX_ENTRIES, found: Vec::new() };
    for folder in folders(source, workspace) {
        // A Makefile may put its programs beside the sources.
        search.folder(folder, 0);
    }
    for folder in build_folders(source, workspace) {
        search.folder(&folder, MAX_DEPTH);
    }
    let mut programs: Vec<_> =
        search.found.into_iter().filter_map(|path| program(path, &name)).collect();
    programs.sort_by_key(|program| std::cmp::Reverse(program.built));
    programs.dedup_by(|a, b| a.path == b.path);
    programs
}

/// The folders of builds that there are, inside the workspace.
fn build_folders(source: &Path, workspace: &Path) -> Vec<PathBuf> {
    let root = real(workspace);
    let is_build = |name: &str| {
        BUILD_FOLDERS.iter().any(|known| match known.strip_suffix('-') {
            Some(_) => name.starts_with(known),
            None => name == *known,
        })
    };
    let inside = |folder: &Path| real(folder).starts_with(&root) || !source.starts_with(workspace);
    let mut found = Vec::new();
    for folder in folders(source, workspace) {
        let entries = folder.read_dir().into_iter().flatten().flatten().take(MAX_ENTRIES);
        let named = entries.filter(|entry| entry.file_name().to_str().is_some_and(is_build));
        let builds = named.map(|entry| entry.path()).filter(|path| path.is_dir() && inside(path));
        found.extend(builds);
    }
    found
}

struct Search {
    left: usize,
    found: Vec<PathBuf>,
}

impl Search {
    /// Notes the executables of a folder and of those in it, links to folders aside.
    fn folder(&mut self, folder: &Path, depth: usize) {
        for entry in folder.read_dir().into_iter().flatten().flatten() {
            if self.left == 0 {
                return;
            }
            self.left -= 1;
            let Ok(kind) = entry.file_type() else { continue };
            let path = entry.path();
            let name = entry.file_name();
            if kind.is_dir() && depth > 0 && !SKIPPED.iter().any(|skipped| name == *skipped) {
                self.folder(&path, depth - 1);
            } else if kind.is_file() && is_executable(&path) {
                self.found.push(path);
            }
        }
    }
}

/// What an executable is, if it has tests of a source.
fn program(path: PathBuf, source: &str) -> Option<Program> {
    let built = path.metadata().and_then(|file| file.modified()).ok()?;
    let words: Vec<&[u8]> = Framework::marks().chain([source.as_bytes()]).collect();
    let has = words_in(&path, &words).ok()?;
    let (of_source, of_frameworks) = has.split_last()?;
    let framework = Framework::by_marks(of_frameworks).filter(|_| *of_source)?;
    Some(Program { path, framework, built })
}

/// Which words a program's bytes have.
fn words_in(path: &Path, words: &[&[u8]]) -> std::io::Result<Vec<bool>> {
    let mut file = termbridge_foreign_files::open(path)?.take(MAX_PROGRAM);
    let mut magic = [0; 4];
    file.read_exact(&mut magic)?;
    if !MAGIC.contains(&magic) {
        return Err(ErrorKind::InvalidData.into());
    }
    let finders: Vec<_> = words.iter().map(Finder::new).collect();
    let longest = words.iter().map(|word| word.len()).max().unwrap_or_default();
    let mut has = vec![false; words.len()];
    let (mut buffer, mut kept) = (vec![0; longest + 1024 * 1024], 0);
    loop {
        let count = file.read(&mut buffer[kept..])?;
        if count == 0 || has.iter().all(|has| *has) {
            return Ok(has);
        }
        let part = &buffer[..kept + count];
        for (has, finder) in has.iter_mut().zip(&finders) {
            *has = *has || finder.find(part).is_some();
        }
        // A word may lie across two reads.
        let end = kept + count;
        kept = longest.min(end);
        buffer.copy_within(end - kept..end, 0);
    }
}

/// The command that builds the tests, as far as the project's files tell; for a program that is there already, in its
/// own folder of the build.
pub(super) fn build_command(source: &Path, workspace: &Path, program: Option<&Path>) -> String {
    let shown = |folder: &Path| match folder.strip_prefix(workspace) {
        Ok(inside) if inside.as_os_str().is_empty() => ".".to_owned(),
        Ok(inside) => inside.display().to_string(),
        Err(_) => folder.display().to_string(),
    };
    let above = program.into_iter().flat_map(Path::ancestors).skip(1).map(Path::to_owned);
    let builds = build_folders(source, workspace).into_iter();
    let builds = builds.flat_map(|build| {
        let inner = build.read_dir().into_iter().flatten().flatten().take(MAX_ENTRIES);
        let inner: Vec<_> = inner.map(|entry| entry.path()).collect();
        [build].into_iter().chain(inner)
    });
    for folder in above.chain(builds) {
        if folder.join("CMakeCache.txt").is_file() {
            return format!("cmake --build {}", shown(&folder));
        }
        if folder.join("meson-info").is_dir() {
            return format!("meson compile -C {}", shown(&folder));
        }
    }
    // The outermost is the project's.
    let projects: Vec<_> = folders(source, workspace).collect();
    let with = |name: &str| projects.iter().rev().find(|folder| folder.join(name).is_file());
    if let Some(folder) = with("CMakeLists.txt") {
        let folder = shown(folder);
        let build = if folder == "." { "build".to_owned() } else { format!("{folder}/build") };
        format!("cmake -S {folder} -B {build} -DCMAKE_BUILD_TYPE=Debug && cmake --build {build}")
    } else if let Some(folder) = with("meson.build") {
        let folder = shown(folder);
        format!("meson setup {folder}/builddir {folder} && meson compile -C {folder}/builddir")
    } else if let Some(folder) = with("Makefile") {
        format!("make -C {}", shown(folder))
    } else {
        "the project's own command, with debug information (-g)".to_owned()
    }
}

pub(super) fn real(path: &Path) -> PathBuf {
    termbridge_pty::real_path(path).unwrap_or_else(|_| path.to_owned())
}
