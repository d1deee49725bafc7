//! Symbols, by an installed language server.
