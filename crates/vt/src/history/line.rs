//! A line of the history: while it grows, as it is stored, and read again.

use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::runs::{RunReader, RunWriter};
use crate::cell::Width;
use crate::clusters::{self, Clusters};
use crate::packed::{read_number, write_number};
use crate::row::Row;
use crate::tables::{CellStyle, Link, Tables};
use crate::text;

/// There are wide characters, so that rows may end one column early.
const WIDE: u8 = 1;
/// Clusters are as wide as grapheme clusters (mode 2027), not as the sum of their parts.
const GRAPHEMES: u8 = 2;
/// The next line continues this one.
const CONTINUES: u8 = 4;
/// Links of this line follow in the chunk's list.
const LINKS: u8 = 8;

/// A line whose end is still to come.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct OpenLine {
    #[serde(with = "serde_bytes")]
    pub(super) text: Vec<u8>,
    width: usize,
    flags: u8,
    /// The last row left its last column free for a wide character.
    leaves_column: bool,
    pub(super) runs: RunWriter,
}

impl OpenLine {
    /// Adds a row of a screen of this width.
    pub(super) fn push(&mut self, row: &Row, tables: &Tables, cols: usize) {
        if self.leaves_column && row.cell(0).width() != Width::Wide {
            self.text.push(b' ');
            self.runs.push(1, &CellStyle::default());
            self.width += 1;
        }
        self.leaves_column = row.wrapped && row.len() < cols;
        let (extent, end) = (row.extent(), row.len());
        let before = self.width;
        if !row.is_complex() && row.is_ascii() {
            let start = self.text.len();
            self.text.resize(start + extent, b' ');
            let bytes = self.text[start..].iter_mut().zip(row.cells());
            bytes
                .filter(|(_, cell)| !cell.is_unwritten())
                .for_each(|(byte, cell)| *byte = cell.0 as u8);
        } else {
            let stop = |col| (before + col) / 8 * 8 + 8 - before;
            let mut text = String::with_capacity(4 * extent);
            text::push_line(&row.cells()[..extent], tables, &mut text, row.wrapped, stop);
            self.text.extend_from_slice(text.as_bytes());
        }
        for run in row.cells()[..end].chunk_by(|a, b| a.style() == b.style()) {
            self.runs.push(run.len(), tables.style(run[0].style()));
        }
        self.width += end;
        if row.is_complex() {
            for cell in row.cells() {
                self.flags |= if cell.width() == Width::Wide { WIDE } else { 0 };
                let is_joined = |number| tables.cluster_columns(number) > cell.width() as usize + 1;
                self.flags |= if cell.cluster().is_some_and(is_joined) { GRAPHEMES } else { 0 };
            }
        }
    }

    /// Forgets the line, and keeps its memory for another.
    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.runs.clear();
        (self.width, self.flags, self.leaves_column) = (0, 0, false);
    }

    /// Writes flags, width and runs.
    pub(super) fn write_to(
        &mut self,
        record: &mut Vec<u8>,
        links: &mut Vec<Arc<Link>>,
        continues: bool,
    ) {
        let (runs, own_links) = self.runs.finish();
        let mut flags = self.flags | if continues { CONTINUES } else { 0 };
        if !own_links.is_empty() {
            flags |= LINKS;
        }
        let has_details = flags != 0 || self.width != self.text.len();
        write_number(record, (runs.len() as u64) << 1 | u64::from(has_details));
        if has_details {
            record.push(flags);
            write_number(record, self.width as u64);
        }
        if flags & LINKS != 0 {
            write_number(record, links.len() as u64);
            links.extend_from_slice(own_links);
        }
        record.extend_from_slice(runs);
    }

    pub(super) fn rows(&self, cols: usize) -> usize {
        if self.flags & WIDE == 0 {
            self.width.div_ceil(cols).max(1)
        } else {
            self.line().rows(cols).len()
        }
    }

    pub(super) fn line(&self) -> Line {
        let mut runs = self.runs.clone();
        let (runs, links) = runs.finish();
        let text = String::from_utf8_lossy(&self.text);
        Line::new(&text, self.width, self.flags | CONTINUES, RunReader::new(runs, links))
    }

    pub(super) fn is_sound(&self) -> bool {
        str::from_utf8(&self.text).is_ok()
            && self.width <= self.text.len().saturating_mul(8).saturating_add(1 << 16)
    }
}

/// A line as it is stored.
#[derive(Debug, Clone, Copy)]
pub(super) struct StoredLine<'a> {
    text: &'a [u8],
    text_start: usize,
    record_start: usize,
    width: usize,
    flags: u8,
    runs: &'a [u8],
    links: &'a [Arc<Link>],
}

impl<'a> StoredLine<'a> {
    /// The lines of a chunk.
    pub(super) fn all(
        text: &'a [u8],
        records: &'a [u8],
        links: &'a [Arc<Link>],
    ) -> impl Iterator<Item = Self> {
        let (mut text_start, mut rest) = (0, records);
        std::iter::from_fn(move || {
            let record_start = records.len() - rest.len();
            let len = memchr::memchr(b'\n', text.get(text_start..)?)?;
            let line = &text[text_start..text_start + len];
            let head = read_number(&mut rest)?;
            let (mut flags, mut width) = (0, len);
            if head & 1 != 0 {
                let (first, after) = rest.split_first()?;
                (flags, rest) = (*first, after);
                width = usize::try_from(read_number(&mut rest)?).ok()?;
            }
            let from = if flags & LINKS != 0 {
                usize::try_from(read_number(&mut rest)?).ok()?
            } else {
                0
            };
            let (runs, after) = rest.split_at_checked(usize::try_from(head >> 1).ok()?)?;
            rest = after;
            let stored = Self {
                text: line,
                text_start,
                record_start,
                width,
                flags,
                runs,
                links: links.get(from..)?,
            };
            text_start += len + 1;
            Some(stored)
        })
    }

    pub(super) fn text_start(&self) -> usize {
        self.text_start
    }

    pub(super) fn record_start(&self) -> usize {
        self.record_start
    }

    /// The next line is part of this one.
    pub(super) fn continues(&self) -> bool {
        self.flags & CONTINUES != 0
    }

    pub(super) fn rows(&self, cols: usize) -> usize {
        if self.flags & WIDE == 0 {
            self.width.div_ceil(cols).max(1)
        } else {
            self.line().rows(cols).len()
        }
    }

    pub(super) fn line(&self) -> Line {
        let text = String::from_utf8_lossy(self.text);
        Line::new(&text, self.width, self.flags, RunReader::new(self.runs, self.links))
    }

    pub(super) fn is_sound(&self) -> bool {
        str::from_utf8(self.text).is_ok()
            && self.width <= self.text.len().saturating_mul(8).saturating_add(1 << 16)
    }
}

/// A cell of a line that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LineCell {
    /// Its characters in the line's text, none for a blank.
    pub(crate) text: Range<usize>,
    pub(crate) width: Width,
    /// Its style in the line's list.
    pub(crate) style: usize,
}

/// A line that was read.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    pub(crate) text: String,
    pub(crate) cells: Vec<LineCell>,
    pub(crate) styles: Vec<CellStyle>,
    /// The next line is part of this one.
    pub(crate) continues: bool,
}

impl Line {
    fn new(text: &str, width: usize, flags: u8, runs: RunReader<'_>) -> Self {
        let mut cells: Vec<LineCell> = Vec::with_capacity(width);
        let joins = if flags & GRAPHEMES != 0 { Clusters::Graphemes } else { Clusters::Characters };
        let mut at = 0;
        while at < text.len() && cells.len() < width {
            let len = clusters::next_len(&text[at..], joins);
            let (range, part) = (at..at + len, &text[at..at + len]);
            at += len;
            let cell = |text, width| LineCell { text, width, style: 0 };
            if part.starts_with('\t') {
                cells.push(cell(range, Width::Narrow));
                let stop = (cells.len() - 1) / 8 * 8 + 8;
                cells.resize(stop.min(width), cell(0..0, Width::Narrow));
                continue;
            }
            let columns = match joins {
                Clusters::Characters => clusters::sum_of_widths(part),
                Clusters::Graphemes => clusters::width(part),
            };
            if columns == 2 && cells.len() + 2 <= width {
                cells.push(cell(range, Width::Wide));
                cells.push(cell(0..0, Width::Spacer));
            } else {
                cells.push(cell(range, Width::Narrow));
            }
        }
        cells.resize(width, LineCell { text: 0..0, width: Width::Narrow, style: 0 });
        let mut styles = vec![CellStyle::default()];
        let mut at = 0_usize;
        for (len, style) in runs {
            let end = at.max(at.saturating_add(len)).min(cells.len());
            if let Some(run) = cells.get_mut(at..end) {
                run.iter_mut().for_each(|cell| cell.style = styles.len());
            }
            styles.push(style);
            at = end;
        }
        Self { text: text.to_owned(), cells, styles, continues: flags & CONTINUES != 0 }
    }

    /// The cells of each row at a width.
    pub(crate) fn rows(&self, cols: usize) -> Vec<Range<usize>> {
        let mut rows = Vec::new();
        let mut start = 0;
        loop {
            let mut end = (start + cols).min(self.cells.len());
            if end < self.cells.len() && self.cells[end].width == Width::Spacer && end > start + 1 {
                end -= 1;
            }
            rows.push(start..end);
            start = end;
            if start >= self.cells.len() {
                return rows;
            }
        }
    }

    /// What a cell shows: its character and what joins it.
    pub(crate) fn shown(&self, cell: &LineCell) -> &str {
        &self.text[cell.text.clone()]
    }
}
