//! Integers, byte strings and lists to bytes and back.

use super::MAX_FRAME;

/// The bytes are not a frame of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Malformed {
    #[error("a frame of {0} bytes is over the limit")]
    TooLong(usize),
    #[error("the frame ends within a field")]
    Short,
    #[error("unknown tag {0}")]
    Tag(u8),
    #[error("a field has an unknown value")]
    Value,
    #[error("a frame came without its descriptor, or a descriptor without its frame")]
    Descriptor,
}

/// The body's length, once the bytes hold a whole length field.
pub(crate) fn frame_length(bytes: &[u8]) -> Result<Option<usize>, Malformed> {
    let Some(prefix) = bytes.first_chunk::<4>() else {
        return Ok(None);
    };
    let length = u32::from_le_bytes(*prefix) as usize;
    if length > MAX_FRAME { Err(Malformed::TooLong(length)) } else { Ok(Some(length)) }
}

/// Builds one frame.
pub(super) struct Encoder(Vec<u8>);

impl Encoder {
    pub(super) fn new(tag: u8) -> Self {
        Self(vec![0, 0, 0, 0, tag])
    }

    /// The frame with its length filled in.
    pub(super) fn finish(mut self) -> Result<Vec<u8>, Malformed> {
        let length = self.0.len() - 4;
        if length > MAX_FRAME {
            return Err(Malformed::TooLong(length));
        }
        self.0[..4].copy_from_slice(&(length as u32).to_le_bytes());
        Ok(self.0)
    }

    pub(super) fn u8(&mut self, value: u8) -> &mut Self {
        self.0.push(value);
        self
    }

    pub(super) fn u16(&mut self, value: u16) -> &mut Self {
        self.0.extend(value.to_le_bytes());
        self
    }

    pub(super) fn u32(&mut self, value: u32) -> &mut Self {
        self.0.extend(value.to_le_bytes());
        self
    }

    pub(super) fn i32(&mut self, value: i32) -> &mut Self {
        self.0.extend(value.to_le_bytes());
        self
    }

    pub(super) fn u64(&mut self, value: u64) -> &mut Self {
        self.0.extend(value.to_le_bytes());
        self
    }

    pub(super) fn bytes(&mut self, value: &[u8]) -> &mut Self {
        self.u32(value.len() as u32);
        self.0.extend(value);
        self
    }

    /// A part with a length of its own, so that fields can be added to it.
    pub(super) fn part(&mut self, write: impl FnOnce(&mut Self)) -> &mut Self {
        let at = self.0.len();
        self.u32(0);
        write(self);
        let length = (self.0.len() - at - 4) as u32;
        self.0[at..at + 4].copy_from_slice(&length.to_le_bytes());
        self
    }

    pub(super) fn list<T>(
        &mut self,
        items: &[T],
        mut item: impl FnMut(&mut Self, &T),
    ) -> &mut Self {
        self.u32(items.len() as u32);
        for each in items {
            item(self, each);
        }
        self
    }
}

/// Takes one body apart.
pub(super) struct Decoder<'a>(&'a [u8]);

impl<'a> Decoder<'a> {
    pub(super) fn new(body: &'a [u8]) -> Self {
        Self(body)
    }

    /// A field that an earlier version did not have: `None` when the frame ends before it.
    pub(super) fn later<T>(
        &mut self,
        field: impl FnOnce(&mut Self) -> Result<T, Malformed>,
    ) -> Result<Option<T>, Malformed> {
        if self.0.is_empty() { Ok(None) } else { field(self).map(Some) }
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let (value, rest) = self.0.split_first_chunk::<N>().ok_or(Malformed::Short)?;
        self.0 = rest;
        Ok(*value)
    }

    pub(super) fn u8(&mut self) -> Result<u8, Malformed> {
        self.array::<1>().map(|[value]| value)
    }

    pub(super) fn u16(&mut self) -> Result<u16, Malformed> {
        self.array().map(u16::from_le_bytes)
    }

    pub(super) fn u32(&mut self) -> Result<u32, Malformed> {
        self.array().map(u32::from_le_bytes)
    }

    pub(super) fn i32(&mut self) -> Result<i32, Malformed> {
        self.array().map(i32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Result<u64, Malformed> {
        self.array().map(u64::from_le_bytes)
    }

    pub(super) fn bytes(&mut self) -> Result<Vec<u8>, Malformed> {
        let length = self.u32()? as usize;
        let (value, rest) = self.0.split_at_checked(length).ok_or(Malformed::Short)?;
        self.0 = rest;
        Ok(value.to_vec())
    }

    /// What [`Encoder::part`] wrote; fields at its end that are not known are skipped.
    pub(super) fn part<T>(
        &mut self,
        read: impl FnOnce(&mut Decoder<'_>) -> Result<T, Malformed>,
    ) -> Result<T, Malformed> {
        let length = self.u32()? as usize;
        let (part, rest) = self.0.split_at_checked(length).ok_or(Malformed::Short)?;
        self.0 = rest;
        read(&mut Decoder(part))
    }

    pub(super) fn text(&mut self) -> Result<String, Malformed> {
        String::from_utf8(self.bytes()?).map_err(|_| Malformed::Value)
    }

    /// A list whose items each take at least `least` bytes, so that a count cannot ask for more
    /// memory than the frame has bytes.
    pub(super) fn list<T>(
        &mut self,
        least: usize,
        mut item: impl FnMut(&mut Self) -> Result<T, Malformed>,
    ) -> Result<Vec<T>, Malformed> {
        let count = self.u32()? as usize;
        if count.saturating_mul(least) > self.0.len() {
            return Err(Malformed::Short);
        }
        (0..count).map(|_| item(self)).collect()
    }
}
