//! Job ids and times as the protocol writes them, in UTC.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// A fresh job id: `YYYYMMDDTHHMMSSfffZ-<seq>-<random>`, sortable, with no character that Windows
/// forbids in a name.
pub(super) fn job_id(now: SystemTime) -> String {
    static SEQUENCE: AtomicU32 = AtomicU32::new(0);
    let sequence = SEQUENCE.fetch_add(1, Ordering::Relaxed);
    let mut random = [0; 4];
    if getrandom::fill(&mut random).is_err() {
        // Without randomness the process and the sequence still tell ids apart.
        random = std::process::id().to_be_bytes();
    }
    let random = u32::from_be_bytes(random);
    let (date, [hour, minute, second], milli) = parts(now);
    format!(
        "{:04}{:02}{:02}T{hour:02}{minute:02}{second:02}{milli:03}Z-{sequence:04}-{random:08x}",
        date.0, date.1, date.2
    )
}

/// `2025-11-15T08:41:44.123Z`.
pub(super) fn iso(now: SystemTime) -> String {
    let ((year, month, day), [hour, minute, second], milli) = parts(now);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z")
}

fn parts(now: SystemTime) -> ((i64, u64, u64), [u64; 3], u32) {
    let since = now.duration_since(UNIX_EPOCH).unwrap_or_default();
    let seconds = since.as_secs();
    let clock = seconds % 86_400;
    let time = [clock / 3600, clock / 60 % 60, clock % 60];
    (civil(seconds / 86_400), time, since.subsec_millis())
}

/// The date of a day since 1970, by counting years from March: leap days are then the last of theirs.
fn civil(days: u64) -> (i64, u64, u64) {
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day_of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    ((era * 400 + year + next) as i64, month, day)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn times_are_written_in_utc() {
        for (seconds, written) in [
            (0, "1970-01-01T00:00:00.007Z"),
            (951_782_399, "2000-02-28T23:59:59.007Z"),
            (951_782_400, "2000-02-29T00:00:00.007Z"),
            (1_709_164_800, "2024-02-29T00:00:00.007Z"),
            (1_735_689_599, "2024-12-31T23:59:59.007Z"),
            (4_107_542_400, "2100-03-01T00:00:00.007Z"),
        ] {
            let time = UNIX_EPOCH + Duration::from_millis(seconds * 1000 + 7);
            assert_eq!(iso(time), written);
        }
    }

    #[test]
    fn ids_sort_by_time_differ_and_fit_any_file_system() {
        let time = UNIX_EPOCH + Duration::from_millis(1_735_689_599_042);
        let (first, second) = (job_id(time), job_id(time));
        assert!(first.starts_with("20241231T235959042Z-"), "{first}");
        assert_ne!(first, second);
        assert!(first < job_id(time + Duration::from_millis(1)));
        assert!(first.len() <= 64);
        assert!(first.chars().all(|c| c.is_ascii_alphanumeric() || c == '-'), "{first}");
    }
}
