//! Go: `go test` under delve, which builds the package itself.

use termbridge_dap::{CommandLine, Configuration};
use tree_sitter::Node;

use super::names::pick;
use super::{Found, Place, Runner, Source, TestRun};
use crate::error::CodeError;
use crate::parse::{MAX_DEPTH, children, field, first_line, last_line, parse, text};
use crate::tool::{Tools, told};

/// What the names of functions begin with that `go test` runs.
const PREFIXES: [&str; 4] = ["Test", "Fuzz", "Example", BENCHMARK];
/// Those that `-test.bench` chooses, and not `-test.run`.
const BENCHMARK: &str = "Benchmark";

const INSTALL: &str = "sudo apt-get install golang-go";

pub(super) async fn test_at(source: &Source<'_>, tools: &Tools<'_>) -> Result<TestRun, CodeError> {
    if !source.file.to_string_lossy().ends_with("_test.go") {
        let message = format!("{} is not a test file: *_test.go", source.file.display());
        return Err(CodeError::NoTestAtCursor(message));
    }
    let test = match source.place {
        Place::Line(_) => source.find(tests(&source.text)?)?,
        // As the runner writes it.
        Place::Name(name) => {
            let name = name.trim().replace(char::is_whitespace, "_");
            source.find_named(tests(&source.text)?, &name)?
        }
    };
    let test = match (test, source.place) {
        (None, Place::Name(name)) => listed(source, name.trim(), tools).await?,
        (test, _) => test.ok_or_else(|| source.no_test::<()>(&[]))?,
    };
    let folder = source.folder();
    let mut configuration =
        Configuration::launch("go", folder, folder).with("mode", "test").args(flags(&test.name));
    if let Some(tags) = tags(&source.text) {
        configuration = configuration.with("buildFlags", format!("-tags={tags}"));
    }
    configuration.name.clone_from(&test.name);
    let (runner, name, line) = (Runner::GoTest, test.name, test.first);
    Ok(TestRun { runner, name, line, configuration, warning: None })
}

/// A test that the package has in another file, or a subtest whose name is made when it runs. Of those only the
/// test around it can be checked: the runner lists no subtests.
async fn listed(
    source: &Source<'_>,
    name: &str,
    tools: &Tools<'_>,
) -> Result<Found<()>, CodeError> {
    let (test, subtest) = name.split_once('/').map_or((name, None), |(a, b)| (a, Some(b)));
    let outer = match source.find_named(tests(&source.text)?, test)? {
        Some(outer) => outer,
        None => {
            let go = tools.find("go", INSTALL)?;
            let mut command =
                CommandLine::new(go).args(["test", "-list", "."]).cwd(source.folder());
            command = command.args(tags(&source.text).map(|tags| format!("-tags={tags}")));
            let captured = tools.run(command).await?;
            let output = String::from_utf8_lossy(&captured.stdout);
            if !captured.status.success() {
                let stderr = String::from_utf8_lossy(&captured.stderr);
                let message =
                    format!("go test -list failed:\n{}", told(&format!("{output}{stderr}")));
                return Err(CodeError::DiscoveryFailed(message));
            }
            let all =
                output.lines().filter(|line| is_test(line) && !line.contains(char::is_whitespace));
            let all: Vec<String> = all.map(str::to_owned).collect();
            let name = pick(&all, test, &source.file_name())?;
            Found { name, first: 1, last: 1, how: () }
        }
    };
    let name = match subtest {
        Some(subtest) => format!("{}/{}", outer.name, subtest.replace(char::is_whitespace, "_")),
        None => outer.name,
    };
    Ok(Found { name, ..outer })
}

/// What chooses a test, or a benchmark for one round: each more would stop at the same breakpoints.
fn flags(name: &str) -> Vec<String> {
    let pattern = pattern(name);
    let chosen = match name.starts_with(BENCHMARK) {
        true => vec!["-test.run", "^$", "-test.bench", &pattern, "-test.benchtime", "1x"],
        false => vec!["-test.run", &pattern],
    };
    chosen.into_iter().chain(["-test.v"]).map(str::to_owned).collect()
}

/// Matches each part of the name, and nothing longer.
fn pattern(name: &str) -> String {
    let parts = name.split('/').map(|part| format!("^{}$", quote(part)));
    parts.collect::<Vec<_>>().join("/")
}

fn quote(text: &str) -> String {
    let mut quoted = String::new();
    for c in text.chars() {
        if r"\.+*?()|[]{}^$".contains(c) {
            quoted.push('\\');
        }
        quoted.push(c);
    }
    quoted
}

/// The tags without which the file is not built, where it names them plainly: `//go:build a && b`.
fn tags(source: &str) -> Option<String> {
    let head = source.lines().take_while(|line| !line.starts_with("package "));
    let mut constraints = head.filter_map(|line| line.strip_prefix("//go:build "));
    let constraint = constraints.next()?;
    let tags: Vec<_> = constraint.split("&&").map(str::trim).collect();
    let plain = |tag: &&str| tag.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '.');
    tags.iter().all(plain).then(|| tags.join(","))
}

fn tests(source: &str) -> Result<Vec<Found<()>>, CodeError> {
    let tree = parse(&tree_sitter_go::LANGUAGE.into(), source)?;
    let mut found = Vec::new();
    for function in children(tree.root_node()) {
        if function.kind() != "function_declaration" {
            continue;
        }
        let name = field(function, "name", source).unwrap_or_default();
        if !is_test(name) {
            continue;
        }
        found.push(spanned(name.to_owned(), function));
        if let Some(body) = function.child_by_field_name("body") {
            subtests(body, name, source, 0, &mut found);
        }
    }
    Ok(found)
}

fn is_test(name: &str) -> bool {
    let after = PREFIXES.iter().find_map(|prefix| name.strip_prefix(prefix));
    // `Testify` is no test; `Test_x` and `TestX` are. `TestMain` runs them.
    after.is_some_and(|after| !after.starts_with(char::is_lowercase)) && name != "TestMain"
}

fn spanned(name: String, node: Node<'_>) -> Found<()> {
    Found { name, first: first_line(node), last: last_line(node), how: () }
}

/// Calls of `t.Run` with a literal name. What has another belongs to the test around it.
fn subtests(node: Node<'_>, outer: &str, source: &str, depth: usize, found: &mut Vec<Found<()>>) {
    if depth > MAX_DEPTH {
        return;
    }
    for child in children(node) {
        let name = subtest(child, source);
        // As the runner writes it.
        let name = name.map(|name| format!("{outer}/{}", name.replace(char::is_whitespace, "_")));
        if let Some(name) = &name {
            found.push(spanned(name.clone(), child));
        }
        subtests(child, name.as_deref().unwrap_or(outer), source, depth + 1, found);
    }
}

fn subtest<'s>(node: Node<'_>, source: &'s str) -> Option<&'s str> {
    let called =
        (node.kind() == "call_expression").then(|| node.child_by_field_name("function"))?;
    let called = called.filter(|called| called.kind() == "selector_expression")?;
    if field(called, "field", source) != Some("Run") {
        return None;
    }
    let arguments = children(node.child_by_field_name("arguments")?);
    let name = arguments.first().filter(|_| arguments.len() == 2)?;
    let plain = matches!(name.kind(), "interpreted_string_literal" | "raw_string_literal");
    let name = plain.then(|| text(*name, source))?;
    let name = &name[1..name.len().checked_sub(1)?];
    // Escapes are left to the test around it.
    (!name.contains('\\')).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "\
package p

import \"testing\"

func TestMain(m *testing.M) {}
func Testify(t *testing.T) {}

func TestOne(t *testing.T) {
\tt.Run(\"a b\", func(t *testing.T) {
\t\tt.Run(`deep`, func(t *testing.T) {
\t\t})
\t})
\tfor _, c := range cases {
\t\tt.Run(c.name, func(t *testing.T) {
\t\t})
\t}
}
";

    #[test]
    fn tests_and_subtests_are_found() {
        let found = tests(SOURCE).expect("parses");
        let found: Vec<_> =
            found.iter().map(|test| (test.name.as_str(), test.first, test.last)).collect();
        let expected = [("TestOne", 8, 17), ("TestOne/a_b", 9, 12), ("TestOne/a_b/deep", 10, 11)];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_benchmark_is_run_once_and_no_test_with_it() {
        let source =
            "package p\n\nfunc BenchmarkSum(b *testing.B) {\n}\n\nfunc Benchmarked() {\n}\n";
        let found = tests(source).expect("parses");
        let found: Vec<_> = found.iter().map(|test| test.name.as_str()).collect();
        assert_eq!(found, ["BenchmarkSum"]);
        let flags = flags("BenchmarkSum").join(" ");
        assert_eq!(flags, "-test.run ^$ -test.bench ^BenchmarkSum$ -test.benchtime 1x -test.v");
    }

    #[test]
    fn names_become_patterns() {
        assert_eq!(pattern("TestOne/a_(b)"), r"^TestOne$/^a_\(b\)$");
    }

    #[test]
    fn plain_build_tags_are_read() {
        let tags = |line: &str| tags(&format!("// x\n{line}\n\npackage p\n"));
        assert_eq!(tags("//go:build integration && linux").as_deref(), Some("integration,linux"));
        assert_eq!(tags("//go:build !windows"), None);
        assert_eq!(tags("// none"), None);
    }
}
