//! The output that is measured. The same seed makes the same bytes.

use std::fmt::Write as _;

pub const COLS: usize = 120;
pub const ROWS: usize = 40;

/// Bytes of a stream, about.
const STREAM_BYTES: usize = 4 << 20;

/// A stream with its name.
pub struct Stream {
    pub name: &'static str,
    pub bytes: Vec<u8>,
}

/// Numbers that look random.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }

    fn pick<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len())]
    }
}

const WORDS: &[&str] = &[
    "the",
    "error",
    "in",
    "module",
    "compiled",
    "warning:",
    "unused",
    "variable",
    "src/main.rs:42:7",
    "test",
    "ok",
    "0.53s",
    "GET",
    "/index.html",
    "200",
    "value",
    "=>",
    "true",
    "connection",
    "from",
    "a",
    "thread",
    "panicked",
    "at",
];

const UNICODE: &[&str] = &[
    "naïve",
    "Größe",
    "Привет",
    "мир",
    "Ελλάδα",
    "漢字",
    "日本語",
    "テスト",
    "한국어",
    "→",
    "✓",
    "│",
    "──",
    "🙂",
    "🚀",
    "e\u{301}",
    "text",
    "and",
    "more",
];

/// The six streams.
pub fn all() -> Vec<Stream> {
    let stream = |name, piece: fn(&mut Random, &mut String)| {
        let mut random = Random(1);
        let mut text = String::with_capacity(STREAM_BYTES + 4096);
        while text.len() < STREAM_BYTES {
            piece(&mut random, &mut text);
        }
        Stream { name, bytes: text.into_bytes() }
    };
    let mut region = stream("region", line_of_words);
    let setup = "\x1b[?1049h\x1b[2J\x1b[5;35r\x1b[35;1H";
    region.bytes.splice(0..0, setup.bytes());
    vec![
        stream("plain", line_of_words),
        stream("colour", line_of_colours),
        stream("unicode", line_of_unicode),
        region,
        stream("dense", dense_screen),
        stream("cursor", cursor_motion),
    ]
}

fn line(random: &mut Random, text: &mut String, words: &[&str]) {
    let end = text.len() + 20 + random.below(90);
    while text.len() < end {
        let _ = write!(text, "{} ", random.pick(words));
    }
    text.push_str("\r\n");
}

/// A line of a log.
pub fn typical_line(index: usize) -> String {
    let mut random = Random(index as u64);
    let mut text = String::new();
    line(&mut random, &mut text, WORDS);
    text
}

fn line_of_words(random: &mut Random, text: &mut String) {
    line(random, text, WORDS);
}

fn line_of_unicode(random: &mut Random, text: &mut String) {
    line(random, text, UNICODE);
}

fn line_of_colours(random: &mut Random, text: &mut String) {
    for _ in 0..4 + random.below(8) {
        let _ = match random.below(3) {
            0 => write!(text, "\x1b[{}m{}\x1b[0m ", 31 + random.below(6), random.pick(WORDS)),
            1 => write!(text, "\x1b[1;38;5;{}m{}\x1b[m ", random.below(256), random.pick(WORDS)),
            _ => write!(text, "{} ", random.pick(WORDS)),
        };
    }
    text.push_str("\r\n");
}

/// A whole screen with other colours in every cell.
fn dense_screen(random: &mut Random, text: &mut String) {
    text.push_str("\x1b[H");
    for _ in 0..ROWS * COLS {
        let letter = char::from(b'!' + random.below(90) as u8);
        let _ = write!(text, "\x1b[38;5;{};48;5;{}m{letter}", random.below(256), random.below(256));
    }
}

fn cursor_motion(random: &mut Random, text: &mut String) {
    let _ = match random.below(8) {
        0..=3 => write!(
            text,
            "\x1b[{};{}H{}",
            1 + random.below(ROWS),
            1 + random.below(100),
            random.pick(WORDS)
        ),
        4 => write!(text, "\x1b[{}A\x1b[{}C", 1 + random.below(5), 1 + random.below(9)),
        5 => write!(text, "\r\x1b[{}B", 1 + random.below(4)),
        6 => write!(text, "\x1b[{}G{}", 1 + random.below(100), random.pick(WORDS)),
        _ => write!(text, "\x1b[K"),
    };
}

/// `count` lines of 120 columns for the measurement of memory.
pub fn lines(count: usize, kind: Line) -> Vec<u8> {
    let mut text = String::new();
    for index in 0..count {
        match kind {
            Line::Typical => text.push_str(&typical_line(index)),
            Line::FullColour => {
                for word in 0..COLS / 6 {
                    let _ = write!(
                        text,
                        "\x1b[38;5;{}m{:<6}",
                        (index + word) % 256,
                        WORDS[(index + word) % 4]
                    );
                }
                text.push_str("\x1b[m\r\n");
            }
            Line::RgbPairs => {
                for col in 0..COLS {
                    let number = index * COLS + col;
                    let (r, g, b) = (number % 256, number / 256 % 256, number / 65536);
                    let letter = char::from(b'a' + (number % 26) as u8);
                    let _ = write!(text, "\x1b[38;2;{r};{g};{b};48;2;{g};{r};{b}m{letter}");
                }
                text.push_str("\x1b[m\r\n");
            }
        }
    }
    text.into_bytes()
}

/// What the lines are that memory is measured with.
#[derive(Clone, Copy)]
pub enum Line {
    /// Of a log, without colours.
    Typical,
    /// Words of six columns, each in another colour.
    FullColour,
    /// Another pair of 24-bit colours in every cell.
    RgbPairs,
}
