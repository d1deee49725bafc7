//! The hub over real shells.

mod sessions;
