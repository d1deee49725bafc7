//! Runs of cells in one style, as differences from the run before.
//!
//! | bits of a run's first byte | what follows |
//! | --- | --- |
//! | 0–1 foreground, 2–3 background | 0 as before, 1 default, 2 an index, 3 red, green, blue |
//! | 4 | attributes |
//! | 5 | colour of the underline, and the link |
//! | 6–7 | 0 one cell, 1 the number of cells, 2 the number of runs of one cell each that differ in the same fields |
//!
//! A line begins in the default style; what follows its last run has the default style too.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::packed::{read_number, write_number};
use crate::style::{Attributes, Color, Style};
use crate::tables::{COLOR_BITS, CellStyle, Link, color_key};

const ATTRIBUTES: u8 = 1 << 4;
const EXTRA: u8 = 1 << 5;
const KIND: u8 = 3 << 6;
const LENGTH: u8 = 1 << 6;
const GROUP: u8 = 2 << 6;
/// Runs of a group: their number is one byte.
const MAX_GROUP: u8 = u8::MAX;

/// Writes the runs of a line.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct RunWriter {
    #[serde(with = "serde_bytes")]
    bytes: Vec<u8>,
    pub(super) links: Vec<Arc<Link>>,
    /// The style of the last run that was written, packed.
    before: u64,
    /// It has a colour of the underline or a link.
    before_has_extra: bool,
    /// The run that may become longer.
    run: u64,
    /// Its style, if that is more than what is packed.
    extra: Option<CellStyle>,
    len: usize,
    /// Where the last run was written, if it is one cell.
    single: Option<usize>,
}

impl RunWriter {
    /// Adds cells of a style.
    #[inline]
    pub(super) fn push(&mut self, len: usize, style: &CellStyle) {
        let packed = style.packed();
        let is_plain = style.is_plain();
        let continues = packed == self.run
            && self.extra.as_ref().map_or(is_plain, |extra| !is_plain && extra == style);
        if !continues && self.len > 0 {
            self.write();
        }
        if self.len == 0 {
            self.run = packed;
            self.extra = (!is_plain).then(|| style.clone());
        }
        self.len += len;
    }

    /// The bytes of all runs and their links.
    pub(super) fn finish(&mut self) -> (&[u8], &[Arc<Link>]) {
        if (self.run != 0 || self.extra.is_some()) && self.len > 0 {
            self.write();
        }
        (&self.bytes, &self.links)
    }

    /// Begins another line.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.links.clear();
        (self.before, self.before_has_extra) = (0, false);
        (self.run, self.extra) = (0, None);
        (self.len, self.single) = (0, None);
    }

    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    fn write(&mut self) {
        let background = |packed: u64| packed >> COLOR_BITS;
        let mut shape = color_change(self.before, self.run)
            | color_change(background(self.before), background(self.run)) << 2;
        if (self.before ^ self.run) >> (2 * COLOR_BITS) != 0 {
            shape |= ATTRIBUTES;
        }
        if self.before_has_extra || self.extra.is_some() {
            shape |= EXTRA;
        }
        if self.len > 1 {
            self.single = None;
            self.bytes.push(shape | LENGTH);
            write_number(&mut self.bytes, self.len as u64);
        } else if let Some(at) = self.single.filter(|at| self.extends_group(*at, shape)) {
            match self.bytes[at] & KIND {
                0 => {
                    self.bytes[at] |= GROUP;
                    self.bytes.insert(at + 1, 2);
                }
                _ => self.bytes[at + 1] += 1,
            }
        } else {
            self.single = Some(self.bytes.len());
            self.bytes.push(shape);
        }
        self.push_fields(shape);
        (self.before, self.before_has_extra) = (self.run, self.extra.is_some());
        self.len = 0;
    }

    fn push_fields(&mut self, shape: u8) {
        push_color(shape, self.run, &mut self.bytes);
        push_color(shape >> 2, self.run >> COLOR_BITS, &mut self.bytes);
        if shape & ATTRIBUTES != 0 {
            write_number(&mut self.bytes, self.run >> (2 * COLOR_BITS));
        }
        if shape & EXTRA != 0 {
            self.push_extra();
        }
    }

    fn push_extra(&mut self) {
        let under = self.extra.as_ref().and_then(|extra| extra.style.underline_color);
        let under = under.map_or(0, color_key);
        let change = color_change(0, under);
        self.bytes.push(change);
        push_color(change, under, &mut self.bytes);
        let link = self.extra.as_ref().and_then(|extra| extra.link.as_ref());
        let link = link.map_or(0, |link| {
            let known = self.links.iter().position(|known| known == link);
            known.unwrap_or_else(|| {
                self.links.push(Arc::clone(link));
                self.links.len() - 1
            }) + 1
        });
        write_number(&mut self.bytes, link as u64);
    }

    fn extends_group(&self, at: usize, shape: u8) -> bool {
        let head = self.bytes[at];
        head & !KIND == shape && (head & KIND == 0 || self.bytes[at + 1] < MAX_GROUP)
    }
}

/// How a packed colour differs; what is above it does not count.
#[inline]
fn color_change(before: u64, color: u64) -> u8 {
    const COLOR: u64 = (1 << COLOR_BITS) - 1;
    if (before ^ color) & COLOR == 0 { 0 } else { (color >> 24 & 3) as u8 + 1 }
}

/// Appends the value of a packed colour, if it differs in that.
#[inline]
fn push_color(change: u8, color: u64, bytes: &mut Vec<u8>) {
    match change & 3 {
        2 => bytes.push(color as u8),
        3 => bytes.extend_from_slice(&[(color >> 16) as u8, (color >> 8) as u8, color as u8]),
        _ => {}
    }
}

/// Reads the runs of a line: how many cells, in which style. Damaged bytes end it.
pub(super) struct RunReader<'a> {
    bytes: &'a [u8],
    links: &'a [Arc<Link>],
    style: CellStyle,
    shape: u8,
    /// Runs of the group that are still to come.
    group: u8,
}

impl<'a> RunReader<'a> {
    pub(super) fn new(bytes: &'a [u8], links: &'a [Arc<Link>]) -> Self {
        Self { bytes, links, style: CellStyle::default(), shape: 0, group: 0 }
    }

    fn byte(&mut self) -> Option<u8> {
        let (byte, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        Some(*byte)
    }

    fn color(&mut self, change: u8, before: Color) -> Option<Color> {
        Some(match change & 3 {
            0 => before,
            1 => Color::Default,
            2 => Color::Indexed(self.byte()?),
            _ => Color::Rgb(self.byte()?, self.byte()?, self.byte()?),
        })
    }
}

impl Iterator for RunReader<'_> {
    type Item = (usize, CellStyle);

    fn next(&mut self) -> Option<Self::Item> {
        let mut len = 1;
        if self.group > 0 {
            self.group -= 1;
        } else {
            self.shape = self.byte()?;
            match self.shape & KIND {
                LENGTH => len = usize::try_from(read_number(&mut self.bytes)?).ok()?,
                GROUP => self.group = self.byte()?.checked_sub(1)?,
                _ => {}
            }
        }
        let Style { fg, bg, .. } = self.style.style;
        self.style.style.fg = self.color(self.shape, fg)?;
        self.style.style.bg = self.color(self.shape >> 2, bg)?;
        if self.shape & ATTRIBUTES != 0 {
            let bits = u16::try_from(read_number(&mut self.bytes)?).ok()?;
            self.style.style.attributes = Attributes::from_bits_truncate(bits);
        }
        if self.shape & EXTRA != 0 {
            let change = self.byte()?;
            let color = self.color(change, Color::Default)?;
            self.style.style.underline_color = Some(color).filter(|color| *color != Color::Default);
            let link = usize::try_from(read_number(&mut self.bytes)?).ok()?;
            self.style.link = match link.checked_sub(1) {
                Some(index) => Some(Arc::clone(self.links.get(index)?)),
                None => None,
            };
        }
        Some((len, self.style.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_read_as_they_were_written_and_take_little_room() {
        let style = |fg, bg, bits| CellStyle {
            style: Style {
                fg,
                bg,
                attributes: Attributes::from_bits_truncate(bits),
                ..Style::default()
            },
            link: None,
        };
        let mut runs = vec![
            (3, style(Color::Default, Color::Default, 0)),
            (2, style(Color::Indexed(1), Color::Default, 1)),
        ];
        for n in 0..600_u16 {
            runs.push((1, style(Color::Rgb(n as u8, 1, 2), Color::Indexed((n >> 3) as u8), 0)));
        }
        let link = Some(Arc::new(Link { id: None, uri: "http://x".into() }));
        runs.push((70_000, CellStyle { link, ..style(Color::Default, Color::Default, 9) }));
        let mut writer = RunWriter::default();
        runs.iter().for_each(|(len, style)| writer.push(*len, style));
        let (bytes, links) = writer.finish();
        assert!(bytes.len() < 600 * 5, "{} bytes", bytes.len());
        assert_eq!(RunReader::new(bytes, links).collect::<Vec<_>>(), runs);
        for cut in 0..bytes.len() {
            assert!(RunReader::new(&bytes[..cut], links).count() <= runs.len());
        }
    }

    #[test]
    fn a_pair_of_colours_in_each_cell_costs_two_bytes() {
        let mut writer = RunWriter::default();
        for n in 0..120_u8 {
            let style =
                Style { fg: Color::Indexed(n), bg: Color::Indexed(255 - n), ..Style::default() };
            writer.push(1, &CellStyle { style, link: None });
        }
        assert!(writer.finish().0.len() <= 2 * 120 + 4);
    }
}
