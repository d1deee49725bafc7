//! How long a call waits.

use super::*;

#[test]
fn a_wait_without_progress_is_cut_to_what_clients_bear() {
    let limit = |asked, patience| {
        let limit = Limit::of(asked, patience);
        assert_eq!(limit.asked, asked);
        (limit.allowed, limit.cut_short)
    };
    let (second, hour) = (Duration::from_secs(1), Duration::from_hours(1));
    assert_eq!(limit(second, Some(LONGEST_WAIT)), (second, false));
    assert_eq!(limit(LONGEST_WAIT, Some(LONGEST_WAIT)), (Duration::from_secs(50), false));
    assert_eq!(limit(hour, Some(LONGEST_WAIT)), (Duration::from_secs(50), true));
    assert_eq!(limit(second, Some(Duration::ZERO)), (Duration::ZERO, true));
    assert_eq!(limit(hour, None), (hour, false));
}
