//! How well an entry matches: BM25F over the command and the head of the output.
//!
//! Every candidate holds every term, so the rarity of terms weighs all alike and is left out; FTS5's
//! own `bm25()` would walk through all matches of each word to learn it. The usual lengths are
//! constants, so that a score depends on the entry and the query only.

use super::terms::Terms;
use crate::query::Scope;

/// A match in the command counts this many times one in the output.
const COMMAND_WEIGHT: f64 = 8.0;
/// Words of a usual command.
const COMMAND_WORDS: f64 = 8.0;
/// Words of a usual output's head.
const OUTPUT_WORDS: f64 = 100.0;
/// How soon more of the same counts less.
const K1: f64 = 1.2;
/// How much length counts.
const B: f64 = 0.75;

/// Higher is better.
pub(super) fn score(terms: &Terms, scope: Scope, command: &str, head: &str) -> f64 {
    let mut frequencies = vec![0.0; terms.len()];
    if scope != Scope::Output {
        add(&mut frequencies, terms, command, COMMAND_WEIGHT, COMMAND_WORDS);
    }
    if scope != Scope::Commands {
        add(&mut frequencies, terms, head, 1.0, OUTPUT_WORDS);
    }
    // A term that is not seen here stands further down in the output.
    let beyond = 1.0 / (1.0 - B + B * 10.0);
    frequencies
        .iter()
        .map(|&frequency| if frequency > 0.0 { frequency } else { beyond })
        .map(|frequency| frequency / (K1 + frequency))
        .sum()
}

fn add(frequencies: &mut [f64], terms: &Terms, text: &str, weight: f64, usual: f64) {
    let mut counts = vec![0u32; frequencies.len()];
    let words = terms.find(text, |term, _| counts[term] += 1);
    let length = 1.0 - B + B * words as f64 / usual;
    for (frequency, count) in frequencies.iter_mut().zip(counts) {
        *frequency += weight * f64::from(count) / length;
    }
}
