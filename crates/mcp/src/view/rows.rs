//! Rows as text, in the fewest words.

use termbridge_session::vt::Row;

/// Blank columns that are worth a word.
const WIDE_MARGIN: usize = 10;
/// Rows alike from which on they are counted.
const ALIKE: usize = 4;

/// Neighbouring rows that are alike, as many of an editor are, as one and a count; without a wide margin, as a
/// window amid the screen has.
pub(crate) fn told_once(content: &str) -> String {
    let blanks = |row: &str| row.len() - row.trim_start_matches(' ').len();
    let used = || content.split('\n').filter(|row| !row.is_empty());
    let margin = used().map(blanks).min().filter(|margin| *margin >= WIDE_MARGIN).unwrap_or(0);
    let note = match margin {
        0 => String::new(),
        _ => format!("[{margin} blank columns at the left are cut]\n"),
    };
    let rows: Vec<&str> = content.split('\n').map(|row| row.get(margin..).unwrap_or("")).collect();
    let run = |run: &[&str]| match run {
        ["", .., ""] if run.len() >= ALIKE => format!("[{} blank rows]", run.len()),
        [row, .., _] if run.len() >= ALIKE => format!("{row}\n[{} more such rows]", run.len() - 1),
        run => run.join("\n"),
    };
    note + &rows.chunk_by(|a, b| a == b).map(run).collect::<Vec<_>>().join("\n")
}

/// A command's output with each long run of blank lines replaced by their number.
pub(crate) fn with_blank_lines_counted(output: &str) -> String {
    let is_blank = |line: &str| line.trim().is_empty();
    let lines: Vec<&str> = output.split_inclusive('\n').collect();
    let runs = lines.chunk_by(|a, b| is_blank(a) && is_blank(b));
    let text = runs.map(|run| match run.len() >= ALIKE {
        true => format!("[{} blank lines]\n", run.len()),
        false => run.concat(),
    });
    text.collect()
}

/// Rows without the blanks that a program pads them with. The last one may be a prompt and stays.
pub(crate) fn without_padding(output: &str) -> String {
    let (rows, last) = output.split_at(output.rfind('\n').map_or(0, |end| end + 1));
    let rows = rows.split_terminator('\n').map(|row| format!("{}\n", row.trim_end_matches(' ')));
    rows.collect::<String>() + last
}

/// Rows up to the last that shows something: what a program wiped when it ended says nothing.
pub(super) fn without_blank_end<'a, 'b>(rows: &'a [(u16, &'b Row)]) -> &'a [(u16, &'b Row)] {
    let last = rows.iter().rposition(|(_, cells)| !cells.text().is_empty());
    &rows[..last.map_or(0, |last| last + 1)]
}

/// Several rows without one between them that is left out.
pub(super) fn is_block(rows: &[u16]) -> bool {
    rows.len() > 1 && rows.windows(2).all(|pair| pair[0] + 1 == pair[1])
}

/// Rows. If some between them are left out, they have their numbers, and equal neighbours are one line.
pub(super) fn changes(rows: &[(u16, &Row)]) -> String {
    let lines: Vec<(u16, String)> = rows.iter().map(|(row, cells)| (*row, cells.text())).collect();
    if is_block(&rows.iter().map(|(row, _)| *row).collect::<Vec<_>>()) {
        let text = lines.into_iter().map(|(_, text)| text).collect::<Vec<_>>().join("\n");
        return match text.trim_end() {
            "" => "(blank)".to_owned(),
            text => text.to_owned(),
        };
    }
    let together = |a: &(u16, String), b: &(u16, String)| a.1 == b.1 && a.0 + 1 == b.0;
    let line = |run: &[(u16, String)]| match run {
        [(row, text)] => format!("{row}| {text}"),
        [(first, text), .., (last, _)] if text.is_empty() => format!("{first}-{last}| (blank)"),
        [(first, text), .., (last, _)] => format!("{first}-{last}| {text}"),
        [] => String::new(),
    };
    lines.chunk_by(together).map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::{told_once, with_blank_lines_counted, without_padding};

    #[test]
    fn padding_goes_and_a_prompt_stays() {
        assert_eq!(without_padding("a  \n  b \n   \n> "), "a\n  b\n\n> ");
        for same in ["", "> ", "a\n", "a\n\n b\n"] {
            assert_eq!(without_padding(same), same);
        }
        assert_eq!(without_padding("a  \n"), "a\n");
    }

    #[test]
    fn long_runs_of_blank_lines_are_counted() {
        for same in ["", "a", "a\n\n\n\nb\n", "\n\n\n", "a\na\na\na\na\n"] {
            assert_eq!(with_blank_lines_counted(same), same);
        }
        assert_eq!(with_blank_lines_counted("a\n\n \n\t\n\nb"), "a\n[4 blank lines]\nb");
        assert_eq!(with_blank_lines_counted("a\n\n\n\n\n\n"), "a\n[5 blank lines]\n");
    }

    #[test]
    fn rows_alike_are_told_once() {
        assert_eq!(told_once("a\n~\n~\n~\nb"), "a\n~\n~\n~\nb");
        assert_eq!(told_once("a\n~\n~\n~\n~\nb"), "a\n~\n[3 more such rows]\nb");
        assert_eq!(told_once("\n\n\n\n\nb"), "[5 blank rows]\nb");
        let window = format!("\n{0}┌─┐\n{0}│ │\n", " ".repeat(12));
        assert_eq!(told_once(&window), "[12 blank columns at the left are cut]\n\n┌─┐\n│ │\n");
        assert_eq!(told_once("            x\ny"), "            x\ny");
    }
}
