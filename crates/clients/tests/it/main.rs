//! Installing into configuration files as clients and people write them, and uninstalling again.

mod clients;
mod diffs;
mod documents;
mod edits;
mod files;
mod properties;
mod support;
