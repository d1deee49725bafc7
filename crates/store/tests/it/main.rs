//! The history with real files, several processes and everything that can go wrong with them.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod damage;
mod limits;
mod paging;
mod processes;
mod properties;
mod round_trip;
mod search;
mod support;
