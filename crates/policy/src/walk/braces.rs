//! Brace expansion: `{rm,-rf,/}` is three words.
//!
//! Lists only; a sequence such as `{1..9}` stays as written.

use std::borrow::Borrow;
use std::rc::Rc;

use crate::parse::{MAX_NESTING, Piece, Word};

use super::Stop;

/// Most pieces that one word may expand to, over all the words it becomes.
const MAX_PIECES: usize = 16 * 1024;

/// Most braces, commas and texts between them in one word.
const MAX_TOKENS: usize = 64 * 1024;

/// A piece of the word, or a cut of one of its literals.
#[derive(Clone)]
pub(super) enum Part<'a> {
    Whole(&'a Piece),
    Cut(Rc<Piece>),
}

impl Borrow<Piece> for Part<'_> {
    fn borrow(&self) -> &Piece {
        match self {
            Self::Whole(piece) => piece,
            Self::Cut(piece) => piece,
        }
    }
}

enum Token<'a> {
    Part(Part<'a>),
    /// With the place of its closing brace, if it has one.
    Open(Option<usize>),
    Comma,
    Close,
}

/// The words a word becomes. `None` if it has no braces to expand.
pub(super) fn expand(word: &Word) -> Result<Option<Vec<Vec<Part<'_>>>>, Stop> {
    let has_braces = word
        .pieces
        .iter()
        .any(|piece| matches!(piece, Piece::Literal { text, quoted: false } if text.contains('{')));
    if !has_braces {
        return Ok(None);
    }
    let tokens = tokens(word)?;
    Expansion { tokens: &tokens }.sequence(0, tokens.len(), 0).map(Some)
}

fn tokens(word: &Word) -> Result<Vec<Token<'_>>, Stop> {
    let mut tokens = Vec::new();
    let mut open = Vec::new();
    for piece in &word.pieces {
        let Piece::Literal { text, quoted: false } = piece else {
            tokens.push(Token::Part(Part::Whole(piece)));
            continue;
        };
        for cut in text.split_inclusive(['{', ',', '}']) {
            let (before, sign) = match cut.char_indices().next_back() {
                Some((at, sign @ ('{' | ',' | '}'))) => (&cut[..at], Some(sign)),
                _ => (cut, None),
            };
            if tokens.len() >= MAX_TOKENS {
                return Err(Stop::TooMuch);
            }
            if !before.is_empty() {
                tokens.push(Token::Part(literal(before)));
            }
            match sign {
                Some('{') => {
                    open.push(tokens.len());
                    tokens.push(Token::Open(None));
                }
                Some('}') => {
                    if let Some(start) = open.pop() {
                        tokens[start] = Token::Open(Some(tokens.len()));
                    }
                    tokens.push(Token::Close);
                }
                Some(_) => tokens.push(Token::Comma),
                None => {}
            }
        }
    }
    Ok(tokens)
}

fn literal<'a>(text: &str) -> Part<'a> {
    Part::Cut(Rc::new(Piece::Literal { text: text.to_owned(), quoted: false }))
}

struct Expansion<'t, 'a> {
    tokens: &'t [Token<'a>],
}

impl<'a> Expansion<'_, 'a> {
    fn sequence(&self, from: usize, to: usize, depth: usize) -> Result<Vec<Vec<Part<'a>>>, Stop> {
        let mut words = vec![Vec::new()];
        let mut at = from;
        while at < to {
            let choices = match &self.tokens[at] {
                Token::Part(part) => vec![vec![part.clone()]],
                Token::Comma => vec![vec![literal(",")]],
                Token::Close => vec![vec![literal("}")]],
                Token::Open(close) => match close.map(|close| (close, self.commas(at, close))) {
                    Some((close, commas)) if !commas.is_empty() && depth < MAX_NESTING => {
                        let mut choices = Vec::new();
                        let mut start = at + 1;
                        for end in commas.into_iter().chain([close]) {
                            choices.extend(self.sequence(start, end, depth + 1)?);
                            start = end + 1;
                        }
                        at = close;
                        choices
                    }
                    _ => vec![vec![literal("{")]],
                },
            };
            at += 1;
            if let [only] = choices.as_slice() {
                words.iter_mut().for_each(|word| word.extend_from_slice(only));
                continue;
            }
            let old: usize = words.iter().map(Vec::len).sum();
            let new: usize = choices.iter().map(Vec::len).sum();
            if old.saturating_mul(choices.len()) + new.saturating_mul(words.len()) > MAX_PIECES {
                return Err(Stop::TooMuch);
            }
            words = words
                .iter()
                .flat_map(|word| choices.iter().map(|choice| [word.as_slice(), choice].concat()))
                .collect();
        }
        Ok(words)
    }

    /// The commas of a group that are not in a group inside it.
    fn commas(&self, open: usize, close: usize) -> Vec<usize> {
        let mut commas = Vec::new();
        let mut at = open + 1;
        while at < close {
            match self.tokens[at] {
                Token::Comma => commas.push(at),
                Token::Open(Some(end)) if end < close => at = end,
                _ => {}
            }
            at += 1;
        }
        commas
    }
}
