//! Addresses as language servers name files by.

use std::path::{Component, PathBuf};

use crate::file_address;
pub(crate) use crate::file_address::of_path;

/// The absolute path that an address names, if it names one of this machine.
pub(crate) fn to_path(uri: &str) -> Option<PathBuf> {
    let path = file_address::to_path(uri)?;
    // A path with `..` could name something else than it seems to.
    path.components().all(|part| part != Component::ParentDir).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_climbs_is_none() {
        assert!(file_address::to_path("file:///a/../b").is_some() || cfg!(windows));
        for uri in ["file:///a/../b", "file:///C:/a/../b", "file:///a/%2E%2E/b"] {
            assert_eq!(to_path(uri), None, "{uri}");
        }
    }
}
