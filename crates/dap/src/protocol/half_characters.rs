//! Texts that are no Unicode: JSON with halves of surrogate pairs or bytes that are no UTF-8.

/// What stands for what is no character.
const REPLACED: &str = "\\ufffd";

/// A JSON text with halves of characters replaced.
pub(crate) fn mended(json: &[u8]) -> String {
    let text = String::from_utf8_lossy(json);
    let mut mended = String::with_capacity(text.len());
    let mut rest = text.as_ref();
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        mended.push_str(before);
        let (kept, behind) = match surrogate(escape) {
            None => escape.split_at(escape.chars().take(2).map(char::len_utf8).sum()),
            Some(Half::High) if surrogate(&escape[6..]) == Some(Half::Low) => escape.split_at(12),
            Some(_) => (REPLACED, &escape[6..]),
        };
        mended.push_str(kept);
        rest = behind;
    }
    mended.push_str(rest);
    mended
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Half {
    High,
    Low,
}

/// The half of a pair that a text begins with, as an escape of six characters.
fn surrogate(text: &str) -> Option<Half> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    match u16::from_str_radix(digits, 16).ok()? {
        0xd800..=0xdbff => Some(Half::High),
        0xdc00..=0xdfff => Some(Half::Low),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(json: &str) -> String {
        serde_json::from_str(&mended(json.as_bytes())).expect("JSON")
    }

    #[test]
    fn halves_are_replaced_and_pairs_are_not() {
        assert_eq!(text(r#""a\ud800b""#), "a\u{fffd}b");
        assert_eq!(text(r#""\udc00""#), "\u{fffd}");
        assert_eq!(text(r#""\ud83d\ude00 \ud83d""#), "\u{1f600} \u{fffd}");
        assert_eq!(text(r#""\ud83d\ud83d\ude00""#), "\u{fffd}\u{1f600}");
        assert_eq!(text(r#""\\ud800 \n\"é""#), "\\ud800 \n\"é");
        assert_eq!(text(r#""\ud800\n""#), "\u{fffd}\n");
    }

    #[test]
    fn bytes_that_are_no_text_are_replaced() {
        let mended = mended(b"\"caf\xe9\"");
        assert_eq!(serde_json::from_str::<String>(&mended).expect("JSON"), "caf\u{fffd}");
    }

    #[test]
    fn what_ends_in_the_middle_does_not_panic() {
        for json in ["\\", "\\u", "\\ud8", "\\ud800", "\\ud800\\", "\\é", "\\ud80é"] {
            mended(json.as_bytes());
        }
    }
}
