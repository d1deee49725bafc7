//! Which code points share a cell, and how wide they are.

use std::sync::LazyLock;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthChar;

/// What is taken as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Clusters {
    /// A character and what follows it without a width of its own.
    Characters,
    /// A grapheme cluster (UAX #29), mode 2027.
    Graphemes,
}

/// Code points whose widths are in a table: the first two planes.
const TABLE: usize = 0x2_0000;

/// Of a code point that is not printed: a control.
const UNPRINTED: u8 = u8::MAX;

/// The widths of code points.
static WIDTHS: LazyLock<Box<[u8]>> = LazyLock::new(|| (0..TABLE as u32).map(width_of).collect());

fn width_of(code: u32) -> u8 {
    let columns = char::from_u32(code).and_then(char::width);
    columns.map_or(UNPRINTED, |columns| columns as u8)
}

/// The widths of code points, to look many up.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Widths(&'static [u8]);

impl Widths {
    pub(crate) fn get() -> Self {
        Self(&WIDTHS)
    }

    /// The columns of a code point; `None` for a control.
    #[inline]
    pub(crate) fn of(self, code: u32) -> Option<usize> {
        let width = self.0.get(code as usize).copied().unwrap_or_else(|| width_of(code));
        (width != UNPRINTED).then_some(width.into())
    }
}

/// The columns of a character; `None` for a control.
#[inline]
pub(crate) fn char_width(character: char) -> Option<usize> {
    if (' '..='~').contains(&character) { Some(1) } else { Widths::get().of(character.into()) }
}

/// The columns of the parts of a text, added up.
pub(crate) fn sum_of_widths(text: &str) -> usize {
    text.chars().filter_map(char_width).sum()
}

/// The columns of a grapheme cluster: two for emoji and what is wide, else one.
pub(crate) fn width(cluster: &str) -> usize {
    let mut widest = 0;
    let mut indicators = 0;
    for character in cluster.chars() {
        widest = widest.max(char_width(character).unwrap_or(0));
        indicators += usize::from(is_regional_indicator(character));
        match character {
            // Shown as an emoji.
            '\u{fe0f}' if widest > 0 => widest = 2,
            // Shown as text.
            '\u{fe0e}' => widest = widest.min(1),
            _ => {}
        }
    }
    if indicators >= 2 { 2 } else { widest.min(2) }
}

fn is_regional_indicator(character: char) -> bool {
    ('\u{1f1e6}'..='\u{1f1ff}').contains(&character)
}

/// A character joins the cluster before it.
pub(crate) fn joins(cluster: &str, character: char) -> bool {
    // Most text has no character that could.
    if character < '\u{300}' || cluster.is_empty() {
        return false;
    }
    let mut joined = String::with_capacity(cluster.len() + 4);
    joined.push_str(cluster);
    joined.push(character);
    joined.graphemes(true).count() == 1
}

/// Bytes of what is taken as one at the start of a text.
pub(crate) fn next_len(text: &str, clusters: Clusters) -> usize {
    match clusters {
        Clusters::Graphemes => text.graphemes(true).next().map_or(0, str::len),
        Clusters::Characters => {
            let mut characters = text.char_indices();
            let first = characters.next().map(|(_, first)| first);
            if first == Some('\t') {
                return 1;
            }
            let mut has_width = first.is_some_and(|first| char_width(first) != Some(0));
            for (at, character) in characters {
                let joins = char_width(character) == Some(0) && character != '\t';
                // What stands before the first character belongs to it.
                if !joins && has_width {
                    return at;
                }
                has_width |= !joins;
            }
            text.len()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_those_of_the_table() {
        for code in 0..=0x10_ffff {
            if let Some(character) = char::from_u32(code) {
                assert_eq!(char_width(character), character.width(), "U+{code:04X}");
            }
        }
    }

    #[test]
    fn clusters_of_emoji_take_two_columns() {
        for (cluster, columns) in [
            ("👨\u{200d}👩\u{200d}👧", 2),
            ("🇩🇪", 2),
            ("e\u{301}", 1),
            ("❤\u{fe0f}", 2),
            ("👍🏽", 2),
            ("漢", 2),
            ("\u{301}", 0),
        ] {
            assert_eq!(width(cluster), columns, "{cluster}");
            let mut start = String::new();
            for character in cluster.chars() {
                assert!(start.is_empty() || joins(&start, character), "{cluster}");
                start.push(character);
            }
        }
        assert!(!joins("a", 'b') && !joins("🇩🇪", '🇫'));
    }

    #[test]
    fn a_text_is_cut_between_characters_of_a_width() {
        let cut = |text: &str| next_len(text, Clusters::Characters);
        assert_eq!(
            (cut("e\u{301}x"), cut("ab"), cut("\tx"), cut("\u{feff}ab"), cut("a\tb")),
            (3, 1, 1, 4, 1)
        );
    }
}
