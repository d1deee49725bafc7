//! Reading what a session printed: the last lines, only what is new, or what matches.
//!
//! A shell session's text is that of its commands, each under a line `$ command`; one command's text
//! is its output alone. A cursor is `COMMAND:BYTE`, the place behind the last byte that was returned, or
//! `COMMAND:hLINE` within its header; it stays valid as long as the command is kept. A running command can
//! still redraw its last lines: then the cursor is `COMMAND:BYTE:FINAL:HASH`, with a hash of what was
//! shown behind the final part, and what was redrawn since is shown again. A program that is no shell
//! has the lines of its terminal; its cursors are `line:NUMBER`.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};

use regex::Regex;
use termbridge_session::{SessionId, SessionInfo, State};

use crate::error::BridgeError;
use crate::hub::Bridge;

/// Bytes read from the backend at a time.
const CHUNK: u64 = 256 * 1024;
/// Longest line that is matched and shown whole.
const MAX_LINE: usize = 16 * 1024;

/// Where to begin.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum From {
    /// At the last lines.
    #[default]
    Tail,
    /// This many lines before the end.
    Last(u64),
    /// At this line, from 0.
    Line(u64),
    /// Where an earlier reply ended.
    Cursor(String),
}

/// What to read.
#[derive(Debug, Clone)]
pub struct OutputRequest {
    /// The session.
    pub session: SessionInfo,
    /// Only this command's output.
    pub command: Option<u64>,
    /// Where to begin.
    pub from: From,
    /// Lines, at most.
    pub lines: u64,
    /// Only lines that match.
    pub grep: Option<Regex>,
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
    /// Lines behind the last one that is shown.
    pub remaining: u64,
    /// Lines in all.
    pub total_lines: u64,
    /// A command runs, or the program does.
    pub running: bool,
}

/// One command's part of the text.
struct Segment {
    command: u64,
    header: Option<String>,
    header_lines: u64,
    output_lines: u64,
}

impl Segment {
    fn lines(&self) -> u64 {
        self.header_lines + self.output_lines
    }
}

/// A place in the text: a segment, and a byte of its output; `None` is before the header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    segment: usize,
    byte: Option<u64>,
    /// Lines of the header that lie before it.
    header: u64,
    line: u64,
}

impl Bridge {
    /// Reads what a session printed.
    pub async fn read_output(&self, request: &OutputRequest) -> Result<OutputPage, BridgeError> {
        let kept = request.session.shell.and_then(|shell| shell.kept);
        let segments = match (request.command, kept) {
            (Some(command), _) => vec![self.segment(&request.session.id, command, false).await?],
            (None, Some((first, last))) => {
                let mut segments = Vec::new();
                for command in first..=last {
                    segments.push(self.segment(&request.session.id, command, true).await?);
                }
                segments
            }
            (None, None) => return self.terminal_page(request).await,
        };
        let total: u64 = segments.iter().map(Segment::lines).sum();
        let running = request.session.shell.is_some_and(|shell| match request.command {
            Some(command) => shell.running == Some(command),
            None => shell.running.is_some(),
        });
        let session = &request.session.id;
        let keep_last = matches!(request.from, From::Tail | From::Last(_));
        let start = match (&request.from, &request.grep) {
            (From::Cursor(cursor), _) => self.at_cursor(session, &segments, cursor).await?,
            // The last matches are found by looking at all lines.
            (From::Tail, Some(_)) => Place { segment: 0, byte: None, header: 0, line: 0 },
            (From::Tail, None) => {
                let line = total.saturating_sub(request.lines);
                self.at_line(session, &segments, line).await?
            }
            (From::Last(count), _) => {
                self.at_line(session, &segments, total.saturating_sub(*count)).await?
            }
            (From::Line(line), _) => self.at_line(session, &segments, (*line).min(total)).await?,
        };
        let mut gathered = Gathered::new(request, keep_last);
        let end = self.gather(session, &segments, start, &mut gathered).await?;
        let Gathered { lines, first_line, .. } = gathered;
        Ok(OutputPage {
            text: lines.into_iter().collect::<Vec<_>>().concat(),
            cursor: self.cursor(session, &segments, end).await?,
            first_line: first_line.unwrap_or(start.line),
            remaining: total.saturating_sub(end.line),
            total_lines: total,
            running,
        })
    }

    async fn cursor(
        &self,
        session: &SessionId,
        segments: &[Segment],
        place: Place,
    ) -> Result<String, BridgeError> {
        let command = segments.get(place.segment).map_or(1, |segment| segment.command);
        let Some(byte) = place.byte else { return Ok(format!("{command}:h{}", place.header)) };
        let settled = self.report(session, command, 0, 0).await?.final_bytes;
        if byte <= settled {
            return Ok(format!("{command}:{byte}"));
        }
        let shown = self.hash(session, command, settled, byte).await?;
        Ok(format!("{command}:{byte}:{settled}:{shown:x}"))
    }

    /// A hash of the output between two bytes.
    async fn hash(
        &self,
        session: &SessionId,
        command: u64,
        from: u64,
        to: u64,
    ) -> Result<u64, BridgeError> {
        let report = self.report(session, command, from, to.saturating_sub(from)).await?;
        let mut hasher = DefaultHasher::new();
        (report.output_start, report.output).hash(&mut hasher);
        Ok(hasher.finish())
    }

    async fn segment(
        &self,
        session: &SessionId,
        command: u64,
        with_header: bool,
    ) -> Result<Segment, BridgeError> {
        let report = self.report(session, command, 0, 0).await?;
        let header = with_header.then(|| format!("$ {}\n", report.command.trim_end_matches('\n')));
        let header_lines = header.as_deref().map_or(0, |text| text.lines().count() as u64);
        Ok(Segment { command, header, header_lines, output_lines: report.output_lines })
    }

    async fn at_cursor(
        &self,
        session: &SessionId,
        segments: &[Segment],
        cursor: &str,
    ) -> Result<Place, BridgeError> {
        let bad = || {
            BridgeError::Invalid(format!(
                "{cursor:?} is no cursor of this session; leave `since` out to start at the end"
            ))
        };
        if cursor.starts_with("line:") {
            // From before the first command.
            return Ok(Place { segment: 0, byte: None, header: 0, line: 0 });
        }
        let mut parts = cursor.split(':');
        let command: u64 = parts.next().and_then(|part| part.parse().ok()).ok_or_else(bad)?;
        let at = parts.next().ok_or_else(bad)?;
        let number = |part: Option<&str>| part.and_then(|part| part.parse::<u64>().ok());
        let first = segments.first().ok_or_else(bad)?.command;
        if command < first {
            // What lay there is gone; the oldest that is left comes next.
            return Ok(Place { segment: 0, byte: None, header: 0, line: 0 });
        }
        let segment = segments.iter().position(|part| part.command == command).ok_or_else(bad)?;
        let before: u64 = segments[..segment].iter().map(Segment::lines).sum();
        if let Some(shown) = at.strip_prefix('h') {
            let header = number(Some(shown)).ok_or_else(bad)?.min(segments[segment].header_lines);
            return Ok(Place { segment, byte: None, header, line: before + header });
        }
        let mut byte = number(Some(at)).ok_or_else(bad)?;
        if let Some(settled) = number(parts.next()) {
            let shown = parts.next().and_then(|part| u64::from_str_radix(part, 16).ok());
            let now = self.hash(session, command, settled, byte).await?;
            if shown != Some(now) {
                byte = settled;
            }
        }
        let total = self.report(session, command, 0, 0).await?.output_bytes;
        let within = match byte >= total {
            true => segments[segment].output_lines,
            false => self.lines_before(session, &segments[segment], byte).await?,
        };
        let byte = byte.min(total);
        let line = before + segments[segment].header_lines + within;
        Ok(Place { segment, byte: Some(byte), header: 0, line })
    }

    async fn lines_before(
        &self,
        session: &SessionId,
        segment: &Segment,
        byte: u64,
    ) -> Result<u64, BridgeError> {
        let (mut at, mut lines) = (0, 0);
        while at < byte {
            let part = self.report(session, segment.command, at, CHUNK.min(byte - at)).await?;
            if part.output.is_empty() {
                break;
            }
            at = part.output_start + part.output.len() as u64;
            lines += memchr::memchr_iter(b'\n', part.output.as_bytes()).count() as u64;
        }
        Ok(lines)
    }

    async fn at_line(
        &self,
        session: &SessionId,
        segments: &[Segment],
        line: u64,
    ) -> Result<Place, BridgeError> {
        let mut before = 0;
        for (index, segment) in segments.iter().enumerate() {
            let within = line - before;
            if within < segment.header_lines || (within == 0 && segment.lines() == 0) {
                return Ok(Place { segment: index, byte: None, header: within, line });
            }
            if within < segment.lines() {
                let skip = within - segment.header_lines;
                let byte = self.byte_of_line(session, segment, skip).await?;
                return Ok(Place { segment: index, byte: Some(byte), header: 0, line });
            }
            before += segment.lines();
        }
        let segment = segments.len().saturating_sub(1);
        let end = match segments.last() {
            Some(last) => Some(self.report(session, last.command, 0, 0).await?.output_bytes),
            None => None,
        };
        Ok(Place { segment, byte: end, header: 0, line: before })
    }

    /// The byte at which a line begins: looked for from the end of the output that is nearer.
    async fn byte_of_line(
        &self,
        session: &SessionId,
        segment: &Segment,
        line: u64,
    ) -> Result<u64, BridgeError> {
        if line > segment.output_lines / 2 {
            return self.byte_of_line_from_end(session, segment, segment.output_lines - line).await;
        }
        let (mut at, mut left) = (0, line);
        while left > 0 {
            let part = self.report(session, segment.command, at, CHUNK).await?;
            if part.output.is_empty() {
                break;
            }
            at = part.output_start;
            for newline in memchr::memchr_iter(b'\n', part.output.as_bytes()) {
                left -= 1;
                if left == 0 {
                    return Ok(at + newline as u64 + 1);
                }
            }
            at += part.output.len() as u64;
        }
        Ok(at)
    }

    async fn byte_of_line_from_end(
        &self,
        session: &SessionId,
        segment: &Segment,
        lines: u64,
    ) -> Result<u64, BridgeError> {
        let mut end = self.report(session, segment.command, 0, 0).await?.output_bytes;
        let (mut left, mut first) = (lines, true);
        while end > 0 {
            let from = end.saturating_sub(CHUNK);
            let part = self.report(session, segment.command, from, end - from).await?;
            let bytes = part.output.as_bytes();
            for newline in memchr::memrchr_iter(b'\n', bytes) {
                // The newline at the very end closes the last line.
                if std::mem::take(&mut first) && newline + 1 == bytes.len() {
                    continue;
                }
                left -= 1;
                if left == 0 {
                    return Ok(part.output_start + newline as u64 + 1);
                }
            }
            first = false;
            end = part.output_start.min(from);
            // What was dropped holds no lines.
            let dropped = part.dropped_from..part.dropped_from + part.dropped_bytes;
            end = if dropped.contains(&end) { dropped.start } else { end };
        }
        Ok(0)
    }

    /// Hands on line after line from a place, and returns where it stopped.
    async fn gather(
        &self,
        session: &SessionId,
        segments: &[Segment],
        start: Place,
        gathered: &mut Gathered<'_>,
    ) -> Result<Place, BridgeError> {
        let mut place = start;
        for (index, segment) in segments.iter().enumerate().skip(start.segment) {
            if index > start.segment {
                place = Place { segment: index, byte: None, header: 0, line: place.line };
            }
            if place.byte.is_none() {
                if let Some(header) = &segment.header {
                    for line in header.split_inclusive('\n').skip(place.header as usize) {
                        if !gathered.offer(place.line, line) {
                            return Ok(place);
                        }
                        place.header += 1;
                        place.line += 1;
                    }
                }
                place.byte = Some(0);
            }
            let mut at = place.byte.unwrap_or_default();
            loop {
                let part = self.report(session, segment.command, at, CHUNK).await?;
                let is_last = part.output_start + part.output.len() as u64 >= part.output_bytes;
                if part.output.is_empty() {
                    break;
                }
                at = part.output_start;
                let began_at = at;
                for line in part.output.split_inclusive('\n') {
                    let whole = line.ends_with('\n');
                    // The rest of it comes with the next part.
                    if !whole && !is_last && line.len() < MAX_LINE && at > began_at {
                        break;
                    }
                    if !gathered.offer(place.line, line) {
                        return Ok(place);
                    }
                    at += line.len() as u64;
                    // A line that may still change is shown again.
                    place.byte = Some(at.min(part.unfinished_from));
                    place.line += u64::from(whole || is_last);
                }
                if is_last {
                    // The next command's header begins on a line of its own.
                    if index + 1 < segments.len() && !part.output.ends_with('\n') {
                        gathered.end_line();
                    }
                    break;
                }
            }
        }
        Ok(place)
    }

    /// The lines of a terminal whose program is no shell.
    async fn terminal_page(&self, request: &OutputRequest) -> Result<OutputPage, BridgeError> {
        let all = self.backend().terminal_text(&request.session.id, usize::MAX).await?;
        let text = all.text.trim_end_matches('\n');
        let lines: Vec<&str> =
            if text.is_empty() { Vec::new() } else { text.split('\n').collect() };
        let total = lines.len() as u64;
        let from = match &request.from {
            From::Tail if request.grep.is_none() => total.saturating_sub(request.lines),
            From::Tail => 0,
            From::Last(count) => total.saturating_sub(*count),
            From::Line(line) => *line,
            From::Cursor(cursor) => {
                let number = cursor.strip_prefix("line:").and_then(|number| number.parse().ok());
                number.ok_or_else(|| {
                    BridgeError::Invalid(format!("{cursor:?} is no cursor of this session"))
                })?
            }
        };
        let keep_last = matches!(request.from, From::Tail | From::Last(_));
        let mut gathered = Gathered::new(request, keep_last);
        let mut end = from.min(total);
        for line in lines.iter().skip(end as usize) {
            if !gathered.offer(end, &format!("{line}\n")) {
                break;
            }
            end += 1;
        }
        Ok(OutputPage {
            first_line: gathered.first_line.unwrap_or(from.min(total)),
            text: gathered.lines.into_iter().collect::<Vec<_>>().concat(),
            // The last line may still grow; of a shell, commands are read from now on.
            cursor: format!("line:{}", end.saturating_sub(1)),
            remaining: total - end,
            total_lines: total,
            running: request.session.state == State::Running,
        })
    }
}

/// Lines within the bounds: the first that fit, or the last.
struct Gathered<'a> {
    request: &'a OutputRequest,
    keep_last: bool,
    lines: VecDeque<String>,
    numbers: VecDeque<u64>,
    bytes: usize,
    first_line: Option<u64>,
}

impl<'a> Gathered<'a> {
    fn new(request: &'a OutputRequest, keep_last: bool) -> Self {
        let (lines, numbers) = (VecDeque::new(), VecDeque::new());
        Self { request, keep_last, lines, numbers, bytes: 0, first_line: None }
    }

    /// Takes a line; false when there is no room and reading can stop before it.
    fn offer(&mut self, number: u64, line: &str) -> bool {
        let text = match &self.request.grep {
            Some(pattern) if !pattern.is_match(line.trim_end_matches('\n')) => return true,
            Some(_) => format!("{}:{line}", number + 1),
            None => line.to_owned(),
        };
        let text = shortened(text, self.request.most.clamp(1, MAX_LINE));
        let is_full = |gathered: &Self, more: usize| {
            gathered.lines.len() as u64 >= gathered.request.lines
                || gathered.bytes + more > gathered.request.most
        };
        if is_full(self, text.len()) && !self.keep_last && !self.lines.is_empty() {
            return false;
        }
        while is_full(self, text.len()) {
            let Some(oldest) = self.lines.pop_front() else { break };
            self.numbers.pop_front();
            self.bytes -= oldest.len();
        }
        self.bytes += text.len();
        self.lines.push_back(text);
        self.numbers.push_back(number);
        self.first_line = self.numbers.front().copied();
        true
    }

    /// The line is over, though it was not ended.
    fn end_line(&mut self) {
        if let Some(last) = self.lines.back_mut().filter(|last| !last.ends_with('\n')) {
            last.push('\n');
        }
    }
}

fn shortened(mut line: String, most: usize) -> String {
    if line.len() > most {
        let cut = line.len() - most;
        line.truncate(line.floor_char_boundary(most));
        line.push_str(&format!(" [… {cut} bytes of this line cut]\n"));
    }
    line
}
