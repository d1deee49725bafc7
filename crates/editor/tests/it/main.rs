//! The filesystem bridge against a fake host: what works, what breaks, what is left behind.

mod calls;
mod cancel;
mod discovery;
mod faults;
mod limits;
mod races;
mod support;
