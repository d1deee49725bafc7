//! Blinking text: the one SGR attribute that the emulator crate drops.

/// What an SGR sequence does to blinking, or `None` when it says nothing about it.
///
/// `sequence` is a whole `CSI … m`. Colours are skipped, so that the `5` of `38;5;n` is not taken
/// for a blink.
pub(crate) fn blink(sequence: &[u8]) -> Option<bool> {
    let parameters = sequence.get(2..sequence.len().checked_sub(1)?)?;
    if !parameters.iter().any(|byte| matches!(byte, b'5' | b'6')) {
        return None;
    }
    let mut fields = parameters.split(|byte| *byte == b';');
    let mut blink = None;
    while let Some(field) = fields.next() {
        match field {
            b"5" | b"6" => blink = Some(true),
            b"25" => blink = Some(false),
            // A reset clears the emulator's own flags, blinking included.
            b"" | b"0" => blink = None,
            b"38" | b"48" | b"58" => {
                let skipped = match fields.next() {
                    Some(b"5") => 1,
                    Some(b"2") => 3,
                    _ => 0,
                };
                fields.by_ref().take(skipped).for_each(drop);
            }
            _ => {}
        }
    }
    blink
}

#[cfg(test)]
mod tests {
    use super::blink;

    #[test]
    fn only_real_blinks_count() {
        let table: [(&[u8], Option<bool>); 12] = [
            (b"\x1b[5m", Some(true)),
            (b"\x1b[6m", Some(true)),
            (b"\x1b[1;5;31m", Some(true)),
            (b"\x1b[25m", Some(false)),
            (b"\x1b[5;25m", Some(false)),
            (b"\x1b[5;0m", None),
            (b"\x1b[0;5m", Some(true)),
            (b"\x1b[38;5;5m", None),
            (b"\x1b[38;2;5;5;6;5m", Some(true)),
            (b"\x1b[4:5m", None),
            (b"\x1b[m", None),
            (b"\x1b[58;5;6;48;5;25m", None),
        ];
        for (sequence, expected) in table {
            assert_eq!(blink(sequence), expected, "{}", sequence.escape_ascii());
        }
    }
}
