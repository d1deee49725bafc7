//! Cursors in the lines of a terminal whose program is no shell.
//!
//! A cursor is `line:NUMBER:LAST:FAR:NEAR`: the last line that was shown, a hash of it, one of some lines far above it,
//! and one of those right above it. The last line may grow or be redrawn: then it is shown again. Once the terminal drops
//! lines at its top, all move up; where they are now is told by those far above, which no program redraws any more, or
//! once those are gone by those right above.

use std::hash::{DefaultHasher, Hash, Hasher};

/// Higher than nearly all screens: what is this far up is not redrawn.
const FAR: usize = 200;
/// Lines that are told from others together.
const BLOCK: usize = 4;

/// The cursor behind the first `shown` lines.
pub(super) fn cursor(lines: &[&str], shown: usize) -> String {
    let number = shown.saturating_sub(1);
    let Some(last) = lines.get(number) else { return format!("line:{number}") };
    let above = |distance| block(lines, number, distance).map(|hash| format!(":{hash:x}"));
    let above = above(FAR).zip(above(0)).map(|(far, near)| far + &near).unwrap_or_default();
    format!("line:{number}:{:x}{above}", hash(last))
}

/// The first line to show behind a cursor, and whether it has been shown before and has changed; `None` for what is no
/// cursor.
pub(super) fn at_cursor(lines: &[&str], cursor: &str) -> Option<(u64, bool)> {
    let mut parts = cursor.strip_prefix("line:")?.split(':');
    let number: usize = parts.next()?.parse().ok()?;
    let mut hashes = parts.map(|part| u64::from_str_radix(part, 16).ok());
    let last = hashes.next().flatten();
    let now = match (hashes.next().flatten(), hashes.next().flatten()) {
        (Some(far), Some(near)) => {
            let find = |hash, distance| {
                (0..=number).rev().find(|at| block(lines, *at, distance) == Some(hash))
            };
            // All of it has been dropped: everything is new.
            let Some(now) = find(far, FAR).or_else(|| find(near, 0)) else {
                return Some((0, false));
            };
            now
        }
        _ => number,
    };
    let is_same = lines.get(now).is_some_and(|line| Some(hash(line)) == last);
    Some(((now + usize::from(is_same)) as u64, !is_same && last.is_some() && now < lines.len()))
}

/// A hash of the lines at a distance above one; `None` near the top.
fn block(lines: &[&str], number: usize, distance: usize) -> Option<u64> {
    let end = number.checked_sub(distance)?;
    Some(hash(lines.get(end.checked_sub(BLOCK)?..end)?))
}

fn hash(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbered(from: usize, to: usize) -> Vec<String> {
        (from..to).map(|number| format!("line {number}")).collect()
    }

    fn texts(lines: &[String]) -> Vec<&str> {
        lines.iter().map(String::as_str).collect()
    }

    #[test]
    fn what_was_shown_is_not_shown_again() {
        for count in [1, 3, 1000] {
            let before = numbered(0, count);
            let seen = cursor(&texts(&before), count);
            assert_eq!(at_cursor(&texts(&before), &seen), Some((count as u64, false)));
            let mut grown = before.clone();
            grown[count - 1].push_str(" and more");
            grown.push("next".into());
            assert_eq!(at_cursor(&texts(&grown), &seen), Some((count as u64 - 1, true)), "it grew");
        }
        assert_eq!(
            (cursor(&[], 0), at_cursor(&["a"], "line:0")),
            ("line:0".into(), Some((0, false)))
        );
        for bad in ["", "line:", "line:x", "1:2"] {
            assert_eq!(at_cursor(&["a"], bad), None, "{bad}");
        }
    }

    #[test]
    fn lines_are_found_where_they_have_moved() {
        let before = numbered(0, 1000);
        let seen = cursor(&texts(&before), 1000);
        for dropped in [1, 7, 700, 900, 990] {
            let after = numbered(dropped, 1000 + dropped);
            let moved = 1000 - dropped as u64;
            assert_eq!(at_cursor(&texts(&after), &seen), Some((moved, false)), "{dropped}");
        }
        // None of it is kept.
        let after = numbered(5000, 6000);
        assert_eq!(at_cursor(&texts(&after), &seen), Some((0, false)));
        // A screen that is redrawn has not moved.
        let mut redrawn = before;
        redrawn[980..].iter_mut().for_each(|line| line.push('!'));
        assert_eq!(at_cursor(&texts(&redrawn), &seen), Some((999, true)));
    }
}
