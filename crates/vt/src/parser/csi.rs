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
    /// Bit i: the number i stands behind a colon.
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
        (params.len, params.colons) = (0, 0);
        let mut at = 2;
        let prefix = match *bytes.get(at)? {
            prefix @ b'<'..=b'?' => {
                at += 1;
                prefix
            }
            _ => 0,
        };
        let mut is_sub = false;
        let mut byte = loop {
            let mut value = 0_u32;
            let start = at;
            let byte = loop {
                let byte = *bytes.get(at)?;
                let digit = u32::from(byte.wrapping_sub(b'0'));
                if digit > 9 {
                    break byte;
                }
                value = value.wrapping_mul(10).wrapping_add(digit);
                at += 1;
            };
            if at - start > SAFE_DIGITS {
                value = saturated(&bytes[start..at]);
            }
            let is_separator = matches!(byte, b';' | b':');
            if is_separator || at > start || params.len > 0 {
                params.push(value.min(u16::MAX.into()) as u16, is_sub);
            }
            at += 1;
            if !is_separator {
                break byte;
            }
            is_sub = byte == b':';
        };
        let mut intermediates = [0; 2];
        for intermediate in &mut intermediates {
            if matches!(byte, 0x20..=0x2f) {
                (*intermediate, byte) = (byte, *bytes.get(at)?);
                at += 1;
            }
        }
        let raw = &bytes[..at];
        (matches!(byte, 0x40..=0x7e) && raw.len() <= MAX_CONTROL + 3).then_some(Self {
            prefix,
            params,
            intermediates,
            last: byte,
            raw,
        })
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
    #[inline]
    fn push(&mut self, value: u16, sub: bool) {
        if self.len < MAX_PARAMS {
            self.values[self.len] = value;
            self.colons |= u64::from(sub) << self.len;
            self.len += 1;
        }
    }
}
