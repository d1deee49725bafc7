//! A new size reaches the program, also one that was busy when the signal came.

use termbridge_session::Wait;
use termbridge_session::vt::Size;

use crate::support::{python, see, sessions, start, stays_away};

/// Reads keys, and prints its size at each signal but the first, as if it had been painting then.
const MISSES_THE_FIRST: &str = r"
import os, signal, sys, tty
if sys.argv[1] == 'raw':
    tty.setcbreak(0)
heard = 0
def resized(*_):
    global heard
    heard += 1
    if heard > 1:
        print('size %dx%d heard %d' % (*os.get_terminal_size(), heard), flush=True)
signal.signal(signal.SIGWINCH, resized)
# Wakes also by a signal that comes just before the read.
ready, woken = os.pipe()
os.set_blocking(woken, False)
signal.set_wakeup_fd(woken)
print('READY', flush=True)
while True:
    os.read(ready, 1)
";

#[tokio::test]
async fn a_program_that_missed_the_signal_gets_it_once_more() {
    let sessions = sessions();
    let session = start(&sessions, python(MISSES_THE_FIRST).arg("raw")).await;
    see(&session, "READY").await;
    session.resize(Size { cols: 100, rows: 30 }).await.expect("resized");
    see(&session, "size 100x30 heard 2").await;
    stays_away(&session, Wait::text("heard 3")).await;
}

#[tokio::test]
async fn a_program_that_reads_lines_gets_it_once() {
    let sessions = sessions();
    let session = start(&sessions, python(MISSES_THE_FIRST).arg("lines")).await;
    see(&session, "READY").await;
    session.resize(Size { cols: 100, rows: 30 }).await.expect("resized");
    stays_away(&session, Wait::text("heard")).await;
    session.resize(Size { cols: 60, rows: 15 }).await.expect("resized");
    see(&session, "size 60x15 heard 2").await;
}
