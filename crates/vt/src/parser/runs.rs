//! How far runs of text reach, found many bytes at a time.
//!
//! Long runs are looked at 32 bytes at a time, in a loop without branches, so that the compiler uses the widest registers
//! of the target (SSE2, NEON). The end of a run is found eight bytes at a time, in one number.

/// Bytes looked at together.
const LANES: usize = 32;

/// Number of printable ASCII bytes at the start.
#[inline]
pub(super) fn printable_len(bytes: &[u8]) -> usize {
    run_len(bytes, |byte| byte.wrapping_sub(0x20) < 0x5f, |word| controls(word) | word)
}

/// Number of bytes at the start that are text of any kind: no C0 control and no DEL.
pub(super) fn text_len(bytes: &[u8]) -> usize {
    run_len(bytes, |byte| byte >= 0x20 && byte != 0x7f, |word| controls(word) & !word)
}

/// The highest bit of each byte is set if its lower seven bits are a C0 control or DEL.
#[inline]
fn controls(word: u64) -> u64 {
    const EACH: u64 = u64::MAX / 0xff;
    let low = word & (0x7f * EACH);
    !(low + 0x60 * EACH) | (low + EACH)
}

/// `ends` sets the highest bit of each byte that is not text.
#[inline]
fn run_len(bytes: &[u8], is_text: impl Fn(u8) -> bool, ends: impl Fn(u64) -> u64) -> usize {
    const HIGHEST: u64 = 0x80 * (u64::MAX / 0xff);
    let end_in = |word: &[u8; 8]| match ends(u64::from_le_bytes(*word)) & HIGHEST {
        0 => None,
        ends => Some(ends.trailing_zeros() as usize / 8),
    };
    // Most runs between control sequences are short.
    if let Some(end) = bytes.first_chunk().and_then(end_in) {
        return end;
    }
    let (chunks, _) = bytes.as_chunks::<LANES>();
    let whole = chunks
        .iter()
        .take_while(|chunk| chunk.iter().fold(true, |all, byte| all & is_text(*byte)))
        .count();
    let mut at = whole * LANES;
    let (words, _) = bytes[at..].as_chunks::<8>();
    for word in words {
        if let Some(end) = end_in(word) {
            return at + end;
        }
        at += 8;
    }
    let rest = &bytes[at..];
    at + rest.iter().position(|byte| !is_text(*byte)).unwrap_or(rest.len())
}

#[cfg(test)]
mod tests {
    use super::{printable_len, text_len};

    #[test]
    fn a_run_ends_at_the_first_other_byte_wherever_that_is() {
        for byte in 0..=u8::MAX {
            for at in 0..80 {
                let mut bytes = [b'x'; 80];
                bytes[at] = byte;
                let expected = |is_text: bool| if is_text { bytes.len() } else { at };
                assert_eq!(printable_len(&bytes), expected((0x20..0x7f).contains(&byte)));
                assert_eq!(text_len(&bytes), expected(byte >= 0x20 && byte != 0x7f));
            }
        }
        assert_eq!(printable_len(b""), 0);
    }
}
