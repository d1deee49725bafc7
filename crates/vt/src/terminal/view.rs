//! Copies of what is shown, as plain data.

use std::ops::Range;
use std::rc::Rc;

use super::core::{Core, CursorStyle};
use super::modes::Modes;
use crate::cell::{Cell as LiveCell, Width};
use crate::clusters;
use crate::grid::Grid;
use crate::history::{Line, LineCell};
use crate::row::Row as LiveRow;
use crate::screen::{Cell, CellWidth, Cursor, Row, Screen};
use crate::tables::CellStyle;

impl Core {
    /// What readers see.
    pub(super) fn screen(&self) -> Screen {
        match &self.frozen {
            Some(frozen) => Screen {
                rows: self.view_of(&frozen.grid).collect(),
                cursor: cursor(&frozen.grid, frozen.cursor_style, frozen.cursor_visible),
                alternate: frozen.is_alternate,
                title: frozen.title.clone(),
            },
            None => Screen {
                rows: self.view_of(self.grid()).collect(),
                cursor: self.cursor(),
                alternate: self.is_alternate,
                title: self.title.clone(),
            },
        }
    }

    pub(super) fn cursor(&self) -> Cursor {
        cursor(self.grid(), self.cursor_style, self.modes.contains(Modes::SHOW_CURSOR))
    }

    pub(super) fn view_of<'a>(&'a self, grid: &'a Grid) -> impl Iterator<Item = Row> + 'a {
        grid.rows().map(|row| self.view_row(row))
    }

    /// A row with a cell for each column.
    pub(super) fn view_row(&self, row: &LiveRow) -> Row {
        let mut cells = Vec::with_capacity(self.cols());
        let mut known: Option<(LiveCell, &CellStyle)> = None;
        for cell in row.cells() {
            let style = match known {
                Some((before, style)) if before.style() == cell.style() => style,
                _ => self.tables.style(cell.style()),
            };
            known = Some((*cell, style));
            cells.push(self.view_cell(*cell, style));
        }
        cells.resize(self.cols(), blank());
        Row { cells, wrapped: row.wrapped }
    }

    fn view_cell(&self, cell: LiveCell, style: &CellStyle) -> Cell {
        let (character, combining) = match cell.cluster() {
            Some(number) => shown(self.tables.cluster(number)),
            None => (cell.character().filter(|c| !matches!(c, '\0' | '\t')).unwrap_or(' '), None),
        };
        Cell {
            character,
            combining,
            width: width(cell.width()),
            style: style.style,
            link: style.link.as_deref().map(|link| link.uri.as_str().into()),
        }
    }

    /// Rows of the history from one on, 0 being the oldest.
    pub(super) fn history_rows(&self, first: usize) -> impl Iterator<Item = Row> + '_ {
        let cols = self.cols();
        // The rows of the line that was read last.
        let mut known: Option<(Rc<Line>, Vec<Range<usize>>)> = None;
        self.history.rows_from(first, cols).map(move |(line, row)| {
            let (_, rows) = match known.take().filter(|(known, _)| Rc::ptr_eq(known, &line)) {
                Some(known) => known,
                None => (Rc::clone(&line), line.rows(cols)),
            };
            let wrapped = row + 1 < rows.len() || line.continues;
            let cells =
                rows.get(row).and_then(|range| line.cells.get(range.clone())).unwrap_or_default();
            let mut cells: Vec<Cell> = cells.iter().map(|cell| history_cell(&line, cell)).collect();
            cells.resize(cols, blank());
            known = Some((line, rows));
            Row { cells, wrapped }
        })
    }
}

fn history_cell(line: &Line, cell: &LineCell) -> Cell {
    let CellStyle { style, link } = &line.styles[cell.style];
    let (character, combining) = shown(line.shown(cell));
    let link = link.as_deref().map(|link| link.uri.as_str().into());
    Cell { character, combining, width: width(cell.width), style: *style, link }
}

fn blank() -> Cell {
    Cell { character: ' ', ..Cell::default() }
}

fn cursor(grid: &Grid, style: CursorStyle, visible: bool) -> Cursor {
    let CursorStyle { shape, blinking } = style;
    Cursor { row: grid.cursor.row as u16, col: grid.cursor.col as u16, visible, shape, blinking }
}

fn width(width: Width) -> CellWidth {
    match width {
        Width::Narrow => CellWidth::Single,
        Width::Wide => CellWidth::Double,
        Width::Spacer => CellWidth::Continuation,
    }
}

/// The character of a cluster, and what joins it. What waited for it in front is not shown.
fn shown(cluster: &str) -> (char, Option<Box<str>>) {
    let has_width = |c: &char| clusters::char_width(*c).is_some_and(|width| width > 0);
    let base = cluster.char_indices().find(|(_, character)| has_width(character));
    let joined = base.map_or(cluster, |(at, base)| &cluster[at + base.len_utf8()..]);
    let joined: String = joined.chars().filter(|c| !c.is_control()).collect();
    (
        base.map_or(' ', |(_, base)| base),
        Some(joined).filter(|joined| !joined.is_empty()).map(String::into_boxed_str),
    )
}
