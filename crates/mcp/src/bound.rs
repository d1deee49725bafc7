//! Replies have a size: head and tail are kept, and what was cut is said.

/// Bytes of text in a reply unless the caller says otherwise.
pub(crate) const DEFAULT_MAX_BYTES: usize = 16 * 1024;

/// A name in one line: control characters as they are written in Rust.
pub(crate) fn in_one_line(name: &str) -> String {
    let shown = |c: char| match c.is_control() {
        true => c.escape_default().collect::<String>(),
        false => c.to_string(),
    };
    name.chars().map(shown).collect()
}

/// A text that fits, and how much of it was cut.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Bounded {
    pub(crate) text: String,
    pub(crate) cut: usize,
}

/// Keeps the first and the last half of `most` bytes, whole lines where there are any.
pub(crate) fn bound(text: String, most: usize, whole: &str) -> Bounded {
    if text.len() <= most {
        return Bounded { text, cut: 0 };
    }
    let head = line_end(&text, text.floor_char_boundary(most / 2));
    let tail = line_start(&text, text.ceil_char_boundary(text.len() - most / 2)).max(head);
    let cut = tail - head;
    let note = format!("\n[… {cut} bytes cut: {whole} …]\n");
    Bounded { text: [&text[..head], &note, &text[tail..]].concat(), cut }
}

/// The last line end before `at`, or `at` when the line is too long for that.
fn line_end(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').filter(|end| *end > at / 2).unwrap_or(at)
}

/// The first line start after `at`, or `at` when the line is too long for that.
fn line_start(text: &str, at: usize) -> usize {
    let line = text[at..].find('\n').map(|end| at + end + 1);
    line.filter(|start| *start < at + (text.len() - at) / 2).unwrap_or(at)
}

#[cfg(test)]
mod tests {
    use super::bound;

    #[test]
    fn keeps_head_and_tail() {
        assert_eq!(bound("short".into(), 10, "x").text, "short");
        let lines = (0..1000).map(|line| format!("line {line}\n")).collect::<Vec<_>>().concat();
        let bounded = bound(lines.clone(), 200, "term://x");
        assert!(bounded.text.starts_with("line 0\n") && bounded.text.ends_with("line 999\n"));
        assert!(bounded.text.len() < 300 && bounded.cut > lines.len() - 220, "{}", bounded.text);
        assert!(bounded.text.contains("term://x"));
    }

    #[test]
    fn cuts_between_characters() {
        for most in 0..40 {
            let bounded = bound("é漢🙂".repeat(50), most, "x");
            assert!(bounded.cut > 0, "{most}");
        }
    }
}
