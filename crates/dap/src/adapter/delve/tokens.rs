//! Go as tokens: enough to find the statements of a source.

/// Stands for the semicolon that the end of a line is.
pub(super) const LINE_END: &str = "\n";

/// A token and where it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token<'a> {
    pub(super) text: &'a str,
    /// In bytes.
    pub(super) start: usize,
    pub(super) line: u64,
}

impl Token<'_> {
    pub(super) fn is(&self, text: &str) -> bool {
        self.text == text
    }

    /// Whether it is a name or a keyword.
    pub(super) fn is_word(&self) -> bool {
        self.text.starts_with(|c: char| c.is_alphabetic() || c == '_')
    }

    /// Whether a statement may end with it, so that the end of its line ends the statement.
    fn may_end_statement(&self) -> bool {
        const CONTINUED: [&str; 21] = [
            "case",
            "chan",
            "const",
            "default",
            "defer",
            "else",
            "for",
            "func",
            "go",
            "goto",
            "if",
            "import",
            "interface",
            "map",
            "package",
            "range",
            "select",
            "struct",
            "switch",
            "type",
            "var",
        ];
        let is_value = self.text.starts_with(|c: char| is_word_part(c) || "\"'`)]}".contains(c));
        is_value && !CONTINUED.contains(&self.text) || matches!(self.text, "++" | "--")
    }
}

/// The tokens of a source. Strings, `:=`, `++` and `--` are one token each.
pub(super) struct Tokens<'a> {
    source: &'a str,
    at: usize,
    line: u64,
    before: Option<Token<'a>>,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(source: &'a str) -> Self {
        Self { source, at: 0, line: 1, before: None }
    }

    /// Passes what has no meaning; returns whether a line ends there.
    fn skip(&mut self) -> bool {
        let line = self.line;
        loop {
            let rest = &self.source[self.at..];
            let length = match rest.as_bytes() {
                [b'/', b'/', ..] => rest.find('\n').unwrap_or(rest.len()),
                [b'/', b'*', ..] => rest.find("*/").map_or(rest.len(), |end| end + 2),
                _ => rest.find(|c: char| !c.is_whitespace()).unwrap_or(rest.len()),
            };
            if length == 0 {
                return self.line > line;
            }
            self.pass(length);
        }
    }

    fn pass(&mut self, length: usize) {
        let passed = &self.source[self.at..self.at + length];
        self.line += passed.matches('\n').count() as u64;
        self.at += length;
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        let (start, line) = (self.at, self.line);
        let ends_line = self.skip();
        if ends_line && self.before.take_if(|token| token.may_end_statement()).is_some() {
            return Some(Token { text: LINE_END, start, line });
        }
        let rest = &self.source[self.at..];
        let length = match rest.as_bytes() {
            [quote @ (b'"' | b'\''), ..] => quoted(rest, *quote),
            [b'`', ..] => rest[1..].find('`').map_or(rest.len(), |end| end + 2),
            [b':', b'=', ..] | [b'+', b'+', ..] | [b'-', b'-', ..] => 2,
            _ => match rest.find(|c: char| !is_word_part(c)).unwrap_or(rest.len()) {
                0 => rest.chars().next()?.len_utf8(),
                length => length,
            },
        };
        let token = Token { text: &rest[..length], start: self.at, line: self.line };
        self.pass(length);
        self.before = Some(token);
        self.before
    }
}

fn is_word_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The length of a text in quotes, which end with its line at the latest.
fn quoted(text: &str, quote: u8) -> usize {
    let mut escaped = true;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'\n' => return at,
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            byte if byte == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}
