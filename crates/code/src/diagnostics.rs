//! Findings of compilers and linters.
