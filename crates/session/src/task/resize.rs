//! A new size, and the `SIGWINCH` that a program missed.
//!
//! The kernel sends the signal once. A program that reads keys with ncurses misses it when it arrives
//! between the start of a repaint and the next read: `doupdate` looks at the handler's flag when it
//! begins, after that only an interrupted read does. A person drags the window on; an agent would
//! look at the old picture for ever. So a program that reads single keys gets the signal once more
//! when it has been quiet for [`QUIET`] after a resize. One that heard the first repaints what is
//! already there.

use std::sync::Arc;
use std::time::Duration;

use termbridge_pty::{PtySize, Signal, SignalScope};
use termbridge_vt::Size;
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::SessionTask;
use crate::error::SessionError;

/// A program that printed nothing for this long waits for input or for the signal.
const QUIET: Duration = Duration::from_millis(150);
/// One that prints for this long without a pause is awake and sees its size by itself.
const GIVE_UP: Duration = Duration::from_secs(5);

type ResizeReply = oneshot::Sender<Result<Size, SessionError>>;

/// A size that was asked for, and who asked. Wrapping a long history anew takes long, so it waits for
/// a turn; of the sizes that are asked for meanwhile only the last counts.
#[derive(Debug, Default)]
pub(super) struct PendingResize {
    size: Option<Size>,
    replies: Vec<ResizeReply>,
}

impl PendingResize {
    pub(super) fn ask(&mut self, size: Size, reply: ResizeReply) {
        self.size = Some(size);
        self.replies.push(reply);
    }

    pub(super) fn asked(&self) -> Option<Size> {
        self.size
    }

    pub(super) fn is_asked_for(&self) -> bool {
        self.size.is_some()
    }
}

impl SessionTask {
    /// Changes the size to the one that was last asked for.
    pub(super) fn resize_as_asked(&mut self) {
        let PendingResize { size, replies } = std::mem::take(&mut self.resizing);
        let Some(size) = size else { return };
        // Costs nothing after the first.
        let resized = |reply: ResizeReply| (reply, self.resize(size));
        let resized: Vec<_> = replies.into_iter().map(resized).collect();
        // Whoever is answered finds it so at the next server too.
        self.keep_state();
        for (reply, outcome) in resized {
            let _ = reply.send(outcome);
        }
    }

    fn resize(&mut self, size: Size) -> Result<Size, SessionError> {
        self.running()?;
        let size = size.clamped();
        self.program
            .resize(PtySize { cols: size.cols, rows: size.rows })
            .map_err(|error| SessionError::System(format!("cannot resize: {error}")))?;
        if size != self.terminal.size() {
            self.resized = Some(Instant::now());
            self.prompt_is_redrawn();
        }
        self.terminal.resize(size);
        self.take_done_output();
        self.keep_screens();
        self.tell_dump();
        self.publish_memory();
        Ok(self.terminal.size())
    }

    pub(super) fn resize_deadline(&self) -> Option<Instant> {
        self.resized.map(|at| at.max(self.last_output) + QUIET)
    }

    pub(super) fn repeat_resize_signal(&mut self, now: Instant) {
        let (Some(at), Some(due)) = (self.resized, self.resize_deadline()) else { return };
        if self.exited.is_some() || due > at + GIVE_UP {
            self.resized = None;
        } else if now >= due {
            self.resized = None;
            if self.program.line_mode().is_ok_and(|mode| !mode.canonical) {
                self.prompt_is_redrawn();
                let program = Arc::clone(&self.program);
                tokio::spawn(async move {
                    program.signal(Signal::WINCH, SignalScope::Foreground).await
                });
            }
        }
    }
}
