//! Lines of source around a place.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use serde_json::json;

use super::Inner;
use crate::events::cut_text;
use crate::protocol::{SourceContent, read};
use crate::report::SourceLine;

/// Bytes of a source that are read.
const MAX_SOURCE: u64 = 16 * 1024 * 1024;
/// Bytes of a line that are shown.
const MAX_LINE: usize = 300;

/// Lines of a file around a line of it; none when it cannot be read.
pub fn lines_of_file(path: &Path, line: u64, context: u64) -> Vec<SourceLine> {
    if line == 0 {
        return Vec::new();
    }
    let Ok(file) = termbridge_foreign_files::open(path) else { return Vec::new() };
    pick(BufReader::new(file.take(MAX_SOURCE)), line, context)
}

fn pick(reader: impl BufRead, line: u64, context: u64) -> Vec<SourceLine> {
    let first = line.saturating_sub(context).max(1);
    let numbered = (1..).zip(reader.split(b'\n').map_while(Result::ok));
    let wanted = numbered
        .skip_while(|(number, _)| *number < first)
        .take_while(|(number, _)| *number <= line + context);
    let shown = wanted.map(|(number, text)| {
        let text = String::from_utf8_lossy(&text);
        let text = cut_text(text.trim_end_matches('\r'), MAX_LINE);
        SourceLine { number, text, current: number == line }
    });
    shown.collect()
}

impl Inner {
    /// Lines of a source that only the adapter has.
    pub(super) async fn lines_of_adapter(
        &self,
        link: u32,
        reference: i64,
        line: u64,
        context: u64,
    ) -> Vec<SourceLine> {
        let source = json!({"sourceReference": reference});
        let arguments = json!({"sourceReference": reference, "source": source});
        let Ok(body) = self.ask(link, "source", arguments).await else { return Vec::new() };
        let content: SourceContent = read(&body);
        pick(content.content.as_bytes(), line, context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(text: &str, line: u64) -> Vec<(u64, String)> {
        let lines = pick(text.as_bytes(), line, 1);
        assert!(lines.iter().all(|shown| shown.current == (shown.number == line)));
        lines.into_iter().map(|line| (line.number, line.text)).collect()
    }

    #[test]
    fn lines_around_one() {
        let text = "a\nb\r\nc\nd";
        let shown = |lines: &[(u64, &str)]| -> Vec<(u64, String)> {
            lines.iter().map(|(number, text)| (*number, (*text).to_owned())).collect()
        };
        assert_eq!(numbers(text, 2), shown(&[(1, "a"), (2, "b"), (3, "c")]));
        assert_eq!(numbers(text, 1), shown(&[(1, "a"), (2, "b")]));
        assert_eq!(numbers(text, 4), shown(&[(3, "c"), (4, "d")]));
        assert_eq!(numbers(text, 9), shown(&[]));
    }

    #[test]
    fn a_long_line_is_cut_visibly() {
        let text = "é".repeat(MAX_LINE);
        let lines = pick(text.as_bytes(), 1, 0);
        assert!(lines[0].text.ends_with("… (300 bytes more)"), "{}", lines[0].text);
    }
}
