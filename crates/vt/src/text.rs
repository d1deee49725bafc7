//! The text of rows, as the program printed it.

use crate::cell::{Cell, Width};
use crate::clusters;
use crate::tables::Tables;

/// Appends what the cells of a row say. A tab stands for the blanks up to where `stop` says that it leads; blanks that were
/// not written become spaces. A tab within a cluster moved nothing and is kept. `continues` is a row that the row before
/// continues in: no marks can wait there.
pub(crate) fn push_printed(
    cells: &[Cell],
    tables: &Tables,
    text: &mut String,
    continues: bool,
    stop: impl Fn(usize) -> usize,
) {
    push(
        cells,
        text,
        |col| Some(stop(col).min(cells.len())),
        |number, col, text| {
            let cluster = tables.cluster(number);
            let waits = tables.cluster_columns(number) == 0 && !cluster.starts_with('\t');
            // Marks wait for a character at the start of a line only; they may have been moved away from there.
            text.extend((waits && col + 1 < cells.len()).then_some(' '));
            text.push_str(if (col == 0 && !continues) || (waits && col > 0) {
                cluster
            } else {
                cluster.trim_start_matches(has_no_width)
            });
        },
    );
}

/// The same so that columns can be counted again: without tabs that moved nothing or lead out of a row that continues.
pub(crate) fn push_line(
    cells: &[Cell],
    tables: &Tables,
    text: &mut String,
    continues: bool,
    stop: impl Fn(usize) -> usize,
) {
    let stop = |col| {
        Some(stop(col))
            .filter(|stop| *stop <= cells.len() || !continues)
            .map(|stop| stop.min(cells.len()))
    };
    push(cells, text, stop, |number, col, text| {
        let cluster = tables.cluster(number);
        let waits = tables.cluster_columns(number) == 0;
        let shown =
            if waits || col == 0 { cluster } else { cluster.trim_start_matches(has_no_width) };
        // What waits for a character is on a blank.
        text.extend(waits.then_some(' '));
        text.extend(shown.chars().filter(|c| *c != '\t'));
    });
}

fn has_no_width(character: char) -> bool {
    clusters::char_width(character) == Some(0)
}

fn push(
    cells: &[Cell],
    text: &mut String,
    stop: impl Fn(usize) -> Option<usize>,
    push_cluster: impl Fn(u32, usize, &mut String),
) {
    let mut col = 0;
    while let Some(cell) = cells.get(col) {
        col += 1;
        if cell.width() == Width::Spacer {
            continue;
        }
        match cell.character() {
            Some('\t') => {
                let end = stop(col - 1).map(|end| end.max(col));
                match end.filter(|end| cells[col..*end].iter().all(|cell| cell.is_unwritten())) {
                    Some(end) => {
                        text.push('\t');
                        col = end;
                    }
                    None => text.push(' '),
                }
            }
            Some('\0') => text.push(' '),
            Some(character) => text.push(character),
            None => {
                cell.cluster().into_iter().for_each(|number| push_cluster(number, col - 1, text));
            }
        }
    }
}
