//! Lines from a place on, within the bounds of a reply.

use std::collections::VecDeque;
use std::ops::Range;

use termbridge_session::SessionId;

use super::place::{BACKGROUND, Place, Segment};
use super::{CHUNK, Select};
use crate::error::BridgeError;
use crate::hub::Bridge;

/// Longest line that is matched and counted whole; a longer one is taken in pieces of this size.
const MAX_LINE: u64 = 4 * 1024 * 1024;
/// Stands before the end of a line that is longer.
const CUT: &str = "[the beginning of this line is cut …] ";

impl Bridge {
    /// Hands on line after line from a place, and returns where it stopped.
    pub(super) async fn gather(
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
                        gathered.in_background = false;
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
            gathered.in_background = segment.part.background;
            // A program that prints faster than this reads is not followed.
            let mut end = None;
            let mut asked = CHUNK;
            loop {
                let part = self.part(session, segment.part, at, asked).await?;
                let reached = part.output_start + part.output.len() as u64;
                let is_last = reached >= part.output_bytes;
                let is_enough = reached >= *end.get_or_insert(part.output_bytes);
                if part.output.is_empty() {
                    break;
                }
                at = part.output_start;
                let began_at = at;
                let is_longest = std::mem::replace(&mut asked, CHUNK) == MAX_LINE;
                for line in part.output.split_inclusive('\n') {
                    let whole = line.ends_with('\n');
                    let is_first = at == began_at;
                    let is_piece = is_longest && is_first;
                    if !(whole || is_last || is_piece) {
                        // Read again from its beginning, and further if that was here.
                        if is_first {
                            asked = MAX_LINE;
                        }
                        break;
                    }
                    if !gathered.offer(place.line, line) {
                        return Ok(place);
                    }
                    at += line.len() as u64;
                    place.byte = Some(at);
                    place.line += u64::from(whole || is_last);
                }
                if is_last {
                    // The next command's header begins on a line of its own.
                    if index + 1 < segments.len() && !part.output.ends_with('\n') {
                        gathered.end_line();
                    }
                    break;
                }
                if is_enough && asked == CHUNK {
                    break;
                }
            }
        }
        Ok(place)
    }
}

/// Lines within the bounds: the first that fit, or the last.
pub(crate) struct Gathered<'a> {
    select: Select<'a>,
    keep_last: bool,
    lines: VecDeque<String>,
    /// The number of each line, and whether it is a background job's.
    numbers: VecDeque<(u64, bool)>,
    in_background: bool,
    bytes: usize,
    /// Lines that matched, whether they are kept or not.
    matches: u64,
    pub(crate) first_line: Option<u64>,
    /// What is offered next is the rest of a line.
    pub(super) is_within_line: bool,
}

impl<'a> Gathered<'a> {
    pub(crate) fn new(select: Select<'a>, keep_last: bool) -> Self {
        let (lines, numbers) = (VecDeque::new(), VecDeque::new());
        Self {
            select,
            keep_last,
            lines,
            numbers,
            in_background: false,
            bytes: 0,
            matches: 0,
            first_line: None,
            is_within_line: false,
        }
    }

    /// Takes a line; false when there is no room and reading can stop before it.
    pub(crate) fn offer(&mut self, number: u64, line: &str) -> bool {
        // Of the last lines and of matches there is room for several.
        let is_one_of_many = self.keep_last || self.select.grep.is_some();
        let most = (self.select.most / if is_one_of_many { 4 } else { 1 }).max(1);
        let text = match self.select.grep {
            Some(pattern) => {
                let Some(found) = pattern.find(line.trim_end_matches('\n')) else { return true };
                self.matches += 1;
                let line = around(line, found.range(), most);
                match self.in_background {
                    true => format!("{}:{} {line}", number + 1, BACKGROUND.trim_end()),
                    false => format!("{}:{line}", number + 1),
                }
            }
            None if self.keep_last => self.end_of_line(line.to_owned(), most),
            None => around(line, 0..0, most),
        };
        let is_full = |gathered: &Self, more: usize| {
            gathered.lines.len() as u64 >= gathered.select.lines
                || gathered.bytes + more > gathered.select.most
        };
        if is_full(self, text.len()) && !self.keep_last && !self.lines.is_empty() {
            self.matches = self.matches.saturating_sub(1);
            return false;
        }
        while is_full(self, text.len()) {
            let Some(oldest) = self.lines.pop_front() else { break };
            self.numbers.pop_front();
            self.bytes -= oldest.len();
        }
        self.bytes += text.len();
        self.lines.push_back(text);
        self.numbers.push_back((number, self.in_background));
        self.first_line = self.numbers.front().map(|(number, _)| *number);
        true
    }

    /// The end of a line, of which this is the rest.
    fn end_of_line(&mut self, rest: String, most: usize) -> String {
        let mut is_cut = std::mem::take(&mut self.is_within_line);
        let mut line = rest;
        if self.lines.back().is_some_and(|last| !last.ends_with('\n'))
            && let Some(before) = self.lines.pop_back()
        {
            self.numbers.pop_back();
            self.bytes -= before.len();
            is_cut |= before.starts_with(CUT);
            line.insert_str(0, before.strip_prefix(CUT).unwrap_or(&before));
        }
        let from = line.ceil_char_boundary(line.len().saturating_sub(most));
        match is_cut || from > 0 {
            true => format!("{CUT}{}", &line[from..]),
            false => line,
        }
    }

    /// Lines that matched and had to make room for later ones.
    pub(crate) fn left_out(&self) -> u64 {
        self.matches.saturating_sub(self.lines.len() as u64)
    }

    /// The lines; those of background jobs are under their line also where it lies before the first.
    pub(crate) fn text(self) -> String {
        let is_continued = self.numbers.front().is_some_and(|(_, background)| *background);
        let label = if is_continued && self.select.grep.is_none() { BACKGROUND } else { "" };
        label.to_owned() + &self.lines.into_iter().collect::<Vec<_>>().concat()
    }

    /// The line is over, though it was not ended.
    fn end_line(&mut self) {
        if let Some(last) = self.lines.back_mut().filter(|last| !last.ends_with('\n')) {
            last.push('\n');
        }
    }
}

/// A line, or of a long one what stands around a part of it.
fn around(line: &str, part: Range<usize>, most: usize) -> String {
    if line.len() <= most {
        return line.to_owned();
    }
    // Mostly what follows: the part may be the key of what is looked for.
    let before = most.saturating_sub(part.len()) / 4;
    let from = part.start.saturating_sub(before).min(line.len() - most);
    let from = line.floor_char_boundary(from);
    let to = line.floor_char_boundary(from + most);
    let mut text = match from {
        0 => String::new(),
        cut => format!("[{cut} bytes of this line cut …] "),
    };
    text.push_str(&line[from..to]);
    match line.len() - to {
        0 => (),
        cut => text.push_str(&format!(" [… {cut} bytes of this line cut]\n")),
    }
    text
}
