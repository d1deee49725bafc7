//! From a command's raw output to the text that stayed.
//!
//! What stayed is what the terminal would show, in its scrollback and on its screen, with soft-wrapped
//! rows joined: carriage returns, cursor movements and edits of progress displays are followed on a
//! [`Page`] of the terminal's size. Plain output stays as printed, tabs and trailing blanks included.
//! Output on the alternate screen is no text and left out, which is noted.
//!
//! The bytes take the same way as in [`crate::Terminal`]: the scanner finds the sequences, the `vte`
//! crate's parser reads them.
//!
//! Invariants: how the bytes are cut into pieces does not matter; time is linear in the bytes, an edit
//! costing as much as a row; memory is that of the page.

mod dump;
mod handler;
mod page;
mod resize;
mod row;

use std::fmt;

use alacritty_terminal::vte::ansi::{CharsetIndex, Processor, Timeout};

use self::page::Page;
use crate::emulator::{SOFT_RESET, Size};
use crate::queries::{self, Csi, MAX_REPEAT};
use crate::scanner::{self, Sink, Stream};

/// Collects a command's output.
pub struct CleanOutput {
    stream: Stream,
    writer: Writer,
}

/// The way of the bytes from the scanner to the page.
struct Writer {
    /// Made for the first sequence: it reserves 2 MB of address space.
    processor: Option<Processor<NoTimeout>>,
    page: Page,
}

/// Synchronized output is never passed on, so that its time never runs.
#[derive(Default)]
struct NoTimeout;

impl Timeout for NoTimeout {
    fn set_timeout(&mut self, _: std::time::Duration) {}

    fn clear_timeout(&mut self) {}

    fn pending_timeout(&self) -> bool {
        false
    }
}

impl Default for CleanOutput {
    fn default() -> Self {
        Self::new(Size { cols: 80, rows: 24 }, 0)
    }
}

impl CleanOutput {
    /// For a command whose output begins in `row` of a terminal of that size.
    pub fn new(size: Size, row: u16) -> Self {
        let page = Page::new(size, row);
        Self { stream: Stream::default(), writer: Writer { processor: None, page } }
    }

    /// Takes a piece of output.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.stream.feed(bytes, &mut self.writer);
    }

    /// The terminal has a new size, and its cursor is in `row` of it now.
    pub fn resize(&mut self, size: Size, row: u16) {
        self.writer.page.resize(size, row);
    }

    /// Takes the text that can no longer change.
    pub fn take_done(&mut self) -> String {
        std::mem::take(&mut self.writer.page.done)
    }

    /// The text that the program could still change, as it stands.
    pub fn pending(&self) -> String {
        self.writer.page.pending()
    }

    /// Takes everything: the output is complete.
    pub fn finish(mut self) -> String {
        self.stream.finish(&mut self.writer);
        self.take_done() + &self.pending()
    }

    /// A full-screen program ran: the text is not all there was to see.
    pub fn was_full_screen(&self) -> bool {
        self.writer.page.was_full_screen
    }
}

impl fmt::Debug for CleanOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CleanOutput").field("page", &self.writer.page).finish_non_exhaustive()
    }
}

impl Writer {
    fn parse(&mut self, sequence: &[u8]) {
        self.processor.get_or_insert_default().advance(&mut self.page, sequence);
    }

    fn text(&mut self, text: &[u8]) {
        for chunk in text.utf8_chunks() {
            chunk.valid().chars().for_each(|character| match character {
                '\x00'..='\x1f' | '\u{80}'..='\u{9f}' => self.control(character as u8),
                _ => self.page.print(character),
            });
            match chunk.invalid() {
                [] => {}
                // The terminal takes it for a control character; the reader should see it.
                [0x80..=0x9f] => self.page.put_mark(char::REPLACEMENT_CHARACTER),
                _ => self.page.print(char::REPLACEMENT_CHARACTER),
            }
        }
    }

    fn control(&mut self, byte: u8) {
        match byte {
            b'\n' | 0x0b | 0x0c => self.page.line_feed(),
            b'\r' => self.page.carriage_return(),
            b'\t' => self.page.tab(),
            0x08 => self.page.back_space(),
            0x0e => self.page.active_charset = CharsetIndex::G1,
            0x0f => self.page.active_charset = CharsetIndex::G0,
            _ => {}
        }
    }

    fn private_modes(&mut self, csi: &Csi<'_>) {
        let on = csi.last == b'h';
        for &mode in &csi.parameters {
            match mode {
                47 | 1047 => self.page.swap_screens(on),
                1048 => self.parse(if on { b"\x1b7" } else { b"\x1b8" }),
                9 | 1015 | 1016 | 2026 => {}
                _ => self.parse(format!("\x1b[?{mode}{}", csi.last as char).as_bytes()),
            }
        }
    }
}

impl Sink for Writer {
    fn wants_csi(_: &[u8]) -> bool {
        true
    }

    fn pass(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while let Some(&first) = rest.first() {
            let piece = match first {
                // Most output is plain ASCII, which is taken in runs.
                0x20..=0x7e => {
                    let end = rest.iter().position(|byte| !(0x20..=0x7e).contains(byte));
                    let run = &rest[..end.unwrap_or(rest.len())];
                    self.page.print_ascii(std::str::from_utf8(run).unwrap_or_default());
                    run
                }
                0x1b => {
                    let sequence = &rest[..scanner::sequence_len(rest)];
                    self.parse(sequence);
                    sequence
                }
                0x00..=0x1f => {
                    self.control(first);
                    &rest[..1]
                }
                _ => {
                    let end = rest.iter().position(|byte| *byte < 0x7f);
                    let text = &rest[..end.unwrap_or(rest.len())];
                    self.text(text);
                    text
                }
            };
            rest = &rest[piece.len()..];
        }
    }

    fn csi(&mut self, sequence: &[u8], _rest: &[u8]) {
        let is_plain = |byte: &u8| (0x30..=0x3b).contains(byte);
        let csi = match sequence {
            // Colours are no text.
            [_, _, parameters @ .., b'm'] if parameters.iter().all(is_plain) => return,
            [_, _, .., b'h' | b'l' | b'p' | b'b'] => Csi::parse(sequence),
            _ => return self.parse(sequence),
        };
        match (csi.prefix, csi.intermediates, csi.last) {
            (Some(b'?'), b"", b'h' | b'l') if queries::is_ours(sequence) => {
                self.private_modes(&csi);
            }
            (None, b"!", b'p') => {
                let cursor = self.page.cursor;
                self.parse(SOFT_RESET);
                (self.page.cursor.row, self.page.cursor.col) = (cursor.row, cursor.col);
            }
            (None, b"", b'b') => {
                sequence[1..].iter().for_each(|byte| self.control(*byte));
                let count = csi.parameter(0).clamp(1, MAX_REPEAT);
                if let Some(last) = self.page.last {
                    (0..count).for_each(|_| self.page.put(last));
                }
            }
            _ => self.parse(sequence),
        }
    }

    fn string(&mut self, _: u8, _: &[u8], _: &'static [u8]) {}

    fn full_reset(&mut self) {}
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
