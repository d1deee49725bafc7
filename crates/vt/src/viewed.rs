//! Output for a second terminal, which shows what ours shows and must not talk back.
//!
//! A program's queries are answered once, by our terminal; a viewer's terminal that gets them too would answer them as if
//! its person had typed. [`QueryFilter`] takes them out of the stream, wherever that is cut: of an escape sequence
//! that is not whole yet at most [`MAX_HELD`] bytes are held back, and a longer one is none that is asked with.

use crate::queries::Csi;

/// Bytes of a sequence that are held back until it is known what it is.
const MAX_HELD: usize = 256;

/// Takes out of a stream what a terminal would answer.
#[derive(Debug, Default)]
pub struct QueryFilter {
    /// A sequence that has begun.
    held: Vec<u8>,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum State {
    #[default]
    Text,
    /// After ESC.
    Escape,
    /// In a control sequence.
    Csi,
    /// In a string (OSC, DCS and the like) that may be a query.
    String,
    /// In a string that is none, up to its end.
    Passing,
    /// After an ESC in one of these.
    StringEscape { passing: bool },
}

impl QueryFilter {
    /// Forgets what has begun: what follows is another stream.
    pub fn reset(&mut self) {
        *self = Self::default();
    }

    /// Appends what is left of `bytes` to `out`.
    pub fn feed(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        let mut rest = bytes;
        while let Some((&byte, after)) = rest.split_first() {
            if self.state == State::Text {
                let plain = rest.iter().position(|byte| matches!(byte, 0x1b | 0x05));
                let (text, special) = rest.split_at(plain.unwrap_or(rest.len()));
                out.extend_from_slice(text);
                rest = special;
                match rest.split_first() {
                    Some((0x1b, after)) => {
                        self.held.push(0x1b);
                        self.state = State::Escape;
                        rest = after;
                    }
                    // ENQ.
                    Some((_, after)) => rest = after,
                    None => {}
                }
                continue;
            }
            self.step(byte, out);
            rest = after;
        }
    }

    fn step(&mut self, byte: u8, out: &mut Vec<u8>) {
        // CAN and SUB end any sequence; ESC begins another, save in a string, where it may end it.
        if matches!(byte, 0x18 | 0x1a) {
            self.held.push(byte);
            return self.release(out);
        }
        match self.state {
            State::Text => {}
            State::Passing => {
                out.push(byte);
                self.state = match byte {
                    0x07 => State::Text,
                    0x1b => State::StringEscape { passing: true },
                    _ => State::Passing,
                };
            }
            State::StringEscape { passing } => {
                let target = if passing { &mut *out } else { &mut self.held };
                target.push(byte);
                if byte == b'\\' {
                    return self.end(out);
                }
                // It ended the string all the same, and what follows it is a sequence of its own.
                self.release(out);
                if byte == 0x1b {
                    out.pop();
                    self.held.push(0x1b);
                    self.state = State::Escape;
                }
            }
            _ if byte == 0x1b && self.state != State::String => {
                self.release(out);
                self.held.push(byte);
                self.state = State::Escape;
            }
            State::Escape => {
                self.held.push(byte);
                match byte {
                    b'[' => self.state = State::Csi,
                    b']' | b'P' => self.state = State::String,
                    b'X' | b'^' | b'_' => {
                        out.append(&mut self.held);
                        self.state = State::Passing;
                    }
                    // Another intermediate may follow, but none of these is a query but DECID.
                    b'Z' => self.drop_held(),
                    _ => self.release(out),
                }
            }
            State::Csi => {
                self.held.push(byte);
                match byte {
                    0x40..=0x7e if is_query(&self.held) => self.drop_held(),
                    0x40..=0x7e => self.release(out),
                    _ if self.held.len() > MAX_HELD => self.release(out),
                    _ => {}
                }
            }
            State::String => {
                self.held.push(byte);
                match byte {
                    0x07 => self.end(out),
                    0x1b => self.state = State::StringEscape { passing: false },
                    _ if self.held.len() > MAX_HELD => {
                        out.append(&mut self.held);
                        self.state = State::Passing;
                    }
                    _ => {}
                }
            }
        }
    }

    /// A string is whole.
    fn end(&mut self, out: &mut Vec<u8>) {
        match is_string_query(&self.held) {
            true => self.drop_held(),
            false => self.release(out),
        }
    }

    fn release(&mut self, out: &mut Vec<u8>) {
        out.append(&mut self.held);
        self.state = State::Text;
    }

    fn drop_held(&mut self) {
        self.held.clear();
        self.state = State::Text;
    }
}

/// Whether a whole control sequence asks for something.
fn is_query(sequence: &[u8]) -> bool {
    let csi = Csi::parse(sequence);
    match csi.last {
        b'c' | b'n' => true,
        b'p' => csi.intermediates == b"$",
        b'q' => csi.prefix == Some(b'>'),
        b'u' => csi.prefix == Some(b'?'),
        b'm' => csi.prefix == Some(b'?'),
        b'x' => csi.intermediates.is_empty() && csi.prefix.is_none(),
        b'S' => csi.prefix == Some(b'?'),
        b't' => csi.prefix.is_none() && matches!(csi.parameter(0), 11 | 13..=16 | 18..=21),
        b'y' => csi.intermediates == b"*",
        b'w' => csi.intermediates == b"$",
        _ => false,
    }
}

/// Whether a whole string asks for something: a colour, a setting, a capability, the clipboard.
fn is_string_query(sequence: &[u8]) -> bool {
    let body = sequence.get(2..).unwrap_or_default();
    let body = body.strip_suffix(b"\x1b\\").or_else(|| body.strip_suffix(b"\x07")).unwrap_or(body);
    match sequence.get(1) {
        Some(b'P') => body.starts_with(b"$q") || body.starts_with(b"+q"),
        _ => body.split(|byte| *byte == b';').skip(1).any(|part| part == b"?"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What passes, and what does not.
    const STREAM: [(&str, bool); 34] = [
        ("text \u{e4}\r\n", true),
        ("\x1b[c", false),
        ("\x1b[1;31m", true),
        ("\x1b[6n", false),
        ("\x1b[?6n", false),
        ("\x1b[>c", false),
        ("\x1b[?2026$p", false),
        ("\x1b[!p", true),
        ("\x1b[2 q", true),
        ("\x1b[>q", false),
        ("\x1b[?u", false),
        ("\x1b[>1u", true),
        ("\x1b[18t", false),
        ("\x1b[22;0t", true),
        ("\x1b]11;?\x07", false),
        ("\x1b]11;?\x1b\\", false),
        ("\x1b]11;#ff0000\x1b\\", true),
        ("\x1b]4;1;?;2;?\x1b\\", false),
        ("\x1b]0;what?\x07", true),
        ("\x1b]8;;http://x/?a=b\x1b\\", true),
        ("\x1bP$qm\x1b\\", false),
        ("\x1bP+q544e\x1b\\", false),
        ("\x1bPq#0;2;0;0;0\x1b\\", true),
        ("\x1b_app\x1b\\", true),
        ("\x1b(0", true),
        ("\x1bZ", false),
        ("\x05", false),
        ("\x1b[12;", true),
        ("\x18more", true),
        ("\x1b\x1b[c", true),
        ("\x1b7\x1b8", true),
        ("\x1b[?25l", true),
        ("\x1b]52;c;?\x07", false),
        ("end", true),
    ];

    fn expected() -> Vec<u8> {
        let kept = STREAM.iter().filter(|(_, passes)| *passes);
        let all: String = kept.map(|(text, _)| *text).collect();
        // Of an ESC before a query only the ESC is left.
        all.replace("\x1b\x1b[c", "\x1b").into_bytes()
    }

    #[test]
    fn questions_are_taken_out_wherever_the_stream_is_cut() {
        let stream: String = STREAM.iter().map(|(text, _)| *text).collect();
        for cut in 0..stream.len() {
            let (mut filter, mut out) = (QueryFilter::default(), Vec::new());
            let (first, second) = stream.as_bytes().split_at(cut);
            filter.feed(first, &mut out);
            filter.feed(second, &mut out);
            assert_eq!(
                out.escape_ascii().to_string(),
                expected().escape_ascii().to_string(),
                "cut at {cut}"
            );
        }
    }

    #[test]
    fn a_long_string_passes_and_little_is_held() {
        let (mut filter, mut out) = (QueryFilter::default(), Vec::new());
        let picture = format!("\x1bPq{}\x1b\\after", "~".repeat(100_000));
        for chunk in picture.as_bytes().chunks(1000) {
            filter.feed(chunk, &mut out);
            assert!(filter.held.len() <= MAX_HELD + 1);
        }
        assert_eq!(out, picture.as_bytes());
        // Without an end, too.
        filter.feed(&[b'x'; 10], &mut out);
        filter.feed(format!("\x1b[{}", "1;".repeat(10_000)).as_bytes(), &mut out);
        assert!(filter.held.len() <= MAX_HELD + 1);
    }
}
