//! Places in a text: the protocol's lines and characters, and offsets in bytes.
//!
//! A line ends with `\n`, `\r\n` or a lone `\r`, as the protocol has it. A place past the end of its
//! line is its end; a line that is not there is none.

use super::protocol::{Position, Range};

/// What a server counts characters in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    Utf8,
    Utf16,
}

/// A text with its lines.
#[derive(Debug, Clone)]
pub(crate) struct Text {
    content: String,
    /// Where lines begin; the first at 0.
    starts: Vec<usize>,
}

impl Text {
    pub(crate) fn new(content: String) -> Self {
        let bytes = content.as_bytes();
        let mut starts = vec![0];
        for (at, &byte) in bytes.iter().enumerate() {
            if byte == b'\n' || (byte == b'\r' && bytes.get(at + 1) != Some(&b'\n')) {
                starts.push(at + 1);
            }
        }
        Self { content, starts }
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.content
    }

    /// How many lines there are, an empty last one included.
    pub(crate) fn line_count(&self) -> usize {
        self.starts.len()
    }

    /// Where a line begins; the end of the text for one past the last.
    pub(crate) fn line_start(&self, line: usize) -> usize {
        self.starts.get(line).copied().unwrap_or(self.content.len())
    }

    /// A line without its end.
    pub(crate) fn line(&self, line: usize) -> Option<&str> {
        let start = *self.starts.get(line)?;
        let end = self.line_start(line + 1);
        Some(self.content[start..end].trim_end_matches(['\r', '\n']))
    }

    /// The line that an offset is in.
    pub(crate) fn line_of(&self, offset: usize) -> usize {
        self.starts.partition_point(|&start| start <= offset) - 1
    }

    /// The offset of a place, if its line is there. The middle of a character is its beginning.
    pub(crate) fn offset(&self, position: Position, encoding: Encoding) -> Option<usize> {
        let line = self.line(position.line as usize)?;
        let wanted = position.character as usize;
        let mut units = 0;
        let mut within = line.len();
        for (at, character) in line.char_indices() {
            let next = units + width(character, encoding);
            if next > wanted {
                within = at;
                break;
            }
            units = next;
        }
        Some(self.line_start(position.line as usize) + within)
    }

    /// The offsets of a range, if its lines are there and it is not backwards.
    pub(crate) fn span(&self, range: Range, encoding: Encoding) -> Option<std::ops::Range<usize>> {
        let span = self.offset(range.start, encoding)?..self.offset(range.end, encoding)?;
        (span.start <= span.end).then_some(span)
    }

    /// The place of an offset, which must be at a character's beginning.
    pub(crate) fn position(&self, offset: usize, encoding: Encoding) -> Position {
        let line = self.line_of(offset);
        let before = &self.content[self.line_start(line)..offset];
        let character = before.chars().map(|character| width(character, encoding)).sum::<usize>();
        Position { line: line as u32, character: character as u32 }
    }

    /// The column of an offset, in characters from 1.
    pub(crate) fn column(&self, offset: usize) -> u64 {
        let start = self.line_start(self.line_of(offset));
        self.content[start..offset].chars().count() as u64 + 1
    }
}

fn width(character: char, encoding: Encoding) -> usize {
    match encoding {
        Encoding::Utf8 => character.len_utf8(),
        Encoding::Utf16 => character.len_utf16(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(line: u32, character: u32) -> Position {
        Position { line, character }
    }

    #[test]
    fn characters_are_counted_as_agreed() {
        let text = Text::new("é𝄞x\r\nb\rc\n".to_owned());
        let x = "é𝄞".len();
        assert_eq!(text.offset(at(0, 3), Encoding::Utf16), Some(x));
        assert_eq!(text.offset(at(0, 6), Encoding::Utf8), Some(x));
        assert_eq!(text.position(x, Encoding::Utf16), at(0, 3));
        assert_eq!(text.position(x, Encoding::Utf8), at(0, 6));
        assert_eq!(text.column(x), 3);
        // Half of a pair is its beginning.
        assert_eq!(text.offset(at(0, 2), Encoding::Utf16), Some("é".len()));
    }

    #[test]
    fn lines_end_as_the_protocol_has_it() {
        let text = Text::new("é𝄞x\r\nb\rc\n".to_owned());
        assert_eq!(text.line_count(), 4);
        assert_eq!(text.line(1), Some("b"));
        assert_eq!(text.line(2), Some("c"));
        assert_eq!(text.line(3), Some(""));
        assert_eq!(text.offset(at(1, 99), Encoding::Utf16), Some("é𝄞x\r\nb".len()));
        assert_eq!(text.offset(at(4, 0), Encoding::Utf16), None);
        let backwards = Range { start: at(2, 0), end: at(1, 0) };
        assert_eq!(text.span(backwards, Encoding::Utf8), None);
    }
}
