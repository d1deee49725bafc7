//! Cuts a program's output at the control sequences that are ours to handle.
//!
//! The emulator crate ignores some sequences that matter (queries that would freeze the asker, shell
//! marks, synchronized output) and keeps strings of any length. So the scanner finds every sequence,
//! passes long runs through untouched, and hands over the interesting sequences one by one, at the
//! exact point of the stream where they stand.
//!
//! Bytes (ECMA-48): `ESC [ … final`, `ESC ] … BEL|ST`, `ESC P|X|^|_ … ST`, `ESC intermediates final`.
//! CAN and SUB abort a sequence, ESC starts a new one. The program is not trusted: a control
//! sequence is held up to [`MAX_CONTROL`] bytes, a string up to [`MAX_STRING`]; past that it is
//! dropped whole.
//!
//! Invariant: what reaches the [`Sink`] does not depend on how the stream was split into reads.

use memchr::{memchr, memchr3};

/// Longest control sequence that is looked at; no terminal takes more than a few dozen parameters.
const MAX_CONTROL: usize = 1024;
/// Longest OSC or DCS string that is kept (an OSC 52 clipboard is the largest legitimate one).
const MAX_STRING: usize = 1024 * 1024;

const BEL: u8 = 0x07;
const CAN: u8 = 0x18;
const SUB: u8 = 0x1a;
const ESC: u8 = 0x1b;

/// Takes the pieces of a stream in order.
pub(crate) trait Sink {
    /// Whether the `CSI` sequence needs more than the emulator does with it.
    fn wants_csi(sequence: &[u8]) -> bool;
    /// Bytes for the emulator, as they came.
    fn pass(&mut self, bytes: &[u8]);
    /// A whole `CSI` sequence that was wanted; `rest` is what follows it in the same read.
    fn csi(&mut self, sequence: &[u8], rest: &[u8]);
    /// A whole string (OSC, DCS, SOS, PM, APC) without introducer and terminator.
    fn string(&mut self, introducer: u8, payload: &[u8], terminator: &'static [u8]);
    /// `ESC c`.
    fn full_reset(&mut self);
}

/// A stream of output: the scanner, given whole characters only.
#[derive(Debug, Default)]
pub(crate) struct Stream {
    scanner: Scanner,
    /// The beginning of a UTF-8 character whose rest is still to come.
    cut_character: Vec<u8>,
}

impl Stream {
    /// Takes one read; any bytes, cut anywhere.
    pub(crate) fn feed<S: Sink>(&mut self, bytes: &[u8], sink: &mut S) {
        // vte 0.15 loses a character when one that was cut between two reads is followed by another
        // cut one, so it only ever gets whole characters.
        let joined;
        let bytes = if self.cut_character.is_empty() {
            bytes
        } else {
            joined = [&std::mem::take(&mut self.cut_character), bytes].concat();
            &joined
        };
        let (whole, cut) = bytes.split_at(bytes.len() - cut_character_len(bytes));
        self.cut_character.extend_from_slice(cut);
        self.scanner.scan(whole, sink);
    }

    /// The bytes that wait for more: fed to a new stream, they wait there in the same way.
    pub(crate) fn held(&self) -> Vec<u8> {
        [self.scanner.pending.as_slice(), &self.cut_character].concat()
    }

    /// The sequence that waits went over its bound: it is read to its end and dropped.
    pub(crate) fn is_dropping(&self) -> bool {
        self.scanner.dropping
    }

    /// Drops the sequence that waits, if there is one.
    pub(crate) fn set_dropping(&mut self, dropping: bool) {
        self.scanner.dropping = dropping && !self.scanner.pending.is_empty();
    }

    /// The stream is over: what was cut remains so.
    pub(crate) fn finish<S: Sink>(&mut self, sink: &mut S) {
        let cut = std::mem::take(&mut self.cut_character);
        self.scanner.scan(&cut, sink);
    }
}

/// Length of an unfinished UTF-8 character at the end.
pub(crate) fn cut_character_len(bytes: &[u8]) -> usize {
    let starts = (1..=bytes.len().min(3)).find(|back| bytes[bytes.len() - back] & 0xc0 != 0x80);
    starts
        .filter(|back| {
            let tail = std::str::from_utf8(&bytes[bytes.len() - back..]);
            tail.is_err_and(|error| error.error_len().is_none())
        })
        .unwrap_or(0)
}

/// Length of the sequence that starts at `bytes[0]`, an ESC; all there is when it is not whole.
pub(crate) fn sequence_len(bytes: &[u8]) -> usize {
    parse(bytes, 0).map_or(bytes.len(), |sequence| sequence.len)
}

/// The position in the stream between two reads.
#[derive(Debug, Default)]
struct Scanner {
    /// The unfinished sequence, from its ESC on.
    pending: Vec<u8>,
    /// The unfinished sequence went over its bound: it is read to its end and dropped.
    dropping: bool,
}

impl Scanner {
    /// Scans one read.
    fn scan<S: Sink>(&mut self, mut bytes: &[u8], sink: &mut S) {
        while !self.pending.is_empty() {
            if bytes.is_empty() {
                return;
            }
            let held = self.pending.len();
            self.pending.extend_from_slice(bytes);
            // The last held byte may be the ESC of a terminator, so it is looked at again.
            let Some(sequence) = parse(&self.pending, held - 1) else {
                self.enforce_bound();
                return;
            };
            let buffer = std::mem::take(&mut self.pending);
            if sequence.len < held {
                self.pending = buffer[sequence.len..held].to_vec();
            } else {
                bytes = &bytes[sequence.len - held..];
            }
            if !std::mem::take(&mut self.dropping) {
                emit(&buffer[..sequence.len], sequence.kind, bytes, sink);
            }
        }
        let mut run = 0;
        let mut at = 0;
        while let Some(offset) = memchr(ESC, &bytes[at..]) {
            let start = at + offset;
            let Some(sequence) = parse(&bytes[start..], 0) else {
                sink.pass(&bytes[run..start]);
                self.pending = bytes[start..].to_vec();
                self.enforce_bound();
                return;
            };
            at = start + sequence.len;
            let raw = &bytes[start..at];
            let passes = match sequence.kind {
                Kind::Csi => !S::wants_csi(raw),
                Kind::Escape => raw != b"\x1bc",
                Kind::Aborted | Kind::String(_) | Kind::AbortedString => false,
            };
            if !passes {
                sink.pass(&bytes[run..start]);
                emit(raw, sequence.kind, &bytes[at..], sink);
                run = at;
            }
        }
        sink.pass(&bytes[run..]);
    }

    fn enforce_bound(&mut self) {
        let bound = match self.pending.get(1) {
            Some(b']' | b'P' | b'X' | b'^' | b'_') => MAX_STRING,
            _ => MAX_CONTROL,
        };
        if self.pending.len() > bound {
            let ends_in_escape = self.pending.last() == Some(&ESC);
            self.pending.truncate(2);
            if ends_in_escape {
                self.pending.push(ESC);
            }
            self.dropping = true;
        }
    }
}

fn emit<S: Sink>(raw: &[u8], kind: Kind, rest: &[u8], sink: &mut S) {
    match kind {
        Kind::Csi if S::wants_csi(raw) => sink.csi(raw, rest),
        Kind::Escape if raw == b"\x1bc" => {
            sink.pass(raw);
            sink.full_reset();
        }
        Kind::Csi | Kind::Escape => sink.pass(raw),
        // What follows may not be passed on, so the parser is brought back to its start here.
        Kind::Aborted => sink.pass(&[raw, &[CAN]].concat()),
        Kind::AbortedString => {}
        Kind::String(terminator) => {
            let end =
                if raw.ends_with(terminator) { raw.len() - terminator.len() } else { raw.len() };
            sink.string(raw[1], &raw[2..end.max(2)], terminator);
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// `ESC` and a final byte.
    Escape,
    Csi,
    /// With the terminator an answer should use.
    String(&'static [u8]),
    /// A control sequence cut short: the emulator knows what to do with it.
    Aborted,
    /// A string cut short by CAN or SUB: nothing is left of it.
    AbortedString,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Sequence {
    len: usize,
    kind: Kind,
}

/// Finds the end of the sequence that starts at `bytes[0]`, an ESC; `None` when it is not there yet.
///
/// `seen` bytes were looked at before, which only long strings make use of.
fn parse(bytes: &[u8], seen: usize) -> Option<Sequence> {
    match bytes.get(1)? {
        b'[' => return parse_csi(bytes),
        b']' | b'P' | b'X' | b'^' | b'_' => return parse_string(bytes, seen),
        _ => {}
    }
    for (at, &byte) in bytes.iter().enumerate().skip(1) {
        let len = at + 1;
        match byte {
            CAN | SUB => {
                return Some(Sequence { len, kind: Kind::Aborted });
            }
            ESC => {
                return Some(Sequence { len: at, kind: Kind::Aborted });
            }
            0x30..=0x7e => {
                return Some(Sequence { len, kind: Kind::Escape });
            }
            _ => {}
        }
    }
    None
}

fn parse_csi(bytes: &[u8]) -> Option<Sequence> {
    let at = 2 + bytes[2..].iter().position(|byte| ENDS_CSI[usize::from(*byte)])?;
    Some(match bytes[at] {
        ESC => Sequence { len: at, kind: Kind::Aborted },
        CAN | SUB => Sequence { len: at + 1, kind: Kind::Aborted },
        _ => Sequence { len: at + 1, kind: Kind::Csi },
    })
}

/// The bytes that end or abort a control sequence. A table, because every byte of every sequence is looked up.
static ENDS_CSI: [bool; 256] = {
    let mut ends = [false; 256];
    let mut byte = 0x40;
    while byte <= 0x7e {
        ends[byte] = true;
        byte += 1;
    }
    ends[CAN as usize] = true;
    ends[SUB as usize] = true;
    ends[ESC as usize] = true;
    ends
};

fn parse_string(bytes: &[u8], seen: usize) -> Option<Sequence> {
    // Only an OSC ends at BEL; elsewhere it is part of the string.
    let bell = if bytes[1] == b']' { BEL } else { CAN };
    let from = seen.max(2);
    let at = from + find_end(bytes.get(from..)?, bell)?;
    let (len, kind) = match bytes[at] {
        ESC if *bytes.get(at + 1)? == b'\\' => (at + 2, Kind::String(b"\x1b\\")),
        ESC => (at, Kind::String(b"\x1b\\")),
        BEL => (at + 1, Kind::String(b"\x07")),
        _ => (at + 1, Kind::AbortedString),
    };
    Some(Sequence { len, kind })
}

fn find_end(bytes: &[u8], bell: u8) -> Option<usize> {
    let end = memchr3(ESC, CAN, bell, bytes);
    // SUB is a fourth needle; it only matters before the first of the others.
    match memchr(SUB, &bytes[..end.unwrap_or(bytes.len())]) {
        None => end,
        found => found,
    }
}
