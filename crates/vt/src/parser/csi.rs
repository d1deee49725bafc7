//! A control sequence taken apart.

use super::MAX_CONTROL;

/// Parameters that are looked at; xterm has as many.
const MAX_PARAMS: usize = 32;

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
    colons: u32,
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

    /// The number at an index belongs to the one before.
    #[inline]
    pub(crate) fn is_sub(&self, index: usize) -> bool {
        index < self.len && self.colons & 1 << index != 0
    }
}

impl<'a> Csi<'a> {
    /// Takes the sequence apart that `bytes` begin with, an ESC and a `[`. `None` if it is malformed, too long, not there
    /// to its end, or if there are bytes in it that do not belong to it.
    #[inline]
    pub(super) fn scan(bytes: &'a [u8], params: &'a mut Params) -> Option<Self> {
        (params.len, params.colons) = (0, 0);
        let mut at = 2;
        let mut next = || {
            let byte = bytes.get(at).copied();
            at += 1;
            byte
        };
        let mut byte = next()?;
        let mut prefix = 0;
        if matches!(byte, b'<'..=b'?') {
            (prefix, byte) = (byte, next()?);
        }
        let (mut value, mut is_given, mut is_sub) = (0_u32, false, false);
        loop {
            match byte {
                b'0'..=b'9' => {
                    value = (value * 10 + u32::from(byte - b'0')).min(u16::MAX.into());
                    is_given = true;
                }
                b';' | b':' => {
                    params.push(value as u16, is_sub);
                    (value, is_given, is_sub) = (0, true, byte == b':');
                }
                _ => break,
            }
            byte = next()?;
        }
        if is_given {
            params.push(value as u16, is_sub);
        }
        let mut intermediates = [0; 2];
        for intermediate in &mut intermediates {
            if matches!(byte, 0x20..=0x2f) {
                (*intermediate, byte) = (byte, next()?);
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

impl Params {
    #[inline]
    fn push(&mut self, value: u16, sub: bool) {
        if self.len < MAX_PARAMS {
            self.values[self.len] = value;
            self.colons |= u32::from(sub) << self.len;
            self.len += 1;
        }
    }
}
