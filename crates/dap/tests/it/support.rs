//! What the tests share.

use std::future::Future;
use std::time::Duration;

use termbridge_dap::{Debugger, Settings};

/// Nothing here takes this long unless it hangs.
pub(crate) const LIMIT: Duration = Duration::from_mins(1);
/// A wait that is meant to be over before anything happens.
pub(crate) const SHORT: Duration = Duration::from_millis(50);

/// Fails the test instead of hanging it.
pub(crate) async fn limited<T>(what: &str, future: impl Future<Output = T>) -> T {
    let value = tokio::time::timeout(LIMIT, future).await;
    value.unwrap_or_else(|_| panic!("took longer than {LIMIT:?}: {what}"))
}

/// A debugger with everything as it is by default.
pub(crate) fn debugger() -> Debugger {
    Debugger::new(Settings::default())
}
