//! [`ContentHash`]: what rows and styles are compared by.

/// A fast hash for comparisons with what was there before; not for untrusted keys. Dumps hold it: when
/// it changes, all rows of a restored terminal count as new once.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ContentHash(u64);

impl ContentHash {
    pub(crate) fn new() -> Self {
        Self(0x9e37_79b9_7f4a_7c15)
    }

    pub(crate) fn add(&mut self, value: u64) {
        self.0 = (self.0.rotate_left(5) ^ value).wrapping_mul(0x517c_c1b7_2722_0a95);
    }

    pub(crate) fn finish(self) -> u64 {
        self.0
    }
}
