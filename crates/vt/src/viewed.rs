//! Output for a second terminal, which shows what ours shows and must not talk back.
//!
//! A program's queries are answered once, by our terminal; a viewer's terminal that gets them too would answer them as if
//! its person had typed, with the person's clipboard for one. So [`QueryFilter`] takes the stream apart as our terminal
//! does and writes what is left in one plain form: no C1 controls, no controls within sequences, and of the strings only
//! those that a viewer shows. A sequence is passed on when it is whole.

use crate::parser::{Csi, Handler, Parser};
use crate::utf8::valid_start;

/// Takes out of a stream what a terminal would answer.
#[derive(Debug, Default)]
pub struct QueryFilter(Parser);

impl QueryFilter {
    /// Forgets what has begun: what follows is another stream.
    pub fn reset(&mut self) {
        *self = Self::default();
    }

    /// Appends what is left of `bytes` to `out`.
    pub fn feed(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        self.0.feed(bytes, &mut Passed(out));
    }
}

/// Writes what passes.
struct Passed<'a>(&'a mut Vec<u8>);

impl Passed<'_> {
    /// Text without C0 and C1 controls.
    fn push_text(&mut self, text: &str) {
        for part in text.split(char::is_control) {
            self.0.extend_from_slice(part.as_bytes());
        }
    }
}

impl Handler for Passed<'_> {
    fn ascii(&mut self, run: &[u8]) {
        self.0.extend_from_slice(run);
    }

    fn text(&mut self, text: &[u8]) -> usize {
        let valid = valid_start(text);
        self.push_text(valid);
        valid.len()
    }

    fn control(&mut self, byte: u8) {
        const ENQ: u8 = 0x05;
        self.0.extend(Some(byte).filter(|byte| *byte != ENQ));
    }

    fn escape(&mut self, intermediates: &[u8], last: u8) {
        // DECID asks; the final bytes of strings and control sequences begin none here.
        if intermediates.is_empty()
            && matches!(last, b'Z' | b'[' | b']' | b'P' | b'X' | b'^' | b'_')
        {
            return;
        }
        self.0.push(0x1b);
        self.0.extend_from_slice(intermediates);
        self.0.push(last);
    }

    fn csi(&mut self, csi: &Csi<'_>) {
        if !is_query(csi) {
            self.0.extend_from_slice(b"\x1b[");
            self.0.extend(csi.raw[2..].iter().filter(|byte| (0x20..0x7f).contains(*byte)));
        }
    }

    fn string(&mut self, introducer: u8, payload: &[u8], _: &'static str) {
        let is_shown = match introducer {
            b']' => is_shown(payload),
            // A picture (sixel).
            b'P' => payload.iter().find(|byte| !matches!(byte, b'0'..=b'9' | b';')) == Some(&b'q'),
            _ => false,
        };
        if is_shown {
            self.0.extend_from_slice(&[0x1b, introducer]);
            self.push_text(&String::from_utf8_lossy(payload));
            self.0.extend_from_slice(b"\x1b\\");
        }
    }

    fn has_worked_enough(&self) -> bool {
        false
    }
}

/// Whether a control sequence asks for something.
fn is_query(csi: &Csi<'_>) -> bool {
    let (prefix, intermediates, last) = csi.name();
    match (last, intermediates) {
        (b'c' | b'n', _) => true,
        (b'p', [b'$', 0]) => true,
        (b'q', [0, 0]) => prefix == b'>',
        (b'u' | b'm' | b'S', [0, 0]) => prefix == b'?',
        (b'x', [0, 0]) => prefix == 0,
        (b't', [0, 0]) => prefix == 0 && matches!(csi.params.get(0), 11 | 13..=16 | 18..=21),
        (b'y', [b'*', 0]) | (b'w', [b'$', 0]) => true,
        _ => false,
    }
}

/// Whether an OSC is for showing: titles, links, colours that are set, marks of shells. The clipboard is the session's.
fn is_shown(payload: &[u8]) -> bool {
    let mut fields = payload.split(|byte| *byte == b';');
    match fields.next().unwrap_or_default() {
        b"0" | b"1" | b"2" | b"7" | b"8" | b"22" | b"104" | b"110" | b"111" | b"112" | b"133"
        | b"633" => true,
        b"4" | b"10" | b"11" | b"12" => {
            let asks = |field: &[u8]| field.iter().filter(|byte| byte.is_ascii_graphic()).eq(b"?");
            !fields.any(asks)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What passes, and what does not.
    const STREAM: [(&str, bool); 34] = [
        ("text \u{e4}\r\n", true),
        ("\x1b[c", false),
        ("\x1b[1;31m", true),
        ("\x1b[6n", false),
        ("\x1b[?6n", false),
        ("\x1b[>c", false),
        ("\x1b[?2026$p", false),
        ("\x1b[!p", true),
        ("\x1b[2 q", true),
        ("\x1b[>q", false),
        ("\x1b[?u", false),
        ("\x1b[>1u", true),
        ("\x1b[18t", false),
        ("\x1b[22;0t", true),
        ("\x1b]11;?\x07", false),
        ("\x1b]11;?\x1b\\", false),
        ("\x1b]11;#ff0000\x1b\\", true),
        ("\x1b]4;1;?;2;?\x1b\\", false),
        ("\x1b]0;what?\x1b\\", true),
        ("\x1b]8;;http://x/?a=b\x1b\\", true),
        ("\x1bP$qm\x1b\\", false),
        ("\x1bP+q544e\x1b\\", false),
        ("\x1bPq#0;2;0;0;0\x1b\\", true),
        ("\x1b_app\x1b\\", false),
        ("\x1b(0", true),
        ("\x1bZ", false),
        ("\x05", false),
        ("\x1b[12;\x18", false),
        ("more", true),
        ("\x1b\x1b[c", false),
        ("\x1b7\x1b8", true),
        ("\x1b[?25l", true),
        ("\x1b]52;c;?\x07", false),
        ("end", true),
    ];

    fn left_of(pieces: &[&[u8]]) -> String {
        let (mut filter, mut out) = (QueryFilter::default(), Vec::new());
        pieces.iter().for_each(|piece| filter.feed(piece, &mut out));
        out.escape_ascii().to_string()
    }

    #[test]
    fn questions_are_taken_out_wherever_the_stream_is_cut() {
        let stream: String = STREAM.iter().map(|(text, _)| *text).collect();
        let kept = STREAM.iter().filter(|(_, passes)| *passes);
        let expected: String = kept.map(|(text, _)| *text).collect();
        for cut in 0..stream.len() {
            let (first, second) = stream.as_bytes().split_at(cut);
            assert_eq!(
                left_of(&[first, second]),
                expected.as_bytes().escape_ascii().to_string(),
                "cut at {cut}"
            );
        }
    }

    #[test]
    fn no_disguise_gets_a_question_through() {
        for question in [
            "\u{9d}52;c;?\x07",
            "\x1b]52;c;?\u{9c}x\x1b\\",
            "\x1b]0;x\x1b]52;c;?\x07",
            "\x1b]52;c;?\x01\x07",
            "\x1b]52;c;YWJj\x07",
            "\x1b]4;1;\x7f?\x07",
            "\u{9b}6n",
            "\x1b]0;t\x1b[6n",
            "\x1b[?6\x08$p",
            "\x1b[06n",
            "\x1b\x08Z",
        ] {
            let left = left_of(&[question.as_bytes()]);
            for part in ["52;c", "6n", "$p", "?", "x1bZ", "x9b", "x9d", "x9c"] {
                let is_text = matches!(
                    (question, part),
                    ("\u{9d}52;c;?\x07", "52;c" | "?") | ("\u{9b}6n", "6n")
                );
                assert!(is_text || !left.contains(part), "{question:?} leaves {left:?}");
            }
        }
        let long = format!("\x1b]52;c;?;{}\x07", "A".repeat(300));
        assert_eq!(left_of(&[long.as_bytes()]), "");
    }

    #[test]
    fn a_long_picture_passes_and_what_has_no_end_does_not() {
        let picture = format!("\x1bPq{}\x1b\\after", "~".repeat(100_000));
        let pieces: Vec<&[u8]> = picture.as_bytes().chunks(1000).collect();
        assert_eq!(left_of(&pieces), picture.as_bytes().escape_ascii().to_string());
        assert_eq!(left_of(&[b"x\x1b[", &b"1;".repeat(10_000)]), "x");
    }
}
