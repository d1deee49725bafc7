//! Symbols, with the real language servers on small projects and with a scripted one for faults.

mod fake;
mod faults;
mod missed;
mod project;
mod real;
mod searching;
mod status;
