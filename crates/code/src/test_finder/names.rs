//! Tests by name: among those of a source, and among those that a runner lists.

use super::MAX_NAMED;
use crate::error::CodeError;
use crate::near::distance;

/// The names that are meant: those that are the same, else those that end with it from a word on.
pub(super) fn matching<'n>(
    names: impl Iterator<Item = &'n str> + Clone,
    wanted: &str,
) -> Vec<usize> {
    let wanted = wanted.trim();
    if wanted.is_empty() {
        return Vec::new();
    }
    let all = |is_it: &dyn Fn(&str) -> bool| -> Vec<usize> {
        let named = names.clone().enumerate().filter(|(_, name)| is_it(name));
        named.map(|(at, _)| at).collect()
    };
    let same = all(&|name| name == wanted);
    let ends = |name: &str| {
        let before = name.strip_suffix(wanted);
        before.is_some_and(|before| !before.ends_with(|c: char| c.is_alphanumeric() || c == '_'))
    };
    if same.is_empty() { all(&ends) } else { same }
}

/// The one listed test that is meant.
pub(super) fn pick(listed: &[String], wanted: &str, file: &str) -> Result<String, CodeError> {
    let found = matching(listed.iter().map(String::as_str), wanted);
    match found.as_slice() {
        [at] => Ok(listed[*at].clone()),
        [] => Err(CodeError::NoTestAtCursor(none(listed, wanted, file))),
        several => Err(ambiguous(several.iter().map(|at| listed[*at].clone()), wanted, file)),
    }
}

/// The error when several tests have a name.
pub(super) fn ambiguous(
    names: impl ExactSizeIterator<Item = String>,
    wanted: &str,
    file: &str,
) -> CodeError {
    let count = names.len();
    let shown = shown(names);
    CodeError::AmbiguousTest(format!("{count} tests of {file} are named {wanted:?}: {shown}"))
}

/// What is said of a name that no listed test has: those that are near, else the first.
fn none(listed: &[String], wanted: &str, file: &str) -> String {
    if listed.is_empty() {
        return format!("the test runner lists no test in {file}");
    }
    let last =
        |name: &str| name.rsplit(['/', ':', '>', '.']).next().unwrap_or(name).trim().to_owned();
    let wanted_last = last(wanted);
    let mut near: Vec<_> =
        listed.iter().map(|name| (distance(&wanted_last, &last(name)), name.clone())).collect();
    let most = 1 + wanted_last.chars().count() / 4;
    let close = near.iter().filter(|(distance, _)| *distance <= most).count();
    if close > 0 {
        near.sort_by_key(|(distance, _)| *distance);
        near.truncate(close);
    }
    let word = if close > 0 { "near" } else { "its tests" };
    let shown = shown(near.into_iter().map(|(_, name)| name));
    format!("no test of {file} is named {wanted:?}; {word}: {shown}")
}

fn shown(names: impl ExactSizeIterator<Item = String>) -> String {
    let more = match names.len().saturating_sub(MAX_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{}{more}", names.take(MAX_NAMED).collect::<Vec<_>>().join(", "))
}

/// The first line with a word, from 1; the first of all when none has it.
pub(super) fn line_of(source: &str, word: &str) -> u64 {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let has = |line: &str| line.split(|c| !is_part(c)).any(|part| part == word);
    source.lines().position(has).map_or(1, |line| line as u64 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listed_test_is_picked_by_its_name_or_the_end_of_it() {
        let listed = ["a::one", "b::one", "b::two_more", "one"].map(str::to_owned);
        let pick = |wanted: &str| pick(&listed, wanted, "lib.rs");
        assert_eq!(pick("one"), Ok("one".to_owned()));
        assert_eq!(pick("b::one"), Ok("b::one".to_owned()));
        assert_eq!(pick("two_more"), Ok("b::two_more".to_owned()));
        assert_eq!(pick("more").map_err(|error| error.code()), Err("E_NO_TEST_AT_CURSOR"));
        let error = pick("two_mor").expect_err("none").to_string();
        assert_eq!(error, "no test of lib.rs is named \"two_mor\"; near: b::two_more");
        let listed = &listed[..3];
        let error = super::pick(listed, "one", "lib.rs").expect_err("two");
        assert_eq!(error.code(), "E_AMBIGUOUS_SYMBOL");
        assert_eq!(error.to_string(), "2 tests of lib.rs are named \"one\": a::one, b::one");
    }

    #[test]
    fn a_line_is_that_of_the_word() {
        assert_eq!(line_of("xone\nmake!(one, 1);\n", "one"), 2);
        assert_eq!(line_of("x\n", "one"), 1);
    }
}
