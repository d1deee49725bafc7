//! A configuration as it may be shown: without the secrets in it.
//!
//! A lexer that reads JSON, JSON with comments and TOML alike, valid or not. It masks values of keys that name secrets,
//! every value in an object of environment variables or HTTP headers, arguments behind options that name
//! secrets, and strings that look like a token wherever they are. Lines stay lines, so that a masked text can
//! be shown in place of the other, line by line. What is masked needlessly does no harm.

/// What stands in place of a secret.
const MASK: &str = "***";

/// Words in a key that make its value a secret.
const SECRETS: [&str; 11] = [
    "key",
    "token",
    "secret",
    "passw",
    "auth",
    "credential",
    "bearer",
    "cookie",
    "dsn",
    "_pat",
    "passphrase",
];

/// Objects in which every value is one.
const MAPS: [&str; 4] = ["env", "environment", "headers", "http_headers"];

/// How tokens of well-known issuers begin.
const PREFIXES: [&str; 22] = [
    "sk-",
    "sk_",
    "pk_",
    "rk_",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "xox",
    "akia",
    "asia",
    "aiza",
    "eyj",
    "ya29.",
    "npm_",
    "pypi-",
    "hf_",
    "bearer ",
    "basic ",
];

/// Characters from which on a word without any space is taken for a token.
const TOKEN_LENGTH: usize = 24;

/// The text with its secrets masked.
pub fn masked(text: &str) -> String {
    Lexer { text, at: 0, result: String::with_capacity(text.len()), open: vec![Level::default()] }
        .run()
}

/// Whether a key names a secret.
fn is_secret_name(name: &str) -> bool {
    let name = name.to_lowercase();
    SECRETS.iter().any(|word| name.contains(word)) || name == "pat"
}

/// Whether a value looks like one.
fn is_secret_value(value: &str) -> bool {
    let lower = value.to_lowercase();
    if PREFIXES.iter().any(|prefix| lower.starts_with(prefix) && lower.len() > prefix.len()) {
        return true;
    }
    if let Some((_, rest)) = value.split_once("://") {
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let query = rest.split_once('?').map_or("", |(_, query)| query);
        return authority.contains('@') || is_secret_name(query);
    }
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '+' | '=' | '.');
    value.len() >= TOKEN_LENGTH
        && value.chars().all(is_word)
        && value.chars().any(|c| c.is_ascii_digit())
        && value.chars().any(|c| c.is_ascii_alphabetic())
}

/// What a value of an argument list shows: `--token=x` and `TOKEN=x` keep their name.
fn shown_argument(value: &str) -> Option<String> {
    let (name, rest) = value.split_once('=')?;
    let is_variable = !name.is_empty()
        && name.chars().all(|c| c.is_ascii_uppercase() || c == '_' || c.is_ascii_digit());
    (!rest.is_empty() && (is_variable || is_secret_name(name) || is_secret_value(rest)))
        .then(|| format!("\"{name}={MASK}\""))
}

/// An object, a list, or the whole text.
#[derive(Debug, Default, Clone)]
struct Level {
    is_secret: bool,
    is_list: bool,
    /// The key whose value comes next.
    key: Option<String>,
    /// The last word of a list was an option that names a secret.
    is_announced: bool,
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    result: String,
    /// The innermost last; never empty.
    open: Vec<Level>,
}

impl Lexer<'_> {
    fn run(mut self) -> String {
        while let Some(c) = self.rest().chars().next() {
            match c {
                '"' | '\'' => self.string(c),
                '#' => self.comment(),
                '/' if self.rest().starts_with("//") => self.comment(),
                '/' if self.rest().starts_with("/*") => {
                    let end = self.rest().find("*/").map_or(self.rest().len(), |end| end + 2);
                    self.comment_until(end);
                }
                '[' if self.is_header() => self.header(),
                '{' | '[' => self.enter(c),
                '}' | ']' => {
                    if self.open.len() > 1 {
                        self.open.pop();
                    }
                    self.copy(1);
                    self.level().key = None;
                }
                ',' => {
                    self.level().key = None;
                    self.copy(1);
                }
                '\n' => {
                    // In TOML a value ends with its line.
                    if self.open.len() == 1 {
                        self.level().key = None;
                    }
                    self.copy(1);
                }
                ':' | '=' => self.copy(1),
                c if c.is_whitespace() => self.copy(c.len_utf8()),
                _ => self.word(),
            }
        }
        self.result
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn level(&mut self) -> &mut Level {
        if self.open.is_empty() {
            self.open.push(Level::default());
        }
        let last = self.open.len() - 1;
        &mut self.open[last]
    }

    fn copy(&mut self, bytes: usize) {
        let end = (self.at + bytes).min(self.text.len());
        self.result.push_str(&self.text[self.at..end]);
        self.at = end;
    }

    fn enter(&mut self, bracket: char) {
        let level = self.level().clone();
        let is_map =
            level.key.as_deref().is_some_and(|key| MAPS.contains(&key.to_lowercase().as_str()));
        let is_list = bracket == '[';
        let is_named = is_list && level.key.as_deref().is_some_and(is_secret_name);
        let is_secret = level.is_secret || is_map || is_named;
        self.open.push(Level { is_secret, is_list, ..Level::default() });
        self.copy(1);
    }

    /// Whether a bracket opens a line outside of everything else, as TOML's tables do.
    fn is_header(&self) -> bool {
        let line = self.text[..self.at].rsplit('\n').next().unwrap_or_default();
        self.open.len() == 1
            && line.trim().is_empty()
            && self.open[0].key.is_none()
            && !self.result.trim_end().ends_with([':', '='])
    }

    fn header(&mut self) {
        let line = self.rest().split('\n').next().unwrap_or_default().to_owned();
        let names = line.split(']').next().unwrap_or_default();
        let last = names.rsplit('.').next().unwrap_or_default();
        let last = last.trim_matches(|c: char| "[]\"' \t\r".contains(c)).to_lowercase();
        // `[` alone on its line is a list.
        if !line.contains(']') {
            return self.enter('[');
        }
        self.open = vec![Level { is_secret: MAPS.contains(&last.as_str()), ..Level::default() }];
        self.copy(line.len());
    }

    fn string(&mut self, quote: char) {
        let rest = self.rest();
        let long = [quote; 3].iter().collect::<String>();
        let (open, close) = match rest.starts_with(&long) {
            true => (3, long.as_str()),
            false => (1, &long[..1]),
        };
        let mut end = open;
        let mut is_closed = false;
        while end < rest.len() {
            let here = &rest[end..];
            if here.starts_with(close) {
                is_closed = true;
                break;
            }
            // A short string that is not closed ends with its line.
            if open == 1 && here.starts_with('\n') {
                break;
            }
            let is_escape = quote == '"' && here.starts_with('\\');
            let mut chars = here.chars();
            end += chars.next().map_or(1, char::len_utf8);
            if is_escape {
                end += chars.next().map_or(0, char::len_utf8);
            }
        }
        let content = rest[open.min(end)..end].to_owned();
        let total = end + if is_closed { close.len() } else { 0 };
        self.value(&content, total);
    }

    fn word(&mut self) {
        let rest = self.rest();
        let is_end = |c: char| c.is_whitespace() || "{}[],:=\"'#".contains(c);
        let end = rest
            .find(is_end)
            .unwrap_or(rest.len())
            .max(rest.chars().next().map_or(1, char::len_utf8));
        let word = rest[..end].to_owned();
        if ["true", "false", "null"].contains(&word.as_str()) && !self.is_key(end) {
            return self.copy(end);
        }
        self.value(&word, end);
    }

    /// Whether what ends there is a key.
    fn is_key(&mut self, end: usize) -> bool {
        if self.level().is_list {
            return false;
        }
        let follows = self.rest()[end..].trim_start_matches([' ', '\t', '\r', '\n']);
        follows.starts_with([':', '=', '.'])
    }

    fn value(&mut self, content: &str, length: usize) {
        if self.is_key(length) {
            self.level().key = Some(content.rsplit('.').next().unwrap_or(content).to_owned());
            // `a.env.TOKEN = "x"`
            if content.split('.').rev().skip(1).any(|part| MAPS.contains(&part)) {
                self.level().key = Some(SECRETS[0].to_owned());
            }
            return self.copy(length);
        }
        let level = self.level().clone();
        let is_named = level.key.as_deref().is_some_and(is_secret_name);
        let is_secret =
            level.is_secret || is_named || level.is_announced || is_secret_value(content);
        let argument = if level.is_list { shown_argument(content) } else { None };
        self.level().is_announced = level.is_list
            && content.starts_with('-')
            && is_secret_name(content)
            && !content.contains('=');
        match (is_secret && !content.is_empty() && !self.level().is_announced, argument) {
            (_, Some(argument)) => self.replace(&argument, length),
            (true, None) => self.replace(MASK, length),
            (false, None) => self.copy(length),
        }
    }

    fn replace(&mut self, with: &str, length: usize) {
        let old = &self.text[self.at..self.at + length];
        let lines = "\n".repeat(old.matches('\n').count());
        self.result.push_str(with);
        self.result.push_str(&lines);
        self.at += length;
    }

    fn comment(&mut self) {
        let end = self.rest().find('\n').unwrap_or(self.rest().len());
        self.comment_until(end);
    }

    /// A comment may be an entry that was taken out of use.
    fn comment_until(&mut self, end: usize) {
        let comment = self.rest()[..end].to_owned();
        let lines: Vec<String> = comment.split('\n').map(masked_words).collect();
        self.result.push_str(&lines.join("\n"));
        self.at += end;
    }
}

/// A line of text that is no configuration, with what looks like a secret masked.
pub fn masked_words(line: &str) -> String {
    if let Some((name, rest)) = line.split_once([':', '='])
        && is_secret_name(name)
        && !rest.trim().is_empty()
    {
        return format!("{name}{} {MASK}", &line[name.len()..=name.len()]);
    }
    let is_word = |c: char| !c.is_whitespace() && !"\"',(){}".contains(c);
    let mut result = String::new();
    let mut rest = line;
    let (mut is_announced, mut was_named) = (false, false);
    while !rest.is_empty() {
        let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(length);
        let gap = after.find(is_word).unwrap_or(after.len());
        let name = word.split([':', '=']).next().unwrap_or_default();
        let has_value = word.len() > name.len() + 1;
        let is_named = is_secret_name(name);
        if !word.is_empty() && (is_announced || is_secret_value(word)) {
            result.push_str(MASK);
        } else if is_named && has_value {
            result.extend([&word[..=name.len()], MASK]);
        } else {
            result.push_str(word);
        }
        // `--token x`, `Bearer x`, `token: x`, `"token": "x"`
        let is_scheme = ["bearer", "basic"].contains(&word.to_lowercase().as_str());
        let is_sign = !word.is_empty() && name.is_empty();
        let is_open = word.len() > name.len() || word.starts_with('-');
        is_announced = is_scheme || is_named && !has_value && is_open || is_sign && was_named;
        was_named = is_named && !has_value;
        result.push_str(&after[..gap]);
        rest = &after[gap..];
    }
    result
}
