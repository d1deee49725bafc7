//! One command in an editor's terminal, and what is kept of its output.

use std::borrow::Cow;
use std::path::PathBuf;

use termbridge_session::vt::{CleanOutput, Seq, Size};
use termbridge_session::{CommandReport, CommandState, Shell};
use tokio::time::Instant;

use super::line::MarkFilter;

/// Bytes that are kept of the beginning of a command's output, and at least of its end.
const KEPT: usize = 1024 * 1024;

/// A command.
pub(super) struct EditorCommand {
    pub(super) id: u64,
    pub(super) text: String,
    /// What our extension calls it; `None` until it has said so.
    pub(super) execution: Option<String>,
    pub(super) state: CommandState,
    pub(super) cwd: Option<PathBuf>,
    pub(super) notice: Option<String>,
    clean: Option<CleanOutput>,
    /// Of a zsh.
    marks: Option<MarkFilter>,
    output: KeptOutput,
    full_screen: bool,
    pub(super) began: Instant,
    /// The shell is at its prompt without having said that it is over.
    pub(super) is_given_up: bool,
    ended: Option<Instant>,
}

impl EditorCommand {
    pub(super) fn new(id: u64, text: &str, shell: Shell, size: Size, row: u16) -> Self {
        Self {
            id,
            text: text.to_owned(),
            execution: None,
            state: CommandState::Running,
            cwd: None,
            notice: None,
            clean: Some(CleanOutput::new(size, row)),
            marks: (shell == Shell::Zsh).then(MarkFilter::default),
            output: KeptOutput::default(),
            full_screen: false,
            began: Instant::now(),
            is_given_up: false,
            ended: None,
        }
    }

    pub(super) fn is_running(&self) -> bool {
        self.state == CommandState::Running
    }

    /// Takes what was printed; what of it is the command's.
    pub(super) fn feed<'a>(&mut self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        let bytes = match &mut self.marks {
            Some(marks) => Cow::Owned(marks.feed(bytes)),
            None => Cow::Borrowed(bytes),
        };
        self.take(&bytes);
        bytes
    }

    fn take(&mut self, bytes: &[u8]) {
        if let Some(clean) = &mut self.clean {
            clean.feed(bytes);
            self.output.append(&clean.take_done());
            self.full_screen |= clean.was_full_screen();
        }
    }

    pub(super) fn resize(&mut self, size: Size, row: u16) {
        if let Some(clean) = &mut self.clean {
            clean.resize(size, row);
        }
    }

    pub(super) fn end(&mut self, state: CommandState) {
        if let Some(marks) = self.marks.take() {
            self.take(&marks.finish());
        }
        if let Some(clean) = self.clean.take() {
            self.full_screen |= clean.was_full_screen();
            self.output.append(&clean.finish());
        }
        self.state = state;
        self.ended = Some(Instant::now());
    }

    pub(super) fn has_printed_nothing(&self) -> bool {
        self.output.len() == 0
    }

    /// What is known of it, with at most `most` bytes of its output from `from` on.
    pub(super) fn report(&self, from: u64, most: u64, seq: Seq) -> CommandReport {
        let pending = self.clean.as_ref().map(CleanOutput::pending).unwrap_or_default();
        let done = self.output.len();
        let total = done + pending.len() as u64;
        let (start, output) = self.output.read(&pending, from, most);
        let last = if pending.is_empty() { self.output.end() } else { pending.as_str() };
        let ends_within_line = total > 0 && !last.ends_with('\n');
        let lines = self.output.lines + pending.matches('\n').count() as u64;
        CommandReport {
            state: self.state.clone(),
            output,
            output_start: start,
            final_bytes: done,
            output_bytes: total,
            output_lines: lines + u64::from(ends_within_line),
            ends_within_line,
            dropped_from: self.output.head.len() as u64,
            dropped_bytes: self.output.dropped,
            full_screen: self.full_screen,
            duration: self.ended.unwrap_or_else(Instant::now) - self.began,
            cwd: self.cwd.clone(),
            seq,
            notice: self.notice.clone(),
            ..CommandReport::new(self.id, self.text.clone())
        }
    }
}

/// The beginning and the end of a text that only grows.
#[derive(Default)]
struct KeptOutput {
    head: String,
    /// Bytes between the two that are gone.
    dropped: u64,
    tail: String,
    lines: u64,
}

impl KeptOutput {
    fn append(&mut self, text: &str) {
        self.lines += text.matches('\n').count() as u64;
        let room = KEPT.saturating_sub(self.head.len());
        let (first, rest) = match self.tail.is_empty() {
            true => text.split_at(text.floor_char_boundary(room)),
            false => ("", text),
        };
        self.head.push_str(first);
        self.tail.push_str(rest);
        if self.tail.len() > 2 * KEPT {
            let cut = self.tail.ceil_char_boundary(self.tail.len() - KEPT);
            self.tail.drain(..cut);
            self.dropped += cut as u64;
        }
    }

    fn len(&self) -> u64 {
        self.head.len() as u64 + self.dropped + self.tail.len() as u64
    }

    fn end(&self) -> &str {
        if self.tail.is_empty() { &self.head } else { &self.tail }
    }

    /// Where a read begins, and what it finds: it ends where something is gone.
    fn read(&self, pending: &str, from: u64, most: u64) -> (u64, String) {
        let head = self.head.len() as u64;
        let behind = head + self.dropped;
        let parts: &[&str] = match (self.dropped, from < head) {
            (0, _) => &[&self.head, &self.tail, pending],
            (_, true) => &[&self.head],
            (_, false) => &[&self.tail, pending],
        };
        let base = if self.dropped > 0 && from >= head { behind } else { 0 };
        let mut skip = from.saturating_sub(base);
        let (mut text, mut start) = (String::new(), from.max(base));
        let end = base + parts.iter().map(|part| part.len() as u64).sum::<u64>();
        start = start.min(end);
        for part in parts {
            let at = usize::try_from(skip).unwrap_or(usize::MAX).min(part.len());
            skip -= at as u64;
            let at = part.floor_char_boundary(at);
            let room = most.saturating_sub(text.len() as u64);
            let stop = usize::try_from(room).unwrap_or(usize::MAX).saturating_add(at);
            text.push_str(&part[at..part.floor_char_boundary(stop.min(part.len())).max(at)]);
            if stop < part.len() {
                break;
            }
        }
        (start, text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_is_read_in_pieces_and_a_gap_shows() {
        let mut kept = KeptOutput::default();
        kept.append("one\ntwo\n");
        assert_eq!(kept.read("thr", 0, 100), (0, "one\ntwo\nthr".into()));
        assert_eq!(kept.read("thr", 4, 4), (4, "two\n".into()));
        assert_eq!(kept.read("thr", 9, 100), (9, "hr".into()));
        assert_eq!(kept.read("", 50, 100), (8, String::new()));
        let line = format!("{}\n", "x".repeat(1023));
        for _ in 0..5000 {
            kept.append(&line);
        }
        assert_eq!(kept.len(), 8 + 5000 * 1024);
        assert!(kept.dropped > 0 && kept.head.len() == KEPT && kept.tail.len() >= KEPT);
        let (start, text) = kept.read("", 0, u64::MAX);
        assert_eq!((start, text.len()), (0, KEPT), "it ends where something is gone");
        let (start, text) = kept.read("end", KEPT as u64, u64::MAX);
        assert_eq!(start, KEPT as u64 + kept.dropped);
        assert!(text.ends_with("\nend"));
        assert_eq!(kept.lines, 5002);
    }

    #[test]
    fn a_report_follows_the_output() {
        let mut command =
            EditorCommand::new(1, "make", Shell::Bash, Size { cols: 80, rows: 24 }, 0);
        command.feed(b"a\x1b[31mb\x1b[0m\r\n10%\r20%");
        let report = command.report(0, 100, Seq(0));
        assert_eq!(report.output, "ab\n20%");
        assert!(report.is_running() && report.ends_within_line);
        assert_eq!((report.output_bytes, report.output_lines), (6, 2));
        command.end(CommandState::Done { exit_code: 3 });
        let report = command.report(3, 100, Seq(0));
        assert_eq!((report.output.as_str(), report.exit_code()), ("20%", Some(3)));
        assert_eq!(report.final_bytes, 6);
    }
}
