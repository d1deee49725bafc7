//! How much two names differ, to suggest one for another.

/// How far two names are apart: 0 where only capitals differ, 1 where one holds the other, else the
/// number of changes.
pub(crate) fn distance(wanted: &str, name: &str) -> usize {
    let wanted: Vec<char> = wanted.to_lowercase().chars().take(64).collect();
    let name: Vec<char> = name.to_lowercase().chars().take(64).collect();
    let holds = |long: &[char], short: &[char]| {
        short.len() >= 3 && long.windows(short.len()).any(|window| window == short)
    };
    if wanted == name {
        return 0;
    }
    if holds(&name, &wanted) || holds(&wanted, &name) {
        return 1;
    }
    let mut row: Vec<usize> = (0..=name.len()).collect();
    for (i, a) in wanted.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in name.iter().enumerate() {
            let substituted = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[name.len()].max(1)
}
