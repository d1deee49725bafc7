//! Rectangular operations of the VT420: copy, fill, change attributes, checksum.

use super::core::Core;
use super::sgr;
use crate::cell::{Cell, Width};
use crate::clusters;
use crate::grid::Rectangle;
use crate::parser::Csi;
use crate::style::{Attributes, Style};
use crate::tables::CellStyle;

/// XTCHECKSUM: the checksum is not negated.
const POSITIVE: u16 = 1;
/// XTCHECKSUM: attributes do not count.
const NO_ATTRIBUTES: u16 = 2;
/// XTCHECKSUM: all blanks count.
const NO_TRIM: u16 = 4;
/// XTCHECKSUM: cells that nothing was written to do not count.
const ONLY_DRAWN: u16 = 8;
/// XTCHECKSUM: characters count with all their bits, and marks that join them do not.
const WHOLE_CHARACTERS: u16 = 16;
/// DECSACE: attributes change in the whole rectangle, not from its first to its last cell.
const RECTANGLE: u16 = 2;

impl Core {
    /// DECCRA.
    pub(super) fn copy_rectangle(&mut self, csi: &Csi<'_>) {
        let Some(from) = self.rectangle(csi, 0) else { return };
        let target = self.rectangle_start(csi, 5);
        self.tables.share_clusters();
        self.work += from.area();
        self.grid_mut().copy(&from, target.0, target.1);
    }

    fn rectangle_start(&self, csi: &Csi<'_>, from: usize) -> (usize, usize) {
        let grid = self.grid();
        let (row, col) = (csi.params.count(from) - 1, csi.params.count(from + 1) - 1);
        match self.modes.contains(super::modes::Modes::ORIGIN) {
            true => (grid.lines.start + row, grid.columns.start + col),
            false => (row, col),
        }
    }

    /// DECFRA.
    pub(super) fn fill_rectangle(&mut self, csi: &Csi<'_>) {
        let character = char::from_u32(csi.params.get(0).into());
        let Some(character) = character.filter(|c| clusters::char_width(*c) == Some(1)) else {
            return;
        };
        let Some(rectangle) = self.rectangle(csi, 1) else { return };
        self.work += rectangle.area();
        let cell = self.template().with_char(character);
        self.grid_mut().fill_rectangle(&rectangle, cell);
    }

    /// DECCARA and DECRARA.
    pub(super) fn change_attributes(&mut self, csi: &Csi<'_>) {
        let Some(rectangle) = self.rectangle(csi, 0) else { return };
        self.work += 4 * rectangle.area();
        let (reverses, params) = (csi.last == b't', csi.params);
        let cols = self.cols();
        let parts = if self.attribute_extent == RECTANGLE || rectangle.rows.len() == 1 {
            vec![rectangle]
        } else {
            // From the first cell to the last, as text is read.
            let Rectangle { rows, cols: columns } = rectangle;
            let (first, last) = (rows.start, rows.end - 1);
            vec![
                Rectangle { rows: first..first + 1, cols: columns.start..cols },
                Rectangle { rows: first + 1..last, cols: 0..cols },
                Rectangle { rows: last..last + 1, cols: 0..columns.end },
            ]
        };
        let mut known: Option<(Cell, Cell)> = None;
        let tables = &mut self.tables;
        let grid = if self.is_alternate { &mut self.alternate } else { &mut self.primary };
        for part in &parts {
            grid.update(part, |cell| {
                // Neighbours are often alike.
                if let Some((before, after)) = known
                    && before.style() == cell.style()
                {
                    return cell.with_style(after.style());
                }
                let CellStyle { mut style, link } = tables.style(cell.style()).clone();
                match reverses {
                    true => reverse(&mut style, params.all().get(4..).unwrap_or_default()),
                    false => sgr::apply(&mut style, params, 4),
                }
                let changed = cell.with_style(tables.style_id(&CellStyle { style, link }));
                known = Some((cell, changed));
                changed
            });
        }
        self.sweep_tables();
    }

    /// DECRQCRA, with the arithmetic of xterm: a cell that nothing was written to counts as a blank, and blanks behind the
    /// first cell do not count.
    pub(super) fn report_checksum(&mut self, csi: &Csi<'_>) {
        let id = csi.params.get(0);
        let rectangle = self.rectangle(csi, 2);
        let has = |bit: u16| self.checksum & bit != 0;
        let (mut total, mut trimmed) = (0u32, 0u32);
        let mut is_first = true;
        for row in rectangle.iter().flat_map(|rectangle| rectangle.rows.clone()) {
            for col in rectangle.iter().flat_map(|rectangle| rectangle.cols.clone()) {
                let cell = self.grid().row(row).cell(col);
                let (value, marks) = self.checksum_of(cell);
                if is_first || value != u32::from(b' ') || cell.style().0 != 0 {
                    trimmed = trimmed.wrapping_add(value);
                }
                if !is_undrawn(cell) {
                    total = total.wrapping_add(value).wrapping_add(marks);
                } else if !has(ONLY_DRAWN) {
                    total = total.wrapping_add(value);
                }
                is_first = false;
            }
        }
        self.work += rectangle.map_or(0, |rectangle| rectangle.area());
        let sum = if has(NO_TRIM) { total } else { trimmed };
        let sum = if has(POSITIVE) { sum } else { sum.wrapping_neg() } & 0xffff;
        self.reply(&format!("\x1bP{id}!~{sum:04X}\x1b\\"));
    }

    /// What a cell adds to the checksum: its character with its attributes, and the marks that join it.
    fn checksum_of(&self, cell: Cell) -> (u32, u32) {
        let has = |bit: u16| self.checksum & bit != 0;
        let (mut value, mut marks) = (u32::from(b' '), 0);
        if let Some(number) = cell.cluster() {
            let mut characters = self.tables.cluster(number).chars().map(u32::from);
            value = characters.next().unwrap_or(value);
            marks = characters.fold(0, u32::wrapping_add);
        } else if !is_undrawn(cell) && cell.width() != Width::Spacer {
            value = cell.character().map_or(value, u32::from);
        }
        match has(WHOLE_CHARACTERS) {
            true => marks = 0,
            false => value &= 0xff,
        }
        if !has(NO_ATTRIBUTES) {
            let attributes = self.tables.style(cell.style()).style.attributes;
            let bit = |attribute: Attributes, value: u32| {
                if attributes.intersects(attribute) { value } else { 0 }
            };
            value += bit(Attributes::ANY_UNDERLINE, 0x10)
                + bit(Attributes::INVERSE, 0x20)
                + bit(Attributes::BLINK, 0x40)
                + bit(Attributes::BOLD, 0x80);
        }
        (value, marks)
    }
}

/// No character was printed here; a tab leaves no mark on the screen.
fn is_undrawn(cell: Cell) -> bool {
    cell.is_unwritten() || cell.character() == Some('\t')
}

/// Reverses attributes (DECRARA); without any named, the usual four.
fn reverse(style: &mut Style, codes: &[u16]) {
    let codes = if codes.is_empty() { &[0] } else { codes };
    for code in codes {
        style.attributes.toggle(match code {
            0 => Attributes::BOLD | Attributes::UNDERLINE | Attributes::BLINK | Attributes::INVERSE,
            1 => Attributes::BOLD,
            4 => Attributes::UNDERLINE,
            5 => Attributes::BLINK,
            7 => Attributes::INVERSE,
            8 => Attributes::HIDDEN,
            _ => Attributes::empty(),
        });
    }
}
