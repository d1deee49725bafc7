//! The words of a query and of a text.
//!
//! A term is what stands between blanks. Its tokens are the runs of letters and digits in it, so
//! `src/main.rs` is the phrase `src main rs` and finds `/home/me/src/main.rs:12`, and `--no-verify`
//! is `no verify`. FTS5 gets each term quoted and cuts it as it cut the text; the tokens here serve
//! scores and snippets.

use std::ops::Range;

/// The words of a query.
#[derive(Debug, Default)]
pub(super) struct Terms {
    terms: Vec<Term>,
}

/// Tokens that must follow each other.
#[derive(Debug)]
struct Term {
    text: String,
    /// Bytes of the text before its last token.
    before_last: usize,
    tokens: Vec<String>,
    /// The first byte of the first token.
    start: u8,
}

/// Which terms an expression holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// All of them, the last as a prefix.
    All,
    /// All but the last token: a prefix costs as much as all words that begin with it.
    Exact,
}

impl Terms {
    pub(super) fn parse(text: &str) -> Self {
        let mut terms = Vec::new();
        for word in text.split(|c: char| c.is_whitespace() || c == '\0') {
            let places: Vec<_> = tokens(word).collect();
            let Some(last) = places.last() else { continue };
            terms.push(Term {
                start: word.as_bytes()[places[0].start].to_ascii_lowercase(),
                before_last: last.start,
                tokens: places.iter().map(|place| word[place.clone()].to_lowercase()).collect(),
                text: word.to_owned(),
            });
        }
        Self { terms }
    }

    /// Words, at most: each is compared with each word of a candidate.
    pub(super) const MAX: usize = 64;

    pub(super) fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.terms.len()
    }

    /// In the syntax of FTS5; nothing if the part has no term.
    pub(super) fn expression(&self, part: Part) -> Option<String> {
        let (last, others) = self.terms.split_last()?;
        let mut phrases: Vec<_> = others.iter().map(|term| quote(&term.text)).collect();
        match part {
            Part::All => phrases.push(quote(&last.text) + " *"),
            Part::Exact if last.tokens.len() > 1 => {
                phrases.push(quote(&last.text[..last.before_last]));
            }
            Part::Exact => {}
        }
        (!phrases.is_empty()).then(|| phrases.join(" "))
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
                let prefix = index + 1 == self.terms.len();
                if let Some(end) = term.matches(text, &first, words.clone(), prefix) {
                    found(index, first.start..end);
                }
            }
        }
        count
    }

    /// The last term begins a word of `text`.
    pub(super) fn last_occurs(&self, text: &str) -> bool {
        let last = self.terms.len() - 1;
        let mut occurs = false;
        self.find(text, |term, _| occurs |= term == last);
        occurs
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

fn quote(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
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
