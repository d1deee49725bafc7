//! Whatever a program prints and wherever it is cut: a restored terminal continues as the one that was persisted, its
//! bytes are the same bytes, and damaged ones do no harm.
//!
//! Run: `RUSTC_BOOTSTRAP=1 cargo fuzz run vt_dump`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use termbridge_vt::{CleanOutput, Options, Size, Terminal};

fuzz_target!(|input: (u8, u8, Vec<Vec<u8>>, Vec<u8>)| {
    let (cols, rows, reads, rest) = input;
    let size = Size { cols: u16::from(cols % 40), rows: u16::from(rows % 12) }.clamped();
    let options = || Options { scrollback_lines: 20, ..Options::default() };
    let mut terminal = Terminal::new(size, options());
    let mut clean = CleanOutput::new(size, 0);
    for (index, bytes) in reads.iter().enumerate() {
        terminal.feed(bytes);
        clean.feed(bytes);
        if index % 3 == 1 {
            let size = Size { cols: size.cols + (index as u16 % 5), rows: size.rows };
            terminal.resize(size);
            clean.resize(size, terminal.cursor_position().0);
        }
        terminal.look();
        let _ = (terminal.take_replies(), terminal.take_events());
    }
    let bytes = terminal.to_bytes();
    let mut restored = Terminal::from_bytes(&bytes, options()).expect("a terminal can be restored");
    assert!(restored.to_bytes() == bytes);
    assert_eq!(restored.dump(), terminal.dump());
    for terminal in [&mut terminal, &mut restored] {
        terminal.feed(&rest);
        terminal.look();
        terminal.resize(Size { cols: 7, rows: 5 });
    }
    assert_eq!(restored.screen(), terminal.screen());
    assert!(restored.images().eq(terminal.images()));
    assert_eq!(restored.take_replies(), terminal.take_replies());
    assert_eq!(restored.take_events(), terminal.take_events());
    assert_eq!(restored.seq(), terminal.seq());
    let rows = |terminal: &Terminal| terminal.history_rows(0).collect::<Vec<_>>();
    assert_eq!(rows(&restored), rows(&terminal));

    let mut again = CleanOutput::from_bytes(&clean.to_bytes()).expect("an output can be restored");
    again.feed(&rest);
    clean.feed(&rest);
    assert_eq!(again.finish(), clean.finish());

    let mut damaged = bytes;
    let at = rest.len() * 31 % damaged.len();
    damaged[at] ^= rest.first().copied().unwrap_or(1) | 1;
    if let Ok(mut terminal) = Terminal::from_bytes(&damaged, options()) {
        terminal.feed(&rest);
        terminal.resize(Size { cols: 5, rows: 3 });
        let _ = (terminal.screen(), rows(&terminal));
    }
    let _ = CleanOutput::from_bytes(&rest);
});
