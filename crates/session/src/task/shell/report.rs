//! A part of a command's output as its report.

use crate::command::CommandReport;
use crate::output_store::OutputStore;

/// A report with a part of a text, of which `pending` can still be changed and is shown as it stands.
pub(super) fn report_text(
    report: CommandReport,
    text: &OutputStore,
    pending: &str,
    from: u64,
    most: u64,
) -> CommandReport {
    let kept = text.len();
    let to = from.saturating_add(most);
    let (start, mut bytes) = text.read(from..to).unwrap_or_else(|_| (from.min(kept), Vec::new()));
    if start + bytes.len() as u64 == kept {
        let range = |at: u64| pending.len().min(at.saturating_sub(kept) as usize);
        bytes.extend_from_slice(&pending.as_bytes()[range(from)..range(to)]);
    }
    let from = start.max(from);
    let (skipped, output) = whole_characters(&bytes);
    let end = kept + pending.len() as u64;
    let is_unfinished = !pending.is_empty() && !pending.ends_with('\n');
    // What is final may end within a line that continues in what is pending.
    let ends_within_line = is_unfinished || (pending.is_empty() && text.ends_within_line());
    CommandReport {
        output: output.to_owned(),
        output_start: (from + skipped as u64).min(end),
        final_bytes: kept,
        output_bytes: end,
        output_lines: text.newlines()
            + memchr::memchr_iter(b'\n', pending.as_bytes()).count() as u64
            + u64::from(ends_within_line),
        ends_within_line,
        dropped_from: text.filed(),
        dropped_bytes: text.dropped(),
        ..report
    }
}

/// The whole characters of a piece of valid text, and the bytes skipped before them.
fn whole_characters(bytes: &[u8]) -> (usize, &str) {
    let skipped = bytes.iter().take_while(|byte| **byte & 0xC0 == 0x80).count();
    let rest = &bytes[skipped..];
    let valid = std::str::from_utf8(rest).map_or_else(|error| error.valid_up_to(), str::len);
    (skipped, std::str::from_utf8(&rest[..valid]).unwrap_or_default())
}
