//! Commands as the history keeps them. Some are only there: their session is gone, or keeps them no longer.
//!
//! Of long output the history has the head and the tail. Lines keep the numbers that they had in all of
//! the output; where the gap lies, a line without a number says how much is missing.

use std::time::Duration;

use termbridge_session::State::Exited;
use termbridge_session::{CommandReport, CommandState, SessionId, SessionInfo};
use termbridge_store::{Cut, Entry, State};

use crate::caller::Caller;
use crate::error::BridgeError;
use crate::hub::Bridge;
use crate::transcript::{Gathered, OutputPage, ReadFrom, Select, not_a_cursor, text_page};

/// A command's name in the history.
pub(crate) fn entry_id(session: &SessionId, command: u64) -> String {
    format!("{session}-{command}")
}

/// The entry of a command that is over. What ended its shell ended the command too.
pub(crate) fn ended(
    mut entry: Entry,
    report: &CommandReport,
    shell: Option<SessionInfo>,
    output: termbridge_store::Output,
) -> Entry {
    let of_shell = match (&report.state, shell.map(|shell| shell.state)) {
        (CommandState::SessionEnded { .. }, Some(Exited(ended))) => ended.command_signal(),
        _ => None,
    };
    entry.run.exit_code = report.exit_code();
    entry.run.signal = of_shell.or_else(|| report.signal());
    let is_known = entry.run.exit_code.is_some() || entry.run.signal.is_some();
    entry.run.state = match report.state {
        _ if is_known => State::Done,
        CommandState::Incomplete => State::Incomplete,
        _ => State::Lost,
    };
    entry.run.duration_ms = Some(report.duration.as_millis() as u64);
    entry.output = output;
    entry
}

/// A command as the history kept it.
#[derive(Debug, Clone)]
pub struct Recorded {
    command: u64,
    entry: Entry,
}

impl Recorded {
    /// What it printed, as far as it was kept.
    pub fn page(&self, select: Select<'_>) -> Result<OutputPage, BridgeError> {
        let run = &self.entry.run;
        let state = match (run.state, run.exit_code, &run.signal) {
            (State::Done, Some(exit_code), _) => CommandState::Done { exit_code },
            (State::Done, None, Some(_)) => CommandState::SessionEnded { exit_code: None },
            (State::Incomplete, ..) => CommandState::Incomplete,
            _ => CommandState::Lost,
        };
        let notice = run.signal.as_ref().map(|signal| format!("ended by {signal}"));
        let duration = Duration::from_millis(run.duration_ms.unwrap_or_default());
        let report = CommandReport::new(self.command, run.command.as_str());
        let mut report = CommandReport { state, duration, notice, ..report };
        let output = &self.entry.output;
        let page = match output.cut {
            None => text_page(&output.text, select)?,
            Some(cut) => {
                report.dropped_from = cut.at as u64;
                report.dropped_bytes = cut.bytes;
                page_with_gap(&output.text, cut, select)?
            }
        };
        Ok(OutputPage { command: Some(report), ..page })
    }
}

/// The lines of a head and a tail.
fn page_with_gap(text: &str, cut: Cut, select: Select<'_>) -> Result<OutputPage, BridgeError> {
    let (head, tail) = text.split_at(text.floor_char_boundary(cut.at));
    let before = head.matches('\n').count() as u64;
    let behind = before + cut.lines.unwrap_or_default();
    let numbered = (0..).zip(head.lines()).chain((behind..).zip(tail.lines()));
    let total = behind + tail.lines().count() as u64;
    let from = match select.from {
        ReadFrom::Tail if select.grep.is_none() => total.saturating_sub(select.lines),
        ReadFrom::Tail => 0,
        ReadFrom::Last(count) => total.saturating_sub(*count),
        ReadFrom::Line(line) => (*line).min(total),
        ReadFrom::Cursor(cursor) => {
            let number = cursor.strip_prefix("line:").and_then(|number| number.parse().ok());
            number.ok_or_else(|| not_a_cursor(cursor))?
        }
    };
    let keep_last = matches!(select.from, ReadFrom::Tail | ReadFrom::Last(_));
    let mut gathered = Gathered::new(select, keep_last);
    let mut gap = (from < behind && select.grep.is_none()).then(|| match cut.lines {
        Some(lines) => format!("[… {} bytes, {lines} lines not kept …]\n", cut.bytes),
        None => format!("[… {} bytes not kept, their lines are not counted …]\n", cut.bytes),
    });
    let mut end = from;
    let mut lines = numbered.skip_while(|(number, _)| *number < from).peekable();
    while let Some((number, line)) = lines.peek().copied() {
        if number >= behind
            && let Some(words) = gap.take()
        {
            if !gathered.offer(before, &words) {
                break;
            }
            end = behind;
            continue;
        }
        if !gathered.offer(number, &format!("{line}\n")) {
            break;
        }
        end = number + 1;
        lines.next();
    }
    Ok(OutputPage {
        first_line: gathered.first_line.unwrap_or(from),
        earlier_matches: gathered.left_out(),
        text: gathered.text(),
        cursor: format!("line:{end}"),
        remaining: total.saturating_sub(end),
        total_lines: total,
        ..OutputPage::default()
    })
}

impl Bridge {
    /// What the history has of a command that no session has; `None` when one does, or nobody, or when it ran on
    /// behalf of another principal.
    pub async fn recorded(
        &self,
        caller: &Caller,
        session: &SessionId,
        command: u64,
    ) -> Result<Option<Recorded>, BridgeError> {
        let kept = self.backend_of(session).command(session, command, 0, 0).await;
        let (false, Some(history)) = (matches!(kept, Ok(Some(_))), &self.shared.history) else {
            return Ok(None);
        };
        let entry = history.get(entry_id(session, command)).await?;
        let principal = |entry: &Entry| entry.run.principal.clone().unwrap_or_default();
        let own = entry.filter(|entry| caller.sees(&principal(entry)));
        Ok(own.map(|entry| Recorded { command, entry }))
    }
}

#[cfg(test)]
mod tests {
    use regex::Regex;

    use super::*;

    fn page(from: &ReadFrom, lines: u64, grep: Option<&Regex>) -> OutputPage {
        // Of twenty lines the first two and the last three.
        let cut = Cut { at: "1\n2\n".len(), bytes: 42, lines: Some(15) };
        let select = Select { from, lines, grep, most: 1000 };
        page_with_gap("1\n2\n18\n19\n20\n", cut, select).expect("readable")
    }

    #[test]
    fn lines_behind_a_gap_keep_their_numbers() {
        let gap = "[… 42 bytes, 15 lines not kept …]\n";
        let shown = |from: ReadFrom, lines| {
            let page = page(&from, lines, None);
            assert_eq!(page.total_lines, 20);
            (page.text, page.first_line, page.remaining, page.cursor)
        };
        let row = |text: String, first, remaining, cursor: &str| {
            (text, first, remaining, cursor.to_owned())
        };
        assert_eq!(shown(ReadFrom::Tail, 2), row("19\n20\n".into(), 18, 0, "line:20"));
        assert_eq!(shown(ReadFrom::Line(0), 4), row(format!("1\n2\n{gap}18\n"), 0, 2, "line:18"));
        assert_eq!(shown(ReadFrom::Line(1), 2), row(format!("2\n{gap}"), 1, 3, "line:17"));
        let cursor = ReadFrom::Cursor("line:17".into());
        assert_eq!(shown(cursor, 9), row("18\n19\n20\n".into(), 17, 0, "line:20"));
        assert_eq!(shown(ReadFrom::Line(9), 2), row(format!("{gap}18\n"), 2, 2, "line:18"));
        assert_eq!(shown(ReadFrom::Line(99), 2), row(String::new(), 20, 0, "line:20"));
        let found = page(&ReadFrom::Tail, 9, Some(&Regex::new("9|2").expect("a pattern")));
        assert_eq!(found.text, "2:2\n19:19\n20:20\n");
    }
}
