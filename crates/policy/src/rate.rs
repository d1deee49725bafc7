//! How often an agent may call: a bucket of tokens for each.
//!
//! The clock is passed in. The number of agents remembered is bounded; those beyond it share one
//! bucket, so that many names gain nothing.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use crate::config::RateLimit;

/// Most agents with a bucket of their own.
pub const MAX_AGENTS: usize = 1024;

/// Counts the calls of agents.
#[derive(Debug, Clone)]
pub struct RateLimiter {
    limit: RateLimit,
    buckets: HashMap<String, Bucket>,
    overflow: Option<Bucket>,
}

/// A call that comes too soon.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "more than {} calls in {} s: the next may come in {} ms",
    limit.calls, limit.per_seconds, retry_after.as_millis()
)]
pub struct RateLimited {
    /// The limit.
    pub limit: RateLimit,
    /// When to try again.
    pub retry_after: Duration,
}

#[derive(Debug, Clone, Copy)]
struct Bucket {
    /// In calls.
    tokens: f64,
    filled: Instant,
}

impl RateLimiter {
    /// A limiter to which nobody has come yet.
    pub fn new(limit: RateLimit) -> Self {
        Self { limit, buckets: HashMap::new(), overflow: None }
    }

    /// How many calls each agent may make.
    pub fn limit(&self) -> RateLimit {
        self.limit
    }

    /// Counts a call of an agent, or says when it may come again.
    pub fn check(&mut self, agent: &str, now: Instant) -> Result<(), RateLimited> {
        let limit = self.limit;
        if !self.buckets.contains_key(agent) && self.buckets.len() >= MAX_AGENTS {
            // An agent that has been quiet long enough is as good as new.
            self.buckets.retain(|_, bucket| !bucket.is_full(limit, now));
        }
        let full = Bucket { tokens: f64::from(limit.calls), filled: now };
        let known = self.buckets.contains_key(agent);
        let bucket = if known || self.buckets.len() < MAX_AGENTS {
            self.buckets.entry(agent.to_owned()).or_insert(full)
        } else {
            self.overflow.get_or_insert(full)
        };
        bucket.take(limit, now)
    }
}

impl Bucket {
    fn tokens_at(&self, limit: RateLimit, now: Instant) -> f64 {
        let passed = now.saturating_duration_since(self.filled).as_secs_f64();
        (self.tokens + passed * per_second(limit)).min(f64::from(limit.calls))
    }

    fn is_full(&self, limit: RateLimit, now: Instant) -> bool {
        self.tokens_at(limit, now) >= f64::from(limit.calls)
    }

    fn take(&mut self, limit: RateLimit, now: Instant) -> Result<(), RateLimited> {
        self.tokens = self.tokens_at(limit, now);
        self.filled = self.filled.max(now);
        if self.tokens >= 1.0 {
            self.tokens -= 1.0;
            return Ok(());
        }
        let wait = (1.0 - self.tokens) / per_second(limit);
        // A little more than needed: rounding must not make the next try fail too.
        let retry_after = Duration::from_secs_f64(wait) + Duration::from_millis(1);
        Err(RateLimited { limit, retry_after })
    }
}

fn per_second(limit: RateLimit) -> f64 {
    f64::from(limit.calls.max(1)) / f64::from(limit.per_seconds.max(1))
}

#[cfg(test)]
mod tests;
