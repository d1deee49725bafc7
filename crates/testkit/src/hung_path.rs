//! A path whose file system hangs, as far as [`off_worker`] can tell.

use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

use termbridge_foreign_files::{MAX_THREADS_OF_PATH, TIME_LIMIT, off_worker};
use tokio::sync::oneshot;

/// A path whose work off the workers ends with an error at once, until this is dropped.
#[derive(Debug)]
pub struct HungPath {
    _answers: Vec<mpsc::Sender<()>>,
}

impl HungPath {
    /// Lets all threads of a path wait. Pauses the clock meanwhile, so it needs a runtime of one thread.
    ///
    /// # Panics
    /// When the runtime has several threads.
    pub async fn new(path: &Path) -> Self {
        tokio::time::pause();
        let (mut answers, mut calls) = (Vec::new(), Vec::new());
        for _ in 0..MAX_THREADS_OF_PATH {
            let (answer, waiting) = mpsc::channel();
            let (began, begun) = oneshot::channel();
            calls.push(tokio::spawn(off_worker(path.to_owned(), move || {
                let _ = began.send(());
                let _ = waiting.recv();
            })));
            answers.push(answer);
            begun.await.expect("it began");
        }
        // Timers are rounded up to a millisecond.
        tokio::time::advance(TIME_LIMIT + Duration::from_secs(1)).await;
        for call in calls {
            call.await.expect("a result").expect_err("it hangs");
        }
        tokio::time::resume();
        Self { _answers: answers }
    }
}
