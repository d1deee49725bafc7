//! The simplest stream that still fails.

use crate::stream::Stream;

/// Streams that are tried at once.
const BATCH: usize = 48;
/// Streams that are tried at most: the search ends in any case, this is for those that take too long.
const MOST_TRIED: usize = 6000;

/// Makes a stream that fails as simple as it can be. `fails` judges streams, as many as it is given.
pub(crate) fn minimise(stream: Stream, mut fails: impl FnMut(&[Stream]) -> Vec<bool>) -> Stream {
    let mut simplest = stream;
    let mut tried = 0;
    'simpler: while tried < MOST_TRIED {
        let candidates = simplest.simpler();
        for batch in candidates.chunks(BATCH) {
            tried += batch.len();
            if let Some(index) = fails(batch).iter().position(|failed| *failed) {
                simplest = batch[index].clone();
                continue 'simpler;
            }
        }
        break;
    }
    simplest
}
