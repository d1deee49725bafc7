//! A command's output within a budget: its head, its tail, and how much lies between.

use termbridge_session::{CommandReport, CommandState, SessionId};
use termbridge_store::{Cut, Output};

use crate::error::BridgeError;
use crate::hub::Bridge;

/// A place in a command's output.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OutputPlace {
    /// Bytes before it.
    pub byte: u64,
    /// Ends of lines among those.
    pub line: u64,
}

/// A text, or its head and tail.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bounded {
    /// The beginning; all of it when nothing was cut.
    pub head: String,
    /// The end, when something was cut.
    pub tail: String,
    /// Bytes between them.
    pub cut: u64,
    /// Ends of lines among those.
    pub cut_lines: u64,
}

impl Bounded {
    /// The text; where something is missing, a line says how much, and how it can be had.
    pub fn text(self, rest: &str) -> String {
        if self.cut == 0 {
            return self.head;
        }
        let newline = if self.head.ends_with('\n') { "" } else { "\n" };
        let Self { cut, cut_lines, .. } = self;
        let note = format!("{newline}[… {cut} bytes, {cut_lines} lines cut: {rest} …]\n");
        [self.head, note, self.tail].concat()
    }

    /// Its first and last lines, at most so many.
    #[must_use]
    pub fn within_lines(self, most: u64) -> Self {
        let count = |text: &str| text.lines().count() as u64;
        if count(&self.head) + count(&self.tail) <= most {
            return self;
        }
        // If nothing was cut, the head is the whole output.
        let last = if self.cut == 0 { &self.head } else { &self.tail };
        let of_tail = count(last).min(most.div_ceil(2));
        let of_head = count(&self.head).min(most - of_tail);
        let of_tail = count(last).min(most - of_head);
        let bytes = |lines: u64, text: &str| -> usize {
            text.split_inclusive('\n').take(lines as usize).map(str::len).sum()
        };
        let head = self.head[..bytes(of_head, &self.head)].to_owned();
        let tail = last[bytes(count(last) - of_tail, last)..].to_owned();
        let kept = head.len() + tail.len();
        let ends = |text: &str| text.matches('\n').count() as u64;
        let all_ends = ends(&self.head) + ends(&self.tail) + self.cut_lines;
        Self {
            cut: self.cut + (self.head.len() + self.tail.len() - kept) as u64,
            cut_lines: all_ends - ends(&head) - ends(&tail),
            head,
            tail,
        }
    }

    pub(crate) fn into_stored(self) -> Output {
        let cut = Cut { at: self.head.len(), bytes: self.cut, lines: Some(self.cut_lines) };
        Output { text: self.head + &self.tail, cut: (self.cut > 0).then_some(cut) }
    }
}

impl Bridge {
    /// What is known of a command, with at most `most` bytes of its output, head and tail.
    pub async fn output(
        &self,
        session: &SessionId,
        command: u64,
        most: usize,
    ) -> Result<(CommandReport, Bounded), BridgeError> {
        self.output_behind(session, command, OutputPlace::default(), most).await
    }

    /// As [`output`](Self::output), but uses the report of a wait if it contains all of the output.
    pub async fn output_of(
        &self,
        report: Option<CommandReport>,
        session: &SessionId,
        command: u64,
        most: usize,
    ) -> Result<(CommandReport, Bounded), BridgeError> {
        match report {
            Some(mut report) if report.is_whole() && report.output.len() <= most => {
                self.note_untaken(&report, session);
                let head = std::mem::take(&mut report.output);
                Ok((report, Bounded { head, ..Bounded::default() }))
            }
            _ => self.output(session, command, most).await,
        }
    }

    /// The same of its output behind a place.
    pub async fn output_behind(
        &self,
        session: &SessionId,
        command: u64,
        place: OutputPlace,
        most: usize,
    ) -> Result<(CommandReport, Bounded), BridgeError> {
        let most = most as u64;
        let mut report = self.report(session, command, place.byte, most).await?;
        let mut head = std::mem::take(&mut report.output);
        if report.output_start + head.len() as u64 >= report.output_bytes {
            return Ok((report, Bounded { head, ..Bounded::default() }));
        }
        if report.output_start > place.byte {
            // The beginning was dropped; the end tells so.
            head.clear();
        }
        head.truncate(line_end(&head, head.floor_char_boundary(head.len() / 2)));
        let behind = place.byte + head.len() as u64;
        let from = report.output_bytes.saturating_sub(most / 2).max(behind);
        let end = self.report(session, command, from, most / 2).await?;
        let line = line_start(&end.output);
        let tail = end.output[line..].to_owned();
        let cut = (end.output_start + line as u64).saturating_sub(behind);
        let line_ends = |text: &str| text.matches('\n').count() as u64;
        let all = report.output_lines.saturating_sub(u64::from(!tail.ends_with('\n')));
        let cut_lines = all.saturating_sub(place.line + line_ends(&head) + line_ends(&tail));
        Ok((report, Bounded { head, tail, cut, cut_lines }))
    }

    pub(crate) async fn report(
        &self,
        session: &SessionId,
        command: u64,
        from: u64,
        most: u64,
    ) -> Result<CommandReport, BridgeError> {
        let report = self.backend_of(session).command(session, command, from, most).await?;
        let none = || BridgeError::NoCommand { session: session.clone(), command };
        let report = report.ok_or_else(none)?;
        self.note_untaken(&report, session);
        Ok(report)
    }

    fn note_untaken(&self, report: &CommandReport, session: &SessionId) {
        if report.state == CommandState::NotTaken {
            self.shared.agents.note_broken(session);
        }
    }
}

/// The end of the last whole line before `at`, or `at` when the line is too long for that.
fn line_end(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map(|end| end + 1).filter(|end| *end > at / 2).unwrap_or(at)
}

/// The first line start, or the beginning when that is too far.
fn line_start(text: &str) -> usize {
    text.find('\n').map(|end| end + 1).filter(|start| *start < text.len() / 2).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{Bounded, line_end, line_start};

    #[test]
    fn a_cut_is_said_and_the_stored_form_keeps_its_place() {
        let whole = Bounded { head: "all".into(), ..Bounded::default() };
        assert_eq!(whole.clone().text("x"), "all");
        assert_eq!(whole.into_stored().cut, None);
        let cut = Bounded { head: "a\n".into(), tail: "z\n".into(), cut: 7, cut_lines: 3 };
        assert_eq!(
            cut.clone().text("term://s/command/1"),
            "a\n[… 7 bytes, 3 lines cut: term://s/command/1 …]\nz\n"
        );
        let stored = cut.into_stored();
        assert_eq!(
            (stored.text.as_str(), stored.cut.map(|cut| (cut.at, cut.bytes, cut.lines))),
            ("a\nz\n", Some((2, 7, Some(3))))
        );
    }

    #[test]
    fn lines_are_bounded_from_both_ends() {
        let head = "1\n2\n3\n4\n5\n6\n7\n8\n9\n".to_owned();
        let whole = Bounded { head, ..Bounded::default() };
        assert_eq!(whole.clone().within_lines(9), whole);
        let cut = |head: &str, tail: &str, cut, cut_lines| Bounded {
            head: head.into(),
            tail: tail.into(),
            cut,
            cut_lines,
        };
        assert_eq!(whole.clone().within_lines(5), cut("1\n2\n", "7\n8\n9\n", 8, 4));
        assert_eq!(whole.within_lines(1), cut("", "9\n", 16, 8));
        let before = cut("1\n2\n3\n", "9", 10, 5);
        assert_eq!(before.clone().within_lines(4), before);
        assert_eq!(before.within_lines(3), cut("1\n2\n", "9", 12, 6));
    }

    #[test]
    fn cuts_are_at_lines_where_there_are_any() {
        assert_eq!(line_end("one\ntwo\nthree", 10), 8);
        assert_eq!(line_end("a very long line", 10), 10);
        assert_eq!(line_start("e end\nnext line of it\n"), 6);
        assert_eq!(line_start("a very long line"), 0);
    }
}
