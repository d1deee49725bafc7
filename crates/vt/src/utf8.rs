//! UTF-8, one character at a time: the bytes are checked while they are printed.

/// The character that bytes begin with, and how many bytes it has; `None` if it is not whole or not valid.
#[inline]
pub(crate) fn first_char(bytes: &[u8]) -> Option<(char, usize)> {
    let (code, len) = first_code(bytes);
    char::from_u32(code).filter(|_| len > 0).map(|character| (character, len))
}

/// The code point that bytes begin with, and how many bytes it has: none if it is not whole or not valid.
#[inline]
pub(crate) fn first_code(bytes: &[u8]) -> (u32, usize) {
    let tail = |byte: u8| u32::from(byte & 0x3f);
    let is_tail = |byte: u8| byte & 0xc0 == 0x80;
    let (code, len, is_valid) = match *bytes {
        [a @ 0..=0x7f, ..] => (u32::from(a), 1, true),
        [a @ 0xc2..=0xdf, b, ..] => (u32::from(a & 0x1f) << 6 | tail(b), 2, is_tail(b)),
        [a @ 0xe0..=0xef, b, c, ..] => {
            let code = u32::from(a & 0x0f) << 12 | tail(b) << 6 | tail(c);
            let is_surrogate = code & 0xf800 == 0xd800;
            (code, 3, is_tail(b) && is_tail(c) && code >= 0x800 && !is_surrogate)
        }
        [a @ 0xf0..=0xf4, b, c, d, ..] => {
            let code = u32::from(a & 0x07) << 18 | tail(b) << 12 | tail(c) << 6 | tail(d);
            let are_tails = is_tail(b) && is_tail(c) && is_tail(d);
            (code, 4, are_tails && (0x1_0000..0x11_0000).contains(&code))
        }
        _ => (0, 0, true),
    };
    if is_valid { (code, len) } else { (0, 0) }
}

/// The characters that bytes begin with, up to the first byte that is not UTF-8.
pub(crate) fn valid_start(bytes: &[u8]) -> &str {
    bytes.utf8_chunks().next().map_or("", |chunk| chunk.valid())
}

/// Appends characters to text: four bytes are written, and as many kept as the character has.
pub(crate) struct Utf8Writer<'a> {
    text: &'a mut Vec<u8>,
    len: usize,
}

impl<'a> Utf8Writer<'a> {
    /// Makes room for so many characters.
    pub(crate) fn new(text: &'a mut Vec<u8>, characters: usize) -> Self {
        let len = text.len();
        text.resize(len + 4 * characters, 0);
        Self { text, len }
    }

    /// Appends a code point, or nothing. There are no branches: text of several scripts would be slow with them.
    #[inline]
    pub(crate) fn push(&mut self, code: u32, is_written: bool) {
        // For each number of bytes behind the first: where that is in `parts`, the bits that count, and what marks bytes.
        const FORMS: [(u32, u32, u32); 4] = [
            (24, 0x7f, 0),
            (16, 0x3f1f, 0x80c0),
            (8, 0x3f_3f0f, 0x80_80e0),
            (0, 0x3f3f_3f07, 0x8080_80f0),
        ];
        let parts = code >> 18 | (code >> 4 & 0x3f00) | (code << 10 & 0x3f_0000) | code << 24;
        let more =
            usize::from(code > 0x7f) + usize::from(code > 0x7ff) + usize::from(code > 0xffff);
        let (first, bits, marks) = FORMS[more];
        if let Some(room) = self.text.get_mut(self.len..self.len + 4) {
            room.copy_from_slice(&(parts >> first & bits | marks).to_le_bytes());
            self.len += (more + 1) * usize::from(is_written);
        }
    }

    /// Keeps what was appended.
    pub(crate) fn finish(self) {
        self.text.truncate(self.len);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_those_of_the_standard_library() {
        let mut text = Vec::new();
        for code in 0..=0x11_0000_u32 {
            let Some(character) = char::from_u32(code) else { continue };
            let mut bytes = [0; 4];
            let encoded = character.encode_utf8(&mut bytes).as_bytes();
            assert_eq!(first_char(encoded), Some((character, encoded.len())));
            assert_eq!(first_char(&encoded[..encoded.len() - 1]), None);
            text.clear();
            let mut writer = Utf8Writer::new(&mut text, 2);
            writer.push(code, true);
            writer.push(code, false);
            writer.finish();
            assert_eq!(text, encoded);
        }
        for first in 0x80..=0xff_u8 {
            for second in 0..=0xff_u8 {
                for rest in [[0x80, 0x80], [0xbf, 0xbf], [0x7f, 0x80], [0xc0, 0xff]] {
                    let bytes = [first, second, rest[0], rest[1]];
                    let valid = valid_start(&bytes);
                    let expected = valid.chars().next().map(|c| (c, c.len_utf8()));
                    assert_eq!(first_char(&bytes), expected, "{bytes:x?}");
                }
            }
        }
    }
}
