//! Which tools a path calls for, and where they are.

use std::path::{Path, PathBuf};

use termbridge_dap::{CommandLine, Environment, interpreters, pip_install};

use super::Diagnostic;
use super::read;
use crate::tool::{folder_with, folders, text_of};

/// Projects beneath a folder that has none itself.
const MAX_PROJECTS: usize = 8;
/// Entries of a folder that are looked at for them.
const MAX_ENTRIES: usize = 1_000;
/// Folders that are nobody's project.
const OTHERS: [&str; 5] = ["node_modules", "target", "venv", "env", "vendor"];

const PYTHON_PROJECT: [&str; 7] = [
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    "requirements.txt",
    "ruff.toml",
    "pyrightconfig.json",
    "tox.ini",
];

/// How what a tool wrote is read; its paths count from a folder.
pub(super) enum Read {
    /// Its output, line by line.
    Lines(fn(&str, &Path) -> Vec<Diagnostic>),
    /// Its other output, line by line.
    ErrorLines(fn(&str, &Path) -> Vec<Diagnostic>),
    /// Its output as one document; none when it is not what the tool writes.
    Document(fn(&str, &Path) -> Option<Vec<Diagnostic>>),
}

/// A tool to run.
pub(super) struct Job {
    pub(super) name: &'static str,
    /// The command, or how to install the tool.
    pub(super) command: Result<CommandLine, String>,
    /// The folder that its paths count from.
    pub(super) root: PathBuf,
    pub(super) read: Read,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Language {
    Rust,
    Python,
    TypeScript,
    Go,
}

/// What is asked about.
struct Target<'a> {
    path: &'a Path,
    workspace: &'a Path,
    environment: &'a Environment,
}

pub(super) fn jobs(path: &Path, workspace: &Path, environment: &Environment) -> Vec<Job> {
    let target = Target { path, workspace, environment };
    let asked = |language| path.is_dir() || language_of(path) == Some(language);
    let mut jobs = Vec::new();
    if asked(Language::Rust) {
        jobs.extend(target.projects(&["Cargo.toml"]).iter().map(|root| target.cargo(root)));
    }
    if asked(Language::Python) {
        for root in target.python_projects() {
            jobs.extend([target.ruff(&root), target.pyright(&root)]);
        }
    }
    if asked(Language::TypeScript) {
        jobs.extend(target.projects(&["tsconfig.json"]).iter().map(|root| target.tsc(root)));
    }
    if asked(Language::Go) {
        jobs.extend(target.projects(&["go.mod"]).iter().map(|root| target.go_vet(root)));
    }
    jobs
}

fn language_of(file: &Path) -> Option<Language> {
    match file.extension()?.to_str()? {
        "rs" => Some(Language::Rust),
        "py" | "pyi" => Some(Language::Python),
        "ts" | "tsx" | "mts" | "cts" | "js" | "jsx" | "mjs" | "cjs" => Some(Language::TypeScript),
        "go" => Some(Language::Go),
        _ => None,
    }
}

impl Target<'_> {
    /// The folder with one of these files that the path is in, or those right beneath it.
    fn projects(&self, markers: &[&str]) -> Vec<PathBuf> {
        if let Some(around) = folder_with(self.path, self.workspace, markers) {
            return vec![around.to_owned()];
        }
        let entries = self.path.read_dir().into_iter().flatten().flatten().take(MAX_ENTRIES);
        let named = entries.filter(|entry| {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            !name.starts_with('.') && !OTHERS.contains(&name.as_ref())
        });
        let beneath = named.map(|entry| entry.path());
        let mut beneath: Vec<_> = beneath
            .filter(|folder| markers.iter().any(|marker| folder.join(marker).is_file()))
            .collect();
        beneath.sort();
        beneath.truncate(MAX_PROJECTS);
        beneath
    }

    fn python_projects(&self) -> Vec<PathBuf> {
        let marked = self.projects(&PYTHON_PROJECT);
        if !marked.is_empty() {
            return marked;
        }
        if self.path.is_file() {
            return folders(self.path, self.workspace)
                .last()
                .map(Path::to_owned)
                .into_iter()
                .collect();
        }
        let mut entries = self.path.read_dir().into_iter().flatten().flatten().take(MAX_ENTRIES);
        let python = entries.any(|entry| language_of(&entry.path()) == Some(Language::Python));
        python.then(|| self.path.to_owned()).into_iter().collect()
    }

    /// What a tool of a project is asked about: what was asked, or the project beneath it.
    fn within<'p>(&'p self, root: &'p Path) -> &'p Path {
        if self.path.starts_with(root) { self.path } else { root }
    }

    fn cargo(&self, root: &Path) -> Job {
        let command = self.on_path("cargo", "curl https://sh.rustup.rs -sSf | sh");
        let command = command.map(|command| {
            let options =
                ["check", "--workspace", "--all-targets", "--keep-going", "--message-format=json"];
            // Asked about a folder with a workspace in it, and not about a part of that.
            let manifest = text_of(&root.join("Cargo.toml"));
            let whole = root.starts_with(self.path) && manifest.contains("[workspace");
            command.args(options.into_iter().filter(|option| whole || *option != "--workspace"))
        });
        job("cargo check", command, root, Read::Lines(read::cargo))
    }

    fn ruff(&self, root: &Path) -> Job {
        let python = interpreters(root, self.environment);
        let install = python.first().map_or_else(
            || "python3 -m pip install ruff".to_owned(),
            |python| pip_install(python, "ruff"),
        );
        let command = self.beside_python("ruff", root).ok_or(install).map(|command| {
            command
                .args(["check", "--output-format=json", "--no-cache"])
                .args([self.within(root).as_os_str()])
        });
        job("ruff", command, root, Read::Document(read::ruff))
    }

    fn pyright(&self, root: &Path) -> Job {
        let found =
            self.beside_python("pyright", root).or_else(|| in_node_modules("pyright", root));
        let found =
            found.map_or_else(|| self.on_path("pyright", "npm install --global pyright"), Ok);
        let command = found.map(|command| {
            let command = command.args(["--outputjson"]);
            let command = match interpreters(root, self.environment).first() {
                Some(python) => command.args(["--pythonpath".as_ref(), python.as_os_str()]),
                None => command,
            };
            // Named paths take the place of those that the project includes and excludes.
            match self.within(root) {
                whole if whole == root => command,
                part => command.args([part.as_os_str()]),
            }
        });
        job("pyright", command, root, Read::Document(read::pyright))
    }

    fn tsc(&self, root: &Path) -> Job {
        let found = in_node_modules("tsc", root);
        let found =
            found.map_or_else(|| self.on_path("tsc", "npm install --save-dev typescript"), Ok);
        let command = found.map(|command| command.args(["--noEmit", "--pretty", "false"]));
        job("tsc", command, root, Read::Lines(read::tsc))
    }

    fn go_vet(&self, root: &Path) -> Job {
        let command = self.on_path("go", "sudo apt-get install golang-go");
        let within = self.within(root);
        let (folder, packages) = match within.parent() {
            Some(folder) if within.is_file() => (folder, "."),
            _ => (within, "./..."),
        };
        let command = command.map(|command| command.args(["vet", packages]));
        job("go vet", command, folder, Read::ErrorLines(read::go_vet))
    }

    fn on_path(&self, program: &str, install: &str) -> Result<CommandLine, String> {
        let found = self.environment.find_program(program);
        found.map(CommandLine::new).ok_or_else(|| install.to_owned())
    }

    /// A program that is installed with one of the project's interpreters, or on the search path.
    fn beside_python(&self, program: &str, root: &Path) -> Option<CommandLine> {
        let interpreters = interpreters(root, self.environment);
        let mut beside =
            interpreters.iter().filter_map(|python| Some(python.parent()?.join(program)));
        let beside = beside.find_map(|path| self.environment.find_program(path.to_str()?));
        beside.or_else(|| self.environment.find_program(program)).map(CommandLine::new)
    }
}

fn job(name: &'static str, command: Result<CommandLine, String>, root: &Path, read: Read) -> Job {
    Job { name, command: command.map(|command| command.cwd(root)), root: root.to_owned(), read }
}

fn in_node_modules(program: &str, root: &Path) -> Option<CommandLine> {
    let mut programs =
        root.ancestors().map(|folder| folder.join("node_modules/.bin").join(program));
    programs.find(|path| path.is_file()).map(CommandLine::new)
}
