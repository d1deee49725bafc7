//! The project’s tools, on real projects.

#![cfg(unix)]

mod cpp_test;
mod diagnostics;
mod go_test;
mod javascript_test;
mod project;
mod python_test;
mod rust_test;
mod symbols;
