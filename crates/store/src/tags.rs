//! Filters as words of the index, so that the index itself intersects them with the search.
//!
//! A label becomes a letter and its 64-bit FNV-1a hash: one token whatever the label contains.
//! Hits are compared with the label itself, so a collision hides nothing and shows nothing.

use crate::entry::Run;
use crate::query::Filter;

/// The words under which a run is found.
pub(crate) fn of_run(run: &Run) -> String {
    let mut tags = vec![label('s', &run.session)];
    tags.extend(run.project.as_deref().map(|project| label('p', project)));
    tags.extend(run.agent.as_deref().map(|agent| label('a', agent)));
    if let Some(principal) = run.principal.as_deref().filter(|principal| !principal.is_empty()) {
        tags.extend([label('o', principal), OTHERS.to_owned()]);
    }
    tags.extend(run.exit_code.map(exit));
    if run.failed() {
        tags.push(FAILED.to_owned());
    }
    tags.join(" ")
}

/// The words a filter asks for; none if only times are asked for.
pub(crate) fn of_filter(filter: &Filter) -> Vec<String> {
    let mut tags = Vec::new();
    tags.extend(filter.session.as_deref().map(|session| label('s', session)));
    tags.extend(filter.project.as_deref().map(|project| label('p', project)));
    tags.extend(filter.agent.as_deref().map(|agent| label('a', agent)));
    let principal = filter.principal.as_deref().filter(|principal| !principal.is_empty());
    tags.extend(principal.map(|principal| label('o', principal)));
    tags.extend(filter.exit_code.map(exit));
    if filter.failed {
        tags.push(FAILED.to_owned());
    }
    tags
}

/// The word that no entry of the filter has: entries of the user that the history belongs to have no word of their own.
pub(crate) fn excluded_by(filter: &Filter) -> Option<&'static str> {
    (filter.principal.as_deref() == Some("")).then_some(OTHERS)
}

/// FNV-1a: the same in every version of this program, which std's hasher does not promise.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)
    })
}

const FAILED: &str = "failed";
/// What every entry has that ran on behalf of someone else than the user that the history belongs to.
const OTHERS: &str = "others";

fn label(kind: char, text: &str) -> String {
    format!("{kind}{:016x}", hash(text.as_bytes()))
}

fn exit(code: i32) -> String {
    format!("x{:x}", code as u32)
}
