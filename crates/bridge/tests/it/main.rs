//! Integration tests of the hub.
