//! The hub over real shells.

mod outputs;
mod sessions;
