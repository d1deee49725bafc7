//! A control sequence taken apart.

/// Parameters that are looked at; xterm has as many.
const MAX_PARAMS: usize = 32;

/// A control sequence: `ESC [`, a prefix, parameters, intermediates, a final byte.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Csi<'a> {
    /// One of `<=>?`, or 0.
    pub(crate) prefix: u8,
    pub(crate) params: Params,
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
    /// Takes a whole sequence apart; `None` if it is malformed, so that nobody knows it.
    #[inline]
    pub(crate) fn parse(raw: &'a [u8]) -> Option<Self> {
        let (&last, body) = raw.get(2..)?.split_last()?;
        let mut params = Params { values: [0; MAX_PARAMS], len: 0, colons: 0 };
        let mut csi = Self { prefix: 0, params, intermediates: [0; 2], last, raw };
        let (mut value, mut digits) = (0u32, false);
        let mut intermediates = 0;
        let mut sub = false;
        for (at, &byte) in body.iter().enumerate() {
            match byte {
                b'0'..=b'9' if intermediates == 0 => {
                    value = (value * 10 + u32::from(byte - b'0')).min(u16::MAX.into());
                    digits = true;
                }
                b';' | b':' if intermediates == 0 => {
                    params.push(value as u16, sub);
                    (value, digits, sub) = (0, false, byte == b':');
                }
                b'<'..=b'?' if at == 0 => csi.prefix = byte,
                0x20..=0x2f => {
                    *csi.intermediates.get_mut(intermediates)? = byte;
                    intermediates += 1;
                }
                // Controls were executed, DEL and what is no ASCII says nothing.
                0x00..=0x1f | 0x7f.. => {}
                _ => return None,
            }
        }
        if digits || params.len > 0 {
            params.push(value as u16, sub);
        }
        csi.params = params;
        Some(csi)
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
