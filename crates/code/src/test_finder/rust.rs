//! Rust: the target that holds the file is built with `cargo test --no-run`, its harness debugged.
//!
//! The package of the file is built with full debug information by an override of its own in the
//! test profile. Where the profile has that anyway nothing is built twice; where it has not, only
//! this package is, beside what is there.

mod modules;

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Value, json};
use termbridge_dap::{CommandLine, Configuration};
use tree_sitter::Node;

use super::names::{ambiguous, line_of, pick};
use super::{Found, Place, Runner, Source, TestRun, innermost};
use crate::error::CodeError;
use crate::parse::{MAX_DEPTH, children, field, first_line, last_line, parse, text};
use crate::tool::{Tools, told};

const INSTALL: &str = "curl https://sh.rustup.rs -sSf | sh";
/// Attributes of tests, by the last part of their path.
const ATTRIBUTES: [&str; 6] = ["test", "rstest", "gtest", "proptest", "quickcheck", "test_case"];
/// Attributes that make a module of cases out of a test.
const CASES: [&str; 4] = ["case", "test_case", "test_matrix", "apply"];

/// How a test is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Chosen {
    /// By its name.
    Exactly,
    /// By the module that its cases are in.
    Cases,
}

/// A package as `cargo metadata` describes it.
#[derive(Debug, Deserialize)]
struct Package {
    name: String,
    version: String,
    manifest_path: PathBuf,
    targets: Vec<Target>,
}

#[derive(Debug, Deserialize)]
struct Target {
    name: String,
    kind: Vec<String>,
    src_path: PathBuf,
    #[serde(default, rename = "required-features")]
    required_features: Vec<String>,
}

impl Package {
    fn folder(&self) -> &Path {
        self.manifest_path.parent().unwrap_or(&self.manifest_path)
    }
}

impl Target {
    /// The order in which targets are asked for a file.
    fn rank(&self) -> usize {
        let kinds = ["bin", "test", "example", "bench"];
        let rank = kinds.iter().position(|kind| self.kind.iter().any(|own| own == kind));
        rank.map_or(0, |rank| rank + 1)
    }

    /// The options of cargo that choose it.
    fn options(&self) -> Vec<String> {
        let mut options = match self.rank() {
            0 => vec!["--lib".to_owned()],
            1 => vec!["--bin".to_owned(), self.name.clone()],
            2 => vec!["--test".to_owned(), self.name.clone()],
            3 => vec!["--example".to_owned(), self.name.clone()],
            _ => vec!["--bench".to_owned(), self.name.clone()],
        };
        if !self.required_features.is_empty() {
            options.extend(["--features".to_owned(), self.required_features.join(",")]);
        }
        options
    }
}

pub(super) async fn test_at(source: &Source<'_>, tools: &Tools<'_>) -> Result<TestRun, CodeError> {
    let found = tests(&source.text)?;
    // A line of a macro that makes tests names those that it makes.
    let words = match source.place {
        Place::Line(line) if innermost(&found, *line).is_none() => {
            macro_words(&source.text, *line)?
        }
        _ => Vec::new(),
    };
    let none = source.no_test(&found);
    let test = if words.is_empty() { source.find(found)? } else { None };
    let cargo = tools.find("cargo", INSTALL)?;
    let package = package(source, &cargo, tools).await?;
    let (target, modules) = target(&package, source.file)?;
    let program = build(&package, target, &cargo, tools).await?;
    let prefix = modules.iter().flat_map(|module| [module, "::"]).collect::<String>();
    let (name, line, how) = match (test, source.place) {
        (Some(test), _) => (format!("{prefix}{}", test.name), test.first, test.how),
        (None, place) => {
            let listed = list(&program, &package, tools).await?;
            let listed: Vec<String> =
                listed.into_iter().filter(|name| name.starts_with(&prefix)).collect();
            match place {
                Place::Name(wanted) => {
                    let name = pick(&listed, wanted, &source.file_name())?;
                    let line = line_of(&source.text, name.rsplit("::").next().unwrap_or(&name));
                    (name, line, Chosen::Exactly)
                }
                Place::Line(line) => {
                    let made = |name: &&String| {
                        words.iter().any(|word| name.split("::").any(|part| part == word))
                    };
                    let made: Vec<String> = listed.iter().filter(made).cloned().collect();
                    match made.as_slice() {
                        [] => return Err(none),
                        [one] => (one.clone(), *line, Chosen::Exactly),
                        _ => {
                            return Err(ambiguous(
                                made.into_iter(),
                                &format!("line {line}"),
                                &source.file_name(),
                            ));
                        }
                    }
                }
            }
        }
    };
    let args = match how {
        Chosen::Exactly => vec![name.clone(), "--exact".to_owned()],
        Chosen::Cases => vec![format!("{name}::")],
    };
    let options = ["--include-ignored", "--nocapture", "--test-threads=1"].map(str::to_owned);
    let environment = json!({
        "CARGO": cargo,
        "CARGO_MANIFEST_DIR": package.folder(),
        "CARGO_PKG_NAME": package.name,
        "CARGO_PKG_VERSION": package.version,
    });
    let mut configuration = Configuration::launch("lldb", program, package.folder())
        .args(args.into_iter().chain(options))
        .with("env", environment);
    configuration.name.clone_from(&name);
    Ok(TestRun { runner: Runner::CargoTest, name, line, configuration, warning: None })
}

/// The package that the file belongs to: that with the nearest manifest.
async fn package(
    source: &Source<'_>,
    cargo: &Path,
    tools: &Tools<'_>,
) -> Result<Package, CodeError> {
    #[derive(Deserialize)]
    struct Metadata {
        packages: Vec<Package>,
    }
    let command = CommandLine::new(cargo)
        .args(["metadata", "--no-deps", "--format-version=1"])
        .cwd(source.folder());
    let captured = tools.run(command).await?;
    if !captured.status.success() {
        return Err(failed("cargo metadata failed", &String::from_utf8_lossy(&captured.stderr)));
    }
    let metadata: Metadata = serde_json::from_slice(&captured.stdout)
        .map_err(|error| CodeError::Internal(format!("cargo metadata: {error}")))?;
    let file = real(source.file);
    let around =
        metadata.packages.into_iter().filter(|package| file.starts_with(real(package.folder())));
    around.max_by_key(|package| package.folder().components().count()).ok_or_else(|| {
        CodeError::DiscoveryFailed(format!("{} is in no package", source.file.display()))
    })
}

/// The target that the file is compiled into, and the modules that lead to it.
fn target<'p>(package: &'p Package, file: &Path) -> Result<(&'p Target, Vec<String>), CodeError> {
    let file = real(file);
    let built = |target: &&Target| target.kind.iter().all(|kind| kind != "custom-build");
    let mut targets: Vec<_> = package.targets.iter().filter(built).collect();
    targets.sort_by_key(|target| target.rank());
    let root = targets.iter().find(|target| real(&target.src_path) == file);
    if let Some(target) = root {
        return Ok((target, Vec::new()));
    }
    for target in targets {
        if let Some(modules) = modules::path_to(&file, &real(&target.src_path))? {
            return Ok((target, modules));
        }
    }
    let (file, package) = (file.display(), &package.name);
    Err(CodeError::DiscoveryFailed(format!("{file} is not a module of a target of {package}")))
}

/// Builds the harness; returns its path.
async fn build(
    package: &Package,
    target: &Target,
    cargo: &Path,
    tools: &Tools<'_>,
) -> Result<PathBuf, CodeError> {
    let debug = format!("profile.test.package.\"{}\".debug=2", package.name);
    let command = CommandLine::new(cargo)
        .args(["test", "--no-run", "--message-format=json", "--config", debug.as_str()])
        .args(target.options())
        .cwd(package.folder());
    let captured = tools.run(command).await?;
    let output = String::from_utf8_lossy(&captured.stdout);
    let messages = output.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let (mut program, mut errors) = (None, String::new());
    for message in messages {
        let of_target = message["target"]["name"] == json!(target.name)
            && message["target"]["kind"] == json!(target.kind);
        if of_target && message["profile"]["test"] == true {
            program = message["executable"].as_str().map(PathBuf::from).or(program);
        }
        if message["message"]["level"] == "error" {
            errors.push_str(message["message"]["rendered"].as_str().unwrap_or_default());
        }
    }
    if !captured.status.success() {
        let stderr = String::from_utf8_lossy(&captured.stderr);
        let said = if errors.is_empty() { &stderr } else { errors.as_str() };
        return Err(failed("the tests do not build", said));
    }
    program.ok_or_else(|| {
        let (target, package) = (&target.name, &package.name);
        CodeError::DiscoveryFailed(format!("cargo built no tests for {target} of {package}"))
    })
}

/// The tests of a harness, by its own list.
async fn list(
    program: &Path,
    package: &Package,
    tools: &Tools<'_>,
) -> Result<Vec<String>, CodeError> {
    let command =
        CommandLine::new(program).args(["--list", "--format=terse"]).cwd(package.folder());
    let captured = tools.run(command).await?;
    let output = String::from_utf8_lossy(&captured.stdout);
    if !captured.status.success() {
        return Err(failed(
            "the tests cannot be listed",
            &String::from_utf8_lossy(&captured.stderr),
        ));
    }
    Ok(output.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect())
}

/// The names on a line of an invocation of a macro that may make tests.
fn macro_words(source: &str, line: u64) -> Result<Vec<String>, CodeError> {
    let tree = parse(&tree_sitter_rust::LANGUAGE.into(), source)?;
    let row = usize::try_from(line - 1).unwrap_or(usize::MAX);
    let text = source.lines().nth(row).unwrap_or_default();
    let column = text.len() - text.trim_start().len();
    let place = tree_sitter::Point { row, column };
    let innermost = tree.root_node().descendant_for_point_range(place, place);
    let around: Vec<_> =
        std::iter::successors(innermost, Node::parent).map(|node| node.kind()).collect();
    // One in a function makes no tests.
    if !around.contains(&"macro_invocation") || around.contains(&"function_item") {
        return Ok(Vec::new());
    }
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let words = text.split(|c| !is_part(c)).filter(|word| !word.is_empty());
    Ok(words.map(str::to_owned).collect())
}

fn failed(what: &str, said: &str) -> CodeError {
    CodeError::DiscoveryFailed(format!("{what}:\n{}", told(said)))
}

fn real(path: &Path) -> PathBuf {
    termbridge_pty::real_path(path).unwrap_or_else(|_| path.to_owned())
}

fn tests(source: &str) -> Result<Vec<Found<Chosen>>, CodeError> {
    let tree = parse(&tree_sitter_rust::LANGUAGE.into(), source)?;
    let mut found = Vec::new();
    items(tree.root_node(), "", source, 0, &mut found);
    Ok(found)
}

/// The tests among items and in the modules among them.
fn items(node: Node<'_>, prefix: &str, source: &str, depth: usize, found: &mut Vec<Found<Chosen>>) {
    if depth > MAX_DEPTH {
        return;
    }
    let mut attributes: Vec<Node<'_>> = Vec::new();
    for item in children(node) {
        let name = field(item, "name", source).unwrap_or_default();
        match item.kind() {
            "attribute_item" => {
                attributes.push(item);
                continue;
            }
            "line_comment" | "block_comment" => continue,
            "function_item" => {
                let names: Vec<_> =
                    attributes.iter().map(|item| attribute(*item, source)).collect();
                if names.iter().any(|name| ATTRIBUTES.contains(name)) {
                    let cases = names.iter().any(|name| CASES.contains(name));
                    let how = if cases { Chosen::Cases } else { Chosen::Exactly };
                    let first = attributes.first().map_or(item, |first| *first);
                    let name = format!("{prefix}{name}");
                    let (first, last) = (first_line(first), last_line(item));
                    found.push(Found { name, first, last, how });
                }
            }
            "mod_item" => {
                if let Some(body) = item.child_by_field_name("body") {
                    items(body, &format!("{prefix}{name}::"), source, depth + 1, found);
                }
            }
            "expression_statement" | "macro_invocation" => {
                let inner = children(item);
                for tokens in
                    inner.iter().flat_map(|inner| [*inner].into_iter().chain(children(*inner)))
                {
                    if tokens.kind() == "token_tree" {
                        in_macro(tokens, prefix, source, found);
                    }
                }
            }
            _ => {}
        }
        attributes.clear();
    }
}

/// The last part of an attribute's path: `test` of `#[tokio::test(flavor = "…")]`.
fn attribute<'s>(item: Node<'_>, source: &'s str) -> &'s str {
    let path = children(item).first().and_then(|attribute| attribute.named_child(0));
    let path = path.map(|path| text(path, source)).unwrap_or_default();
    path.rsplit("::").next().unwrap_or_default().trim()
}

/// Tests as a macro takes them, such as `proptest!`: `#[test] fn name(…) { … }`.
fn in_macro(tokens: Node<'_>, prefix: &str, source: &str, found: &mut Vec<Found<Chosen>>) {
    let tokens: Vec<_> = tokens.children(&mut tokens.walk()).collect();
    let mut first = None;
    let mut index = 0;
    while index < tokens.len() {
        let token = tokens[index];
        let next = tokens.get(index + 1).copied();
        match (text(token, source), next) {
            ("#", Some(next)) if text(next, source).starts_with('[') => {
                let inside = text(next, source).trim_matches(['[', ']', ' ']);
                let path = inside.split('(').next().unwrap_or_default();
                if path.rsplit("::").next().is_some_and(|name| ATTRIBUTES.contains(&name)) {
                    first.get_or_insert(token);
                }
                index += 1;
            }
            ("fn", Some(name)) => {
                let body =
                    tokens[index..].iter().find(|token| text(**token, source).starts_with('{'));
                if let (Some(first), Some(body)) = (first.take(), body) {
                    let name = format!("{prefix}{}", text(name, source));
                    let (first, last) = (first_line(first), last_line(*body));
                    found.push(Found { name, first, last, how: Chosen::Exactly });
                }
            }
            _ => {}
        }
        index += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = r#"
fn helper() {}

#[cfg(test)]
mod tests {
    /// Said of it.
    #[test]
    // Why.
    #[should_panic]
    fn plain() {
        helper();
    }

    mod deep {
        #[tokio::test(flavor = "current_thread")]
        async fn awaited() {}
    }

    #[rstest]
    #[case(1)]
    fn cases(n: u8) {}

    proptest! {
        #![proptest_config(x())]
        #[test]
        fn property(n in 0..3) {
            assert!(n < 3);
        }
    }
}
"#;

    #[test]
    fn tests_are_found_in_modules_and_macros() {
        let found = tests(SOURCE).expect("parses");
        let found: Vec<_> = found
            .iter()
            .map(|test| (test.name.as_str(), test.first, test.last, test.how))
            .collect();
        let expected = [
            ("tests::plain", 7, 12, Chosen::Exactly),
            ("tests::deep::awaited", 15, 16, Chosen::Exactly),
            ("tests::cases", 19, 21, Chosen::Cases),
            ("tests::property", 25, 28, Chosen::Exactly),
        ];
        assert_eq!(found, expected);
    }
}
