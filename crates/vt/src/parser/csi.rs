//! A control sequence taken apart.

use super::MAX_CONTROL;

/// Parameters that are looked at; xterm has as many.
const MAX_PARAMS: usize = 32;

/// Digits of a number that is certainly less than 2³².
const SAFE_DIGITS: usize = 9;

/// A control sequence: `ESC [`, a prefix, parameters, intermediates, a final byte.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Csi<'a> {
    /// One of `<=>?`, or 0.
    pub(crate) prefix: u8,
    pub(crate) params: &'a Params,
    /// The intermediate bytes, two at most; more make a sequence that nobody knows.
    intermediates: [u8; 2],
    /// The final byte.
    pub(crate) last: u8,
    /// The whole sequence.
    pub(crate) raw: &'a [u8],
}

/// Numbers separated by `;` or, below another, by `:`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Params {
    values: [u16; MAX_PARAMS],
    len: usize,
    /// Bit i: the number i is behind a colon.
    colons: u64,
}

impl Params {
    /// No numbers.
    pub(super) const NONE: Self = Self { values: [0; MAX_PARAMS], len: 0, colons: 0 };

    /// The number at an index; 0 if it is missing.
    #[inline]
    pub(crate) fn get(&self, index: usize) -> u16 {
        if index < self.len { self.values[index] } else { 0 }
    }

    /// The number at an index, 1 if it is missing or 0.
    #[inline]
    pub(crate) fn count(&self, index: usize) -> usize {
        usize::from(self.get(index).max(1))
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn all(&self) -> &[u16] {
        &self.values[..self.len]
    }

    /// How many numbers behind the one at an index belong to it.
    #[inline]
    pub(crate) fn subs(&self, index: usize) -> usize {
        (self.colons >> (index + 1)).trailing_ones() as usize
    }
}

impl<'a> Csi<'a> {
    /// Takes the sequence apart that `bytes` begin with, an ESC and a `[`. `None` if it is malformed, too long, not there
    /// to its end, or if there are bytes in it that do not belong to it.
    #[inline]
    pub(super) fn scan(bytes: &'a [u8], params: &'a mut Params) -> Option<Self> {
        let (prefix, mut at) = match *bytes.get(2)? {
            prefix @ b'<'..=b'?' => (prefix, 3),
            _ => (0, 2),
        };
        (params.len, params.colons) = (0, 0);
        let (mut start, mut value) = (at, 0_u32);
        let mut byte = loop {
            let byte = *bytes.get(at)?;
            at += 1;
            let digit = u32::from(byte.wrapping_sub(b'0'));
            if digit <= 9 {
                value = value.wrapping_mul(10).wrapping_add(digit);
                continue;
            }
            if at - start > SAFE_DIGITS + 1 {
                value = saturated(&bytes[start..at - 1]);
            }
            if byte == b';' || byte == b':' {
                params.push(value, byte == b':');
                (start, value) = (at, 0);
                continue;
            }
            if at > start + 1 || params.len > 0 {
                params.push(value, false);
            }
            break byte;
        };
        let mut intermediates = [0; 2];
        // Most sequences have none.
        if matches!(byte, 0x20..=0x2f) {
            for intermediate in &mut intermediates {
                if matches!(byte, 0x20..=0x2f) {
                    (*intermediate, byte) = (byte, *bytes.get(at)?);
                    at += 1;
                }
            }
        }
        if !matches!(byte, 0x40..=0x7e) || at > MAX_CONTROL + 3 {
            return None;
        }
        Some(Self { prefix, params, intermediates, last: byte, raw: &bytes[..at] })
    }

    /// Prefix, intermediates and final byte, to match on.
    #[inline]
    pub(crate) fn name(&self) -> (u8, [u8; 2], u8) {
        (self.prefix, self.intermediates, self.last)
    }
}

/// A number of many digits.
#[cold]
fn saturated(digits: &[u8]) -> u32 {
    digits.iter().fold(0_u32, |value, digit| {
        value.saturating_mul(10).saturating_add(u32::from(digit - b'0'))
    })
}

impl Params {
    /// Adds a number; the next one belongs to it if a colon follows.
    #[inline]
    fn push(&mut self, value: u32, colon: bool) {
        if let Some(free) = self.values.get_mut(self.len) {
            *free = value.min(u16::MAX.into()) as u16;
            self.len += 1;
            if colon && self.len < MAX_PARAMS {
                self.colons |= 1 << self.len;
            }
        }
    }
}
