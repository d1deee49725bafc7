//! `termbridge --version --verbose`: what a report of a bug needs to know of the build.

/// Name and version, then a line for each fact.
pub(crate) fn verbose() -> String {
    format!(
        "termbridge {}\ncommit: {}\ntarget: {}\nprofile: {}\nfeatures: {}\n",
        env!("CARGO_PKG_VERSION"),
        env!("TERMBRIDGE_COMMIT"),
        env!("TERMBRIDGE_TARGET"),
        env!("TERMBRIDGE_PROFILE"),
        features().join(", "),
    )
}

/// What differs between builds of one version.
fn features() -> Vec<&'static str> {
    [
        (cfg!(target_feature = "crt-static"), "static"),
        (cfg!(debug_assertions), "debug-assertions"),
        (cfg!(panic = "unwind"), "unwind"),
    ]
    .into_iter()
    .filter_map(|(is_on, name)| is_on.then_some(name))
    .collect()
}
