//! The Perl expressions of libvterm's tests: strings with escapes, `x` and `.`.

/// The bytes of an expression such as `"\e[1m" . "A"x5`. Characters beyond 255 do not occur.
pub(crate) fn evaluate(expression: &str) -> Vec<u8> {
    let mut rest = expression.trim();
    let mut bytes = Vec::new();
    while !rest.is_empty() {
        let (mut value, after) = string(rest);
        rest = after.trim_start();
        if let Some(after) = rest.strip_prefix('x') {
            let after = after.trim_start();
            let end = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
            let (count, after) = after.split_at(end);
            value = value.repeat(count.parse().expect("a number behind x"));
            rest = after.trim_start();
        }
        bytes.append(&mut value);
        rest = match rest.strip_prefix('.') {
            Some(after) => after.trim_start(),
            None => {
                assert!(rest.is_empty(), "not understood: {rest} in {expression}");
                rest
            }
        };
    }
    bytes
}

/// A quoted string at the start, and what is behind it.
fn string(text: &str) -> (Vec<u8>, &str) {
    let mut bytes = Vec::new();
    let mut characters = text.strip_prefix('"').expect("a string").char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return (bytes, &text[at + 2..]),
            '\\' => {
                let (_, code) = characters.next().expect("a character behind the backslash");
                match code {
                    'e' => bytes.push(0x1b),
                    'n' => bytes.push(b'\n'),
                    'r' => bytes.push(b'\r'),
                    't' => bytes.push(b'\t'),
                    'a' => bytes.push(7),
                    'b' => bytes.push(8),
                    '0' => bytes.push(0),
                    'x' => bytes.push(hexadecimal(&mut characters)),
                    other => bytes.push(u8::try_from(other).expect("a byte")),
                }
            }
            other => bytes.push(u8::try_from(other).expect("a byte")),
        }
    }
    panic!("a string has no end: {text}");
}

/// Two hex digits, or some in braces.
fn hexadecimal(characters: &mut std::str::CharIndices<'_>) -> u8 {
    let mut digits = String::new();
    let braces = characters.as_str().starts_with('{');
    if braces {
        characters.next();
        digits.extend(characters.by_ref().map(|(_, c)| c).take_while(|c| *c != '}'));
    } else {
        digits.extend(characters.by_ref().take(2).map(|(_, c)| c));
    }
    u8::from_str_radix(&digits, 16).expect("hex digits")
}

/// Numbers such as `0x41,0x301`.
pub(crate) fn numbers(text: &str) -> Vec<u32> {
    let number = |text: &str| {
        let text = text.trim();
        match text.strip_prefix("0x") {
            Some(digits) => u32::from_str_radix(digits, 16),
            None => text.parse(),
        }
        .unwrap_or_else(|_| panic!("no number: {text}"))
    };
    text.split(',').filter(|text| !text.trim().is_empty()).map(number).collect()
}

#[test]
fn expressions_are_evaluated() {
    assert_eq!(evaluate(r#""a\e[1m\x20\x{8e}\$q\0""#), b"a\x1b[1m \x8e$q\0");
    assert_eq!(evaluate(r#""\e]52;c;" . "LS0t"x2 . "\e\\""#), b"\x1b]52;c;LS0tLS0t\x1b\\");
    assert_eq!(evaluate(r#""A" x 3"#), b"AAA");
    assert_eq!(numbers("0x41, 66,0x301"), [0x41, 66, 0x301]);
}
