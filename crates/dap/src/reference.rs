//! References to frames and values, in our own numbering.
//!
//! Adapters number frames and containers anew after each stop, so an old number may silently mean
//! something else. Ours are never used twice, in any session: a number that was given out and is no
//! longer known is stale, one that was never given out is wrong.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::DebugError;
use crate::protocol::Scope;

/// References that a session keeps; the oldest are dropped beyond that, and are stale then.
const MAX_REFERENCES: usize = 50_000;

/// Where the next number comes from, for all sessions of a debugger.
#[derive(Debug, Clone)]
pub(crate) struct Numbers(Arc<AtomicU64>);

impl Default for Numbers {
    fn default() -> Self {
        Self(Arc::new(AtomicU64::new(1)))
    }
}

/// What a number means to the adapter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reference {
    /// The connection it came over.
    pub(crate) link: u32,
    pub(crate) target: Target,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    Frame(i64),
    Variables(i64),
}

/// The references of one session.
#[derive(Debug)]
pub(crate) struct References {
    numbers: Numbers,
    known: BTreeMap<u64, Reference>,
    /// Connections over which variables may have been changed since the program stopped.
    touched: HashSet<u32>,
    /// Where frames stand, by connection and the adapter's number.
    frames: HashMap<(u32, i64), FramePlace>,
    /// The frames of containers, by connection and the adapter's number.
    owners: HashMap<(u32, i64), i64>,
    /// Scopes of frames, by connection and the adapter's number of their container.
    scopes: HashMap<(u32, i64), ScopePlace>,
}

/// Where a frame stands in a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FramePlace {
    pub(crate) path: String,
    pub(crate) line: u64,
    pub(crate) column: u64,
    /// The function, as the adapter calls it.
    pub(crate) function: String,
}

/// A scope of a frame.
#[derive(Debug, Clone)]
pub(crate) struct ScopePlace {
    pub(crate) scope: Scope,
    /// The adapter's number of the frame.
    pub(crate) frame: i64,
    pub(crate) place: FramePlace,
    /// It belongs to the frame itself, and not to a function around it.
    pub(crate) is_own: bool,
}

impl References {
    pub(crate) fn new(numbers: Numbers) -> Self {
        Self {
            numbers,
            known: BTreeMap::new(),
            touched: HashSet::new(),
            frames: HashMap::new(),
            owners: HashMap::new(),
            scopes: HashMap::new(),
        }
    }

    /// A number for a reference.
    pub(crate) fn add(&mut self, reference: Reference) -> u64 {
        let number = self.numbers.0.fetch_add(1, Ordering::Relaxed);
        self.known.insert(number, reference);
        if self.known.len() > MAX_REFERENCES {
            self.known.pop_first();
        }
        number
    }

    /// What a number stands for.
    pub(crate) fn get(&self, number: u64) -> Result<Reference, DebugError> {
        if let Some(reference) = self.known.get(&number) {
            return Ok(*reference);
        }
        if number > 0 && number < self.numbers.0.load(Ordering::Relaxed) {
            Err(DebugError::StaleReference(number))
        } else {
            Err(DebugError::InvalidReference(number))
        }
    }

    /// Whether this session gave the number out and still knows it.
    pub(crate) fn contains(&self, number: u64) -> bool {
        self.known.contains_key(&number)
    }

    /// Forgets what came over a connection: its program went on.
    pub(crate) fn forget(&mut self, link: u32) {
        self.known.retain(|_, reference| reference.link != link);
        self.touched.remove(&link);
        self.frames.retain(|(of, _), _| *of != link);
        self.owners.retain(|(of, _), _| *of != link);
        self.scopes.retain(|(of, _), _| *of != link);
    }

    /// Keeps where a frame stands.
    pub(crate) fn keep_frame(&mut self, link: u32, frame: i64, place: FramePlace) {
        if self.frames.len() < MAX_REFERENCES {
            self.frames.insert((link, frame), place);
        }
    }

    /// Where a frame stands.
    pub(crate) fn frame_place(&self, link: u32, frame: i64) -> Option<&FramePlace> {
        self.frames.get(&(link, frame))
    }

    /// Keeps the frame of a container.
    pub(crate) fn keep_owner(&mut self, link: u32, container: i64, frame: i64) {
        if container != 0 && self.owners.len() < MAX_REFERENCES {
            self.owners.insert((link, container), frame);
        }
    }

    /// The frame of a container, where it is known.
    pub(crate) fn frame_of(&self, link: u32, container: i64) -> Option<i64> {
        self.owners.get(&(link, container)).copied()
    }

    /// Keeps a scope of a frame.
    pub(crate) fn keep_scope(&mut self, link: u32, place: ScopePlace) {
        if self.scopes.len() < MAX_REFERENCES {
            self.scopes.insert((link, place.scope.variables_reference), place);
        }
    }

    /// The scope that a container is.
    pub(crate) fn scope(&self, link: u32, container: i64) -> Option<&ScopePlace> {
        self.scopes.get(&(link, container))
    }

    /// Marks that variables of a connection may be others than those that it listed when the program stopped.
    pub(crate) fn touch(&mut self, link: u32) {
        self.touched.insert(link);
    }

    /// Whether they may be.
    pub(crate) fn is_touched(&self, link: u32) -> bool {
        self.touched.contains(&link)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_numbers_are_stale_and_unknown_ones_wrong() {
        let numbers = Numbers::default();
        let mut first = References::new(numbers.clone());
        let mut second = References::new(numbers);
        let frame = Reference { link: 0, target: Target::Frame(7) };
        let other = Reference { link: 1, target: Target::Variables(7) };
        let (a, b) = (first.add(frame), first.add(other));
        let elsewhere = second.add(frame);
        assert_eq!(first.get(a), Ok(frame));
        first.forget(0);
        assert_eq!(first.get(a), Err(DebugError::StaleReference(a)));
        assert_eq!(first.get(b), Ok(other));
        assert!(!first.contains(elsewhere) && second.contains(elsewhere));
        assert_eq!(first.get(0), Err(DebugError::InvalidReference(0)));
        assert_eq!(first.get(99), Err(DebugError::InvalidReference(99)));
    }

    #[test]
    fn the_oldest_are_dropped_and_stale() {
        let mut references = References::new(Numbers::default());
        let reference = Reference { link: 0, target: Target::Frame(0) };
        let first = references.add(reference);
        for _ in 0..MAX_REFERENCES {
            references.add(reference);
        }
        assert_eq!(references.get(first), Err(DebugError::StaleReference(first)));
        assert_eq!(references.get(first + 1), Ok(reference));
    }
}
