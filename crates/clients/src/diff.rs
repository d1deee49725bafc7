//! A change as people read it.
//!
//! Changes are in one place of a file, so the diff is one hunk: what the old and the new text do not share. These
//! files contain tokens, and a diff is shown and pasted: little is shown around a change, and secrets are masked.

use std::path::Path;

use crate::mask::masked;
use crate::skill;

/// Lines shown before and after a change.
const CONTEXT: usize = 2;
/// Most characters of a line that stays.
const MAX_LINE: usize = 160;
/// Most characters of a line that goes or comes: who is asked sees all of it.
const MAX_CHANGED: usize = 4_000;
/// Characters shown before and after a change within a long line.
const INLINE_CONTEXT: usize = 24;

/// The unified diff of two texts, of which either may not be there.
pub(crate) fn unified(path: &Path, old: Option<&str>, new: Option<&str>) -> String {
    let name = |text: Option<&str>| match text {
        Some(_) => shown(path),
        None => "/dev/null".to_owned(),
    };
    let header = format!("--- {}\n+++ {}\n", name(old), name(new));
    let (old, new) = (old.unwrap_or_default(), new.unwrap_or_default());
    let (before, after) = {
        let (old, new) = (lines(old), lines(new));
        let before = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
        let rest = old[before..].iter().rev().zip(new[before..].iter().rev());
        (before, rest.take_while(|(old, new)| old == new).count())
    };
    // The examples in our skill are not secrets.
    let readable = |text: &str| match text.starts_with(skill::BEGINNING) {
        true => text.to_owned(),
        false => masked(text),
    };
    // Lines stay lines when they are masked.
    let (old, new) = (readable(old), readable(new));
    let (old, new) = (lines(&old), lines(&new));
    let removed = &old[before..old.len() - after];
    let added = &new[before..new.len() - after];
    let start = before.saturating_sub(CONTEXT);
    let end = (before + removed.len() + CONTEXT).min(old.len());
    let context = (before - start) + (end - before - removed.len());
    let place = |start: usize, count: usize| match count {
        0 => format!("{start},0"),
        _ => format!("{},{count}", start + 1),
    };
    let mut diff = format!(
        "{header}@@ -{} +{} @@\n",
        place(start, context + removed.len()),
        place(start, context + added.len())
    );
    old[start..before].iter().for_each(|line| push(&mut diff, ' ', line, line));
    match (removed, added) {
        ([old], [new]) if old.chars().count().max(new.chars().count()) > MAX_LINE => {
            let (cut_old, cut_new) = around_difference(old, new);
            push(&mut diff, '-', old, &cut_old);
            push(&mut diff, '+', new, &cut_new);
        }
        _ => {
            removed.iter().for_each(|line| push(&mut diff, '-', line, line));
            added.iter().for_each(|line| push(&mut diff, '+', line, line));
        }
    }
    old[before + removed.len()..end].iter().for_each(|line| push(&mut diff, ' ', line, line));
    diff
}

fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

fn push(diff: &mut String, sign: char, line: &str, shown: &str) {
    let shown = shown.trim_end_matches(['\r', '\n']);
    diff.push(sign);
    let most = if sign == ' ' { MAX_LINE } else { MAX_CHANGED };
    match shown.char_indices().nth(most) {
        Some((end, _)) => diff.extend([&shown[..end], "…"]),
        None => diff.push_str(shown),
    }
    diff.push('\n');
    if !line.ends_with('\n') {
        diff.push_str("\\ No newline at end of file\n");
    }
}

/// A path on one line, without what a terminal would take for a command.
fn shown(path: &Path) -> String {
    let text = path.display().to_string();
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

/// Both lines with little more than what they do not share.
fn around_difference(old: &str, new: &str) -> (String, String) {
    let (old, new): (Vec<char>, Vec<char>) = (
        old.trim_end_matches(['\r', '\n']).chars().collect(),
        new.trim_end_matches(['\r', '\n']).chars().collect(),
    );
    let before = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let rest = old[before..].iter().rev().zip(new[before..].iter().rev());
    let after = rest.take_while(|(old, new)| old == new).count();
    let cut = |line: &[char]| {
        let start = before.saturating_sub(INLINE_CONTEXT);
        let end = (line.len() - after + INLINE_CONTEXT).min(line.len());
        let middle: String = line[start..end].iter().collect();
        let first = if start > 0 { "…" } else { "" };
        let last = if end < line.len() { "…" } else { "" };
        format!("{first}{middle}{last}")
    };
    (cut(&old), cut(&new))
}
