//! Durations as people write them.

use std::fmt;
use std::time::Duration;

use serde::de::{Deserialize, Deserializer, Error, Visitor};

/// A longer time than this is a mistake: 100 years.
const LONGEST_MILLIS: u64 = 36_500 * 86_400_000;

/// Reads `30d`, `1h`, `30m`, `45s`, `500ms`; a number alone is seconds.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    let split = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let wrong = || format!("{text:?} is not a duration: write 30d, 1h, 30m, 45s, 500ms or 0");
    let number: u64 = number.parse().map_err(|_| wrong())?;
    let millis = match unit.trim() {
        "ms" => 1,
        "" | "s" => 1000,
        "m" | "min" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return Err(wrong()),
    };
    let millis = number.checked_mul(millis).filter(|millis| *millis <= LONGEST_MILLIS);
    millis.map(Duration::from_millis).ok_or_else(|| format!("{text:?} is more than 100 years"))
}

/// A duration in the configuration file: text as above, or a number of seconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Time(pub(crate) Duration);

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TimeVisitor)
    }
}

struct TimeVisitor;

impl Visitor<'_> for TimeVisitor {
    type Value = Time;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a duration such as \"30m\", or a number of seconds")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Time, E> {
        parse_duration(text).map(Time).map_err(E::custom)
    }

    fn visit_i64<E: Error>(self, seconds: i64) -> Result<Time, E> {
        self.visit_str(&seconds.to_string())
    }
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
            ("36500d", 3_153_600_000_000),
        ];
        for (text, millis) in table {
            assert_eq!(parse_duration(text).map(|time| time.as_millis()), Ok(millis), "{text}");
        }
        let wrong = ["", "m", "1 year", "-5s", "99999999999999999999h", "18446744073709551615h"];
        for text in wrong.into_iter().chain(["36501d"]) {
            assert!(parse_duration(text).is_err(), "{text}");
        }
        let listed = parse_duration("tomorrow").expect_err("not a duration");
        for unit in ["30d", "1h", "30m", "45s", "500ms"] {
            assert!(listed.contains(unit), "{listed}");
        }
    }
}
