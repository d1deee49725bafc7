//! Which variables of a scope have no value yet where a program stands.
//!
//! A variable of `let`, `const` or `class` has one only once its declaration was run. V8 shows `undefined` before
//! that, and in a loop what it was in the turn before. In the function that stands there the source tells which it
//! is: each time a scope is entered, its declarations are run in their order.

use super::log_messages::parts;
use super::tokens::{MAX_NESTED, Token, Tokens};
use crate::adapter::log_message::with_unset;
use crate::adapter::{Declarations, Declared, SourceDeclarations};
use crate::protocol::Scope;
use crate::reference::FramePlace;

/// What stands before the head of a loop, or of a `catch`, that declares variables.
const HEADS: [&str; 3] = ["for", "await", "catch"];
/// Bytes of a scope that are read.
const MAX_SCOPE: usize = 1024 * 1024;

/// The rules of JavaScript and TypeScript.
pub(super) struct JavaScript;

impl Declarations for JavaScript {
    fn read(&self, source: String) -> Box<dyn SourceDeclarations> {
        Box::new(Text(source))
    }

    fn is_outermost(&self, scope: &Scope) -> bool {
        ["Local", "Module", "Script"].iter().any(|name| scope.name.starts_with(name))
    }

    fn may_be_unset(&self, kind: &str) -> bool {
        kind == "undefined"
    }

    fn set_request(&self, names: &[&str]) -> String {
        let readers: Vec<_> = names.iter().map(|name| format!("()=>{name}")).collect();
        let readers = readers.join(",");
        format!("[{readers}].map(f=>{{try{{f();return 1}}catch{{return 0}}}}).join('')")
    }

    fn names_read<'a>(&self, expression: &'a str) -> Vec<&'a str> {
        names_read(expression)
    }

    fn assigned<'a>(&self, expression: &'a str) -> Option<&'a str> {
        let tokens: Vec<_> = Tokens::new(expression, 0, expression.len()).collect();
        let (name, rest) = tokens.split_first()?;
        let is_list = rest.iter().any(|token| token.is(",") || token.is(";"));
        (name.is_word() && is_assigned(rest) && !is_list).then_some(name.text)
    }

    fn error(&self, name: &str) -> String {
        format!("ReferenceError: Cannot access '{name}' before initialization")
    }
}

/// The text of a source, of which only the scopes around a frame are read.
struct Text(String);

impl SourceDeclarations for Text {
    fn declared(&self, scope: &Scope, place: &FramePlace) -> Declared {
        declared(&self.0, scope, place.line, place.column)
    }

    fn log_message(&self, message: &str, line: u64, unset: &str) -> String {
        log_message(message, &self.0, line, unset)
    }

    fn condition(&self, condition: &str, line: u64) -> String {
        let is_unset = unset_at(&self.0, line);
        let mut unset: Vec<_> = names_read(condition).into_iter().filter(is_unset).collect();
        if unset.is_empty() {
            return condition.to_owned();
        }
        unset.sort_unstable();
        unset.dedup();
        // Declared behind it, each is refused where it is read, and only there.
        format!("(() => {{ return {condition}\n; let {}; }})()", unset.join(", "))
    }
}

/// Whether what is behind a name assigns it.
fn is_assigned(behind: &[Token<'_>]) -> bool {
    let Some(at) = behind.iter().position(|token| token.is("=")) else { return false };
    let is_operator = behind[..at].iter().all(|token| "+-*/%&|^<>?".contains(token.text));
    let is_comparison = at == 1 && "<>".contains(behind[0].text);
    is_operator && !is_comparison && !behind.get(at + 1).is_some_and(|next| next.is("="))
}

fn declared(source: &str, scope: &Scope, line: u64, column: u64) -> Declared {
    let place = |line, column| offset(source, line, column);
    let end = scope.end_line.zip(scope.end_column);
    let (Some(from), Some(to), Some(at)) = (
        scope.line.zip(scope.column).and_then(|(line, column)| place(line, column)),
        end.and_then(|(line, column)| place(line, column)),
        place(line, column),
    ) else {
        return Declared::default();
    };
    // Where a compiler writes all in one line, the end is where the scope begins; its last bracket is in the source.
    let to = if to <= from { source.len() } else { to };
    if to.saturating_sub(from) > MAX_SCOPE || !(from..=to).contains(&at) {
        return Declared::default();
    }
    // V8 has the variables of a loop's head in its body, which begins for it where the head ends.
    let rest = source[from..].strip_prefix(')').map(str::trim_start);
    let from = rest.map_or(from, |rest| source.len() - rest.len());
    let mut found = declared_between(source, from, to, at);
    if source[..from].trim_end().ends_with(')')
        && let (_, Some(head)) = brackets_before(source, from)
    {
        found.all.append(&mut declared_between(source, head, source.len(), at).all);
    }
    found
}

/// What a scope declares that begins at one place and ends at another or with its last bracket.
fn declared_between(source: &str, from: usize, to: usize, at: usize) -> Declared {
    // A file's own scope has no brackets around it.
    let level = i32::from(from > 0);
    let tokens: Vec<_> = Tokens::new(source, from, to).collect();
    let mut reader = Reader { tokens: &tokens, next: 0, depth: 0 };
    let (mut found, mut depth) = (Declared::default(), 0);
    // That of a loop's head has others than its body. A source map may have its beginning at the word before it.
    let before = source[..from].trim_end();
    let is_after = |word| before.ends_with(word) && source[from..].starts_with('(');
    let begins_before = level == 1 && reader.takes("for");
    let is_head = begins_before || is_after("for") || is_after("await");
    reader.next +=
        usize::from(begins_before && reader.peek(0).is_some_and(|token| token.is("await")));
    let first = reader.next + 1;
    if is_after("catch") {
        reader.next = first;
        let mut names = Vec::new();
        reader.names(&mut names);
        found.add(names, false);
        return found;
    }
    while let Some(token) = reader.peek(0) {
        let is_declaration = depth == level
            && matches!(token.text, "let" | "const" | "class" | "using")
            && (reader.begins_statement() || (is_head && reader.next == first));
        reader.next += 1;
        match token.text {
            "{" | "(" | "[" => depth += 1,
            "}" if depth == 1 && level == 1 => return found,
            ")" if depth == 1 && is_head && (!begins_before || reader.end() >= at) => return found,
            "}" | ")" | "]" => depth -= 1,
            "class" if is_declaration => {
                let name = reader.peek(0).filter(Token::is_word);
                while reader.peek(0).is_some_and(|token| !token.is("{")) {
                    reader.next += 1;
                }
                reader.balanced();
                found.add(name.map(|name| name.text).into_iter().collect(), reader.end() >= at);
            }
            _ if is_declaration => loop {
                let mut names = Vec::new();
                reader.names(&mut names);
                reader.rest_of_declaration();
                found.add(names, reader.end() >= at);
                if !reader.takes(",") {
                    break;
                }
            },
            _ => {}
        }
    }
    found
}

/// What the scopes around a line declare, the innermost first, up to that of the function that it is in.
fn declared_around(source: &str, line: u64) -> Vec<Declared> {
    let Some(start) = offset(source, line, 1).filter(|_| source.len() <= MAX_SCOPE) else {
        return Vec::new();
    };
    let rest = &source[start..];
    let at = start + (rest.len() - rest.trim_start().len());
    let (open, head) = brackets_before(source, at);
    let declared = |from| declared_between(source, from, source.len(), at);
    // A statement without brackets follows its head.
    let mut scopes: Vec<_> = head.map(declared).into_iter().collect();
    for bracket in open.into_iter().rev() {
        if source[bracket.start..].starts_with('{') {
            scopes.push(declared(bracket.start));
        }
        scopes.extend(bracket.head.map(declared));
        if bracket.is_function {
            return scopes;
        }
    }
    scopes.push(declared(0));
    scopes
}

/// The brackets that are open at a place, and where the head of a loop or a `catch` begins that ends before it.
fn brackets_before(source: &str, at: usize) -> (Vec<OpenBracket<'_>>, Option<usize>) {
    let (mut open, mut before): (Vec<OpenBracket<'_>>, Option<Token<'_>>) = (Vec::new(), None);
    // The last `(…)`: what stands before the head of a loop or the like tells what the brackets behind it are.
    let mut head: Option<OpenBracket<'_>> = None;
    let of_head = |head: &Option<OpenBracket<'_>>, before: Option<Token<'_>>| {
        let declares = |head: &&OpenBracket<'_>| {
            HEADS.contains(&head.before.text) && before.is_some_and(|token| token.is(")"))
        };
        head.as_ref().filter(declares).map(|head| head.start)
    };
    for token in Tokens::new(source, 0, at) {
        match token.text {
            "{" | "(" | "[" => open.push(OpenBracket {
                start: token.start,
                before: before.unwrap_or(token),
                is_function: token.is("{")
                    && is_function_body(before, head.as_ref().map(|head| head.before)),
                head: of_head(&head, before).filter(|_| token.is("{")),
            }),
            ")" => head = open.pop(),
            "}" | "]" => drop(open.pop()),
            _ => {}
        }
        before = Some(token);
    }
    let head = of_head(&head, before);
    (open, head)
}

/// A bracket that is open at a place.
struct OpenBracket<'a> {
    start: usize,
    /// What stands before it.
    before: Token<'a>,
    /// It begins the body of a function.
    is_function: bool,
    /// Where the head of a loop or a `catch` begins whose body it begins.
    head: Option<usize>,
}

/// Whether a `{` begins the body of a function, or what may be one; `head` is before the last `(…)`.
fn is_function_body(before: Option<Token<'_>>, head: Option<Token<'_>>) -> bool {
    let Some(before) = before else { return false };
    let blocks = ["if", "for", "while", "switch", "catch", "with", "await"];
    let others =
        ["else", "do", "try", "finally", "return", "typeof", "in", "of", "case", "default"];
    match before.text {
        "=>" => true,
        ")" => head.is_none_or(|head| !blocks.contains(&head.text)),
        ">" | "]" => true,
        word => before.is_word() && !others.contains(&word),
    }
}

/// What tells whether a variable of the function around a line has no value there.
fn unset_at(source: &str, line: u64) -> impl Fn(&&str) -> bool {
    let scopes = declared_around(source, line);
    move |name| {
        let meant = scopes.iter().find(|declared| declared.all.contains(*name));
        meant.is_some_and(|declared| declared.unset.contains(*name))
    }
}

/// A log message in which what reads a variable without a value is replaced.
fn log_message(message: &str, source: &str, line: u64, unset: &str) -> String {
    let is_unset = unset_at(source, line);
    with_unset(parts(message), unset, |expression| names_read(expression).iter().any(&is_unset))
}

fn names_read(expression: &str) -> Vec<&str> {
    let tokens: Vec<_> = Tokens::new(expression, 0, expression.len()).collect();
    let bound = names_bound(&tokens);
    let is_read = |(at, token): &(usize, &Token<'_>)| {
        let is_member = *at > 0 && tokens[at - 1].is(".") && (*at < 2 || !tokens[at - 2].is("."));
        let is_key = tokens.get(at + 1).is_some_and(|next| next.is(":"))
            && at.checked_sub(1).is_some_and(|at| tokens[at].is("{") || tokens[at].is(","));
        token.is_word() && !is_member && !is_key && !bound.contains(&token.text)
    };
    tokens.iter().enumerate().filter(is_read).map(|(_, token)| token.text).collect()
}

/// The names that an expression binds itself: parameters of its functions, and what its declarations declare.
fn names_bound<'a>(tokens: &'a [Token<'a>]) -> Vec<&'a str> {
    let (mut names, mut open, mut closed) = (Vec::new(), Vec::new(), 0);
    for (at, token) in tokens.iter().enumerate() {
        let before = at.checked_sub(1).map(|before| tokens[before].text);
        let next = match token.text {
            "(" | "[" | "{" => {
                open.push(at);
                continue;
            }
            ")" | "]" | "}" => {
                closed = open.pop().unwrap_or(at);
                continue;
            }
            "=>" if before == Some(")") => closed,
            "=>" => at.saturating_sub(1),
            "function" | "catch" | "let" | "const" | "var" if before != Some(".") => at + 1,
            _ => continue,
        };
        let mut reader = Reader { tokens, next, depth: 0 };
        if token.is("function") {
            reader.takes("*");
            if reader.peek(0).is_some_and(|name| name.is_word()) {
                reader.names(&mut names);
            }
        }
        reader.names(&mut names);
    }
    names
}

/// Where a line and a column are in a source, in bytes. Columns count halves of characters, from 1.
fn offset(source: &str, line: u64, column: u64) -> Option<usize> {
    let mut start = 0;
    for _ in 1..line {
        start += source[start..].find('\n')? + 1;
    }
    let mut left = usize::try_from(column.checked_sub(1)?).ok()?;
    let text = source[start..].split('\n').next()?;
    for (at, character) in text.char_indices() {
        if left == 0 {
            return Some(start + at);
        }
        left = left.saturating_sub(character.len_utf16());
    }
    Some(start + text.len())
}

struct Reader<'a> {
    tokens: &'a [Token<'a>],
    next: usize,
    /// How many patterns it is in.
    depth: usize,
}

impl<'a> Reader<'a> {
    fn peek(&self, behind: usize) -> Option<Token<'a>> {
        self.tokens.get(self.next + behind).copied()
    }

    fn before(&self) -> Option<Token<'a>> {
        self.tokens.get(self.next.checked_sub(1)?).copied()
    }

    /// Where the last token that was read ends.
    fn end(&self) -> usize {
        self.before().map_or(0, |token| token.end())
    }

    fn takes(&mut self, text: &str) -> bool {
        let is_next = self.peek(0).is_some_and(|token| token.is(text));
        self.next += usize::from(is_next);
        is_next
    }

    /// Whether the next token is a keyword that begins a statement, and no name.
    fn begins_statement(&self) -> bool {
        let Some(behind) = self.peek(1) else { return false };
        let is_binding = behind.is_word() || matches!(behind.text, "{" | "[");
        let begins = ["{", "}", ";", ")", ":", "export", "default", "abstract", "declare", "await"];
        is_binding
            && !matches!(behind.text, "in" | "instanceof" | "enum")
            && self.before().is_none_or(|before| {
                begins.contains(&before.text)
                    || (self.peek(0).is_some_and(|token| token.on_new_line)
                        && ends_expression(before))
            })
    }

    /// Reads what is between brackets, where one opens.
    fn balanced(&mut self) {
        let mut depth = 0;
        while let Some(token) = self.peek(0) {
            depth += match token.text {
                "{" | "(" | "[" => 1,
                "}" | ")" | "]" => -1,
                _ => 0,
            };
            if depth < 0 {
                return;
            }
            self.next += 1;
            if depth == 0 {
                return;
            }
        }
    }

    /// Reads the names that a declaration binds: one, or those of a pattern or of parameters.
    fn names(&mut self, names: &mut Vec<&'a str>) {
        if self.depth == MAX_NESTED {
            // One token at least, so that those around it end.
            let behind = self.next + 1;
            self.balanced();
            self.next = self.next.max(behind);
            return;
        }
        self.depth += 1;
        if self.takes("{") {
            while self.peek(0).is_some() && !self.takes("}") {
                while self.takes(".") || self.takes(",") {}
                let key = self.peek(0);
                self.balanced();
                if self.takes(":") {
                    self.names(names);
                } else {
                    names.extend(key.filter(Token::is_word).map(|key| key.text));
                }
                self.default_value();
            }
        } else if let Some((_, end)) =
            [("[", "]"), ("(", ")")].into_iter().find(|(open, _)| self.takes(open))
        {
            while self.peek(0).is_some() && !self.takes(end) {
                while self.takes(".") || self.takes(",") {}
                if self.peek(0).is_some_and(|token| !token.is(end)) {
                    self.names(names);
                    self.default_value();
                }
            }
        } else if let Some(name) = self.peek(0) {
            self.next += 1;
            names.extend(Some(name).filter(Token::is_word).map(|name| name.text));
        }
        self.depth -= 1;
    }

    /// Reads what a name of a pattern is where nothing is bound to it.
    fn default_value(&mut self) {
        if self.takes("=") {
            while self.peek(0).is_some_and(|token| !matches!(token.text, "," | "}" | "]" | ")")) {
                self.balanced();
            }
        }
    }

    /// Reads a type and a value, up to the next name or the end of the statement.
    fn rest_of_declaration(&mut self) {
        let mut angles = 0;
        let mut is_type = self.peek(0).is_some_and(|token| token.is(":"));
        while let Some(token) = self.peek(0) {
            match token.text {
                "=" => is_type = false,
                "<" if is_type => angles += 1,
                ">" if is_type => angles -= 1,
                ";" | "}" | ")" | "]" => return,
                "," if angles <= 0 => return,
                _ if token.on_new_line
                    && (token.is_word() || token.text.starts_with(['\'', '"', '{']))
                    && !matches!(token.text, "in" | "instanceof" | "as" | "satisfies" | "of")
                    && self.before().is_some_and(ends_expression) =>
                {
                    return;
                }
                _ => {}
            }
            self.balanced();
        }
    }
}

/// Whether an expression may end with a token.
fn ends_expression(token: Token<'_>) -> bool {
    let continues =
        ["typeof", "new", "await", "in", "of", "instanceof", "delete", "void", "as", "extends"];
    let is_value = token.is_word() || token.text.starts_with(['\'', '"', '`', ')', ']', '}', '/']);
    is_value && !continues.contains(&token.text) && !token.is("/")
}

#[cfg(test)]
mod tests;
