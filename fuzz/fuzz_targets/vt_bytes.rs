//! Whatever a program prints: no panic, a screen of the right shape, `raw` that replays to it, images within their bound.
#![no_main]

use libfuzzer_sys::fuzz_target;
use termbridge_vt::format::{html, markers, plain, raw, svg};
use termbridge_vt::{MAX_IMAGE_MEMORY, Options, Palette, Size, Terminal};

fuzz_target!(|input: (u8, u8, Vec<Vec<u8>>)| {
    let (cols, rows, reads) = input;
    let size = Size { cols: u16::from(cols % 100), rows: u16::from(rows % 50) }.clamped();
    let options = || Options { scrollback_lines: 100, ..Options::default() };
    let mut terminal = Terminal::new(size, options());
    for (index, bytes) in reads.iter().enumerate() {
        terminal.feed(bytes);
        assert!(terminal.image_memory() <= MAX_IMAGE_MEMORY);
        if index % 3 == 1 {
            terminal.resize(Size { cols: size.cols + (index as u16 % 5), rows: size.rows });
        }
        terminal.look();
    }
    terminal.end_synchronized();
    let size = terminal.size();
    let mut screen = terminal.screen();
    assert_eq!(screen.rows.len(), usize::from(size.rows));
    assert!(screen.rows.iter().all(|row| row.cells.len() == usize::from(size.cols)));
    for image in terminal.images() {
        let rows = -(terminal.history_len() as i64)..i64::from(size.rows);
        assert!(rows.contains(&image.placement.row) && image.placement.col < size.cols);
    }
    let _ = (plain(&screen.rows), markers(&screen.rows), screen.highlights(), terminal.haystack());
    let _ = (html(&screen, &Palette::default()), svg(&screen, &Palette::default()));
    let mut replayed = Terminal::new(size, options());
    replayed.feed(raw(&screen).as_bytes());
    let mut again = replayed.screen();
    for row in screen.rows.iter_mut().chain(&mut again.rows) {
        row.wrapped = false;
    }
    assert_eq!(again, screen);
});
