//! A second look at text that is no shell syntax: cut at everything that could separate commands,
//! quotes dropped.
//!
//! A shell would answer such text with an error, or wait for the rest of it. It is not refused for
//! that alone; but what would be refused in whole commands is refused here too.

use crate::walk::{Arg, UNKNOWN};

/// Most words kept of one segment.
const MAX_WORDS: usize = 256;

/// Words that stand before a command.
const RESERVED: &[&str] = &["if", "elif", "then", "else", "while", "until", "do", "!", "time"];

/// The commands that a text may hold, each with its arguments.
pub(crate) fn segments(text: &str) -> impl Iterator<Item = (String, Vec<Arg>)> {
    let cut = |sign: char| matches!(sign, ';' | '|' | '&' | '\n' | '(' | ')' | '{' | '}' | '`');
    text.split(cut).filter_map(|segment| {
        let plain = segment.replace(['\'', '"', '\\'], "");
        let args: Vec<Arg> = plain
            .split_ascii_whitespace()
            .skip_while(|word| RESERVED.contains(word))
            .take(MAX_WORDS)
            .map(argument)
            .collect();
        (!args.is_empty()).then(|| (segment.trim().to_owned(), args))
    })
}

fn argument(word: &str) -> Arg {
    if word.contains('$') {
        return Arg::literal(UNKNOWN);
    }
    Arg { text: word.to_owned(), glob: word.contains(['*', '?', '[']), ..Arg::default() }
}
