//! Searches over several languages and projects.
