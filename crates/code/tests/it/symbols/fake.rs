//! A language server that does what a test wants.
