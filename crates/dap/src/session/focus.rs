//! Which frame of a stack a stop is about.
//!
//! Where the user wanted the program to stop (a breakpoint, a step), it is the innermost that has a source. Elsewhere (an
//! exception, a signal, a pause) the program may be deep in a runtime or a library, and it is the innermost of the
//! user's own code: what lies in the workspace and is no installed package.

use std::path::{Path, PathBuf};

use super::data::DATA_STOP;
use super::{DebugSession, Inner};
use crate::report::FrameInfo;

/// Frames that are searched.
pub(super) const SEARCHED_FRAMES: u64 = 50;
/// Parts of the paths of what is installed and not the user's.
const LIBRARIES: [&str; 9] = [
    "/lib/rustlib/src/",
    "/rustc/",
    "/.cargo/registry/src/",
    "/.cargo/git/checkouts/",
    "/node_modules/",
    "/site-packages/",
    "/dist-packages/",
    "/pkg/mod/",
    "/lib/python3.",
];
/// Where systems keep what they install.
const SYSTEM: [&str; 4] = ["/usr/lib/", "/usr/share/", "/usr/include/", "/usr/local/go/"];
/// Reasons of stops that the user asked for at a place.
const ASKED: [&str; 5] = ["breakpoint", "step", "entry", "goto", DATA_STOP];

impl DebugSession {
    /// The frame that the latest stop is about.
    pub fn focus<'a>(&self, frames: &'a [FrameInfo]) -> Option<&'a FrameInfo> {
        let stop = self.inner.lock().latest_stop(None);
        let reason = stop.map(|(_, stop)| stop.event.reason).unwrap_or_default();
        self.inner.focus_of(&reason, frames)
    }
}

impl Inner {
    /// The frame that a stop for a reason is about.
    pub(super) fn focus_of<'a>(
        &self,
        reason: &str,
        frames: &'a [FrameInfo],
    ) -> Option<&'a FrameInfo> {
        self.workspace().focus(ASKED.contains(&reason), frames)
    }

    /// What to report of a frame whose source is newer than the program: its lines may be others by now.
    pub(super) fn stale_source(&self, frame: &FrameInfo) -> Option<String> {
        let program = self.adapter.quirks().built_program(&self.configuration)?;
        let source = Path::new(path(frame));
        let changed = |path: &Path| path.metadata().and_then(|file| file.modified()).ok();
        let is_newer = self.workspace().contains(frame) && changed(source)? > changed(&program)?;
        let name = source.file_name()?.to_string_lossy();
        is_newer.then(|| {
            format!(
                "{name} was changed after the program was built: lines may be off; build it again"
            )
        })
    }

    /// Says that a frame's file was compiled with optimisation.
    pub(super) fn optimised_source(&self, frame: &FrameInfo) -> Option<String> {
        let source = Path::new(path(frame));
        let is_optimised = self.lock().optimised.get().is_some_and(|files| files.contains(source));
        let name = source.file_name()?.to_string_lossy();
        let is_rust = source.extension().is_some_and(|extension| extension == "rs");
        let option = if is_rust { "opt-level = 0" } else { "-O0" };
        is_optimised.then(|| {
            format!(
                "{name} was compiled with optimisation: variables may be missing or have old values, and lines come out of order; build it with {option}"
            )
        })
    }

    fn workspace(&self) -> &Workspace {
        self.workspace.get_or_init(|| {
            let folder = &self.configuration.folder;
            // Adapters may name files by where links lead.
            let folders = [folder.clone(), termbridge_pty::real_path(folder).unwrap_or_default()];
            let folders = folders.into_iter().filter(|folder| folder.parent().is_some()).collect();
            Workspace { folders }
        })
    }
}

pub(super) struct Workspace {
    folders: Vec<PathBuf>,
}

impl Workspace {
    fn focus<'a>(&self, is_asked: bool, frames: &'a [FrameInfo]) -> Option<&'a FrameInfo> {
        let first = frames.first()?;
        // Also where the adapter takes it for a library's: the user wanted to be there.
        if is_asked && has_source(first) {
            return Some(first);
        }
        let mut with_source = frames.iter().filter(|frame| !frame.subtle && has_source(frame));
        let own = with_source.clone().filter(|frame| !is_library(frame));
        let mut inside = own.clone().filter(|frame| self.contains(frame));
        let found = inside.next().or_else(|| { own }.next()).or_else(|| with_source.next());
        Some(found.unwrap_or(first))
    }

    fn contains(&self, frame: &FrameInfo) -> bool {
        let path = Path::new(path(frame));
        self.folders.iter().any(|folder| path.starts_with(folder))
    }
}

fn path(frame: &FrameInfo) -> &str {
    frame.path.as_deref().unwrap_or_default()
}

fn has_source(frame: &FrameInfo) -> bool {
    frame.line > 0 && Path::new(path(frame)).is_file()
}

fn is_library(frame: &FrameInfo) -> bool {
    let path = path(frame);
    LIBRARIES.iter().any(|part| path.contains(part))
        || SYSTEM.iter().any(|folder| path.starts_with(folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(folder: &Path, file: &str) -> FrameInfo {
        let path = folder.join(file);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
        std::fs::write(&path, "line\n").expect("a file");
        FrameInfo {
            id: 1,
            name: file.to_owned(),
            path: Some(path.to_string_lossy().into_owned()),
            line: 1,
            column: 0,
            subtle: false,
            source_reference: None,
        }
    }

    #[test]
    fn the_users_code_comes_before_what_is_installed() {
        let folder = tempfile::tempdir().expect("a folder");
        let workspace = Workspace { folders: vec![folder.path().join("app")] };
        let installed = [
            "app/node_modules/express/index.js",
            "app/.venv/lib/python3.12/site-packages/click/core.py",
            "home/.cargo/registry/src/index.crates.io-1/serde-1.0.0/src/de.rs",
            "go/pkg/mod/github.com/x/y/z.go",
            "elsewhere/util.py",
        ];
        let user = frame(folder.path(), "app/src/main.py");
        for file in installed {
            let frames = [frame(folder.path(), file), user.clone()];
            let found = |is_asked| workspace.focus(is_asked, &frames).map(|frame| &*frame.name);
            assert_eq!(found(false), Some("app/src/main.py"), "{file}");
            assert_eq!(found(true), Some(file), "a breakpoint may be there");
            let alone = &frames[..1];
            assert_eq!(workspace.focus(false, alone), Some(&alone[0]), "there is nothing else");
        }
        let hidden = FrameInfo { subtle: true, ..user.clone() };
        let frames = [hidden, user];
        assert_eq!(workspace.focus(false, &frames), Some(&frames[1]));
        assert_eq!(workspace.focus(true, &frames), Some(&frames[0]), "the stop was wanted there");
        assert_eq!(workspace.focus(true, &[]), None);
    }
}
