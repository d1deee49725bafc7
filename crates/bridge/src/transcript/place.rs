//! Places in a session's text: segments, lines, bytes, and the cursors that name them.

use std::hash::{DefaultHasher, Hash, Hasher};

use termbridge_session::{CommandReport, SessionId};

use super::{CHUNK, not_a_cursor};
use crate::error::BridgeError;
use crate::hub::Bridge;

/// The line above what background jobs printed.
pub(super) const BACKGROUND: &str = "[background or typed]\n";

/// Whose output: a command's own, or that of background jobs after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) command: u64,
    pub(super) background: bool,
}

impl std::fmt::Display for Part {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{}", self.command, if self.background { "b" } else { "" })
    }
}

impl Part {
    pub(super) fn own(command: u64) -> Self {
        Self { command, background: false }
    }

    fn parse(text: &str) -> Option<Self> {
        let command = text.strip_suffix('b');
        let background = command.is_some();
        Some(Self { command: command.unwrap_or(text).parse().ok()?, background })
    }
}

/// One part of the text.
pub(super) struct Segment {
    pub(super) part: Part,
    pub(super) header: Option<String>,
    pub(super) header_lines: u64,
    pub(super) output_lines: u64,
    output_bytes: u64,
    ends_within_line: bool,
}

impl Segment {
    fn new(part: Part, header: Option<String>, report: &CommandReport) -> Self {
        let header_lines = header.as_ref().map_or(0, |header| header.lines().count() as u64);
        let CommandReport { output_lines, output_bytes, ends_within_line, .. } = *report;
        Self { part, header, header_lines, output_lines, output_bytes, ends_within_line }
    }

    pub(super) fn lines(&self) -> u64 {
        self.header_lines + self.output_lines
    }
}

/// What a cursor says of where it is and whether the command ran; not what has become final before it.
pub(super) fn position(cursor: &str) -> (&str, bool) {
    if cursor.starts_with("line:") {
        return (cursor, false);
    }
    let place = cursor.trim_end_matches('r');
    let end = place.match_indices(':').nth(1).map_or(place.len(), |(at, _)| at);
    (&place[..end], place.len() < cursor.len())
}

/// A place in the text: a segment, and a byte of its output; `None` is before the header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) segment: usize,
    pub(super) byte: Option<u64>,
    /// Lines of the header that lie before it.
    pub(super) header: u64,
    pub(super) line: u64,
}

impl Bridge {
    pub(super) async fn cursor(
        &self,
        session: &SessionId,
        segments: &[Segment],
        place: Place,
        running: bool,
    ) -> Result<String, BridgeError> {
        let part = segments.get(place.segment).map_or(Part::own(1), |segment| segment.part);
        let running = if running { "r" } else { "" };
        let Some(byte) = place.byte else {
            return Ok(format!("{part}:h{}{running}", place.header));
        };
        let settled = self.part(session, part, 0, 0).await?.final_bytes;
        if byte <= settled {
            return Ok(format!("{part}:{byte}{running}"));
        }
        let shown = self.hash(session, part, settled, byte).await?;
        Ok(format!("{part}:{byte}:{settled}:{shown:x}{running}"))
    }

    /// A hash of the output between two bytes.
    async fn hash(
        &self,
        session: &SessionId,
        part: Part,
        from: u64,
        to: u64,
    ) -> Result<u64, BridgeError> {
        let report = self.part(session, part, from, to.saturating_sub(from)).await?;
        let mut hasher = DefaultHasher::new();
        (report.output_start, report.output).hash(&mut hasher);
        Ok(hasher.finish())
    }

    /// A command's text, alone.
    pub(super) async fn segment(
        &self,
        session: &SessionId,
        command: u64,
    ) -> Result<Segment, BridgeError> {
        let report = self.report(session, command, 0, 0).await?;
        Ok(Segment::new(Part::own(command), None, &report))
    }

    /// A command's text under its line, and what background jobs printed after it.
    pub(super) async fn add_segments(
        &self,
        session: &SessionId,
        command: u64,
        segments: &mut Vec<Segment>,
    ) -> Result<(), BridgeError> {
        let report = self.report(session, command, 0, 0).await?;
        let header = format!("$ {}\n", report.command.trim_end_matches('\n'));
        segments.push(Segment::new(Part::own(command), Some(header), &report));
        if report.background_bytes > 0 {
            let part = Part { command, background: true };
            let report = self.part(session, part, 0, 0).await?;
            segments.push(Segment::new(part, Some(BACKGROUND.to_owned()), &report));
        }
        Ok(())
    }

    pub(super) async fn part(
        &self,
        session: &SessionId,
        part: Part,
        from: u64,
        most: u64,
    ) -> Result<CommandReport, BridgeError> {
        let Part { command, background } = part;
        if !background {
            return self.report(session, command, from, most).await;
        }
        let report = self.backend_of(session).background(session, command, from, most).await?;
        report.ok_or_else(|| BridgeError::NoCommand { session: session.clone(), command })
    }

    pub(super) async fn at_cursor(
        &self,
        session: &SessionId,
        segments: &[Segment],
        cursor: &str,
    ) -> Result<Place, BridgeError> {
        let bad = || not_a_cursor(cursor);
        if cursor.starts_with("line:") {
            // From before the first command.
            return Ok(Place { segment: 0, byte: None, header: 0, line: 0 });
        }
        let mut parts = cursor.trim_end_matches('r').split(':');
        let mut part = parts.next().and_then(Part::parse).ok_or_else(bad)?;
        let at = parts.next().ok_or_else(bad)?;
        let number = |part: Option<&str>| part.and_then(|part| part.parse::<u64>().ok());
        let first = segments.first().ok_or_else(bad)?.part.command;
        if part.command < first {
            // What lay there is gone; the oldest that is left comes next.
            return Ok(Place { segment: 0, byte: None, header: 0, line: 0 });
        }
        let find = |part| segments.iter().position(|segment| segment.part == part);
        // Where only the command's own is read, what comes after it is its end.
        let is_behind = part.background && find(part).is_none();
        if is_behind {
            part = Part::own(part.command);
        }
        let segment = find(part).ok_or_else(bad)?;
        let before: u64 = segments[..segment].iter().map(Segment::lines).sum();
        if let Some(shown) = at.strip_prefix('h') {
            let header = number(Some(shown)).ok_or_else(bad)?.min(segments[segment].header_lines);
            return Ok(Place { segment, byte: None, header, line: before + header });
        }
        let mut byte = number(Some(at)).ok_or_else(bad)?;
        if is_behind {
            byte = u64::MAX;
        } else if let Some(settled) = number(parts.next()) {
            let shown = parts.next().and_then(|part| u64::from_str_radix(part, 16).ok());
            let now = self.hash(session, part, settled, byte).await?;
            if shown != Some(now) {
                byte = settled;
            }
        }
        let total = self.part(session, part, 0, 0).await?.output_bytes;
        let within = match byte >= total {
            true => segments[segment].output_lines,
            false => self.lines_before(session, &segments[segment], byte).await?,
        };
        let byte = byte.min(total);
        let line = before + segments[segment].header_lines + within;
        Ok(Place { segment, byte: Some(byte), header: 0, line })
    }

    /// Lines that end before a byte: counted from the end of the output that is nearer.
    async fn lines_before(
        &self,
        session: &SessionId,
        segment: &Segment,
        byte: u64,
    ) -> Result<u64, BridgeError> {
        let Segment { part, output_bytes, .. } = *segment;
        if byte <= output_bytes / 2 {
            return self.newlines(session, part, 0, byte).await;
        }
        let behind = self.newlines(session, part, byte, output_bytes).await?;
        let ended = segment.output_lines - u64::from(segment.ends_within_line);
        Ok(ended.saturating_sub(behind))
    }

    /// Newlines between two bytes.
    async fn newlines(
        &self,
        session: &SessionId,
        part: Part,
        from: u64,
        to: u64,
    ) -> Result<u64, BridgeError> {
        let (mut at, mut newlines) = (from, 0);
        while at < to {
            let read = self.part(session, part, at, CHUNK.min(to - at)).await?;
            if read.output.is_empty() {
                break;
            }
            at = read.output_start + read.output.len() as u64;
            newlines += memchr::memchr_iter(b'\n', read.output.as_bytes()).count() as u64;
        }
        Ok(newlines)
    }

    /// Where the last lines begin, or where the last `reach` bytes do, if that is later, and whether that
    /// is within a line.
    pub(super) async fn at_tail(
        &self,
        session: &SessionId,
        segments: &[Segment],
        lines: u64,
        reach: u64,
    ) -> Result<(Place, bool), BridgeError> {
        let total: u64 = segments.iter().map(Segment::lines).sum();
        let line = total.saturating_sub(lines);
        let (mut before, mut room) = (total, reach);
        for (index, segment) in segments.iter().enumerate().rev() {
            before -= segment.lines();
            let first = before + segment.header_lines;
            let has_room = segment.output_bytes <= room;
            if line >= first || !has_room {
                let wanted = line.saturating_sub(first);
                let back = segment.output_lines.saturating_sub(wanted);
                let (byte, left) = self.byte_of_line_from_end(session, segment, back, room).await?;
                let line = first + wanted + left.saturating_sub(1);
                let place = Place { segment: index, byte: Some(byte), header: 0, line };
                return Ok((place, left > 0));
            }
            if line >= before {
                let header = line - before;
                return Ok((Place { segment: index, byte: None, header, line }, false));
            }
            room -= segment.output_bytes;
        }
        Ok((Place { segment: 0, byte: None, header: 0, line: 0 }, false))
    }

    pub(super) async fn at_line(
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
            Some(last) => Some(self.part(session, last.part, 0, 0).await?.output_bytes),
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
            let back = segment.output_lines - line;
            return Ok(self.byte_of_line_from_end(session, segment, back, u64::MAX).await?.0);
        }
        let (mut at, mut left) = (0, line);
        // A line that was counted may be redrawn since; the search does not follow a program that prints.
        let mut end = None;
        while left > 0 {
            let part = self.part(session, segment.part, at, CHUNK).await?;
            if part.output.is_empty() || at >= *end.get_or_insert(part.output_bytes) {
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

    /// The byte at which the last lines begin; or one `reach` bytes before the end, and how many of the
    /// lines begin before it.
    async fn byte_of_line_from_end(
        &self,
        session: &SessionId,
        segment: &Segment,
        lines: u64,
        reach: u64,
    ) -> Result<(u64, u64), BridgeError> {
        let report = self.part(session, segment.part, 0, 0).await?;
        let dropped = report.dropped_from..report.dropped_from + report.dropped_bytes;
        // Where its lines were counted; what came since is behind them.
        let mut end = report.output_bytes.min(segment.output_bytes);
        let least = end.saturating_sub(reach);
        let (mut left, mut first) = (lines, true);
        while end > least {
            let mut from = end.saturating_sub(CHUNK);
            // A read goes as far as something was dropped, so it begins there.
            if !dropped.is_empty() && (from..end).contains(&dropped.start) {
                from = dropped.start;
            }
            let part = self.part(session, segment.part, from, end - from).await?;
            let bytes = part.output.as_bytes();
            for newline in memchr::memrchr_iter(b'\n', bytes) {
                // The newline at the very end closes the last line.
                if std::mem::take(&mut first) && newline + 1 == bytes.len() {
                    continue;
                }
                left -= 1;
                if left == 0 {
                    return Ok((part.output_start + newline as u64 + 1, 0));
                }
            }
            first = false;
            end = part.output_start.min(from);
            if dropped.contains(&end) {
                end = dropped.start;
            }
        }
        Ok((end, if end > 0 { left } else { 0 }))
    }
}

#[cfg(test)]
mod tests {
    use super::position;

    #[test]
    fn what_becomes_final_moves_no_cursor() {
        assert_eq!(position("2:5:0:ab12r"), position("2:5r"));
        assert_ne!(position("2:5r"), position("2:6r"));
        assert_ne!(position("2:5r"), position("2:5"));
        assert_eq!(position("1b:h2"), ("1b:h2", false));
        assert_eq!(position("line:7:a:b"), ("line:7:a:b", false));
    }
}
