//! JavaScript and TypeScript as tokens: enough to find declarations in a source.

/// Templates and patterns within each other that are read.
pub(super) const MAX_NESTED: usize = 64;

/// A token and where it is, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token<'a> {
    pub(super) text: &'a str,
    pub(super) start: usize,
    /// A line ends between it and the one before it.
    pub(super) on_new_line: bool,
}

impl Token<'_> {
    pub(super) fn end(&self) -> usize {
        self.start + self.text.len()
    }

    pub(super) fn is_word(&self) -> bool {
        self.text.starts_with(is_word_part)
    }

    pub(super) fn is(&self, text: &str) -> bool {
        self.text == text
    }
}

/// The tokens of a part of a source. Strings, templates, regular expressions and `=>` are one token each.
pub(super) struct Tokens<'a> {
    source: &'a str,
    at: usize,
    to: usize,
    before: Option<Token<'a>>,
    /// How many templates it is in.
    depth: usize,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(source: &'a str, from: usize, to: usize) -> Self {
        Self { source, at: from, to, before: None, depth: 0 }
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        let mut on_new_line = self.before.is_none();
        loop {
            let rest = self.source.get(self.at..self.to)?;
            let first = rest.chars().next()?;
            let skipped = match rest.as_bytes() {
                [b'/', b'/', ..] => rest.find('\n').unwrap_or(rest.len()),
                [b'/', b'*', ..] => rest.find("*/").map_or(rest.len(), |end| end + 2),
                _ if first.is_whitespace() => first.len_utf8(),
                _ => break,
            };
            on_new_line |= rest[..skipped].contains('\n');
            self.at += skipped;
        }
        let rest = self.source.get(self.at..self.to)?;
        let length = match rest.as_bytes() {
            [quote @ (b'\'' | b'"'), ..] => string(rest, *quote),
            [b'`', ..] => template(rest, self.depth),
            [b'/', ..] if begins_pattern(self.before) => pattern(rest),
            [b'=', b'>', ..] => 2,
            _ => match rest.find(|c: char| !is_word_part(c)).unwrap_or(rest.len()) {
                0 => rest.chars().next()?.len_utf8(),
                length => length,
            },
        };
        let token = Token { text: &rest[..length], start: self.at, on_new_line };
        self.at += length;
        self.before = Some(token);
        self.before
    }
}

fn is_word_part(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$' | '#')
}

/// The length of a string, its quotes included.
fn string(text: &str, quote: u8) -> usize {
    let mut escaped = true;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'\n' => return at,
            byte if byte == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// The length of a template with what is inserted in it; one that is nested too deeply ends with the text.
fn template(text: &str, depth: usize) -> usize {
    if depth == MAX_NESTED {
        return text.len();
    }
    let bytes = text.as_bytes();
    let mut at = 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'`' => return at + 1,
            b'$' if bytes.get(at + 1) == Some(&b'{') => {
                let mut open = 0;
                let mut inserted =
                    Tokens { depth: depth + 1, ..Tokens::new(text, at + 1, text.len()) };
                let end = inserted.find(|token| {
                    open += i32::from(token.is("{")) - i32::from(token.is("}"));
                    open == 0
                });
                at = end.map_or(bytes.len(), |end| end.end());
            }
            _ => at += 1,
        }
    }
    text.len()
}

/// Whether a slash behind a token begins a regular expression and is no division.
fn begins_pattern(before: Option<Token<'_>>) -> bool {
    let words =
        ["return", "typeof", "case", "in", "of", "delete", "void", "throw", "await", "yield"];
    before.is_none_or(|token| {
        let is_value = token.is_word() || token.text.starts_with(['\'', '"', '`', ')', ']', '}']);
        words.contains(&token.text) || !is_value
    })
}

/// The length of a regular expression without its flags.
fn pattern(text: &str) -> usize {
    let (mut escaped, mut in_class) = (true, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'\n' => return 1,
            b'[' => in_class = true,
            b']' => in_class = false,
            b'/' if !in_class => return at + 1,
            _ => {}
        }
    }
    1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_read_to_a_bound() {
        let words = |source: &str| {
            let words = Tokens::new(source, 0, source.len()).filter(Token::is_word);
            words.map(|token| token.text.to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(words("a `x ${ `y ${z}` } x` b"), ["a", "b"]);
        assert_eq!(words(&format!("a {}", "`${".repeat(1_000_000))), ["a"]);
    }
}
