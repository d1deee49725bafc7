//! [`Stream`]: what a program prints, made of pieces that can be left out and made simpler one by one.

use std::fmt::Write as _;

use termbridge_vt::Size;

/// A part of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Piece {
    /// What kind of piece it is.
    pub(crate) kind: &'static str,
    /// Its bytes, in a form that can be made simpler.
    pub(crate) body: Body,
}

/// The bytes of a piece.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Body {
    /// Characters that are printed.
    Text(Vec<char>),
    /// A control sequence with parameters.
    Sequence {
        /// What is before the parameters.
        start: &'static str,
        /// The parameters.
        parameters: Vec<String>,
        /// What is behind them.
        end: &'static str,
    },
    /// Bytes that stay as they are.
    Fixed(Vec<u8>),
}

impl Body {
    /// The bytes.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Text(text) => text.iter().collect::<String>().into_bytes(),
            Self::Sequence { start, parameters, end } => {
                format!("{start}{}{end}", parameters.join(";")).into_bytes()
            }
            Self::Fixed(bytes) => bytes.clone(),
        }
    }

    /// Bodies of the same kind that are simpler.
    fn simpler(&self) -> Vec<Self> {
        match self {
            Self::Text(text) => simpler_text(text).into_iter().map(Self::Text).collect(),
            Self::Sequence { start, parameters, end } => simpler_parameters(parameters)
                .into_iter()
                .map(|parameters| Self::Sequence { start, parameters, end })
                .collect(),
            Self::Fixed(_) => Vec::new(),
        }
    }
}

fn simpler_text(text: &[char]) -> Vec<Vec<char>> {
    let mut all = Vec::new();
    if text.len() > 3 {
        let (left, right) = text.split_at(text.len() / 2);
        all.push(left.to_vec());
        if shows_alone(right[0]) {
            all.push(right.to_vec());
        }
    }
    for index in 0..text.len() {
        // A mark needs something before it.
        if text.len() > 1 && shows_alone(text[usize::from(index == 0)]) {
            let mut shorter = text.to_vec();
            shorter.remove(index);
            all.push(shorter);
        }
        if shows_alone(text[index]) && !text[index].is_ascii_lowercase() {
            let mut plainer = text.to_vec();
            plainer[index] = 'x';
            all.push(plainer);
        }
    }
    all
}

fn simpler_parameters(parameters: &[String]) -> Vec<Vec<String>> {
    let mut all = Vec::new();
    if let Some((_, shorter)) = parameters.split_last() {
        all.push(shorter.to_vec());
    }
    for (index, parameter) in parameters.iter().enumerate() {
        let number = parameter.parse::<u64>().ok();
        let smaller =
            number.into_iter().flat_map(|number| [1, number / 2, number.saturating_sub(1)]);
        let smaller = smaller.filter(|smaller| Some(*smaller) < number && *smaller > 0);
        let texts = smaller.map(|smaller| smaller.to_string());
        let none = (!parameter.is_empty()).then(String::new);
        for text in none.into_iter().chain(texts) {
            let mut simpler = parameters.to_vec();
            simpler[index] = text;
            all.push(simpler);
        }
    }
    all
}

/// What a terminal is fed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stream {
    /// Size of the terminal.
    pub(crate) size: Size,
    /// Lines that it keeps.
    pub(crate) scrollback: usize,
    /// What is printed.
    pub(crate) pieces: Vec<Piece>,
    /// Where our terminal's input is cut, as offsets into all bytes.
    pub(crate) cuts: Vec<usize>,
}

impl Stream {
    /// A stream of one piece for each control sequence and each run of text.
    pub(crate) fn from_bytes(bytes: &[u8], size: Size, scrollback: usize) -> Self {
        let piece = |bytes: &[u8]| {
            let text =
                std::str::from_utf8(bytes).ok().filter(|text| !text.contains(char::is_control));
            let body = match text {
                Some(text) => Body::Text(text.chars().collect()),
                None => Body::Fixed(bytes.to_vec()),
            };
            Piece { kind: "given", body }
        };
        let mut pieces = Vec::new();
        let mut rest = bytes;
        while !rest.is_empty() {
            let (first, others) = rest.split_at(piece_len(rest));
            pieces.push(piece(first));
            rest = others;
        }
        Self { size, scrollback, pieces, cuts: Vec::new() }
    }

    /// All bytes.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.pieces.iter().flat_map(|piece| piece.body.bytes()).collect()
    }

    /// The bytes as they are fed to our terminal.
    pub(crate) fn feeds(&self) -> Vec<Vec<u8>> {
        let bytes = self.bytes();
        let mut cuts: Vec<usize> = self.cuts.iter().map(|cut| *cut.min(&bytes.len())).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        cuts.windows(2).map(|pair| bytes[pair[0]..pair[1]].to_vec()).collect()
    }

    /// Streams that are simpler than this one, those that leave out most first.
    pub(crate) fn simpler(&self) -> Vec<Self> {
        let mut all = Vec::new();
        if !self.cuts.is_empty() {
            all.push(Self { cuts: Vec::new(), ..self.clone() });
        }
        let mut length = self.pieces.len() / 2;
        while length > 0 {
            for start in (0..self.pieces.len()).step_by(length) {
                let mut pieces = self.pieces.clone();
                pieces.drain(start..(start + length).min(self.pieces.len()));
                all.push(Self { pieces, ..self.clone() });
            }
            length /= 2;
        }
        all.extend(self.smaller_sizes().into_iter().map(|size| Self { size, ..self.clone() }));
        for (index, piece) in self.pieces.iter().enumerate() {
            for body in piece.body.simpler() {
                let mut simpler = self.clone();
                simpler.pieces[index].body = body;
                all.push(simpler);
            }
        }
        for index in 0..self.cuts.len() {
            let mut simpler = self.clone();
            simpler.cuts.remove(index);
            all.push(simpler);
        }
        all
    }

    fn smaller_sizes(&self) -> Vec<Size> {
        let Size { cols, rows } = self.size;
        let sizes = [
            (cols / 2, rows / 2),
            (cols / 2, rows),
            (cols, rows / 2),
            (cols - 1, rows),
            (cols, rows - 1),
        ];
        let sizes = sizes.into_iter().filter(|(cols, rows)| *cols >= 3 && *rows >= 2);
        sizes.map(|(cols, rows)| Size { cols, rows }).collect()
    }
}

/// Length of the control sequence, the control character or the run of text at the start.
fn piece_len(bytes: &[u8]) -> usize {
    let until = |start: usize, ends: fn(u8) -> bool| {
        let end = bytes.iter().skip(start).position(|byte| ends(*byte));
        end.map_or(bytes.len(), |end| start + end + 1)
    };
    match bytes {
        [0x1b, b'[', ..] => until(2, |byte| (0x40..=0x7e).contains(&byte)),
        [0x1b, b']' | b'P' | b'_' | b'^' | b'X', ..] => {
            let terminator = bytes.windows(2).skip(2).position(|pair| pair == b"\x1b\\");
            until(2, |byte| byte == 7).min(terminator.map_or(bytes.len(), |at| at + 4))
        }
        [0x1b, ..] => until(1, |byte| byte >= 0x30),
        [first, ..] if *first < 0x20 => 1,
        _ => bytes.iter().position(|byte| *byte < 0x20).unwrap_or(bytes.len()),
    }
}

/// The bytes in a form that a person can read, and a shell's `printf` too, but for `\u{...}`.
pub(crate) fn escape(bytes: &[u8]) -> String {
    let mut escaped = String::new();
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '\x1b' => escaped.push_str("\\e"),
                '\r' => escaped.push_str("\\r"),
                '\n' => escaped.push_str("\\n"),
                '\t' => escaped.push_str("\\t"),
                '\\' => escaped.push_str("\\\\"),
                // It would end the shell's quotes.
                '\'' => escaped.push_str("\\x27"),
                ' '..='~' => escaped.push(character),
                '\0'..'\u{80}' => _ = write!(escaped, "\\x{:02x}", u32::from(character)),
                _ if shows_alone(character) => escaped.push(character),
                _ => _ = write!(escaped, "\\u{{{:x}}}", u32::from(character)),
            }
        }
        for byte in chunk.invalid() {
            let _ = write!(escaped, "\\x{byte:02x}");
        }
    }
    escaped
}

/// A character with a shape and a width of its own.
fn shows_alone(character: char) -> bool {
    !character.is_control()
        && !matches!(u32::from(character),
            0x300..=0x36f | 0x20d0..=0x20ff | 0x200b..=0x200f | 0x2028..=0x202f | 0xfe00..=0xfe0f | 0xfeff
            | 0x1f1e6..=0x1f1ff | 0x1f3fb..=0x1f3ff | 0xfffd)
}
