//! How the words of a query belong together: `AND`, `OR`, parentheses, and phrases in quotes.
//!
//! Words without an operator between them must all occur, and `AND` binds tighter than `OR`. No text
//! is an error: an operator without an operand is a word, a quote that is not closed goes on to the
//! end, and parentheses are groups only where they open or close a word.

/// Groups within groups; more are ignored.
const MAX_DEPTH: usize = 16;

/// Which words must occur, by their numbers.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Expression {
    Term(usize),
    All(Vec<Expression>),
    Any(Vec<Expression>),
}

impl Expression {
    /// Whether it holds where these words occur.
    pub(super) fn holds(&self, seen: &[bool]) -> bool {
        match self {
            Self::Term(index) => seen.get(*index) == Some(&true),
            Self::All(parts) => parts.iter().all(|part| part.holds(seen)),
            Self::Any(parts) => parts.iter().any(|part| part.holds(seen)),
        }
    }

    /// Every word must occur.
    pub(super) fn needs_all(&self) -> bool {
        match self {
            Self::Term(_) => true,
            Self::All(parts) => parts.iter().all(Self::needs_all),
            Self::Any(_) => false,
        }
    }

    /// In the syntax of FTS5, with `term` to write a word.
    pub(super) fn write(&self, term: &impl Fn(usize) -> String) -> String {
        let join = |parts: &[Self], operator| {
            let parts: Vec<String> = parts.iter().map(|part| part.write(term)).collect();
            format!("({})", parts.join(operator))
        };
        match self {
            Self::Term(index) => term(*index),
            Self::All(parts) => join(parts, " AND "),
            Self::Any(parts) => join(parts, " OR "),
        }
    }

    /// The parts as one, where there are any.
    fn of(mut parts: Vec<Self>, join: impl Fn(Vec<Self>) -> Self) -> Option<Self> {
        match parts.len() {
            0 => None,
            1 => parts.pop(),
            _ => Some(join(parts)),
        }
    }
}

/// A piece of a query's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lexeme<'q> {
    Word(&'q str),
    Phrase(&'q str),
    And,
    Or,
    Open,
    Close,
}

/// Cuts a query into pieces.
pub(super) fn lexemes(text: &str) -> Vec<Lexeme<'_>> {
    let blank = |c: char| c.is_whitespace() || c == '\0';
    let mut found = Vec::new();
    let (mut open, mut ignored) = (0, 0);
    let mut rest = text.trim_start_matches(blank);
    while !rest.is_empty() {
        if let Some(quoted) = rest.strip_prefix('"') {
            let (phrase, after) = quoted.split_once('"').unwrap_or((quoted, ""));
            found.push(Lexeme::Phrase(phrase));
            rest = after;
        } else if let Some(after) = rest.strip_prefix('(') {
            if open < MAX_DEPTH {
                open += 1;
                found.push(Lexeme::Open);
            } else {
                ignored += 1;
            }
            rest = after;
        } else if let Some(after) = rest.strip_prefix(')') {
            if ignored > 0 {
                ignored -= 1;
            } else if open > 0 {
                open -= 1;
                found.push(Lexeme::Close);
            }
            rest = after;
        } else {
            let end = rest.find(blank).unwrap_or(rest.len());
            // `print(x)` is a word, the last parenthesis of `(a OR print(x))` is not.
            let count = |bracket| rest[..end].matches(bracket).count();
            let surplus = count(')').saturating_sub(count('('));
            let trailing = end - rest[..end].trim_end_matches(')').len();
            let end = end - surplus.min(trailing);
            found.push(Lexeme::Word(&rest[..end]));
            rest = &rest[end..];
        }
        rest = rest.trim_start_matches(blank);
    }
    mark_operators(&mut found);
    found
}

/// `AND` and `OR` are operators between two operands.
fn mark_operators(lexemes: &mut [Lexeme<'_>]) {
    for at in 1..lexemes.len().saturating_sub(1) {
        let operator = match lexemes[at] {
            Lexeme::Word("AND") => Lexeme::And,
            Lexeme::Word("OR") => Lexeme::Or,
            _ => continue,
        };
        let after = !matches!(lexemes[at + 1], Lexeme::Close);
        if after && !matches!(lexemes[at - 1], Lexeme::Open | Lexeme::And | Lexeme::Or) {
            lexemes[at] = operator;
        }
    }
}

/// Reads what belongs together; `term` gives the number of a word, or none where it has nothing that
/// is ever indexed.
pub(super) fn parse<'q>(
    lexemes: &[Lexeme<'q>],
    term: impl FnMut(Lexeme<'q>) -> Option<usize>,
) -> Option<Expression> {
    let mut parser = Parser { lexemes, at: 0, term };
    let mut parts = Vec::new();
    // A parenthesis too many ends nothing.
    while parser.at < lexemes.len() {
        parts.extend(parser.any());
        parser.at += 1;
    }
    Expression::of(parts, Expression::All)
}

struct Parser<'l, 'q, F> {
    lexemes: &'l [Lexeme<'q>],
    at: usize,
    term: F,
}

impl<'q, F: FnMut(Lexeme<'q>) -> Option<usize>> Parser<'_, 'q, F> {
    fn any(&mut self) -> Option<Expression> {
        let mut parts = Vec::new();
        parts.extend(self.all());
        while self.lexemes.get(self.at) == Some(&Lexeme::Or) {
            self.at += 1;
            parts.extend(self.all());
        }
        Expression::of(parts, Expression::Any)
    }

    fn all(&mut self) -> Option<Expression> {
        let mut parts = Vec::new();
        while let Some(lexeme) = self.lexemes.get(self.at).copied() {
            match lexeme {
                Lexeme::Close | Lexeme::Or => break,
                Lexeme::And => self.at += 1,
                Lexeme::Open => {
                    self.at += 1;
                    parts.extend(self.any());
                    self.at += 1;
                }
                Lexeme::Word(_) | Lexeme::Phrase(_) => {
                    self.at += 1;
                    parts.extend((self.term)(lexeme).map(Expression::Term));
                }
            }
        }
        Expression::of(parts, Expression::All)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str) -> String {
        let mut words = Vec::new();
        let expression = parse(&lexemes(text), |lexeme| {
            words.push(match lexeme {
                Lexeme::Word(word) => word.to_owned(),
                other => format!("{other:?}"),
            });
            Some(words.len() - 1)
        });
        expression.map_or_else(String::new, |found| found.write(&|index| words[index].clone()))
    }

    #[test]
    fn words_belong_together_as_people_mean_them() {
        let rows = [
            ("", ""),
            ("a", "a"),
            ("a b", "(a AND b)"),
            ("a AND b", "(a AND b)"),
            ("a OR b", "(a OR b)"),
            ("a b OR c d", "((a AND b) OR (c AND d))"),
            ("(a OR b) c", "((a OR b) AND c)"),
            ("a AND (b OR c)", "(a AND (b OR c))"),
            ("a or b and c", "(a AND or AND b AND and AND c)"),
            ("\"a b\" c", "(Phrase(\"a b\") AND c)"),
            ("\"a OR b", "Phrase(\"a OR b\")"),
            ("OR", "OR"),
            ("AND AND AND", "(AND AND AND)"),
            ("a OR", "(a AND OR)"),
            ("OR a", "(OR AND a)"),
            ("(OR a)", "(OR AND a)"),
            ("(a OR) b", "((a AND OR) AND b)"),
            ("print(x)", "print(x)"),
            ("(a OR print(x))", "(a OR print(x))"),
            ("a) b (c", "(a AND b AND c)"),
            (")(", ""),
            ("((((((((((((((((((((a))))))))))))))))))))", "a"),
        ];
        for (text, expected) in rows {
            assert_eq!(written(text), expected, "{text}");
        }
    }
}
