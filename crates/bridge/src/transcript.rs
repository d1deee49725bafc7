//! Reading what a session printed: the last lines, only what is new, or what matches.
//!
//! A shell session's text is that of its commands, each under a line `$ command`, and what background
//! jobs printed between them, under a line `[background or typed]`; one command's text is its output alone. A
//! cursor is `COMMAND:BYTE`, the place behind the last byte that was returned, or `COMMAND:hLINE` within
//! its header (`COMMANDb` for the jobs after it); it stays valid as long as the command is kept. A running
//! command can still redraw its last lines: then the cursor is `COMMAND:BYTE:FINAL:HASH`, with a hash of
//! what was shown behind the final part, and what was redrawn since is shown again. An `r` at its end says
//! that the command was running. A program that is no shell has the lines of its terminal ([`terminal`]).

mod gather;
mod place;
mod terminal;

use std::time::Duration;

use regex::Regex;
use termbridge_session::{CommandReport, SessionId, SessionInfo, State};
use tokio::time::Instant;

pub(crate) use self::gather::Gathered;
use self::place::{Place, Segment};
use crate::backend::{Awaited, Until};
use crate::error::BridgeError;
use crate::hub::Bridge;

/// How long a wait for output goes on after the first of it: what comes with it, and the end.
const SETTLE: Duration = Duration::from_millis(50);
/// Bytes read from the backend at a time.
const CHUNK: u64 = 256 * 1024;
/// Bytes before the end in which the last lines are looked for: a line may have no end.
const REACH: u64 = 8 * 1024 * 1024;

/// Where to begin.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ReadFrom {
    /// At the last lines.
    #[default]
    Tail,
    /// This many lines before the end, and from there on.
    Last(u64),
    /// At this line, from 0.
    Line(u64),
    /// Where an earlier reply ended.
    Cursor(String),
}

/// What ends a wait for output. A command that waits for input always does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OutputWait {
    /// New output, or the end of the command.
    #[default]
    Output,
    /// The end of the command, or of a program that is not a shell.
    End,
}

/// What to read.
#[derive(Debug, Clone)]
pub struct OutputRequest {
    /// The session.
    pub session: SessionInfo,
    /// Only this command's output.
    pub command: Option<u64>,
    /// Where to begin.
    pub from: ReadFrom,
    /// Lines, at most.
    pub lines: u64,
    /// Only lines that match.
    pub grep: Option<Regex>,
    /// Bytes, at most.
    pub most: usize,
}

impl OutputRequest {
    fn select(&self) -> Select<'_> {
        let Self { from, lines, grep, most, .. } = self;
        Select { from, lines: *lines, grep: grep.as_ref(), most: *most }
    }
}

/// Which lines of a text to show.
#[derive(Debug, Clone, Copy)]
pub struct Select<'a> {
    /// Where to begin.
    pub from: &'a ReadFrom,
    /// Lines, at most.
    pub lines: u64,
    /// Only lines that match.
    pub grep: Option<&'a Regex>,
    /// Bytes, at most.
    pub most: usize,
}

/// A part of what was printed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OutputPage {
    /// The text.
    pub text: String,
    /// Passed back, gives only what is new.
    pub cursor: String,
    /// The first line that is shown, from 0.
    pub first_line: u64,
    /// The first line was shown before, and has grown or changed since.
    pub continues: bool,
    /// Lines before the first one that match, too; of a search.
    pub earlier_matches: u64,
    /// Lines behind the last one that is shown.
    pub remaining: u64,
    /// Lines in all.
    pub total_lines: u64,
    /// A command runs, a line that was typed into the shell, or the program.
    pub running: bool,
    /// The line that runs was typed: what it prints is only on the screen.
    pub is_typed: bool,
    /// The oldest commands of the session whose text would come first, but is kept only for `command_id`.
    pub left_out_commands: u64,
    /// The command that was asked for, or else the session's last: how it stood when reading began, so
    /// that nothing is missing behind a command that is over.
    pub command: Option<CommandReport>,
}

impl Bridge {
    /// Reads what a session printed.
    pub async fn read_output(&self, request: &OutputRequest) -> Result<OutputPage, BridgeError> {
        let SessionInfo { owner, cwd, .. } = &request.session;
        let most = self.shared.guard.max_output_lines(owner.workspace.as_deref(), cwd);
        let bounded = most.filter(|most| *most < request.lines);
        let bounded = bounded.map(|lines| OutputRequest { lines, ..request.clone() });
        let request = bounded.as_ref().unwrap_or(request);
        let kept = request.session.shell.and_then(|shell| shell.kept);
        let segments = match (request.command, kept) {
            (Some(command), _) => vec![self.segment(&request.session.id, command).await?],
            (None, Some((first, last))) => {
                let mut segments = Vec::new();
                for command in first..=last {
                    self.add_segments(&request.session.id, command, &mut segments).await?;
                }
                segments
            }
            (None, None) => return self.terminal_page(request).await,
        };
        let session = &request.session.id;
        let last = segments.last().map_or(1, |segment| segment.part.command);
        let report = self.report(session, last, 0, 0).await?;
        let is_typed = request.command.is_none() && request.session.runs_typed_line();
        let running = report.is_running() || is_typed;
        let total: u64 = segments.iter().map(Segment::lines).sum();
        let keep_last = request.from == ReadFrom::Tail;
        let mut is_within_line = false;
        let start = match (&request.from, &request.grep) {
            (ReadFrom::Cursor(cursor), _) => self.at_cursor(session, &segments, cursor).await?,
            // The last matches are found by looking at all lines.
            (ReadFrom::Tail, Some(_)) => Place { segment: 0, byte: None, header: 0, line: 0 },
            (ReadFrom::Tail, None) => {
                let tail = self.at_tail(session, &segments, request.lines, REACH).await?;
                is_within_line = tail.1;
                tail.0
            }
            (ReadFrom::Last(count), _) => {
                self.at_line(session, &segments, total.saturating_sub(*count)).await?
            }
            (ReadFrom::Line(line), _) => {
                self.at_line(session, &segments, (*line).min(total)).await?
            }
        };
        let mut gathered = Gathered::new(request.select(), keep_last);
        gathered.is_within_line = is_within_line;
        let end = self.gather(session, &segments, start, &mut gathered).await?;
        let first_line = gathered.first_line;
        // A program that prints may have printed more since they were counted.
        let total = total.max(end.line);
        let first_line = first_line.unwrap_or(start.line);
        let reaches_first =
            request.command.is_none() && (first_line == 0 || request.grep.is_some());
        let before_first = segments.first().map_or(0, |segment| segment.part.command - 1);
        Ok(OutputPage {
            continues: false,
            is_typed,
            left_out_commands: if reaches_first { before_first } else { 0 },
            earlier_matches: gathered.left_out(),
            text: gathered.text(),
            cursor: self.cursor(session, &segments, end, report.is_running()).await?,
            first_line,
            remaining: total.saturating_sub(end.line),
            total_lines: total,
            running,
            command: Some(report),
        })
    }

    /// The cursor behind what a command had printed when the report was made.
    pub async fn end_cursor(
        &self,
        session: &SessionId,
        report: &CommandReport,
    ) -> Result<String, BridgeError> {
        let segments = [self.segment(session, report.id).await?];
        let end = Place { segment: 0, byte: Some(report.output_bytes), header: 0, line: 0 };
        self.cursor(session, &segments, end, report.is_running()).await
    }

    /// The same, once there is something new behind the cursor, or else something is printed at all,
    /// or the command is over or waits for someone to type; after `longest` as it stands. New output does
    /// not end a wait for the end. Returns what ended the wait, too.
    pub async fn await_output(
        &self,
        mut request: OutputRequest,
        wait: OutputWait,
        longest: Duration,
    ) -> Result<(OutputPage, Until), BridgeError> {
        let deadline = Instant::now() + longest;
        let mut until = None;
        let mut seen = match &request.from {
            ReadFrom::Cursor(cursor) => Some(cursor.clone()),
            _ => None,
        };
        loop {
            let page = self.read_output(&request).await?;
            let is_redrawn = matches!(request.from, ReadFrom::Cursor(_)) && !page.text.is_empty();
            let is_new = match &seen {
                Some(seen) if wait == OutputWait::Output => {
                    is_redrawn || place::position(&page.cursor) != place::position(seen)
                }
                _ => !page.running,
            };
            seen.get_or_insert_with(|| page.cursor.clone());
            let left = deadline.saturating_duration_since(Instant::now());
            let is_over = request.command.is_some()
                && page.command.as_ref().is_some_and(|it| !it.is_running());
            let goes_on = matches!(until, None | Some(Until::Printed))
                && request.session.state == State::Running
                && !is_over;
            let id = &request.session.id;
            let running = page.command.as_ref().filter(|command| command.is_running());
            let command = running.map(|command| command.id);
            let printed = match wait {
                OutputWait::Output => request.session.printed,
                // Nothing that is printed ends the wait.
                OutputWait::End => u64::MAX,
            };
            if is_new || !goes_on || left.is_zero() {
                let until = match (until, command) {
                    (None | Some(Until::Printed), Some(_)) if goes_on => {
                        self.backend_of(id)
                            .wait_output(id, command, printed, Duration::ZERO)
                            .await?
                    }
                    (until, _) => until.unwrap_or(Until::TimedOut),
                };
                return Ok((page, until));
            }
            until = Some(self.backend_of(id).wait_output(id, command, printed, left).await?);
            if until == Some(Until::Printed) {
                let settle = SETTLE.min(left);
                match command {
                    Some(command) => {
                        self.backend_of(id).wait_command(id, command, Awaited::End, settle).await?;
                    }
                    None => tokio::time::sleep(settle).await,
                }
            }
            request.session = self.backend_of(id).session(id).await?;
        }
    }

    /// The lines of a terminal whose program is no shell.
    async fn terminal_page(&self, request: &OutputRequest) -> Result<OutputPage, BridgeError> {
        let id = &request.session.id;
        let all = self.backend_of(id).terminal_text(id, usize::MAX).await?;
        let page = text_page(&all.text, request.select())?;
        Ok(OutputPage { running: request.session.state == State::Running, ..page })
    }
}

/// The error for a text that is not a cursor.
pub(crate) fn not_a_cursor(text: &str) -> BridgeError {
    let next = "leave `since` out to start at the end";
    BridgeError::Invalid(format!("{text:?} is not a cursor of this session; {next}"))
}

/// The lines of a text.
pub(crate) fn text_page(text: &str, select: Select<'_>) -> Result<OutputPage, BridgeError> {
    let text = text.trim_end_matches('\n');
    let lines: Vec<&str> = if text.is_empty() { Vec::new() } else { text.split('\n').collect() };
    let total = lines.len() as u64;
    let mut continues = false;
    let from = match select.from {
        ReadFrom::Tail if select.grep.is_none() => total.saturating_sub(select.lines),
        ReadFrom::Tail => 0,
        ReadFrom::Last(count) => total.saturating_sub(*count),
        ReadFrom::Line(line) => *line,
        ReadFrom::Cursor(cursor) => {
            let found = terminal::at_cursor(&lines, cursor).ok_or_else(|| not_a_cursor(cursor))?;
            continues = found.1;
            found.0
        }
    };
    let keep_last = *select.from == ReadFrom::Tail;
    let mut gathered = Gathered::new(select, keep_last);
    let mut end = from.min(total);
    for line in lines.iter().skip(end as usize) {
        if !gathered.offer(end, &format!("{line}\n")) {
            break;
        }
        end += 1;
    }
    Ok(OutputPage {
        continues,
        first_line: gathered.first_line.unwrap_or(from.min(total)),
        earlier_matches: gathered.left_out(),
        text: gathered.text(),
        // Of a shell, commands are read from now on.
        cursor: terminal::cursor(&lines, end as usize),
        remaining: total - end,
        total_lines: total,
        ..OutputPage::default()
    })
}
