//! Durations as people write them.

use std::time::Duration;

/// Reads `30m`, `1h`, `45s`, `500ms`; a number alone is seconds.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    let split = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let wrong = || format!("{text:?} is not a duration: write 30m, 1h, 45s, 500ms, or 0 for never");
    let number: u64 = number.parse().map_err(|_| wrong())?;
    let millis = match unit.trim() {
        "ms" => 1,
        "" | "s" => 1000,
        "m" | "min" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return Err(wrong()),
    };
    number.checked_mul(millis).map(Duration::from_millis).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::parse_duration;

    #[test]
    fn units() {
        let table = [
            ("0", 0),
            ("45", 45_000),
            ("45s", 45_000),
            ("30m", 1_800_000),
            ("2 h", 7_200_000),
            ("500ms", 500),
        ];
        for (text, millis) in table {
            assert_eq!(parse_duration(text).map(|time| time.as_millis()), Ok(millis), "{text}");
        }
        for text in ["", "m", "1 year", "-5s", "99999999999999999999h", "18446744073709551615h"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }
}
