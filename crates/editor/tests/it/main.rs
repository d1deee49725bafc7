//! The filesystem bridge against a fake host, and connections of editors: what works, what breaks, what is left behind.

#![cfg(unix)]

mod calls;
mod cancel;
mod discovery;
mod faults;
mod limits;
mod peers;
mod races;
#[cfg(target_os = "linux")]
mod reads;
mod support;
