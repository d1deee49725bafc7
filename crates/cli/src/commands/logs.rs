//! `termbridge logs`: what a session printed, and what it goes on to print.

use std::io::{self, Write};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde_json::{Value, json};
use termbridge_mcp::client::{Client, TERMINAL_LINES};
use termbridge_mcp::socket::ServerFolder;

use super::people::{SessionRow, call, connect, find, folder, no_server, sessions};
use super::{json_line, print, print_json, printable};
use crate::args::LogsArguments;

/// Bytes of one answer; the end of the output is what is kept.
const MAX_BYTES: usize = 1024 * 1024;
/// Lines of scrollback at most, where no number is given.
const ALL_LINES: u32 = 100_000;
/// Lines before what is followed.
const FOLLOW_LINES: u32 = 100;
/// How long one wait for output takes at most; then the next begins.
const WAIT_MS: u64 = 20_000;
/// How the cursor of one begins of which nothing has been shown.
const TERMINAL_START: &str = "terminal:line:0";
/// Stands for what the terminal dropped before it could be read.
const GAP: &str = "[lines that were not kept]\n";
/// How long a line has not grown whose end is printed.
const QUIET_MS: u64 = 1000;
/// How long what is followed waits for the next server.
const AWAY_LIMIT: Duration = Duration::from_secs(30);
const AWAY_INTERVAL: Duration = Duration::from_millis(100);
/// What a program prints within this time is fetched at once.
const GATHER: Duration = Duration::from_millis(30);

pub(crate) fn run(arguments: &LogsArguments) -> Result<ExitCode> {
    let folder = folder()?;
    let Some(mut client) = connect(&folder)? else { return Ok(no_server(&folder)) };
    let row = find(&sessions(&mut client)?, &arguments.session)?;
    if arguments.follow {
        return follow(client, &folder, &row, arguments);
    }
    // Empty rows at the end of the screen do not count.
    let lines = arguments.lines.map_or(ALL_LINES, |lines| lines + u32::from(row.rows));
    let view = json!({"session_id": row.session_id, "format": "scrollback", "lines": lines,
        "max_bytes": MAX_BYTES});
    let view = call(&mut client, "view_screen", view)?;
    let content = view["content"].as_str().unwrap_or_default().trim_end();
    let text = last_lines(content, arguments.lines);
    if arguments.json {
        let shown = json!({"session_id": row.session_id, "state": row.standing(), "output": text});
        return print_json(&shown);
    }
    print(&if text.is_empty() { String::new() } else { format!("{}\n", printable(text)) })
}

/// Prints what is new until the session has ended or nobody reads, through whatever server there is.
fn follow(
    mut client: Client,
    folder: &ServerFolder,
    row: &SessionRow,
    arguments: &LogsArguments,
) -> Result<ExitCode> {
    let mut following = Following::default();
    loop {
        let error = match following.print(&mut client, row, arguments) {
            Ok(()) => return Ok(ExitCode::SUCCESS),
            Err(error) => error,
        };
        // What it refuses is final; what a server that is gone did not answer, the next one does.
        client = match anew(client, folder) {
            Some(next) => next,
            None => return Err(error),
        };
    }
}

/// The next server, if this one is gone.
fn anew(client: Client, folder: &ServerFolder) -> Option<Client> {
    let old = client.pid();
    drop(client);
    let deadline = Instant::now() + AWAY_LIMIT;
    while Instant::now() < deadline {
        match connect(folder) {
            Ok(Some(next)) => return Some(next).filter(|next| next.pid() != old),
            Ok(None) | Err(_) => std::thread::sleep(AWAY_INTERVAL),
        }
    }
    None
}

/// How far a session has been printed.
#[derive(Default)]
struct Following {
    cursor: Option<String>,
    last_line: LastLine,
}

impl Following {
    fn print(
        &mut self,
        client: &mut Client,
        row: &SessionRow,
        arguments: &LogsArguments,
    ) -> Result<()> {
        let id = row.session_id.as_str();
        let mut out = io::stdout().lock();
        loop {
            // Whatever changes after this look ends the wait below.
            let region = json!({"row": 0, "col": 0, "rows": 1, "cols": 1});
            let seen = call(client, "view_screen", json!({"session_id": id, "region": region}))?;
            let mut has_more = true;
            while has_more {
                let first = arguments.lines.unwrap_or(FOLLOW_LINES);
                // As it stands in the terminal: what people type is between the commands of agents.
                let since = self.cursor.as_deref().unwrap_or(TERMINAL_LINES);
                let lines = if self.cursor.is_some() { ALL_LINES } else { first };
                let request = json!({"session_id": id, "max_bytes": MAX_BYTES, "since": since, "lines": lines});
                let page = call(client, "get_terminal_output", request)?;
                let next = page["cursor"].as_str().context("the server gave no cursor")?.to_owned();
                let text = page["output"].as_str().unwrap_or_default();
                has_more = page["remaining"].as_u64().unwrap_or(0) > 0
                    && self.cursor.as_ref() != Some(&next);
                let is_again = page["continues"] == true;
                let was_shown = |cursor: &String| !cursor.starts_with(TERMINAL_START);
                let is_gap = !is_again
                    && !text.is_empty()
                    && page["first_line"] == 0
                    && self.cursor.as_ref().is_some_and(was_shown);
                let gap = match is_gap {
                    true => self.last_line.continued(GAP, false),
                    false => String::new(),
                };
                let text = gap + &self.last_line.continued(text, is_again);
                self.cursor = Some(next);
                if !write_piece(&mut out, &text, arguments.json)? {
                    return Ok(());
                }
            }
            let has_ended = seen["state"].as_str().is_some_and(|state| state != "running");
            let mut wait = json!({"session_id": id, "change": true, "exit": true, "after": seen["seq"],
                "timeout_ms": if self.last_line.is_open { QUIET_MS } else { WAIT_MS }});
            let mut is_quiet = has_ended;
            if !has_ended {
                let outcome: Value = call(client, "wait_for", wait.take())?;
                is_quiet = outcome["timed_out"] == true;
                if outcome["fired"] == "change" {
                    std::thread::sleep(GATHER);
                }
            }
            let end = if is_quiet { self.last_line.end() } else { "" };
            if !write_piece(&mut out, end, arguments.json)? || has_ended {
                return Ok(());
            }
        }
    }
}

/// The last line of a terminal that was printed: it may grow, so its end is printed when it has one, or is quiet.
#[derive(Default)]
struct LastLine {
    text: String,
    /// Its end is still to be printed.
    is_open: bool,
}

impl LastLine {
    /// What to print of a page of a terminal; where it continues this line, only the rest.
    fn continued(&mut self, page: &str, continues: bool) -> String {
        let Some(page) = page.strip_suffix('\n') else { return page.to_owned() };
        let rest = page.strip_prefix(self.text.as_str()).filter(|_| continues && self.is_open);
        let printed = match rest {
            Some(rest) => rest.to_owned(),
            None => self.end().to_owned() + page,
        };
        page.rsplit('\n').next().unwrap_or_default().clone_into(&mut self.text);
        self.is_open = true;
        printed
    }

    /// Its end, if that is still to be printed.
    fn end(&mut self) -> &'static str {
        if std::mem::take(&mut self.is_open) { "\n" } else { "" }
    }
}

/// Whether anybody still reads.
fn write_piece(out: &mut impl Write, text: &str, json: bool) -> Result<bool> {
    if text.is_empty() {
        return Ok(true);
    }
    let written = match json {
        true => writeln!(out, "{}", json_line(&json!({"output": text}))?),
        false => out.write_all(printable(text).as_bytes()),
    };
    match written.and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        written => written.context("cannot write to stdout").map(|()| true),
    }
}

/// The last lines of a text.
fn last_lines(text: &str, lines: Option<u32>) -> &str {
    let Some(lines) = lines else { return text };
    let ends = text.rmatch_indices('\n').nth(lines.saturating_sub(1) as usize);
    ends.map_or(text, |(at, _)| &text[at + 1..])
}

#[cfg(test)]
mod tests {
    use super::{LastLine, last_lines};

    #[test]
    fn a_line_that_grows_is_printed_once() {
        let mut last = LastLine::default();
        assert_eq!(last.continued("a\nb\n", false), "a\nb");
        assert_eq!(last.continued("b and\nc\n", true), " and\nc");
        assert_eq!(last.continued("cd\n", false), "\ncd");
        assert_eq!(last.continued("", false), "");
        assert_eq!(last.continued("e\nf\n", true), "\ne\nf", "redrawn");
        assert_eq!((last.end(), last.end()), ("\n", ""));
        // It grows after its end was printed.
        assert_eq!(last.continued("f and\n", true), "f and");
    }

    #[test]
    fn the_last_lines_are_counted_from_the_end() {
        for (lines, expected) in
            [(None, "a\nb\nc"), (Some(1), "c"), (Some(2), "b\nc"), (Some(9), "a\nb\nc")]
        {
            assert_eq!(last_lines("a\nb\nc", lines), expected);
        }
        assert_eq!(last_lines("", Some(1)), "");
    }
}
