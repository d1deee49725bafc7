//! Where a page ended, as a text that means nothing to others.
//!
//! `FINGERPRINT.TO[.SCORE.SEQ]` in hexadecimal: the query it belongs to, the newest row that counts,
//! and, within a ranked block, the last hit.

use super::candidates::Candidate;
use crate::error::StoreError;
use crate::query::Query;
use crate::tags;

/// Where to go on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cursor {
    /// Rows newer than this came later or were shown.
    pub(super) to: i64,
    pub(super) after: Option<After>,
}

/// The last hit of a page.
#[derive(Debug, Clone, Copy)]
pub(super) struct After {
    score: f64,
    seq: i64,
}

impl After {
    pub(super) fn new(last: &Candidate) -> Self {
        Self { score: last.score, seq: last.seq }
    }

    /// The candidate ranks below it.
    pub(super) fn precedes(&self, candidate: &Candidate) -> bool {
        let last = Candidate { seq: self.seq, score: self.score };
        last.best_first(candidate).is_lt()
    }
}

impl Cursor {
    pub(super) fn to_text(self, query: &Query) -> String {
        let mut text = format!("{:x}.{:x}", fingerprint(query), self.to);
        if let Some(after) = self.after {
            text.push_str(&format!(".{:x}.{:x}", after.score.to_bits(), after.seq));
        }
        text
    }

    pub(super) fn parse(text: &str, query: &Query) -> Result<Self, StoreError> {
        let numbers: Result<Vec<u64>, _> =
            text.split('.').map(|part| u64::from_str_radix(part, 16)).collect();
        let (to, after) = match numbers.as_deref() {
            Ok([print, to]) if *print == fingerprint(query) => (to, None),
            Ok([print, to, score, seq]) if *print == fingerprint(query) => {
                (to, Some(After { score: f64::from_bits(*score), seq: *seq as i64 }))
            }
            _ => return Err(StoreError::BadCursor),
        };
        Ok(Self { to: *to as i64, after })
    }
}

/// All that decides which entries match and how they rank.
fn fingerprint(query: &Query) -> u64 {
    let text = query.text.trim();
    tags::hash(format!("{text:?}{:?}{:?}", query.scope, query.filter).as_bytes())
}
