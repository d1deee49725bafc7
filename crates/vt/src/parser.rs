//! From bytes to characters, control functions and strings (ECMA-48, UTF-8).
//!
//! ```text
//! bytes ─► runs of printable ASCII ─► Handler::ascii
//!        ─► other text (UTF-8)     ─► Handler::text
//!        ─► C0                     ─► Handler::control
//!        ─► ESC I… F               ─► Handler::escape
//!        ─► ESC [ P… I… F          ─► Handler::csi
//!        ─► ESC ] P X ^ _ … ST     ─► Handler::string
//! ```
//!
//! CAN and SUB abort a sequence, ESC begins another. C0 controls within a sequence are executed before it. Bytes that are
//! not UTF-8 become U+FFFD. C1 controls exist in their 7-bit form only: text in a wrong encoding must not swallow what follows.
//!
//! The program is not trusted: a control sequence is held up to [`MAX_CONTROL`] bytes, a string up to [`MAX_STRING`]; past
//! that it is dropped whole. What the handler is called with does not depend on how the stream was cut.

mod csi;
mod runs;
mod sequence;

pub(crate) use self::csi::{Csi, Params};
use self::runs::{printable_len, text_len};
use self::sequence::{Kind, Sequence};
use crate::utf8::first_char;

/// Longest control sequence that is looked at; no terminal takes more than a few dozen parameters.
const MAX_CONTROL: usize = 1024;
/// Longest OSC, DCS or APC string that is kept: a picture or a clipboard.
const MAX_STRING: usize = 1024 * 1024;

pub(crate) const BEL: u8 = 0x07;
const CAN: u8 = 0x18;
const SUB: u8 = 0x1a;
const ESC: u8 = 0x1b;
const DEL: u8 = 0x7f;
/// Printed for bytes that are not UTF-8: U+FFFD.
const REPLACEMENT: &[u8] = "\u{fffd}".as_bytes();

/// What a stream consists of, in its order.
pub(crate) trait Handler {
    /// Printable ASCII.
    fn ascii(&mut self, run: &[u8]);
    /// Other text: characters from U+0080 on, and ASCII between them. Returns how many bytes are characters; those behind
    /// them are not UTF-8.
    fn text(&mut self, text: &[u8]) -> usize;
    /// A C0 control.
    fn control(&mut self, byte: u8);
    /// An escape sequence with its intermediate bytes and its final one.
    fn escape(&mut self, intermediates: &[u8], last: u8);
    /// A control sequence.
    fn csi(&mut self, csi: &Csi<'_>);
    /// A string without its introducer and terminator.
    fn string(&mut self, introducer: u8, payload: &[u8], terminator: &'static str);
    /// The handler has done as much as it may before the clock is looked at.
    fn has_worked_enough(&self) -> bool;
}

/// The position in a stream between two reads.
#[derive(Debug, Default, Clone, serde::Serialize, serde::Deserialize)]
pub(crate) struct Parser {
    /// An unfinished sequence from its ESC on, or an unfinished character.
    #[serde(with = "serde_bytes")]
    pending: Vec<u8>,
    /// The unfinished sequence went over its bound: it is read to its end and dropped.
    dropping: bool,
}

impl Parser {
    /// Takes bytes, cut anywhere, until the handler has worked enough; returns how many.
    pub(crate) fn feed<H: Handler>(&mut self, bytes: &[u8], handler: &mut H) -> usize {
        let mut at = 0;
        while !self.pending.is_empty() {
            if at == bytes.len() {
                return at;
            }
            at += self.resume(&bytes[at..], handler);
            if handler.has_worked_enough() {
                return at;
            }
        }
        let mut params = Params::NONE;
        while at < bytes.len() {
            let rest = &bytes[at..];
            at += match rest[0] {
                0x20..=0x7e => {
                    let len = printable_len(rest);
                    handler.ascii(&rest[..len]);
                    len
                }
                ESC => self.sequence(rest, &mut params, handler),
                0x00..=0x1f => {
                    handler.control(rest[0]);
                    1
                }
                DEL => 1,
                0x80.. => self.text(rest, handler),
            };
            if handler.has_worked_enough() {
                break;
            }
        }
        at
    }

    /// Takes the sequence at the start of `rest`, or holds what is there of it.
    #[inline]
    fn sequence<H: Handler>(&mut self, rest: &[u8], params: &mut Params, handler: &mut H) -> usize {
        if rest.get(1) == Some(&b'[')
            && let Some(csi) = Csi::scan(rest, params)
        {
            handler.csi(&csi);
            return csi.raw.len();
        }
        match Sequence::parse(rest, 0) {
            Some(sequence) => {
                sequence.dispatch(rest, handler);
                sequence.len
            }
            None => self.hold(rest),
        }
    }

    /// The stream is over: what was cut remains so.
    pub(crate) fn finish<H: Handler>(&mut self, handler: &mut H) {
        if self.pending.first().is_some_and(|byte| *byte != ESC) {
            handler.text(REPLACEMENT);
        }
        self.pending.clear();
        self.dropping = false;
    }

    /// The bytes that wait for more; fed to another terminal, they wait there in the same way.
    pub(crate) fn pending(&self) -> &[u8] {
        &self.pending
    }

    fn hold(&mut self, rest: &[u8]) -> usize {
        self.pending = rest.to_vec();
        self.enforce_bound();
        rest.len()
    }

    /// Takes what belongs to the pending bytes; returns how many of the new ones that were.
    fn resume<H: Handler>(&mut self, bytes: &[u8], handler: &mut H) -> usize {
        let held = self.pending.len();
        if self.pending[0] != ESC {
            return self.resume_character(bytes, handler);
        }
        self.pending.extend_from_slice(bytes);
        // The last held byte may be the ESC of a terminator, so it is looked at again.
        let Some(sequence) = Sequence::parse(&self.pending, held - 1) else {
            self.enforce_bound();
            return bytes.len();
        };
        let mut buffer = std::mem::take(&mut self.pending);
        if !std::mem::take(&mut self.dropping) {
            sequence.dispatch(&buffer, handler);
        }
        if sequence.len < held {
            // It was cut short by an ESC that was held.
            buffer.truncate(held);
            self.pending = buffer.split_off(sequence.len);
            return 0;
        }
        sequence.len - held
    }

    fn resume_character<H: Handler>(&mut self, bytes: &[u8], handler: &mut H) -> usize {
        let held = self.pending.len();
        let mut buffer = std::mem::take(&mut self.pending);
        buffer.extend(bytes.iter().take(4 - held));
        if let Some((_, len)) = first_char(&buffer) {
            handler.text(&buffer[..len]);
            return len - held;
        }
        let invalid = first_invalid(&buffer);
        if is_cut(invalid) && invalid.len() == buffer.len() {
            let taken = buffer.len() - held;
            self.pending = buffer;
            return taken;
        }
        handler.text(REPLACEMENT);
        invalid.len().saturating_sub(held)
    }

    fn text<H: Handler>(&mut self, rest: &[u8], handler: &mut H) -> usize {
        let run = &rest[..text_len(rest)];
        let mut at = 0;
        loop {
            at += handler.text(&run[at..]);
            if at == run.len() {
                return at;
            }
            let invalid = first_invalid(&run[at..]);
            at += invalid.len();
            if at == rest.len() && is_cut(invalid) {
                self.hold(invalid);
            } else {
                handler.text(REPLACEMENT);
            }
            if at == run.len() || handler.has_worked_enough() {
                return at;
            }
        }
    }

    fn enforce_bound(&mut self) {
        let ends_in_escape = self.pending.len() > 1 && self.pending.last() == Some(&ESC);
        let body = self.pending.len().saturating_sub(2 + usize::from(ends_in_escape));
        if self.pending[0] == ESC && body > most(&self.pending) {
            self.pending.truncate(2);
            if ends_in_escape {
                self.pending.push(ESC);
            }
            self.pending.shrink_to_fit();
            self.dropping = true;
        }
    }
}

/// The bytes at the start that one U+FFFD stands for.
fn first_invalid(bytes: &[u8]) -> &[u8] {
    bytes.utf8_chunks().next().map_or(&[], |chunk| chunk.invalid())
}

/// More bytes could make a character of these.
fn is_cut(invalid: &[u8]) -> bool {
    str::from_utf8(invalid).is_err_and(|error| error.error_len().is_none())
}

/// Bytes that a sequence may have behind its first two.
fn most(sequence: &[u8]) -> usize {
    match sequence.get(1) {
        Some(b']' | b'P' | b'X' | b'^' | b'_') => MAX_STRING,
        _ => MAX_CONTROL,
    }
}

impl Sequence {
    fn dispatch<H: Handler>(&self, bytes: &[u8], handler: &mut H) {
        let raw = &bytes[..self.len];
        let body = match self.kind {
            Kind::String { end, .. } => end - 2,
            Kind::Csi => self.len - 3,
            Kind::Escape | Kind::Aborted => self.len.saturating_sub(3),
        };
        if body > most(raw) {
            return;
        }
        if self.has_controls {
            let controls =
                raw[1..].iter().filter(|byte| **byte < 0x20 && !matches!(**byte, ESC | CAN | SUB));
            controls.for_each(|byte| handler.control(*byte));
        }
        match self.kind {
            Kind::Escape => {
                let clean: Vec<u8>;
                let mut body = &raw[1..];
                if self.has_controls {
                    clean = body.iter().copied().filter(|byte| *byte >= 0x20).collect();
                    body = &clean;
                }
                if let Some((last, intermediates)) = body.split_last() {
                    handler.escape(intermediates, *last);
                }
            }
            Kind::Csi => {
                // Controls were executed; DEL and bytes that are not ASCII mean nothing.
                let belongs = |byte: &u8| matches!(*byte, ESC | 0x20..=0x7e);
                let clean: Vec<u8> = raw.iter().copied().filter(belongs).collect();
                let mut params = Params::NONE;
                if let Some(mut csi) = Csi::scan(&clean, &mut params) {
                    csi.raw = raw;
                    handler.csi(&csi);
                }
            }
            Kind::String { end, terminator } => handler.string(raw[1], &raw[2..end], terminator),
            Kind::Aborted => {}
        }
    }
}

#[cfg(test)]
mod tests;
