//! A change as people read it.
//!
//! Changes are in one place of a file, so the diff is one hunk: what the old and the new text do not share. These
//! files contain tokens, and a diff is shown and pasted: little is shown around a change, and values of keys that
//! name secrets are masked.

use std::path::Path;

/// Lines shown before and after a change.
const CONTEXT: usize = 2;
/// Most characters of a line.
const MAX_LINE: usize = 160;
/// Characters shown before and after a change within a long line.
const INLINE_CONTEXT: usize = 24;

/// Words in a key that make its value a secret.
const SECRETS: [&str; 8] =
    ["key", "token", "secret", "password", "passwd", "auth", "credential", "bearer"];

/// The unified diff of two texts, of which either may not be there.
pub(crate) fn unified(path: &Path, old: Option<&str>, new: Option<&str>) -> String {
    let name = |text: Option<&str>| match text {
        Some(_) => path.display().to_string(),
        None => "/dev/null".to_owned(),
    };
    let header = format!("--- {}\n+++ {}\n", name(old), name(new));
    let old: Vec<&str> = old.unwrap_or_default().split_inclusive('\n').collect();
    let new: Vec<&str> = new.unwrap_or_default().split_inclusive('\n').collect();
    let before = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let rest = (&old[before..], &new[before..]);
    let pairs = rest.0.iter().rev().zip(rest.1.iter().rev());
    let after = pairs.take_while(|(old, new)| old == new).count();
    let removed = &rest.0[..rest.0.len() - after];
    let added = &rest.1[..rest.1.len() - after];
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
    old[start..before].iter().for_each(|line| push(&mut diff, ' ', line, &masked(line)));
    match (removed, added) {
        ([old], [new]) if old.chars().count().max(new.chars().count()) > MAX_LINE => {
            let (cut_old, cut_new) = around_difference(old, new);
            push(&mut diff, '-', old, &cut_old);
            push(&mut diff, '+', new, &cut_new);
        }
        _ => {
            removed.iter().for_each(|line| push(&mut diff, '-', line, &masked(line)));
            added.iter().for_each(|line| push(&mut diff, '+', line, &masked(line)));
        }
    }
    let after = &old[before + removed.len()..end];
    after.iter().for_each(|line| push(&mut diff, ' ', line, &masked(line)));
    diff
}

fn push(diff: &mut String, sign: char, line: &str, shown: &str) {
    diff.push(sign);
    match shown.char_indices().nth(MAX_LINE) {
        Some((end, _)) => diff.extend([&shown[..end], "…"]),
        None => diff.push_str(shown),
    }
    diff.push('\n');
    if !line.ends_with('\n') {
        diff.push_str("\\ No newline at end of file\n");
    }
}

/// The line without its end, and without the value of a secret.
fn masked(line: &str) -> String {
    let line = line.trim_end_matches(['\r', '\n']);
    let Some((key, value)) = line.split_once([':', '=']) else { return line.to_owned() };
    let lower = key.to_lowercase();
    let is_secret = SECRETS.iter().any(|word| lower.contains(word));
    // An object or a list has its values on other lines, or is none.
    if !is_secret || value.trim().is_empty() || value.trim_start().starts_with(['{', '[']) {
        return line.to_owned();
    }
    let separator = &line[key.len()..=key.len()];
    let comma = if value.trim_end().ends_with(',') { "," } else { "" };
    format!("{key}{separator} ***{comma}")
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
