//! The tests in a C++ source, by the macros that declare them.
//!
//! A grammar of C++ would weigh more than all other parsers of this crate together (17 MB of tables), and would not
//! know macros either. So a scanner skips comments, literals and preprocessor lines, and the tests are the known
//! words with an argument list and a body behind it.

use super::super::Found;
use super::Chosen;

/// A part of the source that matters here, with its line from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Token<'s> {
    Word(&'s str),
    /// The value of a string literal.
    Text(String),
    Mark(u8),
}

/// The tests of a source, sections included.
pub(super) fn tests(source: &str) -> Vec<Found<Chosen>> {
    let tokens = Scanner { source, at: 0, line: 1 }.tokens();
    let ends = ends(&tokens);
    let mut found: Vec<Found<Chosen>> = Vec::new();
    // What the current place is in: where it ends, and which of the found it is.
    let mut open: Vec<(usize, usize)> = Vec::new();
    for (at, (token, first)) in tokens.iter().enumerate() {
        open.retain(|(end, _)| at < *end);
        let Token::Word(word) = token else { continue };
        let is_mark =
            |at: usize, mark| matches!(tokens.get(at), Some((Token::Mark(m), _)) if *m == mark);
        if !is_mark(at + 1, b'(') || !is_mark(ends[at + 1] + 1, b'{') {
            continue;
        }
        let arguments: Vec<_> =
            tokens[at + 2..ends[at + 1]].iter().map(|(token, _)| token).collect();
        let around = open.last().map(|(_, at)| &found[*at].how);
        let Some(how) = chosen(word, &arguments, around) else { continue };
        let end = ends[ends[at + 1] + 1];
        open.push((end, found.len()));
        let last = tokens.get(end).or(tokens.last()).map_or(*first, |(_, line)| *line);
        found.push(Found { name: how.name(), first: *first, last, how });
    }
    found
}

/// The test that a macro with these arguments declares.
fn chosen(word: &str, arguments: &[&Token<'_>], around: Option<&Chosen>) -> Option<Chosen> {
    let is_comma = |token: &&Token<'_>| **token == Token::Mark(b',');
    let mut arguments = arguments.split(is_comma);
    let mut next = || arguments.next();
    let text = |argument: &[&Token<'_>]| {
        let texts = argument.iter().filter_map(|token| match token {
            Token::Text(text) => Some(text.as_str()),
            _ => None,
        });
        let text = texts.collect::<String>().trim().to_owned();
        Some(text).filter(|text| !text.is_empty())
    };
    match word {
        "TEST" | "TEST_F" | "GTEST_TEST" | "TEST_P" | "TYPED_TEST" | "TYPED_TEST_P" => {
            let (&[&Token::Word(suite)], &[&Token::Word(name)]) = (next()?, next()?) else {
                return None;
            };
            let (suite, name) = (suite.to_owned(), name.to_owned());
            Some(match word {
                "TEST_P" => Chosen::Values { suite, name },
                "TYPED_TEST" | "TYPED_TEST_P" => Chosen::Types { suite, name },
                _ => Chosen::Plain { suite, name },
            })
        }
        _ => {
            let (sections, is_template) = (Vec::new(), false);
            let case = |case| Chosen::Case { case, sections, is_template };
            match word.strip_prefix("CATCH_").unwrap_or(word) {
                "TEST_CASE" => Some(case(text(next()?)?)),
                "TEST_CASE_METHOD" => Some(case(next().and_then(|_| text(next()?))?)),
                "SCENARIO" => Some(case(format!("Scenario: {}", text(next()?)?))),
                "TEMPLATE_TEST_CASE" => {
                    let (case, sections) = (text(next()?)?, Vec::new());
                    Some(Chosen::Case { case, sections, is_template: true })
                }
                "SECTION" => match around? {
                    Chosen::Case { case, sections, is_template } => {
                        let own = text(next()?)?;
                        let sections = sections.iter().cloned().chain([own]).collect();
                        let (case, is_template) = (case.clone(), *is_template);
                        Some(Chosen::Case { case, sections, is_template })
                    }
                    _ => None,
                },
                _ => None,
            }
        }
    }
}

/// For each opening bracket the index of the closing one; behind the last token where there is none.
fn ends(tokens: &[(Token<'_>, u64)]) -> Vec<usize> {
    let mut ends = vec![tokens.len(); tokens.len()];
    let mut open: Vec<(u8, usize)> = Vec::new();
    for (at, (token, _)) in tokens.iter().enumerate() {
        let Token::Mark(mark) = token else { continue };
        let opening = match mark {
            b'(' | b'{' => {
                open.push((*mark, at));
                continue;
            }
            b')' => b'(',
            b'}' => b'{',
            _ => continue,
        };
        // Between #if and #else brackets need not match.
        if let Some(depth) = open.iter().rposition(|(mark, _)| *mark == opening) {
            ends[open[depth].1] = at;
            open.truncate(depth);
        }
    }
    ends
}

struct Scanner<'s> {
    source: &'s str,
    at: usize,
    line: u64,
}

impl<'s> Scanner<'s> {
    fn tokens(mut self) -> Vec<(Token<'s>, u64)> {
        let mut tokens = Vec::new();
        let mut is_line_start = true;
        while let Some(byte) = self.peek(0) {
            let line = self.line;
            match (byte, self.peek(1)) {
                (b'\n', _) => {
                    is_line_start = true;
                    self.skip(1);
                    continue;
                }
                (b'/', Some(b'/')) => self.skip_line(),
                (b'/', Some(b'*')) => self.skip_past("*/"),
                (b'#', _) if is_line_start => self.skip_line(),
                (b'"', _) => tokens.push((Token::Text(self.literal(b'"')), line)),
                (b'\'', _) => drop(self.literal(b'\'')),
                (byte, _) if is_part(byte) => {
                    let word = self.word();
                    let is_raw = ["R", "LR", "uR", "UR", "u8R"].contains(&word);
                    if is_raw && self.peek(0) == Some(b'"') {
                        tokens.push((Token::Text(self.raw_literal()), line));
                    } else if !(self.peek(0) == Some(b'"') && ["L", "u", "U", "u8"].contains(&word))
                    {
                        tokens.push((Token::Word(word), line));
                    }
                }
                (b' ' | b'\t' | b'\r', _) => {
                    self.skip(1);
                    continue;
                }
                (byte, _) => {
                    tokens.push((Token::Mark(byte), line));
                    self.skip(1);
                }
            }
            is_line_start = false;
        }
        tokens
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.source.as_bytes().get(self.at + ahead).copied()
    }

    fn skip(&mut self, bytes: usize) {
        let end = (self.at + bytes).min(self.source.len());
        let passed = &self.source.as_bytes()[self.at..end];
        self.line += memchr::memchr_iter(b'\n', passed).count() as u64;
        self.at = end;
    }

    /// To the end of the line, and of those that continue it.
    fn skip_line(&mut self) {
        while let Some(byte) = self.peek(0) {
            match byte {
                b'\n' => return,
                b'\\' if self.peek(1) == Some(b'\r') => self.skip(3),
                b'\\' => self.skip(2),
                _ => self.skip(1),
            }
        }
    }

    fn skip_past(&mut self, end: &str) {
        let rest = &self.source.as_bytes()[self.at..];
        let found = rest.windows(end.len()).position(|part| part == end.as_bytes());
        self.skip(found.map_or(rest.len(), |at| at + end.len()));
    }

    /// A name, or a number with what may be in it.
    fn word(&mut self) -> &'s str {
        let start = self.at;
        let is_number = self.peek(0).is_some_and(|byte| byte.is_ascii_digit());
        let is_inside = |byte| is_part(byte) || is_number && matches!(byte, b'\'' | b'.');
        while self.peek(0).is_some_and(is_inside) {
            self.at += 1;
        }
        &self.source[start..self.at]
    }

    /// The value of a literal in quotes; one that does not end, ends with its line.
    fn literal(&mut self, quote: u8) -> String {
        self.skip(1);
        let mut value = Vec::new();
        while let Some(byte) = self.peek(0) {
            match (byte, self.peek(1)) {
                (b'\n', _) => break,
                (b'\\', Some(escaped)) => {
                    match escaped {
                        b'n' => value.push(b'\n'),
                        b't' => value.push(b'\t'),
                        b'\n' => {}
                        other => value.push(other),
                    }
                    self.skip(2);
                }
                (byte, _) => {
                    self.skip(1);
                    if byte == quote {
                        break;
                    }
                    value.push(byte);
                }
            }
        }
        String::from_utf8_lossy(&value).into_owned()
    }

    fn raw_literal(&mut self) -> String {
        let rest = &self.source[self.at..];
        let Some(open) = rest.find('(') else { return self.literal(b'"') };
        let end = format!("){}\"", &rest[1..open]);
        let value = rest[open + 1..].split(&end).next().unwrap_or_default().to_owned();
        self.skip(open + 1 + value.len() + end.len());
        value
    }
}

fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

#[cfg(test)]
mod tests {
    use super::tests;

    fn found(source: &str) -> Vec<(String, u64, u64)> {
        tests(source).into_iter().map(|test| (test.name, test.first, test.last)).collect()
    }

    fn test(name: &str, first: u64, last: u64) -> (String, u64, u64) {
        (name.to_owned(), first, last)
    }

    #[test]
    fn tests_of_googletest_are_found() {
        let source = r#"
#include <gtest/gtest.h>
#define TEST_OF(x) TEST(Made, x) \
    { }
// TEST(Comment, One) {
/* TEST(Comment, Two) { */
const char *text = "TEST(Text, One) {"; char brace = '{';
auto raw = R"x(TEST(Raw, One) { )" )x"; int big = 1'000'000;
namespace app {
TEST(Calc, Adds) {
    if (true) { EXPECT_EQ(add(1, 2), '}'); }
}
TEST_F(CalcFixture,
       Divides)
{
}
TEST_P(Even, IsEven) { }
TYPED_TEST(Stack, Grows) { }
}
TEST(Declared, Only);
"#;
        let expected = [
            test("Calc.Adds", 10, 12),
            test("CalcFixture.Divides", 13, 16),
            test("Even.IsEven", 17, 17),
            test("Stack.Grows", 18, 18),
        ];
        assert_eq!(found(source), expected);
    }

    #[test]
    fn cases_and_sections_of_catch_are_found() {
        let source = r#"
TEST_CASE("adds, \"well\"", "[calc][add]") {
    int a = 1;
    SECTION("small") {
        SECTION("er") { }
    }
    SECTION("large "
            "numbers") {
    }
}
TEST_CASE_METHOD(Fixture, "with a fixture") { }
TEMPLATE_TEST_CASE("sizes", "[x]", int, std::pair<int, int>) { SECTION("one") { } }
SCENARIO("it works") { GIVEN("a thing") { } }
SECTION("lost") { }
"#;
        let expected = [
            test("adds, \"well\"", 2, 10),
            test("adds, \"well\"/small", 4, 6),
            test("adds, \"well\"/small/er", 5, 5),
            test("adds, \"well\"/large numbers", 7, 9),
            test("with a fixture", 11, 11),
            test("sizes", 12, 12),
            test("sizes/one", 12, 12),
            test("Scenario: it works", 13, 13),
        ];
        assert_eq!(found(source), expected);
    }

    #[test]
    fn a_source_that_does_not_end_is_read_to_its_end() {
        assert_eq!(found("TEST(A, B) {\n  \"text\n  R\"("), [test("A.B", 1, 3)]);
        for cut in ["TEST", "TEST(", "TEST(A", "TEST(A, B)", "TEST(A, B", "/*", "'", "#\\", "\"\\"]
        {
            assert_eq!(found(cut), [], "{cut}");
        }
    }
}
