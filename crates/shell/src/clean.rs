//! From a command's raw output to the text that stayed.
//!
//! A line editor without a right margin: carriage returns, backspaces and cursor movements of
//! progress bars are followed, colours and other sequences dropped, tabs and trailing blanks kept as
//! printed. The last [`WINDOW`] lines can still be changed by the program; older ones are final and
//! handed out. Output on the alternate screen is no text and left out, which is noted.
//!
//! Invariant: how the bytes are cut into pieces does not matter.

use std::collections::VecDeque;

use unicode_width::UnicodeWidthChar;

/// Lines that a cursor movement can still reach.
const WINDOW: usize = 200;
/// Characters of all those lines together; with more, older ones are final earlier.
const MAX_WINDOW: usize = 1024 * 1024;
/// Longest control sequence that is understood; a longer one is dropped.
const MAX_SEQUENCE: usize = 256;
/// Longest line that is edited; what is printed beyond it goes to a line of its own.
const MAX_LINE: usize = 1024 * 1024;
/// The part of a wide character or tab that has no character of its own.
const FILLER: char = '\0';

/// Collects a command's output.
#[derive(Debug, Default)]
pub struct CleanOutput {
    /// Finished text that was not taken yet.
    done: String,
    window: VecDeque<Vec<char>>,
    /// Characters in the window, as far as lines were finished in order.
    size: usize,
    /// A finished line's memory, for the next.
    spare: Vec<char>,
    row: usize,
    col: usize,
    state: State,
    /// Parameters of the sequence at hand, or the beginning of a cut character.
    held: Vec<u8>,
    alternate: bool,
    was_full_screen: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Ground,
    Escape,
    EscapeIntermediate,
    Csi,
    /// OSC, DCS, SOS, PM, APC.
    String,
    StringEscape,
}

impl CleanOutput {
    /// Takes a piece of output.
    pub fn feed(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while !rest.is_empty() {
            if self.state == State::Ground {
                rest = self.text(rest);
            } else {
                self.control(rest[0]);
                rest = &rest[1..];
            }
        }
    }

    /// Takes the text that can no longer change.
    pub fn take_done(&mut self) -> String {
        std::mem::take(&mut self.done)
    }

    /// The text that a cursor movement could still change, as it stands.
    pub fn pending(&self) -> String {
        let mut text = String::new();
        // The line after the last newline is only there if something stands on it.
        let last = self.window.len();
        for (index, line) in self.window.iter().enumerate() {
            push_line(line, &mut text);
            if index + 1 < last {
                text.push('\n');
            }
        }
        text
    }

    /// Takes everything: the output is complete.
    pub fn finish(mut self) -> String {
        if self.state == State::Ground && !self.held.is_empty() {
            self.put(char::REPLACEMENT_CHARACTER);
        }
        let pending = self.pending();
        self.done + &pending
    }

    /// A full-screen program ran: the text is not all there was to see.
    pub fn was_full_screen(&self) -> bool {
        self.was_full_screen
    }

    /// Consumes text up to the next escape sequence.
    fn text<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let end = memchr::memchr(0x1b, bytes).unwrap_or(bytes.len());
        let (text, rest) = bytes.split_at(end);
        let joined;
        let mut text = if self.held.is_empty() {
            text
        } else {
            joined = [std::mem::take(&mut self.held).as_slice(), text].concat();
            &joined
        };
        while !text.is_empty() {
            match std::str::from_utf8(text) {
                Ok(valid) => {
                    self.characters(valid);
                    break;
                }
                Err(error) => {
                    let (valid, after) = text.split_at(error.valid_up_to());
                    // Valid up to there, so nothing is replaced.
                    String::from_utf8_lossy(valid).chars().for_each(|c| self.character(c));
                    match error.error_len() {
                        Some(invalid) => {
                            self.put(char::REPLACEMENT_CHARACTER);
                            text = &after[invalid..];
                        }
                        None if rest.is_empty() => {
                            self.held = after.to_vec();
                            break;
                        }
                        None => {
                            self.put(char::REPLACEMENT_CHARACTER);
                            break;
                        }
                    }
                }
            }
        }
        match rest {
            [] => rest,
            [_, after @ ..] => {
                self.state = State::Escape;
                after
            }
        }
    }

    /// Most output is plain ASCII at the end of a line: that is taken in runs.
    fn characters(&mut self, mut text: &str) {
        while let Some(first) = text.chars().next() {
            let is_plain = |byte: &u8| (0x20..0x7f).contains(byte);
            let run = text.as_bytes().iter().take_while(|byte| is_plain(byte)).count();
            if run == 0 || self.alternate || self.col + run > MAX_LINE {
                self.character(first);
                text = &text[first.len_utf8()..];
            } else {
                let (plain, rest) = text.split_at(run);
                self.put_run(plain.as_bytes());
                text = rest;
            }
        }
    }

    fn put_run(&mut self, ascii: &[u8]) {
        let col = self.col;
        let line = self.line();
        if line.len() < col {
            line.resize(col, ' ');
        }
        let over = ascii.len().min(line.len() - col);
        for (cell, byte) in line[col..col + over].iter_mut().zip(ascii) {
            *cell = char::from(*byte);
        }
        line.extend(ascii[over..].iter().map(|byte| char::from(*byte)));
        self.col += ascii.len();
    }

    fn control(&mut self, byte: u8) {
        self.state = match (self.state, byte) {
            (_, 0x18 | 0x1a) => State::Ground,
            (State::String, 0x07) | (State::StringEscape, b'\\') => State::Ground,
            (State::String, 0x1b) => State::StringEscape,
            (State::String, _) => State::String,
            (State::StringEscape, _) | (State::Escape | State::EscapeIntermediate, 0x1b) => {
                State::Escape
            }
            (State::Csi, 0x1b) => State::Escape,
            (State::Escape, b'[') => State::Csi,
            (State::Escape, b']' | b'P' | b'X' | b'^' | b'_') => State::String,
            (State::Escape | State::EscapeIntermediate, 0x20..=0x2f) => State::EscapeIntermediate,
            (State::Escape, b'c') => {
                self.alternate = false;
                self.erase_display(2);
                State::Ground
            }
            (State::Escape | State::EscapeIntermediate, _) => State::Ground,
            (State::Csi, 0x40..=0x7e) => {
                let parameters = std::mem::take(&mut self.held);
                self.csi(&parameters, byte);
                State::Ground
            }
            (State::Csi, _) => {
                if self.held.len() < MAX_SEQUENCE {
                    self.held.push(byte);
                }
                State::Csi
            }
            (State::Ground, _) => State::Ground,
        };
        if self.state != State::Csi {
            self.held.clear();
        }
    }

    fn csi(&mut self, parameters: &[u8], last: u8) {
        if let Some(modes) = parameters.strip_prefix(b"?") {
            let screens = modes.split(|byte| *byte == b';');
            if screens.into_iter().any(|mode| matches!(mode, b"1049" | b"1047" | b"47")) {
                self.alternate = last == b'h';
                self.was_full_screen = true;
            }
            return;
        }
        if self.alternate {
            return;
        }
        let number = |index: usize| {
            let field = parameters.split(|byte| *byte == b';').nth(index).unwrap_or_default();
            std::str::from_utf8(field).ok().and_then(|text| text.parse::<usize>().ok())
        };
        let count = number(0).unwrap_or(1).max(1);
        match last {
            b'A' => self.row = self.row.saturating_sub(count),
            b'B' => self.row = (self.row + count).min(self.window.len().saturating_sub(1)),
            b'C' => self.col = (self.col + count).min(MAX_LINE),
            b'D' => self.col = self.col.saturating_sub(count),
            b'E' => (self.row, self.col) = ((self.row + count).min(self.window.len()), 0),
            b'F' => (self.row, self.col) = (self.row.saturating_sub(count), 0),
            b'G' | b'`' => self.col = (count - 1).min(MAX_LINE),
            b'J' => self.erase_display(number(0).unwrap_or(0)),
            b'K' => self.erase_line(number(0).unwrap_or(0)),
            b'P' => {
                let col = self.col;
                let line = self.line();
                let end = (col + count).min(line.len());
                line.drain(col.min(end)..end);
            }
            b'H' | b'f' if number(0).unwrap_or(1) <= 1 && number(1).unwrap_or(1) <= 1 => {
                (self.row, self.col) = (0, 0);
            }
            _ => {}
        }
    }

    fn erase_display(&mut self, which: usize) {
        match which {
            0 => {
                self.erase_line(0);
                self.window.truncate(self.row + 1);
            }
            2 | 3 => {
                self.window.clear();
                self.size = 0;
                (self.row, self.col) = (0, 0);
            }
            _ => {}
        }
    }

    fn erase_line(&mut self, which: usize) {
        let col = self.col;
        let line = self.line();
        match which {
            0 => line.truncate(col),
            1 => line.iter_mut().take(col + 1).for_each(|cell| *cell = ' '),
            _ => line.clear(),
        }
    }

    fn character(&mut self, character: char) {
        if self.alternate {
            return;
        }
        match character {
            '\r' => self.col = 0,
            '\n' | '\x0b' | '\x0c' => self.newline(),
            '\x08' => self.col = self.col.saturating_sub(1),
            '\t' => {
                let next = (self.col / 8 + 1) * 8;
                self.put('\t');
                while self.col < next {
                    self.put_cell(FILLER);
                }
            }
            _ if character.is_control() => {}
            _ => self.put(character),
        }
    }

    fn newline(&mut self) {
        self.line();
        self.row += 1;
        if self.row >= self.window.len() {
            self.size += self.window.back().map_or(0, Vec::len);
            self.window.push_back(std::mem::take(&mut self.spare));
        }
        while self.window.len() > WINDOW || (self.size > MAX_WINDOW && self.window.len() > 1) {
            if let Some(mut line) = self.window.pop_front() {
                push_line(&line, &mut self.done);
                self.done.push('\n');
                self.size = self.size.saturating_sub(line.len());
                line.clear();
                self.spare = line;
            }
            self.row = self.row.saturating_sub(1);
        }
    }

    fn put(&mut self, character: char) {
        if self.col >= MAX_LINE {
            self.newline();
            self.col = 0;
        }
        match character.width().unwrap_or(1) {
            // A combining mark belongs to the cell before it.
            0 => {
                let col = self.col;
                let line = self.line();
                line.insert(col.min(line.len()), character);
                self.col = (col + 1).min(MAX_LINE);
            }
            2 => {
                self.put_cell(character);
                self.put_cell(FILLER);
            }
            _ => self.put_cell(character),
        }
    }

    fn put_cell(&mut self, character: char) {
        let col = self.col;
        let line = self.line();
        if line.len() < col {
            line.resize(col, ' ');
        }
        match line.get_mut(col) {
            Some(cell) => *cell = character,
            None => line.push(character),
        }
        self.col += 1;
    }

    fn line(&mut self) -> &mut Vec<char> {
        while self.window.len() <= self.row {
            self.window.push_back(Vec::new());
        }
        &mut self.window[self.row]
    }
}

fn push_line(line: &[char], text: &mut String) {
    text.reserve(line.len() + 1);
    // Most lines are plain, and need neither filter nor encoding.
    let mut plain = [0; 256];
    let (head, rest) = line.split_at(line.len().min(plain.len()));
    let mut all = 0x20;
    for (byte, character) in plain.iter_mut().zip(head) {
        *byte = *character as u8;
        all |= u32::from(*character) | (u32::from(*character == FILLER) << 31);
    }
    if rest.is_empty()
        && all < 0x80
        && let Ok(plain) = std::str::from_utf8(&plain[..head.len()])
    {
        text.push_str(plain);
        return;
    }
    text.extend(line.iter().filter(|character| **character != FILLER));
}
