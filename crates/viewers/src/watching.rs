//! A session that a window watches.
//!
//! Where the panel holds all of the terminal, the window gets a dump and then the stream, without what its terminal would
//! answer. Where it does not, it gets frames ([`Clipped`]): the part of the screen that fits and has the cursor, or that its person
//! has scrolled to, at most one every [`FRAME_PAUSE`]. The panel's size decides, with each dump and whenever it changes.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use serde_json::{Value, json};
use termbridge_session::vt::{QueryFilter, Size, format};
use termbridge_session::{EndReason, Ended, Session, Subscription, Update};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::clipped::{Clipped, MAX_ABOVE, RECENT_ABOVE};
use crate::pan::{Distance, Pan};
use crate::window::Audience;

/// Least time between two frames, and what each line above the part adds to it.
const FRAME_PAUSE: Duration = Duration::from_millis(40);
const LINE_PAUSE: Duration = Duration::from_micros(400);
/// Bytes of output that are told at once.
const MAX_PIECE: usize = 256 * 1024;
/// Bytes of a dump as it is written; a message may have a little more.
const MAX_DUMP: usize = 12 * 1024 * 1024;
/// A terminal of the viewer shows what lies between these in one go.
const UPDATE_BEGINS: &str = "\x1b[?2026h";
const UPDATE_ENDS: &str = "\x1b[?2026l";

/// One session, as one window watches it.
pub(crate) struct Watching {
    id: String,
    session: Session,
    audience: Arc<dyn Audience>,
    panel: watch::Receiver<Size>,
    /// How far its person has scrolled in all, and how much of that is done.
    scrolled: watch::Receiver<Distance>,
    done: Distance,
    pan: Pan,
    /// That of the last dump.
    size: Size,
    filter: QueryFilter,
    text: TextStream,
    /// The screen has changed since the last frame.
    is_dirty: bool,
    /// What the last frame showed.
    clipped: Option<Clipped>,
    /// When the next frame may be.
    next_frame: Instant,
}

impl Watching {
    pub(crate) fn new(
        session: Session,
        size: Size,
        audience: Arc<dyn Audience>,
        panel: watch::Receiver<Size>,
        scrolled: watch::Receiver<Distance>,
    ) -> Self {
        let id = session.id().to_string();
        Self {
            id,
            session,
            audience,
            panel,
            scrolled,
            done: Distance::default(),
            pan: Pan::default(),
            size,
            filter: QueryFilter::default(),
            text: TextStream::default(),
            is_dirty: false,
            clipped: None,
            next_frame: Instant::now(),
        }
    }

    /// Tells the window until the session or the window is gone.
    pub(crate) async fn run(mut self) {
        let Ok(mut updates) = self.session.subscribe().await else { return };
        loop {
            let goes_on = tokio::select! {
                update = updates.next() => match update {
                    Some(update) => self.updated(update, &mut updates).await,
                    None => false,
                },
                changed = self.panel.changed() => {
                    if changed.is_err() {
                        return;
                    }
                    self.pan = Pan::default();
                    // Whether it fits now or not: a dump begins anew.
                    match self.session.subscribe().await {
                        Ok(anew) => updates = anew,
                        Err(_) => return,
                    }
                    true
                }
                changed = self.scrolled.changed() => {
                    if changed.is_err() {
                        return;
                    }
                    let scrolled = *self.scrolled.borrow_and_update();
                    self.pan.scroll(scrolled - self.done);
                    self.done = scrolled;
                    self.is_dirty |= !self.fits();
                    true
                }
                () = tokio::time::sleep_until(self.next_frame), if self.is_dirty => {
                    self.paint().await
                }
            };
            if !goes_on {
                return;
            }
        }
    }

    fn fits(&self) -> bool {
        let panel = *self.panel.borrow();
        panel.cols >= self.size.cols && panel.rows >= self.size.rows
    }

    /// False when nobody is there any more.
    async fn updated(&mut self, update: Update, updates: &mut Subscription) -> bool {
        match update {
            Update::Dump(dump) => {
                if dump.size != self.size {
                    self.pan = Pan::default();
                }
                self.size = dump.size;
                self.filter.reset();
                self.text = TextStream::default();
                self.clipped = None;
                if !self.fits() {
                    self.is_dirty = true;
                    return true;
                }
                self.is_dirty = false;
                let Size { cols, rows } = dump.size;
                let mut data = self.shown(&dump.stream);
                if written_length(&data) > MAX_DUMP {
                    // Without what has scrolled away.
                    let Ok(snapshot) = self.session.screen().await else { return false };
                    data = format::raw(&snapshot.screen);
                }
                self.tell("dump", json!({"cols": cols, "rows": rows, "data": data})).await
            }
            Update::Output(first) => {
                if !self.fits() {
                    self.is_dirty = true;
                    return true;
                }
                let mut piece = first.to_vec();
                let mut after = None;
                while piece.len() < MAX_PIECE {
                    match updates.next().now_or_never() {
                        Some(Some(Update::Output(more))) => piece.extend_from_slice(&more),
                        Some(other) => {
                            after = other;
                            break;
                        }
                        None => break,
                    }
                }
                let data = self.shown(&piece);
                if !data.is_empty() && !self.tell("output", json!({"data": data})).await {
                    return false;
                }
                match after {
                    Some(update) => Box::pin(self.updated(update, updates)).await,
                    None => true,
                }
            }
            Update::Ended(ended) => self.ended(&ended).await,
        }
    }

    async fn ended(&mut self, ended: &Ended) -> bool {
        // The last screen, before its end is told.
        if !self.fits() && !self.paint().await {
            return false;
        }
        let stopped = matches!(ended.reason, EndReason::Stopped | EndReason::Idle);
        let end =
            json!({"exitCode": ended.exit_code(), "signal": ended.signal(), "stopped": stopped});
        self.tell("ended", end).await
    }

    async fn paint(&mut self) -> bool {
        self.is_dirty = false;
        let panel = *self.panel.borrow();
        let mut next = None;
        if let Some(shown) = self.clipped.take() {
            let Ok(page) = self.session.page(RECENT_ABOVE).await else { return false };
            next = shown.go_on(&page, panel, &mut self.pan);
        }
        let (shown, frame) = match next {
            Some(next) => next,
            None => {
                let Ok(page) = self.session.page(MAX_ABOVE).await else { return false };
                Clipped::begin(&page, panel, &mut self.pan)
            }
        };
        self.clipped = Some(shown);
        self.next_frame = Instant::now() + FRAME_PAUSE + LINE_PAUSE * frame.lines as u32;
        let data = format!("{UPDATE_BEGINS}{}{UPDATE_ENDS}", frame.text);
        self.tell("frame", json!({"data": data, "canScroll": frame.can_scroll})).await
    }

    /// What the window's terminal is given of a stream.
    fn shown(&mut self, bytes: &[u8]) -> String {
        let mut left = Vec::with_capacity(bytes.len());
        self.filter.feed(bytes, &mut left);
        self.text.take(left)
    }

    async fn tell(&self, kind: &'static str, mut data: Value) -> bool {
        data["sessionId"] = self.id.as_str().into();
        self.audience.tell(kind, data).await
    }
}

/// Bytes of a text in JSON, or a few more.
fn written_length(text: &str) -> usize {
    let escaped = text.bytes().filter(|byte| *byte < 0x20 || matches!(byte, b'"' | b'\\')).count();
    text.len() + 5 * escaped
}

/// Bytes as text, wherever they are cut.
#[derive(Debug, Default)]
struct TextStream {
    /// The beginning of a character.
    tail: Vec<u8>,
}

impl TextStream {
    fn take(&mut self, bytes: Vec<u8>) -> String {
        let mut all = std::mem::take(&mut self.tail);
        all.extend(bytes);
        let cut = all.len() - unfinished(&all);
        self.tail = all.split_off(cut);
        match String::from_utf8(all) {
            Ok(text) => text,
            Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
        }
    }
}

/// How many bytes at the end begin a character that is not whole.
fn unfinished(bytes: &[u8]) -> usize {
    for back in 1..=bytes.len().min(3) {
        let byte = bytes[bytes.len() - back];
        let length = match byte {
            0xc2..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xf4 => 4,
            0x80..=0xbf => continue,
            _ => return 0,
        };
        return if back < length { back } else { 0 };
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_whole_wherever_it_is_cut() {
        let text = "aä€😀z";
        for cut in 0..text.len() {
            let mut stream = TextStream::default();
            let (first, second) = text.as_bytes().split_at(cut);
            let taken = stream.take(first.to_vec()) + &stream.take(second.to_vec());
            assert_eq!(taken, text, "cut at {cut}");
        }
        let mut stream = TextStream::default();
        assert_eq!(stream.take(b"a\xffb\xe2\x82".to_vec()), "a\u{fffd}b");
        assert_eq!(stream.take(b"x".to_vec()), "\u{fffd}x");
    }
}
