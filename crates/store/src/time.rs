//! Points in time as people and models write them. The clock is passed in.

use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime};

/// What [`parse`] takes, in words.
pub const TAKES: &str =
    "It takes a time such as 2026-01-31, 2026-01-31T09:30:00Z, or an age: 30m, 2h, 7d.";

/// `2026-01-31T09:30:00Z`.
pub fn format(ms: i64) -> String {
    let time = DateTime::from_timestamp_millis(ms).unwrap_or_default();
    time.format("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Reads a date, a time (UTC unless it has an offset) or an age, as milliseconds since 1970.
pub fn parse(text: &str, now_ms: i64) -> Option<i64> {
    let text = text.trim();
    let with_offset = || DateTime::parse_from_rfc3339(text).ok().map(|t| t.timestamp_millis());
    let utc = |time: NaiveDateTime| time.and_utc().timestamp_millis();
    let naive = |pattern| NaiveDateTime::parse_from_str(text, pattern).ok().map(utc);
    let date = || text.parse::<NaiveDate>().ok().map(|date| utc(date.and_time(NaiveTime::MIN)));
    age(text)
        .map(|age| now_ms.saturating_sub(age))
        .or_else(with_offset)
        .or_else(|| naive("%Y-%m-%dT%H:%M:%S%.f"))
        .or_else(|| naive("%Y-%m-%d %H:%M:%S%.f"))
        .or_else(|| naive("%Y-%m-%d %H:%M"))
        .or_else(date)
}

fn age(text: &str) -> Option<i64> {
    let seconds = match text.chars().last()? {
        's' => 1,
        'm' => 60,
        'h' => 60 * 60,
        'd' => 24 * 60 * 60,
        'w' => 7 * 24 * 60 * 60,
        _ => return None,
    };
    let count = text[..text.len() - 1].parse::<u32>().ok()?;
    i64::from(count).checked_mul(seconds * 1000)
}

#[cfg(test)]
mod tests {
    use super::{format, parse};

    #[test]
    fn times_are_read_and_written() {
        let now = 1_794_731_405_000;
        let table = [
            ("1970-01-01T00:00:00Z", 0),
            ("2000-02-29", 951_782_400_000),
            ("2026-11-15T08:30:05Z", now),
            ("2026-11-15 10:30:05+02:00", now),
            ("2026-11-15 08:30:05", now),
            ("1h", now - 3_600_000),
            ("2w", now - 14 * 86_400_000),
        ];
        for (text, ms) in table {
            assert_eq!(parse(text, now), Some(ms), "{text}");
        }
        for text in ["", "yesterday", "2026-13-01", "2026-01-01T25:00:00Z", "h", "5y", "-", "é"] {
            assert_eq!(parse(text, 0), None, "{text}");
        }
        assert_eq!(format(now), "2026-11-15T08:30:05Z");
    }
}
