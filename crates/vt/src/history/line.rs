//! A line of the history: while it grows, as it is stored, and read again.

use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::runs::{RunReader, RunWriter};
use crate::cell::{Cell, StyleId, Width};
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

/// What is known of a stored line without reading it: its width with [`LineHead::IS_WIDE`], and the bytes of its details.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct LineHead(u32, u32);

impl LineHead {
    /// There are wide characters.
    const IS_WIDE: u32 = 1 << 31;

    /// A line of narrow characters in the default style.
    #[inline]
    pub(super) fn plain(width: usize) -> Self {
        Self(width as u32, 0)
    }

    pub(super) fn width(self) -> usize {
        (self.0 & !Self::IS_WIDE) as usize
    }

    /// Bytes of the details.
    pub(super) fn details(self) -> usize {
        self.1 as usize
    }

    /// Rows at a width; `None` if the line has to be read for that.
    #[inline]
    pub(super) fn rows(self, cols: usize) -> Option<usize> {
        let width = self.width();
        if width <= cols {
            return Some(1);
        }
        (self.0 & Self::IS_WIDE == 0).then(|| width.div_ceil(cols))
    }
}

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
        let cells = &row.cells()[..row.extent()];
        if let Some(printed) = row.printed() {
            self.text.extend_from_slice(printed);
        } else if row.has_clusters() {
            let stop = |col| (self.width + col) / 8 * 8 + 8 - self.width;
            text::push_line(cells, tables, &mut self.text, row.wrapped, stop);
        } else {
            text::push_characters(cells, &mut self.text);
        }
        if row.has_clusters() {
            let is_joined = |cell: &Cell| {
                let columns = cell.cluster().map(|number| tables.cluster_columns(number));
                columns.is_some_and(|columns| columns > cell.width() as usize + 1)
            };
            self.flags |= if cells.iter().any(is_joined) { GRAPHEMES } else { 0 };
        }
        if row.is_complex() && cells.iter().any(|cell| cell.width() == Width::Wide) {
            self.flags |= WIDE;
        }
        if row.cells().iter().fold(0, |all, cell| all | cell.style().0) == 0 {
            self.runs.push(row.len(), tables.style(StyleId(0)));
        } else {
            for run in row.cells().chunk_by(|a, b| a.style() == b.style()) {
                self.runs.push(run.len(), tables.style(run[0].style()));
            }
        }
        self.width += row.len();
    }

    /// Forgets the line, and keeps its memory for another.
    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.runs.clear();
        (self.width, self.flags, self.leaves_column) = (0, 0, false);
    }

    /// Appends flags, links and runs to the details.
    pub(super) fn write_to(
        &mut self,
        details: &mut Vec<u8>,
        links: &mut Vec<Arc<Link>>,
        continues: bool,
    ) -> LineHead {
        let start = details.len();
        let (runs, own_links) = self.runs.finish();
        let mut flags = self.flags | if continues { CONTINUES } else { 0 };
        if !own_links.is_empty() {
            flags |= LINKS;
        }
        if flags != 0 || !runs.is_empty() {
            details.push(flags);
        }
        if flags & LINKS != 0 {
            write_number(details, links.len() as u64);
            links.extend_from_slice(own_links);
        }
        details.extend_from_slice(runs);
        let is_wide = if flags & WIDE != 0 { LineHead::IS_WIDE } else { 0 };
        LineHead(self.width as u32 | is_wide, (details.len() - start) as u32)
    }

    /// Rows that the line takes at least; only wide characters can make it more.
    pub(super) fn least_rows(&self, cols: usize) -> usize {
        self.width.div_ceil(cols).max(1)
    }

    pub(super) fn rows(&self, cols: usize) -> usize {
        if self.flags & WIDE == 0 || self.width <= cols {
            self.least_rows(cols)
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
        str::from_utf8(&self.text).is_ok() && is_width_sound(self.width, self.text.len())
    }
}

/// A line as it is stored.
#[derive(Debug, Clone, Copy)]
pub(super) struct StoredLine<'a> {
    pub(super) head: LineHead,
    text: &'a [u8],
    flags: u8,
    runs: &'a [u8],
    links: &'a [Arc<Link>],
}

impl<'a> StoredLine<'a> {
    /// A line with its details; what is damaged of them is left out.
    pub(super) fn new(
        head: LineHead,
        text: &'a [u8],
        details: &'a [u8],
        links: &'a [Arc<Link>],
    ) -> Self {
        let (flags, mut runs) = details.split_first().map_or((0, details), |(f, rest)| (*f, rest));
        let mut from = None;
        if flags & LINKS != 0 {
            from = read_number(&mut runs).and_then(|from| usize::try_from(from).ok());
        }
        let links = from.and_then(|from| links.get(from..)).unwrap_or_default();
        Self { head, text, flags, runs, links }
    }

    /// The next line is part of this one.
    pub(super) fn continues(&self) -> bool {
        self.flags & CONTINUES != 0
    }

    pub(super) fn rows(&self, cols: usize) -> usize {
        self.head.rows(cols).unwrap_or_else(|| self.line().rows(cols).len())
    }

    pub(super) fn line(&self) -> Line {
        let text = String::from_utf8_lossy(self.text);
        Line::new(&text, self.head.width(), self.flags, RunReader::new(self.runs, self.links))
    }

    pub(super) fn is_sound(&self) -> bool {
        str::from_utf8(self.text).is_ok() && is_width_sound(self.head.width(), self.text.len())
    }
}

/// A line with that much text may be so wide; a record may claim anything.
fn is_width_sound(width: usize, text: usize) -> bool {
    width <= text.saturating_mul(8).saturating_add(1 << 16)
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
