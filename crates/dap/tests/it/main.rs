//! The debugger with a scripted adapter, where it is about races and broken protocol, and with the
//! real ones on small programs.

mod fake;
mod fake_adapter;
mod support;
