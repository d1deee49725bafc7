//! Text alone: no escape sequence, no trailing blanks.

use crate::screen::Row;

/// The rows as lines without trailing blanks; blank rows at the end are left out.
pub fn plain<'a>(rows: impl IntoIterator<Item = &'a Row>) -> String {
    let mut text = String::new();
    for row in rows {
        text.push_str(&row.text());
        text.push('\n');
    }
    text.truncate(text.trim_end_matches('\n').len());
    text
}
