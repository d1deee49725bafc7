//! Properties over arbitrary output: whatever a program prints, wherever it is cut.

use proptest::prelude::*;

use crate::format::{html, markers, plain, raw, svg};
use crate::{Options, Palette, Screen, Since, Size, Terminal};

/// Pieces of real output and of nonsense, mixed.
fn output() -> impl Strategy<Value = Vec<u8>> {
    let number = prop_oneof![Just(String::new()), (0u16..60).prop_map(|n| n.to_string())];
    let csi = (number.clone(), number.clone(), "[A-HJKLMPSTXZ@bdfghlmnpqrstux`]")
        .prop_map(|(a, b, last)| format!("\x1b[{a};{b}{last}").into_bytes());
    let sgr = proptest::collection::vec(0u16..110, 0..5).prop_map(|numbers| {
        let numbers: Vec<String> = numbers.iter().map(u16::to_string).collect();
        format!("\x1b[{}m", numbers.join(";")).into_bytes()
    });
    let color = (any::<u8>(), any::<u8>(), any::<u8>())
        .prop_map(|(r, g, b)| format!("\x1b[38;2;{r};{g};{b};48;5;{b}m").into_bytes());
    let mode = (0usize..14, any::<bool>()).prop_map(|(index, on)| {
        let mode = [1, 5, 6, 7, 9, 25, 47, 1000, 1006, 1047, 1048, 1049, 2004, 2026][index];
        format!("\x1b[?{mode}{}", if on { 'h' } else { 'l' }).into_bytes()
    });
    let string = (0usize..9, "[a-z?;=]{0,12}").prop_map(|(index, text)| {
        let start =
            ["]2;", "]8;;http://", "]52;c;", "]133;", "]11;", "P$q", "P+q", "_G", "]7;"][index];
        format!("\x1b{start}{text}\x1b\\").into_bytes()
    });
    let text = prop_oneof![
        "[ -~]{1,30}".prop_map(String::into_bytes),
        "[漢字é🙂a\u{301}\u{200d}\u{fe0f}]{1,8}".prop_map(String::into_bytes),
        Just(b"\r\n".to_vec()),
        Just(b"\t\x08\x0e\x0f\x1b7\x1b8\x1bM\x1bD\x1bE\x1b(0q\x1b(B".to_vec()),
        Just(b"\x1bc\x1b[!p".to_vec()),
    ];
    let piece = prop_oneof![
        6 => text, 4 => csi, 3 => sgr, 1 => color, 2 => mode, 2 => string,
        1 => proptest::collection::vec(any::<u8>(), 0..12),
    ];
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

fn size() -> impl Strategy<Value = Size> {
    (2u16..40, 1u16..12).prop_map(|(cols, rows)| Size { cols, rows })
}

fn terminal(size: Size) -> Terminal {
    Terminal::new(size, Options { scrollback_lines: 50, ..Options::default() })
}

fn after(size: Size, bytes: &[u8]) -> Terminal {
    let mut terminal = terminal(size);
    terminal.feed(bytes);
    terminal.end_synchronized();
    terminal
}

/// What `raw` promises to carry over. Wrap marks say how text would reflow, not what is shown.
fn shown(mut screen: Screen) -> Screen {
    screen.rows.iter_mut().for_each(|row| row.wrapped = false);
    screen
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn raw_replays_to_the_same_screen(size in size(), bytes in output()) {
        let screen = shown(after(size, &bytes).screen());
        let replayed = shown(after(size, raw(&screen).as_bytes()).screen());
        prop_assert_eq!(replayed, screen);
    }

    #[test]
    fn where_the_stream_is_cut_does_not_matter(
        size in size(), bytes in output(), cuts in proptest::collection::vec(0usize..400, 0..8),
    ) {
        let mut whole = after(size, &bytes);
        let mut cut = terminal(size);
        let mut cuts: Vec<usize> = cuts.into_iter().map(|at| at.min(bytes.len())).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        for pair in cuts.windows(2) {
            cut.feed(&bytes[pair[0]..pair[1]]);
        }
        cut.end_synchronized();
        prop_assert_eq!(cut.screen(), whole.screen());
        prop_assert_eq!(cut.history_len(), whole.history_len());
        prop_assert_eq!(cut.take_replies(), whole.take_replies());
        prop_assert_eq!(cut.take_events(), whole.take_events());
    }

    #[test]
    fn every_byte_alone_gives_the_same(size in size(), bytes in output()) {
        let whole = after(size, &bytes);
        let mut single = terminal(size);
        bytes.iter().for_each(|byte| single.feed(&[*byte]));
        single.end_synchronized();
        prop_assert_eq!(single.screen(), whole.screen());
    }

    #[test]
    fn formats_and_resizes_hold_for_anything(
        size in size(), other in size(), bytes in proptest::collection::vec(any::<u8>(), 0..600),
    ) {
        let mut terminal = after(size, &bytes);
        let palette = Palette::default();
        for _ in 0..2 {
            let screen = terminal.screen();
            let size = terminal.size();
            prop_assert_eq!(screen.rows.len(), usize::from(size.rows));
            prop_assert!(screen.rows.iter().all(|row| row.cells.len() == usize::from(size.cols)));
            prop_assert!(screen.cursor.row < size.rows && screen.cursor.col < size.cols);
            let text = plain(&screen.rows);
            prop_assert!(!text.contains('\x1b'));
            for markup in [html(&screen, &palette), svg(&screen, &palette)] {
                prop_assert!(!markup.contains('\x1b'));
            }
            let _ = (markers(&screen.rows), screen.highlights());
            let haystack = terminal.haystack();
            let found = haystack.locate(0..haystack.text().len());
            prop_assert!(found.row < size.rows);
            terminal.look();
            terminal.resize(other);
        }
    }

    /// Lines that the history drops are counted: waits and echoes are the same without them.
    #[test]
    fn a_full_history_changes_nothing_on_the_screen(
        size in size(), pieces in proptest::collection::vec((scrolling(), any::<bool>()), 1..30),
    ) {
        let lines = b"line\r\n".repeat(30);
        let mut full = Terminal::new(size, Options { scrollback_lines: 20, ..Options::default() });
        let mut roomy = Terminal::new(size, Options::default());
        for terminal in [&mut full, &mut roomy] {
            lines.chunks(6).for_each(|line| terminal.feed(line));
        }
        for (piece, types) in &pieces {
            let before = [&mut full, &mut roomy].map(|terminal| {
                let before = terminal.look();
                if *types {
                    terminal.begin_typing();
                    terminal.note_typed("row 1\r");
                }
                terminal.feed(piece);
                (before, terminal.look())
            });
            prop_assert_eq!(full.rows_since(before[0].0), roomy.rows_since(before[1].0));
            prop_assert_eq!(full.haystack(), roomy.haystack());
        }
    }

    /// Who is shown fresh rows, and by how much the rest scrolled, has the screen.
    #[test]
    fn what_is_not_fresh_has_moved_with_the_rest(
        size in size(), pieces in proptest::collection::vec(scrolling(), 1..30), step in 1usize..4,
    ) {
        let mut terminal = terminal(size);
        let mut screens = [Vec::new(), Vec::new()];
        let mut seen = Since::default();
        for (index, piece) in pieces.iter().enumerate() {
            terminal.feed(piece);
            let now = terminal.look();
            if index % step != 0 {
                continue;
            }
            let screen = terminal.screen();
            let known = &mut screens[usize::from(screen.alternate)];
            let (fresh, scrolled) = terminal.rows_since(seen);
            let shown: Vec<String> = screen.rows.iter().map(crate::Row::text).collect();
            let rebuilt: Vec<String> = (0..shown.len())
                .map(|row| match fresh.contains(&(row as u16)) {
                    true => shown[row].clone(),
                    false => known.get(row + scrolled as usize).cloned().unwrap_or_default(),
                })
                .collect();
            prop_assert_eq!(&rebuilt, &shown, "fresh {:?}, scrolled {}", fresh, scrolled);
            *known = shown;
            *if screen.alternate { &mut seen.alternate } else { &mut seen.main } = now;
        }
    }
}

/// Output that scrolls, jumps and changes between screens; rows come again.
fn scrolling() -> impl Strategy<Value = Vec<u8>> {
    let line = (0u8..6, 0u8..4).prop_map(|(text, count)| {
        let rows: Vec<String> = (0..count).map(|more| format!("row {}\r\n", text + more)).collect();
        rows.concat().into_bytes()
    });
    let fixed = |bytes: &'static str| Just(bytes.as_bytes().to_vec());
    prop_oneof![
        8 => line,
        1 => fixed("\x1b[H\x1b[2J"),
        1 => fixed("\x1b[?1049h"),
        1 => fixed("\x1b[?1049l"),
        1 => fixed("\x1b[2;4r\x1b[4;1H\n\x1b[r"),
        1 => fixed("\x1b[H\x1bM"),
        1 => fixed("\x1b[H\x1b[L"),
        1 => fixed("\x1b[HX"),
        1 => fixed("\x1b[24;1Hstatus\x1b[3;1H"),
        1 => fixed("\x1b[3J"),
        1 => fixed("\x1bc"),
    ]
}
