//! The lines of a failed command that say what went wrong, where they were cut.

use std::sync::LazyLock;

use regex::Regex;
use termbridge_bridge::{Bounded, OutputRequest, ReadFrom};
use termbridge_session::{CommandReport, SessionId};

use crate::tool::Context;

/// Words of a line that says what went wrong; not the name of an option or a file that has them in it.
static ERRORS: LazyLock<Regex> = LazyLock::new(|| {
    let words = r"(?i:^|[\s\[(:>])(?i:error|exception|fatal|panic(?:ked)?|fail(?:ed|ure|s)|err!|undefined reference)(?:[\s:;,!\])\[(]|$)|\w(?:Error|Exception)\b|\bFAIL\b";
    // A constant.
    Regex::new(words).expect("a valid pattern")
});
/// Such lines that are shown, and looked at to find the last that were cut.
const ERROR_LINES: usize = 8;
const LOOKED_AT: u64 = 2000;
/// Bytes of one.
const ERROR_LINE: usize = 200;
/// Output in which they are looked for.
const SEARCHED: u64 = 8 * 1024 * 1024;

/// The last lines that speak of errors and lie between head and tail of a failed command's output;
/// `first` is the first line that is cut.
pub(super) async fn cut_errors(
    context: &Context,
    session: &SessionId,
    report: &CommandReport,
    output: &Bounded,
    first: u64,
) -> Option<String> {
    let has_failed = report.exit_code().is_some_and(|code| code != 0);
    if !has_failed || output.cut == 0 || report.output_bytes > SEARCHED {
        return None;
    }
    let request = OutputRequest {
        session: context.bridge.session(&context.caller, session).await.ok()?,
        command: Some(report.id),
        from: ReadFrom::Tail,
        lines: LOOKED_AT,
        grep: Some(ERRORS.clone()),
        most: SEARCHED as usize,
    };
    let page = context.bridge.read_output(&request).await.ok()?;
    let cut = first + 1..=first + output.cut_lines;
    let number = |line: &&str| line.split_once(':')?.0.parse::<u64>().ok();
    let found =
        page.text.lines().filter(|line| number(line).is_some_and(|line| cut.contains(&line)));
    let found: Vec<&str> = found.collect();
    let last = &found[found.len().saturating_sub(ERROR_LINES)..];
    (!last.is_empty()).then(|| last.iter().map(|line| shortened(line) + "\n").collect())
}

/// A line, or of a long one what stands around the words.
fn shortened(line: &str) -> String {
    if line.len() <= ERROR_LINE {
        return line.to_owned();
    }
    let number = line.split_once(':').map_or("", |(number, _)| number);
    let at = ERRORS.find(line).map_or(0, |found| found.start());
    let from =
        line.floor_char_boundary(at.saturating_sub(ERROR_LINE / 4).min(line.len() - ERROR_LINE));
    let to = line.floor_char_boundary(from + ERROR_LINE);
    let (before, after) = (if from > 0 { "…" } else { "" }, if to < line.len() { "…" } else { "" });
    match from {
        0 => format!("{}{after}", &line[..to]),
        _ => format!("{number}:{before}{}{after}", &line[from..to]),
    }
}

/// What stands before the output.
pub(super) fn errors_first(errors: Option<&str>) -> String {
    errors.map_or_else(String::new, |errors| {
        format!("Errors among the lines that are cut:\n{errors}Output:\n")
    })
}

#[cfg(test)]
mod tests {
    use super::{ERRORS, shortened};

    #[test]
    fn lines_that_say_what_went_wrong_are_told_from_names() {
        for line in [
            "src/a.c:3:1: error: expected ';'",
            "error[E0308]: mismatched types",
            "ValueError: no",
            "E   AssertionError",
            "npm ERR! code 1",
            "FAILED tests/test_a.py::test_b",
            "--- FAIL: TestX (0.00s)",
            "thread 'main' panicked at src/main.rs:1:1:",
            "fatal: not a git repository",
            "a.o: undefined reference to `f'",
            "java.lang.NullPointerException: x",
        ] {
            assert!(ERRORS.is_match(line), "{line}");
        }
        for line in ["cc -Wall -Werror -c a.c", "  CC error.o", "0 errors", "lib/error_report.c ok"]
        {
            assert!(!ERRORS.is_match(line), "{line}");
        }
    }

    #[test]
    fn of_a_long_line_the_words_are_shown() {
        let line = format!("17:{} error: z", "x".repeat(1000));
        let short = shortened(&line);
        assert!(short.starts_with("17:…x") && short.ends_with(" error: z"), "{short}");
        assert_eq!(shortened("1:error"), "1:error");
    }
}
