//! The built binary, driven as a client drives it.

mod protocol;

/// The server under test.
const TERMBRIDGE: &str = env!("CARGO_BIN_EXE_termbridge");
