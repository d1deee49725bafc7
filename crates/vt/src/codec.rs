//! The bytes of a dump's private part: numbers and strings one after the other.
//!
//! Numbers are LEB128 (seven bits a byte, the lowest first), strings have their length before them. A
//! sealed buffer begins with a magic of four bytes, which names the kind and its version, and ends in a
//! checksum of all before it, so that a file that was cut or overwritten is refused as a whole.
//!
//! Invariants: [`Reader`] never panics and never reserves more than the bytes that are left could hold.

use thiserror::Error;

use crate::changes::RowHash;

/// Why a dump cannot be restored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum DumpError {
    /// It was made by another version, or is no dump.
    #[error("the dump is of a version that this program cannot read; start with an empty terminal")]
    Version,
    /// Bytes are missing or were changed.
    #[error("the dump is damaged; start with an empty terminal")]
    Damaged,
}

/// Length of the checksum.
const CHECKSUM: usize = 8;

/// Writes the private part of a dump.
#[derive(Debug, Default)]
pub(crate) struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    /// Begins a buffer that [`Writer::seal`] ends.
    pub(crate) fn begin(magic: [u8; 4]) -> Self {
        Self { bytes: magic.to_vec() }
    }

    /// Adds the checksum.
    pub(crate) fn seal(mut self) -> Vec<u8> {
        self.bytes.extend_from_slice(&checksum(&self.bytes).to_le_bytes());
        self.bytes
    }

    /// Adds what another writer wrote.
    pub(crate) fn append(&mut self, other: &Self) {
        self.bytes.extend_from_slice(&other.bytes);
    }

    pub(crate) fn number(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }

    pub(crate) fn size(&mut self, value: usize) {
        self.number(value as u64);
    }

    pub(crate) fn flag(&mut self, value: bool) {
        self.bytes.push(u8::from(value));
    }

    pub(crate) fn byte(&mut self, value: u8) {
        self.bytes.push(value);
    }

    /// A number that uses all its bits.
    pub(crate) fn fixed(&mut self, value: u64) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    pub(crate) fn bytes(&mut self, value: &[u8]) {
        self.size(value.len());
        self.bytes.extend_from_slice(value);
    }

    pub(crate) fn text(&mut self, value: &str) {
        self.bytes(value.as_bytes());
    }

    pub(crate) fn character(&mut self, value: char) {
        self.number(u64::from(u32::from(value)));
    }

    pub(crate) fn option<T>(&mut self, value: Option<T>, write: impl FnOnce(&mut Self, T)) {
        self.flag(value.is_some());
        if let Some(value) = value {
            write(self, value);
        }
    }

    pub(crate) fn list<T>(
        &mut self,
        values: impl ExactSizeIterator<Item = T>,
        mut write: impl FnMut(&mut Self, T),
    ) {
        self.size(values.len());
        values.for_each(|value| write(self, value));
    }
}

/// Reads what [`Writer`] wrote.
#[derive(Debug)]
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    /// Opens a sealed buffer.
    pub(crate) fn open(bytes: &'a [u8], magic: [u8; 4]) -> Result<Self, DumpError> {
        let rest = bytes.strip_prefix(&magic).ok_or(DumpError::Version)?;
        let end = rest.len().checked_sub(CHECKSUM).ok_or(DumpError::Damaged)?;
        let (body, sum) = rest.split_at(end);
        let whole = &bytes[..bytes.len() - CHECKSUM];
        if checksum(whole).to_le_bytes() != sum {
            return Err(DumpError::Damaged);
        }
        Ok(Self { bytes: body })
    }

    /// All has been read.
    pub(crate) fn finish(self) -> Result<(), DumpError> {
        if self.bytes.is_empty() { Ok(()) } else { Err(DumpError::Damaged) }
    }

    fn take(&mut self, len: usize) -> Result<&'a [u8], DumpError> {
        let (taken, rest) = self.bytes.split_at_checked(len).ok_or(DumpError::Damaged)?;
        self.bytes = rest;
        Ok(taken)
    }

    pub(crate) fn number(&mut self) -> Result<u64, DumpError> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(DumpError::Damaged)
    }

    pub(crate) fn size(&mut self) -> Result<usize, DumpError> {
        usize::try_from(self.number()?).map_err(|_| DumpError::Damaged)
    }

    /// A number up to `most`.
    pub(crate) fn size_up_to(&mut self, most: usize) -> Result<usize, DumpError> {
        self.size().and_then(|size| if size <= most { Ok(size) } else { Err(DumpError::Damaged) })
    }

    pub(crate) fn flag(&mut self) -> Result<bool, DumpError> {
        match self.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(DumpError::Damaged),
        }
    }

    pub(crate) fn byte(&mut self) -> Result<u8, DumpError> {
        self.take(1).map(|bytes| bytes[0])
    }

    /// A number that uses all its bits.
    pub(crate) fn fixed(&mut self) -> Result<u64, DumpError> {
        let mut value = [0; 8];
        value.copy_from_slice(self.take(8)?);
        Ok(u64::from_le_bytes(value))
    }

    pub(crate) fn bytes(&mut self) -> Result<&'a [u8], DumpError> {
        let len = self.size()?;
        self.take(len)
    }

    pub(crate) fn text(&mut self) -> Result<String, DumpError> {
        let text = std::str::from_utf8(self.bytes()?).map_err(|_| DumpError::Damaged)?;
        Ok(text.to_owned())
    }

    pub(crate) fn character(&mut self) -> Result<char, DumpError> {
        let code = u32::try_from(self.number()?).ok();
        code.and_then(char::from_u32).ok_or(DumpError::Damaged)
    }

    pub(crate) fn option<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, DumpError>,
    ) -> Result<Option<T>, DumpError> {
        if self.flag()? { read(self).map(Some) } else { Ok(None) }
    }

    /// As many values as were written; each takes a byte at least.
    pub(crate) fn list<T>(
        &mut self,
        mut read: impl FnMut(&mut Self) -> Result<T, DumpError>,
    ) -> Result<Vec<T>, DumpError> {
        let len = self.size_up_to(self.bytes.len())?;
        (0..len).map(|_| read(self)).collect()
    }
}

/// Not against forgery: a dump is as trusted as the memory it came from.
pub(crate) fn checksum(bytes: &[u8]) -> u64 {
    let mut hash = RowHash::new();
    hash.add(bytes.len() as u64);
    let (words, rest) = bytes.as_chunks::<8>();
    words.iter().for_each(|word| hash.add(u64::from_le_bytes(*word)));
    rest.iter().for_each(|byte| hash.add(u64::from(*byte)));
    hash.finish()
}

#[cfg(test)]
mod tests {
    use super::{DumpError, Reader, Writer};

    const MAGIC: [u8; 4] = *b"test";

    #[test]
    fn what_was_written_is_read() {
        let mut writer = Writer::begin(MAGIC);
        writer.number(u64::MAX);
        writer.flag(true);
        writer.fixed(7);
        writer.text("é");
        writer.character('漢');
        writer.option(Some(300), Writer::size);
        writer.option(None, Writer::size);
        writer.list([1u8, 2].into_iter(), Writer::byte);
        let bytes = writer.seal();
        let mut reader = Reader::open(&bytes, MAGIC).unwrap();
        assert_eq!(reader.number(), Ok(u64::MAX));
        assert_eq!(reader.flag(), Ok(true));
        assert_eq!(reader.fixed(), Ok(7));
        assert_eq!(reader.text().as_deref(), Ok("é"));
        assert_eq!(reader.character(), Ok('漢'));
        assert_eq!(reader.option(Reader::size), Ok(Some(300)));
        assert_eq!(reader.option(Reader::size), Ok(None));
        assert_eq!(reader.list(Reader::byte), Ok(vec![1, 2]));
        assert_eq!(reader.finish(), Ok(()));
    }

    #[test]
    fn any_changed_or_missing_byte_is_noticed() {
        let mut writer = Writer::begin(MAGIC);
        writer.text("a terminal's state");
        let bytes = writer.seal();
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 0x10;
            let expected = if at < MAGIC.len() { DumpError::Version } else { DumpError::Damaged };
            assert_eq!(Reader::open(&changed, MAGIC).err(), Some(expected), "byte {at}");
            assert!(Reader::open(&bytes[..at], MAGIC).is_err(), "cut at {at}");
        }
    }

    #[test]
    fn lengths_beyond_the_end_are_refused() {
        let mut writer = Writer::begin(MAGIC);
        writer.number(u64::MAX);
        let bytes = writer.seal();
        let reader = || Reader::open(&bytes, MAGIC).unwrap();
        assert_eq!(reader().text(), Err(DumpError::Damaged));
        assert_eq!(reader().list(Reader::byte), Err(DumpError::Damaged));
    }
}
