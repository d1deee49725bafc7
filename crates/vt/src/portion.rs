//! How much output can be fed between two looks at the clock.
//!
//! A sequence of three bytes can write every cell of the screen, so bytes say little about the time
//! that output takes. On a screen of usual size, a few bytes are little work whatever they are. Elsewhere output is
//! weighed by the cells that it touches at most: an estimate from above, made without following the stream.

use memchr::{memchr, memmem, memrchr};

use crate::emulator::Size;
use crate::queries::MAX_REPEAT;
use crate::scanner::sequence_len;

/// Cells of the largest screen on which output is not weighed, and cells that a portion touches there at most.
const USUAL_CELLS: usize = 12 * 1024;
const USUAL_WORK: usize = 1 << 20;
/// Begins a sequence.
const ESC: u8 = 0x1b;
/// Begins a synchronized update.
const BEGIN_UPDATE: &[u8] = b"\x1b[?2026h";
/// Cells that a portion touches, unless a single sequence touches more.
const PORTION_CELLS: usize = 1 << 17;
/// Longest portion.
const PORTION_BYTES: usize = 4096;
/// Printing a character takes as long as clearing so many cells.
const PRINTED_CELLS: usize = 4;
/// Moving by tabs goes through every stop that the parameter counts.
const TABS: usize = 1 << 16;

/// Length of the portion at the start of `bytes`; 0 only when there are none. `insert` is insert mode,
/// where each character moves the rest of its line.
pub(crate) fn portion_len(bytes: &[u8], size: Size, insert: bool) -> usize {
    let bytes = &bytes[..bytes.len().min(PORTION_BYTES)];
    let (cols, rows) = (usize::from(size.cols), usize::from(size.rows));
    if cols * rows <= USUAL_CELLS {
        let text = memchr(ESC, bytes).unwrap_or(bytes.len());
        // A sequence has three bytes or more and touches every cell at most. A byte of text touches a row and moves
        // the others at most.
        let most = (3 * USUAL_WORK / (cols * rows)).max(text.min(USUAL_WORK / (cols + rows)));
        let len = match bytes.get(..most) {
            // A sequence that is cut has to be put together again.
            Some(first) => memrchr(ESC, first).filter(|at| *at > 0).unwrap_or(most),
            None => bytes.len(),
        };
        // An update that is fed whole need not be hidden. Hiding costs a copy of the screen.
        if text >= len || memmem::find(&bytes[text..len], BEGIN_UPDATE).is_none() {
            return len;
        }
    }
    let printed = PRINTED_CELLS + if insert { cols } else { 0 };
    let (mut at, mut touched) = (0, 0);
    while at < bytes.len() {
        let (len, cells) = match bytes[at] {
            ESC => {
                let len = sequence_len(&bytes[at..]);
                (len, sequence_cells(&bytes[at..at + len], cols, rows))
            }
            // The next line: a row is cleared, and those of a scrolling region move.
            b'\n' | 0x0b | 0x0c => (1, cols + rows),
            b'\t' => (1, cols),
            _ => (1, printed),
        };
        touched += cells;
        if at > 0 && touched > PORTION_CELLS {
            break;
        }
        at += len;
    }
    at
}

fn sequence_cells(sequence: &[u8], cols: usize, rows: usize) -> usize {
    let all = cols * rows;
    match sequence {
        [_, b'[', parameters @ .., last] => match last {
            b'A'..=b'H'
            | b'a'
            | b'c'
            | b'd'
            | b'e'
            | b'f'
            | b'g'
            | b'm'
            | b'n'
            | b'q'
            | b's'
            | b't'
            | b'u' => sequence.len(),
            b'K' | b'X' | b'@' | b'P' => cols,
            b'b' => usize::from(MAX_REPEAT) * PRINTED_CELLS,
            b'I' | b'Z' => TABS,
            // It may begin insert mode: what follows is weighed with that.
            b'h' if parameters.first() != Some(&b'?') => PORTION_CELLS,
            _ => all,
        },
        [_, b'D' | b'E' | b'M'] => cols + rows,
        [_, b'#' | b'c', ..] => all,
        _ => sequence.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const USUAL: Size = Size { cols: 120, rows: 40 };
    const WIDE: Size = Size { cols: 250, rows: 80 };
    const LARGE: Size = Size { cols: 1000, rows: 1000 };

    /// How often `output` is in the first portion of many of it.
    fn repeats(output: &str, size: Size) -> usize {
        portion_len(output.repeat(5000).as_bytes(), size, false) / output.len()
    }

    #[test]
    fn on_a_usual_screen_a_portion_touches_no_more_than_its_bound() {
        for size in [USUAL, Size { cols: 12_000, rows: 1 }, Size { cols: 1, rows: 12_000 }] {
            let (cols, rows) = (usize::from(size.cols), usize::from(size.rows));
            for (output, cells) in
                [("\x1b[J", cols * rows), ("\x1b[2J", cols * rows), ("\n", cols + rows)]
            {
                let most = USUAL_WORK / cells;
                let repeats = repeats(output, size);
                assert!(
                    (most / 2..=most.max(PORTION_BYTES)).contains(&repeats),
                    "{output:?}: {repeats}"
                );
            }
        }
    }

    #[test]
    fn a_portion_does_not_end_within_a_sequence() {
        for text in 1..40 {
            let output = format!("{}\x1b[38;5;208m", "x".repeat(text)).repeat(500);
            let len = portion_len(output.as_bytes(), USUAL, false);
            assert_eq!(output.as_bytes()[len], ESC);
        }
        let text = "text\n".repeat(2000);
        assert_eq!(portion_len(text.as_bytes(), USUAL, false), PORTION_BYTES, "there is none");
        let unfinished = format!("\x1b]0;{text}");
        assert_eq!(portion_len(unfinished.as_bytes(), USUAL, false), 3 * USUAL_WORK / 4800);
    }

    #[test]
    fn an_update_on_a_usual_screen_is_fed_whole() {
        let update = format!("\x1b[?2026h{}\x1b[?2026l", "text ".repeat(400));
        assert_eq!(portion_len(update.as_bytes(), USUAL, false), update.len());
    }

    #[test]
    fn what_touches_every_cell_is_fed_a_few_screens_at_a_time() {
        for output in ["\x1b#8", "\x1b[2J", "\x1b[999S", "\x1b[999L", "\x1bc", "\x1b[?1049h"] {
            assert_eq!(repeats(output, WIDE), PORTION_CELLS / 20_000, "{output:?}");
            assert_eq!(repeats(output, LARGE), 1, "{output:?}");
        }
    }

    #[test]
    fn repeated_characters_are_weighed_by_what_is_printed() {
        assert!(repeats("x\x1b[2147483647b", WIDE) <= 8);
    }

    #[test]
    fn a_line_is_weighed_by_the_row_that_it_clears() {
        assert_eq!(repeats("\n", LARGE), PORTION_CELLS / 2000);
        assert_eq!(portion_len(&[b'x'; 5000], LARGE, true), PORTION_CELLS / 1004);
    }

    #[test]
    fn insert_mode_ends_the_portion_that_turns_it_on() {
        assert_eq!(portion_len(b"\x1b[4hxxxx", WIDE, false), 4);
    }

    #[test]
    fn text_with_colours_is_fed_in_large_portions() {
        let coloured = "\x1b[31mred\x1b[m ".repeat(1000);
        assert!(portion_len(coloured.as_bytes(), LARGE, false) > PORTION_BYTES - 12);
        assert_eq!(portion_len(b"", USUAL, false), 0);
    }
}
