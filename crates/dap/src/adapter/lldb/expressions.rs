//! Expressions as lldb-dap must get them.
//!
//! It corrects what does not compile, without saying so: `point.1` becomes `point; .1` and comes to 0.1. Within
//! parentheses no second statement can begin, and what is wrong stays an error. A plain path stays as it is, since
//! only those reach into what our formatters show.

use std::borrow::Cow;

use super::VALUE_START;

/// An expression that means what it says.
pub(super) fn exact(expression: &str, is_rust: bool) -> Cow<'_, str> {
    let named = if is_rust { with_field_names(expression) } else { Cow::Borrowed(expression) };
    let has_statements = named.contains([';', '$', '{']);
    let is_path_sign = |c: char| c.is_alphanumeric() || "_.:[]*&->".contains(c);
    let is_path = named.chars().all(is_path_sign) && with_field_names(&named) == named;
    if has_statements || is_path { named } else { Cow::Owned(in_parentheses(&named)) }
}

pub(super) fn in_parentheses(expression: &str) -> String {
    format!("({expression})")
}

/// An expression with an arrow where LLDB wants one in the place of a dot: it follows references only so. Where it
/// compiles what it has corrected it sees to that itself, but not in a path to what our formatters show.
pub(super) fn with_arrow(expression: &str, message: &str) -> Option<String> {
    let first = message.lines().next()?.trim_start_matches("error: ");
    let (place, what) = first.strip_prefix("<user expression ")?.split_once(": ")?;
    if !(what.starts_with("member reference type") && what.contains("is a pointer")) {
        return None;
    }
    let column: usize = place.rsplit(':').next()?.parse().ok()?;
    let (before, behind) = expression.split_at_checked(column.checked_sub(1)?)?;
    Some(format!("{before}->{}", behind.strip_prefix('.')?))
}

/// The divisors of an expression, operand by operand: LLDB makes up a number where one is 0. They are evaluated once
/// more, so there is none in an expression that changes something or that may skip a division, and none that calls.
pub(super) fn divisors(expression: &str) -> Vec<&str> {
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(c) = expression[at..].chars().next() {
        let behind = &expression[at + c.len_utf8()..];
        at += c.len_utf8();
        match c {
            '"' | '\'' => at += end_of_text(behind, c),
            '?' => return Vec::new(),
            '&' | '|' | '+' | '-' if behind.starts_with(c) => return Vec::new(),
            '/' | '%' => found.extend(Some(operand(behind)).filter(|divisor| !has_call(divisor))),
            _ => {}
        }
    }
    found
}

fn has_call(operand: &str) -> bool {
    let mut parts = operand.split('(').rev().skip(1);
    parts.any(|before| before.trim_end().ends_with(is_word))
}

/// The operand that a text begins with: signs, then a path with its subscripts and calls, or parentheses.
fn operand(text: &str) -> &str {
    let text = text.trim_start();
    let path = text.trim_start_matches(['-', '+', '!', '~', '*', '&', ' ']);
    let mut depth = 0_usize;
    let end = path.char_indices().find(|(at, c)| {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' if depth == 0 => return true,
            ')' | ']' => depth -= 1,
            '-' if depth == 0 && !path[at + 1..].starts_with('>') => return true,
            '>' if depth == 0 && !path[..*at].ends_with('-') => return true,
            c => return depth == 0 && !is_word(*c) && !".:->".contains(*c),
        }
        false
    });
    let end = end.map_or(path.len(), |(at, _)| at);
    &text[..text.len() - path.len() + end]
}

/// A log message whose expressions, in braces, are exact and stand behind a mark.
pub(super) fn exact_message(message: &str, is_rust: bool) -> String {
    let (mut exact_text, mut rest) = (String::new(), message);
    while let Some((before, behind)) = rest.split_once('{') {
        let Some((expression, behind)) = behind.split_once('}') else { break };
        exact_text.push_str(before);
        exact_text.extend([VALUE_START, '{']);
        exact_text.push_str(&exact(expression, is_rust));
        exact_text.push('}');
        rest = behind;
    }
    exact_text + rest
}

/// The fields of Rust's tuples by their names in the debug information: `pair.0` is `pair.__0`.
fn with_field_names(expression: &str) -> Cow<'_, str> {
    let mut named = String::new();
    let mut rest = expression;
    // Whether what was read last can have fields.
    let mut is_place = false;
    while let Some(first) = rest.chars().next() {
        let behind = &rest[first.len_utf8()..];
        let end = match first {
            '"' | '\'' => 1 + end_of_text(behind, first),
            '.' if is_place && behind.starts_with(|c: char| c.is_ascii_digit()) => {
                named.push_str(".__");
                let digits = behind.find(|c: char| !c.is_ascii_digit()).unwrap_or(behind.len());
                named.push_str(&behind[..digits]);
                rest = &behind[digits..];
                continue;
            }
            '0'..='9' => end_of_number(rest),
            c if is_word(c) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            c => c.len_utf8(),
        };
        is_place = !first.is_ascii_digit() && (is_word(first) || matches!(first, ')' | ']'));
        named.push_str(&rest[..end]);
        rest = &rest[end..];
    }
    if named == expression { Cow::Borrowed(expression) } else { Cow::Owned(named) }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Where a text in quotes ends, behind its last quote.
fn end_of_text(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            c if c == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// Where a number ends, with its fraction and its exponent.
fn end_of_number(text: &str) -> usize {
    text.find(|c: char| !is_word(c) && c != '.').unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::{divisors, exact, exact_message, with_arrow};

    #[test]
    fn fields_of_tuples_have_names_and_numbers_stay() {
        for (expression, expected) in [
            ("pt.0", "pt.__0"),
            ("p.pair.0.12", "p.pair.__0.__12"),
            ("list[1].0", "list[1].__0"),
            ("x1.0", "x1.__0"),
            ("pt.1 + 1.0", "(pt.__1 + 1.0)"),
            ("f(a.0).1 * 2.5e3", "(f(a.__0).__1 * 2.5e3)"),
            ("name == \"a.1\"", "(name == \"a.1\")"),
            ("n == 'a'", "(n == 'a')"),
            ("1.0", "1.0"),
            ("*self.value", "*self.value"),
        ] {
            assert_eq!(exact(expression, true), expected);
        }
    }

    #[test]
    fn what_is_no_path_is_one_expression() {
        for (expression, expected) in [
            ("width", "width"),
            ("width 5", "(width 5)"),
            ("width.5", "(width.5)"),
            ("a->b[2].c", "a->b[2].c"),
            ("std::numbers::pi", "std::numbers::pi"),
            ("int $x = 1", "int $x = 1"),
            ("int x = 1; x + 1", "int x = 1; x + 1"),
        ] {
            assert_eq!(exact(expression, false), expected);
        }
    }

    #[test]
    fn a_dot_behind_a_pointer_becomes_an_arrow() {
        let message = "error: <user expression 3>:1:2: member reference type 'P *' is a pointer; did you mean";
        assert_eq!(with_arrow("p.list[1]", message).as_deref(), Some("p->list[1]"));
        assert_eq!(with_arrow("p->list", message), None);
        assert_eq!(with_arrow("p.list", "error: <user expression 3>:1:2: no member"), None);
    }

    #[test]
    fn what_is_divided_by_is_found() {
        for (expression, expected) in [
            ("10/0", &["0"][..]),
            ("a / (n * 2) + 1", &["(n * 2)"]),
            ("1 + p->q % v[n-n]->x-1 / -n", &["v[n-n]->x", "-n"]),
            ("f(a, 1 / b)", &["b"]),
            ("name == \"a/b\"", &[]),
            ("a / next() + b / (n + 1)", &["(n + 1)"]),
            ("a / (1 + next ())", &[]),
            ("a / ++n", &[]),
            ("a / n--", &[]),
            ("n != 0 && a / n > 5", &[]),
            ("n == 0 || a / n > 5", &[]),
            ("n ? a / n : 0", &[]),
            ("a / n + f(\"?\")", &["n"]),
            ("a / - -n", &["- -n"]),
        ] {
            assert_eq!(divisors(expression), expected, "{expression}");
        }
    }

    #[test]
    fn messages_keep_their_text() {
        assert_eq!(
            exact_message("v1.0: {pt.0} {a+1} {", true),
            "v1.0: \u{1d}{pt.__0} \u{1d}{(a+1)} {"
        );
    }
}
