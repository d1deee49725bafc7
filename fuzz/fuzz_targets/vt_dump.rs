//! Whatever a program prints and wherever it is cut: a restored terminal goes on as the one it was dumped
//! from, a dump of it is the same dump, and damaged dumps do no harm.
//!
//! Run: `RUSTC_BOOTSTRAP=1 cargo fuzz run vt_dump`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use termbridge_vt::{CleanOutput, Dump, Options, Size, Terminal};

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
    let dump = terminal.dump();
    let mut restored = Terminal::restore(&dump, options()).expect("a dump can be restored");
    assert_eq!(restored.dump(), dump);
    assert_eq!(Dump::from_bytes(&dump.to_bytes()).as_ref(), Ok(&dump));
    for terminal in [&mut terminal, &mut restored] {
        terminal.feed(&rest);
        terminal.look();
        terminal.resize(Size { cols: 7, rows: 5 });
    }
    assert_eq!(restored.screen(), terminal.screen());
    assert_eq!(restored.take_replies(), terminal.take_replies());
    assert_eq!(restored.take_events(), terminal.take_events());
    assert_eq!(restored.seq(), terminal.seq());
    let rows = |terminal: &Terminal| -> Vec<_> {
        (0..terminal.history_len()).map(|row| terminal.history_row(row)).collect()
    };
    assert_eq!(rows(&restored), rows(&terminal));

    let mut again = CleanOutput::restore(&clean.dump()).expect("a dump can be restored");
    again.feed(&rest);
    clean.feed(&rest);
    assert_eq!(again.finish(), clean.finish());

    let forged = Dump { size, stream: dump.stream, state: rest.clone() };
    assert!(Terminal::restore(&forged, options()).is_err());
    let _ = (CleanOutput::restore(&rest), Dump::from_bytes(&rest));
});
