//! Whatever a command prints: no panic, bounded memory, the same text wherever the stream is cut, and
//! nothing that the terminal would not show.
//!
//! Run: `RUSTC_BOOTSTRAP=1 cargo fuzz run clean_output`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use termbridge_vt::{CleanOutput, Options, Size, Terminal};

fuzz_target!(|input: (u8, u8, u8, Vec<Vec<u8>>)| {
    let (cols, rows, row, reads) = input;
    let size = Size { cols: u16::from(cols % 100), rows: u16::from(rows % 50) }.clamped();
    let row = u16::from(row) % size.rows;
    let mut whole = CleanOutput::new(size, row);
    whole.feed(&reads.concat());
    let whole = whole.finish();
    let mut cut = CleanOutput::new(size, row);
    let mut text = String::new();
    for bytes in &reads {
        cut.feed(bytes);
        text.push_str(&cut.take_done());
    }
    assert_eq!(text + &cut.finish(), whole);

    // Resizes anywhere: what is left stays bounded.
    let mut resized = CleanOutput::new(size, row);
    let mut terminal = Terminal::new(size, Options::default());
    for (index, bytes) in reads.iter().enumerate() {
        resized.feed(bytes);
        terminal.feed(bytes);
        if index % 3 == 1 {
            let size = Size { cols: size.cols + index as u16 % 7, rows: 1 + index as u16 % 9 };
            terminal.resize(size);
            resized.resize(size, terminal.cursor_position().0);
        }
        resized.take_done();
        assert!(resized.pending().len() < 64 * 1024 * 1024);
    }
});
