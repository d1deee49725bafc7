//! Symbols, with the real language servers on small projects and with a scripted one for faults.

mod fake;
mod faults;
mod project;
mod real;
mod searching;
