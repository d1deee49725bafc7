//! How much output can be fed between two looks at the clock.
//!
//! A sequence of three bytes can write every cell of the screen, so bytes say little about the time
//! that output takes. On a screen of usual size, a few bytes are little work whatever they are. Elsewhere output is
//! weighed by the cells that it touches at most: an estimate from above, made without following the stream.

use memchr::{memchr, memmem};

use crate::emulator::Size;
use crate::queries::MAX_REPEAT;
use crate::scanner::sequence_len;

/// Cells of the largest screen on which output is not weighed, and bytes of a portion there that has sequences.
const USUAL_CELLS: usize = 12 * 1024;
const USUAL_BYTES: usize = 256;
/// Begins a synchronized update.
const BEGIN_UPDATE: &[u8] = b"\x1b[?2026h";
/// Cells that a portion touches, unless a single sequence touches more.
const PORTION_CELLS: usize = 1 << 17;
/// Cells that a portion without sequences may touch on a usual screen; most of it touches far fewer.
const TEXT_CELLS: usize = 1 << 20;
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
        let text = memchr(0x1b, bytes).unwrap_or(bytes.len());
        let first = &bytes[..bytes.len().min(USUAL_BYTES)];
        // An update that is fed whole need not be hidden. Hiding costs a copy of the screen.
        if text >= first.len() || memmem::find(&first[text..], BEGIN_UPDATE).is_none() {
            // A byte of text touches a row and moves the others at most.
            return text.min(TEXT_CELLS / (cols + rows)).max(first.len());
        }
    }
    let printed = PRINTED_CELLS + if insert { cols } else { 0 };
    let (mut at, mut touched) = (0, 0);
    while at < bytes.len() {
        let (len, cells) = match bytes[at] {
            0x1b => {
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
    fn on_a_usual_screen_portions_with_sequences_are_short() {
        for output in ["\x1b[2J", "x\x1b[2147483647b", "text\x1b[m"] {
            assert_eq!(repeats(output, USUAL), USUAL_BYTES / output.len(), "{output:?}");
        }
    }

    #[test]
    fn text_is_fed_at_once_unless_rows_are_long_or_many() {
        let output = "text\n".repeat(2000);
        assert_eq!(portion_len(output.as_bytes(), USUAL, false), PORTION_BYTES);
        let mixed = format!("{}\x1b[2J", "text\n".repeat(200));
        assert_eq!(portion_len(mixed.repeat(9).as_bytes(), USUAL, false), 1000);
        for size in [Size { cols: 12_000, rows: 1 }, Size { cols: 1, rows: 12_000 }] {
            assert_eq!(portion_len(output.as_bytes(), size, true), USUAL_BYTES);
        }
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
