//! The words of a query and of a text.
//!
//! A term is what stands between blanks, or between quotes. Its tokens are the runs of letters and digits in it, so
//! `src/main.rs` is the phrase `src main rs` and finds `/home/me/src/main.rs:12`, and `--no-verify`
//! is `no verify`. FTS5 gets each term quoted and cuts it as it cut the text; the tokens here serve
//! scores and snippets.

use std::ops::Range;

use super::expression::{self, Expression, Lexeme};

/// The words of a query.
#[derive(Debug)]
pub(super) struct Terms {
    terms: Vec<Term>,
    expression: Option<Expression>,
}

/// Tokens that must follow each other.
#[derive(Debug)]
struct Term {
    text: String,
    tokens: Vec<String>,
    /// The first byte of the first token.
    start: u8,
    /// It was written in quotes: its last word is whole.
    quoted: bool,
}

/// Shorter prefixes begin too many words to look all of them up for a mere probe.
const PROBE_PREFIX: usize = 4;
/// Single words that are probed.
const PROBES: usize = 8;

impl Terms {
    pub(super) fn parse(text: &str) -> Self {
        let mut terms = Vec::new();
        let expression = expression::parse(&expression::lexemes(text), |lexeme| {
            let (word, quoted) = match lexeme {
                Lexeme::Word(word) => (word, false),
                Lexeme::Phrase(phrase) => (phrase, true),
                _ => return None,
            };
            let tokens: Vec<_> = tokens(word).map(|place| word[place].to_lowercase()).collect();
            let start = *tokens.first()?.as_bytes().first()?;
            terms.push(Term { text: word.replace('\0', " "), tokens, start, quoted });
            Some(terms.len() - 1)
        });
        Self { terms, expression }
    }

    /// Words, at most: each is compared with each word of a candidate.
    pub(super) const MAX: usize = 64;

    pub(super) fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.terms.len()
    }

    /// What must occur, the last word as a prefix, in the syntax of FTS5.
    pub(super) fn expression(&self) -> String {
        let term = |index: usize| {
            let term = &self.terms[index];
            let prefix = if self.is_prefix(index) { " *" } else { "" };
            format!("\"{}\"{prefix}", term.text.replace('"', "\"\""))
        };
        self.expression.as_ref().map_or_else(String::new, |expression| expression.write(&term))
    }

    /// Whether an entry with these words is one that was asked for.
    pub(super) fn holds(&self, seen: &[bool]) -> bool {
        self.expression.as_ref().is_some_and(|expression| expression.holds(seen))
    }

    /// The last word may be the beginning of one.
    fn is_prefix(&self, index: usize) -> bool {
        index + 1 == self.terms.len() && !self.terms[index].quoted
    }

    /// What may be rare in it, cheapest first: its words, all but the last word, the last word as a
    /// prefix. The entries of a rare one are all that need be looked at. None where not all words
    /// must occur, or the index may cut words otherwise than [`Words`] does.
    pub(super) fn probes(&self) -> Vec<String> {
        let quote = |text: &str| format!("\"{text}\"");
        let Some((last_term, others)) = self.terms.split_last() else { return Vec::new() };
        let Some((last, before)) = last_term.tokens.split_last() else { return Vec::new() };
        let needs_all = self.expression.as_ref().is_some_and(Expression::needs_all);
        if !needs_all || !self.terms.iter().all(|term| term.text.is_ascii()) {
            return Vec::new();
        }
        let words = others.iter().flat_map(|term| &term.tokens).chain(before);
        let mut probes: Vec<_> = words.map(|token| quote(token)).collect();
        probes.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        probes.dedup();
        probes.truncate(PROBES);
        let phrases = others.iter().map(|term| &term.tokens[..]).chain([before]);
        let phrases: Vec<_> = phrases
            .filter(|tokens| !tokens.is_empty())
            .map(|tokens| quote(&tokens.join(" ")))
            .collect();
        if probes.len() > 1 {
            probes.push(phrases.join(" "));
        }
        if last.len() >= PROBE_PREFIX {
            probes.push(quote(last) + " *");
        }
        probes
    }

    /// One phrase alone: the index needs no help with it.
    pub(super) fn is_single_word(&self) -> bool {
        matches!(&self.terms[..], [term] if term.tokens.len() == 1)
    }

    /// Calls `found` with the term and the bytes of each place where one occurs in `text`; the
    /// number of words.
    pub(super) fn find(&self, text: &str, mut found: impl FnMut(usize, Range<usize>)) -> usize {
        // Most terms are one word, and most words begin otherwise: nothing else is looked at.
        let mut words = tokens(text);
        let mut count = 0;
        while let Some(first) = words.next() {
            count += 1;
            let start = text.as_bytes()[first.start].to_ascii_lowercase();
            for (index, term) in self.terms.iter().enumerate() {
                if term.start != start && start.is_ascii() && term.start.is_ascii() {
                    continue;
                }
                let prefix = self.is_prefix(index);
                if let Some(end) = term.matches(text, &first, words.clone(), prefix) {
                    found(index, first.start..end);
                }
            }
        }
        count
    }

    /// Notes which terms occur in `text`.
    pub(super) fn note(&self, text: &str, seen: &mut [bool]) {
        self.find(text, |term, _| seen[term] = true);
    }
}

impl Term {
    /// Where it ends, if the words from `first` on are its tokens.
    fn matches(
        &self,
        text: &str,
        first: &Range<usize>,
        next: Words<'_>,
        prefix: bool,
    ) -> Option<usize> {
        let last = self.tokens.len() - 1;
        let mut words = std::iter::once(first.clone()).chain(next);
        let mut end = first.end;
        for (index, token) in self.tokens.iter().enumerate() {
            let range = words.next()?;
            end = range.end;
            let word = &text[range];
            let same =
                if prefix && index == last { starts(word, token) } else { equals(word, token) };
            if !same {
                return None;
            }
        }
        Some(end)
    }
}

/// The runs of letters and digits, with the marks that combine with them.
fn tokens(text: &str) -> Words<'_> {
    Words { text, at: 0 }
}

#[derive(Debug, Clone)]
struct Words<'t> {
    text: &'t str,
    at: usize,
}

impl Iterator for Words<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        while self.at < self.text.len() {
            let (width, inside) = self.character();
            if inside {
                break;
            }
            self.at += width;
        }
        let start = self.at;
        while self.at < self.text.len() {
            let (width, inside) = self.character();
            if !inside {
                break;
            }
            self.at += width;
        }
        (start < self.at).then_some(start..self.at)
    }
}

impl Words<'_> {
    /// Bytes of the character, and whether it belongs to a word.
    fn character(&self) -> (usize, bool) {
        let byte = self.text.as_bytes()[self.at];
        if byte.is_ascii() {
            return (1, byte.is_ascii_alphanumeric());
        }
        let combines = |c: char| ('\u{300}'..='\u{36f}').contains(&c);
        match self.text[self.at..].chars().next() {
            Some(c) => (c.len_utf8(), c.is_alphanumeric() || combines(c)),
            None => (1, false),
        }
    }
}

fn equals(word: &str, token: &str) -> bool {
    if word.is_ascii() { word.eq_ignore_ascii_case(token) } else { word.to_lowercase() == token }
}

fn starts(word: &str, token: &str) -> bool {
    if word.is_ascii() {
        word.get(..token.len()).is_some_and(|start| start.eq_ignore_ascii_case(token))
    } else {
        word.to_lowercase().starts_with(token)
    }
}
