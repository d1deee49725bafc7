//! The server in this process, over a backend of the test's own.

mod callers;
mod faults;
