//! Tells a checkpoint that was written whole from one that was not.
//!
//! No defence against malice: whoever can write the file is the server itself. A multiply and a rotation
//! per eight bytes, so that 64 MiB take some ten milliseconds.

const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

pub(super) fn checksum(position: u64, bytes: &[u8]) -> u64 {
    let mix = |sum: u64, word: u64| (sum.rotate_left(29) ^ word).wrapping_mul(FACTOR);
    let (words, rest) = bytes.as_chunks::<8>();
    let sum = mix(mix(FACTOR, position), bytes.len() as u64);
    let sum = words.iter().fold(sum, |sum, word| mix(sum, u64::from_le_bytes(*word)));
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let sum = mix(sum, u64::from_le_bytes(last));
    sum ^ sum >> 32
}
