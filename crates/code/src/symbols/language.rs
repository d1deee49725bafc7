//! Languages: their files, their projects, and the servers that know them.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use termbridge_dap::{Environment, VENV_PROGRAMS};

use super::text::Encoding;

/// Bytes of a manifest that are looked at.
const MANIFEST_LIMIT: u64 = 1024 * 1024;

/// TypeScript's compiler.
const TSC: &str = "tsc";

/// A language that a server is known for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Language {
    Rust,
    Python,
    Go,
    TypeScript,
}

/// A server that is installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub(crate) program: PathBuf,
    pub(crate) args: &'static [&'static str],
}

impl Language {
    pub(crate) const ALL: [Self; 4] = [Self::Rust, Self::Python, Self::Go, Self::TypeScript];

    /// The language of a file, and the protocol's name for it.
    pub(crate) fn of_path(path: &Path) -> Option<(Self, &'static str)> {
        Some(match path.extension()?.to_str()? {
            "rs" => (Self::Rust, "rust"),
            "py" | "pyi" => (Self::Python, "python"),
            "go" => (Self::Go, "go"),
            "ts" | "mts" | "cts" => (Self::TypeScript, "typescript"),
            "tsx" => (Self::TypeScript, "typescriptreact"),
            "js" | "mjs" | "cjs" => (Self::TypeScript, "javascript"),
            "jsx" => (Self::TypeScript, "javascriptreact"),
            _ => return None,
        })
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Rust => "Rust",
            Self::Python => "Python",
            Self::Go => "Go",
            Self::TypeScript => "TypeScript and JavaScript",
        }
    }

    /// What parses a file of it.
    pub(crate) fn grammar(self, path: &Path) -> tree_sitter::Language {
        let extension = path.extension().and_then(|extension| extension.to_str());
        match self {
            Self::Rust => tree_sitter_rust::LANGUAGE.into(),
            Self::Python => tree_sitter_python::LANGUAGE.into(),
            Self::Go => tree_sitter_go::LANGUAGE.into(),
            Self::TypeScript if matches!(extension, Some("ts" | "mts" | "cts")) => {
                tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into()
            }
            // It reads plain JavaScript and JSX as well.
            Self::TypeScript => tree_sitter_typescript::LANGUAGE_TSX.into(),
        }
    }

    /// The command that installs a server.
    pub(crate) fn install(self) -> &'static str {
        match self {
            Self::Rust => "rustup component add rust-analyzer",
            Self::Python => "npm install -g pyright",
            Self::Go => "go install golang.org/x/tools/gopls@latest",
            // TypeScript 7 is its own server.
            Self::TypeScript => "npm install -g typescript@7",
        }
    }

    /// Servers by program and arguments, the best first.
    fn programs(self) -> &'static [(&'static str, &'static [&'static str])] {
        match self {
            Self::Rust => &[("rust-analyzer", &[])],
            Self::Python => &[
                ("pyright-langserver", &["--stdio"]),
                ("basedpyright-langserver", &["--stdio"]),
                ("pylsp", &[]),
            ],
            Self::Go => &[("gopls", &[])],
            // The second only from version 7.
            Self::TypeScript => {
                &[("typescript-language-server", &["--stdio"]), (TSC, &["--lsp", "--stdio"])]
            }
        }
    }

    /// What [`Language::candidates`] looks for, for people.
    pub(crate) fn looked_for(self) -> String {
        let names: Vec<_> = self.programs().iter().map(|(name, _)| *name).collect();
        let place = match self {
            Self::Python => "the project's venv or on PATH",
            Self::TypeScript => "the project's node_modules/.bin or on PATH",
            Self::Rust => "PATH",
            Self::Go => "PATH or in the bin folder of GOPATH",
        };
        format!("no {} in {place}", names.join(", "))
    }

    /// The servers that are installed, those of the project first. There can be several with one name.
    pub(crate) fn candidates(self, environment: &Environment, root: &Path) -> Vec<Candidate> {
        let own = self.own_folders(environment, root);
        let mut found: Vec<Candidate> = Vec::new();
        for &(name, args) in self.programs() {
            let in_project = own
                .iter()
                .filter_map(|folder| environment.find_program(folder.join(name).to_str()?));
            for program in in_project.chain(environment.find_programs(name)) {
                let candidate = Candidate { program, args };
                let is_server = name != TSC || is_typescript_7(&candidate.program);
                let is_known = found.contains(&candidate);
                if !is_known && is_server && !is_empty_proxy(&candidate.program, environment) {
                    found.push(candidate);
                }
            }
        }
        // The compiler of the project itself knows it best.
        let is_own_compiler = |candidate: &Candidate| {
            let program = &candidate.program;
            program.ends_with(TSC) && own.iter().any(|folder| program.starts_with(folder))
        };
        found.sort_by_key(|candidate| !is_own_compiler(candidate));
        found
    }

    /// Folders with programs beside those of the search path.
    pub(crate) fn own_folders(self, environment: &Environment, root: &Path) -> Vec<PathBuf> {
        let set = |name: &str| environment.get(name).filter(|value| !value.is_empty());
        match self {
            Self::Rust => Vec::new(),
            Self::Python => {
                let near = [".venv", "venv"].map(|name| root.join(name));
                let near = near.into_iter().chain(set("VIRTUAL_ENV").map(PathBuf::from));
                near.map(|venv| venv.join(VENV_PROGRAMS)).filter(|bin| bin.is_dir()).collect()
            }
            Self::Go => {
                let path = set("GOPATH").map(PathBuf::from);
                let path = path.or_else(|| Some(environment.home()?.join("go")));
                path.map(|path| path.join("bin")).into_iter().collect()
            }
            Self::TypeScript => {
                let folders = root.ancestors().map(|folder| folder.join("node_modules/.bin"));
                folders.filter(|bin| bin.is_dir()).take(4).collect()
            }
        }
    }

    /// Files that say what a project is; a server is told when they change.
    pub(crate) fn markers(self) -> &'static [&'static str] {
        match self {
            Self::Rust => &["Cargo.toml"],
            Self::Python => &["pyproject.toml", "pyrightconfig.json", "setup.py", "setup.cfg"],
            Self::Go => &["go.work", "go.mod"],
            Self::TypeScript => &["tsconfig.json", "jsconfig.json", "package.json"],
        }
    }

    /// The project that a folder of the workspace is in: the outermost with a marker, except where
    /// the language says that a project ends (a Cargo workspace, a Go module outside a `go.work`).
    pub(crate) fn root(self, folder: &Path, workspace: &Path) -> PathBuf {
        let folders = || folder.ancestors().take_while(|folder| folder.starts_with(workspace));
        let marked = |folder: &&Path| self.markers().iter().any(|name| folder.join(name).is_file());
        let found = match self {
            Self::Rust => folders()
                .find(|folder| is_cargo_workspace(&folder.join("Cargo.toml")))
                .or_else(|| folders().filter(marked).last()),
            Self::Go => folders()
                .find(|folder| folder.join("go.work").is_file())
                .or_else(|| folders().find(marked)),
            Self::Python | Self::TypeScript => folders().filter(marked).last(),
        };
        found.unwrap_or(workspace).to_owned()
    }

    /// Settings that make a server answer about all symbols, and do nothing that nobody asked for.
    pub(crate) fn options(self) -> Value {
        match self {
            Self::Rust => json!({
                "checkOnSave": false,
                "diagnostics": {"enable": false},
                "cachePriming": {"enable": false},
                "workspace": {"symbol": {"search": {"kind": "all_symbols", "limit": 1000}}},
            }),
            Self::Go => json!({"symbolScope": "workspace"}),
            // A second process for syntax would answer before the project is loaded.
            Self::TypeScript => json!({
                "tsserver": {"useSyntaxServer": "never"}, "disableAutomaticTypingAcquisition": true,
            }),
            Self::Python => json!({}),
        }
    }

    /// Whether a server without a project file knows only of the files that are open.
    pub(crate) fn needs_open_files(self, root: &Path) -> bool {
        let configured =
            || ["tsconfig.json", "jsconfig.json"].map(|name| root.join(name).is_file());
        self == Self::TypeScript && configured() == [false, false]
    }
}

/// The encoding a server chose; those that name none count as the protocol began.
pub(crate) fn chosen_encoding(capabilities: &Value) -> Option<Encoding> {
    match capabilities["positionEncoding"].as_str() {
        None | Some("utf-16") => Some(Encoding::Utf16),
        Some("utf-8") => Some(Encoding::Utf8),
        Some(_) => None,
    }
}

/// Whether a `tsc` is a language server.
fn is_typescript_7(program: &Path) -> bool {
    let manifest = program.canonicalize().ok();
    let manifest = manifest.and_then(|tsc| Some(tsc.parent()?.parent()?.join("package.json")));
    let text = manifest.and_then(|manifest| {
        termbridge_foreign_files::read_to_string(&manifest, MANIFEST_LIMIT).ok()
    });
    let package: Value = serde_json::from_str(&text.unwrap_or_default()).unwrap_or_default();
    let version = package["version"].as_str().unwrap_or_default();
    let major = version.split('.').next().and_then(|major| major.parse::<u32>().ok());
    major.is_some_and(|major| major >= 7)
}

fn is_cargo_workspace(manifest: &Path) -> bool {
    let text = termbridge_foreign_files::read_to_string(manifest, MANIFEST_LIMIT);
    text.is_ok_and(|text| text.lines().any(|line| line.trim_start().starts_with("[workspace")))
}

/// Whether a program is rustup's stand-in for one that no toolchain has.
fn is_empty_proxy(program: &Path, environment: &Environment) -> bool {
    let is_proxy = program.canonicalize().is_ok_and(|real| real.ends_with("rustup"));
    let home = environment.get("RUSTUP_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(environment.home()?.join(".rustup")));
    let (true, Some(home), Some(name)) = (is_proxy, home, program.file_name()) else {
        return false;
    };
    let toolchains = home.join("toolchains").read_dir().into_iter().flatten().flatten();
    !{ toolchains }.any(|toolchain| toolchain.path().join("bin").join(name).is_file())
}
