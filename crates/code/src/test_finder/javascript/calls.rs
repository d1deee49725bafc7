//! The calls that make tests and suites: `test("…", …)`, `it.skip`, `describe.each(…)("…", …)`.

use tree_sitter::Node;

use super::super::Found;
use crate::error::CodeError;
use crate::parse::{MAX_DEPTH, children, field, first_line, last_line, parse, text};

/// Functions that make tests.
const TESTS: [&str; 4] = ["test", "it", "specify", "fit"];
/// Functions that make suites.
const SUITES: [&str; 4] = ["describe", "suite", "context", "fdescribe"];
/// What makes one test of each row of a table, its name from the row.
const TABLES: [&str; 2] = ["each", "for"];

/// The names of a test's suites and its own, as patterns.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Names {
    pub(super) patterns: Vec<String>,
}

impl Names {
    /// Of names that are known.
    pub(super) fn literal<'n>(names: impl Iterator<Item = &'n str>) -> Self {
        let pattern = |text: &str| {
            let mut name = Name::default();
            literal(text, &mut name);
            name.pattern
        };
        Self { patterns: names.map(pattern).collect() }
    }
}

pub(super) fn tests(source: &str, typed: bool) -> Result<Vec<Found<Names>>, CodeError> {
    // The second reads plain JavaScript and JSX as well.
    let language = match typed {
        true => tree_sitter_typescript::LANGUAGE_TYPESCRIPT,
        false => tree_sitter_typescript::LANGUAGE_TSX,
    };
    let tree = parse(&language.into(), source)?;
    let mut walk = Walk { source, suites: Vec::new(), found: Vec::new() };
    walk.node(tree.root_node(), 0);
    Ok(walk.found)
}

/// A name as it is read and as a pattern.
#[derive(Debug, Clone, Default)]
struct Name {
    shown: String,
    pattern: String,
}

struct Walk<'s> {
    source: &'s str,
    suites: Vec<Name>,
    found: Vec<Found<Names>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Made {
    Test,
    Suite,
}

impl Walk<'_> {
    fn node(&mut self, node: Node<'_>, depth: usize) {
        if depth > MAX_DEPTH {
            return;
        }
        for child in children(node) {
            match self.made(child) {
                // What a test makes inside is run by it.
                Some((Made::Test, name)) => {
                    let names = || self.suites.iter().chain([&name]);
                    let shown: Vec<_> = names().map(|name| name.shown.as_str()).collect();
                    let shown = shown.join(" > ");
                    let how =
                        Names { patterns: names().map(|name| name.pattern.clone()).collect() };
                    let (first, last) = (first_line(child), last_line(child));
                    self.found.push(Found { name: shown, first, last, how });
                }
                Some((Made::Suite, name)) => {
                    self.suites.push(name);
                    self.node(child, depth + 1);
                    self.suites.pop();
                }
                None => self.node(child, depth + 1),
            }
        }
    }

    fn made(&self, node: Node<'_>) -> Option<(Made, Name)> {
        let call = (node.kind() == "call_expression").then_some(node)?;
        let mut called = call.child_by_field_name("function")?;
        let arguments = call.child_by_field_name("arguments")?;
        if arguments.kind() != "arguments" {
            return None;
        }
        let arguments = children(arguments);
        let named = arguments.iter().find(|argument| argument.kind() != "comment")?;
        // A call without a function to run makes nothing: `test.skipIf(condition)`.
        let function = ["arrow_function", "function_expression", "function"];
        if !arguments.iter().any(|argument| function.contains(&argument.kind())) {
            return None;
        }
        let (mut made, mut table) = (None, false);
        let mut is = |name: &str| {
            table |= TABLES.contains(&name);
            let test = TESTS.contains(&name).then_some(Made::Test);
            let suite = SUITES.contains(&name).then_some(Made::Suite);
            // The last that says it, as in `test.describe`.
            made = made.or(test).or(suite);
        };
        loop {
            match called.kind() {
                "member_expression" => {
                    is(field(called, "property", self.source).unwrap_or_default());
                    called = called.child_by_field_name("object")?;
                }
                "call_expression" => called = called.child_by_field_name("function")?,
                "identifier" => break,
                _ => return None,
            }
        }
        let base = text(called, self.source);
        is(base);
        // `t.test` and `page.test` are something else's.
        let ours = TESTS.contains(&base) || SUITES.contains(&base);
        let name = self.name(*named, table);
        made.filter(|_| ours).map(|made| (made, name))
    }

    fn name(&self, node: Node<'_>, table: bool) -> Name {
        let mut name = Name::default();
        if !matches!(node.kind(), "string" | "template_string") {
            // Only known when it runs.
            return Name {
                shown: text(node, self.source).chars().take(60).collect(),
                pattern: ".*".to_owned(),
            };
        }
        for part in children(node) {
            let written = text(part, self.source);
            match part.kind() {
                "string_fragment" if table => literal_of_table(written, &mut name),
                "string_fragment" => literal(written, &mut name),
                "escape_sequence" if matches!(written, "\\'" | "\\\"" | "\\`" | "\\\\") => {
                    literal(&written[1..], &mut name);
                }
                _ => {
                    name.shown.push_str(written);
                    name.pattern.push_str("[^]*");
                }
            }
        }
        name
    }
}

fn literal(text: &str, name: &mut Name) {
    for c in text.chars() {
        if r"\.+*?()|[]{}^$/".contains(c) {
            name.pattern.push('\\');
        }
        name.pattern.push(c);
    }
    name.shown.push_str(text);
}

/// A text in which `%s` and `$key` stand for values of a row.
fn literal_of_table(text: &str, name: &mut Name) {
    let mut rest = text;
    while let Some(at) = rest.find(['%', '$']) {
        let (before, mark) = rest.split_at(at);
        literal(before, name);
        let word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.');
        let after = &mark[1..];
        let length = if mark.starts_with('%') {
            after.chars().next().map_or(0, char::len_utf8)
        } else {
            after.find(|c| !word(c)).unwrap_or(after.len())
        };
        name.shown.push_str(&mark[..=length]);
        name.pattern.push_str("[^]*");
        rest = &after[length..];
    }
    literal(rest, name);
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = r#"
import { test, describe, it } from 'node:test';
test('plain (one)', () => {
  t.test('inside', () => {});
});
describe("a group", () => {
  it.skip('it\'s', async () => {});
  describe(`deep ${x}`, function () {
    test.each([[1, 2]])('adds %i to $b', (a, b) => {
      expect(a);
    });
  });
});
suite('s', () => { test(name, () => {}) });
test.describe('d', () => { test.skipIf(true)('e', () => {}); });
page.test('no', () => {});
"#;

    #[test]
    fn tests_are_found_in_their_suites() {
        for typed in [true, false] {
            let found = tests(SOURCE, typed).expect("parses");
            let found: Vec<_> = found
                .iter()
                .map(|test| {
                    (test.name.as_str(), test.first, test.last, test.how.patterns.join(" "))
                })
                .collect();
            let expected = [
                ("plain (one)", 3, 5, r"plain \(one\)"),
                ("a group > it's", 7, 7, "a group it's"),
                (
                    "a group > deep ${x} > adds %i to $b",
                    9,
                    11,
                    "a group deep [^]* adds [^]* to [^]*",
                ),
                ("s > name", 14, 14, "s .*"),
                ("d > e", 15, 15, "d e"),
            ]
            .map(|(name, first, last, pattern)| (name, first, last, pattern.to_owned()));
            assert_eq!(found, expected);
        }
    }
}
