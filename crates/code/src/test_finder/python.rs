//! Python: pytest, or unittest where the project's interpreter has no pytest.

use std::path::{Path, PathBuf};

use serde_json::json;
use termbridge_dap::{CommandLine, Configuration, interpreters, pip_install};
use tree_sitter::Node;

use super::names::{line_of, pick};
use super::{Found, Runner, Source, TestRun};
use crate::error::CodeError;
use crate::parse::{MAX_DEPTH, children, field, first_line, last_line, parse, text};
use crate::tool::{Tools, folders, text_of, told};

/// The program that runs the runner.
const RUN: &str = include_str!("python/run.py");

/// Files with pytest's configuration, and what they contain when they have it.
const CONFIGURATION: [(&str, &str); 7] = [
    ("pytest.toml", ""),
    (".pytest.toml", ""),
    ("pytest.ini", ""),
    (".pytest.ini", ""),
    ("pyproject.toml", "[tool.pytest"),
    ("tox.ini", "[pytest]"),
    ("setup.cfg", "[tool:pytest]"),
];

/// Which of these modules an interpreter has.
const PROBE: &str = "import importlib.util, sys\n\
                     for name in sys.argv[1:]:\n    \
                     if importlib.util.find_spec(name): print(name)";

/// What a test needs to be named.
#[derive(Debug, PartialEq, Eq)]
struct Place {
    /// Its classes and its function.
    path: Vec<String>,
    /// Whether its class may be one of unittest's.
    unittest: bool,
}

pub(super) async fn test_at(source: &Source<'_>, tools: &Tools<'_>) -> Result<TestRun, CodeError> {
    let root = root(source);
    let found = || interpreters(source.folder(), tools.environment).into_iter().next();
    let python = tools.python.map(Path::to_owned).or_else(found).ok_or_else(|| {
        CodeError::DiscoveryFailed("there is no python3 on the search path".to_owned())
    })?;
    let probe =
        CommandLine::new(&python).args(["-c", PROBE, "pytest", "xdist", "pytest_cov"]).cwd(&root);
    let said = tools.run(probe).await?;
    let said = String::from_utf8_lossy(&said.stdout);
    let has = |module: &str| said.lines().any(|line| line == module);
    let found = tests(&source.text)?;
    let none = source.no_test(&found);
    let test = match source.place {
        super::Place::Line(_) => source.find(found)?,
        // One case of a test is known to pytest alone.
        super::Place::Name(name) if name.contains('[') => None,
        super::Place::Name(name) => source.find_named(found, &plain(name))?,
    };
    let run = if has("pytest") {
        let options = options(&root, &has);
        let test = match test {
            Some(test) => test,
            None => collected(source, &python, &root, &options, tools).await?,
        };
        pytest(source, &test, &root, &options)
    } else if let Some(test) = test.as_ref().filter(|test| test.how.unittest) {
        unittest(source, test, &root, tools)
    } else if test.is_none() {
        return Err(none);
    } else {
        let install = pip_install(&python, "pytest");
        return Err(CodeError::DiscoveryFailed(format!(
            "{} has no pytest; install it with: {install}",
            python.display()
        )));
    };
    let configuration = run.configuration.with("python", json!([python]));
    Ok(TestRun { configuration, ..run })
}

/// A name as pytest writes it: `Case::test_x` for `module.Case.test_x` and for `file.py::Case::test_x`.
fn plain(name: &str) -> String {
    let name = name.rsplit_once(".py::").map_or(name, |(_, name)| name);
    name.trim().replace('.', "::")
}

/// Options that keep the processes of xdist and the tracing of coverage, which keep a debugger out, away.
fn options(root: &Path, has: &dyn Fn(&str) -> bool) -> Vec<&'static str> {
    let configured: String =
        CONFIGURATION.iter().map(|(name, _)| text_of(&root.join(name))).collect();
    let extensions =
        [("xdist", "no:xdist", "-n0"), ("pytest_cov", "no:pytest_cov", "--no-cov")].into_iter();
    let extensions = extensions.filter(|(module, off, _)| has(module) && !configured.contains(off));
    extensions.map(|(.., option)| option).collect()
}

/// A case of a test, or a test that another file's class has, as pytest lists it.
async fn collected(
    source: &Source<'_>,
    python: &Path,
    root: &Path,
    options: &[&str],
    tools: &Tools<'_>,
) -> Result<Found<Place>, CodeError> {
    let super::Place::Name(wanted) = source.place else {
        return Err(source.no_test::<()>(&[]));
    };
    let command = CommandLine::new(python)
        .args(["-m", "pytest", "--collect-only", "--no-header", "--verbosity=-1"])
        .args(options)
        .args([source.file.as_os_str()])
        .cwd(root);
    let captured = tools.run(command).await?;
    let output = String::from_utf8_lossy(&captured.stdout);
    let listed = output.lines().filter_map(|line| Some(line.split_once(".py::")?.1.to_owned()));
    let listed: Vec<String> = listed.collect();
    if listed.is_empty() && !captured.status.success() {
        let said = told(&format!("{output}{}", String::from_utf8_lossy(&captured.stderr)));
        return Err(CodeError::DiscoveryFailed(format!("pytest finds no tests:\n{said}")));
    }
    let (test, case) = wanted.split_at(wanted.find('[').unwrap_or(wanted.len()));
    let name = pick(&listed, &format!("{}{case}", plain(test)), &source.file_name())?;
    let function = name.split('[').next().and_then(|name| name.rsplit("::").next());
    let first = line_of(&source.text, function.unwrap_or(&name));
    let how = Place { path: vec![name.clone()], unittest: false };
    Ok(Found { name, first, last: first, how })
}

fn pytest(source: &Source<'_>, test: &Found<Place>, root: &Path, options: &[&str]) -> TestRun {
    let file = source.file.strip_prefix(root).unwrap_or(source.file);
    let name = format!("{}::{}", file.display(), test.how.path.join("::"));
    // What the program prints is seen when it prints it.
    let mut args = vec!["pytest", "-s", "--no-header", name.as_str()];
    args.extend(options);
    let configuration = program(root).args(&args);
    run(Runner::Pytest, name, test, configuration)
}

fn unittest(source: &Source<'_>, test: &Found<Place>, root: &Path, tools: &Tools<'_>) -> TestRun {
    // Modules are named from the first folder that is no package.
    let packages = source.folder().ancestors();
    let top = packages.into_iter().find(|folder| !folder.join("__init__.py").is_file());
    let top = top.unwrap_or(source.folder());
    let module = source.file.strip_prefix(top).unwrap_or(source.file).with_extension("");
    let mut parts: Vec<_> = module.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    parts.extend(test.how.path.iter().cloned());
    let name = parts.join(".");
    let mut folders = vec![top.to_owned()];
    let given = tools.environment.get("PYTHONPATH").unwrap_or_default();
    folders.extend(std::env::split_paths(given).filter(|path| path != Path::new("")));
    let folders: Vec<_> = folders.iter().map(|path| path.to_string_lossy()).collect();
    let configuration = program(root)
        .args(["unittest", "-v", name.as_str()])
        .with("env", json!({"PYTHONPATH": folders.join(":")}));
    run(Runner::Unittest, name, test, configuration)
}

fn program(root: &Path) -> Configuration {
    let mut configuration = Configuration::module("python", "", root).with("code", RUN);
    configuration.fields.remove("module");
    configuration
}

fn run(
    runner: Runner,
    name: String,
    test: &Found<Place>,
    mut configuration: Configuration,
) -> TestRun {
    configuration.name.clone_from(&name);
    TestRun { runner, name, line: test.first, configuration, warning: None }
}

/// Where pytest has its configuration, or else the project.
fn root(source: &Source<'_>) -> PathBuf {
    let configured = |folder: &&Path| {
        let mut files = CONFIGURATION.iter();
        files.any(|(name, part)| {
            let path = folder.join(name);
            path.is_file() && (part.is_empty() || text_of(&path).contains(part))
        })
    };
    let root = folders(source.file, source.workspace).find(configured);
    root.map_or_else(|| source.project(), Path::to_owned)
}

fn tests(source: &str) -> Result<Vec<Found<Place>>, CodeError> {
    let tree = parse(&tree_sitter_python::LANGUAGE.into(), source)?;
    let mut walk = Walk { source, classes: Vec::new(), unittest: false, found: Vec::new() };
    walk.block(tree.root_node(), 0);
    Ok(walk.found)
}

struct Walk<'s> {
    source: &'s str,
    classes: Vec<String>,
    /// Whether the class may be one of unittest's.
    unittest: bool,
    found: Vec<Found<Place>>,
}

impl Walk<'_> {
    fn block(&mut self, node: Node<'_>, depth: usize) {
        if depth > MAX_DEPTH {
            return;
        }
        for child in children(node) {
            let definition = match child.kind() {
                "decorated_definition" => child.child_by_field_name("definition").unwrap_or(child),
                _ => child,
            };
            match definition.kind() {
                "function_definition" => self.function(definition, child),
                "class_definition" => self.class(definition, depth),
                // What is defined on a condition is defined all the same.
                _ => self.block(child, depth + 1),
            }
        }
    }

    fn function(&mut self, function: Node<'_>, whole: Node<'_>) {
        let name = field(function, "name", self.source).unwrap_or_default();
        if !name.starts_with("test") {
            return;
        }
        let path: Vec<_> = self.classes.iter().cloned().chain([name.to_owned()]).collect();
        let name = path.join("::");
        let how = Place { path, unittest: self.unittest };
        self.found.push(Found { name, first: first_line(whole), last: last_line(whole), how });
    }

    fn class(&mut self, class: Node<'_>, depth: usize) {
        let name = field(class, "name", self.source).unwrap_or_default();
        let bases = class.child_by_field_name("superclasses").map(children).unwrap_or_default();
        // A base of another name may inherit from unittest's: its file is not read.
        let unittest = bases.iter().any(|base| text(*base, self.source) != "object");
        if !unittest && !name.starts_with("Test") {
            return;
        }
        let Some(body) = class.child_by_field_name("body") else { return };
        let outer = std::mem::replace(&mut self.unittest, unittest);
        self.classes.push(name.to_owned());
        self.block(body, depth + 1);
        self.classes.pop();
        self.unittest = outer;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "\
import pytest, unittest

@pytest.mark.parametrize('n', [
    1, 2])
def test_plain(n):
    def test_inner():
        pass
    assert n

class TestGroup:
    async def test_async(self):
        pass

    class TestDeep:
        def test_deep(self): pass

    def helper(self): pass

class Other(unittest.TestCase):
    def test_case(self):
        pass

class Plain:
    def test_not_collected(self): pass

if True:
    def test_conditional(): pass
";

    #[test]
    fn tests_are_found_with_their_classes_and_decorators() {
        let found = tests(SOURCE).expect("parses");
        let found: Vec<_> = found
            .iter()
            .map(|test| (test.name.as_str(), test.first, test.last, test.how.unittest))
            .collect();
        let expected = [
            ("test_plain", 3, 8, false),
            ("TestGroup::test_async", 11, 12, false),
            ("TestGroup::TestDeep::test_deep", 15, 15, false),
            ("Other::test_case", 20, 21, true),
            ("test_conditional", 27, 27, false),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn what_does_not_parse_is_read_as_far_as_it_goes() {
        let found = tests("def test_one():\n    pass\n\ndef broken(:\n").expect("parses");
        assert_eq!(found.len(), 1);
    }
}
