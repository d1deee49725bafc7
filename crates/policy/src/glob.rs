//! Shell patterns: `*`, `?`, `[…]`.

/// Whether a pattern matches a text. `*` crosses slashes.
///
/// Iterative with one point to go back to, so the cost is at most the product of the lengths.
pub(crate) fn matches(pattern: &str, text: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let text: Vec<char> = text.chars().collect();
    let (mut at, mut seen) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while seen < text.len() {
        if pattern.get(at) == Some(&'*') {
            retry = Some((at, seen));
            at += 1;
        } else if let Some(length) = one(&pattern[at..], text[seen]) {
            at += length;
            seen += 1;
        } else if let Some((star, from)) = retry {
            retry = Some((star, from + 1));
            (at, seen) = (star + 1, from + 1);
        } else {
            return false;
        }
    }
    pattern[at..].iter().all(|sign| *sign == '*')
}

/// How much of the pattern matched one character.
fn one(pattern: &[char], text: char) -> Option<usize> {
    match pattern.first()? {
        '?' => Some(1),
        '[' => match class(pattern, text) {
            Some((length, matched)) => matched.then_some(length),
            None => (text == '[').then_some(1),
        },
        sign => (*sign == text).then_some(1),
    }
}

/// The length of a bracket expression and whether it holds a character.
fn class(pattern: &[char], text: char) -> Option<(usize, bool)> {
    let negated = matches!(pattern.get(1), Some('!' | '^'));
    let first = 1 + usize::from(negated);
    let mut at = first;
    let mut found = false;
    loop {
        let low = *pattern.get(at)?;
        if low == ']' && at > first {
            return Some((at + 1, found != negated));
        }
        if pattern.get(at + 1) == Some(&'-') && pattern.get(at + 2).is_some_and(|sign| *sign != ']')
        {
            found |= (low..=pattern[at + 2]).contains(&text);
            at += 3;
        } else {
            found |= low == text;
            at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn patterns() {
        for (pattern, text, expected) in [
            ("rm", "rm", true),
            ("r?", "rm", true),
            ("[r]m", "rm", true),
            ("[!r]m", "rm", false),
            ("[a-z]m", "rm", true),
            ("*", "", true),
            ("a*b*c", "axxbyyc", true),
            ("a*b*c", "axxbyy", false),
            ("/var/*", "/var/lib/x", true),
            ("[", "[", true),
            ("[a", "a", false),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} on {text}");
        }
    }
}
