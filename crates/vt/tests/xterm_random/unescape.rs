//! Reads streams as they are printed.

/// The bytes that [`escape`](crate::stream::escape) wrote, or a shell's `printf` would.
pub(crate) fn unescape(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        bytes.extend_from_slice(&rest.as_bytes()[..at]);
        let code = rest[at + 1..].chars().next().expect("a character behind the backslash");
        rest = &rest[at + 1 + code.len_utf8()..];
        match code {
            'e' => bytes.push(0x1b),
            'r' => bytes.push(b'\r'),
            'n' => bytes.push(b'\n'),
            't' => bytes.push(b'\t'),
            'a' => bytes.push(7),
            'b' => bytes.push(8),
            'x' => {
                let (digits, others) = rest.split_at(2);
                bytes.push(u8::from_str_radix(digits, 16).expect("two hex digits behind \\x"));
                rest = others;
            }
            'u' => {
                let (digits, others) = rest
                    .strip_prefix('{')
                    .and_then(|rest| rest.split_once('}'))
                    .expect("hex digits in braces behind \\u");
                let code = u32::from_str_radix(digits, 16).expect("hex digits");
                let character = char::from_u32(code).expect("a character");
                bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                rest = others;
            }
            other => bytes.extend_from_slice(other.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    bytes.extend_from_slice(rest.as_bytes());
    bytes
}
