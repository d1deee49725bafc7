use std::time::{Duration, Instant};

use super::{MAX_AGENTS, RateLimiter};
use crate::RateLimit;

#[test]
fn a_burst_then_an_even_flow() {
    let mut limiter = RateLimiter::new(RateLimit { calls: 3, per_seconds: 3 });
    let start = Instant::now();
    for _ in 0..3 {
        assert!(limiter.check("a", start).is_ok());
    }
    let refused = limiter.check("a", start).unwrap_err();
    assert!(refused.retry_after > Duration::from_millis(900));
    assert!(limiter.check("b", start).is_ok());
    assert!(limiter.check("a", start + refused.retry_after).is_ok());
    assert!(limiter.check("a", start + refused.retry_after).is_err());
    let later = start + Duration::from_mins(1);
    assert_eq!((0..9).filter(|_| limiter.check("a", later).is_ok()).count(), 3);
}

#[test]
fn a_clock_that_goes_back_gives_nothing() {
    let mut limiter = RateLimiter::new(RateLimit { calls: 1, per_seconds: 1 });
    let start = Instant::now() + Duration::from_secs(10);
    assert!(limiter.check("a", start).is_ok());
    assert!(limiter.check("a", start.checked_sub(Duration::from_secs(5)).unwrap()).is_err());
    assert!(limiter.check("a", start).is_err());
}

#[test]
fn agents_are_bounded_and_strangers_share() {
    let mut limiter = RateLimiter::new(RateLimit { calls: 2, per_seconds: 10 });
    let start = Instant::now();
    for index in 0..MAX_AGENTS {
        assert!(limiter.check(&index.to_string(), start).is_ok());
    }
    let taken = (0..10).filter(|index| limiter.check(&format!("x{index}"), start).is_ok()).count();
    assert_eq!(taken, 2);
    assert!(limiter.check("0", start).is_ok());
    let later = start + Duration::from_mins(1);
    assert!(limiter.check("x0", later).is_ok());
    assert_eq!(limiter.buckets.len(), 1);
}
