//! The project’s tools, on real projects.

mod symbols;
