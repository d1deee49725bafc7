//! Two sessions side by side.

use std::collections::BTreeSet;

use super::exceptions;
use super::logs::lines;
use super::record::SessionLabel;
use super::store::{EventStore, Log};
use super::summary::count;
use super::timeline::describe;
use crate::error::DebugError;

/// Rows in one answer.
const MAX_ROWS: usize = 200;
/// Lines or stops of one session that are compared.
const MAX_COMPARED: usize = 1000;

/// What is compared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CompareBy {
    /// Counts of events.
    #[default]
    Counts,
    /// Exceptions and how often they came.
    Exceptions,
    /// Stops in their order.
    Timeline,
    /// Output, line by line.
    Outputs,
}

/// Something in one session or both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComparisonRow {
    /// What it is, where it has a name of its own.
    pub key: String,
    /// In the first session.
    pub a: Option<String>,
    /// In the second.
    pub b: Option<String>,
}

impl ComparisonRow {
    /// Whether both have the same.
    pub fn same(&self) -> bool {
        self.a == self.b
    }
}

/// Two sessions side by side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comparison {
    /// The first session.
    pub a: SessionLabel,
    /// The second.
    pub b: SessionLabel,
    /// The rows; of output and stops only around differences.
    pub rows: Vec<ComparisonRow>,
    /// How many rows differ, those left out included.
    pub differences: usize,
    /// Rows that were left out.
    pub left_out: usize,
}

impl EventStore {
    /// Compares two sessions.
    pub fn compare(&self, a: &str, b: &str, by: CompareBy) -> Result<Comparison, DebugError> {
        let (a, b) = (self.log(Some(a))?, self.log(Some(b))?);
        let mut rows = match by {
            CompareBy::Counts => counts(&a, &b, |log| {
                let name = |record: &super::record::Record| {
                    let category = record.category();
                    category.map_or(record.event.clone(), |category| format!("output:{category}"))
                };
                log.records.iter().map(name).collect()
            }),
            CompareBy::Exceptions => counts(&a, &b, |log| {
                let entries = exceptions::entries(log).into_iter();
                entries.map(|entry| entry.id.or(entry.message).unwrap_or_default()).collect()
            }),
            CompareBy::Timeline => sequences(&stops(&a), &stops(&b)),
            CompareBy::Outputs => sequences(&output(&a), &output(&b)),
        };
        let differences = rows.iter().filter(|row| !row.same()).count();
        let left_out = rows.len().saturating_sub(MAX_ROWS);
        rows.truncate(MAX_ROWS);
        Ok(Comparison { a: a.label, b: b.label, rows, differences, left_out })
    }
}

fn counts(a: &Log, b: &Log, keys: impl Fn(&Log) -> Vec<String>) -> Vec<ComparisonRow> {
    let (a, b) = (count(keys(a).into_iter()), count(keys(b).into_iter()));
    let names: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    let row = |name: &String| ComparisonRow {
        key: name.clone(),
        a: Some(a.get(name).copied().unwrap_or(0).to_string()),
        b: Some(b.get(name).copied().unwrap_or(0).to_string()),
    };
    names.into_iter().map(row).collect()
}

fn stops(log: &Log) -> Vec<String> {
    let located = log.records.iter().filter(|record| record.event == "stopLocation");
    located.map(describe).take(MAX_COMPARED).collect()
}

fn output(log: &Log) -> Vec<String> {
    let program = |category: &str| matches!(category, "stdout" | "stderr");
    let lines = lines(log).into_iter().filter(|line| program(&line.category));
    lines.map(|line| line.text).take(MAX_COMPARED).collect()
}

/// Where two sequences differ: what only one has, and beside it what only the other has.
fn sequences(a: &[String], b: &[String]) -> Vec<ComparisonRow> {
    let (mut rows, mut i, mut j) = (Vec::new(), 0, 0);
    for (next_i, next_j) in common(a, b).into_iter().chain([(a.len(), b.len())]) {
        let (only_a, only_b) = (&a[i..next_i], &b[j..next_j]);
        for offset in 0..only_a.len().max(only_b.len()) {
            rows.push(ComparisonRow {
                key: format!("{}", i + offset + 1),
                a: only_a.get(offset).cloned(),
                b: only_b.get(offset).cloned(),
            });
        }
        (i, j) = (next_i + 1, next_j + 1);
    }
    rows
}

/// The longest common subsequence, as pairs of places.
fn common(a: &[String], b: &[String]) -> Vec<(usize, usize)> {
    let width = b.len() + 1;
    // At most (MAX_COMPARED + 1)² cells of two bytes.
    let mut lengths = vec![0_u16; (a.len() + 1) * width];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            lengths[i * width + j] = if a[i] == b[j] {
                lengths[(i + 1) * width + j + 1] + 1
            } else {
                lengths[(i + 1) * width + j].max(lengths[i * width + j + 1])
            };
        }
    }
    let (mut pairs, mut i, mut j) = (Vec::new(), 0, 0);
    while i < a.len() && j < b.len() {
        if a[i] == b[j] {
            pairs.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if lengths[(i + 1) * width + j] >= lengths[i * width + j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    pairs
}
