//! One line around the place where most of the terms are.

use std::ops::Range;

use super::terms::Terms;
use crate::query::{Field, Markers, Snippet};

/// Bytes of text in a snippet, markers aside.
const WIDTH: usize = 160;
/// Bytes before the first match.
const BEFORE: usize = 40;
/// Matches looked at in one text.
const PLACES: usize = 1024;
/// Matches looked at around one of them.
const NEAR: usize = 64;

/// Chooses between the texts of an entry.
pub(super) struct Maker<'q> {
    terms: &'q Terms,
    markers: &'q Markers,
    best: Option<(usize, Snippet)>,
}

impl<'q> Maker<'q> {
    pub(super) fn new(terms: &'q Terms, markers: &'q Markers) -> Self {
        Self { terms, markers, best: None }
    }

    pub(super) fn command(&mut self, text: Option<&str>) {
        self.offer(Field::Command, text.unwrap_or_default());
    }

    pub(super) fn output(&mut self, text: &str) {
        self.offer(Field::Output, text);
    }

    /// It shows every term.
    pub(super) fn is_complete(&self) -> bool {
        self.best.as_ref().is_some_and(|(count, _)| *count == self.terms.len())
    }

    /// The best one; the start of the command if the terms are nowhere to be seen.
    pub(super) fn finish(self, command: &str) -> Snippet {
        let start =
            || Snippet { field: Field::Command, text: render(command, &[], 0, self.markers) };
        self.best.map_or_else(start, |(_, snippet)| snippet)
    }

    fn offer(&mut self, field: Field, text: &str) {
        let mut places = Vec::new();
        self.terms.find(text, |term, place| {
            if places.len() < PLACES {
                places.push((term, place));
            }
        });
        let Some((count, first)) = densest(&places) else { return };
        if self.best.as_ref().is_none_or(|(best, _)| count > *best) {
            let places: Vec<_> = places.into_iter().map(|(_, place)| place).collect();
            let text = render(text, &places[first..], places[first].start, self.markers);
            self.best = Some((count, Snippet { field, text }));
        }
    }
}

/// The place from which on most different terms follow within a snippet, and how many.
fn densest(places: &[(usize, Range<usize>)]) -> Option<(usize, usize)> {
    let mut best: Option<(usize, usize)> = None;
    for (first, (_, place)) in places.iter().enumerate() {
        let near =
            places[first..].iter().take_while(|(_, next)| next.end <= place.start + WIDTH - BEFORE);
        let mut terms: Vec<_> = near.map(|(term, _)| *term).take(NEAR).collect();
        terms.sort_unstable();
        terms.dedup();
        if best.is_none_or(|(count, _)| terms.len() > count) {
            best = Some((terms.len().max(1), first));
        }
    }
    best
}

fn render(text: &str, places: &[Range<usize>], first: usize, markers: &Markers) -> String {
    let start = text.floor_char_boundary(first.saturating_sub(BEFORE));
    let end = text.ceil_char_boundary((start + WIDTH).min(text.len()));
    let mut line = String::new();
    if start > 0 {
        line.push('…');
    }
    let mut at = start;
    for place in places {
        // Terms may overlap; the first one is marked.
        if place.start < at || place.end > end {
            continue;
        }
        push_plain(&mut line, &text[at..place.start]);
        line.push_str(&markers.open);
        push_plain(&mut line, &text[place.clone()]);
        line.push_str(&markers.close);
        at = place.end;
    }
    push_plain(&mut line, &text[at..end]);
    if end < text.len() {
        line.push('…');
    }
    line.trim().to_owned()
}

/// Blanks and control characters become one space.
fn push_plain(line: &mut String, text: &str) {
    for c in text.chars() {
        if !c.is_whitespace() && !c.is_control() {
            line.push(c);
        } else if !line.ends_with(' ') {
            line.push(' ');
        }
    }
}
